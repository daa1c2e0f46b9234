/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibs.c - events of class IBS, AMD's instruction-based sampling: FreeBSD's names with their
 * qualifiers, perf's forms ibs_op/cnt_ctl=1/ and ibs_fetch/rand_en=1/, and perf's precise
 * modifiers, which mean it on AMD. Pure.
 */
#include <errno.h>
#include <string.h>

#include "event.h"

/* Bits of the control registers: class IBS in hwpmc.h. */
#define OP_OPS		(1ull << 19)
#define OP_L3MISS	(1ull << 16)
#define OP_LATENCY(n)	(1ull << 63 | ((n) / LATENCY_UNIT - 1) << 59)
#define FETCH_RANDOM	(1ull << 57)
#define FETCH_L3MISS	(1ull << 59)
/* Of the second control registers. */
#define OP2_STREAM	(1ull << 3)
#define FETCH2_LATENCY(n)	((n) / LATENCY_UNIT << 1)

#define LATENCY_UNIT	128ull
#define LATENCY_MAX	(16 * LATENCY_UNIT)
#define FETCHLAT_MAX	(15 * LATENCY_UNIT)

static const struct event_ibs table[] = {
	{ "ibs_fetch", HWPMC_EV_IBS_FETCH,
	  "instruction fetches with exact addresses (sampling only)" },
	{ "ibs_op", HWPMC_EV_IBS_OP, "ops with exact addresses (sampling only)" },
};

const struct event_ibs *event_ibs_at(unsigned int n)
{
	return n < sizeof(table) / sizeof(table[0]) ? &table[n] : NULL;
}

const struct event_ibs *event_ibs(const char *name)
{
	for (unsigned int i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(name, table[i].name))
			return &table[i];
	return NULL;
}

/* Terms that an event of this kind does not take. */
static uint32_t foreign_terms(const struct event_terms *t, bool op)
{
	uint32_t own = TERM_USR | TERM_OS | TERM_L3MISS | TERM_DATA | TERM_PRECISE |
		       (op ? TERM_LDLAT | TERM_OPS | TERM_CYCLES | TERM_TARGET | TERM_STREAM :
			     TERM_RANDOM | TERM_FETCHLAT);

	return t->set & ~own;
}

/* A latency that the hardware can compare with. */
static int check_latency(const struct event_terms *t, const char *name, uint32_t n,
			 unsigned long long most, struct event_error *e)
{
	if (n >= LATENCY_UNIT && n <= most && !(n % LATENCY_UNIT))
		return 0;
	return event_refuse(e, EINVAL, t->name_at, "%s=%u is not a multiple of %llu from %llu to "
			    "%llu, which the hardware can compare", name, n, LATENCY_UNIT,
			    LATENCY_UNIT, most);
}

static int check_terms(const struct event_terms *t, const struct event_ibs *i,
		       struct event_error *e)
{
	bool op = i->ev == HWPMC_EV_IBS_OP;

	if (foreign_terms(t, op) || t->attrs[0])
		return event_refuse(e, EINVAL, t->name_at, "'%s' takes no qualifiers except usr os "
				    "l3miss data %s", t->name[0] ? t->name : i->name,
				    op ? "ldlat= opcount cycles target streamstore" :
				    "randomize fetchlat=");
	if (t->set & TERM_LDLAT && check_latency(t, "ldlat", t->ldlat, LATENCY_MAX, e))
		return -1;
	if (t->set & TERM_FETCHLAT && check_latency(t, "fetchlat", t->fetchlat, FETCHLAT_MAX, e))
		return -1;
	if ((t->set & (TERM_OPS | TERM_CYCLES)) == (TERM_OPS | TERM_CYCLES))
		return event_refuse(e, EINVAL, t->name_at, "only one of opcount and cycles can be "
				    "counted");
	return 0;
}

static uint64_t op_config(const struct event_terms *t)
{
	return (t->set & TERM_CYCLES ? 0 : OP_OPS) | (t->set & TERM_L3MISS ? OP_L3MISS : 0) |
	       (t->set & TERM_LDLAT ? OP_LATENCY(t->ldlat) : 0);
}

/* A config of 0 is one, too: cycles. Fetches are always counted from a random start. */
int event_ibs_resolve(const struct event_ibs *i, const struct event_terms *t,
		      struct hwpmc_event *ev, struct event_error *e)
{
	bool op = i->ev == HWPMC_EV_IBS_OP;

	if (check_terms(t, i, e))
		return -1;
	ev->ncode = 1;
	ev->code[0] = (struct hwpmc_event_code){
		.class_id = HWPMC_CLASS_IBS, .ev = i->ev,
		.flags = HWPMC_F_EV_PMU | HWPMC_F_EXACT |
			 (t->set & TERM_DATA ? HWPMC_F_MEMORY : 0) |
			 (t->set & TERM_TARGET ? HWPMC_F_BRANCHES : 0),
		.caps = (t->set & TERM_USR ? HWPMC_CAP_USER : 0) |
			(t->set & TERM_OS ? HWPMC_CAP_SYSTEM : 0),
		.config = op ? op_config(t) :
			  FETCH_RANDOM | (t->set & TERM_L3MISS ? FETCH_L3MISS : 0),
		.config1 = (t->set & TERM_STREAM ? OP2_STREAM : 0) |
			   (t->set & TERM_FETCHLAT ? FETCH2_LATENCY(t->fetchlat) : 0),
	};
	return 0;
}

/* The events of the counters that perf samples by IBS if they are to be precise: cycles, and
 * dispatched ops. */
static uint32_t counted_by(const char *name, const struct event_terms *t)
{
	if (t->set & TERM_CONFIG)
		return t->config == 0x76 ? TERM_CYCLES : t->config == 0xc1 ? TERM_OPS : 0;
	return !strcmp(name, "cycles") || !strcmp(name, "cpu_cycles") ? TERM_CYCLES : 0;
}

int event_ibs_resolve_precise(const char *name, const struct event_terms *t,
			      struct hwpmc_event *ev, struct event_error *e)
{
	struct event_terms terms = *t;

	if (event_ibs(name) && !t->pmu[0])
		return event_ibs_resolve(event_ibs(name), t, ev, e);
	/* Names with a PMU before them are libpfm4's. */
	if (!counted_by(name, t) || t->pmu[0])
		return event_refuse(e, EINVAL, t->precise_at, "only cycles can be precise on AMD "
				    "(by ibs-op): remove the p, or use ibs-op");
	terms.set = (terms.set & ~TERM_CONFIG) | counted_by(name, t);
	return event_ibs_resolve(event_ibs("ibs_op"), &terms, ev, e);
}
