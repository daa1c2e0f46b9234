// SPDX-License-Identifier: BSD-2-Clause
/*
 * vtruth - run a command and leave, in a file, what a perfect counter attached
 * to this process from its exec to the last exit of its descendants counts in
 * user mode: the emulated PMU's own totals. Run it as the command of a tool
 * that counts; the tool must have counted exactly this.
 *
 *	vtruth -o FILE command args...		be measured
 *	vtruth -r FILE				print the totals that FILE has
 *
 * Its own totals come from its address space, those of the command from all
 * other spaces since a mark: so nothing else may run in user mode meanwhile.
 * That is waited for before the mark; the tool has to sleep until the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vpmu_guest.h"

/* Instructions up to the first read, and after the last; see edges.S. */
#define INSN_BEFORE	4
#define INSN_AFTER	15
#define BRANCH_AFTER	1

struct result {
	uint64_t insn, branch;		/* of all */
	uint64_t others_insn, others_branch;
	uint32_t complete, status;	/* status: the command's exit status */
};

extern uint64_t vtruth_first[2];
_Noreturn void vtruth_end(struct result *result, uint64_t insn_offset,
			  uint64_t branch_offset);

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "vtruth: %s: %s\n", what, strerror(errno));
	exit(126);
}

static struct result *map_result(const char *path, int flags)
{
	int fd = path ? open(path, flags, 0644) : -1;
	struct result *r;

	if (path && fd < 0)
		die(path);
	if (path && flags & O_CREAT && ftruncate(fd, sizeof(*r)))
		die(path);
	r = mmap(NULL, sizeof(*r), PROT_READ | (flags & O_CREAT ? PROT_WRITE : 0),
		 path ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	if (r == MAP_FAILED)
		die(path ? path : "mmap");
	return r;
}

static int print_result(const char *path)
{
	const struct result *r = map_result(path, O_RDONLY);

	if (!r->complete) {
		fprintf(stderr, "vtruth: %s: not complete\n", path);
		return 1;
	}
	printf("instructions:u %" PRIu64 "\nbranches:u %" PRIu64 "\n"
	       "others-instructions:u %" PRIu64 "\nstatus %u\n", r->insn,
	       r->branch, r->others_insn, r->status);
	return 0;
}

/* Until nothing else has run in user mode for 20 ms; ends with the mark. */
static void wait_for_quiet(void)
{
	struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };

	for (int i = 0; i < 500; i++) {
		vpmu_mark();
		nanosleep(&pause, NULL);
		if (!vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_INSN))
			return;
	}
	fprintf(stderr, "vtruth: something else keeps running\n");
	exit(126);
}

static uint32_t run(char **argv)
{
	int status, result = 0;
	pid_t pid, p;

	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		execvp(argv[0], argv);
		die(argv[0]);
	}
	/* All descendants: orphans come to this process (subreaper). */
	while ((p = wait(&status)) > 0)
		if (p == pid)
			result = WIFEXITED(status) ? WEXITSTATUS(status) :
						     128 + WTERMSIG(status);
	return result;
}

int main(int argc, char **argv)
{
	const char *path = NULL;
	struct result *r;
	int opt;

	while ((opt = getopt(argc, argv, "+o:r:")) != -1) {
		if (opt == 'r')
			return print_result(optarg);
		if (opt != 'o')
			return 126;
		path = optarg;
	}
	if (optind == argc) {
		fprintf(stderr, "usage: vtruth [-o FILE] command args...\n");
		return 126;
	}
	if (!vpmu_present()) {
		fprintf(stderr, "vtruth: there is no emulated PMU here\n");
		return 126;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	r = map_result(path, O_RDWR | O_CREAT);
	memset(r, 0, sizeof(*r));
	wait_for_quiet();
	r->status = run(argv + optind);
	vtruth_end(r, INSN_BEFORE - vtruth_first[0] + INSN_AFTER,
		   BRANCH_AFTER - vtruth_first[1]);
}
