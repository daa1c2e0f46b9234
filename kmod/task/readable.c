// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* readable.c - see readable.h. */
#include <linux/gfp.h>
#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "../compat/exe.h"
#include "../compat/memory.h"
#include "../base/lock.h"
#include "../core/owner.h"
#include "../sampling/log.h"
#include "../sampling/pmc_records.h"
#include "access.h"
#include "readable.h"

/* The first thread may have exited before the others. */
static struct mm_struct *memory_of(struct task_struct *leader, bool grab)
{
	struct task_struct *thread;
	struct mm_struct *mm = NULL;

	rcu_read_lock();
	for_each_thread(leader, thread) {
		task_lock(thread);
		mm = thread->flags & PF_KTHREAD ? NULL : thread->mm;
		if (mm && grab)
			mmgrab(mm);
		task_unlock(thread);
		if (mm)
			break;
	}
	rcu_read_unlock();
	return mm;
}

struct mm_struct *hwpmc_memory_grab(struct task_struct *leader)
{
	return memory_of(leader, true);
}

bool hwpmc_memory_is(struct task_struct *leader, const struct mm_struct *mm)
{
	return memory_of(leader, false) == mm;
}

bool hwpmc_may_see(const struct hwpmc_owner *owner, bool privileged,
		   struct task_struct *leader)
{
	struct hwpmc_hdr unused = { };

	return privileged || !hwpmc_may_attach(owner, leader, &unused);
}

static const char *exe_path(const struct hwpmc_pmc *pmc, struct task_struct *leader,
			    char *page)
{
	const char *path = "";

	/* An exec can take as long as it likes, and hwpmc_lock is held. */
	if (!hwpmc_exec_trylock(leader))
		return path;
	if (hwpmc_may_see(pmc->owner, pmc->privileged, leader))
		path = hwpmc_task_exe_path(leader, page, PAGE_SIZE);
	hwpmc_exec_unlock(leader);
	return path;
}

void hwpmc_record_attach(struct hwpmc_pmc *pmc, struct pid *tgid)
{
	struct task_struct *leader;
	const char *path = "";
	char *page = NULL;

	lockdep_assert_held(&hwpmc_lock);
	if (!hwpmc_log_is_open(pmc->owner))
		return;
	leader = get_pid_task(tgid, PIDTYPE_TGID);
	if (leader) {
		page = (char *)__get_free_page(GFP_KERNEL);
		if (page)
			path = exe_path(pmc, leader, page);
		put_task_struct(leader);
	}
	hwpmc_log_attached(pmc, tgid, path);
	free_page((unsigned long)page);
}
