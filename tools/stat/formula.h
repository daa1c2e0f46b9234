/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * formula.h - the formula of a metric: numbers, events, + - * / and parentheses, with
 * blanks between them, for names of events have these characters too. Pure.
 */
#ifndef TOOLS_STAT_FORMULA_H
#define TOOLS_STAT_FORMULA_H

#define FORMULA_STEPS	64
#define FORMULA_EVENTS	16

struct formula_step {
	char op;			/* + - * /, n: a number, e: the count of an event */
	double number;
	unsigned int event;
};

struct formula {
	struct formula_step step[FORMULA_STEPS];	/* operands before operators */
	unsigned int nstep;
	char *event[FORMULA_EVENTS];	/* each once */
	unsigned int nevent;
};

/* 0, or -1 and what is wrong. */
int formula_parse(struct formula *f, const char *text, const char **why);
void formula_free(struct formula *f);

/* count: of each of f->event. Not a number, or infinite, where the formula divides by 0. */
double formula_value(const struct formula *f, const double *count);

#endif
