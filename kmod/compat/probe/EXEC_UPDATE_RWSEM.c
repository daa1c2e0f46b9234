// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 5.11: what an exec changes is protected by a lock for many readers, no longer by a mutex. */
#include <linux/rwsem.h>
#include <linux/sched/signal.h>

int probe(struct signal_struct *signal);
int probe(struct signal_struct *signal)
{
	return down_read_trylock(&signal->exec_update_lock);
}
