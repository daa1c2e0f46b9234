/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_machine.h - the machine of programs that test the library with the module under it: they
 * use what <libhwpmc.h> has, and no helper of the module's tests.
 */
#ifndef HWPMC_TESTS_LIB_MACHINE_H
#define HWPMC_TESTS_LIB_MACHINE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

/* Sampling is not slowed down where the emulator makes NMIs long. */
#define LIB_NO_SELFCOST	"echo 0 >/proc/sys/kern/hwpmc/selfcost"
#define LIB_NO_WATCHDOG	"sysctl -q kernel.nmi_watchdog=0"

/* Loads the module unless the program before has, and runs a command of the shell ("true"). */
static inline void lib_load_module(const char *then)
{
	char command[256];

	snprintf(command, sizeof(command), "{ [ -e /dev/hwpmc ] || "
		 "insmod build/kmod/$(uname -r)/hwpmc.ko; } && %s", then);
	if (system(command)) {
		fprintf(stderr, "# cannot load the module\n");
		exit(1);
	}
}

/* Returns a child that sleeps until lib_end_process(). */
static inline pid_t lib_sleeper(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	ck_assert_int_gt(pid, 0);
	return pid;
}

static inline void lib_end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#endif /* HWPMC_TESTS_LIB_MACHINE_H */
