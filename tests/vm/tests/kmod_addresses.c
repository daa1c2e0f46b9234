// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_addresses.c - addresses of the kernel in samples, call chains and the kernel's
 * histogram, each compared with the functions of a module of the tests
 * (tests/vm/kmods/hotmod.c): set() calls work(), which calls mod_sixty(),
 * mod_thirty() and mod_ten(), and these only loop.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "harness.h"
#include "../lib/kmod_session.h"

#define HOTMOD	"/sys/kernel/debug/hotmod"
#define ROUNDS	2000
#define PERIOD	5003

/* The functions of hotmod, by rising address. */
static struct symbol {
	uint64_t begin, end;
	char name[32];
} symbols[64];
static unsigned int nsymbols;

static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void read_symbols(void)
{
	char line[256], type, module[64];
	FILE *f = fopen("/proc/kallsyms", "r");

	nsymbols = 0;
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) && nsymbols < 64) {
		struct symbol *s = &symbols[nsymbols];
		unsigned long long at;

		if (sscanf(line, "%llx %c %31s [%63[^]]]", &at, &type, s->name,
			   module) != 4 || strcmp(module, "hotmod") ||
		    (type != 't' && type != 'T'))
			continue;
		s->begin = at;
		nsymbols++;
	}
	fclose(f);
	ck_assert_uint_gt(nsymbols, 4);
	qsort(symbols, nsymbols, sizeof(symbols[0]), compare);
	for (unsigned int i = 0; i < nsymbols; i++)
		symbols[i].end = i + 1 < nsymbols ? symbols[i + 1].begin :
				 symbols[i].begin + 256;
}

/* "" where it is none of hotmod's. */
static const char *name_of(uint64_t pc)
{
	for (unsigned int i = 0; i < nsymbols; i++)
		if (pc >= symbols[i].begin && pc < symbols[i].end)
			return symbols[i].name;
	return "";
}

static bool is_hot(uint64_t pc)
{
	const char *name = name_of(pc);

	return !strcmp(name, "mod_sixty") || !strcmp(name, "mod_thirty") ||
	       !strcmp(name, "mod_ten");
}

static void load_hotmod(void)
{
	if (access(HOTMOD, F_OK))
		ck_assert_int_eq(system("insmod build/vm/kmods/$(uname -r)/hotmod.ko"), 0);
	read_symbols();
}

static void work(void)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", ROUNDS);
	dev_put(HOTMOD, text);
}

static uint64_t hot, wrong;
static uint64_t seen[64];
static unsigned int nseen;

static bool was_seen(uint64_t pc)
{
	for (unsigned int i = 0; i < nseen; i++)
		if (seen[i] == pc)
			return true;
	return false;
}

/* The caller must be work(), and its caller set(). */
static bool is_whole(const struct hwpmc_record *r)
{
	return r->npc > 3 && !strcmp(name_of(r->sample->pc[1]), "work") &&
	       !strcmp(name_of(r->sample->pc[2]), "set") &&
	       r->sample->pc[3] >= 0xffff800000000000ull &&
	       !*name_of(r->sample->pc[3]);
}

static void look_at_chain(const struct hwpmc_record *r)
{
	uint64_t pc;

	if (r->hdr->type != HWPMC_LOG_CALLCHAIN)
		return;
	pc = r->sample->pc[0];
	if (!is_hot(pc))
		return;
	hot++;
	if (!was_seen(pc) && nseen < 64)
		seen[nseen++] = pc;
	wrong += r->npc > 1 && !is_whole(r);
}

static void sample_work(uint32_t flags)
{
	struct session s;
	uint32_t id;

	hot = 0;
	wrong = 0;
	begin(&s, NONE, 0);
	s.look = look_at_chain;
	id = allocate(&s, "instructions:k", HWPMC_MODE_TS, flags, HWPMC_CPU_ANY, PERIOD);
	ok(&s, hwpmc_start(s.h, id));
	work();
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	check_conserved(&s);
	end(&s);
}

START_TEST(a_chain_of_the_kernel_has_each_caller_in_its_place)
{
	load_hotmod();
	sample_work(HWPMC_F_CALLCHAIN);
	ck_assert_uint_gt(hot, ROUNDS * 3000 / PERIOD * 9 / 10);
	/* An NMI at the very end of a function may find its frame gone. */
	ck_assert_uint_le(wrong, hot / 50);
	dev_still_counts();
}
END_TEST

START_TEST(the_histogram_has_the_addresses_that_samples_have)
{
	struct hwpmc_op_kgmon op = { .command = HWPMC_KGMON_RESET };
	struct hwpmc_op_pmcallocate req;
	struct hwpmc_kgmon_entry *all;
	uint64_t in_loops = 0, in_hot = 0;
	int fd = dev_open();

	load_hotmod();
	dev_pin(0, 0);
	sample_work(0);
	/* The begin of each loop. The emulated PMU interrupts between blocks, and what
	 * else a sample can meet depends on where its periods end. */
	ck_assert_uint_ge(nseen, 3);
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_KGMON, &op), 0);
	op.command = HWPMC_KGMON_ON;
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_KGMON, &op), 0);
	dev_request(&req, HWPMC_MODE_SS, HWPMC_F_KGMON, 0, INSN, K);
	req.count = PERIOD;
	dev_ok(dev_allocate(fd, &req));
	dev_ok(dev_start(fd, req.pmcid));
	work();
	dev_ok(dev_stop(fd, req.pmcid));
	op.command = HWPMC_KGMON_READ;
	op.nentry = 0;
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_KGMON, &op), 0);
	all = calloc(op.nentry, sizeof(*all));
	op.entries = (uintptr_t)all;
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_KGMON, &op), 0);
	for (uint32_t i = 0; i < op.nentry; i++) {
		in_hot += is_hot(all[i].address) ? all[i].count : 0;
		in_loops += was_seen(all[i].address) ? all[i].count : 0;
	}
	op.command = HWPMC_KGMON_OFF;
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_KGMON, &op), 0);
	/* Nearly all of what the functions do is in loops of three instructions. */
	ck_assert_uint_gt(in_hot, ROUNDS * 3000 / PERIOD * 9 / 10);
	ck_assert_uint_gt(in_loops, in_hot * 95 / 100);
	close(fd);
	dev_still_counts();
}
END_TEST

static void look_for_kernel(const struct hwpmc_record *r)
{
	if (r->hdr->type != HWPMC_LOG_CALLCHAIN)
		return;
	hot += !!(r->hdr->flags & HWPMC_SAMPLE_HIDDEN);
	for (uint32_t i = 0; i < r->npc; i++)
		wrong += r->sample->pc[i] >> 63 &&
			 r->sample->pc[i] != HWPMC_PC_HIDDEN &&
			 r->sample->pc[i] != HWPMC_PC_USER;
}

static void sample_reads(void *unused)
{
	int zero = open("/dev/zero", O_RDONLY);
	struct session s;
	char buf[4096];
	uint32_t id;

	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		_exit(2);
	begin(&s, NONE, 0);
	s.look = look_for_kernel;
	id = allocate(&s, "instructions", HWPMC_MODE_TS,
		      HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN, HWPMC_CPU_ANY, 5000);
	ok(&s, hwpmc_start(s.h, id));
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(read(zero, buf, sizeof(buf)), sizeof(buf));
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_gt(hot, 0);
	ck_assert_uint_eq(wrong, 0);
	end(&s);
}

START_TEST(no_frame_of_an_unprivileged_sample_is_an_address_of_the_kernel)
{
	struct child c = dev_child(sample_reads, NULL);

	dev_go(&c);
	dev_wait(&c);
}
END_TEST

/* ---- what a set-id program holds before it runs ---------------------------- */

#define SECRET	0x5ec2e75ec2e7ull	/* tests/vm/progs/secret.S */
#define SETID	"/tmp/secret.setid"

/* Where its data begin. */
static uint64_t data_of(const char *path)
{
	uint8_t page[4096];
	const Elf64_Ehdr *e = (const void *)page;
	const Elf64_Phdr *p = (const void *)(page + sizeof(*e));
	int fd = open(path, O_RDONLY);

	ck_assert_int_eq(read(fd, page, sizeof(page)), sizeof(page));
	close(fd);
	for (int i = 0; i < e->e_phnum; i++, p++)
		if (p->p_type == PT_LOAD && p->p_flags & PF_W)
			return p->p_vaddr;
	ck_abort_msg("%s has no data", path);
}

/* With a frame pointer into memory that is the program's, once the exec replaces it. */
static void exec_secret(void *data)
{
	static char *const argv[] = { (char *)SETID, NULL };
	long nr = SYS_execve;

	asm volatile("movq %4, %%rsp\n\tmovq %4, %%rbp\n\tsyscall\n\tud2"
		     : "+a" (nr) : "D" (SETID), "S" (argv), "d" (NULL), "r" (data)
		     : "rcx", "r11", "memory");
}

struct told { uint64_t samples, secrets, data; };

static struct told *told;	/* shared: the session is another process's */

static void look_for_secret(const struct hwpmc_record *r)
{
	if (r->hdr->type != HWPMC_LOG_CALLCHAIN)
		return;
	told->samples++;
	for (uint32_t i = 0; i < r->npc; i++)
		told->secrets += r->sample->pc[i] == SECRET;
}

static void sample_exec(struct session *s, uint32_t id)
{
	struct child c = dev_child(exec_secret, (void *)told->data);

	ok(s, hwpmc_attach(s->h, id, c.pid));
	ok(s, hwpmc_start(s->h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(s, hwpmc_stop(s->h, id));
}

/* The moment is some thousand instructions of the kernel's, of each exec. */
static void sample_execs(void *unused)
{
	struct session s;
	uint32_t id;

	told->samples = told->secrets = 0;
	begin_looking(&s, NONE, 0, look_for_secret);
	id = allocate(&s, "instructions", HWPMC_MODE_TS,
		      HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN, HWPMC_CPU_ANY, PERIOD);
	for (int i = 0; i < 50; i++) {
		sample_exec(&s, id);
		drain(&s);
	}
	finish(&s);
	end(&s);
}

/*
 * Its memory is there before its PMCs are taken away, while the registers at entry are
 * still those of the caller.
 */
START_TEST(no_frame_pointer_of_its_caller_is_followed_in_a_set_id_program)
{
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_int_eq(system("cp build/vm/progs/secret " SETID
				" && chmod 4755 " SETID), 0);
	told->data = data_of(SETID);
	/* Root may see it: there are samples in between. */
	sample_execs(NULL);
ck_assert_uint_gt(told->secrets, 0);
	set_tunable("unprivileged_kernel", 1);
	dev_as(65534, sample_execs, NULL);
	set_tunable("unprivileged_kernel", 0);
	fprintf(stderr, "%lu samples\n", (unsigned long)told->samples);
	ck_assert_uint_gt(told->samples, 100);
	ck_assert_uint_eq(told->secrets, 0);
	munmap(told, sizeof(*told));
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(a_chain_of_the_kernel_has_each_caller_in_its_place, 30);
	harness_add_timed(the_histogram_has_the_addresses_that_samples_have, 30);
	harness_add_timed(no_frame_of_an_unprivileged_sample_is_an_address_of_the_kernel, 30);
	harness_add_timed(no_frame_pointer_of_its_caller_is_followed_in_a_set_id_program, 30);
	return harness_run();
}
