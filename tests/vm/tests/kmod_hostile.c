/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_hostile.c - while somebody tries to keep others from the module, a user opens it,
 * allocates, starts, reads and closes. The limit of each test only ends a hang; that each
 * call takes less than a second is asserted of the median of all rounds, since the host
 * may stop the guest for as long. HOSTILE_ROUNDS: the rounds of each test (5), during
 * which its attack goes on.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "harness.h"
#include "kmod_dev.h"

#define SOMEBODY	65533
#define DESCRIPTORS	1000
#define HELD		50	/* of them have a PMC at each exec */
#define LIMIT_NS	1000000000ull
#define MOST_ROUNDS	1024	/* that are remembered */

static unsigned int rounds(void)
{
	const char *s = getenv("HOSTILE_ROUNDS");

	return s ? atoi(s) : 5;
}

static void real_time(pid_t tid, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	ck_assert(!sched_setscheduler(tid, SCHED_FIFO, &param));
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* ---- the user ------------------------------------------------------------ */

/* The longest call of this round, and its text. */
static uint64_t longest;
static const char *longest_call;
/* The longest of each round, in memory that is shared with the user's process. */
static struct {
	unsigned int n;
	uint64_t longest[MOST_ROUNDS];
} *took;

#define TIMED(call) ({							\
	uint64_t began_ = now();					\
	typeof(call) ret_ = (call);					\
	began_ = now() - began_;					\
	if (began_ > longest) {						\
		longest = began_;					\
		longest_call = #call;					\
	}								\
	ret_;								\
})

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A test that failed, or a program that was killed, has left it. */
static int free_workqueues(void)
{
	return system("! lsmod | grep -q ^poolmod || rmmod poolmod");
}

static void setup(void)
{
	ck_assert_int_eq(free_workqueues(), 0);
	took = mmap(NULL, sizeof(*took), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(took != MAP_FAILED);
}

static void check_times(void)
{
	unsigned int n = took->n < MOST_ROUNDS ? took->n : MOST_ROUNDS;

	qsort(took->longest, n, sizeof(took->longest[0]), compare);
	fprintf(stderr, "%u rounds, longest call: median %llu us, at most %llu us\n",
		n, (unsigned long long)took->longest[n / 2] / 1000,
		(unsigned long long)took->longest[n - 1] / 1000);
	ck_assert_uint_lt(took->longest[n / 2], LIMIT_NS);
}

static void use_once(void)
{
	int fd = TIMED(dev_open());
	uint32_t id = TIMED(dev_alloc(fd, TC, 0, ANY, INSN, U));
	uint64_t before;

	dev_ok(TIMED(dev_start(fd, id)));
	before = dev_read(fd, id);
	dev_spin(1000);
	ck_assert_uint_ge(TIMED(dev_read(fd, id)) - before, 3000);
	dev_ok(TIMED(dev_stop(fd, id)));
	ck_assert(!TIMED(close(fd)));
	took->longest[took->n++ % MOST_ROUNDS] = longest;
	if (longest >= LIMIT_NS)
		fprintf(stderr, "%s took %llu ms\n", longest_call,
			(unsigned long long)longest / 1000000);
}

/* priority 0: an ordinary user. The parent waits, with the priority that it has. */
static void others_go_on(int priority)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (priority)
			real_time(0, priority);
		dev_become(SOMEBODY);
		use_once();
		_exit(0);
	}
	alarm(400);	/* only ends the hang that this looks for */
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	alarm(0);
	ck_assert_int_eq(status, 0);
}

static void end(pid_t pid)
{
	ck_assert(!kill(pid, SIGKILL));
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* ---- execs with many descriptors ----------------------------------------- */

/* Generation 0 opens the descriptors; each generation ends by an exec, which drops what
 * they hold by a work item. */
static void storm(int generation, int progress)
{
	char next[16], to[16];
	uint64_t one = 1;

	struct hwpmc_op_pmcallocate request;

	/* Outside of libcheck: no assertion. */
	dev_setup();
	if (!generation) {
		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY))
			_exit(2);
		for (int i = 0; i < DESCRIPTORS; i++)
			if (open("/dev/hwpmc", O_RDWR) < 0)
				_exit(3);
	}
	if (write(progress, &one, sizeof(one)) != sizeof(one))
		_exit(4);
	dev_request(&request, TC, 0, ANY, INSN, U);
	/* Refused where the work item has not released that of some execs ago. */
	for (int fd = 100; fd < 100 + HELD; fd++)
		dev_allocate(fd, &request);
	snprintf(next, sizeof(next), "%d", generation + 1);
	snprintf(to, sizeof(to), "%d", progress);
	execl("/proc/self/exe", "kmod_hostile", "storm", next, to, NULL);
	_exit(5);
}

static pid_t begin_storm(int progress, int cpu)
{
	struct rlimit limit = { DESCRIPTORS + 64, DESCRIPTORS + 64 };
	char to[16];
	pid_t pid = fork();

	if (pid)
		return pid;
	dev_pin(getpid(), cpu);
	setrlimit(RLIMIT_NOFILE, &limit);
	/* Above those of the device. */
	snprintf(to, sizeof(to), "%d", dup2(progress, DESCRIPTORS + 63));
	execl("/proc/self/exe", "kmod_hostile", "storm", "0", to, NULL);
	_exit(6);
}

static int getmsr(int fd, uint32_t id)
{
	struct hwpmc_op_getmsr op = { .pmcid = id };
	int ret = ioctl(fd, HWPMC_IOC_PMCGETMSR, &op);

	dev_hdr = op.hdr;
	return ret ? errno : 0;
}

/* Asks for RDPMC, and gives it back. */
static pid_t begin_asking(int progress, int cpu)
{
	uint64_t one = 1;
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	dev_pin(getpid(), cpu);
	dev_become(NOBODY - 2);
	fd = dev_open();
	for (;;) {
		uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

		dev_ok(dev_start(fd, id));
		dev_ok(getmsr(fd, id));
		dev_ok(dev_release(fd, id));
		if (write(progress, &one, sizeof(one)) != sizeof(one))
			_exit(1);
	}
}

static void await_progress(int progress, unsigned int n)
{
	uint64_t some, sum = 0;
	int status;

	while (sum < n) {
		struct pollfd p = { .fd = progress, .events = POLLIN };

		/* A process that ends does not go on. */
		while (!poll(&p, 1, 100))
			ck_assert_msg(!waitpid(-1, &status, WNOHANG),
				      "status %#x", status);
		ck_assert_int_eq(read(progress, &some, sizeof(some)), sizeof(some));
		sum += some;
	}
}

START_TEST(execs_that_drop_a_thousand_descriptors_hold_nobody_up)
{
	int stormed = eventfd(0, 0), asked = eventfd(0, 0);
	int cpus = dev_cpus();
	pid_t stormer[64], asker[64];

	for (int cpu = 0; cpu < cpus; cpu++) {
		/* Each user has its own limit of descriptors: one process has them. */
		stormer[cpu] = cpu ? 0 : begin_storm(stormed, cpu);
		asker[cpu] = begin_asking(asked, cpu);
	}
	for (unsigned int i = 0; i < rounds(); i++) {
		await_progress(stormed, 3);
		await_progress(asked, 3);
		others_go_on(0);
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		if (stormer[cpu])
			end(stormer[cpu]);
		end(asker[cpu]);
	}
	check_times();
	dev_still_counts();
}
END_TEST

/* ---- real-time threads --------------------------------------------------- */

/* Shared by all processes of a test. */
static struct {
	volatile int spinning;
	volatile int over;
} *shared;

static char old_runtime[32];

/*
 * Real-time threads may take all of the time, as on a machine tuned for them. First the
 * work items of what ran before come to their end: one that is preempted while it holds
 * the lock holds it until the scheduler moves it to another CPU.
 */
static void no_throttling(void)
{
	FILE *f = fopen("/proc/sys/kernel/sched_rt_runtime_us", "r");

	dev_msleep(2000);
	ck_assert(f && fgets(old_runtime, sizeof(old_runtime), f));
	fclose(f);
	dev_put("/proc/sys/kernel/sched_rt_runtime_us", "-1\n");
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	ck_assert(shared != MAP_FAILED);
}

static void throttling(void)
{
	shared->over = 1;
	dev_put("/proc/sys/kernel/sched_rt_runtime_us", old_runtime);
}

static void spin_on(int cpu)
{
	dev_pin(0, cpu);
	real_time(0, 50);
	__atomic_fetch_add(&shared->spinning, 1, __ATOMIC_SEQ_CST);
	while (!shared->over)
		;
}

static pid_t begin_spinning(int cpu)
{
	pid_t pid = fork();

	if (!pid) {
		spin_on(cpu);
		_exit(0);
	}
	return pid;
}

static void await_spinners(int n)
{
	while (shared->spinning < n)
		sched_yield();
}

static void *spin_thread(void *unused)
{
	spin_on(0);
	return NULL;
}

/* It waits for itself; or it is through, where something of the kernel's has run on the
 * CPU of its thread meanwhile. */
static void await_call_or_end(pid_t pid)
{
	while (dev_waiting_in(pid) != SYS_ioctl && dev_state(pid) != 'Z')
		sched_yield();
}

/* Asks for RDPMC while its own thread occupies CPU 0; says when it does, and when not. */
static void ask_beside_own_thread(void)
{
	pthread_t thread;
	uint32_t id;
	int fd = dev_open();

	dev_pin(0, 1);
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_start(fd, id));
	ck_assert(!pthread_create(&thread, NULL, spin_thread, NULL));
	await_spinners(1);
	_exit(getmsr(fd, id) ? 1 : 0);
}

START_TEST(who_asks_for_rdpmc_beside_its_real_time_thread_waits_alone_and_dies_at_once)
{
	pid_t asker;

	no_throttling();
	dev_pin(getpid(), 1);
	asker = fork();
	if (!asker)
		ask_beside_own_thread();
	await_spinners(1);
	await_call_or_end(asker);
	for (unsigned int i = 0; i < rounds(); i++)
		others_go_on(0);
	end(asker);
	others_go_on(0);
	throttling();
	check_times();
	dev_still_counts();
}
END_TEST

START_TEST(who_asks_for_rdpmc_does_not_wait_for_the_real_time_threads_of_others)
{
	pid_t spinner;
	uint32_t id;
	int fd;

	no_throttling();
	fd = dev_open();
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_start(fd, id));
	/* Has run on both. */
	dev_pin(0, 0);
	dev_pin(0, 1);
	spinner = begin_spinning(0);
	await_spinners(1);
	dev_ok(getmsr(fd, id));
	dev_ok(dev_release(fd, id));
	close(fd);
	throttling();
	ck_assert_int_eq(waitpid(spinner, NULL, 0), spinner);
	dev_still_counts();
}
END_TEST

START_TEST(real_time_threads_on_every_cpu_keep_who_runs_before_them_from_nothing)
{
	int cpus = dev_cpus(), fd = dev_open();

	/* The hooks stay: to register them again waits for RCU, hence for every CPU. */
	dev_alloc(fd, TC, 0, ANY, INSN, U);
	for (unsigned int i = 0; i < rounds(); i++) {
		pid_t spinner[64];

		no_throttling();
		shared->spinning = shared->over = 0;
		real_time(0, 60);
		for (int cpu = 0; cpu < cpus; cpu++)
			spinner[cpu] = begin_spinning(cpu);
		/* It sleeps, so that they get to run. */
		while (shared->spinning < cpus)
			dev_msleep(1);
		others_go_on(60);
		throttling();
		for (int cpu = 0; cpu < cpus; cpu++)
			ck_assert_int_eq(waitpid(spinner[cpu], NULL, 0), spinner[cpu]);
	}
	close(fd);
	check_times();
	dev_still_counts();
}
END_TEST

/* ---- the kernel's workqueues --------------------------------------------- */

static volatile int other_runs, other_is_over;

static void *run_there(void *unused)
{
	dev_pin(0, 0);
	other_runs = 1;
	while (!other_is_over)
		;
	return NULL;
}

/* The program inherits the descriptor, so that nothing is released by a close. */
static void count_cpu_and_exec(void *unused)
{
	int fd = open(HWPMC_DEVICE, O_RDWR);

	dev_ok(dev_start(fd, dev_alloc(fd, SC, 0, 0, INSN, U)));
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
	_exit(127);
}

START_TEST(occupied_workqueues_of_the_kernel_hold_nobody_up)
{
	int fd, execs = eventfd(0, 0);
	struct child holder;
	pthread_t thread;
	pid_t stormer;
	uint32_t id;

	ck_assert_int_eq(system("insmod build/vm/kmods/$(uname -r)/poolmod.ko"), 0);
	stormer = begin_storm(execs, 0);
	for (unsigned int i = 0; i < rounds(); i++) {
		await_progress(execs, 2);
		others_go_on(0);
	}
	fd = dev_open();
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_start(fd, id));
	/* The CPU of its other thread is looked at by an item that is of no CPU. */
	dev_pin(0, 1);
	ck_assert(!pthread_create(&thread, NULL, run_there, NULL));
	while (!other_runs)
		sched_yield();
	dev_ok(getmsr(fd, id));
	other_is_over = 1;
	pthread_join(thread, NULL);
	dev_unpin(0);
	dev_ok(dev_release(fd, id));
	close(fd);
	end(stormer);
	/* What work items undo is undone all the same: that of an exec. */
	holder = dev_child(count_cpu_and_exec, NULL);
	dev_go(&holder);
	dev_await_call(holder.pid, SYS_clock_nanosleep);
	dev_check_registers_clear();
	end(holder.pid);
	ck_assert_int_eq(system("rmmod poolmod"), 0);
	check_times();
	dev_still_counts();
}
END_TEST

int main(int argc, char **argv)
{
	int status;

	if (argc == 4 && !strcmp(argv[1], "storm"))
		storm(atoi(argv[2]), atoi(argv[3]));
	dev_setup();
	harness_fixture(setup, NULL);
	harness_add_timed(execs_that_drop_a_thousand_descriptors_hold_nobody_up, 100);
	harness_add(who_asks_for_rdpmc_beside_its_real_time_thread_waits_alone_and_dies_at_once);
	harness_add(who_asks_for_rdpmc_does_not_wait_for_the_real_time_threads_of_others);
	harness_add(real_time_threads_on_every_cpu_keep_who_runs_before_them_from_nothing);
	harness_add_timed(occupied_workqueues_of_the_kernel_hold_nobody_up, 100);
	status = harness_run();
	return free_workqueues() ? 1 : status;
}
