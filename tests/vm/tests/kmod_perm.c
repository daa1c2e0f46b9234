// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_perm - who may do what: the unprivileged to themselves and their own, to
 * others, in system scope; the two tunables; descriptors in other hands. The tests
 * are root; what the unprivileged do is done in a child that has become nobody.
 */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "kmod_dev.h"

#define OTHER	65533

#define REFUSED(call, err, why) do {					\
	int got_ = (call);						\
	ck_assert_msg(got_ == (err) && dev_hdr.reason == HWPMC_WHY_##why, \
		      "%s: errno %d, reason %u (%d), not %d, " #why, #call, \
		      got_, dev_hdr.reason, dev_hdr.detail, err);	\
} while (0)

static void sysctl(const char *name, int value)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/kern/hwpmc/%s", name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%d\n", value);
	ck_assert_int_eq(fclose(f), 0);
}

static void prove(void)
{
	sysctl("unprivileged_syspmcs", 0);
	sysctl("unprivileged_proc_debug", 1);
	dev_still_counts();
}

static void stay(void *unused)
{
	pause();
}

/* A process of this user, held until it gets a signal. */
struct whose {
	uid_t uid;
	int dumpable;
	int ready;
};

static void live(void *arg)
{
	struct whose *w = arg;

	if (w->uid)
		dev_become(w->uid);
	prctl(PR_SET_DUMPABLE, w->dumpable);
	if (write(w->ready, "r", 1) == 1)
		pause();
}

static pid_t process_of(uid_t uid, int dumpable)
{
	int p[2];
	struct whose w = { .uid = uid, .dumpable = dumpable };
	struct child child;
	char c;

	ck_assert(!pipe(p));
	w.ready = p[1];
	child = dev_child(live, &w);
	dev_go(&child);
	ck_assert_int_eq(read(p[0], &c, 1), 1);
	return child.pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- the unprivileged ---------------------------------------------------- */

static uint64_t __attribute__((noinline)) window(int fd, uint32_t id, uint64_t n)
{
	uint64_t before = dev_read(fd, id);

	dev_spin(n);
	return dev_read(fd, id) - before;
}

static void measure_self(void *unused)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint64_t rest;

	dev_ok(dev_start(fd, id));
	window(fd, id, 10);
	rest = window(fd, id, 1000);
	ck_assert_uint_eq(window(fd, id, 101000) - rest, 300000);
}

START_TEST(unprivileged_process_measures_itself_exactly)
{
	dev_as(NOBODY, measure_self, NULL);
}
END_TEST

static void measure_child(void *unused)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_EXEC_START, ANY, INSN, U);
	struct child child = dev_loop(100000);

	dev_ok(dev_attach(fd, id, child.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&child);
	dev_wait(&child);
	ck_assert_uint_eq(dev_read(fd, id), loop_insn(100000));
	close(fd);
}

START_TEST(unprivileged_process_measures_its_own_child_exactly)
{
	dev_as(NOBODY, measure_child, NULL);
}
END_TEST

static void attach_is_refused(void *arg)
{
	pid_t pid = *(pid_t *)arg;
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	REFUSED(dev_attach(fd, id, pid), EPERM, PRIV_ATTACH);
	ck_assert_int_eq(dev_hdr.detail, pid);
}

static void attach_is_allowed(void *arg)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, *(pid_t *)arg));
	close(fd);
}

static void check_attach(uid_t uid, int dumpable, void (*fn)(void *))
{
	pid_t pid = process_of(uid, dumpable);

	dev_as(NOBODY, fn, &pid);
	/* Root may, always. */
	attach_is_allowed(&pid);
	end(pid);
}

START_TEST(unprivileged_attach_to_a_process_of_the_same_user_is_allowed)
{
	check_attach(NOBODY, 1, attach_is_allowed);
}
END_TEST

START_TEST(unprivileged_attach_to_a_process_of_another_user_is_eperm)
{
	check_attach(OTHER, 1, attach_is_refused);
	check_attach(0, 1, attach_is_refused);
}
END_TEST

START_TEST(unprivileged_attach_to_an_undumpable_process_is_eperm)
{
	check_attach(NOBODY, 0, attach_is_refused);
}
END_TEST

/* The child became somebody else while the parent's PMC follows all descendants. */
static void attach_tree_is_refused(void *arg)
{
	pid_t *pid = arg;
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_DESCENDANTS, ANY, INSN, U);

	REFUSED(dev_attach(fd, id, pid[0]), EPERM, PRIV_ATTACH);
	ck_assert_int_eq(dev_hdr.detail, pid[1]);
	/* All of them or none. */
	REFUSED(dev_detach(fd, id, pid[0]), ESRCH, NOT_TARGET);
	REFUSED(dev_detach(fd, id, pid[2]), ESRCH, NOT_TARGET);
}

/* A descendant that it was attached to before stays so. */
static void attach_tree_keeps_earlier(void *arg)
{
	pid_t *pid = arg;
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_DESCENDANTS, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, pid[2]));
	REFUSED(dev_attach(fd, id, pid[0]), EPERM, PRIV_ATTACH);
	REFUSED(dev_detach(fd, id, pid[0]), ESRCH, NOT_TARGET);
	dev_ok(dev_detach(fd, id, pid[2]));
}

struct tree {
	int tell;
};

static pid_t leaf(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

/* One leaf that is root's, one that is not. */
static void grow(void *arg)
{
	struct tree *tree = arg;
	pid_t pid[2] = { leaf() };

	dev_become(NOBODY);
	pid[1] = leaf();
	if (write(tree->tell, pid, sizeof(pid)) == sizeof(pid))
		pause();
}

static void with_tree(void (*fn)(void *))
{
	pid_t pid[3];
	struct child child;
	struct tree tree;
	int p[2];

	ck_assert(!pipe(p));
	tree.tell = p[1];
	child = dev_child(grow, &tree);
	dev_go(&child);
	pid[0] = child.pid;
	ck_assert(read(p[0], &pid[1], 2 * sizeof(pid_t)) == 2 * sizeof(pid_t));
	dev_as(NOBODY, fn, pid);
	kill(pid[1], SIGKILL);
	kill(pid[2], SIGKILL);
	end(pid[0]);
}

START_TEST(attach_to_a_tree_with_a_foreign_process_attaches_to_none)
{
	with_tree(attach_tree_is_refused);
}
END_TEST

START_TEST(a_refused_attach_to_a_tree_leaves_what_was_attached_before)
{
	with_tree(attach_tree_keeps_earlier);
}
END_TEST

/* ---- system scope, administration ---------------------------------------- */

static void system_scope_is_refused(void *unused)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open();

	dev_request(&op, SC, 0, 0, INSN, U);
	REFUSED(dev_allocate(fd, &op), EPERM, PRIV_SYSTEM);
	/* It comes before the flags, and after the CPU. */
	op.flags |= 1;
	REFUSED(dev_allocate(fd, &op), EPERM, PRIV_SYSTEM);
	op.cpu = 100000;
	REFUSED(dev_allocate(fd, &op), EINVAL, CPU_RANGE);
}

static void system_scope_counts(void *unused)
{
	int fd = dev_open();
	uint32_t id;

	dev_pin(0, 0);
	id = dev_alloc(fd, SC, 0, 0, INSN, U);
	dev_ok(dev_start(fd, id));
	ck_assert_uint_ge(window(fd, id, 100000), 300000);
}

START_TEST(unprivileged_system_scope_is_eperm_until_the_tunable_lifts_it)
{
	dev_as(NOBODY, system_scope_is_refused, NULL);
	sysctl("unprivileged_syspmcs", 1);
	dev_as(NOBODY, system_scope_counts, NULL);
	sysctl("unprivileged_syspmcs", 0);
	dev_as(NOBODY, system_scope_is_refused, NULL);
}
END_TEST

static int admin(int fd)
{
	struct hwpmc_op_pmcadmin op = {
		.row = dev_first_row(), .state = HWPMC_STATE_FREE,
	};
	int ret = ioctl(fd, HWPMC_IOC_PMCADMIN, &op);

	dev_hdr = op.hdr;
	return ret ? errno : 0;
}

static void admin_is_refused(void *unused)
{
	struct hwpmc_pmcinfo infos[HWPMC_ROW_MAX];
	struct hwpmc_op_getpmcinfo info = {
		.npmc = HWPMC_ROW_MAX, .pmcs = (uintptr_t)infos,
	};
	int fd = dev_open();

	REFUSED(admin(fd), EPERM, PRIV_ADMIN);
	/* To look is free. */
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETPMCINFO, &info), 0);
}

START_TEST(unprivileged_pmcadmin_is_eperm_and_looking_is_allowed)
{
	dev_as(NOBODY, admin_is_refused, NULL);
	/* No tunable changes that. */
	sysctl("unprivileged_syspmcs", 1);
	dev_as(NOBODY, admin_is_refused, NULL);
}
END_TEST

/* Nobody, but with the capabilities of this mask. */
static void keep_caps(uint64_t caps)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = {
		{ caps, caps, 0 }, { caps >> 32, caps >> 32, 0 },
	};

	ck_assert(!prctl(PR_SET_KEEPCAPS, 1));
	dev_become(NOBODY);
	ck_assert(!syscall(SYS_capset, &head, data));
}

static void with_perfmon(void *arg)
{
	keep_caps(1ULL << CAP_PERFMON);
	system_scope_counts(NULL);
	attach_is_allowed(arg);
	admin_is_refused(NULL);
}

START_TEST(cap_perfmon_allows_system_scope_and_others_but_not_pmcadmin)
{
	pid_t pid = process_of(OTHER, 1);
	struct child child = dev_child(with_perfmon, &pid);

	dev_go(&child);
	dev_wait(&child);
	end(pid);
}
END_TEST

static void with_sys_admin(void *arg)
{
	int fd = dev_open();

	keep_caps(1ULL << CAP_SYS_ADMIN);
	system_scope_counts(NULL);
	attach_is_allowed(arg);
	dev_ok(admin(fd));
	close(fd);
}

START_TEST(cap_sys_admin_alone_allows_system_scope_others_and_pmcadmin)
{
	pid_t pid = process_of(OTHER, 1);
	struct child child = dev_child(with_sys_admin, &pid);

	dev_go(&child);
	dev_wait(&child);
	end(pid);
}
END_TEST

/* ---- unprivileged_proc_debug --------------------------------------------- */

static void child_is_refused(void *unused)
{
	struct child child = dev_child(stay, NULL);
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	REFUSED(dev_attach(fd, id, child.pid), EPERM, PRIV_TUNABLE);
	ck_assert_int_eq(dev_hdr.detail, child.pid);
	end(child.pid);
	measure_self(NULL);
}

START_TEST(proc_debug_0_leaves_the_unprivileged_only_themselves)
{
	sysctl("unprivileged_proc_debug", 0);
	dev_as(NOBODY, child_is_refused, NULL);
	/* The privileged do not notice. */
	measure_child(NULL);
	sysctl("unprivileged_proc_debug", 1);
	dev_as(NOBODY, measure_child, NULL);
}
END_TEST

static void write_is_refused(void *unused)
{
	ck_assert_int_eq(open("/proc/sys/kern/hwpmc/unprivileged_syspmcs",
			      O_WRONLY), -1);
	ck_assert_int_eq(errno, EACCES);
}

START_TEST(tunables_are_the_administrators_and_take_0_and_1)
{
	FILE *f;

	dev_as(NOBODY, write_is_refused, NULL);
	f = fopen("/proc/sys/kern/hwpmc/unprivileged_syspmcs", "w");
	fprintf(f, "2\n");
	ck_assert_int_ne(fclose(f), 0);
}
END_TEST

static void reload(const char *parameters)
{
	char cmd[200];

	ck_assert_int_eq(system("rmmod hwpmc"), 0);
	snprintf(cmd, sizeof(cmd), "insmod build/kmod/$(uname -r)/hwpmc.ko %s",
		 parameters);
	ck_assert_int_eq(system(cmd), 0);
}

START_TEST(tunables_can_be_given_when_the_module_is_loaded)
{
	reload(DEV_PARAMS " unprivileged_syspmcs=1 unprivileged_proc_debug=0");
	dev_as(NOBODY, system_scope_counts, NULL);
	dev_as(NOBODY, child_is_refused, NULL);
	reload(DEV_PARAMS);
	dev_as(NOBODY, system_scope_is_refused, NULL);
	dev_as(NOBODY, measure_child, NULL);
}
END_TEST

/* ---- kernel mode --------------------------------------------------------- */

#define TS	HWPMC_MODE_TS

/* 0, or errno with dev_hdr; what is allocated is released. */
static int try_allocate(struct hwpmc_op_pmcallocate op)
{
	int fd = dev_open(), ret;

	ck_assert_int_ge(fd, 0);
	ret = dev_allocate(fd, &op);
	close(fd);
	return ret;
}

static int hardware(int mode, uint32_t caps)
{
	struct hwpmc_op_pmcallocate op;

	dev_request(&op, mode, 0, mode == SC ? 0 : ANY, INSN, caps);
	op.count = mode == TS ? 1000000 : 0;
	return try_allocate(op);
}

static int software(int mode, uint32_t event, uint32_t caps)
{
	return try_allocate((struct hwpmc_op_pmcallocate){
		.mode = mode, .cpu = ANY, .class = HWPMC_CLASS_SOFT, .ev = event,
		.caps = caps, .count = mode == TS ? 1000 : 0,
	});
}

#define ALLOWED(want, call) do {					\
	if (want)							\
		dev_ok(call);						\
	else								\
		REFUSED(call, EPERM, PRIV_KERNEL);			\
} while (0)

/* *arg: whether kernel mode is for the unprivileged. */
static void kernel_mode_is_allowed(void *arg)
{
	static const uint32_t kernel[] = { 0, K, U | K };
	static const uint32_t public[] = {
		HWPMC_EV_SOFT_CLOCK_HARD, HWPMC_EV_SOFT_CLOCK_STAT,
		HWPMC_EV_SOFT_CLOCK_PROF, HWPMC_EV_SOFT_PAGE_FAULT_ALL,
		HWPMC_EV_SOFT_PAGE_FAULT_READ, HWPMC_EV_SOFT_PAGE_FAULT_WRITE,
		HWPMC_EV_SOFT_CONTEXT_SWITCH, HWPMC_EV_SOFT_CPU_MIGRATION,
	};
	bool want = *(bool *)arg;

	for (unsigned int i = 0; i < 3; i++) {
		ALLOWED(want, hardware(TC, kernel[i]));
		ALLOWED(want, hardware(TS, kernel[i]));
		ALLOWED(want, hardware(SC, kernel[i]));
	}
	dev_ok(hardware(TC, U));
	dev_ok(hardware(TS, U));
	dev_ok(hardware(SC, U));
	for (unsigned int i = 0; i < sizeof(public) / sizeof(*public); i++) {
		dev_ok(software(TC, public[i], 0));
		ALLOWED(want, software(TS, public[i], 0));
	}
	dev_ok(software(TS, HWPMC_EV_SOFT_PAGE_FAULT_ALL, U));
	/* Not on every kernel. */
	if (!want)
		REFUSED(software(TC, HWPMC_EV_SOFT_LOCK_FAILED, 0), EPERM, PRIV_KERNEL);
}

START_TEST(kernel_mode_is_for_the_unprivileged_where_the_tunable_permits_it)
{
	bool no = false, yes = true;

	sysctl("unprivileged_syspmcs", 1);
	sysctl("unprivileged_kernel", 0);
	dev_as(NOBODY, kernel_mode_is_allowed, &no);
	kernel_mode_is_allowed(&yes);	/* root's */
	sysctl("unprivileged_kernel", 1);
	dev_as(NOBODY, kernel_mode_is_allowed, &yes);
}
END_TEST

/* Its capabilities are not those of the machine. */
static void as_root_of_a_user_namespace(void *unused)
{
	bool no = false;

	ck_assert(!unshare(CLONE_NEWUSER));
	dev_put("/proc/self/setgroups", "deny");
	dev_put("/proc/self/uid_map", "0 65534 1");
	kernel_mode_is_allowed(&no);
}

START_TEST(kernel_mode_is_refused_to_root_of_a_user_namespace)
{
	sysctl("unprivileged_syspmcs", 1);
	sysctl("unprivileged_kernel", 0);
	dev_as(NOBODY, as_root_of_a_user_namespace, NULL);
	sysctl("unprivileged_kernel", 1);
}
END_TEST

static void open_is_refused(void *unused)
{
	ck_assert_int_eq(dev_open(), -1);
	ck_assert_int_eq(errno, EACCES);
}

START_TEST(by_default_device_and_kernel_mode_are_roots)
{
	bool no = false;

	reload("");
	dev_as(NOBODY, open_is_refused, NULL);
	sysctl("unprivileged_syspmcs", 1);
	ck_assert(!chmod(HWPMC_DEVICE, 0666));
	dev_as(NOBODY, kernel_mode_is_allowed, &no);
	reload(DEV_PARAMS);
}
END_TEST

/* ---- descriptors in other hands ------------------------------------------ */

struct passed {
	int fd;
	uint32_t id;
	pid_t owner;
};

/* Operations that name no PMC, but change what the owner has. */
static int operate_owner(int fd, unsigned long request, struct hwpmc_hdr *hdr)
{
	int err = ioctl(fd, request, hdr) ? errno : 0;

	dev_hdr = *hdr;
	return err;
}

static void what_is_the_owners_alone_is_refused(int fd)
{
	struct hwpmc_op_configurelog log = { .logfd = -1, .flags = HWPMC_LOG_F_MAPPED };
	struct hwpmc_op_unwind table = { .inode = 1 };
	struct hwpmc_op_writelog word = { .userdata = 1 };
	struct hwpmc_op_simple none = {};

	REFUSED(operate_owner(fd, HWPMC_IOC_CONFIGURELOG, &log.hdr), ESRCH, NOT_OWNER);
	REFUSED(operate_owner(fd, HWPMC_IOC_FLUSHLOG, &none.hdr), ESRCH, NOT_OWNER);
	REFUSED(operate_owner(fd, HWPMC_IOC_CLOSELOG, &none.hdr), ESRCH, NOT_OWNER);
	REFUSED(operate_owner(fd, HWPMC_IOC_WRITELOG, &word.hdr), ESRCH, NOT_OWNER);
	REFUSED(operate_owner(fd, HWPMC_IOC_UNWIND, &table.hdr), ESRCH, NOT_OWNER);
}

static void everything_is_refused(void *arg)
{
	struct passed *p = arg;
	struct hwpmc_op_pmcallocate op;
	uint64_t v = 0;

	REFUSED(dev_rw(p->fd, p->id, HWPMC_F_OLDVALUE, &v), ESRCH, NOT_OWNER);
	ck_assert_int_eq(dev_hdr.detail, p->owner);
	REFUSED(dev_start(p->fd, p->id), ESRCH, NOT_OWNER);
	REFUSED(dev_stop(p->fd, p->id), ESRCH, NOT_OWNER);
	REFUSED(dev_attach(p->fd, p->id, 0), ESRCH, NOT_OWNER);
	REFUSED(dev_detach(p->fd, p->id, p->owner), ESRCH, NOT_OWNER);
	REFUSED(dev_setcount(p->fd, p->id, 1), ESRCH, NOT_OWNER);
	REFUSED(dev_release(p->fd, p->id), ESRCH, NOT_OWNER);
	dev_request(&op, TC, 0, ANY, INSN, U);
	REFUSED(dev_allocate(p->fd, &op), ESRCH, NOT_OWNER);
	what_is_the_owners_alone_is_refused(p->fd);
}

static struct passed self_measured(uint32_t flags)
{
	struct passed p = { .fd = dev_open(), .owner = getpid() };

	p.id = dev_alloc(p.fd, TC, flags, ANY, INSN, U);
	dev_ok(dev_start(p.fd, p.id));
	return p;
}

START_TEST(a_forked_child_that_is_no_target_gets_esrch)
{
	struct passed p = self_measured(0);
	struct child child = dev_child(everything_is_refused, &p);

	dev_go(&child);
	dev_wait(&child);
	ck_assert_uint_gt(dev_read(p.fd, p.id), 0);
	close(p.fd);
}
END_TEST

/* A target by its parent's hand, but the PMC is not on the parent itself. */
START_TEST(a_child_measured_by_an_unattached_parent_gets_esrch)
{
	struct passed p = { .fd = dev_open(), .owner = getpid() };
	struct child child;

	p.id = dev_alloc(p.fd, TC, HWPMC_F_DESCENDANTS, ANY, INSN, U);
	child = dev_child(everything_is_refused, &p);
	dev_ok(dev_attach(p.fd, p.id, child.pid));
	dev_ok(dev_start(p.fd, p.id));
	dev_go(&child);
	dev_wait(&child);
	close(p.fd);
}
END_TEST

static void receive_and_try(void *arg)
{
	int sock = *(int *)arg;
	struct passed p;
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &p, sizeof(p) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};

	ck_assert(recvmsg(sock, &msg, 0) == sizeof(p));
	memcpy(&p.fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	everything_is_refused(&p);
}

static void send_pmc(int sock, struct passed *p)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { };
	struct iovec iov = { p, sizeof(*p) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &p->fd, sizeof(int));
	ck_assert(sendmsg(sock, &msg, 0) == sizeof(*p));
}

START_TEST(a_descriptor_sent_to_another_process_gets_esrch_there)
{
	struct child child;
	struct passed p;
	int sock[2];

	ck_assert(!socketpair(AF_UNIX, SOCK_DGRAM, 0, sock));
	child = dev_child(receive_and_try, &sock[1]);
	p = self_measured(HWPMC_F_DESCENDANTS);
	/* It is a child of ours and was attached with us; now it is not. */
	dev_ok(dev_detach(p.fd, p.id, child.pid));
	send_pmc(sock[0], &p);
	dev_go(&child);
	dev_wait(&child);
	ck_assert_uint_gt(dev_read(p.fd, p.id), 0);
	close(p.fd);
}
END_TEST

static void operate(void *arg)
{
	struct passed *p = arg;
	uint64_t before = dev_read(p->fd, p->id), after;

	dev_spin(1000);
	after = dev_read(p->fd, p->id);
	ck_assert_uint_gt(after - before, 3000);
	dev_ok(dev_stop(p->fd, p->id));
	before = dev_read(p->fd, p->id);
	dev_spin(1000);
	ck_assert_uint_eq(dev_read(p->fd, p->id), before);
	dev_ok(dev_setcount(p->fd, p->id, 1ULL << 50));
	dev_ok(dev_start(p->fd, p->id));
}

START_TEST(a_descendant_operates_the_self_attached_pmc_of_its_parent)
{
	struct passed p = self_measured(HWPMC_F_DESCENDANTS);
	struct child child = dev_child(operate, &p);

	dev_go(&child);
	dev_wait(&child);
	ck_assert_uint_gt(dev_read(p.fd, p.id), 1ULL << 50);
	close(p.fd);
}
END_TEST

/* The owner is gone, its descriptor lives on here: nobody may use it. */
static void allocate_and_send(void *arg)
{
	struct passed p = self_measured(HWPMC_F_DESCENDANTS);

	send_pmc(*(int *)arg, &p);
}

START_TEST(a_descriptor_that_outlives_its_owner_gets_esrch)
{
	struct child owner;
	int sock[2], status;
	pid_t pid;

	ck_assert(!socketpair(AF_UNIX, SOCK_DGRAM, 0, sock));
	owner = dev_child(allocate_and_send, &sock[0]);
	dev_go(&owner);
	dev_wait(&owner);
	pid = fork();
	if (!pid) {
		char control[CMSG_SPACE(sizeof(int))];
		struct passed p;
		struct iovec iov = { &p, sizeof(p) };
		struct msghdr msg = {
			.msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control),
		};
		uint64_t v = 0;
		int fd;

		ck_assert(recvmsg(sock[1], &msg, 0) == sizeof(p));
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
		REFUSED(dev_rw(fd, p.id, HWPMC_F_OLDVALUE, &v), ESRCH, NOT_OWNER);
		close(fd);
		_exit(0);
	}
	ck_assert(waitpid(pid, &status, 0) == pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(NULL, prove);
	harness_add(unprivileged_process_measures_itself_exactly);
	harness_add(unprivileged_process_measures_its_own_child_exactly);
	harness_add(unprivileged_attach_to_a_process_of_the_same_user_is_allowed);
	harness_add(unprivileged_attach_to_a_process_of_another_user_is_eperm);
	harness_add(unprivileged_attach_to_an_undumpable_process_is_eperm);
	harness_add(attach_to_a_tree_with_a_foreign_process_attaches_to_none);
	harness_add(a_refused_attach_to_a_tree_leaves_what_was_attached_before);
	harness_add(unprivileged_system_scope_is_eperm_until_the_tunable_lifts_it);
	harness_add(unprivileged_pmcadmin_is_eperm_and_looking_is_allowed);
	harness_add(cap_perfmon_allows_system_scope_and_others_but_not_pmcadmin);
	harness_add(cap_sys_admin_alone_allows_system_scope_others_and_pmcadmin);
	harness_add(proc_debug_0_leaves_the_unprivileged_only_themselves);
	harness_add(tunables_are_the_administrators_and_take_0_and_1);
	harness_add(tunables_can_be_given_when_the_module_is_loaded);
	harness_add(kernel_mode_is_for_the_unprivileged_where_the_tunable_permits_it);
	harness_add(kernel_mode_is_refused_to_root_of_a_user_namespace);
	harness_add(by_default_device_and_kernel_mode_are_roots);
	harness_add(a_forked_child_that_is_no_target_gets_esrch);
	harness_add(a_child_measured_by_an_unattached_parent_gets_esrch);
	harness_add(a_descriptor_sent_to_another_process_gets_esrch_there);
	harness_add(a_descendant_operates_the_self_attached_pmc_of_its_parent);
	harness_add(a_descriptor_that_outlives_its_owner_gets_esrch);
	return harness_run();
}
