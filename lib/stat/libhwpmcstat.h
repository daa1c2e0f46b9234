/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libhwpmcstat.h - from a log to what a person reads: which process, which
 * image, which function. A library of its own (libhwpmcstat), as
 * it brings elfutils (libdw) and zstd with it, which who only counts does not need.
 *
 *	log bytes -> input -> parser -> model (processes, maps, by time)
 *	                             -> profile (stacks and how often)
 *	                                -> images, symbols -> a view
 *
 * Nothing is dropped in silence: what is not known has a name ("[unknown]", and
 * why) and is counted, so that the samples of a profile are those of the log.
 *
 * Without memory functions fail with ENOMEM, and so does all that comes after on the
 * same object: it can only be freed.
 *
 * No function prints or exits. Objects belong to one thread at a time. Strings
 * and arrays live as long as the object that they came from.
 */
#ifndef _LIBHWPMCSTAT_H
#define _LIBHWPMCSTAT_H

#include <libhwpmclog.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------ */
/* Input: a log from somewhere (input.c)                                     */

struct hwpmc_input;

/*
 * path: a file ("-": standard input), plain or zstd, told apart by its first
 * bytes.
 * On failure NULL with errno and one sentence in err.
 */
struct hwpmc_input *hwpmc_input_open(const char *path, char *err, size_t size);
struct hwpmc_input *hwpmc_input_fd(int fd, char *err, size_t size);
/* Of bytes in memory, which must stay. */
struct hwpmc_input *hwpmc_input_memory(const void *data, size_t len);
/*
 * Records one after the other. 1: *record; 0: the end; -1: errno and
 * hwpmc_input_error() ("perf.log: offset 4711: …"). A log that ends in the
 * middle of a record (its writer was killed) gives all whole records before.
 */
int hwpmc_input_next(struct hwpmc_input *in, struct hwpmc_record *record);
/* Check samples, but do not tell them: for a first look at all else. */
void hwpmc_input_skip_samples(struct hwpmc_input *in, bool skip);
/* It ended in the middle of a record; known at the end. */
bool hwpmc_input_cut(const struct hwpmc_input *in);
const char *hwpmc_input_error(const struct hwpmc_input *in);
/* Before the first record: keep in memory what comes, to rewind at the end. */
int hwpmc_input_keep(struct hwpmc_input *in);
/* Back to the first record: files, memory, what was kept. Else -1 ESPIPE. */
int hwpmc_input_rewind(struct hwpmc_input *in);
uint64_t hwpmc_input_bytes(const struct hwpmc_input *in);
void hwpmc_input_close(struct hwpmc_input *in);

/* ------------------------------------------------------------------------ */
/* Images and symbols (image.c, elf.c, lines.c, kernel.c)            */

enum hwpmc_image_kind {
	HWPMC_IMAGE_UNKNOWN,	/* no mapping covers the address */
	HWPMC_IMAGE_ELF,	/* a program or library */
	HWPMC_IMAGE_KERNEL,
	HWPMC_IMAGE_MODULE,
	HWPMC_IMAGE_VDSO,
	HWPMC_IMAGE_JIT,	/* anonymous, named by /tmp/perf-PID.map */
	HWPMC_IMAGE_HIDDEN,	/* kernel addresses that were not shown */
};

struct hwpmc_image {
	const char *path;	/* as in the log; "[kernel]", "[name]", "[unknown]" */
	const char *name;	/* its last part, for people */
	enum hwpmc_image_kind kind;
	const uint8_t *build_id;
	uint32_t build_id_len;
	const char *file;	/* whose symbols are used, or NULL */
	const char *code;	/* its file, with the machine code, or NULL */
	const char *problem;	/* why there are none ("no such file", "build-id
				 * differs from the log's"), or NULL */
	const char *no_lines;	/* why lines were asked for and are not known */
	uint64_t load;		/* KERNEL, MODULE: add it to its addresses to get
				 * those where it ran */
	uint64_t samples;	/* that hit it */
};

/* A function. Where nothing is known: the image's one "[unknown]". */
struct hwpmc_symbol {
	struct hwpmc_image *image;
	const char *name;	/* demangled, without the parameters of C++ */
	const char *raw;	/* as in the file */
	uint64_t start, size;	/* in the image: addresses as in its ELF file */
	bool unknown;
	bool weak, local;	/* the first of global, weak, local names */
	bool inlined;		/* into others: it has no address of its own */
};

/* Where to look; all may be NULL. Search is by build-id first. */
struct hwpmc_symbol_options {
	const char *root;	/* prefix of the paths in the log (-r) */
	const char *debug;	/* more directories with separate debug files, ':' */
	const char *kallsyms;	/* "/proc/kallsyms" */
	const char *perf_map;	/* directory of perf-PID.map: "/tmp" */
	const char *kernel;	/* its vmlinux, or a directory with vmlinux and
				 * *.ko; NULL: kallsyms */
	bool inlines;		/* frames of inlined functions too (DWARF) */
	bool no_symbols;	/* images only */
	bool no_demangle;
};

/*
 * The kernel that runs here, for the notes of who records ("kernel-start",
 * "kernel-build-id", both hexadecimal): with them a reader knows whether kallsyms or
 * a vmlinux is the log's, and where the kernel lay. -1: nothing of it can be read.
 */
struct hwpmc_running_kernel {
	uint64_t start;		/* of _stext; 0: not shown to this process */
	uint32_t build_id_len;
	uint8_t build_id[HWPMC_LOG_BUILD_ID];
};

int hwpmc_running_kernel(struct hwpmc_running_kernel *k);

/* ------------------------------------------------------------------------ */
/* Profile (profile.c)                                                       */

struct hwpmc_profile;

/* A sampling PMC of the log; the same event on several CPUs is one. */
struct hwpmc_profile_event {
	const char *name;	/* as the user asked for it */
	uint32_t id;		/* of its first PMC */
	uint32_t mode, flags;
	uint64_t period;
	uint64_t samples;	/* in the profile */
	uint64_t filtered;	/* in the log, kept out by the options */
};

/*
 * One place of a stack; the same place is the same pointer. With options.inlines
 * frames of inlined functions come before the frame that they are inlined into,
 * and have the same addresses: the first of them is the innermost.
 */
struct hwpmc_frame {
	struct hwpmc_symbol *symbol;
	struct hwpmc_image *image;
	uint64_t addr;		/* in the image, as in its ELF file; or as sampled
				 * where there is no image */
	uint64_t pc;		/* as sampled; of a caller: its return address */
	bool kernel;
	bool caller;		/* pc is a return address */
	bool inlined;		/* the next frame contains it */
};

struct hwpmc_thread_info {
	int32_t pid, tid;
	const char *comm;	/* of the thread */
	const char *process;	/* of its process; "[unknown]" */
	const char *path;	/* of its program, or NULL */
};

/* A distinct stack of one event in one thread, and how many samples it got. */
struct hwpmc_stack {
	uint32_t event;		/* index */
	uint32_t nframe;	/* >= 1; frame[0]: where it hit */
	struct hwpmc_thread_info *thread;
	struct hwpmc_frame **frame;
	uint64_t count;
	uint8_t flags;		/* HWPMC_SAMPLE_* */
};

/* One sample in time order, with options.timeline. time: ns since the first. */
struct hwpmc_sample_point {
	uint64_t time;
	uint32_t stack;		/* index */
	int32_t cpu;
};

struct hwpmc_profile_options {
	struct hwpmc_symbol_options symbols;
	const char *event;	/* its name, or NULL: all */
	const int32_t *pids, *tids;	/* of which samples; NULL: all */
	uint32_t npid, ntid;
	int32_t cpu;		/* -1: all */
	const char *comm;	/* of the process; NULL: all */
	uint32_t depth;		/* longest chain that is kept; 0: all */
	bool timeline;
	bool by_thread;		/* else threads of a process are one */
	bool leaf_only;		/* without the callers */
};

/* Totals of the log, whatever the options keep out. */
struct hwpmc_profile_totals {
	uint64_t records, bytes;
	uint64_t samples;	/* in the log */
	uint64_t kept;		/* in the profile */
	uint64_t unknown;	/* of these, without an image or a function */
	uint64_t dropped[HWPMC_DROP__COUNT];	/* samples, as declared */
	uint64_t others_dropped[HWPMC_DROP__COUNT];
	uint64_t throttles;
	uint64_t execs, forks, exits, maps;
	uint64_t first, last;	/* ns, CLOCK_REALTIME, of the first and last */
	uint64_t duration;	/* ns between them */
	bool closed;		/* the log ended with CLOSELOG */
	bool cut;		/* it ended within a record */
};

/*
 * Read the log to its end (twice where it can be rewound: mappings may stand
 * behind the samples that they explain). progress (may be NULL) is told the bytes
 * read now and then. NULL: errno, and one sentence in err.
 */
struct hwpmc_profile *hwpmc_profile_read(struct hwpmc_input *in,
		const struct hwpmc_profile_options *options,
		void (*progress)(uint64_t bytes, void *arg), void *arg,
		char *err, size_t size);

/* The same step by step, of a log that still grows (hwpmc top): feed records of
 * one round, then resolve; clear begins counting anew, processes stay known. */
struct hwpmc_profile *hwpmc_profile_new(
		const struct hwpmc_profile_options *options);
int hwpmc_profile_feed(struct hwpmc_profile *p, const struct hwpmc_record *r);
int hwpmc_profile_resolve(struct hwpmc_profile *p);
void hwpmc_profile_clear(struct hwpmc_profile *p);
/* Clear, and forget what is no longer there as well: memory does not grow with the
 * log. Frames, threads, and images that nobody maps now, with their symbols, end. */
void hwpmc_profile_forget(struct hwpmc_profile *p);
void hwpmc_profile_free(struct hwpmc_profile *p);

const struct hwpmc_profile_totals *
hwpmc_profile_totals(const struct hwpmc_profile *p);
const struct hwpmc_profile_event *
hwpmc_profile_events(const struct hwpmc_profile *p, uint32_t *n);
/* In no particular order. */
const struct hwpmc_stack *hwpmc_profile_stacks(const struct hwpmc_profile *p,
					       uint32_t *n);
const struct hwpmc_sample_point *
hwpmc_profile_timeline(const struct hwpmc_profile *p, uint32_t *n);
struct hwpmc_image *const *hwpmc_profile_images(const struct hwpmc_profile *p,
						uint32_t *n);
/*
 * Source lines, from DWARF, which is not read before. 1: *file (as the compiler
 * wrote it, mostly absolute) and *line; 0: not known (image->no_lines may say
 * why); -1: errno. Of an inlined frame, where in the inlined function; of the one
 * after it, where that is called; of a caller, the line of the call.
 */
int hwpmc_frame_line(struct hwpmc_profile *p, const struct hwpmc_frame *frame,
		     const char **file, unsigned int *line);
/* Of any address of an image, as frame->addr has them. */
int hwpmc_image_line(struct hwpmc_profile *p, const struct hwpmc_image *image,
		     uint64_t addr, const char **file, unsigned int *line);
/* The function at an address of an image, as frame->addr is one: whether a sample
 * hit it or not. Never NULL: it may be `unknown`. */
const struct hwpmc_symbol *
hwpmc_profile_symbol(struct hwpmc_profile *p, const struct hwpmc_image *image,
		     uint64_t addr);
/* A NOTE of the log, or what INITIALIZE says ("cpuid", "ncpu"); NULL: none. */
const char *hwpmc_profile_note(const struct hwpmc_profile *p, const char *key);

/* ------------------------------------------------------------------------ */
/* Lookup: sample after sample, for those who print each one (lookup.c)      */

struct hwpmc_lookup;

/* The same place, thread, event is the same pointer; they are numbered from 0 so
 * that a caller can keep what belongs to them in an array. All live as long as
 * the lookup. */
struct hwpmc_place {
	struct hwpmc_frame frame;
	uint32_t serial;
};

struct hwpmc_task {
	struct hwpmc_thread_info info;
	uint32_t serial;
};

struct hwpmc_lookup_event {
	const char *name;		/* "[unknown]": its PMCALLOCATE was dropped */
	uint32_t id, mode;
	uint64_t period;
	uint32_t serial;		/* 0: the unknown one */
};

struct hwpmc_lookup *
hwpmc_lookup_new(const struct hwpmc_symbol_options *options);
void hwpmc_lookup_free(struct hwpmc_lookup *l);
/*
 * Read all but the samples of a log that can be rewound, and rewind it: 1. 0: it
 * cannot, feed it each record as it comes. -1: the sentence in err.
 */
int hwpmc_lookup_learn(struct hwpmc_lookup *l, struct hwpmc_input *in,
		       char *err, size_t size);
void hwpmc_lookup_feed(struct hwpmc_lookup *l, const struct hwpmc_record *r);
/* 0; ENOMEM: there was no memory for something, answers have been wrong since. To be
 * asked when all is told. */
int hwpmc_lookup_error(const struct hwpmc_lookup *l);

/* A record's time as nanoseconds of CLOCK_MONOTONIC. */
uint64_t hwpmc_lookup_time(const struct hwpmc_lookup *l, uint64_t tick);
const struct hwpmc_lookup_event *
hwpmc_lookup_event(struct hwpmc_lookup *l, uint32_t id);
/* The thread that the stream is in at this record. */
const struct hwpmc_task *hwpmc_lookup_task(struct hwpmc_lookup *l,
					   const struct hwpmc_record *r);
/* Where a sample hit and its callers, at most depth of them; valid until the next
 * call. *n may be 0 in a damaged log. */
const struct hwpmc_place *const *
hwpmc_lookup_stack(struct hwpmc_lookup *l, const struct hwpmc_record *r,
		   uint32_t depth, uint32_t *n);

#ifdef __cplusplus
}
#endif

#endif /* _LIBHWPMCSTAT_H */
