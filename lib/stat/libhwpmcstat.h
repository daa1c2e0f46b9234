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
 * Every sample is attributed. If its image or function is unknown, it is attributed to
 * "[unknown]", with the reason. The samples of a profile therefore add up to those of the
 * log.
 *
 * If there is no memory, a function fails with ENOMEM, and so does every later call on
 * the same object: it can only be freed.
 *
 * A pointer may be null only where a comment permits it; err always may. With any other null
 * pointer a function does nothing, and returns its failure (-1, or NULL) with EINVAL, or 0 if
 * it returns a number or a truth value. Functions that close or free accept NULL.
 * hwpmc_input_error() never returns NULL, and hwpmc_lookup_error() returns EINVAL.
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
 * Open a log, or a file of perf record, which becomes a log as it is read. path: a file, or "-"
 * for standard input; plain or compressed by zstd. The first bytes show which it is. On failure they return NULL with errno and one sentence in err.
 * hwpmc_input_fd() does not close the descriptor.
 */
struct hwpmc_input *hwpmc_input_open(const char *path, char *err, size_t size);
struct hwpmc_input *hwpmc_input_fd(int fd, char *err, size_t size);
/* A log in memory, which the caller keeps until hwpmc_input_close(). */
struct hwpmc_input *hwpmc_input_memory(const void *data, size_t len);
/*
 * Return 1 and the next record, 0 at the end, or -1 with errno and hwpmc_input_error()
 * ("perf.log: offset 4711: …"). The record is valid until the next call. If the log ends
 * within a record, because its writer was killed, all complete records are returned. With a
 * descriptor that does not block, -1 with EAGAIN means that no whole record has arrived yet;
 * call again when poll() reports more bytes.
 */
int hwpmc_input_next(struct hwpmc_input *in, struct hwpmc_record *record);
/* After a sample: the samples that directly follow it, as hwpmc_parser_samples() does. */
const struct hwpmc_log_sample *hwpmc_input_samples(struct hwpmc_input *in, size_t *bytes);
/* Validate samples, but do not return them: for a first pass. */
void hwpmc_input_skip_samples(struct hwpmc_input *in, bool skip);
/* At the end: true if the log has no end (CLOSELOG): later records are missing. */
bool hwpmc_input_cut(const struct hwpmc_input *in);
/* A sentence about the last failure. */
const char *hwpmc_input_error(const struct hwpmc_input *in);
/*
 * Call before the first record: copies an input that can be read only once into a temporary
 * file without a name, in $TMPDIR or /var/tmp, as it is read, so that it can be rewound.
 * Returns 0, or -1 and hwpmc_input_error().
 */
int hwpmc_input_keep(struct hwpmc_input *in);
/* Go back to the first record: files, memory, kept logs. Fails with ESPIPE for others. */
int hwpmc_input_rewind(struct hwpmc_input *in);
/*
 * Limit the bytes that are read from a pipe or a connection: hwpmc_input_next() then returns
 * -1 with EFBIG, also if a compressed file of perf record expands to more. (A socket with
 * SO_RCVTIMEO: -1 with ETIMEDOUT, after that time without bytes.)
 */
void hwpmc_input_limit(struct hwpmc_input *in, uint64_t bytes);
/* Number of bytes of the log read so far, compressed or not. */
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
	HWPMC_IMAGE_CHAIN_END,	/* no code: marks the early end of a chain. Its path, and
				 * the name of its only symbol, are the reason */
};

/* Why no mapping of its process has the address of a sample of user mode. */
enum hwpmc_unmapped {
	HWPMC_MAPPED,
	HWPMC_UNMAPPED_NO_MAPPINGS,	/* the log has no mapping of the process at all */
	HWPMC_UNMAPPED_REMOVED,		/* it had been unmapped by then */
	HWPMC_UNMAPPED_NOTHING,		/* no executable mapping was ever there */
	HWPMC_UNMAPPED_KERNEL,		/* an address of the kernel */
	HWPMC_UNMAPPED_VSYSCALL,	/* the vsyscall page, which each process has */
	HWPMC_UNMAPPED__COUNT
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
				 * differs from the log's"), or NULL; of UNKNOWN, in a
				 * profile: how many samples by enum hwpmc_unmapped */
	const char *no_lines;	/* why requested source lines are unknown */
	uint64_t load;		/* KERNEL, MODULE: run-time address = address in
				 * the file + load */
	uint64_t samples;
	/*
	 * The owner of the files that contain the source lines, valid after the first line
	 * was found. If the files have several owners: the owner that is not root, or 65534
	 * if several are not root.
	 */
	uid_t lines_owner;
	gid_t lines_group;
	/* Chains walked by unwind tables that end in this image, for the reasons
	 * HWPMC_CHAIN_NO_TABLE and HWPMC_CHAIN_NO_RULE. */
	uint64_t no_table, no_rule;
	const char *doubt;	/* why its symbols may belong to another file, or NULL */
	const char *root;	/* its path is below this root of a process; "": its file was
				 * found in a process, and is no longer at its path; NULL */
	uint64_t not_ready;	/* the same as no_table, for HWPMC_CHAIN_NOT_READY */
};

/* A function. Each image has one symbol "[unknown]" for all its unknown functions. */
struct hwpmc_symbol {
	struct hwpmc_image *image;
	const char *name;	/* demangled, without the parameters of C++, and without the
				 * version of a library ("@@GLIBC_2.34") */
	const char *raw;	/* as in the file */
	uint64_t start, size;	/* address in its ELF file, and bytes */
	bool unknown;
	bool weak, local;	/* binding: global is preferred to weak, weak to local */
	bool inlined;		/* inlined into another function: has no address */
	bool made_up;		/* the file has no name for it: the name is that of the file and
				 * the address of the function, whose bounds .eh_frame has */
};

/*
 * Return a name without its long template arguments (of C++, and generic ones of Rust), for
 * a list: "std::map<...>::find". It is in buf, or is name itself if nothing is to be left out
 * or buf is too small.
 */
const char *hwpmc_shorten_name(const char *name, char *buf, size_t size);
/* Return 1 if name is the symbol's name, shortened or not, or its raw one. */
int hwpmc_symbol_is(const struct hwpmc_symbol *symbol, const char *name);

/* Places to search; each may be NULL. Files are searched by build-id first. */
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
 * (both hexadecimal). From them a reader gets the kernel's load address, and whether
 * kallsyms or a vmlinux belongs to the log. Returns -1 if neither can be read.
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
	const char *root;	/* find path below this directory, even through ".." and
				 * symbolic links; NULL: the whole system */
	uint64_t limit;		/* bytes: refuse a larger file */
	bool no_link;		/* refuse a path that is a symbolic link */
	bool one_name;		/* refuse a file with another hard link */
	bool owned;		/* refuse a file that the user below cannot read: its bytes
				 * are shown because a file of this user names it */
	uid_t owner;
	gid_t group;
};

/* Returns a descriptor to read from, or -1 and the reason in *why (why may be NULL). */
int hwpmc_open_guarded(const struct hwpmc_guard *guard, const char *path,
		       const char **why);

/* ------------------------------------------------------------------------ */
/* Unwind tables (lib/unwind)                                                */

/*
 * Make the table of an ELF file from its call-frame information; libhwpmc adds it to the module.
 * The same file always gives the same rows. Returns 0, or -1 with errno: ENOEXEC if it is not
 * an ELF file of x86-64, ENODATA if it has no call-frame information, EFBIG if reading it would
 * take minutes. After the first two *u describes the file as one that has none (.none), which
 * libhwpmc can pass on, too. The file may belong to any user, and may change during the call.
 * Free the rows by hwpmc_unwind_free().
 */
int hwpmc_unwind_read(int fd, struct hwpmc_unwind *u);
/* The same for the vdso of this kernel. */
int hwpmc_unwind_read_vdso(struct hwpmc_unwind *u);
void hwpmc_unwind_free(struct hwpmc_unwind *u);

/*
 * The same as hwpmc_unwind_read(), with a cache. dir is a descriptor from
 * hwpmc_unwind_cache_open(), or -1 for no cache. A table that an earlier call stored there is
 * used if it was made from this file as it is now: same build-id, inode, size and time of
 * change. A stored table that another user could have written, or that is damaged, is not used,
 * and is replaced.
 */
int hwpmc_unwind_read_cached(int fd, int dir, struct hwpmc_unwind *u);
/* Open the directory of a cache, and create it if necessary. Returns -1 and the reason in *why
 * on failure, also if another user can write to the directory. */
int hwpmc_unwind_cache_open(const char *path, const char **why);
/* The same for the caller's own cache, $XDG_CACHE_HOME/hwpmc/unwind or ~/.cache/hwpmc/unwind.
 * Returns -1 if there is none: HWPMC_CACHE has the value "none", or another user owns a part of the path. */
int hwpmc_unwind_cache_own(void);

/*
 * Open the regular file that a process has mapped at [start, end) for reading, even if its name
 * now refers to another file. Returns -1 with errno on failure; EPERM if only root may do it.
 */
int hwpmc_open_mapped(pid_t pid, uint64_t start, uint64_t end);
/*
 * Pass the tables of the vdso, and of all files whose code a process has mapped, to the module;
 * a profiler does this before it starts a PMC that is attached to the process. Files without a
 * table are passed as such. Returns the number of tables, or -1 if the mappings of the process cannot be read (errno) or the module
 * refused a table (hwpmc_error()).
 */
struct hwpmc;
int hwpmc_unwind_add_process(struct hwpmc *h, pid_t pid);

/* ------------------------------------------------------------------------ */
/* Profile (profile.c)                                                       */

struct hwpmc_profile;

/* A sampled event of the log; the PMCs of all CPUs share one entry. */
struct hwpmc_profile_event {
	const char *name;	/* as the user specified it */
	uint32_t id;		/* of its first PMC */
	uint32_t mode, flags;
	uint64_t period;	/* in events; 1 for an event with a frequency */
	uint64_t samples;	/* in the profile */
	uint64_t filtered;	/* in the log, excluded by the options */
	/* The wanted number of samples per second, or 0; HWPMC_LOG_OWN_PERIODS if each sample
	 * has a period of its own without that. With a frequency .samples and .filtered of
	 * this event, and .count of its stacks, are numbers of events. A number multiplied
	 * by .period is events in both cases. .taken is the number of samples in the
	 * profile. */
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
	uint64_t addr;		/* address in the image's ELF file; without an image,
				 * the sampled address */
	uint64_t pc;		/* the sampled address; of a caller: the return address */
	bool kernel;
	bool caller;		/* pc is a return address */
	bool inlined;		/* into the next frame */
	enum hwpmc_unmapped unmapped;	/* HWPMC_IMAGE_UNKNOWN: why; else 0 */
};

struct hwpmc_thread_info {
	int32_t pid, tid;
	const char *comm;	/* with options.by_thread or .by_comm: name of the thread
				 * at the time of its samples; else the same as process */
	const char *process;	/* comm of its process, or "[unknown]" */
	const char *path;	/* path of its executable, or NULL */
};

/* A distinct stack of one event in one thread. */
struct hwpmc_stack {
	uint32_t event;		/* index */
	uint32_t nframe;	/* >= 1; frame[0]: the sampled address */
	struct hwpmc_thread_info *thread;
	struct hwpmc_frame **frame;
	uint64_t count;		/* samples; events, if the event has a frequency */
	uint8_t flags;		/* HWPMC_SAMPLE_* */
	int32_t cpu;		/* with options.by_cpu; -1 without it, or if unknown */
	uint8_t kind;		/* with options.by_kind: HWPMC_KIND_* of its CPUs; 0 without
				 * it, if unknown, or if all CPUs are alike */
	uint64_t taken;		/* samples */
};

/* One sample, with options.timeline; the array is in time order. */
struct hwpmc_sample_point {
	uint64_t time;		/* ns since the first sample */
	uint32_t stack;		/* index of hwpmc_profile_stacks() */
	int32_t cpu;
	uint64_t weight;	/* 1, or for an event with a frequency the number of events */
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
	 * A percentage of an event's samples; 0: keep all stacks. In the tree of all stacks,
	 * a branch with fewer samples is cut, and its first frame becomes "[other]". All such
	 * branches of one caller become one stack, with the addresses of one of them.
	 * totals.folded is the number of their samples. Not valid with timeline.
	 */
	double min_share;
	/* Only samples whose address is in this image (its path, or the last part of the path),
	 * and in this function (as shown, or as in the file); NULL: all. */
	const char *image, *symbol;
	/* Only samples of this time, in ns since boot (since_boot) or since the log began.
	 * until 0: to the end. */
	uint64_t from, until;
	bool since_boot;
	const int32_t *cpus;	/* only samples on these CPUs; NULL: all */
	uint32_t ncpu;
	bool by_kind;		/* separate stacks for each kind of core */
	bool by_cpu;		/* separate stacks for each CPU */
	bool by_comm;		/* separate stacks for each name of threads */
	const char *process;	/* only samples of processes of this name; NULL: all */
};

/* Totals of the whole log, including samples that the options exclude. */
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
	bool cut;		/* it ended otherwise: later records are missing */
	uint64_t folded;	/* of kept: in stacks that end in "[other]" */
	uint64_t pauses;	/* pauses of all sampling on a CPU; throttles: of one PMC */
	uint64_t paused;	/* ns, sum of all CPUs */
	uint32_t paused_cpus;	/* number of CPUs that were paused */
	uint32_t paused_percent; /* maximum share of a CPU that sampling had used then */
	/* Of kept: chains walked by unwind tables, by enum hwpmc_chain_end. */
	uint64_t chains[8];
	/* Chains by frame pointers whose functions are known, and the number of these that end
	 * before a thread's first function, in code without frame pointers. Both are counted
	 * for whole stacks only (no leaf_only, no depth). */
	uint64_t fp_chains, fp_short;
};

/* Events that a counter did not count (LOSS records), by event and reason. */
struct hwpmc_profile_loss {
	uint32_t event;		/* index of hwpmc_profile_events() */
	uint32_t reason;	/* enum hwpmc_reason; hwpmc_note_text() has its sentence */
	int32_t detail;		/* detail of the last one */
	uint32_t ncpu;		/* number of CPUs that did not count all events */
	uint64_t from, until;	/* ns since the log began: samples may be missing in this time */
	bool open;		/* at least one CPU did not count again until the log ended */
};

/*
 * Read the log to its end; twice if it can be rewound, because a sample may precede
 * its mapping. progress (may be NULL) is called periodically with the bytes read.
 * Returns NULL on failure, with errno and one sentence in err.
 */
struct hwpmc_profile *hwpmc_profile_read(struct hwpmc_input *in,
		const struct hwpmc_profile_options *options,
		void (*progress)(uint64_t bytes, void *arg), void *arg,
		char *err, size_t size);

/* The same in steps, for a growing log: feed some records, then resolve, then use the
 * results. hwpmc_profile_clear() removes all samples and keeps processes and images, and the
 * pauses and losses, which are those since the log began. */
struct hwpmc_profile *hwpmc_profile_new(
		const struct hwpmc_profile_options *options);
int hwpmc_profile_feed(struct hwpmc_profile *p, const struct hwpmc_record *r);
int hwpmc_profile_resolve(struct hwpmc_profile *p);
/* Read the symbols of this machine's kernel now, before sampling begins. The samples of a
 * live view would contain this work otherwise. */
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
/*
 * The samples of an event (index of hwpmc_profile_events()) whose PRECISE record marks their
 * address as exact, and those whose record does not. The samples without a record are exact if
 * the event has HWPMC_F_EXACT. Counts samples that the options exclude, too. Returns 0 or -1.
 */
int hwpmc_profile_exact(const struct hwpmc_profile *p, uint32_t event, uint64_t *exact,
			uint64_t *inexact);

/* Unordered. */
const struct hwpmc_stack *hwpmc_profile_stacks(const struct hwpmc_profile *p,
					       uint32_t *n);
const struct hwpmc_sample_point *
hwpmc_profile_timeline(const struct hwpmc_profile *p, uint32_t *n);
struct hwpmc_image *const *hwpmc_profile_images(const struct hwpmc_profile *p,
						uint32_t *n);
/*
 * The source line of a frame, from DWARF, which the first call for an image reads. Returns
 * 1 with *file (as the compiler wrote it, mostly absolute) and *line; 0 if they are unknown
 * (image->no_lines may contain the reason); -1 with errno. The line of an inlined frame is
 * in the inlined function; the line of the frame after it, and of a caller, is that of the
 * call.
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
/* The value of a NOTE of the log, or of a field of INITIALIZE ("cpuid", "ncpu"), by its key.
 * Returns NULL if the log has none. */
const char *hwpmc_profile_note(const struct hwpmc_profile *p, const char *key);

/* ------------------------------------------------------------------------ */
/* Lookup: resolve one sample at a time, to print each (lookup.c)            */

struct hwpmc_lookup;

/* Equal places, threads and events have the same pointer. Serials count from 0, so
 * that a caller can keep an array of its own data. All objects live as long as the
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
	uint32_t flags;			/* HWPMC_F_* */
};

struct hwpmc_lookup *
hwpmc_lookup_new(const struct hwpmc_symbol_options *options);
void hwpmc_lookup_free(struct hwpmc_lookup *l);
/*
 * Read all records except samples, rewind the input, and return 1. Returns 0 if the input
 * cannot be rewound: then feed each record as it is read. Returns -1 with one sentence in
 * err on failure.
 */
int hwpmc_lookup_learn(struct hwpmc_lookup *l, struct hwpmc_input *in,
		       char *err, size_t size);
void hwpmc_lookup_feed(struct hwpmc_lookup *l, const struct hwpmc_record *r);
/* Returns 0, or ENOMEM if an allocation failed, so that some results are wrong. Check it at
 * the end. */
int hwpmc_lookup_error(const struct hwpmc_lookup *l);

/* The time of a record in nanoseconds of CLOCK_MONOTONIC. */
uint64_t hwpmc_lookup_time(const struct hwpmc_lookup *l, uint64_t tick);
/* The kind of core (HWPMC_KIND_*) of a CPU; 0 if no record so far contains it. */
uint32_t hwpmc_lookup_kind(const struct hwpmc_lookup *l, int32_t cpu);
const struct hwpmc_lookup_event *
hwpmc_lookup_event(struct hwpmc_lookup *l, uint32_t id);
/* The thread of the last CONTEXT record of the record's CPU. */
const struct hwpmc_task *hwpmc_lookup_task(struct hwpmc_lookup *l,
					   const struct hwpmc_record *r);
/* The same, and the time *from <= time < *until in which the result is valid: all samples of
 * this thread then have the same thread, and equal addresses have the same places, until
 * hwpmc_lookup_feed() is called. */
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
