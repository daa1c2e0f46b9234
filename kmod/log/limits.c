// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * limits.c - see limits.h. The thread has a signal struct of its own, hence limits of its
 * own: the kernel refuses a write beyond RLIMIT_FSIZE with EFBIG by the same code as
 * write(2). Pages of the file are charged to the memory cgroup (kernels before 5.13 charge
 * none that a kernel thread adds), by which writeback finds the io cgroup; direct I/O has
 * that of the thread. A module cannot move a thread into a cgroup: the time that it
 * takes is charged to nobody.
 */
#include <linux/cgroup.h>
#include <linux/kthread.h>
#include <linux/memcontrol.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "../sampling/log_object.h"
#include "limits.h"

void hwpmc_limits_get(struct hwpmc_log *log)
{
	log->file_size = rlimit(RLIMIT_FSIZE);
#ifdef CONFIG_MEMCG
	log->memory = task_get_css(current, memory_cgrp_id);
#endif
#ifdef CONFIG_BLK_CGROUP
	log->io = task_get_css(current, io_cgrp_id);
#endif
}

void hwpmc_limits_put(struct hwpmc_log *log)
{
	if (log->memory)
		css_put(log->memory);
	if (log->io)
		css_put(log->io);
}

void hwpmc_limits_enter(const struct hwpmc_log *log)
{
	task_lock(current->group_leader);
	current->signal->rlim[RLIMIT_FSIZE].rlim_cur = log->file_size;
	task_unlock(current->group_leader);
#ifdef CONFIG_MEMCG
	/* The log keeps it until the thread has ended. */
	current->active_memcg = mem_cgroup_from_css(log->memory);
#endif
	if (log->io)
		kthread_associate_blkcg(log->io);
}

void hwpmc_limits_leave(void)
{
#ifdef CONFIG_MEMCG
	current->active_memcg = NULL;
#endif
	kthread_associate_blkcg(NULL);
}
