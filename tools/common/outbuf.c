/* SPDX-License-Identifier: BSD-2-Clause */
/* outbuf.c - a large buffer before a descriptor. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "msg.h"
#include "outbuf.h"

static void make_thousand(void);

void outbuf_open(struct outbuf *b, int fd)
{
	make_thousand();
	b->data = must_realloc(NULL, OUTBUF_SIZE, 1);
	b->at = b->data;
	b->end = b->data + OUTBUF_SIZE;
	b->fd = fd;
	b->error = 0;
}

static void write_all(struct outbuf *b, const char *data, size_t len)
{
	while (len && !b->error) {
		ssize_t n = write(b->fd, data, len);

		if (n < 0) {
			if (errno != EINTR)
				b->error = errno;
			continue;
		}
		data += n;
		len -= n;
	}
}

void outbuf_flush(struct outbuf *b)
{
	write_all(b, b->data, b->at - b->data);
	b->at = b->data;
}

int outbuf_close(struct outbuf *b)
{
	outbuf_flush(b);
	free(b->data);
	errno = b->error;
	return b->error ? -1 : 0;
}

void outbuf_put_slowly(struct outbuf *b, const char *text, size_t len)
{
	outbuf_flush(b);
	if (len > OUTBUF_SIZE) {
		write_all(b, text, len);
		return;
	}
	memcpy(b->at, text, len);
	b->at += len;
}

/* ---- numbers ------------------------------------------------------------- */

static const char pairs[] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

/* Two digits at a time, from the end of `text`. */
static char *digits_before(char *end, uint64_t n)
{
	while (n >= 100) {
		end -= 2;
		memcpy(end, pairs + n % 100 * 2, 2);
		n /= 100;
	}
	if (n >= 10) {
		end -= 2;
		memcpy(end, pairs + n * 2, 2);
	} else {
		*--end = '0' + n;
	}
	return end;
}

void outbuf_u64(struct outbuf *b, uint64_t n)
{
	char text[24], *begin = digits_before(text + sizeof(text), n);

	outbuf_put(b, begin, text + sizeof(text) - begin);
}

void outbuf_fixed(struct outbuf *b, uint64_t n, unsigned int digits)
{
	char text[24], *end = text + sizeof(text), *begin;

	memset(text, '0', sizeof(text));
	begin = digits_before(end, n);
	/* In a number that is too large none is lost. */
	if (end - begin < (ptrdiff_t)digits)
		begin = end - digits;
	outbuf_put(b, begin, end - begin);
}

char outbuf_thousand[1000][4];

static void make_thousand(void)
{
	for (unsigned int i = 0; i < 1000; i++) {
		outbuf_thousand[i][0] = '0' + i / 100;
		outbuf_thousand[i][1] = '0' + i / 10 % 10;
		outbuf_thousand[i][2] = '0' + i % 10;
	}
}

void outbuf_nine(struct outbuf *b, uint32_t n)
{
	b->at = outbuf_nine_at(outbuf_reserve(b, 16), n);
}
