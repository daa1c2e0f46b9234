// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_disorder.c - programs of a user without rights do with descriptors that their threads
 * share whatever the device lets them, at random and at the same time: logs that end while
 * they are written, mappings that outlive them, execs and exits amid operations. Meanwhile
 * root revokes, and a CPU goes and comes. The kernel has slub_debug=P, so what reads freed
 * memory is seen; afterwards no counter runs, and the module counts and can be unloaded.
 *
 * DISORDER_SECONDS=n: how long (12). The choices of each thread follow from its number.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "harness.h"
#include "hwpmc_log.h"
#include "kmod_dev.h"

#define PROGRAMS	3
#define THREADS		3
#define DEVICES		16
#define PMCS		8
#define CHILDREN	8
#define RING		16384

static int devices[DEVICES];
static uint32_t pmcs[DEVICES][PMCS];
static pid_t children[CHILDREN];
static __thread unsigned int seed;

static unsigned int any(unsigned int n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* ---- what a thread does: what is refused is refused ---------------------------- */

struct chosen {
	int *fd;
	uint32_t *id;
};

static void open_or_close(struct chosen c)
{
	int fd = *c.fd;

	if (fd <= 0) {
		*c.fd = open(HWPMC_DEVICE, O_RDWR | (any(2) ? O_CLOEXEC : 0));
	} else if (!any(6)) {
		*c.fd = 0;
		close(fd);
	}
}

static void allocate_soft(struct chosen c)
{
	static const uint32_t events[] = {
		HWPMC_EV_SOFT_CLOCK_HARD, HWPMC_EV_SOFT_CLOCK_STAT, HWPMC_EV_SOFT_CONTEXT_SWITCH,
		HWPMC_EV_SOFT_PAGE_FAULT_READ, HWPMC_EV_SOFT_PAGE_FAULT_WRITE,
	};
	bool samples = any(2);
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_SOFT, .ev = events[any(5)], .cpu = ANY,
		.mode = samples ? HWPMC_MODE_TS : TC, .caps = U * any(2), .count = 1 + any(5),
		.flags = (any(2) ? HWPMC_F_DESCENDANTS : 0) |
			 (samples && any(2) ? HWPMC_F_CALLCHAIN : 0) |
			 (!samples && !any(3) ? HWPMC_F_LOG_PROCCSW | HWPMC_F_LOG_PROCEXIT : 0),
	};

	if (!ioctl(*c.fd, HWPMC_IOC_PMCALLOCATE, &op))
		*c.id = op.pmcid;
}

static void allocate_counter(struct chosen c)
{
	struct hwpmc_op_pmcallocate op;

	dev_request(&op, any(2) ? TC : HWPMC_MODE_TS, any(2) ? HWPMC_F_DESCENDANTS : 0, ANY,
		    INSN, U);
	op.count = 5000;
	if (!ioctl(*c.fd, HWPMC_IOC_PMCALLOCATE, &op))
		*c.id = op.pmcid;
}

static void attach(struct chosen c)
{
	struct hwpmc_op_pmcattach op = {
		.pmcid = *c.id, .pid = any(3) ? children[any(CHILDREN)] : 0,
	};

	ioctl(*c.fd, any(4) ? HWPMC_IOC_PMCATTACH : HWPMC_IOC_PMCDETACH, &op);
}

static void operate(struct chosen c)
{
	struct hwpmc_op_pmc op = { .pmcid = *c.id };
	unsigned int way = any(5);

	ioctl(*c.fd, way < 3 ? HWPMC_IOC_PMCSTART : way < 4 ? HWPMC_IOC_PMCSTOP :
	      HWPMC_IOC_PMCRELEASE, &op);
}

static void configure_log(struct chosen c)
{
	struct hwpmc_op_configurelog op = { .logfd = -1, .ring_size = RING };

	if (any(2)) {
		op.flags = HWPMC_LOG_F_MAPPED;
		op.wakeup = any(2);
	} else {
		op.logfd = memfd_create("log", MFD_CLOEXEC);
	}
	ioctl(*c.fd, HWPMC_IOC_CONFIGURELOG, &op);
	if (op.logfd >= 0)
		close(op.logfd);
}

static void end_log(struct chosen c)
{
	struct hwpmc_op_configurelog none = { .logfd = -1 };
	struct hwpmc_op_simple simple = { };

	if (any(2))
		ioctl(*c.fd, HWPMC_IOC_CONFIGURELOG, &none);
	else
		ioctl(*c.fd, any(2) ? HWPMC_IOC_CLOSELOG : HWPMC_IOC_FLUSHLOG, &simple);
}

static void map_ring(struct chosen c)
{
	const size_t size = 4096 + 2 * RING;
	struct hwpmc_log_ring *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
					   *c.fd, HWPMC_LOG_MAP_OFFSET(any(2)));

	if (ring == MAP_FAILED)
		return;
	if (any(2))
		ring->tail = any(100000);
	/* A few stay mapped when the log has ended. */
	if (any(8))
		munmap(ring, size);
}

static void map_page(struct chosen c)
{
	struct hwpmc_op_getmsr op = { .pmcid = *c.id };
	void *page;

	if (ioctl(*c.fd, HWPMC_IOC_PMCGETMSR, &op))
		return;
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, *c.fd, HWPMC_USER_OFFSET);
	if (page != MAP_FAILED && any(2))
		munmap(page, 4096);
}

static void read_value(struct chosen c)
{
	struct hwpmc_op_pmcrw op = { .pmcid = *c.id, .flags = HWPMC_F_OLDVALUE };

	ioctl(*c.fd, HWPMC_IOC_PMCRW, &op);
}

static void batch(struct chosen c)
{
	struct hwpmc_batch_entry entry[PMCS] = { };
	struct hwpmc_op_batch op = {
		.command = any(3), .n = PMCS, .entry_size = sizeof(entry[0]),
		.entries = (uintptr_t)entry,
	};

	for (int i = 0; i < PMCS; i++)
		entry[i].pmcid = pmcs[c.fd - devices][i];
	ioctl(*c.fd, HWPMC_IOC_BATCH, &op);
}

static void run_for_a_while(void)
{
	uint64_t until = now_ms() + any(30);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (now_ms() < until) {
		pid_t pid;

		if (any(200))
			continue;
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	if (!any(4))
		execl("/bin/true", "true", NULL);
	_exit(0);
}

static void replace_child(struct chosen unused)
{
	pid_t *at = &children[any(CHILDREN)], old = *at, pid = fork();

	if (!pid)
		run_for_a_while();
	*at = pid;
	if (old <= 0)
		return;
	if (any(2))
		kill(old, SIGKILL);
	waitpid(old, NULL, any(2) ? WNOHANG : 0);
}

static char **own_args;

static void execute_again(struct chosen unused)
{
	if (!any(300))
		execv("/proc/self/exe", own_args);
}

static void (*const what[])(struct chosen) = {
	open_or_close, open_or_close, allocate_soft, allocate_soft, allocate_counter,
	allocate_counter, attach, attach, attach, operate, operate, operate, operate,
	configure_log, end_log, map_ring, map_page, read_value, batch, replace_child,
	execute_again,
};

static void *thread(void *until)
{
	seed = syscall(SYS_gettid) * 2654435761u + now_ms();
	while (now_ms() < *(uint64_t *)until) {
		int *fd = &devices[any(DEVICES)];

		what[any(sizeof(what) / sizeof(what[0]))]((struct chosen){
			fd, &pmcs[fd - devices][any(PMCS)] });
	}
	return NULL;
}

/* The program, of which there are several; executed by itself, too. */
static int program(char **argv)
{
	uint64_t until = strtoull(argv[2], NULL, 10);
	pthread_t other[THREADS - 1];

	own_args = argv;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGIO, SIG_IGN);
	signal(SIGBUS, SIG_IGN);
	for (int i = 0; i < THREADS - 1; i++)
		pthread_create(&other[i], NULL, thread, &until);
	thread(&until);
	return 0;
}

/* ---- the rest of the machine ----------------------------------------------------- */

static void revoke_all(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct hwpmc_op_simple op = { };
		int fd = open(HWPMC_DEVICE, O_RDWR);

		_exit(fd < 0 || ioctl(fd, HWPMC_IOC_REVOKE, &op));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

static uint64_t length_ms(void)
{
	const char *seconds = getenv("DISORDER_SECONDS");

	return 1000 * (seconds ? strtoull(seconds, NULL, 10) : 12);
}

START_TEST(disorder_of_programs_without_rights_leaves_nothing)
{
	uint64_t until = now_ms() + length_ms();
	pid_t pid[PROGRAMS];
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)until);
	for (int i = 0; i < PROGRAMS; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			dev_become(NOBODY);
			execl("/proc/self/exe", "kmod_disorder", "program", text, NULL);
			_exit(9);
		}
	}
	while (now_ms() < until) {
		revoke_all();
		dev_put("/sys/devices/system/cpu/cpu1/online", "0");
		dev_msleep(100);
		dev_put("/sys/devices/system/cpu/cpu1/online", "1");
		dev_msleep(500);
	}
	for (int i = 0; i < PROGRAMS; i++)
		ck_assert_int_eq(waitpid(pid[i], NULL, 0), pid[i]);
	/* Their children have been killed with them, but for those that execute /bin/true. */
	dev_check_registers_clear();
	dev_still_counts();
	for (int i = 0; i < 200 && system("rmmod hwpmc 2>/dev/null"); i++)
		dev_msleep(50);
	ck_assert_int_ne(access("/sys/module/hwpmc", F_OK), 0);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "program"))
		return program(argv);
	dev_setup();
	harness_add_timed(disorder_of_programs_without_rights_leaves_nothing, 120);
	return harness_run();
}
