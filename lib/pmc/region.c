/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * region.c - regions: pieces of code that are measured each time that they run.
 * What the thread can read itself is read in the caller's code, last in begin and
 * first in end (HWPMC_REGION_READ); here is all that lies around that, which no
 * value has in it. Entered by the thread of the region alone, but that others are
 * recognised. Nothing is allocated after hwpmc_region_new().
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"
#include "spread.h"

#define UNKNOWN		UINT64_MAX
/* Without the macros all is read by call. */
#ifdef HWPMC_REGION_READ
#define CAN_MAP		true
#else
#define CAN_MAP		false
#endif

/* Empty regions, of which the cheapest tells what begin and end cost. With calls among them
 * a few, for so long: each may interrupt all CPUs where the PMC counts. */
#define LESSONS		64
#define LEAST_LESSONS	4
#define LESSONS_NS	1000000
/* So many instructions fewer than a lesson can a caller have between its calls. */
#define SHORTER		2

/* How the slots that the thread can read itself are read; the others: BY_CALL. */
enum how { BY_PAGE, BY_CALL };
#define HOWS		2

enum state { ENDED, BEGUN };

struct counter {			/* of the slot of the same number */
	uint32_t id;
	uint64_t cost[HOWS];		/* or UNKNOWN */
	unsigned int agree[HOWS];	/* lessons with this cost */
	uint64_t fallbacks, dropped;
	struct spread *values;
};

struct region {
	struct hwpmc_region head;	/* the first slots: by the thread itself */
	struct hwpmc *h;
	char *name;
	struct thread_page *page;	/* the thread's, pinned; or NULL */
	uint64_t serial;		/* the thread's: its address returns */
	uint64_t epoch;			/* the handle's, when the PMCs were last opened */
	unsigned int n, nmapped;
	unsigned int slot_of[HWPMC_REGION_PMCS];	/* the caller's i-th */
	enum state state;
	enum how how;			/* of the open region */
	uint32_t bad;			/* slots that could not be read */
	bool learning;
	atomic_uint_fast64_t misused;	/* by other threads, too */
	struct counter c[HWPMC_REGION_PMCS];
};

static struct region *region_whole(struct hwpmc_region *head)
{
	return (struct region *)head;
}

/* ---- begin and end ------------------------------------------------------- */

static const void *this_thread(void)
{
#ifdef __x86_64__
	const void *self;

	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
#else
	return (const void *)pthread_self();
#endif
}

/* A thread may have the address of one that has ended, but not its number. */
static bool is_mine(struct region *r)
{
	return r->head.thread == this_thread() && r->serial == thread_serial();
}

static bool row_holds(const volatile struct hwpmc_user_row *row)
{
	uint32_t seq;

	do {
		seq = row->seq;
		if (row->own == seq)
			return true;
	} while (row->seq != seq);
	return false;
}

/* The rows are valid, and those of the region's PMCs: a row outlives its PMC. */
static bool page_holds(const struct region *r)
{
	for (unsigned int j = 0; j < r->nmapped; j++)
		if (!mapped_is_told(r->h, r->c[j].id) || !row_holds(r->head.slot[j].row))
			return false;
	return true;
}

/*
 * A PMC that was attached again, or started, may be readable now, in another page of the
 * kernel's. A PMC that was released is not opened: its id has no PMC.
 */
static bool page_holds_again(struct region *r)
{
	uint64_t epoch = atomic_load(&r->h->epoch);
	struct hwpmc_counter opened;

	if (r->epoch == epoch)
		return false;
	r->epoch = epoch;
	for (unsigned int j = 0; j < r->nmapped; j++)
		if (hwpmc_counter_open(r->h, r->c[j].id, &opened))
			return false;
	return page_holds(r);
}

static void read_by_call(struct region *r, int which)
{
	unsigned int j = r->how == BY_PAGE ? r->nmapped : 0;

	for (; j < r->n; j++)
		if (hwpmc_read(r->h, r->c[j].id, &r->head.slot[j].value[which]))
			r->bad |= 1u << j;
}

static void learn_costs(struct region *r, enum how how);

EXPORT void hwpmc_region_ready(struct hwpmc_region *head)
{
	struct region *r = region_whole(head);

	if (!is_mine(r)) {
		atomic_fetch_add(&r->misused, 1);
		return;
	}
	if (r->state == BEGUN)
		atomic_fetch_add(&r->misused, 1);
	if (!r->learning) {
		r->how = page_holds(r) || page_holds_again(r) ? BY_PAGE : BY_CALL;
		if (r->c[0].cost[r->how] == UNKNOWN)
			learn_costs(r, r->how);
	}
	r->state = BEGUN;
	head->failed = 0;
	r->bad = 0;
	head->last = head->slot + (r->how == BY_PAGE ? r->nmapped : 0);
	read_by_call(r, 0);
}

static bool has_value(const struct region *r, unsigned int j, bool by_call)
{
	const struct hwpmc_region_slot *slot = &r->head.slot[j];

	if (by_call)
		return !(r->bad & 1u << j) && slot->value[1] >= slot->value[0];
	return !r->head.failed;
}

static void take_value(struct region *r, unsigned int j)
{
	struct counter *c = &r->c[j];
	bool by_call = r->how == BY_CALL || j >= r->nmapped;
	uint64_t value = r->head.slot[j].value[1] - r->head.slot[j].value[0];
	uint64_t *cost = &c->cost[r->how];

	if (r->learning) {
		if (!has_value(r, j, by_call))
			return;
		if (value < *cost) {
			*cost = value;
			c->agree[r->how] = 0;
		}
		c->agree[r->how] += value == *cost;
	} else if (has_value(r, j, by_call) && *cost != UNKNOWN) {
		spread_add(c->values, value > *cost ? value - *cost : 0);
		c->fallbacks += by_call;
	} else {
		c->dropped++;
	}
}

EXPORT void hwpmc_region_done(struct hwpmc_region *head)
{
	struct region *r = region_whole(head);

	if (!is_mine(r) || r->state != BEGUN) {
		atomic_fetch_add(&r->misused, 1);
		return;
	}
	read_by_call(r, 1);
	r->state = ENDED;
	/* An end without begin reads nothing. */
	head->last = head->slot;
	for (unsigned int j = 0; j < r->n; j++)
		take_value(r, j);
}

EXPORT void (hwpmc_region_begin)(struct hwpmc_region *r)
{
	if (!r)
		return;
#ifdef hwpmc_region_begin
	hwpmc_region_begin(r);
#else
	hwpmc_region_ready(r);
#endif
}

EXPORT void (hwpmc_region_end)(struct hwpmc_region *r)
{
	if (!r)
		return;
#ifdef hwpmc_region_end
	hwpmc_region_end(r);
#else
	hwpmc_region_done(r);
#endif
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/*
 * A read by call includes other threads and processes, which the cost must not: a value would be
 * less than the truth. So it is measured where there is no other thread, and is none if no two
 * lessons have the same; and a caller's code can be shorter than a lesson's. Where a PMC that this thread could read itself is read by call, it does
 * not count this thread.
 */
static void doubt_costs(struct region *r, enum how how)
{
	bool alone = status_number("Threads") == 1;

	for (unsigned int j = 0; j < r->n; j++) {
		struct counter *c = &r->c[j];

		if (how == BY_PAGE && j < r->nmapped)
			continue;
		if (j < r->nmapped || c->agree[how] < 2 || !alone)
			c->cost[how] = 0;
		else
			c->cost[how] -= c->cost[how] < SHORTER ? c->cost[how] : SHORTER;
	}
}

static void learn_costs(struct region *r, enum how how)
{
	bool calls = how == BY_CALL || r->nmapped < r->n;
	uint64_t end = calls ? now_ns() + LESSONS_NS : 0;
	struct hwpmc_region *head = &r->head;
	enum how before = r->how;

	r->learning = true;
	r->how = how;
	for (unsigned int i = 0; i < LESSONS; i++) {
		if (calls && i >= LEAST_LESSONS && now_ns() > end)
			break;
		hwpmc_region_begin(head);
		hwpmc_region_end(head);
	}
	doubt_costs(r, how);
	r->learning = false;
	r->how = before;
}

/* ---- make and ask -------------------------------------------------------- */

/* Those that the thread reads itself from the left, the others from the right. */
static int add_counter(struct region *r, unsigned int i, uint32_t id,
		       unsigned int *left, unsigned int *right)
{
	struct hwpmc_counter opened;
	uint64_t value;
	unsigned int j;

	if (CAN_MAP && !hwpmc_counter_open(r->h, id, &opened)) {
		j = (*left)++;
		r->head.slot[j].row = opened.row;
	} else if (!hwpmc_read(r->h, id, &value)) {
		j = --*right;
	} else {
		return -1;
	}
	r->slot_of[i] = j;
	r->c[j] = (struct counter){
		.id = id, .cost = { UNKNOWN, UNKNOWN },
		.values = calloc(1, sizeof(struct spread)),
	};
	return r->c[j].values ? 0 : error_own(r->h, ENOMEM,
					      "no memory for a region");
}

static int add_counters(struct region *r, const uint32_t *ids, unsigned int n)
{
	unsigned int left = 0, right = n;

	r->n = n;
	for (unsigned int i = 0; i < n; i++)
		if (add_counter(r, i, ids[i], &left, &right))
			return -1;
	r->nmapped = left;
	r->page = left ? mapped_pin(r->h) : NULL;
	return 0;
}

static struct region *new_region(struct hwpmc *h, const char *name)
{
	struct region *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->h = h;
	r->name = strdup(name ? name : "");
	r->head.thread = this_thread();
	r->serial = thread_serial();
	r->epoch = atomic_load(&h->epoch);
	r->head.last = r->head.slot;
	if (r->name)
		return r;
	free(r);
	return NULL;
}

EXPORT struct hwpmc_region *hwpmc_region_new(struct hwpmc *h, const char *name,
					     const uint32_t *ids,
					     unsigned int n)
{
	struct region *r;

	if (null_given(h, !h, "hwpmc_region_new"))
		return NULL;
	if (!ids || n < 1 || n > HWPMC_REGION_PMCS) {
		error_own(h, EINVAL,
			  what("a region has 1 to %d counters, not %u",
			       HWPMC_REGION_PMCS, ids ? n : 0).text);
		return NULL;
	}
	r = new_region(h, name);
	if (!r) {
		error_own(h, ENOMEM, "no memory for a region");
		return NULL;
	}
	if (add_counters(r, ids, n)) {
		hwpmc_region_free(&r->head);
		return NULL;
	}
	/* Else by the first begin that reads by page. */
	r->how = r->nmapped ? BY_PAGE : BY_CALL;
	if (r->how == BY_CALL || page_holds(r))
		learn_costs(r, r->how);
	return &r->head;
}

EXPORT void hwpmc_region_free(struct hwpmc_region *head)
{
	struct region *r = region_whole(head);
	int err = errno;

	if (!r)
		return;
	for (unsigned int j = 0; j < r->n; j++)
		free(r->c[j].values);
	mapped_unpin(r->page);
	free(r->name);
	free(r);
	errno = err;
}

EXPORT const char *hwpmc_region_name(const struct hwpmc_region *head)
{
	return null_given(NULL, !head, "hwpmc_region_name") ? NULL :
	       ((const struct region *)head)->name;
}

static uint64_t cost_of(const struct counter *c)
{
	if (c->cost[BY_PAGE] != UNKNOWN)
		return c->cost[BY_PAGE];
	return c->cost[BY_CALL] == UNKNOWN ? 0 : c->cost[BY_CALL];
}

EXPORT int hwpmc_region_get(struct hwpmc_region *head, unsigned int i,
			    struct hwpmc_region_stats *stats)
{
	struct region *r = region_whole(head);
	const struct counter *c;
	struct spread *s;

	if (null_given(r ? r->h : NULL, !r || !stats, "hwpmc_region_get"))
		return -1;
	if (i >= r->n)
		return error_own(r->h, EINVAL,
				 what("region '%.100s' has no counter %u, but %u in all",
				      r->name, i, r->n).text);
	c = &r->c[r->slot_of[i]];
	s = c->values;
	*stats = (struct hwpmc_region_stats){
		.count = s->count, .min = s->min, .max = s->max, .sum = s->sum,
		.median = spread_median(s),
		.mean = s->count ? (double)s->sum / s->count : 0,
		.cost = cost_of(c),
		.fallbacks = c->fallbacks, .dropped = c->dropped,
		.misused = atomic_load(&r->misused),
		.sketched = !spread_is_exact(s),
	};
	return 0;
}

EXPORT void hwpmc_region_reset(struct hwpmc_region *head)
{
	struct region *r = region_whole(head);

	if (!r)
		return;
	for (unsigned int j = 0; j < r->n; j++) {
		r->c[j].fallbacks = 0;
		r->c[j].dropped = 0;
		memset(r->c[j].values, 0, sizeof(*r->c[j].values));
	}
	atomic_store(&r->misused, 0);
}
