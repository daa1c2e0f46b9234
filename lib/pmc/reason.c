/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reason.c - the words for enum hwpmc_reason: one entry for every number.
 * Pure: no calls but of memory and strings.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* How hdr.detail is told. */
enum detail_form {
	DETAIL_NONE,
	DETAIL_DECIMAL,
	DETAIL_HEX,
	DETAIL_CLASS,
	DETAIL_CAPS,
	DETAIL_ERRNO,
	DETAIL_HOLDER,		/* not the detail: who has the PMU */
};

struct reason {
	const char *name;
	const char *text;	/* always true */
	const char *about;	/* goes before the detail, in brackets */
	enum detail_form form;
	const char *remedy;	/* what to do */
};

/* Indexed by the reason; a hole would be seen by a unit test. */
static const struct reason reasons[HWPMC_WHY__COUNT] = {
#define WHY(id, ...) [HWPMC_WHY_##id] = { #id, __VA_ARGS__ }
WHY(NONE, "no reason was given", NULL, DETAIL_NONE, NULL),
WHY(UNKNOWN_OP, "the module does not know this operation",
    "number", DETAIL_DECIMAL, "load the module that belongs to this library"),
WHY(NOT_YET, "this module does not offer the operation yet",
    "number", DETAIL_DECIMAL, NULL),
WHY(RESERVED, "a reserved field of the request is not zero",
    NULL, DETAIL_NONE, NULL),
WHY(SIZE, "the request has a size that the module cannot take",
    "it takes at least, in bytes,", DETAIL_DECIMAL,
    "load the module that belongs to this library"),
WHY(BAD_ADDRESS, "a pointer in the request leads nowhere",
    NULL, DETAIL_NONE, NULL),
WHY(NO_MEMORY, "the kernel has no memory left for it",
    NULL, DETAIL_NONE, NULL),
WHY(VERSION, "the loaded module is older than this library",
    NULL, DETAIL_NONE,
    "install the module that belongs to it and load it anew: "
    "modprobe -r hwpmc && modprobe hwpmc"),

WHY(NOT_OWNER, "the descriptor belongs to another process",
    "process", DETAIL_DECIMAL, "open one's own in each process"),
WHY(NO_PMCS, "nothing is allocated here", NULL, DETAIL_NONE, NULL),
WHY(REVOKED, "the module is being unloaded and has taken everything back",
    NULL, DETAIL_NONE, NULL),
WHY(PRIV_SYSTEM, "counting a whole CPU needs CAP_PERFMON",
    NULL, DETAIL_NONE,
    "run it as root, or allow it to all: "
    "sysctl kern.hwpmc.unprivileged_syspmcs=1"),
WHY(PRIV_ADMIN, "it needs CAP_SYS_ADMIN", NULL, DETAIL_NONE,
    "run it as root"),
WHY(PRIV_ATTACH, "no permission to trace the process",
    NULL, DETAIL_NONE,
    "measure one's own processes, or run it as root"),
WHY(PRIV_TUNABLE, "kern.hwpmc.unprivileged_proc_debug=0 forbids it",
    NULL, DETAIL_NONE,
    "run it as root, or: sysctl kern.hwpmc.unprivileged_proc_debug=1"),

WHY(MODE, "there is no such mode", NULL, DETAIL_NONE,
    "use one of SC, TC, SS, TS"),
WHY(CPU_RANGE, "there is no such CPU", "the highest is", DETAIL_DECIMAL,
    NULL),
WHY(CPU_WANT_ANY, "process scope follows threads over all CPUs",
    NULL, DETAIL_NONE, "ask for HWPMC_CPU_ANY"),
WHY(CPU_WANT_ONE, "system scope counts one CPU", NULL, DETAIL_NONE,
    "name a CPU, and allocate one PMC for each CPU of interest"),
WHY(CPU_OFFLINE, "the CPU is not online", "CPU", DETAIL_DECIMAL, NULL),
WHY(FLAGS, "there are unknown flags", "bits", DETAIL_HEX, NULL),
WHY(FLAGS_MODE, "a flag does not go with the mode", "bit", DETAIL_HEX, NULL),
WHY(CLASS, "this machine has no counters of that class", "class",
    DETAIL_CLASS, "see what it has: hwpmc control"),
WHY(CAPS, "counters of that class cannot do all of it", "missing",
    DETAIL_CAPS, NULL),
WHY(EVENT, "the class has no such event", NULL, DETAIL_NONE,
    "see the events: hwpmc list"),
WHY(EVENT_BITS, "the event's code has a bit that is reserved or not the "
    "caller's", "bit", DETAIL_DECIMAL,
    "bit 21 ('any') is for system scope alone"),
WHY(EVENT_ROWS, "no counter of the class can count that event",
    NULL, DETAIL_NONE, NULL),
WHY(ROWS_BUSY, "all counters that could count it are taken", "the last is row",
    DETAIL_DECIMAL,
    "count fewer events at a time; see who has them: hwpmc control"),
WHY(ROW_DISABLED, "the administrator has disabled the counter", "row",
    DETAIL_DECIMAL, "enable it: pmccontrol -e"),
WHY(PMU_RESERVED, NULL, NULL, DETAIL_HOLDER, NULL),
WHY(PMU_RUNNING, "a counter runs that nobody in this kernel has reserved, so "
    "firmware or a hypervisor uses it", "MSR", DETAIL_HEX,
    "give the counters free in the firmware's setup or the hypervisor"),
WHY(PMU_REFUSED, "the counters' registers cannot be accessed any more, so that "
    "nothing that was counted is certain", "MSR", DETAIL_HEX,
    "have the hypervisor allow it"),

WHY(ID, "there is no such PMC here", NULL, DETAIL_NONE, NULL),
WHY(SYSTEM_SCOPE, "a system-scope PMC counts a CPU, not processes",
    NULL, DETAIL_NONE, "allocate it in process scope"),
WHY(PID, "that cannot be a process id", NULL, DETAIL_NONE, NULL),
WHY(NO_PROCESS, "there is no such process", NULL, DETAIL_NONE, NULL),
WHY(EXITING, "the process is about to end", NULL, DETAIL_NONE, NULL),
WHY(RUNNING, "the PMC is running", NULL, DETAIL_NONE, "stop it first"),
WHY(ATTACHED, "it is attached to that process already",
    NULL, DETAIL_NONE, NULL),
WHY(TARGET_ROW, "the process has another PMC on the same counter already",
    "process", DETAIL_DECIMAL, "release that one, or take another event"),
WHY(NOT_TARGET, "the process is not measured", NULL, DETAIL_NONE, NULL),
WHY(NOT_ATTACHED, "the process is measured, but not by this PMC",
    NULL, DETAIL_NONE, NULL),
WHY(NO_TARGETS, "all its target processes have ended", NULL, DETAIL_NONE,
    "attach it to another"),
WHY(NOT_STARTED, "it was never started", NULL, DETAIL_NONE, NULL),
WHY(RW_FLAGS, "neither reading nor writing was asked for",
    NULL, DETAIL_NONE, NULL),
WHY(RW_MODE, "a sampling PMC holds no count", NULL, DETAIL_NONE,
    "allocate it in a counting mode"),
WHY(READ_ONLY, "counters of that class cannot be written",
    NULL, DETAIL_NONE, NULL),
WHY(NO_LOG, "it needs a log, and none is configured", NULL, DETAIL_NONE,
    "configure one before"),
WHY(LOG_EXISTS, "there is a log already", NULL, DETAIL_NONE,
    "end that one first"),
WHY(LOG_FD, "the log's descriptor is not open for writing, or is none that the kernel can write to", "descriptor",
    DETAIL_DECIMAL, NULL),
WHY(LOG_ERROR, "the log could not be written", NULL, DETAIL_ERRNO, NULL),
WHY(NO_RDPMC, "counters of that class are not readable by RDPMC",
    NULL, DETAIL_NONE, "read it by hwpmc_read"),
WHY(MSR_OWNER_ONLY, "RDPMC is for a process-scope PMC that is attached to its "
    "owner and to nothing else", NULL, DETAIL_NONE, NULL),
WHY(MSR_TAKEN, "its owner reads it by RDPMC, so it cannot follow others",
    NULL, DETAIL_NONE, "allocate a second PMC for them"),

WHY(ADMIN_STATE, "a counter can be disabled or enabled, nothing else",
    NULL, DETAIL_NONE, NULL),
WHY(ROW, "there is no such row", "the highest is", DETAIL_DECIMAL, NULL),
WHY(ROW_IN_USE, "the counter is in use", "row", DETAIL_DECIMAL,
    "see who has it: hwpmc control"),
WHY(BUFFER, "the array is too small", "entries needed:", DETAIL_DECIMAL, NULL),
WHY(INCOMPLETE, "the kernel had no memory to follow some thread, whose events "
    "are missing in the count", NULL, DETAIL_NONE, NULL),
WHY(RING_SIZE, "a ring's size is a power of two, a page at least",
    "the largest, in KiB,", DETAIL_DECIMAL, NULL),
WHY(LOCKED_MEMORY, "the rings need more memory than this process may lock",
    "KiB", DETAIL_DECIMAL, "ask for smaller rings, or raise the limit: ulimit -l"),
WHY(KGMON, "the histogram of the kernel has no such command", "command",
    DETAIL_DECIMAL, NULL),
WHY(LOG_CLOSED, "the log was closed", NULL, DETAIL_NONE,
    "end it and configure another"),
#undef WHY
};

static const struct reason *reason_find(uint32_t reason)
{
	if (reason >= ARRAY_LEN(reasons) || !reasons[reason].name)
		return NULL;
	return &reasons[reason];
}

EXPORT const char *hwpmc_name_of_reason(uint32_t reason)
{
	const struct reason *r = reason_find(reason);

	return r ? r->name : NULL;
}

EXPORT const char *hwpmc_reason_text(uint32_t reason)
{
	const struct reason *r = reason_find(reason);

	if (!r)
		return NULL;
	return r->form == DETAIL_HOLDER ? "another user holds the counters" :
					  r->text;
}

bool reason_names_holder(uint32_t reason)
{
	const struct reason *r = reason_find(reason);

	return r && r->form == DETAIL_HOLDER;
}

static void detail_text(const struct reason *r, int32_t detail, char *buf,
			size_t size)
{
	const char *name;
	char caps[160];

	switch (r->form) {
	case DETAIL_DECIMAL:
		snprintf(buf, size, " (%s %" PRId32 ")", r->about, detail);
		break;
	case DETAIL_HEX:
		snprintf(buf, size, " (%s 0x%" PRIx32 ")", r->about,
			 (uint32_t)detail);
		break;
	case DETAIL_CLASS:
		name = hwpmc_name_of_class((uint32_t)detail);
		snprintf(buf, size, " (%s %s)", r->about, name ? name : "?");
		break;
	case DETAIL_CAPS:
		caps_to_text((uint32_t)detail, caps, sizeof(caps));
		snprintf(buf, size, " (%s %s)", r->about, caps);
		break;
	case DETAIL_ERRNO:
		snprintf(buf, size, " (%s)", strerror(detail));
		break;
	case DETAIL_NONE:
	case DETAIL_HOLDER:
		buf[0] = '\0';
		break;
	}
}

void reason_sentence(uint32_t reason, int32_t detail, const char *holder,
		     const char *remedy, char *buf, size_t size)
{
	const struct reason *r = reason_find(reason);
	char about[200];

	if (!r) {
		snprintf(buf, size, "reason %" PRIu32 " of a newer module",
			 reason);
		return;
	}
	if (r->form == DETAIL_HOLDER) {
		snprintf(buf, size, "%s holds the counters%s%s",
			 holder ? holder : "another user",
			 remedy && *remedy ? "; " : "", remedy ? remedy : "");
		return;
	}
	detail_text(r, detail, about, sizeof(about));
	/* What there is to say about reserved bits is about this one. */
	if (r->remedy && (reason != HWPMC_WHY_EVENT_BITS || detail == 21))
		snprintf(buf, size, "%s%s; %s", r->text, about, r->remedy);
	else
		snprintf(buf, size, "%s%s", r->text, about);
}
