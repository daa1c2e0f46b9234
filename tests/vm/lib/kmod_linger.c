/* SPDX-License-Identifier: BSD-2-Clause */
/* kmod_linger.c - see kmod_linger.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "../tests/kmod_dev.h"
#include "kmod_linger.h"

void linger_setup(void)
{
	if (system("ip link set lo up")) {
		printf("Bail out! cannot bring up the loopback device\n");
		exit(1);
	}
}

static int listening(struct sockaddr_in *address)
{
	socklen_t len = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0), small = 2048;

	*address = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	ck_assert(!bind(fd, (void *)address, sizeof(*address)));
	ck_assert(!listen(fd, 1));
	ck_assert(!getsockname(fd, (void *)address, &len));
	return fd;
}

int linger_connect(void)
{
	struct linger linger = { .l_onoff = 1, .l_linger = LINGER_S };
	int fd = socket(AF_INET, SOCK_STREAM, 0), big = 1 << 20;
	struct sockaddr_in address;
	int listener = listening(&address);

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &big, sizeof(big));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	ck_assert(!connect(fd, (void *)&address, sizeof(address)));
	ck_assert_int_ge(accept(listener, NULL, NULL), 0);
	return fd;
}
