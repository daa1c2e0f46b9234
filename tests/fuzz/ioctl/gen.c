// SPDX-License-Identifier: BSD-2-Clause
/* gen.c - see gen.h. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hwpmc.h"
#include "hwpmc_log.h"
#include "gen.h"

/* What the slots probably hold. */
struct memory {
	struct { bool open; int log; uint32_t ring; } owner[OWNERS];	/* 2: mapped */
	struct { bool live, started; int mode; } pmc[PMCS];
	bool kid[KIDS];
};

struct gen {
	uint64_t random;
	const struct plan *plan;
	unsigned int thread;
	unsigned int depth;		/* steps left of a child's part, */
	struct memory parent;		/* whose parent knows nothing of it */
	struct memory is;
};

static uint32_t any(struct gen *g, uint32_t n)
{
	g->random = g->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(g->random >> 32) % n;
}

static bool one_in(struct gen *g, uint32_t n)
{
	return any(g, n) == 0;
}

static uint64_t any64(struct gen *g)
{
	uint64_t high = any(g, ~0u);

	return high << 32 | any(g, ~0u);
}

#define PICK(g, array) ((array)[any(g, sizeof(array) / sizeof(*(array)))])

static uint64_t odd_value(struct gen *g)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 7, 8, 64, 255, 256, 4095, 4096, 65535, 65536, 0x7fffffff,
		0x80000000, 0xffffffff, 0xfffffffe, 0x100000000, 1ull << 47,
		1ull << 48, 1ull << 62, 1ull << 63, ~0ull, ~0ull - 1,
	};

	switch (any(g, 4)) {
	case 0:
		return any64(g);
	case 1:
		return 1ull << any(g, 64);
	default:
		return PICK(g, values);
	}
}

/* ---- which slot ---------------------------------------------------------- */

/* Threads of a process share the slots, but have those that they like best. */
static unsigned int any_owner(struct gen *g)
{
	if (g->plan->threads > 1 && any(g, 8))
		return g->thread % OWNERS;
	return any(g, OWNERS);
}

static unsigned int owner_slot(struct gen *g, bool open)
{
	unsigned int i = any_owner(g);

	for (int n = 0; n < 8 && g->is.owner[i].open != open; n++)
		i = any_owner(g);
	return i;
}

enum want { WANT_LIVE, WANT_FREE, WANT_STARTED, WANT_STOPPED, WANT_PROCESS };

static bool is(const struct gen *g, unsigned int i, enum want want)
{
	if (want != WANT_FREE && !g->is.owner[i / 4].open)
		return false;
	switch (want) {
	case WANT_LIVE:
		return g->is.pmc[i].live;
	case WANT_FREE:
		return !g->is.pmc[i].live && g->is.owner[i / 4].open;
	case WANT_STARTED:
		return g->is.pmc[i].live && g->is.pmc[i].started;
	case WANT_STOPPED:
		return g->is.pmc[i].live && !g->is.pmc[i].started;
	case WANT_PROCESS:
		return g->is.pmc[i].live && g->is.pmc[i].mode >= HWPMC_MODE_TS;
	}
	return false;
}

static unsigned int pmc_slot(struct gen *g, enum want want)
{
	unsigned int i = any_owner(g) * 4 + any(g, 4);

	for (int n = 0; n < 24 && !is(g, i, want); n++)
		i = any_owner(g) * 4 + any(g, 4);
	return i;
}

static unsigned int proc_slot(struct gen *g)
{
	unsigned int i = any(g, 20);

	if (i < 6)
		return PROC_SELF;
	if (i < 14) {
		for (int n = 0; n < 12; n++) {
			i = any(g, KIDS);
			if (g->is.kid[i])
				return i;
		}
		return i % KIDS;
	}
	if (i < 17)
		return PROC_PEER + any(g, PEERS);
	return KIDS + any(g, PROC__COUNT - KIDS);
}

/* ---- calls --------------------------------------------------------------- */

static void call_init(struct op *op, unsigned int nr, size_t size)
{
	op->what = OP_CALL;
	op->nr = nr;
	op->size = size;
}

static void low(struct op *op, unsigned int word, uint32_t value)
{
	op->w[word] = (op->w[word] & ~0xffffffffull) | value;
}

static void high(struct op *op, unsigned int word, uint32_t value)
{
	op->w[word] = (op->w[word] & 0xffffffff) | (uint64_t)value << 32;
}

static uint32_t any_flags(struct gen *g, int mode)
{
	uint32_t flags = 0;

	if (mode >= HWPMC_MODE_TS) {
		flags |= one_in(g, 2) ? HWPMC_F_DESCENDANTS : 0;
		flags |= one_in(g, 6) ? HWPMC_F_LOG_PROCCSW : 0;
		flags |= one_in(g, 6) ? HWPMC_F_LOG_PROCEXIT : 0;
		flags |= one_in(g, 8) ? HWPMC_F_EXEC_START : 0;
	}
	if (mode == HWPMC_MODE_TC && one_in(g, 4))
		flags = HWPMC_F_THREAD;
	if (mode == HWPMC_MODE_SS || mode == HWPMC_MODE_TS)
		flags |= one_in(g, 2) ? HWPMC_F_CALLCHAIN : 0;
	if (flags & HWPMC_F_CALLCHAIN && one_in(g, 3))
		flags |= HWPMC_F_USERCALLCHAIN;
	if (mode == HWPMC_MODE_SS && one_in(g, 5))
		flags |= HWPMC_F_KGMON;
	return flags;
}

/* Words: 0 caps, cpu; 1 class, ev; 2 flags, mode; 3 pmcid; 4 count; 5 config, 6, 7. */
static void any_event(struct gen *g, struct op *op)
{
	static const uint32_t intel[] = { 0xc0, 0xc4, 0x3c, 0x013c, 0x4f2e, 0x01b7 };
	static const uint32_t amd[] = { 0xc0, 0xc2, 0x76, 0xc1 };
	unsigned int i = any(g, 20);

	if (i < 6 || g->plan->model == MODEL_NONE) {
		low(op, 1, HWPMC_CLASS_SOFT);
		high(op, 1, HWPMC_EV_SOFT_FIRST + (any(g, 12) ? any(g, 9) : any(g, 48)));
		/* Most of them happen in the kernel. */
		if (any(g, 4))
			low(op, 0, 0);
	} else if (i == 6 && op->w[2] >> 32 != HWPMC_MODE_TS) {
		low(op, 0, 0);
		low(op, 1, HWPMC_CLASS_TSC);
		high(op, 1, HWPMC_EV_TSC);
	} else if (i < 10 && g->plan->model == MODEL_INTEL) {
		low(op, 1, HWPMC_CLASS_IAF);
		high(op, 1, HWPMC_EV_IAF_FIRST + any(g, 4));
	} else {
		low(op, 1, g->plan->model == MODEL_AMD ? HWPMC_CLASS_K8 :
		    HWPMC_CLASS_IAP);
		low(op, 2, (uint32_t)op->w[2] | HWPMC_F_EV_PMU);
		op->w[5] = g->plan->model == MODEL_AMD ? PICK(g, amd) : PICK(g, intel);
		if (one_in(g, 12))
			op->w[5] ^= 1ull << any(g, 36);
		if (op->w[5] == 0x01b7)
			op->w[6] = any(g, 65536);
	}
}

/* An emulated machine that is sampled at each event does nothing else. */
static const uint64_t periods[] = {
	1000, 20011, 65536, 100003, 100003, 1 << 20, 1 << 20, 10000019, 10000019,
	1ull << 40, ~0ull,
};

static uint64_t any_period(struct gen *g)
{
	return one_in(g, 40) ? any(g, 2) : PICK(g, periods);
}

static void gen_allocate(struct gen *g, struct op *op)
{
	static const uint32_t caps[] = {
		HWPMC_CAP_USER, HWPMC_CAP_SYSTEM, HWPMC_CAP_USER | HWPMC_CAP_SYSTEM, 0,
	};
	static const int modes[] = { 3, 3, 3, 3, 1, 1, 2, 2, 2, 0, 0 };
	int mode = PICK(g, modes);

	call_init(op, HWPMC_OP_PMCALLOCATE, sizeof(struct hwpmc_op_pmcallocate));
	op->pmc = pmc_slot(g, WANT_FREE);
	op->owner = op->pmc / 4;
	low(op, 0, PICK(g, caps));
	high(op, 0, mode >= HWPMC_MODE_TS ? HWPMC_CPU_ANY : any(g, 2));
	low(op, 2, any_flags(g, mode));
	high(op, 2, mode);
	any_event(g, op);
	op->w[4] = mode & 1 ? odd_value(g) : any_period(g);
	g->is.pmc[op->pmc].live = true;
	g->is.pmc[op->pmc].started = false;
	g->is.pmc[op->pmc].mode = mode;
}

static void gen_attach(struct gen *g, struct op *op, unsigned int nr)
{
	call_init(op, nr, sizeof(struct hwpmc_op_pmcattach));
	op->pmc = pmc_slot(g, one_in(g, 8) ? WANT_LIVE : WANT_PROCESS);
	if (nr == HWPMC_OP_PMCATTACH && g->is.pmc[op->pmc].started)
		op->pmc = pmc_slot(g, WANT_STOPPED);
	op->owner = op->pmc / 4;
	op->proc = proc_slot(g);
}

static void gen_simple(struct gen *g, struct op *op, unsigned int nr)
{
	static const enum want want[] = {
		[HWPMC_OP_PMCSTART] = WANT_STOPPED, [HWPMC_OP_PMCSTOP] = WANT_STARTED,
		[HWPMC_OP_PMCGETMSR] = WANT_PROCESS,
	};
	size_t size = nr == HWPMC_OP_PMCRW || nr == HWPMC_OP_PMCSETCOUNT ? 24 : 16;

	call_init(op, nr, size);
	op->pmc = pmc_slot(g, nr < sizeof(want) / sizeof(*want) ? want[nr] : WANT_LIVE);
	op->owner = op->pmc / 4;
	if (nr == HWPMC_OP_PMCRW)
		high(op, 0, one_in(g, 4) ? any(g, 4) << 4 : HWPMC_F_OLDVALUE);
	if (nr == HWPMC_OP_PMCRW || nr == HWPMC_OP_PMCSETCOUNT)
		op->w[1] = g->is.pmc[op->pmc].mode & 1 ? odd_value(g) : any_period(g);
	if (nr == HWPMC_OP_PMCSTART)
		g->is.pmc[op->pmc].started = true;
	if (nr == HWPMC_OP_PMCSTOP)
		g->is.pmc[op->pmc].started = false;
	if (nr == HWPMC_OP_PMCRELEASE)
		g->is.pmc[op->pmc].live = false;
}

static void gen_configure(struct gen *g, struct op *op)
{
	bool mapped = one_in(g, 2);

	call_init(op, HWPMC_OP_CONFIGURELOG, sizeof(struct hwpmc_op_configurelog));
	op->owner = owner_slot(g, true);
	if (g->is.owner[op->owner].log && one_in(g, 2)) {
		low(op, 0, -1);
		g->is.owner[op->owner].log = 0;
		return;
	}
	if (mapped) {
		low(op, 0, -1);
		high(op, 0, HWPMC_LOG_F_MAPPED);
	} else {
		op->log = any(g, LOGS);
	}
	if (!one_in(g, 4))
		low(op, 1, 4096u << any(g, 7));
	if (one_in(g, 10))
		low(op, 1, one_in(g, 4) ? 1u << any(g, 24) : any(g, 1 << 22));
	if (one_in(g, 3))
		high(op, 1, odd_value(g));
	g->is.owner[op->owner].log = mapped ? 2 : 1;
	g->is.owner[op->owner].ring = op->w[1];
}

static void gen_info(struct gen *g, struct op *op, unsigned int nr)
{
	static const uint8_t size[] = {
		[HWPMC_OP_GETDRIVERSTATS] = 88, [HWPMC_OP_GETMODULEVERSION] = 16,
		[HWPMC_OP_GETPMCINFO] = 24, [HWPMC_OP_GETDYNEVENTINFO] = 24,
	};

	call_init(op, nr, nr == HWPMC_OP_GETCPUINFO ? 288 : size[nr]);
	op->owner = owner_slot(g, true);
	if (nr == HWPMC_OP_GETMODULEVERSION)
		low(op, 0, one_in(g, 2) ? HWPMC_API_VERSION : odd_value(g));
	if (nr == HWPMC_OP_GETPMCINFO) {
		low(op, 0, any(g, 2));
		high(op, 0, one_in(g, 4) ? odd_value(g) : HWPMC_ROW_MAX);
	}
	if (nr == HWPMC_OP_GETDYNEVENTINFO) {
		low(op, 0, HWPMC_CLASS_SOFT);
		high(op, 0, one_in(g, 4) ? odd_value(g) : 3000);
	}
	op->array = one_in(g, 4) ? ARRAY_NULL + any(g, 3) : ARRAY_OK;
}

static void gen_other(struct gen *g, struct op *op, unsigned int nr)
{
	switch (nr) {
	case HWPMC_OP_PMCADMIN:
		call_init(op, nr, sizeof(struct hwpmc_op_pmcadmin));
		low(op, 0, any(g, 2));
		high(op, 0, any(g, 32));
		low(op, 1, any(g, 3) ? HWPMC_STATE_FREE : HWPMC_STATE_DISABLED);
		break;
	case HWPMC_OP_KGMON:
		call_init(op, nr, sizeof(struct hwpmc_op_kgmon));
		low(op, 0, any(g, 4));
		high(op, 0, one_in(g, 2) ? 16384 : any(g, 64));
		op->array = one_in(g, 4) ? ARRAY_NULL + any(g, 3) : ARRAY_OK;
		break;
	case HWPMC_OP_BATCH:
		call_init(op, nr, sizeof(struct hwpmc_op_batch));
		low(op, 0, any(g, 3));
		high(op, 0, one_in(g, 6) ? odd_value(g) : any(g, 9));
		low(op, 1, sizeof(struct hwpmc_batch_entry));
		op->w[3] = any(g, 6);
		op->w[4] = any(g, ~0u);
		op->array = one_in(g, 8) ? ARRAY_NULL + any(g, 3) : ARRAY_OK;
		break;
	case HWPMC_OP_UNWIND:
		call_init(op, nr, sizeof(struct hwpmc_op_unwind));
		low(op, 2, one_in(g, 8) ? any(g, 4) : 0);
		high(op, 2, one_in(g, 4) ? odd_value(g) : any(g, 300));
		op->array = one_in(g, 8) ? ARRAY_NULL + any(g, 3) : ARRAY_OK;
		break;
	case HWPMC_OP_WRITELOG:
		call_init(op, nr, sizeof(struct hwpmc_op_writelog));
		low(op, 0, any64(g));
		break;
	default:
		call_init(op, nr, sizeof(struct hwpmc_op_simple));
	}
	op->owner = owner_slot(g, true);
	for (int n = 0; n < 4 && nr != HWPMC_OP_PMCADMIN && !g->is.owner[op->owner].log; n++)
		op->owner = owner_slot(g, true);
}

/* ---- calls as they should not be ----------------------------------------- */

static void mutate_size(struct gen *g, struct op *op)
{
	static const uint16_t sizes[] = {
		0, 1, 4, 7, 8, 9, 12, 15, 16, 20, 24, 32, 40, 71, 72, 73, 80, 128, 288,
		296, 512, 4096, 8192, 16383,
	};

	op->size = PICK(g, sizes);
	if (one_in(g, 3))
		op->how |= CALL_TAIL;
}

static void mutate(struct gen *g, struct op *op)
{
	switch (any(g, 9)) {
	case 0:
		op->w[any(g, WORDS)] = odd_value(g);
		break;
	case 1:
		op->w[any(g, 4)] ^= 1ull << any(g, 64);
		break;
	case 2:
		mutate_size(g, op);
		break;
	case 3:
		op->mem = MEM_NULL + any(g, 4);
		break;
	case 4:
		op->pmc = op->pmc == NONE ? NONE : any(g, PMCS);
		break;
	case 5:
		op->id_xor = 1u << any(g, 32);
		break;
	case 6:
		op->owner = any(g, OWNERS);
		break;
	case 7:
		op->how |= one_in(g, 6) ? CALL_OTHER_TYPE : CALL_NO_DIR;
		break;
	default:
		op->nr = one_in(g, 3) ? any(g, 256) : any(g, HWPMC_OP__COUNT);
	}
	/* Those two ends of everything have a share of their own. */
	if (op->nr == HWPMC_OP_REVOKE && !g->plan->revoke)
		op->nr = HWPMC_OP_FLUSHLOG;
}

static void limit_ring(struct op *op)
{
	uint32_t size = op->w[1];

	/* So much that the machine has no memory is not what is tried here. */
	if (op->nr == HWPMC_OP_CONFIGURELOG && size > 4 << 20 && size <= 64 << 20)
		low(op, 1, 4 << 20);
}

static const struct { uint8_t nr, weight; } calls[] = {
	{ HWPMC_OP_PMCALLOCATE, 30 }, { HWPMC_OP_PMCATTACH, 26 },
	{ HWPMC_OP_PMCDETACH, 12 }, { HWPMC_OP_PMCSTART, 22 },
	{ HWPMC_OP_PMCSTOP, 12 }, { HWPMC_OP_PMCRW, 26 },
	{ HWPMC_OP_PMCSETCOUNT, 8 }, { HWPMC_OP_PMCRELEASE, 16 },
	{ HWPMC_OP_PMCGETMSR, 6 }, { HWPMC_OP_GETCAPS, 2 },
	{ HWPMC_OP_CONFIGURELOG, 9 }, { HWPMC_OP_FLUSHLOG, 4 },
	{ HWPMC_OP_CLOSELOG, 3 }, { HWPMC_OP_WRITELOG, 6 },
	{ HWPMC_OP_GETCPUINFO, 1 }, { HWPMC_OP_GETDRIVERSTATS, 1 },
	{ HWPMC_OP_GETMODULEVERSION, 2 }, { HWPMC_OP_GETPMCINFO, 4 },
	{ HWPMC_OP_GETDYNEVENTINFO, 1 }, { HWPMC_OP_PMCADMIN, 4 },
	{ HWPMC_OP_KGMON, 5 }, { HWPMC_OP_BATCH, 20 }, { HWPMC_OP_UNWIND, 6 },
};

static unsigned int any_call(struct gen *g)
{
	unsigned int sum = 0, at, i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		sum += calls[i].weight;
	at = any(g, sum);
	for (i = 0; at >= calls[i].weight; i++)
		at -= calls[i].weight;
	return calls[i].nr;
}

static bool any_live(const struct gen *g)
{
	for (int i = 0; i < PMCS; i++)
		if (g->is.pmc[i].live && g->is.owner[i / 4].open)
			return true;
	return false;
}

static void gen_call(struct gen *g, struct op *op)
{
	unsigned int nr = any_call(g);

	if (nr >= HWPMC_OP_PMCALLOCATE && nr <= HWPMC_OP_PMCSTOP && !any_live(g))
		nr = HWPMC_OP_PMCALLOCATE;
	switch (nr) {
	case HWPMC_OP_PMCALLOCATE:
		gen_allocate(g, op);
		break;
	case HWPMC_OP_PMCATTACH:
	case HWPMC_OP_PMCDETACH:
		gen_attach(g, op, nr);
		break;
	case HWPMC_OP_CONFIGURELOG:
		gen_configure(g, op);
		break;
	case HWPMC_OP_GETCPUINFO:
	case HWPMC_OP_GETDRIVERSTATS:
	case HWPMC_OP_GETMODULEVERSION:
	case HWPMC_OP_GETPMCINFO:
	case HWPMC_OP_GETDYNEVENTINFO:
		gen_info(g, op, nr);
		break;
	case HWPMC_OP_FLUSHLOG:
	case HWPMC_OP_CLOSELOG:
	case HWPMC_OP_WRITELOG:
	case HWPMC_OP_PMCADMIN:
	case HWPMC_OP_KGMON:
	case HWPMC_OP_BATCH:
	case HWPMC_OP_UNWIND:
		gen_other(g, op, nr);
		break;
	default:
		gen_simple(g, op, nr);
	}
	if (one_in(g, 3))
		op->mem = any(g, MEM_NULL);
	if (one_in(g, 8))
		op->how |= CALL_32BIT;
	if (one_in(g, 6)) {
		if (nr == HWPMC_OP_PMCALLOCATE)
			g->is.pmc[op->pmc].live = false;
		mutate(g, op);
	}
	limit_ring(op);
}

/* ---- everything else ----------------------------------------------------- */

static void gen_open(struct gen *g, struct op *op)
{
	op->owner = owner_slot(g, false);
	op->w[0] = one_in(g, 8);
	g->is.owner[op->owner].open = true;
	g->is.owner[op->owner].log = 0;
	/* What it held is gone with it. */
	for (int i = 0; i < 4; i++)
		g->is.pmc[op->owner * 4 + i].live = false;
}

static void gen_map(struct gen *g, struct op *op)
{
	unsigned int i = owner_slot(g, true);
	uint32_t ring;

	for (int n = 0; n < 4 && g->is.owner[i].log != 2; n++)
		i = owner_slot(g, true);
	ring = g->is.owner[i].ring ? g->is.owner[i].ring : 512 * 1024;
	op->owner = i;
	op->map = any(g, MAPS);
	op->w[0] = HWPMC_LOG_MAP_SIZE(ring, 4096ull);
	op->w[1] = PROT_READ | PROT_WRITE;
	op->w[2] = MAP_SHARED;
	op->w[3] = HWPMC_LOG_MAP_OFFSET(any(g, 2));
	if (one_in(g, 3)) {
		op->w[0] = HWPMC_USER_SIZE;
		op->w[1] = PROT_READ;
		op->w[3] = HWPMC_USER_OFFSET;
	}
	switch (any(g, 12)) {
	case 0:
		op->w[0] = 1 + any(g, 1 << 21);
		break;
	case 1:
		op->w[1] = any(g, 8);
		break;
	case 2:
		op->w[2] = MAP_PRIVATE;
		break;
	case 3:
		op->w[3] = odd_value(g) & ~4095ull;
	}
}

static void gen_child(struct gen *g, struct op *op)
{
	static const uint64_t how[] = {
		CHILD_WAIT, CHILD_KILL, CHILD_FRESH | CHILD_WAIT,
		CHILD_FRESH | CHILD_KILL, CHILD_FRESH, CHILD_FRESH | CHILD_EXEC,
		CHILD_EXEC | CHILD_WAIT, CHILD_FRESH | CHILD_NOBODY,
		CHILD_FRESH | CHILD_NOBODY | CHILD_EXEC | CHILD_WAIT,
	};

	op->proc = any(g, KIDS);
	op->w[0] = PICK(g, how);
	op->w[1] = any(g, 20000);
	op->n = op->w[0] & CHILD_FRESH ? 10 + any(g, 60) : 1 + any(g, 12);
	g->is.kid[op->proc] = true;
	g->depth = op->n + 1;
	g->parent = g->is;
	if (op->w[0] & CHILD_FRESH)
		memset(&g->is, 0, sizeof(g->is));
}

static void gen_machine(struct gen *g, struct op *op)
{
	static const uint64_t mincount[] = { 1, 100, 1000, 100000, 0x7fffffff, 0 };

	op->what = OP_HOTPLUG + any(g, 3);
	if (op->what == OP_HOTPLUG) {
		op->w[0] = any(g, 3) > 0;
	} else if (op->what == OP_TUNABLE) {
		op->w[0] = any(g, 6);
		op->w[1] = op->w[0] == 2 ? PICK(g, mincount) : any(g, 102);
		if (op->w[0] < 2 || op->w[0] == 5)
			op->w[1] = any(g, 3);
	} else {
		op->proc = any(g, PERFS);
		op->w[0] = (uint64_t)any(g, 3) - 1;
		op->w[1] = any(g, 4);
	}
	if (one_in(g, 12)) {
		memset(op->w, 0, sizeof(op->w));
		op->what = OP_MODULE;
		op->w[0] = any(g, 3) > 0;
	}
}

static void gen_about_kids(struct gen *g, struct op *op)
{
	switch (op->what) {
	case OP_SPAWN:
		op->proc = any(g, KIDS);
		op->w[0] = any(g, KID__COUNT);
		/* A child of it may close what it has later than it is dead. */
		op->w[1] = one_in(g, 6) ? SPAWN_KEEPS : 0;
		if (g->plan->alone)
			op->w[1] = SPAWN_ALONE;
		g->is.kid[op->proc] = true;
		break;
	case OP_KILL:
		op->proc = any(g, KIDS);
		op->w[0] = one_in(g, 4) ? SIGUSR1 : SIGKILL;
		g->is.kid[op->proc] = op->w[0] != SIGKILL;
		break;
	case OP_CHILD:
		if (g->depth || g->plan->alone) {
			op->what = OP_SPIN;
			op->w[0] = 100;
			break;
		}
		gen_child(g, op);
		break;
	}
}

static void gen_rest(struct gen *g, struct op *op)
{
	switch (op->what) {
	case OP_OPEN:
		gen_open(g, op);
		break;
	case OP_CLOSE:
		op->owner = owner_slot(g, true);
		g->is.owner[op->owner].open = false;
		break;
	case OP_MAP:
		gen_map(g, op);
		break;
	case OP_UNMAP:
		op->map = any(g, MAPS);
		op->w[0] = any(g, 4);
		break;
	case OP_TOUCH:
		op->map = any(g, MAPS);
		op->w[0] = one_in(g, 2) ? offsetof(struct hwpmc_log_ring, tail) :
			any(g, 1 << 16);
		op->w[1] = one_in(g, 2) ? any(g, 1 << 18) : odd_value(g);
		op->w[2] = any(g, 4) > 0;
		break;
	case OP_POLL:
		op->owner = owner_slot(g, true);
		break;
	case OP_LOGFD:
		op->log = any(g, LOGS);
		op->w[0] = one_in(g, 2) ? LOG_MEMFD : any(g, LOG__COUNT);
		break;
	case OP_CONSUME:
		op->log = any(g, LOGS);
		break;
	case OP_SPIN:
		op->w[0] = any(g, one_in(g, 8) ? 300000 : 3000);
		op->w[1] = one_in(g, 4) ? any(g, 2000) : 0;
		break;
	case OP_MIGRATE:
		op->w[0] = 1 + any(g, 3);
		break;
	case OP_RDPMC:
		op->w[0] = any(g, 8) | (one_in(g, 3) ? 0x40000000 : 0);
		break;
	case OP_ALARM:
		op->w[0] = one_in(g, 2) ? 500 + any(g, 5000) : 0;
		break;
	case OP_THREADS:
		op->w[0] = 1 + any(g, 4);
	}
}

static const struct { uint8_t what, weight; } others[] = {
	{ OP_OPEN, 5 }, { OP_CLOSE, 3 }, { OP_MAP, 12 }, { OP_UNMAP, 5 },
	{ OP_TOUCH, 16 }, { OP_POLL, 3 }, { OP_LOGFD, 12 }, { OP_CONSUME, 8 },
	{ OP_SPAWN, 9 }, { OP_KILL, 5 }, { OP_CHILD, 7 }, { OP_SPIN, 20 },
	{ OP_MIGRATE, 6 }, { OP_RDPMC, 5 }, { OP_ALARM, 1 }, { OP_THREADS, 4 },
	{ OP_HOTPLUG, 3 },
};

static unsigned int any_other(struct gen *g)
{
	unsigned int sum = 0, at, i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		sum += others[i].weight;
	at = any(g, sum);
	for (i = 0; at >= others[i].weight; i++)
		at -= others[i].weight;
	return others[i].what;
}

static bool any_open(const struct gen *g)
{
	for (int i = 0; i < OWNERS; i++)
		if (g->is.owner[i].open)
			return true;
	return false;
}

static void next(struct gen *g, struct op *op)
{
	memset(op, 0, sizeof(*op));
	op->pmc = op->proc = op->log = NONE;
	if (g->depth && !--g->depth)
		g->is = g->parent;
	if (!any_open(g)) {
		op->what = OP_OPEN;
		gen_open(g, op);
	} else if (one_in(g, 5)) {
		op->what = any_other(g);
		if (op->what == OP_HOTPLUG && g->plan->machine)
			gen_machine(g, op);
		else if (op->what == OP_HOTPLUG)
			op->what = OP_SPIN;
		gen_about_kids(g, op);
		gen_rest(g, op);
	} else {
		gen_call(g, op);
	}
	if (g->plan->revoke && one_in(g, 2000)) {
		memset(op, 0, sizeof(*op));
		op->pmc = op->proc = op->log = NONE;
		gen_other(g, op, HWPMC_OP_REVOKE);
	}
}

/* It begins with opens and something to write logs to. */
static void prologue(struct gen *g, struct op *op, unsigned int i)
{
	memset(op, 0, sizeof(*op));
	op->pmc = op->proc = op->log = NONE;
	op->what = i < OWNERS ? OP_OPEN : OP_LOGFD;
	if (i < OWNERS) {
		op->owner = i;
		g->is.owner[i].open = true;
		/* Of each, one thread does it; the others wait. */
		if (g->plan->threads > 1 && i % g->plan->threads != g->thread)
			op->what = OP_SPIN;
	} else {
		op->log = i - OWNERS;
	}
}

/* ---- plans --------------------------------------------------------------- */

void plan_make(struct plan *plan)
{
	struct gen g = { .random = plan->seed * 0x9e3779b97f4a7c15ull };
	unsigned int kind;

	any(&g, 2);
	kind = any(&g, 8);
	plan->machine = one_in(&g, 2);
	plan->revoke = one_in(&g, 8);
	plan->keep = any(&g, 8) > 0;
	if (plan->procs && plan->threads) {
		kind = 7;
	} else {
		plan->procs = kind < 2 ? 1 : 1 + any(&g, 3);
		plan->threads = kind < 2 ? 1 : 1 + any(&g, 3);
	}
	/* Alone there is nobody else who changes what is compared. */
	plan->alone = plan->procs * plan->threads == 1 && kind < 2;
	if (plan->alone)
		plan->machine = plan->revoke = plan->keep = false;
}

struct op *plan_sequence(const struct plan *plan, unsigned int proc,
			 unsigned int thread, unsigned int *n)
{
	struct gen g = { .plan = plan, .thread = thread };
	struct op *ops;

	g.random = (plan->seed * 64 + proc * 8 + thread) * 0x9e3779b97f4a7c15ull;
	*n = plan->ops / (plan->procs * plan->threads);
	if (*n < OWNERS + LOGS)
		*n = OWNERS + LOGS;
	ops = calloc(*n, sizeof(*ops));
	for (unsigned int i = 0; ops && i < *n; i++) {
		if (i < OWNERS + LOGS)
			prologue(&g, &ops[i], i);
		else
			next(&g, &ops[i]);
	}
	return ops;
}

uint64_t plan_hash(const struct plan *plan)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (unsigned int i = 0; i < plan->procs * plan->threads; i++) {
		unsigned int n;
		struct op *ops = plan_sequence(plan, i / plan->threads,
					       i % plan->threads, &n);
		const uint8_t *at = (const uint8_t *)ops;

		for (size_t k = 0; k < n * sizeof(*ops); k++)
			hash = (hash ^ at[k]) * 0x100000001b3ull;
		free(ops);
	}
	return hash;
}
