/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.c - which of the common events count at all? A hypervisor can let a counter be
 * programmed and have it stand still.
 */
#include <stdlib.h>

#include "selftest.h"

#define LENGTH	3000000
#define LINES	(1 << 18)	/* 16 MB: more than second-level caches have */

static volatile unsigned char *memory;

void st_mix(void)
{
	uint32_t x = 1;

	st_loop(LENGTH);
	for (unsigned int i = 0; memory && i < LINES; i++) {
		x = x * 1664525 + 1013904223;
		if (x & 1 << 20)
			memory[(x >> 8 & (LINES - 1)) * 64]++;
	}
}

static const struct {
	const char *spec;
	uint64_t least;		/* 0: nothing is known; 0 counted is told */
} events[] = {
	{ "instructions:u", LENGTH * ST_LOOP_INSN },
	{ "branches:u", LENGTH },
	{ "cycles:u", 1 },
	{ "ref-cycles:u", 1 },
	{ "branch-misses:u", 0 },
	{ "cache-references:u", 0 },
	{ "cache-misses:u", 0 },
};

static void try_event(struct selftest *t, const char *spec, uint64_t least)
{
	uint64_t value = 0;
	uint32_t id;

	if (hwpmc_allocate(t->h, spec, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id) < 0) {
		st_not_tried(t, "event", "%s: %s", spec, hwpmc_error(t->h));
		return;
	}
	if (hwpmc_attach(t->h, id, 0) < 0 || hwpmc_start(t->h, id) < 0) {
		st_failed(t, "event", "%s: %s", spec, hwpmc_error(t->h));
		hwpmc_release(t->h, id);
		return;
	}
	st_mix();
	if (hwpmc_stop(t->h, id) < 0 || hwpmc_read(t->h, id, &value) < 0)
		st_failed(t, "event", "%s: %s", spec, hwpmc_error(t->h));
	else if (value < least)
		st_failed(t, "event", "%s counts %llu of at least %llu: a hypervisor filters it, or the counter has stopped",
			  spec, (unsigned long long)value, (unsigned long long)least);
	else if (!value)
		st_not_tried(t, "event", "%s counts 0: a hypervisor may filter it", spec);
	else
		st_held(t, "event", "%s counts %llu", spec, (unsigned long long)value);
	hwpmc_release(t->h, id);
}

void st_mix_begin(void)
{
	memory = calloc(LINES, 64);
}

void st_mix_end(void)
{
	free((void *)memory);
	memory = NULL;
}

void st_events(struct selftest *t)
{
	st_mix_begin();
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		try_event(t, events[i].spec, events[i].least);
	st_mix_end();
}
