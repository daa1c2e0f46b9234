// SPDX-License-Identifier: BSD-2-Clause
/*
 * knob.c KNOB VALUE COMMAND ARG... - what goes wrong on purpose in the emulated PMU, on all
 * CPUs, while the command runs: late, lost, double, storm, refuse, refuse-ack, queue, lvtmask,
 * short, filter, frozen, no-rdpmc, narrow, more, forget (vpmu_guest.h). The exit status is the command's.
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
};

static void turn(int knob, unsigned long long value)
{
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			perror("sched_setaffinity");
		vpmu_knob(knob, value);
	}
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

int main(int argc, char **argv)
{
	int knob = 0, status;

	while (argc > 3 && knob < VPMU_KNOBS && (!names[knob] || strcmp(names[knob], argv[1])))
		knob++;
	if (argc < 4 || knob == VPMU_KNOBS) {
		fprintf(stderr, "usage: knob late|lost|double|storm|refuse|refuse-ack|queue|lvtmask|short|\n"
			"            filter|frozen|no-rdpmc|narrow|more|forget VALUE COMMAND ARG...\n");
		return 2;
	}
	turn(knob, strtoull(argv[2], NULL, 0));
	status = run(argv + 3);
	turn(knob, 0);
	return status;
}
