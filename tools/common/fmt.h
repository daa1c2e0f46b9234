/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmt.h - numbers and strings as people, JSON and CSV want them. Pure.
 */
#ifndef TOOLS_FMT_H
#define TOOLS_FMT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FMT_NUMBER	48	/* room for any number of this file */

/* "1,234,567"; sep NULL or "": no grouping. Returns buf. */
char *fmt_group(char buf[FMT_NUMBER], uint64_t value, const char *sep);

/*
 * The locale's separator of thousands, as it was when this was called first, or a
 * comma where it has none.
 */
const char *fmt_separator(void);

/* "s" but for one: "1 sample", "2 samples". */
static inline const char *fmt_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Three significant decimals with a unit prefix: "12.345 M". */
char *fmt_scaled(char buf[FMT_NUMBER], double value);

/*
 * The text of a log, a program or a map may be any user's, and a terminal obeys control
 * characters in it: C0 with DEL, and C1, be that UTF-8 or a byte alone. fmt_unit() is
 * the one place that knows them; all that prints text of others uses a function of this
 * file. It returns the number of bytes of the character at s, which is not the end.
 */
int fmt_unit(const char *s, bool *control);

/* With quotes and escapes. Bytes that are not UTF-8 become U+FFFD. */
void fmt_json_string(FILE *f, const char *s);

/* As it is, but for control characters and bytes that are not UTF-8: U+FFFD. */
void fmt_utf8(FILE *f, const char *s);

/* Each byte of a control character becomes `instead`. Returns text. */
char *fmt_clean(char *text, char instead);
/* The same with '?'. */
char *fmt_plain(char *text);
/* The same to a stream, tabs as they are, then blanks up to `width` bytes. */
void fmt_put_plain(FILE *f, const char *text, int width);
/* The same into a buffer, of as many bytes as the text has. Returns the end, without a zero. */
char *fmt_plain_at(char *at, const char *text);
void fmt_put_blanks(FILE *f, unsigned int n);
/* For files: control characters become '?', tabs stay, bytes that are not UTF-8 become U+FFFD. */
void fmt_put_utf8(FILE *f, const char *s);

/* As printf's "%7.2f", of numbers from 0 on, and "%*" PRIu64, without a zero behind them. Return
 * what is behind the text, at most FMT_NUMBER bytes. */
char *fmt_percent(char *at, double percent);
char *fmt_right(char *at, uint64_t value, int width);
/* Control characters as "\x1b", and a backslash before each of `special`. */
void fmt_put_escaped(FILE *f, const char *text, const char *special);

/*
 * A CSV field (RFC 4180): quoted only where it must be. Spreadsheets take what begins
 * with one of "=+-@" as a formula: it gets an apostrophe in front. Control characters
 * become '?', bytes that are not UTF-8 U+FFFD.
 */
void fmt_csv_field(FILE *f, const char *s);

/*
 * A whole decimal number from lo to hi and nothing else: 0, or -1.
 */
int fmt_parse_u64(const char *s, uint64_t lo, uint64_t hi, uint64_t *value);

#endif
