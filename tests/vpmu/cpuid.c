// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * cpuid.c - the leaves that describe the PMU. Where QEMU fills the rest of a
 * leaf it runs natively and the PMU's bits are added right after.
 */
#include "vpmu.h"
#include "vpmu_guest.h"

static void answer(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	reg_write(RAX, a);
	reg_write(RBX, b);
	reg_write(RCX, c);
	reg_write(RDX, d);
}

bool cpuid_signature_option(const char *val)
{
	static const struct { const char *name, *signature; } known[] = {
		{ "kvm", "KVMKVMKVM\0\0" }, { "hyperv", "Microsoft Hv" },
		{ "vmware", "VMwareVMware" }, { "xen", "XenVMMXenVMM" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		if (!strcmp(val, known[i].name))
			cfg.signature = known[i].signature;
	return cfg.signature;
}

/* Programs alone: the kernel would speak to that hypervisor. */
static bool signature_answers(const struct site *s, uint32_t leaf)
{
	uint32_t r[3];

	if (!cfg.signature || s->mode != USER || leaf != 0x40000000)
		return false;
	memcpy(r, cfg.signature, sizeof(r));
	answer(0x40000001, r[0], r[1], r[2]);
	return true;
}

static bool machine_answers(struct vcpu *v, uint32_t leaf, uint32_t sub)
{
	const uint32_t *r = machine_leaf(v, leaf, sub);

	if (r)
		answer(r[0], r[1], r[2], r[3]);
	return r;
}

static void intel_leaf_a(void)
{
	uint32_t d = 0, c = 0;

	if (cfg.no_core) {
		answer(0, 0, 0, 0);
		return;
	}
	if (cfg.version >= 2)
		d = cfg.fixed | cfg.width << 5;
	if (cfg.version >= 5) {
		c = (1u << cfg.fixed) - 1;
		d |= 1u << 15;
	}
	answer(cfg.version | cfg.gp << 8 | cfg.width << 16 | 7 << 24, 0, c, d);
}

/* Leaf 7 of a named machine: the bits that speak of kinds of core. */
static bool patch_of_leaf_7(uint32_t sub, struct patch *p)
{
	if (!sub && machine_has_leaf_23())
		p->eax_min = 1;
	if (!sub && machine_is_hybrid())
		p->edx_or = 1 << 15;
	if (sub == 1 && machine_has_leaf_23())
		p->eax_or = 1 << 8;		/* ArchPerfmonExt */
	return p->eax_min || p->edx_or || p->eax_or;
}

static bool patch_of(uint32_t leaf, uint32_t sub, struct patch *p)
{
	if (cfg.p4)
		return false;
	if (cfg.machine && leaf == 7)
		return patch_of_leaf_7(sub, p);
	if (cfg.power && leaf == 6)
		p->ecx_or = 1;				/* APERF, MPERF */
	else if (cfg.no_core)
		return false;
	else if (!cfg.amd && leaf == 1)
		p->ecx_or = 1 << 15;			/* PDCM */
	else if (!cfg.amd && leaf == 0)
		p->eax_min = cfg.machine ? 0x23 : 0xa;
	else if (cfg.amd && leaf == 0x80000000 && (cfg.version >= 2 || cfg.ibs))
		p->eax_min = cfg.version >= 2 ? 0x80000022 : 0x8000001b;
	else if (cfg.amd && leaf == 0x80000001 && (cfg.version >= 1 || cfg.ibs))
		p->ecx_or = (cfg.version >= 1) << 23 | cfg.ibs << 10;	/* PerfCtrExtCore */
	else
		return false;
	return true;
}

/* The deadline counts from what the counters are known to have. */
static void arm_from_here(struct vcpu *v, int mode)
{
	struct board *b = board_of(v);

	counter_sync(v, b);
	counter_arm(v, b, mode);
}

/* True: done, go on after it. False: let it run, patched or not. */
bool cpuid_emulate(struct vcpu *v, struct site *s, uint64_t pc)
{
	uint32_t leaf = reg_read(RAX), sub = reg_read(RCX);
	struct patch p = { 0 };

	if (truth_cpuid(v, leaf)) {
		if (leaf - VPMU_LEAF == VPMU_KNOB ||
		    leaf - VPMU_LEAF == VPMU_FIRMWARE)
			arm_from_here(v, s->mode);
		return true;
	}
	if (machine_answers(v, leaf, sub) || signature_answers(s, leaf))
		return true;
	if (!cfg.amd && !cfg.p4 && leaf == 0xa) {
		intel_leaf_a();
		return true;
	}
	if (cfg.amd && !cfg.no_core && cfg.version >= 2 && leaf == 0x80000022) {
		answer(1 | 1 << 2, cfg.gp, 0, 0);	/* version 2; counters can freeze */
		return true;
	}
	if (cfg.ibs && leaf == 0x8000001b) {
		answer(cfg.ibs_caps, 0, 0, 0);
		return true;
	}
	if (cfg.tfa && leaf == 7 && !sub && s->mode == KERNEL)
		p = (struct patch){ .ebx_or = 1 << 11, .edx_or = 1 << 13 };
	if (p.ebx_or || patch_of(leaf, sub, &p)) {
		p.site = s;
		p.next = pc + s->next - s->off;
		v->patch = p;
		arm_from_here(v, s->mode);
	}
	return false;
}

void cpuid_apply_patch(struct vcpu *v, int mode)
{
	struct patch p = v->patch;
	uint32_t eax = reg_read(RAX);

	v->patch.site = NULL;
	if (p.eax_min && eax < p.eax_min)
		reg_write(RAX, p.eax_min);
	if (p.eax_or)
		reg_write(RAX, eax | p.eax_or);
	if (p.ebx_or)
		reg_write(RBX, (uint32_t)reg_read(RBX) | p.ebx_or);
	if (p.ecx_or)
		reg_write(RCX, (uint32_t)reg_read(RCX) | p.ecx_or);
	if (p.edx_or)
		reg_write(RDX, (uint32_t)reg_read(RDX) | p.edx_or);
	arm_from_here(v, mode);
}
