/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.h - from the text of an event specification to what PMCALLOCATE takes:
 *	text.c		names, numbers, refusals	pure
 *	nearest.c	the nearest of many names	pure
 *	grammar.c	text -> terms			pure
 *	alias.c		names of the library		pure tables
 *	power.c		names of energy and frequency	pure table
 *	ibs.c		AMD's instruction-based sampling	pure
 *	soft.c		names of SOFT events		asks the module
 *	pfm_load.c	loads libpfm4		dlopen(3)
 *	pfm.c		names of libpfm4		asks libpfm4, which asks the CPU
 *	suggest.c	the nearest known event
 *	tables.h	names of files			reads files
 *	resolve.c	terms -> codes			pure but for libpfm4 and files
 *	parse.c		the exported calls
 * Only parse.c and soft.c take a handle: all else is tested without a module.
 */
#ifndef HWPMC_LIB_EVENT_H
#define HWPMC_LIB_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libhwpmc.h"

/* The layout of a select register, and of `config` in the contract. */
#define CODE_EVENT	0x0000000000ffull
#define CODE_UMASK	0x00000000ff00ull
#define CODE_EDGE	(1ull << 18)
#define CODE_ANY	(1ull << 21)		/* Intel */
#define CODE_INVERT	(1ull << 23)
#define CODE_CMASK	0x0000ff000000ull
#define CODE_EQUAL	(1ull << 36)		/* Intel, perfmon 6 */
#define CODE_UMASK2	0xff0000000000ull	/* the same */
#define CODE_EVENT_HIGH	0x000f00000000ull	/* AMD: event [11:8] */
#define CODE_GUEST	(1ull << 40)		/* AMD, family 10h: of whom; 0: the host */
#define CODE_HOST	(1ull << 41)
/* User, kernel, interrupt, enable: the module's own. */
#define CODE_MODULE	0x000000530000ull

/* Registers that an event of Intel may need beside its select. */
#define MSR_RSP0	0x1a6
#define MSR_RSP1	0x1a7
#define MSR_LATENCY	0x3f6
#define MSR_FRONTEND	0x3f7

/* The same of Netburst: perf's raw code, CCCR in the low half, ESCR in the high half. */
#define P4_COMPARE	(1ull << 18)
#define P4_COMPLEMENT	(1ull << 19)
#define P4_THRESHOLD	0x0000000000f00000ull
#define P4_EDGE		(1ull << 24)
#define P4_MASK		0x01fffe0000000000ull
#define P4_REQUEST	0x7ffffff001ff0000ull	/* with event, tag, active thread */
#define P4_MODULE	0x0000000f0000f000ull	/* modes, ESCR select, enable */

/* ------------------------------------------------------------------------ */

/* What the words are about: the machine. */
enum event_vendor {
	VENDOR_NONE,			/* no counters: only the TSC */
	VENDOR_INTEL,
	VENDOR_AMD,
	VENDOR_NETBURST,		/* Intel, family 15 */
};

struct event_machine {
	enum event_vendor vendor;
	char cpu[HWPMC_NAME_MAX + 1];	/* "GenuineIntel-6-55-4", with the stepping */
	unsigned int family;		/* 0x17; 0: unknown */
	unsigned int pmu_version;
	unsigned int nclass;
	uint32_t classes[HWPMC_CLASS_MAX];
	struct hwpmc_classnote notes[HWPMC_NOTES_MAX];
	unsigned int nnotes;
	unsigned int nfixed;		/* counters of IAF */
	uint32_t arch_missing;		/* bit per architectural event */
	bool any_thread;		/* the qualifier `any` exists */
	const char *kind;		/* of the CPU that is meant, "cpu_atom"; NULL: of any */
	bool terse;			/* refusals need not name the nearest event */
	/* The number of a SOFT event that only the module knows, by its name in
	 * normal form; NULL: there is no module to ask. */
	bool (*find_soft)(void *arg, const char *name, uint32_t *ev);
	bool offline;			/* there is no module, which names the tracepoints */
	void *arg;
};

/* From what the module says. */
void event_machine_init(struct event_machine *m,
			const struct hwpmc_op_getcpuinfo *info);
/* From what CPUID says of this CPU, beside it. */
void event_machine_cpuid(struct event_machine *m);
bool event_machine_has(const struct event_machine *m, uint32_t class_id);

/* A refusal: errno, the place in the specification, what was expected there. */
struct event_error {
	int err;
	size_t at;			/* from 0 */
	char text[256];
};

/* ------------------------------------------------------------------------ */
/* text.c                                                                    */

/* Always -1. */
int event_refuse(struct event_error *e, int err, size_t at,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Lower case, with '_' for each of space . _ -. Cut to size. */
void event_normal(const char *name, char *buf, size_t size);
/* Is that the name's normal form? */
bool event_is(const char *name, const char *normal);
/* What follows the name's normal form in `normal`; NULL: it begins otherwise. */
const char *event_rest(const char *name, const char *normal);
/* 0x… or decimal, all of [s, end), at most max. */
bool event_number(const char *s, const char *end, uint64_t max, uint64_t *n);
/* Hexadecimal digits without 0x. */
bool event_number_hex(const char *s, const char *end, uint64_t max, uint64_t *n);

/* ------------------------------------------------------------------------ */
/* nearest.c                                                                 */

#define EVENT_NEAREST_MAX	96

struct event_nearest {
	char want[EVENT_NEAREST_MAX];
	char name[160];
	size_t distance;
};

void event_nearest_start(struct event_nearest *n, const char *name);
void event_nearest_consider(struct event_nearest *n, const char *name);
/* False: none is near. */
bool event_nearest_name(const struct event_nearest *n, char *buf, size_t size);

/* ------------------------------------------------------------------------ */
/* grammar.c                                                                 */

enum {
	TERM_USR = 1 << 0,
	TERM_OS = 1 << 1,
	TERM_EDGE = 1 << 2,
	TERM_INV = 1 << 3,
	TERM_ANY = 1 << 4,
	TERM_CMASK = 1 << 5,
	TERM_UMASK = 1 << 6,
	TERM_EVENT = 1 << 7,
	TERM_RSP = 1 << 8,
	TERM_CONFIG = 1 << 9,
	TERM_MASK = 1 << 10,
	TERM_GUEST = 1 << 11,
	TERM_HOST = 1 << 12,
	/* of AMD's instruction-based sampling alone */
	TERM_LDLAT = 1 << 13,
	TERM_L3MISS = 1 << 14,
	TERM_OPS = 1 << 15,
	TERM_CYCLES = 1 << 16,
	TERM_RANDOM = 1 << 17,
	TERM_DATA = 1 << 18,
	TERM_TARGET = 1 << 19,
	TERM_PRECISE = 1 << 20,		/* perf's modifier p */
	TERM_FETCHLAT = 1 << 21,
	TERM_STREAM = 1 << 22,
};

#define TERMS_OF_IBS	(TERM_LDLAT | TERM_L3MISS | TERM_OPS | TERM_CYCLES | TERM_RANDOM | \
			 TERM_DATA | TERM_TARGET | TERM_FETCHLAT | TERM_STREAM)

/* Those that change the code of an event that has a name. */
#define TERMS_OF_CODE	(TERM_EDGE | TERM_INV | TERM_ANY | TERM_CMASK | \
			 TERM_UMASK | TERM_RSP | TERM_MASK | TERM_WHOSE)
#define TERM_WHOSE	(TERM_GUEST | TERM_HOST)

struct event_terms {
	uint32_t set;			/* TERM_* that were given */
	uint32_t cmask, umask;		/* 0..255 */
	uint32_t event;			/* 0..0xfff */
	uint32_t ldlat, fetchlat;	/* cycles */
	char modifiers[8];		/* with the p */
	size_t precise_at;
	uint64_t rsp;
	uint64_t config;		/* raw code, in the layout above */
	size_t name_at, attrs_at, mask_at;
	char pmu[32];			/* before "::" */
	char name[128];			/* "": cpu/…/ without a name, raw */
	char attrs[160];		/* "A:B" after the name's colon */
	char mask[160];			/* "a+b" of mask= */
};

int event_grammar(const char *spec, struct event_terms *t,
		  struct event_error *e);

/* ------------------------------------------------------------------------ */
/* alias.c                                                                   */

enum {
	ALIAS_FIXED = 1 << 0,		/* a name of the fixed counter */
	ALIAS_PROGRAMMABLE = 1 << 1,	/* a name of the programmable event */
};

#define ARCH_NONE	(-1)
#define ALIAS_PFM	4

/* An event that has the same name on many CPUs. */
struct event_generic {
	const char *name, *desc;
	int arch;			/* bit in CPUID 0xA EBX, or ARCH_NONE */
	uint32_t intel;			/* architectural code; 0: none */
	uint32_t fixed;			/* number of the fixed counter + 1 */
	bool fixed_differs;		/* the two count in different units */
	uint64_t amd[4];		/* K8…, Zen 1 and 2, Zen 3, Zen 4…; 0: none */
	uint64_t p4;			/* 0: none */
	const char *pfm[ALIAS_PFM];	/* what libpfm4 may call it on Intel */
};

/* name: in normal form. *how: ALIAS_*. NULL: not ours. */
const struct event_generic *event_alias(const char *name, unsigned int *how);
/* The nearest here to an event of perf that hwpmc lacks. name: in normal form. NULL: it is none of
 * these. */
const char *event_near_perf(const char *name);
const struct event_generic *event_generic_at(unsigned int n);
const char *event_alias_at(unsigned int n);
uint64_t event_generic_amd(const struct event_machine *m,
			   const struct event_generic *g);

/* FreeBSD's names of AMD's K8 events. */
struct event_k8 {
	const char *name;		/* in normal form, without "k8_" */
	uint16_t event;
	uint8_t umask;			/* where no mask= is given */
	const char *masks;		/* "name=value name=value" for mask= */
};

const struct event_k8 *event_k8(const char *name);
const struct event_k8 *event_k8_at(unsigned int n);
/* Or of a '+' joined list of names and numbers; -1: one is unknown. */
int event_k8_mask(const struct event_k8 *k, const char *list);

/* ------------------------------------------------------------------------ */
/* power.c                                                                   */

struct event_power {
	const char *name, *alias;	/* in normal form */
	uint32_t class_id, ev;
	const char *desc;
};

/* With or without the class; NULL: no such name. */
const struct event_power *event_power(const char *name);
const struct event_power *event_power_at(unsigned int n);

/* ------------------------------------------------------------------------ */
/* ibs.c                                                                     */

struct event_ibs {
	const char *name;		/* in normal form */
	uint32_t ev;
	const char *desc;
};

/* NULL: no such name. */
const struct event_ibs *event_ibs(const char *name);
const struct event_ibs *event_ibs_at(unsigned int n);
int event_ibs_resolve(const struct event_ibs *i, const struct event_terms *t,
		      struct hwpmc_event *ev, struct event_error *e);
/* With TERM_PRECISE; name: in normal form. */
int event_ibs_resolve_precise(const char *name, const struct event_terms *t,
			      struct hwpmc_event *ev, struct event_error *e);

/* ------------------------------------------------------------------------ */
/* soft.c                                                                    */

/* name: in normal form, without "soft_". */
bool event_soft_fixed(const char *name, uint32_t *ev);
const char *event_soft_desc(uint32_t ev);

struct soft_events {
	uint32_t n;
	struct hwpmc_dynevent event[];
};

/* The events of a class, by number; the caller frees them. NULL: the module does not say. */
struct soft_events *event_ask(struct hwpmc *h, uint32_t class_id);
/* Of class SOFT, asked once a handle. */
const struct soft_events *event_soft_all(struct hwpmc *h);
/* For event_machine.find_soft, with the handle as its argument. */
bool event_soft_find(void *arg, const char *name, uint32_t *ev);

/* ------------------------------------------------------------------------ */
/* pfm.c                                                                     */

struct event_pfm_code {
	uint64_t config;		/* layout above, module's bits cleared */
	uint64_t extra;			/* second register; 0: none */
};

/*
 * Look a name up among the core PMUs that libpfm4 sees here. 0; else -1 with
 * *e: ENOENT unknown name, EINVAL a unit mask is wrong.
 */
int event_pfm_find(const struct event_terms *t, struct event_pfm_code *code,
		   struct event_error *e);
bool event_pfm_find_name(const char *name, struct event_pfm_code *code);

struct event_pfm_line {
	const char *pmu, *name, *desc;	/* name: "EVENT:UMASK" */
};
typedef int event_pfm_fn(const struct event_pfm_line *line, void *arg);
bool event_pfm_installed(void);
/* Has libpfm4 a table of this CPU, beside the architectural events? */
bool event_pfm_any(void);
/* All names that `wanted` does not return 0 for, which gets them without a description (NULL:
 * all names); ends early as fn does not return 0, and returns that. */
int event_pfm_each(event_pfm_fn *wanted, event_pfm_fn *fn, void *arg);

/* ------------------------------------------------------------------------ */

int event_resolve(const struct event_machine *m, const struct event_terms *t,
		  struct hwpmc_event *ev, struct event_error *e);

/* Grammar and resolution. */
int event_parse(const struct event_machine *m, const char *spec,
		struct hwpmc_event *ev, struct event_error *e);

/* Has any source the events of this CPU by name? */
bool event_model_known(const struct event_machine *m);

/* The nearest known name; false: none is near. */
bool event_suggest(const struct event_machine *m, const char *name, char *buf,
		   size_t size);

#endif /* HWPMC_LIB_EVENT_H */
