// SPDX-License-Identifier: BSD-2-Clause
/* kmod_ibs_log.c - see kmod_ibs_log.h. */
#define _GNU_SOURCE
#include <cpuid.h>

#include "harness.h"
#include "kmod_ibs_log.h"

uint64_t seen[VPMU_IBS_ITEMS], oracle[VPMU_IBS_ITEMS];
uint64_t inexact;
uint32_t fetch_row;
uint64_t plain_rows, plain;
static uint64_t before[VPMU_IBS_ITEMS];
static bool marked, has_words;		/* by the PRECISE record before */

bool has(uint32_t cap)
{
	unsigned int a, b, c, d;

	__cpuid(0x8000001b, a, b, c, d);
	return a & cap;
}

static void add_word(const struct hwpmc_record *r, unsigned int n, int item)
{
	uint64_t value;

	if (hwpmc_precise_word(r->precise, n, &value))
		seen[item] += value;
}

static void look_at_words(const struct hwpmc_record *r)
{
	uint64_t data3 = 0;

	marked = r->precise->present & HWPMC_PRECISE_EXACT;
	has_words = true;
	if (r->hdr->flags == HWPMC_PRECISE_IBS_FETCH) {
		add_word(r, HWPMC_IBS_FETCH_PHYSADDR, VPMU_IBS_FETCH_PHYS);
		return;
	}
	ck_assert(r->hdr->flags == HWPMC_PRECISE_IBS_OP);
	add_word(r, HWPMC_IBS_OP_DATA, VPMU_IBS_OP_DATA);
	add_word(r, HWPMC_IBS_OP_DATA2, VPMU_IBS_OP_DATA2);
	add_word(r, HWPMC_IBS_OP_DATA3, VPMU_IBS_OP_DATA3);
	add_word(r, HWPMC_IBS_OP_DC_LINADDR, VPMU_IBS_OP_LIN);
	add_word(r, HWPMC_IBS_OP_DC_PHYSADDR, VPMU_IBS_OP_PHYS);
	add_word(r, HWPMC_IBS_OP_BRTARGET, VPMU_IBS_OP_TARGET);
	if (hwpmc_precise_word(r->precise, HWPMC_IBS_OP_DATA3, &data3)) {
		seen[VPMU_IBS_OP_LOAD] += data3 & 1;
		seen[VPMU_IBS_OP_STORE] += data3 >> 1 & 1;
	}
}

static void look_at_sample(const struct hwpmc_record *r)
{
	bool fetch = HWPMC_ID_ROW(r->hdr->id) == fetch_row;
	uint64_t pc = r->sample->pc[0];

	if (plain_rows & BIT(HWPMC_ID_ROW(r->hdr->id))) {
		plain++;
		return;
	}
	if (has_words && !marked)
		inexact++;
	else if (fetch)
		seen[VPMU_IBS_FETCH_LIN] += pc;
	else
		seen[VPMU_IBS_OP_RIP] += pc;
	seen[fetch ? VPMU_IBS_FETCH : VPMU_IBS_OP]++;
	seen[fetch ? VPMU_IBS_FETCH_USER : VPMU_IBS_OP_USER] += !(pc >> 63);
	has_words = false;
}

void look(const struct hwpmc_record *r)
{
	if (r->hdr->type == HWPMC_LOG_PRECISE)
		look_at_words(r);
	else if (r->hdr->type == HWPMC_LOG_CALLCHAIN)
		look_at_sample(r);
}

int allocate_ibs(struct session *s, uint32_t ev, uint32_t cpu, uint32_t flags,
			uint64_t config, uint32_t mode_caps, uint64_t period, uint32_t *id)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_IBS, .ev = ev, .cpu = cpu, .caps = mode_caps,
		.mode = cpu == ANY ? HWPMC_MODE_TS : HWPMC_MODE_SS, .config = config,
		.flags = flags | (config ? HWPMC_F_EV_PMU : 0), .count = period,
	};
	int rc = hwpmc_allocate_raw(s->h, &op);

	*id = op.pmcid;
	return rc;
}

void begin_ibs(struct session *s)
{
	memset(seen, 0, sizeof(seen));
	inexact = 0;
	fetch_row = 0;
	plain_rows = 0;
	plain = 0;
	has_words = false;
	begin_looking(s, FAST, 4 << 20, look);
}

void note_oracle(void)
{
	for (int i = 0; i < VPMU_IBS_ITEMS; i++) {
		uint64_t n = 0;

		for (int cpu = 0; cpu < dev_cpus(); cpu++)
			n += vpmu_ibs(i, cpu);
		oracle[i] = n - before[i];
		before[i] = n;
	}
}

/* ---- work: loads, stores, calls, branches, system calls ----------------------- */

static volatile uint64_t words[4096];

static uint64_t __attribute__((noinline)) leaf(uint64_t i)
{
	return i & 1 ? words[i % 4096] : i * 3;
}

void work(void *rounds)
{
	for (long r = 0; r < (long)rounds; r++) {
		for (int i = 0; i < 2000; i++)
			words[i] = leaf(i * 7) + r;
		getppid();
		sched_yield();
	}
}

void work_on_each_cpu(long rounds)
{
	struct child c[CPUS];

	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		c[cpu] = dev_child(work, (void *)rounds);
		dev_pin(c[cpu].pid, cpu);
		dev_go(&c[cpu]);
	}
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		dev_wait(&c[cpu]);
}

/* ---- the law ------------------------------------------------------------------ */

static const int of_ops[] = {
	VPMU_IBS_OP_RIP, VPMU_IBS_OP_DATA, VPMU_IBS_OP_DATA3, VPMU_IBS_OP_LIN, VPMU_IBS_OP_PHYS,
	VPMU_IBS_OP_TARGET, VPMU_IBS_OP_LOAD, VPMU_IBS_OP_STORE, VPMU_IBS_OP_USER,
};

void check_number(const struct session *s, uint64_t samples, uint64_t of)
{
	uint64_t all = samples + all_drops(s), late = s->t.dropped[HWPMC_DROP_LATE];

	ck_assert_msg(of <= all && of >= all - late, "%llu samples, %llu drops, %llu late: %llu",
		      (unsigned long long)samples, (unsigned long long)(all - samples),
		      (unsigned long long)late, (unsigned long long)of);
}

void check_ops(struct session *s, uint64_t filtered)
{
	uint64_t late = s->t.dropped[HWPMC_DROP_LATE], full = s->t.dropped[HWPMC_DROP_FULL];

	printf("# %llu ops, %llu in user mode, %llu late, %llu full, %llu filtered; oracle %llu, %llu\n",
	       (unsigned long long)seen[VPMU_IBS_OP], (unsigned long long)seen[VPMU_IBS_OP_USER],
	       (unsigned long long)late, (unsigned long long)full,
	       (unsigned long long)s->t.dropped[HWPMC_DROP_FILTERED],
	       (unsigned long long)oracle[VPMU_IBS_OP],
	       (unsigned long long)oracle[VPMU_IBS_OP_USER]);
	fflush(stdout);
	check_number(s, seen[VPMU_IBS_OP], oracle[VPMU_IBS_OP]);
	ck_assert_uint_eq(s->t.dropped[HWPMC_DROP_FILTERED], filtered);
	ck_assert_uint_eq(all_drops(s), filtered + late + full);
	ck_assert_uint_gt(seen[VPMU_IBS_OP], 100);
	ck_assert_uint_lt(late * 20, oracle[VPMU_IBS_OP]);
}

void check_sums(const struct session *s)
{
	if (s->t.dropped[HWPMC_DROP_LATE] + s->t.dropped[HWPMC_DROP_FULL])
		return;
	for (unsigned int i = 0; i < sizeof(of_ops) / sizeof(of_ops[0]); i++)
		ck_assert_msg(seen[of_ops[i]] == oracle[of_ops[i]], "item %d: %#llx for %#llx",
			      of_ops[i], (unsigned long long)seen[of_ops[i]],
			      (unsigned long long)oracle[of_ops[i]]);
}

void end_ibs(struct session *s)
{
	note_oracle();
	finish(s);
	ck_assert_uint_eq(dev_unknown_nmis(), 0);
}

void set_knob(int knob, uint64_t value)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_pin(0, cpu);
		vpmu_knob(knob, value);
	}
	dev_unpin(0);
}

void ibs_setup(void)
{
	/* perf's handler runs at each NMI, and takes long here. */
	dev_put("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	ck_assert(!system("[ -e /dev/cpu/0/msr ] || modprobe -d \"$VM_KERNEL\" msr"));
}
