/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print.h - annotated functions as text, JSON or CSV. In each form the
 * samples that are printed add up to those of the event.
 */
#ifndef TOOLS_ANNOTATE_PRINT_H
#define TOOLS_ANNOTATE_PRINT_H

#include "annotate.h"
#include "common/logopts.h"
#include "common/pager.h"
#include "source.h"

struct annotate_printer {
	struct pager out;
	struct hwpmc_profile *profile;
	enum logopts_format format;
	bool source, assembly;		/* which of the two; text only */
	struct sources sources;
	const struct hwpmc_profile_event *event;
	unsigned int functions;		/* shown so far */
	char why[5000];			/* the last one could not be */
};

void annotate_print_event(struct annotate_printer *pr,
			  const struct hwpmc_profile_event *event);
/* a NULL: it cannot be shown, and why not. */
void annotate_print_function(struct annotate_printer *pr,
			     const struct annotate_function *f,
			     const struct annotate *a, const char *why);
/* Samples of functions that were not asked for. */
void annotate_print_rest(struct annotate_printer *pr, uint64_t samples);
void annotate_printer_free(struct annotate_printer *pr);

#endif
