/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_unwind_live.c - unwind tables and mappings that change while a process is sampled.
 * Chains are forged: a loop runs with rbp at a list of frames, and the tables have one rule
 * for all of a file, callers by frame pointers. So a test chooses which addresses a chain
 * has, and each of them is looked up.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "harness.h"
#include "kmod_dev.h"
#include "../lib/kmod_hold.h"

#define PAGE		4096ul
#define BY_BP		(HWPMC_UNWIND_BP | 2 << 5 | HWPMC_UNWIND_BP_SAVED | 2u << 22)
#define SELF		"/proc/self/exe"

struct frame {
	const struct frame *next;
	uint64_t ret;
};

/* Frames, the sampled address among them, and how the chain ends. */
static uint64_t chains[130][HWPMC_CHAIN__COUNT], samples;
/* Addresses of chains that lie here are counted. */
static uint64_t area, area_end, in_area;

static struct hwpmc_rings *rings;
static struct hwpmc *h;
static uint32_t id;

static void count_chain(const struct hwpmc_log_sample *s)
{
	unsigned int n = (s->hdr.len - sizeof(*s)) / 8, reason = 0, frames = 0;

	if (s->hdr.flags & HWPMC_SAMPLE_CUT)
		reason = HWPMC_CHAIN_DEPTH;
	else if (s->hdr.flags & HWPMC_SAMPLE_ENDS)
		reason = HWPMC_PC_REASON(s->pc[--n]);
	for (unsigned int i = 0; i < n; i++) {
		frames += s->pc[i] != HWPMC_PC_FP;
		in_area += s->pc[i] >= area && s->pc[i] < area_end;
	}
	ck_assert_uint_lt(reason, HWPMC_CHAIN__COUNT);
	ck_assert_uint_lt(frames, 130);
	chains[frames][reason]++;
	samples++;
}

static int count_chains(unsigned int cpu, const void *data, size_t len, void *arg)
{
	const char *at = data, *end = at + len;

	for (; at < end; at += ((const struct hwpmc_log_hdr *)at)->len) {
		const struct hwpmc_log_sample *s = (const void *)at;

		if (s->hdr.type == HWPMC_LOG_CALLCHAIN && s->hdr.flags & HWPMC_SAMPLE_USER)
			count_chain(s);
	}
	return 0;
}

static int take_nothing(unsigned int cpu, const void *data, size_t len, void *arg)
{
	return 0;
}

static __attribute__((noinline)) void loop(const struct frame *frame, unsigned long n)
{
	__asm__ __volatile__("mov %%rbp, %%r12\n\tmov %1, %%rbp\n1:\tdec %0\n\tjnz 1b\n\t"
			     "mov %%r12, %%rbp" : "+c" (n) : "D" (frame) : "r12", "memory");
}

/* n callers, in rising order, above the frames of loop() and of the caller. */
static void forge(struct frame *frame, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		frame[i].next = &frame[i + 1];
	frame[n] = (struct frame){ 0 };
}

static void sample_frames(struct frame *frame, unsigned int n)
{
	forge(frame, n);
	/* What was sampled before. */
	ck_assert_int_eq(hwpmc_flush_log(h), 0);
	hwpmc_rings_read(rings, take_nothing, NULL, NULL);
	memset(chains, 0, sizeof(chains));
	samples = in_area = 0;
	loop(frame, 1500000);
	ck_assert_int_eq(hwpmc_flush_log(h), 0);
	hwpmc_rings_read(rings, count_chains, NULL, NULL);
	ck_assert_uint_ge(samples, 20);
}

/* All but the few samples outside loop(). */
static void check_most(unsigned int frames, unsigned int reason)
{
	ck_assert_msg(chains[frames][reason] * 10 >= samples * 9,
		      "%lu of %lu chains have %u frames and end by %u",
		      (long)chains[frames][reason], (long)samples, frames, reason);
}

static void add_rule(const char *path, uint32_t rule, bool remove)
{
	struct hwpmc_unwind_row row = { 0, rule };
	int fd = open(path, O_RDONLY);
	struct hwpmc_unwind u, one;

	ck_assert_int_eq(hwpmc_unwind_read(fd, &u), 0);
	close(fd);
	one = u;
	one.row = &row;
	one.nrow = !remove;
	ck_assert_msg(!hwpmc_unwind_add(h, &one), "%s", hwpmc_error(h));
	hwpmc_unwind_free(&u);
}

static void set_limit_of_tables(unsigned int kib)
{
	FILE *f = fopen("/proc/sys/kern/hwpmc/unwindtables", "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%u\n", kib);
	ck_assert_int_eq(fclose(f), 0);
}

static void open_all(uint32_t flags)
{
	struct hwpmc_event event;

	ck_assert_int_eq(hwpmc_open(&h), 0);
	ck_assert_int_eq(hwpmc_rings_open(h, 0, 0, &rings), 0);
	ck_assert_int_eq(hwpmc_event_parse(h, "instructions:u", &event), 0);
	ck_assert_msg(!hwpmc_allocate_event(h, &event, HWPMC_MODE_TS, HWPMC_F_CALLCHAIN |
					    HWPMC_F_TABLES | flags, HWPMC_CPU_ANY, 100000,
					    &id), "%s", hwpmc_error(h));
	ck_assert_int_eq(hwpmc_attach(h, id, 0), 0);
	add_rule(SELF, BY_BP, false);
}

static void start(void)
{
	ck_assert_int_eq(hwpmc_start(h, id), 0);
}

static void close_all(void)
{
	ck_assert_int_eq(hwpmc_stop(h, id), 0);
	hwpmc_close(h);
}

/* ---- tables ---------------------------------------------------------------- */

/* The same addresses each time, which the module remembers. */
START_TEST(a_table_that_changes_is_used_from_the_next_sample_on)
{
	struct frame frame[8];

	for (unsigned int i = 0; i < 4; i++)
		frame[i].ret = (uintptr_t)loop + 1 + i;
	open_all(0);
	start();
	sample_frames(frame, 4);
	check_most(5, HWPMC_CHAIN_COMPLETE);
	add_rule(SELF, HWPMC_UNWIND_END, false);
	sample_frames(frame, 4);
	check_most(1, HWPMC_CHAIN_COMPLETE);
	add_rule(SELF, 0, true);
	sample_frames(frame, 4);
	check_most(1, HWPMC_CHAIN_NO_TABLE);
	add_rule(SELF, BY_BP, false);
	sample_frames(frame, 4);
	check_most(5, HWPMC_CHAIN_COMPLETE);
	close_all();
}
END_TEST

/* An entry without rows; a build of -1 is another one. */
static void add_none(const char *path, int build)
{
	int fd = open(path, O_RDONLY);
	struct hwpmc_unwind u;

	ck_assert_int_eq(hwpmc_unwind_read(fd, &u), 0);
	close(fd);
	u.build_id[0] += build;
	u.none = true;
	ck_assert_int_eq(hwpmc_unwind_add(h, &u), -1);
	ck_assert_int_eq(errno, EINVAL);
	u.nrow = 0;
	ck_assert_msg(!hwpmc_unwind_add(h, &u), "%s", hwpmc_error(h));
	hwpmc_unwind_free(&u);
}

/* Frame pointers are used in the former alone. */
START_TEST(files_without_a_table_are_told_from_late_ones)
{
	struct frame frame[8];

	for (unsigned int i = 0; i < 4; i++)
		frame[i].ret = (uintptr_t)loop + 1 + i;
	open_all(HWPMC_F_TABLES_FP | HWPMC_F_TABLES_ALL);
	start();
	sample_frames(frame, 4);
	check_most(5, HWPMC_CHAIN_COMPLETE);
	add_rule(SELF, 0, true);
	sample_frames(frame, 4);
	check_most(1, HWPMC_CHAIN_NOT_READY);
	add_none(SELF, -1);
	sample_frames(frame, 4);
	check_most(1, HWPMC_CHAIN_NOT_READY);
	add_none(SELF, 0);
	sample_frames(frame, 4);
	check_most(5, HWPMC_CHAIN_NO_TABLE);
	add_rule(SELF, BY_BP, false);
	sample_frames(frame, 4);
	check_most(5, HWPMC_CHAIN_COMPLETE);
	close_all();
}
END_TEST

START_TEST(rows_that_no_file_can_have_are_refused_whatever_the_limit)
{
	struct hwpmc_op_unwind op = { .inode = 1, .nrow = ~0u, .rows = PAGE };
	int fd = dev_open();

	set_limit_of_tables(INT32_MAX);
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_UNWIND, &op), -1);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_UNWIND_LIMIT);
	op.nrow = HWPMC_UNWIND_ROWS_MAX + 1;
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_UNWIND, &op), -1);
	ck_assert_int_eq(errno, E2BIG);
	set_limit_of_tables(262144);
	close(fd);
}
END_TEST

/* ---- files ----------------------------------------------------------------- */

/* A file with a build-id whose first page nothing has mapped. */
#define OTHER	"build/vm/progs/libhot-late.so"

static void *map_code(int fd, void *at)
{
	void *code = mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE |
			  (at ? MAP_FIXED : 0), fd, PAGE);

	ck_assert_ptr_ne(code, MAP_FAILED);
	return code;
}

static bool is_first_page_in_memory(int fd)
{
	void *at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	unsigned char in;

	ck_assert_ptr_ne(at, MAP_FAILED);
	ck_assert_int_eq(mincore(at, PAGE, &in), 0);
	munmap(at, PAGE);
	return in & 1;
}

static void evict(int fd)
{
	for (unsigned int i = 0; i < 100 && is_first_page_in_memory(fd); i++) {
		ck_assert_int_eq(posix_fadvise(fd, 0, PAGE, POSIX_FADV_DONTNEED), 0);
		usleep(1000);
	}
	/* Else the test proves nothing. */
	ck_assert(!is_first_page_in_memory(fd));
}

START_TEST(a_file_whose_first_page_has_left_memory_has_its_table)
{
	int fd = open(OTHER, O_RDONLY);
	struct frame frame[4];
	char *code;

	open_all(0);
	add_rule(OTHER, BY_BP, false);
	code = map_code(fd, NULL);
	frame[0].ret = frame[1].ret = (uintptr_t)code + 8;
	/* What is mapped when sampling begins: it does not begin before. */
	for (unsigned int i = 0; i < 8; i++) {
		evict(fd);
		start();
		ck_assert(is_first_page_in_memory(fd));
		ck_assert_int_eq(hwpmc_stop(h, id), 0);
	}
	evict(fd);
	start();
	sample_frames(frame, 2);
	check_most(3, HWPMC_CHAIN_COMPLETE);
	/* What is mapped later, soon. */
	evict(fd);
	map_code(fd, code);
	for (unsigned int i = 0; i < 50; i++) {
		sample_frames(frame, 2);
		if (chains[3][HWPMC_CHAIN_COMPLETE])
			break;
	}
	sample_frames(frame, 2);
	check_most(3, HWPMC_CHAIN_COMPLETE);
	/* It was the page that was read again. */
	ck_assert(is_first_page_in_memory(fd));
	munmap(code, PAGE);
	close(fd);
	close_all();
}
END_TEST

struct late_map {
	int fd;
	bool go;
	char *code;
};

static void *map_late(void *arg)
{
	struct late_map *m = arg;

	while (!__atomic_load_n(&m->go, __ATOMIC_ACQUIRE))
		sched_yield();
	m->code = map_code(m->fd, NULL);
	return NULL;
}

/* The call that maps it keeps mmap_lock for longer than it is waited for. */
START_TEST(a_file_is_looked_at_when_its_programs_memory_is_locked_for_seconds)
{
	struct late_map m = { .fd = open(OTHER, O_RDONLY) };
	struct frame frame[4];
	pthread_t thread;

	open_all(0);
	add_rule(OTHER, BY_BP, false);
	start();
	evict(m.fd);
	ck_assert_int_eq(pthread_create(&thread, NULL, map_late, &m), 0);
	/* Called with the lock, after all probes. */
	hold_at("vma_set_page_prot");
	hold_arm(getpid());
	__atomic_store_n(&m.go, true, __ATOMIC_RELEASE);
	hold_wait();
	dev_msleep(2500);
	hold_end();
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	frame[0].ret = frame[1].ret = (uintptr_t)m.code + 8;
	for (unsigned int i = 0; i < 50; i++) {
		sample_frames(frame, 2);
		if (chains[3][HWPMC_CHAIN_COMPLETE])
			break;
		dev_msleep(20);
	}
	check_most(3, HWPMC_CHAIN_COMPLETE);
	munmap(m.code, PAGE);
	close(m.fd);
	close_all();
}
END_TEST

/* ---- threads --------------------------------------------------------------- */

#define PAGES		100

static char *page_at(unsigned int i)
{
	return (char *)area + 2 * PAGE * i;
}

static void reserve(void)
{
	void *at = mmap(NULL, 2 * PAGE * PAGES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	area = (uintptr_t)at;
	area_end = area + 2 * PAGE * PAGES;
}

static bool map_page(unsigned int i, int how)
{
	return mmap(page_at(i), PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS |
		    how, -1, 0) != MAP_FAILED;
}

/* 0: all. Of the calling thread. */
static void pin(unsigned int cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int i = 0; i < 2; i++)
		if (!cpus || cpus & 1 << i)
			CPU_SET(i, &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static bool disturbed;			/* until false */

/* How long the other one goes on in between: a kernel that watches for faults does little
 * in that time, and hardly more than its tick. */
static unsigned int gap_us(void)
{
	const char *scale = getenv("HARNESS_SCALE");
	unsigned int slow = scale ? atoi(scale) / 4 : 1;

	return 300 * slow * slow;
}

/* Stops the thread on CPU 0 at any of its instructions, in the kernel too, while the one on
 * CPU 1 goes on. */
static void *disturb(void *unused)
{
	struct sched_param p = { .sched_priority = 10 };
	uint64_t begin;

	pin(1);
	ck_assert_int_eq(sched_setscheduler(0, SCHED_FIFO, &p), 0);
	while (__atomic_load_n(&disturbed, __ATOMIC_RELAXED)) {
		usleep(gap_us());
		for (begin = now_us(); now_us() - begin < 1000;)
			;
	}
	return NULL;
}

static pthread_t disturber;

static void begin_to_disturb(void)
{
	pin(1);
	disturbed = true;
	ck_assert_int_eq(pthread_create(&disturber, NULL, disturb, NULL), 0);
}

static void end_disturbing(void)
{
	__atomic_store_n(&disturbed, false, __ATOMIC_RELAXED);
	ck_assert_int_eq(pthread_join(disturber, NULL), 0);
	pin(0);
}

static void *map_each_that_is_free(void *unused)
{
	pin(2);
	for (unsigned int i = 0; i < PAGES; i++)
		while (!map_page(i, MAP_FIXED_NOREPLACE))
			;
	return NULL;
}

/* One thread unmaps what another one waits to map: which of the two is seen last by probes
 * depends on nothing that is true. */
START_TEST(memory_that_a_thread_unmaps_and_another_maps_at_once_is_code)
{
	struct frame frame[PAGES + 1];
	pthread_t thread;

	open_all(HWPMC_F_TABLES_FP);
	reserve();
	for (unsigned int i = 0; i < PAGES; i++) {
		ck_assert(map_page(i, MAP_FIXED));
		frame[i].ret = (uintptr_t)page_at(i) + 64;
	}
	start();
	for (unsigned int round = 0; round < 5; round++) {
		begin_to_disturb();
		ck_assert_int_eq(pthread_create(&thread, NULL, map_each_that_is_free, NULL),
				 0);
		for (unsigned int i = 0; i < PAGES; i++)
			ck_assert_int_eq(munmap(page_at(i), PAGE), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		end_disturbing();
		/* What could not be looked at then is looked at soon. */
		for (unsigned int i = 0; i < 50; i++) {
			sample_frames(frame, PAGES);
			if (chains[1 + PAGES][HWPMC_CHAIN_NO_TABLE])
				break;
			dev_msleep(20);
		}
		/* By frame pointers, as no table describes it. */
		check_most(1 + PAGES, HWPMC_CHAIN_NO_TABLE);
	}
	munmap((void *)area, area_end - area);
	close_all();
}
END_TEST

/* munmap() of the page returns only when its event has been read from the descriptor. */
static int tell_of_unmapping(void *page)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_EVENT_UNMAP };
	struct uffdio_register reg = { .range = { (uintptr_t)page, PAGE },
				       .mode = UFFDIO_REGISTER_MODE_MISSING };
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	ck_assert_int_ge(uffd, 0);
	ck_assert_int_eq(ioctl(uffd, UFFDIO_API, &api), 0);
	ck_assert_int_eq(ioctl(uffd, UFFDIO_REGISTER, &reg), 0);
	return uffd;
}

static void *unmap_first(void *unused)
{
	ck_assert_int_eq(munmap(page_at(0), PAGE), 0);
	return NULL;
}

/* The same, where one of the two is seen last for certain. */
START_TEST(memory_that_is_mapped_before_the_call_that_unmapped_it_returns_is_code)
{
	struct frame frame[4];
	struct uffd_msg msg;
	struct pollfd told;
	pthread_t thread;

	open_all(HWPMC_F_TABLES_FP);
	reserve();
	ck_assert(map_page(0, MAP_FIXED));
	frame[0].ret = (uintptr_t)page_at(0) + 64;
	start();
	told = (struct pollfd){ .fd = tell_of_unmapping(page_at(0)), .events = POLLIN };
	ck_assert_int_eq(pthread_create(&thread, NULL, unmap_first, NULL), 0);
	ck_assert_int_eq(poll(&told, 1, -1), 1);
	ck_assert(map_page(0, MAP_FIXED_NOREPLACE));
	ck_assert_int_eq(read(told.fd, &msg, sizeof(msg)), sizeof(msg));
	ck_assert_int_eq(msg.event, UFFD_EVENT_UNMAP);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	for (unsigned int i = 0; i < 50; i++) {
		sample_frames(frame, 1);
		if (chains[2][HWPMC_CHAIN_NO_TABLE])
			break;
		dev_msleep(20);
	}
	/* The caller by its frame pointer, as no table describes it. */
	check_most(2, HWPMC_CHAIN_NO_TABLE);
	munmap((void *)area, area_end - area);
	close(told.fd);
	close_all();
}
END_TEST

/* Calls that fail: what they would have ended goes on. */
START_TEST(code_that_could_not_be_unmapped_or_moved_is_code_yet)
{
	struct frame frame[8];

	open_all(HWPMC_F_TABLES_FP);
	reserve();
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert(map_page(i, MAP_FIXED));
		frame[i].ret = (uintptr_t)page_at(i) + 64;
	}
	start();
	sample_frames(frame, 3);
	check_most(4, HWPMC_CHAIN_NO_TABLE);
	/* The kernel takes no address within a page, ... */
	ck_assert_int_eq(munmap(page_at(0) + 8, PAGE - 8), -1);
	/* ... and moves nothing onto itself. */
	ck_assert_ptr_eq(mremap(page_at(1), PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
				page_at(1)), MAP_FAILED);
	/* Where it is to go there is code, which stays. */
	ck_assert_ptr_eq(mremap(page_at(1) + 8, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
				page_at(2)), MAP_FAILED);
	sample_frames(frame, 3);
	check_most(4, HWPMC_CHAIN_NO_TABLE);
	munmap((void *)area, area_end - area);
	close_all();
}
END_TEST

/* ---- children -------------------------------------------------------------- */

#define ROUNDS		30
#define MANY		1000	/* less than the module follows */

static unsigned int mapped;		/* pages so far */
static int forked;			/* fork() has returned */

/* Maps until the fork is over, however late the other thread gets a CPU to begin it. */
static void *map_many(void *unused)
{
	pin(2);
	for (unsigned int i = 0; i < MANY && !__atomic_load_n(&forked, __ATOMIC_ACQUIRE); i++) {
		ck_assert(map_page(i, MAP_FIXED_NOREPLACE));
		__atomic_store_n(&mapped, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* The first page that this process, a copy of one that is mapping them, has not. */
static uint64_t first_unmapped(void)
{
	unsigned char in;

	for (unsigned int i = 0; i < MANY; i++)
		if (mincore(page_at(i), PAGE, &in))
			return (uintptr_t)page_at(i);
	return 0;
}

static void child_of_threads(void)
{
	uint64_t at = first_unmapped();
	struct frame frame[4];

	frame[0].ret = at + 64;
	forge(frame, 1);
	if (at)
		loop(frame, 300000);
	_exit(!at);
}

static unsigned int fork_while_mapping(void)
{
	pthread_t thread;
	int status;
	pid_t pid;

	mapped = 0;
	forked = 0;
	ck_assert_int_eq(pthread_create(&thread, NULL, map_many, NULL), 0);
	while (__atomic_load_n(&mapped, __ATOMIC_ACQUIRE) < 8)
		;
	pid = fork();
	if (!pid)
		child_of_threads();
	__atomic_store_n(&forked, 1, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(munmap(page_at(0), 2 * PAGE * MANY), 0);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* What another thread maps after the memory was copied, and before the child is announced. */
START_TEST(code_that_a_parent_maps_while_it_forks_is_none_of_the_child)
{
	unsigned int tried = 0;

	open_all(HWPMC_F_DESCENDANTS);
	/* Where the kernel puts nothing by itself. */
	area = 0x1000000000;
	area_end = area + 2 * PAGE * MANY;
	start();
	samples = in_area = 0;
	begin_to_disturb();
	for (unsigned int round = 0; round < ROUNDS; round++) {
		tried += fork_while_mapping();
		ck_assert_int_eq(hwpmc_flush_log(h), 0);
		hwpmc_rings_read(rings, count_chains, NULL, NULL);
	}
	end_disturbing();
	ck_assert_uint_ge(tried, 5);
	ck_assert_uint_ge(samples, 4 * tried);
	ck_assert_uint_eq(in_area, 0);
	close_all();
}
END_TEST

/* ---- many mappings --------------------------------------------------------- */

#define FOLLOWED	2048u		/* by the module, of one process */

static unsigned int count_code(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], mode[8];
	unsigned int n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		n += sscanf(line, "%*s %7s", mode) == 1 && mode[2] == 'x' &&
		     !strstr(line, "[vsyscall]");
	fclose(f);
	return n;
}

static unsigned int map_until(unsigned int total)
{
	unsigned int n = total - count_code();

	area = (uintptr_t)mmap(NULL, 2 * PAGE * n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
	for (unsigned int i = 0; i < n; i++)
		ck_assert(map_page(i, MAP_FIXED));
	ck_assert_uint_eq(count_code(), total);
	return n;
}

START_TEST(mappings_that_have_ended_take_no_room_of_new_ones)
{
	struct frame frame[4];
	unsigned int n;

	n = map_until(FOLLOWED);
	open_all(HWPMC_F_TABLES_FP);
	start();
	ck_assert_int_eq(munmap(page_at(0), 2 * PAGE * n), 0);
	for (unsigned int i = 0; i < 2; i++)
		ck_assert(map_page(i, MAP_FIXED_NOREPLACE));
	frame[0].ret = (uintptr_t)page_at(0) + 8;
	frame[1].ret = (uintptr_t)page_at(1) + 8;
	sample_frames(frame, 2);
	check_most(3, HWPMC_CHAIN_NO_TABLE);
	munmap(page_at(0), 2 * PAGE * n);
	close_all();
}
END_TEST

START_TEST(of_more_mappings_than_are_followed_those_of_files_are)
{
	struct frame frame[4];
	unsigned int n;

	n = map_until(FOLLOWED + 40);
	frame[0].ret = frame[1].ret = (uintptr_t)loop + 1;
	open_all(0);
	start();
	sample_frames(frame, 2);
	check_most(3, HWPMC_CHAIN_COMPLETE);
	munmap(page_at(0), 2 * PAGE * n);
	close_all();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(a_table_that_changes_is_used_from_the_next_sample_on);
	harness_add(files_without_a_table_are_told_from_late_ones);
	harness_add(a_file_whose_first_page_has_left_memory_has_its_table);
	harness_add_timed(a_file_is_looked_at_when_its_programs_memory_is_locked_for_seconds, 40);
	harness_add_timed(memory_that_a_thread_unmaps_and_another_maps_at_once_is_code, 60);
	harness_add(memory_that_is_mapped_before_the_call_that_unmapped_it_returns_is_code);
	harness_add(code_that_could_not_be_unmapped_or_moved_is_code_yet);
	harness_add_timed(code_that_a_parent_maps_while_it_forks_is_none_of_the_child, 60);
	harness_add(mappings_that_have_ended_take_no_room_of_new_ones);
	harness_add(of_more_mappings_than_are_followed_those_of_files_are);
	harness_add(rows_that_no_file_can_have_are_refused_whatever_the_limit);
	return harness_run();
}
