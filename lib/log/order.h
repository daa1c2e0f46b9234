/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.h - records in the order of their time. A stream has those of one CPU after those
 * of another: this keeps copies until all that may be older has come.
 */
#ifndef HWPMC_LIB_ORDER_H
#define HWPMC_LIB_ORDER_H

#include "libhwpmclog.h"

struct order_entry;

struct order {
	struct order_entry *entry;
	size_t n, room;
	size_t given, ready;		/* entries before these: were given, may be */
	size_t bytes;			/* of all that is kept */
	uint64_t key;			/* of the last record that was added */
	uint64_t newest, before;	/* greatest key: so far, one round ago */
	int64_t cpu;			/* of the last CPU record; -1: none */
	bool sync;			/* the log has SYNC records */
};

#define ORDER_NEW	((struct order){ .cpu = -1 })

/* Any record of the stream; SYNC and CPU records decide what is ready. False: no memory. */
bool order_add(struct order *o, const struct hwpmc_record *r);
/* The next that is ready: valid until the next call. */
bool order_next(struct order *o, struct hwpmc_record *r);
/* Nothing more comes, at present. */
void order_all(struct order *o);
void order_free(struct order *o);

#endif /* HWPMC_LIB_ORDER_H */
