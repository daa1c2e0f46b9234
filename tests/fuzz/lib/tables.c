// SPDX-License-Identifier: BSD-2-Clause
/* tables.c - files of events: the first byte says which kind, the rest is one. */
#include "fuzz.h"
#include "tables.h"

static void take_map(const char *text, size_t n, char separator)
{
	struct event_map_line line;
	const char *at = text;

	while (event_map_next(&at, text + n, separator, "GenuineIntel-6-55-4", &line))
		need(line.file[0] && line.kind, "a line without a file");
}

static void take_table(const char *text, size_t n)
{
	const char *at = text, *line;
	struct event_row row;
	size_t len;

	while ((line = event_row_next(&at, text + n, &len))) {
		event_row_is(line, len, "mem_load_retired_l3_miss");
		if (!event_row_parse(line, len, &row))
			continue;
		need(row.nconfig >= 1 && row.nconfig <= ROW_CONFIGS, "an event without a code");
		need(row.name[0] && row.fixed <= 15, "an event without a name");
		need(!row.ndesc || (row.desc >= line && row.desc + row.ndesc <= line + len),
		     "a description of another line");
	}
}

/* All that the vendor's form becomes is a table of events. */
static void take_json(const char *json, size_t n)
{
	char *text, why[120] = "";
	const char *at, *line;
	struct event_row row;
	size_t len, m;

	if (event_json_table(json, n, &text, &len, why, sizeof(why))) {
		need(why[0] && !strchr(why, '\n'), "a refusal without a reason");
		return;
	}
	for (at = text; (line = event_row_next(&at, text + len, &m)); )
		event_row_parse(line, m, &row);
	free(text);
}

static void take_xz(const char *xz, size_t n)
{
	char *text, why[120] = "";
	size_t len;

	if (event_decompress(xz, n, &text, &len, why, sizeof(why))) {
		need(why[0], "a refusal without a reason");
		return;
	}
	need(len <= EVENT_TABLE_LIMIT && !text[len], "more than the limit");
	take_table(text, len);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = text_of(data + 1, size - 1);
	switch (data[0] % 5) {
	case 0:
		take_map(text, size - 1, ',');
		break;
	case 1:
		take_map(text, size - 1, '\t');
		break;
	case 2:
		take_table(text, size - 1);
		break;
	case 3:
		take_json(text, size - 1);
		break;
	default:
		take_xz(text, size - 1);
	}
	free(text);
	return 0;
}
