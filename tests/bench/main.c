// SPDX-License-Identifier: BSD-2-Clause
/*
 * main.c - runs in a deterministic VM with one CPU and the emulated PMU: does each
 * operation N and 3N times under each tool, takes the emulated PMU's own totals
 * and prints a line `case<TAB>tool<TAB>columns of one operation`. The rest is
 * tests/bench/table's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "vpmu_guest.h"

#define REPEATS	3

static const struct {
	const char *name;
	operation *op;
	long n;
	int npmc;
	const char *tools;	/* n: none, h: hwpmc, p: perf */
} cases[] = {
	{ "getppid", op_getppid, 2000, 0, "n" },
	{ "empty_ioctl", op_empty_call, 2000, 1, "h" },
	{ "version_ioctl", op_version_call, 2000, 1, "h" },
	{ "read", op_read, 2000, 1, "hp" },
	{ "read4", op_read, 2000, 4, "hp" },
	{ "read_mapped", op_read_mapped, 2000, 1, "hp" },
	{ "start_stop", op_start_stop, 1000, 1, "hp" },
	{ "start_stop4", op_start_stop, 500, 4, "hp" },
	{ "switch1", op_switch, 1000, 1, "nhp" },
	{ "switch4", op_switch, 1000, 4, "nhp" },
	{ "switch_inherited4", op_switch_inherited, 1000, 4, "nhp" },
	{ "switch_bystander", op_switch_bystander, 1000, 4, "nhp" },
	{ "switch_bystander_fresh", op_switch_bystander_fresh, 1000, 4, "nhp" },
	{ "fork4", op_fork, 100, 4, "nhp" },
	{ "attach1", op_attach, 100, 1, "hp" },
	{ "attach4", op_attach, 100, 4, "hp" },
	{ "attach_calls4", op_attach_calls, 100, 4, "hp" },
	{ "detach4", op_detach, 100, 4, "hp" },
	{ "bare_nmi", op_bare_nmi, 400, 1, "nh" },
	{ "sample", op_sample, 400, 1, "nhp" },
	{ "sample_chain", op_sample_chain, 400, 1, "nhp" },
	{ "ibs_sample", op_ibs, 400, 1, "nhp" },
	{ "ibs_full_sample", op_ibs_full, 400, 1, "nhp" },
	{ "rate", op_rate, 10000, 1, "hp" },
};

static void none_count(struct counters *c, int n, const pid_t *tids, int ntids,
		       bool inherit)
{
}

const struct tool tool_none = { .name = "none", .count = none_count };

void die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* perf refuses to have its rate set again once its share of time has none. */
void bench_set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || (write(fd, value, strlen(value)) < 0 && errno != EINVAL))
		die(path);
	close(fd);
}

/* ---- the window ---------------------------------------------------------- */

static int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	if (!dir)
		die("/proc/self/fd");
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void take(uint64_t *at)
{
	at[WRMSR] = vpmu_access(VPMU_N_WRMSR, VPMU_ALL_VCPUS);
	at[RDMSR] = vpmu_access(VPMU_N_RDMSR, VPMU_ALL_VCPUS);
	at[RDPMC] = vpmu_access(VPMU_N_RDPMC, VPMU_ALL_VCPUS);
	at[SPACES] = vpmu_access(VPMU_N_CR3, VPMU_ALL_VCPUS);
	at[USER] = vpmu_all(VPMU_USER_INSN);
	at[KERNEL] = vpmu_all(VPMU_KERNEL_INSN);
}

void window_begin(struct run *run)
{
	run->at[DESCRIPTORS] = open_descriptors();
	take(run->at);
}

void window_end(struct run *run)
{
	uint64_t now[COLUMNS];

	take(now);
	now[DESCRIPTORS] = open_descriptors();
	for (int i = BYTES; i < COLUMNS; i++)
		now[i] = run->at[i];
	for (int i = 0; i < COLUMNS; i++)
		run->out[i] = now[i] - run->at[i];
}

/* ---- runs ---------------------------------------------------------------- */

/* An operation in a process of its own; its children end with it. */
static void run_once(operation *op, const struct tool *tool, int npmc, long n,
		     uint64_t *out)
{
	struct run run = { .tool = tool, .npmc = npmc, .n = n, .out = out };
	int status;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		op(&run);
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "bench: status %#x under %s\n", status,
			tool->name);
		exit(1);
	}
	/*
	 * What it left is not the next one's: orphans, RCU, and perf's hook in
	 * the context switch, which stays for a second.
	 */
	while (wait(NULL) > 0)
		;
	usleep(SETTLED);
}

/* The least disturbed of some repeats: ticks and allocators only ever add. */
static void run_best(int i, const struct tool *tool, long n, uint64_t *shared,
		     uint64_t *best)
{
	for (int r = 0; r < REPEATS; r++) {
		run_once(cases[i].op, tool, cases[i].npmc, n, shared);
		if (r == 0 || shared[KERNEL] < best[KERNEL])
			memcpy(best, shared, COLUMNS * sizeof(*best));
	}
}

/* Of one operation: the difference of 3N and N. */
static void measure(int i, const struct tool *tool, uint64_t *shared)
{
	uint64_t few[COLUMNS], many[COLUMNS];

	run_best(i, tool, cases[i].n, shared, few);
	run_best(i, tool, 3 * cases[i].n, shared, many);
	printf("%s\t%s", cases[i].name, tool->name);
	for (int c = 0; c < COLUMNS; c++)
		printf("\t%.3f", (double)(int64_t)(many[c] - few[c]) /
				 (2 * cases[i].n));
	/* Not per operation: all that 3N of them hold open. */
	printf("\t%lld\n", (long long)many[DESCRIPTORS]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct tool *const tools[] = {
		&tool_none, &tool_hwpmc, &tool_perf,
	};
	uint64_t *shared;

	if (!vpmu_present()) {
		fprintf(stderr, "bench: there is no emulated PMU here\n");
		return 1;
	}
	shared = mmap(NULL, COLUMNS * sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc > 1 ? !strstr(cases[i].name, argv[1]) :
			       !strncmp(cases[i].name, "ibs_", 4))
			continue;
		for (size_t t = 0; t < 3; t++)
			if (strchr(cases[i].tools, tools[t]->name[0]))
				measure(i, tools[t], shared);
	}
	return 0;
}
