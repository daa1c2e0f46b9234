/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.h - unwind tables for the module: of the command that is to be sampled and its
 * libraries before it runs, of processes that run already, and of what is mapped later, by
 * the MAP_IN records. One thread.
 */
#ifndef TOOLS_TABLES_H
#define TOOLS_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <libhwpmclog.h>

struct hwpmc;

/* A file that was tried. */
struct tables_file {
	uint64_t inode;
	uint32_t major, minor;
};

/* A mapping whose file is to be tried. */
struct tables_map {
	struct tables_file file;
	int32_t pid;
	uint64_t start, end;
	char *path;
};

struct tables {
	struct hwpmc *h;		/* NULL: none are wanted */
	struct tables_file *file;
	unsigned int nfile;
	struct tables_map *map;		/* taken from records, not loaded yet */
	unsigned int nmap;
	uint64_t loaded, failed;
	bool told;			/* that the module takes no more */
};

void tables_begin(struct tables *t, struct hwpmc *h, char **command, const pid_t *pid,
		  unsigned int npid);
void tables_map(struct tables *t, const struct hwpmc_log_map *map);
/* Load what tables_map() has taken. */
void tables_load(struct tables *t);
void tables_free(struct tables *t);

#endif /* TOOLS_TABLES_H */
