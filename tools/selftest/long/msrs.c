/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msrs.c - registers of the counters on each CPU: before, during, and after counting. They are
 * read by /dev/cpu/N/msr where the kernel has loaded that, and reported; no rule decides on them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "long.h"

#define REGISTERS	40
#define APIC_BASE	0x1b
#define X2APIC		(1 << 10)
#define LVTPC		0x834

struct image {
	unsigned int n, ncpu;
	uint32_t reg[REGISTERS];
	int cpu[1024];
	uint64_t *value;		/* n of each CPU */
	bool *there;
};

static bool read_msr(int fd, uint32_t reg, uint64_t *value)
{
	return pread(fd, value, sizeof(*value), reg) == sizeof(*value);
}

static int open_msrs(int cpu)
{
	char path[40];

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void add(struct image *i, uint32_t reg)
{
	if (i->n < REGISTERS)
		i->reg[i->n++] = reg;
}

static void choose(struct selftest *t, struct image *im)
{
	const struct hwpmc_op_getcpuinfo *info = hwpmc_cpuinfo(t->h);
	static const uint32_t intel[] = { 0x34, 0x1a0, 0x1d9, 0x345, 0x38d, 0x38e, 0x38f, 0x3f1 };
	static const uint32_t amd[] = { 0x1d9, 0xc0000080, 0xc0000300, 0xc0000301 };

	if (strncmp(info->cpuid, "GenuineIntel", 12) == 0) {
		for (unsigned int i = 0; i < sizeof(intel) / sizeof(*intel); i++)
			add(im, intel[i]);
		for (unsigned int i = 0; i < 8; i++)
			add(im, 0x186 + i);
	} else {
		for (unsigned int i = 0; i < sizeof(amd) / sizeof(*amd); i++)
			add(im, amd[i]);
		for (unsigned int i = 0; i < 6; i++)
			add(im, 0xc0010200 + 2 * i);
	}
	add(im, LVTPC);
}

static void look_at_cpu(struct image *im, unsigned int at)
{
	int fd = open_msrs(im->cpu[at]);
	uint64_t base;
	bool x2apic;

	if (fd < 0)
		return;
	x2apic = read_msr(fd, APIC_BASE, &base) && base & X2APIC;
	for (unsigned int i = 0; i < im->n; i++)
		if (im->reg[i] != LVTPC || x2apic)
			im->there[at * im->n + i] = read_msr(fd, im->reg[i],
							     &im->value[at * im->n + i]);
	close(fd);
}

static void look(struct selftest *t, struct image *im)
{
	memset(im, 0, sizeof(*im));
	im->ncpu = st_cpus(im->cpu, 1024);
	choose(t, im);
	im->value = must_calloc(im->n * im->ncpu, sizeof(*im->value));
	im->there = must_calloc(im->n * im->ncpu, sizeof(*im->there));
	for (unsigned int i = 0; i < im->ncpu; i++)
		look_at_cpu(im, i);
}

static void forget(struct image *im)
{
	free(im->value);
	free(im->there);
}

/* Of the first CPU, and of others where it differs from that. */
static void tell(struct selftest *t, const struct image *im, const char *when)
{
	for (unsigned int c = 0; c < im->ncpu; c++)
		for (unsigned int i = 0; i < im->n; i++) {
			unsigned int at = c * im->n + i;

			if (im->there[at] && (!c || im->value[at] != im->value[i]))
				long_hex(t, im->value[at], "%s.msr_0x%x.cpu%d", when, im->reg[i],
					 im->cpu[c]);
		}
}

static void compare(struct selftest *t, const struct image *before, const struct image *after)
{
	unsigned int differ = 0, n = 0;
	char first[100] = "";

	for (unsigned int at = 0; at < before->n * before->ncpu; at++) {
		n += before->there[at];
		if (!before->there[at] || before->value[at] == after->value[at])
			continue;
		if (!differ++)
			snprintf(first, sizeof(first), "; the first is MSR 0x%x of CPU %d, 0x%llx and 0x%llx",
				 before->reg[at % before->n], before->cpu[at / before->n],
				 (unsigned long long)before->value[at],
				 (unsigned long long)after->value[at]);
	}
	long_number(t, n, "read");
	long_number(t, differ, "differ_after");
	st_measured(t, "registers", "%u registers of %u CPUs before and after counting: %u differ%s",
		    n, before->ncpu, differ, first);
}

static void look_during(struct selftest *t, struct image *during)
{
	struct st_pmcs p = { .n = 0 };
	int cpu;

	if (st_cpus(&cpu, 1) == 1)
		while (long_add(t, &p, "instructions:u", cpu, 0))
			;
	if (p.n && st_batch(t, &p, "registers", HWPMC_BATCH_START))
		look(t, during);
	st_release(t, &p);
}

void long_registers(struct selftest *t)
{
	struct image before = { .n = 0 }, during = { .n = 0 }, after = { .n = 0 };
	int cpu = 0, fd;

	st_cpus(&cpu, 1);
	fd = open_msrs(cpu);
	if (fd < 0) {
		st_not_tried(t, "registers", "registers: /dev/cpu/%d/msr: %s; modprobe msr, as root",
			     cpu, strerror(errno));
		return;
	}
	close(fd);
	look(t, &before);
	look_during(t, &during);
	look(t, &after);
	tell(t, &before, "rest");
	tell(t, &during, "during");
	tell(t, &after, "after");
	if (before.ncpu == after.ncpu)
		compare(t, &before, &after);
	forget(&before);
	forget(&during);
	forget(&after);
}
