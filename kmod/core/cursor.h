/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * cursor.h - a list that is walked in steps. The lock that protects it is released between
 * two steps, and entries come and go meanwhile: one that leaves the list moves each cursor
 * on that stands on it. So a walk visits each entry once that is in the list from its
 * beginning to its end, and any number of walks can go on at a time.
 *
 * The memory of the list's head has to outlive the walk (RCU).
 */
#ifndef HWPMC_CURSOR_H
#define HWPMC_CURSOR_H

#include <linux/list.h>

struct hwpmc_cursor {
	struct list_head node;		/* in the list's cursors */
	struct list_head *next;		/* entry to visit, or the list's head */
};

static inline void hwpmc_cursor_begin(struct hwpmc_cursor *cursor,
				      struct list_head *cursors,
				      const struct list_head *list)
{
	cursor->next = list->next;
	list_add(&cursor->node, cursors);
}

static inline void hwpmc_cursor_end(struct hwpmc_cursor *cursor)
{
	list_del(&cursor->node);
}

/* The entry to visit now, or NULL. It may leave the list, and others may. */
static inline struct list_head *hwpmc_cursor_next(struct hwpmc_cursor *cursor,
						  const struct list_head *list)
{
	struct list_head *entry = cursor->next;

	if (entry == list)
		return NULL;
	cursor->next = entry->next;
	return entry;
}

/* Instead of list_del(). */
static inline void hwpmc_cursors_del(struct list_head *cursors, struct list_head *entry)
{
	struct hwpmc_cursor *cursor;

	list_for_each_entry(cursor, cursors, node)
		if (cursor->next == entry)
			cursor->next = entry->next;
	list_del(entry);
}

#endif /* HWPMC_CURSOR_H */
