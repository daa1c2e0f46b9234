// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_faults_life - no memory where nobody can be told at once: a child or a thread of
 * a measured process, a CPU that comes, the module itself. Then, of all faults of this
 * machine's life, what was lost. As kmod_faults, on a kernel with fault injection.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "../lib/kmod_fault.h"
#include "kmod_dev.h"

#define KMEMLEAK	"/sys/kernel/debug/kmemleak"

static int fd = -1;
static uint32_t pmc;

/* ---- fork and clone under a PMC ------------------------------------------ */

#define SPINS	200000		/* of a child, three instructions each */

static uint64_t missed(void)
{
	struct hwpmc_op_getdriverstats op = {};

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETDRIVERSTATS, &op), 0);
	return op.threads_missed;
}

/* A child that counts what it is to count; 0 or the errno of its making. */
static int child_process(unsigned int n, bool *hit)
{
	pid_t pid;
	int err;

	fault_arm(n);
	pid = fork();
	err = errno;
	if (!pid) {
		dev_spin(SPINS);
		_exit(0);
	}
	*hit = fault_disarm();
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid > 0 ? 0 : err;
}

static void *spin(void *unused)
{
	dev_spin(SPINS);
	return NULL;
}

static int child_thread(unsigned int n, bool *hit)
{
	pthread_t thread;
	int err;

	fault_arm(n);
	err = pthread_create(&thread, NULL, spin, NULL);
	*hit = fault_disarm();
	if (!err)
		pthread_join(thread, NULL);
	return err;
}

/*
 * Under a PMC of this process and its descendants: either the child is counted, or
 * the read says that something is missing. Returns whether it does.
 */
static bool is_incomplete(int (*make)(unsigned int n, bool *hit),
			  unsigned int n, bool *hit)
{
	uint64_t value = 0, before;
	int err, made;

	fd = dev_open();
	before = missed();
	pmc = dev_alloc(fd, TC, HWPMC_F_DESCENDANTS, ANY, INSN, U);
	dev_ok(dev_attach(fd, pmc, 0));
	dev_ok(dev_start(fd, pmc));
	made = make(n, hit);
	dev_ok(dev_stop(fd, pmc));
	err = dev_rw(fd, pmc, HWPMC_F_OLDVALUE, &value);
	if (err) {
		ck_assert_int_eq(err, ENOMEM);
		ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_INCOMPLETE);
		ck_assert_int_eq(made, 0);
		ck_assert_uint_gt(missed(), before);
	} else if (!made) {
		ck_assert_msg(value >= 3 * SPINS, "fault %u: %lu of %d", n,
			      value, 3 * SPINS);
	}
	close(fd);
	return err;
}

static void each_child(int (*make)(unsigned int n, bool *hit))
{
	/* What is made for a child is a thread, and of a process a target too. */
	unsigned int n, hits = 0, incomplete = 0, quiet = 0, rounds;
	unsigned int wanted = make == child_thread ? 1 : 2;
	bool hit;

	/* Stacks that the kernel keeps make one more or less before it each time, so
	 * a round may leave it out. */
	for (rounds = 0; incomplete < wanted && rounds < 20; rounds++) {
		for (n = 1, quiet = 0; quiet < FAULT_QUIET; n++) {
			ck_assert_uint_lt(n, FAULT_MOST);
			incomplete += is_incomplete(make, n, &hit);
			hits += hit;
			quiet = hit ? 0 : quiet + 1;
		}
	}
	printf("# %u faults in %u rounds, %u children missed and told\n", hits,
	       rounds, incomplete);
	ck_assert_uint_ge(incomplete, wanted);
}

START_TEST(a_child_that_no_memory_was_left_for_is_told_to_be_missing)
{
	each_child(child_process);
}
END_TEST

START_TEST(a_thread_that_no_memory_was_left_for_is_told_to_be_missing)
{
	each_child(child_thread);
}
END_TEST

/* ---- the module and the CPUs --------------------------------------------- */

static int write_online(const char *text)
{
	int err = 0, f = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);

	if (f < 0)
		return errno;
	if (write(f, text, 1) != 1)
		err = errno;
	close(f);
	return err;
}

/* The kernel's own errors are its own affair. */
START_TEST(a_cpu_that_comes_with_faults_counts_when_it_has_come)
{
	unsigned int n, hits = 0, refused = 0, quiet = 0;
	uint64_t before, after;
	bool hit;

	if (dev_cpus() < 2)
		SKIP("needs two CPUs");
	fd = dev_open();
	pmc = dev_alloc(fd, SC, 0, 1, INSN, U | K);
	dev_ok(dev_start(fd, pmc));
	for (n = 1; quiet < FAULT_QUIET; n++) {
		ck_assert_uint_lt(n, FAULT_MOST);
		ck_assert_int_eq(write_online("0"), 0);
		fault_arm(n);
		refused += !!write_online("1");
		hit = fault_disarm();
		hits += hit;
		quiet = hit ? 0 : quiet + 1;
		ck_assert_int_eq(write_online("1"), 0);
		before = dev_read(fd, pmc);
		dev_pin(0, 1);
		dev_spin(SPINS);
		dev_unpin(0);
		after = dev_read(fd, pmc);
		ck_assert_uint_ge(after - before, 3 * SPINS);
	}
	printf("# CPU online: %u faults, %u refusals\n", hits, refused);
	ck_assert_uint_gt(refused, 0);
	close(fd);
}
END_TEST

#define MODULE	"/tmp/hwpmc.ko"

/* Into memory: faults of the file system, also when it closes a file, are its own. */
static void copy_module(void)
{
	struct utsname uts;
	char cmd[192];

	uname(&uts);
	snprintf(cmd, sizeof(cmd), "cp build/kmod/%s/hwpmc.ko " MODULE,
		 uts.release);
	ck_assert_int_eq(system(cmd), 0);
}

/* Returns 0 or errno; how many faults there could have been, were there none. */
static int load(unsigned int fault, bool *hit, unsigned int *count)
{
	int module = open(MODULE, O_RDONLY | O_CLOEXEC), err = 0;

	ck_assert_int_ge(module, 0);
	fault_arm(fault);
	if (syscall(SYS_finit_module, module, "", 0))
		err = errno;
	if (count)
		*count = fault_count(fault);
	else
		*hit = fault_disarm();
	close(module);
	return err;
}

static bool is_loaded(void)
{
	char line[256];
	bool yes = false;
	FILE *f = fopen("/proc/modules", "r");

	while (f && fgets(line, sizeof(line), f))
		yes |= !strncmp(line, "hwpmc ", 6);
	fclose(f);
	return yes;
}

static void unload(void)
{
	ck_assert_int_eq(syscall(SYS_delete_module, "hwpmc", 0), 0);
}

/* So many faults can a load have. */
static unsigned int faults_of_loading(void)
{
	unsigned int n;

	ck_assert_int_eq(load(100 * FAULT_MOST, NULL, &n), 0);
	unload();
	return n;
}

static void load_with(unsigned int n)
{
	bool hit;
	int err = load(n, &hit, NULL);

	ck_assert_msg(!err || hit, "without a fault: %s", strerror(err));
	ck_assert_msg(is_loaded() == !err, "fault %u: %s", n, strerror(err));
	if (!err && hit)
		printf("# fault %u: loaded all the same\n", n);
	if (err)
		return;
	/* The kernel's loader lives on without some of what it asked for. */
	if (hit)
		dev_still_counts();
	unload();
}

/*
 * The module's own come last; of those before, which are the loader's, one in ten is
 * enough.
 */
#define LAST	100

START_TEST(each_fault_of_loading_the_module_leaves_none_or_a_whole_one)
{
	unsigned int n, all;

	copy_module();
	unload();
	all = faults_of_loading();
	for (n = 1; n <= all; n += n + LAST < all ? 10 : 1)
		load_with(n);
	printf("# module: %u faults\n", all);
	dev_setup();
}
END_TEST

/* ---- what is lost -------------------------------------------------------- */

static void scan(void)
{
	int f = open(KMEMLEAK, O_WRONLY);

	ck_assert_int_eq(write(f, "scan", 4), 4);
	close(f);
}

/*
 * Objects that are lost and have to do with the module. Not the names of caches whose
 * folder in sysfs could not be made: those Linux 6.1 forgets itself.
 */
static unsigned int lost_objects(bool *any)
{
	FILE *f = fopen(KMEMLEAK, "r");
	bool named = false, kernels = false;
	unsigned int lost = 0;
	char line[256];

	ck_assert_ptr_nonnull(f);
	*any = false;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "unreferenced", 12)) {
			lost += named && !kernels;
			named = kernels = false;
			*any = true;
		}
		named |= !!strstr(line, "hwpmc");
		kernels |= !!strstr(line, "sysfs_slab_add");
		printf("# %s", line);
	}
	fclose(f);
	return lost + (named && !kernels);
}

START_TEST(after_all_faults_no_object_of_the_module_is_lost)
{
	bool any;

	if (access(KMEMLEAK, W_OK))
		SKIP("the kernel has no kmemleak");
	unload();
	/* What has just been allocated is not looked at for 5 s. */
	dev_msleep(6000);
	scan();
	dev_msleep(6000);
	scan();
	ck_assert_msg(!lost_objects(&any), "lost: see the log of this test");
	if (any)
		dev_expect("kmemleak: [0-9]* new suspected memory leaks");
	dev_setup();
}
END_TEST

int main(void)
{
	fault_main();
	harness_fixture(fault_setup, dev_still_counts);
	harness_add_timed(a_child_that_no_memory_was_left_for_is_told_to_be_missing, 60);
	harness_add_timed(a_thread_that_no_memory_was_left_for_is_told_to_be_missing, 60);
	harness_add_timed(a_cpu_that_comes_with_faults_counts_when_it_has_come, 60);
	harness_add_timed(each_fault_of_loading_the_module_leaves_none_or_a_whole_one, 200);
	harness_add_timed(after_all_faults_no_object_of_the_module_is_lost, 60);
	return harness_run();
}
