/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl.c - "hwpmc stat --control": another program says by a descriptor or a FIFO when
 * events are counted, in the words of perf stat, and is told when that is so.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "stat.h"

static int parse_fd(const char *text, int *fd)
{
	uint64_t n;

	if (fmt_parse_u64(text, 0, INT32_MAX, &n) < 0)
		return -1;
	*fd = n;
	/* The command has nothing to do with it. */
	return fcntl(*fd, F_SETFD, FD_CLOEXEC);
}

/* Its writer may come and go: an end of its own keeps it from being at its end. */
static int open_fifo(const char *path, int *fd)
{
	*fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return *fd < 0 ? -1 : 0;
}

int stat_ctl_open(struct stat_ctl *c, const char *arg)
{
	int (*get)(const char *text, int *fd) = NULL;
	char *copy = must_strdup(arg), *from, *ack;
	int rc = 0;

	if (strncmp(arg, "fd:", 3) == 0)
		get = parse_fd;
	else if (strncmp(arg, "fifo:", 5) == 0)
		get = open_fifo;
	from = get ? strchr(copy, ':') + 1 : copy;
	ack = strchr(from, ',');
	if (ack)
		*ack++ = 0;
	errno = EINVAL;
	if (!get || !*from || get(from, &c->fd) < 0 ||
	    (ack && get(ack, &c->ack_fd) < 0))
		rc = msg_usage("invalid control '%s' (fd:N[,ACK] or fifo:PATH[,ACK]): %s",
			       arg, strerror(errno));
	free(copy);
	return rc;
}

static enum stat_order order_of(const char *word)
{
	static const struct {
		const char *word;
		enum stat_order order;
	} words[] = {
		{ "enable", ORDER_ENABLE }, { "disable", ORDER_DISABLE },
		{ "ping", ORDER_PING }, { "stop", ORDER_STOP },
	};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(word, words[i].word) == 0)
			return words[i].order;
	return ORDER_NONE;
}

/* A line may come in pieces, and several lines in one piece: one is taken a call. */
enum stat_order stat_ctl_read(struct stat_ctl *c)
{
	enum stat_order order;
	char byte;
	ssize_t n;

	for (;;) {
		n = read(c->fd, &byte, 1);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? ORDER_NONE : ORDER_GONE;
		if (n == 0)
			return ORDER_GONE;
		if (byte == '\n')
			break;
		if (c->len < sizeof(c->line) - 1)
			c->line[c->len++] = byte;
		/* The rest of it may be long in coming. */
		return ORDER_NONE;
	}
	c->line[c->len] = 0;
	c->len = 0;
	order = order_of(c->line);
	if (order == ORDER_NONE)
		msg("unknown control command '%s' (enable, disable, ping, stop)", c->line);
	return order;
}

void stat_ctl_ack(const struct stat_ctl *c)
{
	static const char ack[] = "ack\n";

	if (c->ack_fd >= 0 && write(c->ack_fd, ack, sizeof(ack) - 1) < 0)
		msg("cannot acknowledge a control command: %s", strerror(errno));
}
