// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_heirs.c - mappings of rings and pages in processes that are not their owner: those
 * of children, whom a program gives them by clearing what madvise(2) can clear.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "harness.h"
#include "hwpmc_log.h"
#include "kmod_dev.h"

#define PAGE		4096
#define RING		(16 << 10)
#define WHOLE		(PAGE + 2 * RING)
#define GENERATIONS	6
#define GRANDCHILDREN	200

static int configure_mapped(int fd, uint32_t size)
{
	return dev_configure(fd, -1, HWPMC_LOG_F_MAPPED, size);
}

static char *map_ring(int fd, unsigned int cpu, uint32_t size)
{
	char *ring = mmap(NULL, PAGE + 2 * size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  HWPMC_LOG_MAP_OFFSET(cpu));

	ck_assert_ptr_ne(ring, MAP_FAILED);
	return ring;
}

/* Returns false if the kernel refuses it with this error. Kernels since 6.17 refuse it with EINVAL
 * for mappings that cannot be made larger: a child has no mapping there. */
static bool let_children_have(void *at, size_t len, int error)
{
	bool given = !madvise(at, len, MADV_DOFORK);

	if (!given)
		ck_assert_int_eq(errno, error);
	return given;
}

static sigjmp_buf after_fault;

static void on_fault(int sig)
{
	siglongjmp(after_fault, 1);
}

static bool can_read(const volatile char *at)
{
	volatile char seen;

	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	if (sigsetjmp(after_fault, 1))
		return false;
	seen = *at;
	(void)seen;
	return true;
}

/* ---- rings --------------------------------------------------------------- */

static void has_no_page(void *ring)
{
	for (int at = 0; at < WHOLE; at += PAGE)
		ck_assert(!can_read((char *)ring + at));
}

static bool inherited;

static void heir_of_heir(void *ring)
{
	has_no_page(ring);
	let_children_have(ring, WHOLE, inherited ? 0 : ENOMEM);
	dev_apart(has_no_page, ring);
	/* What is left of the copy goes in pieces. */
	munmap(ring, PAGE);
	munmap((char *)ring + 2 * PAGE, PAGE);
}

static void heirs(char *ring)
{
	inherited = let_children_have(ring, WHOLE, EINVAL);
	dev_apart(heir_of_heir, ring);
}

START_TEST(a_child_that_is_given_a_ring_by_madvise_has_no_page_of_it)
{
	int fd = dev_open();
	char *ring;

	dev_ok(configure_mapped(fd, RING));
	ring = map_ring(fd, 0, RING);
	heirs(ring);	/* before its pages are mapped here, */
	for (int at = 0; at < WHOLE; at += PAGE)
		ck_assert(can_read(ring + at));
	heirs(ring);	/* and after that */
	ck_assert_ptr_eq(mremap(ring, WHOLE, WHOLE + PAGE, MREMAP_MAYMOVE), MAP_FAILED);
	ck_assert_ptr_eq(mremap(ring + PAGE, 0, PAGE, MREMAP_MAYMOVE), MAP_FAILED);
	/* Parts of it stay the owner's, wherever they are. */
	ring = mremap(ring, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)0x10000000);
	ck_assert_ptr_eq(ring, (void *)0x10000000);
	ck_assert_uint_eq(((struct hwpmc_log_ring *)ring)->size, RING);
	close(fd);
	ck_assert(can_read(ring));
}
END_TEST

static int rings_exist(void)
{
	FILE *f = fopen("/proc/vmallocinfo", "r");
	char line[512];
	int n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "[hwpmc]") && strstr(line, " vmap");
	fclose(f);
	return n;
}

/* Each generation makes rings, which its child is to keep, ends their log and exits. */
static void generations(int said)
{
	const struct rlimit limit = { 1100 << 10, 1100 << 10 };
	const uint32_t size = 512 << 10;
	pid_t self;
	int fd;

	ck_assert(!setrlimit(RLIMIT_MEMLOCK, &limit));
	dev_become(NOBODY);
	for (int left = GENERATIONS; left; left--) {
		fd = dev_open();
		dev_ok(configure_mapped(fd, size));
		for (int cpu = 0; cpu < dev_cpus(); cpu++)
			let_children_have(map_ring(fd, cpu, size), PAGE + 2 * size, EINVAL);
		/* From here on only mappings hold them. */
		dev_ok(dev_configure(fd, -1, 0, 0));
		if (left > 1 && fork())
			_exit(0);
	}
	self = getpid();
	ck_assert_int_eq(write(said, &self, sizeof(self)), sizeof(self));
	pause();
}

START_TEST(rings_of_dead_parents_are_not_kept_by_their_children)
{
	int said[2], cpus = dev_cpus();
	pid_t last;

	if (cpus != 2)
		SKIP("the limit of locked memory is made for two CPUs");
	/* A log of an earlier test may be about to end, long after its owner on some kernels. */
	while (rings_exist())
		dev_msleep(20);
	ck_assert(!pipe(said));
	ck_assert(!prctl(PR_SET_CHILD_SUBREAPER, 1));
	if (!fork())
		generations(said[1]);
	ck_assert_int_eq(read(said[0], &last, sizeof(last)), sizeof(last));
	for (int i = 0; i < GENERATIONS - 1; i++)
		ck_assert_int_gt(wait(NULL), 0);
	/* The last of them has its own alone. */
	ck_assert_int_eq(rings_exist(), cpus);
	ck_assert(!kill(last, SIGKILL));
	ck_assert_int_eq(waitpid(last, NULL, 0), last);
	ck_assert_int_eq(rings_exist(), 0);
}
END_TEST

/* ---- pages of threads ---------------------------------------------------- */

static volatile int *seen;

static void look_into_page(const volatile struct hwpmc_user_row *row)
{
	for (int nr = 0; nr < 64; nr++)
		if (row[nr].own == row[nr].seq || row[nr].sum == row[nr].seq ||
		    row[nr].total || row[nr].thread)
			++*seen;
}

/* mm of exited grandchildren are used again: one of them may be at the owner's address. */
static void outlives_the_owner(const volatile struct hwpmc_user_row *row, int go)
{
	char c;

	ck_assert_int_eq(read(go, &c, 1), 0);
	look_into_page(row);
	for (int i = 0; i < GRANDCHILDREN; i++) {
		pid_t pid = fork();

		if (!pid) {
			look_into_page(row);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	_exit(*seen != 0);
}

static void owner_of_a_page(int go)
{
	const volatile struct hwpmc_user_row *row;
	struct hwpmc_op_getmsr msr = {};
	int fd = dev_open();

	msr.pmcid = dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_attach(fd, msr.pmcid, 0));
	dev_ok(dev_start(fd, msr.pmcid));
	dev_ok(dev_op(fd, HWPMC_IOC_PMCGETMSR, &msr));
	row = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, HWPMC_USER_OFFSET);
	ck_assert_ptr_ne((void *)row, MAP_FAILED);
	ck_assert(!madvise((void *)row, PAGE, MADV_KEEPONFORK));
	ck_assert_int_eq(row[HWPMC_ID_ROW(msr.pmcid)].own, row[HWPMC_ID_ROW(msr.pmcid)].seq);
	for (int i = 0; i < 10; i++)
		sched_yield();
	if (!fork())
		outlives_the_owner(row, go);
	_exit(0);
}

START_TEST(no_descendant_of_a_dead_owner_sees_the_page_of_its_thread)
{
	int go[2], status;
	pid_t pid;

	seen = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(!pipe(go));
	ck_assert(!prctl(PR_SET_CHILD_SUBREAPER, 1));
	pid = fork();
	if (!pid) {
		close(go[1]);
		dev_become(NOBODY);
		owner_of_a_page(go[0]);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(go[1]);
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(*seen, 0);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(a_child_that_is_given_a_ring_by_madvise_has_no_page_of_it);
	harness_add(rings_of_dead_parents_are_not_kept_by_their_children);
	harness_add(no_descendant_of_a_dead_owner_sees_the_page_of_its_thread);
	return harness_run();
}
