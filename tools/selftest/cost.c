/* SPDX-License-Identifier: BSD-2-Clause */
/* cost.c - what reads, starts, switches and samples cost on this machine. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmclog.h>

#include "selftest.h"

#define TIMES	2000
#define PERIOD	20011

struct stopwatch {
	uint64_t ticks, ns;
};

static struct stopwatch begin(void)
{
	return (struct stopwatch){ st_ticks(), st_ns() };
}

static void end(struct stopwatch *w)
{
	w->ticks = st_ticks() - w->ticks;
	w->ns = st_ns() - w->ns;
}

/* One of `times`; `less` took what is not of it. */
static void tell(struct selftest *t, const char *name, const char *of,
		 struct stopwatch w, struct stopwatch less, double times)
{
	st_cost(t, name, of, ((double)w.ticks - less.ticks) / times,
		((double)w.ns - less.ns) / times);
}

static void cost_of_reads(struct selftest *t, uint32_t id)
{
	struct stopwatch w, none = { 0, 0 };
	struct hwpmc_counter c;
	uint64_t value;

	if (!t->no_rdpmc && hwpmc_counter_open(t->h, id, &c) == 0) {
		w = begin();
		for (int i = 0; i < TIMES; i++)
			hwpmc_counter_read(&c, &value);
		end(&w);
		tell(t, "read-page", "a read by RDPMC and the mapped page", w, none, TIMES);
	}
	w = begin();
	for (int i = 0; i < TIMES; i++)
		hwpmc_read(t->h, id, &value);
	end(&w);
	tell(t, "read-call", "a read by a system call", w, none, TIMES);
	w = begin();
	for (int i = 0; i < TIMES; i++) {
		hwpmc_stop(t->h, id);
		hwpmc_start(t->h, id);
	}
	end(&w);
	tell(t, "stop-start", "a stop and a start (each writes the select)", w, none, TIMES);
}

/* ---- switches ------------------------------------------------------------ */

static void echo(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
		;
	_exit(0);
}

/* TIMES there and back between two processes on one CPU. */
static struct stopwatch switches(void)
{
	struct stopwatch w = { 0, 0 };
	int there[2], back[2];
	char byte = 0;
	pid_t pid;

	if (pipe(there) || pipe(back))
		return w;
	pid = fork();
	if (pid == 0) {
		close(there[1]);
		close(back[0]);
		echo(there[0], back[1]);
	}
	w = begin();
	for (int i = 0; pid > 0 && i < TIMES; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			break;
	end(&w);
	close(there[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	close(there[0]);
	close(back[0]);
	close(back[1]);
	return w;
}

/* ---- samples ------------------------------------------------------------- */

static int take_all(unsigned int cpu, const void *data, size_t len, void *arg)
{
	return 0;
}

static void cost_of_samples(struct selftest *t)
{
	uint64_t n = 400ull * PERIOD / ST_LOOP_INSN;
	struct stopwatch with, without;
	struct hwpmc_rings *rings;
	uint32_t id;

	if (hwpmc_rings_open(t->h, 0, 0, &rings) < 0)
		return;
	if (hwpmc_allocate(t->h, "instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, PERIOD,
			   &id) == 0) {
		st_loop(n);
		without = begin();
		st_loop(n);
		end(&without);
		if (hwpmc_attach(t->h, id, 0) == 0 && hwpmc_start(t->h, id) == 0) {
			with = begin();
			st_loop(n);
			end(&with);
			hwpmc_stop(t->h, id);
			tell(t, "sample", "a sample (NMI, record, arming)", with, without, 400);
		}
		hwpmc_release(t->h, id);
	}
	hwpmc_rings_read(rings, take_all, NULL, NULL);
	hwpmc_rings_close(rings);
	hwpmc_configure_log(t->h, -1);
}

void st_costs(struct selftest *t)
{
	struct stopwatch with, without;
	uint32_t id;
	int cpu;

	if (st_cpus(&cpu, 1) == 1)
		st_pin(cpu);
	without = switches();
	if (hwpmc_allocate(t->h, "instructions:u", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0,
			   &id) == 0) {
		if (hwpmc_attach(t->h, id, 0) == 0 && hwpmc_start(t->h, id) == 0) {
			cost_of_reads(t, id);
			with = switches();
			tell(t, "switch", "a switch out and in with one PMC, on top of the kernel's own",
			     with, without, TIMES);
		}
		hwpmc_release(t->h, id);
	}
	cost_of_samples(t);
	st_pin(-1);
}
