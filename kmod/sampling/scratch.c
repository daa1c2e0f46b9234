// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* scratch.c - allocates scratch memory of each CPU. Process context. */
#include <linux/errno.h>

#include "scratch.h"

struct hwpmc_scratch __percpu *hwpmc_scratch;

int hwpmc_scratch_init(void)
{
	hwpmc_scratch = alloc_percpu(struct hwpmc_scratch);
	return hwpmc_scratch ? 0 : -ENOMEM;
}

void hwpmc_scratch_exit(void)
{
	free_percpu(hwpmc_scratch);
}
