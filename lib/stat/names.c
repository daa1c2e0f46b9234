/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c - the names of threads over time: of THR_CREATE, PROC_CREATE, COMM_NAME, PROCEXEC
 * and PROCFORK records, in the order of their time. A thread number that is used again
 * begins with the record of its new thread.
 */
#include <stdlib.h>
#include <string.h>

#include "stat.h"

static uint64_t tid_hash(int32_t tid)
{
	return table_hash((uint32_t)tid);
}

static bool same_tid(const void *items, uint32_t i, const void *tid)
{
	return ((const struct named_thread *)items)[i].tid == *(const int32_t *)tid;
}

static struct named_thread *find_named(const struct thread_names *set, int32_t tid)
{
	uint32_t i = table_find(&set->table, tid_hash(tid), same_tid, set->thread, &tid);

	return i != TABLE_NONE ? &set->thread[i] : NULL;
}

static struct named_thread *get_named(struct thread_names *set, int32_t tid)
{
	struct named_thread *t = find_named(set, tid);
	uint32_t n = set->table.n;

	if (t || !table_room(&set->table) ||
	    !stat_room(&set->thread, n, sizeof(*set->thread)))
		return t;
	t = &set->thread[n];
	*t = (struct named_thread){ .tid = tid };
	table_put(&set->table, tid_hash(tid));
	return t;
}

/* The number of names that began by then. */
static uint32_t count_names(const struct named_thread *t, uint64_t time)
{
	uint32_t lo = 0, hi = t->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->name[mid].from <= time)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void names_add(struct thread_names *set, int32_t tid, const struct thread_name *new)
{
	struct named_thread *t = get_named(set, tid);
	uint32_t at;

	if (!t)
		return;
	t->ended = 0;
	at = count_names(t, new->from);
	/* The same again; strings of a model are one pointer each. */
	if (at && t->name[at - 1].comm == new->comm && t->name[at - 1].pid == new->pid)
		return;
	if (!stat_room(&t->name, t->n, sizeof(*t->name)))
		return;
	memmove(t->name + at + 1, t->name + at, (t->n - at) * sizeof(*t->name));
	t->name[at] = *new;
	t->n++;
}

const char *names_at(const struct thread_names *set, int32_t pid, int32_t tid,
		     uint64_t time, uint64_t *from, uint64_t *until)
{
	const struct named_thread *t = find_named(set, tid);
	const struct thread_name *name;
	uint32_t n;

	if (!t || !t->n)
		return NULL;
	n = count_names(t, time);
	/* Records of other CPUs may be a little late: a new thread had its name before. */
	if (!n && t->name[0].created)
		n = 1;
	if (n && t->name[n - 1].from > *from && t->name[n - 1].from <= time)
		*from = t->name[n - 1].from;
	if (n < t->n && t->name[n].from < *until)
		*until = t->name[n].from;
	name = n ? &t->name[n - 1] : NULL;
	return name && name->pid == pid ? name->comm : NULL;
}

const char *names_of_thread(const struct thread_names *set, int32_t tid, uint64_t time)
{
	const struct named_thread *t = find_named(set, tid);
	uint32_t n = t ? count_names(t, time) : 0;

	return n ? t->name[n - 1].comm : NULL;
}

void names_end(struct thread_names *set, int32_t tid, uint64_t time)
{
	struct named_thread *t = find_named(set, tid);

	if (t)
		t->ended = time;
}

static void forget_old(struct named_thread *t, uint64_t before)
{
	uint32_t n = count_names(t, before);

	/* The last of them is still the name. */
	if (n < 2)
		return;
	n--;
	t->n -= n;
	memmove(t->name, t->name + n, t->n * sizeof(*t->name));
}

void names_forget(struct thread_names *set, uint64_t before,
		  bool (*lives)(void *arg, int32_t pid), void *arg)
{
	uint32_t n = set->table.n, kept = 0;

	table_clear(&set->table);
	for (uint32_t i = 0; i < n; i++) {
		struct named_thread t = set->thread[i];

		forget_old(&t, before);
		if ((t.ended && t.ended < before) || !t.n ||
		    !lives(arg, t.name[t.n - 1].pid) || !table_room(&set->table)) {
			free(t.name);
			continue;
		}
		set->thread[kept++] = t;
		table_put(&set->table, tid_hash(t.tid));
	}
}

void names_free(struct thread_names *set)
{
	for (uint32_t i = 0; i < set->table.n; i++)
		free(set->thread[i].name);
	free(set->thread);
	table_free(&set->table);
}
