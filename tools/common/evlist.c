/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evlist.c - splits "cycles,{instructions,usr,cpu/event=1,umask=2/u}" into
 * events and groups. Pure. What a specification means is the library's business; here
 * is only what commas and braces mean.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "evlist.h"
#include "msg.h"

/* Qualifiers that are words; those with a value are known by their '='. */
static const char *const words[] = {
	"usr", "os", "edge", "inv", "any", "anythread", "precise", "guest", "host",
	"l3miss", "opcount", "randomize", "data", "target",
};

static bool is_qualifier(const char *s, size_t len)
{
	if (memchr(s, '=', len) && !memchr(s, '/', len))
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i]) == len && !strncasecmp(s, words[i], len))
			return true;
	return false;
}

/* Characters up to the next comma or brace that is not between slashes. */
static size_t part_length(const char *s)
{
	bool inside = false;
	size_t i;

	for (i = 0; s[i]; i++) {
		if (s[i] == '/')
			inside = !inside;
		if (!inside && strchr(",{}", s[i]))
			break;
	}
	return i;
}

static void evlist_append(struct evlist *list, unsigned int group, const char *s,
			  size_t len)
{
	char *spec = must_calloc(len + 1, 1);

	memcpy(spec, s, len);
	list->spec = must_realloc(list->spec, list->n + 1, sizeof(*list->spec));
	list->group = must_realloc(list->group, list->n + 1, sizeof(*list->group));
	list->rate = must_realloc(list->rate, list->n + 1, sizeof(*list->rate));
	list->rate[list->n] = (struct evrate){ 0 };
	list->group[list->n] = group;
	list->spec[list->n++] = spec;
}

void evlist_add_one(struct evlist *list, const char *spec, unsigned int group)
{
	evlist_append(list, group, spec, strlen(spec));
}

/* A qualifier of the last event. 0, or -1 with list->why. */
static int evlist_extend(struct evlist *list, const char *s, size_t len)
{
	char **last = &list->spec[list->n - 1];
	int is = evrate_term(&list->rate[list->n - 1], s, len, &list->why);
	size_t old = strlen(*last);

	if (is)
		return is < 0 ? -1 : 0;
	*last = must_realloc(*last, old + len + 2, 1);
	(*last)[old] = ',';
	memcpy(*last + old + 1, s, len);
	(*last)[old + 1 + len] = '\0';
	return 0;
}

/* A modifier of an event, whose memory may move: it stands before the first qualifier. */
static char *modify(char *event, const char *s, size_t len)
{
	size_t old = strlen(event), at = part_length(event);
	char *spec = must_realloc(event, old + len + 1, 1);

	memmove(spec + at + len, spec + at, old - at + 1);
	memcpy(spec + at, s, len);
	return spec;
}

char *evlist_user_mode(const char *spec)
{
	size_t at = part_length(spec);
	const char *modifier = at && spec[at - 1] == '/' ? "u" : ":u";

	return modify(must_strdup(spec), modifier, strlen(modifier));
}

static int refuse(struct evlist *list, const char *why)
{
	list->why = why;
	return -1;
}

static int evlist_append_text(struct evlist *list, unsigned int group, const char *s, size_t len)
{
	evlist_append(list, group, s, len);
	return evrate_take(&list->rate[list->n - 1], list->spec[list->n - 1], &list->why);
}

/* What one evlist_add() reads. */
struct reader {
	struct evlist *list;
	const char *text;		/* next character */
	unsigned int group;		/* 0: outside of braces */
	unsigned int first;		/* the first event that a qualifier may follow */
};

static int read_open(struct reader *r)
{
	if (*r->text != '{')
		return 0;
	if (r->group)
		return refuse(r->list, "groups cannot be nested; remove the inner braces");
	r->group = ++r->list->ngroup;
	r->first = r->list->n;
	r->text++;
	if (*r->text == '{')
		return read_open(r);
	return *r->text == '}' ?
	       refuse(r->list, "a group is empty; name its events between the braces") : 0;
}

static int read_part(struct reader *r)
{
	size_t len = part_length(r->text);
	bool qualifies = is_qualifier(r->text, len);

	if (r->text[len] == '{' && len)
		return refuse(r->list, "a '{' follows an event; put a comma before it");
	if (len == 0 && *r->text == '}' && !r->group)
		return 0;		/* read_close() says it */
	if (len == 0)
		return refuse(r->list, "an event is missing before or after a comma");
	if (qualifies && r->list->n == r->first)
		return refuse(r->list, "a qualifier has no event before it");
	if (qualifies && evlist_extend(r->list, r->text, len) < 0)
		return -1;
	if (!qualifies && evlist_append_text(r->list, r->group, r->text, len) < 0)
		return -1;
	r->text += len;
	return 0;
}

/* The brace that ends a group, and the modifier of all its events. */
static int read_close(struct reader *r)
{
	size_t len;

	if (*r->text != '}')
		return 0;
	if (!r->group)
		return refuse(r->list, "a '}' has no '{' before it; remove it, or open the group");
	len = part_length(++r->text);
	if ((len && *r->text != ':') || (r->text[len] && r->text[len] != ','))
		return refuse(r->list, "only a comma or a modifier (:u, :k) can follow a '}'");
	for (unsigned int i = r->first; len && i < r->list->n; i++)
		r->list->spec[i] = modify(r->list->spec[i], r->text, len);
	r->group = 0;
	r->first = r->list->n;
	r->text += len;
	return 0;
}

int evlist_add(struct evlist *list, const char *text)
{
	struct reader r = { .list = list, .text = text, .first = list->n };

	for (;;) {
		if (read_open(&r) < 0 || read_part(&r) < 0 || read_close(&r) < 0)
			return -1;
		if (!*r.text)
			break;
		r.text++;
	}
	return r.group ? refuse(list, "a '{' has no '}' after it; close the group") : 0;
}

bool evlist_has_rate(const struct evlist *list)
{
	for (unsigned int i = 0; i < list->n; i++)
		if (list->rate[i].period || list->rate[i].frequency)
			return true;
	return false;
}

void evlist_free(struct evlist *list)
{
	for (unsigned int i = 0; i < list->n; i++)
		free(list->spec[i]);
	free(list->spec);
	free(list->group);
	free(list->rate);
	memset(list, 0, sizeof(*list));
}
