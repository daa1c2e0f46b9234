/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export.c - what the writers of formats share: numbers for things, samples by
 * thread, names. No I/O.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/msg.h"
#include "export.h"

struct export export_of(struct hwpmc_profile *profile, const char *image)
{
	struct export x = {
		.profile = profile, .image = image,
		.totals = hwpmc_profile_totals(profile),
	};

	x.event = hwpmc_profile_events(profile, &x.nevent);
	x.stack = hwpmc_profile_stacks(profile, &x.nstack);
	return x;
}

/* ---- numbers ------------------------------------------------------------- */

/*
 * Numbers of processes and names are the log's: hashes depend on two random numbers, so
 * that a log cannot be made whose items all have the same one.
 */
static uint64_t seed, factor;

static void make_seed(void)
{
	uint64_t random[2];

	if (factor)
		return;
	/* Without random bytes the addresses of this process are what is not known. */
	if (getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random)) {
		random[0] = (uintptr_t)&seed ^ (uintptr_t)malloc;
		random[1] = ((uintptr_t)random ^ random[0] >> 12) *
			    0x9e3779b97f4a7c15ull;
	}
	seed = random[0];
	/* Products have both halves in use. */
	factor = random[1] | 1ull << 63 | 1;
}

static uint64_t hash_mix(uint64_t h, uint64_t x)
{
	__extension__ unsigned __int128 product = h ^ x;

	product *= factor;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Of keys that are multiples one half may have few different values. */
static uint32_t hash_fold(uint64_t h)
{
	return h ^ h >> 32;
}

static uint32_t hash_key(uint64_t a, uint64_t b)
{
	return hash_fold(hash_mix(hash_mix(seed, a), b));
}

static uint32_t hash_text(const char *text)
{
	size_t len = strlen(text);
	uint64_t h = seed ^ len, x;

	for (; len >= sizeof(x); len -= sizeof(x), text += sizeof(x)) {
		memcpy(&x, text, sizeof(x));
		h = hash_mix(h, x);
	}
	x = 0;
	memcpy(&x, text, len);
	return hash_fold(hash_mix(h, x));
}

static void ids_grow(struct ids *ids)
{
	uint32_t n = ids->nslot ? 2 * ids->nslot : 256;

	make_seed();
	free(ids->slot);
	ids->slot = must_calloc(n, sizeof(*ids->slot));
	ids->nslot = n;
	for (uint32_t i = 0; i < ids->n; i++) {
		uint32_t at = hash_key(ids->key[i].a, ids->key[i].b) & (n - 1);

		while (ids->slot[at])
			at = (at + 1) & (n - 1);
		ids->slot[at] = i + 1;
	}
	ids->key = must_realloc(ids->key, n / 2, sizeof(*ids->key));
}

/* Its slot, or the free one where it would be. */
static uint32_t *find_id(const struct ids *ids, uint64_t a, uint64_t b)
{
	uint32_t at = hash_key(a, b) & (ids->nslot - 1);

	while (ids->slot[at] && (ids->key[ids->slot[at] - 1].a != a ||
				 ids->key[ids->slot[at] - 1].b != b))
		at = (at + 1) & (ids->nslot - 1);
	return &ids->slot[at];
}

uint32_t ids_get(struct ids *ids, uint64_t a, uint64_t b)
{
	uint32_t *slot;

	if (2 * ids->n >= ids->nslot)
		ids_grow(ids);
	slot = find_id(ids, a, b);
	if (!*slot) {
		ids->key[ids->n] = (struct ids_key){ a, b };
		*slot = ++ids->n;
	}
	return *slot - 1;
}

bool ids_has(const struct ids *ids, uint64_t a, uint64_t b, uint32_t *id)
{
	uint32_t slot = ids->nslot ? *find_id(ids, a, b) : 0;

	*id = slot - 1;
	return slot;
}

void ids_free(struct ids *ids)
{
	free(ids->key);
	free(ids->slot);
	*ids = (struct ids){ 0 };
}

static uint32_t *find_string(const struct strings *s, const char *text)
{
	uint32_t at;

	for (at = hash_text(text) & (s->nslot - 1);
	     s->slot[at] && strcmp(s->text[s->slot[at] - 1], text);
	     at = (at + 1) & (s->nslot - 1))
		;
	return &s->slot[at];
}

static void strings_grow(struct strings *s)
{
	make_seed();
	s->nslot = s->nslot ? 2 * s->nslot : 256;
	free(s->slot);
	s->slot = must_calloc(s->nslot, sizeof(*s->slot));
	s->text = must_realloc(s->text, s->nslot / 2, sizeof(*s->text));
	for (uint32_t i = 0; i < s->n; i++)
		*find_string(s, s->text[i]) = i + 1;
}

uint32_t strings_get(struct strings *s, const char *text)
{
	uint32_t *slot;

	if (2 * s->n >= s->nslot)
		strings_grow(s);
	slot = find_string(s, text);
	if (!*slot) {
		s->text[s->n] = must_strdup(text);
		*slot = ++s->n;
	}
	return *slot - 1;
}

void strings_free(struct strings *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->text[i]);
	free(s->text);
	free(s->slot);
	*s = (struct strings){ 0 };
}

void text_open(struct text *t)
{
	*t = (struct text){ 0 };
	t->f = open_memstream(&t->text, &t->len);
	if (!t->f)
		must_fail();
}

const char *text_close(struct text *t)
{
	if (fclose(t->f))
		must_fail();
	return t->text;
}

/* ---- samples by thread --------------------------------------------------- */

/* The same thread before and after an exec: called as most of its samples are. */
static void name_tracks(const struct export *x, struct track *track,
			const uint32_t *of)
{
	struct ids names = { 0 };
	uint64_t *count = must_calloc(x->nstack, sizeof(*count));
	uint64_t *most = must_calloc(x->nstack, sizeof(*most));

	for (uint32_t i = 0; i < x->nstack; i++)
		count[ids_get(&names, of[i], (uintptr_t)x->stack[i].thread)] +=
			x->stack[i].count;
	for (uint32_t i = 0; i < names.n; i++) {
		uint32_t at = names.key[i].a;

		if (count[i] <= most[at])
			continue;
		most[at] = count[i];
		track[at].thread = (void *)(uintptr_t)names.key[i].b;
	}
	ids_free(&names);
	free(count);
	free(most);
}

struct track *export_tracks(const struct export *x, uint32_t *n)
{
	const struct hwpmc_sample_point *point;
	struct ids tracks = { 0 };
	uint32_t npoint, *of;
	struct track *track;

	point = hwpmc_profile_timeline(x->profile, &npoint);
	of = must_calloc(x->nstack, sizeof(*of));
	for (uint32_t i = 0; i < x->nstack; i++)
		of[i] = ids_get(&tracks,
				(uint64_t)x->stack[i].thread->pid << 32 |
				(uint32_t)x->stack[i].thread->tid,
				x->stack[i].event);
	track = must_calloc(tracks.n, sizeof(*track));
	name_tracks(x, track, of);
	for (uint32_t i = 0; i < npoint; i++)
		track[of[point[i].stack]].n++;
	for (uint32_t i = 0; i < tracks.n; i++) {
		track[i].event = tracks.key[i].b;
		track[i].point = must_calloc(track[i].n, sizeof(uint32_t));
		track[i].n = 0;
	}
	for (uint32_t i = 0; i < npoint; i++) {
		struct track *t = &track[of[point[i].stack]];

		t->point[t->n++] = i;
	}
	*n = tracks.n;
	ids_free(&tracks);
	free(of);
	return track;
}

void export_tracks_free(struct track *track, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(track[i].point);
	free(track);
}

/* ---- names --------------------------------------------------------------- */

const char *export_function(char buf[EXPORT_NAME],
			    const struct hwpmc_symbol *symbol)
{
	const char *image = symbol->image->name;
	size_t len = strlen(image);

	if (!symbol->unknown || symbol->image->kind == HWPMC_IMAGE_UNKNOWN)
		return symbol->name;
	/* "[kernel]" within brackets. */
	if (len > 2 && image[0] == '[' && image[len - 1] == ']') {
		image++;
		len -= 2;
	}
	snprintf(buf, EXPORT_NAME, "[unknown in %.*s]", (int)len, image);
	return buf;
}

bool export_line(const struct export *x, const struct hwpmc_frame *frame,
		 const char **file, unsigned int *line)
{
	return hwpmc_frame_line(x->profile, frame, file, line) == 1;
}

const char *export_track_name(char buf[EXPORT_NAME], const struct export *x,
			      const struct track *track)
{
	const struct hwpmc_thread_info *t = track->thread;
	char thread[32] = "", event[300] = "";

	if (t->tid != t->pid)
		snprintf(thread, sizeof(thread), "/%" PRId32, t->tid);
	if (x->nevent > 1)
		snprintf(event, sizeof(event), " %s", x->event[track->event].name);
	snprintf(buf, EXPORT_NAME, "%s (%" PRId32 "%s)%s", t->comm, t->pid,
		 thread, event);
	return buf;
}

const char *export_title(const struct export *x)
{
	return hwpmc_profile_note(x->profile, "command") ?: "hwpmc profile";
}

void export_hex(char *out, const uint8_t *bytes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sprintf(out + 2 * i, "%02x", bytes[i]);
	out[2 * n] = '\0';
}

/* Is the image's name a word of the command, or its last part? */
static bool is_word_of(const struct hwpmc_image *image, const char *command)
{
	static const char ends[] = " \t\n;&|()<>'\"";
	size_t want = strlen(image->name), len;

	for (const char *at = command; *at; at += len) {
		at += strspn(at, ends);
		len = strcspn(at, ends);
		if (len >= want && (len == want || at[len - want - 1] == '/') &&
		    !strncmp(at + len - want, image->name, want))
			return want;
	}
	return false;
}

const struct hwpmc_image *export_main_image(const struct export *x)
{
	const char *command = hwpmc_profile_note(x->profile, "command");
	const struct hwpmc_image *best = NULL;
	struct hwpmc_image *const *image;
	uint32_t n;

	image = hwpmc_profile_images(x->profile, &n);
	for (uint32_t i = 0; i < n && command; i++)
		if (image[i]->kind == HWPMC_IMAGE_ELF && image[i]->samples &&
		    is_word_of(image[i], command) &&
		    (!best || image[i]->samples > best->samples))
			best = image[i];
	return best;
}

#define YEAR_2000	946684800000000000ull

uint64_t export_began(const struct export *x)
{
	return x->totals->first < YEAR_2000 ? 0 : x->totals->first;
}
