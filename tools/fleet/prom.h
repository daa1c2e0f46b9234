/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prom.h - Prometheus's text format, into a file that node_exporter's textfile collector
 * reads: it finds the file as it was or as it is, never a part.
 */
#ifndef TOOLS_PROM_H
#define TOOLS_PROM_H

#include <stdio.h>

#include "record/logdir.h"

struct prom {
	const char *path;	/* "-": standard output */
	char *next;		/* written, and renamed to path */
	FILE *f;
};

/* 0, or -1 with errno. */
int prom_begin(struct prom *p, const char *path);
int prom_end(struct prom *p);

/* The lines before the samples of a metric. */
void prom_metric(FILE *f, const char *name, const char *type, const char *help);
/* A label's value, in quotes. */
void prom_value(FILE *f, const char *text);

/* What became of the logs of a directory. */
void prom_logdir(FILE *f, struct logdir *s);

#endif
