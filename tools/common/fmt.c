/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmt.c - numbers and strings as people, JSON and CSV want them. Pure, but for the
 * locale's separator, which it remembers.
 */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fmt.h"

const char *fmt_separator(void)
{
	static char kept[4];
	const struct lconv *lc = localeconv();
	const char *sep = lc ? lc->thousands_sep : "";

	/* Longer ones would not fit FMT_NUMBER; a point is the decimal one here. */
	if (!*kept)
		strcpy(kept, sep[0] && strlen(sep) <= 3 && strcmp(sep, ".") ?
		       sep : ",");
	return kept;
}

char *fmt_group(char buf[FMT_NUMBER], uint64_t value, const char *sep)
{
	size_t seplen = sep ? strlen(sep) : 0;
	char digits[24];
	char *out = buf;
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0) {
			memcpy(out, sep ? sep : "", seplen);
			out += seplen;
		}
		*out++ = digits[i];
	}
	*out = '\0';
	return buf;
}

char *fmt_scaled(char buf[FMT_NUMBER], double value)
{
	static const char *const prefix[] = { "", "K", "M", "G", "T" };
	unsigned int i = 0;

	while (value >= 1000 && i + 1 < sizeof(prefix) / sizeof(*prefix)) {
		value /= 1000;
		i++;
	}
	snprintf(buf, FMT_NUMBER, "%.3f %s", value, prefix[i]);
	return buf;
}

/* Length of the well-formed UTF-8 sequence at s, 0 where there is none. */
static int utf8_length(const unsigned char *s)
{
	int len = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
		  s[0] >= 0xe0 && s[0] < 0xf0 ? 3 :
		  s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

	for (int i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates and what is above U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

int fmt_unit(const char *s, bool *control)
{
	const unsigned char *u = (const unsigned char *)s;
	int len = utf8_length(u);

	/* 0x80 to 0x9f alone: half of a character that was cut, or a C1 character. */
	*control = len == 2 ? u[0] == 0xc2 && u[1] < 0xa0 :
		   len < 2 && (u[0] < ' ' || (u[0] >= 0x7f && u[0] < 0xa0));
	return len ? len : 1;
}

/* Almost all of it is one byte at a time. */
static void put(FILE *f, const char *s, int len)
{
	if (len == 1)
		putc_unlocked(*s, f);
	else
		fwrite_unlocked(s, 1, len, f);
}

static void json_char(FILE *f, const char *c, int len, bool control)
{
	if (*c == '"' || *c == '\\')
		fprintf(f, "\\%c", *c);
	else if (*c == '\n')
		fputs("\\n", f);
	else if (*c == '\t')
		fputs("\\t", f);
	else if (control)
		fprintf(f, "\\u%04x", (unsigned char)c[len - 1]);
	else
		put(f, c, len);
}

void fmt_json_string(FILE *f, const char *s)
{
	bool control;

	fputc('"', f);
	for (int len; *s; s += len) {
		len = fmt_unit(s, &control);
		if (len > 1 || (unsigned char)*s < 0x80)
			json_char(f, s, len, control);
		else
			fputs("\\ufffd", f);
	}
	fputc('"', f);
}

void fmt_utf8(FILE *f, const char *s)
{
	bool control;

	for (int len; *s; s += len) {
		len = fmt_unit(s, &control);
		if (!control && (len > 1 || (unsigned char)*s < 0x80))
			put(f, s, len);
		else
			fputs("\xef\xbf\xbd", f);
	}
}

char *fmt_clean(char *text, char instead)
{
	bool control;

	for (int n, i = 0; text[i]; i += n) {
		n = fmt_unit(text + i, &control);
		if (control)
			memset(text + i, instead, n);
	}
	return text;
}

char *fmt_plain(char *text)
{
	return fmt_clean(text, '?');
}

void fmt_put_blanks(FILE *f, unsigned int n)
{
	static const char blanks[] = "                                                                ";

	for (unsigned int part; n; n -= part) {
		part = n < sizeof(blanks) - 1 ? n : sizeof(blanks) - 1;
		fwrite_unlocked(blanks, 1, part, f);
	}
}

char *fmt_right(char *at, uint64_t value, int width)
{
	char text[24], *end = text + sizeof(text), *begin = end;
	int len;

	do
		*--begin = '0' + value % 10;
	while (value /= 10);
	for (len = end - begin; width > len; width--)
		*at++ = ' ';
	memcpy(at, begin, len);
	return at + len;
}

/* printf rounds what the number is exactly: near the middle of two it has to say it. */
char *fmt_percent(char *at, double percent)
{
	double scaled = percent * 100, below = (uint64_t)(scaled < 1e9 ? scaled : 0);
	double part = scaled - below;
	uint64_t n = below + (part > 0.5);

	if (!(scaled < 1e9) || (part > 0.4999 && part < 0.5001))
		return at + snprintf(at, FMT_NUMBER, "%7.2f", percent);
	at = fmt_right(at, n / 100, 4);
	*at++ = '.';
	*at++ = '0' + n / 10 % 10;
	*at++ = '0' + n % 10;
	return at;
}

char *fmt_plain_at(char *at, const char *text)
{
	bool control;

	for (int len; *text; text += len, at += len) {
		len = fmt_unit(text, &control);
		memcpy(at, control && *text != '\t' ? "??" : text, len);
	}
	return at;
}

void fmt_put_plain(FILE *f, const char *text, int width)
{
	bool control;
	int at = 0;

	/* Names mostly are of ASCII. */
	while (text[at] >= ' ' && text[at] <= '~')
		at++;
	fwrite_unlocked(text, 1, at, f);
	for (int len; text[at]; at += len) {
		len = fmt_unit(text + at, &control);
		if (control && text[at] != '\t')
			put(f, "??", len);
		else
			put(f, text + at, len);
	}
	for (; at < width; at++)
		fputc(' ', f);
}

void fmt_put_escaped(FILE *f, const char *text, const char *special)
{
	bool control;

	for (int len; *text; text += len) {
		len = fmt_unit(text, &control);
		for (int i = 0; control && i < len; i++)
			fprintf(f, "\\x%02x", (unsigned char)text[i]);
		if (control)
			continue;
		if (strchr(special, *text))
			fputc('\\', f);
		put(f, text, len);
	}
}

/* A character, U+FFFD for a byte that is no UTF-8, '?' for those that command a terminal. */
static void put_utf8(FILE *f, const char *s, int len, bool control)
{
	if (control)
		put(f, "??", len);
	else if (len == 1 && (unsigned char)*s >= 0x80)
		fputs("\xef\xbf\xbd", f);
	else
		put(f, s, len);
}

void fmt_put_utf8(FILE *f, const char *s)
{
	bool control;

	for (int len; *s; s += len) {
		len = fmt_unit(s, &control);
		put_utf8(f, s, len, control && *s != '\t');
	}
}

void fmt_csv_field(FILE *f, const char *s)
{
	bool control, quote = strpbrk(s, ",\"");

	if (quote)
		fputc('"', f);
	if (*s && strchr("=+-@", *s))
		fputc('\'', f);
	for (int len; *s; s += len) {
		len = fmt_unit(s, &control);
		if (*s == '"')
			fputc('"', f);
		put_utf8(f, s, len, control);
	}
	if (quote)
		fputc('"', f);
}

int fmt_parse_u64(const char *s, uint64_t lo, uint64_t hi, uint64_t *value)
{
	unsigned long long v;
	char *end;

	/* strtoull() would take signs and leading space. */
	if (*s < '0' || *s > '9')
		return -1;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || *end || v < lo || v > hi)
		return -1;
	*value = v;
	return 0;
}
