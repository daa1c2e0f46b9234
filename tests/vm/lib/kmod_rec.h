/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_rec.h - what the tests of single records share: a handle whose log is a file
 * that the kernel writes, and the records that are in it. This process and its
 * children are on CPU 0, so that its records are in order.
 */
#ifndef KMOD_REC_H
#define KMOD_REC_H

#include <libhwpmclog.h>

#include "../tests/kmod_dev.h"

#define MANY	65536			/* records that a test looks at */
#define RARELY	(1ull << 40)		/* a period that nobody lives to see */

extern struct hwpmc *h;
/* The log as of the last look(), copied out of it. */
extern struct hwpmc_record rec[MANY];
extern unsigned int nrec;

/* Fails the test where the library refused. */
void ok(int rc);
/* The fixture; the log begins with begin(). */
void kmod_setup(void);
void begin(void);
/* All that was written until now. */
void look(void);
/* The same through a pipe of two pages, which the test reads: begin_pipe() returns its reading
 * end, end_pipe() writes what is behind it to the file, ends the log and looks. */
int begin_pipe(void);
void end_pipe(void);
/* The nth record of a type; fails the test where there are not so many. */
const struct hwpmc_record *find(uint8_t type, unsigned int nth);
unsigned int count(uint8_t type);

uint32_t allocate(const char *event, int mode, uint32_t flags, uint32_t cpu,
		  uint64_t n);
/* A PMC that samples never, so that the log is about processes alone. */
uint32_t watch(pid_t pid, uint32_t flags);
/* Memory that children write and their parent reads. */
void *shared(size_t size);
/* The nth SYSEXIT or THR_EXIT is of that thread. */
void check_gone(unsigned int nth, uint8_t type, pid_t pid, pid_t tid);

#endif
