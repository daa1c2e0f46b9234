/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shorten.c - names of functions for people: long template arguments of C++ and generic
 * arguments of Rust are left out. Pure.
 */
#include <ctype.h>
#include <string.h>

#include "stat.h"

#define ARGUMENTS	"<...>"
/* Shorter arguments stay: they say more than dots. */
#define KEPT		8

/* The length of an operator's name at `at`, which may have angle brackets; 0: none is there. */
static size_t operator_length(const char *name, const char *at)
{
	static const char *const operators[] = {	/* the longest first */
		"<<=", ">>=", "<=>", "<<", ">>", "<=", ">=", "->", "<", ">",
	};
	static const char word[] = "operator";
	size_t len = sizeof(word) - 1;

	if (strncmp(at, word, len) || (at > name && (isalnum(at[-1]) || at[-1] == '_')))
		return 0;
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (!strncmp(at + len, operators[i], strlen(operators[i])))
			return len + strlen(operators[i]);
	return 0;
}

/* Does `<` begin arguments, and not the type that a function of Rust belongs to? */
static bool begins_arguments(const char *name, const char *at)
{
	static const char *const own[] = { "<impl ", "<lambda", "<unnamed", "<dyn " };
	unsigned char before = at > name ? at[-1] : '<';

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!strncmp(at, own[i], strlen(own[i])))
			return false;
	/* A blank comes only after an operator's name. */
	if (before == ' ')
		return at - name >= 2 && strchr("<>=-", at[-2]);
	return isalnum(before) || before >= 0x80 || strchr("_$:)]}", before);
}

/* What is behind the arguments at `at`; NULL: they do not end. */
static const char *skip_arguments(const char *name, const char *at)
{
	unsigned int depth = 0, parens = 0;

	for (size_t len; *at; at += len) {
		len = operator_length(name, at);
		if (len)
			continue;
		len = 1;
		if (*at == '(')
			parens++;
		else if (*at == ')')
			parens -= parens > 0;
		else if (parens)
			;	/* a comparison may be there */
		else if (*at == '<')
			depth++;
		else if (*at == '>' && at[-1] != '-' && --depth == 0)
			return at + 1;
	}
	return NULL;
}

/* Of `len` bytes at `at`; false: there is no room. */
static bool put(char *buf, size_t size, size_t *n, const char *at, size_t len)
{
	if (len >= size - *n)
		return false;
	memcpy(buf + *n, at, len);
	*n += len;
	buf[*n] = '\0';
	return true;
}

EXPORT const char *hwpmc_shorten_name(const char *name, char *buf, size_t size)
{
	const char *at = name, *end;
	size_t n = 0, len;

	if (stat_null(!name || !buf))
		return NULL;
	if (!size || !strchr(name, '<'))
		return name;
	while (*at) {
		len = operator_length(name, at);
		end = !len && *at == '<' && begins_arguments(name, at) ?
		      skip_arguments(name, at) : NULL;
		if (end && end - at > KEPT + 2) {
			if (!put(buf, size, &n, ARGUMENTS, strlen(ARGUMENTS)))
				return name;
			at = end;
			continue;
		}
		len = end ? (size_t)(end - at) : len ? len : 1;
		if (!put(buf, size, &n, at, len))
			return name;
		at += len;
	}
	return buf;
}

EXPORT int hwpmc_symbol_is(const struct hwpmc_symbol *symbol, const char *name)
{
	char buf[1024];

	if (stat_null(!symbol || !name))
		return 0;
	if (!strcmp(symbol->name, name) || !strcmp(symbol->raw, name))
		return 1;
	return strstr(name, ARGUMENTS) &&
	       !strcmp(hwpmc_shorten_name(symbol->name, buf, sizeof(buf)), name);
}
