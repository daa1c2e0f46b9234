// SPDX-License-Identifier: BSD-2-Clause
/*
 * main.c - fuzzes /dev/hwpmc: random sequences of operations by several processes and
 * threads, one seed after the other, and what must hold after each.
 *
 *	ioctl [--seed N] [--seeds COUNT | --seconds S] [--ops M] [--procs P]
 *	      [--threads T] [--model intel|amd|none] [--failed FILE]
 *	ioctl --seed N --ops M --emit-c FILE [--thread I]
 *	ioctl --seed N --ops M --print
 *
 * A seed, the number of steps and the model are a sequence, always the same one; the
 * timing of several threads is not. --emit-c writes it as a program in C, all threads
 * or the one; --trace prints what each call answered. The module is loaded anew after
 * each seed. Ends with 1 after the first seed that went wrong (--keep-going: all).
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "../../vm/tests/kmod_dev.h"
#include "emit.h"
#include "judge.h"
#include "watch.h"

struct shared {
	int32_t peer[PEERS];
	uint64_t done[OP__COUNT], calls[256], refused[256];
	uint64_t ns[OP__COUNT], call_ns[256], why[HWPMC_WHY__COUNT];
	/* The first thing that should not be. */
	int bad, bad_thread, bad_index;
	struct op bad_op;
	struct outcome bad_out;
	char bad_why[160];
};

static struct shared *shared;
static struct plan plan;
static bool trace;
static __thread int this_thread;
static __thread const struct op *this_sequence;
static int observer = -1;

/* ---- one thread ---------------------------------------------------------- */

static void note_bad(const struct op *op, const struct outcome *out, const char *why)
{
	if (__atomic_exchange_n(&shared->bad, 1, __ATOMIC_SEQ_CST))
		return;
	shared->bad_thread = this_thread;
	shared->bad_index = op - this_sequence;
	shared->bad_op = *op;
	shared->bad_out = *out;
	snprintf(shared->bad_why, sizeof(shared->bad_why), "%s", why);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void note(const struct op *op, const struct outcome *out, uint64_t ns)
{
	const char *why = judge(op, out, !plan.alone);

	__atomic_add_fetch(&shared->ns[op->what], ns, __ATOMIC_RELAXED);
	if (op->what == OP_CALL)
		__atomic_add_fetch(&shared->call_ns[op->nr], ns, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->done[op->what], 1, __ATOMIC_RELAXED);
	if (op->what == OP_CALL) {
		__atomic_add_fetch(&shared->calls[op->nr], 1, __ATOMIC_RELAXED);
		if (out->err)
			__atomic_add_fetch(&shared->refused[op->nr], 1,
					   __ATOMIC_RELAXED);
		if (out->err && out->reason < HWPMC_WHY__COUNT)
			__atomic_add_fetch(&shared->why[out->reason], 1,
					   __ATOMIC_RELAXED);
	}
	if (why)
		note_bad(op, out, why);
	if (trace && op->what == OP_CALL)
		dprintf(1, "%ld nr %u: errno %d reason %u\n",
			(long)(op - this_sequence), op->nr, out->err, out->reason);
}

static void run(const struct op *op, unsigned int n)
{
	for (unsigned int i = 0; i < n && !shared->bad; i++) {
		const struct op *this = &op[i];
		struct snapshot before;
		struct outcome out;
		const char *changed;
		uint64_t began;

		if (observer >= 0)
			snapshot_take(observer, &before);
		began = now();
		i += act(this, n - i - 1, &out);
		began = now() - began;
		changed = observer >= 0 && out.is_call && out.err ?
			  snapshot_changed(observer, &before) : NULL;
		if (changed)
			note_bad(this, &out, changed);
		note(this, &out, began);
	}
}

static void *thread(void *arg)
{
	unsigned int i = (uintptr_t)arg, n;
	struct op *ops = plan_sequence(&plan, i / plan.threads, i % plan.threads, &n);

	this_thread = i;
	this_sequence = ops;
	act_thread_init();
	run(ops, n);
	free(ops);
	return NULL;
}

static void process(unsigned int proc)
{
	pthread_t id[16];

	act_init();
	act_peers = shared->peer;
	act_sequence = run;
	if (plan.alone && !trace)
		observer = dev_open();
	for (unsigned int i = 0; i < plan.threads; i++)
		pthread_create(&id[i], NULL, thread,
			       (void *)(uintptr_t)(proc * plan.threads + i));
	for (unsigned int i = 0; i < plan.threads; i++)
		pthread_join(id[i], NULL);
}

/* ---- one seed ------------------------------------------------------------ */

/* All that a seed has begun is gone, or NULL's contrary. */
static const char *reap(pid_t group)
{
	for (int ms = 0; ms < 60000; ms += 5) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0)
			return NULL;
		if (pid == 0) {
			kill(-group, SIGKILL);
			dev_msleep(5);
		}
	}
	return "processes do not end within a minute of SIGKILL";
}

static const char *wait_for(unsigned int procs, const pid_t *pid, int seconds)
{
	unsigned int left = procs;

	for (int ms = 0; left; ms += 5) {
		left = 0;
		for (unsigned int i = 0; i < procs; i++)
			left += !kill(pid[i], 0) &&
				waitpid(pid[i], NULL, WNOHANG) == 0;
		if (ms > seconds * 1000)
			return "an operation hangs";
		if (left)
			dev_msleep(5);
	}
	return NULL;
}

/*
 * Each hook that comes or goes changes the kernel's text, for which an emulated machine
 * needs longer than for all else: with a PMC that somebody keeps they stay.
 */
static int keep_hooks(void)
{
	struct hwpmc_op_pmcallocate op = {
		.mode = HWPMC_MODE_TC, .cpu = HWPMC_CPU_ANY, .class = HWPMC_CLASS_SOFT,
		.flags = HWPMC_F_LOG_PROCCSW, .ev = HWPMC_EV_SOFT_PAGE_FAULT_ALL,
	};
	int fd = plan.keep ? dev_open() : -1;

	if (fd >= 0)
		ioctl(fd, HWPMC_IOC_PMCALLOCATE, &op);
	return fd;
}

static const char *run_processes(int seconds)
{
	pid_t pid[PEERS] = { 0 };
	const char *why, *late;
	int keep = keep_hooks();

	for (unsigned int i = 0; i < plan.procs; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			setpgid(0, i ? pid[0] : 0);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			shared->peer[i] = getpid();
			process(i);
			_exit(0);
		}
		setpgid(pid[i], pid[0]);
	}
	why = wait_for(plan.procs, pid, seconds);
	late = reap(pid[0]);
	if (keep >= 0)
		close(keep);
	return late ? late : why;
}

static const char *after(const char *module)
{
	const char *why;

	watch_restore();
	if (access(HWPMC_DEVICE, F_OK))
		return watch_reload(module);
	why = watch_leftovers(shared->done[OP_PERF] > 0);
	if (!why)
		why = watch_counts();
	if (!why)
		why = watch_reload(module);
	return why;
}

static void report_bad(const char *why, const char *dir)
{
	char path[256];
	FILE *f;

	printf("seed %llu: FAILED: %s\n", (unsigned long long)plan.seed, why);
	if (shared->bad) {
		printf("  thread %d, step %d: errno %d, reason %u (%d)\n  ",
		       shared->bad_thread, shared->bad_index, shared->bad_out.err,
		       shared->bad_out.reason, shared->bad_out.detail);
		emit_op(stdout, &shared->bad_op);
	}
	printf("  again: --seed %llu --ops %u --procs %u --threads %u\n",
	       (unsigned long long)plan.seed, plan.ops, plan.procs, plan.threads);
	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/seed-%llu.c", dir,
		 (unsigned long long)plan.seed);
	f = fopen(path, "w");
	if (!f)
		return;
	emit_c(f, &plan, -1);
	fclose(f);
	printf("  as a program: %s\n", path);
}

struct options {
	uint64_t seed, seeds;
	unsigned int ops, procs, threads, seconds, limit;
	const char *emit, *failed;
	int emit_thread;
	bool print, keep_going;
	enum model model;
	char module[160];
};

static void make_plan(const struct options *o, uint64_t seed)
{
	plan = (struct plan){
		.seed = seed, .ops = o->ops, .procs = o->procs,
		.threads = o->threads, .model = o->model,
	};
	plan_make(&plan);
}

static uint64_t steps(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < OP__COUNT; i++)
		sum += shared->done[i];
	return sum;
}

static void say_in_dmesg(void)
{
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	dprintf(fd, "fuzz: seed %llu, %u steps\n", (unsigned long long)plan.seed,
		plan.ops);
	close(fd);
}

/* 0, or 1 where it went wrong. */
static int run_seed(const struct options *o, uint64_t seed)
{
	uint64_t before = steps();
	time_t begin = time(NULL);
	const char *why, *complaint;

	make_plan(o, seed);
	/* Should the machine die, the last of these lines says of what. */
	printf("seed %llu: %u x %u%s%s%s: ", (unsigned long long)seed, plan.procs,
	       plan.threads, plan.alone ? " alone" : "",
	       plan.machine ? " machine" : "", plan.revoke ? " revoke" : "");
	fflush(stdout);
	say_in_dmesg();
	shared->bad = 0;
	why = run_processes(o->limit);
	if (shared->bad && !why)
		why = shared->bad_why;
	if (!why)
		why = after(o->module);
	complaint = watch_complaint();
	if (complaint && !why)
		why = complaint;
	printf("%llu steps, %d s\n", (unsigned long long)(steps() - before),
	       (int)(time(NULL) - begin));
	if (why)
		report_bad(why, o->failed);
	if (complaint)
		printf("  the kernel: %s\n", complaint);
	fflush(stdout);
	return why != NULL;
}

static void summary(uint64_t seeds, uint64_t bad, double minutes)
{
	uint64_t calls = 0, refused = 0;

	for (int i = 0; i < 256; i++) {
		calls += shared->calls[i];
		refused += shared->refused[i];
	}
	for (unsigned int i = 0; i < HWPMC_OP__COUNT; i++)
		if (call_names[i])
			printf("  %-16s %8llu, refused %8llu, %llu ms\n", call_names[i],
			       (unsigned long long)shared->calls[i],
			       (unsigned long long)shared->refused[i],
			       (unsigned long long)shared->call_ns[i] / 1000000);
	for (int i = 1; i < OP__COUNT; i++)
		printf("  %-16s %8llu, %llu ms\n", op_names[i],
		       (unsigned long long)shared->done[i],
		       (unsigned long long)shared->ns[i] / 1000000);
	printf("  reasons:");
	for (int i = 0; i < HWPMC_WHY__COUNT; i++)
		if (shared->why[i])
			printf(" %d:%llu", i, (unsigned long long)shared->why[i]);
	printf("\ntotal: %llu seeds, %llu steps, %llu calls (%llu refused), "
	       "%.1f minutes, %llu failed\n", (unsigned long long)seeds,
	       (unsigned long long)steps(), (unsigned long long)calls,
	       (unsigned long long)refused, minutes, (unsigned long long)bad);
}

static void ask_for_rows(void)
{
	struct hwpmc_op_getcpuinfo info = { .hdr = { .reason = 0 } };
	int fd = dev_open();

	if (fd >= 0 && !ioctl(fd, HWPMC_IOC_GETCPUINFO, &info))
		judge_rows = info.npmc;
	close(fd);
}

static int run_all(const struct options *o)
{
	time_t begin = time(NULL);
	uint64_t n = 0, bad = 0;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	act_module = o->module;
	act_loop = "build/vm/progs/loop";
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGIO, SIG_IGN);
	signal(SIGBUS, SIG_IGN);	/* it may be revoked, too */
	dev_setup();
	ask_for_rows();
	watch_messages();
	while (o->seconds ? time(NULL) - begin < o->seconds : n < o->seeds) {
		bad += run_seed(o, o->seed + n);
		n++;
		if (bad && !o->keep_going)
			break;
	}
	summary(n, bad, (time(NULL) - begin) / 60.0);
	return bad != 0;
}

static int emit(const struct options *o)
{
	FILE *f = o->emit ? fopen(o->emit, "w") : stdout;

	make_plan(o, o->seed);
	if (!f) {
		perror(o->emit);
		return 1;
	}
	if (o->emit) {
		emit_c(f, &plan, o->emit_thread);
		return fclose(f) != 0;
	}
	printf("seed %llu ops %u procs %u threads %u hash %016llx\n",
	       (unsigned long long)plan.seed, plan.ops, plan.procs, plan.threads,
	       (unsigned long long)plan_hash(&plan));
	return 0;
}

static enum model model_of(const char *name)
{
	if (name && !strcmp(name, "amd"))
		return MODEL_AMD;
	return name && !strcmp(name, "none") ? MODEL_NONE : MODEL_INTEL;
}

static const struct option names[] = {
	{ "seed", 1, NULL, 's' }, { "seeds", 1, NULL, 'n' }, { "ops", 1, NULL, 'o' },
	{ "seconds", 1, NULL, 't' }, { "procs", 1, NULL, 'p' },
	{ "threads", 1, NULL, 'j' }, { "model", 1, NULL, 'm' },
	{ "emit-c", 1, NULL, 'e' }, { "thread", 1, NULL, 'i' },
	{ "failed", 1, NULL, 'f' }, { "limit", 1, NULL, 'l' },
	{ "print", 0, NULL, 'P' }, { "keep-going", 0, NULL, 'k' },
	{ "trace", 0, NULL, 'T' }, { NULL, 0, NULL, 0 }
};

static bool set_option(struct options *o, int c)
{
	uint64_t n = optarg ? strtoull(optarg, NULL, 0) : 0;

	switch (c) {
	case 's': o->seed = n; break;
	case 'n': o->seeds = n; break;
	case 'o': o->ops = n; break;
	case 't': o->seconds = n; break;
	case 'p': o->procs = n > PEERS ? PEERS : n; break;
	case 'j': o->threads = n > 8 ? 8 : n; break;
	case 'm': o->model = model_of(optarg); break;
	case 'e': o->emit = optarg; break;
	case 'i': o->emit_thread = n; break;
	case 'f': o->failed = optarg; break;
	case 'l': o->limit = n; break;
	case 'P': o->print = true; break;
	case 'k': o->keep_going = true; break;
	case 'T': trace = true; break;
	default: return false;
	}
	return true;
}

int main(int argc, char *argv[])
{
	struct options o = {
		.seed = 1, .seeds = 1, .ops = 2000, .emit_thread = -1, .limit = 400,
		.model = model_of(getenv("VM_MODEL")),
	};
	struct utsname uts;
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1)
		if (!set_option(&o, c))
			return 2;
	uname(&uts);
	snprintf(o.module, sizeof(o.module), "build/kmod/%s/hwpmc.ko", uts.release);
	if (o.emit || o.print)
		return emit(&o);
	return run_all(&o);
}
