// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ibs.c - class IBS, AMD's instruction-based sampling: the hardware tags a fetch or an op, and
 * records its address, latencies and accesses. Contexts as in backend.h.
 *
 * The kernel sets up the interrupt at boot: an entry of the extended LVT, as NMI, which nothing
 * masks. So Val of a control register is the only evidence of an overflow.
 */
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>
#include <asm/perf_event.h>

#include "../compat/cpuid.h"
#include "../compat/msr.h"
#include "classes.h"
#include "ibs_encode.h"
#include "ibs_perf.h"
#include "hwpmc_log.h"	/* uapi */
#include "missing.h"

/* With fewer events left, an overflow may happen while the row is being stopped. */
#define CLOSE	256

/* State of a row on one CPU, accessed by this CPU with interrupts off and in its NMIs. */
struct ibs_row {
	u64 sel;		/* programmed; 0: stopped */
	u64 armed;		/* number of events to the overflow, when it was armed */
	u64 left;		/* number of them that are left while it is stopped; 0: overflowed */
	u64 ctl;		/* the control register where the last overflow was found */
	unsigned int rearmed;	/* how often, to be seen by code that an NMI interrupts */
};

static DEFINE_PER_CPU(struct ibs_row, ibs_rows[HWPMC_IBS_ROWS]);
static struct hwpmc_ibs ibs;	/* constant after load */

static const struct {
	const char *name;
	u32 cap, ctl, ctl2, address;
	u64 en, val;
} rows[] = {
	[HWPMC_IBS_ROW_FETCH] = { "FETCH", AMD_IBS_CAP_FETCH, AMD_IBS_MSR_FETCH_CTL,
				  AMD_IBS_MSR_FETCH_CTL2, AMD_IBS_MSR_FETCH_LINADDR,
				  AMD_IBS_FETCH_EN, AMD_IBS_FETCH_VAL },
	[HWPMC_IBS_ROW_OP] = { "OP", AMD_IBS_CAP_OP, AMD_IBS_MSR_OP_CTL, AMD_IBS_MSR_OP_CTL2,
			       AMD_IBS_MSR_OP_RIP, AMD_IBS_OP_EN, AMD_IBS_OP_VAL },
};

static struct hwpmc_class *ibs_class;	/* constant after load */

static noinline void note_fault_nmi(u32 msr)
{
	cmpxchg(&ibs_class->read_fault, 0, msr);
}

static __always_inline u64 ibs_rdmsr_nmi(u32 msr)
{
	u64 value;

	if (likely(!hwpmc_rdmsr_direct(msr, &value)))
		return value;
	note_fault_nmi(msr);
	return 0;
}

static __always_inline void ibs_wrmsr_nmi(u32 msr, u64 value)
{
	if (unlikely(hwpmc_wrmsr_direct(msr, value)))
		note_fault_nmi(msr);
}

/* ---- life of the class ------------------------------------------------------- */

static u32 ibs_read_caps(void)
{
	if (!boot_cpu_has(X86_FEATURE_IBS) || cpuid_eax(0x80000000) < AMD_IBS_CPUID)
		return 0;
	return cpuid_eax(AMD_IBS_CPUID) ?: AMD_IBS_CAP_FETCH | AMD_IBS_CAP_OP;
}

static int ibs_probe(struct hwpmc_class *cls)
{
	u32 caps;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_AMD &&
	    boot_cpu_data.x86_vendor != X86_VENDOR_HYGON)
		return -ENODEV;
	caps = ibs_read_caps();
	if (!caps || !boot_cpu_has(X86_FEATURE_APIC))
		return hwpmc_missing(cls, HWPMC_WHY_CLASS_NONE, HWPMC_WHY_CLASS_GUEST);
	/* The kernel found no entry of the LVT that firmware has assigned. */
	if (!get_ibs_caps())
		return hwpmc_missing(cls, HWPMC_WHY_IBS_ENTRY, HWPMC_WHY_IBS_ENTRY);
	if (!hwpmc_ibs_perf_init()) {
		cls->refusal.reason = HWPMC_WHY_CLASS_NONE;
		return -ENODEV;
	}
	hwpmc_ibs_describe(&ibs, caps, boot_cpu_data.x86, boot_cpu_data.x86_model);
	cls->name = "IBS";
	cls->id = HWPMC_CLASS_IBS;
	cls->caps = HWPMC_CAP_INTERRUPT | HWPMC_CAP_USER | HWPMC_CAP_SYSTEM |
		    HWPMC_CAP_QUALIFIER | HWPMC_CAP_PRECISE;
	cls->payloads = HWPMC_F_EXACT | HWPMC_F_MEMORY |
			(ibs.caps & AMD_IBS_CAP_BRTARGET ? HWPMC_F_BRANCHES : 0);
	cls->width = 64;	/* nothing that wraps has to be read */
	cls->num = HWPMC_IBS_ROWS;
	cls->rdpmc_base = -1;
	cls->max_period = HWPMC_IBS_MAX_PERIOD;
	cls->nmi = true;
	cls->own_faults = true;
	ibs_class = cls;
	return 0;
}

static void ibs_exit(struct hwpmc_class *cls)
{
	hwpmc_ibs_perf_exit();
}

static bool has_ctl2(void)
{
	return ibs.caps & AMD_IBS_CAP_DIS;
}

/* The enable bit may stay set where the second control register disables the sampler. */
static bool is_enabled(unsigned int ri)
{
	u64 ctl, ctl2;

	if (!(ibs.caps & rows[ri].cap) || hwpmc_rdmsr_safe(rows[ri].ctl, &ctl) || !(ctl & rows[ri].en))
		return false;
	return !has_ctl2() || hwpmc_rdmsr_safe(rows[ri].ctl2, &ctl2) || !(ctl2 & AMD_IBS_CTL2_DIS);
}

static void find_enabled_ipi(void *arg)
{
	atomic_t *found = arg;
	unsigned int ri;

	for (ri = 0; ri < HWPMC_IBS_ROWS; ri++)
		if (is_enabled(ri))
			atomic_set(found, rows[ri].ctl);
}

/* The control register of a sampler that is enabled on some CPU, 0: none is. */
static u32 find_enabled(void)
{
	atomic_t found = ATOMIC_INIT(0);

	on_each_cpu(find_enabled_ipi, &found, 1);
	return atomic_read(&found);
}

/*
 * The first look spares perf's events where the claim will be refused: a start that is ignored is
 * not repeated (ibs_perf.h).
 */
static int ibs_claim(struct hwpmc_class *cls, struct hwpmc_hdr *hdr)
{
	u32 msr = find_enabled();

	if (!msr) {
		hwpmc_ibs_perf_keep_out();
		msr = find_enabled();
	}
	if (likely(!msr))
		return 0;
	hwpmc_ibs_perf_let_in();
	return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_IBS_IN_USE, msr);
}

static void ibs_release(struct hwpmc_class *cls)
{
	u32 msr = READ_ONCE(cls->read_fault);

	if (unlikely(msr))
		pr_warn_ratelimited("access to MSR %#x has faulted: samples of IBS are missing\n",
				    msr);
	hwpmc_ibs_perf_let_in();
}

/* Erratum 420: an interrupt of a sampler that is disabled with MaxCnt set cannot be cleared. */
static void disable_nmi(unsigned int ri)
{
	if (unlikely(ibs.stop_in_two))
		ibs_wrmsr_nmi(rows[ri].ctl, rows[ri].en);
	ibs_wrmsr_nmi(rows[ri].ctl, 0);
}

/* A row that was armed before, as a CPU goes offline that still switches tasks, stays armed. */
static void ibs_reset_irqoff(struct hwpmc_class *cls, bool on)
{
	unsigned int ri;

	for (ri = 0; ri < HWPMC_IBS_ROWS; ri++) {
		this_cpu_ptr(&ibs_rows[ri])->sel = 0;
		if (!(ibs.caps & rows[ri].cap))
			continue;
		/* A late interrupt follows where one was enabled alone. */
		if (ibs_rdmsr_nmi(rows[ri].ctl) & rows[ri].en)
			disable_nmi(ri);
		else
			ibs_wrmsr_nmi(rows[ri].ctl, 0);
		/* perf of older kernels does not write it. */
		if (has_ctl2())
			ibs_wrmsr_nmi(rows[ri].ctl2, 0);
	}
}

/* ---- rows -------------------------------------------------------------------- */

static int ibs_encode(const struct hwpmc_class *cls, const struct hwpmc_request *req,
		      struct hwpmc_encoding *enc)
{
	return hwpmc_ibs_encode(&ibs, req, enc);
}

static void write_ctl_nmi(unsigned int ri, u64 ctl)
{
	if (unlikely(ibs.fetch_keeps) && ri == HWPMC_IBS_ROW_FETCH)
		ibs_wrmsr_nmi(rows[ri].ctl, ctl & ~AMD_IBS_FETCH_EN);
	ibs_wrmsr_nmi(rows[ri].ctl, ctl);
}

static void ibs_program_irqoff(struct hwpmc_class *cls, unsigned int ri,
			       const struct hwpmc_select *s)
{
	struct ibs_row *r = this_cpu_ptr(&ibs_rows[ri]);

	if (has_ctl2())
		ibs_wrmsr_nmi(rows[ri].ctl2, s->extra);
	WRITE_ONCE(r->sel, s->sel);
	/* Its NMI finds it programmed. */
	barrier();
	write_ctl_nmi(ri, hwpmc_ibs_armed_nmi(&ibs, ri, s->sel, r->armed));
	/* An NMI in between has paused sampling, and found it disabled. */
	if (unlikely(!READ_ONCE(r->sel)))
		disable_nmi(ri);
}

static u64 events_left_nmi(unsigned int ri, const struct ibs_row *r)
{
	u64 ctl = ibs_rdmsr_nmi(rows[ri].ctl);

	/* The NMI that stops it hit ibs_program_irqoff(), which had not enabled it yet. */
	if (unlikely(!(ctl & rows[ri].en)))
		return r->armed;
	if (ctl & rows[ri].val)
		return 0;
	return hwpmc_ibs_left_nmi(&ibs, ri, ctl, r->armed);
}

/* Where the sampler can be disabled by a register of its own, the other one holds what it had. */
static u64 stop_by_ctl2_nmi(unsigned int ri, const struct ibs_row *r)
{
	u64 left;

	ibs_wrmsr_nmi(rows[ri].ctl2, AMD_IBS_CTL2_DIS);
	left = events_left_nmi(ri, r);
	disable_nmi(ri);
	return left;
}

/*
 * Disables a running row. Returns the events that it has left, or 0 if it has overflowed. The
 * write clears Val of an overflow that happens between the read and the write, so where one is close, the address that
 * it records there shows it. A processor may refuse to have that register cleared.
 */
static u64 stop_running_nmi(unsigned int ri, const struct ibs_row *r)
{
	u64 left = events_left_nmi(ri, r);
	bool close = left && left < CLOSE && !hwpmc_wrmsr_safe(rows[ri].address, 0);

	if (unlikely(close))
		left = events_left_nmi(ri, r);
	disable_nmi(ri);
	return close && ibs_rdmsr_nmi(rows[ri].address) ? 0 : left;
}

static void ibs_stop_nmi(struct hwpmc_class *cls, unsigned int ri)
{
	struct ibs_row *r = this_cpu_ptr(&ibs_rows[ri]);
	unsigned int rearmed = READ_ONCE(r->rearmed);
	u64 left;

	if (!r->sel)
		return;
	left = has_ctl2() ? stop_by_ctl2_nmi(ri, r) : stop_running_nmi(ri, r);
	/* An NMI has paused sampling in between, and set .left. */
	if (unlikely(!READ_ONCE(r->sel)))
		return;
	/* An NMI handled an overflow in between, and armed the row again. */
	r->left = READ_ONCE(r->rearmed) == rearmed ? left : r->armed;
	WRITE_ONCE(r->sel, 0);
}

/* Sampling has no counts; this shows that the row runs. */
static u64 ibs_read_irqoff(struct hwpmc_class *cls, unsigned int ri)
{
	const struct ibs_row *r = this_cpu_ptr(&ibs_rows[ri]);
	u64 ctl;

	if (!r->sel)
		return -r->left;
	ctl = ibs_rdmsr_nmi(rows[ri].ctl);
	return ctl & rows[ri].val ? 0 : -hwpmc_ibs_left_nmi(&ibs, ri, ctl, r->armed);
}

/* ---- samples ----------------------------------------------------------------- */

/* Val may be set late in a sampler that is disabled: that is no overflow of the row's period. */
static bool ibs_overflowed_nmi(struct hwpmc_class *cls, unsigned int ri)
{
	struct ibs_row *r = this_cpu_ptr(&ibs_rows[ri]);

	if (!READ_ONCE(r->sel))
		return false;
	r->ctl = ibs_rdmsr_nmi(rows[ri].ctl);
	return !(~r->ctl & (rows[ri].val | rows[ri].en));
}

static void ibs_rearm_nmi(struct hwpmc_class *cls, unsigned int ri, u64 n)
{
	struct ibs_row *r = this_cpu_ptr(&ibs_rows[ri]);

	r->armed = n;
	r->left = n;
	WRITE_ONCE(r->rearmed, r->rearmed + 1);
	if (r->sel)
		write_ctl_nmi(ri, hwpmc_ibs_rearmed_nmi(&ibs, ri, r->sel, n, r->ctl));
}

static u64 ibs_left_irqoff(struct hwpmc_class *cls, unsigned int ri)
{
	return this_cpu_ptr(&ibs_rows[ri])->left;
}

static void take_word_nmi(struct hwpmc_payload *p, unsigned int word, u32 msr)
{
	p->word[word] = ibs_rdmsr_nmi(msr);
	p->present |= BIT_ULL(word);
}

/* Did the load take as long as the filter wants? Hardware lets others pass. */
static bool is_slow_load(u64 sel, u64 data3)
{
	u64 least = (((sel & AMD_IBS_OP_LDLAT_MASK) >> AMD_IBS_OP_LDLAT_SHIFT) + 1) * 128;

	return data3 & AMD_IBS_DATA3_LOAD &&
	       (data3 >> AMD_IBS_DATA3_LAT_SHIFT & AMD_IBS_DATA3_LAT_MASK) >= least;
}

static void take_memory_nmi(struct hwpmc_payload *p, u64 data3)
{
	if ((data3 & AMD_IBS_DATA3_LOAD && data3 & AMD_IBS_DATA3_MISS) ||
	    (data3 & AMD_IBS_DATA3_STORE && ibs.caps & AMD_IBS_CAP_STREAM))
		take_word_nmi(p, HWPMC_IBS_OP_DATA2, AMD_IBS_MSR_OP_DATA2);
	if (data3 & AMD_IBS_DATA3_LIN_VALID)
		take_word_nmi(p, HWPMC_IBS_OP_DC_LINADDR, AMD_IBS_MSR_DC_LINADDR);
	if (data3 & AMD_IBS_DATA3_PHYS_VALID)
		take_word_nmi(p, HWPMC_IBS_OP_DC_PHYSADDR, AMD_IBS_MSR_DC_PHYSADDR);
}

static void op_payload_nmi(const struct ibs_row *r, u32 flags, struct hwpmc_payload *p)
{
	const u64 *word = p->word;
	u64 data = 0;

	p->kind = HWPMC_PRECISE_IBS_OP;
	p->virtual = BIT(HWPMC_IBS_OP_DC_LINADDR) | BIT(HWPMC_IBS_OP_BRTARGET);
	p->physical = BIT(HWPMC_IBS_OP_DC_PHYSADDR);
	if (flags & (HWPMC_F_MEMORY | HWPMC_F_BRANCHES)) {
		take_word_nmi(p, HWPMC_IBS_OP_DATA, AMD_IBS_MSR_OP_DATA);
		data = word[HWPMC_IBS_OP_DATA];
	} else if (ibs.caps & AMD_IBS_CAP_RIPINVALID) {
		data = ibs_rdmsr_nmi(AMD_IBS_MSR_OP_DATA);
	}
	if (likely(!(ibs.caps & AMD_IBS_CAP_RIPINVALID && data & AMD_IBS_DATA_RIP_INVALID)))
		p->pc = ibs_rdmsr_nmi(AMD_IBS_MSR_OP_RIP);
	/* 0: stop_running_nmi() cleared it after the overflow. */
	p->exact = p->pc;
	if (flags & HWPMC_F_BRANCHES && data & AMD_IBS_DATA_BRANCH)
		take_word_nmi(p, HWPMC_IBS_OP_BRTARGET, AMD_IBS_MSR_BRTARGET);
	if (!(flags & HWPMC_F_MEMORY || r->sel & AMD_IBS_OP_LDLAT_EN))
		return;
	take_word_nmi(p, HWPMC_IBS_OP_DATA3, AMD_IBS_MSR_OP_DATA3);
	p->useless = r->sel & AMD_IBS_OP_LDLAT_EN && !is_slow_load(r->sel, word[HWPMC_IBS_OP_DATA3]);
	if (flags & HWPMC_F_MEMORY)
		take_memory_nmi(p, word[HWPMC_IBS_OP_DATA3]);
	else
		p->present &= ~BIT_ULL(HWPMC_IBS_OP_DATA3);
}

static void fetch_payload_nmi(const struct ibs_row *r, u32 flags, struct hwpmc_payload *p)
{
	p->kind = HWPMC_PRECISE_IBS_FETCH;
	p->physical = BIT(HWPMC_IBS_FETCH_PHYSADDR);
	p->exact = true;
	p->pc = ibs_rdmsr_nmi(AMD_IBS_MSR_FETCH_LINADDR);
	/* Erratum 1197: the address was not recorded. */
	p->useless = !p->pc;
	if (!(flags & HWPMC_F_MEMORY))
		return;
	p->word[HWPMC_IBS_FETCH_CTL] = r->ctl;
	p->present |= BIT(HWPMC_IBS_FETCH_CTL);
	if (ibs.caps & AMD_IBS_CAP_EXTCTL)
		take_word_nmi(p, HWPMC_IBS_FETCH_EXTCTL, AMD_IBS_MSR_FETCH_EXTCTL);
	if (r->ctl & AMD_IBS_FETCH_PHYS_VALID)
		take_word_nmi(p, HWPMC_IBS_FETCH_PHYSADDR, AMD_IBS_MSR_FETCH_PHYSADDR);
}

static void ibs_payload_nmi(struct hwpmc_class *cls, unsigned int ri, u32 flags,
			    struct hwpmc_payload *p)
{
	const struct ibs_row *r = this_cpu_ptr(&ibs_rows[ri]);

	if (ri == HWPMC_IBS_ROW_OP)
		op_payload_nmi(r, flags, p);
	else
		fetch_payload_nmi(r, flags, p);
}

static const struct hwpmc_sampler ibs_sampler = {
	.overflowed_nmi = ibs_overflowed_nmi,
	.payload_nmi = ibs_payload_nmi,
	.rearm_nmi = ibs_rearm_nmi,
	.left_irqoff = ibs_left_irqoff,
	.late_nmi = true,
};

/* ---- names ------------------------------------------------------------------- */

static const char *ibs_event_at(const struct hwpmc_class *cls, unsigned int place, u32 *ev)
{
	if (place >= ARRAY_SIZE(rows))
		return NULL;
	*ev = HWPMC_EV_IBS_FETCH + place;
	return rows[place].name;
}

static const char *ibs_event_name(const struct hwpmc_class *cls, u32 ev)
{
	u32 ri = ev - HWPMC_EV_IBS_FETCH;

	return ri < ARRAY_SIZE(rows) ? rows[ri].name : NULL;
}

static const char *ibs_row_name(unsigned int ri)
{
	return rows[ri].name;
}

const struct hwpmc_class_ops hwpmc_ibs_ops = {
	.probe = ibs_probe,
	.exit = ibs_exit,
	.hardware.claim = ibs_claim,
	.hardware.release = ibs_release,
	.cpu.reset_irqoff = ibs_reset_irqoff,
	.encode = ibs_encode,
	.row.program_irqoff = ibs_program_irqoff,
	.row.stop_nmi = ibs_stop_nmi,
	.row.read_irqoff = ibs_read_irqoff,
	.events.at = ibs_event_at,
	.events.name = ibs_event_name,
	.interrupt.sampler = &ibs_sampler,
	.row.name = ibs_row_name,
};
