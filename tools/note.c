/* SPDX-License-Identifier: BSD-2-Clause */
/* note.c - makes NOTE records. Pure. */
#include <stdio.h>
#include <string.h>

#include "note.h"

size_t note_fill(union note *n, uint32_t id, const char *key, const char *value)
{
	size_t room = sizeof(*n) - sizeof(n->record);
	int len;

	memset(n, 0, sizeof(*n));
	len = snprintf(n->record.text, room, "%s=%s", key, value);
	if (len < 0)
		len = 0;
	if ((size_t)len >= room)
		len = room - 1;
	n->record.hdr.type = HWPMC_LOG_NOTE;
	n->record.hdr.id = id;
	n->record.hdr.len = (sizeof(n->record) + len + 1 + HWPMC_LOG_ALIGN - 1) &
			    ~(HWPMC_LOG_ALIGN - 1);
	return n->record.hdr.len;
}
