// SPDX-License-Identifier: BSD-2-Clause
/*
 * clientmod.c - another module that uses performance counters: a line written to
 * /sys/kernel/debug/hwpmc_client is one call of the interface, and what is read
 * from there is what it returned, and the value that it gave.
 */
#include <linux/debugfs.h>
#include <linux/hwpmc.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>

static struct dentry *file;
static long long answer;
static u64 value;

struct call {
	char name[24];
	int pid, ctr, other;
	u64 event, reset;
	unsigned int flags;
};

static struct task_struct *task_of(int nr)
{
	struct pid *pid = nr ? find_get_pid(nr) : NULL;
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);

	put_pid(pid);
	return task;
}

static long long call_task(const struct call *c, struct task_struct *task,
			   struct task_struct *other)
{
	struct hwpmc_counter_cfg cfg = { c->event, c->reset, c->flags };

	if (!strcmp(c->name, "configure"))
		return hwpmc_configure_counter(task, c->ctr, &cfg);
	if (!strcmp(c->name, "unconfigure"))
		return hwpmc_configure_counter(task, c->ctr, NULL);
	if (!strcmp(c->name, "enable"))
		return hwpmc_enable_counter(task, c->ctr);
	if (!strcmp(c->name, "disable"))
		return hwpmc_disable_counter(task, c->ctr);
	if (!strcmp(c->name, "isrunning"))
		return hwpmc_counter_isrunning(task, c->ctr);
	if (!strcmp(c->name, "isconfigured"))
		return hwpmc_counter_isconfigured(task, c->ctr);
	if (!strcmp(c->name, "enabled"))
		return HWPMC_ENABLED(task);
	if (!strcmp(c->name, "value"))
		return hwpmc_get_counter_value(task, c->ctr, c->flags, &value);
	if (!strcmp(c->name, "accumulate"))
		return hwpmc_accumulate(task, other);
	return -ENOSYS;
}

/* Apart: what the caller does in between is not counted for it, unless it is switched. */
static long long save(void)
{
	hwpmc_save_context(current);
	return 0;
}

static long long restore(void)
{
	hwpmc_restore_context(current);
	return 0;
}

/* Raised in process context: ksoftirqd of this CPU is woken for it. */
static void softirq_nop(struct tasklet_struct *unused)
{
}

static DECLARE_TASKLET(tasklet, softirq_nop);

static long long softirq(void)
{
	tasklet_schedule(&tasklet);
	return 0;
}

/* The caller's own turn: both in one call, with nothing in between. */
static long long save_and_restore(const struct call *c)
{
	hwpmc_save_context(current);
	hwpmc_restore_context(current);
	/* Of others they mean nothing. */
	hwpmc_save_context(&init_task);
	hwpmc_restore_context(&init_task);
	return 0;
}

static long long call_kernel(const struct call *c)
{
	struct hwpmc_counter_cfg cfg = { c->event, c->reset, c->flags };

	if (!strcmp(c->name, "num"))
		return hwpmc_get_num_counters();
	if (!strcmp(c->name, "type"))
		return hwpmc_get_counter_type(c->ctr);
	if (!strcmp(c->name, "context"))
		return save_and_restore(c);
	if (!strcmp(c->name, "save"))
		return save();
	if (!strcmp(c->name, "restore"))
		return restore();
	if (!strcmp(c->name, "softirq"))
		return softirq();
	if (!strcmp(c->name, "alloc"))
		return hwpmc_alloc_kernel_counter(c->ctr, &cfg);
	if (!strcmp(c->name, "free"))
		return hwpmc_free_kernel_counter(c->ctr);
	if (!strcmp(c->name, "profile"))
		return hwpmc_start_profiling(c->ctr, &cfg);
	if (!strcmp(c->name, "stop"))
		return hwpmc_stop_profiling(c->ctr);
	return -ENOSYS;
}

static ssize_t do_call(struct file *f, const char __user *user, size_t len,
		       loff_t *at)
{
	struct task_struct *task, *other;
	struct call c = { };
	char line[128];

	if (len >= sizeof(line) || copy_from_user(line, user, len))
		return -EINVAL;
	line[len] = '\0';
	sscanf(line, "%23s %d %d %llx %llu %u %d", c.name, &c.pid, &c.ctr,
	       &c.event, &c.reset, &c.flags, &c.other);
	answer = call_kernel(&c);
	if (answer != -ENOSYS)
		return len;
	task = task_of(c.pid);
	other = task_of(c.other);
	answer = call_task(&c, task, other);
	if (task)
		put_task_struct(task);
	if (other)
		put_task_struct(other);
	return len;
}

static ssize_t tell(struct file *f, char __user *user, size_t len, loff_t *at)
{
	char line[64];
	int n = scnprintf(line, sizeof(line), "%lld %llu\n", answer, value);

	return simple_read_from_buffer(user, len, at, line, n);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.read = tell,
	.write = do_call,
};

static int __init client_init(void)
{
	file = debugfs_create_file("hwpmc_client", 0600, NULL, NULL, &fops);
	return PTR_ERR_OR_ZERO(file);
}

static void __exit client_exit(void)
{
	debugfs_remove(file);
	tasklet_kill(&tasklet);
}

module_init(client_init);
module_exit(client_exit);
MODULE_DESCRIPTION("Uses performance counters, for tests of that interface");
MODULE_LICENSE("Dual BSD/GPL");
