// SPDX-License-Identifier: BSD-2-Clause
/*
 * knob.c [-c CPU] KNOB VALUE COMMAND ARG... - what goes wrong on purpose in the emulated PMU,
 * on all CPUs or on one, while the command runs; vpmu_guest.h has the knobs. The exit status
 * is the command's.
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
};

static void turn_on(int cpu, int knob, unsigned long long value)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
	vpmu_knob(knob, value);
}

/* only: this CPU; -1: all. */
static void turn(int only, int knob, unsigned long long value)
{
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		if (only < 0 || cpu == only)
			turn_on(cpu, knob, value);
}

static int run(char **argv)
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
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 126;
	return WEXITSTATUS(status);
}

static int find(const char *name)
{
	int knob = 0;

	while (knob < VPMU_KNOBS && (!names[knob] || strcmp(names[knob], name)))
		knob++;
	return knob;
}

static int usage(void)
{
	fputs("usage: knob [-c CPU] KNOB VALUE COMMAND ARG...\nknobs:", stderr);
	for (int i = 0; i < VPMU_KNOBS; i++)
		if (names[i])
			fprintf(stderr, " %s", names[i]);
	fputs("\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	int knob, status, cpu = -1;

	if (argc > 3 && strcmp(argv[1], "-c") == 0) {
		cpu = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc < 4)
		return usage();
	knob = find(argv[1]);
	if (knob == VPMU_KNOBS)
		return usage();
	turn(cpu, knob, strtoull(argv[2], NULL, 0));
	status = run(argv + 3);
	turn(cpu, knob, 0);
	return status;
}
