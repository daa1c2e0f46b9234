/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evrate.h - the sampling period or rate of one event, as perf writes it: "cycles/period=1000/",
 * "cycles/freq=100/u"; in a list of FreeBSD's form "cycles,usr,period=1000". Pure.
 */
#ifndef TOOLS_EVRATE_H
#define TOOLS_EVRATE_H

#include <stddef.h>
#include <stdint.h>

/* One of the two, or none. */
struct evrate {
	uint64_t period;		/* in events */
	uint64_t frequency;		/* samples a second */
};

/* 1: the term is period=N or freq=N, and is in *rate; 0: it is another; -1 with *why. */
int evrate_term(struct evrate *rate, const char *term, size_t len, const char **why);

/*
 * Move such terms from between the slashes of an event to *rate. A name that has no other terms
 * loses its slashes: "cycles/period=1000/u" is "cycles:u". 0, or -1 with *why.
 */
int evrate_take(struct evrate *rate, char *spec, const char **why);

#endif
