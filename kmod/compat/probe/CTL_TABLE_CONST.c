// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 6.11: sysctl handlers get a const table, and tables have no empty last entry. */
#include <linux/sysctl.h>

proc_handler *probe(void);
static int handler(const struct ctl_table *table, int write, void *buffer,
		   size_t *len, loff_t *pos)
{
	return 0;
}

proc_handler *probe(void)
{
	return handler;
}
