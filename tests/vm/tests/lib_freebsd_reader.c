/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_freebsd_reader.c - a reader of logs as FreeBSD's tools are: a list of PMCs that
 * ALLOCATE events fill, processes with maps that exec, map-in and fork events fill, ELF
 * images whose first executable section's address and symbols place them. It depends on
 * what those depend on: what an event names was said before, and addresses are load bases.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmc.h>
#include <pmclog.h>

#include "harness.h"
#include "../lib/lib_machine.h"

#define PROGS		"build/vm/progs/"
#define PERIOD		20000
#define IMAGES		64
#define PMCS		16
#define PROCESSES	8192
#define MAPS		64
#define FUNCTIONS	6

/* ---- images --------------------------------------------------------------- */

struct image {
	char path[PATH_MAX];
	bool is_elf;
	uintptr_t start, end;		/* of its executable sections */
	uintptr_t vaddr;
	const char *bytes;
	const Elf64_Sym *symbol[2];
	const char *names[2];
	size_t nsymbol[2];
};

static struct image images[IMAGES];
static unsigned int nimage;

/* As FreeBSD's reader: where a program at a fixed address has its code, if that begins
 * the file; 0 of all that moves. */
static uintptr_t address_of(const Elf64_Ehdr *eh)
{
	const Elf64_Phdr *ph = (const void *)((const char *)eh + eh->e_phoff);
	uintptr_t vaddr = 0;

	for (int i = 0; eh->e_type == ET_EXEC && i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X &&
		    !(ph[i].p_offset & -ph[i].p_align))
			vaddr = ph[i].p_vaddr & -ph[i].p_align;
	return vaddr;
}

static void look_at_section(struct image *im, const Elf64_Shdr *all, const Elf64_Shdr *sh)
{
	int kind = sh->sh_type == SHT_DYNSYM;

	if (sh->sh_flags & SHF_EXECINSTR) {
		if (sh->sh_addr < im->start)
			im->start = sh->sh_addr;
		if (sh->sh_addr + sh->sh_size > im->end)
			im->end = sh->sh_addr + sh->sh_size;
	}
	if (sh->sh_type != SHT_SYMTAB && sh->sh_type != SHT_DYNSYM)
		return;
	im->symbol[kind] = (const void *)(im->bytes + sh->sh_offset);
	im->nsymbol[kind] = sh->sh_size / sizeof(Elf64_Sym);
	im->names[kind] = im->bytes + all[sh->sh_link].sh_offset;
}

static void image_load(struct image *im)
{
	int fd = open(im->path, O_RDONLY);
	const Elf64_Ehdr *eh;
	const Elf64_Shdr *sh;
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) || (size_t)st.st_size < sizeof(*eh))
		goto out;
	im->bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (im->bytes == MAP_FAILED || memcmp(im->bytes, ELFMAG, SELFMAG))
		goto out;
	eh = (const void *)im->bytes;
	sh = (const void *)(im->bytes + eh->e_shoff);
	im->start = ~(uintptr_t)0;
	for (int i = 0; i < eh->e_shnum; i++)
		look_at_section(im, sh, &sh[i]);
	im->vaddr = address_of(eh);
	im->is_elf = im->start < im->end;
out:
	close(fd);
}

static struct image *image_of(const char *path)
{
	for (unsigned int i = 0; i < nimage; i++)
		if (!strcmp(images[i].path, path))
			return &images[i];
	ck_assert_uint_lt(nimage, IMAGES);
	strcpy(images[nimage].path, path);
	image_load(&images[nimage]);
	return &images[nimage++];
}

static const char *function_at(const struct image *im, uintptr_t addr)
{
	for (int kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < im->nsymbol[kind]; i++) {
			const Elf64_Sym *s = &im->symbol[kind][i];

			if (ELF64_ST_TYPE(s->st_info) == STT_FUNC &&
			    addr - s->st_value < s->st_size)
				return im->names[kind] + s->st_name;
		}
	return NULL;
}

/* ---- processes ------------------------------------------------------------ */

struct map {
	uintptr_t low, high, shift;
	struct image *image;
};

struct process {
	pid_t pid;
	unsigned int nmap;
	struct map map[MAPS];
};

static struct reader {
	pmc_id_t pmc[PMCS];
	char name[PMC_NAME_MAX];	/* of the first */
	unsigned int npmc, nprocess;
	unsigned int samples, kernel, placed, unplaced, unknown_pmcs, unknown_processes;
	unsigned int cpus;		/* a bit for each that samples are of */
	unsigned int backwards;
	uint64_t time;
	struct { char name[64]; unsigned int samples; } function[FUNCTIONS];
	struct pmclog_ev_procexec exec;	/* the last */
	uintptr_t program, interpreter;	/* where map-in events place those */
} in;
static struct process processes[PROCESSES];

static struct process *process_of(pid_t pid, bool make)
{
	for (unsigned int i = 0; i < in.nprocess; i++)
		if (processes[i].pid == pid)
			return &processes[i];
	if (!make)
		return NULL;
	ck_assert_uint_lt(in.nprocess, PROCESSES);
	processes[in.nprocess].pid = pid;
	processes[in.nprocess].nmap = 0;
	return &processes[in.nprocess++];
}

static void link_image(struct process *p, const char *path, uintptr_t start, bool exec)
{
	struct image *im = image_of(path);
	uintptr_t shift;

	if (!im->is_elf)
		return;
	if (exec)
		start += im->vaddr;
	shift = start - im->vaddr;
	ck_assert_uint_lt(p->nmap, MAPS);
	p->map[p->nmap++] = (struct map){
		im->start + shift, im->end + shift, shift, im,
	};
}

static void count_function(const char *name)
{
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		if (!in.function[i].samples)
			snprintf(in.function[i].name, sizeof(in.function[i].name),
				 "%s", name);
		if (!strcmp(in.function[i].name, name)) {
			in.function[i].samples++;
			return;
		}
	}
}

static void place_sample(const struct process *p, uintptr_t pc)
{
	const char *name = NULL;

	for (unsigned int i = p->nmap; i-- && !name; )
		if (pc >= p->map[i].low && pc < p->map[i].high)
			name = function_at(p->map[i].image, pc - p->map[i].shift);
	if (name)
		count_function(name);
	in.placed += name != NULL;
	in.unplaced += !name;
}

static void see_sample(const struct pmclog_ev_callchain *cc)
{
	const struct process *p = process_of(cc->pl_pid, false);
	bool known = false;

	in.samples++;
	in.cpus |= 1u << PMC_CALLCHAIN_CPUFLAGS_TO_CPU(cc->pl_cpuflags);
	for (unsigned int i = 0; i < in.npmc; i++)
		known |= in.pmc[i] == cc->pl_pmcid;
	in.unknown_pmcs += !known;
	/* The idle task is no process. */
	in.unknown_processes += !p && cc->pl_pid;
	if (!PMC_CALLCHAIN_CPUFLAGS_TO_USERMODE(cc->pl_cpuflags))
		in.kernel++;
	else if (p)
		place_sample(p, cc->pl_pc[0]);
}

static void see_exec(const struct pmclog_ev_procexec *x)
{
	struct process *p = process_of(x->pl_pid, true);

	p->nmap = 0;
	in.exec = *x;
	link_image(p, x->pl_pathname, x->pl_dynaddr, true);
}

static void see_fork(const struct pmclog_ev_procfork *f)
{
	struct process *child = process_of(f->pl_newpid, true);
	const struct process *parent = process_of(f->pl_oldpid, false);

	child->nmap = 0;
	if (!parent)
		return;
	memcpy(child->map, parent->map, sizeof(child->map));
	child->nmap = parent->nmap;
}

static void see_map(const struct pmclog_ev_map_in *m)
{
	if (m->pl_pid == -1)
		return;
	if (!strcmp(m->pl_pathname, in.exec.pl_pathname))
		in.program = m->pl_start;
	if (strstr(m->pl_pathname, "/ld-"))
		in.interpreter = m->pl_start;
	link_image(process_of(m->pl_pid, true), m->pl_pathname, m->pl_start, false);
}

static void see(const struct pmclog_ev *ev)
{
	in.backwards += ev->pl_tsc < in.time;
	in.time = ev->pl_tsc;
	switch (ev->pl_type) {
	case PMCLOG_TYPE_PMCALLOCATE:
		ck_assert_uint_lt(in.npmc, PMCS);
		if (!in.npmc)
			strcpy(in.name, ev->pl_u.pl_a.pl_evname);
		in.pmc[in.npmc++] = ev->pl_u.pl_a.pl_pmcid;
		break;
	case PMCLOG_TYPE_PMCATTACH:
		process_of(ev->pl_u.pl_t.pl_pid, true);
		break;
	case PMCLOG_TYPE_PROCEXEC:
		see_exec(&ev->pl_u.pl_x);
		break;
	case PMCLOG_TYPE_PROCFORK:
		see_fork(&ev->pl_u.pl_f);
		break;
	case PMCLOG_TYPE_PROC_CREATE:
		process_of(ev->pl_u.pl_pc.pl_pid, true);
		break;
	case PMCLOG_TYPE_MAP_IN:
		see_map(&ev->pl_u.pl_mi);
		break;
	case PMCLOG_TYPE_CALLCHAIN:
		see_sample(&ev->pl_u.pl_cc);
		break;
	default:
		break;
	}
}

static void read_log(int fd)
{
	void *cookie = pmclog_open(fd);
	struct pmclog_ev ev;

	memset(&in, 0, sizeof(in));
	nimage = 0;
	while (pmclog_read(cookie, &ev) == 0)
		see(&ev);
	ck_assert_msg(ev.pl_state == PMCLOG_EOF, "%s", pmclog_error(cookie));
	pmclog_close(cookie);
}

/* ---- what is read --------------------------------------------------------- */

static int log_fd, read_fd;

static void setup(void)
{
	char path[] = "/tmp/lib_freebsd_reader.XXXXXX";

	log_fd = mkstemp(path);
	read_fd = open(path, O_RDONLY);
	unlink(path);
	ck_assert_int_ge(log_fd, 0);
	ck_assert_int_ge(read_fd, 0);
	ck_assert_msg(pmc_init() == 0, "%s", pmc_error());
	ck_assert_msg(pmc_configure_logfile(log_fd) == 0, "%s", pmc_error());
}

/* A child that executes the command when its pipe is closed. */
static pid_t child_of(char *const argv[], int *go)
{
	int fds[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) == 0)
			execv(argv[0], argv);
		_exit(1);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

static void sample_command(char *const argv[])
{
	int go, status;
	pmc_id_t id;
	pid_t pid;

	pid = child_of(argv, &go);
	ck_assert_msg(pmc_allocate("instructions,usr", PMC_MODE_TS, PMC_F_DESCENDANTS,
				   PMC_CPU_ANY, &id, PERIOD) == 0, "%s", pmc_error());
	ck_assert_msg(pmc_attach(id, pid) == 0, "%s", pmc_error());
	ck_assert_msg(pmc_start(id) == 0, "%s", pmc_error());
	close(go);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_msg(pmc_flush_logfile() == 0, "%s", pmc_error());
	ck_assert_int_eq(pmc_release(id), 0);
	read_log(read_fd);
}

static unsigned int samples_of(const char *name)
{
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		if (!strcmp(in.function[i].name, name))
			return in.function[i].samples;
	return 0;
}

/* Shares of 60, 30 and 10 percent, and nearly all samples have a function. */
static void expect_three(const char *a, const char *b, const char *c)
{
	unsigned int sum = samples_of(a) + samples_of(b) + samples_of(c);

	printf("# %u samples, %u placed, %u not; %s %u, %s %u, %s %u\n", in.samples,
	       in.placed, in.unplaced, a, samples_of(a), b, samples_of(b), c,
	       samples_of(c));
	ck_assert_uint_ge(sum, 200);
	ck_assert_uint_ge(sum * 100, 90 * in.samples);
	ck_assert_uint_le(in.unplaced * 100, 3 * in.samples);
	ck_assert_uint_le(abs((int)(samples_of(a) * 100 / sum) - 60), 12);
	ck_assert_uint_le(abs((int)(samples_of(c) * 100 / sum) - 10), 8);
	ck_assert_uint_eq(in.unknown_pmcs, 0);
	ck_assert_uint_eq(in.unknown_processes, 0);
	ck_assert_uint_eq(in.backwards, 0);
}

START_TEST(freebsd_reader_places_a_program_that_moves)
{
	sample_command((char *[]){ PROGS "hot", "-n", "2000", NULL });
	expect_three("hot_sixty", "hot_thirty", "hot_ten");
	ck_assert_str_eq(in.name, "instructions");
	/* Both events that tell where it is say the same. */
	ck_assert_uint_ne(in.program, 0);
	ck_assert_uint_eq(in.exec.pl_dynaddr, in.program);
	ck_assert_uint_ne(in.interpreter, 0);
	ck_assert_uint_eq(in.exec.pl_baseaddr, in.interpreter);
	/* It begins in the interpreter, at the entry that the file of that has. */
	ck_assert_uint_eq(in.exec.pl_entryaddr - in.interpreter,
			  ((const Elf64_Ehdr *)image_of("/usr/lib/x86_64-linux-gnu/"
				"ld-linux-x86-64.so.2")->bytes)->e_entry);
}
END_TEST

START_TEST(freebsd_reader_places_shared_libraries)
{
	sample_command((char *[]){ PROGS "hot-lib", "-l", "2000", NULL });
	expect_three("lib_sixty", "lib_thirty", "lib_ten");
}
END_TEST

START_TEST(freebsd_reader_places_what_forked_children_run)
{
	sample_command((char *[]){ PROGS "hot", "-f", "2000", NULL });
	expect_three("hot_sixty", "hot_thirty", "hot_ten");
}
END_TEST

START_TEST(freebsd_reader_places_a_program_at_a_fixed_address)
{
	sample_command((char *[]){ PROGS "hot3", NULL });
	printf("# %u samples, %u placed, %u not\n", in.samples, in.placed, in.unplaced);
	ck_assert_uint_ge(in.placed * 100, 90 * in.samples);
	ck_assert_uint_eq(in.exec.pl_dynaddr, 0);
	ck_assert_uint_eq(in.exec.pl_baseaddr, 0);
	ck_assert_uint_ge(in.exec.pl_entryaddr, 0x401000);
	ck_assert_uint_eq(in.program, 0);
}
END_TEST

/* Attached to while it runs, it has no exec event. */
START_TEST(freebsd_reader_places_a_program_that_ran_before)
{
	char *argv[] = { PROGS "hot", "-n", "100000000", NULL };
	int go;
	pid_t pid = child_of(argv, &go);
	struct pmclog_ev ev;
	pmc_id_t id;
	void *cookie;

	close(go);
	usleep(300000);
	ck_assert_int_eq(pmc_allocate("instructions,usr", PMC_MODE_TS, 0, PMC_CPU_ANY,
				      &id, PERIOD), 0);
	ck_assert_msg(pmc_attach(id, pid) == 0, "%s", pmc_error());
	ck_assert_msg(pmc_start(id) == 0, "%s", pmc_error());
	usleep(300000);
	ck_assert_int_eq(pmc_stop(id), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(pmc_flush_logfile(), 0);
	ck_assert_int_eq(pmc_release(id), 0);
	memset(&in, 0, sizeof(in));
	cookie = pmclog_open(read_fd);
	while (pmclog_read(cookie, &ev) == 0)
		see(&ev);
	pmclog_close(cookie);
	printf("# %u samples, %u placed, %u not\n", in.samples, in.placed, in.unplaced);
	ck_assert_uint_ge(in.samples, 20);
	ck_assert_uint_ge(in.placed * 100, 95 * in.samples);
}
END_TEST

/*
 * Both CPUs sample a machine whose processes come and go: each sample's PMC was told of,
 * and its process, and time does not run backwards, although the rings of the CPUs are
 * written one after the other many times.
 */
START_TEST(freebsd_reader_is_told_of_what_samples_name_before_them)
{
	pmc_id_t id[2];

	for (int cpu = 0; cpu < 2; cpu++)
		ck_assert_msg(pmc_allocate("instructions", PMC_MODE_SS, 0, cpu, &id[cpu],
					   PERIOD) == 0, "%s", pmc_error());
	/* The second begins while the first already samples. */
	for (int cpu = 1; cpu >= 0; cpu--)
		ck_assert_msg(pmc_start(id[cpu]) == 0, "%s", pmc_error());
	ck_assert_int_eq(system("for i in 1 2 3 4 5 6 7 8; do "
				"/bin/true & /bin/sh -c 'exec " PROGS "hot -n 50' & "
				"wait; sleep 0.05; done"), 0);
	for (int cpu = 0; cpu < 2; cpu++)
		ck_assert_int_eq(pmc_stop(id[cpu]), 0);
	ck_assert_msg(pmc_close_logfile() == 0, "%s", pmc_error());
	ck_assert_msg(pmc_flush_logfile() == 0, "%s", pmc_error());
	read_log(read_fd);
	printf("# %u samples, %u in the kernel, %u placed, %u not; %u without a PMC, %u "
	       "without a process, %u times backwards\n", in.samples, in.kernel, in.placed,
	       in.unplaced, in.unknown_pmcs, in.unknown_processes, in.backwards);
	ck_assert_uint_ge(in.samples, 200);
	ck_assert_uint_eq(in.cpus, 3);
	ck_assert_uint_eq(in.unknown_pmcs, 0);
	ck_assert_uint_eq(in.unknown_processes, 0);
	ck_assert_uint_eq(in.backwards, 0);
}
END_TEST

int main(void)
{
	lib_load_module(LIB_NO_SELFCOST);
	harness_fixture(setup, NULL);
	harness_add(freebsd_reader_places_a_program_that_moves);
	harness_add(freebsd_reader_places_shared_libraries);
	harness_add(freebsd_reader_places_what_forked_children_run);
	harness_add(freebsd_reader_places_a_program_at_a_fixed_address);
	harness_add(freebsd_reader_places_a_program_that_ran_before);
	harness_add(freebsd_reader_is_told_of_what_samples_name_before_them);
	return harness_run();
}
