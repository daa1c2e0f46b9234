// SPDX-License-Identifier: BSD-2-Clause
/*
 * holdmod.c - holds a process where it enters a function of the kernel or of a module
 * (parameter `symbol`), so that a test can do something just then. A process's number (the
 * largest one: any kernel thread's)
 * written to /sys/kernel/debug/hold has it held at its next call, or after `skip` of one of
 * its threads, once; 0 lets it go.
 * Read, the file says 1 while a process is held: `limit_ms` at most.
 *
 * A held process spins with preemption off, and keeps the CPU.
 */
#include <linux/debugfs.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <asm/processor.h>

static char *symbol = "";
module_param(symbol, charp, 0444);
static unsigned int skip;		/* calls that are let pass */
module_param(skip, uint, 0444);
static unsigned int limit_ms = 15000;
module_param(limit_ms, uint, 0644);

#define KTHREADS	((pid_t)-1)

static pid_t wanted;		/* a thread group, or KTHREADS; 0: none */
static bool held;
static struct dentry *file;

static int enter(struct kprobe *probe, struct pt_regs *regs)
{
	bool any = READ_ONCE(wanted) == KTHREADS && current->flags & PF_KTHREAD;
	pid_t pid = any ? KTHREADS : current->tgid;
	u64 end;

	if (READ_ONCE(wanted) != pid)
		return 0;
	if (skip) {
		skip--;
		return 0;
	}
	if (cmpxchg(&wanted, pid, 0) != pid)
		return 0;
	end = ktime_get_mono_fast_ns() + (u64)limit_ms * NSEC_PER_MSEC;
	WRITE_ONCE(held, true);
	while (READ_ONCE(held) && ktime_get_mono_fast_ns() < end)
		cpu_relax();
	WRITE_ONCE(held, false);
	return 0;
}

static struct kprobe probe = { .pre_handler = enter };

static int set(void *unused, u64 pid)
{
	if (!pid)
		WRITE_ONCE(held, false);
	WRITE_ONCE(wanted, pid);
	return 0;
}

static int get(void *unused, u64 *value)
{
	*value = READ_ONCE(held);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(hold_fops, get, set, "%llu\n");

static int __init holdmod_init(void)
{
	int ret;

	probe.symbol_name = symbol;
	ret = register_kprobe(&probe);
	if (ret)
		return ret;
	file = debugfs_create_file("hold", 0600, NULL, NULL, &hold_fops);
	if (!IS_ERR(file))
		return 0;
	unregister_kprobe(&probe);
	return PTR_ERR(file);
}

static void __exit holdmod_exit(void)
{
	WRITE_ONCE(held, false);
	unregister_kprobe(&probe);
	debugfs_remove(file);
}

module_init(holdmod_init);
module_exit(holdmod_exit);
MODULE_DESCRIPTION("Holds a process at a function, for tests of what happens meanwhile");
MODULE_LICENSE("Dual BSD/GPL");
