/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registers.c - has each counter the bits that it is said to have, and does it count the modes
 * that it is told to? What RDPMC returns is looked at, without the module.
 */
#include <libhwpmclog.h>
#include <string.h>
#include <unistd.h>

#include "selftest.h"

/* ---- bits ---------------------------------------------------------------- */

/* By row: what was read as 1, and as 0. */
struct seen {
	uint64_t ones[HWPMC_ROW_MAX], zeros[HWPMC_ROW_MAX];
	uint32_t id[HWPMC_ROW_MAX];	/* of a PMC that had the row; 0: none */
	bool moved[HWPMC_ROW_MAX];	/* it does not stand still */
};

#define LOOKS	64

/* Those of which the number of a row in its class is RDPMC's. */
static bool has_known_indices(struct selftest *t)
{
	const struct hwpmc_op_getcpuinfo *info = hwpmc_cpuinfo(t->h);

	for (unsigned int i = 0; i < info->nclass; i++)
		if (info->classes[i].class == HWPMC_CLASS_IAP ||
		    info->classes[i].class == HWPMC_CLASS_K8)
			return true;
	return false;
}

static uint32_t rdpmc_index(struct selftest *t, uint32_t id)
{
	return st_row_in_class(t, id) | (HWPMC_ID_CLASS(id) == HWPMC_CLASS_IAF ? 1u << 30 : 0);
}

/* Also odd numbers of instructions, or the lowest bits might not change from look to look. */
static void vary(unsigned int i)
{
	st_loop(1 + i * 13 % 64);
	__asm__ __volatile__("testl $1, %0\n\t"
			     "jz 1f\n\t"
			     "nop\n"
			     "1:" : : "r"(i * 2654435761u >> 30) : "cc");
}

static void look(struct selftest *t, struct st_pmcs *p, struct seen *s)
{
	uint64_t last[HWPMC_ROW_MAX];

	for (unsigned int i = 0; i < LOOKS; i++) {
		vary(i);
		for (unsigned int k = 0; k < p->n; k++) {
			uint32_t id = p->entry[k].pmcid, row = HWPMC_ID_ROW(id);
			uint64_t value = hwpmc_rdpmc(rdpmc_index(t, id));

			s->ones[row] |= value;
			s->zeros[row] |= ~value;
			s->moved[row] |= i && value != last[k];
			last[k] = value;
			s->id[row] = id;
		}
	}
}

/*
 * Of all rows that are free. A counter that samples begins as far below its end as the period
 * is: two periods set each of their bits to 1 and to 0, and the bits above to 1. What a
 * counter that counts begins at is not known, so that those can be 0 is not looked at.
 */
#define PERIOD_BITS	((1ull << 30) - 1)
static bool look_at_rows(struct selftest *t, struct seen *s)
{
	static const uint64_t periods[] = { 0x15555555, 0x2aaaaaaa };
	struct st_pmcs p;
	bool started;

	for (unsigned int i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		if (!st_allocate(t, &p, "registers", "instructions:u", periods[i]))
			return false;
		started = st_batch(t, &p, "registers", HWPMC_BATCH_START);
		if (started) {
			look(t, &p, s);
			started = st_batch(t, &p, "registers", HWPMC_BATCH_STOP);
		}
		st_release(t, &p);
		if (!started)
			return false;
	}
	return true;
}

/* A PMC that counts, for the right to use RDPMC: its row is not looked at. */
static bool hold_right(struct selftest *t, uint32_t *id)
{
	char name[HWPMC_NAME_MAX];
	struct hwpmc_counter c;

	if (hwpmc_allocate(t->h, "instructions:u", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, id) < 0) {
		st_failed(t, "registers", "%s", hwpmc_error(t->h));
		return false;
	}
	if (hwpmc_attach(t->h, *id, 0) < 0 || hwpmc_start(t->h, *id) < 0)
		st_failed(t, "registers", "%s", hwpmc_error(t->h));
	else if (st_open_counter(t, *id, st_name_row(t, *id, name), "rdpmc", &c))
		return true;
	hwpmc_release(t->h, *id);
	return false;
}

static unsigned int width_of(uint64_t mask)
{
	return mask ? 64 - __builtin_clzll(mask) : 0;
}

static bool bits_are_good(struct selftest *t, const struct seen *s, unsigned int row)
{
	uint64_t mask, at0, at1;
	char name[HWPMC_NAME_MAX];
	uint32_t width;

	if (hwpmc_width(t->h, s->id[row], &width) < 0 || !width || width > 63)
		return true;
	st_name_row(t, s->id[row], name);
	mask = (1ull << width) - 1;
	at0 = mask & ~s->ones[row];
	at1 = mask & PERIOD_BITS & ~s->zeros[row];
	if (at0 && at0 == (mask & ~((1ull << width_of(mask & ~at0)) - 1)))
		st_failed(t, "registers", "%s has %u bits, expected %u", name,
			  width_of(mask & ~at0), width);
	else if (at0)
		st_failed(t, "registers", "%s has bits that stay 0: 0x%llx", name,
			  (unsigned long long)at0);
	if (at1)
		st_failed(t, "registers", "%s has bits that stay 1: 0x%llx", name,
			  (unsigned long long)at1);
	return !at0 && !at1;
}

/* Two PMCs hold the right in turn, on two rows, so that each row is looked at. False: something
 * failed, and nothing is known of the bits. */
static bool look_at_all(struct selftest *t, struct seen *s)
{
	uint32_t first, second;
	bool done = false;

	if (!hold_right(t, &first))
		return false;
	if (look_at_rows(t, s) && hold_right(t, &second)) {
		hwpmc_release(t->h, first);
		first = second;
		done = look_at_rows(t, s);
	}
	hwpmc_release(t->h, first);
	return done;
}

static void judge(struct selftest *t, const struct seen *s)
{
	unsigned int n = 0, bad = 0;

	for (unsigned int row = 0; row < HWPMC_ROW_MAX; row++) {
		if (!s->id[row] || !s->moved[row])
			continue;
		n++;
		bad += !bits_are_good(t, s, row);
	}
	if (n && !bad)
		st_held(t, "registers", "each of %u counters has the expected number of bits", n);
}

void st_registers(struct selftest *t)
{
	struct seen s = { .id = { 0 } };
	struct hwpmc_rings *rings;

	if (!has_known_indices(t)) {
		st_not_tried(t, "registers", "the bits of each counter: RDPMC is not supported here");
		return;
	}
	if (hwpmc_rings_open(t->h, 0, 0, &rings) < 0) {
		st_failed(t, "registers", "%s", hwpmc_error(t->h));
		return;
	}
	if (look_at_all(t, &s))
		judge(t, &s);
	hwpmc_rings_close(rings);
	hwpmc_configure_log(t->h, -1);
}

/* ---- modes ----------------------------------------------------------------- */

#define TRIES		20
#define CALLS		1000
#define LENGTH		20000

static void call_kernel(void)
{
	st_calls(CALLS);
}

static void run_loop(void)
{
	st_loop(LENGTH);
}

static void nothing(void)
{
}

/* The least that each row counts of it. */
static bool least(struct selftest *t, struct st_pmcs *p, void (*work)(void),
		  uint64_t count[HWPMC_ROW_MAX])
{
	uint64_t before[HWPMC_ROW_MAX];

	for (int try = 0; try < TRIES; try++) {
		if (!st_batch(t, p, "modes", HWPMC_BATCH_READ))
			return false;
		for (unsigned int i = 0; i < p->n; i++)
			before[i] = p->entry[i].value;
		work();
		if (!st_batch(t, p, "modes", HWPMC_BATCH_READ))
			return false;
		for (unsigned int i = 0; i < p->n; i++) {
			uint64_t value = p->entry[i].value - before[i];

			if (!try || value < count[i])
				count[i] = value;
		}
	}
	return true;
}

/* False: it is told what is wrong. */
static bool check_mode(struct selftest *t, const char *spec, void (*work)(void),
		       const char *others, uint64_t most)
{
	uint64_t none[HWPMC_ROW_MAX], with[HWPMC_ROW_MAX];
	struct st_pmcs p;
	bool good = true;

	if (!st_allocate(t, &p, "modes", spec, 0))
		return false;
	if (!st_batch(t, &p, "modes", HWPMC_BATCH_START) || !least(t, &p, nothing, none) ||
	    !least(t, &p, work, with))
		good = false;
	for (unsigned int i = 0; good && i < p.n; i++)
		if ((int64_t)(with[i] - none[i]) > (int64_t)most) {
			st_failed(t, "modes", "%s counts %s as well: '%s' is %llu, at most %llu",
				  p.name[i], others, spec,
				  (unsigned long long)(with[i] - none[i]),
				  (unsigned long long)most);
			good = false;
		}
	st_release(t, &p);
	return good;
}

/* What the other mode does of it is ten times what is allowed for here. */
void st_modes(struct selftest *t)
{
	bool user = check_mode(t, "instructions:u", call_kernel, "the kernel",
			       CALLS * ST_CALL_INSN * 2);
	bool kernel = check_mode(t, "instructions:k", run_loop, "user mode",
				 LENGTH * ST_LOOP_INSN / 4);

	if (user && kernel)
		st_held(t, "modes", "user mode and the kernel are counted separately");
}
