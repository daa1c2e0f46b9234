/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.h - unwind tables for the module: of the command that is to be sampled and its
 * libraries before it runs, of processes that run already, and of what is mapped later, by
 * the MAP_IN records. Those are read by a thread of their own: large files take longer than
 * a ring takes to fill.
 */
#ifndef TOOLS_TABLES_H
#define TOOLS_TABLES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <libhwpmclog.h>

struct hwpmc;

/* A file that was tried, as the kernel names it in records. */
struct tables_file {
	uint64_t inode;
	uint32_t major, minor;
	uint8_t build_id_len;		/* 0: none, or not known */
	uint8_t build_id[HWPMC_LOG_BUILD_ID];
};

struct tables_files {
	struct tables_file *file;
	unsigned int n;
};

/* A mapping whose file is to be tried. */
struct tables_map {
	struct tables_map *next;
	struct tables_file file;
	int32_t pid;
	uint64_t start, end;
	char *path;
};

struct tables {
	struct hwpmc *h;		/* NULL: none are wanted */
	pid_t command;			/* the process of the command, 0: none */
	struct tables_files tried;	/* before the thread is there, then the thread's */
	struct tables_files seen;	/* in records: the caller's */
	uint64_t loaded, failed;	/* as tried */
	int cache;			/* directory of tables, or -1 */
	bool told;			/* that the module takes no more: as tried */

	pthread_t thread;
	bool threaded;			/* there is one */
	pthread_mutex_t lock;		/* protects those below */
	pthread_cond_t more;		/* there is a first, or the end */
	struct tables_map *first, *last;
	struct tables_map *own;		/* of this program: when there are no others */
	bool ends;
};

/* Those of the command and of its libraries. cache: a directory for tables; NULL: the user's own.
 * 0, or -1 after a message. */
int tables_begin(struct tables *t, struct hwpmc *h, char **command, const char *cache);
/* Those of what the processes have mapped, which are attached, and not sampled yet. */
void tables_attached(struct tables *t, const pid_t *pid, unsigned int npid);
/* Takes note of mappings among whole records. */
void tables_see(struct tables *t, const void *records, size_t len);
/* What was seen and is not read yet is left. */
void tables_end(struct tables *t);
void tables_free(struct tables *t);

#endif /* TOOLS_TABLES_H */
