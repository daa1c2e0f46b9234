/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmu.c - pmc(3)'s calls about the events of hardware counters by name: those that
 * hwpmc_event_each() lists of this machine. Any thread; the list is made once.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../event/event.h"
#include "../pmc/internal.h"
#include "pmc.h"

/* FreeBSD's period of an event that its tables do not have: `pmc stat -j` refuses what has
 * it. Events that exist have none in the tables here: the next prime number. */
#define RATE_UNKNOWN	65536
#define RATE_DEFAULT	65537

struct pmu_event {
	char *name, *desc;
	uint32_t class_id;
};

static struct pmu {
	struct pmu_event *event;
	int n;
	size_t room;
	char cpuid[PMC_CPUID_LEN];
} pmu;

static int keep_event(const struct hwpmc_event_info *info, void *arg)
{
	struct pmu_event *e;

	if (info->class_id == HWPMC_CLASS_TSC || info->class_id == HWPMC_CLASS_SOFT)
		return 0;
	if ((size_t)pmu.n == pmu.room) {
		size_t room = pmu.room ? 2 * pmu.room : 256;

		e = realloc(pmu.event, room * sizeof(*e));
		if (!e)
			return -1;
		pmu.event = e;
		pmu.room = room;
	}
	e = &pmu.event[pmu.n];
	*e = (struct pmu_event){
		.name = strdup(info->name), .desc = strdup(info->desc ? info->desc : ""),
		.class_id = info->class_id,
	};
	if (!e->name || !e->desc) {
		free(e->name);
		free(e->desc);
		return -1;
	}
	pmu.n++;
	return 0;
}

/* FreeBSD's `pmc summary` takes an event number 0 for none: that is not to be `cycles`,
 * which the list begins with, but the last one. */
static void begin_with_last(void)
{
	struct pmu_event last;

	if (pmu.n < 2)
		return;
	last = pmu.event[pmu.n - 1];
	memmove(pmu.event + 1, pmu.event, (size_t)(pmu.n - 1) * sizeof(last));
	pmu.event[0] = last;
}

static void make_list(void)
{
	struct hwpmc *h;

	if (hwpmc_open(&h))
		return;
	snprintf(pmu.cpuid, sizeof(pmu.cpuid), "%s", hwpmc_cpuinfo(h)->cpuid);
	hwpmc_event_each(h, HWPMC_CLASS_EVERY, keep_event, NULL);
	begin_with_last();
	hwpmc_close(h);
}

/* The events of this machine; of no other. */
static bool pmu_is_known(const char *cpuid)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_list);
	return pmu.n && (!cpuid || !strcmp(cpuid, pmu.cpuid));
}

/* FreeBSD's grammar: case, and what separates words, mean nothing. */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b) &&
		    !(strchr(" ._-:", *a) && strchr(" ._-:", *b)))
			return false;
	return !*a && !*b;
}

EXPORT int pmc_pmu_enabled(void)
{
	return pmu_is_known(NULL);
}

static int index_of(const char *event)
{
	for (int i = 0; i < pmu.n; i++)
		if (same_name(pmu.event[i].name, event))
			return i;
	return -1;
}

EXPORT int pmc_pmu_idx_get_by_event(const char *cpuid, const char *event)
{
	const struct event_generic *generic;
	char normal[PMC_NAME_MAX];
	unsigned int how;
	int i;

	if (!pmu_is_known(cpuid))
		return -1;
	i = index_of(event);
	if (i >= 0)
		return i;
	event_normal(event, normal, sizeof(normal));
	generic = event_alias(normal, &how);
	return generic ? index_of(generic->name) : -1;
}

EXPORT const char *pmc_pmu_event_get_by_idx(const char *cpuid, int idx)
{
	if (!pmu_is_known(cpuid) || idx < 0 || idx >= pmu.n)
		return NULL;
	return pmu.event[idx].name;
}

/* ---- printing ------------------------------------------------------------- */

static bool has_part(const char *name, const char *part)
{
	size_t len = strlen(part);

	for (; *name; name++)
		if (!strncasecmp(name, part, len))
			return true;
	return !len;
}

static void print_each(const char *part, void (*print)(const struct pmu_event *e))
{
	if (!pmu_is_known(NULL))
		return;
	for (int i = 0; i < pmu.n; i++)
		if (!part || has_part(pmu.event[i].name, part))
			print(&pmu.event[i]);
}

static void print_name(const struct pmu_event *e)
{
	printf("\t%s\n", e->name);
}

static void print_desc(const struct pmu_event *e)
{
	if (e->desc[0])
		printf("%s:\t%s\n", e->name, e->desc);
}

static void print_desc_long(const struct pmu_event *e)
{
	if (e->desc[0])
		printf("%s:\n%s\n", e->name, e->desc);
}

static void print_full(const struct pmu_event *e)
{
	const char *class = hwpmc_name_of_class(e->class_id);
	struct hwpmc_event ev;
	struct hwpmc *h;

	printf("name: %s\n", e->name);
	if (e->desc[0])
		printf("desc: %s\n", e->desc);
	if (!hwpmc_open(&h)) {
		if (!hwpmc_event_parse(h, e->name, &ev))
			printf("event: 0x%" PRIx64 "\n", ev.code[0].config);
		hwpmc_close(h);
	}
	printf("pmu: %s\n", class ? class : "?");
}

EXPORT void pmc_pmu_print_counters(const char *part)
{
	print_each(part, print_name);
}

EXPORT void pmc_pmu_print_counter_desc(const char *part)
{
	print_each(part, print_desc);
}

EXPORT void pmc_pmu_print_counter_desc_long(const char *part)
{
	print_each(part, print_desc_long);
}

EXPORT void pmc_pmu_print_counter_full(const char *part)
{
	print_each(part, print_full);
}

/* ---- codes ---------------------------------------------------------------- */

EXPORT int pmc_pmu_stat_mode(const char ***counters)
{
	static const char *names[] = {
		"cycles", "instructions", "branches", "branch-misses",
		"cache-references", "cache-misses", NULL,
	};

	if (!pmc_pmu_enabled())
		return EOPNOTSUPP;
	*counters = names;
	return 0;
}

static void fill_code(struct pmc_op_pmcallocate *pm, const struct hwpmc_event_code *code)
{
	memset(&pm->pm_md, 0, sizeof(pm->pm_md));
	pm->pm_class = (enum pmc_class)code->class_id;
	pm->pm_caps |= code->caps | PMC_CAP_READ | PMC_CAP_WRITE;
	pm->pm_ev = (enum pmc_event)code->ev;
	pm->pm_flags |= code->flags;
	if (code->class_id == HWPMC_CLASS_K8) {
		pm->pm_md.pm_amd.pm_amd_config = code->config;
		pm->pm_md.pm_amd.pm_amd_sub_class = PMC_AMD_SUB_CLASS_CORE;
	} else {
		pm->pm_md.pm_iap.pm_iap_config = (uint32_t)code->config;
		pm->pm_md.pm_iap.pm_iap_rsp = code->config1;
	}
}

/* An event of a hardware counter of this machine. */
static bool code_of(const char *event, struct hwpmc_event_code *code)
{
	struct hwpmc_event ev;
	struct hwpmc *h;
	bool found;

	if (hwpmc_open(&h))
		return false;
	found = !hwpmc_event_parse(h, event, &ev) &&
		ev.code[0].class_id != HWPMC_CLASS_SOFT &&
		ev.code[0].class_id != HWPMC_CLASS_TSC;
	if (found)
		*code = ev.code[0];
	hwpmc_close(h);
	return found;
}

/* Returns an errno, as FreeBSD's does. */
EXPORT int pmc_pmu_pmcallocate(const char *event, struct pmc_op_pmcallocate *pm)
{
	struct hwpmc_event_code code;

	if (!code_of(event, &code))
		return ENOENT;
	fill_code(pm, &code);
	return 0;
}

EXPORT uint64_t pmc_pmu_sample_rate_get(const char *event)
{
	struct hwpmc_event_code code;

	return code_of(event, &code) ? RATE_DEFAULT : RATE_UNKNOWN;
}
