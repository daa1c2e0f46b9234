/* SPDX-License-Identifier: BSD-2-Clause */
/* formula.c - see formula.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "formula.h"

#define DEPTH_MAX	16

struct parser {
	struct formula *f;
	const char *at;
	unsigned int depth;		/* of parentheses */
	const char *why;
};

static int refuse(struct parser *p, const char *why)
{
	if (!p->why)
		p->why = why;
	return -1;
}

/* Bytes of the next word; a parenthesis is one by itself. */
static size_t word_length(struct parser *p)
{
	p->at += strspn(p->at, " \t");
	return *p->at == '(' || *p->at == ')' ? 1 : strcspn(p->at, " \t()");
}

static int add_step(struct parser *p, struct formula_step step)
{
	if (p->f->nstep == FORMULA_STEPS)
		return refuse(p, "it is too long");
	p->f->step[p->f->nstep++] = step;
	return 0;
}

static int add_event(struct parser *p, const char *name, size_t n)
{
	struct formula *f = p->f;
	unsigned int i;

	for (i = 0; i < f->nevent; i++)
		if (strlen(f->event[i]) == n && !memcmp(f->event[i], name, n))
			break;
	if (i == FORMULA_EVENTS)
		return refuse(p, "it has too many events");
	if (i == f->nevent) {
		f->event[i] = must_calloc(n + 1, 1);
		memcpy(f->event[i], name, n);
		f->nevent++;
	}
	return add_step(p, (struct formula_step){ .op = 'e', .event = i });
}

static int parse_sum(struct parser *p);

static int parse_parentheses(struct parser *p)
{
	p->at++;
	if (++p->depth > DEPTH_MAX)
		return refuse(p, "its parentheses are nested too deeply");
	if (parse_sum(p) < 0)
		return -1;
	p->depth--;
	if (word_length(p) != 1 || *p->at != ')')
		return refuse(p, "it lacks a ')'");
	p->at++;
	return 0;
}

static int parse_operand(struct parser *p)
{
	size_t n = word_length(p);
	const char *word = p->at;
	char *end;
	double number;

	if (*word == '(')
		return parse_parentheses(p);
	if (!n || *word == ')' || (n == 1 && strchr("+-*/", *word)))
		return refuse(p, "it lacks a number or an event");
	p->at += n;
	if (!isdigit((unsigned char)*word))
		return add_event(p, word, n);
	number = strtod(word, &end);
	if (end != word + n)
		return refuse(p, "a number contains invalid characters");
	return add_step(p, (struct formula_step){ .op = 'n', .number = number });
}

/* The next word, if it is one of these operators; else 0. */
static char take_operator(struct parser *p, const char *operators)
{
	if (word_length(p) != 1 || !strchr(operators, *p->at))
		return 0;
	return *p->at++;
}

static int parse_product(struct parser *p)
{
	char op;

	if (parse_operand(p) < 0)
		return -1;
	while ((op = take_operator(p, "*/")))
		if (parse_operand(p) < 0 || add_step(p, (struct formula_step){ .op = op }) < 0)
			return -1;
	return 0;
}

static int parse_sum(struct parser *p)
{
	char op;

	if (parse_product(p) < 0)
		return -1;
	while ((op = take_operator(p, "+-")))
		if (parse_product(p) < 0 || add_step(p, (struct formula_step){ .op = op }) < 0)
			return -1;
	return 0;
}

int formula_parse(struct formula *f, const char *text, const char **why)
{
	struct parser p = { .f = f, .at = text };
	int rc;

	memset(f, 0, sizeof(*f));
	rc = parse_sum(&p);
	if (!rc && word_length(&p))
		rc = refuse(&p, "it lacks an operator; put blanks around operators");
	if (!rc && !f->nevent)
		rc = refuse(&p, "it has no event");
	if (rc)
		formula_free(f);
	*why = p.why;
	return rc;
}

void formula_free(struct formula *f)
{
	for (unsigned int i = 0; i < f->nevent; i++)
		free(f->event[i]);
	memset(f, 0, sizeof(*f));
}

static double apply(char op, double a, double b)
{
	switch (op) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	default:
		return a / b;
	}
}

double formula_value(const struct formula *f, const double *count)
{
	double stack[FORMULA_STEPS] = { 0 };
	unsigned int n = 0;

	for (unsigned int i = 0; i < f->nstep; i++) {
		const struct formula_step *s = &f->step[i];

		if (s->op == 'n' || s->op == 'e') {
			stack[n++] = s->op == 'n' ? s->number : count[s->event];
			continue;
		}
		n--;
		stack[n - 1] = apply(s->op, stack[n - 1], stack[n]);
	}
	return stack[0];
}
