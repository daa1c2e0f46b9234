/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pfm_load.h - libpfm4, loaded when a name is first looked up in it. Its 41,000
 * relocations cost more than the rest of a start, and most events are in the tables of
 * data/events, which are looked at before.
 */
#ifndef HWPMC_EVENT_PFM_LOAD_H
#define HWPMC_EVENT_PFM_LOAD_H

#include <perfmon/pfmlib.h>

#define EVENT_PFM_CALLS(CALL) \
	CALL(pfm_initialize) \
	CALL(pfm_strerror) \
	CALL(pfm_get_pmu_info) \
	CALL(pfm_get_event_next) \
	CALL(pfm_get_event_info) \
	CALL(pfm_get_event_attr_info) \
	CALL(pfm_get_os_event_encoding)

#define EVENT_PFM_MEMBER(name) __typeof__(name) *name;
/* Functions of libpfm4 by the names that its header gives them. */
struct event_pfm_calls {
	EVENT_PFM_CALLS(EVENT_PFM_MEMBER)
};
#undef EVENT_PFM_MEMBER

/* Returns 0 and fills *calls, or -1 if libpfm4 is not installed or lacks a function. Any thread. */
int event_pfm_load(struct event_pfm_calls *calls);

#endif /* HWPMC_EVENT_PFM_LOAD_H */
