// SPDX-License-Identifier: BSD-2-Clause
/*
 * listen.c - what pmcstat -R :port does with the bytes of whoever connects: they come in
 * pieces, are printed as they come, and kept in a file to be read twice. The first byte
 * says how large the pieces are, the second how much is taken. What is taken is the same
 * log as from a file; what is printed is lines without control characters.
 */
#include <sys/socket.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "common/logtext.h"
#include "fuzz.h"

#define ROOM	(64 * 1024)
#define PIECES	64		/* a socket's buffer holds them all */

/* A packet is a piece: a read returns one, however much room there is. */
static int sender_of(const uint8_t *data, size_t size, size_t piece)
{
	int fds[2];

	need(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) == 0, "no connection");
	for (size_t n; size; data += n, size -= n) {
		n = piece < size ? piece : size;
		need(write(fds[1], data, n) == (ssize_t)n, "no room for a piece");
	}
	close(fds[1]);
	return fds[0];
}

static struct hwpmc_input *open_peer(int fd, uint64_t limit)
{
	char err[600] = "";
	struct hwpmc_input *in = hwpmc_input_fd(fd, err, sizeof(err));

	need(in || err[0], "no input without a word");
	if (in && limit)
		hwpmc_input_limit(in, limit);
	return in;
}

static void check_printed(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		need((unsigned char)text[i] >= ' ' || text[i] == '\n',
		     "a control character");
	need(!len || text[len - 1] == '\n', "half a line");
}

static void print(int fd, uint64_t limit)
{
	struct hwpmc_input *in = open_peer(fd, limit);
	struct hwpmc_record r;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	need(f != NULL, "no memory");
	while (in && hwpmc_input_next(in, &r) > 0)
		logtext_record(f, &r);
	need(fclose(f) == 0, "no memory");
	check_printed(text, len);
	free(text);
	hwpmc_input_close(in);
	close(fd);
}

/* Its samples; -1: it was refused. */
static int64_t profile(struct hwpmc_input *in)
{
	struct hwpmc_profile_options o = { .symbols = { .no_symbols = true } };
	struct hwpmc_profile *p = NULL;
	char err[600] = "";
	int64_t n = -1;

	if (in)
		p = hwpmc_profile_read(in, &o, NULL, NULL, err, sizeof(err));
	need(!in || p || err[0], "no profile without a word");
	if (p)
		n = hwpmc_profile_totals(p)->samples;
	hwpmc_profile_free(p);
	hwpmc_input_close(in);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece, len = size < 2 ? 0 : size - 2;
	uint64_t limit;
	int64_t kept;
	int fd;

	if (size < 3 || size > ROOM)
		return 0;
	setenv("TMPDIR", "/dev/shm", 0);
	piece = len / PIECES + 1 + data[0];
	limit = data[1] & 1 ? (uint64_t)data[1] * 32 : 0;
	print(sender_of(data + 2, len, piece), limit);
	fd = sender_of(data + 2, len, piece);
	kept = profile(open_peer(fd, limit));
	close(fd);
	if (limit && len > limit)
		need(kept < 0, "more than the limit was taken");
	else
		need(kept == profile(hwpmc_input_memory(data + 2, len)),
		     "a connection and memory are different logs");
	return 0;
}
