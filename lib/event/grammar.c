/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grammar.c - the text of an event specification, cut into terms. What the
 * names mean is not known here. Pure: no allocation, no state; every copy is
 * bounded by the size of its field and refused where it does not fit.
 *
 *	spec     := (name | cpu | ibs | raw) [":" modifiers] {"," qualifier}
 *	name     := [pmu "::"] word {":" attribute}
 *	cpu      := "cpu/" term {"," term} "/" [modifiers]
 *	ibs      := ("ibs_op/" | "ibs_fetch/") [term {"," term}] "/" [modifiers]
 *	raw      := "r" hex | "0x" hex
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "event.h"

/* ------------------------------------------------------------------------ */

/* The part of the specification that is being read. */
struct scan {
	const char *spec;
	const char *p;			/* next character */
	struct event_terms *t;
	struct event_error *e;
};

static size_t scan_place(const struct scan *s, const char *p)
{
	return (size_t)(p - s->spec);
}

static int scan_copy(struct scan *s, char *to, size_t size, const char *from,
		     const char *end)
{
	size_t len = (size_t)(end - from);

	if (len >= size)
		return event_refuse(s->e, EINVAL, scan_place(s, from),
				    "this is too long");
	memcpy(to, from, len);
	to[len] = '\0';
	return 0;
}

static bool is_word(const char *from, const char *end, const char *word)
{
	return (size_t)(end - from) == strlen(word) &&
	       !strncasecmp(from, word, strlen(word));
}

/* Adds from..end to a list in `to`, which `sep` separates. */
static int list_append(struct scan *s, char *to, size_t size, char sep,
		       const char *from, const char *end)
{
	size_t used = strlen(to);

	if (used) {
		if (used + 1 >= size)
			return scan_copy(s, to, 0, from, end);
		to[used++] = sep;
	}
	return scan_copy(s, to + used, size - used, from, end);
}

/* ------------------------------------------------------------------------ */

static uint32_t modifier_term(char c)
{
	switch (c) {
	case 'u':
	case 'U':
		return TERM_USR;
	case 'G':
		return TERM_GUEST;
	case 'H':
		return TERM_HOST;
	default:
		return TERM_OS;
	}
}

/* "u", "k", "uk", with perf's G and H. True if it is nothing but modifiers. */
static bool scan_modifiers(struct scan *s, const char *from, const char *end)
{
	const char *p;

	for (p = from; p < end; p++)
		if (!strchr("ukUKGH", *p))
			return false;
	for (p = from; p < end; p++)
		s->t->set |= modifier_term(*p);
	return from < end;
}

/* Modifiers of perf that have a meaning on AMD, p, pp and P, or none here, h. */
static bool modifiers_of_perf(const char *from, const char *end)
{
	const char *p;
	bool precise = false;

	for (p = from; p < end; p++) {
		if (!strchr("ukpPh", *p))
			return false;
		precise |= *p == 'p' || *p == 'P' || *p == 'h';
	}
	return precise;
}

/* "p", "ppu": which events can be precise depends on the machine. */
static int scan_precise(struct scan *s, const char *from, const char *end)
{
	const char *p;

	if (memchr(from, 'h', (size_t)(end - from)))
		return event_refuse(s->e, EINVAL, scan_place(s, from),
				    "modifier '%.*s' is not supported, "
				    "expected u, k or uk", (int)(end - from), from);
	s->t->precise_at = scan_place(s, from);
	s->t->set |= TERM_PRECISE;
	for (p = from; p < end; p++)
		if (*p != 'p' && *p != 'P')
			s->t->set |= modifier_term(*p);
	return scan_copy(s, s->t->modifiers, sizeof(s->t->modifiers), from, end);
}

enum value_kind {
	VALUE_NONE,			/* a flag; "=1" is allowed */
	VALUE_NUMBER,
	VALUE_NUMBER_OR_LIST,
	VALUE_LIST,
};

/* Where a qualifier may stand. */
enum { IN_LIST = 1, IN_CPU = 2, IN_ATTR = 4, IN_IBS = 8 };

struct qualifier {
	const char *name;
	uint32_t term;
	enum value_kind kind;
	unsigned int where;
	uint64_t max;
};

static const struct qualifier qualifiers[] = {
	{ "usr", TERM_USR, VALUE_NONE, IN_LIST, 1 },
	{ "os", TERM_OS, VALUE_NONE, IN_LIST, 1 },
	{ "edge", TERM_EDGE, VALUE_NONE, IN_LIST | IN_CPU, 1 },
	{ "inv", TERM_INV, VALUE_NONE, IN_LIST | IN_CPU, 1 },
	{ "any", TERM_ANY, VALUE_NONE, IN_LIST | IN_CPU, 1 },
	{ "anythread", TERM_ANY, VALUE_NONE, IN_LIST, 1 },
	{ "guest", TERM_GUEST, VALUE_NONE, IN_LIST, 1 },
	{ "host", TERM_HOST, VALUE_NONE, IN_LIST, 1 },
	{ "cmask", TERM_CMASK, VALUE_NUMBER, IN_LIST | IN_CPU, 0xff },
	{ "count", TERM_CMASK, VALUE_NUMBER, IN_LIST, 0xff },
	{ "umask", TERM_UMASK, VALUE_NUMBER_OR_LIST, IN_LIST | IN_CPU, 0xff },
	{ "mask", TERM_MASK, VALUE_LIST, IN_LIST, 0 },
	{ "rsp", TERM_RSP, VALUE_NUMBER, IN_LIST, UINT64_MAX },
	{ "offcore_rsp", TERM_RSP, VALUE_NUMBER, IN_LIST | IN_CPU, UINT64_MAX },
	{ "frontend", TERM_RSP, VALUE_NUMBER, IN_LIST | IN_CPU, 0xffffff },
	{ "config1", TERM_RSP, VALUE_NUMBER, IN_CPU, UINT64_MAX },
	{ "config", TERM_CONFIG, VALUE_NUMBER, IN_CPU, UINT64_MAX },
	{ "event", TERM_EVENT, VALUE_NUMBER, IN_CPU, 0xfff },
	/* AMD's instruction-based sampling, and perf's names of the same */
	{ "ldlat", TERM_LDLAT, VALUE_NUMBER, IN_LIST | IN_IBS, 0xffff },
	{ "fetchlat", TERM_FETCHLAT, VALUE_NUMBER, IN_LIST | IN_IBS, 0xffff },
	{ "streamstore", TERM_STREAM, VALUE_NONE, IN_LIST | IN_IBS, 1 },
	{ "l3miss", TERM_L3MISS, VALUE_NONE, IN_LIST | IN_IBS, 1 },
	{ "l3missonly", TERM_L3MISS, VALUE_NONE, IN_IBS, 1 },
	{ "opcount", TERM_OPS, VALUE_NONE, IN_LIST | IN_IBS, 1 },
	{ "cnt_ctl", TERM_OPS, VALUE_NONE, IN_IBS, 1 },
	{ "cycles", TERM_CYCLES, VALUE_NONE, IN_LIST | IN_IBS, 1 },
	{ "randomize", TERM_RANDOM, VALUE_NONE, IN_LIST | IN_IBS, 1 },
	{ "rand_en", TERM_RANDOM, VALUE_NONE, IN_IBS, 1 },
	{ "data", TERM_DATA, VALUE_NONE, IN_LIST | IN_IBS, 1 },
	{ "target", TERM_TARGET, VALUE_NONE, IN_LIST | IN_IBS, 1 },
	/* libpfm4's, with a value; without one they are left to libpfm4 */
	{ "u", TERM_USR, VALUE_NONE, IN_ATTR, 1 },
	{ "k", TERM_OS, VALUE_NONE, IN_ATTR, 1 },
	{ "e", TERM_EDGE, VALUE_NONE, IN_ATTR, 1 },
	{ "i", TERM_INV, VALUE_NONE, IN_ATTR, 1 },
	{ "t", TERM_ANY, VALUE_NONE, IN_ATTR, 1 },
	{ "c", TERM_CMASK, VALUE_NUMBER, IN_ATTR, 0xff },
};

#define NQUALIFIER	(sizeof(qualifiers) / sizeof(qualifiers[0]))

static const struct qualifier *qualifier_find(const char *from,
					      const char *end,
					      unsigned int where)
{
	size_t i;

	for (i = 0; i < NQUALIFIER; i++)
		if (qualifiers[i].where & where &&
		    is_word(from, end, qualifiers[i].name))
			return &qualifiers[i];
	return NULL;
}

static void term_store(struct event_terms *t, uint32_t term, uint64_t n)
{
	switch (term) {
	case TERM_CMASK:
		t->cmask = (uint32_t)n;
		break;
	case TERM_UMASK:
		t->umask = (uint32_t)n;
		break;
	case TERM_EVENT:
		t->event = (uint32_t)n;
		break;
	case TERM_RSP:
		t->rsp = n;
		break;
	case TERM_CONFIG:
		t->config = n;
		break;
	case TERM_LDLAT:
		t->ldlat = (uint32_t)n;
		break;
	case TERM_FETCHLAT:
		t->fetchlat = (uint32_t)n;
		break;
	}
	t->set |= term;
}

static int value_flag(struct scan *s, const struct qualifier *q,
		      const char *value, const char *end)
{
	if (!value || is_word(value, end, "1")) {
		s->t->set |= q->term;
		return 0;
	}
	if (is_word(value, end, "0") && q->term == TERM_RANDOM)
		return event_refuse(s->e, EINVAL, scan_place(s, value),
				    "fetches are always counted from a random start: remove "
				    "'%s=0'", q->name);
	if (is_word(value, end, "0") && !(q->term & (TERM_USR | TERM_OS)))
		return 0;
	return event_refuse(s->e, EINVAL, scan_place(s, value),
			    "'%s' takes no value", q->name);
}

static int value_list(struct scan *s, const char *value, const char *end)
{
	s->t->mask_at = scan_place(s, value);
	s->t->set |= TERM_MASK;
	return list_append(s, s->t->mask, sizeof(s->t->mask), '+', value, end);
}

static int value_number(struct scan *s, const struct qualifier *q,
			const char *value, const char *end)
{
	uint64_t n;

	if (s->t->set & q->term && q->term != TERM_UMASK)
		return event_refuse(s->e, EINVAL, scan_place(s, value),
				    "'%s' is given twice", q->name);
	if (!event_number(value, end, q->max, &n))
		return event_refuse(s->e, EINVAL, scan_place(s, value),
				    "expected a number from 0 to 0x%llx "
				    "(decimal, or hexadecimal with 0x)",
				    (unsigned long long)q->max);
	term_store(s->t, q->term, n);
	return 0;
}

static int qualifier_value(struct scan *s, const struct qualifier *q,
			   const char *value, const char *end)
{
	if (q->kind == VALUE_NONE)
		return value_flag(s, q, value, end);
	if (!value || value == end)
		return event_refuse(s->e, EINVAL,
				    scan_place(s, value ? value : end),
				    "'%s' needs a value: %s=…", q->name,
				    q->name);
	if (q->kind == VALUE_LIST ||
	    (q->kind == VALUE_NUMBER_OR_LIST &&
	     !isdigit((unsigned char)*value)))
		return value_list(s, value, end);
	return value_number(s, q, value, end);
}

/* The nearest name of those that may stand in a list. */
static bool qualifier_near(const char *word, char *buf, size_t size)
{
	struct event_nearest n;

	event_nearest_start(&n, word);
	for (size_t i = 0; i < NQUALIFIER; i++)
		if (qualifiers[i].where & IN_LIST)
			event_nearest_consider(&n, qualifiers[i].name);
	return event_nearest_name(&n, buf, size);
}

static int qualifier_unknown(struct scan *s, const char *from, const char *end,
			     unsigned int where)
{
	char word[32], near[32];

	snprintf(word, sizeof(word), "%.*s", (int)(end - from), from);
	if (where == IN_LIST && qualifier_near(word, near, sizeof(near)))
		return event_refuse(s->e, EINVAL, scan_place(s, from),
				    "unknown qualifier '%s', perhaps '%s'",
				    word, near);
	return event_refuse(s->e, EINVAL, scan_place(s, from),
			    "unknown %s '%s', expected one of %s",
			    where == IN_LIST ? "qualifier" : "term", word,
			    where == IN_IBS ? "cnt_ctl= l3missonly= ldlat= fetchlat= streamstore rand_en= data target" :
			    where == IN_CPU ?
			    "event= umask= cmask= edge inv any offcore_rsp= "
			    "frontend= config= config1=" :
			    "usr os edge inv any guest host cmask= umask= "
			    "mask= rsp= count=");
}

/* One qualifier in [from, end). */
static int scan_qualifier(struct scan *s, const char *from, const char *end,
			  unsigned int where)
{
	const char *eq = memchr(from, '=', (size_t)(end - from));
	const char *word_end = eq ? eq : end;
	const struct qualifier *q = qualifier_find(from, word_end, where);

	if (from == end)
		return event_refuse(s->e, EINVAL, scan_place(s, from),
				    "expected a qualifier after the comma");
	if (!q)
		return qualifier_unknown(s, from, word_end, where);
	return qualifier_value(s, q, eq ? eq + 1 : NULL, end);
}

/* ------------------------------------------------------------------------ */

/* After the event: {"," qualifier}. */
static int scan_tail(struct scan *s)
{
	const char *end;

	while (*s->p) {
		if (*s->p != ',')
			return event_refuse(s->e, EINVAL, scan_place(s, s->p),
					    "expected ',' and a qualifier, or "
					    "the end");
		s->p++;
		end = s->p + strcspn(s->p, ",");
		if (scan_qualifier(s, s->p, end, IN_LIST))
			return -1;
		s->p = end;
	}
	return 0;
}

static int scan_attribute(struct scan *s, const char *from, const char *end)
{
	const char *eq = memchr(from, '=', (size_t)(end - from));
	const struct qualifier *q;

	if (from == end)
		return event_refuse(s->e, EINVAL, scan_place(s, from),
				    "expected u, k, uk or a unit mask after "
				    "the colon");
	if (scan_modifiers(s, from, end))
		return 0;
	if (modifiers_of_perf(from, end))
		return scan_precise(s, from, end);
	q = eq ? qualifier_find(from, eq, IN_ATTR) : NULL;
	if (q)
		return qualifier_value(s, q, eq + 1, end);
	if (!s->t->attrs[0])
		s->t->attrs_at = scan_place(s, from);
	return list_append(s, s->t->attrs, sizeof(s->t->attrs), ':', from, end);
}

static int scan_attributes(struct scan *s)
{
	const char *end;

	while (*s->p == ':') {
		s->p++;
		end = s->p + strcspn(s->p, ":,");
		if (scan_attribute(s, s->p, end))
			return -1;
		s->p = end;
	}
	return 0;
}

/* Raw codes take modifiers after the colon, but no unit masks. */
static int no_attributes(struct scan *s)
{
	if (s->t->attrs[0])
		return event_refuse(s->e, EINVAL, s->t->attrs_at,
				    "expected u, k or uk after a raw code");
	return scan_tail(s);
}

/* ------------------------------------------------------------------------ */

/* "u" or ":u" after the closing slash. */
static int cpu_modifiers(struct scan *s)
{
	const char *end;

	if (*s->p == ':')
		s->p++;
	end = s->p + strcspn(s->p, ",");
	if (end > s->p && !scan_modifiers(s, s->p, end))
		return event_refuse(s->e, EINVAL, scan_place(s, s->p),
				    "expected u, k or uk after the slash");
	s->p = end;
	return scan_tail(s);
}

static int cpu_term(struct scan *s, const char *from, const char *end)
{
	/* perf's named events: cpu/cache-misses/ */
	if (!memchr(from, '=', (size_t)(end - from)) && from < end &&
	    !qualifier_find(from, end, IN_CPU) && !s->t->name[0]) {
		s->t->name_at = scan_place(s, from);
		return scan_copy(s, s->t->name, sizeof(s->t->name), from, end);
	}
	return scan_qualifier(s, from, end, IN_CPU);
}

/* After "cpu/". */
static int cpu_form(struct scan *s)
{
	struct event_terms *t = s->t;
	const char *start = s->p, *close = strchr(s->p, '/'), *end;

	if (!close)
		return event_refuse(s->e, EINVAL, scan_place(s, s->p + strlen(s->p)),
				    "expected '/' at the end of the terms");
	do {
		end = s->p + strcspn(s->p, ",/");
		if (cpu_term(s, s->p, end))
			return -1;
		s->p = end + 1;
	} while (end < close);
	if (!t->name[0] && !(t->set & (TERM_EVENT | TERM_CONFIG)))
		return event_refuse(s->e, EINVAL, scan_place(s, start),
				    "expected event=, config= or a name in "
				    "cpu/…/");
	if (!!t->name[0] + !!(t->set & TERM_EVENT) +
	    !!(t->set & TERM_CONFIG) > 1)
		return event_refuse(s->e, EINVAL, scan_place(s, start),
				    "expected only one of event=, config= and "
				    "a name in cpu/…/");
	return cpu_modifiers(s);
}

/* perf's "ibs_op/cnt_ctl=1/u": the name is before the slash. perf's ibs_op counts cycles unless it
 * is to count ops. */
static int ibs_form(struct scan *s, const char *name_end)
{
	const char *close = strchr(name_end + 1, '/'), *end;

	if (!close)
		return event_refuse(s->e, EINVAL, scan_place(s, s->p + strlen(s->p)),
				    "expected '/' at the end of the terms");
	if (scan_copy(s, s->t->name, sizeof(s->t->name), s->p, name_end))
		return -1;
	for (s->p = name_end + 1; s->p < close; s->p = end + 1) {
		end = s->p + strcspn(s->p, ",/");
		if (scan_qualifier(s, s->p, end, IN_IBS))
			return -1;
	}
	s->p = close + 1;
	if (!(s->t->set & TERM_OPS) && is_word(s->t->name, s->t->name + strlen(s->t->name),
					       "ibs_op"))
		s->t->set |= TERM_CYCLES;
	return cpu_modifiers(s);
}

static bool is_ibs(const char *from, const char *end)
{
	return is_word(from, end, "ibs_op") || is_word(from, end, "ibs_fetch");
}

static bool all_hex(const char *from, const char *end)
{
	for (; from < end; from++)
		if (!isxdigit((unsigned char)*from))
			return false;
	return true;
}

/* The digits of "r1c0" and "0x1c0"; NULL: not raw. */
static const char *raw_digits(const char *from, const char *end)
{
	if (end - from > 1 && (*from == 'r' || *from == 'R') &&
	    all_hex(from + 1, end))
		return from + 1;
	if (end - from > 2 && !strncasecmp(from, "0x", 2))
		return from + 2;
	return NULL;
}

static int raw_form(struct scan *s, const char *digits, const char *end)
{
	uint64_t n;

	if (!event_number_hex(digits, end, UINT64_MAX, &n))
		return event_refuse(s->e, EINVAL, scan_place(s, digits),
				    "expected a hexadecimal code of at most "
				    "16 digits");
	term_store(s->t, TERM_CONFIG, n);
	s->p = end;
	if (scan_attributes(s))
		return -1;
	return no_attributes(s);
}

static int name_form(struct scan *s)
{
	const char *end = s->p + strcspn(s->p, ":,/");
	const char *digits;

	if (!strncmp(end, "::", 2)) {
		if (scan_copy(s, s->t->pmu, sizeof(s->t->pmu), s->p, end))
			return -1;
		s->p = end + 2;
		end = s->p + strcspn(s->p, ":,/");
	}
	if (*end == '/' && is_ibs(s->p, end))
		return ibs_form(s, end);
	if (*end == '/')
		return event_refuse(s->e, EINVAL, scan_place(s, s->p),
				    "expected cpu/…/ before a slash");
	if (s->p == end)
		return event_refuse(s->e, EINVAL, scan_place(s, s->p),
				    "expected the name of an event");
	digits = s->t->pmu[0] ? NULL : raw_digits(s->p, end);
	s->t->name_at = scan_place(s, s->p);
	if (digits)
		return raw_form(s, digits, end);
	if (scan_copy(s, s->t->name, sizeof(s->t->name), s->p, end))
		return -1;
	s->p = end;
	if (scan_attributes(s))
		return -1;
	return scan_tail(s);
}

int event_grammar(const char *spec, struct event_terms *t,
		  struct event_error *e)
{
	struct scan s = { .spec = spec, .p = spec, .t = t, .e = e };
	const char *p;

	memset(t, 0, sizeof(*t));
	for (p = spec; *p; p++)
		if (!isprint((unsigned char)*p))
			return event_refuse(e, EINVAL, scan_place(&s, p),
					    "expected printable characters");
	if (!strncasecmp(spec, "cpu/", 4)) {
		s.p += 4;
		return cpu_form(&s);
	}
	return name_form(&s);
}
