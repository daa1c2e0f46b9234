/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * internal.h - what the files of lib/pmc share: the handle, its error records,
 * the calls of the device, and the words for reasons. Nothing here is exported.
 */
#ifndef HWPMC_LIB_INTERNAL_H
#define HWPMC_LIB_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libhwpmc.h"

#define ERROR_TEXT	512
#define EXPORT		__attribute__((visibility("default")))
#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

struct soft_events;			/* lib/event/soft.c */
struct thread_page;			/* mapped.c */

/* The last failure of one handle in one thread. */
struct error_record {
	struct error_record *next;	/* older records of the handle; constant */
	const void *thread;		/* address of a variable of the thread */
	uint64_t serial;		/* the thread's own, as addresses return */
	uint32_t reason;
	int32_t detail;
	char text[ERROR_TEXT];
};

struct hwpmc {
	int fd;
	pid_t pid;			/* the process that opened it; constant */
	/* A forked child does with it what the module permits: FreeBSD's rule, of pmc(3).
	 * Set before others have the handle. */
	bool for_heirs;
	/* Grows at the head by compare-and-exchange, freed at close: no lock
	 * that a fork could catch closed. */
	_Atomic(struct error_record *) errors;
	struct hwpmc_op_getcpuinfo info;	/* constant after open */
	/* Asked for when first needed; then constant. */
	_Atomic(struct soft_events *) soft;
	uint64_t serial;		/* of the handle in this process */
	_Atomic uint32_t logs;		/* how often a log was begun or ended */
	/* mapped.c: pages of threads; how often a PMC was attached or started; ids whose
	 * rows in the pages are their own, by row. */
	_Atomic(struct thread_page *) pages;
	atomic_uint_fast64_t epoch;
	_Atomic uint32_t told[HWPMC_ROW_MAX];
};

/* ------------------------------------------------------------------------ */
/* sys.c: the only caller of the device                                      */

int sys_open(void);
/* 0, or -1 with errno and the reason in *hdr (the head of arg). */
int sys_call(int fd, unsigned long request, struct hwpmc_hdr *hdr);

/* call.c: the handle is of hwpmc_open_names(). */
bool handle_has_names_only(const struct hwpmc *h);
/* call.c: the process has the handle from a parent that forked it, or shares its memory. */
bool handle_is_inherited(const struct hwpmc *h);
/* Of a handle, no two of which have the same in a process. */
uint64_t handle_serial(void);
/* sys_call() of a handle. An inherited one can only read: else ESRCH, NOT_OWNER. */
int handle_call(const struct hwpmc *h, unsigned long request, struct hwpmc_hdr *hdr);

/* ------------------------------------------------------------------------ */
/* what.c: pure                                                              */

/* What was attempted, in words: a printf that fits in a buffer on the stack. */
struct what {
	char text[ERROR_TEXT / 2];
};

struct what what(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
/* "IAP-3 (process scope)" for an id of this handle. */
struct what what_pmc(const struct hwpmc *h, uint32_t id);

/* "process 4711", "this process". */
struct what what_process(pid_t pid);
/* "count 'instructions' on CPU 3". */
struct what what_allocate(const struct hwpmc_op_pmcallocate *req, const char *name);

/* ------------------------------------------------------------------------ */
/* error.c                                                                   */

/* Of a line of /proc/self/status; -1: there is none. */
int status_number(const char *name);
/* EPERM or ENOSYS without a reason of the module, in a process with a filter of system calls. */
bool error_is_filtered(void);
#define ERROR_FILTERED	"a filter of system calls (seccomp) forbids it; permit " \
	"open and ioctl of " HWPMC_DEVICE " in the profile of the container or service"

#define ERROR_NAMES_ONLY "the handle is without the device and has only names of events; load " \
	"the module and open the handle by hwpmc_open()"

/* Both record "cannot WHAT: why; remedy", keep errno and return -1. */
int error_from_call(struct hwpmc *h, const struct hwpmc_hdr *hdr,
		    const char *doing);
int error_own(struct hwpmc *h, int err, const char *sentence);
/* The reason of a call in other words. */
int error_as(struct hwpmc *h, int err, const struct hwpmc_hdr *hdr, const char *sentence);

/* ------------------------------------------------------------------------ */
/* reason.c: pure                                                            */

/*
 * "no such CPU (the highest is 3); …" into buf. holder and remedy: the PMU's
 * owner and how to free it, for the reasons that name them; may be NULL.
 */
void reason_sentence(uint32_t reason, int32_t detail, const char *holder,
		     const char *remedy, char *buf, size_t size);
bool reason_names_holder(uint32_t reason);
/* holder.c: 0, or -1: there is no such process. */
int holder_process_name(long pid, char *name, size_t size);
/* As hwpmc_pmu_holder(). */
int holder_find(char *who, size_t who_size, char *remedy, size_t remedy_size);

/* mapped.c */
void mapped_close(struct hwpmc *h);
/* The PMC is not one's own any more. */
void mapped_forget(struct hwpmc *h, uint32_t id);
/* False: ask the module. */
bool mapped_read(struct hwpmc *h, uint32_t id, uint64_t *value);
/* All of them between two switches of the thread, in this order. False: ask the module. */
bool mapped_read_all(struct hwpmc *h, const uint32_t *ids, unsigned int n, uint64_t *values);
/* A PMC was attached or started: pages of threads may be others. */
void mapped_began(struct hwpmc *h);
/* Whether the PMC was the last one of its row that was opened, and is not released. */
bool mapped_is_told(struct hwpmc *h, uint32_t id);
/* Keeps this thread's page mapped until mapped_unpin(), in any thread. Returns NULL if the
 * thread has none. */
struct thread_page *mapped_pin(const struct hwpmc *h);
void mapped_unpin(struct thread_page *page);

/* A pointer is missing that the call needs: records that, and returns true with EINVAL. */
bool null_given(struct hwpmc *h, bool missing, const char *call);

/* error.c: a number that no other thread of the process has had. */
uint64_t thread_serial(void);

/* names.c */
void caps_to_text(uint32_t caps, char *buf, size_t size);

#endif /* HWPMC_LIB_INTERNAL_H */
