/* SPDX-License-Identifier: BSD-2-Clause */
/* time.c - how long a step goes on: until its time is over, or a signal ends all. */
#include <signal.h>
#include <unistd.h>

#include "long.h"

/* ---- interruption ----------------------------------------------------------- */

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	stopped = sig;
}

bool long_stopped(void)
{
	return stopped;
}

void long_catch_signals(bool on)
{
	struct sigaction act = { .sa_handler = on ? on_signal : SIG_DFL };
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP };

	stopped = on ? 0 : stopped;
	for (unsigned int i = 0; i < sizeof(sigs) / sizeof(*sigs); i++)
		sigaction(sigs[i], &act, NULL);
	/* A child that died is seen by the read of its answer. */
	signal(SIGPIPE, on ? SIG_IGN : SIG_DFL);
}

/* ---- time ------------------------------------------------------------------- */

static void show_progress(struct long_run *r, uint64_t now)
{
	unsigned int step = (r->step_end - now) / 1000000000;
	unsigned int all = r->end > now ? (r->end - now) / 1000000000 : 0;

	if (now - r->shown < 1000000000 || !isatty(STDERR_FILENO))
		return;
	r->shown = now;
	fprintf(stderr, "\r  %u:%02u left of this step, %u:%02u of all ", step / 60, step % 60,
		all / 60, all % 60);
}

void long_clear_progress(struct long_run *r)
{
	if (r->shown && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	r->shown = 0;
}

bool long_more(struct selftest *t)
{
	struct long_run *r = t->run;
	uint64_t now = st_ns();

	if (stopped || now >= r->step_end)
		return false;
	show_progress(r, now);
	return true;
}
