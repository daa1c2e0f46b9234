/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_task.c - processes and threads of a file of perf record. perf record itself writes
 * records of what ran before, with time 0: they are the snapshot of the log. The record of an
 * exec has no path: it is that of the first mapping after it.
 */
#include "perf.h"
#include "stat.h"

static void put_exec(struct perfdata *p, const struct perf_exec *e, const char *path)
{
	size_t len = strlen(path);
	struct hwpmc_log_exec *r;

	if (len >= HWPMC_LOG_PATH_MAX)
		len = HWPMC_LOG_PATH_MAX - 1;
	r = perf_put(p, HWPMC_LOG_PROCEXEC, sizeof(*r) + len + 1, e->time);
	if (!r)
		return;
	r->pid = e->pid;
	r->tid = e->tid;
	memcpy(r->comm, e->comm, sizeof(r->comm));
	memcpy(r->path, path, len);
}

void perf_flush_execs(struct perfdata *p, int32_t pid, const char *path)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->nexec; i++) {
		struct perf_exec *e = &p->exec[i];

		if (path && e->pid != pid)
			p->exec[kept++] = *e;
		else
			put_exec(p, e, path ? path : e->comm);
	}
	p->nexec = kept;
}

static void keep_exec(struct perfdata *p, const struct perf_exec *e)
{
	if (p->nexec == PERF_EXECS)
		perf_flush_execs(p, -1, NULL);
	p->exec[p->nexec++] = *e;
}

static struct hwpmc_log_task *put_task(struct perfdata *p, uint8_t type, int32_t pid, int32_t tid,
				       uint64_t time)
{
	struct hwpmc_log_task *r = perf_put(p, type, sizeof(*r), time);

	if (!r)
		return NULL;
	r->pid = pid;
	r->tid = tid;
	return r;
}

int perf_comm(struct perfdata *p, const struct perf_hdr *record)
{
	const uint8_t *at = (const uint8_t *)record;
	struct perf_exec e = { .comm = "" };
	struct hwpmc_log_task *r;
	struct perf_trailer t;
	uint8_t type;
	size_t len;

	t = perf_trailer(p, record, &len);
	if (len < 17)
		return perf_damaged(p, "COMM record of %zu bytes: the minimum is 17", len);
	e.pid = perf_u32(at + 8);
	e.tid = perf_u32(at + 12);
	e.time = t.time;
	len -= 16;
	memcpy(e.comm, at + 16, strnlen((const char *)at + 16, len < sizeof(e.comm) ? len :
					 sizeof(e.comm) - 1));
	if (perf_hdr_of(record).misc & PERF_MISC_COMM_EXEC && t.time) {
		keep_exec(p, &e);
		return 0;
	}
	type = t.time ? HWPMC_LOG_COMM_NAME :
	       e.pid == e.tid ? HWPMC_LOG_PROC_CREATE : HWPMC_LOG_THR_CREATE;
	r = put_task(p, type, e.pid, e.tid, t.time);
	if (r) {
		memcpy(r->comm, e.comm, sizeof(r->comm));
		r->hdr.flags = t.time ? 0 : HWPMC_LOG_SNAPSHOT;
	}
	return 0;
}

/* pid, parent's pid, tid, parent's tid, time. */
static int take_ids(struct perfdata *p, const struct perf_hdr *record, int32_t id[4],
		    uint64_t *time)
{
	const uint8_t *at = (const uint8_t *)record;
	size_t len = perf_hdr_of(record).size;

	if (len < 32)
		return perf_damaged(p, "FORK or EXIT record of %zu bytes: the minimum is 32", len);
	for (int i = 0; i < 4; i++)
		id[i] = perf_u32(at + 8 + 4 * i);
	*time = perf_time(p, perf_u64(at + 24));
	return 0;
}

/* A child has the name of the thread that made it. */
int perf_fork(struct perfdata *p, const struct perf_hdr *record)
{
	struct hwpmc_log_task *r;
	struct hwpmc_log_fork *f;
	int32_t id[4] = { 0 };
	uint64_t time = 0;

	if (take_ids(p, record, id, &time) < 0)
		return -1;
	/* The name of a thread that was there before comes with the next record. */
	if (!time)
		return 0;
	if (id[0] != id[1]) {
		f = perf_put(p, HWPMC_LOG_PROCFORK, sizeof(*f), time);
		if (f) {
			f->child = id[0];
			f->parent = id[1];
		}
		if (id[1] == id[3])
			return 0;
	}
	r = put_task(p, id[0] == id[2] ? HWPMC_LOG_PROC_CREATE : HWPMC_LOG_THR_CREATE, id[0],
		     id[2], time);
	if (r)
		r->parent = id[3];
	return 0;
}

int perf_exit(struct perfdata *p, const struct perf_hdr *record)
{
	int32_t id[4] = { 0 };
	uint64_t time = 0;

	if (take_ids(p, record, id, &time) < 0)
		return -1;
	put_task(p, id[0] == id[2] ? HWPMC_LOG_SYSEXIT : HWPMC_LOG_THR_EXIT, id[0], id[2], time);
	return 0;
}
