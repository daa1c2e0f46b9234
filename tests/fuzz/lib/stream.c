// SPDX-License-Identifier: BSD-2-Clause
/*
 * stream.c - a log as it comes from a file, a pipe or a connection, plain or
 * compressed: the bytes as they are; and compressed, with the first two of them
 * saying what is damaged then. Each reader must say the same of the same bytes.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zstd.h>

#include <libhwpmcstat.h>

#include "fuzz.h"

#define ROOM	(64 * 1024)

struct answer {
	uint64_t records;
	bool error;
};

static struct answer drain(struct hwpmc_input *in)
{
	struct answer a = { .records = 0 };
	struct hwpmc_record r;
	int rc;

	while ((rc = hwpmc_input_next(in, &r)) > 0)
		a.records++;
	a.error = rc < 0;
	need(!a.error || hwpmc_input_error(in)[0], "an error without a word");
	hwpmc_input_close(in);
	return a;
}

static struct answer of_file(const void *bytes, size_t len)
{
	int fd = memfd_create("log", 0);
	char err[600] = "";
	struct hwpmc_input *in;
	struct answer a = { .error = true };

	need(fd >= 0 && write(fd, bytes, len) == (ssize_t)len &&
	     lseek(fd, 0, SEEK_SET) == 0, "no file");
	in = hwpmc_input_fd(fd, err, sizeof(err));
	need(in || err[0], "no input without a word");
	if (in)
		a = drain(in);
	close(fd);
	return a;
}

static struct answer of_socket(const void *bytes, size_t len)
{
	struct answer a = { .error = true };
	struct hwpmc_input *in;
	char err[600] = "";
	int fds[2];

	need(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 &&
	     write(fds[1], bytes, len) == (ssize_t)len && close(fds[1]) == 0,
	     "no connection");
	in = hwpmc_input_fd(fds[0], err, sizeof(err));
	need(in || err[0], "no input without a word");
	if (in)
		a = drain(in);
	close(fds[0]);
	return a;
}

static struct answer both(const void *bytes, size_t len)
{
	struct answer file = of_file(bytes, len), conn = of_socket(bytes, len);

	need(file.records == conn.records && file.error == conn.error,
	     "a file and a connection are different logs");
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t packed[ZSTD_COMPRESSBOUND(ROOM)];
	struct answer plain, whole;
	size_t n;

	if (size < 2 || size > ROOM)
		return 0;
	plain = both(data + 2, size - 2);
	n = ZSTD_compress(packed, sizeof(packed), data + 2, size - 2, 1);
	need(!ZSTD_isError(n), "no compression");
	/* Compressed twice is another log than its bytes. */
	if (size < 6 || memcmp(data + 2, "\x28\xb5\x2f\xfd", 4)) {
		whole = both(packed, n);
		need(whole.records == plain.records,
		     "a compressed log has other records");
	}
	packed[data[0] * n / 256] ^= 1 + data[1] % 255;
	both(packed, n);
	both(packed, data[0] * n / 256);
	return 0;
}
