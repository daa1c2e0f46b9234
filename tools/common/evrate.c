/* SPDX-License-Identifier: BSD-2-Clause */
/* evrate.c - see evrate.h. Pure. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <libhwpmc.h>

#include "evrate.h"
#include "fmt.h"

/* Sixteen digits at most, so that there is no overflow. */
static int read_hex(const char *digits, uint64_t most, uint64_t *value)
{
	size_t n = strspn(digits, "0123456789abcdefABCDEF");
	uint64_t number;

	if (!n || n > 16 || digits[n])
		return -1;
	number = strtoull(digits, NULL, 16);
	if (!number || number > most)
		return -1;
	*value = number;
	return 0;
}

/* The number behind "name=", decimal or with 0x, up to the end of the term. */
static int read_number(const char *at, const char *end, uint64_t most, uint64_t *value)
{
	char text[24];

	if (*value || end - at >= (ptrdiff_t)sizeof(text))
		return -1;
	snprintf(text, sizeof(text), "%.*s", (int)(end - at), at);
	if (strncasecmp(text, "0x", 2) == 0)
		return read_hex(text + 2, most, value);
	return fmt_parse_u64(text, 1, most, value);
}

int evrate_term(struct evrate *rate, const char *term, size_t len, const char **why)
{
	static const char period[] = "period=", frequency[] = "freq=";
	const char *end = term + len;
	int err;

	if (len >= strlen(period) && !strncasecmp(term, period, strlen(period)))
		err = read_number(term + strlen(period), end, INT64_MAX, &rate->period);
	else if (len >= strlen(frequency) && !strncasecmp(term, frequency, strlen(frequency)))
		err = read_number(term + strlen(frequency), end, HWPMC_FREQUENCY_MAX,
				  &rate->frequency);
	else
		return 0;
	if (err < 0)
		*why = "period= takes one number from 1, and freq= one from 1 to 1000000";
	else if (rate->period && rate->frequency)
		*why = "an event has a period or a frequency; remove one of the two";
	else
		return 1;
	return -1;
}

/* Slashes that mean more than terms: these stay. */
static bool is_pmu(const char *name, size_t len)
{
	static const char *const pmus[] = {
		"cpu", "cpu_core", "cpu_atom", "cpu_lowpower", "ibs_op", "ibs_fetch",
	};

	for (size_t i = 0; i < sizeof(pmus) / sizeof(*pmus); i++)
		if (strlen(pmus[i]) == len && !strncasecmp(name, pmus[i], len))
			return true;
	return false;
}

/* "cycles" and "u" from "cycles//u". */
static void remove_slashes(char *slash)
{
	char *rest = slash + 2;

	if (*rest == ':')
		rest++;
	if (*rest && *rest != ',')
		*slash++ = ':';
	memmove(slash, rest, strlen(rest) + 1);
}

int evrate_take(struct evrate *rate, char *spec, const char **why)
{
	char *open = strchr(spec, '/'), *at, *end;
	bool taken = false;
	int is;

	if (!open || !strchr(open + 1, '/'))
		return 0;
	for (at = open + 1; *at != '/'; at = end) {
		size_t len = strcspn(at, ",/");

		end = at + len + (at[len] == ',');
		is = evrate_term(rate, at, len, why);
		if (is < 0)
			return -1;
		if (!is)
			continue;
		taken = true;
		/* The comma before it goes where none is behind it. */
		if (*end == '/' && at[-1] == ',')
			at--;
		memmove(at, end, strlen(end) + 1);
		end = at;
	}
	if (taken && open[1] == '/' && !is_pmu(spec, (size_t)(open - spec)))
		remove_slashes(open);
	return 0;
}
