/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * life.c - with an option alone: CPUs go offline and come back while all are sampled, and the
 * machine sleeps. Afterwards each CPU counts as before.
 */
#include <errno.h>
#include <libhwpmclog.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "long.h"

#define LENGTH	20000
#define SLEEP	10	/* seconds */

/* The loop on this CPU, in system scope. False: a failure was reported. */
static bool counts(struct selftest *t, int cpu, const char *check)
{
	uint64_t want = LENGTH * ST_LOOP_INSN, value = 0;
	struct st_pmcs p = { .n = 0 };

	if (long_add(t, &p, "instructions:u", cpu, 0) && st_pin(cpu) &&
	    hwpmc_start(t->h, p.entry[0].pmcid) == 0) {
		st_loop(LENGTH);
		hwpmc_read(t->h, p.entry[0].pmcid, &value);
	}
	if (value < want)
		st_failed(t, check, "CPU %d counts %llu of at least %llu instructions afterwards: %s",
			  cpu, (unsigned long long)value, (unsigned long long)want,
			  value ? "the counter has stopped" : hwpmc_error(t->h));
	st_release(t, &p);
	st_pin(-1);
	return value >= want;
}

/* ---- CPUs ------------------------------------------------------------------- */

static bool cycle(struct selftest *t, int cpu, struct hwpmc_rings *rings, struct st_samples *s)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	if (!long_write(path, "0")) {
		if (errno != ENOENT)
			st_not_tried(t, "hotplug", "CPU %d cannot go offline: %s", cpu,
				     strerror(errno));
		return false;
	}
	st_loop(100000);
	hwpmc_rings_read(rings, st_take_samples, s, NULL);
	/* Also when interrupted: it is this program that took it away. */
	if (!long_write(path, "1")) {
		st_failed(t, "hotplug", "CPU %d does not come online again: %s", cpu, strerror(errno));
		return false;
	}
	return counts(t, cpu, "hotplug");
}

static void cycle_all(struct selftest *t, struct hwpmc_rings *rings, struct st_samples *s)
{
	unsigned int failed = t->count[ST_FAILED], cycles = 0, n;
	int cpu[256];

	n = st_cpus(cpu, 256);
	do {
		for (unsigned int i = 0; i < n && !long_stopped(); i++)
			cycles += cpu[i] && cycle(t, cpu[i], rings, s);
	} while (cycles && t->count[ST_FAILED] == failed && long_more(t));
	long_number(t, cycles, "cycles");
	if (!cycles && t->count[ST_FAILED] == failed)
		st_not_tried(t, "hotplug", "none of %u CPUs can go offline", n);
	else if (t->count[ST_FAILED] == failed)
		st_held(t, "hotplug", "a CPU went offline and came back %u times while all CPUs were sampled, and counts again",
			cycles);
}

void long_hotplug(struct selftest *t)
{
	struct st_pmcs p = { .n = 0 };
	struct st_samples s = { .p = &p };
	struct hwpmc_rings *rings;
	int cpu[32];
	unsigned int n = st_cpus(cpu, 32);

	if (hwpmc_rings_open(t->h, 0, 0, &rings) < 0) {
		st_failed(t, "hotplug", "%s", hwpmc_error(t->h));
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		if (!long_add(t, &p, "instructions:uk", cpu[i], 1000003))
			break;
	if (p.n == n && st_batch(t, &p, "hotplug", HWPMC_BATCH_START))
		cycle_all(t, rings, &s);
	else if (p.n < n)
		st_failed(t, "hotplug", "%s", hwpmc_error(t->h));
	st_release(t, &p);
	hwpmc_rings_close(rings);
	hwpmc_configure_log(t->h, -1);
}

/* ---- sleep ------------------------------------------------------------------ */

static bool sleep_by(struct selftest *t, const char *state)
{
	static const char alarm[] = "/sys/class/rtc/rtc0/wakealarm";
	uint64_t before = st_ticks();
	struct timespec then, now;
	char text[32];

	clock_gettime(CLOCK_REALTIME, &then);
	snprintf(text, sizeof(text), "+%d", SLEEP);
	if (!long_write(alarm, "0") || !long_write(alarm, text)) {
		st_not_tried(t, "suspend", "cannot set an alarm that wakes the machine: %s: %s", alarm,
			     strerror(errno));
		return false;
	}
	if (!long_write("/sys/power/state", state)) {
		st_not_tried(t, "suspend", "'%s': %s", state, strerror(errno));
		long_write(alarm, "0");
		return false;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	long_number(t, now.tv_sec - then.tv_sec, "%s.seconds", state);
	long_number(t, (double)st_ticks() - (double)before, "%s.ticks", state);
	return true;
}

/* A PMC counts across it, all CPUs count after it. */
static void suspend_by(struct selftest *t, const char *state)
{
	uint64_t before = 0, after = 0;
	struct st_pmcs p = { .n = 0 };
	int cpu[1024];
	unsigned int n = st_cpus(cpu, 1024), good = 0;

	if (!st_add(t, &p, "instructions:u", 0)) {
		st_failed(t, "suspend", "%s", hwpmc_error(t->h));
		return;
	}
	if (st_batch(t, &p, "suspend", HWPMC_BATCH_START) &&
	    hwpmc_read(t->h, p.entry[0].pmcid, &before) == 0 && sleep_by(t, state)) {
		if (hwpmc_read(t->h, p.entry[0].pmcid, &after) < 0 || after < before ||
		    after - before > 10000000)
			st_failed(t, "suspend", "'%s': a count was %llu before and is %llu after it",
				  state, (unsigned long long)before, (unsigned long long)after);
		while (good < n && counts(t, cpu[good], "suspend"))
			good++;
		if (good == n)
			st_held(t, "suspend", "'%s': each of %u CPUs counts after it", state, n);
	}
	st_release(t, &p);
}

void long_suspend(struct selftest *t)
{
	char line[100];

	if (!long_line("/sys/power/state", line, sizeof(line))) {
		st_not_tried(t, "suspend", "this kernel has no sleep state");
		return;
	}
	if (strstr(line, "freeze"))
		suspend_by(t, "freeze");
	if (strstr(line, "mem") && !long_stopped())
		suspend_by(t, "mem");
}
