/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * vpmu_guest.h - how a program in the guest, in user space or in the kernel,
 * asks the emulated PMU for the truth: CPUID leaves 0x4f560000 + n, at any
 * privilege. Without the emulated PMU vpmu_present() is false and all else is 0.
 *
 * What a total includes: every instruction that retired before the CPUID which
 * reads it, and that CPUID itself (one instruction, no branch, load or store).
 * So the difference of two reads is what lies between them plus one CPUID.
 * Totals of other vCPUs are exact while those execute nothing of what is asked
 * for; user totals are, when their user code does not run.
 */
#ifndef VPMU_GUEST_H
#define VPMU_GUEST_H

#ifdef __KERNEL__
#include <linux/types.h>
typedef u64 vpmu_u64;
typedef u32 vpmu_u32;
#else
#include <stdint.h>
typedef uint64_t vpmu_u64;
typedef uint32_t vpmu_u32;
#endif

#define VPMU_LEAF	0x4f560000u
#define VPMU_SIGNATURE	0x554d5056u	/* EBX of every answer: "VPMU" */
#define VPMU_INTERFACE	2		/* what leaf 0 answers */
#define VPMU_ALL_VCPUS	(~0ULL)

/* Leaves. sub goes in ECX, arg in RBX; answers in EDX:EAX, the vCPU in ECX. */
enum {
	VPMU_ID = 0x00,		/* VPMU_INTERFACE */
	/* 0x01 + counter: totals of this vCPU */
	VPMU_VCPU = 0x01,
	VPMU_OVERFLOWS = 0x09, VPMU_PMIS = 0x0a, VPMU_PMI_NMIS = 0x0b,
	VPMU_KEY = 0x10,	/* key of the own address space */
	VPMU_OWN = 0x11,	/* its totals; sub: counter */
	VPMU_SPACE = 0x12,	/* totals of space arg (a key); sub: counter */
	VPMU_ALL = 0x13,	/* totals of all vCPUs; sub: counter */
	VPMU_ACCESS = 0x14,	/* how often; sub: below; arg: vCPU or all */
	VPMU_REG = 0x15,	/* PMU register; sub: below; arg: vCPU */
	VPMU_MARK = 0x16,	/* note all totals, for the own address space */
	VPMU_SINCE = 0x17,	/* totals since MARK; sub: whose << 8 | counter */
	VPMU_KNOB = 0x18,	/* set knob sub to arg on this vCPU; the old value */
	VPMU_CLAIM = 0x19,	/* 1: there was an NMI without a cause, not claimed */
	VPMU_FIRMWARE = 0x1a,	/* select register sub becomes arg on this vCPU,
				 * whatever the kernel wrote; the old value */
	VPMU_IRQOFF = 0x1b,	/* with the option irqoff=on; sub: below */
	VPMU_SPACE_KIND = 0x1c,	/* as SPACE, on cores of one kind; sub: kind << 8 |
				 * counter */
	VPMU_MIGRATED = 0x1d,	/* all vCPUs: selects, counters and control become as
				 * after a reset, as where a VM is moved or restored
				 * without them */
	VPMU_STEAL = 0x1e,	/* counters arg (as of KNOB_FROZEN) of this vCPU stand
				 * still from now on, as KVM's where the host has others
				 * for its counters: each until its select gets another
				 * value, all until global control does. Which do now */
	VPMU_IBS = 0x1f,	/* of AMD's sampling; sub: below; arg: vCPU or all */
};

/*
 * VPMU_IBS: samples whose Val bit was set since the start, and sums of what their registers
 * have, each modulo 2^64. A sum over the addresses of ops leaves out those that are invalid.
 */
enum {
	VPMU_IBS_OP, VPMU_IBS_OP_USER,	/* samples; by bit 63 of the address */
	VPMU_IBS_OP_RIP,		/* sum of addresses */
	VPMU_IBS_OP_INVALID,		/* samples without an address */
	VPMU_IBS_OP_FILTERED,		/* tagged ops that a filter dropped */
	VPMU_IBS_OP_LOAD, VPMU_IBS_OP_STORE, VPMU_IBS_OP_BRANCH,	/* samples */
	VPMU_IBS_OP_DATA, VPMU_IBS_OP_DATA2, VPMU_IBS_OP_DATA3,		/* sums of registers */
	VPMU_IBS_OP_LIN, VPMU_IBS_OP_PHYS, VPMU_IBS_OP_TARGET,
	VPMU_IBS_FETCH, VPMU_IBS_FETCH_USER, VPMU_IBS_FETCH_LIN, VPMU_IBS_FETCH_PHYS,
	VPMU_IBS_FETCH_FILTERED,
	VPMU_IBS_NMI,			/* NMIs that were raised, for whatever reason */
	VPMU_IBS_MASKED,		/* interrupts that the masked entry of the APIC lost */
	VPMU_IBS_LATE, VPMU_IBS_STUCK,	/* NMIs of the knobs, of those above */
	VPMU_IBS_RDMSR, VPMU_IBS_WRMSR,	/* accesses to the registers */
	VPMU_IBS_ENDLESS,		/* writes that enable a sampler with nothing to count to */
	VPMU_IBS_ITEMS,
	/* Of the whole machine: CPUID's capabilities; places in translated code. */
	VPMU_IBS_CAPS = 0x100, VPMU_IBS_PLACED = 0x101,
	VPMU_IBS_ENTRY = 0x102,		/* of the APIC, of vCPU arg */
	VPMU_IBS_REG = 0x200,		/* + MSR - 0xc0011030: a register, of vCPU arg */
};

/*
 * VPMU_IRQOFF: instructions that the code from BEGIN to END has interrupts off for. Those
 * that set a range return the old value; LONGEST and LONGEST_WATCHED (of what executed
 * something from WATCH to WATCHED meanwhile) begin anew. FROM: where the longest began.
 */
enum {
	VPMU_IRQOFF_BEGIN, VPMU_IRQOFF_END, VPMU_IRQOFF_WATCH, VPMU_IRQOFF_WATCHED,
	VPMU_IRQOFF_FROM, VPMU_IRQOFF_LONGEST, VPMU_IRQOFF_LONGEST_WATCHED,
};

/* Counters. Loads and stores only with the option mem=on. */
enum {
	VPMU_USER_INSN, VPMU_KERNEL_INSN, VPMU_USER_BRANCH, VPMU_KERNEL_BRANCH,
	VPMU_USER_LOAD, VPMU_KERNEL_LOAD, VPMU_USER_STORE, VPMU_KERNEL_STORE,
	VPMU_COUNTERS,
};

/* VPMU_SINCE: of whom. */
enum { VPMU_SINCE_OWN, VPMU_SINCE_OTHERS, VPMU_SINCE_ALL };

/*
 * VPMU_ACCESS: how often something happened so far. RDMSR and WRMSR are those
 * of the PMU's registers; + class for one class only. NATIVE: all others.
 */
enum {
	VPMU_N_RDMSR = 0x00, VPMU_N_WRMSR = 0x01, VPMU_N_RDPMC = 0x02,
	VPMU_N_OVERFLOW = 0x03, VPMU_N_PMI = 0x04, VPMU_N_PMI_NMI = 0x05,
	VPMU_N_PMI_MASKED = 0x06, VPMU_N_GP = 0x07, VPMU_N_CPUID = 0x08,
	VPMU_N_INTERRUPT = 0x09, VPMU_N_EXCEPTION = 0x0a,
	VPMU_N_CR3 = 0x0b,		/* loads of CR3 with another space */
	VPMU_N_RDMSR_NATIVE = 0x0c, VPMU_N_WRMSR_NATIVE = 0x0d,
	VPMU_N_RDMSR_CLASS = 0x20, VPMU_N_WRMSR_CLASS = 0x30,
	/* PMIs that were lost, NMIs that followed one, NMIs of storms. */
	VPMU_N_LOST = 0x40, VPMU_N_DOUBLED = 0x41, VPMU_N_STORM = 0x42,
	VPMU_N_OVERFLOW_INT = 0x43,	/* overflows that ask for a PMI */
	VPMU_N_UNMASKED = 0x44,		/* masks of NMIs that were taken back */
	VPMU_N_RENEWED = 0x45,		/* code that differed from its translation */
	VPMU_N_HELD_OUT = 0x46,		/* holds that ended without a refusal */
	VPMU_N_SHORT = 0x47,		/* overflows of counters that were set too short */
	/* Writes that unmask LVTPC, PMIs that came before it was unmasked, NMIs of IBS. */
	VPMU_N_OPENED = 0x48, VPMU_N_OPEN_LATE = 0x49, VPMU_N_IBS = 0x4a,
};

enum {
	VPMU_CLASS_SELECT, VPMU_CLASS_COUNTER, VPMU_CLASS_FIXED_CTRL,
	VPMU_CLASS_GLOBAL_CTRL, VPMU_CLASS_GLOBAL_STATUS, VPMU_CLASS_ACK,
	VPMU_CLASS_OTHER,
};

/* VPMU_KNOB: what goes wrong on purpose; 0: nothing. */
enum {
	VPMU_KNOB_LATE,		/* instructions from an overflow to its PMI */
	VPMU_KNOB_LOST,		/* each nth PMI is lost */
	VPMU_KNOB_DOUBLE,	/* each nth PMI is followed by an NMI */
	VPMU_KNOB_STORM,	/* an NMI every so many instructions */
	VPMU_KNOB_STORM_LEFT,	/* so many of them; 0: no end */
	VPMU_KNOB_STORM_PMI,	/* 1: by LVTPC, as a PMI without an overflow */
	VPMU_KNOB_REFUSE,	/* WRMSR to this register faults, as where a
				 * hypervisor filters it; see below */
	VPMU_KNOB_MASK,		/* NMIs are masked again after each nth IRET from
				 * one, as QEMU does it; see below */
	VPMU_KNOB_HOLD,		/* once: an NMI has written this register, and its
				 * vCPU stands still until a register has refused
				 * another vCPU, and that one has dealt with it */
	VPMU_KNOB_SHORT,	/* a counter that is set nearer to its overflow than
				 * so many events (bits 15:0), or to no multiple of
				 * so many (bits 31:16; 0: any), loses the overflow */
	VPMU_KNOB_REFUSE_ACK,	/* WRMSR of any of these bits to the register that
				 * acknowledges overflows faults */
	VPMU_KNOB_QUEUE,	/* 1: a PMI for each overflow, up to 32 on their way;
				 * 0: one that is on its way stands for all */
	VPMU_KNOB_LVTMASK,	/* 1: AMD's LVTPC is masked at each delivery, as by
				 * some hypervisors */
	VPMU_KNOB_ENERGY,	/* units of energy that the package has used; cores use
				 * twice, memory three times as many (option power=N) */
	VPMU_KNOB_CLOCK,	/* cycles of MPERF beside the instructions; APERF has
				 * twice what MPERF has (option power=N) */
	VPMU_KNOB_FILTER,	/* an event counts 0, as by a hypervisor's filter; below */
	VPMU_KNOB_FROZEN,	/* these counters stand still; bits as in Intel's global
				 * control: programmable ones from 0, fixed from 32 */
	VPMU_KNOB_NO_RDPMC,	/* the kernel's RDPMC of these faults */
	VPMU_KNOB_NARROW,	/* bits that counters have, fewer than they say; 0: as said */
	VPMU_KNOB_MORE,		/* counters count one more for each nth event */
	VPMU_KNOB_FORGET,	/* they become 0 at each nth look at them */
	VPMU_KNOB_LESS,		/* counters count one less for each nth event */
	VPMU_KNOB_STUCK,	/* these bits of each counter stay 0 */
	VPMU_KNOB_MODES,	/* 1: counters count user and kernel mode, whatever they
				 * are told */
	VPMU_KNOB_NO_USER_RDPMC, /* 1: RDPMC in user mode faults although CR4 allows it */
	VPMU_KNOB_LEVEL,	/* 1: Intel's interrupt is raised again where LVTPC is
				 * unmasked before its overflow is acknowledged */
	VPMU_KNOB_ENTRY,	/* counters of branches count so many more at each interrupt, in
				 * the mode that it interrupts: as on AMD's processors, where the
				 * hypervisor's VMRUN is a branch of the guest that it enters */
	VPMU_KNOB_EMULATED,	/* 1: each RDPMC, RDMSR, WRMSR and CPUID adds 1 to counters
				 * of instructions that stand still (FROZEN, AT_ONCE) */
	VPMU_KNOB_AT_ONCE,	/* so many of the enabled counters count, those that were
				 * enabled first; the others stand still until their select
				 * changes. 0: all of those that are enabled from then on */
	VPMU_KNOB_ALIAS,	/* RDPMC of these counters reads the one whose number differs
				 * in the lowest bit; bits as in FROZEN */
	VPMU_KNOB_OPEN_LATE,	/* instructions from the write that unmasks LVTPC until it
				 * is unmasked, unless the kernel waits for the write */
	VPMU_KNOB_RESERVED,	/* these bits of AMD's selects stay 0, as under hypervisors */
	VPMU_KNOB_REWRITE,	/* number of events of a select that is replaced while its counter
				 * is enabled are added to the first events of the new one */
	/* Errata and manners of AMD's sampling (option ibs=on). */
	VPMU_KNOB_IBS_LATE,	/* an NMI so many instructions after a sampler was disabled; with
				 * VPMU_IBS_LATE_VAL its Val bit is set then */
	VPMU_KNOB_IBS_STUCK,	/* one that is disabled while its MaxCnt is not 0 sets Val and raises
				 * an NMI every so many instructions, until its control register
				 * is written with the enable bit and MaxCnt 0 */
	VPMU_KNOB_IBS_FETCH_KEEP, /* 1: the count of fetches goes on where its register is
				 * written, unless that enables it */
	VPMU_KNOB_IBS_RIP_INVALID, /* each nth sample of an op has no address, and the bit that
				 * says so */
	VPMU_KNOB_IBS_FETCH_ZERO, /* each nth sample of a fetch has the address 0 */
	VPMU_KNOB_IBS_DATA2,	/* 1: IBS_OP_DATA2 is wrong where bit 16 or 21 of IBS_OP_DATA3 is set */
	VPMU_KNOBS,
};

#define VPMU_IBS_LATE_VAL	(1ULL << 32)

/* Event and unit mask in bits 15:0. */
#define VPMU_AT_ONCE_BUT_FIXED	(1ULL << 32)	/* each fixed counter has one of its own */

#define VPMU_FILTER_ON		(1ULL << 32)
#define VPMU_FILTER_FIXED	(1ULL << 33)	/* the fixed counters as well */
#define VPMU_FILTER_ALL		(1ULL << 34)	/* every event of programmable ones */
#define VPMU_FILTER_BUT		(1ULL << 35)	/* every one but the architectural events; of
						 * AMD those that perf has names for */

#define VPMU_MASK_STAYS		(1ULL << 32)	/* until another interrupt's IRET */

#define VPMU_REFUSE_ALL		0xffffffffu	/* to each of the PMU's */
#define VPMU_REFUSE_READS	(1ULL << 32)	/* RDMSR as well */
#define VPMU_REFUSE_RDPMC	(1ULL << 33)	/* the kernel's RDPMC, of any counter;
						 * with register 0 that alone */
#define VPMU_REFUSE_HELD	(1ULL << 34)	/* not before a vCPU was held */

/* VPMU_REG: the emulated PMU's own registers, whatever the guest believes. */
enum {
	VPMU_REG_SELECT = 0x000,	/* + n */
	VPMU_REG_COUNTER = 0x100,	/* + n */
	VPMU_REG_FIXED = 0x200,		/* + n */
	VPMU_REG_FIXED_CTRL = 0x300, VPMU_REG_GLOBAL_CTRL = 0x301,
	VPMU_REG_GLOBAL_STATUS = 0x302, VPMU_REG_DEBUGCTL = 0x303,
	VPMU_REG_N_GENERAL = 0x310, VPMU_REG_N_FIXED = 0x311,
	VPMU_REG_WIDTH = 0x312, VPMU_REG_VERSION = 0x313,
	VPMU_REG_N_VCPUS = 0x314, VPMU_REG_IS_AMD = 0x315,
	VPMU_REG_IS_P4 = 0x316,		/* SELECT: CCCRs */
	/* Counters that the vCPU has, bit per counter; and of which kind it is, in the
	 * order of the machine (machine.c): 0, 1, 2. */
	VPMU_REG_GENERAL_MAP = 0x317, VPMU_REG_FIXED_MAP = 0x318,
	VPMU_REG_KIND = 0x319,
	VPMU_REG_ESCR = 0x400,		/* + MSR - 0x3a0 */
	VPMU_REG_ESCRS = 0x42,
};

static inline vpmu_u64 vpmu_query(vpmu_u32 leaf, vpmu_u32 sub, vpmu_u64 arg)
{
	vpmu_u32 a = VPMU_LEAF + leaf, c = sub, d = 0;
	vpmu_u64 b = arg;

	asm volatile("cpuid" : "+a"(a), "+b"(b), "+c"(c), "+d"(d)
		     : : "memory", "cc");
	return (vpmu_u32)b == VPMU_SIGNATURE ? a | (vpmu_u64)d << 32 : 0;
}

static inline int vpmu_present(void)
{
	return vpmu_query(VPMU_ID, 0, 0) == VPMU_INTERFACE;
}

static inline vpmu_u64 vpmu_vcpu(int counter)
{
	return vpmu_query(VPMU_VCPU + counter, 0, 0);
}

static inline vpmu_u64 vpmu_key(void)
{
	return vpmu_query(VPMU_KEY, 0, 0);
}

static inline vpmu_u64 vpmu_own(int counter)
{
	return vpmu_query(VPMU_OWN, counter, 0);
}

static inline vpmu_u64 vpmu_space(vpmu_u64 key, int counter)
{
	return vpmu_query(VPMU_SPACE, counter, key);
}

static inline vpmu_u64 vpmu_space_kind(vpmu_u64 key, int kind, int counter)
{
	return vpmu_query(VPMU_SPACE_KIND, kind << 8 | counter, key);
}

static inline vpmu_u64 vpmu_all(int counter)
{
	return vpmu_query(VPMU_ALL, counter, 0);
}

static inline vpmu_u64 vpmu_access(int what, vpmu_u64 vcpu)
{
	return vpmu_query(VPMU_ACCESS, what, vcpu);
}

static inline vpmu_u64 vpmu_reg(int reg, vpmu_u64 vcpu)
{
	return vpmu_query(VPMU_REG, reg, vcpu);
}

static inline vpmu_u64 vpmu_knob(int knob, vpmu_u64 value)
{
	return vpmu_query(VPMU_KNOB, knob, value);
}

static inline vpmu_u64 vpmu_ibs(int what, vpmu_u64 vcpu)
{
	return vpmu_query(VPMU_IBS, what, vcpu);
}

static inline void vpmu_migrated(void)
{
	vpmu_query(VPMU_MIGRATED, 0, 0);
}

static inline vpmu_u64 vpmu_steal(vpmu_u64 counters)
{
	return vpmu_query(VPMU_STEAL, 0, counters);
}

static inline void vpmu_mark(void)
{
	vpmu_query(VPMU_MARK, 0, 0);
}

static inline vpmu_u64 vpmu_since(int whose, int counter)
{
	return vpmu_query(VPMU_SINCE, whose << 8 | counter, 0);
}

#endif
