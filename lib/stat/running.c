/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * running.c - address and build-id of the running kernel. A recorder notes them in the
 * log, a reader compares them with those of its own kernel.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

#define KALLSYMS	"/proc/kallsyms"
#define NOTES		"/sys/kernel/notes"

static uint32_t align_note(uint32_t n)
{
	return (n + 3) & ~3u;
}

/* Notes of ELF: lengths of name and contents, type, both padded. */
static uint32_t find_build_id(const uint8_t *notes, size_t len,
			      uint8_t id[HWPMC_LOG_BUILD_ID])
{
	Elf64_Nhdr h;

	for (size_t at = 0; at + sizeof(h) <= len; ) {
		size_t name = at + sizeof(h), desc;

		memcpy(&h, notes + at, sizeof(h));
		desc = name + align_note(h.n_namesz);
		at = desc + align_note(h.n_descsz);
		if (h.n_namesz > len || h.n_descsz > len || at > len)
			return 0;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) &&
		    h.n_descsz <= HWPMC_LOG_BUILD_ID) {
			memcpy(id, notes + desc, h.n_descsz);
			return h.n_descsz;
		}
	}
	return 0;
}

static uint32_t read_build_id(uint8_t id[HWPMC_LOG_BUILD_ID])
{
	uint8_t notes[4096];
	FILE *f = fopen(NOTES, "re");
	size_t len;

	if (!f)
		return 0;
	len = fread(notes, 1, sizeof(notes), f);
	fclose(f);
	return find_build_id(notes, len, id);
}

/* It is one of the first; 0: hidden. */
static uint64_t read_start(void)
{
	FILE *f = fopen(KALLSYMS, "re");
	char *line = NULL, *name;
	uint64_t start = 0;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		name = strrchr(line, ' ');
		if (name && strcmp(name, " _stext\n") == 0) {
			start = strtoull(line, NULL, 16);
			break;
		}
	}
	free(line);
	if (f)
		fclose(f);
	return start;
}

EXPORT int hwpmc_running_kernel(struct hwpmc_running_kernel *k)
{
	if (stat_null(!k))
		return -1;
	memset(k, 0, sizeof(*k));
	k->build_id_len = read_build_id(k->build_id);
	k->start = read_start();
	if (k->build_id_len || k->start)
		return 0;
	errno = EACCES;
	return -1;
}
