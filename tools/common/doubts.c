/* SPDX-License-Identifier: BSD-2-Clause */
/* doubts.c - see doubts.h. */
#include "doubts.h"
#include "msg.h"

void doubts_tell_one(const struct hwpmc_image *image)
{
	msg("symbols of %s are doubtful: %s", image->path, image->doubt);
}

void doubts_tell(const struct hwpmc_profile *profile)
{
	struct hwpmc_image *const *image;
	uint32_t n;

	image = hwpmc_profile_images(profile, &n);
	for (uint32_t i = 0; i < n; i++)
		if (image[i]->samples && image[i]->doubt)
			doubts_tell_one(image[i]);
}
