// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_feedback.c - samples of events that the module itself causes by recording them. Each
 * event of the kernel that class SOFT lists is sampled on CPU 1 with period 1 and a wake-up
 * of the reader, which is there too, for each sample; an innocent program there goes on.
 * FEEDBACK_ONLY=name: this event alone.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>

#include "harness.h"
#include "hwpmc_log.h"
#include "kmod_dev.h"

#define RING		(64 << 10)
#define EVENTS		8192
/* Wake-ups of the innocent that show that its CPU is not taken, and sleeps of a millisecond
 * of this program within which they come: only a hang takes as many. */
#define BEATS		5
#define PATIENCE	5000
/* Such interrupts that the kernel has of its own at a time. */
#define OTHERS		20

static struct hwpmc_dynevent events[EVENTS];

struct shared {
	volatile uint64_t beats;	/* of the innocent */
	volatile uint64_t woken;	/* of the reader */
};

/* Events of which each kernel has some, and in itself. */
static unsigned int known_events(void)
{
	FILE *f = popen("grep -cE '^(sched|timer|irq|signal|task|workqueue|kmem):' "
			"/sys/kernel/tracing/available_events", "r");
	unsigned int n = 0;

	ck_assert_int_eq(fscanf(f, "%u", &n), 1);
	pclose(f);
	ck_assert_uint_ge(n, 50);
	return n;
}

static unsigned int list_events(int fd)
{
	struct hwpmc_op_getdyneventinfo list = {
		.class = HWPMC_CLASS_SOFT, .nevent = EVENTS, .events = (uintptr_t)events,
	};

	dev_ok(dev_op(fd, HWPMC_IOC_GETDYNEVENTINFO, &list));
	ck_assert_uint_ge(list.nevent, known_events());
	return list.nevent;
}

static void innocent(void *arg)
{
	struct shared *s = arg;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dev_pin(0, 1);
	for (;;) {
		s->beats++;
		usleep(1000);
	}
}

/* Its timers, faults, switches and calls are events as well. */
static void busy(void *unused)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dev_pin(0, 1);
	for (;;) {
		char *page = mmap(NULL, 4096, PROT_WRITE | PROT_READ,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int fd = open("/proc/self/stat", O_RDONLY);

		*page = 1;
		(void)!read(fd, page, 4096);
		close(fd);
		munmap(page, 4096);
		sched_yield();
		usleep(200);
	}
}

/* A record each millisecond, whose wake-up is an event that another may follow. */
static void *write_often(void *arg)
{
	struct hwpmc_op_writelog write = { .userdata = 1 };
	const int *fd = arg;

	dev_pin(0, 1);
	for (;;) {
		ioctl(*fd, HWPMC_IOC_WRITELOG, &write);
		usleep(1000);
	}
	return NULL;
}

/* Reads the rings as they fill: the owner's log has a mapping in it alone. */
static void reader(struct shared *s, int fd, volatile struct hwpmc_log_ring **ring)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	dev_pin(0, 1);
	while (poll(&p, 1, -1) > 0) {
		s->woken++;
		for (int cpu = 0; cpu < dev_cpus(); cpu++)
			ring[cpu]->tail = __atomic_load_n(&ring[cpu]->head, __ATOMIC_ACQUIRE);
	}
}

static void configure(int fd, volatile struct hwpmc_log_ring **ring)
{
	struct hwpmc_op_configurelog conf = {
		.logfd = -1, .flags = HWPMC_LOG_F_MAPPED, .ring_size = RING, .wakeup = 1,
	};

	dev_ok(dev_op(fd, HWPMC_IOC_CONFIGURELOG, &conf));
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		ring[cpu] = mmap(NULL, 4096 + 2 * RING, PROT_READ | PROT_WRITE, MAP_SHARED,
				 fd, HWPMC_LOG_MAP_OFFSET(cpu));
		ck_assert_ptr_ne((void *)ring[cpu], MAP_FAILED);
	}
}

struct session {
	struct shared *s;
	int fd;
	volatile struct hwpmc_log_ring *ring[64];
	pthread_t thread;
};

static void *read_all(void *arg)
{
	struct session *t = arg;

	reader(t->s, t->fd, t->ring);
	return NULL;
}

/* Interrupts of CPU 1 by which wake-ups are passed on. */
static unsigned long interrupts(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	unsigned long n[2] = {};
	char line[4096];
	bool found = false;

	ck_assert_ptr_nonnull(f);
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, " IWI: %lu %lu", &n[0], &n[1]) == 2;
	fclose(f);
	ck_assert(found);
	return n[1];
}

static uint64_t milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/*
 * The innocent runs, and the reader is woken by one interrupt a millisecond at most, by the
 * same clock as the module's timer; the kernel has a few of its own.
 */
static bool goes_on(const struct shared *s, const char *name)
{
	uint64_t began = s->beats, since = milliseconds();
	unsigned long before = interrupts(), n;

	for (int i = 0; i < PATIENCE && s->beats < began + BEATS; i++)
		usleep(1000);
	n = interrupts() - before;
	since = milliseconds() - since + 1;
	if (s->beats >= began + BEATS && n <= 2 * since + OTHERS)
		return true;
	fprintf(stderr, "%s: %lu interrupts in %llu ms, the innocent ran %llu times\n", name, n,
		(unsigned long long)since, (unsigned long long)(s->beats - began));
	return false;
}

/* False: the CPU was taken. *refused counts events that are not sampled at all. */
static bool sample_one(struct session *t, const struct hwpmc_dynevent *e,
		       unsigned int *refused)
{
	struct hwpmc_op_pmcallocate req = {
		.class = HWPMC_CLASS_SOFT, .mode = HWPMC_MODE_SS, .ev = e->ev, .cpu = 1,
		.count = 1,
	};
	bool ok;
	int ret = dev_allocate(t->fd, &req);

	if (ret) {
		fprintf(stderr, "%s is refused: errno %d, reason %u\n", e->name, ret,
			dev_hdr.reason);
		++*refused;
		return true;
	}
	dev_ok(dev_start(t->fd, req.pmcid));
	ok = goes_on(t->s, e->name);
	dev_ok(dev_stop(t->fd, req.pmcid));
	dev_ok(dev_release(t->fd, req.pmcid));
	return ok;
}

START_TEST(no_sample_of_an_event_causes_that_event_for_ever)
{
	unsigned int n, taken = 0, refused = 0, sampled = 0;
	struct child bystander, worker;
	const char *only = getenv("FEEDBACK_ONLY");
	struct session t = { .fd = dev_open() };

	if (dev_cpus() < 2)
		SKIP("one CPU only");
	t.s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(t.s, MAP_FAILED);
	bystander = dev_child(innocent, t.s);
	worker = dev_child(busy, NULL);
	dev_pin(0, 0);
	n = list_events(t.fd);
	configure(t.fd, t.ring);
	ck_assert(!pthread_create(&t.thread, NULL, read_all, &t));
	ck_assert(!pthread_create(&t.thread, NULL, write_often, &t.fd));
	dev_go(&bystander);
	dev_go(&worker);
	for (unsigned int i = 0; i < n; i++) {
		if (only && strcmp(only, events[i].name))
			continue;
		sampled++;
		if (sample_one(&t, &events[i], &refused))
			continue;
		taken++;
	}
	fprintf(stderr, "%u events, %u refused, reader woken %llu times\n", sampled, refused,
		(unsigned long long)t.s->woken);
	ck_assert_uint_eq(taken, 0);
	ck_assert_uint_eq(refused, 0);
	ck_assert_uint_gt(t.s->woken, 0);
	kill(bystander.pid, SIGKILL);
	kill(worker.pid, SIGKILL);
	dev_still_counts();
}
END_TEST

static void sleep_again_and_again(void *unused)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dev_pin(0, 1);
	for (;;)
		usleep(3000);
}

/*
 * The end of a timer's function is an event in the moment in which the timer is not queued,
 * and that of the module's own comes after the last sample that it has seen. Each second one
 * is sampled: the function finds no sample since its last time again and again.
 */
START_TEST(samples_of_the_end_of_timers_wake_the_reader_on_and_on)
{
	struct hwpmc_op_pmcallocate req = {
		.class = HWPMC_CLASS_SOFT, .mode = HWPMC_MODE_SS, .cpu = 1, .count = 2,
	};
	struct session t = { .fd = dev_open() };
	struct child bystander;
	uint64_t woken;

	if (dev_cpus() < 2)
		SKIP("one CPU only");
	t.s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(t.s, MAP_FAILED);
	bystander = dev_child(sleep_again_and_again, NULL);
	dev_pin(0, 0);
	for (unsigned int i = list_events(t.fd); i--;)
		if (strstr(events[i].name, "hrtimer_expire_exit"))
			req.ev = events[i].ev;
	ck_assert_uint_ne(req.ev, 0);
	configure(t.fd, t.ring);
	ck_assert(!pthread_create(&t.thread, NULL, read_all, &t));
	dev_go(&bystander);
	dev_ok(dev_allocate(t.fd, &req));
	dev_ok(dev_start(t.fd, req.pmcid));
	for (int i = 0; i < 5; i++) {
		woken = t.s->woken;
		for (int j = 0; j < PATIENCE && t.s->woken < woken + 20; j++)
			usleep(1000);
		ck_assert_uint_ge(t.s->woken, woken + 20);
	}
	dev_ok(dev_stop(t.fd, req.pmcid));
	dev_ok(dev_release(t.fd, req.pmcid));
	kill(bystander.pid, SIGKILL);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(no_sample_of_an_event_causes_that_event_for_ever, 300);
	harness_add(samples_of_the_end_of_timers_wake_the_reader_on_and_on);
	return harness_run();
}
