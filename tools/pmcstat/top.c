/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top.c - pmcstat -T: where the samples are, while they come. A thread reads
 * the log and feeds a profile; this one takes a round from it each interval, draws,
 * and listens to keys. What is not a terminal gets the rounds as text.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/watch.h"
#include "pmcstat.h"
#include "screen.h"
#include "view/top.h"

#define MANY		200000		/* records that wait for a round */
#define SOON		100000000	/* ns: look again whether the log has ended */

struct pmcstat_top {
	pthread_mutex_t lock;		/* the profile; `wanted` goes first */
	pthread_cond_t go;
	atomic_bool wanted, done;	/* done: the log has ended */
	struct hwpmc_profile_options options;
	struct hwpmc_profile *profile;
	unsigned int pending;		/* records since it was resolved */
	struct view_store store;
	struct view_top view;
	bool screen, paused, was_c;
	bool ran, ended;		/* ended: and all of it was taken */
	unsigned int rounds;		/* that were shown */
};

/* ---- the reader ---------------------------------------------------------- */

static void top_feed(struct pmcstat_top *t, const struct hwpmc_record *r)
{
	pthread_mutex_lock(&t->lock);
	while (t->wanted)
		pthread_cond_wait(&t->go, &t->lock);
	hwpmc_profile_feed(t->profile, r);
	if (++t->pending >= MANY) {
		hwpmc_profile_resolve(t->profile);
		t->pending = 0;
	}
	pthread_mutex_unlock(&t->lock);
}

/* All of a file, read twice: mappings may stand behind what they explain. */
static int read_file(struct pmcstat_top *t, struct hwpmc_input *in, char *err,
		     size_t size)
{
	struct hwpmc_profile *p, *before;

	p = hwpmc_profile_read(in, &t->options, NULL, NULL, err, size);
	if (!p)
		return -1;
	pthread_mutex_lock(&t->lock);
	before = t->profile;
	t->profile = p;
	pthread_mutex_unlock(&t->lock);
	hwpmc_profile_free(before);
	return 0;
}

static int feed_all(struct pmcstat_top *t, struct hwpmc_input *in, char *err,
		    size_t size)
{
	struct hwpmc_record r;
	int rc;

	/* It may be cancelled where it waits for more, never with the lock. */
	for (;;) {
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
		pthread_testcancel();
		rc = hwpmc_input_next(in, &r);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		if (rc <= 0)
			break;
		top_feed(t, &r);
	}
	if (rc < 0)
		snprintf(err, size, "%s", hwpmc_input_error(in));
	return rc;
}

int pmcstat_top_feed(struct pmcstat *ps, int fd, const char *path)
{
	struct hwpmc_input *in;
	char err[600];
	int rc = -1;

	in = pmcstat_open_input(ps, fd, path, err, sizeof(err));
	if (in && hwpmc_input_rewind(in) == 0)
		rc = read_file(ps->top, in, err, sizeof(err));
	else if (in)
		rc = feed_all(ps->top, in, err, sizeof(err));
	hwpmc_input_close(in);
	/* The screen belongs to the other thread, which shows it. */
	if (rc < 0)
		snprintf(ps->read_error, sizeof(ps->read_error), "%s", err);
	ps->top->done = true;
	return rc < 0 ? EXIT_FAILED : 0;
}

/* ---- rounds -------------------------------------------------------------- */

static void top_lock(struct pmcstat_top *t)
{
	t->wanted = true;
	pthread_mutex_lock(&t->lock);
}

static void top_unlock(struct pmcstat_top *t)
{
	t->wanted = false;
	pthread_cond_signal(&t->go);
	pthread_mutex_unlock(&t->lock);
}

/* In a pause the round that is shown stays, and what comes waits for the next one. */
static void top_take(struct pmcstat_top *t)
{
	top_lock(t);
	if (t->paused)
		view_store_gather(&t->store, t->profile);
	else
		view_store_take(&t->store, t->profile);
	t->pending = 0;
	top_unlock(t);
}

static void screen_draw(struct pmcstat *ps)
{
	struct pmcstat_top *t = ps->top;
	char waiting[80], *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return;
	t->view.state = t->paused ? " [paused]" :
			t->screen && t->ended ? " [the log has ended]" : "";
	snprintf(waiting, sizeof(waiting), "Waiting for samples: they are shown every %g s.",
		 ps->interval_ns / 1e9);
	t->view.waiting = t->screen && !t->ended ? waiting : NULL;
	top_lock(t);
	view_top(f, t->profile, &t->store, &t->view);
	top_unlock(t);
	fclose(f);
	if (t->screen)
		screen_show(text);
	else
		fprintf(ps->out, "%s%s", t->rounds ? "\n" : "", text);
	fflush(ps->out);
	if (ferror(ps->out))
		watch_end_without_reader(fileno(ps->out));
	t->rounds++;
	free(text);
}

static void next_event(struct pmcstat_top *t)
{
	uint32_t n;

	top_lock(t);
	hwpmc_profile_events(t->profile, &n);
	t->view.event = t->view.event + 1 < n ? t->view.event + 1 : 0;
	t->view.merged = false;
	top_unlock(t);
}

/* False: end. */
static bool take_key(struct pmcstat_top *t, int key)
{
	bool was_c = t->was_c;

	t->was_c = key == 'c';
	if (was_c && (key == 'a' || key == 'd'))
		t->view.total = key == 'a';
	else if (key == 'm')
		t->view.merged = !t->view.merged;
	else if (key == 'n')
		t->view.calltree = !t->view.calltree;
	else if (key == 'p')
		next_event(t);
	else if (key == ' ')
		t->paused = !t->paused;
	else if (key == 'f')
		t->view.skip = !t->view.skip;
	else if (key == 'A')
		t->view.addresses = !t->view.addresses;
	else if (key == 'I')
		t->view.offsets = !t->view.offsets;
	return key != 'q' && key >= 0;
}

static bool take_keys(struct pmcstat_top *t)
{
	int key;

	while ((key = screen_key()) != 0)
		if (!take_key(t, key))
			return false;
	return true;
}

/* ---- the loop ------------------------------------------------------------ */

static void open_screen(struct pmcstat *ps, struct watch *w)
{
	struct pmcstat_top *t = ps->top;

	if (!isatty(fileno(ps->out)))
		return;
	t->screen = screen_open(ps->out) == 0;
	if (t->screen && isatty(STDIN_FILENO))
		w->input_fd = STDIN_FILENO;
}

static uint64_t sooner_of(uint64_t a, uint64_t b)
{
	return a && a < b ? a : b;
}

/* What has to be done now; false: nothing will come that is worth waiting for. */
static bool top_look(struct pmcstat *ps, uint64_t *tick)
{
	struct pmcstat_top *t = ps->top;
	uint64_t now = watch_now();

	if (t->done && !t->ended) {
		t->ended = true;
		if (!t->screen)
			return false;
	} else if (now < *tick) {
		return true;
	}
	while (*tick <= now)
		*tick += ps->interval_ns;
	top_take(t);
	if (!t->paused)
		screen_draw(ps);
	return true;
}

/* Until the end of what w watches, of the time, or the key that asks for it. */
static void top_loop(struct pmcstat *ps, struct watch *w)
{
	uint64_t start = watch_now(), tick = start + ps->interval_ns;
	uint64_t limit = ps->limit_ns ? start + ps->limit_ns : 0;

	for (;;) {
		uint64_t soon = ps->top->ended ? tick : sooner_of(tick, watch_now() + SOON);
		enum watch_event ev = watch_wait(w, sooner_of(limit, soon));

		if (ev == WATCH_INPUT) {
			if (!take_keys(ps->top))
				return;
			screen_draw(ps);
		} else if (ev != WATCH_TIME ||
			   (limit && watch_now() >= limit) ||
			   !top_look(ps, &tick)) {
			return;
		}
	}
}

void pmcstat_top_run(struct pmcstat *ps, struct watch *w)
{
	ps->top->ran = true;
	open_screen(ps, w);
	if (ps->top->screen)
		screen_draw(ps);
	top_loop(ps, w);
	w->input_fd = -1;
	if (ps->top->screen)
		screen_close();
}

void pmcstat_top_begin(struct pmcstat *ps, bool live)
{
	const struct pmcstat_views *v = &ps->views;
	struct pmcstat_top *t = must_calloc(1, sizeof(*t));

	t->options = (struct hwpmc_profile_options){
		.symbols = { .root = v->root, .kernel = v->kernel },
		.tids = ps->lwp ? &ps->lwp : NULL, .ntid = ps->lwp ? 1 : 0,
	};
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->go, NULL);
	t->profile = hwpmc_profile_new(&t->options);
	if (t->profile && live)
		hwpmc_profile_prepare(t->profile);
	t->view = (struct view_top){
		.threshold = v->have_threshold ? v->o.threshold : 0.5,
		.depth = v->o.depth, .offsets = v->o.offsets,
		.skip = v->skip,
	};
	ps->top = t;
}

/*
 * What came since the last round. A terminal is left with all that there was: it
 * shows nothing else of a short run.
 */
static void draw_last(struct pmcstat *ps)
{
	struct pmcstat_top *t = ps->top;

	t->view.total |= t->screen;
	t->rounds = t->screen ? 0 : t->rounds;
	t->screen = t->paused = false;
	top_take(t);
	screen_draw(ps);
}

int pmcstat_top_end(struct pmcstat *ps)
{
	struct pmcstat_top *t = ps->top;

	if (*ps->read_error)
		msg("%s", ps->read_error);
	if (t->ran)
		draw_last(ps);
	view_store_free(&t->store);
	hwpmc_profile_free(t->profile);
	free(t);
	ps->top = NULL;
	return *ps->read_error ? EXIT_FAILED : 0;
}

/* ---- logs that are there, or come from elsewhere ------------------------- */

struct reading {
	struct pmcstat *ps;
	int fd;
	const char *path;
};

static void *read_log(void *arg)
{
	struct reading *r = arg;

	pmcstat_top_feed(r->ps, r->fd, r->path);
	return NULL;
}

int pmcstat_top_read(struct pmcstat *ps, int fd, const char *path)
{
	struct reading r = { ps, fd, path };
	pthread_t reader;
	struct watch w;
	int err;

	if (watch_open(&w) < 0) {
		msg("cannot watch for signals: %s", strerror(errno));
		return EXIT_FAILED;
	}
	pmcstat_top_begin(ps, false);
	/* What is there already is all there is. */
	ps->top->view.total = fd < 0;
	err = pthread_create(&reader, NULL, read_log, &r);
	if (err) {
		msg("cannot start a thread: %s", strerror(err));
		return EXIT_FAILED;
	}
	pmcstat_top_run(ps, &w);
	/* The thread may block in a read from a sender that never sends. */
	if (!ps->top->done)
		pthread_cancel(reader);
	pthread_join(reader, NULL);
	err = pmcstat_top_end(ps);
	watch_close(&w);
	return err;
}
