// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * emulate.c - what runs in the place of CPUID, RDMSR, WRMSR, RDPMC and RDTSC, and at
 * loads of CR3: a callback before the instruction, which may do all of it and
 * go on after it, or let it run natively.
 */
#include "vpmu.h"

#define MSR_TSC		0x10
#define MSR_MISC_ENABLE	0x1a0

/*
 * QEMU shares a translated block between all virtual addresses its physical
 * page is mapped at (CF_PCREL), so the address seen at translation may not be
 * the one executed; they differ by a multiple of the page size.  RIP is exact
 * at a block's start, and somewhere within the block later on.
 */
static uint64_t site_pc(struct site *s)
{
	return s->start + ((reg_read(RIP) - s->start) & ~0xfffULL) + s->off;
}

static uint64_t pc_after(struct site *s, uint64_t pc)
{
	return pc + s->next - s->off;
}

/*
 * Go on at an address without having run the instruction. QEMU may have left status
 * flags in the middle of their computation, and what it makes of that may have any
 * bit set, IF too: should an interrupt come before the next instruction, its frame
 * gets the flags that there were (discon.c).
 */
static void __attribute__((noreturn)) go_on_at(struct vcpu *v, struct board *b,
					       int mode, uint64_t pc)
{
	v->resume_pc = pc;
	v->resume_flags = reg_read(EFLAGS);
	v->resume_mark = retired(v, b, mode);
	flags_bound(v);
	qemu_plugin_set_pc(pc);
}

/*
 * Make the RDMSR or WRMSR about to run raise #GP(0): no interface call does
 * that, but an x2APIC register does while the APIC is in xAPIC mode.  The
 * guest's own RCX is put back when the exception is taken.
 */
static void provoke_gp(struct vcpu *v)
{
	v->saved_rcx = reg_read(RCX);
	v->armed = ARMED_RCX;
	v->n_gp++;
	reg_write(RCX, 0x8ff);
}

/*
 * The same for RDPMC, which QEMU lets raise #UD instead: a fetch from a
 * non-canonical address is a #GP(0), whose return address is put right when
 * the exception is taken.
 */
static void provoke_gp_at(struct vcpu *v, uint64_t pc)
{
	v->fault_pc = pc;
	v->armed = ARMED_PC;
	v->n_gp++;
	qemu_plugin_set_pc(1ULL << 63);
}

enum access msr_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	enum access a;

	if (power_read(v, board_of(v), msr, x))
		return DONE;
	if (cfg.no_core)
		return NATIVE;
	if (cfg.p4)
		return msr_p4_read(v, msr, x);
	if (cfg.amd) {
		a = msr_amd_read(v, msr, x);
		a = a == NATIVE ? ibs_read(v, msr, x) : a;
	} else {
		a = msr_intel_read(v, msr, x);
	}
	return a == NATIVE ? beside_read(v, msr, x) : a;
}

enum access msr_write(struct vcpu *v, uint32_t msr, uint64_t x)
{
	enum access a;

	if (cfg.no_core)
		return NATIVE;
	if (cfg.p4)
		return msr_p4_write(v, msr, x);
	if (cfg.amd) {
		a = msr_amd_write(v, msr, x);
		a = a == NATIVE ? ibs_write(v, msr, x) : a;
	} else {
		a = msr_intel_write(v, msr, x);
	}
	return a == NATIVE ? beside_write(v, msr, x) : a;
}

enum msr_class msr_class_of(struct vcpu *v, uint32_t msr)
{
	if (cfg.p4)
		return msr_p4_class(msr);
	return cfg.amd ? msr_amd_class(msr) : msr_intel_class(v, msr);
}

static enum access do_rdmsr(struct vcpu *v, struct site *s, uint32_t msr,
			    uint64_t pc)
{
	enum access a;
	uint64_t x = 0;

	a = msr_read(v, msr, &x);
	if (a == DONE) {
		v->n_rdmsr++;
		v->n_rdmsr_class[msr_class_of(v, msr)]++;
		reg_write(RAX, (uint32_t)x);
		reg_write(RDX, x >> 32);
		trace(v, "RDMSR %x = %" PRIx64 " pc=%" PRIx64, msr, x, pc);
	} else if (a == NATIVE) {
		v->n_rdmsr_native++;
		if (!cfg.amd && !cfg.no_core && msr == MSR_MISC_ENABLE)
			v->patch = (struct patch){
				.site = s, .next = pc_after(s, pc),
				.eax_or = 1 << 7 | 1 << 11 | 1 << 12,
			};
	}
	return a;
}

static uint64_t wrmsr_value(void)
{
	return (uint32_t)reg_read(RAX) | reg_read(RDX) << 32;
}

/* QEMU ignores a WRMSR to the TSC. A vCPU that wrote it runs on the host's, with a distance. */
static void set_tsc(struct vcpu *v, uint64_t x)
{
	v->tsc_set = x - __builtin_ia32_rdtsc();
	trace(v, "TSC = %" PRIx64, x);
}

static enum access do_wrmsr(struct vcpu *v, uint32_t msr, uint64_t pc)
{
	uint64_t x = wrmsr_value();
	struct control before;
	enum access a;

	manners_control(v, &before);
	a = msr_write(v, msr, x);
	manners_written(v, &before);
	if (a == DONE) {
		v->n_wrmsr++;
		v->n_wrmsr_class[msr_class_of(v, msr)]++;
		trace(v, "WRMSR %x = %" PRIx64 " pc=%" PRIx64, msr, x, pc);
	} else if (a == NATIVE) {
		v->n_wrmsr_native++;
		if (cfg.tsc && msr == MSR_TSC)
			set_tsc(v, x);
	} else {
		trace(v, "#GP msr=%x val=%" PRIx64 " pc=%" PRIx64, msr, x, pc);
	}
	return a;
}

static void emulate_msr(struct vcpu *v, struct board *b, struct site *s)
{
	uint32_t msr = reg_read(RCX);
	enum access a;
	uint64_t pc;

	if (s->mode == USER)
		return;				/* native: #GP */
	pc = site_pc(s);

	/* The count of this instruction itself is not yet to be seen. */
	b->tick[s->mode] -= TICK;
	counter_sync(v, b);
	if (inject_refuses(v, msr, s->kind == K_WRMSR,
			   s->kind == K_WRMSR ? wrmsr_value() : 0))
		a = FAULT;
	else if (s->kind == K_RDMSR)
		a = do_rdmsr(v, s, msr, pc);
	else
		a = do_wrmsr(v, msr, pc);
	b->tick[s->mode] += TICK;
	if (a != FAULT)
		manners_emulated(v, b, s->mode);
	if (a == DONE)
		counter_reconfigure(v, b);
	counter_arm(v, b, s->mode);
	if (a == FAULT)
		provoke_gp(v);
	else if (a == DONE && s->kind == K_RDMSR)
		go_on_at(v, b, s->mode, pc_after(s, pc));
	else if (a == DONE)
		inject_hold(v, msr);
	/* A WRMSR runs natively, too: QEMU ignores what it does not know. */
}

/* Which counter RDPMC means; -1: none. */
static int rdpmc_index(struct vcpu *v, uint32_t n)
{
	if (cfg.no_core)
		return -1;
	if (cfg.amd)
		return n < (uint32_t)cfg.gp ? (int)n : -1;
	if (cfg.p4)			/* bit 31: the low half alone, not emulated */
		return n < (uint32_t)cfg.gp ? (int)n : -1;
	if (n & 1u << 30)
		return machine_has_fixed(v, n & 0xffff) && cfg.version >= 2 ?
		       FIXED0 + (int)(n & 0xffff) : -1;
	n &= 0x7fffffff;
	return machine_has_gp(v, n) ? (int)n : -1;
}

static void emulate_rdpmc(struct vcpu *v, struct board *b, struct site *s)
{
	uint32_t n = reg_read(RCX);
	int i = rdpmc_index(v, n);
	uint64_t x, pc;

	if (s->mode == USER && !(reg_read(CR4) & 1 << 8))
		return;				/* native: #GP */
	pc = site_pc(s);
	if (i < 0 || inject_refuses_rdpmc(v, s->mode) ||
	    (s->mode == USER && v->knob[KNOB_NO_USER_RDPMC]) ||
	    (s->mode != USER && manners_refuse_rdpmc(v, n))) {
		trace(v, "#GP rdpmc=%x pc=%" PRIx64, n, pc);
		provoke_gp_at(v, pc);
	}
	b->tick[s->mode] -= TICK;
	counter_sync(v, b);
	x = cfg.p4 ? p4_register_any(v, 0x300 + i) : counter_seen(v, manners_rdpmc(v, i));
	if (!cfg.p4 && !cfg.amd && s->mode == USER && msr_intel_hides(v, i))
		x = 0;
	b->tick[s->mode] += TICK;
	manners_emulated(v, b, s->mode);
	v->n_rdpmc++;
	trace(v, "RDPMC %x = %" PRIx64 " pc=%" PRIx64, n, x, pc);
	reg_write(RAX, (uint32_t)x);
	reg_write(RDX, x >> 32);
	counter_arm(v, b, s->mode);
	go_on_at(v, b, s->mode, pc_after(s, pc));
}

static void emulate_cpuid(struct vcpu *v, struct site *s)
{
	uint64_t pc = site_pc(s);

	manners_emulated(v, board_of(v), s->mode);
	if (!cpuid_emulate(v, s, pc))
		return;
	v->n_cpuid++;
	go_on_at(v, board_of(v), s->mode, pc_after(s, pc));
}

static void emulate_rdtsc(struct vcpu *v, struct site *s)
{
	uint64_t x, pc;

	if (!v->tsc_set)
		return;				/* native */
	pc = site_pc(s);
	x = __builtin_ia32_rdtsc() + v->tsc_set;
	reg_write(RAX, (uint32_t)x);
	reg_write(RDX, x >> 32);
	go_on_at(v, board_of(v), s->mode, pc_after(s, pc));
}

void emulate_site(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);
	struct site *s = data;

	switch (s->kind) {
	case K_CPUID: emulate_cpuid(v, s); break;
	case K_RDMSR:
	case K_WRMSR: emulate_msr(v, board_of(v), s); break;
	case K_RDPMC: emulate_rdpmc(v, board_of(v), s); break;
	case K_RDTSC: emulate_rdtsc(v, s); break;
	case K_CR3:
		if (s->mode == KERNEL)
			truth_cr3(v, reg_read(s->reg));
		break;
	}
}

/* On the instruction after a CPUID or RDMSR in the same block. */
void emulate_after(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);
	struct site *s = data;

	if (v->patch.site == s)
		cpuid_apply_patch(v, s->mode);
}
