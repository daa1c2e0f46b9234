// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * fput.c - the kernel releases files whose last reference a kernel thread puts in one work
 * item of the whole machine, one after the other. A release can last as long as a user
 * likes (a socket that lingers, a file system that the user serves), so others would wait
 * for it: their pipes have no end, their file systems are busy. A process releases its
 * files itself, by task work on the way to user mode. A thread that is no kernel thread
 * for a moment gets that task work, too, and does it here.
 */
#include <linux/file.h>
#include <linux/sched.h>
#include <linux/task_work.h>

#include "fput.h"

static void run_task_works(void)
{
	struct callback_head *work, *next;

	/* A file's release can add others. */
	while ((work = xchg(&current->task_works, NULL)))
		for (; work; work = next) {
			next = work->next;
			work->func(work);
			cond_resched();
		}
}

/* Only the task itself writes its flags. Without the flag nothing takes it for a program:
 * it has no mm. */
void hwpmc_fput_here(struct file *file)
{
	current->flags &= ~PF_KTHREAD;
	fput(file);
	run_task_works();
	current->flags |= PF_KTHREAD;
}
