/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * byevent.h - the stacks of a profile by event: what is printed of one event after the
 * other looks at each stack once, however many events a log has.
 */
#ifndef TOOLS_BYEVENT_H
#define TOOLS_BYEVENT_H

#include <stdlib.h>

#include <libhwpmcstat.h>

#include "msg.h"

struct by_event {
	const struct hwpmc_stack *stack;
	uint32_t *which;	/* numbers of stacks, in their order within an event */
	uint32_t *first;	/* of each event: in .which; one more */
};

static inline void by_event_make(struct by_event *b, const struct hwpmc_stack *stack,
				 uint32_t nstack, uint32_t nevent)
{
	*b = (struct by_event){
		.stack = stack,
		.which = must_calloc(nstack + (size_t)1, sizeof(*b->which)),
		.first = must_calloc(nevent + (size_t)1, sizeof(*b->first)),
	};
	for (uint32_t i = 0; i < nstack; i++)
		b->first[stack[i].event]++;
	/* Each to the end of its stacks; they are put from the last on. */
	for (uint32_t e = 1; e <= nevent; e++)
		b->first[e] += b->first[e - 1];
	for (uint32_t i = nstack; i-- > 0; )
		b->which[--b->first[stack[i].event]] = i;
}

static inline void by_event_of(struct by_event *b, const struct hwpmc_profile *p)
{
	const struct hwpmc_stack *stack;
	uint32_t nstack, nevent;

	hwpmc_profile_events(p, &nevent);
	stack = hwpmc_profile_stacks(p, &nstack);
	by_event_make(b, stack, nstack, nevent);
}

static inline uint32_t by_event_count(const struct by_event *b, uint32_t event)
{
	return b->first[event + 1] - b->first[event];
}

/* The i-th of an event. */
static inline const struct hwpmc_stack *by_event_get(const struct by_event *b,
						     uint32_t event, uint32_t i)
{
	return &b->stack[b->which[b->first[event] + i]];
}

static inline void by_event_free(struct by_event *b)
{
	free(b->which);
	free(b->first);
}

#endif
