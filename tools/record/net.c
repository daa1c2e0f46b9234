/* SPDX-License-Identifier: BSD-2-Clause */
/* net.c - one TCP connection, made or waited for. See net.h. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net.h"

static bool copy_part(char to[NET_PART], const char *from, size_t len)
{
	if (len >= NET_PART)
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

bool net_parse(const char *text, struct net_address *address)
{
	const char *host = text, *end, *colon;

	if (*text == '.' || *text == '/')
		return false;
	if (*text == '[') {
		end = strchr(text, ']');
		if (!end || end[1] != ':')
			return false;
		host++;
		colon = end + 1;
	} else {
		colon = strrchr(text, ':');
		end = colon;
	}
	return colon && colon[1] && !strchr(colon, '/') &&
	       copy_part(address->host, host, end - host) &&
	       copy_part(address->port, colon + 1, strlen(colon + 1));
}

static struct addrinfo *look_up(const char *text, int flags, char *err,
				size_t size)
{
	struct addrinfo hints = {
		.ai_flags = flags, .ai_socktype = SOCK_STREAM,
	}, *list = NULL;
	struct net_address a;
	int rc;

	if (!net_parse(text, &a)) {
		snprintf(err, size, "'%s' is not host:port", text);
		return NULL;
	}
	rc = getaddrinfo(a.host[0] ? a.host : NULL, a.port, &hints, &list);
	if (!rc)
		return list;
	snprintf(err, size, "cannot find '%s': %s", text,
		 rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
	return NULL;
}

static int open_socket(const struct addrinfo *ai)
{
	return socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC,
		      ai->ai_protocol);
}

static int close_keeping_errno(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
	return -1;
}

static int connect_one(const struct addrinfo *ai)
{
	int fd = open_socket(ai);

	if (fd < 0 || connect(fd, ai->ai_addr, ai->ai_addrlen) == 0)
		return fd;
	return close_keeping_errno(fd);
}

static int listen_one(const struct addrinfo *ai)
{
	int fd = open_socket(ai), one = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && listen(fd, 1) == 0)
		return fd;
	return close_keeping_errno(fd);
}

/* The first address that takes it. */
static int first_of(const char *text, int flags,
		    int (*try)(const struct addrinfo *ai), const char *what,
		    char *err, size_t size)
{
	struct addrinfo *list = look_up(text, flags, err, size);
	int fd = -1;

	if (!list)
		return -1;
	for (const struct addrinfo *ai = list; fd < 0 && ai; ai = ai->ai_next)
		fd = try(ai);
	if (fd < 0)
		snprintf(err, size, "cannot %s '%s': %s", what, text,
			 strerror(errno));
	freeaddrinfo(list);
	return fd;
}

int net_connect(const char *text, char *err, size_t size)
{
	return first_of(text, 0, connect_one, "connect to", err, size);
}

int net_accept(const char *text, char *err, size_t size)
{
	int listener, fd;

	listener = first_of(text, AI_PASSIVE, listen_one, "listen at", err, size);
	if (listener < 0)
		return -1;
	do {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	} while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (fd < 0)
		snprintf(err, size, "cannot listen at '%s': %s", text,
			 strerror(errno));
	close(listener);
	return fd;
}
