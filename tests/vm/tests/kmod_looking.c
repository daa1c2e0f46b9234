// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_looking.c - operations that only look take nothing from others; and what a user who
 * claims the counters again and again costs others.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "harness.h"
#include "kmod_dev.h"

#define OPENS	4000
#define CLAIMS	100

/* An event of perf that needs the counters: a descriptor, or -1 with errno. */
static int perf_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static uint32_t state(int fd)
{
	struct hwpmc_op_getcpuinfo op = {};

	ck_assert(!ioctl(fd, HWPMC_IOC_GETCPUINFO, &op));
	return op.pmu_state;
}

/* ---- looking ------------------------------------------------------------- */

/* All that tells of the module and the machine and changes nothing. */
static void look(int fd, struct hwpmc_pmcinfo *infos)
{
	struct hwpmc_op_getcpuinfo cpuinfo = {};
	struct hwpmc_op_getpmcinfo pmcinfo = {
		.npmc = HWPMC_ROW_MAX, .pmcs = (uintptr_t)infos,
	};
	struct hwpmc_op_getkinds kinds = {};
	struct hwpmc_op_getdriverstats stats = {};
	struct hwpmc_op_getmoduleversion version = { .version = HWPMC_API_VERSION };

	ck_assert(!ioctl(fd, HWPMC_IOC_GETCPUINFO, &cpuinfo));
	ck_assert(!ioctl(fd, HWPMC_IOC_GETPMCINFO, &pmcinfo));
	ck_assert(!ioctl(fd, HWPMC_IOC_GETKINDS, &kinds));
	ck_assert(!ioctl(fd, HWPMC_IOC_GETDRIVERSTATS, &stats));
	ck_assert(!ioctl(fd, HWPMC_IOC_GETMODULEVERSION, &version));
}

static void look_for_ever(int go)
{
	struct hwpmc_pmcinfo *infos = calloc(HWPMC_ROW_MAX, sizeof(*infos));
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dev_become(NOBODY);
	fd = dev_open();
	look(fd, infos);
	ck_assert_int_eq(write(go, "x", 1), 1);
	for (;;)
		look(fd, infos);
}

START_TEST(who_looks_in_a_loop_takes_the_counters_from_nobody)
{
	unsigned int refused = 0;
	int go[2], fd;
	pid_t pid;
	char c;

	ck_assert(!pipe(go));
	pid = fork();
	if (!pid)
		look_for_ever(go[1]);
	ck_assert_int_eq(read(go[0], &c, 1), 1);
	for (int i = 0; i < OPENS; i++) {
		fd = perf_open();
		refused += fd < 0;
		close(fd);
	}
	ck_assert(!kill(pid, SIGKILL));
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_eq(refused, 0);
	dev_still_counts();
}
END_TEST

START_TEST(who_has_the_counters_is_known_without_taking_them)
{
	int fd = dev_open(), perf[2];
	uint32_t id;

	ck_assert_uint_eq(state(fd), HWPMC_PMU_IDLE);
	perf[0] = perf_open();
	ck_assert_int_ge(perf[0], 0);
	ck_assert_uint_eq(state(fd), HWPMC_PMU_HELD);
	perf[1] = perf_open();
	close(perf[0]);
	ck_assert_uint_eq(state(fd), HWPMC_PMU_HELD);
	close(perf[1]);
	ck_assert_uint_eq(state(fd), HWPMC_PMU_IDLE);
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	ck_assert_uint_eq(state(fd), HWPMC_PMU_CLAIMED);
	/* An attempt of perf's that fails leaves nothing. */
	ck_assert_int_lt(perf_open(), 0);
	dev_ok(dev_release(fd, id));
	ck_assert_uint_eq(state(fd), HWPMC_PMU_IDLE);
	close(fd);
}
END_TEST

START_TEST(who_had_the_counters_before_the_module_came_is_known)
{
	struct hwpmc_op_pmcallocate op;
	int perf, fd;

	ck_assert_int_eq(system("rmmod hwpmc"), 0);
	perf = perf_open();
	ck_assert_int_ge(perf, 0);
	dev_setup();
	fd = dev_open();
	ck_assert_uint_eq(state(fd), HWPMC_PMU_HELD);
	dev_request(&op, TC, 0, ANY, INSN, U);
	ck_assert_int_eq(dev_allocate(fd, &op), EBUSY);
	ck_assert_uint_eq(state(fd), HWPMC_PMU_HELD);
	close(perf);
	ck_assert_uint_eq(state(fd), HWPMC_PMU_IDLE);
	close(fd);
	dev_still_counts();
}
END_TEST

/* ---- claims -------------------------------------------------------------- */

/* How often the stopper threads of all CPUs have run. */
static unsigned long stops(void)
{
	DIR *proc = opendir("/proc");
	unsigned long sum = 0, n;
	char path[300], line[256];
	struct dirent *e;
	FILE *f;

	ck_assert_ptr_nonnull(proc);
	while ((e = readdir(proc))) {
		bool stopper = false;

		snprintf(path, sizeof(path), "/proc/%s/status", e->d_name);
		f = atoi(e->d_name) ? fopen(path, "r") : NULL;
		while (f && fgets(line, sizeof(line), f)) {
			stopper |= !strncmp(line, "Name:\tmigration/", 16);
			if (stopper && sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1)
				sum += n;
		}
		if (f)
			fclose(f);
	}
	closedir(proc);
	return sum;
}

static void claim(void)
{
	int fd = dev_open();

	dev_alloc(fd, TC, 0, ANY, INSN, U);
	close(fd);
}

static void claim_again_and_again(void *unused)
{
	for (int i = 0; i < CLAIMS; i++)
		claim();
}

START_TEST(claims_in_a_loop_stop_the_machine_once_where_all_may_rdpmc)
{
	unsigned long before, after;
	int perf;

	dev_put("/sys/bus/event_source/devices/cpu/rdpmc", "2");
	claim();
	before = stops();
	dev_as(NOBODY, claim_again_and_again, NULL);
	after = stops();
	fprintf(stderr, "%lu runs of stoppers during %d claims\n", after - before, CLAIMS);
	ck_assert_uint_lt(after - before, CLAIMS / 4);
	/* perf has counted since: each CPU has to leave its memory. */
	perf = perf_open();
	ck_assert_int_ge(perf, 0);
	close(perf);
	before = stops();
	claim();
	ck_assert_uint_ge(stops() - before, dev_cpus());
	dev_put("/sys/bus/event_source/devices/cpu/rdpmc", "1");
	dev_still_counts();
}
END_TEST

/* A claim interrupts each CPU, and its end too. */
#define BURST		100
#define INTERVAL_MS	10

static void claim_beyond_the_burst(void *unused)
{
	struct timespec t;
	uint64_t began, ms;

	clock_gettime(CLOCK_MONOTONIC, &t);
	began = t.tv_sec * 1000ull + t.tv_nsec / 1000000;
	for (int i = 0; i < 3 * BURST; i++)
		claim();
	clock_gettime(CLOCK_MONOTONIC, &t);
	ms = t.tv_sec * 1000ull + t.tv_nsec / 1000000 - began;
	/* The last one is not paid for yet; a tick of the kernel's is ten milliseconds at most. */
	ck_assert_uint_ge(ms, (2 * BURST - 2) * INTERVAL_MS);
}

/* Neither root nor another user waits for the one who is ahead. */
static void claim_few(void *unused)
{
	for (int i = 0; i < 2; i++)
		claim();
}

START_TEST(claims_in_a_loop_wait_without_privilege)
{
	dev_as(NOBODY, claim_beyond_the_burst, NULL);
	dev_as(NOBODY - 1, claim_few, NULL);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(who_looks_in_a_loop_takes_the_counters_from_nobody);
	harness_add(who_has_the_counters_is_known_without_taking_them);
	harness_add(claims_in_a_loop_stop_the_machine_once_where_all_may_rdpmc);
	harness_add(claims_in_a_loop_wait_without_privilege);
	harness_add(who_had_the_counters_before_the_module_came_is_known);
	return harness_run();
}
