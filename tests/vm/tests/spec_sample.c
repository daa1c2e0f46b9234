/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spec_sample.c - sampling is complete: overflows that the emulated PMU counted are
 * samples in the log and drops declared in the log, to the last one, whatever the
 * reader does. The log is read through the mapped rings and the library's parser.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include <libhwpmclog.h>

#include "harness.h"
#include "spec_dev.h"
#include "vpmu_guest.h"

#define SMALL_RING	16384

enum reader { FAST, SLOW, NONE };

/* What a log held. */
struct tally {
	uint64_t records, samples, dropped[HWPMC_DROP__COUNT], others;
	uint64_t csw, exits, csw_records, exit_records;
	uint64_t throttled, resumed, hidden, user, frames, closed;
	uint64_t pid_samples[2];	/* of the children */
};

struct session {
	struct hwpmc *h;
	struct hwpmc_rings *rings;
	struct hwpmc_parser *parser[64];	/* by CPU */
	struct tally t;
	enum reader reader;
	pthread_t thread;
	atomic_bool stop;
	uint64_t overflows;
	pid_t pids[2];
	void (*look)(const struct hwpmc_record *r);
};

/* Also outside tests, where nothing may be asserted. */
static bool try_tunable(const char *name, int value)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/kern/hwpmc/%s", name);
	f = fopen(path, "w");
	if (!f)
		return false;
	fprintf(f, "%d\n", value);
	return fclose(f) == 0;
}

static void set_tunable(const char *name, int value)
{
	ck_assert(try_tunable(name, value));
}

static void tally_sample(struct session *s, const struct hwpmc_record *r)
{
	s->t.samples++;
	s->t.frames += r->npc;
	s->t.hidden += !!(r->hdr->flags & HWPMC_SAMPLE_HIDDEN);
	s->t.user += !!(r->hdr->flags & HWPMC_SAMPLE_USER);
	for (int i = 0; i < 2; i++)
		s->t.pid_samples[i] += s->pids[i] && r->pid == s->pids[i];
}

static void tally_record(struct session *s, const struct hwpmc_record *r)
{
	s->t.records++;
	switch (r->hdr->type) {
	case HWPMC_LOG_CALLCHAIN:
		tally_sample(s, r);
		break;
	case HWPMC_LOG_DROPNOTIFY:
		for (int i = 0; i < HWPMC_DROP__COUNT; i++) {
			s->t.dropped[i] += r->drop->samples[i];
			s->t.others += r->drop->others[i];
		}
		break;
	case HWPMC_LOG_PROCCSW:
		s->t.csw += r->value->value;
		s->t.csw_records++;
		break;
	case HWPMC_LOG_PROCEXIT:
		s->t.exits += r->value->value;
		s->t.exit_records++;
		break;
	case HWPMC_LOG_THROTTLE:
		*(r->hdr->flags ? &s->t.resumed : &s->t.throttled) += 1;
		break;
	case HWPMC_LOG_CLOSELOG:
		s->t.closed++;
		break;
	}
	if (s->look)
		s->look(r);
}

/* Each ring is a stream of its own, but for INITIALIZE, which the first has. */
static int take(unsigned int cpu, const void *data, size_t len, void *arg)
{
	struct session *s = arg;
	struct hwpmc_record r;

	if (!s->parser[cpu]) {
		static uint64_t head[18];

		s->parser[cpu] = hwpmc_parser_new();
		if (!cpu) {
			memcpy(head, data, sizeof(head));
		} else {
			hwpmc_parser_feed(s->parser[cpu], head, sizeof(head));
			ck_assert_int_eq(hwpmc_parser_next(s->parser[cpu], &r),
					 HWPMC_PARSE_RECORD);
			ck_assert_int_eq(hwpmc_parser_next(s->parser[cpu], &r),
					 HWPMC_PARSE_MORE);
		}
	}
	ck_assert_int_eq(hwpmc_parser_feed(s->parser[cpu], data, len), 0);
	for (;;) {
		enum hwpmc_parse what = hwpmc_parser_next(s->parser[cpu], &r);

		ck_assert_msg(what != HWPMC_PARSE_ERROR, "%s",
			      hwpmc_parser_error(s->parser[cpu]));
		if (what != HWPMC_PARSE_RECORD)
			return 0;
		tally_record(s, &r);
	}
}

static void drain(struct session *s)
{
	hwpmc_rings_read(s->rings, take, s, NULL);
}

static void *reader_thread(void *arg)
{
	struct session *s = arg;

	while (!s->stop) {
		drain(s);
		if (s->reader == SLOW)
			dev_msleep(100);
		else
			sched_yield();
	}
	return NULL;
}

static void begin(struct session *s, enum reader reader, uint32_t ring)
{
	memset(s, 0, sizeof(*s));
	ck_assert_int_eq(hwpmc_open(&s->h), 0);
	ck_assert_msg(!hwpmc_rings_open(s->h, ring, 0, &s->rings), "%s",
		      hwpmc_error(s->h));
	s->reader = reader;
	drain(s);
	if (reader != NONE)
		pthread_create(&s->thread, NULL, reader_thread, s);
	s->overflows = vpmu_access(VPMU_N_OVERFLOW, VPMU_ALL_VCPUS);
}

static uint32_t allocate(struct session *s, const char *event, int mode,
			 uint32_t flags, uint32_t cpu, uint64_t period)
{
	uint32_t id;

	ck_assert_msg(!hwpmc_allocate(s->h, event, mode, flags, cpu, period,
				      &id), "%s", hwpmc_error(s->h));
	return id;
}

static void ok(struct session *s, int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(s->h));
}

/* All PMCs are stopped: take what there is, have drops declared, take those. */
static void finish(struct session *s)
{
	s->overflows = vpmu_access(VPMU_N_OVERFLOW, VPMU_ALL_VCPUS) -
		       s->overflows;
	s->stop = true;
	if (s->reader != NONE)
		pthread_join(s->thread, NULL);
	drain(s);
	ok(s, hwpmc_flush_log(s->h));
	drain(s);
}

static void end(struct session *s)
{
	hwpmc_rings_close(s->rings);
	hwpmc_close(s->h);
	for (int i = 0; i < 64; i++)
		hwpmc_parser_free(s->parser[i]);
}

static uint64_t all_drops(const struct session *s)
{
	uint64_t n = 0;

	for (int i = 0; i < HWPMC_DROP__COUNT; i++)
		n += s->t.dropped[i];
	return n;
}

static void check_conserved(struct session *s)
{
	ck_assert_uint_gt(s->overflows, 0);
	ck_assert_msg(s->overflows == s->t.samples + all_drops(s),
		      "%llu overflows, %llu samples, drops: %llu full, %llu late, %llu closed, %llu busy",
		      (unsigned long long)s->overflows,
		      (unsigned long long)s->t.samples,
		      (unsigned long long)s->t.dropped[0],
		      (unsigned long long)s->t.dropped[1],
		      (unsigned long long)s->t.dropped[2],
		      (unsigned long long)s->t.dropped[3]);
}

/* ---- process scope ------------------------------------------------------- */

static void run_two(struct session *s, uint32_t id, unsigned long n)
{
	struct child c[2];

	for (int i = 0; i < 2; i++) {
		c[i] = dev_loop(n);
		dev_pin(c[i].pid, i);
		s->pids[i] = c[i].pid;
		ok(s, hwpmc_attach(s->h, id, c[i].pid));
	}
	ok(s, hwpmc_start(s->h, id));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	ok(s, hwpmc_stop(s->h, id));
}

static void conserve_process(enum reader reader, uint64_t period, uint32_t ring,
			     bool drops)
{
	struct session s;
	uint32_t id;

	begin(&s, reader, ring);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START,
		      HWPMC_CPU_ANY, period);
	run_two(&s, id, 2000000);
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_eq(s.overflows, 2 * (loop_insn(2000000) / period));
	if (!drops)
		for (int i = 0; i < 2; i++)
			ck_assert_uint_eq(s.t.pid_samples[i],
					  loop_insn(2000000) / period);
	ck_assert_int_eq(all_drops(&s) != 0, drops);
	end(&s);
	dev_still_counts();
}

START_TEST(each_process_gets_a_sample_for_each_full_period)
{
	conserve_process(FAST, 10000, 0, false);
	conserve_process(FAST, 1000, 0, false);
}
END_TEST

START_TEST(overflows_are_samples_with_a_slow_reader)
{
	conserve_process(SLOW, 10000, 0, false);
	conserve_process(SLOW, 1000, 0, false);
}
END_TEST

START_TEST(overflows_are_samples_and_declared_drops_without_a_reader)
{
	conserve_process(NONE, 1000, SMALL_RING, true);
	conserve_process(NONE, 10000, 16 * SMALL_RING, false);
}
END_TEST

START_TEST(nothing_is_lost_while_the_sampled_process_migrates)
{
	struct session s;
	struct child c;
	uint32_t id;

	begin(&s, FAST, 0);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START,
		      HWPMC_CPU_ANY, 1000);
	c = dev_loop(4000000);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	for (int i = 0; i < 200; i++) {
		dev_pin(c.pid, i & 1);
		dev_msleep(1);
	}
	dev_unpin(c.pid);
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	/* Also if an interrupt was lost on the way: by periods, not by overflows. */
	ck_assert_msg(s.t.samples + all_drops(&s) == loop_insn(4000000) / 1000,
		      "%llu samples, %llu drops, %llu overflows, PMIs %llu of %llu, masked %llu",
		      (unsigned long long)s.t.samples,
		      (unsigned long long)all_drops(&s),
		      (unsigned long long)s.overflows,
		      (unsigned long long)vpmu_access(VPMU_N_PMI, VPMU_ALL_VCPUS),
		      (unsigned long long)vpmu_access(VPMU_N_OVERFLOW_INT,
						      VPMU_ALL_VCPUS),
		      (unsigned long long)vpmu_access(VPMU_N_PMI_MASKED,
						      VPMU_ALL_VCPUS));
	ck_assert_uint_ge(s.t.samples, s.overflows - s.overflows / 20);
	end(&s);
	dev_still_counts();
}
END_TEST

static void fork_tree(void *arg)
{
	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();

		if (!pid) {
			dev_spin(100000 + 1000 * i);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

START_TEST(overflows_of_a_process_tree_are_samples)
{
	struct session s;
	struct child c;
	uint32_t id;

	begin(&s, FAST, 0);
	id = allocate(&s, "instructions", HWPMC_MODE_TS, HWPMC_F_DESCENDANTS,
		      HWPMC_CPU_ANY, 5000);
	c = dev_child(fork_tree, NULL);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_gt(s.t.samples, 8 * 300000 / 5000);
	end(&s);
}
END_TEST

/* ---- system scope -------------------------------------------------------- */

static void conserve_system(enum reader reader, uint64_t period, uint32_t ring)
{
	struct session s;
	struct child c[2];
	uint32_t id[2];

	begin(&s, reader, ring);
	for (int i = 0; i < 2; i++)
		id[i] = allocate(&s, "instructions", HWPMC_MODE_SS, 0, i, period);
	for (int i = 0; i < 2; i++)
		ok(&s, hwpmc_start(s.h, id[i]));
	for (int i = 0; i < 2; i++) {
		c[i] = dev_loop(2000000);
		dev_pin(c[i].pid, i);
		dev_go(&c[i]);
	}
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	for (int i = 0; i < 2; i++)
		ok(&s, hwpmc_stop(s.h, id[i]));
	finish(&s);
	check_conserved(&s);
	end(&s);
	dev_still_counts();
}

START_TEST(overflows_of_whole_cpus_are_samples_and_declared_drops)
{
	conserve_system(FAST, 10000, 0);
	conserve_system(SLOW, 10000, 0);
	conserve_system(NONE, 2000, SMALL_RING);
}
END_TEST

static void cpu_online(int cpu, int on)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%d\n", on);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(nothing_is_lost_while_a_sampled_cpu_goes_and_comes)
{
	struct session s;
	struct child c;
	uint32_t id, ts;

	begin(&s, FAST, 0);
	id = allocate(&s, "instructions", HWPMC_MODE_SS, 0, 1, 5000);
	ts = allocate(&s, "branches:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START,
		      HWPMC_CPU_ANY, 5000);
	c = dev_loop(20000000);
	ok(&s, hwpmc_attach(s.h, ts, c.pid));
	ok(&s, hwpmc_start(s.h, ts));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	for (int i = 0; i < 5; i++) {
		cpu_online(1, 0);
		cpu_online(1, 1);
	}
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	ok(&s, hwpmc_stop(s.h, ts));
	finish(&s);
	check_conserved(&s);
	end(&s);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

static uint64_t ignored_nmis(struct session *s)
{
	struct hwpmc_op_getdriverstats stats;

	ok(s, hwpmc_driver_stats(s->h, &stats));
	return stats.intr_ignored;
}

START_TEST(rows_that_overflow_together_leave_no_nmi_without_a_cause)
{
	uint64_t ignored;
	struct session s;
	uint32_t id[4];

	begin(&s, FAST, 0);
	ignored = ignored_nmis(&s);
	for (int i = 0; i < 2; i++) {
		/* The NMI of the second overflows the first, sometimes. */
		id[i] = allocate(&s, "instructions", HWPMC_MODE_SS, 0, i, 5003);
		id[i + 2] = allocate(&s, "branches:u", HWPMC_MODE_SS, 0, i, 1009);
	}
	for (int i = 0; i < 4; i++)
		ok(&s, hwpmc_start(s.h, id[i]));
	for (int i = 0; i < 40; i++) {
		dev_pin(getpid(), i & 1);
		dev_spin(20000);
	}
	for (int i = 0; i < 4; i++)
		ok(&s, hwpmc_stop(s.h, id[i]));
	ignored = ignored_nmis(&s) - ignored;
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_eq(ignored, 0);
	end(&s);
}
END_TEST

/* ---- storms -------------------------------------------------------------- */

static void spin_on(void *arg)
{
	dev_spin(3000000);
}

static void storm(struct session *s, struct child c[2], uint32_t *id)
{
	begin(s, NONE, SMALL_RING);
	*id = allocate(s, "instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 200);
	for (int i = 0; i < 2; i++) {
		c[i] = dev_child(spin_on, NULL);
		dev_pin(c[i].pid, i);
		ok(s, hwpmc_attach(s->h, *id, c[i].pid));
	}
	ok(s, hwpmc_start(s->h, *id));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	dev_msleep(50);
}

START_TEST(closing_the_device_in_a_storm_of_nmis_leaves_all_clean)
{
	struct session s;
	struct child c[2];
	uint32_t id;

	set_tunable("mincount", 1);
	storm(&s, c, &id);
	end(&s);
	dev_check_registers_clear();
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	set_tunable("mincount", 1000);
	dev_still_counts();
}
END_TEST

START_TEST(closing_the_log_in_a_storm_of_nmis_stops_and_declares)
{
	struct session s;
	struct child c[2];
	uint32_t id;

	set_tunable("mincount", 1);
	storm(&s, c, &id);
	ok(&s, hwpmc_close_log(s.h));
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_eq(s.t.closed, 1);
	end(&s);
	dev_check_registers_clear();
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	set_tunable("mincount", 1000);
	dev_still_counts();
}
END_TEST

START_TEST(sampling_that_costs_too_much_stands_still_and_says_so)
{
	struct session s;
	uint32_t id;

	set_tunable("selfcost", 1);
	begin(&s, FAST, 0);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START,
		      HWPMC_CPU_ANY, 1000);
	run_two(&s, id, 4000000);
	finish(&s);
	set_tunable("selfcost", 0);
	check_conserved(&s);
	ck_assert_uint_gt(s.t.throttled, 0);
	/* It ran again after, else the second child would have no sample. */
	ck_assert_uint_gt(s.t.pid_samples[0] * s.t.pid_samples[1], 0);
	ck_assert_uint_lt(s.t.samples, 2 * loop_insn(4000000) / 1000);
	end(&s);
	dev_still_counts();
}
END_TEST

/* Each NMI's own way out overflows the counter again: only the limit ends it. */
START_TEST(an_absurd_period_does_not_take_the_machine_away)
{
	struct session s;
	struct child c;
	uint32_t id;

	set_tunable("mincount", 1);
	set_tunable("selfcost", 50);
	begin(&s, FAST, 0);
	id = allocate(&s, "instructions", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 1);
	c = dev_child(spin_on, NULL);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	dev_msleep(200);
	ok(&s, hwpmc_stop(s.h, id));
	dev_wait(&c);
	set_tunable("mincount", 1000);
	set_tunable("selfcost", 0);
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_gt(s.t.throttled, 0);
	end(&s);
	dev_still_counts();
}
END_TEST

/* ---- values -------------------------------------------------------------- */

static void busy_tree(void *arg)
{
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (!pid) {
			for (int j = 0; j < 20; j++) {
				dev_spin(1000 * (i + 1));
				usleep(500);
			}
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

START_TEST(increments_add_up_to_exit_values_and_to_the_total)
{
	struct session s;
	struct child c;
	uint64_t total;
	uint32_t id;

	begin(&s, FAST, 0);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TC,
		      HWPMC_F_DESCENDANTS | HWPMC_F_LOG_PROCCSW |
		      HWPMC_F_LOG_PROCEXIT, HWPMC_CPU_ANY, 0);
	c = dev_child(busy_tree, NULL);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(&s, hwpmc_read(s.h, id, &total));
	finish(&s);
	ck_assert_uint_eq(s.t.others, 0);
	ck_assert_uint_gt(s.t.csw_records, 80);
	ck_assert_uint_eq(s.t.exit_records, 5);
	ck_assert_uint_eq(s.t.csw, total);
	ck_assert_uint_eq(s.t.exits, total);
	ck_assert_uint_ge(total, 3 * 20 * 10000);
	end(&s);
}
END_TEST

/* ---- what a sample says -------------------------------------------------- */

static void *seen_pc[8];
static uint64_t deep_samples;

__attribute__((noinline)) static void inner(uint64_t n)
{
	seen_pc[0] = __builtin_return_address(0);
	dev_spin(n);
}

__attribute__((noinline)) static void middle(uint64_t n)
{
	seen_pc[1] = __builtin_return_address(0);
	inner(n);
	asm volatile("");
}

__attribute__((noinline)) static void outer(uint64_t n)
{
	middle(n);
	asm volatile("");
}

static void look_for_chain(const struct hwpmc_record *r)
{
	if (r->hdr->type != HWPMC_LOG_CALLCHAIN || r->npc < 3)
		return;
	deep_samples += r->sample->pc[1] == (uintptr_t)seen_pc[0] &&
			r->sample->pc[2] == (uintptr_t)seen_pc[1];
}

START_TEST(call_chains_name_the_callers)
{
	struct session s;
	uint32_t id;

	deep_samples = 0;
	begin(&s, NONE, 0);
	s.look = look_for_chain;
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, HWPMC_F_CALLCHAIN,
		      HWPMC_CPU_ANY, 10000);
	ok(&s, hwpmc_start(s.h, id));
	outer(1000000);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_ge(deep_samples, 298);
	end(&s);
}
END_TEST

static void spin_in_kernel(void *arg)
{
	char buf[4096];
	int zero = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < 2000; i++)
		if (read(zero, buf, sizeof(buf)) < 0)
			_exit(1);
}

START_TEST(kernel_samples_have_chains_that_go_on_into_the_program)
{
	struct session s;
	struct child c;
	uint32_t id;

	begin(&s, FAST, 0);
	id = allocate(&s, "instructions:k", HWPMC_MODE_TS,
		      HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN, HWPMC_CPU_ANY,
		      5000);
	c = dev_child(spin_in_kernel, NULL);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_eq(s.t.hidden, 0);
	/* Hit, read and its callers in the kernel, the mark, the program. */
	ck_assert_uint_gt(s.t.frames, 5 * s.t.samples);
	end(&s);
}
END_TEST

static void sample_as_nobody(void *arg)
{
	struct session s;
	uint32_t id;

	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		_exit(2);
	begin(&s, NONE, 0);
	id = allocate(&s, "instructions", HWPMC_MODE_TS, HWPMC_F_CALLCHAIN,
		      HWPMC_CPU_ANY, 5000);
	ok(&s, hwpmc_start(s.h, id));
	spin_in_kernel(NULL);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_gt(s.t.hidden, 0);
	ck_assert_uint_eq(s.t.hidden, s.t.samples - s.t.user);
	end(&s);
}

START_TEST(who_has_no_privilege_sees_no_address_of_the_kernel)
{
	struct child c = dev_child(sample_as_nobody, NULL);

	dev_go(&c);
	dev_wait(&c);
}
END_TEST

START_TEST(a_period_below_mincount_is_raised_to_it)
{
	struct hwpmc_op_pmcallocate req;
	int fd = dev_open();

	set_tunable("mincount", 5000);
	dev_request(&req, HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, INSN, U);
	req.count = 10;
	dev_ok(dev_allocate(fd, &req));
	ck_assert_uint_eq(req.count, 5000);
	close(fd);
	set_tunable("mincount", 1000);
}
END_TEST

int main(void)
{
	dev_setup();
	/* The emulator's NMIs take long: the limit has a test of its own. */
	if (!try_tunable("selfcost", 0))
		return 1;
	harness_add_timed(each_process_gets_a_sample_for_each_full_period, 30);
	harness_add_timed(overflows_are_samples_with_a_slow_reader, 30);
	harness_add_timed(overflows_are_samples_and_declared_drops_without_a_reader, 30);
	harness_add_timed(nothing_is_lost_while_the_sampled_process_migrates, 30);
	harness_add_timed(overflows_of_a_process_tree_are_samples, 30);
	harness_add_timed(overflows_of_whole_cpus_are_samples_and_declared_drops, 30);
	harness_add_timed(nothing_is_lost_while_a_sampled_cpu_goes_and_comes, 30);
	harness_add_timed(rows_that_overflow_together_leave_no_nmi_without_a_cause, 30);
	harness_add_timed(closing_the_device_in_a_storm_of_nmis_leaves_all_clean, 30);
	harness_add_timed(closing_the_log_in_a_storm_of_nmis_stops_and_declares, 30);
	harness_add_timed(sampling_that_costs_too_much_stands_still_and_says_so, 30);
	harness_add_timed(an_absurd_period_does_not_take_the_machine_away, 30);
	harness_add_timed(increments_add_up_to_exit_values_and_to_the_total, 30);
	harness_add_timed(call_chains_name_the_callers, 30);
	harness_add_timed(kernel_samples_have_chains_that_go_on_into_the_program, 30);
	harness_add_timed(who_has_no_privilege_sees_no_address_of_the_kernel, 30);
	harness_add_timed(a_period_below_mincount_is_raised_to_it, 30);
	return harness_run();
}
