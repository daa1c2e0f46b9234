/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hwpmc_mark.h - marks: named pieces of a program that others measure. Part of libhwpmc.
 *
 *	HWPMC_MARK_BEGIN("lookup");
 *	lookup(key);
 *	HWPMC_MARK_END("lookup");
 *
 * The program needs no handle and no event. Without a listener, a mark is a load and a test.
 * `hwpmc stat --markers -e instructions:u ./program` listens: it counts the events of each
 * mark in each thread, exactly as a region does, and prints how they are spread.
 *
 * Marks belong to the thread that executes them. They may nest and recurse: an end ends the last
 * mark of its name that was begun and is open, and the value of the outer one includes the
 * inner ones, with the cost of their marks. A mark is left, and has no value, if
 * - an outer mark ends before it;
 * - the function that began it has returned, or was left by longjmp() or an exception, and
 *   another mark begins in a function above it;
 * - the same function begins it again;
 * - its thread or process ends, or the process executes another program.
 * A child of fork() has no open marks; its own are counted. The first mark of a thread allocates
 * memory, so it must not be in a signal handler. Marks of a signal handler that
 * interrupts one of these calls are not counted. Names have at most HWPMC_MARK_NAME - 1
 * bytes, of longer ones the beginning; a thread can have HWPMC_MARKS_MAX different
 * ones, and HWPMC_MARK_DEPTH open at a time. Coroutines that change the thread's stack between
 * begin and end are not supported: their marks are left.
 */
#ifndef _HWPMC_MARK_H
#define _HWPMC_MARK_H

#include <libhwpmc.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HWPMC_MARK_NAME		64	/* bytes, with the zero at the end */
#define HWPMC_MARKS_MAX		128
#define HWPMC_MARK_DEPTH	64

/*
 * The marks as functions, for other languages. A NULL name does nothing. They add some
 * instructions to each value, the macros none.
 */
void hwpmc_mark_begin(const char *name);
void hwpmc_mark_end(const char *name);

/* Used by the macros; do not use. */
extern int hwpmc_mark_on;
extern __thread struct hwpmc_region *hwpmc_mark_top;
struct hwpmc_region *hwpmc_mark_ready(const char *name);
void hwpmc_mark_done(const char *name);

#if defined(__x86_64__) && defined(__LP64__)
/*
 * All between the last RDPMC of begin and the first of end, but for the marked code, is in these
 * asm statements: the number of its instructions is fixed, and subtracted.
 */
#define HWPMC_MARK_BEGIN(name)						\
	do {								\
		__label__ hwpmc_mark_over;				\
		struct hwpmc_region *hwpmc_mark_region;			\
									\
		if (__builtin_expect(hwpmc_mark_on, 0)) {		\
			hwpmc_mark_region = hwpmc_mark_ready(name);	\
			__asm__ goto(					\
				HWPMC_ASM("movq %[region], %%rdi", "mov rdi, %[region]") \
				HWPMC_REGION_READ_CODE("6b", "lfence\n\t") \
				"jmp %l[hwpmc_mark_over]"		\
				: /* no output */			\
				: [region] "m"(hwpmc_mark_region),	\
				  HWPMC_REGION_READ_OPERANDS(0)		\
				: HWPMC_REGION_READ_CLOBBERS		\
				: hwpmc_mark_over);			\
			__builtin_unreachable();			\
		}							\
hwpmc_mark_over: ;							\
	} while (0)

#define HWPMC_MARK_END(name)						\
	do {								\
		__label__ hwpmc_mark_over;				\
									\
		__asm__ goto(						\
			HWPMC_ASM("movq hwpmc_mark_on@GOTPCREL(%%rip), %%rax", \
				  "mov rax, qword ptr hwpmc_mark_on@GOTPCREL[rip]") \
			HWPMC_ASM("cmpl $0, (%%rax)", "cmp dword ptr [rax], 0") \
			"je %l[hwpmc_mark_over]\n\t"			\
			HWPMC_ASM("movq hwpmc_mark_top@GOTTPOFF(%%rip), %%rdi", \
				  "mov rdi, qword ptr hwpmc_mark_top@GOTTPOFF[rip]") \
			HWPMC_ASM("movq %%fs:(%%rdi), %%rdi", "mov rdi, qword ptr fs:[rdi]") \
			HWPMC_REGION_READ_CODE("4f", "")		\
			: /* no output */				\
			: HWPMC_REGION_READ_OPERANDS(1)			\
			: HWPMC_REGION_READ_CLOBBERS			\
			: hwpmc_mark_over);				\
		hwpmc_mark_done(name);					\
hwpmc_mark_over: ;							\
	} while (0)
#else
#define HWPMC_MARK_BEGIN(name)	hwpmc_mark_begin(name)
#define HWPMC_MARK_END(name)	hwpmc_mark_end(name)
#endif

/* ------------------------------------------------------------------------ */
/* Listening                                                                 */

/*
 * A listener counts events of the marks of programs that it starts with a variable of the
 * environment: they and all that they start and execute with it. The program opens the
 * device itself, and its PMCs are its own. It must run as the same user, in the same
 * PID namespace, while the listener lives.
 */
#define HWPMC_MARKS_ENV		"HWPMC_MARKS"
#define HWPMC_MARKS_EVENTS	HWPMC_REGION_PMCS

struct hwpmc_marks;

struct hwpmc_mark_stats {
	const char *name;
	const char *event;		/* as it was given */
	int32_t pid, tid;		/* the thread; 0 in sums of all threads */
	uint64_t count;			/* values */
	uint64_t sum;			/* saturates at UINT64_MAX */
	uint64_t min, median, max;	/* 0 without values */
	uint64_t begun;			/* times */
	uint64_t dropped;		/* ends without a value: the thread was switched while it
					 * read, or there were too many open marks */
	uint64_t misused;		/* ends without a begin */
	uint32_t sketched;		/* 1: more than 4096 values, and the median
					 * is within 1/256 of the exact one */
	uint32_t reserved[5];
};

/*
 * Listen to n (1 to HWPMC_MARKS_EVENTS) events. Events are parsed by the programs. EINVAL: n, or an
 * event that is too long; EFBIG: the memory is larger than RLIMIT_FSIZE; ENOMEM; the errno of
 * memfd_create(2). hwpmc_error(NULL).
 */
int hwpmc_marks_open(const char *const *events, unsigned int n, struct hwpmc_marks **marks);
void hwpmc_marks_close(struct hwpmc_marks *marks);
/* The value of HWPMC_MARKS_ENV for programs; valid until hwpmc_marks_close(). */
const char *hwpmc_marks_env(const struct hwpmc_marks *marks);
/*
 * Call fn for each mark and event that has been begun or misused so far: by_thread, for each
 * thread, else for the sum of all. If fn does not return 0, stop and return its value. Strings
 * are valid during the call only; a program can write any bytes into names. ENOMEM.
 */
typedef int hwpmc_marks_fn(const struct hwpmc_mark_stats *stats, void *arg);
int hwpmc_marks_each(struct hwpmc_marks *marks, bool by_thread, hwpmc_marks_fn *fn, void *arg);
/* Problems: why a program could not count ("", if none reported that; may have any
 * bytes), how many listened, and how many values were lost as there were too many threads
 * with marks. */
int hwpmc_marks_state(struct hwpmc_marks *marks, char *why, size_t size,
		      uint64_t *programs, uint64_t *lost);

#ifdef __cplusplus
}
#endif

#endif /* _HWPMC_MARK_H */
