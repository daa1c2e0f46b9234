/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.h - what the files of "hwpmc control" share: cmd_control.c parses
 * options and changes rows, control_show.c shows the state.
 */
#ifndef TOOLS_CONTROL_H
#define TOOLS_CONTROL_H

#include <stdbool.h>

#include <libhwpmc.h>

#include "common/cpus.h"

struct control {
	struct hwpmc *h;		/* NULL: the module is not there */
	const char *why;		/* then: the sentence about that */
	struct cpus cpus;		/* what -l, -e and -d are about */
	bool rows, stats, json;
};

/* Exit status; a message was printed where it is not 0. */
int control_show_text(const struct control *c);
int control_show_json(const struct control *c);

#endif
