/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libhwpmcstat.h - attribute the samples of a log to processes, images, functions
 * and source lines. It is a library of its own because it needs elfutils (libdw)
 * and zstd, which programs that only count do not need.
 *
 *	log bytes -> input -> parser -> model (processes, maps, by time)
 *	                             -> profile (stacks and their counts)
 *	                                -> images, symbols -> a view
 *
 * Every sample is attributed: if its image or function is unknown, to "[unknown]",
 * with the reason. So the samples of a profile add up to those of the log.
 *
 * Out of memory, a function fails with ENOMEM, and so does every later call on the
 * same object: it can only be freed.
 *
 * A pointer may be null only where that is said. Else a call that can fail fails with EINVAL,
 * one that returns a pointer returns NULL with EINVAL, one that returns a number or a truth
 * value returns 0, and one without a result does nothing. err may be null. Functions that close or free accept
 * NULL; hwpmc_input_error() never returns NULL, and hwpmc_lookup_error() returns EINVAL.
 *
 * No function prints or exits. One thread at a time may use an object. Strings and
 * arrays live as long as the object that returned them.
 */
#ifndef _LIBHWPMCSTAT_H
#define _LIBHWPMCSTAT_H

#include <libhwpmc.h>
#include <libhwpmclog.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For C++: see libhwpmc.h. */
typedef struct hwpmc_lookup_event hwpmc_lookup_event_t;
typedef struct hwpmc_profile_totals hwpmc_profile_totals_t;
typedef struct hwpmc_running_kernel hwpmc_running_kernel_t;

/* ------------------------------------------------------------------------ */
/* Input: the records of a log (input.c)                                     */

struct hwpmc_input;

/*
 * path: a file ("-": standard input), plain or zstd, detected by its first bytes.
 * On failure NULL with errno and one sentence in err.
 */
struct hwpmc_input *hwpmc_input_open(const char *path, char *err, size_t size);
struct hwpmc_input *hwpmc_input_fd(int fd, char *err, size_t size);
/* Bytes in memory, which the caller keeps until hwpmc_input_close(). */
struct hwpmc_input *hwpmc_input_memory(const void *data, size_t len);
/*
 * The next record. 1: *record; 0: the end; -1: errno and hwpmc_input_error()
 * ("perf.log: offset 4711: …"). A log that ends within a record (its writer was
 * killed) returns all complete records before that. -1 with EAGAIN: the descriptor does not
 * block and has no whole record yet; the next call goes on there, when poll() says so.
 */
int hwpmc_input_next(struct hwpmc_input *in, struct hwpmc_record *record);
/* After a sample: those that follow it directly, as hwpmc_parser_samples() returns them. */
const struct hwpmc_log_sample *hwpmc_input_samples(struct hwpmc_input *in, size_t *bytes);
/* Validate samples, but do not return them: for a first pass. */
void hwpmc_input_skip_samples(struct hwpmc_input *in, bool skip);
/* At the end: true if the log ended within a record. */
bool hwpmc_input_cut(const struct hwpmc_input *in);
const char *hwpmc_input_error(const struct hwpmc_input *in);
/*
 * Before the first record: what can be read only once is kept in a temporary file without
 * a name, in $TMPDIR or /var/tmp, so that it can be rewound. 0, or -1 and hwpmc_input_error().
 */
int hwpmc_input_keep(struct hwpmc_input *in);
/* Back to the first record: files, memory, buffered logs. Else -1 ESPIPE. */
int hwpmc_input_rewind(struct hwpmc_input *in);
/*
 * Of a pipe or a connection take no more than so many bytes: then hwpmc_input_next() is -1,
 * errno EFBIG. With SO_RCVTIMEO of a socket it is -1, errno ETIMEDOUT, after that silence.
 */
void hwpmc_input_limit(struct hwpmc_input *in, uint64_t bytes);
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
	HWPMC_IMAGE_HIDDEN,	/* hidden kernel addresses */
	HWPMC_IMAGE_CHAIN_END,	/* no code: a chain ends early for the reason that is its
				 * path and the name of its only symbol */
};

struct hwpmc_image {
	const char *path;	/* as in the log; "[kernel]", "[name]", "[unknown]" */
	const char *name;	/* last part of path */
	enum hwpmc_image_kind kind;
	const uint8_t *build_id;
	uint32_t build_id_len;
	const char *file;	/* source of its symbols, or NULL */
	const char *code;	/* file with its machine code, or NULL */
	const char *problem;	/* why it has no symbols ("no such file", "build-id
				 * differs from the log's"), or NULL */
	const char *no_lines;	/* why requested source lines are unknown */
	uint64_t load;		/* KERNEL, MODULE: run-time address = address in
				 * the file + load */
	uint64_t samples;
	/*
	 * Once lines were asked for and are known: the owner of the files that say them.
	 * Of several owners it is the one that is not root; of several of these 65534.
	 */
	uid_t lines_owner;
	gid_t lines_group;
	/* Chains walked by unwind tables that end in it, for the reasons
	 * HWPMC_CHAIN_NO_TABLE and HWPMC_CHAIN_NO_RULE. */
	uint64_t no_table, no_rule;
	const char *doubt;	/* it has symbols, and why they may be another file's, or
				 * NULL */
};

/* A function. Each image has one "[unknown]" for unknown ones. */
struct hwpmc_symbol {
	struct hwpmc_image *image;
	const char *name;	/* demangled, without the parameters of C++ */
	const char *raw;	/* as in the file */
	uint64_t start, size;	/* addresses of its ELF file */
	bool unknown;
	bool weak, local;	/* binding; global before weak before local */
	bool inlined;		/* into another function: has no address */
};

/* Where to search; all may be NULL. Files are searched by build-id first. */
struct hwpmc_symbol_options {
	const char *root;	/* prefix of the paths in the log (-r) */
	const char *debug;	/* more directories of separate debug files, ':' */
	const char *kallsyms;	/* default "/proc/kallsyms" */
	const char *perf_map;	/* directory of perf-PID.map, default "/tmp" */
	const char *kernel;	/* a vmlinux, or a directory with vmlinux and
				 * *.ko; NULL: kallsyms */
	bool inlines;		/* frames of inlined functions too (DWARF) */
	bool no_symbols;	/* images only */
	bool no_demangle;
};

/*
 * The running kernel, for a recorder's notes "kernel-start" and "kernel-build-id"
 * (both hexadecimal): with them a reader knows the kernel's load address, and
 * whether kallsyms or a vmlinux belongs to the log. -1: neither can be read.
 */
struct hwpmc_running_kernel {
	uint64_t start;		/* address of _stext; 0: hidden from this process */
	uint32_t build_id_len;
	uint8_t build_id[HWPMC_LOG_BUILD_ID];
};

int hwpmc_running_kernel(struct hwpmc_running_kernel *k);

/*
 * Open a file whose name comes from a log or from the debugging information of a
 * program. It must be regular; no device or FIFO is ever opened, and opening does not
 * wait.
 */
struct hwpmc_guard {
	const char *root;	/* path is below it, also through ".." and links;
				 * NULL: the whole system */
	uint64_t limit;		/* bytes: a larger file is refused */
	bool no_link;		/* path itself is no symbolic link */
	bool one_name;		/* the file has no other hard link */
	bool owned;		/* a file that this user cannot read is refused: its
				 * bytes are shown because a file of the user names it */
	uid_t owner;
	gid_t group;
};

/* A descriptor to read from, or -1 and *why (may be NULL). */
int hwpmc_open_guarded(const struct hwpmc_guard *guard, const char *path,
		       const char **why);

/* ------------------------------------------------------------------------ */
/* Unwind tables (lib/unwind)                                                */

/*
 * Make the table of an ELF file from its call-frame information, which libhwpmc gives to
 * the module. The same file gives the same rows. 0, or -1 with errno;
 * ENOEXEC: no ELF file of x86-64; ENODATA: it has no call-frame information; EFBIG: it
 * would take minutes. The file may be anybody's, and may change meanwhile.
 */
int hwpmc_unwind_read(int fd, struct hwpmc_unwind *u);
/* The same for the vdso of this kernel. */
int hwpmc_unwind_read_vdso(struct hwpmc_unwind *u);
void hwpmc_unwind_free(struct hwpmc_unwind *u);

/*
 * The same as hwpmc_unwind_read(), by the table that an earlier call left in the directory,
 * if it was made of this file as it is: build-id, place, size, time of change. dir: -1, or of
 * hwpmc_unwind_cache_open(). A file in it that another user could have written, or that is
 * damaged, is not used, and is replaced.
 */
int hwpmc_unwind_read_cached(int fd, int dir, struct hwpmc_unwind *u);
/* Opens the directory, and makes it first if need be. -1 and *why: also if another user can
 * write to it. */
int hwpmc_unwind_cache_open(const char *path, const char **why);

/*
 * To read the regular file that a process has mapped at [start, end), whatever its name leads
 * to now. -1 with errno; EPERM where only root may.
 */
int hwpmc_open_mapped(pid_t pid, uint64_t start, uint64_t end);
/*
 * Give the module the tables of all files that a process executes now, and of the vdso: what
 * a profiler does before it starts a PMC that is attached to it. Returns how many; -1: its
 * mappings cannot be read (errno), or the module refused one (hwpmc_error()).
 */
struct hwpmc;
int hwpmc_unwind_add_process(struct hwpmc *h, pid_t pid);

/* ------------------------------------------------------------------------ */
/* Profile (profile.c)                                                       */

struct hwpmc_profile;

/* An event that the log samples; one for the PMCs of all CPUs. */
struct hwpmc_profile_event {
	const char *name;	/* as the user specified it */
	uint32_t id;		/* of its first PMC */
	uint32_t mode, flags;
	uint64_t period;	/* 1: each sample says how many events it stands for */
	uint64_t samples;	/* in the profile */
	uint64_t filtered;	/* in the log, excluded by the options */
	/* 0, or samples a second that were wanted. Then all numbers of samples of this event
	 * are numbers of events, here, in stacks and in totals.kept, .unknown and .folded:
	 * times .period they are events in any case. .taken is how many samples they are;
	 * 0: not known, where options.image or .symbol leaves some out. */
	uint64_t frequency, taken;
};

/*
 * A frame of a stack; equal frames are the same pointer. With options.inlines
 * frames of inlined functions precede the frame that they are inlined into, and
 * have the same addresses: the first of them is the innermost.
 */
struct hwpmc_frame {
	struct hwpmc_symbol *symbol;
	struct hwpmc_image *image;
	uint64_t addr;		/* in the image's ELF file; without an image, as
				 * sampled */
	uint64_t pc;		/* as sampled; of a caller: the return address */
	bool kernel;
	bool caller;		/* pc is a return address */
	bool inlined;		/* into the next frame */
};

struct hwpmc_thread_info {
	int32_t pid, tid;
	const char *comm;	/* thread's name at the time of its samples, with
				 * options.by_thread or .by_comm; else as process */
	const char *process;	/* comm of its process, or "[unknown]" */
	const char *path;	/* of its executable, or NULL */
};

/* A distinct stack of one event in one thread. */
struct hwpmc_stack {
	uint32_t event;		/* index */
	uint32_t nframe;	/* >= 1; frame[0]: the sampled address */
	struct hwpmc_thread_info *thread;
	struct hwpmc_frame **frame;
	uint64_t count;		/* samples */
	uint8_t flags;		/* HWPMC_SAMPLE_* */
	int32_t cpu;		/* with options.by_cpu; else -1, and where it is not known */
	uint8_t kind;		/* HWPMC_KIND_* of its CPUs, with options.by_kind; 0: not known,
				 * or all are alike */
};

/* One sample in time order, with options.timeline. time: ns since the first. */
struct hwpmc_sample_point {
	uint64_t time;
	uint32_t stack;		/* index */
	int32_t cpu;
	uint64_t weight;	/* 1; of an event with a frequency: events */
};

struct hwpmc_profile_options {
	struct hwpmc_symbol_options symbols;
	const char *event;	/* its name; NULL: all */
	const int32_t *pids, *tids;	/* samples of these; NULL: all */
	uint32_t npid, ntid;
	const char *comm;	/* thread's name; NULL: all */
	uint32_t depth;		/* maximum frames per stack; 0: all */
	bool timeline;
	bool by_thread;		/* false: merge the threads of a process */
	bool leaf_only;		/* without callers */
	/*
	 * Percent of an event's samples. A frame of which fewer have it, in this place of
	 * the tree that the stacks are, becomes "[other]" with all that is below it, and
	 * such stacks of a caller become one, with the addresses of one of them.
	 * totals.folded says how many. Not with timeline. 0: all stacks as they are.
	 */
	double min_share;
	/* Samples that hit this image (its path or the last part of it), and this function
	 * (as shown, or as in the file); NULL: all. */
	const char *image, *symbol;
	/* Samples of this time in ns, since boot or since the log began. until 0: to the end. */
	uint64_t from, until;
	bool since_boot;
	const int32_t *cpus;	/* samples of these; NULL: all */
	uint32_t ncpu;
	bool by_kind;		/* stacks on each kind of core are stacks of their own */
	bool by_cpu;		/* stacks on each CPU are */
	bool by_comm;		/* stacks of each name of threads are */
	const char *process;	/* its name; NULL: all */
};

/* Totals of the log, including what the options exclude. */
struct hwpmc_profile_totals {
	uint64_t records, bytes;
	uint64_t samples;	/* in the log */
	uint64_t kept;		/* in the profile */
	uint64_t unknown;	/* of kept: image or function unknown */
	uint64_t dropped[HWPMC_DROP_SLOTS];	/* declared drops of samples, by cause */
	uint64_t others_dropped[HWPMC_DROP_SLOTS];
	uint64_t throttles;
	uint64_t execs, forks, exits, maps;
	uint64_t first, last;	/* ns, CLOCK_REALTIME, of the first and last */
	uint64_t duration;	/* ns between them */
	bool closed;		/* the log ended with CLOSELOG */
	bool cut;		/* it ended within a record */
	uint64_t folded;	/* of kept: in stacks that end in "[other]" */
	uint64_t pauses;	/* of sampling on a CPU: throttles counts those of PMCs */
	uint64_t paused;	/* ns, of all CPUs */
	uint32_t paused_cpus;	/* that were paused */
	uint32_t paused_percent; /* most of a CPU that sampling had used then */
	/* Of kept: chains walked by unwind tables, by enum hwpmc_chain_end. */
	uint64_t chains[8];
	/* Chains by frame pointers whose functions are known, and of these, those that end
	 * before a thread's first function: in code without frame pointers. Whole stacks
	 * only (no leaf_only, no depth). */
	uint64_t fp_chains, fp_short;
};

/* Events that a counter did not count (LOSS records), by event and reason. */
struct hwpmc_profile_loss {
	uint32_t event;		/* index of hwpmc_profile_events() */
	uint32_t reason;	/* enum hwpmc_reason; hwpmc_note_text() has its sentence */
	int32_t detail;		/* detail of the last one */
	uint32_t ncpu;		/* CPUs that did not count all */
	uint64_t from, until;	/* ns since the log began: samples may be missing in this time */
	bool open;		/* some CPU was not found to count again */
};

/*
 * Read the log to its end; twice if it can be rewound, because a sample may precede
 * its mapping. progress (may be NULL) is called periodically with the bytes read.
 * NULL: errno, and one sentence in err.
 */
struct hwpmc_profile *hwpmc_profile_read(struct hwpmc_input *in,
		const struct hwpmc_profile_options *options,
		void (*progress)(uint64_t bytes, void *arg), void *arg,
		char *err, size_t size);

/* The same in steps, for a growing log (hwpmc top): feed the records of a round, then
 * resolve. clear removes all samples and keeps processes and images. */
struct hwpmc_profile *hwpmc_profile_new(
		const struct hwpmc_profile_options *options);
int hwpmc_profile_feed(struct hwpmc_profile *p, const struct hwpmc_record *r);
int hwpmc_profile_resolve(struct hwpmc_profile *p);
/* Before anything is sampled on this machine: read the symbols of its kernel now. A live
 * view would sample that work otherwise. */
int hwpmc_profile_prepare(struct hwpmc_profile *p);
void hwpmc_profile_clear(struct hwpmc_profile *p);
/* Clear, and remove exited processes and unmapped images as well, so that memory does
 * not grow with the log. It frees frames, threads, and unmapped images with their
 * symbols. */
void hwpmc_profile_forget(struct hwpmc_profile *p);
void hwpmc_profile_free(struct hwpmc_profile *p);

const struct hwpmc_profile_totals *
hwpmc_profile_totals(const struct hwpmc_profile *p);
const struct hwpmc_profile_event *
hwpmc_profile_events(const struct hwpmc_profile *p, uint32_t *n);
const struct hwpmc_profile_loss *
hwpmc_profile_losses(const struct hwpmc_profile *p, uint32_t *n);
/* Unordered. */
const struct hwpmc_stack *hwpmc_profile_stacks(const struct hwpmc_profile *p,
					       uint32_t *n);
const struct hwpmc_sample_point *
hwpmc_profile_timeline(const struct hwpmc_profile *p, uint32_t *n);
struct hwpmc_image *const *hwpmc_profile_images(const struct hwpmc_profile *p,
						uint32_t *n);
/*
 * Source lines from DWARF, which the first call for an image reads. 1: *file (as
 * the compiler wrote it, mostly absolute) and *line; 0: unknown (image->no_lines
 * may give the reason); -1: errno. For an inlined frame it is the line in the
 * inlined function; for the frame after it and for a caller, the line of the call.
 */
int hwpmc_frame_line(struct hwpmc_profile *p, const struct hwpmc_frame *frame,
		     const char **file, unsigned int *line);
/* The line of any address of an image (form: frame->addr). */
int hwpmc_image_line(struct hwpmc_profile *p, const struct hwpmc_image *image,
		     uint64_t addr, const char **file, unsigned int *line);
/* The function at any address of an image (form: frame->addr). Never NULL: it may be
 * `unknown`. */
const struct hwpmc_symbol *
hwpmc_profile_symbol(struct hwpmc_profile *p, const struct hwpmc_image *image,
		     uint64_t addr);
/* A NOTE of the log, or a field of INITIALIZE ("cpuid", "ncpu"); NULL: none. */
const char *hwpmc_profile_note(const struct hwpmc_profile *p, const char *key);

/* ------------------------------------------------------------------------ */
/* Lookup: resolve one sample at a time, to print each (lookup.c)            */

struct hwpmc_lookup;

/* Equal places, threads and events are the same pointer. Serials count from 0, so
 * that a caller can keep an array of its own data. All live as long as the
 * lookup. */
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
 * Read all records but samples, and rewind: 1. 0: the input cannot be rewound, feed
 * each record as it is read. -1: one sentence in err.
 */
int hwpmc_lookup_learn(struct hwpmc_lookup *l, struct hwpmc_input *in,
		       char *err, size_t size);
void hwpmc_lookup_feed(struct hwpmc_lookup *l, const struct hwpmc_record *r);
/* 0; ENOMEM: an allocation failed, later results are wrong. Check it at the end. */
int hwpmc_lookup_error(const struct hwpmc_lookup *l);

/* The time of a record in nanoseconds of CLOCK_MONOTONIC. */
uint64_t hwpmc_lookup_time(const struct hwpmc_lookup *l, uint64_t tick);
/* The kind of core (HWPMC_KIND_*) that a CPU is; 0: the log has not said it, or all are alike. */
uint32_t hwpmc_lookup_kind(const struct hwpmc_lookup *l, int32_t cpu);
const struct hwpmc_lookup_event *
hwpmc_lookup_event(struct hwpmc_lookup *l, uint32_t id);
/* The thread of the last CONTEXT record of the record's CPU. */
const struct hwpmc_task *hwpmc_lookup_task(struct hwpmc_lookup *l,
					   const struct hwpmc_record *r);
/* The same; and for samples of this thread at *from <= time < *until it is the same, and
 * so are the places of the same addresses, until hwpmc_lookup_feed() is called. */
const struct hwpmc_task *hwpmc_lookup_span(struct hwpmc_lookup *l,
					   const struct hwpmc_record *r,
					   uint64_t *from, uint64_t *until);
/* The sampled place and its callers, at most depth of them; valid until the next
 * call. *n may be 0 in a damaged log. */
const struct hwpmc_place *const *
hwpmc_lookup_stack(struct hwpmc_lookup *l, const struct hwpmc_record *r,
		   uint32_t depth, uint32_t *n);

#ifdef __cplusplus
}
#endif

#endif /* _LIBHWPMCSTAT_H */
