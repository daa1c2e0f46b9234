// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * machine.c - named machines (machine=NAME): what CPUID says of the PMU on each kind of
 * core, as raw values of real ones, and which counters that kind has. Without the option
 * all cores are of one kind, made of version=, gp= and fixed=.
 */
#include <string.h>

#include "vpmu.h"

#define NO_ACR		{ 0, 0, 0, 0 }
#define SKYMONT_ACR	{ 0xfc, 3, 0xfc, 3 }

#define CORE(native)	(0x40000000u | (native))
#define ATOM(native)	(0x20000000u | (native))

static const struct core_kind golden_cove = {
	.leaf_1a = CORE(1), .gp = 0xff, .fixed = 0xf, .frontend = true,
};
static const struct core_kind gracemont = {
	.leaf_1a = ATOM(1), .gp = 0x3f, .fixed = 0x7,
};
static const struct core_kind redwood_cove = {
	.leaf_1a = CORE(2), .gp = 0xff, .fixed = 0xf, .frontend = true,
	.leaf_23 = { { 0xb }, { 0xff, 0xf }, NO_ACR, { 0xdff } },
};
static const struct core_kind crestmont = {
	.leaf_1a = ATOM(2), .gp = 0xff, .fixed = 0x7,
	.leaf_23 = { { 0xb, 0, 6 }, { 0xff, 0x7 }, NO_ACR, { 0x7f } },
};
static const struct core_kind lion_cove = {
	.leaf_1a = CORE(3), .gp = 0x3ff, .fixed = 0xf, .frontend = true,
	.leaf_23 = { { 0xb, 3 }, { 0x3ff, 0xf }, NO_ACR, { 0x1dff } },
};
static const struct core_kind skymont = {
	.leaf_1a = ATOM(3), .gp = 0xff, .fixed = 0x77,
	.leaf_23 = { { 0xf, 3, 8 }, { 0xff, 0x77 }, SKYMONT_ACR, { 0x1f7f } },
};
static const struct core_kind cougar_cove = {
	.leaf_1a = CORE(4), .gp = 0x3ff, .fixed = 0xf, .frontend = true,
	.leaf_23 = { { 0x3b, 3 }, { 0x3ff, 0xf }, NO_ACR, { 0x1dff },
		     { 0, 0x60060378 }, { 0x3ff, 3, 0xf, 1 } },
};
static const struct core_kind darkmont = {
	.leaf_1a = ATOM(4), .gp = 0xff, .fixed = 0x77,
	.leaf_23 = { { 0x3f, 3, 8 }, { 0xff, 0x77 }, SKYMONT_ACR, { 0x1f7f },
		     { 0, 0x60060338 }, { 0xff, 3, 0x77, 1 } },
};
/* Processors after those of this table can hide a counter from RDPMC of user mode. */
static const struct core_kind darkmont_hiding = {
	.leaf_1a = ATOM(4), .gp = 0xff, .fixed = 0x77,
	.leaf_23 = { { 0x3f, 7, 8 }, { 0xff, 0x77 }, SKYMONT_ACR, { 0x1f7f },
		     { 0, 0x60060338 }, { 0xff, 3, 0x77, 1 } },
};
static const struct core_kind golden_cove_alone = {
	.gp = 0xff, .fixed = 0xf, .frontend = true,
};

struct machine {
	const char *name;
	bool hybrid;			/* CPUID 7.0 EDX bit 15 */
	bool leaf_23;			/* CPUID 7.1 EAX bit 8, and the leaf */
	uint32_t leaf_a[4];
	const struct core_kind *core[MAX_KINDS];
};

static const struct machine machines[] = {
	{ "adl", true, false, { 0x07300605, 0, 7, 0x8603 }, { &golden_cove, &gracemont } },
	{ "adl-p-only", false, false, { 0x08300805, 0, 0xf, 0x8604 },
	  { &golden_cove_alone } },
	{ "adl-n", false, false, { 0x07300605, 0, 7, 0x8603 }, { &gracemont } },
	{ "mtl", true, true, { 0x07300805, 0, 7, 0x8603 }, { &redwood_cove, &crestmont } },
	{ "arlh", true, true, { 0x07300805, 0, 7, 0x8603 },
	  { &lion_cove, &skymont, &crestmont } },
	{ "lnl", true, true, { 0x0d300806, 0x280, 7, 0x8603 }, { &lion_cove, &skymont } },
	{ "ptl", true, true, { 0x0d300806, 0x280, 7, 0x8603 }, { &cougar_cove, &darkmont } },
	{ "gnr", false, true, { 0x08300805, 0, 0xf, 0x8604 }, { &redwood_cove } },
	{ "cwf", false, true, { 0x0d300806, 0x80, 0x77, 0x8603 }, { &darkmont } },
	{ "cwf-hiding", false, true, { 0x0d300806, 0x80, 0x77, 0x8603 }, { &darkmont_hiding } },
};

static const struct machine *machine;
static struct core_kind plain;		/* without machine= */

bool machine_option(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(machines); i++)
		if (!strcmp(machines[i].name, name)) {
			machine = &machines[i];
			cfg.machine = true;
			return true;
		}
	return false;
}

static int kinds(void)
{
	int n = 0;

	while (n < MAX_KINDS && machine->core[n])
		n++;
	return n;
}

static int highest(uint32_t map)
{
	return map ? 32 - __builtin_clz(map) : 0;
}

/* cfg: as many counters as the largest kind of core has. */
void machine_settle(void)
{
	if (!machine) {
		plain.gp = (1u << cfg.gp) - 1;
		plain.fixed = cfg.amd ? 0 : (1u << cfg.fixed) - 1;
		plain.frontend = true;
		return;
	}
	cfg.version = machine->leaf_a[0] & 0xff;
	cfg.width = 48;
	cfg.gp = cfg.fixed = 0;
	for (int i = 0; i < kinds(); i++) {
		cfg.gp = MAX(cfg.gp, highest(machine->core[i]->gp));
		cfg.fixed = MAX(cfg.fixed, highest(machine->core[i]->fixed));
	}
}

/*
 * The first half of the vCPUs is of the first kind, the others of the second; of three
 * kinds the last vCPU is of the third.
 */
void machine_place(struct vcpu *v)
{
	int n = machine ? kinds() : 1;

	v->kind = 0;
	if (n > 1 && (int)v->index >= (max_vcpus + 1) / 2)
		v->kind = n > 2 && (int)v->index == max_vcpus - 1 ? 2 : 1;
	v->core = machine ? machine->core[v->kind] : &plain;
}

const uint32_t *machine_leaf(struct vcpu *v, uint32_t leaf, uint32_t sub)
{
	static const uint32_t none[4];
	static __thread uint32_t one[4];

	if (!machine)
		return NULL;
	if (leaf == 0xa)
		return machine->leaf_a;
	/* QEMU answers leaves above its last one with that. */
	if (leaf < 0xe || leaf > 0x23)
		return NULL;
	if (leaf == 0x1a && !sub) {
		one[0] = v->core->leaf_1a;
		return one;
	}
	if (leaf == 0x23 && machine->leaf_23 && sub < LEAVES_23)
		return v->core->leaf_23[sub];
	return none;
}

bool machine_is_hybrid(void)
{
	return machine && machine->hybrid;
}

bool machine_has_leaf_23(void)
{
	return machine && machine->leaf_23;
}

bool machine_has_gp(const struct vcpu *v, uint32_t n)
{
	return n < 32 && v->core->gp >> n & 1;
}

bool machine_has_fixed(const struct vcpu *v, uint32_t n)
{
	return n < 32 && v->core->fixed >> n & 1;
}

/* Bits above 31 that a select may have. */
uint64_t machine_select_bits(const struct vcpu *v)
{
	uint32_t b = v->core->leaf_23[0][1];
	uint64_t bits = 0;

	if (b & 1)
		bits |= 0xffULL << 40;		/* umask2 */
	if (b & 2)
		bits |= 1ULL << 36;		/* EQ */
	if (b & 4)
		bits |= SEL_HIDE;
	return bits;
}

bool machine_can_hide(const struct vcpu *v)
{
	return machine_select_bits(v) & SEL_HIDE;
}
