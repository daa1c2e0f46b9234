/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libhwpmc.h - the native interface of libhwpmc: count hardware events.
 *
 * A handle is one open of the device, and thus one *owner*: PMCs allocated through
 * it live until hwpmc_close(), exec or exit. Any number of threads may use a
 * handle; a process may have any number of handles. The library has no other state.
 *
 * Unless stated otherwise every function returns 0, or -1 with errno. After a failure
 * hwpmc_error() returns a sentence and hwpmc_reason() returns the cause as a number. A child
 * of fork() must open its own handle: with a handle of its parent it can at most read a PMC
 * that counts it as a descendant. Every other call fails with ESRCH and changes nothing.
 *
 * A pointer may be null only where a comment permits it. With any other null pointer a
 * function does nothing, and fails with EINVAL (a function that returns a pointer returns
 * NULL). Inline functions and macros do not check pointers. Functions that close or free
 * accept NULL.
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

#include <hwpmc.h>
#include <hwpmc_unwind.h>

#ifdef __cplusplus
/*
 * In C++ the fields `class` of the kernel's structures are named class_id. A structure or enum
 * that has the name of a function must be written "struct NAME" or "enum NAME", or NAME_t.
 */
extern "C" {
#endif

typedef struct hwpmc_pmcinfo hwpmc_pmcinfo_t;
typedef enum hwpmc_pmu_state hwpmc_pmu_state_t;
typedef enum hwpmc_reason hwpmc_reason_t;

struct hwpmc;

/* ------------------------------------------------------------------------ */
/* Handle and errors                                                         */

/*
 * Open the device (close-on-exec) and compare versions. ENOENT: the module is
 * not loaded. EPROTONOSUPPORT: the module is older than this library. On
 * failure *h is NULL and hwpmc_error(NULL) returns the sentence.
 */
int hwpmc_open(struct hwpmc **h);
/*
 * A handle without the device, for a machine without the module or a user without permission:
 * hwpmc_cpuinfo(), hwpmc_event_each() and hwpmc_event_parse() answer by CPUID and the tables of
 * events, without the tracepoints of the kernel. Each call that needs the module fails with
 * ENXIO.
 */
int hwpmc_open_names(struct hwpmc **h);
void hwpmc_close(struct hwpmc *h);

/* The descriptor of the handle, for comparing and polling; do not close it. */
int hwpmc_fd(const struct hwpmc *h);

/*
 * The last failure of this handle in this thread, or with NULL, of hwpmc_open().
 * hwpmc_error() never returns NULL (before the first failure, it returns ""); the
 * string is valid until the next failure of the same handle in the same thread, or
 * hwpmc_close(). hwpmc_reason() returns HWPMC_WHY_NONE if the library itself failed,
 * for example in an event specification. hwpmc_detail() returns hdr.detail.
 */
const char *hwpmc_error(struct hwpmc *h);
enum hwpmc_reason hwpmc_reason(struct hwpmc *h);
int32_t hwpmc_detail(struct hwpmc *h);

/* ------------------------------------------------------------------------ */
/* PMCs                                                                      */

/*
 * Reserve a row for an event specification (forms: hwpmc_event_parse()). cpu:
 * HWPMC_CPU_ANY in process scope, one CPU in system scope. count: the initial
 * count; for a sampling mode the period in events, or with HWPMC_F_FREQUENCY the
 * samples per second. If several counters can count the event, the function tries
 * them in order. *id: the id of the PMC.
 */
int hwpmc_allocate(struct hwpmc *h, const char *spec, enum hwpmc_mode mode,
		   uint32_t flags, uint32_t cpu, uint64_t count, uint32_t *id);

/* Make the ioctl PMCALLOCATE with this request; it sets req->pmcid to the id. */
int hwpmc_allocate_raw(struct hwpmc *h, struct hwpmc_op_pmcallocate *req);

/*
 * Reserve a counter for an event of a process (pid 0: the caller's) and attach the PMC to the
 * process, in one call. Process scope; the PMC is not started. The call takes a counter that no
 * other PMC uses in that process, whoever owns it. hwpmc_allocate() chooses the counter before
 * the process is known, so hwpmc_attach() fails with EBUSY if another PMC uses it there. This
 * call fails with EBUSY only if each counter for the event has another PMC in the process.
 */
int hwpmc_open_counter(struct hwpmc *h, const char *spec, enum hwpmc_mode mode,
		       uint32_t flags, pid_t pid, uint64_t count, uint32_t *id);

int hwpmc_release(struct hwpmc *h, uint32_t id);
int hwpmc_attach(struct hwpmc *h, uint32_t id, pid_t pid);	/* pid 0: the caller's process */
int hwpmc_detach(struct hwpmc *h, uint32_t id, pid_t pid);
int hwpmc_start(struct hwpmc *h, uint32_t id);
int hwpmc_stop(struct hwpmc *h, uint32_t id);

/*
 * Counts are numbers of events; they have 64 bits and are exact. hwpmc_rw() returns the
 * count in *old and then sets it. hwpmc_set() sets the initial count, the period or the
 * frequency. All but hwpmc_read() require that the PMC is stopped. hwpmc_read() fails with
 * ENOMEM, but sets *value, if the kernel had no memory to follow a thread.
 */
int hwpmc_read(struct hwpmc *h, uint32_t id, uint64_t *value);
int hwpmc_write(struct hwpmc *h, uint32_t id, uint64_t value);
int hwpmc_rw(struct hwpmc *h, uint32_t id, uint64_t value, uint64_t *old);
int hwpmc_set(struct hwpmc *h, uint32_t id, uint64_t count);

/*
 * Read, start or stop n PMCs in one call. All PMCs of one CPU, and all PMCs of the
 * calling thread, are processed at one moment (hwpmc.h, BATCH). The caller sets pmcid
 * of each entry; all other fields are results. Returns 0 if all entries succeeded, or -1
 * with the errno and the sentence of the first entry that failed; the other entries are
 * processed all the same, and each has its own `error`. If the call itself fails, no
 * entry has an error and nothing was done. More than HWPMC_BATCH_MAX entries take
 * several ioctls, of which the first ones may then have been done.
 */
int hwpmc_batch(struct hwpmc *h, enum hwpmc_batch_command command,
		struct hwpmc_batch_entry *entries, unsigned int n);
/* Make hwpmc_error() and hwpmc_reason() return the failure of this entry. Returns -1 with
 * the errno of the entry. */
int hwpmc_batch_error(struct hwpmc *h, enum hwpmc_batch_command command,
		      const struct hwpmc_batch_entry *entry);

/*
 * Read a counter of the calling process without a system call. Each reading thread
 * calls hwpmc_counter_open() with a process-scope PMC, without DESCENDANTS, that is
 * attached to this process only (else EINVAL) and whose counter RDPMC can read (else
 * ENOSYS). hwpmc_counter_read() then returns exactly the same count as hwpmc_read(), on
 * any CPU. While the PMC is stopped, or if other threads count for it too, it makes the
 * system call, with the errors of hwpmc_read(). In such a thread hwpmc_read() also tries
 * RDPMC first.
 *
 * No thread may detach or release the PMC while another thread reads a counter of it. A
 * counter does not need to be closed. In a child, reads of the parent's counters fail
 * with ESRCH.
 */
struct hwpmc_counter {
	const struct hwpmc_user_row *row;
	struct hwpmc *h;
	uint32_t id;
	uint32_t reserved;
};

int hwpmc_counter_open(struct hwpmc *h, uint32_t id, struct hwpmc_counter *c);
/* Slow path: retry, then make the system call. */
int hwpmc_counter_read_again(const struct hwpmc_counter *c, uint64_t *value);

static inline uint64_t hwpmc_rdpmc(uint32_t index)
{
	uint32_t low, high;

	__asm__ __volatile__("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return low | (uint64_t)high << 32;
}

/* An instruction in both syntaxes of the compiler; -masm=intel selects the second one. */
#define HWPMC_ASM(att, intel)	"{" att "|" intel "}\n\t"

/* One attempt to read without a system call. Returns true if *value is valid. */
static inline bool hwpmc_user_row_read(const struct hwpmc_user_row *row,
				       uint64_t *value)
{
#ifdef __x86_64__
	/* Ten instructions with the jump that follows; compilers emit more. */
	uint32_t seq, index;
	uint64_t high;
	bool same;

	__asm__ __volatile__(
		HWPMC_ASM("movl %c[seq_at](%[row]), %[seq]", "mov %[seq], [%[row] + %c[seq_at]]")
		HWPMC_ASM("cmpl %c[sum_at](%[row]), %[seq]", "cmp %[seq], [%[row] + %c[sum_at]]")
		"jne 6f\n\t"
		HWPMC_ASM("movl %c[index_at](%[row]), %%ecx", "mov ecx, [%[row] + %c[index_at]]")
		"rdpmc\n\t"
		HWPMC_ASM("shlq $32, %%rdx", "shl rdx, 32")
		HWPMC_ASM("orq %%rdx, %%rax", "or rax, rdx")
		HWPMC_ASM("addq %c[total_at](%[row]), %%rax", "add rax, [%[row] + %c[total_at]]")
		HWPMC_ASM("cmpl %c[seq_at](%[row]), %[seq]", "cmp %[seq], [%[row] + %c[seq_at]]")
		"6:"
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

/*
 * The same, in program order: all instructions before the call are counted, and no instruction
 * after it. RDPMC alone does not wait for earlier instructions, a few hundred of which can be
 * in flight. This call executes an LFENCE before and after the read, which costs 10 to 30
 * cycles.
 */
static inline int hwpmc_counter_read_ordered(const struct hwpmc_counter *c,
					     uint64_t *value)
{
	int err;

	__asm__ __volatile__("lfence" : : : "memory");
	err = hwpmc_counter_read(c, value);
	__asm__ __volatile__("lfence" : : : "memory");
	return err;
}

int hwpmc_capabilities(struct hwpmc *h, uint32_t id, uint32_t *caps);	/* HWPMC_CAP_* */
int hwpmc_width(struct hwpmc *h, uint32_t id, uint32_t *bits);
/* The operand of RDPMC for this PMC: see PMCGETMSR in hwpmc.h. */
int hwpmc_get_msr(struct hwpmc *h, uint32_t id, uint32_t *msr);

/* ------------------------------------------------------------------------ */
/* Groups                                                                    */

/*
 * A group counts n events of the same processes as one object, in process scope: it is
 * opened, attached, started, stopped and read as a whole, or not at all. If one of these
 * calls fails, it undoes what it has begun, and hwpmc_error() names the event that failed.
 * Only one thread at a time may open, attach, detach, start, stop or close a group. Any number
 * of threads may read it at any time until hwpmc_group_close() is called.
 *
 *	static const char *const events[] = { "instructions:u", "cycles:u" };
 *	struct hwpmc_group *g;
 *	uint64_t before[2], after[2];
 *
 *	if (hwpmc_group_open(h, events, 2, 0, 0, &g) < 0 || hwpmc_group_start(g) < 0)
 *		errx(1, "%s", hwpmc_error(h));
 *	hwpmc_group_read(g, before);
 *	...
 *	hwpmc_group_read(g, after);
 *
 * The calls act on several PMCs as follows:
 * - Start and stop act on all PMCs of the group at one moment on each CPU. For a thread that is
 *   switched in during the call, all of them or none count.
 * - Read, if the group counts the calling thread only, or processes of which at most one thread
 *   runs: the differences between two reads cover the same instructions for each event.
 * - Read, if several threads run at the same time: the values of one CPU belong to one moment,
 *   and the values of different CPUs to different moments within the call. Each value includes
 *   all events before the call and none after it.
 * - Attach and detach act on one PMC after the other. Stop the group first if this matters.
 */
#define HWPMC_GROUP_MAX	64		/* events */

struct hwpmc_group;

/*
 * Open a group of the events specs[0] to specs[n - 1] of a process (pid 0: the caller's); n is
 * 1 to HWPMC_GROUP_MAX (else EINVAL). Each PMC gets a counter that no other PMC has in that
 * process; flags and errors are those of hwpmc_open_counter(). The group is not started, and
 * all values are 0. On failure *group is NULL, and no PMC of the group remains.
 */
int hwpmc_group_open(struct hwpmc *h, const char *const *specs, unsigned int n,
		     uint32_t flags, pid_t pid, struct hwpmc_group **group);
/* Release the PMCs. Call it before hwpmc_close() of the handle. */
void hwpmc_group_close(struct hwpmc_group *g);

/* The ids of the PMCs, in the order of the events, for other calls (hwpmc_region_new()). The
 * array is valid until hwpmc_group_close(). Sets *n, unless n is NULL, to their number. */
const uint32_t *hwpmc_group_ids(const struct hwpmc_group *g, unsigned int *n);

/* Begin or stop to count another process (pid 0: the caller's). Errors: hwpmc_attach(),
 * hwpmc_detach(). Detach continues after an error and returns the first error. */
int hwpmc_group_attach(struct hwpmc_group *g, pid_t pid);
int hwpmc_group_detach(struct hwpmc_group *g, pid_t pid);

/* Errors: hwpmc_start(), hwpmc_stop(). Starting a group that counts changes nothing. Stop
 * continues after an error and returns the first error. */
int hwpmc_group_start(struct hwpmc_group *g);
int hwpmc_group_stop(struct hwpmc_group *g);

/*
 * Read the counts, as hwpmc_read() returns them, into values[0] to values[n - 1]. Errors:
 * hwpmc_read(). If hwpmc_reason() is HWPMC_WHY_INCOMPLETE, all values are set, and at least
 * one of them lacks events. With any other reason no value is set; the error belongs to the
 * first PMC that has no value, or to the call.
 */
int hwpmc_group_read(struct hwpmc_group *g, uint64_t *values);

/*
 * Make hwpmc_group_read() in the calling thread use RDPMC instead of a system call. Each PMC
 * of the group must meet the conditions of hwpmc_counter_open(), whose errors this call
 * returns. The group is read without a switch of the thread in between, and with an LFENCE
 * before and after; the reads of different events are a few instructions apart, always the
 * same number. While RDPMC is impossible, for instance while the group is stopped,
 * hwpmc_group_read() makes the system call.
 */
int hwpmc_group_map(struct hwpmc_group *g);

/* ------------------------------------------------------------------------ */
/* Regions                                                                   */

/*
 * A region measures a piece of code each time that it runs. It reads up to eight
 * started PMCs of this handle that count the calling process. hwpmc_region_new()
 * measures the cost of begin and end, which is subtracted from each value. Only events
 * of the calling thread are counted; preemption and migration do not change the value.
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
 * A region belongs to the thread that created it and must be freed before its
 * handle is closed; use by another thread is counted as misuse. Regions may nest
 * and overlap: a region's value includes the cost of the begins and ends within
 * it. Begin and end never fail and allocate no memory.
 *
 * If RDPMC cannot read a PMC (software events, system scope, DESCENDANTS, stopped)
 * begin and end call hwpmc_read(), which includes other threads and makes a system
 * call: `fallbacks` counts these.
 */
#define HWPMC_REGION_PMCS	8

struct hwpmc_region;

struct hwpmc_region_stats {
	uint64_t count;			/* values */
	uint64_t min, median, max;	/* 0 without values */
	uint64_t sum;			/* saturates at UINT64_MAX */
	double mean;
	uint64_t cost;			/* subtracted from each value */
	uint64_t fallbacks;		/* values read by hwpmc_read() */
	uint64_t dropped;		/* ends without a value: the thread was
					 * switched while it read, or the PMC was
					 * stopped within the region */
	uint64_t misused;		/* ends without begin, second begins, calls in
					 * another thread: the same for all PMCs */
	uint32_t sketched;		/* 1: there are more than 4096 values, so the
					 * median is within 1/256 of the exact median */
	uint32_t reserved[5];
};

/*
 * Create a region of n PMCs for the calling thread. Returns NULL with errno on failure:
 * EINVAL if n is 0 or more than HWPMC_REGION_PMCS, ENOMEM, or the error of hwpmc_read()
 * if a PMC cannot be read.
 */
struct hwpmc_region *hwpmc_region_new(struct hwpmc *h, const char *name,
				      const uint32_t *ids, unsigned int n);
void hwpmc_region_free(struct hwpmc_region *r);
const char *hwpmc_region_name(const struct hwpmc_region *r);

/*
 * On x86-64 both are also macros: r must be an lvalue, and values are exact to the
 * instruction. The functions add a few instructions to each value.
 */
void hwpmc_region_begin(struct hwpmc_region *r);
void hwpmc_region_end(struct hwpmc_region *r);

/* Statistics of the PMC ids[i]. Fails with EINVAL if i is too large. */
int hwpmc_region_get(struct hwpmc_region *r, unsigned int i,
		     struct hwpmc_region_stats *stats);
/* Clear all values and counts. */
void hwpmc_region_reset(struct hwpmc_region *r);

/* Used by the macros; do not call. */
void hwpmc_region_ready(struct hwpmc_region *r);
void hwpmc_region_done(struct hwpmc_region *r);

struct hwpmc_region_slot {
	const struct hwpmc_user_row *row;
	uint64_t value[2];		/* at begin and end */
	uint64_t reserved;
};

/* The fields that the macros use; the library's object is larger. */
struct hwpmc_region {
	const void *thread;		/* %fs:0 of the owner */
	struct hwpmc_region_slot *last;	/* end of the slots in use */
	uint64_t failed;		/* begin or end could not read */
	uint64_t reserved;
	struct hwpmc_region_slot slot[HWPMC_REGION_PMCS];
};

#if defined(__x86_64__) && defined(__LP64__)
/*
 * Read all slots in one asm statement, to which a compiler cannot add: the number
 * of instructions between the last RDPMC of begin and the first of end is fixed.
 * For the same reason `r` is a memory operand. `again` is the label to jump to if
 * the thread was switched in between: 6 (restart: begin) or 4 (no value: end). The code
 * begins with the region in %rdi; hwpmc_mark.h uses it too.
 */
#define HWPMC_REGION_READ_CODE(again, fence)				\
		HWPMC_ASM("movq %%fs:0, %%rax", "mov rax, qword ptr fs:0")	\
		HWPMC_ASM("cmpq %%rax, %c[thread_at](%%rdi)", "cmp [rdi + %c[thread_at]], rax")	\
		"jne 5f\n"						\
		"6:\t" HWPMC_ASM("leaq %c[slot_at](%%rdi), %%rsi", "lea rsi, [rdi + %c[slot_at]]")	\
		"2:\t" HWPMC_ASM("cmpq %c[last_at](%%rdi), %%rsi", "cmp rsi, [rdi + %c[last_at]]")	\
		"jae 5f\n\t"						\
		HWPMC_ASM("movq (%%rsi), %%r8", "mov r8, [rsi]")	\
		HWPMC_ASM("movl %c[seq_at](%%r8), %%r9d", "mov r9d, [r8 + %c[seq_at]]")	\
		HWPMC_ASM("cmpl %c[own_at](%%r8), %%r9d", "cmp r9d, [r8 + %c[own_at]]")	\
		"jne 3f\n\t"						\
		HWPMC_ASM("movl %c[index_at](%%r8), %%ecx", "mov ecx, [r8 + %c[index_at]]")	\
		"lfence\n\t"						\
		"rdpmc\n\t"						\
		HWPMC_ASM("shlq $32, %%rdx", "shl rdx, 32")		\
		HWPMC_ASM("orq %%rdx, %%rax", "or rax, rdx")		\
		HWPMC_ASM("addq %c[count_at](%%r8), %%rax", "add rax, [r8 + %c[count_at]]")	\
		HWPMC_ASM("cmpl %c[seq_at](%%r8), %%r9d", "cmp r9d, [r8 + %c[seq_at]]")	\
		"jne " again "\n\t"					\
		HWPMC_ASM("movq %%rax, %c[value_at](%%rsi)", "mov [rsi + %c[value_at]], rax")	\
		HWPMC_ASM("addq %[slot_size], %%rsi", "add rsi, %[slot_size]")	\
		"jmp 2b\n"						\
		/* own != seq: if seq changed, it was switched. */	\
		"3:\t" HWPMC_ASM("cmpl %c[seq_at](%%r8), %%r9d", "cmp r9d, [r8 + %c[seq_at]]")	\
		"jne " again "\n"					\
		"4:\t" HWPMC_ASM("movq $1, %c[failed_at](%%rdi)", "mov qword ptr [rdi + %c[failed_at]], 1")	\
		"5:\t" fence

#define HWPMC_REGION_READ_OPERANDS(which)				\
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
						       thread))

#define HWPMC_REGION_READ_CLOBBERS					\
			       "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", \
			       "memory", "cc"

#define HWPMC_REGION_READ(r, which, again, fence)			\
	__asm__ __volatile__(						\
		HWPMC_ASM("movq %[region], %%rdi", "mov rdi, %[region]")	\
		HWPMC_REGION_READ_CODE(again, fence)			\
			     :						\
			     : [region] "m"(r), HWPMC_REGION_READ_OPERANDS(which) \
			     : HWPMC_REGION_READ_CLOBBERS)

/* LFENCE: no instruction of the region executes before the RDPMC of begin. */
#define hwpmc_region_begin(r)						\
	do {								\
		hwpmc_region_ready(r);					\
		HWPMC_REGION_READ(r, 0, "6b", "lfence");		\
	} while (0)

#define hwpmc_region_end(r)						\
	do {								\
		HWPMC_REGION_READ(r, 1, "4f", "");			\
		hwpmc_region_done(r);					\
	} while (0)
#endif

/* ------------------------------------------------------------------------ */
/* Log                                                                       */

/* The operations CONFIGURELOG, FLUSHLOG, CLOSELOG and WRITELOG of hwpmc.h. */
int hwpmc_configure_log(struct hwpmc *h, int fd);		/* fd -1: end the log */
int hwpmc_flush_log(struct hwpmc *h);
int hwpmc_close_log(struct hwpmc *h);
int hwpmc_write_log(struct hwpmc *h, uint32_t userdata);

/* ------------------------------------------------------------------------ */
/* Machine, driver, administration                                           */

/* The description that hwpmc_open() read; it lives as long as the handle. */
const struct hwpmc_op_getcpuinfo *hwpmc_cpuinfo(const struct hwpmc *h);

/* The current holder of the hardware counters: enum hwpmc_pmu_state. */
int hwpmc_pmu_state(struct hwpmc *h, uint32_t *state);

/*
 * Read the current problems of the classes of counters, such as the reason why a class is
 * missing. Returns the number of notes, or -1.
 */
int hwpmc_notes(struct hwpmc *h, struct hwpmc_classnote notes[HWPMC_NOTES_MAX]);

/*
 * Find another holder of the counters in /proc and /sys. Sets `who` to its name ("the NMI
 * watchdog", "perf (process 4711, perf)"), and `remedy`, which may be NULL, to the command
 * that frees the counters ("sysctl kernel.nmi_watchdog=0"). Both are truncated to the sizes of
 * the buffers. Returns 0, or -1 with ENOENT and the name "perf or another user" if the holder
 * is unknown.
 */
int hwpmc_pmu_holder(char *who, size_t who_size, char *remedy,
		     size_t remedy_size);

/* All rows of a CPU, in row order. The caller frees *rows by free(). */
int hwpmc_pmcinfo(struct hwpmc *h, uint32_t cpu, struct hwpmc_pmcinfo **rows,
		  unsigned int *nrow);
int hwpmc_driver_stats(struct hwpmc *h, struct hwpmc_op_getdriverstats *stats);
int hwpmc_module_version(struct hwpmc *h, uint32_t *version);

/* state: HWPMC_STATE_DISABLED or HWPMC_STATE_FREE (enable). */
int hwpmc_admin(struct hwpmc *h, uint32_t cpu, uint32_t row, uint32_t state);

/* Take PMCs and logs from every owner, so that the module can be unloaded. */
int hwpmc_revoke(struct hwpmc *h);
/* The kernel histogram: the ioctl itself. */
int hwpmc_kgmon(struct hwpmc *h, struct hwpmc_op_kgmon *op);

/* ------------------------------------------------------------------------ */
/* Events                                                                    */

/* One encoding of an event: fields of struct hwpmc_op_pmcallocate. */
struct hwpmc_event_code {
	uint32_t class_id;		/* enum hwpmc_class */
	uint32_t ev;			/* without HWPMC_F_EV_PMU */
	uint32_t flags;			/* HWPMC_F_EV_PMU, and of HWPMC_F_PAYLOAD, or 0 */
	uint32_t caps;			/* HWPMC_CAP_* needed */
	uint64_t config, config1;	/* with HWPMC_F_EV_PMU */
};

#define HWPMC_EVENT_CODES	4

struct hwpmc_event {
	char name[HWPMC_NAME_MAX];	/* the event without its qualifiers */
	uint32_t ncode;			/* number of entries of code[], at least 1 */
	uint32_t kinds;			/* HWPMC_KIND_* to count on; 0: all */
	uint32_t reserved[6];
	struct hwpmc_event_code code[HWPMC_EVENT_CODES]; /* best first */
};

/*
 * Parse a specification on this machine. No row is reserved. EINVAL: syntax error,
 * ENOENT: this machine has no such event; hwpmc_error() contains the position and the
 * expected text. Forms (case-insensitive; space . _ - are equal in names):
 *	[class-]name[,qualifier[=value]…]	FreeBSD's, with the qualifiers
 *		usr os edge inv any cmask= umask= mask=a+b rsp= count=
 *		(count= is cmask=, the threshold: FreeBSD's name on AMD)
 *	name:u  name:k  name:uk			perf's
 *	cpu/event=0xc0,umask=1,inv,edge,any,cmask=2/u
 *	cpu_core/…/ cpu_atom/…/ cpu_lowpower/…/	one kind of core; inside, a name or terms
 *	r1c0  0x1c0				raw: unit mask, event
 *	[pmu::]EVENT[:UMASK…]			libpfm4's
 *	ibs-op[,usr,os,l3miss,ldlat=n,opcount,cycles,data,target]
 *	ibs-fetch[,usr,os,l3miss,randomize,data]	AMD's instruction-based sampling
 *	ibs_op/cnt_ctl=1,ldlat=n/u  ibs_fetch/rand_en=1/  cycles:p	perf's of the same
 */
int hwpmc_event_parse(struct hwpmc *h, const char *spec,
		      struct hwpmc_event *event);

/* hwpmc_allocate() with the result of hwpmc_event_parse(). */
int hwpmc_allocate_event(struct hwpmc *h, const struct hwpmc_event *event,
			 enum hwpmc_mode mode, uint32_t flags, uint32_t cpu,
			 uint64_t count, uint32_t *id);

/* hwpmc_open_counter() with the result of hwpmc_event_parse(). */
int hwpmc_open_event(struct hwpmc *h, const struct hwpmc_event *event,
		     enum hwpmc_mode mode, uint32_t flags, pid_t pid,
		     uint64_t count, uint32_t *id);

/* An event of the list. Strings are valid during the call of the callback only. */
struct hwpmc_event_info {
	const char *name;		/* valid as a specification */
	const char *desc;
	const char *pmu;		/* its table: a file's or libpfm4's; NULL: libhwpmc's alias */
	uint32_t class_id;		/* the class tried first */
	/* The rest comes from a file of events (hwpmc_events(5)): */
	const char *kind;		/* of core: "cpu", "cpu_core", "cpu_atom"; else NULL */
	uint64_t counters;		/* bit per programmable counter; 0: unknown */
	uint32_t fixed;			/* bit per fixed counter */
	bool deprecated;		/* another event has replaced it */
};

/*
 * Call fn for each event of a class on this machine; HWPMC_CLASS_EVERY means all classes.
 * If fn does not return 0, stop and return its value.
 */
#define HWPMC_CLASS_EVERY	0xffffffffu
typedef int hwpmc_event_fn(const struct hwpmc_event_info *info, void *arg);
int hwpmc_event_each(struct hwpmc *h, uint32_t class_id, hwpmc_event_fn *fn,
		     void *arg);

/*
 * The same for those events that wanted() returns true for, which is called first: looking
 * for a few names costs much less than a list of all. What it gets has name, pmu and kind,
 * but no description; of events of other classes than SOFT no class. An event that it wants and
 * that this machine cannot count is left out, as in the list of all.
 */
typedef bool hwpmc_event_wanted_fn(const struct hwpmc_event_info *info, void *arg);
int hwpmc_event_each_wanted(struct hwpmc *h, uint32_t class_id,
			    hwpmc_event_wanted_fn *wanted, hwpmc_event_fn *fn,
			    void *arg);

/* ------------------------------------------------------------------------ */
/* Unwind tables                                                             */

/*
 * The unwind table of a file, by which the module finds the callers of the file's code without
 * frame pointers. hwpmc_unwind_read() of libhwpmcstat makes it from the file.
 */
struct hwpmc_unwind {
	struct hwpmc_unwind_row *row;	/* see hwpmc_unwind.h */
	uint32_t nrow;
	bool vdso;			/* table of the vdso: the fields of the file are unused */
	bool none;			/* the file has no table: nrow is 0 */
	uint32_t major, minor;		/* of the device */
	uint64_t inode;
	uint8_t build_id_len;		/* 0: the file has none */
	uint8_t build_id[20];
};

/*
 * Make the module walk the user frames of PMCs with HWPMC_F_TABLES by this table where the
 * file is mapped; with nrow 0, remove the table, or, with .none, store that the file has none:
 * PMCs with HWPMC_F_TABLES_ALL tell this from a table that is to come. The module copies the
 * table. Errors: see
 * UNWIND in hwpmc.h.
 */
int hwpmc_unwind_add(struct hwpmc *h, const struct hwpmc_unwind *u);
/* Sets chains[0] to chains[n - 1] to the numbers of user chains that were walked by tables
 * since the module was loaded, by enum hwpmc_chain_end of hwpmc_log.h; 0 for an end that the
 * module does not have. */
int hwpmc_chain_stats(struct hwpmc *h, uint64_t *chains, unsigned int n);

/* ------------------------------------------------------------------------ */
/* Cores of several kinds                                                    */

/* Sets *kinds to the HWPMC_KIND_* of the machine, and *kind to that of a CPU; 0 if all CPUs
 * are alike. */
int hwpmc_kinds(struct hwpmc *h, uint32_t cpu, uint32_t *kinds, uint32_t *kind);
/* Sets *ns to the CPU time in nanoseconds, and *slices to the number of slices, in which
 * threads ran on kinds of core where the PMC does not count, and *kinds to the kinds where it
 * counts. All are 0 for a PMC that counts on all kinds. */
int hwpmc_uncounted(struct hwpmc *h, uint32_t id, uint32_t *kinds, uint64_t *ns,
		    uint64_t *slices);

/* ------------------------------------------------------------------------ */
/* Names: constant strings, NULL for an unknown number                       */

const char *hwpmc_name_of_class(uint32_t class_id);	/* "IAP" */
const char *hwpmc_name_of_kind(uint32_t kind);		/* "cpu_core": one bit */
const char *hwpmc_name_of_mode(uint32_t mode);		/* "TC" */
const char *hwpmc_name_of_state(uint32_t state);	/* "RUNNING" */
const char *hwpmc_name_of_disposition(uint32_t disp);	/* "THREAD" */
const char *hwpmc_name_of_capability(uint32_t bit);	/* "USER": one bit */
const char *hwpmc_name_of_cputype(uint32_t cputype);	/* "INTEL_SKYLAKE" */
const char *hwpmc_name_of_pmu_state(uint32_t state);	/* "CLAIMED" */
const char *hwpmc_name_of_reason(uint32_t reason);	/* "ROWS_BUSY" */

/* The text of a reason, without the detail. */
const char *hwpmc_reason_text(uint32_t reason);

/* Write the sentence of a note's reason, with the detail, to buf, truncated to size bytes. */
void hwpmc_note_text(const struct hwpmc_classnote *note, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* _LIBHWPMC_H */
