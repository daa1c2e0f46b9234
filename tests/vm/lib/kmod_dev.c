// SPDX-License-Identifier: BSD-2-Clause
/* kmod_dev.c - see kmod_dev.h. Linked into each tests/vm/tests/kmod_*. */
#define _GNU_SOURCE
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "../tests/kmod_dev.h"

struct hwpmc_hdr dev_hdr;

static struct hwpmc_op_getcpuinfo machine;

/* The CPUs that the kernel has started: others are as the reset left them. */
static cpu_set_t started;

#define LOOP_PROG	"build/vm/progs/loop"

int dev_op(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	memcpy(&dev_hdr, arg, sizeof(dev_hdr));
	return ret ? errno : 0;
}

int dev_simple(int fd, unsigned long request)
{
	struct hwpmc_op_simple arg = { { 0 } };

	return dev_op(fd, request, &arg);
}

int dev_configure(int fd, int logfd, uint32_t flags, uint32_t size)
{
	struct hwpmc_op_configurelog arg = {
		.logfd = logfd, .flags = flags, .ring_size = size,
	};

	return dev_op(fd, HWPMC_IOC_CONFIGURELOG, &arg);
}

void dev_write_records(int fd, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct hwpmc_op_writelog arg = { .userdata = i };

		dev_op(fd, HWPMC_IOC_WRITELOG, &arg);
	}
}

uint64_t dev_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void dev_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void dev_reap(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

void dev_apart(void (*fn)(void *), void *arg)
{
	pid_t pid = fork();

	if (!pid) {
		fn(arg);
		_exit(0);
	}
	dev_reap(pid);
}

static bool put_tunable(const char *path, const char *value)
{
	FILE *f = fopen(path, "w");

	return f && fputs(value, f) >= 0 && !fclose(f);
}

/* DEV_PARAMS for a module that was loaded without them. No test runs yet. */
static bool set_params(void)
{
	return put_tunable("/proc/sys/kern/hwpmc/unprivileged_kernel", "1") &&
	       put_tunable("/proc/sys/kern/hwpmc/selfcost", "0") && !chmod(HWPMC_DEVICE, 0666);
}

/*
 * The first PMC that samples after the module is loaded has its interrupt tried, by an overflow
 * that the emulated PMU counts as any other. Where none can sample, that is not what is tested.
 */
static void try_out(int fd)
{
	struct hwpmc_op_pmcallocate op;

	dev_request(&op, HWPMC_MODE_TS, 0, ANY, INSN, U);
	op.count = 1ULL << 30;
	if (!dev_allocate(fd, &op))
		dev_release(fd, op.pmcid);
}

void dev_setup(void)
{
	struct utsname uts;
	char cmd[256];
	int fd;

	if (access(HWPMC_DEVICE, F_OK)) {
		uname(&uts);
		snprintf(cmd, sizeof(cmd), "insmod build/kmod/%s/hwpmc.ko " DEV_PARAMS,
			 uts.release);
		if (system(cmd)) {
			printf("Bail out! cannot load the module\n");
			exit(1);
		}
	} else if (!geteuid() && !set_params()) {
		printf("Bail out! cannot set the module's parameters\n");
		exit(1);
	}
	fd = dev_open();
	if (fd < 0 || ioctl(fd, HWPMC_IOC_GETCPUINFO, &machine)) {
		printf("Bail out! cannot open the device\n");
		exit(1);
	}
	try_out(fd);
	close(fd);
	sched_getaffinity(0, sizeof(started), &started);
}

bool dev_is_amd(void)
{
	return !strncmp(machine.cpuid, "AuthenticAMD", 12);
}

bool dev_is_p4(void)
{
	return !strncmp(machine.cpuid, "GenuineIntel-15-", 16);
}

static uint32_t programmable_id(void)
{
	if (dev_is_p4())
		return HWPMC_CLASS_P4;
	return dev_is_amd() ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAP;
}

static const struct hwpmc_classinfo *programmable(void)
{
	for (unsigned int i = 0; i < machine.nclass; i++)
		if (machine.classes[i].class == programmable_id())
			return &machine.classes[i];
	ck_abort_msg("no programmable counters");
	return NULL;
}

unsigned int dev_counters(void)
{
	return programmable()->num;
}

unsigned int dev_insn_counters(void)
{
	uint64_t all = ~0ULL;

	if (dev_is_p4())
		return 2;
	/* Those that each kind of core has. */
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		all &= vpmu_reg(VPMU_REG_GENERAL_MAP, cpu);
	return __builtin_popcountll(all);
}

unsigned int dev_first_row(void)
{
	return programmable()->first;
}

int dev_open(void)
{
	return open(HWPMC_DEVICE, O_RDWR | O_CLOEXEC);
}

void dev_request(struct hwpmc_op_pmcallocate *op, int mode, uint32_t flags,
		 uint32_t cpu, enum dev_event ev, uint32_t caps)
{
	static const uint64_t intel[] = { 0xc0, 0xc4, 0x3c };
	static const uint64_t amd[] = { 0xc0, 0xc2, 0x76 };
	static const uint64_t p4[] = { P4_INSTR_RETIRED, P4_RETIRED_BRANCHES,
				       P4_CYCLES };
	const uint64_t *codes = dev_is_p4() ? p4 : dev_is_amd() ? amd : intel;

	*op = (struct hwpmc_op_pmcallocate){
		.mode = mode,
		.flags = flags | HWPMC_F_EV_PMU,
		.cpu = cpu,
		.caps = caps,
		.class = programmable_id(),
		.config = codes[ev],
	};
}

int dev_allocate(int fd, struct hwpmc_op_pmcallocate *arg)
{
	return dev_op(fd, HWPMC_IOC_PMCALLOCATE, arg);
}

uint32_t dev_alloc(int fd, int mode, uint32_t flags, uint32_t cpu,
		   enum dev_event ev, uint32_t caps)
{
	struct hwpmc_op_pmcallocate arg;

	dev_request(&arg, mode, flags, cpu, ev, caps);
	dev_ok(dev_allocate(fd, &arg));
	return arg.pmcid;
}

int dev_attach(int fd, uint32_t id, pid_t pid)
{
	struct hwpmc_op_pmcattach arg = { .pmcid = id, .pid = pid };

	return dev_op(fd, HWPMC_IOC_PMCATTACH, &arg);
}

int dev_detach(int fd, uint32_t id, pid_t pid)
{
	struct hwpmc_op_pmcattach arg = { .pmcid = id, .pid = pid };

	return dev_op(fd, HWPMC_IOC_PMCDETACH, &arg);
}

static int simple(int fd, unsigned long request, uint32_t id)
{
	struct hwpmc_op_pmc arg = { .pmcid = id };

	return dev_op(fd, request, &arg);
}

int dev_start(int fd, uint32_t id)
{
	return simple(fd, HWPMC_IOC_PMCSTART, id);
}

int dev_stop(int fd, uint32_t id)
{
	return simple(fd, HWPMC_IOC_PMCSTOP, id);
}

int dev_release(int fd, uint32_t id)
{
	return simple(fd, HWPMC_IOC_PMCRELEASE, id);
}

int dev_setcount(int fd, uint32_t id, uint64_t count)
{
	struct hwpmc_op_pmcsetcount arg = { .pmcid = id, .count = count };

	return dev_op(fd, HWPMC_IOC_PMCSETCOUNT, &arg);
}

int dev_rw(int fd, uint32_t id, uint32_t flags, uint64_t *value)
{
	struct hwpmc_op_pmcrw arg = {
		.pmcid = id, .flags = flags, .value = *value
	};
	int ret = dev_op(fd, HWPMC_IOC_PMCRW, &arg);

	*value = arg.value;
	return ret;
}

uint64_t dev_read(int fd, uint32_t id)
{
	uint64_t value = 0;

	dev_ok(dev_rw(fd, id, HWPMC_F_OLDVALUE, &value));
	return value;
}

char dev_state(pid_t pid)
{
	char path[32], state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
	fclose(f);
	return state;
}

/* The kernel answers when the thread is off its CPU with the switch counted; the state is S
 * before that. */
long dev_waiting_in(pid_t pid)
{
	char path[32];
	long nr;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	f = fopen(path, "r");
	ck_assert_msg(f, "%s: %s", path, strerror(errno));
	if (fscanf(f, "%ld", &nr) != 1)
		nr = -1;
	fclose(f);
	return nr;
}

void dev_await_call(pid_t pid, long nr)
{
	while (dev_waiting_in(pid) != nr) {
		ck_assert_int_ne(dev_state(pid), 'Z');
		sched_yield();
	}
}

void dev_held(pid_t pid)
{
	dev_await_call(pid, SYS_read);
}

static pid_t held_child(int *go)
{
	int p[2];
	pid_t pid;
	char c;

	ck_assert(!pipe2(p, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		close(p[1]);
		if (read(p[0], &c, 1) != 1)
			_exit(1);
	}
	close(p[0]);
	*go = p[1];
	if (pid)
		dev_held(pid);
	return pid;
}

struct child dev_child(void (*fn)(void *), void *arg)
{
	struct child child;

	child.pid = held_child(&child.go);
	if (!child.pid) {
		fn(arg);
		_exit(0);
	}
	return child;
}

struct child dev_loop(unsigned long iterations)
{
	struct child child;
	char n[24];

	snprintf(n, sizeof(n), "%lu", iterations);
	child.pid = held_child(&child.go);
	if (!child.pid) {
		execl(LOOP_PROG, "loop", n, (char *)NULL);
		_exit(127);
	}
	return child;
}

static unsigned int digits(uint64_t n)
{
	return n < 10 ? 1 : 1 + digits(n / 10);
}

uint64_t loop_insn(uint64_t n)
{
	return 3 * n + 7 * digits(n) + 8;
}

uint64_t loop_branches(uint64_t n)
{
	return n + 2 * digits(n) + 2;
}

void dev_go(struct child *child)
{
	ck_assert(write(child->go, "g", 1) == 1);
	close(child->go);
}

void dev_wait(struct child *child)
{
	int status;

	ck_assert(waitpid(child->pid, &status, 0) == child->pid);
	ck_assert_int_eq(status, 0);
}

void dev_pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(pid, sizeof(set), &set);
}

void dev_unpin(pid_t pid)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	sched_setaffinity(pid, sizeof(set), &set);
}

static int open_msrs(int cpu)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	return fd;
}

uint64_t dev_rdmsr(int cpu, uint32_t msr)
{
	int fd = open_msrs(cpu);
	uint64_t value;

	ck_assert_msg(pread(fd, &value, sizeof(value), msr) == sizeof(value), "MSR %#x", msr);
	close(fd);
	return value;
}

void dev_wrmsr(int cpu, uint32_t msr, uint64_t value)
{
	int fd = open_msrs(cpu);

	ck_assert_msg(pwrite(fd, &value, sizeof(value), msr) == sizeof(value), "MSR %#x", msr);
	close(fd);
}

int dev_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

void dev_msleep(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

void dev_put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_msg(f && fputs(text, f) >= 0 && !fclose(f), "%s: %s", path,
		      strerror(errno));
}

void dev_expect(const char *lines)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/expected", getenv("VM_OUT"));
	f = fopen(path, "a");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s\n", lines);
	ck_assert_int_eq(fclose(f), 0);
}

/*
 * Intel's perf writes it before each use. AMD's has 0 at rest where perf writes it
 * too, and else what the reset left: all on. The oldest machines have none.
 */
static bool global_is_at_rest(unsigned int cpu)
{
	uint64_t all = (1ULL << vpmu_reg(VPMU_REG_N_GENERAL, 0)) - 1;
	uint64_t global = vpmu_reg(VPMU_REG_GLOBAL_CTRL, cpu);

	return vpmu_reg(VPMU_REG_VERSION, 0) < 2 || !CPU_ISSET(cpu, &started) ||
	       !global || (dev_is_amd() && global == all);
}

int dev_busy_register(void)
{
	unsigned int gp = vpmu_reg(VPMU_REG_N_GENERAL, 0);

	for (unsigned int cpu = 0; cpu < vpmu_reg(VPMU_REG_N_VCPUS, 0); cpu++) {
		for (unsigned int i = 0; i < gp; i++)
			if (vpmu_reg(VPMU_REG_SELECT + i, cpu))
				return VPMU_REG_SELECT + i + 1;
		if (vpmu_reg(VPMU_REG_FIXED_CTRL, cpu))
			return VPMU_REG_FIXED_CTRL + 1;
		if (!global_is_at_rest(cpu))
			return VPMU_REG_GLOBAL_CTRL + 1;
		for (unsigned int i = 0; i < VPMU_REG_ESCRS; i++)
			if (vpmu_reg(VPMU_REG_ESCR + i, cpu))
				return VPMU_REG_ESCR + i + 1;
	}
	return 0;
}

void dev_check_registers_clear(void)
{
	int busy = 0;

	for (int i = 0; i < 3000; i++) {
		busy = dev_busy_register();
		if (!busy)
			return;
		dev_msleep(10);
	}
	ck_abort_msg("register %#x is not 0", busy - 1);
}

unsigned int dev_unknown_nmis(void)
{
	FILE *f = popen("dmesg | grep -c 'NMI received for unknown reason'", "r");
	unsigned int n = 0;

	ck_assert_int_eq(fscanf(f, "%u", &n), 1);
	pclose(f);
	return n;
}

void dev_fresh(void)
{
	/* What a test that was killed held open is closed a moment later. */
	ck_assert_int_eq(system("while [ -e /sys/module/hwpmc ] && ! rmmod hwpmc; do "
				"sleep 0.1; done 2>/dev/null; "
				"insmod build/kmod/$(uname -r)/hwpmc.ko " DEV_PARAMS), 0);
}

void dev_calm(void)
{
	int fd = dev_open();

	ck_assert_int_eq(system("insmod build/vm/kmods/$(uname -r)/calmmod.ko && "
				"rmmod calmmod"), 0);
	/* The probe is gone; the lock is let go a moment later. */
	ck_assert_int_ne(dev_release(fd, UINT32_MAX), 0);
	close(fd);
}

void dev_still_counts(void)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_EXEC_START, ANY, INSN, U);
	struct child child = dev_loop(10000);

	dev_ok(dev_attach(fd, id, child.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&child);
	dev_wait(&child);
	ck_assert_uint_eq(dev_read(fd, id), loop_insn(10000));
	close(fd);
	dev_check_registers_clear();
}

struct hwpmc_op_kgmon dev_kgmon(int fd, uint32_t command)
{
	struct hwpmc_op_kgmon op = { .command = command };

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_KGMON, &op), 0);
	return op;
}

/* Kernels before 5.16 let a program lock 64 KiB, which is less than the rings of a log. */
#define LOCKED_OLD	(64 << 10)
#define LOCKED_NEW	(8 << 20)

static void raise_old_limit(void)
{
	struct rlimit limit;

	ck_assert(!getrlimit(RLIMIT_MEMLOCK, &limit));
	if (limit.rlim_cur != LOCKED_OLD)
		return;
	limit = (struct rlimit){ LOCKED_NEW, LOCKED_NEW };
	ck_assert(!setrlimit(RLIMIT_MEMLOCK, &limit));
}

void dev_become(uid_t uid)
{
	raise_old_limit();
	ck_assert(!setgroups(0, NULL));
	ck_assert(!setresgid(uid, uid, uid));
	ck_assert(!setresuid(uid, uid, uid));
	/* As a program that this user had started. */
	ck_assert(!prctl(PR_SET_DUMPABLE, 1));
}

void dev_as(uid_t uid, void (*fn)(void *), void *arg)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		dev_become(uid);
		fn(arg);
		_exit(0);
	}
	ck_assert(waitpid(pid, &status, 0) == pid);
	ck_assert_int_eq(status, 0);
}

int dev_smt(const char *text)
{
	int fd = open("/sys/devices/system/cpu/smt/control", O_WRONLY), err = 0;

	ck_assert_msg(fd >= 0, "smt/control: %s", strerror(errno));
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}
