/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * push.h - what `hwpmc push` is made of: a body for each protocol (body.c, pure) and one
 * way to send it (http.c, the only user of libcurl).
 */
#ifndef TOOLS_PUSH_H
#define TOOLS_PUSH_H

#include <stddef.h>
#include <stdint.h>

enum push_protocol {
	PUSH_PYROSCOPE,		/* push.v1.PusherService, JSON of the Connect protocol */
	PUSH_INGEST,		/* Pyroscope's /ingest */
	PUSH_PARCA,		/* ProfileStoreService.WriteRaw, JSON */
};

struct push_label {
	const char *name, *value;
};

/* A profile, and what it is stored under. */
struct push_profile {
	const char *service;
	const struct push_label *label;
	unsigned int nlabel;
	const char *id;		/* unique: receivers that know it take it once */
	uint64_t first, last;	/* ns since 1970, of the samples */
	const void *pprof;	/* packed by gzip */
	size_t len;
};

struct push_body {
	char *path;		/* below the receiver's address, with the query */
	const char *type;	/* Content-Type */
	char *data;
	size_t len;
};

/* May a label be called so, by all receivers? Pure. */
int push_label_check(const char *name);
void push_body(enum push_protocol protocol, const struct push_profile *p,
	       struct push_body *body);
void push_body_free(struct push_body *body);

struct http;

/* What became of a request. */
struct http_answer {
	long status;		/* of HTTP; 0: there is no answer */
	long retry_after;	/* seconds that the receiver asks for; 0: none */
	char why[600];		/* a sentence without control characters, if it failed */
};

struct http_options {
	const char *url;	/* "http://host:4040" */
	const char *headers;	/* a file with more header lines, or NULL */
	const char *ca;		/* certificates of authorities, or NULL */
	int stop_fd;		/* readable: give up; -1: none */
};

/* NULL after a message. Options are kept. */
struct http *http_open(const struct http_options *options);
void http_close(struct http *h);
void http_post(struct http *h, const struct push_body *body, struct http_answer *answer);

#endif
