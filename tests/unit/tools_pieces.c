/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_pieces.c - recordings that are more than one log: each piece is a whole log, and
 * all samples are in one of them, or declared to be overwritten. On the host, under ASan
 * and UBSan.
 */
#include <inttypes.h>
#include <unistd.h>

#include "harness.h"
#include "made_log.h"
#include "record/pieces.h"

#define CYCLES	0x101

static char dir[] = "/tmp/pieces-XXXXXX";
static struct pieces p;
static struct sink sink;

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	p = (struct pieces){ .kind = PIECES_NONE };
}

static void teardown(void)
{
	char command[100];

	pieces_free(&p);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* Give what a log has so far as the records of a ring, and begin anew. */
static void take(struct made_log *log, unsigned int cpu)
{
	pieces_take(&p, cpu, log->bytes, log->len);
	log->len = 0;
}

static void begin(struct made_log *log)
{
	char err[600];

	ck_assert_int_eq(pieces_open(&p, &sink, "log", 0, err, sizeof(err)), 0);
	made_begin(log);
	take(log, 0);
	made_event(log, CYCLES, "cycles");
	made_exec(log, 50, "/bin/fifty");
	made_exec(log, 60, "/bin/sixty");
	made_map(log, 50, 0x1000, 0x2000, 0, "/bin/fifty");
	take(log, 0);
	made_context(log, 50, 51);
	take(log, 0);
	made_context(log, 60, 61);
	take(log, 1);
}

/* So many on each CPU, of the threads that ran there all the time. */
static void sample(struct made_log *log, unsigned int n)
{
	uint64_t pc = 0x1000;

	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		made_samples(log, CYCLES, HWPMC_SAMPLE_USER, &pc, 1, n);
		take(log, cpu);
	}
}

static void finish(struct made_log *log)
{
	made_end(log);
	take(log, 0);
	pieces_end(&p);
	ck_assert_int_eq(sink_close(&sink), 0);
	free(log->bytes);
}

/* The samples of thread 51; those of 61 are as many, and there is no other. */
static uint64_t samples_of(const char *path)
{
	const struct hwpmc_profile_options o = {
		.by_thread = true, .symbols.no_symbols = true,
	};
	uint64_t of[2] = { 0, 0 };
	const struct hwpmc_stack *stack;
	struct hwpmc_profile *profile;
	struct hwpmc_input *in;
	char err[600] = "";
	uint32_t n;

	in = hwpmc_input_open(path, err, sizeof(err));
	ck_assert_msg(in != NULL, "%s", err);
	profile = hwpmc_profile_read(in, &o, NULL, NULL, err, sizeof(err));
	ck_assert_msg(profile != NULL, "%s", err);
	ck_assert(hwpmc_profile_totals(profile)->closed);
	ck_assert_uint_eq(hwpmc_profile_totals(profile)->execs, 2);
	stack = hwpmc_profile_stacks(profile, &n);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert(stack[i].thread->tid == 51 || stack[i].thread->tid == 61);
		ck_assert_str_eq(stack[i].thread->process, "made");
		of[stack[i].thread->tid == 61] += stack[i].count;
	}
	ck_assert_uint_eq(of[0], of[1]);
	hwpmc_profile_free(profile);
	hwpmc_input_close(in);
	return of[0];
}

START_TEST(each_piece_of_a_recording_is_a_log_and_has_its_samples)
{
	struct made_log log;

	ck_assert_int_eq(pieces_parse_switch(&p, "1K"), 0);
	begin(&log);
	sample(&log, 3);
	ck_assert_int_eq(pieces_tick(&p, false), 0);
	ck_assert_uint_eq(p.n, 0);
	/* By size, then at a signal; no CPU has another thread than before. */
	sample(&log, 100);
	ck_assert_int_eq(pieces_tick(&p, false), 0);
	ck_assert_uint_eq(p.n, 1);
	sample(&log, 5);
	ck_assert_int_eq(pieces_tick(&p, true), 0);
	sample(&log, 7);
	finish(&log);
	ck_assert_uint_eq(samples_of("log.0001"), 103);
	ck_assert_uint_eq(samples_of("log.0002"), 5);
	ck_assert_uint_eq(samples_of("log.0003"), 7);
	ck_assert_int_ne(access("log", F_OK), 0);
}
END_TEST

static void lose(struct made_log *log, unsigned int cpu, uint8_t flags)
{
	struct hwpmc_log_loss *r = made_add(log, HWPMC_LOG_LOSS, sizeof(*r), 0);

	r->hdr.id = CYCLES;
	r->hdr.flags = flags;
	r->cpu = cpu;
	r->reason = HWPMC_WHY_COUNTER_TAKEN;
	r->since = r->hdr.time - 5;
	take(log, 1 - cpu);
}

/* The number of CPUs with losses; .open of them that go on. */
static unsigned int losses_of(const char *path, bool open)
{
	const struct hwpmc_profile_options o = { .symbols.no_symbols = true };
	const struct hwpmc_profile_loss *loss;
	struct hwpmc_profile *profile;
	struct hwpmc_input *in;
	unsigned int ncpu;
	char err[600] = "";
	uint32_t n;

	in = hwpmc_input_open(path, err, sizeof(err));
	ck_assert_msg(in != NULL, "%s", err);
	profile = hwpmc_profile_read(in, &o, NULL, NULL, err, sizeof(err));
	ck_assert_msg(profile != NULL, "%s", err);
	loss = hwpmc_profile_losses(profile, &n);
	ck_assert_uint_le(n, 1);
	ncpu = n ? loss->ncpu : 0;
	ck_assert(!n || loss->open == open);
	hwpmc_profile_free(profile);
	hwpmc_input_close(in);
	return ncpu;
}

START_TEST(pieces_begin_with_losses_that_go_on)
{
	struct made_log log;

	ck_assert_int_eq(pieces_parse_switch(&p, "signal"), 0);
	begin(&log);
	lose(&log, 0, 0);
	lose(&log, 1, 0);
	lose(&log, 1, HWPMC_LOSS_OVER);
	ck_assert_int_eq(pieces_tick(&p, true), 0);
	sample(&log, 5);
	ck_assert_int_eq(pieces_tick(&p, true), 0);
	lose(&log, 0, HWPMC_LOSS_OVER);
	ck_assert_int_eq(pieces_tick(&p, true), 0);
	sample(&log, 5);
	finish(&log);
	ck_assert_uint_eq(losses_of("log.0001", true), 2);
	ck_assert_uint_eq(losses_of("log.0002", true), 1);
	ck_assert_uint_eq(losses_of("log.0003", false), 1);
	ck_assert_uint_eq(losses_of("log.0004", false), 0);
}
END_TEST

START_TEST(recent_pieces_begin_with_losses_that_go_on)
{
	struct made_log log;

	ck_assert_int_eq(pieces_parse_recent(&p, "1"), 0);
	begin(&log);
	lose(&log, 0, 0);
	lose(&log, 1, 0);
	lose(&log, 1, HWPMC_LOSS_OVER);
	for (int i = 0; i < 30; i++) {
		usleep(100000);
		ck_assert_int_eq(pieces_tick(&p, false), 0);
		sample(&log, 1);
	}
	finish(&log);
	ck_assert_uint_eq(losses_of("log", true), 1);
}
END_TEST

/* As if so much time had passed: blocks know only when they began and ended. */
static void pass(uint64_t ns)
{
	p.keep_ns -= ns;
	usleep(1000);
	ck_assert_int_eq(pieces_tick(&p, false), 0);
	p.keep_ns += ns;
}

/* On its CPU, at this time. */
static void throttle(struct made_log *log, unsigned int cpu, uint8_t flags, uint64_t time)
{
	struct hwpmc_log_throttle *r = made_add(log, HWPMC_LOG_THROTTLE, sizeof(*r), 0);

	r->hdr.id = CYCLES;
	r->hdr.flags = flags;
	r->hdr.time = time;
	r->cpu = cpu;
	r->percent = 30;
	take(log, cpu);
}

/* Returns the ns of pauses, of this number. */
static uint64_t pauses_of(const char *path, uint64_t number)
{
	const struct hwpmc_profile_options o = { .symbols.no_symbols = true };
	const struct hwpmc_profile_totals *t;
	struct hwpmc_profile *profile;
	struct hwpmc_input *in;
	char err[600] = "";
	uint64_t paused;

	in = hwpmc_input_open(path, err, sizeof(err));
	ck_assert_msg(in != NULL, "%s", err);
	profile = hwpmc_profile_read(in, &o, NULL, NULL, err, sizeof(err));
	ck_assert_msg(profile != NULL, "%s", err);
	t = hwpmc_profile_totals(profile);
	ck_assert_uint_eq(t->pauses, number);
	paused = t->paused;
	hwpmc_profile_free(profile);
	hwpmc_input_close(in);
	return paused;
}

/* Each piece has its part of a pause; no part is in two pieces. A tick is half a nanosecond. */
START_TEST(pieces_begin_with_pauses_that_go_on)
{
	struct made_log log;
	uint64_t last;

	ck_assert_int_eq(pieces_parse_switch(&p, "signal"), 0);
	begin(&log);
	throttle(&log, 0, 0, 10000);
	throttle(&log, 1, 0, 20000);
	throttle(&log, 1, 1, 50000);
	ck_assert_int_eq(pieces_tick(&p, true), 0);
	log.n = 100000;
	sample(&log, 1);
	last = p.time;
	ck_assert_uint_ge(last, 100000);
	ck_assert_int_eq(pieces_tick(&p, true), 0);
	throttle(&log, 0, 1, 130000);
	ck_assert_int_eq(pieces_tick(&p, true), 0);
	sample(&log, 5);
	finish(&log);
	ck_assert_uint_eq(pauses_of("log.0001", 2), (40000 + 30000) / 2);
	ck_assert_uint_eq(pauses_of("log.0002", 1), (last - 50000) / 2);
	ck_assert_uint_eq(pauses_of("log.0003", 1), (130000 - last) / 2);
	ck_assert_uint_eq(pauses_of("log.0004", 0), 0);
}
END_TEST

START_TEST(recent_pieces_begin_with_pauses_that_go_on)
{
	struct made_log log;

	ck_assert_int_eq(pieces_parse_recent(&p, "1"), 0);
	begin(&log);
	throttle(&log, 0, 0, 10000);
	throttle(&log, 1, 0, 20000);
	throttle(&log, 1, 1, 50000);
	pass(p.keep_ns);
	pass(p.keep_ns);
	throttle(&log, 0, 1, 90000);
	finish(&log);
	ck_assert_uint_eq(pauses_of("log", 1), (90000 - 50000) / 2);
}
END_TEST

START_TEST(pieces_end_by_time)
{
	struct made_log log;

	ck_assert_int_eq(pieces_parse_switch(&p, "1s"), 0);
	ck_assert_uint_eq(p.period_ns, 1000000000);
	begin(&log);
	sample(&log, 2);
	ck_assert_int_eq(pieces_tick(&p, false), 0);
	ck_assert_uint_eq(p.n, 0);
	p.began -= 1000000000;
	ck_assert_int_eq(pieces_tick(&p, false), 0);
	ck_assert_uint_eq(p.n, 1);
	finish(&log);
	ck_assert_uint_eq(samples_of("log.0001"), 2);
	ck_assert_uint_eq(samples_of("log.0002"), 0);
}
END_TEST

START_TEST(what_was_lately_is_kept_and_the_rest_counted_as_overwritten)
{
	struct made_log log;

	ck_assert_int_eq(pieces_parse_recent(&p, "8s"), 0);
	begin(&log);
	sample(&log, 100);
	/* All is a moment ago. */
	ck_assert_int_eq(pieces_tick(&p, true), 0);
	ck_assert_uint_eq(samples_of("log.0001"), 100);
	/* It is too old now, and what comes is in a block of its own. */
	pass(p.keep_ns);
	sample(&log, 7);
	pass(p.keep_ns);
	ck_assert_uint_eq(p.overwritten, 200);
	ck_assert_int_eq(pieces_tick(&p, true), 0);
	ck_assert_uint_eq(samples_of("log.0002"), 7);
	sample(&log, 5);
	finish(&log);
	ck_assert_uint_eq(samples_of("log"), 12);
	ck_assert_int_ne(access("log.0003", F_OK), 0);
}
END_TEST

START_TEST(limits_of_pieces_are_numbers_with_a_unit)
{
	static const char *const bad[] = { "x", "0", "-1M", "10X", "1MM", "30 s",
					   "99999999999999999999", "17179869184G" };
	uint64_t size;

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_int_ne(pieces_parse_switch(&p, bad[i]), 0);
		ck_assert_int_ne(pieces_parse_size(bad[i], &size), 0);
	}
	ck_assert_int_eq(pieces_parse_size("10M", &size), 0);
	ck_assert_uint_eq(size, 10 << 20);
	ck_assert_int_eq(pieces_parse_size("4096", &size), 0);
	ck_assert_uint_eq(size, 4096);
	ck_assert_int_eq(pieces_parse_switch(&p, "5m"), 0);
	ck_assert_uint_eq(p.period_ns, 300000000000);
	ck_assert_int_eq(pieces_parse_switch(&p, "signal"), 0);
	ck_assert_int_ne(pieces_parse_recent(&p, NULL), 0);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(each_piece_of_a_recording_is_a_log_and_has_its_samples);
	harness_add(pieces_begin_with_losses_that_go_on);
	harness_add(recent_pieces_begin_with_losses_that_go_on);
	harness_add(pieces_begin_with_pauses_that_go_on);
	harness_add(recent_pieces_begin_with_pauses_that_go_on);
	harness_add(pieces_end_by_time);
	harness_add(what_was_lately_is_kept_and_the_rest_counted_as_overwritten);
	harness_add(limits_of_pieces_are_numbers_with_a_unit);
	return harness_run();
}
