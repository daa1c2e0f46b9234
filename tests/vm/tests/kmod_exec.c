// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_exec - a target executes a program that gives it more rights than the owner of the
 * PMC has. The tests are root; the owner is a child that has become nobody.
 */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "kmod_dev.h"
#include "hwpmc_log.h"

#define PLAIN	"/tmp/loop.plain"
#define SETUID	"/tmp/loop.setid"
#define UNREADABLE "/tmp/loop.unreadable"

static void make_programs(void)
{
	ck_assert_int_eq(system("cp build/vm/progs/loop " PLAIN
				" && cp " PLAIN " " SETUID
				" && chmod 755 " PLAIN
				" && chmod 4755 " SETUID
				" && cp " PLAIN " " UNREADABLE
				" && chmod 711 " UNREADABLE), 0);
}

static void exec_program(void *path)
{
	execl(path, "loop", "100000", (char *)NULL);
	_exit(127);
}

/* The unprivileged owner, and how it and root talk. */
struct script {
	const char *program;
	bool traced;	/* by the owner, which has no rights */
	bool shared;	/* attached by a process of all capabilities */
	bool thread;	/* by a PMC of the thread alone */
	struct child foreign;	/* the target then, which the owner has not begun */
	int told[2], go[2];
	struct {
		pid_t target;
		uint64_t count;
	} out;
};

static void tell(struct script *s)
{
	ck_assert(write(s->told[1], &s->out, sizeof(s->out)) == sizeof(s->out));
}

static void hear(struct script *s)
{
	ck_assert(read(s->told[0], &s->out, sizeof(s->out)) == sizeof(s->out));
}

/* All capabilities of the caller, which are permitted, are effective; or it has none. */
static void set_caps(bool all)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	ck_assert(!syscall(SYS_capget, &head, data));
	for (int i = 0; i < 2; i++) {
		data[i].effective = all ? data[i].permitted : 0;
		data[i].permitted = data[i].effective;
		data[i].inheritable = 0;
	}
	ck_assert(!syscall(SYS_capset, &head, data));
}

/*
 * The caller attaches first, to itself. A child of it with all capabilities, which shares
 * the descriptor, operates the PMC as its target. Afterwards the caller has none.
 */
static void attach_by_other(int fd, uint32_t id, pid_t target)
{
	int status;
	pid_t pid;

	dev_ok(dev_attach(fd, id, 0));
	pid = fork();
	if (!pid) {
		set_caps(true);
		dev_ok(dev_attach(fd, id, target));
		_exit(0);
	}
	ck_assert(waitpid(pid, &status, 0) == pid);
	ck_assert_int_eq(status, 0);
	set_caps(false);
}

/* A target that has no capabilities; it waits in read(). */
static struct child begin_foreign(const char *program)
{
	int ready[2], go[2];
	struct child child;
	char c;

	ck_assert(!pipe(ready) && !pipe(go));
	child = (struct child){ .pid = fork(), .go = go[1] };
	if (!child.pid) {
		dev_become(NOBODY);
		ck_assert(write(ready[1], "r", 1) == 1);
		ck_assert(read(go[0], &c, 1) == 1);
		exec_program((void *)program);
	}
	ck_assert(read(ready[0], &c, 1) == 1);
	return child;
}

static void own_unprivileged(struct script *s)
{
	int fd = dev_open();
	uint32_t flag = s->thread ? HWPMC_F_THREAD : HWPMC_F_DESCENDANTS;
	uint32_t id = dev_alloc(fd, TC, flag, ANY, INSN, U);
	struct child child = s->shared ? s->foreign :
			     dev_child(exec_program, (void *)s->program);
	char c;

	if (s->traced)
		ck_assert(!ptrace(PTRACE_SEIZE, child.pid, NULL, NULL));
	s->out.target = child.pid;
	/* It waits: all attach to it in the same place. */
	if (s->shared)
		attach_by_other(fd, id, child.pid);
	else
		dev_ok(dev_attach(fd, id, child.pid));
	dev_ok(dev_start(fd, id));
	tell(s);
	ck_assert(read(s->go[0], &c, 1) == 1);
	dev_go(&child);
	while (dev_state(child.pid) != 'Z')
		dev_msleep(1);
	s->out.count = dev_read(fd, id);
	/* It is not lost for anything else. */
	dev_ok(dev_stop(fd, id));
	dev_ok(dev_setcount(fd, id, 0));
	if (!s->shared)
		dev_ok(dev_attach(fd, id, 0));
	dev_ok(dev_start(fd, id));
	dev_spin(1000);
	ck_assert_uint_gt(dev_read(fd, id), 3000);
	tell(s);
}

struct counts {
	uint64_t unprivileged, all, program;
};

/*
 * An unprivileged PMC and two of root's on one process that executes a program:
 * one counts all of the process, one from the exec on.
 */
static struct counts measure_exec(struct script s)
{
	struct counts counts;
	uint32_t all, from_exec;
	int fd = dev_open(), status;
	pid_t owner;

	ck_assert(!pipe(s.told) && !pipe(s.go));
	if (s.shared)
		s.foreign = begin_foreign(s.program);
	owner = fork();
	if (!owner) {
		/* Its permitted capabilities stay, and none is effective. */
		if (s.shared)
			ck_assert(!prctl(PR_SET_KEEPCAPS, 1));
		dev_become(NOBODY);
		own_unprivileged(&s);
		_exit(0);
	}
	/* If the owner fails, hear() does. */
	close(s.told[1]);
	hear(&s);
	all = dev_alloc(fd, TC, 0, ANY, INSN, U);
	from_exec = dev_alloc(fd, TC, HWPMC_F_EXEC_START, ANY, INSN, U);
	dev_ok(dev_attach(fd, all, s.out.target));
	dev_ok(dev_attach(fd, from_exec, s.out.target));
	dev_ok(dev_start(fd, all));
	dev_ok(dev_start(fd, from_exec));
	ck_assert(write(s.go[1], "g", 1) == 1);
	hear(&s);
	counts.unprivileged = s.out.count;
	counts.all = dev_read(fd, all);
	counts.program = dev_read(fd, from_exec);
	ck_assert(waitpid(owner, &status, 0) == owner);
	ck_assert_int_eq(status, 0);
	if (s.shared)
		dev_wait(&s.foreign);
	close(fd);
	return counts;
}

START_TEST(set_uid_exec_drops_the_unprivileged_pmc_and_keeps_roots)
{
	struct counts plain, setuid;

	make_programs();
	plain = measure_exec((struct script){ .program = PLAIN });
	ck_assert_uint_eq(plain.program, loop_insn(100000));
	ck_assert_uint_eq(plain.unprivileged, plain.all);
	setuid = measure_exec((struct script){ .program = SETUID });
	/* Root's go on through it ... */
	ck_assert_uint_eq(setuid.program, loop_insn(100000));
	ck_assert_uint_gt(setuid.all, setuid.program);
	/* ... the other has what came before, to the instruction. */
	ck_assert_uint_eq(setuid.unprivileged, setuid.all - setuid.program);
}
END_TEST

START_TEST(set_uid_exec_drops_the_unprivileged_pmc_of_a_thread)
{
	struct counts plain, setuid;

	make_programs();
	plain = measure_exec((struct script){ .program = PLAIN, .thread = true });
	ck_assert_uint_eq(plain.unprivileged, plain.all);
	setuid = measure_exec((struct script){ .program = SETUID, .thread = true });
	ck_assert_uint_eq(setuid.program, loop_insn(100000));
	ck_assert_uint_eq(setuid.unprivileged, setuid.all - setuid.program);
}
END_TEST

/* Its memory may not be read either. */
START_TEST(exec_of_a_program_that_may_not_be_read_drops_the_unprivileged_pmc)
{
	struct counts counts;

	make_programs();
	counts = measure_exec((struct script){ .program = UNREADABLE });
	ck_assert_uint_eq(counts.program, loop_insn(100000));
	ck_assert_uint_eq(counts.unprivileged, counts.all - counts.program);
}
END_TEST

/* The kernel gives it no rights then: it stays the program of its user. */
START_TEST(a_traced_target_that_executes_a_set_uid_program_keeps_its_pmcs)
{
	struct counts traced;

	make_programs();
	traced = measure_exec((struct script){ .program = SETUID, .traced = true });
	ck_assert_uint_eq(traced.program, loop_insn(100000));
	ck_assert_uint_eq(traced.unprivileged, traced.all);
}
END_TEST

/*
 * With this value of suid_dumpable the kernel lets a process of the same user read the
 * memory of a program that has gained capabilities, if it has them too: they alone decide.
 */
START_TEST(an_exec_that_gains_is_judged_by_the_weakest_of_those_who_share_the_pmc)
{
	struct vfs_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = 1u << CAP_NET_ADMIN } },
	};
	struct counts gained;

	make_programs();
	ck_assert(!setxattr(PLAIN, "security.capability", &data, XATTR_CAPS_SZ_2, 0));
	dev_put("/proc/sys/fs/suid_dumpable", "1");
	gained = measure_exec((struct script){ .program = PLAIN, .shared = true });
	ck_assert(!removexattr(PLAIN, "security.capability"));
	ck_assert_uint_eq(gained.program, loop_insn(100000));
	/* The owner has counted itself as well. */
	ck_assert_uint_lt(gained.unprivileged, gained.program / 2);
}
END_TEST

static void exec_twice(void *unused)
{
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();

		if (!pid)
			exec_program(i % 2 ? SETUID : PLAIN);
		waitpid(pid, NULL, 0);
	}
}

static void measure_descendants(void *arg)
{
	uint64_t *count = arg;
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_DESCENDANTS | HWPMC_F_EXEC_START,
				ANY, INSN, U);
	struct child child = dev_child(exec_twice, NULL);

	dev_ok(dev_attach(fd, id, child.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&child);
	dev_wait(&child);
	*count = dev_read(fd, id);
	close(fd);
	ck_assert_uint_eq(*count, getuid() ? 5 * loop_insn(100000) :
			  10 * loop_insn(100000));
}

START_TEST(set_uid_descendants_are_dropped_and_their_brothers_counted)
{
	uint64_t count;

	make_programs();
	dev_as(NOBODY, measure_descendants, &count);
	measure_descendants(&count);
}
END_TEST

/* ---- what its log says ---------------------------------------------------- */

/* New mappings of the process in a log, by the length of its records alone. */
static unsigned int mappings_in(int log, pid_t pid)
{
	off_t size = lseek(log, 0, SEEK_END);
	char *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, log, 0), *end = at + size;
	unsigned int n = 0;

	ck_assert_ptr_ne(at, MAP_FAILED);
	while (at < end) {
		const struct hwpmc_log_map *r = (const void *)at;

		n += r->hdr.type == HWPMC_LOG_MAP_IN && r->pid == pid &&
		     !(r->hdr.flags & HWPMC_LOG_SNAPSHOT);
		at += r->hdr.len;
	}
	return n;
}

struct logged {
	const char *program;
	unsigned int mappings;
};

static void log_exec(void *arg)
{
	int fd = dev_open(), log = memfd_create("log", MFD_CLOEXEC);
	struct hwpmc_op_configurelog op = { .logfd = log };
	struct hwpmc_op_simple flush = {};
	struct hwpmc_op_pmcallocate req;
	struct logged *l = arg;
	struct child child;

	ck_assert(!ioctl(fd, HWPMC_IOC_CONFIGURELOG, &op));
	dev_request(&req, HWPMC_MODE_TS, 0, ANY, INSN, U);
	req.count = 1ULL << 40;
	dev_ok(dev_allocate(fd, &req));
	child = dev_child(exec_program, (void *)l->program);
	dev_ok(dev_attach(fd, req.pmcid, child.pid));
	dev_ok(dev_start(fd, req.pmcid));
	dev_go(&child);
	dev_wait(&child);
	ck_assert(!ioctl(fd, HWPMC_IOC_FLUSHLOG, &flush));
	l->mappings = mappings_in(log, child.pid);
	close(log);
	close(fd);
}

/* The kernel maps a program after it has got its rights, and before the exec is over. */
START_TEST(addresses_of_a_set_uid_program_are_not_in_the_log_of_the_unprivileged)
{
	struct logged *l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	make_programs();
	l->program = SETUID;
	dev_as(NOBODY, log_exec, l);
	ck_assert_uint_eq(l->mappings, 0);
	/* Root's log has them: its text and the vdso. */
	log_exec(l);
	ck_assert_uint_eq(l->mappings, 2);
	l->program = PLAIN;
	dev_as(NOBODY, log_exec, l);
	ck_assert_uint_eq(l->mappings, 2);
	munmap(l, sizeof(*l));
}
END_TEST

static void prove(void)
{
	dev_put("/proc/sys/fs/suid_dumpable", "0");
	dev_still_counts();
}

int main(void)
{
	dev_setup();
	harness_fixture(NULL, prove);
	harness_add(set_uid_exec_drops_the_unprivileged_pmc_and_keeps_roots);
	harness_add(set_uid_exec_drops_the_unprivileged_pmc_of_a_thread);
	harness_add(exec_of_a_program_that_may_not_be_read_drops_the_unprivileged_pmc);
	harness_add(a_traced_target_that_executes_a_set_uid_program_keeps_its_pmcs);
	harness_add(an_exec_that_gains_is_judged_by_the_weakest_of_those_who_share_the_pmc);
	harness_add(set_uid_descendants_are_dropped_and_their_brothers_counted);
	harness_add(addresses_of_a_set_uid_program_are_not_in_the_log_of_the_unprivileged);
	return harness_run();
}
