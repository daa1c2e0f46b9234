/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_killed.c - owners that die in the middle of an operation, by SIGKILL at any
 * moment or because a memory cgroup is full, while they do at random what owners do,
 * at their limits, with absurd periods, on a CPU that goes and comes, under NMIs
 * that are late, lost, doubled or stray. A bystander's counts stay exact, and
 * nothing is left.
 *
 * STORM_KILLS=n: so many that were in an operation (500); STORM_OOMS=n (30);
 * STORM_SEED=n replays the choices, not their timing.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <hwpmc_log.h>

#include "../lib/kmod_storms.h"

#define OWNERS	12	/* at once, those included that are dying */
#define STARVING 6	/* at once, in a group with less memory than they take */
#define GROUP	"/sys/fs/cgroup/starving"
#define VICTIMS	2	/* whom they measure; these outlive them */
#define PMCS	6
#define LENGTH	20000ul

struct slot {
	/* Operations that its owner began and that came back. */
	volatile uint64_t begun, ended;
	pid_t pid;	/* 0: it has died */
	bool killed;
	bool starves;	/* it is killed when its group's memory is full */
};

static struct slot *slots;
static uint64_t kills, amid, ooms, ooms_amid;
static pid_t victims[VICTIMS];

/* ---- an owner ------------------------------------------------------------ */

struct owner {
	struct slot *slot;
	int fd;
	uint32_t id[PMCS];
	bool own[PMCS];
	uint32_t ring;
};

/* Answers are of no interest: any of them may be right. */
#define DO(o, call) do {						\
	(o)->slot->begun++;						\
	(void)(call);							\
	(o)->slot->ended++;						\
} while (0)

static void raw(struct owner *o, unsigned long request, void *arg)
{
	DO(o, ioctl(o->fd, request, arg));
}

static void set_limit(int which, rlim_t n)
{
	setrlimit(which, &(struct rlimit){ n, n });
}

static void live_at_limits(void)
{
	switch (pick(6)) {
	case 0: set_limit(RLIMIT_NPROC, 1); break;
	case 1: set_limit(RLIMIT_NOFILE, 4 + pick(3)); break;
	case 2: set_limit(RLIMIT_MEMLOCK, pick(3) << 16); break;
	case 3: set_limit(RLIMIT_AS, 1 << 24); break;
	}
	/* Root is beyond the first and the third of them. */
	if (pick(2) && (setresgid(65534, 65534, 65534) ||
			setresuid(65534, 65534, 65534)))
		_exit(1);
}

static void allocate(struct owner *o, int i)
{
	static const uint32_t periods[] = { 1, 100, 10007, 100003, 1 << 30 };
	static const int modes[] = {
		TC, TC, HWPMC_MODE_TS, HWPMC_MODE_TS, SC, HWPMC_MODE_SS,
	};
	int mode = modes[pick(6)];
	bool system = mode == SC || mode == HWPMC_MODE_SS;
	struct hwpmc_op_pmcallocate op;
	uint32_t flags = 0;

	if (!system && pick(2))
		flags |= HWPMC_F_DESCENDANTS;
	if (mode == TC && !pick(3))
		flags |= HWPMC_F_LOG_PROCCSW | HWPMC_F_LOG_PROCEXIT;
	if ((mode == HWPMC_MODE_TS || mode == HWPMC_MODE_SS) && pick(2))
		flags |= HWPMC_F_CALLCHAIN;
	dev_request(&op, mode, flags, system ? pick(2) : ANY, pick(3),
		    pick(2) ? U : U | K);
	op.count = mode == TC || mode == SC ? 0 : periods[pick(5)];
	o->slot->begun++;
	o->own[i] = !dev_allocate(o->fd, &op);
	o->slot->ended++;
	o->id[i] = op.pmcid;
}

static void configure_log(struct owner *o)
{
	struct hwpmc_op_configurelog op = { .logfd = -1 };
	static const char *const sinks[] = { "/dev/null", "/dev/full" };

	o->ring = 1 << (14 + pick(4));
	if (pick(3)) {
		op.flags = HWPMC_LOG_F_MAPPED;
		op.ring_size = o->ring;
	} else {
		op.logfd = open(sinks[pick(2)], O_WRONLY | O_CLOEXEC);
	}
	raw(o, HWPMC_IOC_CONFIGURELOG, &op);
	if (op.logfd >= 0)
		close(op.logfd);
}

static void map_ring(struct owner *o)
{
	size_t len = HWPMC_LOG_MAP_SIZE((size_t)o->ring, 4096);
	void *at;

	o->slot->begun++;
	at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, o->fd,
		  HWPMC_LOG_MAP_OFFSET(pick(2)));
	/* Whoever writes what he likes there hurts himself. */
	if (at != MAP_FAILED && pick(2))
		memset(at, pick(256), len);
	if (at != MAP_FAILED && pick(2))
		munmap(at, len);
	o->slot->ended++;
}

static void on_log(struct owner *o)
{
	struct hwpmc_op_simple simple = { { 0 } };
	struct hwpmc_op_writelog datum = { .userdata = pick(1000) };

	switch (pick(6)) {
	case 0:
	case 1: return configure_log(o);
	case 2: return map_ring(o);
	case 3: return raw(o, HWPMC_IOC_FLUSHLOG, &simple);
	case 4: return raw(o, HWPMC_IOC_WRITELOG, &datum);
	case 5: return raw(o, HWPMC_IOC_CLOSELOG, &simple);
	}
}

static void *spin_a_while(void *arg)
{
	dev_spin(5000);
	return NULL;
}

static void make_family(struct owner *o)
{
	pthread_t thread;
	pid_t pid;

	if (pick(2)) {
		if (!pthread_create(&thread, NULL, spin_a_while, NULL))
			pthread_detach(thread);
		return;
	}
	o->slot->begun++;
	pid = fork();
	if (!pid) {
		if (pick(2))
			execl("build/vm/progs/loop", "loop", "100", (char *)NULL);
		dev_spin(pick(5000));
		_exit(0);
	}
	if (pid > 0 && pick(2))
		waitpid(pid, NULL, 0);
	o->slot->ended++;
}

static void on_pmc(struct owner *o, int i)
{
	struct hwpmc_op_getmsr msr = { .pmcid = o->id[i] };
	pid_t whom = pick(2) ? victims[pick(VICTIMS)] : 0;
	uint64_t value = 0;

	switch (pick(9)) {
	case 0:
	case 1: DO(o, dev_attach(o->fd, o->id[i], whom)); break;
	case 2: DO(o, dev_detach(o->fd, o->id[i], whom)); break;
	case 3:
	case 4: DO(o, dev_start(o->fd, o->id[i])); break;
	case 5: DO(o, dev_stop(o->fd, o->id[i])); break;
	case 6: DO(o, dev_rw(o->fd, o->id[i], HWPMC_F_OLDVALUE, &value)); break;
	case 7: raw(o, HWPMC_IOC_PMCGETMSR, &msr); break;
	case 8:
		if (pick(3))
			break;
		DO(o, dev_release(o->fd, o->id[i]));
		o->own[i] = false;
		break;
	}
}

/* It keeps it. */
static void take_memory(size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at != MAP_FAILED)
		memset(at, 1, len);
}

static void be_owner(struct slot *slot)
{
	struct owner o = { .slot = slot, .ring = 1 << 16 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (slot->starves)
		dev_put(GROUP "/cgroup.procs", "0");
	/* Who is to take all memory must be able to. */
	if (!pick(3) && !slot->starves)
		live_at_limits();
	o.fd = dev_open();
	while (o.fd >= 0) {
		int i = pick(PMCS), what = pick(40);

		if (slot->starves)
			take_memory(65536);
		if (what == 0) {
			DO(&o, close(o.fd));
			memset(o.own, 0, sizeof(o.own));
			o.fd = dev_open();
		} else if (what == 1) {
			make_family(&o);
		} else if (what < 8) {
			on_log(&o);
		} else if (!o.own[i]) {
			allocate(&o, i);
		} else {
			on_pmc(&o, i);
		}
	}
	if (!slot->starves)
		pause();
	_exit(0);
}

static void spawn(struct slot *slot, bool starves)
{
	pid_t pid;

	reseed(slot - slots + 1);
	slot->killed = false;
	slot->starves = starves;
	slot->begun = 0;
	slot->ended = 0;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		be_owner(slot);
	slot->pid = pid;
}

/* Ends take a while: nobody waits for this one. */
static void kill_one(struct slot *slot)
{
	if (!slot->pid || slot->killed)
		return;
	slot->killed = true;
	kill(slot->pid, SIGKILL);
}

/* It may have died of its limits before. */
static void note_death(struct slot *slot, int status)
{
	slot->pid = 0;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		return;
	if (!slot->killed) {
		ooms++;
		ooms_amid += slot->begun != slot->ended;
		return;
	}
	kills++;
	amid += slot->begun != slot->ended;
}

/* Owners, and orphans of theirs. */
static void reap(int flags)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, flags)) > 0)
		for (int i = 0; i < OWNERS; i++)
			if (slots[i].pid == pid)
				note_death(&slots[i], status);
}

/* ---- those who are there all the time ------------------------------------ */

static void be_victim(void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		dev_spin(3000);
		if (!pick(200) && !fork())
			_exit(0);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		usleep(pick(2000));
	}
}

static int bystander_fd;
static uint32_t bystander_id;
static uint64_t programs;

static void bystander_begins(void)
{
	bystander_fd = dev_open();
	bystander_id = dev_alloc(bystander_fd, TC, HWPMC_F_EXEC_START, ANY, INSN, U);
}

static void measure_a_program(void)
{
	uint64_t before = dev_read(bystander_fd, bystander_id);
	struct child c = dev_loop(LENGTH);

	dev_stop(bystander_fd, bystander_id);
	dev_ok(dev_attach(bystander_fd, bystander_id, c.pid));
	dev_ok(dev_start(bystander_fd, bystander_id));
	dev_go(&c);
	dev_wait(&c);
	ck_assert_uint_eq(dev_read(bystander_fd, bystander_id) - before,
			  loop_insn(LENGTH));
	programs++;
}

static void set_tunable(const char *name, int value)
{
	char cmd[96];

	snprintf(cmd, sizeof(cmd), "echo %d >/proc/sys/kern/hwpmc/%s", value, name);
	ck_assert_int_eq(system(cmd), 0);
}

static void begin(void)
{
	seed();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	slots = mmap(NULL, OWNERS * sizeof(*slots), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	set_tunable("mincount", 1);
	set_tunable("selfcost", 10);
	for (int i = 0; i < VICTIMS; i++) {
		struct child c = dev_child(be_victim, NULL);

		reseed(i + 100);
		dev_go(&c);
		victims[i] = c.pid;
	}
	bystander_begins();
}

static void finish(void)
{
	for (int i = 0; i < OWNERS; i++)
		kill_one(&slots[i]);
	make_trouble(false);
	dev_unpin(getpid());
	close(bystander_fd);
	for (int i = 0; i < VICTIMS; i++)
		kill(victims[i], SIGKILL);
	reap(0);
	set_tunable("mincount", 1000);
	set_tunable("selfcost", 50);
	dev_check_registers_clear();
	dev_still_counts();
	check_no_objects("hwpmc_target");
	check_no_objects("hwpmc_thread");
}

static void check_memory(unsigned long before)
{
	unsigned long after = 0;

	/* What RCU and work items have still to free takes a moment. */
	for (int i = 0; i < 120; i++) {
		after = kernel_memory();
		if (after < before + 600)
			break;
		dev_msleep(500);
	}
	fprintf(stderr, "kernel memory %lu -> %lu KiB in %lu kills\n", before,
		after, kills + ooms);
	/* A page for each would be 4 KiB each. */
	ck_assert_uint_lt(after, before + 600);
}

/* ---- the tests ----------------------------------------------------------- */

static void disturb(uint64_t n)
{
	if (n % 16 == 0) {
		cpu1_online(0);
		cpu1_online(1);
	}
	if (n % 4 == 0)
		make_trouble(n % 8);
}

/* Somebody who is in an operation now, if that is soon found. */
static struct slot *whom_to_kill(void)
{
	struct slot *slot = slots;

	for (int i = 0; i < 4 * OWNERS; i++) {
		slot = &slots[pick(OWNERS)];
		if (!slot->killed && slot->begun != slot->ended)
			break;
	}
	return slot;
}

static void kill_and_replace(void)
{
	usleep(pick(2000));
	kill_one(whom_to_kill());
	reap(WNOHANG);
	for (int i = 0; i < OWNERS; i++)
		if (!slots[i].pid)
			spawn(&slots[i], false);
}

START_TEST(owners_killed_in_the_middle_of_an_operation_leave_nothing_behind)
{
	uint64_t want = env_number("STORM_KILLS", 500), next = 100;
	unsigned long before = 0;

	expect_nmis();
	begin();
	while (amid < want) {
		kill_and_replace();
		if (kills < next)
			continue;
		next += 100;
		measure_a_program();
		disturb(next / 100);
		if (!before && amid > want / 5)
			before = kernel_memory();
		if (next % 1000 == 0)
			fprintf(stderr, "%lu killed, %lu in an operation\n", kills, amid);
	}
	finish();
	fprintf(stderr, "%lu owners killed, %lu of them in an operation; %lu programs exact beside it\n",
		kills, amid, programs);
	check_memory(before);
}
END_TEST

/* ---- out of memory ------------------------------------------------------- */

static void group_begins(void)
{
	dev_put("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	ck_assert_msg(!mkdir(GROUP, 0755), GROUP ": %s", strerror(errno));
	dev_put(GROUP "/memory.max", "16M");
	/* What the kernel tells of each, some of them in a copy to a user; the
	 * console is slow. */
	dev_put("/proc/sys/vm/oom_dump_tasks", "0");
	dev_expect("^[^a-z]*(Call Trace:|RIP: 00)");
}

static void group_ends(void)
{
	for (int i = 0; rmdir(GROUP); i++) {
		ck_assert_msg(errno == EBUSY && i < 1200, GROUP ": %s",
			      strerror(errno));
		reap(WNOHANG);
		dev_msleep(50);
	}
}

static void feed_none(void)
{
	usleep(pick(2000));
	reap(WNOHANG);
	for (int i = 0; i < STARVING; i++)
		if (!slots[i].pid)
			spawn(&slots[i], true);
}

START_TEST(owners_killed_when_memory_runs_out_leave_nothing_behind)
{
	uint64_t want = env_number("STORM_OOMS", 30), next = 10;
	unsigned long before = 0;

	expect_nmis();
	group_begins();
	begin();
	/* Most wait for memory in mmap(); some have to be in an operation of ours. */
	while (ooms < want || !ooms_amid) {
		feed_none();
		if (ooms < next)
			continue;
		next += 10;
		measure_a_program();
		disturb(next / 10);
		if (!before)
			before = kernel_memory();
	}
	finish();
	group_ends();
	fprintf(stderr, "%lu owners out of memory, %lu of them in an operation; %lu programs exact beside it\n",
		ooms, ooms_amid, programs);
	check_memory(before);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(owners_killed_in_the_middle_of_an_operation_leave_nothing_behind,
			  230);
	harness_add_timed(owners_killed_when_memory_runs_out_leave_nothing_behind, 230);
	return harness_run();
}
