// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls.c COMMAND ARG... - runs a command that reads its PMCs by BATCH again and again,
 * and prints the most system calls from one of 10 such reads to the next, as
 * "stat_interval_calls<TAB>n"; then ends it. The first intervals do not count: the
 * command prints its headings there.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hwpmc.h>

#define SKIP		4
#define INTERVALS	10

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			die("PTRACE_TRACEME");
		raise(SIGSTOP);
		execv(argv[0], argv);
		die(argv[0]);
	}
	if (waitpid(pid, NULL, 0) != pid ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		die("PTRACE_SETOPTIONS");
	return pid;
}

/* Until it enters its next system call. */
static void next_call(pid_t pid, struct user_regs_struct *regs)
{
	struct __ptrace_syscall_info info = { 0 };
	int status, sig = 0;

	do {
		if (ptrace(PTRACE_SYSCALL, pid, 0, sig) ||
		    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			die("the command ended");
		sig = WSTOPSIG(status) == (SIGTRAP | 0x80) ||
		      WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
			die("PTRACE_GET_SYSCALL_INFO");
	} while (info.op != PTRACE_SYSCALL_INFO_ENTRY);
	if (ptrace(PTRACE_GETREGS, pid, 0, regs))
		die("PTRACE_GETREGS");
}

int main(int argc, char **argv)
{
	unsigned int reads = 0, calls = 0, most = 0;
	struct user_regs_struct regs;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = start(argv + 1);
	while (reads < SKIP + INTERVALS + 1) {
		next_call(pid, &regs);
		calls++;
		if (regs.orig_rax != SYS_ioctl || regs.rsi != HWPMC_IOC_BATCH)
			continue;
		if (++reads > SKIP + 1 && calls > most)
			most = calls;
		calls = 0;
	}
	kill(pid, SIGKILL);
	printf("stat_interval_calls\t%u\n", most);
	return 0;
}
