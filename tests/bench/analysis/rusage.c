/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rusage.c - what commands take: `rusage RUNS command [argument ...] [-- command ...]`
 * runs each RUNS times, in turns, with its output thrown away, and prints a line a
 * command: the least CPU time (user and system) in microseconds and the least of the
 * peaks of memory in KiB. Fails if a run does.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMANDS	8

extern char **environ;

struct command {
	char **argv;
	long cpu_us, rss_kib;		/* the least, -1: none yet */
};

static long us(const struct timeval *t)
{
	return t->tv_sec * 1000000l + t->tv_usec;
}

static void keep_least(long *least, long n)
{
	if (*least < 0 || n < *least)
		*least = n;
}

/* By posix_spawn(): a fork's memory would count as the command's. */
static int run(struct command *c)
{
	posix_spawn_file_actions_t actions;
	struct rusage used;
	int status, err;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	err = posix_spawnp(&pid, c->argv[0], &actions, NULL, c->argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err) {
		fprintf(stderr, "rusage: %s: %s\n", c->argv[0], strerror(err));
		return -1;
	}
	if (wait4(pid, &status, 0, &used) < 0 || status) {
		fprintf(stderr, "rusage: %s failed\n", c->argv[0]);
		return -1;
	}
	keep_least(&c->cpu_us, us(&used.ru_utime) + us(&used.ru_stime));
	keep_least(&c->rss_kib, used.ru_maxrss);
	return 0;
}

int main(int argc, char *argv[])
{
	struct command commands[COMMANDS];
	int runs = argc > 2 ? atoi(argv[1]) : 0, n = 0;

	for (int i = 2; i < argc && n < COMMANDS; i++) {
		commands[n++] = (struct command){ argv + i, -1, -1 };
		while (i < argc && strcmp(argv[i], "--"))
			i++;
		argv[i] = NULL;
	}
	if (runs < 1 || !n) {
		fputs("usage: rusage RUNS command ... [-- command ...]\n",
		      stderr);
		return 2;
	}
	for (int i = 0; i < runs * n; i++)
		if (run(&commands[i % n]) < 0)
			return 1;
	for (int i = 0; i < n; i++)
		printf("%ld\t%ld\n", commands[i].cpu_us, commands[i].rss_kib);
	return 0;
}
