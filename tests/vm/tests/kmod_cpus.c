// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_cpus.c - which CPUs an operation interrupts, by the kernel's own count of function
 * call interrupts, and that those which it leaves alone follow all the same. CPU 0 is the
 * caller's, the targets are on others.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "hwpmc_log.h"
#include "kmod_dev.h"

/* Operations between two looks at the counts, and looks. */
#define TIMES	2
#define TRIES	500
#define SEEN	10
#define MOST	16

static void function_calls(unsigned long calls[MOST])
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[4096], *at;

	ck_assert_ptr_nonnull(f);
	at = NULL;
	while (!at && fgets(line, sizeof(line), f))
		at = strstr(line, "CAL:");
	fclose(f);
	ck_assert_ptr_nonnull(at);
	at += 4;
	for (int cpu = 0; cpu < dev_cpus() && cpu < MOST; cpu++)
		calls[cpu] = strtoul(at, &at, 10);
}

/* Those that CPUs other than `but` got while fn(arg) ran TIMES times; *of_but: its. */
static unsigned long calls_of_try(void (*fn)(void *), void *arg, int but,
				  unsigned long *of_but)
{
	unsigned long before[MOST], after[MOST], sum = 0;

	function_calls(before);
	for (int i = 0; i < TIMES; i++)
		fn(arg);
	function_calls(after);
	for (int cpu = 0; cpu < dev_cpus() && cpu < MOST; cpu++)
		if (cpu != but)
			sum += after[cpu] - before[cpu];
	*of_but = after[but] - before[but];
	return sum;
}

/*
 * The least of many tries: the kernel has function calls of its own, the more of them the
 * slower the machine is, and they only add. A try without any comes; after it some more
 * follow, for the least of *of_but. Another least is believed when it has come SEEN times.
 */
static unsigned long calls_during(void (*fn)(void *), void *arg, int but,
				  unsigned long *of_but)
{
	unsigned long least = ~0UL, calls, there;
	int seen = 0;

	fn(arg);
	dev_msleep(500);
	*of_but = ~0UL;
	for (int try = 0; try < TRIES && (least ? seen < SEEN : try < TRIES / 10); try++) {
		calls = calls_of_try(fn, arg, but, &there);
		if (calls < least)
			seen = 0;
		if (calls <= least) {
			least = calls;
			seen++;
		}
		if (there < *of_but)
			*of_but = there;
	}
	return least;
}

struct session {
	int fd;
	uint32_t id;
	pid_t pid;
};

static void start_and_stop(void *arg)
{
	struct session *s = arg;

	dev_ok(dev_start(s->fd, s->id));
	dev_ok(dev_stop(s->fd, s->id));
}

static void attach_and_detach(void *arg)
{
	struct session *s = arg;

	dev_ok(dev_attach(s->fd, s->id, s->pid));
	dev_ok(dev_detach(s->fd, s->id, s->pid));
}

static void allocate_and_release(void *arg)
{
	struct session *s = arg;

	dev_ok(dev_release(s->fd, dev_alloc(s->fd, TC, 0, ANY, BRANCH, U)));
}

static void spin(void *unused)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		dev_spin(1000);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void *sleep_for_ever(void *unused)
{
	dev_pin(0, 1);
	for (;;)
		pause();
	return NULL;
}

/* Its threads are known to the scheduler's hooks when this returns. */
static struct session running_target(int cpu, struct child *child)
{
	struct session s = { .fd = dev_open() };

	*child = dev_child(spin, NULL);
	dev_pin(child->pid, cpu);
	dev_pin(0, 0);
	dev_go(child);
	s.pid = child->pid;
	s.id = dev_alloc(s.fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_attach(s.fd, s.id, s.pid));
	return s;
}

START_TEST(start_and_stop_of_ones_own_pmc_interrupt_no_cpu)
{
	struct session s = { .fd = dev_open() };
	unsigned long here;
	pthread_t thread;

	/* A second thread, that runs nowhere and was last on another CPU. */
	ck_assert(!pthread_create(&thread, NULL, sleep_for_ever, NULL));
	dev_pin(0, 0);
	s.id = dev_alloc(s.fd, TC, 0, ANY, INSN, U);
	ck_assert_uint_eq(calls_during(start_and_stop, &s, 0, &here), 0);
	close(s.fd);
	dev_still_counts();
}
END_TEST

START_TEST(start_and_stop_interrupt_the_cpu_that_the_target_runs_on_alone)
{
	struct child child;
	struct session s = running_target(1, &child);
	unsigned long there;

	ck_assert_uint_eq(calls_during(start_and_stop, &s, 1, &there), 0);
	ck_assert_uint_ge(there, 2 * TIMES);
	end(child.pid);
	close(s.fd);
	dev_still_counts();
}
END_TEST

START_TEST(attach_and_detach_interrupt_the_cpu_that_the_target_runs_on_alone)
{
	struct child child;
	struct session s = running_target(1, &child);
	unsigned long there;

	/* A second PMC: attaching the first has the threads hooked. */
	s.id = dev_alloc(s.fd, TC, 0, ANY, BRANCH, U);
	ck_assert_uint_eq(calls_during(attach_and_detach, &s, 1, &there), 0);
	ck_assert_uint_le(there, TIMES);
	end(child.pid);
	close(s.fd);
	dev_still_counts();
}
END_TEST

/*
 * Under a hypervisor the first PMC also has the counters of each CPU tried, with those of the
 * other class, which is switched on and off for it. Of 8 programmable and 3 fixed counters, whose
 * three events each are right at once: RDPMC of each class 2, events 6, events that are not
 * listed 1, the counters of each class together 2 * 3, those of both together 3.
 */
static unsigned int calls_of_trial(void)
{
	return system("grep -qw hypervisor /proc/cpuinfo") ? 0 : 2 + (2 + 6 + 1 + 2 * 3 + 3);
}

/* A CPU that waits in a loop for work takes a function call without an interrupt. */
static void keep_busy(struct child *child)
{
	for (int cpu = 1; cpu < dev_cpus(); cpu++) {
		child[cpu] = dev_child(spin, NULL);
		dev_pin(child[cpu].pid, cpu);
		dev_go(&child[cpu]);
	}
}

START_TEST(the_first_pmc_of_a_class_interrupts_each_other_cpu_twice_and_the_next_none)
{
	struct session s = { .fd = dev_open() };
	unsigned long others = dev_cpus() - 1, here;
	struct child child[MOST];

	dev_pin(0, 0);
	keep_busy(child);
	ck_assert_uint_eq(calls_during(allocate_and_release, &s, 0, &here),
			  (2 + calls_of_trial()) * others * TIMES);
	dev_alloc(s.fd, TC, 0, ANY, INSN, U);
	ck_assert_uint_eq(calls_during(allocate_and_release, &s, 0, &here), 0);
	for (int cpu = 1; cpu < dev_cpus(); cpu++)
		end(child[cpu].pid);
	close(s.fd);
	dev_still_counts();
}
END_TEST

/* ---- logs, and events of the kernel --------------------------------------- */

#define RING	(16 << 10)

static int log_op(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	memcpy(&dev_hdr, arg, sizeof(dev_hdr));
	return ret ? errno : 0;
}

static void flush(void *arg)
{
	struct session *s = arg;
	struct hwpmc_op_simple op = {};

	dev_ok(log_op(s->fd, HWPMC_IOC_FLUSHLOG, &op));
}

/* Records of this CPU, until one is dropped. */
static void fill_ring(const struct session *s, volatile struct hwpmc_log_ring *ring)
{
	struct hwpmc_op_writelog op = { .userdata = 1 };
	int ret = 0;

	for (int i = 0; !ret && i < RING; i++)
		ret = log_op(s->fd, HWPMC_IOC_WRITELOG, &op);
	ck_assert_int_eq(ret, ENOMEM);
	ck_assert_uint_gt(ring->others_dropped[HWPMC_DROP_FULL], 0);
}

START_TEST(a_flush_interrupts_only_cpus_with_drops_that_can_be_declared)
{
	struct hwpmc_op_configurelog conf = {
		.logfd = -1, .flags = HWPMC_LOG_F_MAPPED, .ring_size = RING,
	};
	struct session s = { .fd = dev_open() };
	volatile struct hwpmc_log_ring *ring;
	unsigned long here, there;
	uint64_t head;

	dev_ok(log_op(s.fd, HWPMC_IOC_CONFIGURELOG, &conf));
	ring = mmap(NULL, 4096 + 2 * RING, PROT_READ | PROT_WRITE, MAP_SHARED, s.fd,
		    HWPMC_LOG_MAP_OFFSET(1));
	ck_assert_ptr_ne((void *)ring, MAP_FAILED);
	dev_pin(0, 0);
	ck_assert_uint_eq(calls_during(flush, &s, 0, &here), 0);
	dev_pin(0, 1);
	fill_ring(&s, ring);
	dev_pin(0, 0);
	head = ring->head;
	ck_assert_uint_eq(calls_during(flush, &s, 0, &here), 0);
	ck_assert_uint_eq(ring->head, head);
	/* Its reader makes room: the drops are declared by the next flush, once. */
	ring->tail = head;
	flush(&s);
	ck_assert_uint_gt(ring->head, head);
	head = ring->head;
	ck_assert_uint_eq(calls_during(flush, &s, 1, &there), 0);
	ck_assert_uint_eq(there, 0);
	ck_assert_uint_eq(ring->head, head);
	close(s.fd);
	dev_still_counts();
}
END_TEST

static void allocate_fault_counter(void *arg)
{
	struct session *s = arg;
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_SOFT, .mode = TC, .ev = HWPMC_EV_SOFT_PAGE_FAULT_ALL,
		.cpu = ANY, .caps = U,
	};

	dev_ok(dev_allocate(s->fd, &op));
	dev_ok(dev_release(s->fd, op.pmcid));
}

START_TEST(an_event_that_is_allocated_again_at_once_interrupts_no_cpu)
{
	struct session s = { .fd = dev_open() };
	unsigned long before[MOST], after[MOST], here, calls = 0;

	dev_pin(0, 0);
	ck_assert_uint_eq(calls_during(allocate_fault_counter, &s, 0, &here), 0);
	/* Its probes go when nobody has needed them for a while: then they come again. */
	for (int try = 0; !calls && try < 50; try++) {
		dev_msleep(2000);
		function_calls(before);
		allocate_fault_counter(&s);
		function_calls(after);
		calls = after[1] - before[1];
	}
	ck_assert_uint_gt(calls, 0);
	close(s.fd);
	dev_still_counts();
}
END_TEST

/* ---- those that are left alone follow ------------------------------------- */

struct turns {
	volatile unsigned int asked, done;
	unsigned int sleeps;		/* between two turns, instead of spinning */
	int ask[2], answer[2];
};

#define TURN	20000

/* So many iterations for each request. */
static void take_turns(void *arg)
{
	struct turns *t = arg;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned int n = 1;; n++) {
		if (t->sleeps && read(t->ask[0], &c, 1) != 1)
			_exit(1);
		while (!t->sleeps && t->asked < n)
			asm volatile("pause");
		dev_spin(TURN);
		t->done = n;
		if (t->sleeps && write(t->answer[1], &c, 1) != 1)
			_exit(1);
	}
}

static void one_turn(struct turns *t)
{
	char c = 0;

	if (t->sleeps) {
		ck_assert_int_eq(write(t->ask[1], &c, 1), 1);
		ck_assert_int_eq(read(t->answer[0], &c, 1), 1);
		return;
	}
	t->asked++;
	while (t->done < t->asked)
		sched_yield();
}

/*
 * All of what a target does between a start and a stop is counted, and nothing after the
 * stop, whether it runs, waits for its CPU, or is being switched in or out meanwhile: a
 * second process on its CPU, and no pinning where `cpu` is -1.
 */
static void check_turns(unsigned int sleeps, int cpu)
{
	struct turns *t = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct child target, rival = dev_child(spin, NULL);
	struct session s = { .fd = dev_open() };

	ck_assert_ptr_ne(t, MAP_FAILED);
	t->sleeps = sleeps;
	ck_assert(!pipe(t->ask) && !pipe(t->answer));
	target = dev_child(take_turns, t);
	if (cpu >= 0)
		dev_pin(target.pid, cpu);
	dev_pin(rival.pid, 1);
	s.id = dev_alloc(s.fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_attach(s.fd, s.id, target.pid));
	dev_go(&target);
	dev_go(&rival);
	for (int i = 0; i < 300; i++) {
		uint64_t before = dev_read(s.fd, s.id), after;

		dev_ok(dev_start(s.fd, s.id));
		one_turn(t);
		dev_ok(dev_stop(s.fd, s.id));
		after = dev_read(s.fd, s.id);
		ck_assert_uint_ge(after - before, 3 * TURN);
		one_turn(t);
		ck_assert_uint_eq(dev_read(s.fd, s.id), after);
	}
	end(target.pid);
	end(rival.pid);
	close(s.fd);
}

START_TEST(what_is_done_between_start_and_stop_is_counted_wherever_it_is_done)
{
	check_turns(0, 1);
	check_turns(0, -1);
	check_turns(1, 1);
	check_turns(1, -1);
	dev_still_counts();
}
END_TEST

/* ---- lookups ------------------------------------------------------------- */

#define READS	20

/* Kernel instructions of so many reads, in a try that no tick fell into. */
static uint64_t cost_of_reads(int fd, uint32_t id)
{
	uint64_t least = ~0ULL;

	for (int try = 0; try < 200; try++) {
		uint64_t cost = vpmu_own(VPMU_KERNEL_INSN);

		for (int i = 0; i < READS; i++)
			dev_read(fd, id);
		cost = vpmu_own(VPMU_KERNEL_INSN) - cost;
		if (cost < least)
			least = cost;
	}
	return least;
}

static void allocate_all(int fd)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		for (int i = 0; i < dev_counters(); i++)
			dev_alloc(fd, SC, 0, cpu, i % 2 ? BRANCH : CYCLES, U);
}

/* On the last CPU: the tree of PMCs has as many levels for it alone as for all. */
START_TEST(a_read_costs_the_same_with_one_pmc_and_with_many)
{
	struct hwpmc_op_pmcallocate op = {
		.caps = HWPMC_CAP_READ, .class = HWPMC_CLASS_TSC, .mode = SC,
		.flags = 0, .ev = HWPMC_EV_TSC, .cpu = dev_cpus() - 1,
	};
	int fd = dev_open();
	uint64_t one, many;
	uint32_t pmu;

	/* With a PMC of the PMU's class in both measurements. */
	dev_pin(0, op.cpu);
	dev_ok(dev_allocate(fd, &op));
	pmu = dev_alloc(fd, SC, 0, 0, CYCLES, U);
	one = cost_of_reads(fd, op.pmcid);
	dev_ok(dev_release(fd, pmu));
	dev_ok(dev_release(fd, op.pmcid));
	allocate_all(fd);
	dev_ok(dev_allocate(fd, &op));
	many = cost_of_reads(fd, op.pmcid);
	/* A walk over them is five instructions for each, and there are 33. */
	ck_assert_uint_lt(many, one + READS * 60);
	close(fd);
	/* All of them are free again. */
	fd = dev_open();
	allocate_all(fd);
	close(fd);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(start_and_stop_of_ones_own_pmc_interrupt_no_cpu);
	harness_add(start_and_stop_interrupt_the_cpu_that_the_target_runs_on_alone);
	harness_add(attach_and_detach_interrupt_the_cpu_that_the_target_runs_on_alone);
	harness_add(the_first_pmc_of_a_class_interrupts_each_other_cpu_twice_and_the_next_none);
	harness_add(a_flush_interrupts_only_cpus_with_drops_that_can_be_declared);
	harness_add_timed(an_event_that_is_allocated_again_at_once_interrupts_no_cpu, 40);
	harness_add_timed(what_is_done_between_start_and_stop_is_counted_wherever_it_is_done, 60);
	harness_add(a_read_costs_the_same_with_one_pmc_and_with_many);
	return harness_run();
}
