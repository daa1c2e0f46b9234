/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pauses.h - how long sampling was paused, by the THROTTLE records of a log in the order
 * of each CPU. Several PMCs of a CPU are paused by one pause. Logs are believed nothing.
 * Pure; inline, for hwpmc record adds them up while it writes a log.
 */
#ifndef HWPMC_LIB_PAUSES_H
#define HWPMC_LIB_PAUSES_H

#include <stddef.h>
#include <stdint.h>

#include "libhwpmclog.h"

#define PAUSES_CPUS	4096	/* as many as a PMC's id can name */
#define PAUSES_IDS	16	/* PMCs of a CPU that are paused and listed; more are counted */

struct pause_cpu {
	uint32_t cpu;
	uint32_t open;		/* PMCs that are paused */
	uint32_t listed;	/* .id[] of them */
	uint64_t began;		/* the first of them */
	uint32_t id[PAUSES_IDS];
};

struct pauses {
	uint32_t n;		/* CPUs that were paused */
	uint32_t percent;	/* most of a CPU that sampling used */
	uint64_t times;
	uint64_t ticks;		/* of all CPUs, of pauses that have ended */
	struct pause_cpu cpu[PAUSES_CPUS];
};

/* NULL: more CPUs than there can be. */
static inline struct pause_cpu *pauses_cpu(struct pauses *p, uint32_t cpu)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->cpu[i].cpu == cpu)
			return &p->cpu[i];
	if (p->n == PAUSES_CPUS)
		return NULL;
	p->cpu[p->n] = (struct pause_cpu){ .cpu = cpu };
	return &p->cpu[p->n++];
}

static inline uint32_t pauses_find(const struct pause_cpu *c, uint32_t id)
{
	uint32_t i = 0;

	while (i < c->listed && c->id[i] != id)
		i++;
	return i;
}

static inline void pauses_end(struct pauses *p, struct pause_cpu *c, uint32_t id, uint64_t time)
{
	uint32_t i = pauses_find(c, id);

	/* The log may have begun in a pause. */
	if (i == c->listed && c->listed == c->open)
		return;
	if (i < c->listed)
		c->id[i] = c->id[--c->listed];
	if (--c->open)
		return;
	if (time > c->began)
		p->ticks += time - c->began;
}

static inline void pauses_add(struct pauses *p, const struct hwpmc_log_throttle *r)
{
	struct pause_cpu *c = pauses_cpu(p, r->cpu);
	uint32_t i;

	if (!c)
		return;
	if (r->hdr.flags) {
		pauses_end(p, c, r->hdr.id, r->hdr.time);
		return;
	}
	/* Pieces of a log begin with the pauses that go on; merged, they have these twice. */
	i = pauses_find(c, r->hdr.id);
	if (i < c->listed)
		return;
	if (r->percent > p->percent)
		p->percent = r->percent;
	if (c->listed < PAUSES_IDS)
		c->id[c->listed++] = r->hdr.id;
	if (c->open++)
		return;
	c->began = r->hdr.time;
	p->times++;
}

/* Ticks of all CPUs, those of pauses that go on at `end` among them. */
static inline uint64_t pauses_until(const struct pauses *p, uint64_t end)
{
	uint64_t ticks = p->ticks;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->cpu[i].open && end > p->cpu[i].began)
			ticks += end - p->cpu[i].began;
	return ticks;
}

static inline void pauses_clear(struct pauses *p)
{
	p->n = p->percent = 0;
	p->times = p->ticks = 0;
}

#endif
