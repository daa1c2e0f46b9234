/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * soft.c - names of the events of class SOFT: those that every kernel has are in a
 * table here, pure; its tracepoints are asked of the module, once a handle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "../pmc/internal.h"

static const struct {
	const char *name;		/* in normal form, without "soft_" */
	uint32_t ev;
	const char *desc;		/* NULL: another name of one before */
} fixed[] = {
	{ "clock_hard", HWPMC_EV_SOFT_CLOCK_HARD,
	  "ticks of a timer, 1000 a second" },
	{ "clock_stat", HWPMC_EV_SOFT_CLOCK_STAT,
	  "ticks of a timer, 127 a second" },
	{ "clock_prof", HWPMC_EV_SOFT_CLOCK_PROF,
	  "ticks of a timer, 8128 a second" },
	{ "lock_failed", HWPMC_EV_SOFT_LOCK_FAILED,
	  "waits for kernel locks" },
	{ "page_fault_all", HWPMC_EV_SOFT_PAGE_FAULT_ALL, "page faults" },
	{ "page_fault_read", HWPMC_EV_SOFT_PAGE_FAULT_READ,
	  "page faults by reads" },
	{ "page_fault_write", HWPMC_EV_SOFT_PAGE_FAULT_WRITE,
	  "page faults by writes" },
	{ "context_switch", HWPMC_EV_SOFT_CONTEXT_SWITCH,
	  "switches to another thread" },
	{ "cpu_migration", HWPMC_EV_SOFT_CPU_MIGRATION,
	  "migrations to another CPU" },
	/* As perf calls them. */
	{ "page_faults", HWPMC_EV_SOFT_PAGE_FAULT_ALL, NULL },
	{ "faults", HWPMC_EV_SOFT_PAGE_FAULT_ALL, NULL },
	{ "context_switches", HWPMC_EV_SOFT_CONTEXT_SWITCH, NULL },
	{ "cs", HWPMC_EV_SOFT_CONTEXT_SWITCH, NULL },
	{ "cpu_migrations", HWPMC_EV_SOFT_CPU_MIGRATION, NULL },
	{ "migrations", HWPMC_EV_SOFT_CPU_MIGRATION, NULL },
};

bool event_soft_fixed(const char *name, uint32_t *ev)
{
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
		if (strcmp(fixed[i].name, name))
			continue;
		*ev = fixed[i].ev;
		return true;
	}
	return false;
}

const char *event_soft_desc(uint32_t ev)
{
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		if (fixed[i].ev == ev)
			return fixed[i].desc;
	return "tracepoint of the kernel";
}

/* As the module names them, "PAGE_FAULT.ALL", where it cannot be asked. */
static void module_name(char *to, const char *name)
{
	const char *last = strrchr(name, '_');
	bool has_point = strcmp(name, "context_switch") && strcmp(name, "cpu_migration");

	for (; *name; name++)
		*to++ = has_point && name == last ? '.' :
			*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name;
	*to = '\0';
}

static struct soft_events *fixed_events(void)
{
	struct soft_events *all = calloc(1, sizeof(*all) + sizeof(all->event[0]) * ARRAY_LEN(fixed));

	for (size_t i = 0; all && i < ARRAY_LEN(fixed); i++) {
		if (!fixed[i].desc)
			continue;
		all->event[all->n].ev = fixed[i].ev;
		module_name(all->event[all->n++].name, fixed[i].name);
	}
	return all;
}

/* ---- what the module says ------------------------------------------------ */

struct soft_events *event_ask(struct hwpmc *h, uint32_t class_id)
{
	struct hwpmc_op_getdyneventinfo op = { .class = class_id };
	struct soft_events *all;

	if (h->fd < 0)
		return class_id == HWPMC_CLASS_SOFT ? fixed_events() : NULL;
	/* The refusal says how many there are. */
	if (!handle_call(h, HWPMC_IOC_GETDYNEVENTINFO, &op.hdr) ||
	    op.hdr.reason != HWPMC_WHY_BUFFER || op.hdr.detail <= 0)
		return NULL;
	op.nevent = op.hdr.detail;
	all = calloc(1, sizeof(*all) + op.nevent * sizeof(all->event[0]));
	if (!all)
		return NULL;
	op.events = (uintptr_t)all->event;
	if (handle_call(h, HWPMC_IOC_GETDYNEVENTINFO, &op.hdr)) {
		free(all);
		return NULL;
	}
	all->n = op.nevent;
	return all;
}

const struct soft_events *event_soft_all(struct hwpmc *h)
{
	struct soft_events *all = atomic_load(&h->soft), *none = NULL;
	int err = errno;

	if (all)
		return all;
	all = event_ask(h, HWPMC_CLASS_SOFT);
	errno = err;
	/* Of two threads that asked at once one is right. */
	if (all && !atomic_compare_exchange_strong(&h->soft, &none, all)) {
		free(all);
		all = none;
	}
	return all;
}

bool event_soft_find(void *arg, const char *name, uint32_t *ev)
{
	const struct soft_events *all = event_soft_all(arg);

	for (uint32_t i = 0; all && i < all->n; i++) {
		if (!event_is(all->event[i].name, name))
			continue;
		*ev = all->event[i].ev;
		return true;
	}
	return false;
}
