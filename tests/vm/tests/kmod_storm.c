// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_storm - 64 tasks do at random whatever the driver lets them do, to
 * themselves and to each other, while a CPU comes and goes; a bystander's counts
 * stay exact, and afterwards nothing is left: no object, no register, no module.
 *
 * The choices follow from a seed, which is printed: STORM_SEED=n replays them
 * (not their timing). STORM_SECONDS=n: how long (60). STORM_OWNERS=n: so many are
 * killed at work (200); STORM_LOADS=n: so often it is loaded (20).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "../lib/kmod_storms.h"

#define WORKERS		64
#define PMCS		4	/* at once, of a worker */
#define HOTPLUG_MS	300
#define STATE_FD	100	/* the shared state, over exec */

enum what {
	ALLOCATE, ATTACH, DETACH, START, STOP, READ, SETCOUNT, RELEASE, INFO,
	FORK, FORK_EXEC, THREADS, REOPEN, MIGRATE, EXEC, LEAVE, N_WHATS
};

/* How often each is chosen. */
static const unsigned int weight[N_WHATS] = {
	[ALLOCATE] = 20, [ATTACH] = 24, [DETACH] = 8, [START] = 14, [STOP] = 8,
	[READ] = 20, [SETCOUNT] = 4, [RELEASE] = 6, [INFO] = 2, [FORK] = 10,
	[FORK_EXEC] = 5, [THREADS] = 6, [REOPEN] = 3, [MIGRATE] = 6, [EXEC] = 1,
	[LEAVE] = 1,
};

/* Reasons for which the storm may refuse a valid operation: no others. */
typedef unsigned __int128 reason_set;
_Static_assert(HWPMC_WHY__COUNT <= 128, "a set has 128 bits");
#define REASON(n)	((reason_set)1 << (n))
#define R(why)	REASON(HWPMC_WHY_##why)
static const reason_set allowed[N_WHATS] = {
	[ALLOCATE] = R(ROWS_BUSY) | R(CPU_OFFLINE),
	[ATTACH] = R(RUNNING) | R(NO_PROCESS) | R(EXITING) | R(ATTACHED) |
		   R(TARGET_ROW),
	[DETACH] = R(NO_PROCESS) | R(NOT_TARGET) | R(NOT_ATTACHED),
	/* It attaches to its owner what was never attached. */
	[START] = R(TARGET_ROW) | R(NO_TARGETS) | R(CPU_OFFLINE),
	[STOP] = R(NOT_STARTED) | R(CPU_OFFLINE),
	[READ] = R(CPU_OFFLINE),
	[SETCOUNT] = R(RUNNING),
	[INFO] = R(CPU_OFFLINE),
};

/* Shared by all processes of the storm. */
struct state {
	volatile int stop;
	volatile pid_t pid[WORKERS];
	uint64_t done[N_WHATS], refused[N_WHATS];
	/* The first thing that should not be. */
	int bad, bad_what, bad_errno;
	struct hwpmc_hdr bad_hdr;
	/* The bystander. */
	uint64_t windows, programs, wrong, got, want;
	uint64_t toggles;
};

static struct state *state;

struct worker {
	int slot, fd;
	uint64_t random;
	uint32_t id[PMCS];
	bool own[PMCS], system[PMCS];
};

static uint64_t next(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

static unsigned int choice(struct worker *w, unsigned int n)
{
	return (next(&w->random) >> 20) % n;
}

static void note(enum what what, int err)
{
	__atomic_add_fetch(&state->done[what], 1, __ATOMIC_RELAXED);
	if (!err)
		return;
	__atomic_add_fetch(&state->refused[what], 1, __ATOMIC_RELAXED);
	if (dev_hdr.reason < HWPMC_WHY__COUNT &&
	    allowed[what] & REASON(dev_hdr.reason))
		return;
	if (__atomic_exchange_n(&state->bad, 1, __ATOMIC_SEQ_CST))
		return;
	state->bad_what = what;
	state->bad_errno = err;
	state->bad_hdr = dev_hdr;
}

/* ---- a worker ------------------------------------------------------------ */

static void allocate(struct worker *w)
{
	static const uint32_t caps[] = { U, K, U | K, 0 };
	struct hwpmc_op_pmcallocate op;
	int i = choice(w, PMCS), mode = choice(w, 8) ? TC : SC;
	uint32_t flags = 0;
	int err;

	if (w->own[i])
		return;
	if (mode == TC && choice(w, 2))
		flags |= HWPMC_F_DESCENDANTS;
	if (mode == TC && !choice(w, 4))
		flags |= HWPMC_F_EXEC_START;
	dev_request(&op, mode, flags, mode == TC ? ANY : choice(w, 2),
		    choice(w, 3), caps[choice(w, 4)]);
	err = dev_allocate(w->fd, &op);
	note(ALLOCATE, err);
	if (err)
		return;
	w->id[i] = op.pmcid;
	w->own[i] = true;
	w->system[i] = mode == SC;
}

static pid_t somebody(struct worker *w)
{
	return choice(w, 3) ? state->pid[choice(w, WORKERS)] : 0;
}

static void getinfo(struct worker *w)
{
	struct hwpmc_pmcinfo infos[HWPMC_ROW_MAX];
	struct hwpmc_op_getpmcinfo op = {
		.cpu = choice(w, 2), .npmc = HWPMC_ROW_MAX,
		.pmcs = (uintptr_t)infos,
	};
	int ret = ioctl(w->fd, HWPMC_IOC_GETPMCINFO, &op);

	dev_hdr = op.hdr;
	note(INFO, ret ? errno : 0);
}

static void on_pmc(struct worker *w, enum what what)
{
	int i = choice(w, PMCS);
	uint64_t value = 0;

	if (!w->own[i])
		return;
	if (what == ATTACH && !w->system[i])
		note(what, dev_attach(w->fd, w->id[i], somebody(w)));
	else if (what == DETACH && !w->system[i])
		note(what, dev_detach(w->fd, w->id[i], somebody(w)));
	else if (what == START)
		note(what, dev_start(w->fd, w->id[i]));
	else if (what == STOP)
		note(what, dev_stop(w->fd, w->id[i]));
	else if (what == READ)
		note(what, dev_rw(w->fd, w->id[i], HWPMC_F_OLDVALUE, &value));
	else if (what == SETCOUNT)
		note(what, dev_setcount(w->fd, w->id[i], choice(w, 1000)));
	if (what == RELEASE) {
		note(what, dev_release(w->fd, w->id[i]));
		w->own[i] = false;
	}
}

/* With the descriptor that it inherited: a target's child may, others not. */
static void heir(struct worker *w)
{
	uint64_t value = 0;
	int i = choice(w, PMCS);

	if (w->own[i])
		dev_rw(w->fd, w->id[i], HWPMC_F_OLDVALUE, &value);
	if (w->own[i] && !choice(w, 4))
		dev_stop(w->fd, w->id[i]);
}

static void fork_child(struct worker *w)
{
	pid_t pid = fork();

	if (!pid) {
		if (choice(w, 2))
			dev_spin(choice(w, 20000));
		if (choice(w, 2))
			heir(w);
		if (!choice(w, 3) && !fork())
			dev_spin(choice(w, 20000));
		_exit(0);
	}
	/* Sometimes nobody waits, so it is the reaper's. */
	if (pid > 0 && choice(w, 8))
		waitpid(pid, NULL, 0);
	note(FORK, 0);
}

static void fork_exec(struct worker *w)
{
	pid_t pid = fork();

	if (!pid) {
		execl("build/vm/progs/loop", "loop", "1000", (char *)NULL);
		_exit(127);
	}
	if (pid > 0 && choice(w, 8))
		waitpid(pid, NULL, 0);
	note(FORK_EXEC, 0);
}

static void *thread(void *arg)
{
	dev_spin((uintptr_t)arg);
	return NULL;
}

static void threads(struct worker *w)
{
	int n = 1 + choice(w, 3), detached = choice(w, 2);
	pthread_t t[3];

	for (int i = 0; i < n; i++) {
		void *spins = (void *)(uintptr_t)(1 + choice(w, 30000));

		if (pthread_create(&t[i], NULL, thread, spins)) {
			n = i;
			break;
		}
	}
	for (int i = 0; i < n; i++) {
		if (detached)
			pthread_detach(t[i]);
		else
			pthread_join(t[i], NULL);
	}
	note(THREADS, 0);
}

static void reopen(struct worker *w)
{
	close(w->fd);
	w->fd = dev_open();
	memset(w->own, 0, sizeof(w->own));
	note(REOPEN, w->fd < 0 ? errno : 0);
}

static void exec_self(struct worker *w)
{
	char slot[12], random[24];

	snprintf(slot, sizeof(slot), "%d", w->slot);
	snprintf(random, sizeof(random), "%llu", (unsigned long long)w->random);
	/* An inherited descriptor is of no use to the new program. */
	if (choice(w, 2))
		fcntl(w->fd, F_SETFD, 0);
	note(EXEC, 0);
	execl("/proc/self/exe", "storm", slot, random, (char *)NULL);
	_exit(127);
}

static void step(struct worker *w, enum what what)
{
	switch (what) {
	case ALLOCATE: return allocate(w);
	case INFO: return getinfo(w);
	case FORK: return fork_child(w);
	case FORK_EXEC: return fork_exec(w);
	case THREADS: return threads(w);
	case REOPEN: return reopen(w);
	case MIGRATE:
		dev_unpin(0);
		return dev_pin(0, choice(w, 2));
	case EXEC: return exec_self(w);
	case LEAVE:
		note(LEAVE, 0);
		_exit(0);
	default: return on_pmc(w, what);
	}
}

static enum what choose(struct worker *w)
{
	unsigned int sum = 0, n;
	int what;

	for (what = 0; what < N_WHATS; what++)
		sum += weight[what];
	n = choice(w, sum);
	for (what = 0; n >= weight[what]; what++)
		n -= weight[what];
	return what;
}

static void work(int slot, uint64_t random)
{
	struct worker w = { .slot = slot, .random = random | 1 };

	/* The kernel's own threads come first, or a CPU never comes back. */
	setpriority(PRIO_PROCESS, 0, 15);
	w.fd = dev_open();
	if (w.fd < 0)
		note(REOPEN, errno);
	for (int i = 0; i < 8; i++)
		next(&w.random);
	while (!state->stop)
		step(&w, choose(&w));
	_exit(0);
}

/* ---- the bystander ------------------------------------------------------- */

/* User instructions of a spin and a constant. */
static uint64_t __attribute__((noinline)) window(int fd, uint32_t id, uint64_t n)
{
	uint64_t before = 0, after = 0;

	dev_rw(fd, id, HWPMC_F_OLDVALUE, &before);
	dev_spin(n);
	if (dev_rw(fd, id, HWPMC_F_OLDVALUE, &after))
		return 0;
	return after - before;
}

static void compare(uint64_t got, uint64_t want)
{
	if (got == want)
		return;
	if (!state->wrong++) {
		state->got = got;
		state->want = want;
	}
}

/* A program of known length, under a PMC that was there before the storm. */
static void measure_program(int fd, uint32_t id)
{
	uint64_t before = dev_read(fd, id);
	struct child child = dev_loop(100000);

	dev_stop(fd, id);
	if (dev_attach(fd, id, child.pid) || dev_start(fd, id)) {
		note(REOPEN, EPROTO);
		return;
	}
	dev_go(&child);
	dev_wait(&child);
	compare(dev_read(fd, id) - before, loop_insn(100000));
	state->programs++;
}

static void stand_by(int ready)
{
	int fd = dev_open();
	uint32_t self = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint32_t others = dev_alloc(fd, TC, HWPMC_F_EXEC_START, ANY, INSN, U);
	uint64_t rest;

	dev_ok(dev_start(fd, self));
	window(fd, self, 10);
	rest = window(fd, self, 1000) - 3000;
	ck_assert(write(ready, "r", 1) == 1);
	while (!state->stop) {
		compare(window(fd, self, 500000), 1500000 + rest);
		state->windows++;
		measure_program(fd, others);
	}
	_exit(0);
}

static pid_t bystander(void)
{
	int ready[2];
	pid_t pid;
	char c;

	ck_assert(!pipe(ready));
	pid = fork();
	if (!pid)
		stand_by(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	return pid;
}

/* ---- the storm ----------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void spawn(int slot, uint64_t *seed)
{
	uint64_t random = next(seed);
	pid_t pid = fork();

	if (!pid)
		work(slot, random);
	ck_assert_int_gt(pid, 0);
	state->pid[slot] = pid;
}

/* Reap whoever ended; a worker that did is followed by another. At a worker's
 * priority they would end faster than this could follow. */
static void tend(uint64_t *seed)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (int i = 0; i < WORKERS; i++)
			if (state->pid[i] == pid)
				spawn(i, seed);
}

/* A kernel that checks itself gets longer limits (tests/vm/run-tests), and does less. */
static unsigned int slowness(void)
{
	const char *scale = getenv("HARNESS_SCALE");

	return scale && atoi(scale) > 4 ? 6 : 1;
}

/* The first operation that was never granted, or N_WHATS. */
static int never_granted(void)
{
	int i;

	for (i = 0; i < N_WHATS; i++)
		if (i != MIGRATE && state->done[i] <= state->refused[i])
			break;
	return i;
}

/* What a storm must have come to, however busy this machine is: no operation is refused for
 * ten times as long. */
static bool has_raged(int64_t until, int64_t ms)
{
	uint64_t least = 5 / slowness();

	return now_ms() >= until && state->windows > least &&
	       (never_granted() == N_WHATS || now_ms() >= until + 9 * ms) &&
	       state->programs > least &&
	       state->toggles > ms / 2000 / slowness();
}

static void rage(uint64_t seed, int64_t ms)
{
	struct worker me = { .random = seed };
	int64_t toggle = now_ms(), until = toggle + ms;
	int online = 1;

	/* Else CPUs come and go once a minute, among 64 busy tasks. */
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK,
			   &(struct sched_param){ .sched_priority = 1 });
	for (int i = 0; i < WORKERS; i++)
		spawn(i, &seed);
	while (!has_raged(until, ms)) {
		if (now_ms() >= toggle) {
			online = !online;
			cpu1_online(online);
			toggle = now_ms() + HOTPLUG_MS;
			state->toggles++;
		}
		tend(&seed);
		/* An owner that does not expect it. */
		kill(state->pid[choice(&me, WORKERS)], SIGKILL);
		dev_msleep(50);
	}
	cpu1_online(1);
}

/* What /proc says of a process, for the log. */
static void tell(pid_t pid, const char *what)
{
	char path[64], text[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	f = fopen(path, "r");
	if (f && fgets(text, sizeof(text), f))
		fprintf(stderr, "straggler %d %s: %s\n", pid, what, text);
	if (f)
		fclose(f);
}

/* All others of this process group, whoever their parent is, but one. */
static void kill_stragglers(pid_t watched)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;

	ck_assert_ptr_nonnull(proc);
	while ((d = readdir(proc))) {
		pid_t pid = atoi(d->d_name);

		if (pid <= 0 || pid == getpid() || pid == watched ||
		    getpgid(pid) != getpgrp())
			continue;
		tell(pid, "stat");
		tell(pid, "wchan");
		tell(pid, "syscall");
		kill(pid, SIGKILL);
	}
	closedir(proc);
}

/*
 * Everybody ends by himself, or is killed after 20 seconds: a task may wait for
 * one that was killed. Who does not die of that hangs in the kernel.
 */
static int calm(pid_t watched)
{
	int64_t patience = now_ms() + 20000, until = patience + 600000;
	int status = -1, s;
	pid_t pid;

	state->stop = 1;
	while ((pid = waitpid(-1, &s, WNOHANG)) >= 0) {
		if (pid == watched)
			status = s;
		ck_assert_msg(now_ms() < until, "somebody hangs in the kernel");
		if (now_ms() > patience) {
			kill_stragglers(watched);
			patience += 5000;
		}
		if (!pid)
			dev_msleep(20);
	}
	return status;
}

static void print_storm(uint64_t seed)
{
	static const char *const names[] = {
		"allocate", "attach", "detach", "start", "stop", "read",
		"setcount", "release", "info", "fork", "fork+exec", "threads",
		"reopen", "migrate", "exec", "leave",
	};

	fprintf(stderr, "seed %llu; bystander: %llu windows, %llu programs; CPU 1 on or off %llu times\n",
		(unsigned long long)seed, (unsigned long long)state->windows,
		(unsigned long long)state->programs,
		(unsigned long long)state->toggles);
	for (int i = 0; i < N_WHATS; i++)
		fprintf(stderr, "%s %llu (%llu refused)\n", names[i],
			(unsigned long long)state->done[i],
			(unsigned long long)state->refused[i]);
}

/* Also in a worker's new program, which is no test: without assertions. */
static void map_state(int fd)
{
	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (state == MAP_FAILED)
		abort();
}

START_TEST(a_storm_of_64_tasks_leaves_a_bystander_exact_and_registers_at_zero)
{
	uint64_t seed = env_number("STORM_SEED", now_ms() * 2654435761u | 1);
	int64_t ms = 1000 * env_number("STORM_SECONDS", 60);
	int fd = memfd_create("storm", 0), status;
	pid_t watched;

	ck_assert_int_eq(ftruncate(fd, sizeof(*state)), 0);
	ck_assert_int_eq(dup2(fd, STATE_FD), STATE_FD);
	map_state(fd);
	/* Orphans of killed workers come to us. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fprintf(stderr, "STORM_SEED=%llu\n", (unsigned long long)seed);
	watched = bystander();
	rage(seed, ms);
	status = calm(watched);
	print_storm(seed);
	ck_assert_msg(!state->bad, "seed %llu: operation %d: errno %d, reason %u (%d)",
		      (unsigned long long)seed, state->bad_what,
		      state->bad_errno, state->bad_hdr.reason,
		      state->bad_hdr.detail);
	ck_assert_msg(!state->wrong, "seed %llu: bystander: %llu of %llu wrong, first %lld off",
		      (unsigned long long)seed, (unsigned long long)state->wrong,
		      (unsigned long long)(state->windows + state->programs),
		      (long long)(state->got - state->want));
	ck_assert_int_eq(status, 0);
	ck_assert_msg(never_granted() == N_WHATS, "operation %d was never granted",
		      never_granted());
	dev_check_registers_clear();
}
END_TEST

/* ---- after it ------------------------------------------------------------ */

START_TEST(after_the_storm_no_target_or_thread_object_is_left)
{
	check_no_objects("hwpmc_target");
	check_no_objects("hwpmc_thread");
}
END_TEST

static void unload(void)
{
	ck_assert_int_eq(system("rmmod hwpmc"), 0);
	ck_assert_int_ne(access(HWPMC_DEVICE, F_OK), 0);
}

START_TEST(after_the_storm_the_module_unloads_loads_and_counts)
{
	unload();
	ck_assert_int_eq(dev_busy_register(), 0);
	dev_setup();
	dev_still_counts();
}
END_TEST

/* ---- smaller storms ------------------------------------------------------ */

static void hold(void *arg)
{
	int fd = dev_open(), end = *(int *)arg;
	pid_t child = fork();

	if (!child) {
		close(fd);
		pause();
		_exit(0);
	}
	if (write(end, &child, sizeof(child)) != sizeof(child))
		_exit(1);
	for (;;) {
		struct hwpmc_op_pmcallocate op;

		dev_request(&op, TC, HWPMC_F_DESCENDANTS, ANY, INSN, U | K);
		if (dev_allocate(fd, &op))
			continue;
		dev_attach(fd, op.pmcid, child);
		dev_start(fd, op.pmcid);
		dev_attach(fd, op.pmcid, 0);
		dev_request(&op, SC, 0, 0, CYCLES, U | K);
		if (!dev_allocate(fd, &op))
			dev_start(fd, op.pmcid);
		close(fd);
		fd = dev_open();
	}
}

START_TEST(owners_killed_at_work_leave_every_register_at_zero)
{
	uint64_t random = 12345, owners = env_number("STORM_OWNERS", 200);

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (uint64_t i = 0; i < owners; i++) {
		int p[2];
		pid_t target;
		struct child owner;

		ck_assert(!pipe(p));
		owner = dev_child(hold, &p[1]);
		dev_go(&owner);
		ck_assert(read(p[0], &target, sizeof(target)) == sizeof(target));
		dev_spin(next(&random) % 3000000);
		kill(owner.pid, SIGKILL);
		waitpid(owner.pid, NULL, 0);
		/* The one who was measured outlives it. */
		dev_check_registers_clear();
		kill(target, SIGKILL);
		waitpid(target, NULL, 0);
		close(p[0]);
		close(p[1]);
	}
	dev_still_counts();
}
END_TEST

#define BURST	40

static void burst(void *arg)
{
	for (int i = 0; i < BURST; i++)
		if (!fork()) {
			execl("build/vm/progs/loop", "loop", "1000",
			      (char *)NULL);
			_exit(127);
		}
	while (wait(NULL) > 0)
		;
}

static void measured_burst(void)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_DESCENDANTS | HWPMC_F_EXEC_START,
				ANY, INSN, U);
	struct child child = dev_child(burst, NULL);

	dev_ok(dev_attach(fd, id, child.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&child);
	dev_wait(&child);
	ck_assert_uint_eq(dev_read(fd, id), BURST * loop_insn(1000));
	close(fd);
}

START_TEST(loads_and_unloads_with_measured_fork_storms_between)
{
	uint64_t loads = env_number("STORM_LOADS", 20);

	for (uint64_t i = 0; i < loads; i++) {
		measured_burst();
		/* At once, with the hooks still in place. */
		unload();
		ck_assert_int_eq(dev_busy_register(), 0);
		dev_setup();
	}
	dev_still_counts();
}
END_TEST

/* Processes that live on were measured when the module goes. */
START_TEST(the_module_unloads_under_processes_that_were_measured)
{
	struct child child[8];

	for (int i = 0; i < 8; i++)
		child[i] = dev_loop(2000000);
	for (int round = 0; round < 3; round++) {
		int fd = dev_open();
		uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

		for (int i = 0; i < 8; i++)
			dev_ok(dev_attach(fd, id, child[i].pid));
		dev_ok(dev_start(fd, id));
		if (round == 1)
			for (int i = 0; i < 8; i++)
				dev_go(&child[i]);
		close(fd);
		unload();
		dev_setup();
		if (round == 1)
			break;
	}
	for (int i = 0; i < 8; i++)
		dev_wait(&child[i]);
	dev_still_counts();
}
END_TEST

START_TEST(the_module_does_not_unload_while_the_device_is_open)
{
	int fd = dev_open();

	ck_assert_int_ne(system("rmmod hwpmc 2>/dev/null"), 0);
	close(fd);
	dev_still_counts();
}
END_TEST

int main(int argc, char **argv)
{
	dev_setup();
	if (argc == 3) {
		map_state(STATE_FD);
		work(atoi(argv[1]), strtoull(argv[2], NULL, 10));
	}
	harness_add_timed(a_storm_of_64_tasks_leaves_a_bystander_exact_and_registers_at_zero,
			  60);
	harness_add(after_the_storm_no_target_or_thread_object_is_left);
	harness_add(after_the_storm_the_module_unloads_loads_and_counts);
	harness_add_timed(owners_killed_at_work_leave_every_register_at_zero,
			  30);
	harness_add_timed(loads_and_unloads_with_measured_fork_storms_between,
			  30);
	harness_add(the_module_unloads_under_processes_that_were_measured);
	harness_add(the_module_does_not_unload_while_the_device_is_open);
	return harness_run();
}
