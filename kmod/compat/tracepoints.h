/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * tracepoints.h - probe functions for the kernel's scheduler tracepoints, with the
 * signature that this kernel calls. None of them is exported: see tracepoints.c.
 *
 * Contexts of the probes: sched_switch holds the run queue's lock, interrupts off.
 * The others run with preemption on where the kernel calls probes under SRCU (7.x).
 * So a probe disables preemption and takes rcu_read_lock() itself, and what it
 * reads is freed after tracepoint_synchronize_unregister() and synchronize_rcu().
 *
 * Each macro is followed by the body of the probe in braces and names the
 * arguments that the body wants to see; hwpmc_data is what fn was registered with.
 */
#ifndef HWPMC_COMPAT_TRACEPOINTS_H
#define HWPMC_COMPAT_TRACEPOINTS_H

#include <linux/binfmts.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>
#include <trace/events/task.h>

#include "have.h"

#ifdef HAVE_CONTENTION_BEGIN
#include <trace/events/lock.h>
#endif

/*
 * kCFI: the kernel ends itself when it calls a probe whose type is not that of the
 * tracepoint, so that one probe cannot be that of any tracepoint.
 */
#define HWPMC_PROBES_ARE_TYPED						\
	(IS_ENABLED(CONFIG_CFI_CLANG) || IS_ENABLED(CONFIG_CFI))

/* Never called: makes the compiler compare fn with the kernel's prototype. */
#define HWPMC_PROBE_TYPE_CHECK(fn, event)				\
	static inline void fn##_is_a_probe(void)			\
	{								\
		check_trace_callback_type_##event(fn);			\
	}

#ifdef HAVE_SCHED_SWITCH_PREV_STATE
#define HWPMC_SCHED_SWITCH_REST	, unsigned int hwpmc_prev_state
#else
#define HWPMC_SCHED_SWITCH_REST
#endif

#define HWPMC_PROBE_SCHED_SWITCH(fn, prev, next)			\
	static void fn(void *hwpmc_data, bool hwpmc_preempt,		\
		       struct task_struct *prev,			\
		       struct task_struct *next				\
		       HWPMC_SCHED_SWITCH_REST);			\
	HWPMC_PROBE_TYPE_CHECK(fn, sched_switch)			\
	static void fn(void *hwpmc_data, bool hwpmc_preempt,		\
		       struct task_struct *prev,			\
		       struct task_struct *next				\
		       HWPMC_SCHED_SWITCH_REST)

/* A lock of the kernel that is waited for, before it is; NMI included. Linux 5.19. */
#ifdef HAVE_CONTENTION_BEGIN
#define HWPMC_CONTENTION_TYPE_CHECK(fn)					\
	HWPMC_PROBE_TYPE_CHECK(fn, contention_begin)
#else
#define HWPMC_CONTENTION_TYPE_CHECK(fn)
#endif

#define HWPMC_PROBE_CONTENTION(fn)					\
	static void fn(void *hwpmc_data, void *hwpmc_waited_for,	\
		       unsigned int hwpmc_flags);			\
	HWPMC_CONTENTION_TYPE_CHECK(fn)					\
	static void fn(void *hwpmc_data, void *hwpmc_waited_for,	\
		       unsigned int hwpmc_flags)

/* sys_enter, sys_exit: number or return value, which the body does not see. */
#define HWPMC_PROBE_SYSCALL(fn, event)					\
	static void fn(void *hwpmc_data, struct pt_regs *hwpmc_regs,	\
		       long hwpmc_value);				\
	HWPMC_PROBE_TYPE_CHECK(fn, event)				\
	static void fn(void *hwpmc_data, struct pt_regs *hwpmc_regs,	\
		       long hwpmc_value)

/* sched_waking, sched_wakeup, sched_wakeup_new. */
#define HWPMC_PROBE_WAKEUP(fn, event)					\
	static void fn(void *hwpmc_data, struct task_struct *hwpmc_woken); \
	HWPMC_PROBE_TYPE_CHECK(fn, event)				\
	static void fn(void *hwpmc_data, struct task_struct *hwpmc_woken)

#ifdef HAVE_NEWTASK_U64_FLAGS
#define HWPMC_CLONE_FLAGS	u64
#else
#define HWPMC_CLONE_FLAGS	unsigned long
#endif

/* In the parent, the child complete but not yet woken. */
#define HWPMC_PROBE_NEWTASK(fn, child, clone_flags)			\
	static void fn(void *hwpmc_data, struct task_struct *child,	\
		       HWPMC_CLONE_FLAGS clone_flags);			\
	HWPMC_PROBE_TYPE_CHECK(fn, task_newtask)			\
	static void fn(void *hwpmc_data, struct task_struct *child,	\
		       HWPMC_CLONE_FLAGS clone_flags)

#ifdef HAVE_PROCESS_EXIT_GROUP_DEAD
#define HWPMC_PROCESS_EXIT_REST	, bool hwpmc_group_dead
#else
#define HWPMC_PROCESS_EXIT_REST
#endif

/* In the dying thread; its mm is already gone before 7.x and still there since. */
#define HWPMC_PROBE_EXIT(fn, task)					\
	static void fn(void *hwpmc_data,				\
		       struct task_struct *task				\
		       HWPMC_PROCESS_EXIT_REST);			\
	HWPMC_PROBE_TYPE_CHECK(fn, sched_process_exit)			\
	static void fn(void *hwpmc_data,				\
		       struct task_struct *task				\
		       HWPMC_PROCESS_EXIT_REST)

/* Before the task has the new name; mostly in the task itself. */
#define HWPMC_PROBE_RENAME(fn, task, comm)				\
	static void fn(void *hwpmc_data, struct task_struct *task,	\
		       const char *comm);				\
	HWPMC_PROBE_TYPE_CHECK(fn, task_rename)				\
	static void fn(void *hwpmc_data, struct task_struct *task,	\
		       const char *comm)

/* In the thread that calls exec, with its new mm and credentials. */
#define HWPMC_PROBE_EXEC(fn, task, bprm)				\
	static void fn(void *hwpmc_data, struct task_struct *task,	\
		       pid_t hwpmc_old_pid, struct linux_binprm *bprm);	\
	HWPMC_PROBE_TYPE_CHECK(fn, sched_process_exec)			\
	static void fn(void *hwpmc_data, struct task_struct *task,	\
		       pid_t hwpmc_old_pid, struct linux_binprm *bprm)

/* 0 and *tp, or -ENOENT where this kernel has no tracepoint of that name. */
int hwpmc_tracepoint_get(const char *name, struct tracepoint **tp);

/* Both sleep. fn comes from a macro above, of the same event as tp. */
#define hwpmc_probe_register(tp, fn)					\
	tracepoint_probe_register((tp), (void *)(fn), NULL)
#define hwpmc_probe_unregister(tp, fn)					\
	tracepoint_probe_unregister((tp), (void *)(fn), NULL)

#endif /* HWPMC_COMPAT_TRACEPOINTS_H */
