/* SPDX-License-Identifier: BSD-2-Clause */
/* doubts.h - on standard error: which images lend names that may be another file's. */
#ifndef TOOLS_DOUBTS_H
#define TOOLS_DOUBTS_H

#include <libhwpmcstat.h>

/* All images with samples and a doubt, for output that has no place for it. */
void doubts_tell(const struct hwpmc_profile *profile);
void doubts_tell_one(const struct hwpmc_image *image);

#endif
