/* SPDX-License-Identifier: BSD-2-Clause */
/* list.h - what the files of "hwpmc list" share. */
#ifndef TOOLS_LIST_H
#define TOOLS_LIST_H

#include <stdbool.h>

#include <libhwpmc.h>

struct list_request {
	bool verbose, json;
	char **pattern;			/* ends with NULL */
};

/* Is part in name? Letter case means nothing; space . _ - are the same. */
bool list_has_part(const char *name, const char *part);

/* An exit status. */
int list_metrics(struct hwpmc *h, const struct list_request *r);

#endif
