// SPDX-License-Identifier: BSD-2-Clause
/*
 * sample.c - what a sample costs: a loop that is sampled every PERIOD of its own
 * instructions, user mode alone, into a mapped ring that holds all of it. As
 * `hwpmc record` and `perf record -c` do, without their readers.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hwpmc.h>
#include <hwpmc_log.h>

#include "bench.h"
#include "vpmu_guest.h"

/* Rarely enough for perf, which takes no more than 100,000 samples a second. */
#define PERIOD		20000
#define RING		(1 << 20)
#define PAGE		4096

/* Three instructions a round; frames for the chains. */
__attribute__((noinline, optimize("no-omit-frame-pointer")))
static void leaf(long samples)
{
	long n = samples * PERIOD / 3;

	asm volatile("1: addq $1, %%rdx; decq %0; jnz 1b"
		     : "+r"(n) : : "rdx", "cc");
}

__attribute__((noinline, optimize("no-omit-frame-pointer")))
static void middle(long samples)
{
	leaf(samples);
	asm volatile("");
}

static void hwpmc_sample(struct run *run, struct hwpmc_op_pmcallocate op)
{
	struct hwpmc_op_configurelog log = {
		.logfd = -1, .flags = HWPMC_LOG_F_MAPPED, .ring_size = RING,
		.wakeup = RING,
	};
	struct hwpmc_log_ring *ring;
	struct hwpmc_op_pmc pmc;
	int fd = open(HWPMC_DEVICE, O_RDWR);
	uint64_t head;

	/* No limits here: rate.c has them. */
	bench_set("/proc/sys/kern/hwpmc/selfcost", "0");
	if (fd < 0 || ioctl(fd, HWPMC_IOC_CONFIGURELOG, &log) ||
	    ioctl(fd, HWPMC_IOC_PMCALLOCATE, &op))
		die("hwpmc");
	ring = mmap(NULL, HWPMC_LOG_MAP_SIZE(RING, PAGE), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		die("mmap");
	pmc = (struct hwpmc_op_pmc){ .pmcid = op.pmcid };
	if (ioctl(fd, HWPMC_IOC_PMCSTART, &pmc))
		die("PMCSTART");
	head = ring->head;
	window_begin(run);
	middle(run->n);
	window_end(run);
	run->out[BYTES] = ring->head - head;
}

static void hwpmc_instructions(struct run *run, uint32_t flags)
{
	bool amd = vpmu_reg(VPMU_REG_IS_AMD, 0);

	hwpmc_sample(run, (struct hwpmc_op_pmcallocate){
		.class = amd ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAP, .config = 0xc0,
		.cpu = HWPMC_CPU_ANY, .mode = HWPMC_MODE_TS, .count = PERIOD,
		.caps = HWPMC_CAP_USER, .flags = HWPMC_F_EV_PMU | flags,
	});
}

static void hwpmc_ibs(struct run *run, uint32_t flags)
{
	hwpmc_sample(run, (struct hwpmc_op_pmcallocate){
		.class = HWPMC_CLASS_IBS, .ev = HWPMC_EV_IBS_OP, .cpu = HWPMC_CPU_ANY,
		.mode = HWPMC_MODE_TS, .count = PERIOD, .flags = flags,
	});
}

static void perf_event_sample(struct run *run, struct perf_event_attr attr, pid_t pid, int cpu)
{
	struct perf_event_mmap_page *page;
	uint64_t head;
	int fd;

	bench_set("/proc/sys/kernel/perf_event_max_sample_rate", "100000");
	bench_set("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	attr.size = sizeof(attr);
	attr.sample_period = PERIOD;
	attr.watermark = 1;
	attr.wakeup_watermark = RING;
	fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0);
	if (fd < 0)
		die("perf_event_open");
	page = mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		die("mmap of perf's ring");
	head = page->data_head;
	window_begin(run);
	middle(run->n);
	window_end(run);
	run->out[BYTES] = page->data_head - head;
}

#define PERF_SAMPLE_PLAIN	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static void perf_sample(struct run *run, uint64_t type)
{
	perf_event_sample(run, (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1, .sample_type = PERF_SAMPLE_PLAIN | type,
	}, 0, -1);
}

/* perf samples ops of a whole CPU, with all registers in raw samples. */
static void perf_ibs(struct run *run, uint64_t sample_type)
{
	FILE *f = fopen("/sys/bus/event_source/devices/ibs_op/type", "r");
	unsigned int type;

	if (!f || fscanf(f, "%u", &type) != 1)
		die("ibs_op");
	fclose(f);
	perf_event_sample(run, (struct perf_event_attr){
		.type = type, .config = 1 << 19, .sample_type = PERF_SAMPLE_PLAIN | sample_type,
	}, -1, 0);
}

/* The ticks of the clock, which are in the others too. */
static void no_sample(struct run *run)
{
	window_begin(run);
	middle(run->n);
	window_end(run);
}

/*
 * What is left when there is nothing to do: as many interrupts of the counters, with
 * no overflow behind them, that hwpmc's handler only acknowledges. It is the kernel's
 * way to the handlers and back, and no sample can cost less. On AMD nothing tells such an
 * interrupt from another's NMI: it is left to the kernel, which complains, and not measured.
 */
void op_bare_nmi(struct run *run)
{
	bool amd = vpmu_reg(VPMU_REG_IS_AMD, 0);
	struct hwpmc_op_pmcallocate op = {
		.class = amd ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAP, .config = 0xc0,
		.cpu = HWPMC_CPU_ANY, .mode = HWPMC_MODE_TS, .count = PERIOD,
		.caps = HWPMC_CAP_USER, .flags = HWPMC_F_EV_PMU,
	};
	int fd;

	if (strcmp(run->tool->name, "hwpmc") || amd) {
		no_sample(run);
		return;
	}
	/* Has the counters and the handler, and does not run. */
	fd = open(HWPMC_DEVICE, O_RDWR);
	if (fd < 0 || ioctl(fd, HWPMC_IOC_PMCALLOCATE, &op))
		die("PMCALLOCATE");
	window_begin(run);
	vpmu_knob(VPMU_KNOB_STORM_PMI, 1);
	vpmu_knob(VPMU_KNOB_STORM_LEFT, run->n);
	vpmu_knob(VPMU_KNOB_STORM, PERIOD);
	middle(run->n + 1);
	vpmu_knob(VPMU_KNOB_STORM, 0);
	window_end(run);
}

void op_sample(struct run *run)
{
	if (strcmp(run->tool->name, "hwpmc") == 0)
		hwpmc_instructions(run, 0);
	else if (strcmp(run->tool->name, "perf") == 0)
		perf_sample(run, 0);
	else
		no_sample(run);
}

void op_sample_chain(struct run *run)
{
	if (strcmp(run->tool->name, "hwpmc") == 0)
		hwpmc_instructions(run, HWPMC_F_CALLCHAIN);
	else if (strcmp(run->tool->name, "perf") == 0)
		perf_sample(run, PERF_SAMPLE_CALLCHAIN);
	else
		no_sample(run);
}

void op_ibs(struct run *run)
{
	if (strcmp(run->tool->name, "hwpmc") == 0)
		hwpmc_ibs(run, HWPMC_F_EXACT);
	else if (strcmp(run->tool->name, "perf") == 0)
		perf_ibs(run, 0);
	else
		no_sample(run);
}

void op_ibs_full(struct run *run)
{
	if (strcmp(run->tool->name, "hwpmc") == 0)
		hwpmc_ibs(run, HWPMC_F_EXACT | HWPMC_F_MEMORY | HWPMC_F_BRANCHES);
	else if (strcmp(run->tool->name, "perf") == 0)
		perf_ibs(run, PERF_SAMPLE_RAW);
	else
		no_sample(run);
}
