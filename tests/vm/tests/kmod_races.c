// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_races.c - what happens in the middle of an operation: it is held at a function
 * until the test lets it go (tests/vm/lib/kmod_hold.h).
 */
#define _GNU_SOURCE
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "kmod_dev.h"
#include "../lib/kmod_hold.h"

#define SETUID	"/tmp/loop.races"

static void become_nobody(void)
{
	ck_assert(!setgroups(0, NULL));
	ck_assert(!setresgid(NOBODY, NOBODY, NOBODY));
	ck_assert(!setresuid(NOBODY, NOBODY, NOBODY));
	ck_assert(!prctl(PR_SET_DUMPABLE, 1));
}

static void *shared_page(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

/* ---- attach checks a second time ------------------------------------------ */

static int ready[2], go[2];

static void gain_rights(void *unused)
{
	char c = 0;

	become_nobody();
	if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
		_exit(1);
	execl(SETUID, "loop", "1000000000", (char *)NULL);
	_exit(127);
}

static struct {
	pid_t target, child;
	int err, reason, detach;
} *attempt;

static void attempt_as_nobody(uint32_t flags)
{
	int fd = dev_open();

	become_nobody();
	attempt->err = dev_attach(fd, dev_alloc(fd, TC, flags, ANY, INSN, U),
				  attempt->target);
	attempt->reason = dev_hdr.reason;
}

static void attach_as_nobody(void *unused)
{
	attempt_as_nobody(0);
}

static void attach_thread_as_nobody(void *unused)
{
	attempt_as_nobody(HWPMC_F_THREAD);
}

static uid_t owner_of(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_uid;
}

/*
 * A target that executes a set-id program while the attach to it is held at that function;
 * the attach has ended. The target is returned, for its end.
 */
static struct child gain_rights_amid_attach(void (*target_fn)(void *),
					    void (*attach_fn)(void *), const char *at)
{
	struct child target, attacher;
	char c = 0;

	ck_assert_int_eq(system("cp build/vm/progs/loop " SETUID
				" && chmod 4755 " SETUID), 0);
	ck_assert(!pipe(ready) && !pipe(go));
	attempt = shared_page();
	dev_pin(0, 0);
	target = dev_child(target_fn, NULL);
	attempt->target = target.pid;
	attacher = dev_child(attach_fn, NULL);
	dev_pin(attacher.pid, 1);
	dev_go(&target);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	hold_at(at);
	hold_arm(attacher.pid);
	dev_go(&attacher);
	hold_wait();
	ck_assert_int_eq(write(go[1], &c, 1), 1);
	while (owner_of(target.pid))
		dev_msleep(1);
	hold_end();
	dev_wait(&attacher);
	return target;
}

static void check_refused_amid_exec(void (*gain)(void *), void (*attach_fn)(void *), int err,
				    int reason)
{
	struct child target = gain_rights_amid_attach(gain, attach_fn, "hwpmc_target_alloc");

	kill(target.pid, SIGKILL);
	waitpid(target.pid, NULL, 0);
	ck_assert_int_eq(attempt->err, err);
	ck_assert_int_eq(attempt->reason, reason);
	dev_still_counts();
}

static void check_refused_if_gained(void (*gain)(void *))
{
	check_refused_amid_exec(gain, attach_as_nobody, EPERM, HWPMC_WHY_PRIV_ATTACH);
}

/*
 * Attach has looked at the target's rights and made no link yet; the exec of a set-id
 * program finds nothing that it could take away.
 */
START_TEST(attach_to_a_process_that_gains_rights_meanwhile_is_eperm)
{
	check_refused_if_gained(gain_rights);
}
END_TEST

static void *exec_in_thread(void *unused)
{
	char c = 0;

	if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
		_exit(1);
	execl(SETUID, "loop", "1000000000", (char *)NULL);
	_exit(127);
}

static void gain_rights_in_thread(void *unused)
{
	pthread_t thread;

	become_nobody();
	if (pthread_create(&thread, NULL, exec_in_thread, NULL))
		_exit(1);
	for (;;)
		pause();
}

/* The first thread, whose rights attach has looked at, ends by that exec. */
START_TEST(attach_to_a_process_whose_other_thread_gains_rights_meanwhile_is_eperm)
{
	check_refused_if_gained(gain_rights_in_thread);
}
END_TEST

START_TEST(attach_to_a_thread_that_gains_rights_meanwhile_is_eperm)
{
	check_refused_amid_exec(gain_rights, attach_thread_as_nobody, EPERM,
				HWPMC_WHY_PRIV_ATTACH);
}
END_TEST

/* The program has the thread's id, and is another thread. */
START_TEST(attach_to_a_thread_that_an_exec_ends_meanwhile_is_esrch)
{
	check_refused_amid_exec(gain_rights_in_thread, attach_thread_as_nobody, ESRCH,
				HWPMC_WHY_EXITING);
}
END_TEST

/* ---- what happens while a process has a link that may be refused ----------- */

/* The child is made when the parent has the link; then the parent gains rights. */
static void fork_and_gain_rights(void *unused)
{
	pid_t child;
	char c = 0;

	become_nobody();
	if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
		_exit(1);
	child = fork();
	if (!child)
		for (;;)
			pause();
	attempt->child = child;
	execl(SETUID, "loop", "1000000000", (char *)NULL);
	_exit(127);
}

static void attach_family_as_nobody(void *unused)
{
	int fd = dev_open();
	uint32_t id;

	become_nobody();
	id = dev_alloc(fd, TC, HWPMC_F_DESCENDANTS, ANY, INSN, U);
	attempt->err = dev_attach(fd, id, attempt->target);
	attempt->reason = dev_hdr.reason;
	attempt->detach = dev_detach(fd, id, attempt->child);
}

START_TEST(a_refused_attach_leaves_no_child_of_the_process_attached)
{
	struct child target = gain_rights_amid_attach(fork_and_gain_rights,
						      attach_family_as_nobody,
						      "hwpmc_watch_switches");

	kill(attempt->child, SIGKILL);
	kill(target.pid, SIGKILL);
	waitpid(target.pid, NULL, 0);
	ck_assert_int_eq(attempt->err, EPERM);
	ck_assert_int_eq(attempt->reason, HWPMC_WHY_PRIV_ATTACH);
	ck_assert_int_eq(attempt->detach, ESRCH);
	dev_still_counts();
}
END_TEST

static void attach_other_row(void *unused)
{
	int fd = dev_open();

	attempt->err = dev_attach(fd, dev_alloc(fd, TC, 0, ANY, BRANCH, U),
				  attempt->target);
}

/* SIGIO tells an owner that the last process is gone; the attach of another owner, which
 * is refused, gets none: it would have killed it. */
START_TEST(an_exit_during_the_attach_of_another_pmc_is_told_to_its_owner)
{
	struct timespec limit = { .tv_sec = 10 };
	struct child target, attacher;
	int fd = dev_open(), got;
	sigset_t set;
	uint32_t id;

	dev_pin(0, 0);
	attempt = shared_page();
	target = dev_loop(1000);
	attempt->target = target.pid;
	attacher = dev_child(attach_other_row, NULL);
	dev_pin(attacher.pid, 1);
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_attach(fd, id, target.pid));
	dev_ok(dev_start(fd, id));
	hold_at("hwpmc_target_free");
	hold_arm(attacher.pid);
	dev_go(&attacher);
	hold_wait();
	dev_go(&target);
	waitpid(target.pid, NULL, 0);
	hold_end();
	dev_wait(&attacher);
	got = sigtimedwait(&set, NULL, &limit);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	ck_assert_int_eq(attempt->err, ESRCH);
	ck_assert_int_eq(got, SIGIO);
	ck_assert_uint_ge(dev_read(fd, id), loop_insn(1000));
	close(fd);
	dev_still_counts();
}
END_TEST

/* ---- stop and read --------------------------------------------------------- */

static void publish_progress(void *arg)
{
	volatile uint64_t *done = arg;

	for (;;) {
		dev_spin(1000);
		*done += 3000;
	}
}

struct stopper {
	int fd;
	uint32_t id;
	pid_t target;
};

static void *stop_it(void *arg)
{
	struct stopper *s = arg;

	dev_pin(0, 0);
	dev_ok(dev_stop(s->fd, s->id));
	return NULL;
}

static void *detach_it(void *arg)
{
	struct stopper *s = arg;

	dev_pin(0, 0);
	dev_ok(dev_detach(s->fd, s->id, s->target));
	return NULL;
}

/*
 * The operation has not told the CPUs yet: what the target's CPU has counted until then must
 * be in a read. A target that is switched in after it has begun counts no more, so
 * its progress is looked at before.
 * Three CPUs: of the operation, the target, and the read.
 */
static void read_during(void *(*operation)(void *))
{
	volatile uint64_t *done = shared_page();
	struct child target = dev_child(publish_progress, (void *)done);
	struct stopper s = { .fd = dev_open(), .target = target.pid };
	uint64_t before, value;
	pthread_t thread;

	dev_pin(0, 2);
	dev_pin(target.pid, 1);
	s.id = dev_alloc(s.fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_attach(s.fd, s.id, target.pid));
	dev_ok(dev_start(s.fd, s.id));
	dev_go(&target);
	while (*done < 100000)
		dev_msleep(1);
	hold_at("hwpmc_switch_sync_followers");
	hold_arm(getpid());
	before = *done;
	ck_assert(!pthread_create(&thread, NULL, operation, &s));
	hold_wait();
	value = dev_read(s.fd, s.id);
	hold_end();
	pthread_join(thread, NULL);
	ck_assert_uint_ge(value, before);
	ck_assert_uint_ge(dev_read(s.fd, s.id), value);
	kill(target.pid, SIGKILL);
	waitpid(target.pid, NULL, 0);
	close(s.fd);
	dev_still_counts();
}

START_TEST(a_read_during_a_stop_has_all_that_was_counted)
{
	read_during(stop_it);
}
END_TEST

START_TEST(a_read_during_a_detach_has_all_that_was_counted)
{
	read_during(detach_it);
}
END_TEST

static volatile struct family {
	uint64_t done;			/* instructions of both, at least */
	int ready, read;		/* the parent; the child is to read */
	int err;
	uint64_t value;			/* that the child has read; 0: not yet */
} *family;

static void read_of_child(int fd, uint32_t id)
{
	uint64_t value = 0;

	dev_pin(0, 2);
	/* What it counts itself has to be little. */
	while (!family->read)
		dev_msleep(1);
	family->err = dev_rw(fd, id, HWPMC_F_OLDVALUE, &value);
	family->value = value;
	for (;;)
		pause();
}

static void parent_detaches(void *unused)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_DESCENDANTS, ANY, INSN, U);
	pid_t pid;

	dev_pin(0, 1);
	dev_ok(dev_attach(fd, id, 0));
	dev_ok(dev_start(fd, id));
	pid = fork();
	if (!pid)
		read_of_child(fd, id);
	family->ready = 1;
	while (family->ready)
		dev_msleep(1);
	dev_spin(1000000);
	/* What a switch since then has added to the total, no read can miss. */
	family->done = dev_read(fd, id) + 3000;
	dev_spin(1000);
	dev_ok(dev_detach(fd, id, 0));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * The parent has lost its link, and its CPU has not been told. The child is the only thread
 * that is left, and reads: its own slice is not all.
 */
START_TEST(a_child_that_reads_while_its_parent_detaches_has_the_parents_part)
{
	struct child parent;

	family = shared_page();
	dev_pin(0, 0);
	parent = dev_child(parent_detaches, NULL);
	dev_go(&parent);
	while (!family->ready)
		dev_msleep(1);
	hold_at("hwpmc_switch_sync_followers");
	hold_arm(parent.pid);
	family->ready = 0;
	hold_wait();
	family->read = 1;
	while (!family->value && !family->err)
		dev_msleep(1);
	hold_end();
	dev_wait(&parent);
	ck_assert_int_eq(family->err, 0);
	ck_assert_uint_ge(family->done, 3000000);
	ck_assert_uint_ge(family->value, family->done);
	dev_still_counts();
}
END_TEST

/* ---- a CPU that comes online ---------------------------------------------- */

/* The kernel's thread that takes the CPU through its callbacks. */
static pid_t hotplug_thread_of(int cpu)
{
	char cmd[96];
	int pid = 0;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "grep -lx cpuhp/%d /proc/[0-9]*/comm", cpu);
	f = popen(cmd, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "/proc/%d/comm", &pid), 1);
	pclose(f);
	return pid;
}

static void cpu2_online(void *unused)
{
	dev_put("/sys/devices/system/cpu/cpu2/online", "1");
}

static int allocate_on_cpu2(int fd, uint32_t *id)
{
	struct hwpmc_op_pmcallocate op;
	int err;

	dev_request(&op, HWPMC_MODE_SC, 0, 2, INSN, U);
	err = dev_allocate(fd, &op);
	*id = op.pmcid;
	return err;
}

/*
 * The kernel says that the CPU is online, and the module has not asked it yet which kind of
 * core and which thread of one it is: it may not have the counters that the PMC would get.
 */
START_TEST(a_cpu_that_the_module_does_not_know_yet_is_offline_to_it)
{
	struct hwpmc_op_getkinds kinds = { .cpu = 2 };
	struct child child;
	uint32_t id;
	int fd;

	dev_pin(0, 0);
	/* Loaded anew, it has no work item that would wait for the CPU and keep the allocation
	 * waiting. */
	ck_assert_int_eq(system("rmmod hwpmc && "
				"insmod build/kmod/$(uname -r)/hwpmc.ko " DEV_PARAMS), 0);
	fd = dev_open();
	dev_put("/sys/devices/system/cpu/cpu2/online", "0");
	ck_assert_int_eq(allocate_on_cpu2(fd, &id), ENXIO);
	hold_at("cpu_online_here");
	hold_arm(hotplug_thread_of(2));
	child = dev_child(cpu2_online, NULL);
	dev_go(&child);
	hold_wait();
	ck_assert_int_eq(system("grep -qx '0-[23]' /sys/devices/system/cpu/online"), 0);
	ck_assert_int_eq(allocate_on_cpu2(fd, &id), ENXIO);
	ck_assert_int_eq(dev_hdr.reason, HWPMC_WHY_CPU_OFFLINE);
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETKINDS, &kinds), -1);
	ck_assert_int_eq(errno, ENXIO);
	hold_end();
	dev_wait(&child);
	dev_ok(allocate_on_cpu2(fd, &id));
	dev_ok(dev_start(fd, id));
	dev_pin(0, 2);
	dev_spin(100000);
	ck_assert_uint_gt(dev_read(fd, id), 100000);
	close(fd);
	dev_still_counts();
}
END_TEST

/* ---- start and stop of many ------------------------------------------------ */

struct pair {
	int fd;
	struct hwpmc_batch_entry entry[2];
	uint32_t command;
};

static void *batch_both(void *arg)
{
	struct pair *p = arg;
	struct hwpmc_op_batch op = {
		.command = p->command, .n = 2, .entry_size = sizeof(p->entry[0]),
		.entries = (uintptr_t)p->entry,
	};

	dev_pin(0, 0);
	ck_assert_int_eq(ioctl(p->fd, HWPMC_IOC_BATCH, &op), 0);
	ck_assert_uint_eq(op.failed, 0);
	return NULL;
}

static void publish_turns(void *arg)
{
	volatile uint64_t *done = arg;

	for (;;) {
		dev_spin(1000);
		++*done;
		dev_msleep(1);
	}
}

static void await_more(volatile uint64_t *done, unsigned int turns)
{
	uint64_t before = *done;

	while (*done - before < turns)
		dev_msleep(1);
}

/* Held for so many turns when the links of the first PMC were changed. */
static void batch_during(struct pair *p, uint32_t command, volatile uint64_t *done,
			 unsigned int turns)
{
	pthread_t thread;

	p->command = command;
	hold_at_call("hwpmc_walk_links", 1);
	hold_arm(getpid());
	ck_assert(!pthread_create(&thread, NULL, batch_both, p));
	hold_wait();
	await_more(done, turns);
	hold_end();
	pthread_join(thread, NULL);
	await_more(done, 20);
}

/* The target is switched out and in while the operation goes on. */
START_TEST(pmcs_of_a_process_that_start_and_stop_by_one_call_have_counted_the_same)
{
	volatile uint64_t *done = shared_page();
	struct child target = dev_child(publish_turns, (void *)done);
	struct pair p = { .fd = dev_open() };
	uint64_t value[2];

	dev_pin(0, 2);
	dev_pin(target.pid, 1);
	for (int i = 0; i < 2; i++) {
		p.entry[i].pmcid = dev_alloc(p.fd, TC, 0, ANY, INSN, U);
		dev_ok(dev_attach(p.fd, p.entry[i].pmcid, target.pid));
	}
	dev_go(&target);
	await_more(done, 20);
	/* Not as many: what one began earlier it would end earlier. */
	batch_during(&p, HWPMC_BATCH_START, done, 20);
	batch_during(&p, HWPMC_BATCH_STOP, done, 60);
	for (int i = 0; i < 2; i++)
		value[i] = dev_read(p.fd, p.entry[i].pmcid);
	ck_assert_uint_ge(value[0], 20 * 3000);
	ck_assert_uint_eq(value[0], value[1]);
	kill(target.pid, SIGKILL);
	waitpid(target.pid, NULL, 0);
	close(p.fd);
	dev_still_counts();
}
END_TEST

/* ---- the end of a log --------------------------------------------------------- */

static int log_fd;
static _Atomic bool may_close;

static void *close_log(void *unused)
{
	struct hwpmc_op_simple op = { { 0 } };

	while (!may_close)
		usleep(500);
	return (void *)(long)ioctl(log_fd, HWPMC_IOC_CLOSELOG, &op);
}

static int events_now(void)
{
	struct pollfd p = { .fd = log_fd, .events = POLLIN };

	ck_assert_int_ge(poll(&p, 1, 0), 0);
	return p.revents;
}

/* A reader takes the records that it finds at POLLHUP for the last ones. */
START_TEST(poll_reports_no_end_before_the_last_records)
{
	struct hwpmc_op_configurelog conf = {
		.logfd = -1, .flags = HWPMC_LOG_F_MAPPED, .ring_size = 65536,
	};
	pthread_t thread;
	int amid, after;
	void *ret;

	log_fd = dev_open();
	ck_assert_int_eq(ioctl(log_fd, HWPMC_IOC_CONFIGURELOG, &conf), 0);
	ck_assert(!pthread_create(&thread, NULL, close_log, NULL));
	hold_at("hwpmc_records_end");
	hold_arm(getpid());
	may_close = true;
	hold_wait();
	amid = events_now();
	hold_end();
	ck_assert(!pthread_join(thread, &ret));
	after = events_now();
	ck_assert_int_eq((long)ret, 0);
	ck_assert_int_eq(amid & POLLHUP, 0);
	ck_assert_int_eq(after, POLLIN | POLLHUP);
	close(log_fd);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(attach_to_a_process_that_gains_rights_meanwhile_is_eperm);
	harness_add(attach_to_a_process_whose_other_thread_gains_rights_meanwhile_is_eperm);
	harness_add(attach_to_a_thread_that_gains_rights_meanwhile_is_eperm);
	harness_add(attach_to_a_thread_that_an_exec_ends_meanwhile_is_esrch);
	harness_add(a_refused_attach_leaves_no_child_of_the_process_attached);
	harness_add(an_exit_during_the_attach_of_another_pmc_is_told_to_its_owner);
	if (dev_cpus() >= 3) {
		harness_add(a_read_during_a_stop_has_all_that_was_counted);
		harness_add(pmcs_of_a_process_that_start_and_stop_by_one_call_have_counted_the_same);
		harness_add(a_read_during_a_detach_has_all_that_was_counted);
		harness_add(a_child_that_reads_while_its_parent_detaches_has_the_parents_part);
		harness_add(a_cpu_that_the_module_does_not_know_yet_is_offline_to_it);
	}
	harness_add(poll_reports_no_end_before_the_last_records);
	return harness_run();
}
