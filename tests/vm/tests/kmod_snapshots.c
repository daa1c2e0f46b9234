/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_snapshots.c - what a start of a sampling PMC lists of other programs: nothing that
 * the caller may not see at that moment, and without a lock that they need.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "harness.h"
#include "hwpmc_log.h"
#include "kmod_dev.h"
#include "../lib/kmod_hold.h"

#define SETUID	"/tmp/loop.snapshots"

static void *shared_memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);

	ck_assert(at != MAP_FAILED);
	return at;
}

static uint32_t sampling(int fd, int mode, uint32_t cpu)
{
	struct hwpmc_op_pmcallocate request = {
		.class = HWPMC_CLASS_SOFT, .ev = HWPMC_EV_SOFT_CLOCK_HARD, .mode = mode,
		.cpu = cpu, .caps = U, .count = 1000,
	};

	dev_ok(dev_allocate(fd, &request));
	return request.pmcid;
}

/* ---- a target that becomes a set-id program --------------------------------- */

#define OTHERS	200	/* targets that are listed before it */
#define ROUNDS	9
#define STEP_MS	4	/* the exec is so much later in each round */

static volatile int *go;

static void become_set_id(int delay_ms)
{
	uint64_t began;

	dev_pin(0, 1);
	while (!*go)
		;
	for (began = dev_now(); dev_now() - began < delay_ms * 1000000ull;)
		;
	execl(SETUID, SETUID, "2000000000", NULL);
	_exit(127);
}

static pid_t begin(int delay_ms)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (delay_ms >= 0)
		become_set_id(delay_ms);
	for (;;)
		pause();
}

static char text[16 << 20];

/* Mappings of the set-id program in the log. */
static unsigned int mappings_of_set_id(int log, pid_t pid)
{
	ssize_t n = pread(log, text, sizeof(text), 0);
	unsigned int found = 0;

	for (ssize_t at = 0; at + (ssize_t)sizeof(struct hwpmc_log_hdr) <= n;) {
		struct hwpmc_log_map *r = (void *)(text + at);

		ck_assert_uint_ge(r->hdr.len, sizeof(r->hdr));
		at += r->hdr.len;
		if (r->hdr.type == HWPMC_LOG_MAP_IN && r->pid == pid)
			found += !strcmp(r->path, SETUID);
	}
	return found;
}

/* Returns how many processes are listed in the log. */
static unsigned int processes_in(int log)
{
	ssize_t n = pread(log, text, sizeof(text), 0);
	unsigned int found = 0;
	int last = 0;

	for (ssize_t at = 0; at + (ssize_t)sizeof(struct hwpmc_log_hdr) <= n;) {
		struct hwpmc_log_map *r = (void *)(text + at);

		at += r->hdr.len;
		if (r->hdr.type == HWPMC_LOG_MAP_IN && r->pid != last) {
			last = r->pid;
			found++;
		}
	}
	return found;
}

static unsigned int start_amid_exec(int delay_ms)
{
	int fd = dev_open(), log = memfd_create("log", 0);
	uint32_t id = sampling(fd, HWPMC_MODE_TS, ANY);
	unsigned int found;
	pid_t pid[OTHERS + 1];

	*go = 0;
	for (int i = 0; i <= OTHERS; i++)
		pid[i] = begin(i < OTHERS ? -1 : delay_ms);
	dev_ok(dev_configure(fd, log, 0, 1 << 20));
	for (int i = 0; i <= OTHERS; i++)
		dev_ok(dev_attach(fd, id, pid[i]));
	*go = 1;
	dev_ok(dev_start(fd, id));
	dev_ok(dev_simple(fd, HWPMC_IOC_FLUSHLOG));
	found = mappings_of_set_id(log, pid[OTHERS]);
	/* What may be seen is. */
	ck_assert_uint_ge(processes_in(log), OTHERS);
	for (int i = 0; i <= OTHERS; i++)
		dev_end(pid[i]);
	close(log);
	close(fd);
	return found;
}

static void make_set_id(void)
{
	ck_assert_int_eq(system("cp build/vm/progs/loop " SETUID
				" && chmod 4755 " SETUID), 0);
}

static void start_amid_execs(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		ck_assert_uint_eq(start_amid_exec(i * STEP_MS), 0);
}

START_TEST(snapshot_lists_no_target_that_became_a_set_id_program)
{
	make_set_id();
	go = shared_memory(sizeof(*go));
	dev_pin(getpid(), 0);
	dev_as(NOBODY, start_amid_execs, NULL);
}
END_TEST

/* ---- an undumpable target ------------------------------------------------- */

static void attach_and_hide(void *unused)
{
	int fd = dev_open(), log = memfd_create("log", 0), status;
	uint32_t id = sampling(fd, HWPMC_MODE_TS, ANY);
	pid_t pid;

	*go = 0;
	dev_ok(dev_configure(fd, log, 0, 1 << 20));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!*go)
			dev_msleep(1);
		prctl(PR_SET_DUMPABLE, 0);
		*go = 2;
		for (;;)
			pause();
	}
	dev_ok(dev_attach(fd, id, pid));
	*go = 1;
	while (*go != 2 && !waitpid(pid, &status, WNOHANG))
		dev_msleep(1);
	dev_ok(dev_start(fd, id));
	dev_ok(dev_simple(fd, HWPMC_IOC_FLUSHLOG));
	ck_assert_uint_eq(processes_in(log), 0);
	dev_end(pid);
}

START_TEST(snapshot_lists_no_target_that_became_undumpable)
{
	go = shared_memory(sizeof(*go));
	dev_as(NOBODY, attach_and_hide, NULL);
}
END_TEST

/* ---- an exec during a start or an attach ------------------------------------ */

/* The caller is held at a function of the module, and its target executes a set-id program. */
static struct held {
	volatile pid_t target;
	volatile bool ready, armed, go;
	volatile unsigned int named;	/* records that name the program */
} *held;

static void execute_set_id(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dev_pin(0, 1);
	while (!held->go)
		;
	execl(SETUID, SETUID, "2000000000", NULL);
	_exit(127);
}

/* By its name, as a look at the link to its program waits for its exec. */
static bool is_set_id(pid_t pid)
{
	char path[32], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(name, sizeof(name), f));
	fclose(f);
	return !strcmp(name, "loop.snapshots\n");
}

/* Records of this type that have the path, and of any other mapping if `all`. */
static unsigned int records_in(int log, unsigned int type, size_t path, bool all)
{
	ssize_t n = pread(log, text, sizeof(text), 0);
	unsigned int found = 0;

	for (ssize_t at = 0; at + (ssize_t)sizeof(struct hwpmc_log_hdr) <= n;) {
		struct hwpmc_log_hdr *hdr = (void *)(text + at);

		ck_assert_uint_ge(hdr->len, sizeof(*hdr));
		if (hdr->type == type)
			found += all || !strcmp(text + at + path, SETUID);
		at += hdr->len;
	}
	return found;
}

static void await_armed(void)
{
	held->ready = true;
	while (!held->armed)
		usleep(100);
}

/* Its log; the target executes the program during the attach or start. */
static int log_of_held(bool amid_attach)
{
	int fd = dev_open(), log = memfd_create("log", 0);
	uint32_t id;
	pid_t pid;

	dev_become(NOBODY);
	id = sampling(fd, HWPMC_MODE_TS, ANY);
	dev_ok(dev_configure(fd, log, 0, 1 << 20));
	pid = fork();
	if (!pid)
		execute_set_id();
	held->target = pid;
	if (amid_attach)
		await_armed();
	dev_ok(dev_attach(fd, id, held->target));
	if (!amid_attach) {
		await_armed();
		dev_ok(dev_start(fd, id));
	}
	while (!is_set_id(held->target))
		dev_msleep(1);
	dev_ok(dev_simple(fd, HWPMC_IOC_FLUSHLOG));
	return log;
}

static void start_amid_hold(void *all)
{
	int log = log_of_held(false);

	held->named = records_in(log, HWPMC_LOG_MAP_IN, offsetof(struct hwpmc_log_map, path),
				 all);
	dev_end(held->target);
}

static void attach_amid_hold(void *unused)
{
	int log = log_of_held(true);

	ck_assert_uint_eq(records_in(log, HWPMC_LOG_PMCATTACH, 0, true), 1);
	held->named = records_in(log, HWPMC_LOG_PMCATTACH,
				 offsetof(struct hwpmc_log_attach, path), false);
	dev_end(held->target);
}

#define OPTIMIZE	"/proc/sys/debug/kprobes-optimization"

/* Returns true if the target waits for a lock, by a file of /proc that waits for none itself. */
static bool waits_for_lock(pid_t pid)
{
	char path[32], line[80], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (!state && fgets(line, sizeof(line), f))
		sscanf(line, "State: %c", &state);
	fclose(f);
	ck_assert_int_ne(state, 0);
	return state == 'D';
}

/*
 * Returns true if the target could execute the program while the caller was held, and false if
 * its exec waited for a lock of the caller's. It sleeps for nothing else: the program is in memory.
 */
static bool exec_amid(const char *function, void (*fn)(void *), void *arg)
{
	struct child caller;
	bool executed;

	make_set_id();
	/* A start registers kprobes: to optimize them interrupts each CPU, a held one too. */
	dev_put(OPTIMIZE, "0");
	held = shared_memory(sizeof(*held));
	dev_pin(0, 1);
	caller = dev_child(fn, arg);
	dev_pin(caller.pid, 0);
	hold_at(function);
	dev_go(&caller);
	while (!held->ready)
		dev_msleep(1);
	dev_calm();		/* after the attach */
	hold_arm(caller.pid);
	held->armed = true;
	hold_wait();
	held->go = true;
	/* The timers of an idle CPU may wait for the one that is held. */
	while (!is_set_id(held->target) && !waits_for_lock(held->target))
		sched_yield();
	executed = is_set_id(held->target);
	hold_end();
	dev_put(OPTIMIZE, "1");
	dev_wait(&caller);
	return executed;
}

START_TEST(snapshot_lets_no_exec_between_the_right_and_the_memory)
{
	ck_assert(!exec_amid("hwpmc_memory_grab", start_amid_hold, NULL));
	ck_assert_uint_eq(held->named, 0);
}
END_TEST

START_TEST(snapshot_lists_no_mapping_of_a_program_that_is_gone)
{
	/* It has begun; its end waits for the memory that is listed. */
	ck_assert(!exec_amid("hwpmc_wants_vma", start_amid_hold, "all"));
	ck_assert_uint_eq(held->named, 0);
}
END_TEST

START_TEST(attach_record_names_no_program_that_may_not_be_seen)
{
	ck_assert(exec_amid("hwpmc_record_attach", attach_amid_hold, NULL));
	ck_assert_uint_eq(held->named, 0);
}
END_TEST

/* ---- a ring without room --------------------------------------------------- */

#define PROGRAMS	24
#define SMALLEST_RING	4096
#define LONGEST_NS	1000000000ull	/* of the two seconds that the start waits for room */

/* Switches because the caller has waited for something other than a CPU. */
static long waits(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_nvcsw;
}

/* The longest call that has waited: a busy machine may keep a CPU from it for as long. */
static void map_again_and_again(volatile uint64_t *longest)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		long before = waits();
		uint64_t began = dev_now();
		void *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(at, 8192);
		began = dev_now() - began;
		if (waits() != before && began > *longest)
			*longest = began;
		dev_msleep(20);
	}
}

START_TEST(snapshot_waits_for_room_without_locks_of_others)
{
	volatile uint64_t *longest = shared_memory(PROGRAMS * sizeof(*longest));
	pid_t pid[PROGRAMS];
	uint64_t began;
	uint32_t id;
	int fd;

	for (int i = 0; i < PROGRAMS; i++) {
		pid[i] = fork();
		if (!pid[i])
			map_again_and_again(&longest[i]);
	}
	fd = dev_open();
	id = sampling(fd, HWPMC_MODE_SS, 0);
	/* Nobody reads it. */
	dev_ok(dev_configure(fd, -1, HWPMC_LOG_F_MAPPED, SMALLEST_RING));
	dev_msleep(500);
	for (int i = 0; i < PROGRAMS; i++)
		longest[i] = 0;
	began = dev_now();
	dev_ok(dev_start(fd, id));
	/* Otherwise this tests nothing. */
	ck_assert_uint_gt(dev_now() - began, LONGEST_NS);
	dev_msleep(100);
	for (int i = 0; i < PROGRAMS; i++) {
		ck_assert_uint_lt(longest[i], LONGEST_NS);
		dev_end(pid[i]);
	}
	close(fd);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(snapshot_lists_no_target_that_became_a_set_id_program, 40);
	harness_add(snapshot_lists_no_target_that_became_undumpable);
	harness_add(snapshot_lets_no_exec_between_the_right_and_the_memory);
	harness_add(snapshot_lists_no_mapping_of_a_program_that_is_gone);
	harness_add(attach_record_names_no_program_that_may_not_be_seen);
	harness_add(snapshot_waits_for_room_without_locks_of_others);
	return harness_run();
}
