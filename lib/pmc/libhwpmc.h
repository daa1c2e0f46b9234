/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libhwpmc.h - the native interface of libhwpmc: count hardware events.
 *
 * A handle is one open of the device, and thus one *owner*: PMCs allocated through
 * it live until hwpmc_close(), exec or exit. Any number of threads may use a
 * handle; a process may have any number of handles. There is no other state.
 *
 * Unless stated otherwise every function returns 0, or -1 with errno; on failure
 * hwpmc_error() returns a sentence and hwpmc_reason() the cause as a number. A
 * child of fork() can at most read with a handle of its parent, a PMC that counts it as a
 * descendant; anything else is ESRCH and changes nothing. It must open its own.
 *
 * A pointer may be null only where that is said. Else the call is EINVAL (NULL with EINVAL if
 * it returns a pointer), and does nothing if it has no result; inline functions and
 * macros do not look. Functions that close or free accept NULL.
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
 * In C++ the fields `class` of the kernel's structures are named class_id, and a structure or
 * enum that has the name of a function is "struct NAME" or "enum NAME", or NAME_t.
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
void hwpmc_close(struct hwpmc *h);

/* The descriptor of the handle, for comparing and polling; do not close it. */
int hwpmc_fd(const struct hwpmc *h);

/*
 * The last failure of this handle in this thread; h == NULL: of hwpmc_open().
 * Never NULL ("" before the first failure); valid until the next failure of
 * the same handle in the same thread, or hwpmc_close(). hwpmc_reason() is
 * HWPMC_WHY_NONE if the library itself failed (an event specification).
 */
const char *hwpmc_error(struct hwpmc *h);
enum hwpmc_reason hwpmc_reason(struct hwpmc *h);
int32_t hwpmc_detail(struct hwpmc *h);

/* ------------------------------------------------------------------------ */
/* PMCs                                                                      */

/*
 * Reserve a row for an event specification (forms: hwpmc_event_parse()). cpu:
 * HWPMC_CPU_ANY in process scope, one CPU in system scope. count: the initial
 * count, or the sampling period. If several counters can count the event, they
 * are tried in order.
 */
int hwpmc_allocate(struct hwpmc *h, const char *spec, enum hwpmc_mode mode,
		   uint32_t flags, uint32_t cpu, uint64_t count, uint32_t *id);

/* The ioctl itself; the id is req->pmcid. */
int hwpmc_allocate_raw(struct hwpmc *h, struct hwpmc_op_pmcallocate *req);

/*
 * Reserve a counter for an event of a process (0: the caller's) and attach the PMC to it, in
 * one call: beside other PMCs that count the process, whoever has them, on a counter that
 * none of them has there. hwpmc_allocate() and hwpmc_attach() cannot: the counter is
 * chosen before the process is known, and EBUSY if another PMC counts there with it. Process
 * scope; not started. EBUSY: each counter for the event has another PMC there.
 */
int hwpmc_open_counter(struct hwpmc *h, const char *spec, enum hwpmc_mode mode,
		       uint32_t flags, pid_t pid, uint64_t count, uint32_t *id);

int hwpmc_release(struct hwpmc *h, uint32_t id);
int hwpmc_attach(struct hwpmc *h, uint32_t id, pid_t pid);	/* 0: self */
int hwpmc_detach(struct hwpmc *h, uint32_t id, pid_t pid);
int hwpmc_start(struct hwpmc *h, uint32_t id);
int hwpmc_stop(struct hwpmc *h, uint32_t id);

/*
 * Counts have 64 bits and are exact. hwpmc_rw() returns the count in *old and then
 * sets it. hwpmc_read() fails with ENOMEM, but sets *value, if the kernel had no
 * memory to follow a thread; with EINVAL if `value` is NULL.
 */
int hwpmc_read(struct hwpmc *h, uint32_t id, uint64_t *value);
int hwpmc_write(struct hwpmc *h, uint32_t id, uint64_t value);
int hwpmc_rw(struct hwpmc *h, uint32_t id, uint64_t value, uint64_t *old);
int hwpmc_set(struct hwpmc *h, uint32_t id, uint64_t count);

/*
 * Read, start or stop n PMCs in one call: those of a CPU, and those of the calling
 * thread, at one moment (hwpmc.h, BATCH). The caller sets pmcid of each entry; the
 * others are results. 0: all succeeded. Else -1 with the errno and the sentence of the
 * first entry that failed; the other entries are done all the same, and each has its
 * own `error`. If the call itself fails, no entry has an error and nothing was done
 * (with more than HWPMC_BATCH_MAX entries, which take several calls: some are done).
 */
int hwpmc_batch(struct hwpmc *h, enum hwpmc_batch_command command,
		struct hwpmc_batch_entry *entries, unsigned int n);
/* Make hwpmc_error() and hwpmc_reason() those of an entry that failed. Returns -1 with
 * its errno. */
int hwpmc_batch_error(struct hwpmc *h, enum hwpmc_batch_command command,
		      const struct hwpmc_batch_entry *entry);

/*
 * Read a counter of the calling process without a system call. Each reading thread
 * calls hwpmc_counter_open() with a process-scope PMC, without DESCENDANTS, that is
 * attached to this process only and counts in hardware (else EINVAL, ENOSYS).
 * hwpmc_counter_read() then returns exactly what hwpmc_read() returns, on any CPU.
 * While the PMC is stopped, or if other threads count for it too, it makes the
 * system call, with its errors. hwpmc_read() in such a thread does the same.
 *
 * The PMC must not be detached or released while another thread reads. A counter
 * needs no closing. In a child the parent's counters fail with ESRCH.
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

/* Each instruction for both syntaxes of the compiler (-masm=intel). */
#define HWPMC_ASM(att, intel)	"{" att "|" intel "}\n\t"

/* True: *value is valid. */
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
 * The same, ordered: each instruction before the call has been executed and counted, and none
 * after it has begun. RDPMC alone waits for neither; some hundred instructions can be in
 * flight. Costs an LFENCE before and one after, 10 to 30 cycles.
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

int hwpmc_capabilities(struct hwpmc *h, uint32_t id, uint32_t *caps);
int hwpmc_width(struct hwpmc *h, uint32_t id, uint32_t *bits);
int hwpmc_get_msr(struct hwpmc *h, uint32_t id, uint32_t *msr);

/* ------------------------------------------------------------------------ */
/* Groups                                                                    */

/*
 * A group counts n events of the same processes as one object, in process scope: it is
 * opened, attached, started, stopped and read as a whole, or not at all. What one of these
 * calls had begun when it failed is undone by itself; hwpmc_error() is about the event that
 * failed. One thread at a time opens, attaches, detaches, starts, stops or closes a group;
 * any number of threads may read it at any time, but not after hwpmc_group_close() has begun.
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
 * What happens at one moment:
 * - Start and stop: on each CPU all PMCs of the group; a thread that is switched in during the call
 *   has all of them, or none.
 * - Read, of the calling thread, or of processes of which one thread at most runs: the
 *   differences of two reads cover the same instructions for each event.
 * - Read, of threads that run on several CPUs at the same time: the values of each CPU belong
 *   to one moment, the CPUs to moments within the call. Each value includes all events before
 *   the call and none after it.
 * - Attach and detach: one PMC after the other. Stop the group first where this matters.
 */
#define HWPMC_GROUP_MAX	64		/* events */

struct hwpmc_group;

/*
 * Open a group of n (1 to HWPMC_GROUP_MAX) events, specs[0] to specs[n - 1], of a process
 * (0: the caller's): each PMC has a counter that no other PMC has in that process, as with
 * hwpmc_open_counter(), whose errors and flags these are. Not started; all values are 0.
 * EINVAL: n. On failure *group is NULL, and no PMC of it remains.
 */
int hwpmc_group_open(struct hwpmc *h, const char *const *specs, unsigned int n,
		     uint32_t flags, pid_t pid, struct hwpmc_group **group);
/* Release the PMCs. Before hwpmc_close() of its handle. */
void hwpmc_group_close(struct hwpmc_group *g);

/* The ids of the PMCs, in the order of the events, for the other calls (hwpmc_region_new()).
 * Valid until hwpmc_group_close(); *n (may be NULL): how many. */
const uint32_t *hwpmc_group_ids(const struct hwpmc_group *g, unsigned int *n);

/* Count a further process, or one no longer (0: the caller's). Errors: hwpmc_attach(),
 * hwpmc_detach(). Detach goes on after an error and returns the first one. */
int hwpmc_group_attach(struct hwpmc_group *g, pid_t pid);
int hwpmc_group_detach(struct hwpmc_group *g, pid_t pid);

/* Errors: hwpmc_start(), hwpmc_stop(). Start of a group that counts changes nothing. Stop
 * goes on after an error and returns the first one. */
int hwpmc_group_start(struct hwpmc_group *g);
int hwpmc_group_stop(struct hwpmc_group *g);

/*
 * Read the counts, as hwpmc_read() returns them, into values[0] to values[n - 1]. Errors:
 * hwpmc_read(). If hwpmc_reason() is HWPMC_WHY_INCOMPLETE, all values are set, and at least
 * one lacks events; with any other reason none is set, and the error is of a PMC that has no
 * value, or of the call.
 */
int hwpmc_group_read(struct hwpmc_group *g, uint64_t *values);

/*
 * The calling thread reads the group without a system call from now on, by RDPMC, where
 * hwpmc_counter_open() permits that for each event; its errors. The group is read
 * between two switches of the thread, with an LFENCE before and after: the values
 * of the events are some instructions apart, always the same number of them. Where that
 * cannot be, as when the group is stopped, hwpmc_group_read() makes the system call.
 */
int hwpmc_group_map(struct hwpmc_group *g);

/* ------------------------------------------------------------------------ */
/* Regions                                                                   */

/*
 * A region measures a piece of code each time that it runs. The cost of begin and
 * end is measured by hwpmc_region_new() and subtracted. It reads up to eight
 * started PMCs of this handle that count the calling process. Only events of the
 * calling thread are counted; preemption and migration do not change the value.
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
	uint64_t misused;		/* end without begin, begin twice, another
					 * thread; of the whole region */
	uint32_t sketched;		/* 1: more than 4096 values, and the median
					 * is within 1/256 of the exact one */
	uint32_t reserved[5];
};

/*
 * NULL with errno on failure: EINVAL n is 0 or more than eight; ENOMEM; the errors
 * of hwpmc_read() if a PMC cannot be read.
 */
struct hwpmc_region *hwpmc_region_new(struct hwpmc *h, const char *name,
				      const uint32_t *ids, unsigned int n);
void hwpmc_region_free(struct hwpmc_region *r);
const char *hwpmc_region_name(const struct hwpmc_region *r);

/*
 * On x86-64 also macros: r must then be an lvalue, and values are exact to the
 * instruction. The functions add some instructions to each value.
 */
void hwpmc_region_begin(struct hwpmc_region *r);
void hwpmc_region_end(struct hwpmc_region *r);

/* Statistics of PMC i, from 0. EINVAL: i is too large. */
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

int hwpmc_configure_log(struct hwpmc *h, int fd);		/* -1: end it */
int hwpmc_flush_log(struct hwpmc *h);
int hwpmc_close_log(struct hwpmc *h);
int hwpmc_write_log(struct hwpmc *h, uint32_t userdata);

/* ------------------------------------------------------------------------ */
/* Machine, driver, administration                                           */

/* As read by hwpmc_open(); lives as long as the handle. */
const struct hwpmc_op_getcpuinfo *hwpmc_cpuinfo(const struct hwpmc *h);

/* The present enum hwpmc_pmu_state. */
int hwpmc_pmu_state(struct hwpmc *h, uint32_t *state);

/*
 * What is amiss with classes of counters at present: why one is missing. Returns how many
 * notes there are, or -1.
 */
int hwpmc_notes(struct hwpmc *h, struct hwpmc_classnote notes[HWPMC_NOTES_MAX]);

/*
 * The holder of the counters if it is not this module, as found in /proc and /sys:
 * "the NMI watchdog", "perf (process 4711, perf)", …, and the command that frees
 * them: "sysctl kernel.nmi_watchdog=0". Truncated to the buffers' sizes; remedy may
 * be NULL. 0, or -1 (ENOENT, who = "perf or another user") if it is unknown.
 */
int hwpmc_pmu_holder(char *who, size_t who_size, char *remedy,
		     size_t remedy_size);

/* All rows of a CPU, in row order. The caller frees the array by free(). */
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
	uint32_t flags;			/* HWPMC_F_EV_PMU or 0 */
	uint32_t caps;			/* HWPMC_CAP_* needed */
	uint64_t config, config1;	/* with HWPMC_F_EV_PMU */
};

#define HWPMC_EVENT_CODES	4

struct hwpmc_event {
	char name[HWPMC_NAME_MAX];	/* the event without its qualifiers */
	uint32_t ncode;			/* 1.. */
	uint32_t kinds;			/* HWPMC_KIND_* to count on; 0: all */
	uint32_t reserved[6];
	struct hwpmc_event_code code[HWPMC_EVENT_CODES]; /* best first */
};

/*
 * Parse a specification on this machine. No row is reserved. EINVAL: syntax error,
 * ENOENT: this machine has no such event; hwpmc_error() has the position and what
 * was expected. Forms (case-insensitive; space . _ - are equal in names):
 *	[class-]name[,qualifier[=value]…]	FreeBSD's, with the qualifiers
 *		usr os edge inv any cmask= umask= mask=a+b rsp= count=
 *		(count= is cmask=, the threshold: FreeBSD's name on AMD)
 *	name:u  name:k  name:uk			perf's
 *	cpu/event=0xc0,umask=1,inv,edge,any,cmask=2/u
 *	cpu_core/…/ cpu_atom/…/ cpu_lowpower/…/	one kind of core; inside, a name or terms
 *	r1c0  0x1c0				raw: unit mask, event
 *	[pmu::]EVENT[:UMASK…]			libpfm4's
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

/* An event of the list. Strings are valid during the call only. */
struct hwpmc_event_info {
	const char *name;		/* valid as a specification */
	const char *desc;
	const char *pmu;		/* the table: a file's or libpfm4's; NULL: libhwpmc's alias */
	uint32_t class_id;		/* the class tried first */
	/* Where a file of events says so (pmc_events(5)): */
	const char *kind;		/* of core: "cpu", "cpu_core", "cpu_atom"; else NULL */
	uint64_t counters;		/* bit per programmable counter; 0: unknown */
	uint32_t fixed;			/* bit per fixed counter */
	bool deprecated;		/* another event has replaced it */
};

/*
 * Call fn for each event of a class (of all: HWPMC_CLASS_EVERY) on this machine.
 * If fn does not return 0, stop and return its value.
 */
#define HWPMC_CLASS_EVERY	0xffffffffu
typedef int hwpmc_event_fn(const struct hwpmc_event_info *info, void *arg);
int hwpmc_event_each(struct hwpmc *h, uint32_t class_id, hwpmc_event_fn *fn,
		     void *arg);

/* ------------------------------------------------------------------------ */
/* Unwind tables                                                             */

/*
 * The table of a file: what the module needs to find the callers of its code without
 * frame pointers. hwpmc_unwind_read() of libhwpmcstat makes it from the file.
 */
struct hwpmc_unwind {
	struct hwpmc_unwind_row *row;	/* see hwpmc_unwind.h */
	uint32_t nrow;
	bool vdso;			/* instead of what follows */
	uint32_t major, minor;		/* of the device */
	uint64_t inode;
	uint8_t build_id_len;		/* 0: the file has none */
	uint8_t build_id[20];
};

/*
 * Walk user frames of HWPMC_F_TABLES by this table where the file is mapped; nrow 0:
 * no longer. The module has its own copy afterwards. Errors: see hwpmc_op_unwind in
 * hwpmc.h.
 */
int hwpmc_unwind_add(struct hwpmc *h, const struct hwpmc_unwind *u);
/* User chains walked by tables since the module was loaded: n counts, by enum
 * hwpmc_chain_end of hwpmc_log.h; 0 where the module has no such end. */
int hwpmc_chain_stats(struct hwpmc *h, uint64_t *chains, unsigned int n);

/* ------------------------------------------------------------------------ */
/* Cores of several kinds                                                    */

/* HWPMC_KIND_* of the machine and of a CPU; 0: all CPUs are alike. */
int hwpmc_kinds(struct hwpmc *h, uint32_t cpu, uint32_t *kinds, uint32_t *kind);
/* How long, in ns of CPU time, and how often threads ran where a PMC with kinds counts
 * nothing; 0 for one without. `kinds`: those where it counts. */
int hwpmc_uncounted(struct hwpmc *h, uint32_t id, uint32_t *kinds, uint64_t *ns,
		    uint64_t *slices);

/* ------------------------------------------------------------------------ */
/* Names: constant strings, NULL for an unknown number                       */

const char *hwpmc_name_of_class(uint32_t class_id);	/* "IAP" */
const char *hwpmc_name_of_kind(uint32_t kind);		/* "cpu_core": of one bit */
const char *hwpmc_name_of_mode(uint32_t mode);		/* "TC" */
const char *hwpmc_name_of_state(uint32_t state);	/* "RUNNING" */
const char *hwpmc_name_of_disposition(uint32_t disp);	/* "THREAD" */
const char *hwpmc_name_of_capability(uint32_t bit);	/* "USER": one bit */
const char *hwpmc_name_of_cputype(uint32_t cputype);	/* "INTEL_SKYLAKE" */
const char *hwpmc_name_of_pmu_state(uint32_t state);	/* "CLAIMED" */
const char *hwpmc_name_of_reason(uint32_t reason);	/* "ROWS_BUSY" */

/* The text of a reason, without the detail. */
const char *hwpmc_reason_text(uint32_t reason);

/* A note's reason, with its detail and without the class, truncated to the size. */
void hwpmc_note_text(const struct hwpmc_classnote *note, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* _LIBHWPMC_H */
