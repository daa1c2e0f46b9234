/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_worker.c - a child that does something each time that it is told, and what is
 * counted and sampled of it.
 */
#define _GNU_SOURCE
#include <libhwpmclog.h>

#include "kmod_worker.h"

struct hwpmc *h;

void ok(int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(h));
}

void open_device(void)
{
	ck_assert_msg(!hwpmc_open(&h), "%s", hwpmc_error(NULL));
}

void close_device(void)
{
	hwpmc_close(h);
	h = NULL;
}

uint32_t count(const char *event)
{
	uint32_t id;

	ok(hwpmc_allocate(h, event, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id));
	return id;
}

uint64_t value(uint32_t id)
{
	uint64_t n;

	ok(hwpmc_read(h, id, &n));
	return n;
}

/* ---- the child ------------------------------------------------------------ */

struct worker work_begin(void (*fn)(unsigned int round))
{
	struct worker w;
	char c;

	ck_assert(!pipe(w.go) && !pipe(w.done));
	w.pid = fork();
	if (!w.pid) {
		close(w.go[1]);
		close(w.done[0]);
		for (unsigned int i = 0; read(w.go[0], &c, 1) == 1; i++) {
			fn(i);
			if (write(w.done[1], &c, 1) != 1)
				break;
		}
		_exit(0);
	}
	close(w.go[0]);
	close(w.done[1]);
	return w;
}

void until_it_sleeps(const struct worker *w)
{
	dev_held(w->pid);
}

void work(struct worker *w)
{
	char c = 0;

	ck_assert_int_eq(write(w->go[1], &c, 1), 1);
	ck_assert_int_eq(read(w->done[0], &c, 1), 1);
	until_it_sleeps(w);
}

void work_end(struct worker *w)
{
	int status;

	close(w->go[1]);
	ck_assert_int_eq(waitpid(w->pid, &status, 0), w->pid);
	ck_assert_int_eq(status, 0);
	close(w->done[0]);
}

uint32_t count_of(const struct worker *w, const char *event)
{
	uint32_t id = count(event);

	ok(hwpmc_attach(h, id, w->pid));
	return id;
}

/* A line "name   : value" or "name:\tvalue" of a file of the process. */
uint64_t proc_value(pid_t pid, const char *file, const char *name)
{
	unsigned long long n;
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	f = fopen(path, "r");
	ck_assert_msg(f, "%s: %m", path);
	while (!found && fgets(line, sizeof(line), f))
		found = !strncmp(line, name, strlen(name)) &&
			sscanf(strchr(line, ':') + 1, "%llu", &n) == 1;
	fclose(f);
	ck_assert_msg(found, "%s has no %s", path, name);
	return n;
}

/* ---- its records ----------------------------------------------------------- */

static int take(unsigned int cpu, const void *data, size_t len, void *arg)
{
	struct hwpmc_log_hdr mark;
	struct tally *t = arg;
	struct hwpmc_record r;

	if (!t->parser) {
		t->parser = hwpmc_parser_new();
	} else {
		hwpmc_rings_mark(cpu, &mark);
		hwpmc_parser_feed(t->parser, &mark, sizeof(mark));
		while (hwpmc_parser_next(t->parser, &r) == HWPMC_PARSE_RECORD)
			;
	}
	hwpmc_parser_feed(t->parser, data, len);
	while (hwpmc_parser_next(t->parser, &r) == HWPMC_PARSE_RECORD) {
		if (r.hdr->type == HWPMC_LOG_PMCALLOCATEDYN)
			memcpy(t->name, r.allocate->name, sizeof(t->name));
		if (r.hdr->type == HWPMC_LOG_DROPNOTIFY)
			for (int i = 0; i < HWPMC_DROP_FIXED; i++)
				t->drops += r.drop->samples[i];
		if (r.hdr->type == HWPMC_LOG_PROCCSW)
			t->increments += r.value->value;
		if (r.hdr->type != HWPMC_LOG_CALLCHAIN)
			continue;
		t->samples++;
		t->user += !!(r.hdr->flags & HWPMC_SAMPLE_USER);
		t->inside += r.sample->pc[0] >= t->lo && r.sample->pc[0] < t->hi;
	}
	ck_assert_str_eq(hwpmc_parser_error(t->parser) ?: "", "");
	return 0;
}

void take_all(struct hwpmc_rings *rings, struct tally *t)
{
	hwpmc_rings_read(rings, take, t, NULL);
	ok(hwpmc_flush_log(h));
	hwpmc_rings_read(rings, take, t, NULL);
	hwpmc_rings_close(rings);
	hwpmc_parser_free(t->parser);
}

void sample(struct worker *w, const char *event, uint32_t flags,
		   uint64_t period, void (*go)(struct worker *),
		   struct tally *t, uint64_t *counted)
{
	struct hwpmc_rings *rings;
	uint32_t id, beside;

	open_device();
	ok(hwpmc_rings_open(h, 1 << 20, 0, &rings));
	ok(hwpmc_allocate(h, event, HWPMC_MODE_TS, flags, HWPMC_CPU_ANY, period,
			  &id));
	until_it_sleeps(w);
	beside = count_of(w, event);
	ok(hwpmc_attach(h, id, w->pid));
	ok(hwpmc_start(h, beside));
	ok(hwpmc_start(h, id));
	go(w);
	*counted = value(beside);
	ok(hwpmc_stop(h, id));
	take_all(rings, t);
	close_device();
}
