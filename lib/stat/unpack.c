/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unpack.c - files of the kernel that are packed by xz, gzip or zstd. libdw would unpack
 * them too, without a limit, whatever they unpack to.
 */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "stat.h"

#define PIECE		(128u << 10)
#define XZ_MEMORY	(256u << 20)	/* the largest dictionary that xz -9 makes: 64 MiB */

struct unpack {
	int from, to;
	uint64_t left;			/* bytes that may be written */
	uint8_t in[PIECE], out[PIECE];
};

/* Bytes of `in`; 0: the end. */
static ssize_t unpack_more(struct unpack *u)
{
	ssize_t n;

	do
		n = read(u->from, u->in, PIECE);
	while (n < 0 && errno == EINTR);
	return n;
}

static bool unpack_put(struct unpack *u, size_t len)
{
	if (len > u->left) {
		errno = EFBIG;
		return false;
	}
	u->left -= len;
	for (size_t done = 0; done < len; ) {
		ssize_t n = write(u->to, u->out + done, len - done);

		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? n : 0;
	}
	return true;
}

/* ---- formats: true after the whole ---------------------------------------- */

static bool unpack_xz(struct unpack *u)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret rc = lzma_stream_decoder(&s, XZ_MEMORY, LZMA_CONCATENATED);
	ssize_t n = 1;

	while (rc == LZMA_OK) {
		if (!s.avail_in && n > 0) {
			n = unpack_more(u);
			s.next_in = u->in;
			s.avail_in = n > 0 ? n : 0;
		}
		s.next_out = u->out;
		s.avail_out = PIECE;
		rc = lzma_code(&s, n > 0 ? LZMA_RUN : LZMA_FINISH);
		if (n < 0 || !unpack_put(u, PIECE - s.avail_out))
			rc = LZMA_PROG_ERROR;
	}
	lzma_end(&s);
	return rc == LZMA_STREAM_END;
}

static bool unpack_gz(struct unpack *u)
{
	z_stream s = { .next_in = NULL };
	int rc = inflateInit2(&s, 16 + MAX_WBITS);

	while (rc == Z_OK) {
		ssize_t n = 1;

		if (!s.avail_in) {
			n = unpack_more(u);
			s.next_in = u->in;
			s.avail_in = n > 0 ? n : 0;
		}
		s.next_out = u->out;
		s.avail_out = PIECE;
		/* Z_BUF_ERROR: the file was cut. */
		rc = inflate(&s, Z_NO_FLUSH);
		if (n < 0 || !unpack_put(u, PIECE - s.avail_out))
			rc = Z_ERRNO;
	}
	inflateEnd(&s);
	return rc == Z_STREAM_END;
}

static bool unpack_zstd(struct unpack *u)
{
	ZSTD_DStream *s = ZSTD_createDStream();
	ZSTD_inBuffer in = { u->in, 0, 0 };
	size_t rc = s ? 1 : 0;
	bool good = s;

	while (good && rc) {
		ZSTD_outBuffer out = { u->out, PIECE, 0 };
		ssize_t n = 1;

		if (in.pos == in.size) {
			n = unpack_more(u);
			in = (ZSTD_inBuffer){ u->in, n > 0 ? n : 0, 0 };
		}
		rc = ZSTD_decompressStream(s, &out, &in);
		/* Nothing is left to read, and nothing came: the file was cut. */
		good = !ZSTD_isError(rc) && (n > 0 || out.pos) &&
		       unpack_put(u, out.pos);
	}
	ZSTD_freeDStream(s);
	return good;
}

/* ---- files --------------------------------------------------------------- */

static bool begins_with(const struct unpack *u, ssize_t n, const char *magic, size_t len)
{
	return n >= (ssize_t)len && !memcmp(u->in, magic, len);
}

static bool unpack_whole(struct unpack *u)
{
	ssize_t n = pread(u->from, u->in, 6, 0);

	errno = 0;
	if (begins_with(u, n, "\xfd" "7zXZ", 6))
		return unpack_xz(u);
	if (begins_with(u, n, "\x1f\x8b", 2))
		return unpack_gz(u);
	if (begins_with(u, n, "\x28\xb5\x2f\xfd", 4))
		return unpack_zstd(u);
	return false;
}

/* SIGXFSZ ends a process that writes beyond the limit of files. */
static uint64_t limit_of_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

int unpack_fd(int fd, uint64_t limit)
{
	uint64_t of_files = limit_of_files();
	struct unpack *u = stat_alloc(1, sizeof(*u));
	int to = -1, error;

	if (!u)
		return -1;
	u->from = fd;
	u->left = limit < of_files ? limit : of_files;
	u->to = memfd_create("unpacked", MFD_CLOEXEC);
	if (u->to >= 0 && unpack_whole(u))
		to = u->to;
	error = errno;
	if (to < 0 && u->to >= 0)
		close(u->to);
	free(u);
	errno = error;
	return to;
}
