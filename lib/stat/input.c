/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * input.c - a log from a file, a descriptor or memory, plain or compressed by zstd:
 * bytes for the parser. Plain files are mapped, all else is read in pieces.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "stat.h"

#define PIECE		(256 * 1024)
/* Of a mapped file that is in memory because of this: a multiple of pages. */
#define WINDOW		(2 * 1024 * 1024)
#define ZSTD_MAGIC_LE	0xfd2fb528u

struct hwpmc_input {
	struct hwpmc_parser *parser;
	char *name;
	int fd;				/* -1: memory */
	bool own_fd;
	const void *map;		/* memory, or the mapped file */
	size_t map_len;
	bool unmap;
	ZSTD_DStream *zstd;		/* NULL: plain */
	uint8_t *raw, *plain;		/* pieces, read and decompressed */
	size_t raw_at, raw_len;
	bool in_frame;			/* zstd: it has not come to its end */
	uint8_t *kept;			/* all that was read, to read it again */
	size_t kept_len, kept_room;
	bool keeps;
	bool eof, cut, skip_samples;
	uint64_t bytes;
	char error[512];
};

__attribute__((format(printf, 3, 4)))
static int input_fail(struct hwpmc_input *in, int err, const char *format, ...)
{
	va_list ap;
	int n;

	n = snprintf(in->error, sizeof(in->error), "%s: ", in->name);
	va_start(ap, format);
	vsnprintf(in->error + n, sizeof(in->error) - n, format, ap);
	va_end(ap);
	errno = err;
	return -1;
}

static struct hwpmc_input *input_new(const char *name)
{
	struct hwpmc_input *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->fd = -1;
	in->name = strdup(name);
	in->parser = hwpmc_parser_new();
	if (in->name && in->parser)
		return in;
	hwpmc_input_close(in);
	return NULL;
}

EXPORT void hwpmc_input_close(struct hwpmc_input *in)
{
	if (!in)
		return;
	if (in->unmap)
		munmap((void *)in->map, in->map_len);
	if (in->own_fd)
		close(in->fd);
	ZSTD_freeDStream(in->zstd);
	hwpmc_parser_free(in->parser);
	free(in->raw);
	free(in->plain);
	free(in->kept);
	free(in->name);
	free(in);
}

/* ---- opening ------------------------------------------------------------- */

static bool is_zstd(const void *head, size_t len)
{
	uint32_t magic;

	if (len < sizeof(magic))
		return false;
	memcpy(&magic, head, sizeof(magic));
	return magic == ZSTD_MAGIC_LE;
}

static ssize_t read_some(int fd, void *buf, size_t len)
{
	ssize_t n;

	do {
		n = read(fd, buf, len);
	} while (n < 0 && errno == EINTR);
	return n;
}

static int map_file(struct hwpmc_input *in)
{
	struct stat st;

	if (fstat(in->fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return -1;
	in->map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, in->fd, 0);
	if (in->map == MAP_FAILED) {
		in->map = NULL;
		return -1;
	}
	in->map_len = st.st_size;
	in->unmap = true;
	madvise((void *)in->map, in->map_len, MADV_SEQUENTIAL);
	return 0;
}

static int begin_zstd(struct hwpmc_input *in)
{
	in->zstd = ZSTD_createDStream();
	if (!in->zstd || ZSTD_isError(ZSTD_initDStream(in->zstd)))
		return input_fail(in, ENOMEM, "no memory to decompress it");
	return 0;
}

/* What the first bytes are decides; those of a pipe are kept. */
static int input_begin(struct hwpmc_input *in)
{
	if (map_file(in) == 0)
		return is_zstd(in->map, in->map_len) ? begin_zstd(in) : 0;
	in->raw = malloc(PIECE);
	in->plain = malloc(PIECE);
	if (!in->raw || !in->plain)
		return input_fail(in, ENOMEM, "no memory");
	while (in->raw_len < 4) {
		ssize_t n = read_some(in->fd, in->raw + in->raw_len,
				      PIECE - in->raw_len);

		if (n < 0)
			return input_fail(in, errno, "%s", strerror(errno));
		if (!n)
			break;
		in->raw_len += n;
	}
	return is_zstd(in->raw, in->raw_len) ? begin_zstd(in) : 0;
}

static struct hwpmc_input *open_fd(int fd, const char *name, bool own,
				   char *err, size_t size)
{
	struct hwpmc_input *in = input_new(name);

	if (!in) {
		snprintf(err, size, "%s: no memory", name);
		return NULL;
	}
	in->fd = fd;
	in->own_fd = own;
	if (input_begin(in) == 0)
		return in;
	snprintf(err, size, "%s", in->error);
	hwpmc_input_close(in);
	return NULL;
}

EXPORT struct hwpmc_input *hwpmc_input_fd(int fd, char *err, size_t size)
{
	return open_fd(fd, "log", false, err, size);
}

EXPORT struct hwpmc_input *hwpmc_input_open(const char *path, char *err,
					    size_t size)
{
	int fd;

	if (strcmp(path, "-") == 0)
		return open_fd(STDIN_FILENO, "standard input", false, err, size);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return open_fd(fd, path, true, err, size);
	snprintf(err, size, "cannot open '%s': %s", path, strerror(errno));
	return NULL;
}

EXPORT struct hwpmc_input *hwpmc_input_memory(const void *data, size_t len)
{
	struct hwpmc_input *in = input_new("memory");

	if (!in)
		return NULL;
	in->map = data;
	in->map_len = len;
	if (is_zstd(data, len) && begin_zstd(in) < 0) {
		hwpmc_input_close(in);
		return NULL;
	}
	return in;
}

/* ---- reading ------------------------------------------------------------- */

static int end_of_bytes(struct hwpmc_input *in)
{
	in->eof = true;
	hwpmc_parser_end(in->parser);
	return 0;
}

static int input_feed(struct hwpmc_input *in, const void *data, size_t len)
{
	in->bytes += len;
	return hwpmc_parser_feed(in->parser, data, len);
}

static int input_keep(struct hwpmc_input *in)
{
	size_t room = in->kept_room;
	uint8_t *more = in->kept;

	if (!in->raw_len)
		return 0;
	while (room < in->kept_len + in->raw_len)
		room = room ? 2 * room : 4 * PIECE;
	if (room != in->kept_room)
		more = realloc(in->kept, room);
	if (!more)
		return input_fail(in, ENOMEM, "no memory for a log that can be read only once");
	in->kept = more;
	in->kept_room = room;
	memcpy(more + in->kept_len, in->raw, in->raw_len);
	in->kept_len += in->raw_len;
	return 0;
}

/*
 * The next piece of what is mapped. Of a file what was read before is given back:
 * it would count as this process's memory, however large the log is.
 */
static ssize_t more_mapped(struct hwpmc_input *in, const uint8_t **at)
{
	const uint8_t *map = in->map;
	size_t left = in->map_len - in->raw_at;

	*at = map + in->raw_at;
	if (!in->unmap)
		return left;
	if (in->raw_at >= WINDOW)
		madvise((void *)(map + (in->raw_at - WINDOW) / WINDOW * WINDOW),
			WINDOW, MADV_DONTNEED);
	return left < WINDOW ? left : WINDOW;
}

/* More raw bytes to in->raw (or the mapped file); 0: there are none. */
static ssize_t more_raw(struct hwpmc_input *in, const uint8_t **at)
{
	ssize_t n;

	if (in->map)
		return more_mapped(in, at);
	if (in->raw_at == in->raw_len) {
		n = read_some(in->fd, in->raw, PIECE);
		if (n < 0)
			return input_fail(in, errno, "%s", strerror(errno));
		in->raw_at = 0;
		in->raw_len = n;
		if (in->keeps && input_keep(in) < 0)
			return -1;
	}
	*at = in->raw + in->raw_at;
	return in->raw_len - in->raw_at;
}

static int feed_zstd(struct hwpmc_input *in)
{
	const uint8_t *at;
	size_t left;

	if (!in->plain)
		in->plain = malloc(PIECE);
	if (!in->plain)
		return input_fail(in, ENOMEM, "no memory");
	for (;;) {
		ssize_t n = more_raw(in, &at);
		ZSTD_inBuffer from = { at, n, 0 };
		ZSTD_outBuffer to = { in->plain, PIECE, 0 };

		if (n < 0)
			return -1;
		left = ZSTD_decompressStream(in->zstd, &to, &from);
		if (ZSTD_isError(left))
			return input_fail(in, EINVAL, "not right compressed: %s",
					  ZSTD_getErrorName(left));
		in->raw_at += from.pos;
		if (from.pos || to.pos)
			in->in_frame = left > 0;
		if (to.pos)
			return input_feed(in, in->plain, to.pos);
		if (!n) {
			in->cut |= in->in_frame;
			return end_of_bytes(in);
		}
	}
}

static int feed_more(struct hwpmc_input *in)
{
	const uint8_t *at;
	ssize_t n;

	if (in->zstd)
		return feed_zstd(in);
	n = more_raw(in, &at);
	if (n < 0)
		return -1;
	if (!n)
		return end_of_bytes(in);
	in->raw_at += n;
	return input_feed(in, at, n);
}

__attribute__((noinline))
static int next_but(struct hwpmc_input *in, struct hwpmc_record *record,
		    enum hwpmc_parse what)
{
	for (;; what = hwpmc_parser_next(in->parser, record)) {
		switch (what) {
		case HWPMC_PARSE_RECORD:
			return 1;
		case HWPMC_PARSE_MORE:
			if (feed_more(in) < 0)
				return -1;
			break;
		case HWPMC_PARSE_END:
			return 0;
		default:
			/* Its writer was killed: what is whole is right. */
			if (in->eof && hwpmc_parser_error_offset(in->parser) &&
			    hwpmc_parser_errno(in->parser) == EINVAL) {
				in->cut = true;
				return 0;
			}
			return input_fail(in, hwpmc_parser_errno(in->parser), "%s",
					  hwpmc_parser_error(in->parser));
		}
	}
}

EXPORT int hwpmc_input_next(struct hwpmc_input *in, struct hwpmc_record *record)
{
	enum hwpmc_parse what = hwpmc_parser_next(in->parser, record);

	return what == HWPMC_PARSE_RECORD ? 1 : next_but(in, record, what);
}

EXPORT int hwpmc_input_keep(struct hwpmc_input *in)
{
	if (in->map || in->keeps)
		return 0;
	in->keeps = true;
	return input_keep(in);
}

EXPORT void hwpmc_input_skip_samples(struct hwpmc_input *in, bool skip)
{
	in->skip_samples = skip;
	hwpmc_parser_skip_samples(in->parser, skip);
}

EXPORT const char *hwpmc_input_error(const struct hwpmc_input *in)
{
	return in->error;
}

EXPORT bool hwpmc_input_cut(const struct hwpmc_input *in)
{
	return in->cut;
}

EXPORT uint64_t hwpmc_input_bytes(const struct hwpmc_input *in)
{
	return in->bytes;
}

EXPORT int hwpmc_input_rewind(struct hwpmc_input *in)
{
	struct hwpmc_parser *parser;

	if (!in->map && !(in->keeps && in->eof)) {
		errno = ESPIPE;
		return -1;
	}
	if (!in->map) {
		in->map = in->kept;
		in->map_len = in->kept_len;
	}
	parser = hwpmc_parser_new();
	if (!parser)
		return input_fail(in, ENOMEM, "no memory to read it again");
	hwpmc_parser_free(in->parser);
	in->parser = parser;
	hwpmc_parser_skip_samples(parser, in->skip_samples);
	in->raw_at = 0;
	in->bytes = 0;
	in->eof = in->cut = in->in_frame = false;
	if (in->zstd)
		ZSTD_initDStream(in->zstd);
	return 0;
}
