// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * amd.c - class K8, AMD's core counters: the legacy four, the extended six, and those
 * of PerfMonV2 with its global control. Contexts as in backend.h.
 */
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <asm/cpufeature.h>

#include "../compat/cpuid.h"
#include "../compat/msr.h"
#include "amd_encode.h"
#include "amd_side_regs.h"
#include "amd_guests.h"
#include "amd_regs.h"
#include "classes.h"
#include "missing.h"
#include "width.h"
#include "x86_held.h"
#include "x86_mediated.h"
#include "x86_pmi.h"
#include "x86_reserve.h"

static struct hwpmc_amd_pmu pmu;
static struct hwpmc_x86_bank bank;

/*
 * Global control as it was on each CPU before the claim. Kernels whose perf does not
 * know PerfMonV2 (5.10) never write it and rely on its reset value, all counters
 * enabled: left at 0, perf would count nothing after the module.
 */
static DEFINE_PER_CPU(u64, global_found);
static DEFINE_PER_CPU(bool, global_ours);

static void read_amd_leaf(u32 *eax, u32 *ebx)
{
	u32 ecx, edx;

	*eax = 0;
	*ebx = 0;
	if (cpuid_eax(0x80000000) >= AMD_CPUID_PERFMON)
		cpuid(AMD_CPUID_PERFMON, eax, ebx, &ecx, &edx);
}

static int amd_describe(struct hwpmc_class *cls)
{
	const char *why = NULL;
	u32 eax, ebx;
	int err;

	read_amd_leaf(&eax, &ebx);
	err = hwpmc_amd_describe(&pmu, boot_cpu_data.x86,
				 boot_cpu_has(X86_FEATURE_PERFCTR_CORE),
				 eax, ebx, &why);
	if (err != -EINVAL)
		return err;
	pr_info("performance counters not used: %s (CPUID 0x80000022: %08x %08x)\n",
		why, eax, ebx);
	return hwpmc_refuse(&cls->refusal, err, HWPMC_WHY_PMU_UNKNOWN, eax & 0xff);
}

static void describe_amd_bank(void)
{
	if (pmu.version)
		bank = (struct hwpmc_x86_bank){
			.sel = AMD_CTL(0), .sel_step = 2,
			.ctr = AMD_CTR(0), .ctr_step = 2,
		};
	else
		bank = (struct hwpmc_x86_bank){
			.sel = AMD_LEGACY_CTL(0), .sel_step = 1,
			.ctr = AMD_LEGACY_CTR(0), .ctr_step = 1,
		};
	bank.num = pmu.num;
	bank.sel_runs = AMD_CTL_EN;
}

static int amd_probe(struct hwpmc_class *cls)
{
	int err;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_AMD &&
	    boot_cpu_data.x86_vendor != X86_VENDOR_HYGON)
		return -ENODEV;
	err = amd_describe(cls);
	if (err == -ENODEV)
		return hwpmc_missing(cls, HWPMC_WHY_NO_PMU, HWPMC_WHY_PMU_GUEST);
	if (err)
		return err;
	describe_amd_bank();
	/* Every AMD CPU has counters; a virtual one may have none. */
	hwpmc_x86_held_init();
	if (!hwpmc_x86_works(&bank)) {
		hwpmc_x86_held_exit();
		return hwpmc_missing(cls, HWPMC_WHY_PMU_BROKEN, HWPMC_WHY_PMU_GUEST);
	}
	cls->name = "K8";
	cls->id = HWPMC_CLASS_K8;
	cls->caps = HWPMC_CAPS_SELECT;
	cls->width = AMD_WIDTH;
	cls->max_period = BIT_ULL(AMD_WIDTH - 1) - 1;
	hwpmc_pmi_class(cls);
	cls->num = pmu.num;
	cls->rdpmc_base = 0;
	cls->pmu_version = pmu.version;
	cls->priv = &pmu;
	pmu.guests = hwpmc_amd_guests_init(&bank);
	hwpmc_x86_mediated_init();
	return 0;
}

static void amd_exit(struct hwpmc_class *cls)
{
	hwpmc_x86_mediated_exit();
	hwpmc_amd_guests_exit();
	hwpmc_x86_held_exit();
}

/* Others that had the counters at load may have released them. */
static int amd_encode(const struct hwpmc_class *cls, const struct hwpmc_request *req,
		      struct hwpmc_encoding *enc)
{
	if (unlikely(hwpmc_amd_guests_untried))
		pmu.guests = hwpmc_amd_guests_init(&bank);
	return hwpmc_amd_encode(cls, req, enc);
}

static int amd_claim(struct hwpmc_class *cls, struct hwpmc_hdr *hdr)
{
	int ret = hwpmc_x86_claim(&bank, hdr);

	if (ret || likely(!hwpmc_amd_guests_untried))
		return ret;
	/* They were released after the select was made, which lacks the bit of the host. */
	hwpmc_x86_release(cls);
	return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_PMU_RESERVED, hwpmc_x86_sel(&bank, 0));
}

/* After a suspend global control is taken again without having been given back: save
 * it only once. */
static void take_global_irqoff(u64 rows)
{
	u64 found = 0;

	if (!__this_cpu_read(global_ours)) {
		hwpmc_rdmsr_safe(AMD_GLOBAL_CTL, &found);
		__this_cpu_write(global_found, found);
		__this_cpu_write(global_ours, true);
	}
	hwpmc_x86_wrmsr_nmi(AMD_GLOBAL_CTL, rows);
}

static void give_global_back_irqoff(void)
{
	if (!__this_cpu_read(global_ours))
		return;
	__this_cpu_write(global_ours, false);
	hwpmc_x86_wrmsr_nmi(AMD_GLOBAL_CTL, __this_cpu_read(global_found));
}

/*
 * Even counters that are joined with the next one here. Only a PMC of such an event has
 * both (pmc/allocate.c); what is left of it afterwards ends with the next program of either.
 */
static DEFINE_PER_CPU(u64, joined);

/*
 * Two joined counters are one of 64 bits, and interrupt where that overflows: the odd one has
 * the upper bits. They are all 1 where the even one is armed, so that its overflow carries
 * through them, and 0 where it counts up from a small number.
 */
static u64 upper_bits_nmi(u64 value)
{
	return value & BIT_ULL(AMD_WIDTH - 1) ? AMD_UPPER_BITS : 0;
}

/* The even one is armed before it is programmed, so while it was single. */
static void join_irqoff(unsigned int ri)
{
	hwpmc_x86_wrmsr_nmi(hwpmc_x86_ctr(&bank, ri + 1), upper_bits_nmi(hwpmc_rdpmc(ri)));
	hwpmc_x86_wrmsr_nmi(hwpmc_x86_sel(&bank, ri + 1), AMD_CTL_MERGE);
	this_cpu_or(joined, BIT_ULL(ri));
}

static void part_nmi(unsigned int ri)
{
	this_cpu_and(joined, ~BIT_ULL(ri));
	hwpmc_x86_wrmsr_nmi(hwpmc_x86_sel(&bank, ri + 1), 0);
	/* The core has not programmed it, and takes it for 0 where programs may RDPMC. */
	hwpmc_x86_wrmsr_nmi(hwpmc_x86_ctr(&bank, ri + 1), 0);
}

static bool is_joined_nmi(unsigned int ri)
{
	return unlikely(this_cpu_read(joined)) && this_cpu_read(joined) & BIT_ULL(ri);
}

static void amd_reset_irqoff(struct hwpmc_class *cls, bool on)
{
	u64 own = GENMASK_ULL(cls->num - 1, 0);
	unsigned int ri;

	this_cpu_write(joined, 0);
	hwpmc_amd_guests_reset_irqoff(on);
	for (ri = 0; ri < cls->num; ri++)
		hwpmc_x86_wrmsr_nmi(hwpmc_x86_sel(&bank, ri), 0);
	hwpmc_pmi_open_irqoff();
	if (pmu.version < 2)
		return;
	if (pmu.freezes && on)
		hwpmc_amd_found_clear_irqoff();
	hwpmc_x86_wrmsr_nmi(AMD_GLOBAL_ACK, pmu.freezes ? own | AMD_GLOBAL_FROZEN : own);
	if (on)
		take_global_irqoff(own);
	else
		give_global_back_irqoff();
	if (pmu.freezes && !on)
		hwpmc_amd_found_restore_irqoff();
}

static void amd_program_irqoff(struct hwpmc_class *cls, unsigned int ri,
			       const struct hwpmc_select *s)
{
	if (unlikely(s->extra))
		join_irqoff(ri);
	else if (is_joined_nmi(ri))
		part_nmi(ri);
	/* The odd one counts for itself again. */
	else if (ri & 1 && is_joined_nmi(ri - 1))
		this_cpu_and(joined, ~BIT_ULL(ri - 1));
	if (s->sel & AMD_CTL_HOST)
		this_cpu_or(hwpmc_amd_host_rows, BIT_ULL(ri));
	else
		this_cpu_and(hwpmc_amd_host_rows, ~BIT_ULL(ri));
	hwpmc_x86_wrmsr_nmi(hwpmc_x86_sel(&bank, ri),
			    s->sel & ~this_cpu_read(hwpmc_amd_withheld));
}

static void amd_stop_nmi(struct hwpmc_class *cls, unsigned int ri)
{
	this_cpu_and(hwpmc_amd_host_rows, ~BIT_ULL(ri));
	hwpmc_x86_wrmsr_nmi(hwpmc_x86_sel(&bank, ri), 0);
	if (is_joined_nmi(ri))
		part_nmi(ri);
}

static u32 amd_changed_irqoff(const struct hwpmc_class *cls, unsigned int ri,
			      const struct hwpmc_select *s)
{
	return hwpmc_x86_differs_irqoff(hwpmc_x86_sel(&bank, ri), s->sel, AMD_CTL_COUNTS);
}

static u32 amd_control_changed_irqoff(const struct hwpmc_class *cls)
{
	u64 own = BIT_ULL(cls->num) - 1;

	return pmu.version >= 2 ? hwpmc_x86_differs_irqoff(AMD_GLOBAL_CTL, own, own) : 0;
}

static u32 amd_follow_irqoff(const struct hwpmc_class *cls, u64 *rows)
{
	*rows = this_cpu_read(hwpmc_amd_host_rows);
	return hwpmc_amd_guests_follow_irqoff();
}

static void amd_write_nmi(struct hwpmc_class *cls, unsigned int ri, u64 value)
{
	if (is_joined_nmi(ri))
		hwpmc_x86_wrmsr_nmi(hwpmc_x86_ctr(&bank, ri + 1), upper_bits_nmi(value));
	hwpmc_x86_wrmsr_nmi(hwpmc_x86_ctr(&bank, ri), value & hwpmc_width_mask(AMD_WIDTH));
}

static void amd_ack_nmi(struct hwpmc_class *cls, u64 rows)
{
	if (pmu.version >= 2)
		hwpmc_x86_wrmsr_nmi(AMD_GLOBAL_ACK, rows);
}

#define EVENT_BITS	(AMD_CTL_EVENT_HIGH | AMD_CTL_UMASK | AMD_CTL_EVENT_LOW)
#define BRANCHES	0xc2
#define INSTRUCTIONS	0xc0
#define CYCLES		0x76
#define OPERATIONS	0xc1

static u64 amd_unlisted(const struct hwpmc_class *cls)
{
	return OPERATIONS;
}

/* AMD has no such list; a hypervisor's has what each kernel measures. */
static bool amd_is_listed(u64 sel)
{
	u64 event = sel & EVENT_BITS;

	return event == BRANCHES || event == INSTRUCTIONS || event == CYCLES;
}

static u32 amd_certain(unsigned int ri, u64 sel)
{
	if (!amd_is_listed(sel) || sel & (AMD_CTL_EDGE | AMD_CTL_INV | AMD_CTL_CMASK) ||
	    (sel & AMD_CTL_WHOSE) == AMD_CTL_GUEST)
		return 0;
	return HWPMC_CERTAIN_LOOP | (sel & AMD_CTL_USR ? HWPMC_CERTAIN_USER : 0) |
	       (sel & AMD_CTL_OS ? HWPMC_CERTAIN_KERNEL : 0);
}

static const struct hwpmc_trial amd_trial = {
	.event = {
		{ BRANCHES, HWPMC_TRIAL_BRANCHES },
		{ INSTRUCTIONS, HWPMC_TRIAL_INSTRUCTIONS },
		{ CYCLES, HWPMC_TRIAL_CYCLES },
	},
	.event_bits = EVENT_BITS,
	/* Its own event is a pair of the host's, and the odd one's select is another event. */
	.pair_takes = 3,
	.unlisted = amd_unlisted,
	.is_listed = amd_is_listed,
	.certain = amd_certain,
};

const struct hwpmc_class_ops hwpmc_k8_ops = {
	.trial = &amd_trial,
	.probe = amd_probe,
	.exit = amd_exit,
	.hardware.claim = amd_claim,
	.hardware.release = hwpmc_x86_release,
	.hardware.running_irqoff = hwpmc_x86_running_all_irqoff,
	.hardware.state = hwpmc_x86_state,
	.hardware.taken_times = hwpmc_x86_taken_times,
	.cpu.reset_irqoff = amd_reset_irqoff,
	.encode = amd_encode,
	.row.program_irqoff = amd_program_irqoff,
	.row.stop_nmi = amd_stop_nmi,
	.row.changed_irqoff = amd_changed_irqoff,
	.control.changed_irqoff = amd_control_changed_irqoff,
	.control.follow_irqoff = amd_follow_irqoff,
	.row.write_nmi = amd_write_nmi,
	.interrupt.ack_nmi = amd_ack_nmi,
};
