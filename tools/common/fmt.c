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

static void json_char(FILE *f, unsigned char c)
{
	if (c == '"' || c == '\\')
		fprintf(f, "\\%c", c);
	else if (c == '\n')
		fputs("\\n", f);
	else if (c == '\t')
		fputs("\\t", f);
	else if (c < 0x20 || c == 0x7f)
		fprintf(f, "\\u%04x", c);
	else
		fputc(c, f);
}

void fmt_json_string(FILE *f, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	fputc('"', f);
	while (*p) {
		int len = utf8_length(p);

		if (len == 1)
			json_char(f, *p);
		else if (len)
			fwrite(p, 1, len, f);
		else
			fputs("\\ufffd", f);
		p += len ? len : 1;
	}
	fputc('"', f);
}

void fmt_utf8(FILE *f, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		int len = utf8_length(p);

		if (len)
			fwrite(p, 1, len, f);
		else
			fputs("\xef\xbf\xbd", f);
		p += len ? len : 1;
	}
}

static bool is_command(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* U+0080 to U+009F: terminals obey them as they do ESC and a letter. */
static bool is_command_pair(const char *c)
{
	return (unsigned char)c[0] == 0xc2 && ((unsigned char)c[1] & 0xe0) == 0x80;
}

char *fmt_plain(char *text)
{
	for (char *c = text; *c; c++) {
		if (is_command_pair(c))
			*c++ = '?';
		else if (!is_command(*c))
			continue;
		*c = '?';
	}
	return text;
}

void fmt_put_plain(FILE *f, const char *text, int width)
{
	int n = 0;

	for (; text[n]; n++) {
		if (is_command_pair(text + n)) {
			fputs("??", f);
			n++;
			continue;
		}
		fputc(is_command(text[n]) && text[n] != '\t' ? '?' : text[n], f);
	}
	for (; n < width; n++)
		fputc(' ', f);
}

void fmt_csv_field(FILE *f, const char *s)
{
	if (!strpbrk(s, ",\"\r\n")) {
		fputs(s, f);
		return;
	}
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
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
