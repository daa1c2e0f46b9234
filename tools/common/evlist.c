/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evlist.c - splits "cycles,instructions,usr,cpu/event=1,umask=2/u" into
 * events. Pure. What a specification means is the library's business; here is
 * only what a comma means.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "evlist.h"
#include "msg.h"

/* Qualifiers that are words; those with a value are known by their '='. */
static const char *const words[] = {
	"usr", "os", "edge", "inv", "any", "anythread", "precise",
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

/* Characters up to the next comma that is not between slashes. */
static size_t part_length(const char *s)
{
	bool inside = false;
	size_t i;

	for (i = 0; s[i]; i++) {
		if (s[i] == '/')
			inside = !inside;
		if (s[i] == ',' && !inside)
			break;
	}
	return i;
}

static void evlist_append(struct evlist *list, const char *s, size_t len)
{
	char *spec = must_calloc(len + 1, 1);

	memcpy(spec, s, len);
	list->spec = must_realloc(list->spec, list->n + 1, sizeof(*list->spec));
	list->spec[list->n++] = spec;
}

static void evlist_extend(struct evlist *list, const char *s, size_t len)
{
	char **last = &list->spec[list->n - 1];
	size_t old = strlen(*last);

	*last = must_realloc(*last, old + len + 2, 1);
	(*last)[old] = ',';
	memcpy(*last + old + 1, s, len);
	(*last)[old + 1 + len] = '\0';
}

int evlist_add(struct evlist *list, const char *text)
{
	unsigned int before = list->n;

	for (;;) {
		size_t len = part_length(text);
		bool qualifies = is_qualifier(text, len);

		if (len == 0 || (qualifies && list->n == before))
			return -1;
		if (qualifies)
			evlist_extend(list, text, len);
		else
			evlist_append(list, text, len);
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

void evlist_free(struct evlist *list)
{
	for (unsigned int i = 0; i < list->n; i++)
		free(list->spec[i]);
	free(list->spec);
	memset(list, 0, sizeof(*list));
}
