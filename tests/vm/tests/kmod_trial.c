// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_trial - what a hypervisor hides is found when the counters are claimed, noted and
 * refused, and never counted as 0. Each claim tries again.
 */
#include "kmod_dev.h"

#include <cpuid.h>
#include <sys/utsname.h>

#define NOTES	HWPMC_NOTES_MAX

static uint32_t programmable(void)
{
	return dev_is_amd() ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAP;
}

static void on_all_cpus(int knob, uint64_t value)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_pin(getpid(), cpu);
		vpmu_knob(knob, value);
	}
	dev_unpin(getpid());
}

static void load_anew(void)
{
	struct utsname uts;
	char cmd[200];

	uname(&uts);
	snprintf(cmd, sizeof(cmd), "rmmod hwpmc && insmod build/kmod/%s/hwpmc.ko " DEV_PARAMS,
		 uts.release);
	ck_assert_int_eq(system(cmd), 0);
}

static void clear_knobs(void)
{
	static const int knobs[] = {
		VPMU_KNOB_FILTER, VPMU_KNOB_FROZEN, VPMU_KNOB_EMULATED, VPMU_KNOB_AT_ONCE,
		VPMU_KNOB_ALIAS, VPMU_KNOB_MORE, VPMU_KNOB_LOST, VPMU_KNOB_LATE, VPMU_KNOB_REFUSE,
	};

	for (unsigned int i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++)
		on_all_cpus(knobs[i], 0);
}

static void prove(void)
{
	clear_knobs();
	dev_still_counts();
}

/* How many notes a class has for this reason; *note is the last. */
static unsigned int noted(int fd, uint32_t class_id, uint32_t why, struct hwpmc_classnote *note)
{
	struct hwpmc_op_getcpuinfo info = { .ncpu = 0 };
	unsigned int n = 0;

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETCPUINFO, &info), 0);
	for (unsigned int i = 0; i < info.nnotes; i++) {
		if (info.notes[i].class != class_id || info.notes[i].reason != why)
			continue;
		*note = info.notes[i];
		n++;
	}
	return n;
}

#define REFUSED(call, why) do {						\
	int got_ = (call);						\
	ck_assert_msg(got_ == EOPNOTSUPP && dev_hdr.reason == (why),	\
		      "%s: errno %d, reason %u (%d)", #call, got_,	\
		      dev_hdr.reason, dev_hdr.detail);			\
} while (0)

static int ask(int fd, int mode, enum dev_event ev, uint32_t *id)
{
	struct hwpmc_op_pmcallocate op;
	int err;

	dev_request(&op, mode, 0, ANY, ev, U);
	if (mode == HWPMC_MODE_TS)
		op.count = 1ULL << 30;
	err = dev_allocate(fd, &op);
	*id = op.pmcid;
	return err;
}

/* What a program of known length has executed, by this PMC. */
static uint64_t count_loop(int fd, uint32_t id)
{
	struct child c = dev_loop(20000);
	uint64_t before = dev_read(fd, id);

	dev_ok(dev_attach(fd, id, c.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&c);
	dev_wait(&c);
	return dev_read(fd, id) - before;
}

static uint64_t loop_from_go(void)
{
	int fd = dev_open();
	uint64_t n;
	uint32_t id;

	dev_ok(ask(fd, TC, INSN, &id));
	n = count_loop(fd, id);
	close(fd);
	return n;
}

START_TEST(an_event_that_a_hypervisor_filters_is_refused_and_noted)
{
	uint32_t code = dev_is_amd() ? 0xc2 : 0xc4, id;
	struct hwpmc_classnote note;
	uint64_t want = loop_from_go();
	int fd;

	load_anew();
	on_all_cpus(VPMU_KNOB_FILTER, VPMU_FILTER_ON | code);
	fd = dev_open();
	REFUSED(ask(fd, TC, BRANCH, &id), HWPMC_WHY_EVENT_FILTERED);
	ck_assert_uint_eq((uint32_t)dev_hdr.detail, code);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_EVENT_FILTERED, &note), 1);
	ck_assert_uint_eq((uint32_t)note.detail, code);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 0);
	/* Others count. */
	dev_ok(ask(fd, TC, INSN, &id));
	ck_assert_uint_eq(count_loop(fd, id), want);
	/* As long as the claim lasts. */
	on_all_cpus(VPMU_KNOB_FILTER, 0);
	REFUSED(ask(fd, TC, BRANCH, &id), HWPMC_WHY_EVENT_FILTERED);
	close(fd);
	fd = dev_open();
	dev_ok(ask(fd, TC, BRANCH, &id));
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_EVENT_FILTERED, &note), 0);
	close(fd);
}
END_TEST

START_TEST(a_counter_that_stands_still_is_given_to_nobody)
{
	unsigned int n = dev_insn_counters(), first = dev_first_row();
	struct hwpmc_classnote note;
	uint64_t want = loop_from_go();
	uint32_t id;
	int fd;

	load_anew();
	on_all_cpus(VPMU_KNOB_FROZEN, 1 | 1ull << 2);
	fd = dev_open();
	for (unsigned int i = 0; i < n - 2; i++) {
		dev_ok(ask(fd, TC, INSN, &id));
		ck_assert_uint_ne(HWPMC_ID_ROW(id), first);
		ck_assert_uint_ne(HWPMC_ID_ROW(id), first + 2);
		if (!i)
			ck_assert_uint_eq(count_loop(fd, id), want);
	}
	ck_assert_int_eq(ask(fd, TC, INSN, &id), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_BUSY);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 1);
	ck_assert_uint_eq(note.rows, 5);
	ck_assert_int_eq(note.detail, 2);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_EVENT_FILTERED, &note), 0);
	close(fd);
	/* The next claim finds them in order. */
	on_all_cpus(VPMU_KNOB_FROZEN, 0);
	fd = dev_open();
	for (unsigned int i = 0; i < n; i++)
		dev_ok(ask(fd, TC, INSN, &id));
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 0);
	close(fd);
}
END_TEST

START_TEST(where_no_counter_counts_all_are_refused)
{
	struct hwpmc_classnote note;
	uint32_t id;
	int fd;

	load_anew();
	on_all_cpus(VPMU_KNOB_FROZEN, ~0ull);
	fd = dev_open();
	REFUSED(ask(fd, TC, INSN, &id), HWPMC_WHY_ROW_STILL);
	ck_assert_int_eq(dev_hdr.detail, dev_counters());
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 1);
	close(fd);
}
END_TEST

/* Fixed counters have one event each: a filter of theirs makes them stand still. */
START_TEST(fixed_counters_are_tried_one_by_one)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_IAF, .mode = TC, .cpu = ANY, .caps = U,
		.ev = HWPMC_EV_IAF_FIRST + 1,
	};
	struct hwpmc_classnote note;
	int fd;

	load_anew();
	on_all_cpus(VPMU_KNOB_FROZEN, 1ull << 33);
	fd = dev_open();
	REFUSED(dev_allocate(fd, &op), HWPMC_WHY_ROW_STILL);
	op.ev = HWPMC_EV_IAF_FIRST;
	dev_ok(dev_allocate(fd, &op));
	ck_assert_uint_eq(noted(fd, HWPMC_CLASS_IAF, HWPMC_WHY_ROW_STILL, &note), 1);
	ck_assert_uint_eq(note.rows, 2);
	close(fd);
}
END_TEST

/* Counters of the host that another user has: KVM adds what it emulates all the same. */
START_TEST(trial_finds_counters_that_count_only_emulation)
{
	struct hwpmc_classnote note;
	uint32_t id;
	int fd;

	on_all_cpus(VPMU_KNOB_FROZEN, ~0ull);
	on_all_cpus(VPMU_KNOB_EMULATED, 1);
	fd = dev_open();
	REFUSED(ask(fd, TC, INSN, &id), HWPMC_WHY_ROW_STILL);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 1);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_EVENT_FILTERED, &note), 0);
	close(fd);
}
END_TEST

START_TEST(trial_refuses_one_counter_that_counts_only_emulation)
{
	uint64_t want = loop_from_go();
	struct hwpmc_classnote note;
	unsigned int n = dev_insn_counters();
	uint32_t id;
	int fd;

	on_all_cpus(VPMU_KNOB_FROZEN, 1ull << 1);
	on_all_cpus(VPMU_KNOB_EMULATED, 1);
	fd = dev_open();
	for (unsigned int i = 0; i < n - 1; i++) {
		dev_ok(ask(fd, TC, INSN, &id));
		ck_assert_uint_eq(count_loop(fd, id), want);
	}
	ck_assert_int_eq(ask(fd, TC, INSN, &id), EINVAL);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 1);
	ck_assert_uint_eq(note.rows, 2);
	close(fd);
}
END_TEST

/* Wrong on one CPU only, and not on that of the claim. */
START_TEST(trial_looks_at_each_cpu)
{
	struct hwpmc_classnote note;
	uint32_t id;
	int fd;

	dev_pin(getpid(), 1);
	vpmu_knob(VPMU_KNOB_FROZEN, 1);
	dev_pin(getpid(), 0);
	fd = dev_open();
	dev_ok(ask(fd, TC, INSN, &id));
	dev_unpin(getpid());
	ck_assert_uint_ne(HWPMC_ID_ROW(id), dev_first_row());
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 1);
	ck_assert_uint_eq(note.rows, 1);
	close(fd);
}
END_TEST

START_TEST(trial_finds_a_fault_that_came_after_a_good_claim)
{
	uint32_t id;
	int fd;

	loop_from_go();
	on_all_cpus(VPMU_KNOB_FROZEN, ~0ull);
	fd = dev_open();
	REFUSED(ask(fd, TC, INSN, &id), HWPMC_WHY_ROW_STILL);
	close(fd);
}
END_TEST

START_TEST(trial_refuses_counters_that_count_twice)
{
	struct hwpmc_classnote note;
	uint32_t id;
	int fd;

	on_all_cpus(VPMU_KNOB_MORE, 1);
	fd = dev_open();
	REFUSED(ask(fd, TC, INSN, &id), HWPMC_WHY_ROW_STILL);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 1);
	close(fd);
}
END_TEST

START_TEST(trial_refuses_counters_whose_rdpmc_reads_another)
{
	uint64_t want = loop_from_go();
	struct hwpmc_classnote note;
	uint32_t id;
	int fd;

	on_all_cpus(VPMU_KNOB_ALIAS, 1 << 2);
	fd = dev_open();
	for (unsigned int i = 0; i < dev_insn_counters() - 1; i++) {
		dev_ok(ask(fd, TC, INSN, &id));
		ck_assert_uint_ne(HWPMC_ID_ROW(id), dev_first_row() + 2);
		ck_assert_uint_eq(count_loop(fd, id), want);
	}
	ck_assert_int_eq(ask(fd, TC, INSN, &id), EINVAL);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_MISREAD, &note), 1);
	ck_assert_uint_eq(note.rows, 4);
	close(fd);
	on_all_cpus(VPMU_KNOB_ALIAS, ~0ull);
	fd = dev_open();
	REFUSED(ask(fd, TC, INSN, &id), HWPMC_WHY_ROW_MISREAD);
	close(fd);
}
END_TEST

static int ask_code(int fd, uint64_t code, uint32_t *id)
{
	struct hwpmc_op_pmcallocate op;
	int err;

	dev_request(&op, TC, 0, ANY, INSN, U);
	op.config = code;
	err = dev_allocate(fd, &op);
	*id = op.pmcid;
	return err;
}

/* Operations retired, which no list of architectural events has. */
START_TEST(trial_finds_that_only_architectural_events_count)
{
	uint64_t want = loop_from_go(), other = dev_is_amd() ? 0xc1 : 0x02c2;
	struct hwpmc_classnote note;
	uint32_t id;
	int fd = dev_open();

	dev_ok(ask_code(fd, other, &id));
	ck_assert_uint_eq(count_loop(fd, id), want);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ONLY_LISTED, &note), 0);
	close(fd);
	on_all_cpus(VPMU_KNOB_FILTER, VPMU_FILTER_ON | VPMU_FILTER_BUT);
	fd = dev_open();
	REFUSED(ask_code(fd, other, &id), HWPMC_WHY_ONLY_LISTED);
	ck_assert_uint_eq((uint32_t)dev_hdr.detail, other);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ONLY_LISTED, &note), 1);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_EVENT_FILTERED, &note), 0);
	dev_ok(ask(fd, TC, INSN, &id));
	ck_assert_uint_eq(count_loop(fd, id), want);
	dev_ok(ask(fd, TC, BRANCH, &id));
	dev_ok(ask(fd, TC, CYCLES, &id));
	close(fd);
}
END_TEST

/* ---- a host that has fewer counters at a time than it lists ---------------- */

static unsigned int ask_until_refused(int fd, int mode, uint32_t cpu, uint32_t id[32])
{
	struct hwpmc_op_pmcallocate op;
	unsigned int n = 0;

	for (;; id[n++] = op.pmcid) {
		dev_request(&op, mode, 0, cpu, BRANCH, U);
		if (dev_allocate(fd, &op))
			return n;
		ck_assert_uint_lt(n, 31);
	}
}

/* All at one moment. */
static void check_all_count(int fd, const uint32_t id[], unsigned int n)
{
	struct child c = dev_loop(20000);
	uint64_t before[32];

	for (unsigned int i = 0; i < n; i++) {
		before[i] = dev_read(fd, id[i]);
		dev_ok(dev_attach(fd, id[i], c.pid));
		dev_ok(dev_start(fd, id[i]));
	}
	dev_go(&c);
	dev_wait(&c);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t got = dev_read(fd, id[i]) - before[i];

		ck_assert_msg(got >= loop_branches(20000) && got < loop_branches(20000) + 200,
			      "%u of %u: %llu", i, n, (unsigned long long)got);
	}
}

START_TEST(at_once_no_more_are_promised_than_the_host_gives)
{
	struct hwpmc_classnote note;
	uint32_t id[32], other[32];
	unsigned int n;
	int fd, fd2;

	on_all_cpus(VPMU_KNOB_EMULATED, 1);
	on_all_cpus(VPMU_KNOB_AT_ONCE, 3);
	fd = dev_open();
	n = ask_until_refused(fd, TC, ANY, id);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_AT_ONCE);
	ck_assert_int_eq(dev_hdr.detail, 3);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROWS_AT_ONCE, &note), 1);
	ck_assert_int_eq(note.detail, 3);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 0);
	check_all_count(fd, id, n);
	/* Another owner's share the rows, and take nothing of the host. */
	fd2 = dev_open();
	ck_assert_uint_eq(ask_until_refused(fd2, TC, ANY, other), 3);
	check_all_count(fd2, other, 3);
	/* Of a CPU as well: the rows of processes stay enabled there. */
	ck_assert_uint_eq(ask_until_refused(fd2, SC, 0, other), 0);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_AT_ONCE);
	close(fd2);
	dev_ok(dev_release(fd, id[0]));
	dev_ok(ask(fd, TC, BRANCH, &id[0]));
	close(fd);
}
END_TEST

START_TEST(at_once_each_cpu_has_its_own_share)
{
	uint32_t id[32], more[32];
	int fd;

	on_all_cpus(VPMU_KNOB_AT_ONCE, 3);
	fd = dev_open();
	ck_assert_uint_eq(ask_until_refused(fd, SC, 0, id), 3);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_AT_ONCE);
	ck_assert_uint_eq(ask_until_refused(fd, SC, 1, id), 3);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_AT_ONCE);
	/* Where a process may run all are taken. */
	ck_assert_uint_eq(ask_until_refused(fd, TC, ANY, more), 0);
	dev_ok(dev_release(fd, id[0]));
	ck_assert_uint_eq(ask_until_refused(fd, TC, ANY, more), 0);
	close(fd);
}
END_TEST

/*
 * Its event is a pair of the host's as well, and what joins the second counter is another event
 * there: with all six counters two pairs, or one and three others.
 */
START_TEST(at_once_a_pair_takes_three_counters_of_the_host)
{
	uint64_t want = loop_from_go();
	struct hwpmc_classnote note;
	uint32_t id, one[32];
	int fd = dev_open();

	ck_assert_uint_eq(dev_counters(), 6);
	dev_ok(ask_code(fd, 0xff03, &id));
	ck_assert_uint_eq(ask_until_refused(fd, TC, ANY, one), 3);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_AT_ONCE);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROWS_AT_ONCE, &note), 0);
	check_all_count(fd, one, 3);
	ck_assert_uint_eq(count_loop(fd, id), want);
	for (int i = 0; i < 3; i++)
		dev_ok(dev_release(fd, one[i]));
	dev_ok(ask_code(fd, 0xff03, &id));
	ck_assert_int_eq(ask_code(fd, 0xff03, &id), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_AT_ONCE);
	close(fd);
	/* The watchdog of the host has one: no second pair. */
	on_all_cpus(VPMU_KNOB_AT_ONCE, 5);
	fd = dev_open();
	dev_ok(ask_code(fd, 0xff03, &id));
	ck_assert_int_eq(ask_code(fd, 0xff03, one), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_AT_ONCE);
	ck_assert_uint_eq(ask_until_refused(fd, TC, ANY, one), 2);
	check_all_count(fd, one, 2);
	ck_assert_uint_eq(count_loop(fd, id), want);
	close(fd);
}
END_TEST

/* Both classes have their counters of the same host, whichever is claimed first. */
START_TEST(at_once_fixed_counters_share_with_the_others)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_IAF, .mode = TC, .cpu = ANY, .caps = U,
	};
	struct hwpmc_classnote note;
	unsigned int n = dev_counters();
	uint32_t id[32];
	int fd;

	on_all_cpus(VPMU_KNOB_AT_ONCE, n + 1);
	fd = dev_open();
	for (op.ev = HWPMC_EV_IAF_FIRST; op.ev < HWPMC_EV_IAF_FIRST + 3; op.ev++)
		dev_ok(dev_allocate(fd, &op));
	ck_assert_uint_eq(noted(fd, HWPMC_CLASS_IAF, HWPMC_WHY_ROWS_AT_ONCE, &note), 1);
	ck_assert_uint_eq(note.rows, 6);
	n -= ask_until_refused(fd, TC, ANY, id);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_AT_ONCE);
	check_all_count(fd, id, dev_counters() - n);
	close(fd);
	on_all_cpus(VPMU_KNOB_AT_ONCE, 2);
	fd = dev_open();
	ck_assert_uint_eq(ask_until_refused(fd, TC, ANY, id), 2);
	for (op.ev = HWPMC_EV_IAF_FIRST; op.ev < HWPMC_EV_IAF_FIRST + 3; op.ev++) {
		ck_assert_int_eq(dev_allocate(fd, &op), EINVAL);
		ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_AT_ONCE);
	}
	close(fd);
}
END_TEST

/* ---- counters that the host returns while the class is claimed ------------------- */

#define TRIES	30	/* seconds: one row is tried in five, and each after one that came back */

/* The number of rows that could be had in this time, of `most`. */
static unsigned int await_rows(int fd, uint32_t id[], unsigned int most)
{
	unsigned int n = 0;

	for (int i = 0; i < TRIES * 5 && n < most; i++) {
		if (ask(fd, TC, INSN, &id[n]))
			dev_msleep(200);
		else
			n++;
	}
	return n;
}

START_TEST(still_rows_come_back_when_the_host_gives_them)
{
	unsigned int n = dev_insn_counters();
	uint64_t want = loop_from_go() + loop_insn(300000000) - loop_insn(20000);
	struct hwpmc_classnote note;
	struct child c = dev_loop(300000000);
	uint32_t id[32];
	int fd;

	on_all_cpus(VPMU_KNOB_FROZEN, 5);
	fd = dev_open();
	for (unsigned int i = 0; i < n - 2; i++)
		dev_ok(ask(fd, TC, INSN, &id[i]));
	ck_assert_int_eq(ask(fd, TC, INSN, &id[n - 2]), EINVAL);
	on_all_cpus(VPMU_KNOB_FROZEN, 0);
	for (unsigned int i = 0; i < n - 2; i++) {
		dev_ok(dev_attach(fd, id[i], c.pid));
		dev_ok(dev_start(fd, id[i]));
	}
	/* Rows that are in use are not disturbed: the count of each is exact. */
	dev_go(&c);
	ck_assert_uint_eq(await_rows(fd, &id[n - 2], 2), 2);
	dev_wait(&c);
	for (unsigned int i = 0; i < n - 2; i++)
		ck_assert_uint_eq(dev_read(fd, id[i]), want);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 0);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROWS_AT_ONCE, &note), 0);
	want = loop_from_go();
	for (unsigned int i = n - 2; i < n; i++)
		ck_assert_uint_eq(count_loop(fd, id[i]), want);
	close(fd);
}
END_TEST

START_TEST(still_rows_that_stay_still_stay_refused)
{
	struct hwpmc_classnote note;
	uint32_t id[32];
	int fd;

	on_all_cpus(VPMU_KNOB_FROZEN, 5);
	on_all_cpus(VPMU_KNOB_EMULATED, 1);
	fd = dev_open();
	for (unsigned int i = 0; i < dev_insn_counters() - 2; i++)
		dev_ok(ask(fd, TC, INSN, &id[i]));
	/* Row 0 counts on one CPU alone, and row 2 comes back. */
	dev_pin(getpid(), 0);
	vpmu_knob(VPMU_KNOB_FROZEN, 0);
	dev_pin(getpid(), 1);
	vpmu_knob(VPMU_KNOB_FROZEN, 1);
	dev_unpin(getpid());
	ck_assert_uint_eq(await_rows(fd, id, 2), 1);
	ck_assert_uint_eq(HWPMC_ID_ROW(id[0]), dev_first_row() + 2);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 1);
	ck_assert_uint_eq(note.rows, 1);
	close(fd);
}
END_TEST

/* It counts, but not together with the others. */
START_TEST(still_rows_come_back_within_what_the_host_has_at_once)
{
	unsigned int n = dev_insn_counters();
	struct hwpmc_classnote note;
	uint32_t id[32];
	int fd;

	on_all_cpus(VPMU_KNOB_FROZEN, 1);
	fd = dev_open();
	for (unsigned int i = 0; i < n - 1; i++)
		dev_ok(ask(fd, TC, INSN, &id[i]));
	on_all_cpus(VPMU_KNOB_AT_ONCE, n - 1);
	on_all_cpus(VPMU_KNOB_FROZEN, 0);
	for (int i = 0; i < TRIES && noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note); i++)
		dev_msleep(1000);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 0);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROWS_AT_ONCE, &note), 1);
	ck_assert_int_eq(ask(fd, TC, INSN, &id[n - 1]), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_AT_ONCE);
	/* In the place of another it may be had. */
	dev_ok(dev_release(fd, id[0]));
	dev_ok(ask(fd, TC, INSN, &id[0]));
	close(fd);
}
END_TEST

/* A row comes back, and the limit, of programmable counters alone, is this. */
static void check_limit_beside_fixed(uint64_t at_claim, uint64_t then, unsigned int limit)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_IAF, .mode = TC, .cpu = ANY, .caps = U,
	};
	struct hwpmc_classnote note = { .detail = 0 };
	uint32_t id[32];
	int fd;

	on_all_cpus(VPMU_KNOB_AT_ONCE, at_claim);
	on_all_cpus(VPMU_KNOB_FROZEN, 1 << (dev_counters() - 1));
	fd = dev_open();
	dev_ok(ask(fd, TC, BRANCH, &id[0]));
	on_all_cpus(VPMU_KNOB_AT_ONCE, then);
	on_all_cpus(VPMU_KNOB_FROZEN, 0);
	for (int i = 0; i < TRIES && noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note); i++)
		dev_msleep(1000);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 0);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROWS_AT_ONCE, &note), 1);
	ck_assert_uint_eq(note.detail, limit);
	ck_assert_uint_eq(noted(fd, HWPMC_CLASS_IAF, HWPMC_WHY_ROWS_AT_ONCE, &note), 0);
	for (op.ev = HWPMC_EV_IAF_FIRST; op.ev < HWPMC_EV_IAF_FIRST + 3; op.ev++)
		dev_ok(dev_allocate(fd, &op));
	ck_assert_uint_eq(ask_until_refused(fd, TC, ANY, id) + 1, limit);
	close(fd);
}

START_TEST(still_rows_come_back_without_a_limit_of_fixed_ones)
{
	uint64_t but = VPMU_AT_ONCE_BUT_FIXED, n = dev_counters();

	check_limit_beside_fixed(but | 2, but | 2, 2);
	/* If the host shares all by now, two and the fixed ones are less than it has. */
	check_limit_beside_fixed(but | 2, n - 2, 2);
	check_limit_beside_fixed(0, but | (n - 1), n - 1);
}
END_TEST

START_TEST(still_rows_whose_registers_fault_stay_refused)
{
	struct hwpmc_classnote note;
	int fd = dev_open();
	uint64_t before;
	uint32_t id;

	on_all_cpus(VPMU_KNOB_FROZEN, 1);
	dev_ok(ask(fd, TC, INSN, &id));
	on_all_cpus(VPMU_KNOB_REFUSE, VPMU_REFUSE_ALL);
	before = vpmu_access(VPMU_N_GP, 0);
	for (int i = 0; i < TRIES && vpmu_access(VPMU_N_GP, 0) == before; i++)
		dev_msleep(1000);
	ck_assert_uint_gt(vpmu_access(VPMU_N_GP, 0), before);
	on_all_cpus(VPMU_KNOB_REFUSE, 0);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_ROW_STILL, &note), 1);
	close(fd);
}
END_TEST

/* No row of the class can be had, so that it is not claimed and not looked at. */
START_TEST(still_fixed_rows_are_tried_at_a_claim_beside_the_others)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_IAF, .mode = TC, .cpu = ANY, .caps = U,
		.ev = HWPMC_EV_IAF_FIRST,
	};
	uint64_t want = loop_from_go();
	struct hwpmc_classnote note;
	uint32_t id;
	int fd;

	on_all_cpus(VPMU_KNOB_FROZEN, 7ull << 32);
	fd = dev_open();
	dev_ok(ask(fd, TC, BRANCH, &id));
	REFUSED(dev_allocate(fd, &op), HWPMC_WHY_ROW_STILL);
	on_all_cpus(VPMU_KNOB_FROZEN, 0);
	dev_ok(dev_allocate(fd, &op));
	ck_assert_uint_eq(noted(fd, HWPMC_CLASS_IAF, HWPMC_WHY_ROW_STILL, &note), 0);
	ck_assert_uint_eq(count_loop(fd, op.pmcid), want);
	close(fd);
}
END_TEST

START_TEST(counters_that_do_not_interrupt_count_and_do_not_sample)
{
	unsigned int unknown = dev_unknown_nmis();
	struct hwpmc_classnote note;
	uint64_t want = loop_from_go();
	uint32_t id;
	int fd;

	load_anew();
	on_all_cpus(VPMU_KNOB_LOST, 1);
	fd = dev_open();
	REFUSED(ask(fd, HWPMC_MODE_TS, INSN, &id), HWPMC_WHY_NO_INTERRUPT);
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_NO_INTERRUPT, &note), 1);
	dev_ok(ask(fd, TC, INSN, &id));
	ck_assert_uint_eq(count_loop(fd, id), want);
	/* It is tried again. */
	on_all_cpus(VPMU_KNOB_LOST, 0);
	dev_ok(ask(fd, HWPMC_MODE_TS, INSN, &id));
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_NO_INTERRUPT, &note), 0);
	close(fd);
	ck_assert_uint_eq(dev_unknown_nmis(), unknown);
}
END_TEST

#define CLOCK	"/sys/devices/system/clocksource/clocksource0/current_clocksource"

static void set_clock(const char *name)
{
	char now[32] = "";
	int f;

	dev_put(CLOCK, name);
	f = open(CLOCK, O_RDONLY);
	ck_assert_int_gt(read(f, now, sizeof(now) - 1), 0);
	close(f);
	ck_assert_int_eq(strncmp(now, name, strlen(name)), 0);
}

static void try_sampling(int want, uint32_t why)
{
	int fd = dev_open();
	uint32_t id;

	ck_assert_int_eq(ask(fd, HWPMC_MODE_TS, INSN, &id), want);
	if (want)
		ck_assert_uint_eq(dev_hdr.reason, why);
	close(fd);
}

/* A machine that is moved may get another clock: nothing else can be seen of that. */
START_TEST(trial_of_the_interrupt_is_repeated_on_another_clock)
{
	load_anew();
	try_sampling(0, 0);
	on_all_cpus(VPMU_KNOB_LOST, 1);
	try_sampling(0, 0);
	set_clock("hpet");
	try_sampling(EOPNOTSUPP, HWPMC_WHY_NO_INTERRUPT);
	on_all_cpus(VPMU_KNOB_LOST, 0);
	try_sampling(0, 0);
	on_all_cpus(VPMU_KNOB_LOST, 1);
	try_sampling(0, 0);
	set_clock("tsc");
	try_sampling(EOPNOTSUPP, HWPMC_WHY_NO_INTERRUPT);
	on_all_cpus(VPMU_KNOB_LOST, 0);
	try_sampling(0, 0);
}
END_TEST

static struct hwpmc_op_getdriverstats stats_of(int fd)
{
	struct hwpmc_op_getdriverstats s;

	memset(&s, 0, sizeof(s));
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETDRIVERSTATS, &s), 0);
	return s;
}

static uint64_t overflows(void)
{
	return vpmu_access(VPMU_N_OVERFLOW_INT, VPMU_ALL_VCPUS);
}

START_TEST(the_trial_is_in_no_statistics_and_takes_place_once_a_cpu)
{
	uint64_t cpus = dev_cpus();
	unsigned int unknown = dev_unknown_nmis();
	struct hwpmc_op_getdriverstats s;
	uint64_t before, wrmsr;
	uint32_t id;
	int fd;

	load_anew();
	fd = dev_open();
	before = overflows();
	dev_ok(ask(fd, HWPMC_MODE_TS, INSN, &id));
	ck_assert_uint_eq(overflows() - before, cpus);
	s = stats_of(fd);
	ck_assert_uint_eq(s.intr_processed, 0);
	ck_assert_uint_eq(s.intr_ignored, 0);
	ck_assert_uint_eq(s.intr_bufferfull, 0);
	ck_assert_uint_eq(s.switch_programmed, 0);
	dev_ok(dev_release(fd, id));
	dev_check_registers_clear();
	dev_ok(ask(fd, HWPMC_MODE_TS, INSN, &id));
	ck_assert_uint_eq(overflows() - before, cpus);
	/* What was found wrong meanwhile has all tried again. */
	close(fd);
	on_all_cpus(VPMU_KNOB_FROZEN, 4);
	fd = dev_open();
	dev_ok(ask(fd, HWPMC_MODE_TS, INSN, &id));
	ck_assert_uint_eq(overflows() - before, 2 * cpus);
	wrmsr = vpmu_access(VPMU_N_WRMSR, VPMU_ALL_VCPUS);
	dev_ok(ask(fd, HWPMC_MODE_TS, INSN, &id));
	ck_assert_uint_eq(vpmu_access(VPMU_N_WRMSR, VPMU_ALL_VCPUS), wrmsr);
	close(fd);
	ck_assert_uint_eq(dev_unknown_nmis(), unknown);
}
END_TEST

START_TEST(an_interrupt_that_comes_late_is_waited_for)
{
	unsigned int unknown = dev_unknown_nmis();
	struct hwpmc_classnote note;
	uint32_t id;
	int fd;

	load_anew();
	/* Late by instructions: the CPU must not be idle. */
	dev_pin(getpid(), 0);
	vpmu_knob(VPMU_KNOB_LATE, 20000);
	fd = dev_open();
	dev_ok(ask(fd, HWPMC_MODE_TS, INSN, &id));
	ck_assert_uint_eq(noted(fd, programmable(), HWPMC_WHY_NO_INTERRUPT, &note), 0);
	close(fd);
	ck_assert_uint_eq(dev_unknown_nmis(), unknown);
}
END_TEST

static bool under_hypervisor(void)
{
	unsigned int a, b, c = 0, d;

	__get_cpuid(1, &a, &b, &c, &d);
	return c >> 31;
}

int main(void)
{
	dev_setup();
	harness_fixture(clear_knobs, prove);
	if (!under_hypervisor()) {
		harness_add(a_counter_that_stands_still_is_given_to_nobody);
		harness_add(where_no_counter_counts_all_are_refused);
		harness_add(trial_refuses_counters_that_count_twice);
		harness_add(trial_refuses_counters_whose_rdpmc_reads_another);
		return harness_run();
	}
	harness_add(an_event_that_a_hypervisor_filters_is_refused_and_noted);
	harness_add(a_counter_that_stands_still_is_given_to_nobody);
	harness_add(where_no_counter_counts_all_are_refused);
	if (!dev_is_amd())
		harness_add(fixed_counters_are_tried_one_by_one);
	harness_add(trial_finds_counters_that_count_only_emulation);
	harness_add(trial_refuses_one_counter_that_counts_only_emulation);
	harness_add(trial_looks_at_each_cpu);
	harness_add(trial_finds_a_fault_that_came_after_a_good_claim);
	harness_add(trial_refuses_counters_that_count_twice);
	harness_add(trial_refuses_counters_whose_rdpmc_reads_another);
	harness_add(trial_finds_that_only_architectural_events_count);
	harness_add(at_once_no_more_are_promised_than_the_host_gives);
	harness_add(at_once_each_cpu_has_its_own_share);
	if (dev_is_amd())
		harness_add(at_once_a_pair_takes_three_counters_of_the_host);
	harness_add(still_rows_come_back_when_the_host_gives_them);
	harness_add(still_rows_that_stay_still_stay_refused);
	harness_add(still_rows_come_back_within_what_the_host_has_at_once);
	harness_add(still_rows_whose_registers_fault_stay_refused);
	if (!dev_is_amd()) {
		harness_add(at_once_fixed_counters_share_with_the_others);
		harness_add(still_rows_come_back_without_a_limit_of_fixed_ones);
		harness_add(still_fixed_rows_are_tried_at_a_claim_beside_the_others);
	}
	harness_add(counters_that_do_not_interrupt_count_and_do_not_sample);
	harness_add(trial_of_the_interrupt_is_repeated_on_another_clock);
	harness_add(the_trial_is_in_no_statistics_and_takes_place_once_a_cpu);
	harness_add(an_interrupt_that_comes_late_is_waited_for);
	return harness_run();
}
