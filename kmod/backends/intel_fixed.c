// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * intel_fixed.c - class IAF, Intel's fixed-function counters. Row n is fixed counter
 * n; all rows share one control register, with four bits each. Contexts as in
 * backend.h.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>

#include "../compat/msr.h"
#include "classes.h"
#include "intel.h"
#include "intel_regs.h"
#include "missing.h"
#include "width.h"
#include "x86_pmi.h"
#include "x86_reserve.h"

/* Content of INTEL_FIXED_CTRL of this CPU. Rows change in NMI too. */
static DEFINE_PER_CPU(u64, fixed_ctrl);

static int iaf_probe(struct hwpmc_class *cls)
{
	const struct hwpmc_intel_pmu *pmu = &hwpmc_intel_pmu;
	int err = hwpmc_intel_detect(cls);

	if (err)
		return err;
	if (!pmu->fixed_num)
		return hwpmc_missing(cls, HWPMC_WHY_CLASS_NONE, HWPMC_WHY_CLASS_NONE);
	cls->name = "IAF";
	cls->id = HWPMC_CLASS_IAF;
	cls->caps = HWPMC_CAP_INTERRUPT | HWPMC_CAP_USER | HWPMC_CAP_SYSTEM |
		    HWPMC_CAP_READ | HWPMC_CAP_WRITE;
	cls->width = pmu->fixed_width;
	cls->max_period = BIT_ULL(pmu->fixed_width - 1) - 1;
	hwpmc_pmi_class(cls);
	cls->num = pmu->fixed_num;
	cls->rdpmc_base = INTEL_RDPMC_FIXED;
	cls->priv = &hwpmc_intel_pmu;
	return 0;
}

static void write_ctrl_nmi(u64 ctrl)
{
	this_cpu_write(fixed_ctrl, ctrl);
	hwpmc_x86_wrmsr_nmi(INTEL_FIXED_CTRL, ctrl);
}

static u64 iaf_rows_irqoff(const struct hwpmc_class *cls, u32 *kind)
{
	const struct hwpmc_intel_pmu *here = this_cpu_read(hwpmc_intel_here);

	*kind = here->kind;
	return here->fixed_map;
}

/* All are stopped: see iap_stop_nmi(). */
static u64 stopped_ctrl(void)
{
	unsigned int ri;
	u64 ctrl = 0;

	for_each_row(ri, this_cpu_read(hwpmc_intel_here)->fixed_map)
		ctrl |= INTEL_FIXED_HIDE << INTEL_FIXED_SHIFT(ri);
	return ctrl;
}

static void iaf_reset_irqoff(struct hwpmc_class *cls, bool on)
{
	const struct hwpmc_intel_pmu *here = this_cpu_read(hwpmc_intel_here);
	u64 own = (u64)here->fixed_map << INTEL_GLOBAL_FIXED;

	write_ctrl_nmi(on && hwpmc_intel_pmu.hides ? stopped_ctrl() : 0);
	hwpmc_intel_more_fixed_irqoff(here, on);
	hwpmc_pmi_open_irqoff();
	hwpmc_intel_global_irqoff(own, on);
}

/*
 * All counters share the register. An NMI that pauses sampling stops some of them: it may come
 * before this change is in the copy, and between the copy and the register.
 */
static void change_ctrl_nmi(unsigned int ri, u64 field)
{
	u64 old, ctrl;

	do {
		old = this_cpu_read(fixed_ctrl);
		ctrl = old & ~(INTEL_FIXED_FIELD << INTEL_FIXED_SHIFT(ri));
		ctrl |= field << INTEL_FIXED_SHIFT(ri);
	} while (unlikely(this_cpu_cmpxchg(fixed_ctrl, old, ctrl) != old));
	do {
		old = ctrl;
		hwpmc_x86_wrmsr_nmi(INTEL_FIXED_CTRL, ctrl);
		ctrl = this_cpu_read(fixed_ctrl);
	} while (unlikely(ctrl != old));
}

static void iaf_program_irqoff(struct hwpmc_class *cls, unsigned int ri,
			       const struct hwpmc_select *s)
{
	change_ctrl_nmi(ri, s->sel);
}

/* See iap_stop_nmi(). */
static void iaf_stop_nmi(struct hwpmc_class *cls, unsigned int ri)
{
	change_ctrl_nmi(ri, hwpmc_intel_pmu.hides ? INTEL_FIXED_HIDE : 0);
}

static u32 iaf_changed_irqoff(const struct hwpmc_class *cls, unsigned int ri,
			      const struct hwpmc_select *s)
{
	return hwpmc_x86_differs_irqoff(INTEL_FIXED_CTRL, s->sel << INTEL_FIXED_SHIFT(ri),
					INTEL_FIXED_RUNS << INTEL_FIXED_SHIFT(ri));
}

static u32 iaf_control_changed_irqoff(const struct hwpmc_class *cls)
{
	u64 own = this_cpu_read(hwpmc_intel_here)->fixed_map;

	return hwpmc_intel_global_changed_irqoff(own << INTEL_GLOBAL_FIXED);
}

static bool iaf_restore_control_nmi(const struct hwpmc_class *cls)
{
	u64 own = this_cpu_read(hwpmc_intel_here)->fixed_map;

	return hwpmc_intel_global_restore_nmi(own << INTEL_GLOBAL_FIXED);
}

/* Fixed counters are always written in full width. */
static void iaf_write_nmi(struct hwpmc_class *cls, unsigned int ri, u64 value)
{
	hwpmc_x86_wrmsr_nmi(hwpmc_intel_fixed_ctr(ri), value & hwpmc_width_mask(cls->width));
}

static void iaf_ack_nmi(struct hwpmc_class *cls, u64 rows)
{
	hwpmc_x86_wrmsr_nmi(INTEL_GLOBAL_ACK, rows << INTEL_GLOBAL_FIXED);
}

/* The reference clock of the third may be slow. */
static u32 iaf_certain(unsigned int ri, u64 sel)
{
	if (ri > 2)
		return 0;
	return (ri < 2 ? HWPMC_CERTAIN_LOOP : 0) |
	       (sel & INTEL_FIXED_USR ? HWPMC_CERTAIN_USER : 0) |
	       (sel & INTEL_FIXED_OS ? HWPMC_CERTAIN_KERNEL : 0);
}

static const struct hwpmc_trial iaf_trial = {
	/* Each on its own counter. */
	.event = {
		{ 0xc0, HWPMC_TRIAL_INSTRUCTIONS },
		{ 0x3c, HWPMC_TRIAL_CYCLES },
		{ 0x13c, HWPMC_TRIAL_REFERENCE },
	},
	.certain = iaf_certain,
};

const struct hwpmc_class_ops hwpmc_iaf_ops = {
	.trial = &iaf_trial,
	.probe = iaf_probe,
	.hardware.claim = hwpmc_intel_claim,
	.hardware.release = hwpmc_x86_release,
	.hardware.running_irqoff = hwpmc_intel_running_irqoff,
	.hardware.state = hwpmc_x86_state,
	.hardware.taken_times = hwpmc_x86_taken_times,
	.cpu.rows_irqoff = iaf_rows_irqoff,
	.cpu.reset_irqoff = iaf_reset_irqoff,
	.encode = hwpmc_iaf_encode,
	.row.program_irqoff = iaf_program_irqoff,
	.row.stop_nmi = iaf_stop_nmi,
	.row.changed_irqoff = iaf_changed_irqoff,
	.control.changed_irqoff = iaf_control_changed_irqoff,
	.control.restore_nmi = iaf_restore_control_nmi,
	.row.write_nmi = iaf_write_nmi,
	.interrupt.ack_nmi = iaf_ack_nmi,
};
