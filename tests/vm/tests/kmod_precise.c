// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_precise.c - samples with a payload: PRECISE records, marks of exact addresses, drops of
 * samples that are not of a mode that is sampled, and of those that a full buffer of hardware
 * has lost. Class TEST makes them, so that each overflow and each word is known.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "harness.h"
#include "../lib/kmod_session.h"

#define PERIOD		1000
#define USER_PC		0x401000ull
#define KERNEL_PC	0xffffffff81000000ull
#define ALL_WORDS	0xfull
#define WORD		0x7e57ull
#define PHYSICAL	0x12345000ull
#define MOST		64
#define BIT(n)		(1ull << (n))

/* The samples of class TEST in the log, each with the PRECISE record directly before it. */
static struct seen {
	uint64_t pc, present, word[8], time, precise_time;
	uint32_t id, precise_id, npc;
	uint8_t flags, kind;
	bool has_precise;
} seen[MOST];
static unsigned int nseen;
static bool waits;			/* a PRECISE record was the record before */
static bool astray;			/* it was not before a sample of its PMC */
static int events_fd = -1;

static void look(const struct hwpmc_record *r)
{
	struct seen *s = &seen[nseen];

	if (r->hdr->type == HWPMC_LOG_PRECISE) {
		astray |= waits;
		waits = true;
		s->precise_id = r->hdr->id;
		s->precise_time = r->hdr->time;
		s->kind = r->hdr->flags;
		s->present = r->precise->present;
		for (unsigned int i = 0; i < 8; i++)
			hwpmc_precise_word(r->precise, i, &s->word[i]);
		return;
	}
	if (r->hdr->type == HWPMC_LOG_CALLCHAIN &&
	    HWPMC_ID_CLASS(r->hdr->id) == HWPMC_CLASS_TEST && nseen < MOST - 1) {
		s->id = r->hdr->id;
		s->time = r->hdr->time;
		s->flags = r->hdr->flags;
		s->pc = r->sample->pc[0];
		s->npc = r->npc;
		s->has_precise = waits;
		astray |= waits && s->precise_id != s->id;
		nseen++;
	} else {
		astray |= waits;
	}
	waits = false;
}

/* The module with class TEST in this form. Also outside tests, where nothing may be asserted. */
static bool try_load(const char *form)
{
	char command[256];

	snprintf(command, sizeof(command), "while [ -e /sys/module/hwpmc ] && ! rmmod hwpmc; do "
		 "sleep 0.1; done 2>/dev/null; insmod build/kmod/$(uname -r)/hwpmc.ko "
		 DEV_PARAMS " mincount=1 %s", form);
	return system(command) == 0;
}

/* For a program that will be another user's: the rights at the open count. */
static void open_events(void)
{
	if (events_fd >= 0)
		close(events_fd);
	events_fd = open("/sys/module/hwpmc/parameters/testevents", O_WRONLY);
	ck_assert_int_ge(events_fd, 0);
}

static void begin_test(struct session *s)
{
	memset(seen, 0, sizeof(seen));
	nseen = 0;
	waits = astray = false;
	if (!geteuid())
		open_events();
	begin_looking(s, NONE, 0, look);
}

static int allocate_test(struct session *s, uint32_t mode, uint32_t flags, uint32_t caps,
			 uint32_t *id)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_TEST, .ev = HWPMC_EV_TEST, .mode = mode, .flags = flags,
		.caps = caps, .cpu = mode == HWPMC_MODE_SS ? 0 : HWPMC_CPU_ANY,
		.count = PERIOD,
	};
	int rc = hwpmc_allocate_raw(s->h, &op);

	*id = op.pmcid;
	return rc;
}

/* Of this process, and started. */
static uint32_t start_test(struct session *s, uint32_t flags, uint32_t caps)
{
	uint32_t id;

	ok(s, allocate_test(s, HWPMC_MODE_TS, flags, caps, &id));
	ok(s, hwpmc_attach(s->h, id, 0));
	ok(s, hwpmc_start(s->h, id));
	return id;
}

static void happen(uint64_t n, uint64_t pc, uint64_t words)
{
	char line[80];
	int len = snprintf(line, sizeof(line), "%llu %llx %llx", (unsigned long long)n,
			   (unsigned long long)pc, (unsigned long long)words);

	ck_assert_int_eq(write(events_fd, line, len), len);
}

static void finish_test(struct session *s)
{
	finish(s);
	ck_assert(!astray && !waits);
}

/* Each of these overflows is a sample or a drop of this cause. */
static void check_law(const struct session *s, uint64_t samples, int cause, uint64_t drops)
{
	ck_assert_uint_eq(nseen, samples);
	for (int i = 0; i < HWPMC_DROP__COUNT; i++)
		ck_assert_msg(s->t.dropped[i] == (i == cause ? drops : 0), "cause %d: %llu", i,
			      (unsigned long long)s->t.dropped[i]);
}

START_TEST(precise_record_stands_before_its_sample)
{
	struct session s;
	uint32_t id;

	begin_test(&s);
	id = start_test(&s, HWPMC_F_EXACT | HWPMC_F_MEMORY, 0);
	happen(10 * PERIOD, USER_PC, ALL_WORDS);
	ok(&s, hwpmc_stop(s.h, id));
	finish_test(&s);
	check_law(&s, 10, 0, 0);
	for (unsigned int i = 0; i < nseen; i++) {
		ck_assert(seen[i].has_precise);
		ck_assert_uint_eq(seen[i].id, id);
		ck_assert_uint_eq(seen[i].kind, HWPMC_PRECISE_TEST);
		ck_assert_uint_eq(seen[i].present, HWPMC_PRECISE_EXACT | ALL_WORDS);
		ck_assert_uint_eq(seen[i].word[HWPMC_TEST_WORD], WORD);
		ck_assert_uint_eq(seen[i].word[HWPMC_TEST_ADDRESS], USER_PC);
		ck_assert_uint_eq(seen[i].word[HWPMC_TEST_PHYSICAL], PHYSICAL);
		ck_assert_uint_eq(seen[i].word[HWPMC_TEST_LATENCY],
				  seen[0].word[HWPMC_TEST_LATENCY] + i);
		ck_assert_uint_eq(seen[i].pc, USER_PC);
		ck_assert_uint_eq(seen[i].flags, HWPMC_SAMPLE_USER);
		ck_assert_uint_eq(seen[i].precise_time, seen[i].time);
	}
	end(&s);
}
END_TEST

START_TEST(exact_samples_without_words_have_no_precise_record)
{
	struct session s;
	uint32_t id;

	begin_test(&s);
	id = start_test(&s, HWPMC_F_EXACT, 0);
	happen(2 * PERIOD, USER_PC, 0);
	/* It has no address: its record says that it is not exact. */
	happen(PERIOD, 0, 0);
	happen(PERIOD, KERNEL_PC, 0);
	ok(&s, hwpmc_stop(s.h, id));
	finish_test(&s);
	check_law(&s, 4, 0, 0);
	for (unsigned int i = 0; i < nseen; i++)
		ck_assert(seen[i].has_precise == (i == 2));
	ck_assert_uint_eq(seen[1].pc, USER_PC);
	ck_assert_uint_eq(seen[2].present, 0);
	ck_assert_uint_ne(seen[2].pc, USER_PC);
	ck_assert_uint_eq(seen[2].flags, HWPMC_SAMPLE_USER);
	ck_assert_uint_eq(seen[3].pc, KERNEL_PC);
	ck_assert_uint_eq(seen[3].flags, 0);
	end(&s);
}
END_TEST

START_TEST(exact_sample_of_a_plain_pmc_is_marked_by_its_record)
{
	struct session s;
	uint32_t id;

	begin_test(&s);
	id = start_test(&s, 0, 0);
	happen(PERIOD, USER_PC, 0);
	happen(PERIOD, 0, 0);
	/* Words that the PMC has not asked for are left out. */
	happen(PERIOD, USER_PC, ALL_WORDS);
	ok(&s, hwpmc_stop(s.h, id));
	finish_test(&s);
	check_law(&s, 3, 0, 0);
	ck_assert(seen[0].has_precise);
	ck_assert_uint_eq(seen[0].present, HWPMC_PRECISE_EXACT);
	ck_assert(!seen[1].has_precise);
	ck_assert_uint_eq(seen[2].present, HWPMC_PRECISE_EXACT | BIT(HWPMC_TEST_WORD));
	end(&s);
}
END_TEST

/* The interrupted code has callers; the exact address replaces the interrupted one only. */
START_TEST(exact_address_in_the_other_mode_has_no_callers)
{
	struct session s;
	uint32_t id;

	begin_test(&s);
	id = start_test(&s, HWPMC_F_EXACT | HWPMC_F_CALLCHAIN, 0);
	happen(PERIOD, KERNEL_PC, 0);
	happen(PERIOD, 0, 0);
	ok(&s, hwpmc_stop(s.h, id));
	finish_test(&s);
	check_law(&s, 2, 0, 0);
	ck_assert_uint_eq(seen[0].npc, 1);
	ck_assert_uint_eq(seen[0].pc, KERNEL_PC);
	ck_assert_uint_eq(seen[0].flags & HWPMC_SAMPLE_USER, 0);
	ck_assert_uint_ne(seen[1].flags & HWPMC_SAMPLE_USER, 0);
	end(&s);
}
END_TEST

START_TEST(samples_of_a_mode_not_sampled_are_dropped_as_filtered)
{
	struct session s;
	uint32_t id;

	begin_test(&s);
	id = start_test(&s, HWPMC_F_EXACT, HWPMC_CAP_USER);
	happen(3 * PERIOD, KERNEL_PC, 0);
	happen(2 * PERIOD, USER_PC, 0);
	ok(&s, hwpmc_stop(s.h, id));
	ok(&s, hwpmc_release(s.h, id));
	id = start_test(&s, HWPMC_F_EXACT, HWPMC_CAP_SYSTEM);
	happen(4 * PERIOD, USER_PC, 0);
	happen(PERIOD, KERNEL_PC, 0);
	ok(&s, hwpmc_stop(s.h, id));
	finish_test(&s);
	check_law(&s, 3, HWPMC_DROP_FILTERED, 7);
	ck_assert_uint_eq(seen[0].pc, USER_PC);
	ck_assert_uint_eq(seen[2].pc, KERNEL_PC);
	end(&s);
}
END_TEST

static void check_unprivileged(void *unused)
{
	struct session s;
	uint32_t id;

	begin_test(&s);
	id = start_test(&s, HWPMC_F_EXACT | HWPMC_F_MEMORY, 0);
	happen(PERIOD, USER_PC, ALL_WORDS);
	happen(PERIOD, KERNEL_PC, ALL_WORDS);
	ok(&s, hwpmc_stop(s.h, id));
	finish_test(&s);
	check_law(&s, 2, 0, 0);
	ck_assert_uint_eq(seen[0].present, HWPMC_PRECISE_EXACT |
			  (ALL_WORDS & ~BIT(HWPMC_TEST_PHYSICAL)));
	ck_assert_uint_eq(seen[0].word[HWPMC_TEST_ADDRESS], USER_PC);
	ck_assert_uint_eq(seen[0].word[HWPMC_TEST_PHYSICAL], 0);
	ck_assert_uint_eq(seen[0].pc, USER_PC);
	ck_assert_uint_eq(seen[1].present, BIT(HWPMC_TEST_WORD) | BIT(HWPMC_TEST_LATENCY));
	ck_assert_uint_eq(seen[1].word[HWPMC_TEST_LATENCY],
			  seen[0].word[HWPMC_TEST_LATENCY] + 1);
	ck_assert_uint_eq(seen[1].flags, HWPMC_SAMPLE_HIDDEN);
	ck_assert_uint_eq(seen[1].pc, HWPMC_PC_HIDDEN);
	end(&s);
}

START_TEST(words_of_privilege_are_left_out_for_other_owners)
{
	open_events();
	dev_as(NOBODY, check_unprivileged, NULL);
}
END_TEST

START_TEST(period_of_a_payload_row_goes_on_after_a_switch)
{
	struct session s;
	uint32_t id;

	begin_test(&s);
	id = start_test(&s, HWPMC_F_EXACT, 0);
	for (int i = 0; i < 9; i++) {
		happen(PERIOD / 10, USER_PC, 0);
		dev_msleep(1);
	}
	happen(PERIOD / 10 - 1, USER_PC, 0);
	dev_msleep(1);
	drain(&s);
	ck_assert_uint_eq(nseen, 0);
	happen(1, USER_PC, 0);
	happen(PERIOD - 1, USER_PC, 0);
	ok(&s, hwpmc_stop(s.h, id));
	ok(&s, hwpmc_start(s.h, id));
	happen(1, USER_PC, 0);
	ok(&s, hwpmc_stop(s.h, id));
	finish_test(&s);
	check_law(&s, 2, 0, 0);
	end(&s);
}
END_TEST

START_TEST(payload_in_system_scope_is_of_the_running_thread)
{
	struct session s;
	uint32_t id;

	dev_pin(0, 0);
	begin_test(&s);
	ok(&s, allocate_test(&s, HWPMC_MODE_SS, HWPMC_F_EXACT | HWPMC_F_MEMORY, 0, &id));
	ok(&s, hwpmc_start(s.h, id));
	happen(5 * PERIOD, USER_PC, 1);
	ok(&s, hwpmc_stop(s.h, id));
	finish_test(&s);
	check_law(&s, 5, 0, 0);
	ck_assert_uint_eq(seen[4].present, HWPMC_PRECISE_EXACT | 1);
	end(&s);
	dev_unpin(0);
}
END_TEST

static void check_payload_refused(struct session *s, const char *event, uint32_t flags,
				  uint32_t missing)
{
	struct hwpmc_op_pmcallocate op;
	uint32_t id;
	int fd = dev_open();

	if (event)
		ck_assert_int_eq(hwpmc_allocate(s->h, event, HWPMC_MODE_TS, flags, HWPMC_CPU_ANY,
						1000, &id), -1);
	else
		ck_assert_int_eq(allocate_test(s, HWPMC_MODE_TS, flags, 0, &id), -1);
	ck_assert_int_eq(errno, EOPNOTSUPP);
	ck_assert_uint_eq(hwpmc_reason(s->h), HWPMC_WHY_PAYLOAD);
	if (event) {
		dev_request(&op, HWPMC_MODE_TS, flags, HWPMC_CPU_ANY, INSN, U);
		op.count = 1000;
		ck_assert_int_eq(dev_allocate(fd, &op), EOPNOTSUPP);
		ck_assert_uint_eq(dev_hdr.detail, missing);
	}
	close(fd);
}

START_TEST(payload_that_a_class_lacks_is_refused)
{
	struct session s;
	uint32_t id;

	begin_test(&s);
	check_payload_refused(&s, "instructions:u", HWPMC_F_EXACT, HWPMC_F_EXACT);
	check_payload_refused(&s, "instructions:u", HWPMC_F_BRANCHES | HWPMC_F_MEMORY,
			      HWPMC_F_BRANCHES | HWPMC_F_MEMORY);
	check_payload_refused(&s, NULL, HWPMC_F_EXACT | HWPMC_F_REGISTERS, HWPMC_F_REGISTERS);
	ck_assert_int_eq(allocate_test(&s, HWPMC_MODE_TC, HWPMC_F_EXACT, 0, &id), -1);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_FLAGS_MODE);
	ck_assert_int_eq(allocate_test(&s, HWPMC_MODE_SS, HWPMC_F_EXACT | HWPMC_F_KGMON, 0, &id),
			 -1);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_FLAGS_MODE);
	ck_assert_int_eq(allocate_test(&s, HWPMC_MODE_TC, 0, 0, &id), -1);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_CAPS);
	end(&s);
	dev_still_counts();
}
END_TEST

/* Overflows that wait for the NMI of another counter. */
static uint32_t begin_nmi(struct session *s, uint32_t *counter)
{
	dev_pin(0, 0);
	ck_assert(try_load("testclass=2"));
	begin_test(s);
	*counter = allocate(s, "instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 100000);
	ok(s, hwpmc_attach(s->h, *counter, 0));
	return start_test(s, HWPMC_F_EXACT | HWPMC_F_MEMORY, 0);
}

static void end_nmi(struct session *s)
{
	end(s);
	ck_assert(try_load("testclass=1"));
	dev_unpin(0);
}

START_TEST(payload_in_an_nmi_stands_before_its_sample)
{
	uint32_t id, counter;
	struct session s;

	id = begin_nmi(&s, &counter);
	ok(&s, hwpmc_start(s.h, counter));
	happen(5 * PERIOD, USER_PC, ALL_WORDS);
	dev_spin(100000);
	happen(PERIOD, KERNEL_PC, ALL_WORDS);
	dev_spin(100000);
	ok(&s, hwpmc_stop(s.h, counter));
	ok(&s, hwpmc_stop(s.h, id));
	finish_test(&s);
	ck_assert_uint_gt(s.t.samples, 3);
	/* The other four were lost while the first one waited. */
	check_law(&s, 2, HWPMC_DROP_UNCOUNTED, 4);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert(seen[i].has_precise);
		ck_assert_uint_eq(seen[i].present, HWPMC_PRECISE_EXACT | ALL_WORDS);
		ck_assert_uint_eq(seen[i].word[HWPMC_TEST_PHYSICAL], PHYSICAL);
		ck_assert_uint_eq(seen[i].pc, i ? KERNEL_PC : USER_PC);
		ck_assert_uint_eq(seen[i].flags, i ? 0 : HWPMC_SAMPLE_USER);
	}
	end_nmi(&s);
}
END_TEST

START_TEST(payload_that_waits_at_a_stop_is_dropped_as_late)
{
	uint32_t id, counter;
	struct session s;

	id = begin_nmi(&s, &counter);
	happen(3 * PERIOD, USER_PC, ALL_WORDS);
	ok(&s, hwpmc_stop(s.h, id));
	finish_test(&s);
	ck_assert_uint_eq(nseen, 0);
	ck_assert_uint_eq(s.t.dropped[HWPMC_DROP_LATE], 1);
	ck_assert_uint_eq(s.t.dropped[HWPMC_DROP_UNCOUNTED], 2);
	end_nmi(&s);
	dev_still_counts();
}
END_TEST

START_TEST(class_for_tests_exists_only_where_it_was_asked_for)
{
	struct session s;
	uint32_t id;
	int fd;

	dev_fresh();
	begin_test(&s);
	ck_assert_int_eq(allocate_test(&s, HWPMC_MODE_TS, 0, 0, &id), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_CLASS);
	fd = open("/sys/module/hwpmc/parameters/testevents", O_WRONLY);
	ck_assert_int_eq(write(fd, "1 0 0", 5), -1);
	ck_assert_int_eq(errno, ENODEV);
	close(fd);
	end(&s);
	ck_assert(try_load("testclass=1"));
	open_events();
	ck_assert_int_eq(write(events_fd, "1 0", 3), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(write(events_fd, "1 0 10", 6), -1);
}
END_TEST

int main(void)
{
	dev_setup();
	if (!try_load("testclass=1"))
		return 1;
	harness_add(class_for_tests_exists_only_where_it_was_asked_for);
	harness_add(precise_record_stands_before_its_sample);
	harness_add(exact_samples_without_words_have_no_precise_record);
	harness_add(exact_sample_of_a_plain_pmc_is_marked_by_its_record);
	harness_add(exact_address_in_the_other_mode_has_no_callers);
	harness_add(samples_of_a_mode_not_sampled_are_dropped_as_filtered);
	harness_add(words_of_privilege_are_left_out_for_other_owners);
	harness_add(period_of_a_payload_row_goes_on_after_a_switch);
	harness_add(payload_in_system_scope_is_of_the_running_thread);
	harness_add(payload_that_a_class_lacks_is_refused);
	harness_add(payload_in_an_nmi_stands_before_its_sample);
	harness_add(payload_that_waits_at_a_stop_is_dropped_as_late);
	return harness_run();
}
