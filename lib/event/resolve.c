/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resolve.c - from terms to the codes that PMCALLOCATE takes on this machine.
 * The order of names: a class prefix, names of our own, FreeBSD's K8 names,
 * libpfm4. An event that a fixed counter can count is offered to it first.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "tables.h"

#define CLASS_ANY	UINT32_MAX

/* What one specification is being made into. */
struct work {
	const struct event_machine *m;
	const struct event_terms *t;
	struct hwpmc_event *ev;
	struct event_error *e;
	uint32_t class_id;		/* asked for by a prefix, or CLASS_ANY */
	char name[128];			/* normal form, without the prefix */
};

bool event_machine_has(const struct event_machine *m, uint32_t class_id)
{
	unsigned int i;

	for (i = 0; i < m->nclass; i++)
		if (m->classes[i] == class_id)
			return true;
	return false;
}

static uint32_t mode_caps(const struct event_terms *t)
{
	return (t->set & TERM_USR ? HWPMC_CAP_USER : 0) |
	       (t->set & TERM_OS ? HWPMC_CAP_SYSTEM : 0);
}

static uint32_t code_caps(uint64_t config)
{
	return (config & CODE_EDGE ? HWPMC_CAP_EDGE : 0) |
	       (config & CODE_INVERT ? HWPMC_CAP_INVERT : 0) |
	       (config & CODE_CMASK ? HWPMC_CAP_THRESHOLD : 0) |
	       (config & CODE_UMASK ? HWPMC_CAP_QUALIFIER : 0);
}

static bool may_use(const struct work *w, uint32_t class_id)
{
	return (w->class_id == CLASS_ANY || w->class_id == class_id) &&
	       event_machine_has(w->m, class_id);
}

static void code_add(struct work *w, uint32_t class_id, uint32_t caps,
		     uint64_t config, uint64_t config1)
{
	if (w->ev->ncode == HWPMC_EVENT_CODES)
		return;
	w->ev->code[w->ev->ncode++] = (struct hwpmc_event_code) {
		.class_id = class_id, .flags = HWPMC_F_EV_PMU,
		.caps = caps | mode_caps(w->t),
		.config = config, .config1 = config1,
	};
}

static void add_fixed(struct work *w, unsigned int number)
{
	if (may_use(w, HWPMC_CLASS_IAF) && number < w->m->nfixed &&
	    !(w->t->set & TERMS_OF_CODE))
		code_add(w, HWPMC_CLASS_IAF, 0, (uint64_t)(number + 1) << 8, 0);
}

/* ------------------------------------------------------------------------ */

static uint64_t with_qualifiers(const struct event_terms *t, uint64_t config)
{
	if (t->set & TERM_UMASK)
		config = (config & ~CODE_UMASK) | (uint64_t)t->umask << 8;
	if (t->set & TERM_CMASK)
		config = (config & ~CODE_CMASK) | (uint64_t)t->cmask << 24;
	if (t->set & TERM_EDGE)
		config |= CODE_EDGE;
	if (t->set & TERM_INV)
		config |= CODE_INVERT;
	if (t->set & TERM_ANY)
		config |= CODE_ANY;
	if (t->set & TERM_GUEST)
		config |= CODE_GUEST;
	if (t->set & TERM_HOST)
		config |= CODE_HOST;
	return config;
}

/* The class whose codes these are, once the vendor is known. */
static uint32_t is_programmable(const struct work *w)
{
	switch (w->m->vendor) {
	case VENDOR_AMD:
		return HWPMC_CLASS_K8;
	case VENDOR_NETBURST:
		return HWPMC_CLASS_P4;
	default:
		return HWPMC_CLASS_IAP;
	}
}

static uint64_t code_mask(const struct work *w)
{
	uint64_t mask = CODE_EVENT | CODE_UMASK | CODE_EDGE | CODE_INVERT |
			CODE_CMASK;

	if (w->m->vendor == VENDOR_INTEL && w->m->pmu_version >= 6)
		mask |= CODE_EQUAL | CODE_UMASK2;
	return mask | (w->m->vendor == VENDOR_AMD ?
		       CODE_EVENT_HIGH | CODE_GUEST | CODE_HOST : CODE_ANY);
}

/* mask= says which unit masks: numbers here. 0..255, or -1. */
static int mask_numbers(const char *list)
{
	uint64_t n, bits = 0;
	const char *end;

	for (;; list = end + 1) {
		end = list + strcspn(list, "+");
		if (!event_number(list, end, 0xff, &n))
			return -1;
		bits |= n;
		if (!*end)
			return (int)bits;
	}
}

static uint32_t netburst_caps(uint64_t config)
{
	return (config & P4_EDGE ? HWPMC_CAP_EDGE : 0) |
	       (config & P4_COMPLEMENT ? HWPMC_CAP_INVERT : 0) |
	       (config & P4_THRESHOLD ? HWPMC_CAP_THRESHOLD : 0) |
	       (config & P4_MASK ? HWPMC_CAP_QUALIFIER : 0);
}

/* A threshold is compared in another way there than cmask= says. */
static int add_netburst(struct work *w, uint64_t config)
{
	uint32_t other = w->t->set & TERMS_OF_CODE & ~(TERM_EDGE | TERM_MASK);

	if (other || (w->t->set & TERM_MASK && mask_numbers(w->t->mask) >= 0))
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "this CPU's qualifiers are edge and libpfm4's: "
				    "unit masks, cmpl and thr=N after a colon");
	config &= ~P4_MODULE;
	if (config & ~P4_REQUEST)
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "bits 0x%llx of the code are invalid "
				    "on this CPU",
				    (unsigned long long)(config & ~P4_REQUEST));
	if (w->t->set & TERM_EDGE)
		config |= P4_EDGE | P4_COMPARE;
	if (may_use(w, HWPMC_CLASS_P4))
		code_add(w, HWPMC_CLASS_P4, netburst_caps(config), config, 0);
	return 0;
}

/* With the qualifiers, as a code of the programmable class. */
static int add_programmable(struct work *w, uint64_t config, uint64_t extra)
{
	if (w->m->vendor == VENDOR_NETBURST)
		return add_netburst(w, config);
	if (w->m->vendor != VENDOR_AMD && w->t->set & TERM_WHOSE)
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "only AMD's counters can distinguish guests from their host");
	config = with_qualifiers(w->t, config);
	if (w->m->vendor == VENDOR_INTEL && config & CODE_ANY &&
	    !w->m->any_thread)
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "this CPU cannot count both threads of a "
				    "core ('any', bit 21)");
	if (config & ~code_mask(w))
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "bits 0x%llx of the code are invalid "
				    "on this CPU",
				    (unsigned long long)(config &
							 ~code_mask(w)));
	if (w->t->set & TERM_RSP) {
		if (w->m->vendor != VENDOR_INTEL)
			return event_refuse(w->e, EINVAL, w->t->name_at,
					    "only Intel's off-core events take "
					    "a response mask");
		extra = w->t->rsp;
	}
	if (may_use(w, is_programmable(w)))
		code_add(w, is_programmable(w), code_caps(config), config, extra);
	return 0;
}

/* ------------------------------------------------------------------------ */

/* With the module's reason, if it has one. */
static int refuse_class(struct work *w, uint32_t class_id)
{
	char why[200] = "";

	for (unsigned int i = 0; i < w->m->nnotes && !why[0]; i++)
		if (w->m->notes[i].class == class_id)
			hwpmc_note_text(&w->m->notes[i], why, sizeof(why));
	return event_refuse(w->e, ENOENT, w->t->name_at,
			    "this machine has no counters of class %s%s%s",
			    hwpmc_name_of_class(class_id), why[0] ? ": " : "", why);
}

static bool has_power(const struct event_machine *m)
{
	return event_machine_has(m, HWPMC_CLASS_RAPL) || event_machine_has(m, HWPMC_CLASS_PERF);
}

static int refuse_machine(struct work *w)
{
	if (w->m->vendor == VENDOR_NONE)
		return event_refuse(w->e, ENOENT, w->t->name_at,
				    "this machine has no hardware counters "
				    "except 'tsc'%s (see 'hwpmc list' for events of "
				    "the kernel)", has_power(w->m) ?
				    " and those of energy and frequency" : "");
	return event_refuse(w->e, ENOENT, w->t->name_at,
			    "no counter of this machine can count '%s'%s",
			    w->t->name[0] ? w->t->name : "it",
			    w->t->set & TERMS_OF_CODE ?
			    " with these qualifiers" : "");
}

/* ------------------------------------------------------------------------ */

/* The event needs a register that the module does not set. */
static int refuse_register(struct work *w, const struct event_row *row)
{
	if (row->reg == MSR_LATENCY)
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "'%s' counts only with precise sampling, which "
				    "hwpmc does not support", w->t->name);
	return event_refuse(w->e, EINVAL, w->t->name_at,
			    "'%s' needs register 0x%x, which hwpmc does not set", w->t->name, row->reg);
}

static int add_row_fixed(struct work *w, const struct event_row *row)
{
	if (row->config[0] & ~(CODE_EVENT | CODE_UMASK))
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "'%s' makes the fixed counter count both threads "
				    "of a core, which hwpmc does not support",
				    w->t->name);
	add_fixed(w, (unsigned int)row->fixed);
	return 0;
}

/* The off-core events by themselves count nothing. */
static bool wants_response(const struct event_row *row)
{
	uint64_t event = row->config[0] & CODE_EVENT;

	return !row->extra && (row->reg || event == 0xb7 || event == 0xbb);
}

/* Each of its selects: they differ in the register that they use. */
static int add_row(struct work *w, const struct event_row *row)
{
	if (row->reg && row->reg != MSR_FRONTEND && row->reg != MSR_RSP0 &&
	    row->reg != MSR_RSP1)
		return refuse_register(w, row);
	if (row->fixed >= 0)
		return add_row_fixed(w, row);
	if (wants_response(row) && !(w->t->set & TERM_RSP))
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "'%s' needs a response mask: rsp=0x…",
				    w->t->name);
	if (row->config[0] == 0xc0 || row->config[0] == 0x3c)
		add_fixed(w, row->config[0] == 0xc0 ? 0 : 1);
	for (unsigned int i = 0; i < row->nconfig; i++)
		if (add_programmable(w, row->config[i], row->reg ? row->extra : 0))
			return -1;
	return 0;
}

/* A name of libpfm4 ("EVENT:UMASK") or the vendor's. As event_tables_find(). */
static int find_row(struct work *w, const char *name, const char *attrs,
		    struct event_found *f)
{
	char normal[ROW_NAME], pmu[sizeof(w->t->pmu)], *p;
	size_t n;

	event_normal(name, normal, sizeof(normal));
	n = strlen(normal);
	if (attrs[0] && n + 1 < sizeof(normal)) {
		normal[n] = '_';
		event_normal(attrs, normal + n + 1, sizeof(normal) - n - 1);
	}
	for (p = normal; *p; p++)
		if (*p == ':')
			*p = '_';
	event_normal(w->t->pmu, pmu, sizeof(pmu));
	return event_tables_find(w->m, pmu, normal, f, w->e);
}

/* 1: a table has the event, or refuses. 0: another source is to be asked. */
static int resolve_row(struct work *w, int *rc)
{
	struct event_found f;
	int found = w->t->set & TERM_MASK ? 0 :
		    find_row(w, w->name, w->t->attrs, &f);

	*rc = found > 0 ? add_row(w, &f.row) : -1;
	return found != 0;
}

static bool find_generic_row(struct work *w, const char *name,
			     struct event_found *f)
{
	return w->m->vendor == VENDOR_INTEL && find_row(w, name, "", f) > 0;
}

static int resolve_generic_pfm(struct work *w, const struct event_generic *g)
{
	struct event_pfm_code code;
	struct event_found f;
	unsigned int i;

	for (i = 0; i < ALIAS_PFM && g->pfm[i]; i++)
		if (find_generic_row(w, g->pfm[i], &f))
			return add_row(w, &f.row);
	for (i = 0; i < ALIAS_PFM && g->pfm[i]; i++)
		if (event_pfm_find_name(g->pfm[i], &code))
			return add_programmable(w, code.config, code.extra);
	return 0;
}

static int resolve_generic_intel(struct work *w, const struct event_generic *g,
				 unsigned int how)
{
	bool fixed = g->fixed && g->fixed <= w->m->nfixed;
	bool missing = g->arch != ARCH_NONE &&
		       w->m->arch_missing & 1u << g->arch;

	if (!g->intel)
		return resolve_generic_pfm(w, g);
	if (g->fixed && !(how & ALIAS_PROGRAMMABLE))
		add_fixed(w, g->fixed - 1);
	if (how & ALIAS_FIXED && w->ev->ncode)
		return 0;
	/* As programmable it would count something else. */
	if (g->fixed_differs && fixed && !(how & ALIAS_PROGRAMMABLE) &&
	    w->class_id != HWPMC_CLASS_IAP)
		return 0;
	return missing ? 0 : add_programmable(w, g->intel, 0);
}

static int resolve_generic(struct work *w, const struct event_generic *g,
			   unsigned int how)
{
	uint64_t amd;

	if (w->m->vendor == VENDOR_INTEL)
		return resolve_generic_intel(w, g, how);
	if (w->m->vendor == VENDOR_NETBURST)
		return g->p4 ? add_programmable(w, g->p4, 0) : 0;
	amd = w->m->vendor == VENDOR_AMD ? event_generic_amd(w->m, g) : 0;
	return amd ? add_programmable(w, amd, 0) : 0;
}

/* ------------------------------------------------------------------------ */

static int resolve_k8(struct work *w, const struct event_k8 *k)
{
	uint64_t config = k->event;
	int mask = k->umask;

	if (w->t->set & TERM_MASK) {
		mask = event_k8_mask(k, w->t->mask);
		if (mask < 0)
			return event_refuse(w->e, EINVAL, w->t->mask_at,
					    "expected numbers or names joined "
					    "by '+': %s", k->masks ? k->masks :
					    "(this event has no names)");
	}
	return add_programmable(w, config | (uint64_t)mask << 8, 0);
}

/* With mask=a+b as libpfm4's ":a:b". */
static int pfm_terms(struct work *w, struct event_terms *t)
{
	size_t used, i, len = strlen(w->t->mask);

	*t = *w->t;
	snprintf(t->name, sizeof(t->name), "%s", w->name);
	if (!(t->set & TERM_MASK) || mask_numbers(t->mask) >= 0)
		return 0;
	used = strlen(t->attrs);
	if (used + len + 2 > sizeof(t->attrs))
		return event_refuse(w->e, EINVAL, t->mask_at,
				    "this is too long");
	if (!used)
		t->attrs_at = t->mask_at;
	else
		t->attrs[used++] = ':';
	for (i = 0; i <= len; i++)
		t->attrs[used + i] = t->mask[i] == '+' ? ':' : t->mask[i];
	return 0;
}

/* Does the module set the register beside the select that this event needs? */
static bool extra_is_set(uint64_t config)
{
	switch (config & (CODE_UMASK | CODE_EVENT)) {
	case 0x40ad:			/* of the front end */
	case 0x04c2:
		return true;
	}
	switch (config & CODE_EVENT) {
	case 0xc6:
	case 0xb7:
	case 0xbb:
	case 0x2a:
	case 0x2b:
		return true;
	}
	return false;
}

static int add_pfm(struct work *w, const struct event_pfm_code *code)
{
	uint64_t config = code->config;

	if (code->extra && !extra_is_set(config))
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "'%s' needs a register that hwpmc does not "
				    "set", w->t->name);
	if (w->m->vendor == VENDOR_NETBURST)
		return add_programmable(w, config, 0);
	if (w->t->set & TERM_MASK && mask_numbers(w->t->mask) >= 0)
		config = (config & ~CODE_UMASK) |
			 (uint64_t)mask_numbers(w->t->mask) << 8;
	if (w->m->vendor == VENDOR_INTEL) {
		/* Event 0 is how Intel writes "only on fixed counter n". */
		if (config && !(config & ~CODE_UMASK)) {
			add_fixed(w, (unsigned int)(config >> 8) - 1);
			return 0;
		}
		if (config == 0xc0 || config == 0x3c)
			add_fixed(w, config == 0xc0 ? 0 : 1);
	}
	return add_programmable(w, config, code->extra);
}

/* Names of tracepoints come from the module. */
static int refuse_tracepoint(struct work *w)
{
	return event_refuse(w->e, ENOENT, w->t->name_at,
			    "there is no event '%s%s%s' in the tables, and tracepoints need the "
			    "module; load it: modprobe hwpmc", w->t->name,
			    w->t->attrs[0] ? ":" : "", w->t->attrs);
}

/* "GROUP:NAME" without the module; the form is that of an event with a unit mask too. */
static bool may_be_tracepoint(const struct work *w)
{
	return w->m->offline && w->t->attrs[0] && !w->t->pmu[0] && w->class_id == CLASS_ANY;
}

/* The rest of the sentence on a name that is nowhere. */
static const char *why_unknown(const struct event_machine *m)
{
	if (!event_pfm_installed())
		return ": it is not in the tables of hwpmc, and libpfm4, which has more names, "
		       "is not installed";
	if (!event_model_known(m))
		return ": no table has the events of this CPU, so only architectural events and "
		       "raw codes are supported";
	return "";
}

static int resolve_pfm(struct work *w)
{
	struct event_pfm_code code;
	struct event_terms t;
	unsigned int how;
	char near[160];
	int rc;

	if (!w->t->attrs[0] && event_near_perf(w->name))
		return event_refuse(w->e, ENOENT, w->t->name_at,
				    "'%s' is an event of perf that hwpmc lacks: %s",
				    w->t->name, event_near_perf(w->name));
	if (w->m->vendor == VENDOR_NONE)
		return may_be_tracepoint(w) ? refuse_tracepoint(w) : refuse_machine(w);
	if (w->m->vendor == VENDOR_INTEL && resolve_row(w, &rc))
		return rc;
	if (pfm_terms(w, &t))
		return -1;
	if (!event_pfm_find(&t, &code, w->e))
		return add_pfm(w, &code);
	if (w->e->err != ENOENT || t.pmu[0])
		return -1;
	if (t.attrs[0] && event_alias(w->name, &how))
		return event_refuse(w->e, EINVAL, t.attrs_at,
				    "'%s' has no unit masks, expected u, k "
				    "or uk", w->t->name);
	if (may_be_tracepoint(w) && !strcmp(w->name, "tracepoint"))
		return refuse_tracepoint(w);
	if (!w->m->terse && event_suggest(w->m, w->name, near, sizeof(near)))
		return event_refuse(w->e, ENOENT, t.name_at,
				    "there is no event '%s' here, perhaps '%s' "
				    "(see 'hwpmc list')", w->t->name, near);
	if (may_be_tracepoint(w))
		return refuse_tracepoint(w);
	return event_refuse(w->e, ENOENT, t.name_at,
			    "there is no event '%s' here%s (see 'hwpmc list')",
			    w->t->name, why_unknown(w->m));
}

/* ------------------------------------------------------------------------ */

static int resolve_soft(struct work *w, uint32_t ev)
{
	if (w->t->set & TERMS_OF_CODE)
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "'%s' is an event of the kernel: it takes "
				    "no qualifiers except u and k", w->t->name);
	w->ev->ncode = 1;
	w->ev->code[0] = (struct hwpmc_event_code) {
		.class_id = HWPMC_CLASS_SOFT, .ev = ev,
		.caps = mode_caps(w->t),
	};
	return 0;
}

/* "tracepoint:NAME", "GROUP:NAME", "tracepoint:GROUP:NAME". */
static bool find_tracepoint(const struct work *w, uint32_t *ev)
{
	const char *last = strrchr(w->t->attrs, ':');
	char name[96];

	if (!w->m->find_soft || w->class_id != CLASS_ANY || !w->t->attrs[0])
		return false;
	event_normal(last ? last + 1 : w->t->attrs, name, sizeof(name));
	return w->m->find_soft(w->m->arg, name, ev);
}

/* Names without a prefix are the table's: tracepoints could hide others. */
static bool find_soft(const struct work *w, uint32_t *ev)
{
	if (!may_use(w, HWPMC_CLASS_SOFT))
		return false;
	if (w->t->attrs[0])
		return find_tracepoint(w, ev);
	if (event_soft_fixed(w->name, ev))
		return true;
	return w->class_id == HWPMC_CLASS_SOFT && w->m->find_soft &&
	       w->m->find_soft(w->m->arg, w->name, ev);
}

static int resolve_tsc(struct work *w)
{
	if (w->t->set || w->t->attrs[0])
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "'tsc' takes no qualifiers, because it "
				    "always counts");
	if (!event_machine_has(w->m, HWPMC_CLASS_TSC))
		return refuse_machine(w);
	w->ev->ncode = 1;
	w->ev->code[0] = (struct hwpmc_event_code) {
		.class_id = HWPMC_CLASS_TSC, .ev = HWPMC_EV_TSC,
	};
	return 0;
}

static int resolve_power(struct work *w, const struct event_power *p)
{
	if (w->t->set || w->t->attrs[0])
		return event_refuse(w->e, EINVAL, w->t->name_at,
				    "'%s' takes no qualifiers, because it always counts",
				    w->t->name);
	if (!event_machine_has(w->m, p->class_id))
		return refuse_class(w, p->class_id);
	w->ev->ncode = 1;
	w->ev->code[0] = (struct hwpmc_event_code) {
		.class_id = p->class_id, .ev = p->ev,
	};
	return 0;
}

static int resolve_ibs(struct work *w)
{
	const struct event_ibs *i = event_ibs(w->name);

	if (i && !event_machine_has(w->m, HWPMC_CLASS_IBS))
		return refuse_class(w, HWPMC_CLASS_IBS);
	if (i && !(w->t->set & TERM_PRECISE))
		return event_ibs_resolve(i, w->t, w->ev, w->e);
	if (event_machine_has(w->m, HWPMC_CLASS_IBS))
		return event_ibs_resolve_precise(w->name, w->t, w->ev, w->e);
	return event_refuse(w->e, EINVAL, w->t->precise_at,
			    "modifier '%s' is not supported, expected u, k or uk: no event is "
			    "precise here", w->t->modifiers);
}

static int refuse_terms_of_ibs(struct work *w)
{
	return event_refuse(w->e, EINVAL, w->t->name_at, "only ibs-op and ibs-fetch take "
			    "ldlat= l3miss opcount cycles randomize data target fetchlat= "
			    "streamstore");
}

/* Event 0 of Intel: a fixed counter, by its number + 1 as the unit mask. */
static int resolve_raw_fixed(struct work *w, uint64_t config)
{
	uint64_t number = config >> 8;

	if (number >= 1 && number <= w->m->nfixed && !(config & ~CODE_UMASK)) {
		code_add(w, HWPMC_CLASS_IAF, 0, config, 0);
		return 0;
	}
	return event_refuse(w->e, EINVAL, w->t->name_at,
			    "event 0 is for fixed counters only: use unit masks "
			    "1 to %u without qualifiers", w->m->nfixed);
}

/* cpu/event=…/, cpu/config=…/, r1c0, 0x1c0 */
static int resolve_raw(struct work *w)
{
	const struct event_terms *t = w->t;
	bool intel = w->m->vendor == VENDOR_INTEL;
	uint64_t config = t->config;

	if (t->set & TERMS_OF_IBS)
		return refuse_terms_of_ibs(w);
	if (w->m->vendor == VENDOR_NONE)
		return refuse_machine(w);
	if (intel && t->event > 0xff)
		return event_refuse(w->e, EINVAL, t->name_at,
				    "expected event=0 to event=0xff on Intel");
	if (w->m->vendor == VENDOR_NETBURST && t->set & TERM_EVENT)
		return event_refuse(w->e, EINVAL, t->name_at,
				    "expected a name, or perf's raw code of this CPU: "
				    "cpu/config=0x…/ or r…");
	if (t->set & TERM_EVENT)
		config = (t->event & 0xff) | (uint64_t)(t->event >> 8) << 32;
	if (t->set & TERM_MASK) {
		if (mask_numbers(t->mask) < 0)
			return event_refuse(w->e, EINVAL, t->mask_at,
					    "expected numbers: a raw code has "
					    "no names of unit masks");
		config |= (uint64_t)mask_numbers(t->mask) << 8;
	}
	if (intel && !(config & CODE_EVENT))
		return resolve_raw_fixed(w, with_qualifiers(t, config));
	return add_programmable(w, config, 0);
}

/* "iap_", "k8_" … at the front of the name. */
static int take_class(struct work *w)
{
	static const struct {
		const char *prefix;
		uint32_t class_id;
	} prefixes[] = {
		{ "iap_", HWPMC_CLASS_IAP },	{ "iaf_", HWPMC_CLASS_IAF },
		{ "k8_", HWPMC_CLASS_K8 },	{ "tsc_", HWPMC_CLASS_TSC },
		{ "soft_", HWPMC_CLASS_SOFT },	{ "ibs_", HWPMC_CLASS_IBS },
		{ "rapl_", HWPMC_CLASS_RAPL },	{ "perf_", HWPMC_CLASS_PERF },
		{ "ucf_", HWPMC_CLASS_UCF },	{ "ucp_", HWPMC_CLASS_UCP },
		{ "p4_", HWPMC_CLASS_P4 },	{ "p6_", HWPMC_CLASS_P6 },
	};
	size_t i, len;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		len = strlen(prefixes[i].prefix);
		if (strncmp(w->name, prefixes[i].prefix, len) || !w->name[len])
			continue;
		w->class_id = prefixes[i].class_id;
		memmove(w->name, w->name + len, strlen(w->name + len) + 1);
		break;
	}
	if (w->class_id == CLASS_ANY || event_machine_has(w->m, w->class_id))
		return 0;
	return refuse_class(w, w->class_id);
}

/* Do the codes so far have what a table says? */
static bool has_row(const struct work *w, const struct event_row *row)
{
	uint64_t fixed = (uint64_t)(row->fixed + 1) << 8;
	uint64_t config = with_qualifiers(w->t, row->config[0]);

	for (unsigned int i = 0; i < w->ev->ncode; i++) {
		const struct hwpmc_event_code *code = &w->ev->code[i];

		if (row->fixed >= 0 ? code->class_id == HWPMC_CLASS_IAF &&
				      code->config == fixed :
				      code->class_id == HWPMC_CLASS_IAP &&
				      code->config == config)
			return true;
	}
	return false;
}

/*
 * A name of ours that the vendor has too ("CPU_CLK_UNHALTED.REF") may mean another event
 * on this model: the vendor's counts. Names like "cycles" are in no table: none is read.
 */
static int prefer_row(struct work *w)
{
	struct event_found f;
	int found;

	if (w->m->vendor != VENDOR_INTEL || !strpbrk(w->t->name, "._"))
		return 0;
	found = find_row(w, w->name, "", &f);
	if (found <= 0 || has_row(w, &f.row))
		return found < 0 ? -1 : 0;
	w->ev->ncode = 0;
	return add_row(w, &f.row);
}

static int resolve_name(struct work *w)
{
	const struct event_generic *g = NULL;
	const struct event_k8 *k = NULL;
	unsigned int how = 0;
	uint32_t soft;

	if (event_ibs(w->name) && !w->t->pmu[0])
		return resolve_ibs(w);
	if (w->t->set & TERMS_OF_IBS)
		return refuse_terms_of_ibs(w);
	if (w->t->pmu[0])
		return resolve_pfm(w);
	if (event_power(w->name))
		return resolve_power(w, event_power(w->name));
	if (take_class(w))
		return -1;
	if (!strcmp(w->name, "tsc"))
		return resolve_tsc(w);
	if (find_soft(w, &soft))
		return resolve_soft(w, soft);
	if (w->class_id == HWPMC_CLASS_SOFT && w->m->offline)
		return refuse_tracepoint(w);
	if (w->class_id == HWPMC_CLASS_SOFT)
		return event_refuse(w->e, ENOENT, w->t->name_at,
				    "the kernel has no event '%s' (see 'hwpmc "
				    "list soft')", w->t->name);
	/* Names of ours have no unit masks: with one, it is libpfm4's. */
	if (!w->t->attrs[0]) {
		if (!(w->t->set & TERM_MASK))
			g = event_alias(w->name, &how);
		if (w->m->vendor == VENDOR_AMD)
			k = event_k8(w->name);
	}
	if (g && w->m->vendor != VENDOR_NONE) {
		if (resolve_generic(w, g, how) || prefer_row(w))
			return -1;
		return w->ev->ncode ? 0 : refuse_machine(w);
	}
	return k ? resolve_k8(w, k) : resolve_pfm(w);
}

/*
 * Intel's names of what both threads of a core count end in _ANY: the same event is known
 * without it, to which the bit is added.
 */
static int resolve_any(struct work *w)
{
	struct event_terms all = *w->t;
	struct event_error first = *w->e;
	size_t len = strlen(w->name);
	struct work any = *w;

	if (w->m->vendor != VENDOR_INTEL || first.err != ENOENT || len < 5 ||
	    all.attrs[0] || strcmp(w->name + len - 4, "_any"))
		return -1;
	all.set |= TERM_ANY;
	any.t = &all;
	any.name[len - 4] = '\0';
	if (!resolve_name(&any))
		return 0;
	/* What is wrong with the shorter name was not asked. */
	if (w->e->err == ENOENT)
		*w->e = first;
	return -1;
}

int event_resolve(const struct event_machine *m, const struct event_terms *t,
		  struct hwpmc_event *ev, struct event_error *e)
{
	struct work w = { .m = m, .t = t, .ev = ev, .e = e,
			  .class_id = CLASS_ANY };
	int rc;

	memset(ev, 0, sizeof(*ev));
	event_normal(t->name, w.name, sizeof(w.name));
	if (t->set & TERM_PRECISE)
		rc = resolve_ibs(&w);
	else
		rc = t->set & (TERM_EVENT | TERM_CONFIG) ? resolve_raw(&w) : resolve_name(&w);
	if (rc && !(t->set & (TERM_EVENT | TERM_CONFIG | TERM_PRECISE)))
		rc = resolve_any(&w);
	if (rc)
		return -1;
	return ev->ncode ? 0 : refuse_machine(&w);
}
