/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libhwpmc.h - the native interface of libhwpmc: count hardware events.
 *
 * A handle is one open of the device and so one *owner*: what is allocated
 * through it lives until hwpmc_close(), exec or exit. Any number of threads may
 * use one handle, and any number of handles may exist; there is no other state.
 *
 * Every function returns 0, or -1 with errno unless it says otherwise; then
 * hwpmc_error() is one sentence about it and hwpmc_reason() the cause as a
 * number. A child of fork() shares no handle of its parent: it opens its own.
 *
 *	struct hwpmc *h;
 *	uint32_t id;
 *	uint64_t n;
 *
 *	if (hwpmc_open(&h) < 0)
 *		errx(1, "%s", hwpmc_error(NULL));
 *	if (hwpmc_allocate(h, "instructions:u", HWPMC_MODE_TC, 0,
 *			   HWPMC_CPU_ANY, 0, &id) < 0 ||
 *	    hwpmc_attach(h, id, pid) < 0 || hwpmc_start(h, id) < 0)
 *		errx(1, "%s", hwpmc_error(h));
 *	...
 *	hwpmc_read(h, id, &n);
 *	hwpmc_close(h);
 */
#ifndef _LIBHWPMC_H
#define _LIBHWPMC_H

#include <sys/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
/* Fields of the kernel's structures are called `class`: class_id in C++. */
#include <linux/ioctl.h>
#include <linux/types.h>
#define class class_id
#include <hwpmc.h>
#undef class
extern "C" {
#else
#include <hwpmc.h>
#endif

struct hwpmc;

/* ------------------------------------------------------------------------ */
/* Handle and errors                                                         */

/*
 * Open the device (close-on-exec) and compare versions. ENOENT: the module is
 * not loaded. EPROTONOSUPPORT: the module is older than this library. On
 * failure *h is NULL and hwpmc_error(NULL) is the sentence.
 */
int hwpmc_open(struct hwpmc **h);
void hwpmc_close(struct hwpmc *h);

/* The descriptor under the handle: to compare and to poll, not to close. */
int hwpmc_fd(const struct hwpmc *h);

/*
 * The last failure of this handle in this thread; h == NULL: of hwpmc_open().
 * Never NULL ("" before the first failure); valid until the next failure of
 * the same handle in the same thread, or hwpmc_close(). hwpmc_reason() is
 * HWPMC_WHY_NONE where the library itself refused (an event specification).
 */
const char *hwpmc_error(struct hwpmc *h);
enum hwpmc_reason hwpmc_reason(struct hwpmc *h);
int32_t hwpmc_detail(struct hwpmc *h);

/* ------------------------------------------------------------------------ */
/* PMCs                                                                      */

/*
 * Reserve a row for an event specification (hwpmc_event_parse() has the forms).
 * cpu: HWPMC_CPU_ANY in process scope, one CPU in system scope. count: the
 * initial count, or the period of sampling. Where several counters can count
 * the event, they are tried in order.
 */
int hwpmc_allocate(struct hwpmc *h, const char *spec, enum hwpmc_mode mode,
		   uint32_t flags, uint32_t cpu, uint64_t count, uint32_t *id);

/* The operation itself; the id is req->pmcid. */
int hwpmc_allocate_raw(struct hwpmc *h, struct hwpmc_op_pmcallocate *req);

int hwpmc_release(struct hwpmc *h, uint32_t id);
int hwpmc_attach(struct hwpmc *h, uint32_t id, pid_t pid);	/* 0: self */
int hwpmc_detach(struct hwpmc *h, uint32_t id, pid_t pid);
int hwpmc_start(struct hwpmc *h, uint32_t id);
int hwpmc_stop(struct hwpmc *h, uint32_t id);

/*
 * Counts are 64 bits wide and exact. hwpmc_rw() returns the count in *old and
 * then sets it. hwpmc_read() fails with ENOMEM, and *value set, where a thread
 * could not be followed; with `value` NULL, EINVAL.
 */
int hwpmc_read(struct hwpmc *h, uint32_t id, uint64_t *value);
int hwpmc_write(struct hwpmc *h, uint32_t id, uint64_t value);
int hwpmc_rw(struct hwpmc *h, uint32_t id, uint64_t value, uint64_t *old);
int hwpmc_set(struct hwpmc *h, uint32_t id, uint64_t count);

/*
 * Reading one's own counter without a system call. hwpmc_counter_open(), by each
 * thread that wants to read: a process-scope PMC, without DESCENDANTS, that is
 * attached to this process alone and can count on hardware (EINVAL, ENOSYS
 * otherwise). hwpmc_counter_read() then gives what hwpmc_read() does, exactly,
 * wherever the thread runs; where other threads count for the PMC too, and while
 * it is stopped, it makes the system call by itself, with its errors. So does
 * hwpmc_read() in such a thread.
 *
 * The PMC must not be detached or released while another thread reads. A counter
 * needs no closing; a child finds that its parent's are not its own (ESRCH).
 */
struct hwpmc_counter {
	const struct hwpmc_user_row *row;
	struct hwpmc *h;
	uint32_t id;
	uint32_t reserved;
};

int hwpmc_counter_open(struct hwpmc *h, uint32_t id, struct hwpmc_counter *c);
/* Out of line: tries again, then asks the module. */
int hwpmc_counter_read_again(const struct hwpmc_counter *c, uint64_t *value);

static inline uint64_t hwpmc_rdpmc(uint32_t index)
{
	uint32_t low, high;

	__asm__ __volatile__("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return low | (uint64_t)high << 32;
}

/* True: *value holds. */
static inline bool hwpmc_user_row_read(const struct hwpmc_user_row *row,
				       uint64_t *value)
{
#ifdef __x86_64__
	/* Ten instructions with the jump that follows; compilers make more. */
	uint32_t seq, index;
	uint64_t high;
	bool same;

	__asm__ __volatile__("movl %c[seq_at](%[row]), %[seq]\n\t"
			     "cmpl %c[sum_at](%[row]), %[seq]\n\t"
			     "jne 1f\n\t"
			     "movl %c[index_at](%[row]), %%ecx\n\t"
			     "rdpmc\n\t"
			     "shlq $32, %%rdx\n\t"
			     "orq %%rdx, %%rax\n\t"
			     "addq %c[total_at](%[row]), %%rax\n\t"
			     "cmpl %c[seq_at](%[row]), %[seq]\n"
			     "1:"
			     : "=&a"(*value), "=&d"(high), "=&c"(index),
			       [seq] "=&r"(seq), "=@cce"(same)
			     : [row] "r"(row),
			       [seq_at] "i"(offsetof(struct hwpmc_user_row, seq)),
			       [sum_at] "i"(offsetof(struct hwpmc_user_row, sum)),
			       [index_at] "i"(offsetof(struct hwpmc_user_row,
						       index)),
			       [total_at] "i"(offsetof(struct hwpmc_user_row,
						       total))
			     : "memory");
	return same;
#else
	const volatile struct hwpmc_user_row *v = row;
	uint32_t seq = v->seq;

	if (v->sum != seq)
		return false;
	*value = hwpmc_rdpmc(v->index) + v->total;
	return v->seq == seq;
#endif
}

static inline int hwpmc_counter_read(const struct hwpmc_counter *c,
				     uint64_t *value)
{
	if (__builtin_expect(hwpmc_user_row_read(c->row, value), 1))
		return 0;
	return hwpmc_counter_read_again(c, value);
}

int hwpmc_capabilities(struct hwpmc *h, uint32_t id, uint32_t *caps);
int hwpmc_width(struct hwpmc *h, uint32_t id, uint32_t *bits);
int hwpmc_get_msr(struct hwpmc *h, uint32_t id, uint32_t *msr);

/* ------------------------------------------------------------------------ */
/* Regions                                                                   */

/*
 * A piece of code that is measured each time that it runs, as itself alone: what
 * begin and end cost is measured when the region is made, and taken off. Up to
 * eight PMCs of this handle that have been started, counting their own process;
 * only what the thread does itself is counted, whatever other threads do, and
 * wherever it is preempted and moved to.
 *
 *	struct hwpmc_region *r = hwpmc_region_new(h, "lookup", ids, 2);
 *
 *	for (...) {
 *		hwpmc_region_begin(r);
 *		lookup(key);
 *		hwpmc_region_end(r);
 *	}
 *	hwpmc_region_get(r, 0, &stats);
 *
 * A region belongs to the thread that made it, and ends before its handle does;
 * begun and ended by others it counts that as misuse. Regions can be nested and
 * can overlap: what lies in one has the costs of those within it. Begin and end
 * never fail and take no memory.
 *
 * Where RDPMC cannot be used (events of software, PMCs of the system or with
 * DESCENDANTS, stopped ones) they call hwpmc_read(), which also counts other
 * threads, and takes a system call: `fallbacks` says how often.
 */
#define HWPMC_REGION_PMCS	8

struct hwpmc_region;

struct hwpmc_region_stats {
	uint64_t count;			/* values */
	uint64_t min, median, max;	/* 0 without values */
	uint64_t sum;			/* UINT64_MAX: too large */
	double mean;
	uint64_t cost;			/* was taken off each value */
	uint64_t fallbacks;		/* of count: by hwpmc_read() */
	uint64_t dropped;		/* ended without a value: the thread was
					 * switched in the midst of reading, or the
					 * PMC stopped within the region */
	uint64_t misused;		/* end without begin, begin twice, another
					 * thread; of the whole region */
	uint32_t sketched;		/* 1: more than 4096 values, and the median
					 * is within 1/256 of the exact one */
	uint32_t reserved[5];
};

/*
 * NULL with errno on failure: EINVAL n is 0 or more than eight; the errors of
 * hwpmc_read() for a PMC that cannot be read at all; ENOMEM.
 */
struct hwpmc_region *hwpmc_region_new(struct hwpmc *h, const char *name,
				      const uint32_t *ids, unsigned int n);
void hwpmc_region_free(struct hwpmc_region *r);
const char *hwpmc_region_name(const struct hwpmc_region *r);

/*
 * Macros, too, on x86-64: then r must be a variable (an lvalue), and what lies
 * between is exact to the instruction. As functions they add some instructions.
 */
void hwpmc_region_begin(struct hwpmc_region *r);
void hwpmc_region_end(struct hwpmc_region *r);

/* The i-th of the PMCs. EINVAL: there are not so many. */
int hwpmc_region_get(struct hwpmc_region *r, unsigned int i,
		     struct hwpmc_region_stats *stats);
/* Forget all values and counts. */
void hwpmc_region_reset(struct hwpmc_region *r);

/* Parts of the macros; for nothing else. */
void hwpmc_region_ready(struct hwpmc_region *r);
void hwpmc_region_done(struct hwpmc_region *r);

struct hwpmc_region_slot {
	const struct hwpmc_user_row *row;
	uint64_t value[2];		/* at begin and end */
	uint64_t reserved;
};

/* What the macros use; the library has more behind it. */
struct hwpmc_region {
	const void *thread;		/* %fs:0 of the owner */
	struct hwpmc_region_slot *last;	/* read those before it */
	uint64_t failed;		/* begin or end could not read */
	uint64_t reserved;
	struct hwpmc_region_slot slot[HWPMC_REGION_PMCS];
};

#if defined(__x86_64__) && defined(__LP64__)
/*
 * Read all slots, as one piece that compilers cannot make longer: from the last
 * RDPMC of one to the first of the next there are always as many instructions.
 * `r` is an operand in memory for the same reason. Where the thread was switched
 * meanwhile, `again`: 1 (from the beginning: begin) or 4 (no value: end).
 */
#define HWPMC_REGION_READ(r, which, again, fence)			\
	__asm__ __volatile__("movq %[region], %%rdi\n\t"		\
			     "movq %%fs:0, %%rax\n\t"			\
			     "cmpq %%rax, %c[thread_at](%%rdi)\n\t"	\
			     "jne 5f\n"					\
			     "1:\tleaq %c[slot_at](%%rdi), %%rsi\n"	\
			     "2:\tcmpq %c[last_at](%%rdi), %%rsi\n\t"	\
			     "jae 5f\n\t"				\
			     "movq (%%rsi), %%r8\n\t"			\
			     "movl %c[seq_at](%%r8), %%r9d\n\t"		\
			     "cmpl %c[own_at](%%r8), %%r9d\n\t"		\
			     "jne 3f\n\t"				\
			     "movl %c[index_at](%%r8), %%ecx\n\t"	\
			     "lfence\n\t"				\
			     "rdpmc\n\t"				\
			     "shlq $32, %%rdx\n\t"			\
			     "orq %%rdx, %%rax\n\t"			\
			     "addq %c[count_at](%%r8), %%rax\n\t"	\
			     "cmpl %c[seq_at](%%r8), %%r9d\n\t"		\
			     "jne " again "\n\t"			\
			     "movq %%rax, %c[value_at](%%rsi)\n\t"	\
			     "addq %[slot_size], %%rsi\n\t"		\
			     "jmp 2b\n"					\
			     /* Not the thread's now: switched, or for good? */ \
			     "3:\tcmpl %c[seq_at](%%r8), %%r9d\n\t"	\
			     "jne " again "\n"				\
			     "4:\tmovq $1, %c[failed_at](%%rdi)\n"	\
			     "5:\t" fence				\
			     :						\
			     : [region] "m"(r),				\
			       [thread_at] "i"(offsetof(struct hwpmc_region, \
							thread)),	\
			       [slot_at] "i"(offsetof(struct hwpmc_region, \
						      slot)),		\
			       [last_at] "i"(offsetof(struct hwpmc_region, \
						      last)),		\
			       [failed_at] "i"(offsetof(struct hwpmc_region, \
							failed)),	\
			       [value_at] "i"(offsetof(struct hwpmc_region_slot, \
						       value) + 8 * (which)), \
			       [slot_size] "i"(sizeof(struct hwpmc_region_slot)), \
			       [seq_at] "i"(offsetof(struct hwpmc_user_row, \
						     seq)),		\
			       [own_at] "i"(offsetof(struct hwpmc_user_row, \
						     own)),		\
			       [index_at] "i"(offsetof(struct hwpmc_user_row, \
						       index)),		\
			       [count_at] "i"(offsetof(struct hwpmc_user_row, \
						       thread))		\
			     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", \
			       "memory", "cc")

/* The fence: nothing of the region begins before it is counted. */
#define hwpmc_region_begin(r)						\
	do {								\
		hwpmc_region_ready(r);					\
		HWPMC_REGION_READ(r, 0, "1b", "lfence");		\
	} while (0)

#define hwpmc_region_end(r)						\
	do {								\
		HWPMC_REGION_READ(r, 1, "4f", "");			\
		hwpmc_region_done(r);					\
	} while (0)
#endif

/* ------------------------------------------------------------------------ */
/* Log                                                                       */

int hwpmc_configure_log(struct hwpmc *h, int fd);		/* -1: end it */
int hwpmc_flush_log(struct hwpmc *h);
int hwpmc_close_log(struct hwpmc *h);
int hwpmc_write_log(struct hwpmc *h, uint32_t userdata);

/* ------------------------------------------------------------------------ */
/* Machine, driver, administration                                           */

/* What was so at hwpmc_open(); lives as long as the handle. */
const struct hwpmc_op_getcpuinfo *hwpmc_cpuinfo(const struct hwpmc *h);

/* enum hwpmc_pmu_state, as it is now. */
int hwpmc_pmu_state(struct hwpmc *h, uint32_t *state);

/*
 * Who has the counters where this module has not, as far as /proc and /sys tell:
 * "the NMI watchdog", "perf (process 4711, perf)", …, and what frees them:
 * "sysctl kernel.nmi_watchdog=0". Cut to the buffers' sizes; remedy may be NULL.
 * 0, or -1 (ENOENT, who = "perf or another user") where nobody could be named.
 */
int hwpmc_pmu_holder(char *who, size_t who_size, char *remedy,
		     size_t remedy_size);

/* All rows of a CPU, in row order: an array to free(), and its length. */
int hwpmc_pmcinfo(struct hwpmc *h, uint32_t cpu, struct hwpmc_pmcinfo **rows,
		  unsigned int *nrow);
int hwpmc_driver_stats(struct hwpmc *h, struct hwpmc_op_getdriverstats *stats);
int hwpmc_module_version(struct hwpmc *h, uint32_t *version);

/* state: HWPMC_STATE_DISABLED or HWPMC_STATE_FREE (enable). */
int hwpmc_admin(struct hwpmc *h, uint32_t cpu, uint32_t row, uint32_t state);

/* Take everything away from every owner, so that the module can be unloaded. */
int hwpmc_revoke(struct hwpmc *h);
/* The histogram of the kernel: the operation as it is. */
int hwpmc_kgmon(struct hwpmc *h, struct hwpmc_op_kgmon *op);

/* ------------------------------------------------------------------------ */
/* Events                                                                    */

/* One way to count an event: what goes into struct hwpmc_op_pmcallocate. */
struct hwpmc_event_code {
	uint32_t class_id;		/* enum hwpmc_class */
	uint32_t ev;			/* without HWPMC_F_EV_PMU */
	uint32_t flags;			/* HWPMC_F_EV_PMU or 0 */
	uint32_t caps;			/* HWPMC_CAP_* needed */
	uint64_t config, config1;	/* with HWPMC_F_EV_PMU */
};

#define HWPMC_EVENT_CODES	4

struct hwpmc_event {
	char name[HWPMC_NAME_MAX];	/* the event without its qualifiers */
	uint32_t ncode;			/* 1.. */
	uint32_t reserved[7];
	struct hwpmc_event_code code[HWPMC_EVENT_CODES]; /* best first */
};

/*
 * Understand a specification on this machine. No row is taken. EINVAL: not
 * understood, ENOENT: no such event here; hwpmc_error() says where and what
 * was expected. Forms (letter case means nothing; space . _ - are the same
 * in names):
 *	[class-]name[,qualifier[=value]…]	FreeBSD's, with the qualifiers
 *		usr os edge inv any cmask= umask= mask=a+b rsp= count=
 *		(count= is cmask=, the threshold: FreeBSD's word on AMD)
 *	name:u  name:k  name:uk			perf's
 *	cpu/event=0xc0,umask=1,inv,edge,any,cmask=2/u
 *	r1c0  0x1c0				raw: unit mask, event
 *	[pmu::]EVENT[:UMASK…]			libpfm4's
 */
int hwpmc_event_parse(struct hwpmc *h, const char *spec,
		      struct hwpmc_event *event);

/* hwpmc_allocate() with what hwpmc_event_parse() gave. */
int hwpmc_allocate_event(struct hwpmc *h, const struct hwpmc_event *event,
			 enum hwpmc_mode mode, uint32_t flags, uint32_t cpu,
			 uint64_t count, uint32_t *id);

/* One line of a list of events. Strings live during the call only. */
struct hwpmc_event_info {
	const char *name;		/* works as a specification */
	const char *desc;
	const char *pmu;		/* of libpfm4, NULL: an alias of ours */
	uint32_t class_id;		/* that is tried first */
};

/*
 * Call fn for each event of a class (of all: HWPMC_CLASS_EVERY) on this
 * machine. Ends early where fn does not return 0, and returns that.
 */
#define HWPMC_CLASS_EVERY	0xffffffffu
typedef int hwpmc_event_fn(const struct hwpmc_event_info *info, void *arg);
int hwpmc_event_each(struct hwpmc *h, uint32_t class_id, hwpmc_event_fn *fn,
		     void *arg);

/* ------------------------------------------------------------------------ */
/* Names: constant strings, NULL where there is none                         */

const char *hwpmc_name_of_class(uint32_t class_id);	/* "IAP" */
const char *hwpmc_name_of_mode(uint32_t mode);		/* "TC" */
const char *hwpmc_name_of_state(uint32_t state);	/* "RUNNING" */
const char *hwpmc_name_of_disposition(uint32_t disp);	/* "THREAD" */
const char *hwpmc_name_of_capability(uint32_t bit);	/* "USER": one bit */
const char *hwpmc_name_of_cputype(uint32_t cputype);	/* "INTEL_SKYLAKE" */
const char *hwpmc_name_of_pmu_state(uint32_t state);	/* "CLAIMED" */
const char *hwpmc_name_of_reason(uint32_t reason);	/* "ROWS_BUSY" */

/* What a reason means, in words, without the names of one occasion. */
const char *hwpmc_reason_text(uint32_t reason);

#ifdef __cplusplus
}
#endif

#endif /* _LIBHWPMC_H */
