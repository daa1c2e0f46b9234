// SPDX-License-Identifier: BSD-2-Clause
/* act.c - does one step. Nothing here allocates: children of threads run it too. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/perf_event.h>

#include "hwpmc.h"
#include "op.h"

#define ARENA_PAGES	5
#define PAGE		4096
#define ARRAY_BYTES	(256 * 1024)
#define FILL		0xa5

void (*act_sequence)(const struct op *op, unsigned int n);
int32_t *act_peers;
const char *act_module, *act_loop = "/bin/true";

static volatile int owner_fd[OWNERS], log_fd[LOGS], log_end[LOGS], perf_fd[PERFS];
static volatile uint32_t pmc_id[PMCS];
static volatile int32_t kid[KIDS];
static struct { void *volatile at; volatile size_t len; } maps[MAPS];
static char *array_ok, *array_ro;

static __thread char *arena;		/* ARENA_PAGES, then one without access */
static __thread char *arena_ro;
static __thread timer_t timer;
static __thread sigjmp_buf escape;
static __thread volatile int escapes;

static void interrupt(int sig)
{
}

static void fault(int sig)
{
	if (escapes)
		siglongjmp(escape, 1);
	signal(sig, SIG_DFL);
}

static void *get(size_t len, int prot)
{
	return mmap(NULL, len, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
}

static void forget_slots(void)
{
	for (int i = 0; i < OWNERS; i++)
		owner_fd[i] = -1;
	for (int i = 0; i < LOGS; i++)
		log_fd[i] = log_end[i] = -1;
	for (int i = 0; i < PERFS; i++)
		perf_fd[i] = -1;
	for (int i = 0; i < PMCS; i++)
		pmc_id[i] = HWPMC_ID_INVALID;
	memset((void *)kid, 0, sizeof(kid));
}

void act_init(void)
{
	struct sigaction act = { .sa_handler = interrupt };

	forget_slots();
	array_ok = get(ARRAY_BYTES, PROT_READ | PROT_WRITE);
	array_ro = get(ARRAY_BYTES, PROT_READ);
	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGIO, &act, NULL);
	sigaction(SIGPIPE, &act, NULL);
	sigaction(SIGUSR1, &act, NULL);
	act.sa_handler = fault;
	act.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
}

void act_thread_init(void)
{
	struct sigevent ev = {
		.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM,
	};

	ev._sigev_un._tid = syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &ev, &timer);
	arena = get((ARENA_PAGES + 1) * PAGE, PROT_READ | PROT_WRITE);
	mprotect(arena + ARENA_PAGES * PAGE, PAGE, PROT_NONE);
	arena_ro = get(ARENA_PAGES * PAGE, PROT_READ);
}

/* Interrupts what might wait for ever. */
static void hurry(int ms)
{
	struct itimerspec t = {
		.it_value = { 0, ms * 1000000L }, .it_interval = { 0, ms * 1000000L },
	};

	timer_settime(timer, 0, &t, NULL);
}

static int swap_slot(volatile int *slot, int with)
{
	return __atomic_exchange_n(slot, with, __ATOMIC_SEQ_CST);
}

static void close_slot(volatile int *slot)
{
	int old = swap_slot(slot, -1);

	if (old >= 0)
		close(old);
}

static void nap(uint64_t us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	if (us)
		nanosleep(&t, NULL);
}

static void spin(uint64_t n)
{
	asm volatile("1: addq $1, %%rdx; decq %0; jnz 1b" : "+r"(n) : : "rdx", "cc");
}

/* ---- calls --------------------------------------------------------------- */

static uint64_t array_of(unsigned int kind)
{
	if (kind == ARRAY_OK)
		return (uintptr_t)array_ok;
	if (kind == ARRAY_RO)
		return (uintptr_t)array_ro;
	return kind == ARRAY_KERNEL ? 0xffffffff81000000ull : 0;
}

static int32_t pid_of(unsigned int proc)
{
	if (proc < KIDS)
		return kid[proc] ? kid[proc] : 0x3ffffff;
	switch (proc) {
	case PROC_TID:
		return syscall(SYS_gettid);
	case PROC_INIT:
		return 1;
	case PROC_KTHREAD:
		return 2;
	case PROC_NEGATIVE:
		return -1;
	case PROC_LOWEST:
		return INT32_MIN;
	case PROC_NOBODY:
		return INT32_MAX;
	case PROC_PARENT:
		return getppid();
	}
	if (proc >= PROC_PEER && proc < PROC__COUNT && act_peers)
		return act_peers[proc - PROC_PEER];
	return 0;
}

static bool has_array(unsigned int nr)
{
	return nr == HWPMC_OP_GETPMCINFO || nr == HWPMC_OP_GETDYNEVENTINFO ||
	       nr == HWPMC_OP_KGMON || nr == HWPMC_OP_BATCH || nr == HWPMC_OP_UNWIND;
}

/* An owner's ids, and one that is wrong, as entries of a batch of any size. */
static void fill_batch(const struct op *op, char *at)
{
	static const uint32_t sizes[] = { 24, 24, 24, 24, 32, 4096 };
	uint32_t size = sizes[op->w[3] % 6], n = op->w[0] >> 32, id;
	char *array = array_ok;

	if (op->array != ARRAY_OK || size * 8 > ARRAY_BYTES)
		return;
	for (uint32_t i = 0; i < 8; i++) {
		id = pmc_id[(op->owner * 4 + (op->w[4] >> 4 * i)) % PMCS];
		id ^= i == 7 ? op->id_xor : 0;
		memset(array + i * size, 0, size);
		memcpy(array + i * size + 8, &id, 4);
	}
	n = n > 8 && n < 10000 ? 8 : n;
	memcpy(at + 12, &n, 4);
	memcpy(at + 16, &size, 4);
}

/* The argument's bytes; all that is behind `size` is FILL. */
static void fill(const struct op *op, char *at)
{
	uint32_t id;
	int32_t pid;
	int fd;

	memset(at, 0, op->size);
	memcpy(at + 8, op->w, sizeof(op->w));
	if (op->pmc != NONE) {
		id = pmc_id[op->pmc] ^ op->id_xor;
		if (op->nr != HWPMC_OP_PMCALLOCATE)
			memcpy(at + 8, &id, 4);
	}
	if (op->proc != NONE) {
		pid = pid_of(op->proc);
		memcpy(at + 12, &pid, 4);
	}
	if (op->log != NONE) {
		fd = log_fd[op->log];
		memcpy(at + 8, &fd, 4);
	}
	if (op->array != ARRAY_AS_IS && has_array(op->nr)) {
		uint64_t p = array_of(op->array);

		memcpy(at + (op->nr == HWPMC_OP_UNWIND ? 32 :
			     op->nr == HWPMC_OP_BATCH ? 24 : 16), &p, 8);
	}
	if (op->nr == HWPMC_OP_BATCH)
		fill_batch(op, at);
	memset(at + op->size, FILL, 128);
	if (op->how & CALL_TAIL && op->size > 72)
		at[op->size - 1] = 1;
}

static long door32(int fd, unsigned int request, void *arg)
{
	long ret = 54;				/* ioctl */

	asm volatile("int $0x80" : "+a"(ret)
		     : "b"((long)fd), "c"((long)request), "d"(arg)
		     : "memory", "r8", "r9", "r10", "r11");
	return (int)ret;
}

static int issue(const struct op *op, int fd, void *arg)
{
	unsigned int dir = op->how & CALL_NO_DIR ? _IOC_NONE : _IOC_READ | _IOC_WRITE;
	unsigned int type = op->how & CALL_OTHER_TYPE ? 'T' : HWPMC_IOC;
	unsigned int request = _IOC(dir, type, op->nr, op->size);
	long ret;

	if (!(op->how & CALL_32BIT))
		return ioctl(fd, request, arg) ? errno : 0;
	ret = door32(fd, request, arg);
	return ret < 0 ? -ret : ret;
}

static char *place(const struct op *op, const char *bytes)
{
	char *at = arena;

	switch (op->mem) {
	case MEM_NULL:
		return NULL;
	case MEM_RO:
		return arena_ro;
	case MEM_KERNEL:
		return (char *)(op->how & CALL_32BIT ? 0xfffff000ul :
				0xffffffff81000000ul);
	case MEM_EDGE:
		at = arena + ARENA_PAGES * PAGE - op->size;
		memcpy(at, bytes, op->size);
		return at;
	case MEM_HALF:
		at = arena + ARENA_PAGES * PAGE - op->size / 2;
		memcpy(at, bytes, op->size / 2);
		return at;
	case MEM_ODD:
		at++;
	}
	memcpy(at, bytes, op->size + 128);
	return at;
}

/* Compare what came back with what was given. */
static void compare(const struct op *op, const char *bytes, const char *at,
		    struct outcome *out)
{
	if (op->mem > MEM_ODD)
		return;
	if (op->mem != MEM_EDGE)
		out->beyond = memcmp(at + op->size, bytes + op->size, 128);
	if (op->size < sizeof(struct hwpmc_hdr))
		return;
	memcpy(&out->reason, at, 4);
	memcpy(&out->detail, at + 4, 4);
	out->changed = memcmp(at + 8, bytes + 8, op->size - 8);
	if (op->nr == HWPMC_OP_PMCRW && op->size >= 24)
		memcpy(&out->value, at + 16, 8);
}

static void call(const struct op *op, struct outcome *out)
{
	static __thread char bytes[ARG_MAX + 128];
	bool waits = op->nr == HWPMC_OP_FLUSHLOG;
	char *at;

	fill(op, bytes);
	at = place(op, bytes);
	if (waits)
		hurry(20);
	out->is_call = true;
	out->err = issue(op, owner_fd[op->owner], at);
	if (waits)
		hurry(0);
	compare(op, bytes, at, out);
	if (op->nr == HWPMC_OP_PMCALLOCATE && !out->err && op->pmc != NONE &&
	    op->mem <= MEM_ODD) {
		uint32_t id;

		memcpy(&id, at + 32, 4);
		pmc_id[op->pmc] = id;
		out->value = id;
	}
}

/* ---- descriptors and memory ---------------------------------------------- */

static int new_log(unsigned int kind, int *end)
{
	int p[2] = { -1, -1 };

	switch (kind) {
	case LOG_MEMFD:
		return memfd_create("log", MFD_CLOEXEC);
	case LOG_PIPE:
	case LOG_PIPE_END:
	case LOG_PIPE_NONBLOCK:
		pipe2(p, O_CLOEXEC | (kind == LOG_PIPE_NONBLOCK ? O_NONBLOCK : 0));
		break;
	case LOG_SOCKET:
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p);
		break;
	case LOG_NULL:
		return open("/dev/null", O_WRONLY | O_CLOEXEC);
	case LOG_FULL:
		return open("/dev/full", O_WRONLY | O_CLOEXEC);
	case LOG_READ_ONLY:
		return open("/dev/zero", O_RDONLY | O_CLOEXEC);
	case LOG_DIRECTORY:
		return open("/", O_RDONLY | O_CLOEXEC);
	case LOG_EVENTFD:
		return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	case LOG_DEVICE:
		return open(HWPMC_DEVICE, O_RDWR | O_CLOEXEC);
	}
	*end = p[0];
	if (kind == LOG_PIPE_END && p[0] >= 0) {
		close(p[0]);
		*end = -1;
	}
	return p[1];
}

static void open_log(const struct op *op)
{
	int end = -1, fd = new_log(op->w[0], &end), old;

	old = swap_slot(&log_fd[op->log], fd);
	if (old >= 0)
		close(old);
	old = swap_slot(&log_end[op->log], end);
	if (old >= 0)
		close(old);
}

static void consume(const struct op *op)
{
	struct pollfd p = { .fd = log_end[op->log], .events = POLLIN };
	static __thread char bytes[PAGE];

	for (int i = 0; i < 16 && p.fd >= 0 && poll(&p, 1, 0) == 1; i++)
		if (read(p.fd, bytes, sizeof(bytes)) <= 0)
			break;
}

static void open_owner(const struct op *op, struct outcome *out)
{
	int fd = open(HWPMC_DEVICE, O_RDWR | (op->w[0] & 1 ? 0 : O_CLOEXEC));
	int old = swap_slot(&owner_fd[op->owner], fd);

	out->err = fd < 0 ? errno : 0;
	if (old >= 0)
		close(old);
}

static void unmap_slot(unsigned int i, unsigned int how)
{
	void *at = __atomic_exchange_n(&maps[i].at, NULL, __ATOMIC_SEQ_CST);
	size_t len = maps[i].len;
	void *new;

	if (!at)
		return;
	if (how == 1 && len > PAGE) {
		munmap((char *)at + PAGE, len - PAGE);
		munmap(at, PAGE);
	} else if (how == 2) {
		new = mremap(at, len, len + PAGE, MREMAP_MAYMOVE);
		munmap(new == MAP_FAILED ? at : new,
		       new == MAP_FAILED ? len : len + PAGE);
	} else {
		if (how == 3)
			madvise(at, len, MADV_DONTNEED);
		munmap(at, len);
	}
}

static void map(const struct op *op, struct outcome *out)
{
	void *at = mmap(NULL, op->w[0], op->w[1], op->w[2], owner_fd[op->owner],
			op->w[3]);

	out->err = at == MAP_FAILED ? errno : 0;
	if (out->err)
		return;
	unmap_slot(op->map, 0);
	maps[op->map].len = op->w[0];
	__atomic_store_n(&maps[op->map].at, at, __ATOMIC_SEQ_CST);
}

/* Another thread may unmap it meanwhile. */
static void touch(const struct op *op)
{
	char *at = maps[op->map].at;
	size_t len = maps[op->map].len;
	volatile uint64_t *word;

	if (!at || !len || sigsetjmp(escape, 1))
		goto out;
	escapes = 1;
	word = (uint64_t *)(at + (op->w[0] % len & ~7ul));
	if (op->w[2] & 1)
		*word = op->w[1];
	else
		(void)*word;
out:
	escapes = 0;
}

static void rdpmc(const struct op *op)
{
	if (!sigsetjmp(escape, 1)) {
		escapes = 1;
		asm volatile("rdpmc" : : "c"((uint32_t)op->w[0]) : "eax", "edx");
	}
	escapes = 0;
}

static void poll_owner(const struct op *op)
{
	struct pollfd p = { .fd = owner_fd[op->owner], .events = POLLIN };

	poll(&p, 1, 1);
}

static void perf(const struct op *op)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = op->w[1], .sample_period = op->w[2],
	};
	int cpu = (int)op->w[0], old;

	old = swap_slot(&perf_fd[op->proc], syscall(SYS_perf_event_open, &attr,
						   cpu < 0 ? 0 : -1, cpu, -1, 8));
	if (old >= 0)
		close(old);
}

/* ---- processes ----------------------------------------------------------- */

static void end_kid(unsigned int slot, int with)
{
	int old = swap_slot((volatile int *)&kid[slot], with);

	if (old <= 0)
		return;
	kill(old, SIGKILL);
	while (waitpid(old, NULL, 0) < 0 && errno == EINTR)
		continue;
}

static void *nothing(void *arg)
{
	spin(1000);
	return NULL;
}

static void threads(unsigned int n)
{
	pthread_t t[8];

	n = n > 8 ? 8 : n;
	for (unsigned int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, nothing, NULL))
			n = i;
	for (unsigned int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static void fork_once(bool exec)
{
	pid_t pid = fork();

	if (!pid) {
		if (exec)
			execl(act_loop, "loop", "100", (char *)NULL);
		spin(100);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void map_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	if (at != MAP_FAILED)
		munmap(at, PAGE);
}

static void be_kid(unsigned int kind)
{
	for (;;) {
		switch (kind) {
		case KID_SPIN:
			spin(100000);
			break;
		case KID_SLEEP:
			nap(1000);
			break;
		case KID_FORK:
			fork_once(false);
			break;
		case KID_EXEC:
			fork_once(true);
			break;
		case KID_THREADS:
			threads(2);
			break;
		case KID_MAP:
			map_file();
			break;
		default:
			spin(1000);
			sched_yield();
		}
	}
}

static void quiet_kid(void)
{
	struct itimerval off = { .it_interval = { 0, 0 } };

	setitimer(ITIMER_REAL, &off, NULL);
	signal(SIGALRM, SIG_DFL);
	/* Longer than a seed: its death would be an event that nobody ordered. */
	alarm(600);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* What others see when it is gone: an owner's rows, those that perf holds. A mapping that
 * children inherit, as that of a thread's page, keeps the owner too. */
static void close_visible(void)
{
	for (int i = 0; i < MAPS; i++)
		unmap_slot(i, 0);
	for (int i = 0; i < OWNERS; i++)
		close_slot(&owner_fd[i]);
	for (int i = 0; i < PERFS; i++)
		close_slot(&perf_fd[i]);
}

/*
 * Until the kid has closed the other end, whatever that takes on a busy machine, and
 * whatever alarms come. With several threads the kid of another one may hold it, too:
 * nobody waits for that.
 */
static void wait_for_end(int fd, bool alone)
{
	struct pollfd p = { .fd = fd };

	while (poll(&p, 1, alone ? -1 : 100) < 0 && errno == EINTR && alone)
		continue;
}

/*
 * Descriptors that it does not keep are closed when this returns: else the last
 * close of one could be the kid's, at any time, and free rows.
 */
static void spawn(const struct op *op)
{
	int closed[2];
	pid_t pid;

	end_kid(op->proc, 0);
	if (pipe2(closed, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		quiet_kid();
		if (!(op->w[1] & SPAWN_KEEPS))
			close_visible();
		close(closed[0]);
		close(closed[1]);
		be_kid(op->w[0]);
	}
	close(closed[1]);
	if (pid > 0) {
		wait_for_end(closed[0], op->w[1] & SPAWN_ALONE);
		end_kid(op->proc, pid);
	}
	close(closed[0]);
}

static void run_child(const struct op *op, unsigned int n)
{
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (op->w[0] & CHILD_FRESH) {
		for (int i = 0; i < OWNERS; i++)
			close_slot(&owner_fd[i]);
		forget_slots();
	}
	memset((void *)kid, 0, sizeof(kid));
	if (op->w[0] & CHILD_NOBODY)
		(void)!(syscall(SYS_setresgid, 65534, 65534, 65534) |
			syscall(SYS_setresuid, 65534, 65534, 65534));
	act_thread_init();
	act_sequence(op + 1, n);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (op->w[0] & CHILD_EXEC)
		execl(act_loop, "loop", "1000", (char *)NULL);
	_exit(0);
}

/* A child that nobody waits for and nobody kills ends with its parent. */
static unsigned int child(const struct op *op, unsigned int left)
{
	unsigned int n = op->n < left ? op->n : left;
	pid_t pid;

	end_kid(op->proc, 0);
	pid = fork();
	if (!pid)
		run_child(op, n);
	if (pid <= 0)
		return n;
	if (op->w[0] & CHILD_KILL) {
		nap(op->w[1]);
		kill(pid, SIGKILL);
	}
	if (!(op->w[0] & (CHILD_KILL | CHILD_WAIT))) {
		end_kid(op->proc, pid);
		return n;
	}
	for (int i = 0; waitpid(pid, NULL, WNOHANG) == 0; i++) {
		nap(500);
		if (i == 4000)
			kill(pid, SIGKILL);
	}
	return n;
}

/* ---- the machine --------------------------------------------------------- */

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, text, strlen(text));
	close(fd);
}

static void tunable(const struct op *op)
{
	static const char *const flags[] = {
		"pmc=*", "process=* owner=*", "", "sampling=intr logging=*", "x=y",
	};
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)op->w[1]);
	switch (op->w[0]) {
	case 0:
		put("/proc/sys/kern/hwpmc/unprivileged_syspmcs", text);
		break;
	case 1:
		put("/proc/sys/kern/hwpmc/unprivileged_proc_debug", text);
		break;
	case 2:
		put("/proc/sys/kern/hwpmc/mincount", text);
		break;
	case 3:
		put("/proc/sys/kern/hwpmc/selfcost", text);
		break;
	case 5:
		put("/proc/sys/kern/hwpmc/unprivileged_kernel", text);
		break;
	default:
		put("/proc/sys/kern/hwpmc/debugflags", flags[op->w[1] % 5]);
	}
}

static void module(const struct op *op)
{
	int fd;

	if (!op->w[0]) {
		syscall(SYS_delete_module, "hwpmc", O_NONBLOCK);
		return;
	}
	fd = act_module ? open(act_module, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	syscall(SYS_finit_module, fd, OP_PARAMETERS, 0);
	close(fd);
}

static void set_alarm(const struct op *op)
{
	struct itimerval t = {
		.it_value = { 0, op->w[0] }, .it_interval = { 0, op->w[0] },
	};

	setitimer(ITIMER_REAL, &t, NULL);
}

static void of_descriptors(const struct op *op, struct outcome *out)
{
	switch (op->what) {
	case OP_OPEN:
		open_owner(op, out);
		break;
	case OP_CLOSE:
		close_slot(&owner_fd[op->owner]);
		break;
	case OP_MAP:
		map(op, out);
		break;
	case OP_UNMAP:
		unmap_slot(op->map, op->w[0]);
		break;
	case OP_TOUCH:
		touch(op);
		break;
	case OP_POLL:
		poll_owner(op);
		break;
	case OP_LOGFD:
		open_log(op);
		break;
	case OP_CONSUME:
		consume(op);
		break;
	case OP_PERF:
		perf(op);
		break;
	}
}

static void of_machine(const struct op *op)
{
	cpu_set_t set;

	switch (op->what) {
	case OP_SPIN:
		spin(op->w[0] + 1);
		nap(op->w[1]);
		break;
	case OP_MIGRATE:
		memset(&set, 0, sizeof(set));
		memcpy(&set, &op->w[0], 8);
		sched_setaffinity(0, sizeof(set), &set);
		break;
	case OP_HOTPLUG:
		put("/sys/devices/system/cpu/cpu1/online", op->w[0] ? "1" : "0");
		break;
	case OP_TUNABLE:
		tunable(op);
		break;
	case OP_RDPMC:
		rdpmc(op);
		break;
	case OP_ALARM:
		set_alarm(op);
		break;
	case OP_MODULE:
		module(op);
		break;
	case OP_THREADS:
		threads(op->w[0]);
		break;
	}
}

unsigned int act(const struct op *op, unsigned int left, struct outcome *out)
{
	memset(out, 0, sizeof(*out));
	switch (op->what) {
	case OP_CALL:
		call(op, out);
		return 0;
	case OP_CHILD:
		return child(op, left);
	case OP_SPAWN:
		spawn(op);
		return 0;
	case OP_KILL:
		if (op->w[0] == SIGKILL)
			end_kid(op->proc, 0);
		else if (kid[op->proc] > 0)
			kill(kid[op->proc], op->w[0]);
		return 0;
	}
	of_descriptors(op, out);
	of_machine(op);
	return 0;
}
