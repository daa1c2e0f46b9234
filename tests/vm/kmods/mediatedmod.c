// SPDX-License-Identifier: BSD-2-Clause
/*
 * mediatedmod.c - while it is loaded there is a guest with KVM's mediated PMU, as far as perf
 * knows. It cannot be loaded where perf lets none begin.
 */
#include <linux/module.h>

#include "address_of.h"

static int (*create)(void);
static void (*release)(void);

static int __init mediatedmod_init(void)
{
	create = address_of("perf_create_mediated_pmu");
	release = address_of("perf_release_mediated_pmu");
	return create && release ? create() : -ENOENT;
}

static void __exit mediatedmod_exit(void)
{
	release();
}

module_init(mediatedmod_init);
module_exit(mediatedmod_exit);
MODULE_DESCRIPTION("a guest with the counters");
MODULE_LICENSE("Dual BSD/GPL");
