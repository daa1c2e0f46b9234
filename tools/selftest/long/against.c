/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * against.c - every row against perf: the two have the counters in turns, and the least that
 * each counts of the same loop is compared.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "long.h"
#include "selftest/judge.h"
#include "selftest/perf.h"

#define LENGTH	200000
#define TRIES	10

static const struct event {
	const char *name;
	uint64_t perf;
	unsigned int turn;		/* events of a turn of the loop; 0: not known */
} events[] = {
	{ "instructions", PERF_COUNT_HW_INSTRUCTIONS, ST_LOOP_INSN },
	{ "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1 },
	{ "cycles", PERF_COUNT_HW_CPU_CYCLES, 0 },
};

#define EVENTS	(sizeof(events) / sizeof(*events))

/* The least of all rounds. */
struct least {
	unsigned int n, rounds;
	char name[HWPMC_ROW_MAX][HWPMC_NAME_MAX];
	uint64_t row[2][HWPMC_ROW_MAX], perf[2];
	uint64_t sum[HWPMC_ROW_MAX];	/* of all loops */
	int perf_errno;
};

static bool ours(struct selftest *t, const char *spec, struct least *l)
{
	uint64_t before[HWPMC_ROW_MAX];
	struct st_pmcs p;
	bool done;

	if (!st_allocate(t, &p, "perf-rows", spec, 0))
		return false;
	done = st_batch(t, &p, "perf-rows", HWPMC_BATCH_START);
	for (int try = 0; done && try < 2 * TRIES; try++) {
		done = st_batch(t, &p, "perf-rows", HWPMC_BATCH_READ);
		for (unsigned int i = 0; i < p.n; i++)
			before[i] = p.entry[i].value;
		st_loop(try & 1 ? LENGTH : 0);
		done = done && st_batch(t, &p, "perf-rows", HWPMC_BATCH_READ);
		for (unsigned int i = 0; i < p.n; i++) {
			uint64_t count = p.entry[i].value - before[i];

			if (count < l->row[try & 1][i])
				l->row[try & 1][i] = count;
			l->sum[i] += try & 1 ? count : 0;
		}
	}
	l->n = p.n;
	memcpy(l->name, p.name, sizeof(l->name));
	st_release(t, &p);
	return done;
}

static void perfs(const struct st_kind *kind, const struct event *e, struct least *l)
{
	int fd = perf_open(kind, e->perf);
	uint64_t least[2];

	if (fd < 0) {
		l->perf_errno = errno;
		return;
	}
	if (!perf_least(fd, st_loop, LENGTH, TRIES, least))
		l->perf_errno = EBUSY;
	else
		for (int i = 0; i < 2; i++)
			l->perf[i] = least[i] < l->perf[i] ? least[i] : l->perf[i];
	close(fd);
}

static void judge_event(struct selftest *t, const struct event *e, const struct st_kind *kind,
			const struct least *l)
{
	const char *of = kind->name ? kind->name : "cpu";
	uint64_t perf = l->perf[1] - l->perf[0];
	unsigned int bad = 0;

	for (unsigned int i = 0; i < l->n; i++) {
		uint64_t row = l->row[1][i] - l->row[0][i];

		long_number(t, (double)row - (double)perf, "%s.%s.%s", of, e->name, l->name[i]);
		long_number(t, (double)l->sum[i] / (l->rounds * TRIES) - l->row[1][i],
			    "%s.%s.%s.mean_more", of, e->name, l->name[i]);
		if (judge_same(row, perf, e->turn) &&
		    (!e->turn || judge_same(row, e->turn * LENGTH, true)))
			continue;
		bad++;
		st_failed(t, "perf-rows", "%s: %s counts %llu in a loop of %d iterations, perf %llu",
			  e->name, l->name[i], (unsigned long long)row, LENGTH,
			  (unsigned long long)perf);
	}
	long_number(t, perf, "%s.%s.perf", of, e->name);
	if (!bad)
		st_held(t, "perf-rows", "%s: each of %u rows of %s counts the same as perf, %llu (%u rounds)",
			e->name, l->n, of, (unsigned long long)perf, l->rounds);
}

static void compare_kind(struct selftest *t, const struct st_kind *kind)
{
	struct least l[EVENTS];
	char spec[HWPMC_NAME_MAX];
	bool going = true;

	memset(l, 0, sizeof(l));
	for (unsigned int i = 0; i < EVENTS; i++) {
		memset(l[i].row, 0xff, sizeof(l[i].row));
		memset(l[i].perf, 0xff, sizeof(l[i].perf));
	}
	st_pin(kind->cpu);
	do {
		for (unsigned int i = 0; going && i < EVENTS; i++) {
			st_spec(spec, kind, events[i].name, "u");
			going = ours(t, spec, &l[i]) && !long_stopped();
			perfs(kind, &events[i], &l[i]);
			l[i].rounds += going;
		}
	} while (going && long_more(t));
	for (unsigned int i = 0; i < EVENTS; i++)
		if (l[i].rounds && l[i].perf_errno)
			st_not_tried(t, "perf-rows", "%s: perf cannot count it here: %s",
				     events[i].name, strerror(l[i].perf_errno));
		else if (l[i].rounds)
			judge_event(t, &events[i], kind, &l[i]);
}

void long_perf(struct selftest *t)
{
	struct st_kind kind[ST_KINDS];
	unsigned int n = st_kinds(t, kind);
	uint64_t begin = st_ns(), end = t->run->step_end;

	/* Each kind has its part of the time. */
	for (unsigned int i = 0; i < n && !long_stopped(); i++) {
		t->run->step_end = begin + (end - begin) * (i + 1) / n;
		compare_kind(t, &kind[i]);
	}
}
