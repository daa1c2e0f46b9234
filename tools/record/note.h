/* SPDX-License-Identifier: BSD-2-Clause */
/* note.h - NOTE records: what a tool knows and the module does not. */
#ifndef TOOLS_NOTE_H
#define TOOLS_NOTE_H

#include <stddef.h>
#include <stdint.h>

#include <libhwpmclog.h>

union note {
	struct hwpmc_log_note record;
	char bytes[HWPMC_LOG_MAX];
};

/* "key=value", cut to what a record holds; its length. Pure. */
size_t note_fill(union note *n, uint32_t id, const char *key,
		 const char *value);

typedef void note_fn(void *arg, uint32_t id, const char *key, const char *value);

/*
 * What every log says of its run: "command", if there is one, "version", "hostname",
 * and "release", without which the kernel's names are not to be had elsewhere.
 */
void note_run(char *const command[], note_fn *note, void *arg);

#endif
