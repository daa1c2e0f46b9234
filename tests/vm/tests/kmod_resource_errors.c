/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_resource_errors.c - errors that hwpmc(4) promises and that need a situation of their
 * own: no room for a thread, no memory, CPUs that are absent or gone, a super-user
 * of a user namespace alone. And what that page says of the machine. All else in
 * each request is valid; each test ends by proving that the driver still counts.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "kmod_dev.h"

#define REFUSED(call, err, why) do {					\
	int got_ = (call);						\
	ck_assert_msg(got_ == (err) && dev_hdr.reason == HWPMC_WHY_##why, \
		      "%s: errno %d, reason %u (%d), not %d, " #why, #call, \
		      got_, dev_hdr.reason, dev_hdr.detail, err);	\
} while (0)
#define REFUSED_WITH(call, err, why, what) do {				\
	REFUSED(call, err, why);					\
	ck_assert_int_eq(dev_hdr.detail, (int32_t)(what));		\
} while (0)

static int fd, file;

static void setup(void)
{
	fd = dev_open();
	ck_assert_int_ge(fd, 0);
	file = memfd_create("log", MFD_CLOEXEC);
	ck_assert_int_ge(file, 0);
}

static void prove(void)
{
	close(fd);
	dev_still_counts();
}

static int op(unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	memcpy(&dev_hdr, arg, sizeof(dev_hdr));
	return ret ? errno : 0;
}

static int configure(uint32_t ring_size)
{
	struct hwpmc_op_configurelog arg = {
		.logfd = file, .ring_size = ring_size,
	};

	return op(HWPMC_IOC_CONFIGURELOG, &arg);
}

static int admin(uint32_t cpu, uint32_t row, uint32_t state)
{
	struct hwpmc_op_pmcadmin arg = {
		.cpu = cpu, .row = row, .state = state,
	};

	return op(HWPMC_IOC_PMCADMIN, &arg);
}

static int info_of(uint32_t cpu, struct hwpmc_pmcinfo *infos)
{
	struct hwpmc_op_getpmcinfo arg = {
		.cpu = cpu, .npmc = HWPMC_ROW_MAX, .pmcs = (uintptr_t)infos,
	};

	return op(HWPMC_IOC_GETPMCINFO, &arg);
}

static int sampling(int mode, uint32_t cpu, uint64_t period, uint32_t *id)
{
	struct hwpmc_op_pmcallocate req;
	int ret;

	dev_request(&req, mode, 0, cpu, INSN, U);
	req.count = period;
	ret = dev_allocate(fd, &req);
	*id = req.pmcid;
	return ret;
}

static long number_in(const char *path)
{
	FILE *f = fopen(path, "r");
	long n;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%ld", &n), 1);
	fclose(f);
	return n;
}

/* ---- no room --------------------------------------------------------------- */

#define THREADS_MAX	"/proc/sys/kernel/threads-max"

/* More threads than that exist already. */
START_TEST(a_log_without_room_for_its_thread_is_eagain)
{
	char before[24];
	int err;

	snprintf(before, sizeof(before), "%ld", number_in(THREADS_MAX));
	dev_put(THREADS_MAX, "20");
	err = configure(0);
	dev_put(THREADS_MAX, before);
	ck_assert_int_eq(err, EAGAIN);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_NO_MEMORY);
	/* Nothing of it is left. */
	dev_ok(configure(0));
	ck_assert_int_eq(configure(0), EBUSY);
}
END_TEST

#define GROUPS	"/tmp/cgroup"
#define SMALL	GROUPS "/small"

/*
 * Allocations are to fail, and nobody is to be killed for them. The first hierarchy
 * of control groups can be told so; Debian's kernels have it for memory up to 6.1.
 * In the second it takes a process that must not be killed, and the kernel says at
 * length that it found no other.
 */
static void enter_small_group(void)
{
	mkdir(GROUPS, 0700);
	if (!mount("none", GROUPS, "cgroup", 0, "memory")) {
		ck_assert_int_eq(mkdir(SMALL, 0700), 0);
		dev_put(SMALL "/memory.limit_in_bytes", "16M");
		dev_put(SMALL "/memory.oom_control", "1");
	} else {
		ck_assert_msg(!mount("none", GROUPS, "cgroup2", 0, NULL),
			      "cgroup2: %s", strerror(errno));
		dev_put(GROUPS "/cgroup.subtree_control", "+memory");
		ck_assert_int_eq(mkdir(SMALL, 0700), 0);
		dev_put(SMALL "/memory.max", "16M");
		dev_put("/proc/self/oom_score_adj", "-1000");
		dev_expect("^[^a-z]*(Call Trace:|RIP: 0033:)");
	}
	dev_put(SMALL "/cgroup.procs", "0");
}

static void leave_small_group(void)
{
	dev_put(GROUPS "/cgroup.procs", "0");
	dev_put("/proc/self/oom_score_adj", "0");
	rmdir(SMALL);
	umount2(GROUPS, MNT_DETACH);
}

START_TEST(a_log_without_memory_is_enomem)
{
	struct hwpmc_hdr why;
	int err, small;

	enter_small_group();
	err = configure(64 << 20);
	why = dev_hdr;
	small = configure(16384);
	leave_small_group();
	ck_assert_int_eq(err, ENOMEM);
	ck_assert_uint_eq(why.reason, HWPMC_WHY_NO_MEMORY);
	ck_assert_msg(!small, "a small log: %s", strerror(small));
}
END_TEST

/* ---- logs and sampling ----------------------------------------------------- */

START_TEST(a_system_sampling_pmc_without_a_log_is_ebadfd)
{
	uint32_t id;

	dev_ok(sampling(HWPMC_MODE_SS, 0, 1000000, &id));
	REFUSED(dev_start(fd, id), EBADFD, NO_LOG);
	dev_ok(configure(0));
	dev_ok(dev_start(fd, id));
}
END_TEST

START_TEST(a_pmc_that_logs_switches_and_exits_waits_for_its_log)
{
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_LOG_PROCCSW |
				HWPMC_F_LOG_PROCEXIT, ANY, INSN, U);

	REFUSED(dev_start(fd, id), EBADFD, NO_LOG);
	dev_ok(configure(0));
	dev_ok(dev_start(fd, id));
}
END_TEST

START_TEST(a_sampling_pmc_holds_no_count)
{
	uint64_t v = 7;
	uint32_t id;

	dev_ok(sampling(HWPMC_MODE_TS, ANY, 1000000, &id));
	REFUSED(dev_rw(fd, id, HWPMC_F_OLDVALUE, &v), EINVAL, RW_MODE);
	REFUSED(dev_rw(fd, id, HWPMC_F_NEWVALUE, &v), EINVAL, RW_MODE);
	REFUSED(dev_rw(fd, id, HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE, &v), EINVAL,
		RW_MODE);
}
END_TEST

static uint64_t period_of(uint32_t cpu, uint32_t id)
{
	static struct hwpmc_pmcinfo infos[HWPMC_ROW_MAX];

	dev_ok(info_of(cpu, infos));
	return infos[HWPMC_ID_ROW(id)].reloadcount;
}

START_TEST(the_period_is_set_before_the_start_and_not_after_it)
{
	uint32_t id;

	dev_ok(configure(0));
	dev_ok(sampling(HWPMC_MODE_SS, 0, 1000000, &id));
	ck_assert_uint_eq(period_of(0, id), 1000000);
	dev_ok(dev_setcount(fd, id, 2000000));
	ck_assert_uint_eq(period_of(0, id), 2000000);
	dev_ok(dev_start(fd, id));
	REFUSED(dev_setcount(fd, id, 3000000), EBUSY, RUNNING);
	ck_assert_uint_eq(period_of(0, id), 2000000);
}
END_TEST

START_TEST(a_class_that_cannot_interrupt_does_not_sample)
{
	struct hwpmc_op_pmcallocate req = {
		.mode = HWPMC_MODE_SS, .class = HWPMC_CLASS_TSC,
		.ev = HWPMC_EV_TSC, .count = 1000000,
	};

	REFUSED_WITH(dev_allocate(fd, &req), EOPNOTSUPP, CAPS,
		     HWPMC_CAP_INTERRUPT);
	req.mode = SC;
	req.count = 0;
	dev_ok(dev_allocate(fd, &req));
}
END_TEST

/* ---- rows, targets ----------------------------------------------------------- */

START_TEST(admin_leaves_the_row_of_a_running_system_pmc_alone)
{
	uint32_t id = dev_alloc(fd, SC, 0, 0, INSN, U);
	uint32_t row = HWPMC_ID_ROW(id);
	uint64_t before;

	dev_ok(dev_start(fd, id));
	dev_pin(0, 0);
	before = dev_read(fd, id);
	REFUSED_WITH(admin(0, row, HWPMC_STATE_DISABLED), EBUSY, ROW_IN_USE, row);
	dev_spin(100000);
	ck_assert_uint_ge(dev_read(fd, id) - before, 300000);
	dev_ok(dev_release(fd, id));
	dev_ok(admin(0, row, HWPMC_STATE_DISABLED));
	dev_ok(admin(0, row, HWPMC_STATE_FREE));
}
END_TEST

static void check_row(uint32_t row, enum hwpmc_disp disp, uint32_t enabled)
{
	static struct hwpmc_pmcinfo infos[HWPMC_ROW_MAX];

	dev_ok(info_of(0, infos));
	ck_assert_uint_eq(infos[row].rowdisp, disp);
	ck_assert_uint_eq(infos[row].enabled, enabled);
}

START_TEST(a_row_is_free_of_threads_or_standalone)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint32_t row = HWPMC_ID_ROW(id);

	check_row(row, HWPMC_DISP_THREAD, 1);
	dev_ok(dev_release(fd, id));
	check_row(row, HWPMC_DISP_FREE, 1);
	id = dev_alloc(fd, SC, 0, 1, INSN, U);
	row = HWPMC_ID_ROW(id);
	/* On all CPUs, the PMC's own or not. */
	check_row(row, HWPMC_DISP_STANDALONE, 1);
	dev_ok(dev_release(fd, id));
	dev_ok(admin(0, row, HWPMC_STATE_DISABLED));
	check_row(row, HWPMC_DISP_STANDALONE, 0);
	dev_ok(admin(0, row, HWPMC_STATE_FREE));
	check_row(row, HWPMC_DISP_FREE, 1);
}
END_TEST

START_TEST(start_after_the_last_detach_is_esrch)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, 0));
	dev_ok(dev_start(fd, id));
	dev_ok(dev_detach(fd, id, 0));
	dev_ok(dev_stop(fd, id));
	REFUSED(dev_start(fd, id), ESRCH, NO_TARGETS);
	dev_ok(dev_attach(fd, id, 0));
	dev_ok(dev_start(fd, id));
}
END_TEST

/* ---- CPUs -------------------------------------------------------------------- */

static void cpu1_online(bool on)
{
	dev_put("/sys/devices/system/cpu/cpu1/online", on ? "1" : "0");
}

START_TEST(a_running_pmc_of_an_offline_cpu_neither_stops_nor_reads)
{
	uint32_t id = dev_alloc(fd, SC, 0, 1, INSN, U);
	int stop, read;
	uint64_t v;

	dev_ok(dev_start(fd, id));
	cpu1_online(false);
	stop = dev_stop(fd, id);
	if (stop)
		stop = dev_hdr.reason == HWPMC_WHY_CPU_OFFLINE &&
		       dev_hdr.detail == 1 ? stop : -1;
	read = dev_rw(fd, id, HWPMC_F_OLDVALUE, &v);
	cpu1_online(true);
	ck_assert_int_eq(stop, ENXIO);
	ck_assert_int_eq(read, ENXIO);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_CPU_OFFLINE);
	/* It goes on where it was. */
	v = dev_read(fd, id);
	dev_pin(0, 1);
	dev_spin(100000);
	ck_assert_uint_ge(dev_read(fd, id) - v, 300000);
	dev_ok(dev_stop(fd, id));
}
END_TEST

/* The group boots with two CPUs that could come and never do. */
START_TEST(a_cpu_that_never_came_is_enxio_and_a_higher_one_einval)
{
	uint32_t absent = dev_cpus(), row = dev_first_row();
	static struct hwpmc_pmcinfo infos[HWPMC_ROW_MAX];
	struct hwpmc_op_getcpuinfo machine = { .hdr = { 0 } };
	struct hwpmc_op_pmcallocate req;

	dev_ok(op(HWPMC_IOC_GETCPUINFO, &machine));
	ck_assert_uint_gt(machine.ncpu, absent);
	dev_request(&req, SC, 0, absent, INSN, U);
	REFUSED_WITH(dev_allocate(fd, &req), ENXIO, CPU_OFFLINE, absent);
	REFUSED_WITH(info_of(absent, infos), ENXIO, CPU_OFFLINE, absent);
	REFUSED_WITH(admin(absent, row, HWPMC_STATE_DISABLED), ENXIO,
		     CPU_OFFLINE, absent);
	req.cpu = machine.ncpu;
	REFUSED_WITH(dev_allocate(fd, &req), EINVAL, CPU_RANGE, machine.ncpu - 1);
	REFUSED(info_of(machine.ncpu, infos), EINVAL, CPU_RANGE);
	REFUSED(admin(machine.ncpu, row, HWPMC_STATE_DISABLED), EINVAL,
		CPU_RANGE);
	req.cpu = absent - 1;
	dev_ok(dev_allocate(fd, &req));
}
END_TEST

START_TEST(cpuinfo_tells_the_highest_cpu_and_the_rows_of_each)
{
	static struct hwpmc_pmcinfo infos[HWPMC_ROW_MAX];
	struct hwpmc_op_getcpuinfo machine = { .hdr = { 0 } };
	uint32_t rows = 0, first, last;
	FILE *f = fopen("/sys/devices/system/cpu/possible", "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%u-%u", &first, &last), 2);
	fclose(f);
	dev_ok(op(HWPMC_IOC_GETCPUINFO, &machine));
	ck_assert_uint_eq(machine.ncpu, last + 1);
	for (uint32_t i = 0; i < machine.nclass; i++) {
		ck_assert_uint_eq(machine.classes[i].first, rows);
		rows += machine.classes[i].num;
	}
	ck_assert_uint_eq(machine.npmc, rows);
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_ok(info_of(cpu, infos));
		for (uint32_t i = 0; i < rows; i++)
			ck_assert_uint_ne(infos[i].name[0], 0);
	}
}
END_TEST

/* ---- what is told first ---------------------------------------------------- */

static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

START_TEST(attach_tells_the_first_of_many_faults_in_the_documented_order)
{
	uint32_t sys = dev_alloc(fd, SC, 0, 0, INSN, U);
	uint32_t id;
	pid_t dead = dead_pid();

	REFUSED(dev_attach(fd, sys ^ 1 << 20, -1), EINVAL, ID);
	REFUSED(dev_attach(fd, sys, -1), EINVAL, SYSTEM_SCOPE);
	dev_ok(dev_release(fd, sys));
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_start(fd, id));
	REFUSED(dev_attach(fd, id, -1), EINVAL, PID);
	REFUSED(dev_attach(fd, id, dead), EBUSY, RUNNING);
	dev_ok(dev_stop(fd, id));
	REFUSED(dev_attach(fd, id, dead), ESRCH, NO_PROCESS);
	REFUSED(dev_attach(fd, id, 0), EEXIST, ATTACHED);
}
END_TEST

START_TEST(admin_tells_the_first_of_many_faults_in_the_documented_order)
{
	uint32_t row = dev_first_row(), absent = dev_cpus();
	pid_t pid = fork();
	int status;

	if (!pid) {
		ck_assert(!setresuid(65534, 65534, 65534));
		REFUSED(admin(100000, 999, 77), EPERM, PRIV_ADMIN);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	REFUSED(admin(100000, 999, 77), EINVAL, CPU_RANGE);
	REFUSED(admin(absent, 999, 77), ENXIO, CPU_OFFLINE);
	REFUSED(admin(0, 999, 77), EINVAL, ROW);
	REFUSED(admin(0, row, 77), EINVAL, ADMIN_STATE);
}
END_TEST

START_TEST(start_and_logs_tell_the_first_of_many_faults_in_the_documented_order)
{
	struct hwpmc_op_configurelog bad = { .logfd = 999, .flags = 2 };
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_LOG_PROCEXIT, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, 0));
	dev_ok(dev_detach(fd, id, 0));
	REFUSED(dev_start(fd, id), EBADFD, NO_LOG);
	dev_ok(configure(0));
	REFUSED(dev_start(fd, id), ESRCH, NO_TARGETS);
	REFUSED(op(HWPMC_IOC_CONFIGURELOG, &bad), EINVAL, FLAGS);
	bad.flags = 0;
	REFUSED(op(HWPMC_IOC_CONFIGURELOG, &bad), EBUSY, LOG_EXISTS);
	bad.logfd = -1;
	dev_ok(op(HWPMC_IOC_CONFIGURELOG, &bad));
	bad.logfd = 999;
	REFUSED(op(HWPMC_IOC_CONFIGURELOG, &bad), EBADF, LOG_FD);
}
END_TEST

/* ---- privileges ---------------------------------------------------------------- */

/* uid 0, and every capability, but of a user namespace alone. */
static void become_root_of_a_namespace(void)
{
	ck_assert_int_eq(unshare(CLONE_NEWUSER), 0);
	dev_put("/proc/self/setgroups", "deny");
	dev_put("/proc/self/uid_map", "0 0 1");
	ck_assert_uint_eq(getuid(), 0);
}

static void pause_as_nobody(void *arg)
{
	int *ready = arg;

	ck_assert(!setresgid(65534, 65534, 65534));
	ck_assert(!setresuid(65534, 65534, 65534));
	if (write(ready[1], "r", 1) == 1)
		pause();
}

static struct child somebody_else(void)
{
	struct child other;
	int ready[2];
	char c;

	ck_assert(!pipe(ready));
	other = dev_child(pause_as_nobody, ready);
	dev_go(&other);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	return other;
}

static void namespace_root_is_refused(pid_t other)
{
	struct hwpmc_op_simple revoke = { { 0 } };
	struct hwpmc_op_pmcallocate req;
	uint32_t id;

	become_root_of_a_namespace();
	fd = dev_open();
	ck_assert_int_ge(fd, 0);
	REFUSED(admin(0, dev_first_row(), HWPMC_STATE_DISABLED), EPERM,
		PRIV_ADMIN);
	REFUSED(op(HWPMC_IOC_REVOKE, &revoke), EPERM, PRIV_ADMIN);
	dev_request(&req, SC, 0, 0, INSN, U);
	REFUSED(dev_allocate(fd, &req), EPERM, PRIV_SYSTEM);
	REFUSED(sampling(HWPMC_MODE_SS, 0, 1000000, &id), EPERM, PRIV_SYSTEM);
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	REFUSED_WITH(dev_attach(fd, id, other), EPERM, PRIV_ATTACH, other);
	dev_ok(dev_attach(fd, id, 0));
}

START_TEST(the_super_user_of_a_user_namespace_is_not_privileged)
{
	struct child other = somebody_else();
	pid_t pid = fork();
	int status;

	if (!pid) {
		namespace_root_is_refused(other.pid);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	kill(other.pid, SIGKILL);
	waitpid(other.pid, NULL, 0);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(the_unprivileged_do_not_sample_the_system)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		uint32_t id;

		ck_assert(!setresuid(65534, 65534, 65534));
		fd = dev_open();
		REFUSED(sampling(HWPMC_MODE_SS, 0, 1000000, &id), EPERM,
			PRIV_SYSTEM);
		dev_ok(sampling(HWPMC_MODE_TS, ANY, 1000000, &id));
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* Any program, on any CPU, as without the driver. */
START_TEST(programs_read_the_tsc_while_the_driver_counts)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	struct hwpmc_op_pmcallocate req = {
		.mode = SC, .class = HWPMC_CLASS_TSC, .ev = HWPMC_EV_TSC,
	};

	dev_ok(dev_start(fd, id));
	dev_ok(dev_allocate(fd, &req));
	dev_ok(dev_start(fd, req.pmcid));
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		uint64_t before;
		int mode;

		dev_pin(0, cpu);
		ck_assert(!prctl(PR_GET_TSC, &mode));
		ck_assert_int_eq(mode, PR_TSC_ENABLE);
		before = __builtin_ia32_rdtsc();
		ck_assert_uint_gt(__builtin_ia32_rdtsc(), before);
	}
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, prove);
	harness_add(a_log_without_room_for_its_thread_is_eagain);
	harness_add(a_log_without_memory_is_enomem);
	harness_add(a_system_sampling_pmc_without_a_log_is_ebadfd);
	harness_add(a_pmc_that_logs_switches_and_exits_waits_for_its_log);
	harness_add(a_sampling_pmc_holds_no_count);
	harness_add(the_period_is_set_before_the_start_and_not_after_it);
	harness_add(a_class_that_cannot_interrupt_does_not_sample);
	harness_add(admin_leaves_the_row_of_a_running_system_pmc_alone);
	harness_add(a_row_is_free_of_threads_or_standalone);
	harness_add(start_after_the_last_detach_is_esrch);
	harness_add(a_running_pmc_of_an_offline_cpu_neither_stops_nor_reads);
	harness_add(a_cpu_that_never_came_is_enxio_and_a_higher_one_einval);
	harness_add(cpuinfo_tells_the_highest_cpu_and_the_rows_of_each);
	harness_add(attach_tells_the_first_of_many_faults_in_the_documented_order);
	harness_add(admin_tells_the_first_of_many_faults_in_the_documented_order);
	harness_add(start_and_logs_tell_the_first_of_many_faults_in_the_documented_order);
	harness_add(the_super_user_of_a_user_namespace_is_not_privileged);
	harness_add(the_unprivileged_do_not_sample_the_system);
	harness_add(programs_read_the_tsc_while_the_driver_counts);
	return harness_run();
}
