// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_faults - no memory, and no access to the caller's: every operation of the
 * device is done with its first allocation or copy failing, then with its second, and
 * so on until none was left to fail. Each time it ends in ENOMEM or EFAULT with the
 * reason or does what it is to do, the same operation succeeds at once afterwards, and
 * the driver counts.
 *
 * Needs a kernel with fault injection (make check-faults). FAULTS_VERBOSE=2: the kernel
 * says where each fault was.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../lib/kmod_fault.h"
#include "hwpmc_log.h"
#include "kmod_dev.h"

/* ---- what is done -------------------------------------------------------- */

static int fd = -1;
static uint32_t pmc;
static void *mapped;
static int file = -1;
static struct child family;

struct attempt {
	const char *name;
	void (*prepare)(void);
	int (*act)(void);	/* 0 or errno; the faults are in here */
	void (*undo)(void);	/* whether it was done or not; before the close */
	int also;		/* a further errno that it may have */
	bool silent;		/* no operation, so no reason */
	bool infallible;	/* neither allocates nor copies */
};

#define TRY(what, before, op, ...)					\
	{ .name = what, .prepare = before, .act = op, ##__VA_ARGS__ }

static void begin(const struct attempt *a)
{
	fd = dev_open();
	ck_assert_int_ge(fd, 0);
	if (a->prepare)
		a->prepare();
}

static void end(const struct attempt *a)
{
	if (a->undo)
		a->undo();
	close(fd);
	fd = -1;
}

static void check_refusal(const struct attempt *a, unsigned int n, int err)
{
	ck_assert_msg(err == ENOMEM || err == EFAULT || (a->also && err == a->also),
		      "%s, fault %u: %s, reason %u", a->name, n, strerror(err),
		      dev_hdr.reason);
	if (err == ENOMEM && !a->silent)
		ck_assert_msg(dev_hdr.reason == HWPMC_WHY_NO_MEMORY,
			      "%s, fault %u: ENOMEM, reason %u", a->name, n,
			      dev_hdr.reason);
}

/* As it is after a fault: in the same state if it was refused for want of memory. A
 * copy that fails may have been that of the answer. */
static void again(const struct attempt *a, unsigned int n, int err)
{
	int then;

	if (err != ENOMEM) {
		end(a);
		begin(a);
	}
	then = a->act();
	ck_assert_msg(!then, "%s after fault %u (%s): %s, reason %u", a->name, n,
		      strerror(err), strerror(then), dev_hdr.reason);
}

/* Each fault in turn. */
static void attempt(const struct attempt *a)
{
	unsigned int n, hits = 0, refused = 0, quiet = 0;
	bool hit;
	int err;

	for (n = 1; quiet < FAULT_QUIET; n++) {
		ck_assert_uint_lt(n, FAULT_MOST);
		begin(a);
		fault_arm(n);
		err = a->act();
		hit = fault_disarm();
		hits += hit;
		quiet = hit ? 0 : quiet + 1;
		if (!hit)
			ck_assert_msg(!err, "%s without a fault: %s, reason %u",
				      a->name, strerror(err), dev_hdr.reason);
		if (err) {
			refused++;
			check_refusal(a, n, err);
			again(a, n, err);
		}
		end(a);
	}
	printf("# %s: %u faults, %u refusals\n", a->name, hits, refused);
	ck_assert_msg(!refused == a->infallible, "%s: %u refusals", a->name,
		      refused);
}

static void attempt_all(const struct attempt *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		attempt(&a[i]);
}

#define ATTEMPT_ALL(list) attempt_all(list, sizeof(list) / sizeof((list)[0]))

/* ---- questions ----------------------------------------------------------- */

static struct hwpmc_pmcinfo infos[HWPMC_ROW_MAX];
static struct hwpmc_dynevent dynevents[64];

static int ask(unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	memcpy(&dev_hdr, arg, sizeof(dev_hdr));
	return ret ? errno : 0;
}

static int open_device(void)
{
	int other = dev_open();

	if (other < 0)
		return errno;
	close(other);
	return 0;
}

static int cpuinfo(void)
{
	struct hwpmc_op_getcpuinfo op = {};

	return ask(HWPMC_IOC_GETCPUINFO, &op);
}

static int stats(void)
{
	struct hwpmc_op_getdriverstats op = {};

	return ask(HWPMC_IOC_GETDRIVERSTATS, &op);
}

static int version(void)
{
	struct hwpmc_op_getmoduleversion op = {};

	return ask(HWPMC_IOC_GETMODULEVERSION, &op);
}

static int pmcinfo(void)
{
	struct hwpmc_op_getpmcinfo op = {
		.npmc = HWPMC_ROW_MAX, .pmcs = (uintptr_t)infos,
	};

	return ask(HWPMC_IOC_GETPMCINFO, &op);
}

static int dyneventinfo(void)
{
	struct hwpmc_op_getdyneventinfo op = {
		.class = HWPMC_CLASS_SOFT, .nevent = 64,
		.events = (uintptr_t)dynevents,
	};
	int err = ask(HWPMC_IOC_GETDYNEVENTINFO, &op);

	/* There are more: those that fit were copied. */
	return err == EINVAL && dev_hdr.reason == HWPMC_WHY_BUFFER ? 0 : err;
}

static int admin(uint32_t state)
{
	struct hwpmc_op_pmcadmin op = {
		.row = dev_first_row(), .state = state,
	};

	return ask(HWPMC_IOC_PMCADMIN, &op);
}

static int disable_row(void)
{
	return admin(HWPMC_STATE_DISABLED);
}

static void enable_row(void)
{
	dev_ok(admin(HWPMC_STATE_FREE));
}

static int revoke_others(void)
{
	struct hwpmc_op_simple op = {};

	return ask(HWPMC_IOC_REVOKE, &op);
}

START_TEST(each_fault_of_open_and_of_questions_is_told_and_leaves_nothing)
{
	static const struct attempt list[] = {
		TRY("open", NULL, open_device, .silent = true),
		TRY("GETCPUINFO", NULL, cpuinfo),
		TRY("GETDRIVERSTATS", NULL, stats),
		TRY("GETMODULEVERSION", NULL, version),
		TRY("GETPMCINFO", NULL, pmcinfo),
		TRY("GETDYNEVENTINFO", NULL, dyneventinfo),
		TRY("PMCADMIN", NULL, disable_row, .undo = enable_row),
		TRY("REVOKE", NULL, revoke_others),
	};

	ATTEMPT_ALL(list);
}
END_TEST

/* ---- allocate ------------------------------------------------------------ */

static struct hwpmc_op_pmcallocate wanted;

static int allocate(void)
{
	struct hwpmc_op_pmcallocate op = wanted;
	int err = dev_allocate(fd, &op);

	pmc = op.pmcid;
	return err;
}

/* As after boot: no hook, no handler, no hardware of ours. */
static void load_anew(void)
{
	close(fd);
	ck_assert_int_eq(syscall(SYS_delete_module, "hwpmc", 0), 0);
	dev_setup();
	fd = dev_open();
	ck_assert_int_ge(fd, 0);
}

static void want(uint32_t class, int mode, uint32_t ev, uint64_t config)
{
	wanted = (struct hwpmc_op_pmcallocate){
		.mode = mode, .class = class, .ev = ev, .config = config,
		.cpu = mode == TC || mode == HWPMC_MODE_TS ? ANY : 0,
		.flags = config ? HWPMC_F_EV_PMU : 0,
		.count = mode == SC || mode == TC ? 0 : 100000,
	};
}

/* The same twice: when it is the first of the module, and when it is not. */
static void allocations(const char *name)
{
	struct attempt first = TRY(name, load_anew, allocate);
	struct attempt later = TRY(name, NULL, allocate);

	attempt(&first);
	attempt(&later);
}

START_TEST(each_fault_of_an_allocation_of_each_class_leaves_nothing)
{
	uint32_t hard = dev_is_amd() ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAP;

	want(HWPMC_CLASS_TSC, SC, HWPMC_EV_TSC, 0);
	allocations("PMCALLOCATE TSC");
	want(hard, TC, 0, 0xc0);
	allocations("PMCALLOCATE, process scope");
	want(hard, SC, 0, 0xc0);
	allocations("PMCALLOCATE, system scope");
	want(HWPMC_CLASS_SOFT, TC, HWPMC_EV_SOFT_PAGE_FAULT_ALL, 0);
	allocations("PMCALLOCATE of page faults");
	want(HWPMC_CLASS_SOFT, SC, HWPMC_EV_SOFT_CLOCK_PROF, 0);
	allocations("PMCALLOCATE of a clock");
	want(hard, HWPMC_MODE_TS, 0, 0xc0);
	wanted.flags |= HWPMC_F_CALLCHAIN | HWPMC_F_DESCENDANTS;
	allocations("PMCALLOCATE that samples a process");
	want(hard, HWPMC_MODE_SS, 0, 0xc0);
	allocations("PMCALLOCATE that samples a CPU");
	wanted.flags |= HWPMC_F_KGMON;
	wanted.caps = K;
	allocations("PMCALLOCATE that drives kgmon");
	want(hard, TC, 0, 0xc0);
	wanted.flags |= HWPMC_F_LOG_PROCCSW | HWPMC_F_LOG_PROCEXIT;
	allocations("PMCALLOCATE whose values are logged");
}
END_TEST

/* ---- attach, start, read, stop, detach ----------------------------------- */

static void *rest(void *unused)
{
	pause();
	return NULL;
}

/* A process with threads, its child, and the child's. */
static void relatives(void *generations)
{
	long left = (long)generations;
	pthread_t thread;

	for (int i = 0; i < 6; i++)
		pthread_create(&thread, NULL, rest, NULL);
	if (left && !fork())
		relatives((void *)(left - 1));
	pause();
}

/* The number behind a text in a file; 0: none yet. */
static long number(const char *path, const char *behind)
{
	char text[4096] = "";
	const char *at;
	FILE *f = fopen(path, "r");

	if (!f)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	at = strstr(text, behind);
	return at ? atol(at + strlen(behind)) : 0;
}

/* At least so much. */
static long wait_for_number(long least, const char *behind, const char *path)
{
	for (int tries = 0; tries < 6000; tries++) {
		long n = number(path, behind);

		if (n >= least)
			return n;
		dev_msleep(10);
	}
	ck_abort_msg("%s: no %s %ld", path, behind, least);
	return 0;
}

/* All of them are there: 3 processes of 7 threads. */
static void family_begin(void)
{
	char path[64];
	pid_t pid;

	family = dev_child(relatives, (void *)2L);
	setpgid(family.pid, 0);
	dev_go(&family);
	pid = family.pid;
	for (int i = 0; i < 3; i++) {
		sprintf(path, "/proc/%d/status", pid);
		wait_for_number(7, "Threads:", path);
		sprintf(path, "/proc/%d/task/%d/children", pid, pid);
		if (i < 2)
			pid = wait_for_number(1, "", path);
	}
}

static void family_end(void)
{
	kill(-family.pid, SIGKILL);
	waitpid(family.pid, NULL, 0);
}

static void alloc_descendants(void)
{
	pmc = dev_alloc(fd, TC, HWPMC_F_DESCENDANTS, ANY, INSN, U);
}

static void alloc_self(void)
{
	pmc = dev_alloc(fd, TC, 0, ANY, INSN, U);
}

static int attach_family(void)
{
	return dev_attach(fd, pmc, family.pid);
}

/* A new one each time: of one that was attached to before the module still knows the
 * threads. */
static void new_family(void)
{
	family_begin();
	alloc_descendants();
}

static void attached_family(void)
{
	new_family();
	dev_ok(attach_family());
}

static int detach_family(void)
{
	return dev_detach(fd, pmc, family.pid);
}

static int start(void)
{
	return dev_start(fd, pmc);
}

static void started(void)
{
	alloc_self();
	dev_ok(start());
}

static int stop(void)
{
	return dev_stop(fd, pmc);
}

static int release(void)
{
	return dev_release(fd, pmc);
}

static int setcount(void)
{
	return dev_setcount(fd, pmc, 5);
}

static int read_fast(void)
{
	uint64_t value = 0;

	return dev_rw(fd, pmc, HWPMC_F_OLDVALUE, &value);
}

static int write_value(void)
{
	uint64_t value = 7;

	return dev_rw(fd, pmc, HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE, &value);
}

static int getmsr(void)
{
	struct hwpmc_op_getmsr op = { .pmcid = pmc };

	return ask(HWPMC_IOC_PMCGETMSR, &op);
}

static int getcaps(void)
{
	struct hwpmc_op_getcaps op = { .pmcid = pmc };

	return ask(HWPMC_IOC_GETCAPS, &op);
}

static void told(void)
{
	started();
	dev_ok(getmsr());
}

static int map_page(void)
{
	mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, HWPMC_USER_OFFSET);
	return mapped == MAP_FAILED ? errno : 0;
}

static void unmap_page(void)
{
	if (mapped != MAP_FAILED)
		munmap(mapped, 4096);
}

START_TEST(each_fault_of_attach_to_threads_and_descendants_leaves_none_attached)
{
	static const struct attempt list[] = {
		TRY("PMCATTACH to 21 threads", new_family, attach_family,
		    .undo = family_end),
		TRY("PMCDETACH", attached_family, detach_family,
		    .undo = family_end),
	};

	ATTEMPT_ALL(list);
}
END_TEST

START_TEST(each_fault_of_start_stop_read_and_release_is_told)
{
	static const struct attempt list[] = {
		TRY("PMCSTART that attaches", alloc_self, start),
		TRY("PMCSTOP", started, stop),
		/* Word by word, and without a lock. */
		TRY("PMCRW", started, read_fast, .infallible = true),
		TRY("PMCRW of a new value", alloc_self, write_value),
		TRY("PMCSETCOUNT", alloc_self, setcount),
		TRY("GETCAPS", alloc_self, getcaps),
		TRY("PMCRELEASE", started, release),
	};

	ATTEMPT_ALL(list);
}
END_TEST

START_TEST(each_fault_of_rdpmc_and_its_page_is_told)
{
	static const struct attempt list[] = {
		TRY("PMCGETMSR", started, getmsr),
		TRY("mmap of a page", told, map_page, .undo = unmap_page, .silent = true),
	};

	ATTEMPT_ALL(list);
}
END_TEST

/* ---- logs, and the histogram --------------------------------------------- */

#define RING	65536

static int configure(int to, uint32_t flags)
{
	struct hwpmc_op_configurelog op = {
		.logfd = to, .flags = flags, .ring_size = RING,
	};

	return ask(HWPMC_IOC_CONFIGURELOG, &op);
}

static int log_to_file(void)
{
	return configure(file, 0);
}

static int log_mapped(void)
{
	return configure(-1, HWPMC_LOG_F_MAPPED);
}

static void with_file(void)
{
	dev_ok(log_to_file());
}

static void with_mapped(void)
{
	dev_ok(log_mapped());
}

static int simple(unsigned long request)
{
	struct hwpmc_op_simple op = {};

	return ask(request, &op);
}

static int flush(void)
{
	return simple(HWPMC_IOC_FLUSHLOG);
}

static int close_log(void)
{
	return simple(HWPMC_IOC_CLOSELOG);
}

static int write_log(void)
{
	struct hwpmc_op_writelog op = { .userdata = 1 };

	return ask(HWPMC_IOC_WRITELOG, &op);
}

static int map_ring(void)
{
	mapped = mmap(NULL, HWPMC_LOG_MAP_SIZE(RING, 4096),
		      PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      HWPMC_LOG_MAP_OFFSET(0));
	return mapped == MAP_FAILED ? errno : 0;
}

static void unmap_ring(void)
{
	if (mapped != MAP_FAILED)
		munmap(mapped, HWPMC_LOG_MAP_SIZE(RING, 4096));
}

/* Its start tells what is mapped where, and all modules. */
static void sampling(void)
{
	want(dev_is_amd() ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAP, HWPMC_MODE_TS, 0,
	     0xc0);
	dev_ok(allocate());
	dev_ok(log_to_file());
	dev_ok(dev_attach(fd, pmc, family.pid));
}

static int kgmon(uint32_t command)
{
	static struct hwpmc_kgmon_entry entries[4096];
	struct hwpmc_op_kgmon op = {
		.command = command, .nentry = 4096,
		.entries = (uintptr_t)entries,
	};

	return ask(HWPMC_IOC_KGMON, &op);
}

static int kgmon_on(void)
{
	return kgmon(HWPMC_KGMON_ON);
}

static void kgmon_off(void)
{
	dev_ok(kgmon(HWPMC_KGMON_OFF));
	dev_ok(kgmon(HWPMC_KGMON_RESET));
}

static int kgmon_read(void)
{
	return kgmon(HWPMC_KGMON_READ);
}

/* A histogram that has something in it. */
static void kgmon_filled(void)
{
	want(dev_is_amd() ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAP, HWPMC_MODE_SS, 0,
	     0xc0);
	wanted.flags |= HWPMC_F_KGMON;
	wanted.caps = K;
	wanted.count = 10000;
	dev_pin(0, 0);
	dev_ok(allocate());
	dev_ok(kgmon_on());
	dev_ok(start());
	for (int i = 0; i < 1000; i++)
		getppid();
	dev_ok(stop());
}

START_TEST(each_fault_of_a_log_leaves_no_log_and_no_memory)
{
	static const struct attempt list[] = {
		/* Its thread is made with memory, too. */
		TRY("CONFIGURELOG to a file", NULL, log_to_file, .also = EAGAIN),
		TRY("CONFIGURELOG mapped", NULL, log_mapped),
		TRY("mmap of a ring", with_mapped, map_ring, .undo = unmap_ring, .silent = true),
		TRY("FLUSHLOG", with_file, flush),
		TRY("FLUSHLOG mapped", with_mapped, flush),
		TRY("WRITELOG", with_file, write_log),
		TRY("CLOSELOG", with_file, close_log),
		TRY("PMCSTART with a snapshot", sampling, start),
	};

	file = open("/tmp/faults.log", O_RDWR | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(file, 0);
	family_begin();
	ATTEMPT_ALL(list);
	family_end();
}
END_TEST

START_TEST(each_fault_of_the_histogram_of_the_kernel_is_told)
{
	static const struct attempt list[] = {
		TRY("KGMON on", NULL, kgmon_on, .undo = kgmon_off),
		TRY("KGMON read", kgmon_filled, kgmon_read, .undo = kgmon_off),
	};

	ATTEMPT_ALL(list);
}
END_TEST

int main(void)
{
	fault_main();
	harness_fixture(fault_setup, dev_still_counts);
	harness_add_timed(each_fault_of_open_and_of_questions_is_told_and_leaves_nothing, 20);
	harness_add_timed(each_fault_of_an_allocation_of_each_class_leaves_nothing, 100);
	harness_add_timed(each_fault_of_attach_to_threads_and_descendants_leaves_none_attached, 60);
	harness_add_timed(each_fault_of_start_stop_read_and_release_is_told, 30);
	harness_add_timed(each_fault_of_rdpmc_and_its_page_is_told, 30);
	harness_add_timed(each_fault_of_a_log_leaves_no_log_and_no_memory, 60);
	harness_add_timed(each_fault_of_the_histogram_of_the_kernel_is_told, 60);
	return harness_run();
}
