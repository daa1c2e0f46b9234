// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * truth.c - what the guest may ask at any privilege by CPUID (vpmu_guest.h):
 * totals of vCPUs and of address spaces, counts of accesses, the registers.
 * Each vCPU's totals go to the space it leaves at each load of CR3; the lock
 * covers the table, the entries, and every vCPU's `space` and `base`.
 */
#include <pthread.h>

#include "vpmu.h"
#include "vpmu_guest.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct space_table spaces;

/* MOV to CR3, about to run: this vCPU goes from one space to another. */
void truth_cr3(struct vcpu *v, uint64_t cr3)
{
	uint64_t key = space_key(cr3, cfg.pti);
	struct totals now, delta;

	if (v->space && v->space->key == key)
		return;
	v->n_cr3++;
	pthread_mutex_lock(&lock);
	counter_totals(v, &now);
	if (v->space) {
		delta = now;
		totals_sub(&delta, &v->base);
		totals_add(&v->space->done[v->kind], &delta);
	}
	v->base = now;
	v->space = space_get(&spaces, key);
	pthread_mutex_unlock(&lock);
}

/* On the vCPUs of one kind; ALL_KINDS: on all. */
#define ALL_KINDS	(~0u)

static void kind_totals(const struct space *s, unsigned int kind, struct totals *sum)
{
	*sum = (struct totals){ 0 };
	for (unsigned int k = 0; k < SPACE_KINDS; k++)
		if (kind == ALL_KINDS || kind == k)
			totals_add(sum, &s->done[k]);
	for (int i = 0; i < vcpus_seen; i++) {
		struct totals t;

		if (vcpus[i].space != s ||
		    (kind != ALL_KINDS && vcpus[i].kind != kind))
			continue;
		counter_totals_any(&vcpus[i], &t);
		totals_sub(&t, &vcpus[i].base);
		totals_add(sum, &t);
	}
}

static void space_totals(const struct space *s, struct totals *sum)
{
	kind_totals(s, ALL_KINDS, sum);
}

static void all_totals(struct totals *sum)
{
	*sum = (struct totals){ 0 };
	for (int i = 0; i < vcpus_seen; i++) {
		struct totals t;

		counter_totals_any(&vcpus[i], &t);
		totals_add(sum, &t);
	}
}

static uint64_t pick(const struct totals *t, unsigned int counter)
{
	switch (counter) {
	case VPMU_USER_INSN:	 return t->insn[USER];
	case VPMU_KERNEL_INSN:	 return t->insn[KERNEL];
	case VPMU_USER_BRANCH:	 return t->branch[USER];
	case VPMU_KERNEL_BRANCH: return t->branch[KERNEL];
	case VPMU_USER_LOAD:	 return t->load[USER];
	case VPMU_KERNEL_LOAD:	 return t->load[KERNEL];
	case VPMU_USER_STORE:	 return t->store[USER];
	case VPMU_KERNEL_STORE:	 return t->store[KERNEL];
	}
	return 0;
}

static uint64_t since(struct space *s, unsigned int sub)
{
	struct totals own, all;

	space_totals(s, &own);
	all_totals(&all);
	totals_sub(&own, &s->mark_own);
	totals_sub(&all, &s->mark_all);
	switch (sub >> 8) {
	case VPMU_SINCE_OWN: return pick(&own, sub & 0xff);
	case VPMU_SINCE_ALL: return pick(&all, sub & 0xff);
	case VPMU_SINCE_OTHERS:
		return pick(&all, sub & 0xff) - pick(&own, sub & 0xff);
	}
	return 0;
}

/* The leaves about one space; NULL: no CR3 was loaded yet, or no such key. */
static uint64_t space_query(struct space *s, uint32_t leaf, uint32_t sub)
{
	struct totals t = { 0 };

	if (!s)
		return 0;
	switch (leaf) {
	case VPMU_KEY:
		return s->key;
	case VPMU_OWN:
	case VPMU_SPACE:
		space_totals(s, &t);
		return pick(&t, sub);
	case VPMU_SPACE_KIND:
		kind_totals(s, sub >> 8, &t);
		return pick(&t, sub & 0xff);
	case VPMU_MARK:
		space_totals(s, &s->mark_own);
		all_totals(&s->mark_all);
		return 0;
	case VPMU_SINCE:
		return since(s, sub);
	}
	return 0;
}

static uint64_t space_leaf(struct vcpu *v, uint32_t leaf, uint32_t sub,
			   uint64_t arg)
{
	uint64_t x;

	pthread_mutex_lock(&lock);
	x = space_query(leaf == VPMU_SPACE || leaf == VPMU_SPACE_KIND ?
			space_find(&spaces, arg) : v->space,
			leaf, sub);
	pthread_mutex_unlock(&lock);
	return x;
}

static uint64_t access_of(struct vcpu *v, uint32_t what)
{
	if (what - VPMU_N_RDMSR_CLASS < MSR_CLASSES)
		return v->n_rdmsr_class[what - VPMU_N_RDMSR_CLASS];
	if (what - VPMU_N_WRMSR_CLASS < MSR_CLASSES)
		return v->n_wrmsr_class[what - VPMU_N_WRMSR_CLASS];
	switch (what) {
	case VPMU_N_RDMSR:	  return v->n_rdmsr;
	case VPMU_N_WRMSR:	  return v->n_wrmsr;
	case VPMU_N_RDPMC:	  return v->n_rdpmc;
	case VPMU_N_OVERFLOW:	  return v->n_overflow;
	case VPMU_N_PMI:	  return v->n_pmi;
	case VPMU_N_PMI_NMI:	  return v->n_pmi_nmi;
	case VPMU_N_PMI_MASKED:	  return v->n_pmi_masked;
	case VPMU_N_GP:		  return v->n_gp;
	case VPMU_N_CPUID:	  return v->n_cpuid;
	case VPMU_N_INTERRUPT:	  return v->n_int;
	case VPMU_N_EXCEPTION:	  return v->n_exc;
	case VPMU_N_CR3:	  return v->n_cr3;
	case VPMU_N_RDMSR_NATIVE: return v->n_rdmsr_native;
	case VPMU_N_WRMSR_NATIVE: return v->n_wrmsr_native;
	case VPMU_N_LOST:	  return v->n_lost;
	case VPMU_N_DOUBLED:	  return v->n_doubled;
	case VPMU_N_STORM:	  return v->n_storm;
	case VPMU_N_OVERFLOW_INT: return v->n_overflow_int;
	case VPMU_N_UNMASKED:	  return v->n_unmasked;
	case VPMU_N_RENEWED:	  return v->n_renewed;
	case VPMU_N_HELD_OUT:	  return v->n_held_out;
	case VPMU_N_SHORT:	  return v->n_short;
	case VPMU_N_OPENED:	  return v->n_opened;
	case VPMU_N_OPEN_LATE:	  return v->n_open_late;
	case VPMU_N_IBS:	  return v->ibs.seen[VPMU_IBS_NMI];
	}
	return 0;
}

static uint64_t access_leaf(uint32_t what, uint64_t arg)
{
	uint64_t sum = 0;

	for (int i = 0; i < vcpus_seen; i++)
		if (arg == VPMU_ALL_VCPUS || arg == (uint64_t)i)
			sum += access_of(&vcpus[i], what);
	return sum;
}

static uint64_t reg_leaf(uint32_t reg, uint64_t arg)
{
	struct vcpu *v;

	if (arg >= (uint64_t)vcpus_seen)
		return 0;
	v = &vcpus[arg];
	if (cfg.p4 && reg - VPMU_REG_SELECT < MAX_GP)
		return p4_register_any(v, 0x360 + reg - VPMU_REG_SELECT);
	if (cfg.p4 && reg - VPMU_REG_COUNTER < MAX_GP)
		return p4_register_any(v, 0x300 + reg - VPMU_REG_COUNTER);
	if (reg - VPMU_REG_ESCR < VPMU_REG_ESCRS)
		return cfg.p4 ? p4_register_any(v, 0x3a0 + reg - VPMU_REG_ESCR) : 0;
	if (reg - VPMU_REG_SELECT < MAX_GP)
		return v->evtsel[reg - VPMU_REG_SELECT];
	if (reg - VPMU_REG_COUNTER < MAX_GP)
		return counter_now_any(v, &v->ctr[reg - VPMU_REG_COUNTER]);
	if (reg - VPMU_REG_FIXED < MAX_FIXED)
		return counter_now_any(v, &v->ctr[FIXED0 + reg - VPMU_REG_FIXED]);
	switch (reg) {
	case VPMU_REG_FIXED_CTRL:    return v->fixed_ctrl;
	case VPMU_REG_GLOBAL_CTRL:   return v->global_ctrl;
	case VPMU_REG_GLOBAL_STATUS: return v->global_status;
	case VPMU_REG_DEBUGCTL:	     return v->beside[BESIDE_DEBUGCTL];
	case VPMU_REG_N_GENERAL:     return cfg.gp;
	case VPMU_REG_N_FIXED:	     return cfg.amd ? 0 : cfg.fixed;
	case VPMU_REG_WIDTH:	     return cfg.width;
	case VPMU_REG_VERSION:	     return cfg.version;
	case VPMU_REG_N_VCPUS:	     return vcpus_seen;
	case VPMU_REG_IS_AMD:	     return cfg.amd;
	case VPMU_REG_IS_P4:	     return cfg.p4;
	case VPMU_REG_GENERAL_MAP:   return v->core->gp;
	case VPMU_REG_FIXED_MAP:     return v->core->fixed;
	case VPMU_REG_KIND:	     return v->kind;
	}
	return 0;
}

/* As firmware would behind the kernel's back, on this vCPU. */
static uint64_t firmware_leaf(struct vcpu *v, uint32_t n, uint64_t sel)
{
	uint64_t old;

	if (n >= (uint32_t)cfg.gp)
		return 0;
	counter_sync(v, board_of(v));
	if (cfg.p4) {
		old = p4_register_any(v, 0x360 + n);
		msr_p4_write(v, 0x360 + n, sel);
		return old;
	}
	old = v->evtsel[n];
	v->evtsel[n] = sel;
	counter_reconfigure(v, board_of(v));
	return old;
}

static uint64_t answer(struct vcpu *v, uint32_t leaf, uint32_t sub,
		       uint64_t arg)
{
	struct totals t;

	if (leaf - VPMU_VCPU < VPMU_COUNTERS) {
		counter_totals(v, &t);
		return pick(&t, leaf - VPMU_VCPU);
	}
	switch (leaf) {
	case VPMU_ID:	     return VPMU_INTERFACE;
	case VPMU_OVERFLOWS: return v->n_overflow;
	case VPMU_PMIS:	     return v->n_pmi;
	case VPMU_PMI_NMIS:  return v->n_pmi_nmi;
	case VPMU_ACCESS:    return access_leaf(sub, arg);
	case VPMU_REG:	     return reg_leaf(sub, arg);
	case VPMU_KNOB:	     return inject_set(v, board_of(v), sub, arg);
	case VPMU_CLAIM:     return inject_claim(v);
	case VPMU_FIRMWARE:  return firmware_leaf(v, sub, arg);
	case VPMU_IRQOFF:    return irqoff_leaf(sub, arg);
	case VPMU_IBS:	     return ibs_leaf(sub, arg);
	case VPMU_STEAL:     return manners_steal(v, board_of(v), arg);
	case VPMU_MIGRATED:
		manners_migrate();
		return 1;
	case VPMU_ALL:
		all_totals(&t);
		return pick(&t, sub);
	}
	return space_leaf(v, leaf, sub, arg);
}

/* True: it was a private leaf, and the registers hold the answer. */
bool truth_cpuid(struct vcpu *v, uint32_t leaf)
{
	uint64_t x;

	if ((leaf & 0xffff0000) != VPMU_LEAF)
		return false;
	x = answer(v, leaf & 0xffff, reg_read(RCX), reg_read(RBX));
	reg_write(RAX, (uint32_t)x);
	reg_write(RDX, x >> 32);
	reg_write(RCX, v->index);
	reg_write(RBX, VPMU_SIGNATURE);
	return true;
}
