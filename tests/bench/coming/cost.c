// SPDX-License-Identifier: BSD-2-Clause
/*
 * cost.c - cost COMMAND...: the instructions, user and kernel, of the machine from the start of a
 * command to its end, by the emulated PMU. The command's output goes to standard error.
 */
#include <err.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vpmu_guest.h"

static uint64_t all(void)
{
	return vpmu_all(VPMU_USER_INSN) + vpmu_all(VPMU_KERNEL_INSN);
}

int main(int argc, char *argv[])
{
	uint64_t before = all();
	pid_t child = fork();
	int status;

	if (argc < 2 || child < 0)
		errx(2, "usage: cost COMMAND...");
	if (child == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execv(argv[1], argv + 1);
		err(127, "%s", argv[1]);
	}
	if (waitpid(child, &status, 0) < 0 || status)
		errx(1, "%s: status %#x", argv[1], status);
	printf("%lu\n", (unsigned long)(all() - before));
	return 0;
}
