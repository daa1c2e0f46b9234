// SPDX-License-Identifier: BSD-2-Clause
/* watch.c - see watch.h. */
#define _GNU_SOURCE
#include <regex.h>
#include <sys/syscall.h>

#include "../../vm/tests/kmod_dev.h"
#include "op.h"
#include "watch.h"

static int messages = -1;

/* ---- snapshots ----------------------------------------------------------- */

void snapshot_take(int fd, struct snapshot *s)
{
	struct hwpmc_op_getcpuinfo cpu = { .hdr = { .reason = 0 } };
	unsigned char *at = s->bytes;

	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < 2; i++) {
		struct hwpmc_op_getpmcinfo info = {
			.cpu = i, .npmc = HWPMC_ROW_MAX, .pmcs = (uintptr_t)at,
		};

		ioctl(fd, HWPMC_IOC_GETPMCINFO, &info);
		at += 64 * sizeof(struct hwpmc_pmcinfo);
	}
	ioctl(fd, HWPMC_IOC_GETCPUINFO, &cpu);
	memcpy(at, &cpu, sizeof(cpu));
}

/* The first word that differs: of a row, or of the holder of the hardware. */
static void say_difference(char *text, size_t len, const struct snapshot *before,
			   const struct snapshot *after)
{
	const size_t of_cpu = 64 * sizeof(struct hwpmc_pmcinfo);
	const struct hwpmc_pmcinfo *row = (const void *)after->bytes;
	size_t at = 0, in_row;
	uint32_t was, is;

	while (!memcmp(before->bytes + at, after->bytes + at, 4))
		at += 4;
	memcpy(&was, before->bytes + at, 4);
	memcpy(&is, after->bytes + at, 4);
	in_row = at % sizeof(*row);
	if (at < 2 * of_cpu)
		snprintf(text, len, "a refusal that changed the rows: %s of CPU %zu, "
			 "byte %zu: %#x, was %#x", row[at / sizeof(*row)].name,
			 at / of_cpu, in_row, is, was);
	else
		snprintf(text, len, "a refusal that changed the hardware's state, "
			 "byte %zu: %#x, was %#x", at - 2 * of_cpu, is, was);
}

const char *snapshot_changed(int fd, const struct snapshot *s)
{
	static __thread char text[160];
	struct snapshot now;

	snapshot_take(fd, &now);
	if (!memcmp(&now, s, sizeof(now)))
		return NULL;
	say_difference(text, sizeof(text), s, &now);
	return text;
}

/* ---- the kernel's messages ----------------------------------------------- */

void watch_messages(void)
{
	messages = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (messages >= 0)
		lseek(messages, 0, SEEK_END);
}

/* The same as tests/vm/scan-dmesg's, which looks again at the end. */
static const char bad[] =
	"WARNING:|BUG:|Oops|Call Trace|RIP: |suspicious|unchecked MSR|[Uu]hhuh|"
	"rcu.*(stall|self-detected)|hung.task|blocked for more than|"
	"general protection|kernel NULL|[Mm]emory leak|memory leaks|"
	"scheduling while atomic|Kernel panic|soft lockup|hard LOCKUP|"
	"invalid opcode|unable to handle|bad: scheduling|DEBUG_LOCKS_WARN|"
	"refcount_t|list_(add|del) corruption|KASAN|KCSAN|UBSAN|"
	"possible (circular|recursive) locking|inconsistent lock state|"
	"Dazed and confused|perf: interrupt took too long|[Uu]nknown NMI|unknown reason";

const char *watch_complaint(void)
{
	static char line[2048];
	static regex_t re;
	static bool ready;
	const char *text;
	ssize_t n;

	if (!ready)
		ready = !regcomp(&re, bad, REG_EXTENDED | REG_NOSUB);
	while (messages >= 0) {
		n = read(messages, line, sizeof(line) - 1);
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			return NULL;
		line[n] = '\0';
		text = strchr(line, ';');
		if (text && !regexec(&re, text, 0, NULL, 0))
			return text + 1;
	}
	return NULL;
}

/* ---- afterwards ---------------------------------------------------------- */

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, text, strlen(text));
	close(fd);
}

static void restore_rows(int fd)
{
	struct hwpmc_op_kgmon off = { .command = HWPMC_KGMON_OFF };
	struct hwpmc_op_kgmon reset = { .command = HWPMC_KGMON_RESET };

	for (unsigned int cpu = 0; cpu < 2; cpu++)
		for (unsigned int row = 0; row < HWPMC_ROW_MAX; row++) {
			struct hwpmc_op_pmcadmin op = {
				.cpu = cpu, .row = row, .state = HWPMC_STATE_FREE,
			};

			ioctl(fd, HWPMC_IOC_PMCADMIN, &op);
		}
	ioctl(fd, HWPMC_IOC_KGMON, &off);
	ioctl(fd, HWPMC_IOC_KGMON, &reset);
}

void watch_restore(void)
{
	int fd;

	put("/sys/devices/system/cpu/cpu1/online", "1");
	put("/proc/sys/kern/hwpmc/unprivileged_syspmcs", "0");
	put("/proc/sys/kern/hwpmc/unprivileged_kernel", "1");
	put("/proc/sys/kern/hwpmc/unprivileged_proc_debug", "1");
	put("/proc/sys/kern/hwpmc/mincount", "1000");
	put("/proc/sys/kern/hwpmc/selfcost", "50");
	put("/proc/sys/kern/hwpmc/debugflags", "");
	fd = dev_open();
	if (fd < 0)
		return;
	restore_rows(fd);
	close(fd);
}

static const char *rows_in_use(void)
{
	static struct hwpmc_pmcinfo info[HWPMC_ROW_MAX];
	struct hwpmc_op_getpmcinfo op = { .npmc = HWPMC_ROW_MAX,
					  .pmcs = (uintptr_t)info };
	int fd = dev_open(), ret;

	if (fd < 0)
		return "the device cannot be opened afterwards";
	ret = ioctl(fd, HWPMC_IOC_GETPMCINFO, &op);
	close(fd);
	if (ret)
		return "GETPMCINFO fails afterwards";
	for (unsigned int i = 0; i < op.npmc; i++)
		if (info[i].users || info[i].ownerpid != -1 || !info[i].enabled)
			return "a row is in use though nobody is there";
	return NULL;
}

/* Perf leaves its selects behind, disabled, and the global switch on. */
static bool enabled_register(void)
{
	unsigned int gp = vpmu_reg(VPMU_REG_N_GENERAL, 0);

	for (unsigned int cpu = 0; cpu < vpmu_reg(VPMU_REG_N_VCPUS, 0); cpu++) {
		for (unsigned int i = 0; i < gp; i++)
			if (vpmu_reg(VPMU_REG_SELECT + i, cpu) & 1 << 22)
				return true;
		if (vpmu_reg(VPMU_REG_FIXED_CTRL, cpu))
			return true;
	}
	return false;
}

const char *watch_leftovers(bool perf)
{
	const char *what = NULL;

	/* The last fput() of an owner may be a work item's. */
	for (int i = 0; i < 200; i++) {
		what = rows_in_use();
		if (!what && (perf ? enabled_register() : !!dev_busy_register()))
			what = "a counter is left running";
		if (!what)
			return NULL;
		dev_msleep(20);
	}
	return what;
}

#define LOOPS	10000

/* A child that executes the program when its end of a pipe is closed. */
static pid_t held_loop(int *go)
{
	char c, n[16];
	int p[2];
	pid_t pid;

	if (pipe2(p, O_CLOEXEC))
		return -1;
	snprintf(n, sizeof(n), "%d", LOOPS);
	pid = fork();
	if (!pid) {
		close(p[1]);
		(void)!read(p[0], &c, 1);
		execl("build/vm/progs/loop", "loop", n, (char *)NULL);
		_exit(127);
	}
	close(p[0]);
	*go = p[1];
	return pid;
}

/* Without the harness's assertions: this is no test of it. */
const char *watch_counts(void)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open(), go = -1, err, status = -1;
	pid_t pid = held_loop(&go);
	static char why[96];
	uint64_t got = 0;

	dev_request(&op, TC, HWPMC_F_EXEC_START, ANY, INSN, U);
	err = dev_allocate(fd, &op);
	err = err ? err : dev_attach(fd, op.pmcid, pid);
	err = err ? err : dev_start(fd, op.pmcid);
	close(go);
	waitpid(pid, &status, 0);
	err = err ? err : dev_rw(fd, op.pmcid, HWPMC_F_OLDVALUE, &got);
	close(fd);
	if (!err && !status && got == loop_insn(LOOPS))
		return NULL;
	snprintf(why, sizeof(why), "afterwards %llu instructions are %llu (errno %d, "
		 "reason %u, status %d)", (unsigned long long)loop_insn(LOOPS),
		 (unsigned long long)got, err, dev_hdr.reason, status);
	return why;
}

const char *watch_reload(const char *module)
{
	static char why[64];
	int fd;

	for (int i = 0; syscall(SYS_delete_module, "hwpmc", O_NONBLOCK); i++) {
		if (errno == ENOENT)
			break;
		if (i == 100) {
			snprintf(why, sizeof(why), "unloading fails: %s",
				 strerror(errno));
			return why;
		}
		dev_msleep(20);
	}
	fd = open(module, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_finit_module, fd, OP_PARAMETERS, 0)) {
		snprintf(why, sizeof(why), "loading fails: %s", strerror(errno));
		return why;
	}
	close(fd);
	return NULL;
}
