// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * intel_core.c - Intel's architectural performance monitoring: detection, global
 * control, and class IAP, the programmable counters. Contexts as in backend.h.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>

#include "../compat/cpuid.h"
#include "../compat/msr.h"
#include "classes.h"
#include "cputype.h"
#include "intel.h"
#include "intel_kinds.h"
#include "intel_regs.h"
#include "siblings.h"
#include "width.h"
#include "x86_guard.h"
#include "x86_held.h"
#include "x86_mediated.h"
#include "x86_pmi.h"
#include "x86_reserve.h"

#define CPUID7_EDX_HYBRID	BIT(15)
#define CPUID7_1_EAX_PERFMON	BIT(8)	/* leaf 0x23 exists */

struct hwpmc_intel_pmu hwpmc_intel_pmu;
/* Of each kind of core, where CPUs are not alike. */
static struct hwpmc_intel_pmu intel_kinds[HWPMC_KINDS_MAX];
DEFINE_PER_CPU(const struct hwpmc_intel_pmu *, hwpmc_intel_here);
DEFINE_STATIC_KEY_FALSE(hwpmc_intel_v6);
static struct hwpmc_x86_bank intel_bank;

/* Contents of this CPU's registers, so that they need not be read. */
struct shadow {
	u64 global;
	u64 extra[HWPMC_INTEL_REGS];
};

static DEFINE_PER_CPU(struct shadow, shadow);

static void read_intel_leaf(u32 leaf[4])
{
	cpuid_count(INTEL_CPUID_LEAF, 0, &leaf[0], &leaf[1], &leaf[2], &leaf[3]);
}

static bool has_full_write(void)
{
	u64 caps;

	return boot_cpu_has(X86_FEATURE_PDCM) &&
	       !hwpmc_rdmsr_safe(INTEL_PERF_CAPABILITIES, &caps) &&
	       caps & INTEL_CAP_FULL_WRITE;
}

static u64 fixed_runs(const struct hwpmc_intel_pmu *pmu)
{
	u64 runs = 0;
	unsigned int i;

	for (i = 0; i < pmu->fixed_num; i++)
		if (pmu->fixed_map >> i & 1)
			runs |= INTEL_FIXED_RUNS << INTEL_FIXED_SHIFT(i);
	return runs;
}

static void describe_intel_bank(void)
{
	const struct hwpmc_intel_pmu *pmu = &hwpmc_intel_pmu;

	intel_bank = (struct hwpmc_x86_bank){
		.num = pmu->gp_num,
		.sel = INTEL_EVTSEL(0), .sel_step = 1, .sel_runs = INTEL_SEL_EN,
		.ctr = pmu->full_write ? INTEL_PMC_FULL(0) : INTEL_PMC(0),
		.ctr_step = 1,
		.fixed_ctrl = pmu->fixed_num ? INTEL_FIXED_CTRL : 0,
		.global_ctrl = pmu->version >= 2 ? INTEL_GLOBAL_CTRL : 0,
	};
	intel_bank.fixed_runs = fixed_runs(pmu);
	if (pmu->version < 6)
		return;
	/* perf of Linux 6.1 does not know version 6, and reserves the other addresses. */
	intel_bank.listed_sel = INTEL_EVTSEL(0);
	intel_bank.listed_ctr = INTEL_PMC(0);
	intel_bank.sel = INTEL_EVTSEL_V6(0);
	intel_bank.ctr = INTEL_PMC_V6(0);
	intel_bank.sel_step = 4;
	intel_bank.ctr_step = 4;
}

static const u32 extra_msr[HWPMC_INTEL_REGS] = {
	[HWPMC_INTEL_RSP0] = INTEL_OFFCORE_RSP(0),
	[HWPMC_INTEL_RSP1] = INTEL_OFFCORE_RSP(1),
	[HWPMC_INTEL_FRONTEND] = INTEL_PEBS_FRONTEND,
	[HWPMC_INTEL_SNOOP0] = INTEL_SNOOP_RSP(0),
	[HWPMC_INTEL_SNOOP1] = INTEL_SNOOP_RSP(1),
};

/*
 * The model has these registers, but a hypervisor may filter them. Then such events
 * are refused: a fault later would make all values doubtful.
 */
static u32 filtered_registers(const struct hwpmc_intel_pmu *pmu)
{
	const struct hwpmc_intel_extra *e;
	unsigned long flags;
	u32 filtered = 0;
	u64 value;

	local_irq_save(flags);
	for (e = pmu->extra; e && e->code; e++)
		if (e->reg < HWPMC_INTEL_REGS &&
		    (hwpmc_rdmsr_safe(extra_msr[e->reg], &value) ||
		     hwpmc_wrmsr_safe(extra_msr[e->reg], value)))
			filtered |= BIT(e->reg);
	local_irq_restore(flags);
	return filtered;
}

/* ---- kinds of core ------------------------------------------------------- */

static bool is_hybrid(void)
{
	return cpuid_eax(0) >= 7 && cpuid_edx(7) & CPUID7_EDX_HYBRID;
}

static void read_kind(struct hwpmc_intel_cpuid *id)
{
	u32 last = cpuid_eax(0), leaves, a, b, c, d;

	memset(id, 0, sizeof(*id));	/* it is compared as a whole */
	if (last >= INTEL_LEAF_KIND)
		id->leaf_1a = cpuid_eax(INTEL_LEAF_KIND);
	cpuid_count(7, 0, &a, &b, &c, &d);
	if (a >= 1)
		cpuid_count(7, 1, &a, &b, &c, &d);
	else
		a = 0;
	if (last < INTEL_LEAF_PERFMON || !(a & CPUID7_1_EAX_PERFMON))
		return;
	cpuid_count(INTEL_LEAF_PERFMON, 0, &a, &b, &c, &d);
	id->bits = b;
	if (!(a & INTEL_23_COUNTERS))
		return;
	id->has_23 = true;
	leaves = a;
	cpuid_count(INTEL_LEAF_PERFMON, 1, &id->gp, &id->fixed, &c, &d);
	if (leaves & INTEL_23_RELOAD)
		cpuid_count(INTEL_LEAF_PERFMON, 2, &id->reload_gp, &id->reload_fixed, &c, &d);
	if (leaves & INTEL_23_PEBS)
		cpuid_count(INTEL_LEAF_PERFMON, 5, &id->pebs_gp, &b, &id->pebs_fixed, &d);
}

/* Version 6: the counters of this kind that have more registers. */
static void describe_registers(struct hwpmc_intel_pmu *pmu, const struct hwpmc_intel_cpuid *id)
{
	if (pmu->version < 6)
		return;
	pmu->reload_gp = id->reload_gp & pmu->gp_map;
	pmu->reload_fixed = id->reload_fixed & pmu->fixed_map;
	pmu->pebs_gp = id->pebs_gp & pmu->gp_map;
	pmu->pebs_fixed = id->pebs_fixed & pmu->fixed_map;
}

/*
 * Which description is this CPU's? Only the CPU itself can say; it may be one that was off
 * so far, and the first of its kind. -EOPNOTSUPP: none is.
 */
static int place_cpu_irqoff(void)
{
	const struct hwpmc_intel_pmu *here = &hwpmc_intel_pmu;
	struct hwpmc_intel_cpuid id;
	struct hwpmc_intel_pmu *kind;

	if (here->nkinds) {
		read_kind(&id);
		here = hwpmc_intel_kind_of(here, &id);
		if (!here)
			return -EOPNOTSUPP;
		kind = &intel_kinds[here - intel_kinds];
		if (kind->filtered == ~0u) {
			describe_registers(kind, &id);
			kind->filtered = filtered_registers(kind);
		}
	}
	this_cpu_write(hwpmc_intel_here, here);
	return 0;
}

static void place_cpu_ipi(void *arg)
{
	atomic_t *failed = arg;

	if (place_cpu_irqoff())
		atomic_inc(failed);
}

/* The table of kinds has this model, and each CPU is of a kind that it has. */
static bool find_kinds(struct hwpmc_intel_pmu *pmu)
{
	const struct hwpmc_intel_kinds *kinds;
	atomic_t failed = ATOMIC_INIT(0);
	int cpu;

	kinds = boot_cpu_data.x86 == 6 ? hwpmc_intel_kinds_of(boot_cpu_data.x86_model) : NULL;
	if (!kinds)
		return false;
	hwpmc_intel_describe_kinds(pmu, intel_kinds, kinds);
	/* Of those that are off nothing is known: they count nothing before they are on. */
	for_each_possible_cpu(cpu)
		per_cpu(hwpmc_intel_here, cpu) = &intel_kinds[0];
	on_each_cpu(place_cpu_ipi, &failed, 1);
	return !atomic_read(&failed);
}

struct leaf_check {
	u32 leaf[4];
	struct hwpmc_intel_cpuid id;
	atomic_t differs;
};

static void compare_leaf_ipi(void *arg)
{
	struct leaf_check *s = arg;
	struct hwpmc_intel_cpuid id;
	u32 leaf[4];

	read_intel_leaf(leaf);
	read_kind(&id);
	if (memcmp(leaf, s->leaf, sizeof(leaf)) ||
	    (INTEL_EAX_VERSION(leaf[0]) >= 6 && memcmp(&id, &s->id, sizeof(id))))
		atomic_set(&s->differs, 1);
}

static bool cpus_are_alike(const u32 leaf[4], const struct hwpmc_intel_cpuid *id)
{
	struct leaf_check s = { .differs = ATOMIC_INIT(0) };

	memcpy(s.leaf, leaf, sizeof(s.leaf));
	memcpy(&s.id, id, sizeof(s.id));
	on_each_cpu(compare_leaf_ipi, &s, 1);
	return !atomic_read(&s.differs);
}

/* All CPUs are of one kind, and *pmu describes it. */
static bool find_one_kind(struct hwpmc_intel_pmu *pmu, const u32 leaf[4])
{
	struct hwpmc_intel_cpuid id;

	read_kind(&id);
	hwpmc_intel_describe_more(pmu, &id);
	describe_registers(pmu, &id);
	return cpus_are_alike(leaf, &id);
}

/* With this microcode transactions abort where counter 3 is used, or change it. */
static u32 withheld_counters(void)
{
	return boot_cpu_has(X86_FEATURE_TSX_FORCE_ABORT) && boot_cpu_has(X86_FEATURE_RTM) ?
	       BIT(3) : 0;
}

static void bank_exit(void)
{
	hwpmc_x86_held_exit();
	hwpmc_x86_guard_exit();
}

/* Can the counters be had for the module alone, and do they work? */
static int find_bank(struct hwpmc_hdr *hdr)
{
	unsigned int num = hwpmc_intel_pmu.gp_num;

	if (hwpmc_x86_guarded(&intel_bank)) {
		static_branch_enable(&hwpmc_intel_v6);
		hwpmc_x86_guard_init();
	}
	hwpmc_x86_held_init();
	if (hwpmc_x86_is_shared(&intel_bank)) {
		pr_info("performance counters not used: this kernel cannot keep perf away from counters of perfmon 6\n");
		bank_exit();
		return hwpmc_refuse(hdr, -EOPNOTSUPP, HWPMC_WHY_PMU_SHARED, 0);
	}
	if (!hwpmc_x86_works(&intel_bank)) {
		pr_info("performance counters not used: CPUID 0xa lists %u, but their registers do not keep values, or RDPMC faults\n",
			num);
		bank_exit();
		return hwpmc_refuse(hdr, -ENXIO, HWPMC_WHY_PMU_BROKEN, num);
	}
	return 0;
}

static int intel_detect(struct hwpmc_hdr *hdr)
{
	struct hwpmc_intel_pmu *pmu = &hwpmc_intel_pmu;
	const char *why = NULL;
	u32 cputype, leaf[4];
	int err;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL)
		return -ENODEV;
	/* Netburst has class P4 instead. */
	if (boot_cpu_data.x86 != 15)
		hdr->reason = boot_cpu_has(X86_FEATURE_HYPERVISOR) ? HWPMC_WHY_PMU_GUEST :
								     HWPMC_WHY_NO_PMU;
	if (cpuid_eax(0) < INTEL_CPUID_LEAF)
		return -ENODEV;
	cputype = boot_cpu_data.x86 == 6 ?
		  hwpmc_core_intel(boot_cpu_data.x86_model) :
		  HWPMC_CPU_GENERIC;
	read_intel_leaf(leaf);
	err = hwpmc_intel_describe(pmu, leaf, cputype,
				   boot_cpu_has(X86_FEATURE_HYPERVISOR), &why);
	if (err == -ENODEV)
		return err;
	*hdr = (struct hwpmc_hdr){ HWPMC_WHY_PMU_UNKNOWN, leaf[0] & 0xff };
	pmu->full_write = pmu->version >= 6 || has_full_write();
	pmu->withheld = withheld_counters();
	if (!err && !(is_hybrid() ? find_kinds(pmu) : find_one_kind(pmu, leaf))) {
		why = "a kind of core that this module does not support";
		err = hwpmc_refuse(hdr, -EOPNOTSUPP, HWPMC_WHY_PMU_KINDS, 0);
	}
	if (err) {
		pr_info("performance counters not used: %s (CPUID 0xa: %08x %08x %08x %08x)\n",
			why, leaf[0], leaf[1], leaf[2], leaf[3]);
		return err;
	}
	describe_intel_bank();
	err = find_bank(hdr);
	if (err)
		return err;
	if (!pmu->nkinds)
		pmu->filtered = filtered_registers(pmu);
	return 0;
}

/* The answer that both classes get. At load. */
static struct {
	int result;
	struct hwpmc_hdr refusal;
} intel_detected = { .result = 1 };	/* 1: not probed yet */

int hwpmc_intel_detect(struct hwpmc_class *cls)
{
	if (intel_detected.result > 0)
		intel_detected.result = intel_detect(&intel_detected.refusal);
	cls->refusal = intel_detected.refusal;
	return intel_detected.result;
}

int hwpmc_intel_claim(struct hwpmc_class *cls, struct hwpmc_hdr *hdr)
{
	return hwpmc_x86_claim(&intel_bank, hdr);
}

u32 hwpmc_intel_running_irqoff(const struct hwpmc_class *cls)
{
	const struct hwpmc_intel_pmu *here = this_cpu_read(hwpmc_intel_here);
	struct hwpmc_x86_bank bank = intel_bank;

	bank.num = here->gp_num;
	bank.fixed_runs = fixed_runs(here);
	return hwpmc_x86_running_irqoff(&bank);
}

static void write_global_irqoff(u64 ctrl, u64 own)
{
	bool freezes = hwpmc_intel_pmu.version >= 4;

	/* A freeze that is still set would keep all counters stopped. A hypervisor that
	 * refuses to clear it does not freeze. */
	if (!freezes || hwpmc_wrmsr_safe(INTEL_GLOBAL_ACK, own | INTEL_ACK_FREEZE))
		hwpmc_x86_wrmsr_nmi(INTEL_GLOBAL_ACK, own);
	hwpmc_x86_wrmsr_nmi(INTEL_GLOBAL_CTRL, ctrl);
}

void hwpmc_intel_global_irqoff(u64 own, bool on)
{
	struct shadow *s = this_cpu_ptr(&shadow);

	if (on)
		hwpmc_intel_found_clear_irqoff();
	s->global = on ? s->global | own : s->global & ~own;
	if (hwpmc_intel_pmu.version >= 2)
		write_global_irqoff(s->global, own);
	/* The last class is off. */
	if (!s->global)
		hwpmc_intel_found_restore_irqoff();
}

u32 hwpmc_intel_global_changed_irqoff(u64 own)
{
	if (hwpmc_intel_pmu.version < 2)
		return 0;
	return hwpmc_x86_differs_irqoff(INTEL_GLOBAL_CTRL, own, own);
}

bool hwpmc_intel_global_restore_nmi(u64 own)
{
	u64 all = this_cpu_read(shadow.global), now;

	own &= all;
	if (!own || hwpmc_intel_pmu.version < 2 || hwpmc_rdmsr_safe(INTEL_GLOBAL_CTRL, &now) ||
	    (now & own) == own)
		return false;
	hwpmc_x86_wrmsr_nmi(INTEL_GLOBAL_CTRL, all);
	return true;
}

static int iap_probe(struct hwpmc_class *cls)
{
	const struct hwpmc_intel_pmu *pmu = &hwpmc_intel_pmu;
	int err = hwpmc_intel_detect(cls);

	if (err)
		return err;
	cls->name = "IAP";
	cls->id = HWPMC_CLASS_IAP;
	cls->caps = HWPMC_CAPS_SELECT;
	cls->width = pmu->gp_width;
	/* Without full-width writes bit 31 of the value is sign-extended. */
	cls->max_period = pmu->full_write ?
		BIT_ULL(pmu->gp_width - 1) - 1 : BIT_ULL(31) - 1;
	hwpmc_pmi_class(cls);
	cls->num = pmu->gp_num;
	cls->kinds = hwpmc_intel_all_kinds(pmu);
	cls->rdpmc_base = 0;
	cls->siblings_why = HWPMC_WHY_EVENT_SIBLINGS;
	cls->pmu_version = pmu->version;
	cls->priv = &hwpmc_intel_pmu;
	hwpmc_x86_mediated_init();
	return 0;
}

static void iap_exit(struct hwpmc_class *cls)
{
	hwpmc_x86_mediated_exit();
	bank_exit();
}

static void reset_extra_irqoff(void)
{
	struct shadow *s = this_cpu_ptr(&shadow);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(s->extra); i++) {
		if (s->extra[i])
			hwpmc_x86_wrmsr_nmi(extra_msr[i], 0);
		s->extra[i] = 0;
	}
}

static void iap_reset_irqoff(struct hwpmc_class *cls, bool on)
{
	const struct hwpmc_intel_pmu *here = this_cpu_read(hwpmc_intel_here);
	/* As if stopped: sampling that pauses arms counters before they run. */
	u64 sel = on && hwpmc_intel_pmu.hides ? INTEL_SEL_HIDE : 0;
	unsigned int ri;

	for (ri = 0; ri < cls->num; ri++)
		if (here->gp_map >> ri & 1)
			hwpmc_x86_wrmsr_nmi(hwpmc_intel_evtsel(ri), sel);
	hwpmc_intel_more_gp_irqoff(here, on);
	reset_extra_irqoff();
	hwpmc_pmi_open_irqoff();
	hwpmc_intel_global_irqoff(here->gp_map, on);
}

/* The encoder has checked that the register is there, and the bits by model. */
static void program_extra_irqoff(const struct hwpmc_select *s)
{
	const struct hwpmc_intel_extra *e =
		hwpmc_intel_extra(this_cpu_read(hwpmc_intel_here), s->sel);
	u64 *now;

	if (!e)
		return;
	now = this_cpu_ptr(&shadow.extra[e->reg]);
	if (*now == s->extra)
		return;
	*now = s->extra;
	hwpmc_x86_wrmsr_nmi(extra_msr[e->reg], s->extra);
}

static void iap_program_irqoff(struct hwpmc_class *cls, unsigned int ri,
			       const struct hwpmc_select *s)
{
	if (s->extra)
		program_extra_irqoff(s);
	hwpmc_x86_wrmsr_nmi(hwpmc_intel_evtsel(ri), s->sel);
}

/* Hidden as before, if it was: what it has counted is still there. */
static void iap_stop_nmi(struct hwpmc_class *cls, unsigned int ri)
{
	hwpmc_x86_wrmsr_nmi(hwpmc_intel_evtsel(ri), hwpmc_intel_pmu.hides ? INTEL_SEL_HIDE : 0);
}

static u32 iap_changed_irqoff(const struct hwpmc_class *cls, unsigned int ri,
			      const struct hwpmc_select *s)
{
	return hwpmc_x86_differs_irqoff(hwpmc_intel_evtsel(ri), s->sel, INTEL_SEL_COUNTS);
}

static u32 iap_control_changed_irqoff(const struct hwpmc_class *cls)
{
	return hwpmc_intel_global_changed_irqoff(this_cpu_read(hwpmc_intel_here)->gp_map);
}

static bool iap_restore_control_nmi(const struct hwpmc_class *cls)
{
	return hwpmc_intel_global_restore_nmi(this_cpu_read(hwpmc_intel_here)->gp_map);
}

static void iap_write_nmi(struct hwpmc_class *cls, unsigned int ri, u64 value)
{
	hwpmc_x86_wrmsr_nmi(hwpmc_x86_ctr(&intel_bank, ri),
			    hwpmc_intel_pmu.full_write ?
			    value & hwpmc_width_mask(cls->width) : (u32)value);
}

static void iap_ack_nmi(struct hwpmc_class *cls, u64 rows)
{
	if (hwpmc_intel_pmu.version >= 2)
		hwpmc_x86_wrmsr_nmi(INTEL_GLOBAL_ACK, rows);
}

static int iap_cpu_online_irqoff(struct hwpmc_class *cls)
{
	int ret = place_cpu_irqoff();

	return ret ?: hwpmc_siblings_online_irqoff();
}

static u64 iap_rows_irqoff(const struct hwpmc_class *cls, u32 *kind)
{
	const struct hwpmc_intel_pmu *here = this_cpu_read(hwpmc_intel_here);

	*kind = here->kind;
	return here->gp_map;
}

/* Operations retired, where the model's lists have them on each programmable counter. */
static u64 iap_unlisted(const struct hwpmc_class *cls)
{
	return hwpmc_intel_pmu.nkinds ? 0 : hwpmc_intel_operations(hwpmc_intel_pmu.cputype);
}

static bool iap_is_listed(u64 sel)
{
	return hwpmc_intel_architectural(sel) >= 0;
}

#define CERTAIN_NOT	(INTEL_SEL_MODIFIERS | GENMASK_ULL(63, 32))

static u32 iap_certain(unsigned int ri, u64 sel)
{
	u64 code = sel & INTEL_SEL_CODE;

	if ((code != 0xc0 && code != 0xc4 && code != 0x3c) ||
	    sel & CERTAIN_NOT & ~INTEL_SEL_HIDE)
		return 0;
	return HWPMC_CERTAIN_LOOP | (sel & INTEL_SEL_USR ? HWPMC_CERTAIN_USER : 0) |
	       (sel & INTEL_SEL_OS ? HWPMC_CERTAIN_KERNEL : 0);
}

static const struct hwpmc_trial iap_trial = {
	.event = {
		{ 0xc4, HWPMC_TRIAL_BRANCHES },
		{ 0xc0, HWPMC_TRIAL_INSTRUCTIONS },
		{ 0x3c, HWPMC_TRIAL_CYCLES },
	},
	.event_bits = INTEL_SEL_CODE,
	.unlisted = iap_unlisted,
	.is_listed = iap_is_listed,
	.certain = iap_certain,
};

const struct hwpmc_class_ops hwpmc_iap_ops = {
	.trial = &iap_trial,
	.probe = iap_probe,
	.exit = iap_exit,
	.hardware.claim = hwpmc_intel_claim,
	.hardware.release = hwpmc_x86_release,
	.hardware.running_irqoff = hwpmc_intel_running_irqoff,
	.hardware.state = hwpmc_x86_state,
	.hardware.taken_times = hwpmc_x86_taken_times,
	.cpu.online_irqoff = iap_cpu_online_irqoff,
	.cpu.rows_irqoff = iap_rows_irqoff,
	.cpu.reset_irqoff = iap_reset_irqoff,
	.encode = hwpmc_iap_encode,
	.row.program_irqoff = iap_program_irqoff,
	.row.stop_nmi = iap_stop_nmi,
	.row.changed_irqoff = iap_changed_irqoff,
	.control.changed_irqoff = iap_control_changed_irqoff,
	.control.restore_nmi = iap_restore_control_nmi,
	.row.write_nmi = iap_write_nmi,
	.interrupt.ack_nmi = iap_ack_nmi,
};
