/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sample a command and its descendants, and print the functions that took most instructions.
 *	cc -O2 profiler.c $(pkg-config --cflags --libs libhwpmcstat) -o profiler
 *	./profiler COMMAND [ARGUMENT...]
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmcstat.h>

struct hot {
	const struct hwpmc_symbol *symbol;
	uint64_t count;
};

static int most_first(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

static void print(struct hwpmc_profile *profile)
{
	uint32_t nstack, nhot = 0;
	const struct hwpmc_stack *stack = hwpmc_profile_stacks(profile, &nstack);
	const struct hwpmc_profile_totals *totals = hwpmc_profile_totals(profile);
	struct hot *hot = calloc(nstack + 1, sizeof(*hot));

	for (uint32_t i = 0, j; hot && i < nstack; i++) {
		for (j = 0; j < nhot && hot[j].symbol != stack[i].frame[0]->symbol; j++)
			;
		nhot += j == nhot;
		hot[j].symbol = stack[i].frame[0]->symbol;
		hot[j].count += stack[i].count;
	}
	qsort(hot, nhot, sizeof(*hot), most_first);
	printf("%" PRIu64 " samples, %" PRIu64 " dropped\n", totals->samples,
	       totals->dropped[HWPMC_DROP_FULL]);
	for (uint32_t i = 0; i < nhot && i < 10; i++)
		printf("%6.2f%%  %s (%s)\n", 100.0 * hot[i].count / totals->kept,
		       hot[i].symbol->name, hot[i].symbol->image->name);
	free(hot);
}

/* A child that executes the command when the parent has closed *go. */
static pid_t begin(char *argv[], int *go)
{
	int fds[2], rc = pipe(fds);
	pid_t pid = rc ? -1 : fork();

	if (pid < 0)
		err(1, "cannot start %s", argv[0]);
	if (pid == 0) {
		close(fds[1]);
		if (read(fds[0], &rc, 1) == 0)
			execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

int main(int argc, char *argv[])
{
	struct hwpmc_profile_options options = { .leaf_only = true };
	struct hwpmc_profile *profile = hwpmc_profile_new(&options);
	struct hwpmc_record record;
	struct hwpmc_rings *rings;
	struct hwpmc *h;
	int go, rc, ended;
	uint32_t id;
	pid_t pid;

	if (argc < 2 || !profile)
		errx(2, "usage: profiler COMMAND [ARGUMENT...]");
	if (hwpmc_open(&h) < 0)
		errx(1, "%s", hwpmc_error(NULL));
	pid = begin(argv + 1, &go);
	if (hwpmc_rings_open(h, 0, 0, &rings) < 0 ||
	    hwpmc_open_counter(h, "instructions:u", HWPMC_MODE_TS,
			       HWPMC_F_DESCENDANTS | HWPMC_F_EXEC_START, pid, 100003, &id) < 0 ||
	    hwpmc_start(h, id) < 0)
		errx(1, "%s", hwpmc_error(h));
	close(go);
	do {
		ended = waitpid(pid, NULL, WNOHANG) != 0;
		/* Drops that are not in the log yet come with the flush. */
		if (ended && (hwpmc_stop(h, id) < 0 || hwpmc_flush_log(h) < 0))
			errx(1, "%s", hwpmc_error(h));
		while ((rc = hwpmc_rings_next(rings, ended ? 0 : 100, &record)) == 1)
			hwpmc_profile_feed(profile, &record);
	} while (!ended && rc == 0);
	if (rc < 0)
		errx(1, "%s", hwpmc_error(h));
	if (hwpmc_profile_resolve(profile) < 0)
		err(1, "cannot resolve the samples");
	print(profile);
	hwpmc_profile_free(profile);
	hwpmc_rings_close(rings);
	hwpmc_close(h);
	return 0;
}
