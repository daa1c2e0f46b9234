// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_refusals_ioctl - what the driver refuses: for each cause its errno and its reason,
 * everything else in the request being valid. Each test ends by proving that the
 * driver still counts. Sizes, addresses and the interface itself are in
 * kmod_abi.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>

#include "kmod_dev.h"

/* The call is refused with this errno for this reason; detail as asked for. */
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

static int fd;
static struct hwpmc_op_pmcallocate req;

static void cpu1_online(int on)
{
	int f = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);

	ck_assert_int_ge(f, 0);
	ck_assert(write(f, on ? "1" : "0", 1) == 1);
	close(f);
}

static void setup(void)
{
	fd = dev_open();
	ck_assert_int_ge(fd, 0);
}

static void prove(void)
{
	close(fd);
	dev_still_counts();
}

/* Requests that are valid but for what the test then changes. */
static void process_request(void)
{
	dev_request(&req, TC, 0, ANY, INSN, U);
}

static void system_request(void)
{
	dev_request(&req, SC, 0, 0, INSN, U);
}

static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

/* ---- PMCALLOCATE --------------------------------------------------------- */

START_TEST(allocate_refuses_an_unknown_mode)
{
	process_request();
	req.mode = 4;
	REFUSED_WITH(dev_allocate(fd, &req), EINVAL, MODE, 4);
}
END_TEST

START_TEST(a_sampling_pmc_does_not_start_without_a_log)
{
	process_request();
	req.mode = HWPMC_MODE_TS;
	req.count = 1000000;
	ck_assert_int_eq(dev_allocate(fd, &req), 0);
	REFUSED(dev_start(fd, req.pmcid), EBADFD, NO_LOG);
}
END_TEST

START_TEST(allocate_refuses_a_cpu_that_does_not_go_with_the_mode)
{
	system_request();
	req.cpu = 100000;
	REFUSED(dev_allocate(fd, &req), EINVAL, CPU_RANGE);
	process_request();
	req.cpu = 0;
	REFUSED_WITH(dev_allocate(fd, &req), EINVAL, CPU_WANT_ANY, 0);
	system_request();
	req.cpu = ANY;
	REFUSED(dev_allocate(fd, &req), EINVAL, CPU_WANT_ONE);
}
END_TEST

START_TEST(operations_on_an_offline_cpu_are_enxio)
{
	struct hwpmc_pmcinfo infos[HWPMC_ROW_MAX];
	struct hwpmc_op_getpmcinfo info = {
		.cpu = 1, .npmc = HWPMC_ROW_MAX, .pmcs = (uintptr_t)infos,
	};
	struct hwpmc_op_pmcadmin admin = {
		.cpu = 1, .row = dev_first_row(), .state = HWPMC_STATE_DISABLED,
	};
	int start, err[3];
	uint32_t id;

	system_request();
	req.cpu = 1;
	dev_ok(dev_allocate(fd, &req));
	id = req.pmcid;
	cpu1_online(0);
	start = dev_start(fd, id);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_CPU_OFFLINE);
	err[0] = dev_allocate(fd, &req);
	err[1] = ioctl(fd, HWPMC_IOC_GETPMCINFO, &info) ? errno : 0;
	err[2] = ioctl(fd, HWPMC_IOC_PMCADMIN, &admin) ? errno : 0;
	cpu1_online(1);
	ck_assert_int_eq(start, ENXIO);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(err[i], ENXIO);
	ck_assert_uint_eq(req.hdr.reason, HWPMC_WHY_CPU_OFFLINE);
	ck_assert_int_eq(req.hdr.detail, 1);
	ck_assert_uint_eq(info.hdr.reason, HWPMC_WHY_CPU_OFFLINE);
	ck_assert_uint_eq(admin.hdr.reason, HWPMC_WHY_CPU_OFFLINE);
	dev_ok(dev_start(fd, id));
}
END_TEST

START_TEST(allocate_refuses_unknown_flags_and_names_them)
{
	process_request();
	req.flags |= 0x1 | 0x80000000u;
	REFUSED_WITH(dev_allocate(fd, &req), EINVAL, FLAGS, 0x80000001u);
}
END_TEST

START_TEST(allocate_refuses_flags_that_mean_nothing_in_the_mode)
{
	static const struct {
		void (*request)(void);
		uint32_t flag;
	} bad[] = {
		{ system_request, HWPMC_F_DESCENDANTS },
		{ system_request, HWPMC_F_LOG_PROCCSW },
		{ system_request, HWPMC_F_LOG_PROCEXIT },
		{ system_request, HWPMC_F_EXEC_START },
		{ system_request, HWPMC_F_CALLCHAIN },
		{ system_request, HWPMC_F_KGMON },
		{ process_request, HWPMC_F_CALLCHAIN },
		{ process_request, HWPMC_F_USERCALLCHAIN },
		{ process_request, HWPMC_F_KGMON },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bad[i].request();
		req.flags |= bad[i].flag;
		REFUSED_WITH(dev_allocate(fd, &req), EINVAL, FLAGS_MODE,
			     bad[i].flag);
	}
}
END_TEST

START_TEST(allocate_refuses_a_class_that_the_machine_has_not)
{
	process_request();
	req.class = dev_is_amd() ? HWPMC_CLASS_IAP : HWPMC_CLASS_K8;
	REFUSED_WITH(dev_allocate(fd, &req), EINVAL, CLASS, req.class);
	req.class = 0x4711;
	REFUSED_WITH(dev_allocate(fd, &req), EINVAL, CLASS, 0x4711);
	/* The TSC follows no process. */
	req.class = HWPMC_CLASS_TSC;
	REFUSED(dev_allocate(fd, &req), EINVAL, CLASS);
}
END_TEST

START_TEST(allocate_refuses_missing_capabilities_and_names_them)
{
	process_request();
	req.caps |= HWPMC_CAP_DOMWIDE | HWPMC_CAP_CASCADE;
	REFUSED_WITH(dev_allocate(fd, &req), EOPNOTSUPP, CAPS,
		     HWPMC_CAP_DOMWIDE | HWPMC_CAP_CASCADE);
	process_request();
	req.caps |= 1u << 30;
	REFUSED_WITH(dev_allocate(fd, &req), EOPNOTSUPP, CAPS, 1u << 30);
}
END_TEST

START_TEST(allocate_refuses_an_event_that_the_class_has_not)
{
	process_request();
	req.flags &= ~HWPMC_F_EV_PMU;
	REFUSED(dev_allocate(fd, &req), EINVAL, EVENT);
	system_request();
	req.class = HWPMC_CLASS_TSC;
	req.caps = 0;
	req.flags = 0;
	req.ev = HWPMC_EV_TSC + 1;
	REFUSED(dev_allocate(fd, &req), EINVAL, EVENT);
}
END_TEST

/* User, kernel, interrupt and enable are the module's to set. */
START_TEST(allocate_refuses_reserved_bits_of_an_event_and_names_the_lowest)
{
	static const int bits[] = { 16, 17, 20, 22, 63 };

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		process_request();
		req.config |= 1ULL << bits[i];
		REFUSED_WITH(dev_allocate(fd, &req), EINVAL, EVENT_BITS,
			     bits[i]);
	}
	process_request();
	req.config1 = 1 << 5;
	REFUSED_WITH(dev_allocate(fd, &req), EINVAL, EVENT_BITS, 64 + 5);
}
END_TEST

/* Added where a class has such events: Intel. */
START_TEST(allocate_refuses_an_event_that_no_row_can_count)
{
	process_request();
	req.config = 0x0300;		/* only a fixed counter has it */
	REFUSED(dev_allocate(fd, &req), EINVAL, EVENT_ROWS);
}
END_TEST

START_TEST(allocate_of_more_than_there_are_rows_names_the_last)
{
	unsigned int n = dev_counters();

	for (unsigned int i = 0; i < n; i++)
		dev_alloc(fd, TC, 0, ANY, INSN, U);
	process_request();
	REFUSED_WITH(dev_allocate(fd, &req), EINVAL, ROWS_BUSY,
		     dev_first_row() + n - 1);
}
END_TEST

START_TEST(allocate_of_a_row_in_the_other_scope_is_refused)
{
	unsigned int n = dev_counters();
	int other = dev_open();

	for (unsigned int i = 0; i < n; i++)
		dev_alloc(fd, TC, 0, ANY, INSN, U);
	system_request();
	REFUSED(dev_allocate(other, &req), EINVAL, ROWS_BUSY);
	close(fd);
	fd = dev_open();
	for (unsigned int i = 0; i < n; i++)
		dev_alloc(fd, SC, 0, 0, INSN, U);
	process_request();
	REFUSED(dev_allocate(other, &req), EINVAL, ROWS_BUSY);
	/* Other CPUs have rows of their own. */
	system_request();
	req.cpu = 1;
	dev_ok(dev_allocate(other, &req));
	close(other);
}
END_TEST

static int admin(uint32_t cpu, uint32_t row, uint32_t state)
{
	struct hwpmc_op_pmcadmin op = { .cpu = cpu, .row = row, .state = state };
	int ret = ioctl(fd, HWPMC_IOC_PMCADMIN, &op);

	dev_hdr = op.hdr;
	return ret ? errno : 0;
}

static void admin_all(uint32_t cpu, uint32_t state)
{
	for (unsigned int i = 0; i < dev_counters(); i++)
		dev_ok(admin(cpu, dev_first_row() + i, state));
}

START_TEST(allocate_of_a_disabled_row_is_eperm_until_it_is_enabled)
{
	admin_all(0, HWPMC_STATE_DISABLED);
	system_request();
	REFUSED(dev_allocate(fd, &req), EPERM, ROW_DISABLED);
	process_request();
	REFUSED(dev_allocate(fd, &req), EINVAL, ROWS_BUSY);
	admin_all(0, HWPMC_STATE_FREE);
	dev_ok(dev_allocate(fd, &req));
}
END_TEST

/* All rows of a CPU that can be had, a bit each. */
static uint64_t take_all_rows(uint32_t cpu, unsigned int n)
{
	uint64_t rows = 0;

	while (n--) {
		system_request();
		req.cpu = cpu;
		dev_ok(dev_allocate(fd, &req));
		rows |= 1ull << HWPMC_ID_ROW(req.pmcid);
	}
	return rows;
}

START_TEST(a_row_disabled_on_one_cpu_is_allocated_on_another)
{
	unsigned int n = dev_counters(), row = dev_first_row();
	uint64_t all = ((1ull << n) - 1) << row;

	dev_ok(admin(1, row, HWPMC_STATE_DISABLED));
	ck_assert_uint_eq(take_all_rows(0, n), all);
	ck_assert_uint_eq(take_all_rows(1, n - 1), all & ~(1ull << row));
	system_request();
	req.cpu = 1;
	REFUSED_WITH(dev_allocate(fd, &req), EPERM, ROW_DISABLED, row);
	/* Nor does its being in use elsewhere keep it from being enabled. */
	dev_ok(admin(1, row, HWPMC_STATE_FREE));
	dev_ok(dev_allocate(fd, &req));
	ck_assert_uint_eq(HWPMC_ID_ROW(req.pmcid), row);
}
END_TEST

/* Since version 2 a counter runs only while its bit is set there; 0: there is no such register. */
static uint32_t global_control(void)
{
	return vpmu_reg(VPMU_REG_VERSION, 0) < 2 ? 0 : dev_is_amd() ? 0xc0000301 : 0x38f;
}

/* As firmware or a hypervisor leaves it: counting, and reserved by nobody. */
START_TEST(allocate_beside_a_running_counter_that_nobody_reserved_is_ebusy)
{
	uint32_t select = dev_is_amd() ? 0xc0010200 : 0x186;
	uint64_t enabled = 0x4300c0, control = 0;
	int err;

	ck_assert_int_eq(system("modprobe -d \"$VM_KERNEL\" msr"), 0);
	if (global_control()) {
		control = dev_rdmsr(0, global_control());
		dev_wrmsr(0, global_control(), control | 1);
	}
	dev_wrmsr(0, select, enabled);
	process_request();
	err = dev_allocate(fd, &req);
	ck_assert_uint_eq(dev_rdmsr(0, select), enabled);
	dev_wrmsr(0, select, 0);
	if (global_control())
		dev_wrmsr(0, global_control(), control);
	ck_assert_int_eq(err, EBUSY);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_PMU_RUNNING);
	ck_assert_uint_eq((uint32_t)dev_hdr.detail, select);
	dev_ok(dev_allocate(fd, &req));
}
END_TEST

/* All faults at once; repaired one by one, each shows the next. */
START_TEST(allocate_tells_the_first_of_many_faults_in_the_documented_order)
{
	system_request();
	req.mode = 9;
	req.cpu = 100000;
	req.flags = HWPMC_F_DESCENDANTS | 1;	/* no EV_PMU: no event */
	req.class = 0x4711;
	req.caps = HWPMC_CAP_CASCADE;
	req.config = 1ULL << 63;
	REFUSED(dev_allocate(fd, &req), EINVAL, MODE);
	req.mode = SC;
	REFUSED(dev_allocate(fd, &req), EINVAL, CPU_RANGE);
	req.cpu = ANY;
	REFUSED(dev_allocate(fd, &req), EINVAL, CPU_WANT_ONE);
	req.cpu = 0;
	REFUSED(dev_allocate(fd, &req), EINVAL, FLAGS);
	req.flags = HWPMC_F_DESCENDANTS;
	REFUSED(dev_allocate(fd, &req), EINVAL, FLAGS_MODE);
	req.flags = 0;
	REFUSED(dev_allocate(fd, &req), EINVAL, CLASS);
	req.class = dev_is_amd() ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAP;
	REFUSED(dev_allocate(fd, &req), EOPNOTSUPP, CAPS);
	req.caps = U;
	REFUSED(dev_allocate(fd, &req), EINVAL, EVENT);
	req.flags = HWPMC_F_EV_PMU;
	REFUSED(dev_allocate(fd, &req), EINVAL, EVENT_BITS);
	req.config = 0xc0;
	dev_ok(dev_allocate(fd, &req));
}
END_TEST

/* ---- ids ----------------------------------------------------------------- */

static int rw_old(int f, uint32_t id)
{
	uint64_t v;

	return dev_rw(f, id, HWPMC_F_OLDVALUE, &v);
}

static int set_9(int f, uint32_t id)
{
	return dev_setcount(f, id, 9);
}

static int rw_new(int f, uint32_t id)
{
	uint64_t v = 0;

	return dev_rw(f, id, HWPMC_F_NEWVALUE, &v);
}

static int attach_self(int f, uint32_t id)
{
	return dev_attach(f, id, 0);
}

static int detach_self(int f, uint32_t id)
{
	return dev_detach(f, id, 0);
}

static int getcaps(int f, uint32_t id)
{
	struct hwpmc_op_getcaps op = { .pmcid = id };
	int ret = ioctl(f, HWPMC_IOC_GETCAPS, &op);

	dev_hdr = op.hdr;
	return ret ? errno : 0;
}

/* Every operation that takes an id. */
static int (*const with_id[])(int, uint32_t) = {
	attach_self, detach_self, dev_start, dev_stop, dev_release, rw_old,
	rw_new, set_9, getcaps,
};

#define EACH_WITH_ID(i) \
	for (size_t i = 0; i < sizeof(with_id) / sizeof(with_id[0]); i++)

START_TEST(every_operation_refuses_an_id_that_does_not_exist)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint32_t gone = dev_alloc(fd, TC, 0, ANY, INSN, U);

	dev_ok(dev_release(fd, gone));
	EACH_WITH_ID(i) {
		REFUSED(with_id[i](fd, HWPMC_ID_INVALID), EINVAL, ID);
		REFUSED(with_id[i](fd, id ^ 1 << 20), EINVAL, ID);
		REFUSED(with_id[i](fd, id ^ 1 << 8), EINVAL, ID);
		REFUSED(with_id[i](fd, gone), EINVAL, ID);
	}
	ck_assert_uint_eq(dev_read(fd, id), 0);
}
END_TEST

START_TEST(every_operation_on_an_owner_without_pmcs_is_esrch)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	int other = dev_open();

	EACH_WITH_ID(i)
		REFUSED(with_id[i](other, id), ESRCH, NO_PMCS);
	dev_ok(dev_release(fd, id));
	EACH_WITH_ID(i)
		REFUSED(with_id[i](fd, id), ESRCH, NO_PMCS);
	close(other);
}
END_TEST

/* The other owner has a PMC of its own, of the same class, mode and CPU. */
START_TEST(no_operation_takes_the_id_of_a_pmc_of_another_owner)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint32_t cpu_id = dev_alloc(fd, SC, 0, 0, INSN, U);
	int other = dev_open();
	uint32_t own = dev_alloc(other, TC, 0, ANY, INSN, U);

	ck_assert_uint_ne(own, id);
	dev_alloc(other, SC, 0, dev_cpus() - 1, INSN, U);
	EACH_WITH_ID(i) {
		REFUSED(with_id[i](other, id), EINVAL, ID);
		REFUSED(with_id[i](other, cpu_id), EINVAL, ID);
		REFUSED(with_id[i](fd, own), EINVAL, ID);
	}
	dev_ok(dev_start(fd, id));
	dev_ok(dev_start(fd, cpu_id));
	dev_ok(dev_release(other, own));
	ck_assert_uint_gt(dev_read(fd, id), 0);
	close(other);
}
END_TEST

START_TEST(getcaps_tells_the_capabilities_of_the_class)
{
	struct hwpmc_op_getcaps op = {
		.pmcid = dev_alloc(fd, TC, 0, ANY, INSN, U),
	};

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETCAPS, &op), 0);
	ck_assert_uint_eq(op.caps & (U | K | HWPMC_CAP_READ | HWPMC_CAP_WRITE),
			  U | K | HWPMC_CAP_READ | HWPMC_CAP_WRITE);
}
END_TEST

/* ---- PMCATTACH, PMCDETACH ------------------------------------------------ */

START_TEST(attach_and_detach_in_system_scope_are_refused)
{
	uint32_t id = dev_alloc(fd, SC, 0, 0, INSN, U);

	REFUSED(dev_attach(fd, id, 0), EINVAL, SYSTEM_SCOPE);
	REFUSED(dev_detach(fd, id, 0), EINVAL, SYSTEM_SCOPE);
}
END_TEST

START_TEST(attach_and_detach_refuse_what_is_no_process)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	pid_t dead = dead_pid();

	REFUSED_WITH(dev_attach(fd, id, -1), EINVAL, PID, -1);
	REFUSED_WITH(dev_detach(fd, id, -7), EINVAL, PID, -7);
	REFUSED_WITH(dev_attach(fd, id, dead), ESRCH, NO_PROCESS, dead);
	REFUSED_WITH(dev_detach(fd, id, dead), ESRCH, NO_PROCESS, dead);
	REFUSED(dev_attach(fd, id, 0x7fffffff), ESRCH, NO_PROCESS);
}
END_TEST

static void *tell_tid(void *arg)
{
	int *pipes = arg;
	pid_t tid = syscall(SYS_gettid);
	char c;

	if (write(pipes[1], &tid, sizeof(tid)) != sizeof(tid))
		return NULL;
	return read(pipes[2], &c, 1) == 1 ? arg : NULL;
}

START_TEST(attach_to_a_thread_that_is_no_process_is_esrch)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	pthread_t thread;
	int pipes[4];
	pid_t tid;

	ck_assert(!pipe(pipes) && !pipe(pipes + 2));
	ck_assert(!pthread_create(&thread, NULL, tell_tid, pipes));
	ck_assert(read(pipes[0], &tid, sizeof(tid)) == sizeof(tid));
	REFUSED_WITH(dev_attach(fd, id, tid), ESRCH, NO_PROCESS, tid);
	ck_assert(write(pipes[3], "x", 1) == 1);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(attach_to_a_zombie_is_esrch)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	ck_assert(!waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	REFUSED_WITH(dev_attach(fd, id, pid), ESRCH, EXITING, pid);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(attach_of_a_running_pmc_is_ebusy)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	struct child child = dev_loop(1);

	dev_ok(dev_start(fd, id));
	REFUSED(dev_attach(fd, id, child.pid), EBUSY, RUNNING);
	dev_ok(dev_stop(fd, id));
	dev_ok(dev_attach(fd, id, child.pid));
	dev_go(&child);
	dev_wait(&child);
}
END_TEST

START_TEST(second_attach_to_the_same_process_is_eexist)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, 0));
	REFUSED_WITH(dev_attach(fd, id, 0), EEXIST, ATTACHED, getpid());
	REFUSED_WITH(dev_attach(fd, id, getpid()), EEXIST, ATTACHED, getpid());
	dev_ok(dev_detach(fd, id, 0));
	dev_ok(dev_attach(fd, id, 0));
}
END_TEST

START_TEST(detach_tells_an_unmeasured_process_from_one_of_others)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint32_t other = dev_alloc(fd, TC, 0, ANY, INSN, U);

	REFUSED_WITH(dev_detach(fd, id, getpid()), ESRCH, NOT_TARGET, getpid());
	dev_ok(dev_attach(fd, other, 0));
	REFUSED_WITH(dev_detach(fd, id, getpid()), EINVAL, NOT_ATTACHED,
		     getpid());
	dev_ok(dev_detach(fd, other, 0));
	REFUSED(dev_detach(fd, other, 0), ESRCH, NOT_TARGET);
}
END_TEST

/* ---- PMCSTART, PMCSTOP, PMCRW, PMCSETCOUNT ------------------------------- */

START_TEST(start_without_the_log_that_a_flag_needs_is_ebadfd)
{
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_LOG_PROCEXIT, ANY, INSN, U);

	REFUSED(dev_start(fd, id), EBADFD, NO_LOG);
	id = dev_alloc(fd, TC, HWPMC_F_LOG_PROCCSW, ANY, INSN, U);
	REFUSED(dev_start(fd, id), EBADFD, NO_LOG);
}
END_TEST

START_TEST(start_after_the_last_target_is_gone_is_esrch)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	struct child child = dev_loop(1);

	dev_ok(dev_attach(fd, id, child.pid));
	dev_go(&child);
	dev_wait(&child);
	REFUSED(dev_start(fd, id), ESRCH, NO_TARGETS);
	dev_ok(dev_attach(fd, id, 0));
	dev_ok(dev_start(fd, id));
}
END_TEST

START_TEST(stop_before_the_first_start_is_einval)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint32_t sys = dev_alloc(fd, SC, 0, 0, INSN, U);

	REFUSED(dev_stop(fd, id), EINVAL, NOT_STARTED);
	REFUSED(dev_stop(fd, sys), EINVAL, NOT_STARTED);
}
END_TEST

START_TEST(starting_twice_and_stopping_twice_succeed)
{
	uint32_t id[2] = { dev_alloc(fd, TC, 0, ANY, INSN, U) };

	id[1] = dev_alloc(fd, SC, 0, 0, INSN, U);
	for (int i = 0; i < 2; i++) {
		uint64_t v;

		dev_ok(dev_start(fd, id[i]));
		dev_ok(dev_start(fd, id[i]));
		dev_ok(dev_stop(fd, id[i]));
		v = dev_read(fd, id[i]);
		dev_ok(dev_stop(fd, id[i]));
		ck_assert_uint_eq(dev_read(fd, id[i]), v);
	}
}
END_TEST

START_TEST(rw_with_no_flag_or_an_unknown_one_is_einval)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint64_t v = 5;

	REFUSED(dev_rw(fd, id, 0, &v), EINVAL, RW_FLAGS);
	REFUSED(dev_rw(fd, id, HWPMC_F_OLDVALUE | 1, &v), EINVAL, RW_FLAGS);
	REFUSED(dev_rw(fd, id, HWPMC_F_NEWVALUE | 1u << 31, &v), EINVAL,
		RW_FLAGS);
	ck_assert_uint_eq(dev_read(fd, id), 0);
}
END_TEST

START_TEST(setting_the_count_of_a_running_pmc_is_ebusy)
{
	uint32_t id[2] = { dev_alloc(fd, TC, 0, ANY, INSN, U) };

	id[1] = dev_alloc(fd, SC, 0, 0, INSN, U);
	for (int i = 0; i < 2; i++) {
		uint64_t v = 5;

		dev_ok(dev_start(fd, id[i]));
		REFUSED(dev_setcount(fd, id[i], 5), EBUSY, RUNNING);
		REFUSED(dev_rw(fd, id[i], HWPMC_F_NEWVALUE, &v), EBUSY, RUNNING);
		dev_ok(dev_stop(fd, id[i]));
		dev_ok(dev_setcount(fd, id[i], 7));
		ck_assert_uint_eq(dev_read(fd, id[i]), 7);
	}
}
END_TEST

START_TEST(setting_the_count_of_the_tsc_is_refused)
{
	struct hwpmc_op_pmcallocate op = {
		.mode = SC, .class = HWPMC_CLASS_TSC, .ev = HWPMC_EV_TSC,
	};

	dev_ok(dev_allocate(fd, &op));
	REFUSED(dev_setcount(fd, op.pmcid, 0), EOPNOTSUPP, READ_ONLY);
	REFUSED(rw_new(fd, op.pmcid), EOPNOTSUPP, READ_ONLY);
}
END_TEST

/* ---- PMCADMIN, GETPMCINFO ------------------------------------------------ */

START_TEST(admin_refuses_what_it_cannot_do)
{
	uint32_t row = dev_first_row();

	REFUSED(admin(100000, row, HWPMC_STATE_DISABLED), EINVAL, CPU_RANGE);
	REFUSED(admin(0, HWPMC_ROW_MAX, HWPMC_STATE_DISABLED), EINVAL, ROW);
	REFUSED(admin(0, row, HWPMC_STATE_RUNNING), EINVAL, ADMIN_STATE);
	REFUSED(admin(0, row, 77), EINVAL, ADMIN_STATE);
	/* What is so already succeeds. */
	dev_ok(admin(0, row, HWPMC_STATE_FREE));
	dev_ok(admin(0, row, HWPMC_STATE_DISABLED));
	dev_ok(admin(0, row, HWPMC_STATE_DISABLED));
	dev_ok(admin(0, row, HWPMC_STATE_FREE));
}
END_TEST

START_TEST(admin_does_not_disable_a_row_in_use)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint32_t row = HWPMC_ID_ROW(id);

	REFUSED_WITH(admin(0, row, HWPMC_STATE_DISABLED), EBUSY, ROW_IN_USE, row);
	dev_ok(dev_release(fd, id));
	id = dev_alloc(fd, SC, 0, 0, INSN, U);
	row = HWPMC_ID_ROW(id);
	REFUSED_WITH(admin(0, row, HWPMC_STATE_DISABLED), EBUSY, ROW_IN_USE, row);
	/* On another CPU nothing is in the way. */
	dev_ok(admin(1, row, HWPMC_STATE_DISABLED));
	dev_ok(admin(1, row, HWPMC_STATE_FREE));
}
END_TEST

static int getinfo(uint32_t cpu, uint32_t *npmc, void *infos)
{
	struct hwpmc_op_getpmcinfo op = {
		.cpu = cpu, .npmc = *npmc, .pmcs = (uintptr_t)infos,
	};
	int ret = ioctl(fd, HWPMC_IOC_GETPMCINFO, &op);

	dev_hdr = op.hdr;
	*npmc = op.npmc;
	return ret ? errno : 0;
}

START_TEST(pmcinfo_refuses_bad_cpus_buffers_and_addresses)
{
	struct hwpmc_pmcinfo infos[HWPMC_ROW_MAX];
	uint32_t n = HWPMC_ROW_MAX, rows;

	dev_ok(getinfo(0, &n, infos));
	rows = n;
	ck_assert_uint_gt(rows, dev_counters());
	REFUSED(getinfo(100000, &n, infos), EINVAL, CPU_RANGE);
	n = rows - 1;
	REFUSED_WITH(getinfo(0, &n, infos), EINVAL, BUFFER, rows);
	n = rows;
	REFUSED(getinfo(0, &n, NULL), EFAULT, BAD_ADDRESS);
	REFUSED(getinfo(0, &n, (void *)-4096L), EFAULT, BAD_ADDRESS);
	dev_ok(getinfo(0, &n, infos));
}
END_TEST

static struct hwpmc_pmcinfo info_of(uint32_t cpu, unsigned int row)
{
	struct hwpmc_pmcinfo infos[HWPMC_ROW_MAX];
	uint32_t n = HWPMC_ROW_MAX;

	dev_ok(getinfo(cpu, &n, infos));
	ck_assert_uint_lt(row, n);
	return infos[row];
}

START_TEST(pmcinfo_tells_of_each_cpu_who_has_a_row_and_what_is_disabled)
{
	uint32_t id = dev_alloc(fd, SC, 0, 0, INSN, U);
	unsigned int row = HWPMC_ID_ROW(id);

	ck_assert_int_eq(info_of(0, row).ownerpid, getpid());
	ck_assert_int_eq(info_of(0, row).mode, SC);
	ck_assert_int_eq(info_of(0, row).enabled, 1);
	ck_assert_int_eq(info_of(1, row).ownerpid, -1);
	dev_ok(admin(1, row, HWPMC_STATE_DISABLED));
	ck_assert_int_eq(info_of(1, row).enabled, 0);
	ck_assert_int_eq(info_of(0, row).enabled, 1);
	dev_ok(admin(1, row, HWPMC_STATE_FREE));
	ck_assert_int_eq(info_of(1, row).enabled, 1);
	dev_ok(dev_release(fd, id));
	ck_assert_int_eq(info_of(0, row).ownerpid, -1);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, prove);
	harness_add(allocate_refuses_an_unknown_mode);
	harness_add(a_sampling_pmc_does_not_start_without_a_log);
	harness_add(allocate_refuses_a_cpu_that_does_not_go_with_the_mode);
	harness_add(operations_on_an_offline_cpu_are_enxio);
	harness_add(allocate_refuses_unknown_flags_and_names_them);
	harness_add(allocate_refuses_flags_that_mean_nothing_in_the_mode);
	harness_add(allocate_refuses_a_class_that_the_machine_has_not);
	harness_add(allocate_refuses_missing_capabilities_and_names_them);
	harness_add(allocate_refuses_an_event_that_the_class_has_not);
	harness_add(allocate_refuses_reserved_bits_of_an_event_and_names_the_lowest);
	if (!dev_is_amd())
		harness_add(allocate_refuses_an_event_that_no_row_can_count);
	harness_add(allocate_of_more_than_there_are_rows_names_the_last);
	harness_add(allocate_of_a_row_in_the_other_scope_is_refused);
	harness_add(allocate_of_a_disabled_row_is_eperm_until_it_is_enabled);
	harness_add(a_row_disabled_on_one_cpu_is_allocated_on_another);
	harness_add(allocate_beside_a_running_counter_that_nobody_reserved_is_ebusy);
	harness_add(allocate_tells_the_first_of_many_faults_in_the_documented_order);
	harness_add(every_operation_refuses_an_id_that_does_not_exist);
	harness_add(every_operation_on_an_owner_without_pmcs_is_esrch);
	harness_add(no_operation_takes_the_id_of_a_pmc_of_another_owner);
	harness_add(getcaps_tells_the_capabilities_of_the_class);
	harness_add(attach_and_detach_in_system_scope_are_refused);
	harness_add(attach_and_detach_refuse_what_is_no_process);
	harness_add(attach_to_a_thread_that_is_no_process_is_esrch);
	harness_add(attach_to_a_zombie_is_esrch);
	harness_add(attach_of_a_running_pmc_is_ebusy);
	harness_add(second_attach_to_the_same_process_is_eexist);
	harness_add(detach_tells_an_unmeasured_process_from_one_of_others);
	harness_add(start_without_the_log_that_a_flag_needs_is_ebadfd);
	harness_add(start_after_the_last_target_is_gone_is_esrch);
	harness_add(stop_before_the_first_start_is_einval);
	harness_add(starting_twice_and_stopping_twice_succeed);
	harness_add(rw_with_no_flag_or_an_unknown_one_is_einval);
	harness_add(setting_the_count_of_a_running_pmc_is_ebusy);
	harness_add(setting_the_count_of_the_tsc_is_refused);
	harness_add(admin_refuses_what_it_cannot_do);
	harness_add(admin_does_not_disable_a_row_in_use);
	harness_add(pmcinfo_refuses_bad_cpus_buffers_and_addresses);
	harness_add(pmcinfo_tells_of_each_cpu_who_has_a_row_and_what_is_disabled);
	return harness_run();
}
