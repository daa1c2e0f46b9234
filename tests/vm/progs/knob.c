// SPDX-License-Identifier: BSD-2-Clause
/*
 * knob.c [-c CPU] KNOB VALUE COMMAND ARG... - what goes wrong on purpose in the emulated PMU,
 * on all CPUs or on one, while the command runs; vpmu_guest.h has the knobs. steal: the host
 * takes these counters each few milliseconds; migrate: the machine loses its registers several
 * times a second. The exit status is the command's.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vpmu_guest.h"

static const char *const names[VPMU_KNOBS] = {
	[VPMU_KNOB_LATE] = "late", [VPMU_KNOB_LOST] = "lost",
	[VPMU_KNOB_DOUBLE] = "double", [VPMU_KNOB_STORM] = "storm",
	[VPMU_KNOB_REFUSE] = "refuse", [VPMU_KNOB_REFUSE_ACK] = "refuse-ack",
	[VPMU_KNOB_QUEUE] = "queue", [VPMU_KNOB_LVTMASK] = "lvtmask",
	[VPMU_KNOB_SHORT] = "short", [VPMU_KNOB_FILTER] = "filter",
	[VPMU_KNOB_FROZEN] = "frozen", [VPMU_KNOB_NO_RDPMC] = "no-rdpmc",
	[VPMU_KNOB_NARROW] = "narrow", [VPMU_KNOB_MORE] = "more",
	[VPMU_KNOB_FORGET] = "forget",
	[VPMU_KNOB_LESS] = "less", [VPMU_KNOB_STUCK] = "stuck",
	[VPMU_KNOB_EMULATED] = "emulated", [VPMU_KNOB_AT_ONCE] = "at-once",
	[VPMU_KNOB_ALIAS] = "alias", [VPMU_KNOB_MODES] = "modes", [VPMU_KNOB_NO_USER_RDPMC] = "no-user-rdpmc",
	[VPMU_KNOB_ENTRY] = "entry", [VPMU_KNOB_OPEN_LATE] = "open-late",
	[VPMU_KNOB_RESERVED] = "reserved", [VPMU_KNOB_REWRITE] = "rewrite",
	[VPMU_KNOB_IBS_LATE] = "ibs-late", [VPMU_KNOB_IBS_STUCK] = "ibs-stuck",
	[VPMU_KNOB_IBS_FETCH_KEEP] = "ibs-fetch-keep",
	[VPMU_KNOB_IBS_RIP_INVALID] = "ibs-rip-invalid",
	[VPMU_KNOB_IBS_FETCH_ZERO] = "ibs-fetch-zero", [VPMU_KNOB_IBS_DATA2] = "ibs-data2",
};

/* What happens again and again meanwhile; the numbers follow those of knobs. */
enum { STEAL = VPMU_KNOBS, MIGRATE, WHATS };

static const struct {
	const char *name;
	int ms;			/* between two times */
} again[] = { { "steal", 5 }, { "migrate", 200 } };

static void turn_on(int cpu, int knob, unsigned long long value)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
	if (knob == STEAL)
		vpmu_query(VPMU_STEAL, 0, value);
	else if (knob == MIGRATE)
		vpmu_query(VPMU_MIGRATED, 0, 0);
	else
		vpmu_knob(knob, value);
}

/* only: this CPU; -1: all. */
static void turn(int only, int knob, unsigned long long value)
{
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		if (only < 0 || cpu == only)
			turn_on(cpu, knob, value);
}

/* Returns its status, or -1. */
static int wait_for(pid_t pid, int only, int knob, unsigned long long value)
{
	int status;

	if (knob < VPMU_KNOBS)
		return waitpid(pid, &status, 0) == pid ? status : -1;
	for (;;) {
		pid_t ended = waitpid(pid, &status, WNOHANG);

		if (ended)
			return ended == pid ? status : -1;
		turn(only, knob, value);
		usleep(again[knob - VPMU_KNOBS].ms * 1000);
	}
}

static int run(char **argv, int only, int knob, unsigned long long value)
{
	cpu_set_t all;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		memset(&all, 0xff, sizeof(all));
		sched_setaffinity(0, sizeof(all), &all);
		execv(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	status = pid < 0 ? -1 : wait_for(pid, only, knob, value);
	return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

static int find(const char *name)
{
	int knob = 0;

	while (knob < VPMU_KNOBS && (!names[knob] || strcmp(names[knob], name)))
		knob++;
	while (knob >= VPMU_KNOBS && knob < WHATS && strcmp(again[knob - VPMU_KNOBS].name, name))
		knob++;
	return knob;
}

static int usage(void)
{
	fputs("usage: knob [-c CPU] KNOB VALUE COMMAND ARG...\nknobs:", stderr);
	for (int i = 0; i < VPMU_KNOBS; i++)
		if (names[i])
			fprintf(stderr, " %s", names[i]);
	for (int i = VPMU_KNOBS; i < WHATS; i++)
		fprintf(stderr, " %s", again[i - VPMU_KNOBS].name);
	fputs("\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	unsigned long long value;
	int knob, status, cpu = -1;

	if (argc > 3 && strcmp(argv[1], "-c") == 0) {
		cpu = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc < 4)
		return usage();
	knob = find(argv[1]);
	if (knob == WHATS)
		return usage();
	value = strtoull(argv[2], NULL, 0);
	turn(cpu, knob, value);
	status = run(argv + 3, cpu, knob, value);
	if (knob < VPMU_KNOBS)
		turn(cpu, knob, 0);
	return status;
}
