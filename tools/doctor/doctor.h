/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor.h - "hwpmc doctor": what of this machine stands between its user and a count.
 * pmu.c, pt.c, module.c, kernel.c, host.c and node.c look, each at its noun, and report to
 * finding.c; files.c reads. Nothing is changed: no module is loaded, no file is written.
 */
#ifndef TOOLS_DOCTOR_H
#define TOOLS_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <libhwpmc.h>

enum dr_verdict {
	DR_OK,
	DR_NOTE,		/* counting works, something else does not */
	DR_WRONG,		/* counting does not work for this user */
};

#define DR_FINDINGS	24

struct dr_finding {
	enum dr_verdict verdict;
	const char *name;	/* static: part of the interface, see hwpmc-doctor(8) */
	char text[320];
	char command[192];	/* that mends it; empty: none does */
};

/* The names that a machine tells of itself; "": none. */
struct dr_host {
	char vendor[64], product[64], asset[64];	/* firmware's tables (DMI) */
	char bios[130];			/* its vendor and version */
	char release[65];		/* of the running kernel */
	char guest_type[16];		/* of Xen */
	char signature[13];		/* CPUID 0x40000000 */
};

/* Names that are not NULL must match: vendor and product begin so, bios and release have it
 * within, others are equal. */
struct dr_cloud {
	const char *name;
	const char *vendor, *product, *asset, *bios, *release, *guest_type, *signature;
	const char *none;		/* a clause: which machines have counters */
	const char *command;		/* what gets them */
	const char *some;		/* a clause or NULL: what those lack that have some */
};

struct doctor {
	const char *root;	/* before each path; empty: the running system */
	char release[65];	/* of the kernel that is looked at */
	struct hwpmc *h;	/* NULL: not open, errno of it in open_errno */
	int open_errno;		/* 0: not tried */
	char open_why[256];
	struct dr_host host;
	const struct dr_cloud *cloud;	/* NULL: no hypervisor runs this machine */
	bool counters;		/* pmu.c found some, or a list of some */
	struct dr_finding finding[DR_FINDINGS];
	unsigned int nfinding;
};

/* Is it the running system that is looked at, and not files below a folder? */
bool dr_live(const struct doctor *d);

/* ---- finding.c ----------------------------------------------------------------- */

void dr_ok(struct doctor *d, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* `command` is NULL or what mends it. */
void dr_note(struct doctor *d, const char *name, const char *command, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void dr_wrong(struct doctor *d, const char *name, const char *command, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* NOTE or WRONG. */
void dr_report(struct doctor *d, enum dr_verdict verdict, const char *name,
	       const char *command, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* How many findings have the verdict. */
unsigned int dr_count(const struct doctor *d, enum dr_verdict verdict);
/* Has this been found wrong already? */
bool dr_is_wrong(const struct doctor *d, const char *name);
void dr_print_text(const struct doctor *d);
void dr_print_json(const struct doctor *d);

/* ---- files.c ------------------------------------------------------------------- */

/* Room for any path that is made here. */
#define DR_PATH 4096

/* The path below the root. */
const char *dr_path(const struct doctor *d, char path[DR_PATH], const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool dr_exists(const struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
FILE *dr_open(const struct doctor *d, const char *path);
/* The first line without its end; false: the file cannot be read, `line` is empty. */
bool dr_first_line(const struct doctor *d, const char *path, char *line, size_t size);
/* All of a small file: the caller frees it; NULL: it cannot be read. */
char *dr_read_all(const struct doctor *d, const char *path, size_t *size);

/* ---- host.c, clouds.c ---------------------------------------------------------- */

/* Fills d->host and d->cloud. */
void dr_find_host(struct doctor *d);
/* Never NULL: one that nobody knows has no name. */
const struct dr_cloud *dr_cloud_of(const struct dr_host *h);
/* The rows of the table; NULL after the last. */
const struct dr_cloud *dr_cloud_at(unsigned int i);

/* ---- what is looked at --------------------------------------------------------- */

void dr_look_at_kernel(struct doctor *d);
void dr_look_at_module(struct doctor *d);
void dr_look_at_signature(struct doctor *d);
void dr_look_at_node(struct doctor *d);
void dr_look_at_pmu(struct doctor *d);
void dr_look_at_pt(struct doctor *d);
void dr_look_at_surroundings(struct doctor *d);
void dr_look_at_hypervisor(struct doctor *d);

/* Is the module in this kernel? */
bool dr_loaded(const struct doctor *d);
/* Is the system run as a container? */
bool dr_contained(const struct doctor *d);
/* The newest version that DKMS has the source of, and whether there is one. */
bool dr_dkms_source(const struct doctor *d, char *version, size_t size);
/* The installed module of a kernel, below the root, and whether there is one. */
bool dr_installed(const struct doctor *d, const char *release, char path[DR_PATH]);

#endif
