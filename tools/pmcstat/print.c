/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print.c - the columns of pmcstat: "p/event" for process scope,
 * "s/NN/event" for a CPU; a header now and then, a line of counts each time.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/watch.h"
#include "pmcstat.h"

#define HEADER_MARK	"# "
#define DEFAULT_LINES	22	/* between two headers */

static int column_name(const struct pmcstat_event *ev, char *buf, size_t size)
{
	if (ev->system)
		return snprintf(buf, size, "s/%02u/%s", ev->cpu, ev->spec);
	return snprintf(buf, size, "p/%s", ev->spec);
}

/* Decimal digits of the largest number of so many bits. */
static int digits_of(uint32_t bits)
{
	return bits * 30103 / 100000 + 1;
}

/* Wide enough for the name and for what a counter can hold. */
void pmcstat_set_widths(struct pmcstat *ps)
{
	char name[512];

	for (unsigned int i = 0; i < ps->nevent; i++) {
		struct pmcstat_event *ev = &ps->event[i];
		uint32_t bits = 64;

		hwpmc_width(ps->h, ev->id, &bits);
		ev->width = column_name(ev, name, sizeof(name));
		if (ev->width < digits_of(bits))
			ev->width = digits_of(bits);
	}
}

static unsigned int lines_per_header(FILE *f)
{
	struct winsize size;

	if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &size) < 0 ||
	    size.ws_row < 4)
		return DEFAULT_LINES;
	return size.ws_row - 2;
}

static void print_header(const struct pmcstat *ps)
{
	char name[512];

	for (unsigned int i = 0, n = 0; i < ps->nevent; i++) {
		const struct pmcstat_event *ev = &ps->event[i];

		if (ev->sampling)
			continue;
		column_name(ev, name, sizeof(name));
		fprintf(ps->out, "%s%*s", n++ ? " " : HEADER_MARK, ev->width,
			name);
	}
	fputc('\n', ps->out);
}

void pmcstat_print_counts(struct pmcstat *ps)
{
	if (ps->lines == 0)
		print_header(ps);
	ps->lines = (ps->lines + 1) % lines_per_header(ps->out);
	for (unsigned int i = 0, n = 0; i < ps->nevent; i++) {
		struct pmcstat_event *ev = &ps->event[i];
		uint64_t value = ev->value - (ev->cumulative ? 0 : ev->saved);

		if (ev->sampling)
			continue;
		fprintf(ps->out, "%s%*" PRIu64, n ? " " : "",
			ev->width + (n ? 0 : (int)strlen(HEADER_MARK)), value);
		ev->saved = ev->value;
		n++;
	}
	fputc('\n', ps->out);
	fflush(ps->out);
	if (ferror(ps->out))
		watch_end_without_reader(fileno(ps->out));
}
