/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_security.c - what the unprivileged cannot do: see the kernel, pin memory without
 * end, keep rights that were taken from them. The tests are
 * root; doc/security.md names the threat behind each.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "harness.h"
#include "hwpmc_log.h"
#include "kmod_dev.h"

#define OTHER	65533
#define PAGE	4096
#define RING	65536
#define WHOLE	HWPMC_LOG_MAP_SIZE(RING, PAGE)

#define REFUSED(call, err, why) do {					\
	int got_ = (call);						\
	ck_assert_msg(got_ == (err) && dev_hdr.reason == HWPMC_WHY_##why, \
		      "%s: errno %d, reason %u (%d), not %d, " #why, #call, \
		      got_, dev_hdr.reason, dev_hdr.detail, err);	\
} while (0)

/* With as much locked memory as a user has by default since Linux 5.16: the 64 KiB
 * of before are less than a ring for each CPU. */
static void become(uid_t uid)
{
	const struct rlimit limit = { 8 << 20, 8 << 20 };

	ck_assert(!setrlimit(RLIMIT_MEMLOCK, &limit));
	dev_become(uid);
}

static void as_nobody(void *fn)
{
	become(NOBODY);
	((void (*)(void))fn)();
}

static int configure_mapped(int fd)
{
	return dev_configure(fd, -1, HWPMC_LOG_F_MAPPED, RING);
}

static void *map_ring(int fd, unsigned int cpu)
{
	return mmap(NULL, WHOLE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    HWPMC_LOG_MAP_OFFSET(cpu));
}

static uint32_t sampling(int fd, int mode, uint32_t cpu)
{
	struct hwpmc_op_pmcallocate req;

	dev_request(&req, mode, HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN, cpu,
		    INSN, U | K);
	req.count = 20000;
	dev_ok(dev_allocate(fd, &req));
	return req.pmcid;
}

/* ---- the kernel's addresses ---------------------------------------------- */

/* Text, modules, direct map, vmalloc, per-CPU: all in the upper half. What merely
 * says -1 in one of its halves is none. */
static bool is_kernel(uint64_t v)
{
	return v >> 47 == 0x1ffff && v < -65536ull && (uint32_t)v >> 31;
}

/* How many there are at any byte. */
static unsigned int kernel_words(const void *at, size_t len)
{
	const uint8_t *p = at;
	unsigned int n = 0;
	uint64_t v;

	for (size_t i = 0; i + sizeof(v) <= len; i += sizeof(v)) {
		memcpy(&v, p + i, sizeof(v));
		n += is_kernel(v);
	}
	return n;
}

static void spin_in_kernel(void)
{
	char buf[PAGE];
	int zero = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < 500; i++)
		ck_assert_int_eq(read(zero, buf, sizeof(buf)), sizeof(buf));
	close(zero);
}

/* Sample ourselves; the number of kernel addresses in what is mapped then. */
static unsigned int seen_in_rings(int fd)
{
	uint32_t id = sampling(fd, HWPMC_MODE_TS, ANY);
	struct hwpmc_log_ring *ring;
	unsigned int n = 0;

	dev_ok(configure_mapped(fd));
	dev_ok(dev_start(fd, id));
	spin_in_kernel();
	free(malloc(1 << 22));
	dev_ok(dev_stop(fd, id));
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		ring = map_ring(fd, cpu);
		ck_assert_ptr_ne(ring, MAP_FAILED);
		if (cpu == 0)
			ck_assert_uint_gt(ring->head, PAGE / 4);
		n += kernel_words(ring, WHOLE);
	}
	return n;
}

static void no_kernel_in_rings(void)
{
	dev_pin(0, 0);
	ck_assert_uint_eq(seen_in_rings(dev_open()), 0);
}

START_TEST(rings_of_the_unprivileged_have_no_kernel_address_in_any_word)
{
	dev_apart(as_nobody, no_kernel_in_rings);
	/* And the search finds them where they are. */
	dev_pin(0, 0);
	ck_assert_uint_gt(seen_in_rings(dev_open()), 20);
}
END_TEST

static void opened_by_root(void *unused)
{
	int fd = dev_open();

	dev_pin(0, 0);
	become(NOBODY);
	ck_assert_uint_eq(seen_in_rings(fd), 0);
}

START_TEST(who_drops_its_rights_after_the_open_sees_no_kernel_address)
{
	dev_apart(opened_by_root, NULL);
}
END_TEST

START_TEST(a_new_ring_has_nothing_in_it_that_was_there_before)
{
	const size_t big = 200 << 20;
	uint8_t *memory = mmap(NULL, big, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = dev_open();

	/* Pages that are free next have been somebody's. */
	memset(memory, 0xa5, big);
	munmap(memory, big);
	dev_ok(configure_mapped(fd));
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		struct hwpmc_log_ring *ring = map_ring(fd, cpu);
		uint8_t *bytes = (void *)ring;

		ck_assert_ptr_ne(ring, MAP_FAILED);
		for (size_t i = PAGE + ring->head; i < PAGE + RING; i++)
			ck_assert_uint_eq(bytes[i], 0);
		for (size_t i = sizeof(*ring); i < PAGE; i++)
			ck_assert_uint_eq(bytes[i], 0);
	}
}
END_TEST

/*
 * Where the page came in the midst of a slice, what was counted before is below 0 until
 * the slice ends; no more than that, and above where modules end.
 */
static bool is_count(uint64_t v, uint64_t counted)
{
	return -v <= counted && -v <= 16 << 20;
}

static unsigned int kernel_words_in_page(const struct hwpmc_user_row *row,
					 uint64_t counted)
{
	unsigned int n = kernel_words(row, PAGE);

	for (size_t i = 0; i < PAGE / sizeof(*row); i++) {
		uint64_t thread = row[i].thread, total = row[i].total;

		n -= is_kernel(thread) && is_count(thread, counted);
		n -= is_kernel(total) && is_count(total, counted);
	}
	return n;
}

static void page_is_clean(void)
{
	static struct hwpmc_user_row seen[HWPMC_ROW_MAX];
	struct hwpmc_op_getmsr msr = { 0 };
	int fd = dev_open();
	void *page;

	msr.pmcid = dev_alloc(fd, TC, 0, ANY, INSN, U | K);
	dev_ok(dev_attach(fd, msr.pmcid, 0));
	dev_ok(dev_op(fd, HWPMC_IOC_PMCGETMSR, &msr));
	dev_ok(dev_start(fd, msr.pmcid));
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, HWPMC_USER_OFFSET);
	ck_assert_ptr_ne(page, MAP_FAILED);
	for (int i = 0; i < 100; i++) {
		dev_spin(10000);
		sched_yield();
		memcpy(seen, page, PAGE);
		ck_assert_uint_eq(kernel_words_in_page(seen, dev_read(fd, msr.pmcid)),
				  0);
	}
}

START_TEST(the_page_of_a_thread_has_no_kernel_address)
{
	dev_apart(as_nobody, page_is_clean);
}
END_TEST

/* ---- memory -------------------------------------------------------------- */

static void pin_again_and_again(void)
{
	struct rlimit limit = { 16 * WHOLE, 16 * WHOLE };
	int fd, n, ret = 0;
	void *at[64];

	ck_assert(!setrlimit(RLIMIT_MEMLOCK, &limit));
	fd = dev_open();
	for (n = 0; n < 64; n++) {
		ret = configure_mapped(fd);
		if (ret)
			break;
		at[n] = map_ring(fd, 0);
		ck_assert_ptr_ne(at[n], MAP_FAILED);
		dev_ok(dev_configure(fd, -1, 0, 0));
	}
	ck_assert_int_eq(ret, EPERM);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_LOCKED_MEMORY);
	ck_assert_int_gt(n, 4);
	ck_assert_int_lt(n, 32);
	/* What is let go of can be had again; a part of it keeps all. */
	munmap(at[0], WHOLE);
	munmap(at[1], WHOLE - PAGE);
	dev_ok(configure_mapped(fd));
	close(fd);
}

START_TEST(rings_count_as_locked_memory_as_long_as_they_are_mapped)
{
	dev_apart(as_nobody, pin_again_and_again);
}
END_TEST

static long number_in(const char *path)
{
	FILE *f = fopen(path, "r");
	long n = -1;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%ld", &n), 1);
	fclose(f);
	return n;
}

#define GROUP	"/tmp/cg/hwpmc"

static void rings_are_charged(void *unused)
{
	long before, after;
	int fd;

	dev_put(GROUP "/cgroup.procs", "0");
	fd = dev_open();
	before = number_in(GROUP "/memory.current");
	dev_ok(dev_configure(fd, -1, HWPMC_LOG_F_MAPPED, 8 << 20));
	after = number_in(GROUP "/memory.current");
	ck_assert_int_ge(after - before, dev_cpus() * (8l << 20));
	close(fd);
}

START_TEST(rings_are_charged_to_the_memory_cgroup_of_their_maker)
{
	mkdir("/tmp/cg", 0755);
	ck_assert(!mount("none", "/tmp/cg", "cgroup2", 0, NULL));
	dev_put("/tmp/cg/cgroup.subtree_control", "+memory");
	ck_assert(!mkdir(GROUP, 0755));
	dev_apart(rings_are_charged, NULL);
	/* Beyond the limit of the group there are none. */
	rmdir(GROUP);
	umount("/tmp/cg");
}
END_TEST

static void sysctl(const char *name, int value)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), "/proc/sys/kern/hwpmc/%s", name);
	snprintf(text, sizeof(text), "%d\n", value);
	dev_put(path, text);
}

static int told;

static void open_ten_and_no_more(void *uid)
{
	int fd[10];

	become((uintptr_t)uid);
	for (int i = 0; i < 10; i++) {
		fd[i] = dev_open();
		ck_assert_int_ge(fd[i], 0);
	}
	ck_assert_int_eq(open("/dev/hwpmc", O_RDWR), -1);
	ck_assert_int_eq(errno, EMFILE);
	if ((uintptr_t)uid == OTHER)
		return;
	/* Others have theirs: the user's first process keeps its ten. */
	close(fd[0]);
	fd[0] = dev_open();
	ck_assert_int_eq(write(told, "r", 1), 1);
	pause();
}

START_TEST(the_descriptors_of_a_user_are_limited_and_nobody_elses)
{
	int p[2];
	pid_t pid;
	char c;

	sysctl("maxowners", 10);
	ck_assert(!pipe(p));
	told = p[1];
	pid = fork();
	if (!pid)
		open_ten_and_no_more((void *)NOBODY);
	ck_assert_int_eq(read(p[0], &c, 1), 1);
	for (int i = 0; i < 20; i++)
		ck_assert_int_ge(dev_open(), 0);
	dev_apart(open_ten_and_no_more, (void *)OTHER);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sysctl("maxowners", 1024);
	dev_still_counts();
}
END_TEST

/* In a user namespace with two ids, as of a user with a line in /etc/subuid: ten
 * descriptors of one id leave none to the other. */
static void open_ten_by_two_ids(int ready, int go)
{
	char c;

	become(NOBODY);
	ck_assert(!unshare(CLONE_NEWUSER));
	ck_assert_int_eq(write(ready, "r", 1), 1);
	ck_assert_int_eq(read(go, &c, 1), 1);
	for (int i = 0; i < 10; i++)
		ck_assert_int_ge(dev_open(), 0);
	ck_assert(!setresuid(1, 1, 1));
	ck_assert_int_eq(open("/dev/hwpmc", O_RDWR), -1);
	ck_assert_int_eq(errno, EMFILE);
	_exit(0);
}

START_TEST(the_descriptors_of_a_user_are_limited_whatever_ids_it_has)
{
	int ready[2], go[2];
	char path[64], c;
	pid_t pid;

	sysctl("maxowners", 10);
	ck_assert(!pipe(ready) && !pipe(go));
	pid = fork();
	if (!pid)
		open_ten_by_two_ids(ready[1], go[0]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	dev_put(path, "0 65534 1\n1 100000 1\n");
	ck_assert_int_eq(write(go[1], "g", 1), 1);
	dev_reap(pid);
	sysctl("maxowners", 1024);
	dev_still_counts();
}
END_TEST

static sigjmp_buf after_fault;

static void on_fault(int sig)
{
	siglongjmp(after_fault, 1);
}

static bool can_read(const volatile uint64_t *at)
{
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	if (sigsetjmp(after_fault, 1))
		return false;
	return *at + 1;
}

static void *parents_ring;

static void ring_is_not_there(void *unused)
{
	become(NOBODY);
	ck_assert(!can_read(parents_ring));
	ck_assert(!can_read((void *)((char *)parents_ring + PAGE)));
}

START_TEST(a_child_has_no_ring_of_its_parent)
{
	int fd = dev_open();

	dev_ok(configure_mapped(fd));
	parents_ring = map_ring(fd, 0);
	ck_assert(can_read(parents_ring));
	dev_apart(ring_is_not_there, NULL);
	ck_assert(can_read(parents_ring));
	/* It cannot be made larger to reach what lies behind it. */
	ck_assert_ptr_eq(mremap(parents_ring, WHOLE, 2 * WHOLE, MREMAP_MAYMOVE),
			 MAP_FAILED);
}
END_TEST

/* ---- rights that were taken away ----------------------------------------- */

static bool can_rdpmc(uint32_t index)
{
	uint32_t lo, hi;

	signal(SIGSEGV, on_fault);
	if (sigsetjmp(after_fault, 1))
		return false;
	asm volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(index));
	return true;
}

static bool can_anywhere(void)
{
	bool any = false;

	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_pin(0, cpu);
		sched_yield();
		any |= can_rdpmc(0);
	}
	return any;
}

/* An event of perf that its process may read by RDPMC. */
static int perf_user_event(void **page)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	ck_assert_int_ge(fd, 0);
	*page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(*page, MAP_FAILED);
	return fd;
}

static void heir_of_perf(int perf, int answer, int go)
{
	char c;

	close(perf);
	c = can_anywhere() ? 'y' : 'n';
	ck_assert_int_eq(write(answer, &c, 1), 1);
	ck_assert_int_eq(read(go, &c, 1), 1);
	_exit(can_anywhere());
}

START_TEST(who_has_inherited_rdpmc_from_perf_has_it_no_more_when_we_count)
{
	int answer[2], go[2], perf, fd;
	void *page;
	pid_t pid;
	char c;

	ck_assert(!pipe(answer) && !pipe(go));
	perf = perf_user_event(&page);
	ck_assert(can_anywhere());
	pid = fork();
	if (!pid)
		heir_of_perf(perf, answer[1], go[0]);
	munmap(page, PAGE);
	close(perf);
	ck_assert_int_eq(read(answer[0], &c, 1), 1);
	/* If this ever fails the kernel has mended it, and the rest is idle. */
	ck_assert_int_eq(c, 'y');
	fd = dev_open();
	dev_ok(dev_start(fd, dev_alloc(fd, SC, 0, 0, INSN, U)));
	ck_assert_int_eq(write(go[1], "g", 1), 1);
	dev_reap(pid);
	close(fd);
	dev_still_counts();
}
END_TEST

/* ---- sampling of a CPU --------------------------------------------------- */

static int sample_something(int fd, uint32_t mode, uint32_t flags)
{
	struct hwpmc_op_pmcallocate req;

	dev_request(&req, mode, flags, mode == HWPMC_MODE_SS ? 0 : ANY, INSN, U);
	req.count = 1000000;
	return dev_allocate(fd, &req);
}

static void sampling_a_cpu_is_refused(void)
{
	int fd = dev_open();

	REFUSED(sample_something(fd, HWPMC_MODE_SS, 0), EPERM, PRIV_SYSTEM);
	/* The tunable is no remedy. */
	ck_assert_int_eq(dev_hdr.detail, 1);
	REFUSED(sample_something(fd, HWPMC_MODE_SS, HWPMC_F_KGMON), EPERM, PRIV_SYSTEM);
	ck_assert_int_eq(dev_hdr.detail, 1);
	close(fd);
}

/* All but that: to count a CPU, and to sample oneself. */
static void the_tunable_permits_counting(void)
{
	int fd = dev_open();

	sampling_a_cpu_is_refused();
	dev_ok(sample_something(fd, HWPMC_MODE_TS, 0));
	close(fd);
	fd = dev_open();
	dev_ok(dev_start(fd, dev_alloc(fd, SC, 0, 0, INSN, U)));
	close(fd);
}

static void sampling_a_cpu_is_allowed(void *unused)
{
	int fd = dev_open();

	dev_ok(sample_something(fd, HWPMC_MODE_SS, 0));
	close(fd);
}

static void with_perfmon(void *unused)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { };

	data[1].permitted = 1u << (CAP_PERFMON - 32);
	data[1].effective = data[1].permitted;
	ck_assert(!prctl(PR_SET_KEEPCAPS, 1));
	become(NOBODY);
	ck_assert(!syscall(SYS_capset, &head, data));
	sampling_a_cpu_is_allowed(NULL);
}

START_TEST(sampling_a_cpu_needs_cap_perfmon_whatever_the_tunable_says)
{
	dev_apart(as_nobody, sampling_a_cpu_is_refused);
	dev_apart(with_perfmon, NULL);
	sysctl("unprivileged_syspmcs", 1);
	dev_apart(as_nobody, the_tunable_permits_counting);
	dev_apart(with_perfmon, NULL);
	sysctl("unprivileged_syspmcs", 0);
	sampling_a_cpu_is_allowed(NULL);
}
END_TEST

/* ---- namespaces ---------------------------------------------------------- */

static void map_root(uid_t uid)
{
	char text[32];

	dev_put("/proc/self/setgroups", "deny");
	snprintf(text, sizeof(text), "0 %u 1", uid);
	dev_put("/proc/self/uid_map", text);
	dev_put("/proc/self/gid_map", text);
}

static void root_of_its_own(void)
{
	struct hwpmc_op_pmcadmin admin = { .state = HWPMC_STATE_DISABLED };
	struct hwpmc_op_kgmon kgmon = { .command = HWPMC_KGMON_READ };
	struct hwpmc_op_simple revoke = { { 0 } };
	struct hwpmc_op_pmcallocate req;
	int fd;

	dev_pin(0, 0);
	ck_assert(!unshare(CLONE_NEWUSER));
	map_root(NOBODY);
	ck_assert_uint_eq(getuid(), 0);
	fd = dev_open();
	dev_request(&req, SC, 0, 0, INSN, U);
	REFUSED(dev_allocate(fd, &req), EPERM, PRIV_SYSTEM);
	REFUSED(dev_op(fd, HWPMC_IOC_PMCADMIN, &admin), EPERM, PRIV_ADMIN);
	REFUSED(dev_op(fd, HWPMC_IOC_KGMON, &kgmon), EPERM, PRIV_SYSTEM);
	REFUSED(dev_op(fd, HWPMC_IOC_REVOKE, &revoke), EPERM, PRIV_ADMIN);
	ck_assert_int_eq(open("/proc/sys/kern/hwpmc/unprivileged_syspmcs",
			      O_WRONLY), -1);
	ck_assert_uint_eq(seen_in_rings(fd), 0);
}

START_TEST(root_of_a_user_namespace_is_as_unprivileged_as_its_user)
{
	dev_apart(as_nobody, root_of_its_own);
}
END_TEST

/* Every pid in the records of this CPU's ring. */
static void check_pids(struct hwpmc_log_ring *ring, pid_t pid)
{
	unsigned int contexts = 0;

	for (uint64_t at = 0; at < ring->head;) {
		struct hwpmc_log_hdr *hdr = (void *)((char *)ring + PAGE + at);
		struct hwpmc_log_context *c = (void *)hdr;

		ck_assert_uint_ge(hdr->len, sizeof(*hdr));
		if (hdr->type == HWPMC_LOG_CONTEXT) {
			ck_assert_int_eq(c->pid, pid);
			contexts++;
		}
		at += hdr->len;
	}
	ck_assert_uint_gt(contexts, 0);
}

static void first_of_its_own(void)
{
	pid_t outside = getppid();
	uint32_t id;
	int fd;

	ck_assert_int_eq(getpid(), 1);
	ck_assert_int_eq(outside, 0);
	dev_pin(0, 0);
	fd = dev_open();
	dev_ok(configure_mapped(fd));
	id = sampling(fd, HWPMC_MODE_TS, ANY);
	dev_ok(dev_attach(fd, id, 1));
	dev_ok(dev_start(fd, id));
	dev_spin(1000000);
	dev_ok(dev_stop(fd, id));
	check_pids(map_ring(fd, 0), 1);
	/* Numbers of outside mean nothing here. */
	REFUSED(dev_attach(fd, dev_alloc(fd, TC, 0, ANY, BRANCH, U), 4321),
		ESRCH, NO_PROCESS);
}

static void in_pid_namespace(void *unused)
{
	pid_t pid;

	ck_assert(!unshare(CLONE_NEWPID));
	pid = fork();
	if (!pid) {
		first_of_its_own();
		_exit(0);
	}
	dev_reap(pid);
}

START_TEST(in_a_pid_namespace_processes_have_its_numbers)
{
	dev_apart(in_pid_namespace, NULL);
}
END_TEST

/* ---- set-id executables -------------------------------------------------- */

#define SETUID	"/tmp/loop.security"

static void exec_set_id(void *unused)
{
	execl(SETUID, "loop", "1000000", NULL);
	_exit(127);
}

static void count_set_id_by_descriptor_of_root(void *unused)
{
	int fd = dev_open();
	struct child child;
	uint32_t id;

	become(NOBODY);
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	child = dev_child(exec_set_id, NULL);
	dev_ok(dev_attach(fd, id, child.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&child);
	dev_wait(&child);
	ck_assert_uint_lt(dev_read(fd, id), 1000000);
}

START_TEST(a_descriptor_that_root_opened_does_not_follow_into_set_id_programs)
{
	ck_assert_int_eq(system("cp build/vm/progs/loop " SETUID
				" && chmod 4755 " SETUID), 0);
	dev_apart(count_set_id_by_descriptor_of_root, NULL);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(rings_of_the_unprivileged_have_no_kernel_address_in_any_word);
	harness_add(who_drops_its_rights_after_the_open_sees_no_kernel_address);
	harness_add(a_new_ring_has_nothing_in_it_that_was_there_before);
	harness_add(the_page_of_a_thread_has_no_kernel_address);
	harness_add(rings_count_as_locked_memory_as_long_as_they_are_mapped);
	harness_add(rings_are_charged_to_the_memory_cgroup_of_their_maker);
	harness_add(the_descriptors_of_a_user_are_limited_and_nobody_elses);
	harness_add(the_descriptors_of_a_user_are_limited_whatever_ids_it_has);
	harness_add(a_child_has_no_ring_of_its_parent);
	harness_add(who_has_inherited_rdpmc_from_perf_has_it_no_more_when_we_count);
	harness_add(sampling_a_cpu_needs_cap_perfmon_whatever_the_tunable_says);
	harness_add(root_of_a_user_namespace_is_as_unprivileged_as_its_user);
	harness_add(in_a_pid_namespace_processes_have_its_numbers);
	harness_add(a_descriptor_that_root_opened_does_not_follow_into_set_id_programs);
	return harness_run();
}
