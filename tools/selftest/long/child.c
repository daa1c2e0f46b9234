/* SPDX-License-Identifier: BSD-2-Clause */
/* child.c - a process that executes loops when it is asked to. */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "long.h"

static void serve(int in, int out)
{
	uint64_t n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The keys that interrupt the parent: it ends this process itself. */
	signal(SIGINT, SIG_IGN);
	while (read(in, &n, sizeof(n)) == sizeof(n)) {
		st_loop(n);
		if (write(out, "", 1) != 1)
			break;
	}
	_exit(0);
}

bool long_child_start(struct long_child *c)
{
	int there[2], back[2];

	*c = (struct long_child){ .pid = -1, .ask = -1, .answer = -1 };
	if (pipe(there))
		return false;
	if (pipe(back)) {
		close(there[0]);
		close(there[1]);
		return false;
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(there[1]);
		close(back[0]);
		serve(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	c->ask = there[1];
	c->answer = back[0];
	if (c->pid > 0)
		return true;
	long_child_end(c);
	return false;
}

bool long_child_ask(struct long_child *c, uint64_t n)
{
	return write(c->ask, &n, sizeof(n)) == sizeof(n);
}

int long_child_answer(struct long_child *c, int ms)
{
	struct pollfd fd = { .fd = c->answer, .events = POLLIN };
	char byte;
	int n = poll(&fd, 1, ms);

	if (n == 0 || (n < 0 && !long_stopped()))
		return 0;
	return n > 0 && read(c->answer, &byte, 1) == 1 ? 1 : -1;
}

bool long_child_pin(struct long_child *c, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(c->pid, sizeof(set), &set) == 0;
}

void long_child_end(struct long_child *c)
{
	close(c->ask);
	close(c->answer);
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	c->pid = -1;
}
