// SPDX-License-Identifier: BSD-2-Clause
/*
 * ibsmod.c - samples by AMD's instruction-based sampling on all CPUs, through the entry of the
 * APIC that the kernel has set up for perf's driver, and adds up what the registers have: the
 * emulated PMU's own sums are compared with these (tests/vm/tests/vpmu_ibs.c).
 *
 * `op` and `fetch` are what the control registers get; a write of 1 to `run` clears the sums and
 * starts, of 0 stops as erratum 420 of family 10h demands, of 2 by a single write of 0, of 3
 * clears once more what has stopped. `sums` and `records` have what was seen; a write of a period
 * to `due` executes known code with it, and `due` then has what was sampled.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/io.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>

#include "vpmu_guest.h"

/* The kernel has renamed its constant of this type of message. */
#define EILVT_NMI	4

#define OP_EN		(1ULL << 17)
#define OP_VAL		(1ULL << 18)
#define OP_MAX		0xffffULL
#define OP_MAX_EXT	(0x7fULL << 20)
#define OP_RANDOM	(0x7fULL << 32)
#define FETCH_EN	(1ULL << 48)
#define FETCH_VAL	(1ULL << 49)
#define FETCH_MAX	0xffffULL
#define NO_RIP		(1ULL << 38)
#define CAP_TARGET	(1 << 5)
#define CAP_EXT		(1 << 6)

/* The handler is wrong on purpose: takes the interrupt's address, or its mode. */
enum { FAULT_NONE, FAULT_RIP, FAULT_MODE };

static ulong op, fetch;
static uint fault;
module_param(op, ulong, 0644);
module_param(fetch, ulong, 0644);
module_param(fault, uint, 0644);

/* Behind the emulated PMU's own items: NMIs without a sample, samples that the interrupt's address
 * is not that of, bits of the count that were set after an overflow, NMIs while it has stopped. */
enum { IDLE = VPMU_IBS_ITEMS, SKIDDED, RANDOM, STOPPED, ITEMS };

#define RECORDS	3000

struct record {
	u64 rip, data, data2, data3, lin, phys, target;
};

struct sampler {
	u64 sum[ITEMS];
	u64 op, fetch;		/* what it is armed with; 0: it has stopped */
	unsigned int n;
	struct record *record;
};

static DEFINE_PER_CPU(struct sampler, sampler);

/* The kernel's own functions have other names from Linux 6.16 on. */
static u64 rd(u32 msr)
{
	u32 low, high;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr) : "memory");
	return low | (u64)high << 32;
}

static void wr(u32 msr, u64 x)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((u32)x), "d"((u32)(x >> 32)) : "memory");
}

static void keep(struct sampler *s, const struct record *r)
{
	if (s->n < RECORDS)
		s->record[s->n++] = *r;
}

static void read_record(struct record *r)
{
	*r = (struct record){
		.rip = rd(MSR_AMD64_IBSOPRIP), .data = rd(MSR_AMD64_IBSOPDATA),
		.data2 = rd(MSR_AMD64_IBSOPDATA2), .data3 = rd(MSR_AMD64_IBSOPDATA3),
		.lin = rd(MSR_AMD64_IBSDCLINAD), .phys = rd(MSR_AMD64_IBSDCPHYSAD),
	};
	if (get_ibs_caps() & CAP_TARGET)
		r->target = rd(MSR_AMD64_IBSBRTARGET);
}

static void add_op(struct sampler *s, struct record *r, struct pt_regs *regs)
{
	bool invalid = r->data & NO_RIP, user = !(r->rip >> 63);

	s->sum[SKIDDED] += r->rip != regs->ip;
	if (fault == FAULT_RIP)
		r->rip = regs->ip;
	if (fault == FAULT_MODE)
		user = user_mode(regs);
	s->sum[VPMU_IBS_OP]++;
	s->sum[VPMU_IBS_OP_INVALID] += invalid;
	s->sum[VPMU_IBS_OP_USER] += user && !invalid;
	s->sum[VPMU_IBS_OP_RIP] += r->rip;
	s->sum[VPMU_IBS_OP_LOAD] += r->data3 & 1;
	s->sum[VPMU_IBS_OP_STORE] += r->data3 >> 1 & 1;
	s->sum[VPMU_IBS_OP_BRANCH] += r->data >> 37 & 1;
	s->sum[VPMU_IBS_OP_DATA] += r->data;
	s->sum[VPMU_IBS_OP_DATA2] += r->data2;
	s->sum[VPMU_IBS_OP_DATA3] += r->data3;
	s->sum[VPMU_IBS_OP_LIN] += r->lin;
	s->sum[VPMU_IBS_OP_PHYS] += r->phys;
	s->sum[VPMU_IBS_OP_TARGET] += r->target;
	keep(s, r);
}

static bool take_op(struct sampler *s, struct pt_regs *regs)
{
	u64 ctl = rd(MSR_AMD64_IBSOPCTL);
	struct record r;

	if (!(ctl & OP_VAL))
		return false;
	if (!s->op) {
		s->sum[STOPPED]++;
		wr(MSR_AMD64_IBSOPCTL, 0);
		return true;
	}
	s->sum[RANDOM] |= ctl & OP_RANDOM;
	read_record(&r);
	add_op(s, &r, regs);
	wr(MSR_AMD64_IBSOPCTL, s->op | (ctl & OP_RANDOM));
	return true;
}

static bool take_fetch(struct sampler *s)
{
	u64 ctl = rd(MSR_AMD64_IBSFETCHCTL), lin;

	if (!(ctl & FETCH_VAL))
		return false;
	if (!s->fetch) {
		s->sum[STOPPED]++;
		wr(MSR_AMD64_IBSFETCHCTL, 0);
		return true;
	}
	lin = rd(MSR_AMD64_IBSFETCHLINAD);
	s->sum[VPMU_IBS_FETCH]++;
	s->sum[VPMU_IBS_FETCH_USER] += lin && !(lin >> 63);
	s->sum[VPMU_IBS_FETCH_LIN] += lin;
	s->sum[VPMU_IBS_FETCH_PHYS] += rd(MSR_AMD64_IBSFETCHPHYSAD);
	/* Families 16h to 18h count on without the first write. */
	wr(MSR_AMD64_IBSFETCHCTL, s->fetch & ~FETCH_EN);
	wr(MSR_AMD64_IBSFETCHCTL, s->fetch);
	return true;
}

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	struct sampler *s = this_cpu_ptr(&sampler);
	bool taken = take_op(s, regs);

	taken = take_fetch(s) || taken;
	s->sum[IDLE] += !taken;
	/* One that comes late has no sample, and nobody else would own up to it. */
	return NMI_HANDLED;
}

static void arm(void *arg)
{
	struct sampler *s = this_cpu_ptr(&sampler);

	memset(s->sum, 0, sizeof(s->sum));
	s->n = 0;
	s->op = op ? op | OP_EN : 0;
	s->fetch = fetch ? fetch | FETCH_EN : 0;
	if (s->op)
		wr(MSR_AMD64_IBSOPCTL, s->op);
	if (s->fetch)
		wr(MSR_AMD64_IBSFETCHCTL, s->fetch);
}

static void disarm(void *plain)
{
	struct sampler *s = this_cpu_ptr(&sampler);

	if (s->op && !plain)
		wr(MSR_AMD64_IBSOPCTL, s->op & ~(OP_MAX | OP_MAX_EXT));
	if (s->op)
		wr(MSR_AMD64_IBSOPCTL, 0);
	if (s->fetch && !plain)
		wr(MSR_AMD64_IBSFETCHCTL, s->fetch & ~FETCH_MAX);
	if (s->fetch)
		wr(MSR_AMD64_IBSFETCHCTL, 0);
	s->op = s->fetch = 0;
}

static void cure(void *arg)
{
	wr(MSR_AMD64_IBSOPCTL, OP_EN);
	wr(MSR_AMD64_IBSOPCTL, 0);
}

static int set_run(const char *text, const struct kernel_param *kp)
{
	unsigned int what;
	int ret = kstrtouint(text, 0, &what);

	if (ret)
		return ret;
	if (what == 1)
		on_each_cpu(arm, NULL, 1);
	else if (what == 3)
		on_each_cpu(cure, NULL, 1);
	else
		on_each_cpu(disarm, what == 2 ? &fault : NULL, 1);
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);

/* A line for each CPU. */
static int get_sums(char *buf, const struct kernel_param *kp)
{
	int cpu, i, n = 0;

	for_each_online_cpu(cpu)
		for (i = 0; i < ITEMS; i++)
			n += scnprintf(buf + n, PAGE_SIZE - n, "%llx%c",
				       per_cpu(sampler, cpu).sum[i], i + 1 < ITEMS ? ' ' : '\n');
	return n;
}

static const struct kernel_param_ops sums_ops = { .get = get_sums };
module_param_cb(sums, &sums_ops, NULL, 0444);

/* As many as a page has room for, from the one whose number was written on, of CPU 0. */
static unsigned int from;

static int set_records(const char *text, const struct kernel_param *kp)
{
	return kstrtouint(text, 0, &from);
}

static int get_records(char *buf, const struct kernel_param *kp)
{
	struct sampler *s = per_cpu_ptr(&sampler, 0);
	int n = 0;

	for (; from < s->n && n < PAGE_SIZE - 160; from++) {
		struct record *r = &s->record[from];

		n += scnprintf(buf + n, PAGE_SIZE - n, "%llx %llx %llx %llx %llx %llx %llx\n",
			       r->rip, r->data, r->data2, r->data3, r->lin, r->phys, r->target);
	}
	return n;
}

static const struct kernel_param_ops records_ops = { .set = set_records, .get = get_records };
module_param_cb(records, &records_ops, NULL, 0644);

/* ---- the op that is due ------------------------------------------------------ */

static u64 place;		/* what the known code loads and stores */
static u64 began;		/* address of its first instruction */

/*
 * After WRMSR 300 times NOP, a load and a store, which are 1, 3 and 3 bytes long, then 300
 * branches of 2 bytes to the next instruction.
 */
static noinline void known_code(u64 ctl)
{
	asm volatile("lea 1f(%%rip), %%rsi\n"
		     "mov %%rsi, (%[began])\n"
		     "wrmsr\n"
		     "1: .rept 300\n"
		     "nop\n"
		     ".byte 0x48, 0x8b, 0x37\n"		/* mov (%rdi), %rsi */
		     ".byte 0x48, 0x89, 0x37\n"		/* mov %rsi, (%rdi) */
		     ".endr\n"
		     ".rept 300\n"
		     ".byte 0xeb, 0x00\n"		/* jmp */
		     ".endr\n"
		     : : "c"(MSR_AMD64_IBSOPCTL), "a"((u32)ctl), "d"((u32)(ctl >> 32)),
		       "D"(&place), [began] "r"(&began) : "rsi", "memory");
}

static int set_due(const char *text, const struct kernel_param *kp)
{
	struct sampler *s;
	unsigned long flags, period;
	int ret = kstrtoul(text, 0, &period);

	if (ret)
		return ret;
	local_irq_save(flags);
	s = this_cpu_ptr(&sampler);
	s->n = 0;
	/* Re-armed with a period that does not end. */
	s->op = OP_EN | OP_MAX | (get_ibs_caps() & CAP_EXT ? OP_MAX_EXT : 0);
	known_code(period >> 4 | 1 << 19 | OP_EN);
	disarm(NULL);
	local_irq_restore(flags);
	return 0;
}

/* Distance of the sampled op, its words, and whether the addresses are those that they should be. */
static int get_due(char *buf, const struct kernel_param *kp)
{
	struct sampler *s = per_cpu_ptr(&sampler, 0);
	struct record *r = s->record;

	if (s->n != 1)
		return scnprintf(buf, PAGE_SIZE, "%u samples\n", s->n);
	return scnprintf(buf, PAGE_SIZE, "%lld %llx %llx %d %d %lld\n", r->rip - began, r->data,
			 r->data3, r->lin == (u64)&place,
			 r->phys == page_to_phys(vmalloc_to_page(&place)) + offset_in_page(&place),
			 r->target ? r->target - began : 0);
}

static const struct kernel_param_ops due_ops = { .set = set_due, .get = get_due };
module_param_cb(due, &due_ops, NULL, 0644);

static void mask_entry(void *masked)
{
	setup_APIC_eilvt(rd(MSR_AMD64_IBSCTL) & 0xf, 0, EILVT_NMI, !!masked);
}

static int set_masked(const char *text, const struct kernel_param *kp)
{
	bool masked;
	int ret = kstrtobool(text, &masked);

	if (!ret)
		on_each_cpu(mask_entry, masked ? &fault : NULL, 1);
	return ret;
}

static const struct kernel_param_ops masked_ops = { .set = set_masked };
module_param_cb(masked, &masked_ops, NULL, 0200);

static void free_records(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kvfree(per_cpu(sampler, cpu).record);
}

static int __init ibsmod_init(void)
{
	int cpu;

	if (!get_ibs_caps())
		return -ENODEV;
	for_each_possible_cpu(cpu) {
		per_cpu(sampler, cpu).record = kvcalloc(RECORDS, sizeof(struct record), GFP_KERNEL);
		if (!per_cpu(sampler, cpu).record) {
			free_records();
			return -ENOMEM;
		}
	}
	return register_nmi_handler(NMI_LOCAL, on_nmi, 0, "ibsmod");
}

static void __exit ibsmod_exit(void)
{
	on_each_cpu(disarm, NULL, 1);
	unregister_nmi_handler(NMI_LOCAL, "ibsmod");
	free_records();
}

module_init(ibsmod_init);
module_exit(ibsmod_exit);
MODULE_DESCRIPTION("Samples by instruction-based sampling and adds up what it sees");
MODULE_LICENSE("Dual BSD/GPL");
