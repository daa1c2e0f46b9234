// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * vpmu - an x86 performance-monitoring unit for QEMU's TCG, as a plugin.
 *
 * QEMU's software emulation has no PMU: CPUID leaf 0xA is empty, the counter
 * MSRs read as zero and RDPMC raises #UD.  This plugin puts one there, for
 * system emulation of x86-64 guests:
 *
 *   model=intel   architectural perfmon v1..v5, 8 general + 3 fixed counters
 *   model=amd     K7 + core-extension counters (6), optionally PerfMonV2
 *
 * It finds CPUID, RDMSR, WRMSR and RDPMC at translation time and emulates them
 * for the registers it owns; all others run as QEMU has them.  Retired
 * instructions and branches are counted with inline adds into a per-vCPU
 * scoreboard, separately for user (CPL 3) and kernel code, so the counts are
 * exact; an overflowing counter with its interrupt enabled is delivered through
 * the guest's own local APIC (LVTPC), as an NMI if the guest asked for one.
 *
 * The model: one cycle per instruction; an instruction counts when it retires
 * (once for a REP string instruction, not at all if it faults).  Some events
 * are made up from these, such as one mispredicted in 64 branches.
 *
 * The guest can read the raw totals of its vCPU at any privilege level with
 * CPUID leaf 0x4f560000 + n, see emulate_cpuid().
 *
 * Needs plugin API version 7 (QEMU 11.1): register writes, physical memory
 * access, qemu_plugin_set_pc(), discontinuity callbacks, user data for all.
 *
 * Limits: the status flags are undefined after an emulated instruction, unless
 * it begins a block; a RDPMC of a counter that is not there raises #UD, not
 * #GP; resets of the machine do not reset the PMU.
 *
 * Options (-plugin vpmu.so,key=value,...):
 *   model=intel|amd      which PMU (default intel)
 *   version=N            intel: perfmon version 1..5 (4); amd: 0 = K7 only,
 *                        1 = core extensions, 2 = PerfMonV2 (2)
 *   gp=N fixed=N         numbers of counters (8/3; amd 6)
 *   width=N              counter width in bits (48)
 *   gran=tb|insn         where counts are added, see on_translate() (tb)
 *   mem=on|off           count loads and stores too (off)
 *   skid=N               deliver a PMI N translation blocks late (0)
 *   out=FILE             ground truth as JSON, written at exit
 *   trace=FILE           one line per PMU register access and per PMI
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glib.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ *
 * The part of QEMU's plugin interface (version 7) used here.
 * ------------------------------------------------------------------ */

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;
struct qemu_plugin_register;

typedef struct {
	struct qemu_plugin_scoreboard *board;
	size_t offset;
} pl_u64;

typedef struct {
	struct qemu_plugin_register *handle;
	const char *name, *feature;
	bool readonly;
} pl_reg;

typedef struct {
	const char *target;
	struct { int min, cur; } api;
	bool system;
	struct { int smp, max; } vcpus;
} pl_info;

enum { CB_NO_REGS, CB_R_REGS, CB_RW_REGS, CB_RW_REGS_PC };
enum { COND_GE = 7 };
enum { OP_ADD, OP_STORE };
enum { MEM_R = 1, MEM_W = 2 };
enum { DISCON_INTERRUPT = 1, DISCON_EXCEPTION = 2 };

typedef void (*pl_udata_cb)(void *);
typedef void (*pl_vcpu_cb)(unsigned int, void *);
typedef void (*pl_trans_cb)(struct qemu_plugin_tb *, void *);
typedef void (*pl_mem_cb)(unsigned int, uint32_t, uint64_t, void *);
typedef void (*pl_discon_cb)(unsigned int, int, uint64_t, uint64_t, void *);

void qemu_plugin_register_vcpu_init_cb(uint64_t, pl_vcpu_cb, void *);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, pl_trans_cb, void *);
void qemu_plugin_register_vcpu_discon_cb(uint64_t, int, pl_discon_cb, void *);
void qemu_plugin_register_flush_cb(uint64_t, pl_udata_cb, void *);
void qemu_plugin_register_atexit_cb(uint64_t, pl_udata_cb, void *);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *,
	pl_vcpu_cb, int flags, int cond, pl_u64, uint64_t imm, void *);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *,
	int op, pl_u64, uint64_t imm);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, pl_vcpu_cb,
	int flags, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *,
	pl_vcpu_cb, int flags, void *);
void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *,
	pl_vcpu_cb, int flags, int cond, pl_u64, uint64_t imm, void *);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
	struct qemu_plugin_insn *, int op, pl_u64, uint64_t imm);
void qemu_plugin_register_vcpu_mem_inline_per_vcpu(struct qemu_plugin_insn *,
	int rw, int op, pl_u64, uint64_t imm);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, pl_mem_cb,
	int flags, int rw, void *);
bool qemu_plugin_mem_is_store(uint32_t);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *,
						 size_t);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *, size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
GArray *qemu_plugin_get_registers(void);
bool qemu_plugin_read_register(struct qemu_plugin_register *, GByteArray *);
bool qemu_plugin_write_register(struct qemu_plugin_register *, GByteArray *);
void qemu_plugin_set_pc(uint64_t) __attribute__((noreturn));
int qemu_plugin_read_memory_hwaddr(uint64_t, GByteArray *, size_t);
int qemu_plugin_write_memory_hwaddr(uint64_t, GByteArray *);
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *, unsigned);

EXPORT int qemu_plugin_version = 7;
EXPORT int qemu_plugin_install(uint64_t, const pl_info *, int, char **);

/* ------------------------------------------------------------------ *
 * Configuration
 * ------------------------------------------------------------------ */

static struct {
	bool amd, gran_insn, mem;
	int version, gp, fixed, width, skid;
	const char *out, *trace;
} cfg = { .version = -1, .gp = -1, .fixed = 3, .width = 48 };

static FILE *trace_f;
static uint64_t width_mask;

/* ------------------------------------------------------------------ *
 * Per-vCPU state
 * ------------------------------------------------------------------ */

enum { KERNEL, USER, MODES };

/* What the translated code itself updates. */
struct board {
	/*
	 * Retired instructions per mode, biased so that reaching FIRE means
	 * "look at the counters now"; struct vcpu.bias turns it into a count.
	 */
	uint64_t tick[MODES];
	uint64_t branch[MODES];
	uint64_t load[MODES], store[MODES];
	uint64_t block;			/* struct block * being executed */
};

#define FIRE	(1ULL << 62)
#define FAR	(1ULL << 61)		/* no deadline */

enum event {
	EV_NONE, EV_INSN, EV_BRANCH, EV_LOAD, EV_STORE,
};

#define MAX_GP		16
#define MAX_FIXED	4
#define FIXED0		MAX_GP
#define MAX_CTR		(MAX_GP + MAX_FIXED)

struct counter {
	uint64_t val;		/* as of the last sync, within width */
	uint64_t raw;		/* event total at the last sync */
	enum event event;
	uint32_t div;		/* counts one in `div` events */
	uint8_t modes;		/* bit per mode */
	bool active, pmi;
};

struct site;

struct patch {			/* fix-up of a natively run CPUID/RDMSR */
	struct site *site;	/* NULL: none */
	uint64_t next;		/* address of the instruction after it */
	uint32_t eax_or, ecx_or, eax_min;
};

struct vcpu {
	unsigned int index;
	uint64_t bias[MODES];		/* count = tick - bias */

	struct counter ctr[MAX_CTR];
	uint64_t evtsel[MAX_GP];
	uint64_t fixed_ctrl, global_ctrl, global_status, debugctl;

	bool pmi_pending;
	int skid_left;
	struct patch patch;

	struct site *rep;		/* last REP string instruction, */
	uint64_t rep_mark;		/* and the count just after it */
	bool exception;			/* raised, not yet delivered */
	bool fault_armed;		/* a #GP is being provoked */
	uint64_t saved_rcx;

	/* ground truth */
	uint64_t n_rdmsr, n_wrmsr, n_rdpmc, n_cpuid, n_gp, n_fire;
	uint64_t n_overflow, n_pmi, n_pmi_nmi, n_pmi_masked;
	uint64_t n_int, n_exc, n_exc_fixed, n_rep_again;
};

static struct qemu_plugin_scoreboard *boards;
static struct vcpu *vcpus;
static int max_vcpus;

/*
 * All vCPUs on one thread (-icount, or thread=single)?  Then QEMU 11.1.3 takes
 * the vCPU index for a constant when it translates, though the other vCPUs
 * share the code; for index 1 and up the inline operations even store through
 * a wrong address.  So nothing inline is used in that case, and the vCPU is
 * told by QEMU's own notion of the current one.
 */
static bool one_thread;
static pthread_t first_thread;
static int vcpus_seen;
static void **vcpu_cpu;			/* current_cpu of each vCPU */
static __thread void **current_cpu_slot;

static void *current_cpu_now(void)
{
	if (!current_cpu_slot)
		current_cpu_slot = dlsym(RTLD_DEFAULT, "current_cpu");
	return current_cpu_slot ? *current_cpu_slot : NULL;
}

static struct vcpu *vcpu_of(unsigned int index)
{
	void *cpu;

	if (!one_thread)
		return &vcpus[index];
	cpu = *current_cpu_slot;
	for (int i = 0; i < max_vcpus; i++)
		if (vcpu_cpu[i] == cpu)
			return &vcpus[i];
	abort();
}

#define FIELD(f) ((pl_u64){ boards, offsetof(struct board, f) })

static struct board *board_of(struct vcpu *v)
{
	return qemu_plugin_scoreboard_find(boards, v->index);
}

static uint64_t retired(struct vcpu *v, struct board *b, int mode)
{
	return b->tick[mode] - v->bias[mode];
}

/* ------------------------------------------------------------------ *
 * Guest registers and physical memory
 * ------------------------------------------------------------------ */

enum reg {
	RAX, RBX, RCX, RDX, RSP, RIP, CS, CR0, CR2, CR4, NREG
};

static const char *const reg_name[NREG] = {
	"rax", "rbx", "rcx", "rdx", "rsp", "rip", "cs", "cr0", "cr2", "cr4",
};
static struct qemu_plugin_register *reg_handle[NREG];

static __thread GByteArray *scratch;

static GByteArray *get_scratch(void)
{
	if (!scratch)
		scratch = g_byte_array_sized_new(16);
	g_byte_array_set_size(scratch, 0);
	return scratch;
}

static uint64_t reg_read(enum reg r)
{
	GByteArray *a = get_scratch();
	uint64_t x = 0;

	if (qemu_plugin_read_register(reg_handle[r], a))
		memcpy(&x, a->data, MIN(a->len, sizeof(x)));
	return x;
}

static void reg_write(enum reg r, uint64_t x)
{
	GByteArray *a = get_scratch();

	g_byte_array_append(a, (uint8_t *)&x, sizeof(x));
	qemu_plugin_write_register(reg_handle[r], a);
}

#define APIC_BASE	0xfee00000u
#define APIC_ID		0x020
#define APIC_LVTPC	0x340
#define LVT_MASKED	(1u << 16)

static bool phys_read32(uint64_t addr, uint32_t *x)
{
	GByteArray *a = get_scratch();

	if (qemu_plugin_read_memory_hwaddr(addr, a, 4))
		return false;
	memcpy(x, a->data, 4);
	return true;
}

static bool phys_write32(uint64_t addr, uint32_t x)
{
	GByteArray *a = get_scratch();

	g_byte_array_append(a, (uint8_t *)&x, 4);
	return !qemu_plugin_write_memory_hwaddr(addr, a);
}

static void trace(struct vcpu *v, const char *fmt, ...)
{
	va_list ap;

	if (!trace_f)
		return;
	flockfile(trace_f);
	fprintf(trace_f, "cpu%u u=%" PRIu64 " k=%" PRIu64 " ", v->index,
		retired(v, board_of(v), USER), retired(v, board_of(v), KERNEL));
	va_start(ap, fmt);
	vfprintf(trace_f, fmt, ap);
	va_end(ap);
	putc('\n', trace_f);
	funlockfile(trace_f);
}

/* ------------------------------------------------------------------ *
 * Counters
 * ------------------------------------------------------------------ */

/* The total so far of what a counter counts. */
static uint64_t event_total(struct vcpu *v, struct board *b, struct counter *c)
{
	uint64_t sum = 0;

	for (int m = 0; m < MODES; m++) {
		if (!(c->modes & (1 << m)))
			continue;
		switch (c->event) {
		case EV_INSN:	sum += retired(v, b, m); break;
		case EV_BRANCH:	sum += b->branch[m]; break;
		case EV_LOAD:	sum += b->load[m]; break;
		case EV_STORE:	sum += b->store[m]; break;
		case EV_NONE:	break;
		}
	}
	return c->div > 1 ? sum / c->div : sum;
}

static uint64_t status_bit(int i)
{
	return 1ULL << (i >= FIXED0 ? 32 + i - FIXED0 : i);
}

/* Bring every running counter up to date; note overflows. */
static void sync_counters(struct vcpu *v, struct board *b)
{
	for (int i = 0; i < MAX_CTR; i++) {
		struct counter *c = &v->ctr[i];
		uint64_t now, sum;

		if (!c->active)
			continue;
		now = event_total(v, b, c);
		sum = c->val + (now - c->raw);
		c->raw = now;
		c->val = sum & width_mask;
		if (sum <= width_mask)
			continue;
		v->n_overflow++;
		v->global_status |= status_bit(i);
		trace(v, "OVERFLOW ctr=%d val=%" PRIx64, i, c->val);
		if (c->pmi) {
			v->pmi_pending = true;
			v->skid_left = cfg.skid;
		}
	}
}

static void set_event(struct counter *c, enum event ev, uint32_t div)
{
	c->event = ev;
	c->div = div;
}

static void decode_intel(struct counter *c, uint64_t sel)
{
	switch (sel & 0xffff) {
	case 0x00c0: set_event(c, EV_INSN, 1); break;	/* instructions */
	case 0x003c: set_event(c, EV_INSN, 1); break;	/* core cycles, CPI 1 */
	case 0x013c: set_event(c, EV_INSN, 1); break;	/* reference cycles */
	case 0x0300: set_event(c, EV_INSN, 1); break;
	case 0x00c4: set_event(c, EV_BRANCH, 1); break;
	case 0x00c5: set_event(c, EV_BRANCH, 64); break; /* "mispredicted" */
	case 0x4f2e: set_event(c, EV_INSN, 128); break;	/* "LLC reference" */
	case 0x412e: set_event(c, EV_INSN, 1024); break; /* "LLC miss" */
	case 0x81d0: set_event(c, EV_LOAD, 1); break;
	case 0x82d0: set_event(c, EV_STORE, 1); break;
	default:     set_event(c, EV_NONE, 1); break;
	}
}

static void decode_amd(struct counter *c, uint64_t sel)
{
	uint32_t ev = (sel & 0xff) | (sel >> 24 & 0xf00);
	uint32_t umask = sel >> 8 & 0xff;

	set_event(c, EV_NONE, 1);
	switch (ev) {
	case 0x0c0: set_event(c, EV_INSN, 1); break;	/* instructions */
	case 0x076: set_event(c, EV_INSN, 1); break;	/* cycles, CPI 1 */
	case 0x120: set_event(c, EV_INSN, 1); break;	/* reference cycles */
	case 0x0c2: set_event(c, EV_BRANCH, 1); break;
	case 0x0c3: set_event(c, EV_BRANCH, 64); break;
	case 0x060: set_event(c, EV_INSN, 128); break;
	case 0x064: set_event(c, EV_INSN, 1024); break;
	case 0x029:
		if (umask == 1)
			set_event(c, EV_LOAD, 1);
		else if (umask == 2)
			set_event(c, EV_STORE, 1);
		break;
	}
}

#define SEL_USR		(1ULL << 16)
#define SEL_OS		(1ULL << 17)
#define SEL_INT		(1ULL << 20)
#define SEL_EN		(1ULL << 22)

/* Recompute what each counter does, from the control registers. */
static void reconfigure(struct vcpu *v, struct board *b)
{
	bool global = cfg.version >= 2;

	for (int i = 0; i < MAX_CTR; i++) {
		struct counter *c = &v->ctr[i];
		bool en;

		if (i < cfg.gp) {
			uint64_t sel = v->evtsel[i];

			if (cfg.amd)
				decode_amd(c, sel);
			else
				decode_intel(c, sel);
			c->modes = (sel & SEL_USR ? 1 << USER : 0) |
				   (sel & SEL_OS ? 1 << KERNEL : 0);
			c->pmi = sel & SEL_INT;
			en = sel & SEL_EN;
		} else if (i >= FIXED0 && i < FIXED0 + cfg.fixed && !cfg.amd) {
			int n = i - FIXED0;
			uint64_t ctl = v->fixed_ctrl >> (4 * n);

			set_event(c, n < 3 ? EV_INSN : EV_NONE, 1);
			c->modes = (ctl & 2 ? 1 << USER : 0) |
				   (ctl & 1 ? 1 << KERNEL : 0);
			c->pmi = ctl & 8;
			en = ctl & 3;
		} else {
			continue;
		}
		if (global && !(v->global_ctrl & status_bit(i)))
			en = false;
		c->active = en && c->modes && c->event != EV_NONE;
		c->raw = event_total(v, b, c);
	}
}

/*
 * Set both ticks so that FIRE comes no later than the first block boundary at
 * which some counter has overflowed.  Every event needs at least one
 * instruction (`div` of them for the derived ones), so for anything other than
 * instructions this is a lower bound, and the deadline is then set anew.  A
 * counter of both modes splits what is left between them, most of it to the
 * current mode.
 */
static void arm(struct vcpu *v, struct board *b, int mode)
{
	uint64_t left[MODES] = { FAR, FAR }, both = FAR;

	for (int i = 0; i < MAX_CTR; i++) {
		struct counter *c = &v->ctr[i];
		uint64_t need;

		if (!c->active || !c->pmi)
			continue;
		need = (width_mask + 1 - c->val);
		if (c->div > 1)
			need = (need - 1) * c->div + 1;
		if (need > FAR)
			need = FAR;
		if (c->modes == (1 << KERNEL | 1 << USER))
			both = MIN(both, need);
		else
			left[c->modes == 1 << USER] =
				MIN(left[c->modes == 1 << USER], need);
	}
	if (both < FAR) {
		uint64_t other = both / 16;

		left[mode] = MIN(left[mode], both - other);
		left[!mode] = MIN(left[!mode], MAX(other, 1));
	}
	if (v->pmi_pending || v->patch.site)
		left[KERNEL] = left[USER] = 0;
	for (int m = 0; m < MODES; m++) {
		uint64_t tick = FIRE - left[m];

		v->bias[m] += tick - b->tick[m];
		b->tick[m] = tick;
	}
}

/*
 * Deliver a PMI as the local APIC would: through LVTPC.  Called at a block
 * boundary only; the message is an MSI write addressed to this very vCPU.
 */
static bool deliver_pmi(struct vcpu *v)
{
	uint32_t lvt = LVT_MASKED, id = v->index << 24;

	v->pmi_pending = false;
	v->n_pmi++;
	phys_read32(APIC_BASE + APIC_LVTPC, &lvt);
	phys_read32(APIC_BASE + APIC_ID, &id);
	trace(v, "PMI lvtpc=%x apic=%x status=%" PRIx64, lvt, id >> 24,
	      v->global_status);
	if (!cfg.amd && (v->debugctl & 1 << 12)) {	/* freeze on PMI */
		if (cfg.version >= 4)
			v->global_status |= 1ULL << 59;
		else
			v->global_ctrl = 0;
	}
	if (lvt & LVT_MASKED) {
		v->n_pmi_masked++;
		return false;
	}
	if ((lvt & 0x700) == 0x400)
		v->n_pmi_nmi++;
	if (!cfg.amd)
		phys_write32(APIC_BASE + APIC_LVTPC, lvt | LVT_MASKED);
	phys_write32(APIC_BASE | (id >> 24) << 12, lvt & 0x7ff);
	return true;
}

/* ------------------------------------------------------------------ *
 * Model-specific registers
 * ------------------------------------------------------------------ */

enum access { NATIVE, DONE, FAULT };

static uint64_t global_mask(void)
{
	uint64_t m = (1ULL << cfg.gp) - 1;

	if (!cfg.amd)
		m |= ((1ULL << cfg.fixed) - 1) << 32;
	return m;
}

static uint64_t inuse(struct vcpu *v)
{
	uint64_t x = 0;

	for (int i = 0; i < cfg.gp; i++)
		if (v->evtsel[i] & 0xff)
			x |= 1ULL << i;
	for (int i = 0; i < cfg.fixed; i++)
		if (v->fixed_ctrl >> (4 * i) & 3)
			x |= 1ULL << (32 + i);
	return x;
}

/* Which counter or selector an AMD register number means, or -1. */
static int amd_slot(uint32_t msr, bool *sel)
{
	int i;

	if (msr >= 0xc0010000 && msr <= 0xc0010007) {
		*sel = msr < 0xc0010004;
		return msr & 3;
	}
	if (cfg.version >= 1 && msr >= 0xc0010200 &&
	    msr < 0xc0010200 + 2 * (uint32_t)cfg.gp) {
		*sel = !(msr & 1);
		i = (msr - 0xc0010200) / 2;
		return i;
	}
	return -1;
}

static enum access amd_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	bool sel;
	int i = amd_slot(msr, &sel);

	if (i >= 0) {
		*x = sel ? v->evtsel[i] : v->ctr[i].val;
		return DONE;
	}
	if (cfg.version >= 2) {
		switch (msr) {
		case 0xc0000300: *x = v->global_status; return DONE;
		case 0xc0000301: *x = v->global_ctrl; return DONE;
		case 0xc0000302:
		case 0xc0000303: *x = 0; return DONE;
		}
	}
	return NATIVE;
}

static enum access amd_write(struct vcpu *v, uint32_t msr, uint64_t x)
{
	bool sel;
	int i = amd_slot(msr, &sel);

	if (i >= 0) {
		if (sel)
			v->evtsel[i] = x & ~(1ULL << 19 | 1ULL << 21);
		else
			v->ctr[i].val = x & width_mask;
		return DONE;
	}
	if (cfg.version >= 2) {
		switch (msr) {
		case 0xc0000300: return DONE;		/* read only, ignored */
		case 0xc0000301: v->global_ctrl = x & global_mask(); return DONE;
		case 0xc0000302: v->global_status &= ~x; return DONE;
		case 0xc0000303: v->global_status |= x & global_mask(); return DONE;
		}
	}
	return NATIVE;
}

static enum access intel_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	if (msr - 0xc1 < (uint32_t)cfg.gp) {
		*x = v->ctr[msr - 0xc1].val;
	} else if (msr - 0x4c1 < (uint32_t)cfg.gp) {
		*x = v->ctr[msr - 0x4c1].val;
	} else if (msr - 0x186 < (uint32_t)cfg.gp) {
		*x = v->evtsel[msr - 0x186];
	} else if (cfg.version >= 2 && msr - 0x309 < (uint32_t)cfg.fixed) {
		*x = v->ctr[FIXED0 + msr - 0x309].val;
	} else if (msr == 0x345) {
		*x = 1 << 13;			/* full-width counter writes */
	} else if (cfg.version >= 2 && msr == 0x38d) {
		*x = v->fixed_ctrl;
	} else if (cfg.version >= 2 && msr == 0x38e) {
		*x = v->global_status;
	} else if (cfg.version >= 2 && msr == 0x38f) {
		*x = v->global_ctrl;
	} else if (cfg.version >= 2 && msr == 0x390) {
		*x = 0;
	} else if (cfg.version >= 4 && msr == 0x391) {
		*x = 0;
	} else if (cfg.version >= 4 && msr == 0x392) {
		*x = inuse(v);
	} else {
		return NATIVE;
	}
	return DONE;
}

static enum access intel_write(struct vcpu *v, uint32_t msr, uint64_t x)
{
	uint64_t status = global_mask();

	status |= 1ULL << 62 | 1ULL << 63;
	if (cfg.version >= 4)
		status |= 1ULL << 55 | 1ULL << 58 | 1ULL << 59 | 1ULL << 60 |
			  1ULL << 61;

	if (msr - 0xc1 < (uint32_t)cfg.gp) {
		v->ctr[msr - 0xc1].val = (uint64_t)(int32_t)x & width_mask;
	} else if (msr - 0x4c1 < (uint32_t)cfg.gp) {
		if (x & ~width_mask)
			return FAULT;
		v->ctr[msr - 0x4c1].val = x;
	} else if (msr - 0x186 < (uint32_t)cfg.gp) {
		if (x >> 32 || (x & 1 << 21 && cfg.version < 3))
			return FAULT;
		v->evtsel[msr - 0x186] = x;
	} else if (cfg.version >= 2 && msr - 0x309 < (uint32_t)cfg.fixed) {
		if (x & ~width_mask)
			return FAULT;
		v->ctr[FIXED0 + msr - 0x309].val = x;
	} else if (msr == 0x345) {
		return FAULT;
	} else if (cfg.version >= 2 && msr == 0x38d) {
		if (x >> (4 * cfg.fixed))
			return FAULT;
		v->fixed_ctrl = x;
	} else if (cfg.version >= 2 && msr == 0x38e) {
		return FAULT;
	} else if (cfg.version >= 2 && msr == 0x38f) {
		if (x & ~global_mask())
			return FAULT;
		v->global_ctrl = x;
	} else if (cfg.version >= 2 && msr == 0x390) {
		if (x & ~status)
			return FAULT;
		v->global_status &= ~x;
	} else if (cfg.version >= 4 && msr == 0x391) {
		if (x & ~(status & ~(1ULL << 63)))
			return FAULT;
		v->global_status |= x;
	} else if (cfg.version >= 4 && msr == 0x392) {
		return FAULT;
	} else {
		return NATIVE;
	}
	return DONE;
}

/* ------------------------------------------------------------------ *
 * Emulated instructions
 * ------------------------------------------------------------------ */

enum kind { K_CPUID, K_RDMSR, K_WRMSR, K_RDPMC };

struct site {			/* one such instruction, in one block */
	uint64_t start;			/* of the block, as translated */
	uint16_t off, next;		/* of it and the following one */
	uint8_t kind, mode;
};

static uint64_t page_off(struct site *s)
{
	return (s->start + s->off) & 0xfff;
}

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

/*
 * Make the instruction about to run raise #GP(0): no interface call does that,
 * but RDMSR and WRMSR of an x2APIC register do while the APIC is in xAPIC
 * mode.  The guest's own RCX is put back when the exception is taken.
 */
static void provoke_gp(struct vcpu *v)
{
	v->saved_rcx = reg_read(RCX);
	v->fault_armed = true;
	v->n_gp++;
	reg_write(RCX, 0x8ff);
}

static void emulate_cpuid(struct vcpu *v, struct board *b, struct site *s)
{
	uint32_t leaf = reg_read(RAX);
	struct patch p = { 0 };
	uint64_t x, pc = site_pc(s);

	/*
	 * Ground truth for the guest, at any privilege: leaf 0x4f560000 + n.
	 * Two halves in EAX and EDX; EBX holds a signature.
	 */
	if ((leaf & 0xffff0000) == 0x4f560000) {
		switch (leaf & 0xffff) {
		case 0:  x = 1; break;
		case 1:  x = retired(v, b, USER); break;
		case 2:  x = retired(v, b, KERNEL); break;
		case 3:  x = b->branch[USER]; break;
		case 4:  x = b->branch[KERNEL]; break;
		case 5:  x = b->load[USER]; break;
		case 6:  x = b->load[KERNEL]; break;
		case 7:  x = b->store[USER]; break;
		case 8:  x = b->store[KERNEL]; break;
		case 9:  x = v->n_overflow; break;
		case 10: x = v->n_pmi; break;
		case 11: x = v->n_pmi_nmi; break;
		default: x = 0; break;
		}
		reg_write(RAX, (uint32_t)x);
		reg_write(RDX, x >> 32);
		reg_write(RCX, v->index);
		reg_write(RBX, 0x554d5056);	/* "VPMU" */
		goto skip;
	}
	if (!cfg.amd && leaf == 0xa) {
		uint32_t v2 = cfg.version >= 2;

		reg_write(RAX, cfg.version | cfg.gp << 8 | cfg.width << 16 |
			  7 << 24);
		reg_write(RBX, 0);
		reg_write(RCX, cfg.version >= 5 ? (1u << cfg.fixed) - 1 : 0);
		reg_write(RDX, v2 ? cfg.fixed | cfg.width << 5 |
			  (cfg.version >= 5 ? 1u << 15 : 0) : 0);
		goto skip;
	}
	if (cfg.amd && cfg.version >= 2 && leaf == 0x80000022) {
		reg_write(RAX, 1);
		reg_write(RBX, cfg.gp);
		reg_write(RCX, 0);
		reg_write(RDX, 0);
		goto skip;
	}
	if (!cfg.amd && leaf == 1)
		p.ecx_or = 1 << 15;			/* PDCM */
	else if (!cfg.amd && leaf == 0)
		p.eax_min = 0xa;
	else if (cfg.amd && leaf == 0x80000000)
		p.eax_min = cfg.version >= 2 ? 0x80000022 : 0;
	else if (cfg.amd && leaf == 0x80000001 && cfg.version >= 1)
		p.ecx_or = 1 << 23;			/* PerfCtrExtCore */
	else
		return;
	p.site = s;
	p.next = pc + s->next - s->off;
	v->patch = p;
	arm(v, b, s->mode);
	return;
skip:
	v->n_cpuid++;
	qemu_plugin_set_pc(pc + s->next - s->off);
}

static void emulate_msr(struct vcpu *v, struct board *b, struct site *s)
{
	uint32_t msr = reg_read(RCX);
	uint64_t x = 0, pc;
	enum access a;

	if (s->mode == USER)
		return;				/* native: #GP */
	pc = site_pc(s);

	/* The count of this instruction itself is not yet to be seen. */
	b->tick[s->mode]--;
	sync_counters(v, b);

	if (s->kind == K_RDMSR) {
		a = cfg.amd ? amd_read(v, msr, &x) : intel_read(v, msr, &x);
		if (a == DONE) {
			v->n_rdmsr++;
			reg_write(RAX, (uint32_t)x);
			reg_write(RDX, x >> 32);
			trace(v, "RDMSR %x = %" PRIx64 " pc=%" PRIx64, msr, x,
			      pc);
		} else if (a == NATIVE && !cfg.amd && msr == 0x1a0) {
			v->patch = (struct patch){
				.site = s, .next = pc + s->next - s->off,
				.eax_or = 1 << 7 | 1 << 11 | 1 << 12,
			};
		}
	} else {
		x = (uint32_t)reg_read(RAX) | reg_read(RDX) << 32;
		a = cfg.amd ? amd_write(v, msr, x) : intel_write(v, msr, x);
		if (a == DONE) {
			v->n_wrmsr++;
			trace(v, "WRMSR %x = %" PRIx64 " pc=%" PRIx64, msr, x,
			      pc);
		} else if (a == NATIVE && !cfg.amd && msr == 0x1d9) {
			v->debugctl = x;
		}
	}
	b->tick[s->mode]++;
	if (a == DONE)
		reconfigure(v, b);
	arm(v, b, s->mode);
	if (a == FAULT) {
		trace(v, "#GP msr=%x val=%" PRIx64 " pc=%" PRIx64, msr, x, pc);
		provoke_gp(v);
	} else if (a == DONE) {
		qemu_plugin_set_pc(pc + s->next - s->off);
	}
}

static void emulate_rdpmc(struct vcpu *v, struct board *b, struct site *s)
{
	uint32_t n = reg_read(RCX);
	int i = -1;
	uint64_t x, pc;

	if (s->mode == USER && !(reg_read(CR4) & 1 << 8))
		return;				/* native: #GP */
	if (cfg.amd) {
		if (n < (uint32_t)cfg.gp)
			i = n;
	} else if (n & 1u << 30) {
		if ((n & 0xffff) < (uint32_t)cfg.fixed && cfg.version >= 2)
			i = FIXED0 + (n & 0xffff);
	} else if ((n & 0x7fffffff) < (uint32_t)cfg.gp) {
		i = n & 0x7fffffff;
	}
	if (i < 0)
		return;			/* native: #UD, where silicon has #GP */

	pc = site_pc(s);
	b->tick[s->mode]--;
	sync_counters(v, b);
	x = v->ctr[i].val;
	b->tick[s->mode]++;
	v->n_rdpmc++;
	trace(v, "RDPMC %x = %" PRIx64 " pc=%" PRIx64, n, x, pc);
	reg_write(RAX, (uint32_t)x);
	reg_write(RDX, x >> 32);
	arm(v, b, s->mode);
	qemu_plugin_set_pc(pc + s->next - s->off);
}

static void on_site(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);
	struct site *s = data;

	switch (s->kind) {
	case K_CPUID: emulate_cpuid(v, board_of(v), s); break;
	case K_RDMSR:
	case K_WRMSR: emulate_msr(v, board_of(v), s); break;
	case K_RDPMC: emulate_rdpmc(v, board_of(v), s); break;
	}
}

static void apply_patch(struct vcpu *v, struct board *b, int mode)
{
	struct patch p = v->patch;
	uint32_t eax;

	v->patch.site = NULL;
	eax = reg_read(RAX);
	if (p.eax_min && eax < p.eax_min)
		reg_write(RAX, p.eax_min);
	if (p.eax_or)
		reg_write(RAX, eax | p.eax_or);
	if (p.ecx_or)
		reg_write(RCX, (uint32_t)reg_read(RCX) | p.ecx_or);
	arm(v, b, mode);
}

/* On the instruction after a CPUID or RDMSR in the same block. */
static void on_after(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);
	struct site *s = data;

	if (v->patch.site == s)
		apply_patch(v, board_of(v), s->mode);
}

/* ------------------------------------------------------------------ *
 * Translation
 * ------------------------------------------------------------------ */

struct site_box { struct site_box *next; struct site s; };

enum {
	F_BRANCH = 1, F_TRAP = 2, F_REP = 4, F_PURE = 8, F_SITE = 16,
	F_SWITCH = 32,
};

struct slot {			/* one instruction of a block */
	uint16_t off;		/* from the block's start */
	uint16_t counted;	/* counted by the time it is about to retire */
	uint8_t flags;
};

struct block {
	struct block *next;	/* for freeing */
	uint64_t start;
	uint32_t size;
	uint16_t n;
	uint8_t mode;
	struct slot slot[];
};

static _Atomic(struct block *) all_blocks;
static _Atomic(struct site_box *) all_sites;

/* What matters of an instruction's encoding. */
static unsigned int classify(const uint8_t *p, size_t len, int *kind)
{
	size_t i = 0;
	bool rep = false;
	uint8_t op, modrm;
	unsigned int reg, mod;

	*kind = -1;
	for (; i < len; i++) {
		uint8_t c = p[i];

		if (c == 0xf2 || c == 0xf3)
			rep = true;
		else if (!(c == 0x66 || c == 0x67 || c == 0xf0 || c == 0x2e ||
			   c == 0x36 || c == 0x3e || c == 0x26 || c == 0x64 ||
			   c == 0x65))
			break;
	}
	if (i + 1 < len && (p[i] & 0xf0) == 0x40)
		i++;				/* REX */
	if (i >= len)
		return 0;
	op = p[i++];
	modrm = i < len ? p[i] : 0;
	mod = modrm >> 6;
	reg = modrm >> 3 & 7;

	if (op == 0x0f) {
		if (i >= len)
			return 0;
		op = p[i++];
		modrm = i < len ? p[i] : 0;
		mod = modrm >> 6;
		switch (op) {
		case 0xa2: *kind = K_CPUID; return F_SITE;
		case 0x32: *kind = K_RDMSR; return F_SITE;
		case 0x30: *kind = K_WRMSR; return F_SITE;
		case 0x33: *kind = K_RDPMC; return F_SITE;
		case 0x05: case 0x07: case 0x34: case 0x35: /* SYSCALL.. */
			return F_BRANCH | F_SWITCH;
		case 0x80 ... 0x8f:
			return F_BRANCH | F_PURE;
		case 0x1f:			/* long NOP */
			return F_PURE;
		case 0x40 ... 0x4f: case 0x90 ... 0x9f: case 0xaf:
		case 0xb6: case 0xb7: case 0xbe: case 0xbf: case 0xa3:
		case 0xab: case 0xb3: case 0xbb: case 0xba: case 0xa4:
		case 0xa5: case 0xac: case 0xad:
			return mod == 3 ? F_PURE : 0;
		}
		return 0;
	}
	switch (op) {
	case 0x70 ... 0x7f: case 0xeb: case 0xe9: case 0xe0 ... 0xe3:
		return F_BRANCH | F_PURE;
	case 0xe8: case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0x9a:
	case 0xea:
		return F_BRANCH;
	case 0xcf:						/* IRET */
		return F_BRANCH | F_SWITCH;
	case 0xcc: case 0xcd: case 0xce: case 0xf1:
		return F_BRANCH | F_TRAP;
	case 0xff:
		return reg >= 2 && reg <= 5 ? F_BRANCH :
		       reg < 2 && mod == 3 ? F_PURE : 0;
	case 0xfe:
		return mod == 3 ? F_PURE : 0;
	case 0xf6: case 0xf7:
		return mod == 3 && reg < 6 ? F_PURE : 0;
	case 0x6c ... 0x6f: case 0xa4 ... 0xa7: case 0xaa ... 0xaf:
		return rep ? F_REP : 0;
	case 0x8d: case 0x90: case 0x98: case 0x99: case 0xb0 ... 0xbf:
	case 0xa8: case 0xa9:
		return F_PURE;
	case 0x00 ... 0x05: case 0x08 ... 0x0d: case 0x10 ... 0x15:
	case 0x18 ... 0x1d: case 0x20 ... 0x25: case 0x28 ... 0x2d:
	case 0x30 ... 0x35: case 0x38 ... 0x3d:
		return (op & 7) >= 4 || mod == 3 ? F_PURE : 0;
	case 0x63: case 0x69: case 0x6b: case 0x80: case 0x81: case 0x83:
	case 0x84: case 0x85: case 0x88 ... 0x8b: case 0xc0: case 0xc1:
	case 0xc6: case 0xc7: case 0xd0 ... 0xd3:
		return mod == 3 ? F_PURE : 0;
	}
	return 0;
}

/*
 * A REP string instruction comes back to the translated code once per 65536
 * iterations, or at each one when single-stepped by -icount: count it once.
 */
static void on_rep(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);
	struct board *b = board_of(v);
	struct site *s = data;

	if (v->rep && page_off(v->rep) == page_off(s) &&
	    v->rep_mark == retired(v, b, s->mode)) {
		v->n_rep_again++;
		return;
	}
	b->tick[s->mode]++;
	v->rep = s;
	v->rep_mark = retired(v, b, s->mode);
}

/* At a block's start, once the tick of its mode has reached FIRE. */
static void fire(struct vcpu *v, struct board *b, int mode)
{
	uint64_t pc = reg_read(RIP);
	bool exit = false;

	v->n_fire++;
	if (v->patch.site && v->patch.next == pc)
		apply_patch(v, b, mode);
	sync_counters(v, b);
	if (v->pmi_pending && v->skid_left-- <= 0) {
		exit = deliver_pmi(v);
		reconfigure(v, b);
	}
	arm(v, b, mode);
	/* Leave the block before it starts: the interrupt is taken here. */
	if (exit)
		qemu_plugin_set_pc(pc);
}

static void on_fire(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);
	struct block *blk = data;

	fire(v, board_of(v), blk->mode);
}

/*
 * Leaving a mode whose deadline has come: look at the counters at the first
 * block of the other one.
 */
static void pass_on(struct vcpu *v, struct board *b, int from)
{
	if (b->tick[from] < FIRE || b->tick[!from] >= FIRE)
		return;
	b->tick[!from] += FIRE;
	v->bias[!from] += FIRE;
}

static void on_switch(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);

	pass_on(v, board_of(v), (uintptr_t)data);
}

/* What the inline operations do, as callbacks (see one_thread). */
static void on_block(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);
	struct board *b = board_of(v);
	struct block *blk = data;

	if (b->tick[blk->mode] >= FIRE)
		fire(v, b, blk->mode);
	b->block = (uintptr_t)blk;
}

static void on_run(unsigned int index, void *data)
{
	uintptr_t x = (uintptr_t)data;

	board_of(vcpu_of(index))->tick[x & 1] += x >> 1;
}

static void on_branch(unsigned int index, void *data)
{
	board_of(vcpu_of(index))->branch[(uintptr_t)data]++;
}

static void on_mem(unsigned int index, uint32_t info, uint64_t addr, void *data)
{
	struct board *b = board_of(vcpu_of(index));

	if (qemu_plugin_mem_is_store(info))
		b->store[(uintptr_t)data]++;
	else
		b->load[(uintptr_t)data]++;
}

static void add_run(struct qemu_plugin_insn *in, int mode, unsigned int len)
{
	if (one_thread)
		qemu_plugin_register_vcpu_insn_exec_cb(in, on_run, CB_NO_REGS,
			(void *)(uintptr_t)(len << 1 | mode));
	else
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(in, OP_ADD,
			FIELD(tick[mode]), len);
}

static void add_branch(struct qemu_plugin_insn *in, int mode)
{
	if (one_thread)
		qemu_plugin_register_vcpu_insn_exec_cb(in, on_branch,
			CB_NO_REGS, (void *)(uintptr_t)mode);
	else
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(in, OP_ADD,
			FIELD(branch[mode]), 1);
}

static void add_switch(struct qemu_plugin_insn *in, int mode)
{
	if (one_thread)
		qemu_plugin_register_vcpu_insn_exec_cb(in, on_switch,
			CB_NO_REGS, (void *)(uintptr_t)mode);
	else
		qemu_plugin_register_vcpu_insn_exec_cond_cb(in, on_switch,
			CB_NO_REGS, COND_GE, FIELD(tick[mode]), FIRE,
			(void *)(uintptr_t)mode);
}

static void add_mem(struct qemu_plugin_insn *in, int mode)
{
	if (one_thread) {
		qemu_plugin_register_vcpu_mem_cb(in, on_mem, CB_NO_REGS,
			MEM_R | MEM_W, (void *)(uintptr_t)mode);
		return;
	}
	qemu_plugin_register_vcpu_mem_inline_per_vcpu(in, MEM_R, OP_ADD,
						      FIELD(load[mode]), 1);
	qemu_plugin_register_vcpu_mem_inline_per_vcpu(in, MEM_W, OP_ADD,
						      FIELD(store[mode]), 1);
}

static struct site *new_site(uint64_t start, uint64_t pc, size_t len, int kind,
			     int mode)
{
	struct site_box *box = g_new0(struct site_box, 1);

	box->s = (struct site){ start, pc - start, pc - start + len, kind, mode };
	box->next = atomic_load(&all_sites);
	while (!atomic_compare_exchange_weak(&all_sites, &box->next, box))
		;
	return &box->s;
}

struct run {
	struct qemu_plugin_insn *first;		/* NULL: none open */
	unsigned int begin, counted;
};

/* End the open run, if any, before instruction `end`. */
static void close_run(struct run *r, struct block *blk, unsigned int end)
{
	if (!r->first)
		return;
	add_run(r->first, blk->mode, end - r->begin);
	r->counted += end - r->begin;
	for (unsigned int i = r->begin; i < end; i++)
		blk->slot[i].counted = r->counted;
	r->first = NULL;
}

/*
 * Place the counting.  Instructions are counted by adding the length of a run
 * of them at the run's first.
 *   gran=tb:   a run goes on to the block's end (or to an emulated or REP
 *              instruction).  Cheapest.  If a fault leaves the block early,
 *              on_discon() takes back what did not retire.
 *   gran=insn: a run ends after each instruction that can leave the block
 *              early.  Exact also where QEMU leaves a block without telling
 *              plugins, as it does under -icount for device access.
 */
static void on_translate(struct qemu_plugin_tb *tb, void *data)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	uint64_t start = qemu_plugin_tb_vaddr(tb);
	struct run r = { 0 };
	struct site *after = NULL;
	struct block *blk;
	int mode;

	if (one_thread && !current_cpu_now()) {
		fprintf(stderr, "vpmu: cannot tell vCPUs apart here\n");
		exit(1);
	}

	/* CPL is part of what a block is translated for. */
	mode = (reg_read(CS) & 3) == 3 && (reg_read(CR0) & 1) ? USER : KERNEL;

	blk = g_malloc0(sizeof(*blk) + n * sizeof(blk->slot[0]));
	blk->start = start;
	blk->n = n;
	blk->mode = mode;
	blk->next = atomic_load(&all_blocks);
	while (!atomic_compare_exchange_weak(&all_blocks, &blk->next, blk))
		;

	if (one_thread) {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block,
						     CB_RW_REGS_PC, blk);
	} else {
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_fire,
			CB_RW_REGS_PC, COND_GE, FIELD(tick[mode]), FIRE, blk);
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, OP_STORE,
			FIELD(block), (uintptr_t)blk);
	}

	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *in = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(in);
		size_t len = qemu_plugin_insn_size(in);
		uint8_t bytes[16] = { 0 };
		unsigned int flags;
		struct site *s = NULL;
		int kind;

		len = MIN(len, sizeof(bytes));
		qemu_plugin_insn_data(in, bytes, len);
		flags = classify(bytes, len, &kind);
		/* real-mode firmware and trampolines are left alone */
		if (flags & F_SITE && start < 0x100000)
			flags &= ~F_SITE;
		blk->slot[i].off = pc - start;
		blk->slot[i].flags = flags;
		blk->size = pc + len - start;

		if (after) {
			qemu_plugin_register_vcpu_insn_exec_cb(in, on_after,
							       CB_RW_REGS, after);
			after = NULL;
		}
		if (flags & F_REP) {		/* a run of its own */
			close_run(&r, blk, i);
			r.counted++;
			blk->slot[i].counted = r.counted;
			qemu_plugin_register_vcpu_insn_exec_cb(in, on_rep,
				CB_NO_REGS, new_site(start, pc, len, 0, mode));
		} else {
			if (!r.first) {
				r.first = in;
				r.begin = i;
			}
			if (i == n - 1 || flags & F_SITE ||
			    (cfg.gran_insn && !(flags & F_PURE)))
				close_run(&r, blk, i + 1);
		}
		if (flags & F_BRANCH)
			add_branch(in, mode);
		if (flags & F_SWITCH)
			add_switch(in, mode);
		if (cfg.mem)
			add_mem(in, mode);
		if (flags & F_SITE) {
			s = new_site(start, pc, len, kind, mode);
			qemu_plugin_register_vcpu_insn_exec_cb(in, on_site,
							CB_RW_REGS_PC, s);
			if (kind == K_CPUID || kind == K_RDMSR)
				after = s;
		}
	}
}

/* ------------------------------------------------------------------ *
 * Leaving a block early
 * ------------------------------------------------------------------ */

/* An exception leaves the block at `from`: take back what did not retire. */
static void fix_exception(struct vcpu *v, struct board *b, uint64_t from)
{
	struct block *blk = (struct block *)(uintptr_t)b->block;
	uint64_t off;

	if (v->fault_armed) {
		v->fault_armed = false;
		reg_write(RCX, v->saved_rcx);
	}
	if (!blk || (blk->mode == KERNEL) != (from >> 63))
		return;
	off = from - blk->start;
	if (blk->mode == USER)
		off &= 0xfff;		/* see site_pc() */
	if (off >= blk->size)
		return;
	/* A fault of fetching it: the block before was left at its end. */
	if (reg_read(CR2) - from < 16)
		return;
	for (unsigned int i = 0; i < blk->n; i++) {
		struct slot *s = &blk->slot[i];

		if (s->off != off)
			continue;
		if (s->flags & F_TRAP)		/* INT3 and such do retire */
			return;
		/* s->counted were counted, i of them retired */
		b->tick[blk->mode] -= s->counted - i;
		if (s->flags & F_BRANCH)
			b->branch[blk->mode]--;
		v->n_exc_fixed++;
		v->rep = NULL;
		return;
	}
}

/*
 * What x86 reports in 11.1.3: an exception when one is raised, while the
 * faulting address is still unknown (from and to are both that of the block),
 * then an interrupt when anything is delivered, be it an interrupt or that
 * exception, with the right addresses.
 */
static void on_discon(unsigned int index, int type, uint64_t from, uint64_t to,
		      void *data)
{
	struct vcpu *v = &vcpus[index];
	struct board *b = board_of(v);
	struct site *r = v->rep;

	if (type == DISCON_EXCEPTION) {
		v->n_exc++;
		v->exception = true;
	} else if (v->exception) {
		v->exception = false;
		fix_exception(v, b, from);
	} else {
		v->n_int++;
		/* amid a REP: it will be counted when resumed */
		if (r && (from & 0xfff) == page_off(r) &&
		    v->rep_mark == retired(v, b, r->mode)) {
			b->tick[r->mode]--;
			v->rep = NULL;
		}
	}
	pass_on(v, b, USER);
}

/* ------------------------------------------------------------------ *
 * Life cycle
 * ------------------------------------------------------------------ */

static void on_vcpu(unsigned int index, void *data)
{
	struct vcpu *v = &vcpus[index];
	struct board *b;
	GArray *regs;

	v->index = index;
	b = board_of(v);
	memset(b, 0, sizeof(*b));
	v->global_ctrl = cfg.amd ? global_mask() : (1ULL << cfg.gp) - 1;
	arm(v, b, KERNEL);

	vcpu_cpu[index] = current_cpu_now();
	if (!vcpus_seen++)
		first_thread = pthread_self();
	else if (pthread_equal(first_thread, pthread_self()))
		one_thread = true;

	if (reg_handle[RAX])
		return;
	regs = qemu_plugin_get_registers();
	if (g_array_get_element_size(regs) != sizeof(pl_reg)) {
		fprintf(stderr, "vpmu: register descriptors changed\n");
		exit(1);
	}
	for (unsigned int i = 0; i < regs->len; i++) {
		pl_reg *r = &g_array_index(regs, pl_reg, i);

		for (int k = 0; k < NREG; k++)
			if (!strcmp(r->name, reg_name[k]))
				reg_handle[k] = r->handle;
	}
	g_array_free(regs, TRUE);
	for (int k = 0; k < NREG; k++)
		if (!reg_handle[k]) {
			fprintf(stderr, "vpmu: no register %s\n", reg_name[k]);
			exit(1);
		}
}

/* The code cache is emptied, all vCPUs stopped. */
static void on_flush(void *data)
{
	struct block *blk = atomic_exchange(&all_blocks, NULL);
	struct site_box *box = atomic_exchange(&all_sites, NULL);

	for (int i = 0; i < max_vcpus; i++)
		if (reg_handle[RAX]) {
			board_of(&vcpus[i])->block = 0;
			vcpus[i].rep = NULL;
			vcpus[i].patch.site = NULL;
		}
	while (blk) {
		struct block *next = blk->next;

		g_free(blk);
		blk = next;
	}
	while (box) {
		struct site_box *next = box->next;

		g_free(box);
		box = next;
	}
}

static void on_exit_(void *data)
{
	FILE *f = cfg.out ? fopen(cfg.out, "w") : stderr;

	if (!f)
		return;
	fprintf(f, "{\"model\":\"%s\",\"version\":%d,\"vcpus\":[",
		cfg.amd ? "amd" : "intel", cfg.version);
	for (int i = 0; i < max_vcpus; i++) {
		struct vcpu *v = &vcpus[i];
		struct board *b = board_of(v);

		fprintf(f, "%s\n {\"cpu\":%d,", i ? "," : "", i);
#define P(name, val) fprintf(f, "\"%s\":%" PRIu64 ",", name, (uint64_t)(val))
		P("insn_user", retired(v, b, USER));
		P("insn_kernel", retired(v, b, KERNEL));
		P("branch_user", b->branch[USER]);
		P("branch_kernel", b->branch[KERNEL]);
		P("load_user", b->load[USER]);
		P("load_kernel", b->load[KERNEL]);
		P("store_user", b->store[USER]);
		P("store_kernel", b->store[KERNEL]);
		P("overflows", v->n_overflow);
		P("pmi", v->n_pmi);
		P("pmi_nmi", v->n_pmi_nmi);
		P("pmi_masked", v->n_pmi_masked);
		P("rdmsr", v->n_rdmsr);
		P("wrmsr", v->n_wrmsr);
		P("rdpmc", v->n_rdpmc);
		P("cpuid", v->n_cpuid);
		P("gp", v->n_gp);
		P("fires", v->n_fire);
		P("interrupts", v->n_int);
		P("exceptions", v->n_exc);
		P("exceptions_fixed", v->n_exc_fixed);
		fprintf(f, "\"rep_again\":%" PRIu64 "}", v->n_rep_again);
	}
	fprintf(f, "]}\n");
	if (f != stderr)
		fclose(f);
	if (trace_f)
		fflush(trace_f);
}

static bool option(char *arg)
{
	char *val = strchr(arg, '=');

	if (!val)
		return false;
	*val++ = 0;
	if (!strcmp(arg, "model")) {
		cfg.amd = !strcmp(val, "amd");
		return cfg.amd || !strcmp(val, "intel");
	} else if (!strcmp(arg, "version")) {
		cfg.version = atoi(val);
	} else if (!strcmp(arg, "gp")) {
		cfg.gp = atoi(val);
	} else if (!strcmp(arg, "fixed")) {
		cfg.fixed = atoi(val);
	} else if (!strcmp(arg, "width")) {
		cfg.width = atoi(val);
	} else if (!strcmp(arg, "skid")) {
		cfg.skid = atoi(val);
	} else if (!strcmp(arg, "gran")) {
		cfg.gran_insn = !strcmp(val, "insn");
		return cfg.gran_insn || !strcmp(val, "tb");
	} else if (!strcmp(arg, "mem")) {
		cfg.mem = !strcmp(val, "on");
	} else if (!strcmp(arg, "out")) {
		cfg.out = val;
	} else if (!strcmp(arg, "trace")) {
		cfg.trace = val;
	} else {
		return false;
	}
	return true;
}

EXPORT int qemu_plugin_install(uint64_t id, const pl_info *info, int argc,
			       char **argv)
{
	if (strcmp(info->target, "x86_64") || !info->system) {
		fprintf(stderr, "vpmu: needs x86_64 system emulation\n");
		return -1;
	}
	for (int i = 0; i < argc; i++) {
		argv[i] = g_strdup(argv[i]);
		if (!option(argv[i])) {
			fprintf(stderr, "vpmu: bad option %s\n", argv[i]);
			return -1;
		}
	}
	if (cfg.version < 0)
		cfg.version = cfg.amd ? 2 : 4;
	if (cfg.gp < 0)
		cfg.gp = !cfg.amd ? 8 : cfg.version ? 6 : 4;
	if (cfg.gp > MAX_GP || cfg.fixed > MAX_FIXED || cfg.width < 32 ||
	    cfg.width > 60) {
		fprintf(stderr, "vpmu: out of range\n");
		return -1;
	}
	width_mask = (1ULL << cfg.width) - 1;
	if (cfg.trace && !(trace_f = fopen(cfg.trace, "w"))) {
		perror(cfg.trace);
		return -1;
	}
	max_vcpus = info->vcpus.max;
	vcpus = g_new0(struct vcpu, max_vcpus);
	vcpu_cpu = g_new0(void *, max_vcpus);
	boards = qemu_plugin_scoreboard_new(sizeof(struct board));

	qemu_plugin_register_vcpu_init_cb(id, on_vcpu, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate, NULL);
	qemu_plugin_register_vcpu_discon_cb(id,
		DISCON_INTERRUPT | DISCON_EXCEPTION, on_discon, NULL);
	qemu_plugin_register_flush_cb(id, on_flush, NULL);
	qemu_plugin_register_atexit_cb(id, on_exit_, NULL);
	return 0;
}
