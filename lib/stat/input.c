/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * input.c - a log from a file, a descriptor or memory, plain or compressed by zstd:
 * bytes for the parser, read in pieces. A file is not mapped: another process may cut it
 * off in the meantime. A file of perf record becomes a log on the way to the parser.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <zstd.h>

#include "perf.h"
#include "stat.h"

#define PIECE		(256 * 1024)
#define ZSTD_MAGIC_LE	0xfd2fb528u

struct hwpmc_input {
	struct hwpmc_parser *parser;
	char *name;
	int fd;				/* -1: memory */
	bool own_fd;
	const void *memory;		/* NULL: a descriptor */
	size_t memory_len;
	bool file;			/* a regular one: what it had at first */
	uint64_t file_at, file_len;
	ZSTD_DStream *zstd;		/* NULL: plain */
	struct perfdata *perf;		/* NULL: a log */
	uint8_t *raw, *plain;		/* pieces, read and decompressed */
	size_t raw_at, raw_len;
	size_t plain_at, plain_len;
	uint64_t packed;		/* bytes that were decompressed */
	bool begun;			/* its first bytes have come: plain or compressed */
	bool looked;			/* whether it is a file of perf record */
	bool spooling;			/* it is one, and comes by a stream */
	bool in_frame;			/* zstd: it has not come to its end */
	bool held;			/* zstd: it may hold more than fitted in .plain */
	int spool;			/* all that was read, to read it again */
	bool eof, cut, skip_samples;
	bool closed;			/* CLOSELOG has come */
	uint64_t bytes;			/* that the parser got */
	uint64_t raw_bytes, limit;	/* that came; limit 0: any number */
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
	in->fd = in->spool = -1;
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
	if (in->spool >= 0)
		close(in->spool);
	if (in->own_fd)
		close(in->fd);
	ZSTD_freeDStream(in->zstd);
	perf_free(in->perf);
	hwpmc_parser_free(in->parser);
	free(in->raw);
	free(in->plain);
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

/* A writer may come to the end while this reads: what there was when it was opened. */
static void look_at_file(struct hwpmc_input *in)
{
	struct stat st;

	in->file = fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size;
	if (!in->file)
		return;
	in->file_len = st.st_size;
	posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
}

/* Of a socket whose owner has set a limit. */
static int silence_of(int fd)
{
	struct timeval limit = { 0 };
	socklen_t size = sizeof(limit);

	return getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &size) < 0 ? 0 :
	       limit.tv_sec;
}

static ssize_t read_file(struct hwpmc_input *in, void *buf, size_t len)
{
	uint64_t left = in->file_len - in->file_at;
	ssize_t n;

	if (!left)
		return 0;
	do {
		n = pread(in->fd, buf, left < len ? left : len, in->file_at);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return input_fail(in, errno, "%s", strerror(errno));
	if (!n)
		return input_fail(in, EIO, "it was truncated while it was read: %"
				  PRIu64 " of %" PRIu64 " bytes are missing", left,
				  in->file_len);
	in->file_at += n;
	return n;
}

/* A descriptor that does not block, or a socket with a limit for silence. */
static int input_silent(struct hwpmc_input *in)
{
	int limit = silence_of(in->fd);

	if (limit)
		return input_fail(in, ETIMEDOUT, "no data received for %d s", limit);
	return input_fail(in, EAGAIN, "no more data has arrived yet");
}

static ssize_t read_stream(struct hwpmc_input *in, void *buf, size_t len)
{
	ssize_t n;

	do {
		n = read(in->fd, buf, len);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return input_silent(in);
	if (n < 0)
		return input_fail(in, errno, "%s", strerror(errno));
	in->raw_bytes += n;
	if (in->limit && in->raw_bytes > in->limit)
		return input_fail(in, EFBIG, "more than %" PRIu64 " bytes arrived",
				  in->limit);
	return n;
}

static ssize_t read_some(struct hwpmc_input *in, void *buf, size_t len)
{
	return in->file ? read_file(in, buf, len) : read_stream(in, buf, len);
}

static int begin_zstd(struct hwpmc_input *in)
{
	in->zstd = ZSTD_createDStream();
	if (!in->zstd || ZSTD_isError(ZSTD_initDStream(in->zstd)))
		return input_fail(in, ENOMEM, "no memory to decompress it");
	return 0;
}

static int input_keep(struct hwpmc_input *in, const uint8_t *from, size_t len)
{
	if (in->spool < 0 || spool_write(in->spool, from, len) == 0)
		return 0;
	return input_fail(in, errno, "cannot keep it in a temporary file: %s; set TMPDIR",
			  strerror(errno));
}

/* Bytes at the front that show which kind of file it is. */
static size_t wanted_bytes(const struct hwpmc_input *in)
{
	static const char *const magics[] = { "PERF", "2ELI" };

	for (size_t i = 0; in->raw_len >= 4 && i < 2; i++)
		if (memcmp(in->raw, magics[i], 4) == 0)
			return PERF_HEADER_PIPE;
	return 4;
}

/* What the first bytes are decides; they are kept. Again if they have not come yet (EAGAIN). */
static int input_begin(struct hwpmc_input *in)
{
	while (in->raw_len < wanted_bytes(in)) {
		uint8_t *at = in->raw + in->raw_len;
		ssize_t n = read_some(in, at, PIECE - in->raw_len);

		if (n < 0 || input_keep(in, at, n) < 0)
			return -1;
		if (!n)
			break;
		in->raw_len += n;
	}
	in->begun = true;
	return is_zstd(in->raw, in->raw_len) && !in->zstd ? begin_zstd(in) : 0;
}

static int input_prepare(struct hwpmc_input *in)
{
	look_at_file(in);
	in->raw = malloc(PIECE);
	in->plain = malloc(PIECE);
	if (!in->raw || !in->plain)
		return input_fail(in, ENOMEM, "no memory");
	return input_begin(in) < 0 && errno != EAGAIN ? -1 : 0;
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
	if (input_prepare(in) == 0)
		return in;
	snprintf(err, size, "%s", in->error);
	hwpmc_input_close(in);
	return NULL;
}

EXPORT struct hwpmc_input *hwpmc_input_fd(int fd, char *err, size_t size)
{
	return open_fd(fd, "log", false, err, err ? size : 0);
}

EXPORT struct hwpmc_input *hwpmc_input_open(const char *path, char *err,
					    size_t size)
{
	int fd;

	size = err ? size : 0;
	if (stat_null(!path)) {
		snprintf(err, size, NULL_GIVEN);
		return NULL;
	}
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
	struct hwpmc_input *in;

	if (stat_null(!data))
		return NULL;
	in = input_new("memory");
	if (!in)
		return NULL;
	in->memory = data;
	in->memory_len = len;
	in->begun = true;
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

/* More raw bytes to in->raw (or in memory); 0: there are none. */
static ssize_t more_raw(struct hwpmc_input *in, const uint8_t **at)
{
	ssize_t n;

	if (in->memory) {
		*at = (const uint8_t *)in->memory + in->raw_at;
		return in->memory_len - in->raw_at;
	}
	if (in->raw_at == in->raw_len) {
		n = read_some(in, in->raw, PIECE);
		if (n < 0)
			return -1;
		in->raw_at = 0;
		in->raw_len = n;
		if (input_keep(in, in->raw, n) < 0)
			return -1;
	}
	*at = in->raw + in->raw_at;
	return in->raw_len - in->raw_at;
}

/* Decompressed bytes, behind those of in->plain. 0: there are no more. */
static ssize_t unpack_more(struct hwpmc_input *in)
{
	const uint8_t *at;
	size_t left;

	for (;;) {
		bool held = in->held;
		ssize_t n = held ? 0 : more_raw(in, &at);
		ZSTD_inBuffer from = { at, n, 0 };
		ZSTD_outBuffer to = { in->plain, PIECE, in->plain_len };

		if (n < 0)
			return -1;
		left = ZSTD_decompressStream(in->zstd, &to, &from);
		if (ZSTD_isError(left))
			return input_fail(in, EINVAL, "the compressed data is damaged: %s",
					  ZSTD_getErrorName(left));
		in->raw_at += from.pos;
		in->packed += from.pos;
		in->held = to.pos == PIECE;
		n = to.pos - in->plain_len;
		in->plain_len = to.pos;
		if (from.pos || n)
			in->in_frame = left > 0;
		if (n)
			return n;
		if (!from.size && !held) {
			in->cut |= in->in_frame;
			return 0;
		}
	}
}

/* The next decompressed bytes, to in->plain. 0: there are no more. */
static ssize_t unpack_some(struct hwpmc_input *in)
{
	in->plain_at = in->plain_len = 0;
	return unpack_more(in);
}

/* ---- files of perf record ------------------------------------------------ */

static ssize_t read_unpacked(struct hwpmc_input *in, void *buf, size_t len)
{
	size_t left = in->plain_len - in->plain_at;
	ssize_t n;

	if (!left) {
		n = unpack_some(in);
		if (n <= 0)
			return n;
		left = n;
	}
	if (len > left)
		len = left;
	memcpy(buf, in->plain + in->plain_at, len);
	in->plain_at += len;
	return len;
}

/* The bytes of a file at any place; those of a stream, and of memory, in their order. */
static ssize_t read_for_perf(void *arg, uint64_t at, void *buf, size_t len)
{
	struct hwpmc_input *in = arg;
	const uint8_t *from;
	ssize_t n;

	if (in->zstd)
		return read_unpacked(in, buf, len);
	if (in->file) {
		in->file_at = at < in->file_len ? at : in->file_len;
		return read_file(in, buf, len);
	}
	if (in->memory)
		in->raw_at = at < in->memory_len ? at : in->memory_len;
	n = more_raw(in, &from);
	if (n <= 0)
		return n;
	if ((size_t)n > len)
		n = len;
	memcpy(buf, from, n);
	in->raw_at += n;
	return n;
}

/* What was kept takes the place of what it came from. */
static int take_spool(struct hwpmc_input *in)
{
	struct stat st;

	if (fstat(in->spool, &st) < 0)
		return input_fail(in, errno, "%s", strerror(errno));
	if (in->own_fd)
		close(in->fd);
	in->fd = in->spool;
	in->own_fd = true;
	in->spool = -1;
	in->memory = NULL;
	in->file = true;
	in->file_len = st.st_size;
	in->raw_at = in->raw_len = 0;
	return 0;
}

static int open_spool(struct hwpmc_input *in)
{
	const char *dir;

	if (in->spool >= 0)
		return 0;
	in->spool = spool_open(&dir);
	if (in->spool >= 0)
		return input_keep(in, in->raw, in->raw_len);
	return input_fail(in, errno, "cannot copy the log to '%s', to read it twice: %s; set TMPDIR",
			  dir, strerror(errno));
}

/* The header of a file has offsets, so that all of it must be there. */
static int spool_stream(struct hwpmc_input *in)
{
	const uint8_t *at;
	ssize_t n;

	if (open_spool(in) < 0)
		return -1;
	do {
		in->raw_at = in->raw_len;
		n = more_raw(in, &at);
	} while (n > 0);
	return n < 0 ? -1 : take_spool(in);
}

/* A compressed file expands to no more, whatever it has: its samples are alike, and not equal. */
#define EXPANDS_ALWAYS	(64u << 20)
#define EXPANDS_TIMES	16

static int spool_piece(struct hwpmc_input *in, uint64_t spooled)
{
	if (in->limit && spooled > in->limit)
		return input_fail(in, EFBIG, "it expands to more than %" PRIu64 " bytes",
				  in->limit);
	if (spooled > EXPANDS_ALWAYS + EXPANDS_TIMES * in->packed)
		return input_fail(in, EFBIG, "it expands to more than %u times its size; decompress it with zstd -d",
				  EXPANDS_TIMES);
	return input_keep(in, in->plain, in->plain_len);
}

static int spool_rest(struct hwpmc_input *in)
{
	uint64_t spooled = 0;
	ssize_t n;

	do {
		int spool = in->spool;

		spooled += in->plain_len;
		if (spool_piece(in, spooled) < 0)
			return -1;
		/* The compressed bytes are not kept. */
		in->spool = -1;
		n = unpack_some(in);
		in->spool = spool;
	} while (n > 0);
	if (n < 0 && errno == EAGAIN)
		return input_fail(in, EINVAL, "a compressed perf.data must come from a descriptor that blocks");
	return n;
}

/* The first piece is in in->plain. */
static int spool_unpacked(struct hwpmc_input *in)
{
	const char *dir;
	int packed = in->spool;

	in->spool = spool_open(&dir);
	if (in->spool < 0)
		return input_fail(in, errno, "cannot decompress it to '%s': %s; set TMPDIR", dir,
				  strerror(errno));
	if (packed >= 0)
		close(packed);
	if (spool_rest(in) < 0)
		return -1;
	ZSTD_freeDStream(in->zstd);
	in->zstd = NULL;
	in->in_frame = in->held = false;
	return take_spool(in);
}

static int begin_perf(struct hwpmc_input *in)
{
	struct perf_source source = {
		.read = read_for_perf, .arg = in,
		.size = in->zstd ? 0 : in->file ? in->file_len : in->memory ? in->memory_len : 0,
	};

	in->perf = perf_new(&source);
	if (!in->perf)
		return input_fail(in, ENOMEM, "no memory");
	perf_skip_samples(in->perf, in->skip_samples);
	return 0;
}

/* Bytes of in->plain that show which kind of file it is. */
static size_t wanted_plain(const struct hwpmc_input *in)
{
	if (!perf_is(in->plain, in->plain_len))
		return sizeof(uint64_t);
	return perf_is_file(in->plain, in->plain_len) ? PERF_HEADER_FILE : PERF_HEADER_PIPE;
}

/* All of a file must be there: not if its header is of none. */
static int begin_packed_file(struct hwpmc_input *in)
{
	int rc = begin_perf(in);

	if (rc == 0 && perf_check_header(in->perf, in->plain, in->plain_len) < 0)
		rc = input_fail(in, EINVAL, "%s", perf_error(in->perf));
	perf_free(in->perf);
	in->perf = NULL;
	return rc < 0 || spool_unpacked(in) < 0 ? -1 : begin_perf(in);
}

static int look_into_packed(struct hwpmc_input *in)
{
	ssize_t n = 1;

	if (!in->plain)
		in->plain = malloc(PIECE);
	if (!in->plain)
		return input_fail(in, ENOMEM, "no memory");
	while (n > 0 && in->plain_len < wanted_plain(in))
		n = unpack_more(in);
	if (n < 0)
		return -1;
	in->looked = true;
	if (perf_is_file(in->plain, in->plain_len))
		return begin_packed_file(in);
	if (perf_is(in->plain, in->plain_len))
		return begin_perf(in);
	return in->plain_len ? input_feed(in, in->plain, in->plain_len) : end_of_bytes(in);
}

/* Its first bytes are there, compressed or not. */
static int look_for_perf(struct hwpmc_input *in)
{
	const uint8_t *head = in->memory ? in->memory : in->raw;
	size_t len = in->memory ? in->memory_len : in->raw_len;

	if (in->zstd)
		return look_into_packed(in);
	in->spooling |= !in->memory && !in->file && perf_is_file(head, len);
	if (in->spooling && spool_stream(in) < 0)
		return -1;
	in->looked = true;
	return in->spooling || perf_is(head, len) ? begin_perf(in) : 0;
}

static int feed_perf(struct hwpmc_input *in)
{
	const uint8_t *at;
	ssize_t n = perf_more(in->perf, &at);

	if (n < 0 && *perf_error(in->perf))
		return input_fail(in, errno, "%s", perf_error(in->perf));
	if (n < 0)
		return -1;
	if (n)
		return input_feed(in, at, n);
	in->cut |= perf_cut(in->perf);
	return end_of_bytes(in);
}

/* ---- all kinds ----------------------------------------------------------- */

static int feed_zstd(struct hwpmc_input *in)
{
	ssize_t n = unpack_some(in);

	if (n < 0)
		return -1;
	return n ? input_feed(in, in->plain, n) : end_of_bytes(in);
}

static int feed_more(struct hwpmc_input *in)
{
	const uint8_t *at;
	ssize_t n;

	if (!in->begun && input_begin(in) < 0)
		return -1;
	if (!in->looked) {
		bool packed = in->zstd;

		if (look_for_perf(in) < 0)
			return -1;
		if (packed)
			return 0;
	}
	if (in->perf)
		return feed_perf(in);
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
			in->closed |= record->hdr->type == HWPMC_LOG_CLOSELOG;
			return 1;
		case HWPMC_PARSE_MORE:
			if (feed_more(in) < 0)
				return -1;
			break;
		case HWPMC_PARSE_END:
			in->cut |= !in->closed;
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
	enum hwpmc_parse what;

	if (stat_null(!in || !record))
		return -1;
	what = hwpmc_parser_next(in->parser, record);
	if (what != HWPMC_PARSE_RECORD)
		return next_but(in, record, what);
	in->closed |= record->hdr->type == HWPMC_LOG_CLOSELOG;
	return 1;
}

EXPORT const struct hwpmc_log_sample *
hwpmc_input_samples(struct hwpmc_input *in, size_t *bytes)
{
	if (bytes)
		*bytes = 0;
	if (stat_null(!in || !bytes))
		return NULL;
	return hwpmc_parser_samples(in->parser, bytes);
}

EXPORT int hwpmc_input_keep(struct hwpmc_input *in)
{
	if (stat_null(!in))
		return -1;
	if (in->memory || in->file)
		return 0;
	return open_spool(in);
}

EXPORT void hwpmc_input_limit(struct hwpmc_input *in, uint64_t bytes)
{
	if (in)
		in->limit = bytes;
}

EXPORT void hwpmc_input_skip_samples(struct hwpmc_input *in, bool skip)
{
	if (!in)
		return;
	in->skip_samples = skip;
	hwpmc_parser_skip_samples(in->parser, skip);
	if (in->perf)
		perf_skip_samples(in->perf, skip);
}

EXPORT const char *hwpmc_input_error(const struct hwpmc_input *in)
{
	return in ? in->error : "no input";
}

EXPORT bool hwpmc_input_cut(const struct hwpmc_input *in)
{
	return in && in->cut;
}

EXPORT uint64_t hwpmc_input_bytes(const struct hwpmc_input *in)
{
	return in ? in->bytes : 0;
}

EXPORT int hwpmc_input_rewind(struct hwpmc_input *in)
{
	struct hwpmc_parser *parser;
	bool again;

	if (stat_null(!in))
		return -1;
	again = in->perf;
	if (!in->memory && !in->file && !(in->spool >= 0 && in->eof)) {
		errno = ESPIPE;
		return -1;
	}
	if (in->spool >= 0 && take_spool(in) < 0)
		return -1;
	parser = hwpmc_parser_new();
	if (!parser)
		return input_fail(in, ENOMEM, "no memory to read it again");
	hwpmc_parser_free(in->parser);
	in->parser = parser;
	hwpmc_parser_skip_samples(parser, in->skip_samples);
	in->raw_at = in->raw_len = in->plain_at = in->plain_len = 0;
	in->file_at = in->bytes = in->packed = 0;
	/* Its first bytes show which kind of file it is. */
	in->begun = in->looked || in->memory;
	in->eof = in->cut = in->closed = in->in_frame = in->held = false;
	if (in->zstd)
		ZSTD_initDStream(in->zstd);
	perf_free(in->perf);
	in->perf = NULL;
	return again ? begin_perf(in) : 0;
}
