/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net.h - a log that goes to another machine, or comes from there: one TCP
 * connection. Where a file's name is expected, "host:port" is one of these.
 */
#ifndef TOOLS_NET_H
#define TOOLS_NET_H

#include <stdbool.h>
#include <stddef.h>

#define NET_PART	256

struct net_address {
	char host[NET_PART];	/* "": every address of this machine */
	char port[NET_PART];	/* a number or the name of a service */
};

/*
 * "host:port", "[2001:db8::1]:port" or ":port"; false: a file's name. What begins
 * with '.' or '/' is always that. Pure.
 */
bool net_parse(const char *text, struct net_address *address);

/* A descriptor, or -1 and one sentence. */
int net_connect(const char *text, char *err, size_t size);
/* Listen there, and accept the first connection. */
int net_accept(const char *text, char *err, size_t size);

#endif
