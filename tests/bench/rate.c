// SPDX-License-Identifier: BSD-2-Clause
/*
 * rate.c - can 100,000 samples a second be kept up? A child loops and is sampled
 * every PERIOD of its instructions, as `hwpmc record` and `perf record -c` do it:
 * rings of 512 KiB, all limits as they are by default, all records written to a
 * file meanwhile, by the drain thread or by this process. Where time is counted
 * in instructions, sampling and writing take their part of the second, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hwpmc.h>
#include <hwpmc_log.h>

#include "bench.h"
#include "vpmu_guest.h"

/* With what a sample costs this is more often than every 10,000. */
#define PERIOD		6000
#define RING		(512 * 1024)
#define PAGE		4096

static uint64_t ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Three instructions a round. */
static void loop(long samples)
{
	long n = samples * PERIOD / 3;

	asm volatile("1: addq $1, %%rdx; decq %0; jnz 1b"
		     : "+r"(n) : : "rdx", "cc");
}

static pid_t held_child(long samples, int *go)
{
	int p[2];
	pid_t pid;
	char c;

	if (pipe(p))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(p[1]);
		if (read(p[0], &c, 1) != 1)
			_exit(1);
		loop(samples);
		_exit(0);
	}
	close(p[0]);
	*go = p[1];
	return pid;
}

static void let_go(int go)
{
	if (write(go, "g", 1) != 1)
		die("pipe");
	close(go);
}

static int log_file(void)
{
	int fd = memfd_create("log", 0);

	if (fd < 0)
		die("memfd_create");
	return fd;
}

/* ---- hwpmc --------------------------------------------------------------- */

static void count_records(struct run *run, int file)
{
	off_t size = lseek(file, 0, SEEK_END), at;
	const char *log = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
	const struct hwpmc_log_hdr *hdr;

	if (log == MAP_FAILED)
		die("mmap of the log");
	run->out[SAMPLES] = run->out[DECLARED] = 0;
	for (at = 0; at < size; at += hdr->len) {
		const struct hwpmc_log_drop *drop = (const void *)(log + at);

		hdr = &drop->hdr;
		run->out[SAMPLES] += hdr->type == HWPMC_LOG_CALLCHAIN;
		for (uint32_t i = 0; i < HWPMC_DROP_FIXED; i++)
			if (hdr->type == HWPMC_LOG_DROPNOTIFY)
				run->out[DECLARED] += drop->samples[i];
		/* The drops of pauses follow the record. */
		if (hdr->type == HWPMC_LOG_DROPNOTIFY)
			run->out[DECLARED] +=
				((const struct hwpmc_log_drop_pair *)(drop + 1))->samples;
	}
}

static void call(int fd, unsigned long request, void *arg, const char *what)
{
	if (ioctl(fd, request, arg))
		die(what);
}

static void hwpmc_rate(struct run *run)
{
	bool amd = vpmu_reg(VPMU_REG_IS_AMD, 0);
	struct hwpmc_op_configurelog log = {
		.logfd = log_file(), .ring_size = RING,
	};
	struct hwpmc_op_pmcallocate op = {
		.class = amd ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAP, .config = 0xc0,
		.cpu = HWPMC_CPU_ANY, .mode = HWPMC_MODE_TS, .count = PERIOD,
		.caps = HWPMC_CAP_USER, .flags = HWPMC_F_EV_PMU,
	};
	struct hwpmc_op_pmcattach attach = { .pid = 0 };
	struct hwpmc_op_simple flush = { { 0 } };
	struct hwpmc_op_pmc pmc = { .pmcid = 0 };
	int fd = open(HWPMC_DEVICE, O_RDWR), go;
	uint64_t began;

	attach.pid = held_child(run->n, &go);
	/* As it is by default; other cases have no limit. */
	bench_set("/proc/sys/kern/hwpmc/selfcost", "50");
	if (fd < 0)
		die("hwpmc");
	call(fd, HWPMC_IOC_CONFIGURELOG, &log, "CONFIGURELOG");
	call(fd, HWPMC_IOC_PMCALLOCATE, &op, "PMCALLOCATE");
	attach.pmcid = pmc.pmcid = op.pmcid;
	call(fd, HWPMC_IOC_PMCATTACH, &attach, "PMCATTACH");
	call(fd, HWPMC_IOC_PMCSTART, &pmc, "PMCSTART");
	window_begin(run);
	began = ns();
	let_go(go);
	if (waitpid(attach.pid, NULL, 0) != attach.pid)
		die("waitpid");
	call(fd, HWPMC_IOC_FLUSHLOG, &flush, "FLUSHLOG");
	window_end(run);
	run->out[NS] = ns() - began;
	count_records(run, log.logfd);
}

/* ---- perf ---------------------------------------------------------------- */

struct perf_ring {
	struct perf_event_mmap_page *page;
	const char *data;
	char piece[RING];
};

/* What is there, to the file; whole records of it are looked at. */
static void drain(struct perf_ring *r, struct run *run, int file)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail, len = head - tail;
	uint64_t first = RING - tail % RING;
	const struct perf_event_header *e;

	if (first > len)
		first = len;
	memcpy(r->piece, r->data + tail % RING, first);
	memcpy(r->piece + first, r->data, len - first);
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
	if (write(file, r->piece, len) != (ssize_t)len)
		die("write");
	for (uint64_t at = 0; at < len; at += e->size) {
		e = (const void *)(r->piece + at);
		run->out[SAMPLES] += e->type == PERF_RECORD_SAMPLE;
		if (e->type == PERF_RECORD_LOST)
			run->out[DECLARED] += ((const uint64_t *)(e + 1))[1];
	}
}

static void perf_rate(struct run *run)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME,
		.watermark = 1, .wakeup_watermark = RING / 4,
	};
	struct perf_ring *r = malloc(sizeof(*r));
	int file = log_file(), fd, go, status;
	struct pollfd poll_fd = { .events = POLLIN };
	uint64_t began, samples, declared;
	pid_t pid = held_child(run->n, &go);

	/* As they are by default. */
	bench_set("/proc/sys/kernel/perf_cpu_time_max_percent", "25");
	bench_set("/proc/sys/kernel/perf_event_max_sample_rate", "100000");
	fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0);
	if (fd < 0 || !r)
		die("perf_event_open");
	r->page = mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->page == MAP_FAILED)
		die("mmap of perf's ring");
	r->data = (const char *)r->page + PAGE;
	poll_fd.fd = fd;
	run->out[SAMPLES] = run->out[DECLARED] = 0;
	window_begin(run);
	began = ns();
	let_go(go);
	do {
		poll(&poll_fd, 1, -1);
		drain(r, run, file);
	} while (waitpid(pid, &status, WNOHANG) == 0);
	drain(r, run, file);
	samples = run->out[SAMPLES];
	declared = run->out[DECLARED];
	window_end(run);
	run->out[NS] = ns() - began;
	run->out[SAMPLES] = samples;
	run->out[DECLARED] = declared;
}

void op_rate(struct run *run)
{
	if (strcmp(run->tool->name, "hwpmc") == 0)
		hwpmc_rate(run);
	else
		perf_rate(run);
}
