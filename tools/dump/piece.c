/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * piece.c - parts of lines that "hwpmc dump" makes once and repeats, by way of d->side; and
 * the images whose names are in doubt.
 */
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "dump.h"

void dump_take(struct dump *d, struct dump_piece *piece)
{
	fflush(d->side);
	free(piece->text);
	piece->len = d->side_len;
	piece->text = must_realloc(NULL, d->side_len + DUMP_PIECE, 1);
	memcpy(piece->text, d->side_text, d->side_len);
	/* What is copied with it. */
	memset(piece->text + d->side_len, 0, DUMP_PIECE);
	rewind(d->side);
}

struct dump_piece *dump_make(struct dump *d, struct dump_pieces *p,
			     uint32_t serial)
{
	if (serial >= p->n) {
		uint32_t n = 2 * serial + 64;

		p->piece = must_realloc(p->piece, n, sizeof(*p->piece));
		memset(p->piece + p->n, 0, (n - p->n) * sizeof(*p->piece));
		p->n = n;
	}
	dump_take(d, &p->piece[serial]);
	return &p->piece[serial];
}

void dump_doubt(struct dump *d, const struct hwpmc_image *image)
{
	if (!image->doubt)
		return;
	for (uint32_t i = 0; i < d->ndoubtful; i++)
		if (d->doubtful[i] == image)
			return;
	d->doubtful = must_realloc(d->doubtful, d->ndoubtful + 1, sizeof(*d->doubtful));
	d->doubtful[d->ndoubtful++] = image;
}

void dump_side(struct dump *d)
{
	fflush(d->side);
	outbuf_put(&d->out, d->side_text, d->side_len);
	rewind(d->side);
}
