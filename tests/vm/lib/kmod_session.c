// SPDX-License-Identifier: BSD-2-Clause
/* kmod_session.c - see kmod_session.h. Linked into tests of sampling and storms. */
#define _GNU_SOURCE
#include <sched.h>

#include "kmod_session.h"

bool try_tunable(const char *name, int value)
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

void set_tunable(const char *name, int value)
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
	uint64_t samples[HWPMC_DROP__COUNT], others[HWPMC_DROP__COUNT];

	s->t.records++;
	switch (r->hdr->type) {
	case HWPMC_LOG_CALLCHAIN:
		tally_sample(s, r);
		break;
	case HWPMC_LOG_DROPNOTIFY:
		hwpmc_record_drops(r->drop, samples, others, HWPMC_DROP__COUNT);
		for (int i = 0; i < HWPMC_DROP__COUNT; i++) {
			s->t.dropped[i] += samples[i];
			s->t.others += others[i];
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
		s->t.no_percent += !r->hdr->flags && (!r->throttle->percent ||
						      r->throttle->percent > 100);
		break;
	case HWPMC_LOG_CLOSELOG:
		s->t.closed++;
		break;
	}
	if (s->look)
		s->look(r);
}

/*
 * The reader's thread must hold no lock of libcheck while the test forks, or a child's
 * ck_assert() would wait for it for ever: only what has failed is told there.
 */
static void must(struct session *s, unsigned int cpu, bool good)
{
	if (!good)
		ck_abort_msg("ring %u: %s", cpu,
			     hwpmc_parser_error(s->parser[cpu]));
}

/* Each ring is a stream of its own, but for INITIALIZE, which the first has. */
static void begin_ring(struct session *s, unsigned int cpu, const void *data)
{
	static uint64_t head[18];
	struct hwpmc_record r;
	struct hwpmc_parser *p;

	p = s->parser[cpu] = hwpmc_parser_new();
	if (!cpu) {
		memcpy(head, data, sizeof(head));
		return;
	}
	must(s, cpu, !hwpmc_parser_feed(p, head, sizeof(head)));
	must(s, cpu, hwpmc_parser_next(p, &r) == HWPMC_PARSE_RECORD);
	must(s, cpu, hwpmc_parser_next(p, &r) == HWPMC_PARSE_MORE);
}

static int take(unsigned int cpu, const void *data, size_t len, void *arg)
{
	struct session *s = arg;
	struct hwpmc_record r;

	if (!s->parser[cpu])
		begin_ring(s, cpu, data);
	must(s, cpu, !hwpmc_parser_feed(s->parser[cpu], data, len));
	for (;;) {
		enum hwpmc_parse what = hwpmc_parser_next(s->parser[cpu], &r);

		must(s, cpu, what != HWPMC_PARSE_ERROR);
		if (what != HWPMC_PARSE_RECORD)
			return 0;
		r.cpu = cpu;		/* it stands in streams of several rings alone */
		tally_record(s, &r);
	}
}

void drain(struct session *s)
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

uint64_t overflows(void)
{
	return vpmu_access(VPMU_N_OVERFLOW_INT, VPMU_ALL_VCPUS);
}

void begin_looking(struct session *s, enum reader reader, uint32_t ring,
		   void (*look)(const struct hwpmc_record *r))
{
	memset(s, 0, sizeof(*s));
	s->look = look;
	ck_assert_int_eq(hwpmc_open(&s->h), 0);
	ck_assert_msg(!hwpmc_rings_open(s->h, ring, 0, &s->rings), "%s",
		      hwpmc_error(s->h));
	s->reader = reader;
	drain(s);
	if (reader != NONE)
		pthread_create(&s->thread, NULL, reader_thread, s);
	s->overflows = overflows();
}

void begin(struct session *s, enum reader reader, uint32_t ring)
{
	begin_looking(s, reader, ring, NULL);
}

uint32_t allocate(struct session *s, const char *event, int mode,
		  uint32_t flags, uint32_t cpu, uint64_t period)
{
	uint64_t before = overflows();
	uint32_t id;

	ck_assert_msg(!hwpmc_allocate(s->h, event, mode, flags, cpu, period,
				      &id), "%s", hwpmc_error(s->h));
	/* The first one that samples has the module try the interrupt. */
	if (mode == HWPMC_MODE_TS || mode == HWPMC_MODE_SS)
		s->overflows += s->sampled++ ? 0 : overflows() - before;
	return id;
}

void ok(struct session *s, int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(s->h));
}

void sample_loop(struct session *s, uint64_t n, int cpu)
{
	uint32_t id = allocate(s, "instructions:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START,
			       HWPMC_CPU_ANY, 1000);
	struct child c = dev_loop(n);

	dev_pin(c.pid, cpu);
	ok(s, hwpmc_attach(s->h, id, c.pid));
	ok(s, hwpmc_start(s->h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(s, hwpmc_stop(s->h, id));
}

void finish(struct session *s)
{
	s->overflows = overflows() - s->overflows;
	s->stop = true;
	if (s->reader != NONE)
		pthread_join(s->thread, NULL);
	drain(s);
	ok(s, hwpmc_flush_log(s->h));
	drain(s);
}

void end(struct session *s)
{
	hwpmc_rings_close(s->rings);
	hwpmc_close(s->h);
	for (int i = 0; i < 64; i++)
		hwpmc_parser_free(s->parser[i]);
}

uint64_t all_drops(const struct session *s)
{
	uint64_t n = 0;

	for (int i = 0; i < HWPMC_DROP__COUNT; i++)
		n += s->t.dropped[i];
	return n;
}

/* Counters overflow at no period that ends in a pause. */
void check_conserved(struct session *s)
{
	uint64_t drops = all_drops(s) - s->t.dropped[HWPMC_DROP_PAUSED];

	ck_assert_uint_gt(s->overflows, 0);
	/* The records of a pause can be among those that a full ring dropped. */
	if (!s->t.throttled && !s->t.resumed && !s->t.others)
		ck_assert_uint_eq(s->t.dropped[HWPMC_DROP_PAUSED], 0);
	ck_assert_msg(s->overflows == s->t.samples + drops,
		      "%llu overflows, %llu samples, drops: %llu full, %llu late, %llu closed, %llu busy",
		      (unsigned long long)s->overflows,
		      (unsigned long long)s->t.samples,
		      (unsigned long long)s->t.dropped[0],
		      (unsigned long long)s->t.dropped[1],
		      (unsigned long long)s->t.dropped[2],
		      (unsigned long long)s->t.dropped[3]);
}
