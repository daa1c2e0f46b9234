/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msg.c - messages of the tools, and memory that is there or ends the program.
 * Used by all tools; no state but the name that the lines begin with.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmt.h"
#include "msg.h"
#include "perfwords.h"

const char *msg_prog = "hwpmc";

/* Names of files and functions in it are anybody's: no terminal is to obey them. */
static void msg_v(const char *fmt, va_list ap)
{
	char text[4096];

	vsnprintf(text, sizeof(text), fmt, ap);
	fflush(stdout);
	fprintf(stderr, "%s: ", msg_prog);
	for (char *line = text, *end; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		fputs(fmt_plain(line), stderr);
		fputc('\n', stderr);
	}
}

void msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	msg_v(fmt, ap);
	va_end(ap);
}

int msg_usage(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	msg("%s; see: %s --help", text, msg_prog);
	return EXIT_USAGE;
}

int msg_unknown(const char *what, const char *command, const char *word)
{
	const struct perfword *perf = perfword_find(command, word);

	if (!perf)
		return msg_usage("unknown %s", what);
	if (!perf->here)
		return msg_usage("unknown %s: %s", what, perf->why);
	return msg_usage("unknown %s: perf's %s is %s here", what, perf->word, perf->here);
}

/* The command without "hwpmc ", as in the table of perf's words. */
static int unknown_option(const char *option)
{
	const char *command = strchr(msg_prog, ' ');
	char what[256];

	snprintf(what, sizeof(what), "option %s", option);
	return msg_unknown(what, command ? command + 1 : "", option);
}

int msg_bad_option(int c, int optopt_, char *const argv[], int optind_)
{
	char letter[] = { '-', optopt_, '\0' };
	const char *word = argv[optind_ - 1];

	if (c == ':' && strncmp(word, "--", 2) == 0)
		return msg_usage("option %s needs a value", word);
	if (c == ':')
		return msg_usage("option -%c needs a value", optopt_);
	if (optopt_ && strncmp(word, "--", 2) == 0)
		return msg_usage("option %.*s takes no value",
				 (int)strcspn(word, "="), word);
	return unknown_option(optopt_ ? letter : word);
}

void must_fail(void)
{
	msg("cannot continue: out of memory");
	exit(EXIT_FAILED);
}

void *must_realloc(void *p, size_t n, size_t size)
{
	void *q = NULL;

	/* One byte more, so that nothing asked for is not NULL. */
	if (n == 0 || size <= (SIZE_MAX - 1) / n)
		q = realloc(p, n * size + 1);
	if (!q)
		must_fail();
	return q;
}

void *must_calloc(size_t n, size_t size)
{
	void *p = must_realloc(NULL, n, size);

	memset(p, 0, n * size);
	return p;
}

char *must_strdup(const char *s)
{
	size_t len = strlen(s) + 1;

	return memcpy(must_realloc(NULL, len, 1), s, len);
}
