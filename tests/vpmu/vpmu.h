/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * vpmu.h - the emulated PMU's own state: configuration, one vCPU's counters and
 * registers, what is known of a translated block; and which file does what.
 * Everything of a vCPU is touched by its own thread only, but for the totals
 * that truth.c reads of other vCPUs (see struct vcpu.seq).
 */
#ifndef VPMU_H
#define VPMU_H

#include "qemu.h"
#include "classify.h"
#include "event.h"
#include "ibs.h"
#include "space.h"

/* What goes wrong on purpose; 0: nothing. See inject.c. */
enum knob {
	KNOB_LATE,		/* instructions from an overflow to its PMI */
	KNOB_LOST,		/* each nth PMI is lost */
	KNOB_DOUBLE,		/* each nth PMI is followed by an NMI */
	KNOB_STORM,		/* an NMI every so many instructions */
	KNOB_STORM_LEFT,	/* so many of them; 0: no end */
	KNOB_STORM_PMI,		/* by LVTPC, as a PMI without an overflow */
	KNOB_REFUSE,		/* this register's WRMSR faults; REFUSE_* */
	KNOB_MASK,		/* NMIs are masked again after each nth IRET */
	KNOB_HOLD,		/* an NMI stops after its next WRMSR to this register */
	KNOB_SHORT,		/* counters that are set too near to their overflow,
				 * lose it; see counter_set() */
	KNOB_REFUSE_ACK,	/* an acknowledgement with any of these bits faults */
	KNOB_QUEUE,		/* a PMI for each overflow; none is merged with another */
	KNOB_LVTMASK,		/* AMD: LVTPC is masked at delivery as well */
	KNOB_ENERGY,		/* units that the package has used (power=N) */
	KNOB_CLOCK,		/* cycles beside the instructions (power=N) */
	KNOB_FILTER,		/* an event that counts 0; manners.c */
	KNOB_FROZEN,		/* counters that stand still: bits of global control */
	KNOB_NO_RDPMC,		/* counters whose RDPMC faults in the kernel, likewise */
	KNOB_NARROW,		/* bits that counters have, instead of the width */
	KNOB_MORE,		/* one more for each nth event */
	KNOB_FORGET,		/* they become 0 at each nth look */
	KNOB_LESS,		/* one fewer for each nth event */
	KNOB_STUCK,		/* bits that stay 0 in each counter */
	KNOB_MODES,		/* the modes of a select are not looked at */
	KNOB_NO_USER_RDPMC,	/* a program's RDPMC faults */
	KNOB_LEVEL,		/* an unmasked LVTPC looks at Intel's status once more */
	KNOB_ENTRY,		/* an entry of the guest is a branch of the guest's */
	KNOB_EMULATED,		/* counters that stand still count emulated instructions */
	KNOB_AT_ONCE,		/* so many counters count at a time; 0: all */
	KNOB_ALIAS,		/* counters whose RDPMC reads their neighbour's */
	KNOB_OPEN_LATE,		/* instructions until it is unmasked; apic.c */
	KNOB_RESERVED,		/* bits of AMD's selects that stay 0 */
	KNOB_REWRITE,		/* events of a select that was replaced while it counted */
	KNOB_IBS_LATE, KNOB_IBS_STUCK, KNOB_IBS_FETCH_KEEP,	/* ibs.c */
	KNOB_IBS_RIP_INVALID, KNOB_IBS_FETCH_ZERO, KNOB_IBS_DATA2,
	KNOBS,
};

#define REFUSE_ALL	0xffffffffu	/* each register of the PMU */
#define MASK_STAYS	(1ULL << 32)	/* KNOB_MASK: and it is not taken back */
#define REFUSE_READS	(1ULL << 32)	/* RDMSR faults as well */
#define REFUSE_RDPMC	(1ULL << 33)	/* and the kernel's RDPMC, of any counter */
#define REFUSE_HELD	(1ULL << 34)	/* not before a vCPU was held */

#define EILVTS		4		/* extended entries of AMD's APIC */
#define QUEUE		32		/* PMIs that can be on their way behind the first */

struct config {
	uint64_t knob[KNOBS];		/* of each vCPU, to begin with */
	bool none;			/* no PMU: only what QEMU does wrong is mended */
	bool amd, p4, gran_insn, mem, pti, full_width, irqoff;
	bool machine;			/* a named one; see machine.c */
	bool tfa, harm;			/* manners.c */
	bool ibs;			/* ibs.c; what CPUID says of it, and the APIC's entry */
	uint32_t ibs_caps;
	int ibs_entry;
	bool tsc;			/* WRMSR sets the TSC; emulate.c */
	bool no_core;			/* no counters: what else there is stays */
	const char *signature;		/* of the hypervisor, for programs; NULL: QEMU's */
	int family, model;		/* 0: not given */
	int version, gp, fixed, width, skid;
	int power;			/* unit of energy; 0: no such registers */
	int threads;			/* of a core, which share its registers (p4) */
	int initial_index;		/* -1: firmware left nothing running */
	uint64_t initial_sel;
	uint64_t width_mask;
	const char *out, *trace;
};

extern struct config cfg;

/*
 * What the translated code itself updates. QEMU has the boards of all vCPUs in one
 * array: no two threads may write to one line of the host's cache, wherever the array
 * begins, and a power of two is what their place is cheap to compute by.
 */
struct board {
	/*
	 * Retired instructions per mode, TICK for each, biased so that reaching FIRE
	 * means "look at the counters now"; struct vcpu.bias turns it into a count. Below
	 * TICK the branches among them since the bias was last set: most blocks end with
	 * one, and a single addition counts both.
	 */
	uint64_t tick[MODES];
	uint64_t load[MODES], store[MODES];
	uint64_t block;			/* struct block * being executed */
	uint64_t fetch;			/* blocks that began, if they are sampled (ibs_fetch.c) */
	uint64_t apart[24];
};

_Static_assert(sizeof(struct board) == 256, "a board's place is a shift");

#define TICK_BITS	24
#define TICK	(1ULL << TICK_BITS)
#define FIRE	(1ULL << 62)
#define FIRE_TICKS	(FIRE >> TICK_BITS)
#define FAR	(1ULL << 61)		/* no deadline */
/* After so many instructions at the latest FIRE comes: branches stay below TICK. */
#define REACH	(TICK / 4)

#define MAX_GP		18
#define MAX_FIXED	7
#define FIXED0		MAX_GP
#define MAX_CTR		(MAX_GP + MAX_FIXED)

/* RDPMC user disable: of a select, and of a fixed counter's four bits in their register. */
#define SEL_EN		(1ULL << 22)
#define SEL_HIDE	(1ULL << 37)
#define FIXED_HIDE	(1ULL << 33)

/* A kind of core. */
#define MAX_KINDS	SPACE_KINDS
#define LEAVES_23	6

struct core_kind {
	uint32_t leaf_1a;		/* EAX */
	uint32_t gp, fixed;		/* bit per counter */
	bool frontend;			/* has MSR 0x3f7 */
	uint32_t leaf_23[LEAVES_23][4];	/* EAX, EBX, ECX, EDX of each sub-leaf */
};

/* Intel's registers beside the counters; beside.c. */
enum beside {
	BESIDE_DEBUGCTL, BESIDE_PEBS_ENABLE, BESIDE_DS_AREA, BESIDE_FORCE_ABORT,
	BESIDE_RSP0, BESIDE_RSP1, BESIDE_FRONTEND, BESIDE_SNOOP0, BESIDE_SNOOP1, BESIDE,
};

struct counter {
	uint64_t val;		/* as of the last sync, within width */
	uint64_t raw;		/* event total at the last sync */
	struct event ev;
	uint8_t modes;		/* bit per mode */
	bool active, pmi;
	bool short_set;		/* so that its next overflow has no effect */
	bool enabled;
	bool instructions;	/* what it is programmed to count */
	uint64_t wanted;	/* what the host was asked for, 0: nothing; */
	bool given;		/* and whether it gave it (KNOB_AT_ONCE) */
	uint64_t leaked;	/* KNOB_REWRITE: to be added to the next events */
	uint64_t asked;		/* a select, and whether this counter can count it; */
	bool known, can;	/* strict.c */
};

struct site {			/* an instruction to emulate, in one block */
	uint64_t start;			/* of the block, as translated */
	uint16_t off, next;		/* of it and the following one */
	uint8_t kind, mode;
	uint8_t reg;			/* K_CR3: the source register */
};

struct patch {			/* fix-up of a natively run CPUID/RDMSR */
	struct site *site;	/* NULL: none */
	uint64_t next;		/* address of the instruction after it */
	uint32_t eax_or, ebx_or, ecx_or, edx_or, eax_min;
};

/* Which kind of register an access was to; see vpmu_guest.h. */
enum msr_class {
	MSR_SELECT, MSR_COUNTER, MSR_FIXED_CTRL, MSR_GLOBAL_CTRL,
	MSR_GLOBAL_STATUS, MSR_ACK, MSR_OTHER, MSR_CLASSES,
};

/* A #GP on its way: what to put right when it is delivered. */
enum armed { NOT_ARMED, ARMED_RCX, ARMED_PC };

/* What a hypervisor looks at when a guest writes a register. */
struct control {
	uint64_t evtsel[MAX_GP], fixed_ctrl, global_ctrl;
};

struct vcpu {
	unsigned int index;
	const struct core_kind *core;
	unsigned int kind;		/* of core, in the machine's order */
	/*
	 * Odd while bias and tick change together, so that another vCPU's
	 * thread can read a count: see counter_totals_any().
	 */
	_Atomic unsigned int seq;
	uint64_t bias[MODES];		/* count = tick / TICK - bias */
	uint64_t branch[MODES];		/* before the bias was set */

	struct counter ctr[MAX_CTR];
	uint64_t evtsel[MAX_GP];
	uint64_t cfg_b[MAX_CTR], cfg_c[MAX_CTR];	/* version 6; kept, without effect */
	uint64_t fixed_ctrl, global_ctrl, global_status;
	bool svm;			/* AMD: EFER.SVME */
	uint64_t beside[BESIDE];
	_Atomic uint64_t harm[MAX_CTR];	/* by the other thread; manners.c */
	uint64_t stolen;		/* counters, by their bits in global control */
	_Atomic bool migrated;		/* its registers are to be reset */

	bool opening;			/* apic.c: LVTPC is unmasked at the latest */
	uint64_t opened;		/* KNOB_OPEN_LATE after this total */
	uint32_t eilvt[EILVTS], *eilvt_read;
	bool esr_read;			/* the error status was just read */
	int64_t tsc_set;		/* from the host's TSC to the one that WRMSR set; 0: none */
	struct ibs ibs;

	bool pmi_pending;
	bool raised;		/* an interrupt that comes at this very block */
	bool line_watched;	/* see line_is_up() */
	bool iret;		/* IRET ran, and nothing yet after it */
	uint32_t *nmi_mask;	/* QEMU's own, or NULL; see nmi_mask.c */
	int skid_left;

	uint64_t knob[KNOBS];
	uint64_t pmi_due;		/* while one is pending: at this total */
	uint64_t queue[QUEUE];		/* KNOB_QUEUE: and these after it */
	unsigned int queued;
	uint64_t storm_due;
	bool double_pending;
	unsigned int unclaimed;		/* NMIs without a cause, not yet claimed */
	struct patch patch;

	struct site *rep;		/* last REP string instruction, */
	uint64_t rep_mark;		/* and the count just after it */
	bool exception;			/* raised, not yet delivered */
	enum armed armed;
	uint64_t saved_rcx, fault_pc;
	/* After an instruction that was not run natively; see go_on_at(). */
	uint64_t resume_pc, resume_flags, resume_mark;

	/* irqoff.c: the module has interrupts off, since this total, from here, and
	 * has executed the code that is watched. */
	bool off, off_watched;
	uint64_t off_from, off_pc;

	/* Under the lock of space.c's table. */
	struct space *space;		/* NULL until CR3 is first loaded */
	struct totals base;		/* own totals when it was loaded */

	/* ground truth */
	uint64_t n_rdmsr, n_wrmsr, n_rdpmc, n_cpuid, n_gp, n_fire;
	uint64_t n_rdmsr_class[MSR_CLASSES], n_wrmsr_class[MSR_CLASSES];
	uint64_t n_rdmsr_native, n_wrmsr_native;
	uint64_t n_looks;
	uint64_t entries[MODES];	/* KNOB_ENTRY: branches to be added at the next look */
	uint64_t n_overflow, n_pmi, n_pmi_nmi, n_pmi_masked;
	uint64_t n_opened, n_open_late;
	uint64_t n_overflow_int, n_lost, n_doubled, n_storm, n_held_out, n_short;
	uint64_t n_int, n_exc, n_exc_fixed, n_flags_fixed, n_flags_bound, n_rep_again, n_cr3, n_pause;
	uint64_t no_int3;	/* where one was that is not there any more */
	uint64_t n_iret, n_unmasked, n_stale_int3, n_renewed;
};

extern struct qemu_plugin_scoreboard *boards;
extern struct vcpu *vcpus;
extern int max_vcpus;
extern int vcpus_seen;
/*
 * All vCPUs on one thread (-icount, or thread=single)?  Then QEMU 11.1.3 takes
 * the vCPU index for a constant when it translates, though the other vCPUs
 * share the code; for index 1 and up the inline operations even store through
 * a wrong address.  So nothing inline is used in that case, and the vCPU is
 * told by QEMU's own notion of the current one.
 */
extern bool one_thread;

struct vcpu *vcpu_of(unsigned int index);
void *current_cpu_now(void);

#define FIELD(f) ((pl_u64){ boards, offsetof(struct board, f) })

static inline struct board *board_of(struct vcpu *v)
{
	return qemu_plugin_scoreboard_find(boards, v->index);
}

static inline uint64_t retired(struct vcpu *v, struct board *b, int mode)
{
	return (b->tick[mode] >> TICK_BITS) - v->bias[mode];
}

static inline uint64_t retired_branches(struct vcpu *v, struct board *b, int mode)
{
	return v->branch[mode] + (b->tick[mode] & (TICK - 1));
}

static inline uint64_t retired_all(struct vcpu *v, struct board *b)
{
	return retired(v, b, KERNEL) + retired(v, b, USER);
}

/* A translated block: struct slot for each instruction. */
struct slot {
	uint16_t off;		/* from the block's start */
	uint16_t counted;	/* counted by the time it is about to retire */
	uint16_t branches;	/* of these */
	uint16_t flags;
};

struct block {
	struct block *next;	/* for freeing */
	uint64_t start;
	uint32_t size;
	uint16_t n;
	uint8_t mode;
	struct slot slot[];
};

static inline uint64_t page_off(const struct site *s)
{
	return (s->start + s->off) & 0xfff;
}

/* guest.c - registers and memory of the vCPU whose thread this is */
enum reg {		/* the first sixteen as encoded in instructions */
	RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13,
	R14, R15, RIP, CS, CR0, CR2, CR3, CR4, EFLAGS, NREG
};
bool guest_find_registers(void);
uint64_t reg_read(enum reg r);
void reg_write(enum reg r, uint64_t x);
bool phys_read32(uint64_t addr, uint32_t *x);
bool phys_write32(uint64_t addr, uint32_t x);
bool virt_read(uint64_t addr, void *p, size_t size);
bool virt_to_phys(uint64_t addr, uint64_t *phys);
bool virt_write(uint64_t addr, const void *p, size_t size);
bool virt_read64(uint64_t addr, uint64_t *x);
bool virt_write64(uint64_t addr, uint64_t x);

/* counter.c - counters: what they count, overflow, when to look again */
uint64_t counter_total(const struct totals *t, const struct counter *c);
void counter_totals(struct vcpu *v, struct totals *t);
void counter_totals_any(struct vcpu *v, struct totals *t);
uint64_t counter_now_any(struct vcpu *v, const struct counter *c);
bool counter_is_joined(const struct vcpu *v, int i);
uint64_t counter_seen(const struct vcpu *v, int i);
void counter_sync(struct vcpu *v, struct board *b);
void counter_set(struct vcpu *v, int i, uint64_t val);
void counter_note_overflow(struct vcpu *v, struct board *b, bool pmi);
void counter_add_one(struct vcpu *v, struct board *b, int i);
void counter_deadline(uint8_t modes, uint64_t need, uint64_t left[MODES],
		      uint64_t *both);
void counter_reconfigure(struct vcpu *v, struct board *b);
void counter_arm(struct vcpu *v, struct board *b, int mode);
uint64_t counter_global_mask(const struct vcpu *v);
void counter_shift_bias(struct vcpu *v, struct board *b, int mode,
			uint64_t ticks);

/* pmi.c - the interrupt: true if one is now pending at the vCPU */
bool pmi_deliver(struct vcpu *v);
bool pmi_raise_nmi(struct vcpu *v);
bool pmi_raise_entry(struct vcpu *v, uint32_t entry);
bool pmi_raise_lvtpc(struct vcpu *v);
bool pmi_cpu_is_up(void);
bool pmi_is_masked(void);

/* inject.c - interrupts that are late, lost, doubled or without a cause */
bool inject_option(const char *name, uint64_t val);
void inject_reset(struct vcpu *v);
uint64_t inject_set(struct vcpu *v, struct board *b, unsigned int knob,
		    uint64_t val);
uint64_t inject_until(struct vcpu *v, struct board *b);
void inject_overflow(struct vcpu *v, struct board *b);
void inject_next(struct vcpu *v);
bool inject_is_due(struct vcpu *v, struct board *b);
bool inject_loses(struct vcpu *v);
void inject_delivered(struct vcpu *v);
bool inject_masks(struct vcpu *v);
bool inject_raise(struct vcpu *v, struct board *b);
uint64_t inject_claim(struct vcpu *v);
bool inject_refuses(struct vcpu *v, uint32_t msr, bool write, uint64_t value);
void inject_hold(struct vcpu *v, uint32_t msr);
bool inject_refuses_rdpmc(struct vcpu *v, int mode);

/* apic.c - what the kernel reads from and writes to the local APIC */
void apic_watch_insn(struct qemu_plugin_insn *in, const uint8_t *bytes);
bool apic_opens_late(struct vcpu *v);
void apic_finish_load(struct vcpu *v);
void apic_reset(struct vcpu *v);

/* ibs.c - AMD's instruction-based sampling: registers, the interrupt */
bool ibs_option(const char *val);
bool ibs_settle(void);
enum access ibs_read(struct vcpu *v, uint32_t msr, uint64_t *x);
enum access ibs_write(struct vcpu *v, uint32_t msr, uint64_t x);
uint64_t ibs_until(struct vcpu *v, struct board *b);
bool ibs_fire(struct vcpu *v, struct board *b, struct block *blk, uint64_t pc);
void ibs_watch_insn(struct qemu_plugin_insn *in, struct slot *slot);
void ibs_watch_block(struct qemu_plugin_tb *tb);
void ibs_left(struct vcpu *v, struct board *b, uint64_t from);
void ibs_forget(struct vcpu *v);
uint64_t ibs_leaf(uint32_t what, uint64_t arg);

/* ibs_op.c, ibs_fetch.c - the two samplers. True: a sample is valid now. */
void ibs_op_start(struct vcpu *v, struct board *b, uint64_t ctl);
void ibs_op_disable(struct vcpu *v, struct board *b, uint64_t ctl2);
uint64_t ibs_op_cur(struct vcpu *v, struct board *b);
uint64_t ibs_op_until(struct vcpu *v, struct board *b);
bool ibs_op_fire(struct vcpu *v, struct board *b, struct block *blk, uint64_t pc);
void ibs_op_access(struct vcpu *v, const void *slot, uint32_t info, uint64_t addr);
void ibs_op_left(struct vcpu *v, struct board *b, uint64_t from);
void ibs_fetch_start(struct vcpu *v, struct board *b, uint64_t before, uint64_t ctl);
void ibs_fetch_disable(struct vcpu *v, struct board *b, uint64_t ctl2);
uint64_t ibs_fetch_cur(struct vcpu *v, struct board *b);
uint64_t ibs_fetch_until(struct vcpu *v, struct board *b);
bool ibs_fetch_fire(struct vcpu *v, struct board *b, uint64_t pc);

/* manners.c - counters that do not count, or more than they should */
bool manners_let_count(struct vcpu *v, int i, uint64_t sel);
void manners_share(struct vcpu *v);
void manners_share_again(struct vcpu *v);
void manners_emulated(struct vcpu *v, struct board *b, int mode);
int manners_rdpmc(const struct vcpu *v, int i);
void manners_counted(struct vcpu *v, int i, uint64_t n);
uint64_t manners_added(struct vcpu *v, int i, uint64_t n);
void manners_select(struct vcpu *v, int i, uint64_t x);
void manners_interrupted(struct vcpu *v, int mode);
bool manners_refuse_rdpmc(const struct vcpu *v, uint32_t index);
uint8_t manners_modes(const struct vcpu *v, uint8_t modes);
uint64_t manners_mask(const struct vcpu *v);
bool manners_forget(struct vcpu *v);
void manners_migrate(void);
void manners_arrive(struct vcpu *v, struct board *b);
uint64_t manners_steal(struct vcpu *v, struct board *b, uint64_t counters);
void manners_written(struct vcpu *v, const struct control *before);
void manners_control(const struct vcpu *v, struct control *now);
uint64_t manners_global_at_reset(const struct vcpu *v);

/* strict.c - which counter of the model can count which event */
bool strict_option(const char *val);
bool strict_allows(struct vcpu *v, int i, uint64_t sel);
bool strict_lists(struct vcpu *v, int i, uint64_t sel);

/* msr_intel.c, msr_amd.c, p4.c, beside.c - the PMU's registers */
enum access { NATIVE, DONE, FAULT };
enum access beside_read(struct vcpu *v, uint32_t msr, uint64_t *x);
enum access beside_write(struct vcpu *v, uint32_t msr, uint64_t x);
void beside_freeze(struct vcpu *v);
bool beside_is_frozen(const struct vcpu *v);
bool beside_has_record(const struct vcpu *v, int i);
bool beside_is_withheld(const struct vcpu *v, int i);
enum access msr_intel_read(struct vcpu *v, uint32_t msr, uint64_t *x);
enum access msr_intel_write(struct vcpu *v, uint32_t msr, uint64_t x);
enum msr_class msr_intel_class(struct vcpu *v, uint32_t msr);
bool msr_intel_hides(const struct vcpu *v, int i);
bool msr_amd_counts(const struct vcpu *v, uint64_t sel);
enum access msr_amd_read(struct vcpu *v, uint32_t msr, uint64_t *x);
enum access msr_amd_write(struct vcpu *v, uint32_t msr, uint64_t x);
enum msr_class msr_amd_class(uint32_t msr);
enum access msr_p4_read(struct vcpu *v, uint32_t msr, uint64_t *x);
enum access msr_p4_write(struct vcpu *v, uint32_t msr, uint64_t x);
enum msr_class msr_p4_class(uint32_t msr);
enum access msr_read(struct vcpu *v, uint32_t msr, uint64_t *x);
enum access msr_write(struct vcpu *v, uint32_t msr, uint64_t x);
enum msr_class msr_class_of(struct vcpu *v, uint32_t msr);

/* power.c - energy and frequency, whatever the model. True: it has been read. */
bool power_read(struct vcpu *v, struct board *b, uint32_t msr, uint64_t *x);

/* p4.c - Netburst's counters, shared by the threads of a core */
void p4_start(void);
void p4_sync(struct vcpu *v, struct board *b);
void p4_deadlines(struct vcpu *v, uint64_t left[MODES], uint64_t *both);
bool p4_line_is_up(struct vcpu *v);
uint64_t p4_register_any(struct vcpu *v, uint32_t msr);

/* machine.c - named machines, and what each kind of core has */
bool machine_option(const char *name);
void machine_settle(void);
void machine_place(struct vcpu *v);
/* What CPUID answers to this vCPU; NULL: not for a machine to say. */
const uint32_t *machine_leaf(struct vcpu *v, uint32_t leaf, uint32_t sub);
bool machine_is_hybrid(void);
bool machine_has_leaf_23(void);
bool machine_can_hide(const struct vcpu *v);
bool machine_has_gp(const struct vcpu *v, uint32_t n);
bool machine_has_fixed(const struct vcpu *v, uint32_t n);
uint64_t machine_select_bits(const struct vcpu *v);

/* cpuid.c - CPUID leaves of the PMU, and native ones patched */
bool cpuid_signature_option(const char *val);
bool cpuid_emulate(struct vcpu *v, struct site *s, uint64_t pc);
void cpuid_apply_patch(struct vcpu *v, int mode);

/* stale.c - code that QEMU translated as it had been */
void stale_note(struct qemu_plugin_tb *tb, struct block *blk, struct site *int3);
void stale_look(struct vcpu *v);

#define STATUS_FLAGS	0x8d5		/* CF, PF, AF, ZF, SF, OF */

/* nmi_mask.c - the NMIs that QEMU holds back, and its flags */
void flags_bound(struct vcpu *v);
void nmi_mask_find(struct vcpu *v);
bool nmi_mask_is_set(const struct vcpu *v);
void nmi_mask_set(struct vcpu *v);
bool nmi_mask_clear(struct vcpu *v);

/* irqoff.c - how long a module has interrupts off */
void irqoff_watch_block(struct qemu_plugin_tb *tb, struct block *blk);
void irqoff_watch_insn(struct qemu_plugin_insn *in, const struct block *blk,
		       const uint8_t *bytes, const struct insn *insn);
uint64_t irqoff_leaf(uint32_t what, uint64_t arg);

/* truth.c - the private CPUID leaves, and the totals of address spaces */
bool truth_cpuid(struct vcpu *v, uint32_t leaf);
void truth_cr3(struct vcpu *v, uint64_t cr3);

/* emulate.c - what runs in the place of an instruction */
void emulate_site(unsigned int index, void *site);
void emulate_after(unsigned int index, void *site);

/* translate.c - finds the instructions, places the counting */
void translate_block(struct qemu_plugin_tb *tb, void *data);
void translate_forget_all(void);
void translate_pass_on(struct vcpu *v, struct board *b, int from);

/* discon.c - a block is left early: faults and interrupts */
void discon_event(unsigned int index, int type, uint64_t from, uint64_t to,
		  void *data);

/* trace.c - the trace and the totals at exit */
void trace(struct vcpu *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool trace_open(void);
void trace_at_exit(void *data);

#endif
