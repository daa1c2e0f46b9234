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
	char host[NET_PART];	/* "": this machine itself; "*": all its addresses */
	char port[NET_PART];	/* a number or the name of a service */
};

/*
 * "host:port", "[2001:db8::1]:port" or ":port"; false: a file's name. What begins
 * with '.' or '/' is always that. Pure.
 */
bool net_parse(const char *text, struct net_address *address);

/* A descriptor, or -1 and one sentence. */
int net_connect(const char *text, char *err, size_t size);

#define NET_PEER	(2 * NET_PART)

/*
 * Listen there, accept the first connection, and no other: peer is where it is from. Of
 * ":port" only this machine itself can connect.
 */
int net_accept(const char *text, char peer[NET_PEER], char *err, size_t size);

/* What is borne of a sender. 0: no limit. */
struct net_limits {
	unsigned int silence;	/* s without a byte: then a read ends by EAGAIN */
	unsigned int first;	/* s until its first byte */
};

/* Set them, and wait for the first byte or the end. 0, or -1 and a sentence. */
int net_wait_first(int fd, const struct net_limits *limits, char *err, size_t size);

#endif
