/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_records.c - each type of record, one by one: that it is there when it must be,
 * once, in its place, and what each of its fields says. Mappings and what was there
 * before: kmod_maps.c. Counts and samples: kmod_sample.c.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "harness.h"
#include "../lib/kmod_rec.h"

static uint64_t ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* ---- the log itself ------------------------------------------------------ */

START_TEST(initialize_tells_machine_owner_and_clock)
{
	uint64_t mono = ns(CLOCK_MONOTONIC), real = ns(CLOCK_REALTIME);
	const struct hwpmc_log_initialize *r;

	begin();
	look();
	r = find(HWPMC_LOG_INITIALIZE, 0)->initialize;
	ck_assert_ptr_eq(r, rec[0].initialize);
	ck_assert_uint_eq(count(HWPMC_LOG_INITIALIZE), 1);
	ck_assert_uint_eq(r->hdr.len, sizeof(*r));
	ck_assert_uint_eq(r->hdr.id, 0);
	ck_assert_uint_eq(r->magic, HWPMC_LOG_MAGIC);
	ck_assert_uint_eq(r->schema, HWPMC_LOG_SCHEMA);
	ck_assert_uint_eq(r->api, HWPMC_API_VERSION);
	ck_assert_uint_eq(r->cputype, hwpmc_cpuinfo(h)->cputype);
	ck_assert_str_eq(r->cpuid, hwpmc_cpuinfo(h)->cpuid);
	ck_assert_uint_eq(r->ncpu, sysconf(_SC_NPROCESSORS_CONF));
	ck_assert_uint_gt(r->khz, 0);
	/* Where the kernel does not trust the TSC it is not used. */
	if (r->clock == HWPMC_CLOCK_MONOTONIC)
		ck_assert_uint_le(r->tick, r->monotonic);
	else
		ck_assert_uint_eq(r->clock, HWPMC_CLOCK_TSC);
	ck_assert_int_eq(r->owner, getpid());
	ck_assert_uint_eq(r->flags, HWPMC_LOG_INIT_PRIVILEGED | HWPMC_LOG_INIT_SYNC);
	ck_assert_uint_ge(r->monotonic, mono);
	ck_assert_uint_le(r->monotonic, ns(CLOCK_MONOTONIC));
	ck_assert_uint_ge(r->realtime, real);
	ck_assert_uint_le(r->realtime, ns(CLOCK_REALTIME));
}
END_TEST

START_TEST(the_log_of_an_unprivileged_owner_says_so)
{
	hwpmc_close(h);
	ck_assert_int_eq(setresgid(65534, 65534, 65534), 0);
	ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	ok(hwpmc_open(&h));
	begin();
	look();
	ck_assert_uint_eq(find(HWPMC_LOG_INITIALIZE, 0)->initialize->flags,
			  HWPMC_LOG_INIT_SYNC);
}
END_TEST

START_TEST(each_flush_adds_a_reading_of_the_clocks)
{
	const struct hwpmc_log_clock *a, *b;
	uint64_t before, between, real[4];

	begin();
	before = ns(CLOCK_MONOTONIC);
	real[0] = ns(CLOCK_REALTIME);
	ok(hwpmc_flush_log(h));
	between = ns(CLOCK_MONOTONIC);
	real[1] = ns(CLOCK_REALTIME);
	dev_msleep(20);
	real[2] = ns(CLOCK_REALTIME);
	ok(hwpmc_flush_log(h));
	real[3] = ns(CLOCK_REALTIME);
	ok(hwpmc_close_log(h));
	look();
	a = find(HWPMC_LOG_CLOCK, 0)->clock;
	b = find(HWPMC_LOG_CLOCK, 1)->clock;
	ck_assert_uint_ge(a->monotonic, before);
	ck_assert_uint_le(a->monotonic, between);
	ck_assert_uint_ge(b->monotonic, a->monotonic + 20000000);
	ck_assert_uint_le(b->monotonic, ns(CLOCK_MONOTONIC));
	ck_assert_uint_ge(a->tick, a->hdr.time);
	ck_assert_uint_gt(b->tick, a->tick);
	/* Both clocks were read during the flush. */
	ck_assert_uint_ge(a->realtime, real[0]);
	ck_assert_uint_le(a->realtime, real[1]);
	ck_assert_uint_ge(b->realtime, real[2]);
	ck_assert_uint_le(b->realtime, real[3]);
	ck_assert_uint_eq(rec[nrec - 1].hdr->type, HWPMC_LOG_CLOSELOG);
	ck_assert_uint_eq(rec[nrec - 1].hdr->len, sizeof(struct hwpmc_log_closelog));
	/* One more is just before the end. */
	ck_assert_uint_eq(rec[nrec - 2].hdr->type, HWPMC_LOG_CLOCK);
}
END_TEST

START_TEST(records_of_each_cpu_stand_behind_its_mark)
{
	begin();
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		dev_pin(getpid(), cpu);
		for (uint32_t i = 0; i < 3; i++)
			ok(hwpmc_write_log(h, 100 * cpu + i));
	}
	look();
	for (unsigned int i = 0; i < 6; i++) {
		const struct hwpmc_record *r = find(HWPMC_LOG_USERDATA, i);

		ck_assert_uint_eq(r->hdr->len, sizeof(*r->hdr));
		ck_assert_uint_eq(r->hdr->id, 100 * (i / 3) + i % 3);
		ck_assert_int_eq(r->cpu, i / 3);
	}
	ck_assert_uint_eq(find(HWPMC_LOG_CPU, count(HWPMC_LOG_CPU) - 1)->hdr->len,
			  sizeof(struct hwpmc_log_hdr));
}
END_TEST

/* On the log's clock, whichever it is. */
struct moment {
	uint64_t tsc, mono;
};

static struct moment moment(void)
{
	return (struct moment){ __builtin_ia32_rdtsc(), ns(CLOCK_MONOTONIC) };
}

/* Of each CPU: look() keeps 65,536 records in all. */
#define WRITES	25000
#define BURST	500

/* As fast as it can, with a pause now and then: the sweeps of half a second are waited for. */
static void write_one(uint32_t i)
{
	hwpmc_write_log(h, i);
	if (i % BURST == BURST - 1)
		usleep(10000);
}

static void *write_on_cpu_1(void *stop)
{
	dev_pin(0, 1);
	for (uint32_t i = 0; i < WRITES && !__atomic_load_n((int *)stop, __ATOMIC_RELAXED); i++)
		write_one(i);
	return NULL;
}

/* Each piece has records that are older than its SYNC and no older than the one before;
 * says how many pieces there are. */
static unsigned int check_pieces(void)
{
	uint64_t sync = 0, newest = 0;
	unsigned int pieces = 0;
	bool first = true;

	for (unsigned int i = 1; i < nrec; i++) {
		const struct hwpmc_log_hdr *r = rec[i].hdr;

		if (r->type == HWPMC_LOG_CPU) {
			first = true;
			continue;
		}
		if (r->type != HWPMC_LOG_SYNC) {
			/* What was being written at the SYNC is the first of its CPU. */
			ck_assert(first || r->time >= sync);
			first = false;
			newest = r->time > newest ? r->time : newest;
			continue;
		}
		ck_assert_uint_eq(r->len, sizeof(*r));
		ck_assert_uint_lt(newest, r->time);
		sync = r->time;
		pieces++;
	}
	return pieces;
}

/* A sweep stands still in the ring of CPU 0 while CPU 1 writes what is younger. */
START_TEST(a_sweep_takes_nothing_that_is_younger_than_its_beginning)
{
	int from, full = 0;

	from = begin_pipe();
	for (uint32_t i = 0; i < 1000; i++)
		ok(hwpmc_write_log(h, i));
	/* A page is full, and there is more to write. */
	while (full < 4096)
		ck_assert_int_eq(ioctl(from, FIONREAD, &full), 0);
	dev_pin(0, 1);
	for (uint32_t i = 0; i < 10; i++)
		ok(hwpmc_write_log(h, i));
	end_pipe();
	ck_assert_uint_ge(check_pieces(), 1);
	ck_assert_uint_eq(count(HWPMC_LOG_USERDATA), 1010);
}
END_TEST

/* While both CPUs write as fast as they can, each sweep has much that is younger. */
START_TEST(pieces_of_a_log_have_what_is_older_than_their_sync_record)
{
	pthread_t thread;
	uint64_t end;
	int stop = 0;

	begin();
	ck_assert_int_eq(pthread_create(&thread, NULL, write_on_cpu_1, &stop), 0);
	dev_pin(0, 0);
	end = ns(CLOCK_MONOTONIC) + 500000000;
	for (unsigned int i = 0; i < WRITES && ns(CLOCK_MONOTONIC) < end; i++)
		write_one(i);
	stop = 1;
	pthread_join(thread, NULL);
	look();
	ck_assert_uint_ge(check_pieces(), 3);
	ck_assert_uint_ge(count(HWPMC_LOG_USERDATA), 1000);
}
END_TEST

START_TEST(a_record_of_the_owner_has_the_time_when_it_was_written)
{
	struct moment m[6];
	bool tsc;

	begin();
	for (uint32_t i = 0; i < 3; i++) {
		m[2 * i] = moment();
		ok(hwpmc_write_log(h, i));
		m[2 * i + 1] = moment();
		dev_msleep(5);
	}
	look();
	tsc = find(HWPMC_LOG_INITIALIZE, 0)->initialize->clock ==
	      HWPMC_CLOCK_TSC;
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t time = find(HWPMC_LOG_USERDATA, i)->hdr->time;
		const struct moment *a = &m[2 * i];

		ck_assert_uint_ge(time, tsc ? a[0].tsc : a[0].mono);
		ck_assert_uint_le(time, tsc ? a[1].tsc : a[1].mono);
	}
}
END_TEST

/* ---- what is missing ----------------------------------------------------- */

struct ring_tally {
	uint32_t next;			/* datum that must come next */
	uint64_t last;			/* time of the last one */
	struct hwpmc_log_drop drop;
	unsigned int drops;
};

static int tally_ring(unsigned int cpu, const void *data, size_t len, void *arg)
{
	struct ring_tally *t = arg;
	const struct hwpmc_log_hdr *hdr;

	for (size_t at = 0; !cpu && at < len; at += hdr->len) {
		hdr = (const void *)((const char *)data + at);
		if (hdr->type == HWPMC_LOG_USERDATA) {
			ck_assert_uint_eq(hdr->id, t->next++);
			t->last = hdr->time;
		} else if (hdr->type == HWPMC_LOG_DROPNOTIFY) {
			memcpy(&t->drop, hdr, sizeof(t->drop));
			t->drops++;
		}
	}
	return 0;
}

START_TEST(dropnotify_tells_what_is_missing_since_when_and_why)
{
	struct ring_tally t = { 0 };
	struct hwpmc_rings *rings;
	uint32_t n = 0, lost = 0;

	ok(hwpmc_rings_open(h, 16384, 0, &rings));
	while (!hwpmc_write_log(h, n))
		n++;
	ck_assert_int_eq(errno, ENOMEM);
	/* What has room is kept: 16 bytes each, all but the declaration's place. */
	ck_assert_uint_gt(n, (16384 - sizeof(struct hwpmc_log_initialize) - 256) / 16);
	for (lost = 1; lost < 100; lost++)
		ck_assert_int_eq(hwpmc_write_log(h, n + lost), -1);
	hwpmc_rings_read(rings, tally_ring, &t, NULL);
	ck_assert_uint_eq(t.next, n);
	ck_assert_uint_eq(t.drops, 0);
	t.next = 4711;
	ok(hwpmc_write_log(h, 4711));
	hwpmc_rings_read(rings, tally_ring, &t, NULL);
	ck_assert_uint_eq(t.drops, 1);
	ck_assert_uint_eq(t.drop.hdr.len, sizeof(t.drop) + (HWPMC_DROP__COUNT - HWPMC_DROP_FIXED) *
			  sizeof(struct hwpmc_log_drop_pair));
	ck_assert_uint_eq(t.drop.hdr.id, 0);
	ck_assert_uint_eq(t.drop.cpu, 0);
	ck_assert_uint_eq(t.drop.ncause, HWPMC_DROP__COUNT);
	ck_assert_uint_lt(t.drop.since, t.drop.hdr.time);
	ck_assert_uint_le(t.drop.hdr.time, t.last);
	for (int i = 0; i < HWPMC_DROP_FIXED; i++) {
		ck_assert_uint_eq(t.drop.samples[i], 0);
		ck_assert_uint_eq(t.drop.others[i], i == HWPMC_DROP_FULL ? lost : 0);
	}
	hwpmc_rings_close(rings);
}
END_TEST

/* ---- PMCs ---------------------------------------------------------------- */

static void check_allocate(unsigned int nth, uint32_t id, uint32_t mode,
			   uint32_t cpu, uint32_t flags, uint64_t n)
{
	const struct hwpmc_log_allocate *r = find(HWPMC_LOG_PMCALLOCATE, nth)->allocate;

	ck_assert_uint_eq(r->hdr.len, sizeof(*r));
	ck_assert_uint_eq(r->hdr.id, id);
	ck_assert_uint_eq(r->mode, mode);
	ck_assert_uint_eq(r->cpu, cpu);
	ck_assert_uint_eq(r->flags & flags, flags);
	ck_assert_uint_eq(r->count, n);
	ck_assert_uint_eq(r->caps & (U | K), U);
	ck_assert(r->class == HWPMC_CLASS_IAP || r->class == HWPMC_CLASS_IAF ||
		  r->class == HWPMC_CLASS_K8);
}

START_TEST(allocate_tells_event_mode_cpu_flags_and_period)
{
	uint32_t tc, ts, ss;

	begin();
	tc = allocate("branches:u", TC, HWPMC_F_DESCENDANTS, ANY, 77);
	ts = allocate("branches:u", HWPMC_MODE_TS, HWPMC_F_CALLCHAIN, ANY, 12345);
	ss = allocate("branches:u", HWPMC_MODE_SS, 0, 1, 54321);
	allocate("page-faults", TC, 0, ANY, 0);
	look();
	ck_assert_uint_eq(count(HWPMC_LOG_PMCALLOCATE), 3);
	check_allocate(0, tc, TC, ANY, HWPMC_F_DESCENDANTS, 77);
	check_allocate(1, ts, HWPMC_MODE_TS, ANY, HWPMC_F_CALLCHAIN, 12345);
	check_allocate(2, ss, HWPMC_MODE_SS, 1, 0, 54321);
	ck_assert_uint_eq(find(HWPMC_LOG_PMCALLOCATE, 0)->allocate->config,
			  find(HWPMC_LOG_PMCALLOCATE, 2)->allocate->config);
	ck_assert_uint_eq(count(HWPMC_LOG_PMCALLOCATEDYN), 1);
	ck_assert_uint_eq(find(HWPMC_LOG_PMCALLOCATEDYN, 0)->allocate->class,
			  HWPMC_CLASS_SOFT);
}
END_TEST

START_TEST(attach_and_detach_name_pmc_process_and_program)
{
	struct child c = dev_loop(10);
	const struct hwpmc_log_attach *r;
	uint32_t id;

	begin();
	id = allocate("branches:u", TC, 0, ANY, 0);
	ok(hwpmc_attach(h, id, c.pid));
	ok(hwpmc_detach(h, id, c.pid));
	look();
	ck_assert_uint_eq(count(HWPMC_LOG_PMCATTACH), 1);
	ck_assert_uint_eq(count(HWPMC_LOG_PMCDETACH), 1);
	r = find(HWPMC_LOG_PMCATTACH, 0)->attach;
	ck_assert_uint_eq(r->hdr.id, id);
	ck_assert_int_eq(r->pid, c.pid);
	/* It is this program until it executes the other. */
	ck_assert_ptr_nonnull(strstr(r->path, "/build/vm/tests/kmod_records"));
	r = find(HWPMC_LOG_PMCDETACH, 0)->attach;
	ck_assert_uint_eq(r->hdr.id, id);
	ck_assert_int_eq(r->pid, c.pid);
	ck_assert_str_eq(r->path, "");
	dev_go(&c);
	dev_wait(&c);
}
END_TEST

/* ---- processes and threads ----------------------------------------------- */

static void fork_once(void *arg)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	*(pid_t *)arg = pid;
	waitpid(pid, NULL, 0);
}

START_TEST(fork_and_exit_name_parent_and_child_in_their_order)
{
	pid_t *pid = shared(4096);
	struct child c;

	begin();
	c = dev_child(fork_once, pid);
	watch(c.pid, HWPMC_F_DESCENDANTS);
	dev_go(&c);
	dev_wait(&c);
	look();
	ck_assert_uint_eq(count(HWPMC_LOG_PROCFORK), 1);
	ck_assert_int_eq(find(HWPMC_LOG_PROCFORK, 0)->fork->parent, c.pid);
	ck_assert_int_eq(find(HWPMC_LOG_PROCFORK, 0)->fork->child, *pid);
	ck_assert_uint_eq(count(HWPMC_LOG_SYSEXIT), 2);
	check_gone(0, HWPMC_LOG_SYSEXIT, *pid, *pid);
	check_gone(1, HWPMC_LOG_SYSEXIT, c.pid, c.pid);
	ck_assert_uint_lt(find(HWPMC_LOG_PROCFORK, 0)->serial,
			  find(HWPMC_LOG_SYSEXIT, 0)->serial);
	ck_assert_uint_le(find(HWPMC_LOG_PROCFORK, 0)->hdr->time,
			  find(HWPMC_LOG_SYSEXIT, 0)->hdr->time);
}
END_TEST

static void vfork_once(void *pid)
{
	pid_t child = vfork();

	if (!child)
		_exit(0);
	*(pid_t *)pid = child;
	waitpid(child, NULL, 0);
}

static void check_fork_flags(void (*make)(void *), uint8_t flags)
{
	pid_t *pid = shared(4096);
	struct child c;

	begin();
	c = dev_child(make, pid);
	watch(c.pid, HWPMC_F_DESCENDANTS);
	dev_go(&c);
	dev_wait(&c);
	look();
	ck_assert_int_eq(find(HWPMC_LOG_PROCFORK, 0)->fork->child, *pid);
	ck_assert_uint_eq(find(HWPMC_LOG_PROCFORK, 0)->hdr->flags, flags);
}

START_TEST(fork_of_a_copy_shares_no_memory)
{
	check_fork_flags(fork_once, 0);
}
END_TEST

START_TEST(fork_that_shares_memory_says_so)
{
	check_fork_flags(vfork_once, HWPMC_FORK_SHARED);
}
END_TEST

START_TEST(children_without_descendants_have_no_records)
{
	pid_t *pid = shared(4096);
	struct child c;

	begin();
	c = dev_child(fork_once, pid);
	watch(c.pid, 0);
	dev_go(&c);
	dev_wait(&c);
	look();
	ck_assert_uint_eq(count(HWPMC_LOG_PROCFORK), 0);
	ck_assert_uint_eq(count(HWPMC_LOG_SYSEXIT), 1);
	check_gone(0, HWPMC_LOG_SYSEXIT, c.pid, c.pid);
}
END_TEST

static void check_task(const struct hwpmc_log_task *r, pid_t pid, pid_t tid,
		       const char *comm)
{
	ck_assert_uint_eq(r->hdr.len, sizeof(*r));
	ck_assert_uint_eq(r->hdr.flags, 0);
	ck_assert_int_eq(r->pid, pid);
	ck_assert_int_eq(r->tid, tid);
	ck_assert_uint_eq(r->flags, 0);
	ck_assert_str_eq(r->comm, comm);
}

static void *rename_and_fork(void *pid)
{
	prctl(PR_SET_NAME, "worker");
	fork_once(pid);
	return NULL;
}

static void fork_in_thread(void *pid)
{
	pthread_t t;

	prctl(PR_SET_NAME, "leader");
	fork_once((pid_t *)pid + 1);
	pthread_create(&t, NULL, rename_and_fork, pid);
	pthread_join(t, NULL);
}

/* Returns the position of the record in the log that names the process, and 0 without one. */
static unsigned int name_of(pid_t pid, const char *comm)
{
	for (unsigned int i = 0; i < count(HWPMC_LOG_COMM_NAME); i++) {
		const struct hwpmc_record *r = find(HWPMC_LOG_COMM_NAME, i);

		if (r->task->pid != pid)
			continue;
		check_task(r->task, pid, pid, comm);
		return r->serial;
	}
	return 0;
}

START_TEST(fork_of_a_renamed_thread_names_the_child)
{
	pid_t *pid = shared(4096);
	struct child c;

	begin();
	c = dev_child(fork_in_thread, pid);
	watch(c.pid, HWPMC_F_DESCENDANTS);
	dev_go(&c);
	dev_wait(&c);
	look();
	/* The first child has the name of the process, like the process's first thread. */
	ck_assert_uint_eq(count(HWPMC_LOG_PROCFORK), 2);
	ck_assert_uint_eq(count(HWPMC_LOG_COMM_NAME), 3);
	ck_assert_uint_eq(name_of(pid[1], ""), 0);
	ck_assert_int_eq(find(HWPMC_LOG_PROCFORK, 1)->fork->child, pid[0]);
	ck_assert_uint_gt(name_of(pid[0], "worker"), find(HWPMC_LOG_PROCFORK, 1)->serial);
}
END_TEST

static void *name_thread(void *arg)
{
	*(pid_t *)arg = syscall(SYS_gettid);
	prctl(PR_SET_NAME, "second name");
	return NULL;
}

static void run_thread(void *arg)
{
	pthread_t t;

	prctl(PR_SET_NAME, "first name");
	pthread_create(&t, NULL, name_thread, arg);
	pthread_join(t, NULL);
	/* Who is joined has not left yet; the last to leave is the process. */
	while (!syscall(SYS_tgkill, getpid(), *(pid_t *)arg, 0))
		dev_msleep(1);
	prctl(PR_SET_NAME, "a name that is too long");
}

START_TEST(threads_and_their_names_have_records)
{
	pid_t *tid = shared(4096);
	struct child c;

	begin();
	c = dev_child(run_thread, tid);
	watch(c.pid, 0);
	dev_go(&c);
	dev_wait(&c);
	look();
	ck_assert_uint_eq(count(HWPMC_LOG_THR_CREATE), 1);
	check_task(find(HWPMC_LOG_THR_CREATE, 0)->task, c.pid, *tid, "first name");
	ck_assert_uint_eq(count(HWPMC_LOG_THR_EXIT), 1);
	check_gone(0, HWPMC_LOG_THR_EXIT, c.pid, *tid);
	ck_assert_uint_eq(count(HWPMC_LOG_COMM_NAME), 3);
	check_task(find(HWPMC_LOG_COMM_NAME, 0)->task, c.pid, c.pid, "first name");
	check_task(find(HWPMC_LOG_COMM_NAME, 1)->task, c.pid, *tid, "second name");
	check_task(find(HWPMC_LOG_COMM_NAME, 2)->task, c.pid, c.pid,
		   "a name that is ");
	ck_assert_uint_eq(count(HWPMC_LOG_SYSEXIT), 1);
}
END_TEST

#define CROWD	16

static void *nothing(void *arg)
{
	return arg;
}

/* Who is joined has not left yet, and its process may end before it does. */
static void run_threads(void *arg)
{
	for (int round = 0; round < 8; round++) {
		pthread_t t[CROWD];
		pid_t pid = fork();

		if (!pid) {
			for (int i = 0; i < CROWD; i++)
				pthread_create(&t[i], NULL, nothing, NULL);
			for (int i = 0; i < CROWD; i++)
				pthread_join(t[i], NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

START_TEST(each_thread_and_each_process_ends_once)
{
	struct child c;

	begin();
	c = dev_child(run_threads, NULL);
	watch(c.pid, HWPMC_F_DESCENDANTS);
	dev_go(&c);
	dev_wait(&c);
	look();
	ck_assert_uint_eq(count(HWPMC_LOG_PROCFORK), 8);
	ck_assert_uint_eq(count(HWPMC_LOG_SYSEXIT), 8 + 1);
	ck_assert_uint_eq(count(HWPMC_LOG_THR_CREATE), 8 * CROWD);
	ck_assert_uint_eq(count(HWPMC_LOG_THR_EXIT), 8 * CROWD);
}
END_TEST

/* The last of a process to go, whoever it is, ends it. */
static void *outlive(void *arg)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	while (!strstr(text, ") Z ")) {
		f = fopen(path, "r");
		if (!f || !fgets(text, sizeof(text), f))
			_exit(1);
		fclose(f);
		sched_yield();
	}
	return NULL;
}

static void leave_first(void *arg)
{
	pthread_t t;

	pthread_create(&t, NULL, outlive, NULL);
	syscall(SYS_exit, 0);
}

START_TEST(a_process_ends_with_its_last_thread)
{
	struct child c;

	begin();
	c = dev_child(leave_first, NULL);
	watch(c.pid, 0);
	dev_go(&c);
	dev_wait(&c);
	look();
	ck_assert_uint_eq(count(HWPMC_LOG_THR_EXIT), 1);
	check_gone(0, HWPMC_LOG_THR_EXIT, c.pid, c.pid);
	ck_assert_uint_eq(count(HWPMC_LOG_SYSEXIT), 1);
	check_gone(0, HWPMC_LOG_SYSEXIT, c.pid, c.pid);
	ck_assert_uint_gt(find(HWPMC_LOG_SYSEXIT, 0)->serial,
			  find(HWPMC_LOG_THR_EXIT, 0)->serial);
}
END_TEST

/* ---- values -------------------------------------------------------------- */

START_TEST(increments_and_exit_value_name_pmc_process_thread_and_cpu)
{
	const struct hwpmc_log_value *r;
	uint64_t sum = 0;
	struct child c;
	uint32_t id;

	begin();
	id = allocate("instructions:u", TC, HWPMC_F_EXEC_START |
		      HWPMC_F_LOG_PROCCSW | HWPMC_F_LOG_PROCEXIT, ANY, 0);
	c = dev_loop(3000000);
	dev_pin(c.pid, 1);
	ok(hwpmc_attach(h, id, c.pid));
	ok(hwpmc_start(h, id));
	dev_go(&c);
	dev_wait(&c);
	look();
	ck_assert_uint_ge(count(HWPMC_LOG_PROCCSW), 1);
	for (unsigned int i = 0; i < count(HWPMC_LOG_PROCCSW); i++) {
		r = find(HWPMC_LOG_PROCCSW, i)->value;
		ck_assert_uint_eq(r->hdr.len, sizeof(*r));
		ck_assert_uint_eq(r->hdr.id, id);
		ck_assert_int_eq(r->pid, c.pid);
		ck_assert_int_eq(r->tid, c.pid);
		ck_assert_uint_eq(r->cpu, 1);
		sum += r->value;
	}
	ck_assert_uint_eq(sum, loop_insn(3000000));
	ck_assert_uint_eq(count(HWPMC_LOG_PROCEXIT), 1);
	r = find(HWPMC_LOG_PROCEXIT, 0)->value;
	ck_assert_uint_eq(r->hdr.id, id);
	ck_assert_int_eq(r->pid, c.pid);
	ck_assert_int_eq(r->tid, 0);
	ck_assert_uint_eq(r->value, sum);
}
END_TEST

#define SPINS	1000000

static void *spin_in_thread(void *arg)
{
	*(int32_t *)arg = syscall(SYS_gettid);
	dev_spin(SPINS);
	return NULL;
}

static void let_a_thread_spin(void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, spin_in_thread, arg) || pthread_join(t, NULL))
		_exit(1);
}

START_TEST(increments_of_a_second_thread_name_it_and_its_process)
{
	int32_t *tid = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t its = 0;
	struct child c;
	uint32_t id;

	ck_assert_ptr_ne(tid, MAP_FAILED);
	begin();
	c = dev_child(let_a_thread_spin, tid);
	id = allocate("instructions:u", TC, HWPMC_F_LOG_PROCCSW, ANY, 0);
	ok(hwpmc_attach(h, id, c.pid));
	ok(hwpmc_start(h, id));
	dev_go(&c);
	dev_wait(&c);
	look();
	for (unsigned int i = 0; i < count(HWPMC_LOG_PROCCSW); i++) {
		const struct hwpmc_log_value *r = find(HWPMC_LOG_PROCCSW, i)->value;

		ck_assert_int_eq(r->pid, c.pid);
		ck_assert(r->tid == c.pid || r->tid == *tid);
		its += r->tid == *tid ? r->value : 0;
	}
	ck_assert_int_ne(*tid, c.pid);
	ck_assert_uint_ge(its, 3 * SPINS);
	munmap(tid, 4096);
}
END_TEST

static uint64_t sum_of_increments(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < count(HWPMC_LOG_PROCCSW); i++)
		sum += find(HWPMC_LOG_PROCCSW, i)->value->value;
	return sum;
}

static void spin_on(void *unused)
{
	for (;;)
		dev_spin(SPINS);
}

/* The thread is never waited for: it counts on while the log is looked at. By chance it
 * may be switched just before a flush, but not before each. */
START_TEST(a_flush_logs_what_a_running_thread_has_counted)
{
	uint64_t before, after;
	struct child c;
	uint32_t id;

	begin();
	id = allocate("instructions:u", TC, HWPMC_F_LOG_PROCCSW, ANY, 0);
	c = dev_child(spin_on, NULL);
	dev_pin(c.pid, 1);
	ok(hwpmc_attach(h, id, c.pid));
	ok(hwpmc_start(h, id));
	dev_go(&c);
	for (unsigned int i = 1; i <= 20; i++) {
		do
			ok(hwpmc_read(h, id, &before));
		while (before < i * SPINS);
		look();
		ok(hwpmc_read(h, id, &after));
		ck_assert_uint_ge(sum_of_increments(), before);
		ck_assert_uint_le(sum_of_increments(), after);
	}
	/* What was logged amid a slice is in no record again. */
	ok(hwpmc_stop(h, id));
	ok(hwpmc_read(h, id, &after));
	look();
	ck_assert_uint_eq(sum_of_increments(), after);
	ck_assert_int_eq(kill(c.pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(c.pid, NULL, 0), c.pid);
}
END_TEST

START_TEST(a_context_record_stands_where_the_sampled_thread_changes)
{
	int32_t pid = -1, tid = -1;
	unsigned int n = 0;
	struct child c[2];
	uint32_t id;

	begin();
	id = allocate("instructions:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START, ANY, 10000);
	for (int i = 0; i < 2; i++) {
		c[i] = dev_loop(3000000);
		ok(hwpmc_attach(h, id, c[i].pid));
	}
	ok(hwpmc_start(h, id));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	look();
	for (unsigned int i = 0; i < nrec; i++) {
		const struct hwpmc_log_context *r = rec[i].context;

		if (r->hdr.type != HWPMC_LOG_CONTEXT)
			continue;
		ck_assert_uint_eq(r->hdr.len, sizeof(*r));
		ck_assert(r->pid == c[0].pid || r->pid == c[1].pid);
		ck_assert_int_eq(r->tid, r->pid);
		ck_assert(r->pid != pid || r->tid != tid);
		/* There is one because there is a sample. */
		ck_assert_uint_eq(rec[i + 1].hdr->type, HWPMC_LOG_CALLCHAIN);
		ck_assert_uint_eq(rec[i + 1].hdr->id, id);
		pid = r->pid;
		tid = r->tid;
		n++;
	}
	ck_assert_uint_ge(n, 2);
	ck_assert_uint_eq(count(HWPMC_LOG_CALLCHAIN),
			  2 * (loop_insn(3000000) / 10000));
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(kmod_setup, NULL);
	harness_add(initialize_tells_machine_owner_and_clock);
	harness_add(the_log_of_an_unprivileged_owner_says_so);
	harness_add(each_flush_adds_a_reading_of_the_clocks);
	harness_add(records_of_each_cpu_stand_behind_its_mark);
	harness_add(a_sweep_takes_nothing_that_is_younger_than_its_beginning);
	harness_add(pieces_of_a_log_have_what_is_older_than_their_sync_record);
	harness_add(a_record_of_the_owner_has_the_time_when_it_was_written);
	harness_add(dropnotify_tells_what_is_missing_since_when_and_why);
	harness_add(allocate_tells_event_mode_cpu_flags_and_period);
	harness_add(attach_and_detach_name_pmc_process_and_program);
	harness_add(fork_and_exit_name_parent_and_child_in_their_order);
	harness_add(fork_of_a_copy_shares_no_memory);
	harness_add(fork_that_shares_memory_says_so);
	harness_add(children_without_descendants_have_no_records);
	harness_add(fork_of_a_renamed_thread_names_the_child);
	harness_add(threads_and_their_names_have_records);
	harness_add(each_thread_and_each_process_ends_once);
	harness_add(a_process_ends_with_its_last_thread);
	harness_add(increments_and_exit_value_name_pmc_process_thread_and_cpu);
	harness_add(increments_of_a_second_thread_name_it_and_its_process);
	harness_add(a_flush_logs_what_a_running_thread_has_counted);
	harness_add(a_context_record_stands_where_the_sampled_thread_changes);
	return harness_run();
}
