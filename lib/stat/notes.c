/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notes.c - the notes of a log ("key=value"), of the whole log or of a PMC by its number: the
 * latest of each key.
 */
#include <stdlib.h>
#include <string.h>

#include "profile.h"

struct note_key {
	const char *text;		/* "key" or "key=value" */
	uint32_t id;
};

static size_t key_len(const char *text)
{
	return strcspn(text, "=");
}

static uint64_t note_key_hash(const struct note_key *key)
{
	return table_mix(table_hash_bytes(key->text, key_len(key->text)),
			 key->id);
}

static bool same_note(const void *items, uint32_t i, const void *key)
{
	const struct note *note = &((const struct hwpmc_profile *)items)->note[i];
	const struct note_key *of = key;
	size_t len = key_len(of->text);

	return note->id == of->id && len == key_len(note->text) &&
	       !memcmp(note->text, of->text, len);
}

static uint32_t find_note(const struct hwpmc_profile *p, const struct note_key *key)
{
	return table_find(&p->notes, note_key_hash(key), same_note, p, key);
}

const char *notes_get(const struct hwpmc_profile *p, const char *key, uint32_t id)
{
	uint32_t i = find_note(p, &(struct note_key){ key, id });

	return i != TABLE_NONE ? p->note[i].text + key_len(key) + 1 : NULL;
}

void notes_add(struct hwpmc_profile *p, uint32_t id, const char *text)
{
	struct note_key key = { text, id };
	struct note note = { stat_strdup(text), id };
	uint32_t i;

	/* Others say nothing to this library. */
	if (!note.text || !strchr(text, '=')) {
		free(note.text);
		return;
	}
	i = find_note(p, &key);
	if (i != TABLE_NONE) {
		free(p->note[i].text);
		p->note[i] = note;
	} else if (table_room(&p->notes) &&
		   stat_room(&p->note, p->notes.n, sizeof(note))) {
		p->note[p->notes.n] = note;
		table_put(&p->notes, note_key_hash(&key));
	} else {
		free(note.text);
	}
}

void notes_free(struct hwpmc_profile *p)
{
	for (uint32_t i = 0; i < p->notes.n; i++)
		free(p->note[i].text);
	free(p->note);
	table_free(&p->notes);
}
