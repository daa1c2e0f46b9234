/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmt.h - numbers and strings as people, JSON and CSV want them. Pure.
 */
#ifndef TOOLS_FMT_H
#define TOOLS_FMT_H

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

/* Three significant decimals with a unit prefix: "12.345 M". */
char *fmt_scaled(char buf[FMT_NUMBER], double value);

/* With quotes and escapes. Bytes that are not UTF-8 become U+FFFD. */
void fmt_json_string(FILE *f, const char *s);

/* As it is, but for bytes that are not UTF-8: U+FFFD. */
void fmt_utf8(FILE *f, const char *s);

/* Names are anybody's: what commands a terminal in them becomes '?'. Returns it. */
char *fmt_plain(char *text);
/* The same to a stream, tabs as they are, then blanks up to `width` bytes. */
void fmt_put_plain(FILE *f, const char *text, int width);

/* A CSV field (RFC 4180): quoted only where it must be. */
void fmt_csv_field(FILE *f, const char *s);

/*
 * A whole decimal number from lo to hi and nothing else: 0, or -1.
 */
int fmt_parse_u64(const char *s, uint64_t lo, uint64_t hi, uint64_t *value);

#endif
