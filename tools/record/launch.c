/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * launch.c - start a command held back by a pipe. The child does nothing
 * between fork and exec but wait and, where exec fails, send errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/watch.h"
#include "launch.h"

static ssize_t read_retry(int fd, void *buf, size_t len)
{
	ssize_t n;

	do {
		n = read(fd, buf, len);
	} while (n < 0 && errno == EINTR);
	return n;
}

static void use_no_terminal(void)
{
	int fd = open("/dev/null", O_RDWR);

	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

static void __attribute__((noreturn))
child(int go_fd, int error_fd, bool quiet, char *const argv[])
{
	char byte;
	int err;

	/* End of file: the tool gave up or died. */
	if (read_retry(go_fd, &byte, 1) != 1)
		_exit(EXIT_STAT_FAILED);
	watch_unblock();
	if (quiet)
		use_no_terminal();
	execvp(argv[0], argv);
	err = errno;
	if (write(error_fd, &err, sizeof(err)) < 0)
		_exit(EXIT_STAT_FAILED);
	_exit(EXIT_NOT_FOUND);
}

static void close_pair(const int fd[2])
{
	int saved = errno;

	close(fd[0]);
	close(fd[1]);
	errno = saved;
}

int launch_prepare(struct launch *l, char *const argv[])
{
	int go[2], error[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return -1;
	if (pipe2(error, O_CLOEXEC) < 0)
		goto err_go;
	l->pid = fork();
	if (l->pid < 0)
		goto err_error;
	if (l->pid == 0) {
		close(go[1]);
		close(error[0]);
		child(go[0], error[1], l->quiet, argv);
	}
	close(go[0]);
	close(error[1]);
	l->go_fd = go[1];
	l->error_fd = error[0];
	return 0;

err_error:
	close_pair(error);
err_go:
	close_pair(go);
	return -1;
}

static void reap_child(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int launch_go(struct launch *l)
{
	int err = 0;

	/* A child that was killed meanwhile: its status is the reason, not EPIPE. */
	if (write(l->go_fd, "", 1) < 0 && errno != EPIPE)
		err = errno;
	close(l->go_fd);
	/* Exec closes the other end, so this ends when the program runs. */
	if (!err && read_retry(l->error_fd, &err, sizeof(err)) <= 0)
		err = 0;
	close(l->error_fd);
	if (err)
		reap_child(l->pid);
	return err;
}

void launch_cancel(struct launch *l)
{
	close(l->go_fd);
	close(l->error_fd);
	reap_child(l->pid);
}

int launch_error(const char *what, int err)
{
	if (err == ENOENT) {
		msg("cannot run '%s': no such command", what);
		return EXIT_NOT_FOUND;
	}
	msg("cannot run '%s': %s", what, strerror(err));
	return EXIT_NOT_RUNNABLE;
}

int launch_exit_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}
