/* SPDX-License-Identifier: BSD-2-Clause */
/* note.c - makes NOTE records. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <libhwpmcstat.h>

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

/* So that a reader knows whose symbols are right. */
static void note_kernel(note_fn *note, void *arg)
{
	char text[2 * HWPMC_LOG_BUILD_ID + 1] = "";
	struct hwpmc_running_kernel k;

	if (hwpmc_running_kernel(&k) < 0)
		return;
	for (uint32_t i = 0; i < k.build_id_len; i++)
		snprintf(text + 2 * i, 3, "%02x", k.build_id[i]);
	if (*text)
		note(arg, 0, "kernel-build-id", text);
	snprintf(text, sizeof(text), "%" PRIx64, k.start);
	if (k.start)
		note(arg, 0, "kernel-start", text);
}

void note_run(char *const command[], note_fn *note, void *arg)
{
	char line[4096] = "";
	struct utsname u;
	size_t n = 0;

	for (char *const *word = command; word && *word && n < sizeof(line);
	     word++)
		n += snprintf(line + n, sizeof(line) - n, "%s%s", n ? " " : "",
			      *word);
	if (command)
		note(arg, 0, "command", line);
	note(arg, 0, "version", VERSION);
	if (uname(&u) < 0)
		return;
	note(arg, 0, "hostname", u.nodename);
	note(arg, 0, "release", u.release);
	note_kernel(note, arg);
}
