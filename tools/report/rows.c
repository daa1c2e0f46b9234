/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.c - see rows.h. */
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "report.h"
#include "rows.h"

#define ROOM		(256u << 10)	/* of the buffer; a longer line is written by itself */
#define LABEL_BITS	12
#define NUMBERS_MAX	(4 * FMT_NUMBER + 16)	/* with colours around them */

/* The end of a line: the names, as a terminal may show them. */
struct label {
	const void *key;		/* a symbol, or the words that stand for a sum */
	char *text;
	size_t len, room;
};

struct rows {
	const struct pager *out;
	uint64_t samples;
	uint64_t count, self;		/* that `numbers` has, if there are any */
	char numbers[NUMBERS_MAX];
	size_t nnumber;
	struct label label[1u << LABEL_BITS];
	size_t n;			/* bytes in the buffer */
	char buffer[ROOM];
};

struct rows *rows_begin(const struct pager *out, uint64_t samples)
{
	struct rows *r = must_calloc(1, sizeof(*r));

	r->out = out;
	r->samples = samples;
	return r;
}

static void flush(struct rows *r)
{
	fwrite_unlocked(r->buffer, 1, r->n, r->out->f);
	r->n = 0;
}

void rows_end(struct rows *r)
{
	if (!r)
		return;
	flush(r);
	for (size_t i = 0; i < sizeof(r->label) / sizeof(*r->label); i++)
		free(r->label[i].text);
	free(r);
}

/* ---- parts of a line ------------------------------------------------------- */

static void make_numbers(struct rows *r, uint64_t count, uint64_t self)
{
	double percent = report_percent(count, r->samples);
	char *at = r->numbers;

	at = stpcpy(at, pager_heat_code(r->out, percent));
	at = fmt_percent(at, percent);
	*at++ = '%';
	*at++ = ' ';
	at = fmt_right(at, count, 10);
	*at++ = ' ';
	at = fmt_right(at, self, 10);
	at = stpcpy(at, pager_plain_code(r->out));
	r->count = count;
	r->self = self;
	r->nnumber = at - r->numbers;
}

static void make_label(struct label *l, const struct hwpmc_symbol *symbol, const char *what)
{
	const char *name = symbol ? symbol->name : what;
	const char *image = symbol ? symbol->image->name : "";
	size_t room = strlen(name) + strlen(image) + sizeof("  \n");
	char *at;

	if (room > l->room) {
		free(l->text);
		l->text = must_realloc(NULL, room, 1);
		l->room = room;
	}
	at = fmt_plain_at(l->text, name);
	at = stpcpy(at, symbol ? "  " : "");
	at = fmt_plain_at(at, image);
	*at++ = '\n';
	l->len = at - l->text;
}

static const struct label *label_of(struct rows *r, const struct hwpmc_symbol *symbol,
				    const char *what)
{
	const void *key = symbol ? (const void *)symbol : what;
	uint64_t h = (uintptr_t)key * 0x9e3779b97f4a7c15ull;
	struct label *l = &r->label[h >> (64 - LABEL_BITS)];

	if (l->key != key)
		make_label(l, symbol, what);
	l->key = key;
	return l;
}

/* ---- lines ------------------------------------------------------------------ */

static void put_long(const struct rows *r, unsigned int blanks, const struct label *l)
{
	fwrite_unlocked(r->numbers, 1, r->nnumber, r->out->f);
	fmt_put_blanks(r->out->f, blanks);
	fwrite_unlocked(l->text, 1, l->len, r->out->f);
}

void rows_put(struct rows *r, uint64_t count, uint64_t self, unsigned int depth,
	      const struct hwpmc_symbol *symbol, const char *what)
{
	const struct label *l = label_of(r, symbol, what);
	unsigned int blanks = 2 + 2 * depth;
	size_t need;
	char *at;

	if (!r->nnumber || r->count != count || r->self != self)
		make_numbers(r, count, self);
	need = r->nnumber + blanks + l->len;
	if (need > sizeof(r->buffer) - r->n)
		flush(r);
	if (need > sizeof(r->buffer)) {
		put_long(r, blanks, l);
		return;
	}
	at = r->buffer + r->n;
	memcpy(at, r->numbers, r->nnumber);
	memset(at + r->nnumber, ' ', blanks);
	memcpy(at + r->nnumber + blanks, l->text, l->len);
	r->n += need;
}
