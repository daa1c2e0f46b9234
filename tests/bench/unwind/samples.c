// SPDX-License-Identifier: BSD-2-Clause
/*
 * samples.c - what the samples of a program cost with call chains: runs a command in a
 * machine of its own and samples it in user mode into a ring that holds all of it, which
 * no process reads meanwhile.
 *
 * usage: samples TOOL PERIOD COMMAND [ARGUMENT...]
 *   TOOL: none, plain (hwpmc, no chains), tables, fp; perf, perf-fp, perf-dwarf
 * Prints: samples, frames, kernel instructions of all, bytes of samples, complete chains.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "vpmu_guest.h"

#define RING		(16 << 20)
#define PAGE		4096
/* perf's registers of x86-64, without the segments that it has not. */
#define ALL_REGS	0xff0fff

struct totals {
	uint64_t samples, frames, bytes, complete;
};

_Noreturn static void die(const char *what)
{
	fprintf(stderr, "samples: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the command --------------------------------------------------------- */

static int go[2];

/* Waits for a byte before it executes the command. */
static pid_t prepare(char *argv[])
{
	pid_t pid;
	char byte;

	if (pipe(go))
		die("pipe");
	pid = fork();
	if (pid)
		return pid;
	if (read(go[0], &byte, 1) != 1 || !freopen("/dev/null", "w", stdout))
		_exit(126);
	execvp(argv[0], argv);
	_exit(127);
}

/* Kernel instructions of all until it ends. */
static uint64_t run(pid_t pid)
{
	uint64_t before = vpmu_all(VPMU_KERNEL_INSN);
	int status;

	if (write(go[1], "", 1) != 1 || waitpid(pid, &status, 0) != pid || status)
		die("the command");
	return vpmu_all(VPMU_KERNEL_INSN) - before;
}

/* ---- hwpmc --------------------------------------------------------------- */

static int add_sample(unsigned int cpu, const void *data, size_t len, void *arg)
{
	const char *at = data, *end = at + len;
	struct totals *t = arg;

	for (; at < end; at += ((const struct hwpmc_log_hdr *)at)->len) {
		const struct hwpmc_log_sample *s = (const void *)at;

		if (s->hdr.type != HWPMC_LOG_CALLCHAIN)
			continue;
		t->samples++;
		t->bytes += s->hdr.len;
		t->frames += (s->hdr.len - sizeof(*s)) / 8;
		if (s->hdr.flags & HWPMC_SAMPLE_ENDS)
			t->frames--;
		else
			t->complete++;
	}
	return 0;
}

static void add_table(struct hwpmc *h, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct hwpmc_unwind u;

	if (fd < 0 || hwpmc_unwind_read(fd, &u))
		die(path);
	if (hwpmc_unwind_add(h, &u))
		die(hwpmc_error(h));
	hwpmc_unwind_free(&u);
	close(fd);
}

/* Of the command and the libraries that the loader lists. */
static void add_tables(struct hwpmc *h, const char *path)
{
	struct hwpmc_unwind u;
	char line[4096], *at, *end;
	FILE *f;

	add_table(h, path);
	if (hwpmc_unwind_read_vdso(&u) || hwpmc_unwind_add(h, &u))
		die("the vdso's table");
	snprintf(line, sizeof(line), "/lib64/ld-linux-x86-64.so.2 --list '%s'", path);
	f = popen(line, "r");
	while (f && fgets(line, sizeof(line), f)) {
		at = strchr(line, '/');
		end = at ? strstr(at, " (0x") : NULL;
		if (!end)
			continue;
		*end = '\0';
		add_table(h, at);
	}
	if (!f || pclose(f))
		die("the loader's list");
}

static uint64_t sample_hwpmc(const char *tool, long period, char *argv[], struct totals *t)
{
	uint32_t flags = HWPMC_F_EXEC_START | HWPMC_F_DESCENDANTS, id;
	struct hwpmc_rings *rings;
	struct hwpmc_event event;
	struct hwpmc *h;
	uint64_t cost;
	pid_t pid;

	if (strcmp(tool, "plain"))
		flags |= HWPMC_F_CALLCHAIN;
	if (hwpmc_open(&h) || hwpmc_rings_open(h, RING, RING, &rings))
		die(hwpmc_error(NULL));
	if (!strcmp(tool, "tables")) {
		flags |= HWPMC_F_TABLES;
		add_tables(h, argv[0]);
	}
	pid = prepare(argv);
	if (hwpmc_event_parse(h, "instructions:u", &event) ||
	    hwpmc_allocate_event(h, &event, HWPMC_MODE_TS, flags, HWPMC_CPU_ANY, period,
				 &id) ||
	    hwpmc_attach(h, id, pid) || hwpmc_start(h, id))
		die(hwpmc_error(h));
	cost = run(pid);
	hwpmc_flush_log(h);
	hwpmc_rings_read(rings, add_sample, t, NULL);
	hwpmc_close(h);
	return cost;
}

/* ---- perf ---------------------------------------------------------------- */

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || (write(fd, value, strlen(value)) < 0 && errno != EINVAL))
		die(path);
	close(fd);
}

static void count_perf(const char *ring, uint64_t head, struct totals *t)
{
	for (uint64_t at = 0; at < head;) {
		const struct perf_event_header *h = (const void *)(ring + at);

		if (!h->size)
			die("a record of perf");
		if (h->type == PERF_RECORD_SAMPLE) {
			t->samples++;
			t->bytes += h->size;
		}
		at += h->size;
	}
}

static uint64_t sample_perf(const char *tool, long period, char *argv[], struct totals *t)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1,
		.sample_period = period, .disabled = 1, .enable_on_exec = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.watermark = 1, .wakeup_watermark = RING,
	};
	struct perf_event_mmap_page *page;
	pid_t pid = prepare(argv);
	uint64_t cost;
	int fd;

	if (!strcmp(tool, "perf-fp"))
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (!strcmp(tool, "perf-dwarf")) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = ALL_REGS;
		attr.sample_stack_user = 8192;
	}
	set("/proc/sys/kernel/perf_event_max_sample_rate", "100000");
	set("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0);
	if (fd < 0)
		die("perf_event_open");
	page = mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		die("mmap of perf's ring");
	cost = run(pid);
	count_perf((const char *)page + PAGE, page->data_head, t);
	return cost;
}

int main(int argc, char *argv[])
{
	struct totals t = {};
	uint64_t cost;
	long period;

	if (argc < 4)
		return 2;
	period = atol(argv[2]);
	if (!strcmp(argv[1], "none"))
		cost = run(prepare(argv + 3));
	else if (!strncmp(argv[1], "perf", 4))
		cost = sample_perf(argv[1], period, argv + 3, &t);
	else
		cost = sample_hwpmc(argv[1], period, argv + 3, &t);
	printf("%lu\t%lu\t%lu\t%lu\t%lu\n", (long)t.samples, (long)t.frames, (long)cost,
	       (long)t.bytes, (long)t.complete);
	return 0;
}
