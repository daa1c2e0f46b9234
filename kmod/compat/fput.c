// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * fput.c - the kernel releases files whose last reference a kernel thread puts in one work
 * item of the whole machine, one after the other. A release can last as long as a user
 * likes (a file system that the user serves, a file whose blocks are freed), so others would
 * wait for it: their pipes have no end, their file systems are busy. A process releases its
 * files itself, by task work, at the latest when it exits.
 *
 * No exported function makes a process without a program, but a helper for user mode is one
 * until it executes its program. Here it puts the references instead, and exits. Whoever made
 * it waits until it is about to exit, so it puts nothing itself that a program can delay.
 */
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/umh.h>
#include <linux/wait.h>

#include "fput.h"
#include "have.h"

/* While there is no memory for a process, or the machine is suspended. */
#define RETRY		(HZ / 10)
#define RETRIES		100

struct puts {
	struct file *file;		/* or NULL */
	struct mm_struct *mm;		/* or NULL */
	struct task_struct *helper;	/* a reference; NULL: nothing was put */
};

#ifdef HAVE_VMA_FIND
/* Nothing in the module holds mappings there: see memory.h. */
static void put_at_exit(struct mm_struct *mm)
{
	mmput(mm);
}
#else
/*
 * The release of mappings waits for asynchronous reads of the program, which a server of the user
 * may never answer. The helper takes the mappings as its own instead, so that its exit
 * releases them.
 */
static void put_at_exit(struct mm_struct *mm)
{
	/* From 5.19 on the helper begins as a process; such kernels are not supported. */
	if (!(current->flags & PF_KTHREAD)) {
		mmput(mm);
		return;
	}
	kthread_use_mm(mm);
	/* A kernel thread that uses mappings holds the struct, a process that has them does not. */
	mmdrop(mm);
}
#endif

/* In the helper. An error: it exits, and executes no program. */
static int put_in_helper(struct subprocess_info *info, struct cred *unused)
{
	struct puts *p = info->data;

	if (p->mm)
		put_at_exit(p->mm);
	/* Kernels before 5.19 clear it when the program is executed. */
	current->flags &= ~PF_KTHREAD;
	p->helper = get_task_struct(current);
	if (p->file)
		fput(p->file);
	return -ECANCELED;
}

static char helper_name[] = "hwpmc";	/* constant; an argv is not of const text */

/* Returns when put_in_helper() has: no code of the module is executed by the helper then. */
static int run_helper(struct puts *p)
{
	char *argv[] = { helper_name, NULL }, *envp[] = { NULL };
	struct subprocess_info *info;

	info = call_usermodehelper_setup(helper_name, argv, envp, GFP_KERNEL, put_in_helper, NULL, p);
	return info ? call_usermodehelper_exec(info, UMH_WAIT_EXEC) : -ENOMEM;
}

/* Kernels that are configured for a single helper can have none: the call succeeds, and
 * nothing has run. */
static void put_by_helper(struct puts *p)
{
	unsigned int left = RETRIES;

	while (run_helper(p) && !p->helper && left--)
		schedule_timeout_idle(RETRY);
	if (p->helper)
		return;
	if (p->file)
		fput(p->file);
	if (p->mm)
		mmput(p->mm);
}

/* Task work runs before the exit is reported. */
static void await_exit(struct task_struct *task)
{
	struct pid *pid = get_task_pid(task, PIDTYPE_PID);

	if (pid)
		wait_event_idle(pid->wait_pidfd, READ_ONCE(task->exit_state));
	put_pid(pid);
}

void hwpmc_fput_await(struct file *file)
{
	struct puts p = { .file = file };

	put_by_helper(&p);
	if (!p.helper)
		return;
	await_exit(p.helper);
	put_task_struct(p.helper);
}

void hwpmc_put_apart(struct file *file, struct mm_struct *mm)
{
	struct puts p = { .file = file, .mm = mm };

	put_by_helper(&p);
	if (p.helper)
		put_task_struct(p.helper);
}
