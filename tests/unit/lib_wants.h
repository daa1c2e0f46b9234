/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_wants.h - tables of event specifications in the tests of the library: what each becomes
 * on a machine of lib_machines.h, or where and with which words it is refused.
 */
#ifndef LIB_WANTS_H
#define LIB_WANTS_H

#include "harness.h"
#include "lib_machines.h"

#define USR	HWPMC_CAP_USER
#define OS	HWPMC_CAP_SYSTEM
#define QUA	HWPMC_CAP_QUALIFIER
#define EDG	HWPMC_CAP_EDGE
#define INV	HWPMC_CAP_INVERT
#define THR	HWPMC_CAP_THRESHOLD

/* What a specification must become: IAF first where fixed is not 0. */
struct want {
	const char *spec;
	uint64_t fixed;			/* config of IAF; 0: none offered */
	uint64_t config;		/* of the programmable class; 0: none */
	uint32_t caps;			/* of the programmable class, or of IAF */
};

static uint32_t programmable(const struct event_machine *m)
{
	if (m->vendor == VENDOR_NETBURST)
		return HWPMC_CLASS_P4;
	return m->vendor == VENDOR_AMD ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAP;
}

static void code_is(const struct hwpmc_event_code *code, const char *spec,
		    uint32_t class_id, uint64_t config, uint32_t caps)
{
	ck_assert_msg(code->class_id == class_id && code->config == config &&
		      code->caps == caps && code->flags == HWPMC_F_EV_PMU &&
		      !code->ev,
		      "'%s': class %u config 0x%llx caps 0x%x flags 0x%x", spec,
		      code->class_id, (unsigned long long)code->config,
		      code->caps, code->flags);
}

static void becomes(const struct event_machine *m, const struct want *want)
{
	struct event_error e = { .text = "" };
	struct hwpmc_event ev;
	unsigned int n = 0;

	ck_assert_msg(!event_parse(m, want->spec, &ev, &e),
		      "'%s' was refused: %s", want->spec, e.text);
	ck_assert_msg(ev.ncode == !!want->fixed + !!want->config,
		      "'%s' has %u codes", want->spec, ev.ncode);
	if (want->fixed)
		code_is(&ev.code[n++], want->spec, HWPMC_CLASS_IAF, want->fixed,
			want->caps & (USR | OS));
	if (want->config)
		code_is(&ev.code[n], want->spec, programmable(m), want->config,
			want->caps);
}

static void all_become(const struct event_machine *m, const struct want *want,
		       size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		becomes(m, &want[i]);
}

#define ALL(m, table) all_become(m, table, sizeof(table) / sizeof((table)[0]))

/* errno, the place (from 1, as it is shown), and a part of the words. */
struct refusal {
	const char *spec;
	int err;
	size_t column;
	const char *words;
};

static void all_refused(const struct event_machine *m,
			const struct refusal *r, size_t n)
{
	struct event_error e;
	struct hwpmc_event ev;
	size_t i;

	for (i = 0; i < n; i++) {
		ck_assert_msg(event_parse(m, r[i].spec, &ev, &e) == -1,
			      "'%s' was understood", r[i].spec);
		ck_assert_msg(e.err == r[i].err && e.at + 1 == r[i].column &&
			      strstr(e.text, r[i].words),
			      "'%s': errno %d column %zu: %s", r[i].spec, e.err,
			      e.at + 1, e.text);
	}
}

#define ALL_REFUSED(m, table) \
	all_refused(m, table, sizeof(table) / sizeof((table)[0]))

#endif
