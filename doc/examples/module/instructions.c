// SPDX-License-Identifier: BSD-2-Clause
/* instructions.c - counts the instructions of all CPUs while it is loaded; see hwpmc(9). */
#include <hwpmc.h>
#include <linux/hwpmc.h>
#include <linux/module.h>

static int ctr;

/* Returns the first programmable counter, or a negative error. */
static int find_counter(void)
{
	int i, class;

	for (i = 0; i < hwpmc_get_num_counters(); i++) {
		class = hwpmc_get_counter_type(i);
		if (class == HWPMC_CLASS_IAP || class == HWPMC_CLASS_K8)
			return i;
	}
	return -ENODEV;
}

static int __init instructions_init(void)
{
	/* Event 0xc0 is retired instructions on Intel and on AMD. */
	const struct hwpmc_counter_cfg cfg = { .event_id = 0xc0 };

	ctr = find_counter();
	return ctr < 0 ? ctr : hwpmc_alloc_kernel_counter(ctr, &cfg);
}

static void __exit instructions_exit(void)
{
	u64 value;

	if (!hwpmc_get_counter_value(NULL, ctr, 0, &value))
		pr_info("instructions: %llu\n", value);
	hwpmc_free_kernel_counter(ctr);
}

module_init(instructions_init);
module_exit(instructions_exit);
MODULE_DESCRIPTION("instructions of all CPUs while this module is loaded");
MODULE_LICENSE("Dual BSD/GPL");
