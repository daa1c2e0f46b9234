// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * p4.c - class P4, the counters of Netburst's 64-bit models. Contexts as in backend.h.
 *
 * The two threads of a core share all registers. While both are online each CPU uses
 * the half of its thread only, and no process is measured: its threads move between
 * the halves. While a process is measured, no second thread comes online.
 */
#include <linux/cpu.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/topology.h>
#include <asm/cpufeature.h>

#include "../compat/cpuid.h"
#include "../compat/msr.h"
#include "classes.h"
#include "missing.h"
#include "p4_encode.h"
#include "p4_regs.h"
#include "siblings.h"
#include "width.h"
#include "x86_held.h"
#include "x86_pmi.h"
#include "x86_reserve.h"

#define CPUID1_LOGICAL(ebx)	((ebx) >> 16 & 0xff)
#define CPUID1_APIC_ID(ebx)	((ebx) >> 24)
#define CPUID4_CORES(eax)	(((eax) >> 26) + 1)

static u32 p4_model;
static bool p4_has_threads;	/* two logical CPUs in each core; set at load */

static const struct hwpmc_x86_bank p4_bank = {
	.num = P4_NUM,
	.sel = P4_CCCR(0), .sel_step = 1, .sel_runs = P4_CCCR_ENABLE,
	.ctr = P4_CTR(0), .ctr_step = 1,
};

/* 0 or 1, within the core. Set as the CPU goes online, before it is admitted (core/cpu.h). */
static DEFINE_PER_CPU(u8, p4_thread);

/* Contents of this CPU's CCCRs but the overflow flag. */
static DEFINE_PER_CPU(u32 [P4_NUM], p4_cccr);

/* ---- detection ------------------------------------------------------------ */

static bool core_has_threads(void)
{
	u32 eax, ebx, ecx, edx, cores = 1;

	if (!boot_cpu_has(X86_FEATURE_HT))
		return false;
	if (cpuid_eax(0) >= 4) {
		cpuid_count(4, 0, &eax, &ebx, &ecx, &edx);
		cores = CPUID4_CORES(eax);
	}
	cpuid(1, &eax, &ebx, &ecx, &edx);
	return CPUID1_LOGICAL(ebx) > cores;
}

/* Firmware can switch performance monitoring off; perf then refuses too. */
static bool firmware_allows(void)
{
	u64 misc;

	return !hwpmc_rdmsr_safe(P4_MISC_ENABLE, &misc) && misc & P4_MISC_PERFMON;
}

static int p4_probe(struct hwpmc_class *cls)
{
	const struct cpuinfo_x86 *c = &boot_cpu_data;

	if (c->x86_vendor != X86_VENDOR_INTEL || c->x86 != 15 ||
	    c->x86_model < 3 || c->x86_model > 6)
		return -ENODEV;
	/* A hypervisor's CPU with perfmon has classes IAF and IAP instead. */
	if (cpuid_eax(0) >= 10 && cpuid_eax(10) & 0xff)
		return -ENODEV;
	hwpmc_x86_held_init();
	if (!firmware_allows() || !hwpmc_x86_works(&p4_bank)) {
		hwpmc_x86_held_exit();
		return hwpmc_missing(cls, HWPMC_WHY_PMU_BROKEN, HWPMC_WHY_PMU_GUEST);
	}
	p4_model = c->x86_model;
	p4_has_threads = core_has_threads();
	cls->name = "P4";
	cls->id = HWPMC_CLASS_P4;
	cls->caps = HWPMC_CAPS_SELECT;
	cls->width = P4_WIDTH;
	cls->max_period = BIT_ULL(P4_WIDTH - 1) - 1;
	hwpmc_pmi_class(cls);
	cls->num = P4_NUM;
	cls->rdpmc_base = 0;
	cls->siblings_why = HWPMC_WHY_SIBLINGS;
	cls->priv = &p4_model;
	return 0;
}

static void p4_exit(struct hwpmc_class *cls)
{
	hwpmc_x86_held_exit();
}

static int p4_claim(struct hwpmc_class *cls, struct hwpmc_hdr *hdr)
{
	return hwpmc_x86_claim(&p4_bank, hdr);
}

/* ---- threads of a core ---------------------------------------------------- */

static int p4_cpu_online_irqoff(struct hwpmc_class *cls)
{
	if (!p4_has_threads)
		return 0;
	__this_cpu_write(p4_thread, CPUID1_APIC_ID(cpuid_ebx(1)) & 1);
	return hwpmc_siblings_online_irqoff();
}

static int p4_encode(const struct hwpmc_class *cls, const struct hwpmc_request *req,
		     struct hwpmc_encoding *enc)
{
	int sibling, err = hwpmc_p4_encode(cls, req, enc);

	if (err || !p4_has_threads)
		return err;
	if (!hwpmc_mode_is_system(req->mode)) {
		sibling = hwpmc_sibling_find();
		return sibling < 0 ? 0 :
		       hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_SIBLINGS, sibling);
	}
	/* Also while the sibling is offline: it may come back. */
	enc->rows &= per_cpu(p4_thread, req->cpu) ? P4_ROWS_THREAD1 : P4_ROWS_THREAD0;
	return enc->rows ? 0 :
	       hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
}

/* ---- registers ------------------------------------------------------------ */

/* Those of the thread `half` of this core. */
static void reset_half_irqoff(unsigned int half)
{
	unsigned int i;

	for (i = 0; i < P4_NUM; i++) {
		if (hwpmc_p4_half(i) != half)
			continue;
		this_cpu_write(p4_cccr[i], 0);
		hwpmc_x86_wrmsr_nmi(P4_CCCR(i), 0);
	}
	for (i = 0; i < HWPMC_P4_UNITS; i++)
		hwpmc_x86_wrmsr_nmi(hwpmc_p4_escr(i, half), 0);
}

static void p4_reset_irqoff(struct hwpmc_class *cls, bool on)
{
	unsigned int thread = __this_cpu_read(p4_thread);

	reset_half_irqoff(thread);
	if (!p4_has_threads || !hwpmc_has_sibling_online(smp_processor_id()))
		reset_half_irqoff(!thread);
	hwpmc_pmi_open_irqoff();
}

/*
 * The copy is written before the register: an NMI in between arms its row again and
 * writes the copy, and a row that is being stopped must not start again. Of such a row
 * p4_ack_nmi() clears the flag.
 */
static void write_cccr_nmi(unsigned int ri, u32 cccr)
{
	this_cpu_write(p4_cccr[ri], cccr);
	hwpmc_x86_wrmsr_nmi(P4_CCCR(ri), cccr);
}

static void p4_program_irqoff(struct hwpmc_class *cls, unsigned int ri,
			      const struct hwpmc_select *s)
{
	unsigned int thread = __this_cpu_read(p4_thread);
	unsigned int unit = s->extra;

	hwpmc_x86_wrmsr_nmi(hwpmc_p4_escr(unit, hwpmc_p4_half(ri)),
			    hwpmc_p4_escr_of_thread(s->sel >> 32, thread));
	write_cccr_nmi(ri, hwpmc_p4_cccr_of_thread(s->sel, thread));
}

static void p4_stop_nmi(struct hwpmc_class *cls, unsigned int ri)
{
	write_cccr_nmi(ri, 0);
}

/* An NMI that arms the row in between writes the same. */
static u32 p4_changed_irqoff(const struct hwpmc_class *cls, unsigned int ri,
			     const struct hwpmc_select *s)
{
	return hwpmc_x86_differs_irqoff(P4_CCCR(ri), this_cpu_read(p4_cccr[ri]),
					P4_CCCR_ENABLE | P4_CCCR_SELECT);
}

/*
 * An NMI between the two writes of write_cccr_nmi(): the flag of a row that is being
 * stopped must not outlive it, or it raises the next NMI as soon as this one ends, and
 * the register is never written. The other rows' flags are cleared as they are armed.
 */
static void p4_ack_nmi(struct hwpmc_class *cls, u64 rows)
{
	unsigned int ri;

	for_each_row(ri, rows)
		if (!this_cpu_read(p4_cccr[ri]))
			hwpmc_x86_wrmsr_nmi(P4_CCCR(ri), 0);
}

/*
 * By erratum N15 of the Pentium 4 a counter may take a value only when it is written
 * twice. It is stopped meanwhile: if it overflowed between the writes its flag would be
 * set, while the counter looked as if it had not overflowed. A CCCR raises its interrupt
 * as long as its overflow flag is set; the last write clears it.
 */
static void p4_write_nmi(struct hwpmc_class *cls, unsigned int ri, u64 value)
{
	u32 cccr = this_cpu_read(p4_cccr[ri]);

	value &= hwpmc_width_mask(P4_WIDTH);
	if (cccr)
		hwpmc_x86_wrmsr_nmi(P4_CCCR(ri), 0);
	hwpmc_x86_wrmsr_nmi(P4_CTR(ri), value);
	hwpmc_x86_wrmsr_nmi(P4_CTR(ri), value);
	if (cccr)
		hwpmc_x86_wrmsr_nmi(P4_CCCR(ri), cccr);
}

const struct hwpmc_class_ops hwpmc_p4_ops = {
	.probe = p4_probe,
	.exit = p4_exit,
	.hardware.claim = p4_claim,
	.hardware.release = hwpmc_x86_release,
	.hardware.running_irqoff = hwpmc_x86_running_all_irqoff,
	.hardware.state = hwpmc_x86_state,
	.hardware.taken_times = hwpmc_x86_taken_times,
	.cpu.online_irqoff = p4_cpu_online_irqoff,
	.cpu.reset_irqoff = p4_reset_irqoff,
	.encode = p4_encode,
	.row.program_irqoff = p4_program_irqoff,
	.row.stop_nmi = p4_stop_nmi,
	.row.changed_irqoff = p4_changed_irqoff,
	.row.write_nmi = p4_write_nmi,
	.interrupt.ack_nmi = p4_ack_nmi,
};
