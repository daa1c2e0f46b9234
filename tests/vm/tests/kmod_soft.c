/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_soft.c - class SOFT counts what the kernel itself says that happened, and its
 * samples are complete. Needs no PMU.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "../lib/kmod_worker.h"

#define PAGE	4096

/* ---- counting ------------------------------------------------------------ */

static uint64_t switches(pid_t pid)
{
	return proc_value(pid, "status", "voluntary_ctxt_switches") +
	       proc_value(pid, "status", "nonvoluntary_ctxt_switches");
}

static void sleep_often(unsigned int round)
{
	for (int i = 0; i < 200; i++)
		dev_msleep(1);
	dev_spin(20000000);
}

START_TEST(context_switches_are_those_that_the_kernel_counts)
{
	struct worker w = work_begin(sleep_often);
	uint64_t before;
	uint32_t id;

	open_device();
	until_it_sleeps(&w);
	id = count_of(&w, "context_switch");
	ok(hwpmc_start(h, id));
	before = switches(w.pid);
	work(&w);
	ck_assert_uint_eq(value(id), switches(w.pid) - before);
	ck_assert_uint_gt(value(id), 100);
	ok(hwpmc_stop(h, id));
	work(&w);
	ck_assert_uint_lt(value(id), switches(w.pid) - before);
	work_end(&w);
	close_device();
}
END_TEST

static unsigned int pages = 100;

static void touch_pages(unsigned int round)
{
	unsigned int n = round ? 1100 : pages;
	char *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, n * PAGE, MADV_NOHUGEPAGE);
	for (unsigned int i = 0; i < n; i++)
		*(volatile char *)(p + i * PAGE) = 1;
	munmap(p, n * PAGE);
}

static void read_pages(unsigned int round)
{
	char *p = mmap(NULL, 500 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, 500 * PAGE, MADV_NOHUGEPAGE);
	for (unsigned int i = 0; i < 500; i++)
		(void)*(volatile char *)(p + i * PAGE);
	munmap(p, 500 * PAGE);
}

static const char *const fault_events[] = {
	"page_fault.all", "page_fault.read", "page_fault.write",
	"page-faults:u", "page_fault.all:k",
};

enum { ALL, READ, WRITE, USER, KERNEL, NFAULT };

static void count_faults(struct worker *w, uint64_t n[NFAULT])
{
	static uint32_t id[NFAULT];
	static bool begun;

	if (!begun) {
		for (int i = 0; i < NFAULT; i++) {
			id[i] = count(fault_events[i]);
			ok(hwpmc_attach(h, id[i], w->pid));
			ok(hwpmc_start(h, id[i]));
		}
	}
	begun = true;
	work(w);
	for (int i = 0; i < NFAULT; i++)
		n[i] = value(id[i]);
}

START_TEST(page_faults_are_one_for_each_page_that_is_touched)
{
	struct worker w = work_begin(touch_pages);
	uint64_t a[NFAULT], b[NFAULT], c[NFAULT];

	open_device();
	until_it_sleeps(&w);
	count_faults(&w, a);	/* 100, and what the first round needs */
	count_faults(&w, b);	/* 1100 */
	count_faults(&w, c);	/* 1100 */
	ck_assert_uint_ge(a[WRITE], 100);
	/* Page tables are there already: the same again is the same. */
	ck_assert_uint_eq(c[WRITE] - b[WRITE], 1100);
	ck_assert_uint_eq(c[READ], b[READ]);
	ck_assert_uint_eq(c[ALL], c[READ] + c[WRITE]);
	ck_assert_uint_eq(c[ALL], c[USER] + c[KERNEL]);
	ck_assert_uint_eq(c[USER] - b[USER], 1100);
	work_end(&w);
	close_device();
}
END_TEST

START_TEST(page_faults_of_reads_are_told_from_those_of_writes)
{
	struct worker w = work_begin(read_pages);
	uint32_t reads, writes;
	uint64_t r, m;

	open_device();
	until_it_sleeps(&w);
	work(&w);
	reads = count_of(&w, "page_fault.read:u");
	writes = count_of(&w, "page_fault.write:u");
	ok(hwpmc_start(h, reads));
	ok(hwpmc_start(h, writes));
	r = value(reads);
	m = value(writes);
	work(&w);
	ck_assert_uint_eq(value(reads) - r, 500);
	ck_assert_uint_eq(value(writes) - m, 0);
	work_end(&w);
	close_device();
}
END_TEST

static void call_often(unsigned int round)
{
	for (unsigned int i = 0; i < (round & 1 ? 3000 : 1000); i++)
		syscall(SYS_getppid);
}

static void check_tracepoint(const char *event)
{
	struct worker w = work_begin(call_often);
	uint64_t a, b, c;
	uint32_t id;

	open_device();
	id = count(event);
	until_it_sleeps(&w);
	ok(hwpmc_attach(h, id, w.pid));
	ok(hwpmc_start(h, id));
	work(&w);
	a = value(id);
	work(&w);
	b = value(id);
	work(&w);
	c = value(id);
	ck_assert_uint_eq((b - a) - (c - b), 2000);
	ck_assert_uint_ge(c - b, 1000);
	work_end(&w);
	close_device();
}

START_TEST(any_tracepoint_counts_by_its_name)
{
	check_tracepoint("tracepoint:sys_enter");
	check_tracepoint("raw_syscalls:sys_exit");
	check_tracepoint("SOFT-sys_enter");
}
END_TEST

/* kCFI: a probe of another type than the tracepoint's would end the kernel. */
static bool kernel_tests_types_of_calls(void)
{
	return !system("grep -q ' handle_cfi_failure$' /proc/kallsyms");
}

START_TEST(a_tracepoint_of_unknown_type_is_refused_where_the_kernel_tests_types)
{
	bool tests = kernel_tests_types_of_calls();
	uint32_t id;
	int rc;

	open_device();
	rc = hwpmc_allocate(h, "tracepoint:sched_process_fork", HWPMC_MODE_TC, 0,
			    HWPMC_CPU_ANY, 0, &id);
	if (tests) {
		ck_assert_int_eq(rc, -1);
		ck_assert_int_eq(errno, EOPNOTSUPP);
		ck_assert_int_eq(hwpmc_reason(h), HWPMC_WHY_EVENT_TYPED);
	} else {
		ok(rc);
	}
	close_device();
}
END_TEST

static void trace(const char *event, const char *on)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/enable", event);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_msg(fd >= 0 && write(fd, on, 1) == 1, "%s: %m", path);
	close(fd);
}

/* Where there are two, the kernel calls each by its address. */
START_TEST(tracepoints_count_beside_another_probe)
{
	const char *const events[] = { "tracepoint:sched_switch",
		"tracepoint:sched_waking", "tracepoint:sched_wakeup" };
	struct worker w = work_begin(sleep_often);
	uint32_t id[3];

	trace("raw_syscalls", "1");
	trace("sched", "1");
	check_tracepoint("tracepoint:sys_enter");
	check_tracepoint("tracepoint:sys_exit");
	open_device();
	until_it_sleeps(&w);
	for (int i = 0; i < 3; i++) {
		id[i] = count_of(&w, events[i]);
		ok(hwpmc_start(h, id[i]));
	}
	work(&w);
	ck_assert_uint_ge(value(id[0]), 100);
	ck_assert_uint_ge(value(id[1]), 1);
	work_end(&w);
	close_device();
	trace("sched", "0");
	trace("raw_syscalls", "0");
}
END_TEST

/* A timer of the kernel's with the period of a clock of ours: it counts all that is
 * due, as the clock does, however late its interrupt is. */
static int ticker(unsigned int rate)
{
	const struct timespec period = { .tv_nsec = 1000000000 / rate };
	const struct itimerspec both = { period, period };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert(!timerfd_settime(fd, 0, &both, NULL));
	return fd;
}

/* Since it was asked last, at least one. */
static uint64_t ticks(int fd)
{
	uint64_t n;

	ck_assert_int_eq(read(fd, &n, sizeof(n)), sizeof(n));
	return n;
}

static uint64_t value_at_a_tick(uint32_t id)
{
	uint64_t before = value(id), n;

	while ((n = value(id)) == before)
		;
	return n;
}

/*
 * It ticks at least as often as a timer that began later and is read before, for so
 * many ticks of it, and at most as often as `around`, which began before and is read
 * later: but for the tick of an earlier period that each may begin with. It had n0.
 */
static void check_rate(uint32_t id, unsigned int rate, uint64_t least, int around,
		       uint64_t n0)
{
	uint64_t n, within = 0, most;
	int inner = ticker(rate);

	while (within < least)
		within += ticks(inner);
	n = value_at_a_tick(id) - n0;
	most = ticks(around);
	fprintf(stderr, "%u Hz: %llu <= %llu <= %llu + 1\n", rate,
		(unsigned long long)within, (unsigned long long)n,
		(unsigned long long)most);
	ck_assert_uint_ge(n, within);
	ck_assert_uint_le(n, most + 1);
	close(inner);
	close(around);
}

START_TEST(clocks_tick_on_a_cpu_as_often_as_they_say)
{
	static const struct {
		const char *name;
		unsigned int rate;
	} clocks[] = {
		{ "clock.hard", 1000 }, { "clock.stat", 127 },
		{ "clock.prof", 8128 },
	};

	open_device();
	for (int i = 0; i < 3; i++) {
		uint32_t id;
		int around;

		ok(hwpmc_allocate(h, clocks[i].name, HWPMC_MODE_SC, 0, 1, 0,
				  &id));
		around = ticker(clocks[i].rate);
		ok(hwpmc_start(h, id));
		check_rate(id, clocks[i].rate, clocks[i].rate, around, 0);
		ok(hwpmc_release(h, id));
	}
	close_device();
}
END_TEST

static void spin_in_user_mode(unsigned int round)
{
	dev_spin(60000000);
}

static volatile bool *enough;

static void spin_until_told(unsigned int round)
{
	while (!*enough)
		dev_spin(10000);
}

/* It spins until `id` has counted so much. */
static void spin_until(struct worker *w, uint32_t id, uint64_t least)
{
	char c = 0;

	ck_assert_int_eq(write(w->go[1], &c, 1), 1);
	while (value(id) < least)
		;
	*enough = true;
	ck_assert_int_eq(read(w->done[0], &c, 1), 1);
	until_it_sleeps(w);
}

static struct worker spinner(void)
{
	enough = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(enough != MAP_FAILED);
	return work_begin(spin_until_told);
}

/*
 * One timer of a CPU makes the ticks of all. A sample stands for one and more of them,
 * if some were due, and its address tells the mode that they were in.
 */
START_TEST(clocks_tell_user_mode_from_the_kernel)
{
	uint32_t user, kernel, both, sampled;
	struct hwpmc_rings *rings;
	struct tally t = { .lo = 0, .hi = 1ull << 47 };
	struct worker w = spinner();

	open_device();
	ok(hwpmc_rings_open(h, 1 << 20, 0, &rings));
	user = count("clock.hard:u");
	kernel = count("clock.hard:k");
	both = count("clock.hard");
	ok(hwpmc_allocate(h, "clock.hard", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 1,
			  &sampled));
	until_it_sleeps(&w);
	ok(hwpmc_attach(h, user, w.pid));
	ok(hwpmc_attach(h, kernel, w.pid));
	ok(hwpmc_attach(h, both, w.pid));
	ok(hwpmc_attach(h, sampled, w.pid));
	ok(hwpmc_start(h, user));
	ok(hwpmc_start(h, kernel));
	ok(hwpmc_start(h, both));
	ok(hwpmc_start(h, sampled));
	spin_until(&w, user, 100);
	ck_assert_uint_eq(value(both), value(user) + value(kernel));
	ok(hwpmc_stop(h, sampled));
	take_all(rings, &t);
	fprintf(stderr, "%llu samples, %llu of user mode; %llu and %llu ticks\n",
		(unsigned long long)t.samples, (unsigned long long)t.inside,
		(unsigned long long)value(both), (unsigned long long)value(user));
	ck_assert_uint_eq(t.samples + t.drops, value(both));
	ck_assert_uint_gt(t.inside, 0);
	ck_assert_uint_eq(t.user, t.inside);
	ck_assert_uint_le(t.inside, value(user));
	ck_assert_uint_le(t.samples - t.inside, value(kernel));
	work_end(&w);
	close_device();
}
END_TEST

START_TEST(ticks_of_a_cpu_that_goes_and_comes_are_counted)
{
	uint64_t before, n;
	uint32_t id;
	int around;

	open_device();
	ok(hwpmc_allocate(h, "clock.hard", HWPMC_MODE_SC, 0, 1, 0, &id));
	around = ticker(1000);
	ok(hwpmc_start(h, id));
	check_rate(id, 1000, 50, around, 0);
	before = value(id);
	ck_assert(!system("echo 0 >/sys/devices/system/cpu/cpu1/online"));
	ck_assert_int_eq(hwpmc_read(h, id, &n), -1);
	ck_assert_int_eq(errno, ENXIO);
	ck_assert(!system("echo 1 >/sys/devices/system/cpu/cpu1/online"));
	ck_assert_uint_ge(value(id), before);
	around = ticker(1000);
	n = value_at_a_tick(id);
	check_rate(id, 1000, 100, around, n);
	close_device();
}
END_TEST

/* ---- refusals ------------------------------------------------------------ */

static int ask(uint32_t class, uint32_t n, void *events,
	       struct hwpmc_op_getdyneventinfo *op)
{
	*op = (struct hwpmc_op_getdyneventinfo){
		.class = class, .nevent = n, .events = (uintptr_t)events,
	};
	return ioctl(hwpmc_fd(h), HWPMC_IOC_GETDYNEVENTINFO, op) ? errno : 0;
}

START_TEST(the_list_of_soft_events_has_each_once_and_refuses_what_is_wrong)
{
	struct hwpmc_op_getdyneventinfo op;
	struct hwpmc_dynevent *all;
	uint32_t n, tracepoints = 0, refused = 0;

	open_device();
	ck_assert_int_eq(ask(HWPMC_CLASS_TSC, 0, NULL, &op), EINVAL);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_CLASS);
	ck_assert_int_eq(ask(HWPMC_CLASS_SOFT, 0, NULL, &op), EINVAL);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_BUFFER);
	n = op.hdr.detail;
	ck_assert_uint_gt(n, 100);
	ck_assert_int_eq(ask(HWPMC_CLASS_SOFT, n, NULL, &op), EFAULT);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_BAD_ADDRESS);
	all = calloc(n + 1, sizeof(*all));
	ck_assert_int_eq(ask(HWPMC_CLASS_SOFT, n + 1, all, &op), 0);
	ck_assert_uint_eq(op.nevent, n);
	ck_assert_str_eq(all[0].name, "CLOCK.HARD");
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_ge(all[i].ev, HWPMC_EV_SOFT_FIRST);
		ck_assert(all[i].name[0]);
		tracepoints += all[i].ev >= HWPMC_EV_SOFT_TRACEPOINT;
		refused += all[i].reason == HWPMC_WHY_EVENT_TYPED;
		ck_assert(!all[i].reason || all[i].reason == HWPMC_WHY_EVENT_TYPED);
		ck_assert(!all[i].reason || strcmp(all[i].name, "sys_enter"));
		if (i)
			ck_assert_uint_gt(all[i].ev, all[i - 1].ev);
	}
	/* All tracepoints but six, where the kernel tests types. */
	ck_assert_uint_eq(refused, kernel_tests_types_of_calls() ? tracepoints - 6 : 0);
	free(all);
	close_device();
}
END_TEST

static int request(uint32_t ev, uint32_t caps, uint32_t flags,
		   struct hwpmc_op_pmcallocate *op)
{
	*op = (struct hwpmc_op_pmcallocate){
		.caps = caps, .cpu = HWPMC_CPU_ANY, .class = HWPMC_CLASS_SOFT,
		.ev = ev, .mode = HWPMC_MODE_TC, .flags = flags,
	};
	return ioctl(hwpmc_fd(h), HWPMC_IOC_PMCALLOCATE, op) ? errno : 0;
}

START_TEST(soft_requests_that_cannot_be_are_refused_with_the_reason)
{
	struct hwpmc_op_pmcallocate op;

	open_device();
	ck_assert_int_eq(request(HWPMC_EV_SOFT_CPU_MIGRATION + 1, 0, 0, &op),
			 EINVAL);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_EVENT);
	ck_assert_int_eq(request(HWPMC_EV_SOFT_LAST, 0, 0, &op), EINVAL);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_EVENT);
	ck_assert_int_eq(request(HWPMC_EV_TSC, 0, 0, &op), EINVAL);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_EVENT);
	ck_assert_int_eq(request(HWPMC_EV_SOFT_CLOCK_HARD, 0, HWPMC_F_EV_PMU,
				 &op), EINVAL);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_EVENT);
	ck_assert_int_eq(request(HWPMC_EV_SOFT_CONTEXT_SWITCH, HWPMC_CAP_USER,
				 0, &op), EOPNOTSUPP);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_CAPS);
	ck_assert_int_eq(request(HWPMC_EV_SOFT_CLOCK_HARD, HWPMC_CAP_EDGE, 0,
				 &op), EOPNOTSUPP);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_CAPS);
	for (int i = 0; i < 16; i++)
		ck_assert_int_eq(request(HWPMC_EV_SOFT_CLOCK_HARD, 0, 0, &op),
				 0);
	ck_assert_int_eq(request(HWPMC_EV_SOFT_CLOCK_HARD, 0, 0, &op), EINVAL);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_ROWS_BUSY);
	close_device();
}
END_TEST

/* ---- sampling ------------------------------------------------------------ */

START_TEST(each_context_switch_is_a_sample_at_period_1)
{
	struct worker w = work_begin(sleep_often);
	struct tally t = { 0 };
	uint64_t n;

	sample(&w, "context_switch", HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN,
	       1, work, &t, &n);
	ck_assert_uint_gt(n, 100);
	ck_assert_uint_eq(t.samples + t.drops, n);
	ck_assert_uint_eq(t.drops, 0);
	ck_assert_str_eq(t.name, "CONTEXT_SWITCH");
	work_end(&w);
}
END_TEST

START_TEST(periods_of_soft_events_are_kept_over_slices)
{
	struct worker w = work_begin(sleep_often);
	struct tally t = { 0 };
	uint64_t n;

	sample(&w, "context_switch", 0, 7, work, &t, &n);
	ck_assert_uint_gt(n, 100);
	ck_assert_uint_eq(t.samples + t.drops, n / 7);
	work_end(&w);
}
END_TEST

START_TEST(samples_of_page_faults_are_where_the_program_touched_the_page)
{
	struct tally t = {
		.lo = (uintptr_t)touch_pages, .hi = (uintptr_t)touch_pages + 512,
	};
	struct worker w;
	uint64_t n;

	pages = 1100;
	w = work_begin(touch_pages);
	sample(&w, "page_fault.write:u", HWPMC_F_CALLCHAIN, 1, work, &t, &n);
	ck_assert_uint_eq(t.samples + t.drops, n);
	ck_assert_uint_eq(t.user, t.samples);
	ck_assert_uint_ge(t.inside, 1099);
	work_end(&w);
}
END_TEST

START_TEST(samples_of_a_clock_are_where_the_program_was)
{
	struct worker w = work_begin(spin_in_user_mode);
	struct tally t = {
		.lo = (uintptr_t)spin_in_user_mode,
		.hi = (uintptr_t)spin_in_user_mode + 256,
	};
	uint64_t n;

	sample(&w, "clock.prof", HWPMC_F_CALLCHAIN, 1, work, &t, &n);
	ck_assert_uint_eq(t.samples + t.drops, n);
	ck_assert_uint_gt(t.inside, 0);
	/* The others are in the wrappers of read() and write(). */
	ck_assert_uint_gt(t.inside * 10, t.user * 9);
	work_end(&w);
}
END_TEST

/*
 * A program whose frame pointer leads to a page that is not there, above its stack:
 * who follows it faults. 200 pages are touched.
 */
static void touch_with_a_frame_that_is_not_there(unsigned int round)
{
	char *p = mmap(NULL, 200 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *stack = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long n = 200, at = (unsigned long)p;

	madvise(p, 200 * PAGE, MADV_NOHUGEPAGE);
	madvise(stack, 16 * PAGE, MADV_NOHUGEPAGE);
	*(volatile char *)(stack + PAGE) = 1;
	asm volatile("mov %%rsp, %%r12; mov %%rbp, %%r13;"
		     "mov %[stack], %%rsp; mov %[frame], %%rbp;"
		     "1: movb $1, (%[at]); add $4096, %[at]; dec %[n]; jnz 1b;"
		     "mov %%r13, %%rbp; mov %%r12, %%rsp"
		     : [n] "+r"(n), [at] "+r"(at)
		     : [stack] "r"(stack + PAGE + 2048),
		       [frame] "r"(stack + 8 * PAGE)
		     : "r12", "r13", "memory", "cc");
	munmap(p, 200 * PAGE);
	munmap(stack, 16 * PAGE);
}

/* The chain of a fault's sample may fault: not an event of the program. */
START_TEST(what_sampling_itself_does_is_no_event)
{
	struct tally t = { 0 };
	uint64_t alone, n;
	struct worker w;
	uint32_t id;

	w = work_begin(touch_with_a_frame_that_is_not_there);
	open_device();
	id = count("page_fault.all");
	until_it_sleeps(&w);
	work(&w);
	ok(hwpmc_attach(h, id, w.pid));
	ok(hwpmc_start(h, id));
	work(&w);
	alone = value(id);
	close_device();
	sample(&w, "page_fault.all", HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN,
	       1, work, &t, &n);
	ck_assert_uint_ge(alone, 200);
	ck_assert_uint_eq(n, alone);
	ck_assert_uint_eq(t.samples + t.drops, n);
	work_end(&w);
}
END_TEST

/* Events that the module had hooked. */
static void check_system_calls(void)
{
	for (int i = 0; i < 100; i++) {
		ck_assert_int_gt(syscall(SYS_getppid), 0);
		sched_yield();
	}
}

START_TEST(no_probe_is_left_when_nobody_counts_any_more)
{
	open_device();
	count("context_switch");
	count("tracepoint:sys_enter");
	close_device();
	/* The module unloads, and what it hooked goes on without it. */
	ck_assert(!system("until rmmod hwpmc; do sleep 0.1; done"));
	ck_assert(system("lsmod | grep -q ^hwpmc"));
	touch_pages(0);
	check_system_calls();
	dev_setup();
	open_device();
	ok(hwpmc_start(h, count("context_switch")));
	close_device();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(context_switches_are_those_that_the_kernel_counts, 30);
	harness_add_timed(page_faults_are_one_for_each_page_that_is_touched, 30);
	harness_add_timed(page_faults_of_reads_are_told_from_those_of_writes, 30);
	harness_add_timed(any_tracepoint_counts_by_its_name, 30);
	harness_add_timed(a_tracepoint_of_unknown_type_is_refused_where_the_kernel_tests_types, 30);
	harness_add_timed(tracepoints_count_beside_another_probe, 30);
	harness_add_timed(clocks_tick_on_a_cpu_as_often_as_they_say, 30);
	harness_add_timed(clocks_tell_user_mode_from_the_kernel, 30);
	harness_add_timed(ticks_of_a_cpu_that_goes_and_comes_are_counted, 30);
	harness_add_timed(the_list_of_soft_events_has_each_once_and_refuses_what_is_wrong, 30);
	harness_add_timed(soft_requests_that_cannot_be_are_refused_with_the_reason, 30);
	harness_add_timed(each_context_switch_is_a_sample_at_period_1, 30);
	harness_add_timed(periods_of_soft_events_are_kept_over_slices, 30);
	harness_add_timed(samples_of_page_faults_are_where_the_program_touched_the_page, 30);
	harness_add_timed(samples_of_a_clock_are_where_the_program_was, 30);
	harness_add_timed(what_sampling_itself_does_is_no_event, 30);
	harness_add_timed(no_probe_is_left_when_nobody_counts_any_more, 30);
	return harness_run();
}
