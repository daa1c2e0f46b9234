/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat.h - what the files of lib/stat share: images and their symbols, processes
 * over time. Nothing here is exported.
 */
#ifndef HWPMC_LIB_STAT_H
#define HWPMC_LIB_STAT_H

#include <errno.h>
#include <gelf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libhwpmcstat.h"
#include "maps.h"
#include "table.h"
#include "waiting.h"

#define EXPORT	__attribute__((visibility("default")))

/* Returns true with EINVAL if a pointer is null that an exported function needs. */
static inline bool stat_null(bool missing)
{
	if (missing)
		errno = EINVAL;
	return missing;
}

#define NULL_GIVEN	"a pointer that the call needs is null"

/* ---- memory.c ------------------------------------------------------------ */

/* Set where there was no memory; exported functions clear it. */
extern _Thread_local bool stat_nomem;

/* NULL: none. */
void *stat_alloc(size_t n, size_t size);
/* array: where the pointer to it is; it has n and gets room for one more. */
bool stat_room(void *array, size_t n, size_t size);
/* For several more: of an array that only grows by these two. */
bool stat_room_for(void *array, size_t n, size_t more, size_t size);
char *stat_strdup(const char *text);
/* One behind the other. */
char *stat_join(const char *a, const char *b);
/* At the end of an exported function: 0, or -1 with ENOMEM, and so ever after. */
int stat_end(bool *broken);

/* Strings that live as long as the set, each once: equal ones are one pointer. */
struct stat_strings {
	char **text;
	struct table table;
};

const char *stat_string(struct stat_strings *set, const char *text);
void stat_strings_free(struct stat_strings *set);

/* ---- image.c ------------------------------------------------------------- */

/* The user and the group that own nothing. */
#define NOBODY	65534

struct segment {
	uint64_t offset, size, addr;	/* in the file, and where ELF wants it */
};

/* Bytes of the names of an image so far, as they are in it and as people write them. */
struct demangled {
	uint64_t raw, nice;
};

/* The file that was mapped, as far as the log has it; all 0: nothing of it. */
struct file_id {
	uint64_t inode;
	uint32_t major, minor;
	bool stamped;			/* the rest is of the log */
	bool unread;			/* whether it has a build-id is not known */
	uint64_t size;
	int64_t mtime, ctime;
};

/* A process that has mapped an image, and where. */
struct mapper {
	int32_t pid;
	uint64_t start, end;
};

#define MAPPERS_MAX	4

struct image {
	struct hwpmc_image pub;
	struct mapper mapper[MAPPERS_MAX];	/* ELF: the latest, until it is loaded */
	uint32_t nmapper;
	const char *root;		/* it was found below it, in a process's; or NULL */
	struct file_id ran;		/* ELF without build-id: the file that ran */
	/* By start. Others may keep pointers to them: what is out of date is kept
	 * behind, as long as the image. */
	struct hwpmc_symbol **symbol, **retired;
	uint32_t nsymbol, nretired;
	uint32_t generation;		/* of the symbols */
	struct segment *segment;
	uint32_t nsegment;
	/* Executable sections by addr, which do not overlap: a symbol without a size ends
	 * with its own. None: not known. */
	struct segment *code;
	uint32_t ncode;
	bool loaded;
	bool demangle;
	bool copied;			/* ELF: a part ran in anonymous memory */
	struct demangled demangled;
	bool lazy;			/* symbols are made by kallsyms_symbol() */
	bool stripped;			/* only what dynamic linking needs has names */
	/* Stripped: functions of .eh_frame by addr, which do not overlap. */
	struct segment *bounds;
	uint32_t nbounds;
	bool by_text;			/* no segments, but .text */
	struct segment text;		/* pages; offset: 0 */
	int32_t pid;			/* JIT: whose map */
	uint64_t read;			/* JIT: bytes of the map that were read */
	uint64_t moved;			/* JIT: bytes of names of functions that moved */
	uint64_t start, end;		/* KERNEL, MODULE: where it ran, or 0, 0 */
	struct hwpmc_symbol unknown;
	struct lines *lines;		/* NULL: not asked for yet, or none */
	struct hwpmc_symbol **inlined;	/* functions, each once */
	uint32_t ninlined;
	bool used;			/* forget.c: a process maps it */
};

/* A line of kallsyms, and all of them. */
struct ksym {
	uint64_t addr;
	uint32_t name, module;		/* where they are in the text; module 0: none, else "[name]" */
};

struct ksyms {
	struct ksym *symbol;		/* by addr */
	uint32_t n;
};

struct kallsyms {
	char *text;			/* of the file; names are in it */
	char *cached;			/* all of this, from the cache; NULL: it was read */
	bool no_cache;			/* it lacks what is asked for */
	struct ksyms kernel, modules;
	uint32_t nimage;		/* images that were there */
	uint64_t stext, etext;
	uint64_t moved;			/* log's addresses - its own */
	const char *path, *problem;
	const char *release, *hostname;	/* of the log, or NULL */
	const char *file_problem;	/* of the file alone */
	bool read;
	bool file_read;			/* before it was needed */
};

/* Files below options.kernel, or where distributions have them. */
struct kernel_file {
	char *name;			/* of the module, or "vmlinux" */
	char *path;
};

struct kernel_files {
	struct kernel_file *file;
	uint32_t n;
	bool looked;
};

/* Files that generators of code map as a mark: the latest of each process. */
struct jit_dumps {
	struct jit_dump {
		int32_t pid;
		char *path;
	} *dump;
	struct table table;		/* entries by pid */
};

/* ---- unmapped.c ---------------------------------------------------------- */

struct unmapped {
	uint64_t samples[HWPMC_UNMAPPED__COUNT];
	size_t len;
	char text[512];
};

struct space;
/* The address is in no mapping of user mode at that time. */
enum hwpmc_unmapped model_unmapped(const struct space *space, uint64_t pc, uint64_t time);
/* Sentence about all samples there; NULL: none. lost: records of other types that are missing. */
const char *unmapped_text(struct unmapped *u, uint64_t lost);

struct images {
	struct hwpmc_symbol_options options;
	struct jit_dumps dumps;
	int64_t began, ended;		/* the log: ns, CLOCK_REALTIME; CLOCK_MONOTONIC, or 0: not
					 * known */
	struct image **all;
	uint32_t n;
	struct table table;		/* of all, by image_get()'s arguments */
	struct image *unknown, *hidden, *kernel;
	struct unmapped unmapped;	/* samples in unknown */
	struct image *chain_end[HWPMC_CHAIN__COUNT];	/* by reason; [0]: unused */
	struct kallsyms kallsyms;
	struct kernel_files files, standard;
	struct debuginfod *debuginfod;	/* NULL: not asked yet */
};

/* -1: no memory; it can be freed all the same. */
int images_init(struct images *set, const struct hwpmc_symbol_options *o);
struct image *image_get(struct images *set, const char *path,
			enum hwpmc_image_kind kind, const uint8_t *build_id,
			uint32_t build_id_len, int32_t pid);
/* The same of a file without build-id, which its inode, size and times tell from others. */
struct image *image_get_file(struct images *set, const char *path,
			     const struct file_id *ran);
/* If it has none yet. */
void image_set_build_id(struct image *img, const uint8_t *id, uint32_t len);
/* The one for functions of that name that were inlined. */
struct hwpmc_symbol *image_inlined(struct image *img, const char *raw);
/* NULL: no memory. */
struct hwpmc_symbol *image_add_symbol(struct image *img, uint64_t start,
				      uint64_t size, const char *raw,
				      bool demangle);
void image_forget_symbols(struct image *img);
void image_free_symbols(struct image *img);
void image_sort_symbols(struct image *img);
/* In its place, or the one that is there. */
struct hwpmc_symbol *image_insert_symbol(struct image *img, uint64_t start,
					 uint64_t size, const char *raw);
bool image_retire(struct image *img, struct hwpmc_symbol *s);
#define IMAGE_STRIPPED							\
	"it has no symbols; install its package of debugging "	\
	"symbols (-dbgsym, -debuginfo), or set DEBUGINFOD_URLS"
/* Of the symbol that begins there, after image_sort_symbols(); NULL: none does. */
const char *image_name_at(const struct image *img, uint64_t start);
/* A part of its code has run in anonymous memory. */
void image_note_copy(struct image *img);
/* Why it has no symbols; -1. */
int image_problem(struct image *img, const char *why);
/* Of those that were read; &img->unknown: none. */
struct hwpmc_symbol *image_symbol_at(struct image *img, uint64_t addr);
/* After .all has changed otherwise than by image_get(). */
void images_index(struct images *set);
/* All but its lines. */
void image_free(struct image *img);

/* ---- images.c ------------------------------------------------------------ */

void images_free(struct images *set);
/* It is in no use; set->all is the caller's, see images_index(). */
void image_end(struct image *img);

/* ---- bounds.c ------------------------------------------------------------ */

/* Before image_sort_symbols(), of a file without a table of all symbols. */
void bounds_add(struct image *img, Elf *elf);
/* The function that has the address; NULL: none. */
const struct segment *bounds_at(const struct image *img, uint64_t addr);
/* Where the function that begins at addr ends, or where the next one begins. */
uint64_t bounds_limit(const struct image *img, uint64_t addr);
/* The symbol that is made up for the function of addr; NULL: there is no such function. */
struct hwpmc_symbol *bounds_symbol(struct image *img, uint64_t addr);

/* ---- load.c -------------------------------------------------------------- */

/* Find its file and symbols, if that was not done yet. */
void image_load(struct images *set, struct image *img);
/* What has changed since it was read: maps of generated code. */
void images_refresh(struct images *set);
/* The address that ELF gives to what is mapped there. */
uint64_t image_addr(struct images *set, struct image *img,
		    const struct map *map, uint64_t pc);
struct hwpmc_symbol *image_symbol(struct images *set, struct image *img,
				  uint64_t addr);
/* The image of a kernel address; map: what the log has there, or NULL. */
struct image *kernel_find(struct images *set, const struct map *map,
			  uint64_t pc, uint64_t *addr);

/* ---- demangle.c ---------------------------------------------------------- */

/* NULL: it is no name of C++ or Rust, or too long. To be freed. */
char *demangle(struct demangled *all, const char *raw);

/* ---- elf.c --------------------------------------------------------------- */

struct elf_file {
	Elf *elf;
	int fd;
};

/* A program, or what is said to belong to one: nothing larger is read. */
#define ELF_LIMIT	(16ull << 30)

/*
 * 0, or -1: there is none, it cannot be read, or is not ELF. root: path is below it.
 * packed: a file packed by xz, gzip or zstd will do; only of the kernel, whose files no
 * log names. errno EFBIG: it unpacks to more than a multiple of its size, or its sections
 * are more than the file, or most of it is a hole.
 */
int elf_open(struct elf_file *f, const char *root, const char *path, bool packed);
/* unpack.c: the descriptor of an unnamed file with what a packed one holds, or -1: errno
 * EFBIG if that is more than limit bytes. */
int unpack_fd(int fd, uint64_t limit);
/* The same of an open file, which elf_close() closes. */
int elf_open_fd(struct elf_file *f, int fd);
/* The same of what was unpacked. */
bool elf_in_memory(struct elf_file *f, void *bytes, size_t len);
void elf_close(struct elf_file *f);
/* It has the image's build-id, or the image has none. */
bool elf_is_of(const struct elf_file *f, const struct image *img);
/* Of .symtab; how many. */
unsigned int elf_add_symbols(struct elf_file *f, struct image *img);
/* Those of one section, which lies at `at`. */
void elf_add_section_symbols(struct elf_file *f, struct image *img,
			     size_t index, uint64_t at);
/* Of .dynsym. */
void elf_add_dynamic_symbols(Elf *elf, struct image *img);
void elf_add_segments(struct image *img, Elf *elf);
/* Those that symbols without a size end with; before image_sort_symbols(). */
void elf_add_code(struct image *img, Elf *elf);
void elf_guess_text(struct image *img, Elf *elf);

/* ---- identity.c ---------------------------------------------------------- */

/* What the record has of its file. */
struct file_id file_id_of(const struct hwpmc_log_map *r);
uint64_t file_id_hash(const struct file_id *ran);
bool file_id_same(const struct file_id *a, const struct file_id *b);
/* f is open at the path of the image: does it lend its names? If not, a problem is set;
 * where that is not certain, a doubt. */
bool identity_check(const struct images *set, struct image *img, const struct elf_file *f);

/* Is the log of another machine, or of a copy of its root? */
bool is_elsewhere(const struct images *set);

/* ---- origin.c ------------------------------------------------------------ */

/* The process has mapped it; of a loaded image it is of no matter. */
void image_seen(struct image *img, int32_t pid, uint64_t start, uint64_t end);
/* Is the log of this machine, so that its processes may be in /proc? */
bool origin_is_here(const struct images *set);
/* Is it one of the log, and not another process with its number? */
bool origin_lives(const struct images *set, int32_t pid);
/* The number that a process has for itself, in its namespace; 0: it has ended. */
int32_t origin_own_pid(int32_t pid);
/* The process that it was forked from, if neither has executed a program since; or 0. */
int32_t origin_parent(int32_t pid);
/* When it began, by the clock of file times, in ns; INT64_MIN: it has ended. */
int64_t origin_began(int32_t pid);
/* "/proc/PID/root" */
#define ORIGIN_ROOT	32
const char *origin_root(int32_t pid, char text[ORIGIN_ROOT]);
/* Below it a path of the image is looked up: an option's, a process's, or NULL. */
static inline const char *image_root(const struct images *set, const struct image *img)
{
	return set->options.root ? set->options.root : img->root;
}

/* ---- programs.c ---------------------------------------------------------- */

/* Programs, libraries, the vdso: 0, or -1 and *problem. */
int program_load(struct images *set, struct image *img);

/* ---- debug.c, debuginfod.c, plt.c ------------------------------------------------------ */

/* program: the open file of the image, or NULL: it is gone. */
bool debug_file_load(struct images *set, struct image *img,
		     const struct elf_file *program);
void debug_data_add(struct image *img, const struct elf_file *f);
/*
 * For its lines: the debug file of a program, by its build-id or the program's link.
 * A descriptor, or -1.
 */
int debug_file_open(struct images *set, struct image *img,
		    const struct elf_file *program);
/* From a server, to be freed; NULL: no server is set, or none has it. */
char *debuginfod_path(struct images *set, const struct image *img);
void debuginfod_free(struct debuginfod *d);
void plt_add(struct image *img, Elf *elf);

/* ---- kernel.c, kallsyms.c, vmlinux.c, jit.c ------------------------------ */

void kernel_load(struct images *set, struct image *img);

/* Read it once. -1: *problem says why not. */
int kallsyms_read(struct images *set);
void kallsyms_prepare(struct images *set);
int kallsyms_load(struct images *set, struct image *img);
/* kcache.c: what the symbols of the running kernel depend on (malloc); NULL: they are not to
 * be kept. */
char *kcache_key(size_t *len);
bool kcache_load(int dir, struct kallsyms *k, const char *key, size_t len);
void kcache_store(int dir, const struct kallsyms *k, const char *key, size_t key_len);
struct hwpmc_symbol *kallsyms_symbol(struct images *set, struct image *img,
				     uint64_t addr);
/* Whose symbol is at pc or before it; NULL: none. */
const char *kallsyms_module_at(struct images *set, uint64_t pc);
bool kallsyms_of_this_kernel(const struct images *set);
void kallsyms_free(struct kallsyms *k);

const char *vmlinux_path(struct images *set);
const char *ko_path(struct images *set, const struct image *img);
/*
 * Not for symbols, which came from kallsyms: the file that has the lines. moved: how
 * far the kernel lies from where its file has it.
 */
const char *kernel_file_with_lines(struct images *set, const struct image *img,
				   uint64_t *moved);
int vmlinux_load(struct images *set, struct image *img, const char *path,
		 uint64_t *stext);
int ko_load(struct image *img, const char *path);
/* For each section of a module's text: its number, header and place. */
typedef void ko_section_fn(size_t index, const GElf_Shdr *sh, uint64_t at,
			   void *arg);
uint64_t ko_layout(Elf *elf, ko_section_fn *fn, void *arg);
void kernel_files_free(struct kernel_files *k);

/* And what has been added to its map since the last time. */
void jit_load(struct images *set, struct image *img);
/* A process has mapped this file; if it is a jit-PID.dump it is read instead of a map. */
void jit_note_dump(struct images *set, int32_t pid, const char *path);
/* Another program of that number: it has mapped none. */
void jit_forget_dump(struct images *set, int32_t pid);
void jit_dumps_free(struct jit_dumps *d);
/* jitdump.c: records from img->read on. false: it is no jitdump of this machine. */
bool jitdump_read(struct image *img, FILE *f, bool demangle, bool *more);

/* ---- lines.c ------------------------------------------------------------- */

struct place {
	const char *name;		/* of the inlined function, as linked */
	const char *file;		/* NULL: not known */
	unsigned int line;
};

#define PLACES_MAX	64		/* functions inlined into each other */

bool lines_find(struct images *set, struct image *img, uint64_t addr,
		struct place *at);
/*
 * How many functions are inlined into each other at addr. at[0] is where the
 * function itself stands, at[1] the outermost inlined one, at[n] the innermost.
 */
uint32_t lines_inlined(struct images *set, struct image *img, uint64_t addr,
		       struct place *at, uint32_t max);
void lines_close(struct image *img);

/* ---- clock.c ------------------------------------------------------------- */

struct log_clock {
	uint64_t tick0, mono0, real0;	/* the log's, and the two of Linux, at once */
	double ns_per_tick, at_boot;	/* measured by readings of both; by the kernel */
};

void clock_begin(struct log_clock *c, const struct hwpmc_log_initialize *r);
void clock_again(struct log_clock *c, const struct hwpmc_log_clock *r);
/* Notes when a log began and ended, by its last tick. */
void clock_bound(const struct log_clock *c, uint64_t end, struct images *set);
/* Since tick0. */
int64_t clock_ns(const struct log_clock *c, uint64_t tick);

/* ---- model.c ------------------------------------------------------------- */

/* Times from which something else lies where something lay (eras.c). */
struct eras {
	uint64_t *at;
	uint32_t n;
};

/* What a process has mapped, from an exec (or its fork) to the next. */
struct space {
	int32_t pid;
	uint64_t from;
	struct maps maps;
	/* CLONE_VM: the space whose mappings these are; NULL: its own. */
	struct space *memory;
	uint32_t sharers;		/* spaces that have this one's mappings */
	bool dropped;			/* no process has it: the last sharer frees it */
	uint32_t serial;
	const char *comm, *path;
	struct eras eras;
	const char *former_comm;	/* before the latest change, or NULL */
	struct space *next;		/* later */
};

/* The one that has the mappings. */
static inline struct space *space_memory(struct space *s)
{
	return s->memory ? s->memory : s;
}

struct process {
	int32_t pid;
	uint32_t nspace;
	struct space **space;		/* by time */
	uint64_t ended;			/* when, 0: it lives, as far as is known */
};

/* ---- names.c ------------------------------------------------------------- */

struct thread_name {
	uint64_t from;
	const char *comm;		/* NULL: that of its process */
	int32_t pid;			/* its process then */
	bool created;			/* it is new: had no other name before */
};

struct named_thread {
	int32_t tid;
	uint32_t n;
	struct thread_name *name;	/* by time */
	uint64_t ended;			/* when, 0: it lives, as far as is known */
};

struct thread_names {
	struct named_thread *thread;
	struct table table;		/* entries by tid */
};

void names_add(struct thread_names *set, int32_t tid, const struct thread_name *name);
/* The name of a thread; NULL: that of its process. *from and *until are narrowed to the time
 * that it has this name. */
const char *names_at(const struct thread_names *set, int32_t pid, int32_t tid,
		     uint64_t time, uint64_t *from, uint64_t *until);
/* The same of a thread of any process, at one time; NULL: it has none. */
const char *names_of_thread(const struct thread_names *set, int32_t tid, uint64_t time);
void names_end(struct thread_names *set, int32_t tid, uint64_t time);
/* Threads that ended before, and names that were replaced before. */
void names_forget(struct thread_names *set, uint64_t before,
		  bool (*lives)(void *arg, int32_t pid), void *arg);
void names_free(struct thread_names *set);

/* ---- model.c ------------------------------------------------------------- */

struct model {
	struct images images;
	struct stat_strings strings;		/* names and paths of processes */
	struct thread_names names;
	/* Where there was no memory for another. */
	struct space nowhere;
	struct space *nowhere_list;	/* with it alone */
	struct process nobody;
	struct process **process;
	uint32_t nprocess;
	struct table table;		/* of them, by pid */
	struct process *cached;
	uint32_t nspace;
	struct maps kernel;		/* its text, and modules */
	struct eras kernel_eras;
	uint64_t forgot;		/* the time that forget.c was called with */
	uint32_t round;			/* calls of forget.c */
};

int model_init(struct model *m, const struct hwpmc_symbol_options *o);
void model_free(struct model *m);
/* A record that changes what is where; in the order of their time. */
void model_apply(struct model *m, const struct hwpmc_record *r);
bool model_wants(uint8_t type);
/*
 * The name of a thread at a time, which is its process's where the log has no other, or
 * "[idle]", "[unknown]". *from and *until are narrowed to the time that it has this name.
 */
const char *model_comm(const struct model *m, const struct space *space, int32_t pid,
		       int32_t tid, uint64_t time, uint64_t *from, uint64_t *until);
/* The name of the process. */
const char *model_process(const struct space *space, int32_t pid);
/* A process or a thread is gone; of no matter but to model_forget(). */
void model_exit(struct model *m, const struct hwpmc_log_task *r);
/* After .process has changed otherwise than by a record. */
void model_index(struct model *m);
bool model_has(struct model *m, int32_t pid);
void space_free(struct space *s);
void process_free(struct process *p);
struct space *model_space(struct model *m, int32_t pid, uint64_t time);
/*
 * For how long about `time` each address of the space (and of the kernel) means one
 * thing; a number that is another for each such time.
 */
uint32_t model_era(const struct model *m, const struct space *space,
		   uint64_t time, uint64_t *from, uint64_t *until);
/* Where a caller is looked for: the call, not what comes after it; a mark stays. */
static inline uint64_t caller_pc(uint64_t pc)
{
	return pc >= HWPMC_PC_END(15) ? pc : pc - 1;
}

/* Where an address lies; image->unknown and *addr = pc where that is not known. */
struct image *model_find(struct model *m, struct space *space, bool kernel,
			 uint64_t pc, uint64_t time, uint64_t *addr);

/* ---- eras.c -------------------------------------------------------------- */

/* `new` is about to be added to the mappings. */
void eras_note(struct eras *e, const struct maps *maps, const struct map *new);
/* How many began by then; *from and *until are narrowed to the era. */
uint32_t eras_at(const struct eras *e, uint64_t time, uint64_t *from,
		 uint64_t *until);
void eras_forget(struct eras *e, uint64_t before);
void eras_free(struct eras *e);

/* ---- forget.c ------------------------------------------------------------ */

/* What had ended before the call before. now: of the latest record. */
void model_forget(struct model *m, uint64_t now);

/* ---- spool.c ------------------------------------------------------------- */

/* A descriptor, or -1 and errno; *dir: the directory that it is, or was to be, in. */
int spool_open(const char **dir);
int spool_write(int fd, const void *data, size_t len);

/* ---- frames.c ------------------------------------------------------------ */

/* A frame; the first field is the part that programs see: of profiles, or of lookups. */
struct spot {
	union {
		struct hwpmc_frame frame;
		struct hwpmc_place pub;
	};
	struct spot *inner;		/* inlined there, innermost first */
	uint32_t ninner;
	uint32_t generation;		/* of the image's symbols */
	bool placed;			/* its line was asked for */
	struct place place;
};

/* Within an era of its process an address means one thing. */
struct spot_memo {
	uint64_t pc;
	const struct space *space;
	uint64_t where;			/* era, kernel, caller */
	struct spot *spot;		/* NULL: none */
};

/* A place has one memo: processes and programs seldom take turns there. */
#define SPOT_FACTOR	0x9e3779b97f4a7c15ull
#define SPOT_BITS	13

struct frames {
	struct spot **spot;
	struct table table;		/* of them, by their frames */
	struct spot_memo *memo;		/* places that came last; NULL: not now */
	struct spot nowhere;		/* where there was no memory for another */
};

struct spot *frames_get(struct frames *set, struct model *m,
			struct space *space, uint64_t time, uint64_t pc,
			bool kernel, bool caller);
/* The same, kept for frames_get_again(). */
struct spot *frames_get_first(struct frames *set, struct model *m, struct space *space,
			      uint64_t where, uint64_t time, uint64_t pc);
/* Before many are looked for; until the end nothing is mapped. */
void frames_begin(struct frames *set);
void frames_end(struct frames *set);
void frames_free(struct frames *set);

static inline uint64_t spot_where(uint32_t era, bool kernel, bool caller)
{
	return (uint64_t)era << 2 | kernel << 1 | caller;
}

/* An address that the sample's era has: most come again. */
static inline struct spot *frames_get_again(struct frames *set, struct model *m,
					    struct space *space, uint64_t where,
					    uint64_t time, uint64_t pc)
{
	const struct spot_memo *memo = &set->memo[pc * SPOT_FACTOR >> (64 - SPOT_BITS)];

	if (set->memo && memo->pc == pc && memo->space == space && memo->where == where &&
	    memo->spot &&
	    memo->spot->generation == ((struct image *)memo->spot->frame.image)->generation)
		return memo->spot;
	return frames_get_first(set, m, space, where, time, pc);
}
int frame_line(struct images *images, const struct hwpmc_frame *frame,
	       const char **file, unsigned int *line);
int image_line(struct images *images, const struct hwpmc_image *image,
	       uint64_t addr, const char **file, unsigned int *line);

#endif /* HWPMC_LIB_STAT_H */
