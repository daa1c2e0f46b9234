/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pager.c - reports on a terminal go through the user's pager, which may be left
 * before it has read all; anything else that cannot be written is a failure.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "msg.h"
#include "output.h"
#include "pager.h"

/* Is the first word of a command a program? */
static bool is_program(const char *command)
{
	const char *path = getenv("PATH");
	size_t len = strcspn(command, " \t"), n;
	char file[4096];

	if (memchr(command, '/', len)) {
		snprintf(file, sizeof(file), "%.*s", (int)len, command);
		return access(file, X_OK) == 0;
	}
	for (; path && *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		snprintf(file, sizeof(file), "%.*s/%.*s", (int)n, path,
			 (int)len, command);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

/* NULL: there is none, or it would do nothing. */
static const char *pager_command(void)
{
	const char *command = getenv("PAGER");

	if (!command)
		command = "less";
	if (!*command || strcmp(command, "cat") == 0 || !is_program(command))
		return NULL;
	return command;
}

static bool may_colour(const char *command)
{
	const char *term = getenv("TERM");

	return !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0 &&
	       (!command || strstr(command, "less"));
}

static void run_pager(const char *command, const int fd[2])
{
	dup2(fd[0], STDIN_FILENO);
	close(fd[0]);
	close(fd[1]);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	/* End if all fits on a screen, show colours, leave the text there. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

static void start_pager(struct pager *p, const char *command)
{
	int fd[2];

	if (pipe(fd) < 0)
		return;
	/* Ctrl-C is for the pager, and this process must wait for it. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	p->pid = fork();
	if (p->pid == 0)
		run_pager(command, fd);
	close(fd[0]);
	if (p->pid > 0)
		p->f = fdopen(fd[1], "w");
	if (p->pid < 0 || !p->f) {
		close(fd[1]);
		p->f = stdout;
		p->pid = 0;
	}
}

/* 0: the terminal has none, or too few for any line of a report. */
static unsigned int terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 40)
		return 0;
	return size.ws_col;
}

int pager_open(struct pager *p, const char *output, bool stdio)
{
	const char *command = NULL;

	*p = (struct pager){ .f = stdout, .name = "standard output" };
	if (output && strcmp(output, "-")) {
		p->name = output;
		p->f = output_fopen(output);
		if (p->f)
			return 0;
		msg("cannot write '%s': %s", output, strerror(errno));
		return EXIT_FAILED;
	}
	if (!isatty(STDOUT_FILENO))
		return 0;
	p->terminal = true;
	p->columns = terminal_columns();
	if (!stdio)
		command = pager_command();
	p->colour = may_colour(command);
	if (command)
		start_pager(p, command);
	return 0;
}

void pager_full_names(struct pager *p)
{
	p->terminal = false;
	p->columns = 0;
}

int pager_close(struct pager *p)
{
	bool bad = fflush(p->f) || ferror(p->f);
	int why = errno, status;

	if (p->f != stdout && fclose(p->f)) {
		why = errno;
		bad = true;
	}
	if (p->pid) {
		while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
			;
		signal(SIGINT, SIG_DFL);
		/* The pager may end before it has read all: no error. */
		return 0;
	}
	if (!bad)
		return 0;
	msg("cannot write '%s': %s", p->name, strerror(why));
	return EXIT_FAILED;
}

const char *pager_heat_code(const struct pager *p, double percent)
{
	return !p->colour ? "" : percent >= 10 ? "\033[31m" : percent >= 1 ? "\033[32m" : "";
}

const char *pager_plain_code(const struct pager *p)
{
	return p->colour ? "\033[0m" : "";
}

void pager_heat(const struct pager *p, double percent)
{
	fputs(pager_heat_code(p, percent), p->f);
}

void pager_plain(const struct pager *p)
{
	fputs(pager_plain_code(p), p->f);
}
