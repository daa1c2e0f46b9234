/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outbuf.h - text that is written fast: a large buffer before a descriptor, numbers
 * without printf. An error is kept until the end; what follows it is thrown away.
 */
#ifndef TOOLS_OUTBUF_H
#define TOOLS_OUTBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUTBUF_SIZE	(256 * 1024)

struct outbuf {
	char *at, *end;			/* where the next byte goes; of the buffer */
	char *data;
	int fd;
	int error;			/* errno of the write that failed, or 0 */
};

void outbuf_open(struct outbuf *b, int fd);
void outbuf_flush(struct outbuf *b);
/* 0, or -1 with errno of the first thing that went wrong. The fd stays open. */
int outbuf_close(struct outbuf *b);
/* What does not fit is written in pieces. */
void outbuf_put_slowly(struct outbuf *b, const char *text, size_t len);

static inline void outbuf_put(struct outbuf *b, const char *text, size_t len)
{
	if ((size_t)(b->end - b->at) < len) {
		outbuf_put_slowly(b, text, len);
		return;
	}
	memcpy(b->at, text, len);
	b->at += len;
}

/*
 * For lines that are made of short pieces: a place for a line of at most `len` bytes, a
 * few hundred. The caller sets b->at behind what it has put there.
 */
static inline char *outbuf_reserve(struct outbuf *b, size_t len)
{
	if ((size_t)(b->end - b->at) < len)
		outbuf_flush(b);
	return b->at;
}

/* Text that lies in `room` bytes, a constant. Returns what is behind it. */
__attribute__((always_inline))
static inline char *outbuf_put_at(char *at, const char *text, size_t len, size_t room)
{
	memcpy(at, text, room);
	return at + len;
}

/* The digits of all numbers below 1000, and a byte: three loads for nine digits. */
extern char outbuf_thousand[1000][4];

/* Nine digits of a number below 1,000,000,000, and a byte behind them is written too. */
static inline char *outbuf_nine_at(char *at, uint32_t n)
{
	uint32_t high = n / 1000, top = n / 1000000;

	memcpy(at, outbuf_thousand[top], 4);
	memcpy(at + 3, outbuf_thousand[high - top * 1000], 4);
	memcpy(at + 6, outbuf_thousand[n - high * 1000], 4);
	return at + 9;
}

static inline void outbuf_puts(struct outbuf *b, const char *text)
{
	outbuf_put(b, text, strlen(text));
}

static inline void outbuf_putc(struct outbuf *b, char c)
{
	outbuf_put(b, &c, 1);
}

/* Decimal. */
void outbuf_u64(struct outbuf *b, uint64_t n);
/* Exactly `digits` of them, with zeros in front: fractions. */
void outbuf_fixed(struct outbuf *b, uint64_t n, unsigned int digits);
/* Nine of a number below 1,000,000,000: nanoseconds of a second. */
void outbuf_nine(struct outbuf *b, uint32_t n);

#endif
