/* SPDX-License-Identifier: BSD-2-Clause */
/* messages.c - see messages.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"

int messages_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

bool messages_count(int fd, const char *const text[], unsigned int *count, unsigned int n)
{
	bool lost = false;
	char line[8192];
	ssize_t len;

	memset(count, 0, n * sizeof(*count));
	while ((len = read(fd, line, sizeof(line) - 1)) > 0 ||
	       (len < 0 && (errno == EPIPE || errno == EINTR))) {
		lost |= len < 0 && errno == EPIPE;
		line[len > 0 ? len : 0] = '\0';
		for (unsigned int i = 0; i < n; i++)
			count[i] += strstr(line, text[i]) != NULL;
	}
	return lost;
}
