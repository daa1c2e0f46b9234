/* SPDX-License-Identifier: BSD-2-Clause */
/* popen.c - FreeBSD's popen(), which opens a command both ways when asked for "r+". */
#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#undef popen
#undef pclose

/* What is open both ways; another one is refused. */
static struct {
	FILE *f;
	pid_t pid;
} opened[64];

static int unused(void)
{
	for (int i = 0; i < 64; i++)
		if (!opened[i].f)
			return i;
	errno = EMFILE;
	return -1;
}

static void run(const char *command, int fd)
{
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

FILE *freebsd_popen(const char *command, const char *mode)
{
	int end[2];
	int i;

	if (strcmp(mode, "r+"))
		return popen(command, mode);
	i = unused();
	if (i < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end))
		return NULL;
	opened[i].pid = fork();
	if (!opened[i].pid)
		run(command, end[1]);
	close(end[1]);
	if (opened[i].pid > 0)
		opened[i].f = fdopen(end[0], "r+");
	if (!opened[i].f)
		close(end[0]);
	return opened[i].f;
}

int freebsd_pclose(FILE *f)
{
	int status;

	for (int i = 0; i < 64; i++) {
		if (opened[i].f != f)
			continue;
		opened[i].f = NULL;
		fclose(f);
		return waitpid(opened[i].pid, &status, 0) < 0 ? -1 : status;
	}
	return pclose(f);
}
