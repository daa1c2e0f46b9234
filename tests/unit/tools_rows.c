/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_rows.c - lines of call trees: they are the bytes that printf and fmt_put_plain()
 * write, whatever the numbers, the names and the depth are. On the host, under ASan and UBSan.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "report/report.h"
#include "report/rows.h"
#include "harness.h"

#define SAMPLES		1000000u
#define SYMBOLS		9000u		/* more than labels are kept of */

static char *ours, *theirs;
static size_t our_len, their_len;
static struct pager out, want;
static struct rows *rows;

static void begin(bool colour)
{
	out = (struct pager){ .f = open_memstream(&ours, &our_len), .colour = colour };
	want = (struct pager){ .f = open_memstream(&theirs, &their_len), .colour = colour };
	rows = rows_begin(&out, SAMPLES);
}

static void end(void)
{
	rows_end(rows);
	fclose(out.f);
	fclose(want.f);
	ck_assert_uint_eq(our_len, their_len);
	ck_assert(!memcmp(ours, theirs, our_len));
	free(ours);
	free(theirs);
}

static void put(uint64_t count, uint64_t self, unsigned int depth,
		const struct hwpmc_symbol *symbol, const char *what)
{
	double percent = report_percent(count, SAMPLES);

	rows_put(rows, count, self, depth, symbol, what);
	pager_heat(&want, percent);
	fprintf(want.f, "%7.2f%% %10" PRIu64 " %10" PRIu64, percent, count, self);
	pager_plain(&want);
	fprintf(want.f, "%*s", 2 + 2 * depth, "");
	fmt_put_plain(want.f, symbol ? symbol->name : what, 0);
	fputs(symbol ? "  " : "", want.f);
	fmt_put_plain(want.f, symbol ? symbol->image->name : "", 0);
	fputc('\n', want.f);
}

static void put_all_kinds(bool colour)
{
	static struct hwpmc_image image = { .name = "lib\tc\033.so" };
	static const char *const names[] = {
		"main", "", "gr\xc3\xbc\xc3\x9f", "\xff\xfe", "a\nb\tc", "\302\2332J", "cut\xe2\x82",
	};
	struct hwpmc_symbol symbol[sizeof(names) / sizeof(*names)] = { { 0 } };

	begin(colour);
	for (unsigned int n = 0; n < 300; n++) {
		struct hwpmc_symbol *s = &symbol[n % (sizeof(names) / sizeof(*names))];

		s->name = names[n % (sizeof(names) / sizeof(*names))];
		s->image = &image;
		put(n / 2 * 4000, n % 3, n, s, NULL);
		put(n / 2 * 4000, n % 3, n, NULL, "(functions below --limit)");
		put(n / 2 * 4000, n % 5, 0, NULL, "(stacks without it)");
	}
	put(UINT64_MAX, UINT64_MAX, 3, &symbol[0], NULL);
	end();
}

START_TEST(rows_are_written_as_printf_writes_them)
{
	put_all_kinds(false);
}
END_TEST

START_TEST(rows_with_colours_are_written_as_without)
{
	put_all_kinds(true);
}
END_TEST

START_TEST(rows_keep_names_of_many_functions_apart)
{
	struct hwpmc_symbol *symbol = calloc(SYMBOLS, sizeof(*symbol));
	struct hwpmc_image image = { .name = "prog" };
	char (*name)[200] = calloc(SYMBOLS, sizeof(*name));

	begin(false);
	for (unsigned int i = 0; i < SYMBOLS; i++) {
		snprintf(name[i], sizeof(*name), "f%u%*s", i, i % 150, "");
		symbol[i].name = name[i];
		symbol[i].image = &image;
	}
	for (unsigned int i = 0; i < 4 * SYMBOLS; i++)
		put(i, 0, i % 64, &symbol[i * 7919u % SYMBOLS], NULL);
	end();
	free(symbol);
	free(name);
}
END_TEST

/* Neither the name nor the depth is bounded. */
START_TEST(rows_longer_than_the_buffer_are_whole)
{
	struct hwpmc_image image = { .name = "prog" };
	struct hwpmc_symbol symbol = { .image = &image };
	char *name = malloc(600001);

	memset(name, 'x', 600000);
	name[600000] = '\0';
	symbol.name = name;
	begin(true);
	put(1, 1, 0, NULL, "before");
	put(1, 1, 1, &symbol, NULL);
	put(1, 1, 200000, NULL, "deep");
	put(1, 1, 0, NULL, "behind");
	end();
	free(name);
}
END_TEST

int main(void)
{
	harness_add(rows_are_written_as_printf_writes_them);
	harness_add(rows_with_colours_are_written_as_without);
	harness_add(rows_keep_names_of_many_functions_apart);
	harness_add(rows_longer_than_the_buffer_are_whole);
	return harness_run();
}
