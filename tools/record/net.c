/* SPDX-License-Identifier: BSD-2-Clause */
/* net.c - one TCP connection, made or waited for. See net.h. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
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
	if (strcmp(a.host, "*") == 0 && (flags & AI_PASSIVE))
		a.host[0] = '\0';
	else if (!a.host[0])
		hints.ai_flags &= ~AI_PASSIVE;
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
	/* Of IPv4 there is a socket of its own. */
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && listen(fd, 1) == 0)
		return fd;
	return close_keeping_errno(fd);
}

static int cannot(const char *what, const char *text, char *err, size_t size)
{
	snprintf(err, size, "cannot %s '%s': %s", what, text, strerror(errno));
	return -1;
}

/* The first address that takes it. */
int net_connect(const char *text, char *err, size_t size)
{
	struct addrinfo *list = look_up(text, 0, err, size);
	int fd = -1;

	if (!list)
		return -1;
	for (const struct addrinfo *ai = list; fd < 0 && ai; ai = ai->ai_next)
		fd = connect_one(ai);
	if (fd < 0)
		cannot("connect to", text, err, size);
	freeaddrinfo(list);
	return fd;
}

/* ---- listening ----------------------------------------------------------- */

#define LISTENERS	16

/* /etc/hosts may have a name twice. */
static bool is_listed_before(const struct addrinfo *list, const struct addrinfo *ai)
{
	for (; list != ai; list = list->ai_next)
		if (list->ai_addrlen == ai->ai_addrlen &&
		    !memcmp(list->ai_addr, ai->ai_addr, ai->ai_addrlen))
			return true;
	return false;
}

/* A machine without IPv6, or without IPv4, has the other one. */
static bool is_absent(int error)
{
	return error == EAFNOSUPPORT || error == EADDRNOTAVAIL;
}

static void close_all(struct pollfd *listener, int n)
{
	while (n)
		close(listener[--n].fd);
}

/*
 * At each of its addresses that the machine has: of itself that is IPv4 and IPv6. All
 * or none: if another program has one of them, a peer may send the log to that program.
 */
static int listen_all(const char *text, struct pollfd *listener, char *err,
		      size_t size)
{
	struct addrinfo *list = look_up(text, AI_PASSIVE, err, size);
	int n = 0;

	if (!list)
		return 0;
	for (const struct addrinfo *ai = list; ai && n < LISTENERS; ai = ai->ai_next) {
		if (is_listed_before(list, ai))
			continue;
		listener[n].fd = listen_one(ai);
		listener[n].events = POLLIN;
		if (listener[n].fd >= 0) {
			n++;
		} else if (!is_absent(errno)) {
			cannot("listen at", text, err, size);
			close_all(listener, n);
			freeaddrinfo(list);
			return 0;
		}
	}
	if (!n)
		cannot("listen at", text, err, size);
	freeaddrinfo(list);
	return n;
}

static int accept_first(struct pollfd *listener, int n)
{
	for (;;) {
		if (poll(listener, n, -1) < 0 && errno != EINTR)
			return -1;
		for (int i = 0; i < n; i++) {
			int fd = listener[i].revents & POLLIN ?
				 accept4(listener[i].fd, NULL, NULL, SOCK_CLOEXEC) : -1;

			if (fd >= 0)
				return fd;
			if (listener[i].revents && errno != EINTR &&
			    errno != ECONNABORTED && errno != EAGAIN)
				return -1;
		}
	}
}

static void name_peer(int fd, char peer[NET_PEER])
{
	struct sockaddr_storage from;
	char host[NET_PART], port[32];
	socklen_t len = sizeof(from);
	bool v6;

	snprintf(peer, NET_PEER, "an unknown address");
	if (getpeername(fd, (struct sockaddr *)&from, &len) < 0 ||
	    getnameinfo((struct sockaddr *)&from, len, host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	v6 = strchr(host, ':');
	snprintf(peer, NET_PEER, "%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

int net_accept(const char *text, char peer[NET_PEER], char *err, size_t size)
{
	struct pollfd listener[LISTENERS];
	int fd, n = listen_all(text, listener, err, size);

	if (!n)
		return -1;
	fd = accept_first(listener, n);
	if (fd < 0)
		cannot("listen at", text, err, size);
	else
		name_peer(fd, peer);
	close_all(listener, n);
	return fd;
}

int net_wait_first(int fd, const struct net_limits *limits, char *err, size_t size)
{
	struct timeval silence = { .tv_sec = limits->silence };
	struct pollfd first = { .fd = fd, .events = POLLIN };
	int one = 1, rc;

	/* TCP finds a peer that is gone without a word, time one that says nothing. */
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence)) < 0)
		return cannot("listen to", "the connection", err, size);
	do {
		rc = poll(&first, 1, limits->first ? (int)limits->first * 1000 : -1);
	} while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return cannot("listen to", "the connection", err, size);
	if (!rc)
		snprintf(err, size, "log: no data received for %u s", limits->first);
	return rc ? 0 : -1;
}
