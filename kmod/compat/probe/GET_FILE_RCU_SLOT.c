// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* get_file_rcu() takes the place of the pointer (6.7). */
#include <linux/fs.h>

struct file *probe(struct file __rcu **slot);
struct file *probe(struct file __rcu **slot)
{
	return get_file_rcu(slot);
}
