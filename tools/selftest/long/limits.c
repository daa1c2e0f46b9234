/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limits.c - events that some counters alone can count, by the vendor's tables: each row that
 * the module allows for one counts the same of the same code. A row that cannot count it
 * would count next to nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "long.h"
#include "selftest/judge.h"

struct limited {
	char (*spec)[HWPMC_NAME_MAX];
	unsigned int n, max;
	unsigned int rows;		/* programmable ones of the machine */
};

struct found {
	unsigned int tried, refused, counted, differ;
};

static int add_event(const struct hwpmc_event_info *info, void *arg)
{
	struct limited *l = arg;
	char spec[2 * HWPMC_NAME_MAX];

	if (!info->counters || info->deprecated ||
	    (unsigned int)__builtin_popcountll(info->counters) >= l->rows)
		return 0;
	if (info->kind && strcmp(info->kind, "cpu") != 0)
		snprintf(spec, sizeof(spec), "%s/%s/u", info->kind, info->name);
	else
		snprintf(spec, sizeof(spec), "%s:u", info->name);
	if (strlen(spec) >= HWPMC_NAME_MAX)
		return 0;
	if (l->n == l->max) {
		l->max = 2 * l->max + 64;
		l->spec = must_realloc(l->spec, l->max, sizeof(*l->spec));
	}
	memcpy(l->spec[l->n++], spec, strlen(spec) + 1);
	return 0;
}

static void collect(struct selftest *t, struct limited *l)
{
	const struct hwpmc_op_getcpuinfo *info = hwpmc_cpuinfo(t->h);

	for (unsigned int i = 0; i < info->nclass; i++)
		if (info->classes[i].class == HWPMC_CLASS_IAP ||
		    info->classes[i].class == HWPMC_CLASS_K8)
			l->rows = info->classes[i].num;
	hwpmc_event_each(t->h, HWPMC_CLASS_EVERY, add_event, l);
}

static void judge_event(struct selftest *t, const char *spec, const struct st_pmcs *p,
			struct found *f)
{
	uint64_t count[HWPMC_ROW_MAX] = { 0 };
	unsigned int low = 0, high = 0;

	for (unsigned int i = 0; i < p->n; i++) {
		count[i] = p->entry[i].value;
		low = count[i] < count[low] ? i : low;
		high = count[i] > count[high] ? i : high;
	}
	if (!count[high])
		return;
	f->counted++;
	if (judge_rows(count, p->n))
		return;
	if (++f->differ <= 10)
		st_failed(t, "limits", "%s: %s counts %llu and %s %llu of the same code", spec,
			  p->name[low], (unsigned long long)count[low], p->name[high],
			  (unsigned long long)count[high]);
	long_number(t, (double)count[low] / count[high], "ratio.%s", spec);
}

static void try_event(struct selftest *t, const char *spec, struct found *f)
{
	struct st_pmcs p = { .n = 0 };

	while (st_add(t, &p, spec, 0))
		;
	f->tried++;
	if (!p.n) {
		f->refused++;
		return;
	}
	if (st_batch(t, &p, "limits", HWPMC_BATCH_START)) {
		st_mix();
		if (st_batch(t, &p, "limits", HWPMC_BATCH_STOP) &&
		    st_batch(t, &p, "limits", HWPMC_BATCH_READ))
			judge_event(t, spec, &p, f);
	}
	st_release(t, &p);
}

/* On each kind of core the events that are of it count; on others they count 0. */
void long_limits(struct selftest *t)
{
	struct limited l = { .n = 0 };
	struct st_kind kind[ST_KINDS];
	unsigned int nkind = st_kinds(t, kind), i;
	struct found f = { 0 };
	bool all = !t->run->minutes;

	collect(t, &l);
	st_mix_begin();
	for (i = 0; i < l.n * nkind && (long_more(t) || !i || all); i++) {
		if (long_stopped())
			break;
		st_pin(kind[i / l.n].cpu);
		try_event(t, l.spec[i % l.n], &f);
	}
	st_mix_end();
	long_number(t, l.n * nkind, "events");
	long_number(t, f.tried, "tried");
	long_number(t, f.refused, "refused");
	long_number(t, f.counted, "counted");
	if (!l.n)
		st_not_tried(t, "limits",
			     "events that only some counters can count: this machine's tables have none");
	else if (judge_filtered(f.tried - f.refused, f.counted))
		st_failed(t, "limits",
			  "none of %u events that only some counters can count is counted: a hypervisor filters non-architectural events",
			  f.tried - f.refused);
	else if (!f.differ)
		st_held(t, "limits",
			"%u of %u events that only some counters can count: each row counts the same (%u count, %u are refused)",
			f.tried, l.n * nkind, f.counted, f.refused);
	free(l.spec);
}
