/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_same.c - the module's walk by unwind tables against libdwfl's, at the same stops
 * of programs as they are installed: stopped by ptrace at moments of chance, and then
 * stepped instruction by instruction, through prologues, epilogues, and linkage tables.
 */
#include <dirent.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "harness.h"

/* ---- the walk over another process --------------------------------------- */

#include "sampling/unwind_table.h"

static pid_t child;

static inline bool unwind_read_nmi(u64 at, u64 *value)
{
	struct iovec mine = { value, sizeof(*value) };
	struct iovec theirs = { (void *)at, sizeof(*value) };

	return process_vm_readv(child, &mine, 1, &theirs, 1, 0) == sizeof(*value);
}

static inline u64 unwind_reg_nmi(const void *regs, unsigned int nr)
{
	const struct user_regs_struct *r = regs;
	const u64 by_number[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp,
				  r->rsp, r->r8, r->r9, r->r10, r->r11, r->r12, r->r13,
				  r->r14, r->r15 };

	return by_number[nr];
}

#define TABLES	256

struct tables {
	struct hwpmc_unwind source[TABLES];
	struct hwpmc_unwind_table table[TABLES];
	bool made[TABLES];
	unsigned int n;
};

static inline const struct hwpmc_unwind_table *
unwind_table_nmi(const void *tables, const struct hwpmc_unwind_map *map)
{
	const struct tables *t = tables;
	unsigned int i;

	if (map->file.kind == UNWIND_FILE_NONE)
		return NULL;
	for (i = 0; i < t->n; i++)
		if (t->source[i].vdso ? map->file.kind == UNWIND_FILE_VDSO :
		    t->source[i].inode == map->file.inode &&
		    makedev(t->source[i].major, t->source[i].minor) == map->file.dev)
			return t->made[i] ? &t->table[i] : NULL;
	return NULL;
}

#include "sampling/unwind_walk.h"

/* ---- tables and mappings ------------------------------------------------- */

static struct tables tables;

static void add_table(const char *path, const struct hwpmc_unwind_file *file)
{
	unsigned int n = tables.n;
	u32 *page;
	int fd;

	ck_assert_int_lt(n, TABLES);
	if (file->kind == UNWIND_FILE_VDSO) {
		tables.made[n] = !hwpmc_unwind_read_vdso(&tables.source[n]);
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		tables.made[n] = !hwpmc_unwind_read(fd, &tables.source[n]);
		close(fd);
	}
	tables.n++;
	if (!tables.made[n])
		return;
	ck_assert_uint_eq(hwpmc_unwind_check(tables.source[n].row,
					     tables.source[n].nrow),
			  tables.source[n].nrow);
	page = malloc(hwpmc_unwind_pages(tables.source[n].row, tables.source[n].nrow) *
		      sizeof(*page));
	hwpmc_unwind_index(&tables.table[n], tables.source[n].row, tables.source[n].nrow,
			   page);
}

static bool has_table(const struct hwpmc_unwind_map *map)
{
	unsigned int i;

	for (i = 0; i < tables.n; i++)
		if (tables.source[i].vdso ? map->file.kind == UNWIND_FILE_VDSO :
		    tables.source[i].inode == map->file.inode)
			return true;
	return false;
}

static unsigned int read_maps(struct hwpmc_unwind_map *map, unsigned int max)
{
	unsigned int n = 0, major, minor;
	unsigned long start, end, offset, inode;
	char path[64], line[4352], mode[8], name[4096];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", child);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (n < max && fgets(line, sizeof(line), f)) {
		struct hwpmc_unwind_map *m = &map[n];

		name[0] = '\0';
		sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %4095[^\n]", &start, &end, mode,
		       &offset, &major, &minor, &inode, name);
		if (mode[2] != 'x')
			continue;
		*m = (struct hwpmc_unwind_map){
			.start = start, .end = end, .shift = start - offset,
		};
		if (!strcmp(name, "[vdso]"))
			m->file.kind = UNWIND_FILE_VDSO;
		else if (inode)
			m->file.kind = UNWIND_FILE_INODE;
		m->file.inode = inode;
		m->file.dev = makedev(major, minor);
		if (m->file.kind && !has_table(m))
			add_table(name, &m->file);
		n++;
	}
	fclose(f);
	return n;
}

/* ---- one stop ------------------------------------------------------------ */

#define DEPTH	256

struct chain {
	u64 pc[DEPTH];
	unsigned int n;
};

static int add_frame(Dwfl_Frame *frame, void *arg)
{
	struct chain *c = arg;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL) || c->n == DEPTH)
		return DWARF_CB_ABORT;
	c->pc[c->n++] = pc;
	return DWARF_CB_OK;
}

static char *no_debug;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &no_debug,
};

static Dwfl *dwfl_of_child(void)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);

	ck_assert_ptr_nonnull(dwfl);
	dwfl_linux_proc_report(dwfl, child);
	dwfl_report_end(dwfl, NULL, NULL);
	ck_assert_int_ge(dwfl_linux_proc_attach(dwfl, child, true), 0);
	return dwfl;
}

/* A number for the mappings, another one after each change of them. */
static u64 tag_of(const struct hwpmc_unwind_map *map, unsigned int nmap)
{
	static struct hwpmc_unwind_map last[256];
	static unsigned int nlast;
	static pid_t last_child;
	static u64 tag = 1;

	if (nmap != nlast || child != last_child || memcmp(last, map, nmap * sizeof(*map)))
		tag++;
	memcpy(last, map, nmap * sizeof(*map));
	nlast = nmap;
	last_child = child;
	return tag;
}

/* By what is remembered of the stops before, the chain must be the same. */
static void walk_again(struct hwpmc_unwind_walk w, const struct chain *c, unsigned int end)
{
	static struct hwpmc_unwind_memo memo[UNWIND_MEMO_SIZE];
	static struct hwpmc_unwind_past past;
	struct chain again;
	unsigned int other;

	w.memo = memo;
	w.past = &past;
	w.tag = tag_of(w.map, w.nmap);
	again.n = unwind_walk_nmi(&w, again.pc, DEPTH, &other);
	ck_assert_uint_eq(other, end);
	ck_assert_uint_eq(again.n, c->n);
	ck_assert_mem_eq(again.pc, c->pc, 8 * c->n);
}

static unsigned int walk(struct chain *c, const struct hwpmc_unwind_map *map,
			 unsigned int nmap)
{
	struct hwpmc_unwind_walk w, fresh;
	struct user_regs_struct r;
	unsigned int end;

	ck_assert_int_eq(ptrace(PTRACE_GETREGS, child, 0, &r), 0);
	w = (struct hwpmc_unwind_walk){
		.ip = r.rip, .sp = r.rsp, .bp = r.rbp, .first = true, .regs = &r,
		.map = map, .nmap = nmap, .tables = &tables,
	};
	fresh = w;
	c->n = unwind_walk_nmi(&w, c->pc, DEPTH, &end);
	walk_again(fresh, c, end);
	return end;
}

struct score {
	unsigned int stops, same, frames, complete, programs;
};

/* Frames by the kind of their rule, and those in the vdso, of all programs. */
static unsigned int kinds[HWPMC_UNWIND_OTHER + 1], in_vdso;

static void count_kinds(const struct chain *c, const struct hwpmc_unwind_map *map,
			unsigned int nmap)
{
	const struct hwpmc_unwind_walk w = { .map = map, .nmap = nmap, .tables = &tables };
	const struct hwpmc_unwind_map *m;
	u32 rule;

	for (unsigned int i = 0; i < c->n; i++) {
		u64 at = c->pc[i] - !!i;

		m = unwind_find_map_nmi(map, nmap, at);
		in_vdso += m && m->file.kind == UNWIND_FILE_VDSO;
		/* What a signal has interrupted may be the first of a function. */
		if (unwind_look_up_nmi(&w, at, &rule) && rule != UNWIND_RULE_NO_TABLE &&
		    rule != UNWIND_RULE_NOT_READY)
			kinds[HWPMC_UNWIND_KIND(rule)]++;
	}
}

static void compare(struct score *s, Dwfl *dwfl, const struct hwpmc_unwind_map *map,
		    unsigned int nmap, const char *name)
{
	static const char *const ends[] = { "complete", "no mapping", "no table",
		"no rule", "fault", "broken", "depth" };
	struct chain ours = {}, theirs = {};
	unsigned int end, i;

	dwfl_getthread_frames(dwfl, child, add_frame, &theirs);
	end = walk(&ours, map, nmap);
	s->stops++;
	s->frames += ours.n;
	s->complete += end == HWPMC_CHAIN_COMPLETE;
	if (ours.n == theirs.n && !memcmp(ours.pc, theirs.pc, 8 * ours.n)) {
		s->same++;
		count_kinds(&ours, map, nmap);
		return;
	}
	for (i = 0; i < ours.n && i < theirs.n && ours.pc[i] == theirs.pc[i]; i++)
		;
	fprintf(stderr, "# %s: %u frames, libdwfl %u, %u equal; ends: %s; at 0x%llx\n",
		name, ours.n, theirs.n, i, ends[end],
		i ? (unsigned long long)ours.pc[i - 1] : 0);
}

/* ---- a program ----------------------------------------------------------- */

/* A signal that the child is stopped for, and gets when it goes on. */
static long deliver;

static bool stopped(void)
{
	int status;

	if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
		return false;
	if (!(status >> 16) && WSTOPSIG(status) != SIGTRAP)
		deliver = WSTOPSIG(status);
	return true;
}

static bool go_on(int how)
{
	long sig = deliver;

	deliver = 0;
	return !ptrace(how, child, 0, sig);
}

/* The newest thread: that which a program with one has begun. */
static pid_t newest_thread(pid_t pid)
{
	char path[64];
	struct dirent *e;
	pid_t newest = pid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir)) != NULL)
		if (atoi(e->d_name) > newest)
			newest = atoi(e->d_name);
	if (dir)
		closedir(dir);
	return newest;
}

static pid_t process;		/* that child is a thread of */

static void start(char *const argv[])
{
	child = fork();
	if (!child) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		/* The loader finds symbols below code whose frame is in rbx: there chains
		 * end, and say so. On a busy machine the first stop may be there. */
		setenv("LD_BIND_NOW", "1", 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	usleep(30000);
	process = child;
	if (argv[1] && !strcmp(argv[1], "thread"))
		while ((child = newest_thread(process)) == process)
			usleep(1000);
	if (ptrace(PTRACE_SEIZE, child, 0, 0))
		child = 0;
}

#define STOPS	12
#define STEPS	40

/* Stop it, compare, and step on from there. False: it has ended. */
static bool one_stop(struct score *s, const char *name)
{
	struct hwpmc_unwind_map map[256];
	unsigned int nmap, i;
	Dwfl *dwfl;

	usleep(1000 + rand() % 7000);
	if (ptrace(PTRACE_INTERRUPT, child, 0, 0) || !stopped())
		return false;
	nmap = read_maps(map, 256);
	dwfl = dwfl_of_child();
	compare(s, dwfl, map, nmap, name);
	for (i = 0; i < STEPS; i++) {
		if (!go_on(PTRACE_SINGLESTEP) || !stopped())
			break;
		compare(s, dwfl, map, nmap, name);
	}
	dwfl_end(dwfl);
	return i == STEPS && go_on(PTRACE_CONT);
}

static struct score total;

static void run(char *const argv[])
{
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	struct score s = {};
	unsigned int i;

	start(argv);
	if (!child)
		return;
	for (i = 0; i < STOPS && one_stop(&s, name); i++)
		;
	kill(process, SIGKILL);
	/* A thread that is traced ends before its process does. */
	if (child != process)
		waitpid(child, NULL, __WALL);
	waitpid(process, NULL, __WALL);
	deliver = 0;
	fprintf(stderr, "# %-8s %4u stops, %4u the same, %4u complete, %u frames\n", name,
		s.stops, s.same, s.complete, s.frames);
	total.programs += s.stops >= STEPS;
	total.stops += s.stops;
	total.same += s.same;
}

#define FOREVER		"1000000000000"
#define CC1PLUS		"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus"
#define RUN(...) run((char *const []){ __VA_ARGS__, NULL })

START_TEST(chains_of_installed_programs_are_those_of_libdwfl)
{
	srand(7);
	RUN("bash", "-c", "f() { [ $1 = 0 ] || f $(($1 - 1)); }; while :; do f 30; done");
	RUN("perl", "-e", "sub f { my $n = shift; return $n ? f($n - 1) + 1 : 0 } f(60) while 1");
	RUN("sh", "-c", "f() { : ${1%x}; }; while :; do f abcx; done");
	RUN("sort", "-R", "/usr/bin/perl", "/usr/bin/perl", "/usr/bin/perl", "/usr/bin/perl");
	RUN("awk", "BEGIN { while (1) { s = sprintf(\"%d %s\", n++, s); s = substr(s, 1, 99); gsub(/1/, \"2\", s) } }");
	RUN("sed", "-u", ":a;s/x/xx/;s/xxx/x/;ba", "/etc/passwd");
	RUN("python3", "-c", "import re\ndef f(n):\n return n and f(n - 1) + 1\nwhile 1:\n f(50); re.sub('a+', 'b', 'aaab' * 9)");
	RUN("xz", "-9", "-c", "/usr/bin/perl");
	RUN("gzip", "-9", "-c", "/usr/bin/perl", "/usr/bin/git", "/usr/bin/perl");
	RUN("tar", "-cJf", "/dev/zero", "/usr/share/perl");
	RUN("git", "hash-object", "/dev/zero");
	RUN("make", "-C", "/", "-f", "/dev/zero");
	RUN("grep", "-c", "-E", "(a|b)*c(d|e)*x{3}", "/usr/bin/perl", "/usr/bin/git");
	RUN("openssl", "speed", "-seconds", "20", "sha256");
	/* In Rust. */
	RUN("rg", "-a", "-c", "-j1", "(\\w\\W?){20}z$", CC1PLUS, CC1PLUS, CC1PLUS, CC1PLUS,
	    CC1PLUS, CC1PLUS, CC1PLUS, CC1PLUS);
	RUN(CC1PLUS, "-quiet", "-O3", "-o", "/dev/null",
	    "-include", "bits/stdc++.h", SOURCES "/throws.cc");
	/* Exceptions; and what these modes are is at the top of chains.c. */
	RUN(PROGS "/throws");
	RUN(PROGS "/chains", "recursion", FOREVER);
	RUN(PROGS "/chains", "qsort", FOREVER);
	RUN(PROGS "/chains", "signal", FOREVER);
	RUN(PROGS "/chains", "altstack", FOREVER);
	RUN(PROGS "/chains", "realigned", FOREVER);
	RUN(PROGS "/chains", "thread", FOREVER);
	RUN(PROGS "/chains", "again", FOREVER);
	RUN(PROGS "/chains", "clock", FOREVER);
	RUN(PROGS "/chains-static", "again", FOREVER);
	RUN(PROGS "/chains-static", "signal", FOREVER);
	fprintf(stderr, "# frames by rule: rsp %u, rbp %u, linkage table %u, signal %u, end %u, "
		"*rsp %u, other %u; in the vdso %u\n", kinds[HWPMC_UNWIND_SP],
		kinds[HWPMC_UNWIND_BP], kinds[HWPMC_UNWIND_PLT],
		kinds[HWPMC_UNWIND_SIGNAL], kinds[HWPMC_UNWIND_END],
		kinds[HWPMC_UNWIND_AT_SP], kinds[HWPMC_UNWIND_OTHER], in_vdso);
	ck_assert_uint_gt(kinds[HWPMC_UNWIND_SIGNAL], 0);
	ck_assert_uint_gt(kinds[HWPMC_UNWIND_OTHER], 0);
	ck_assert_uint_gt(in_vdso, 0);
	ck_assert_uint_gt(total.programs, 20);
	ck_assert_uint_gt(total.stops, 4000);
	ck_assert_msg(total.same * 1000 >= total.stops * 995, "%u of %u chains are the same",
		      total.same, total.stops);
}
END_TEST

int main(void)
{
	harness_add_timed(chains_of_installed_programs_are_those_of_libdwfl, 180);
	return harness_run();
}
