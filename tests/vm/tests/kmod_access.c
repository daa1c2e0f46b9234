/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_access.c - who may attach to whom, against what the kernel answers to the same
 * question by /proc/PID/maps and process_vm_readv(): every combination of a target's
 * ids, dumpability, capabilities, user namespace and tracer, for each kind of caller.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>

#include "harness.h"
#include "kmod_dev.h"

#define USER	65533
#define OTHER	65532
#define FILE_WITH_CAPS	"/tmp/kmod_access"
#define CAP	CAP_NET_RAW

/* ---- targets ------------------------------------------------------------- */

enum ids { SAME, REAL, EFFECTIVE, SAVED, IDS };
enum caps { NONE, PERMITTED, AMBIENT, OF_FILE, CAPS };

struct target {
	enum ids uid, gid;
	bool undumpable;
	enum caps caps;
	bool own_namespace;
	bool traced;
};

static const char *const ids_names[] = { "same", "real", "effective", "saved" };
static const char *const caps_names[] = { "none", "permitted", "ambient", "file" };

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

static void set_caps(unsigned int permitted, unsigned int effective,
		     unsigned int inheritable)
{
	struct __user_cap_header_struct hdr = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = {
		{ .permitted = permitted, .effective = effective,
		  .inheritable = inheritable },
	};

	if (syscall(SYS_capset, &hdr, data))
		die("capset");
}

static uid_t id_of(enum ids which, enum ids place)
{
	return which == place ? OTHER : USER;
}

static void set_ids(enum ids uid, enum ids gid)
{
	if (setgroups(0, NULL) || prctl(PR_SET_KEEPCAPS, 1) ||
	    setresgid(id_of(gid, REAL), id_of(gid, EFFECTIVE), id_of(gid, SAVED)) ||
	    setresuid(id_of(uid, REAL), id_of(uid, EFFECTIVE), id_of(uid, SAVED)))
		die("ids");
}

/* Credentials that change make undumpable: this comes last. */
static void stay(const struct target *t, int ready)
{
	if (t->own_namespace && unshare(CLONE_NEWUSER))
		die("unshare");
	if (prctl(PR_SET_DUMPABLE, !t->undumpable))
		die("dumpable");
	if (write(ready, "r", 1) != 1)
		die("ready");
	for (;;)
		pause();
}

static void live(const struct target *t, int ready)
{
	char undumpable[2], own[2], to[12];

	set_ids(t->uid, t->gid);
	set_caps(0, 0, 0);
	if (t->caps != OF_FILE)
		stay(t, ready);
	snprintf(undumpable, sizeof(undumpable), "%d", t->undumpable);
	snprintf(own, sizeof(own), "%d", t->own_namespace);
	snprintf(to, sizeof(to), "%d", ready);
	execl(FILE_WITH_CAPS, "kmod_access", "stay", undumpable, own, to, NULL);
	die("exec");
}

/* As live(), which cannot have capabilities after it has dropped all. */
static void live_capable(const struct target *t, int ready)
{
	unsigned int effective = t->caps == AMBIENT ? 1u << CAP : 0;

	set_ids(t->uid, t->gid);
	set_caps(1u << CAP, effective, 1u << CAP);
	if (t->caps == AMBIENT &&
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP, 0, 0))
		die("ambient");
	stay(t, ready);
}

static pid_t begin_target(const struct target *t)
{
	int ready[2];
	pid_t pid;
	char c;

	ck_assert(!pipe(ready));
	pid = fork();
	if (!pid) {
		if (t->caps == PERMITTED || t->caps == AMBIENT)
			live_capable(t, ready[1]);
		live(t, ready[1]);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	if (t->traced)
		ck_assert(!ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	return pid;
}

static void end(pid_t pid)
{
	ck_assert(!kill(pid, SIGKILL));
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* ---- callers ------------------------------------------------------------- */

enum caller { PLAIN, CAPABLE, HALF_CAPABLE, TRACER, ELSEWHERE, OTHER_FSUID, OTHER_FSGID, CALLERS };

static const char *const caller_names[] = {
	"plain", "with the capability", "with it permitted only",
	"with CAP_SYS_PTRACE", "in a user namespace of its own",
	"with another's fsuid", "with another's fsgid",
};

static void set_fs_ids(enum caller caller)
{
	set_caps(1u << CAP_SETUID | 1u << CAP_SETGID, 1u << CAP_SETUID | 1u << CAP_SETGID, 0);
	if (caller == OTHER_FSUID)
		setfsuid(OTHER);
	else
		setfsgid(OTHER);
}

static void become(enum caller caller)
{
	const unsigned int caps[CALLERS] = {
		[CAPABLE] = 1u << CAP, [HALF_CAPABLE] = 1u << CAP,
		[TRACER] = 1u << CAP_SYS_PTRACE,
	};

	set_ids(SAME, SAME);
	if (caller == OTHER_FSUID || caller == OTHER_FSGID)
		set_fs_ids(caller);
	set_caps(caps[caller], caller == HALF_CAPABLE ? 0 : caps[caller], 0);
	if (caller == ELSEWHERE && unshare(CLONE_NEWUSER))
		die("unshare");
}

static int pages_of(const char *path)
{
	int fd = open(path, O_RDONLY), err = 0;
	char c;

	if (fd < 0)
		return errno;
	if (read(fd, &c, 1) < 0)
		err = errno;
	close(fd);
	return err;
}

static int memory_of(pid_t pid)
{
	static char here;
	char c;
	struct iovec local = { &c, 1 }, remote = { &here, 1 };

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1)
		return 0;
	/* Allowed, but another program has nothing there. */
	return errno == EFAULT ? 0 : errno;
}

struct answers {
	int maps, memory, attach;
	uint32_t reason;
};

/* Asks about each process that it is told, until there is no more. */
static void ask(enum caller caller, int questions, int answers)
{
	int fd = dev_open();
	struct hwpmc_op_pmcallocate request;
	struct answers a;
	char path[32];
	pid_t pid;

	become(caller);
	dev_request(&request, TC, 0, ANY, INSN, U);
	if (dev_allocate(fd, &request))
		die("allocate");
	while (read(questions, &pid, sizeof(pid)) == sizeof(pid)) {
		snprintf(path, sizeof(path), "/proc/%d/maps", pid);
		a.maps = pages_of(path);
		a.memory = memory_of(pid);
		a.attach = dev_attach(fd, request.pmcid, pid);
		a.reason = dev_hdr.reason;
		if (!a.attach && dev_detach(fd, request.pmcid, pid))
			die("detach");
		if (write(answers, &a, sizeof(a)) != sizeof(a))
			die("answer");
	}
	_exit(0);
}

struct asker {
	pid_t pid;
	int questions, answers;
};

static struct asker begin_asker(enum caller caller)
{
	int questions[2], answers[2];
	struct asker asker;

	ck_assert(!pipe2(questions, O_CLOEXEC) && !pipe2(answers, O_CLOEXEC));
	asker.pid = fork();
	if (!asker.pid) {
		close(questions[1]);
		ask(caller, questions[0], answers[1]);
	}
	close(questions[0]);
	close(answers[1]);
	asker.questions = questions[1];
	asker.answers = answers[0];
	return asker;
}

/* ---- the comparison ------------------------------------------------------ */

static unsigned int asked, allowed, stricter;

/* The one point in which the module is stricter, as it cannot ask security modules:
 * CAP_SYS_PTRACE does not make up for ids of another user. */
static bool is_strict(enum caller caller, const struct target *t)
{
	/* exec sets the saved ids to the effective ones. */
	bool kept = t->caps != OF_FILE;

	/* The user who created the target's user namespace has that capability in it. */
	if (caller == OTHER_FSUID || caller == OTHER_FSGID)
		return true;
	return (t->uid && (t->uid != SAVED || kept)) ||
	       (t->gid && (t->gid != SAVED || kept));
}

static void compare(enum caller caller, const struct target *t, struct asker *asker,
		    pid_t pid)
{
	struct answers a;
	bool expected;

	ck_assert_int_eq(write(asker->questions, &pid, sizeof(pid)), sizeof(pid));
	ck_assert_int_eq(read(asker->answers, &a, sizeof(a)), sizeof(a));
	expected = !a.maps && !a.memory;
	asked++;
	if (expected && is_strict(caller, t)) {
		stricter++;
		expected = false;
	}
	allowed += expected;
	ck_assert_msg(a.attach == (expected ? 0 : EPERM) &&
		      (expected || a.reason == HWPMC_WHY_PRIV_ATTACH),
		      "caller %s; target: uid %s, gid %s, %sdumpable, capabilities %s, %s namespace, %straced: maps %s, memory %s, attach %s (%u)",
		      caller_names[caller], ids_names[t->uid], ids_names[t->gid],
		      t->undumpable ? "un" : "", caps_names[t->caps],
		      t->own_namespace ? "own" : "same", t->traced ? "" : "un",
		      strerror(a.maps), strerror(a.memory), strerror(a.attach), a.reason);
}

static void compare_all(struct asker *askers, const struct target *t)
{
	pid_t pid = begin_target(t);

	for (int caller = 0; caller < CALLERS; caller++)
		compare(caller, t, &askers[caller], pid);
	end(pid);
}

/* A copy of this program, with a capability by its file. */
static void make_file(void)
{
	struct vfs_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = 1u << CAP } },
	};

	ck_assert_int_eq(system("cp build/vm/tests/kmod_access " FILE_WITH_CAPS), 0);
	ck_assert(!chmod(FILE_WITH_CAPS, 0755));
	ck_assert(!setxattr(FILE_WITH_CAPS, "security.capability", &data,
			    XATTR_CAPS_SZ_2, 0));
}

START_TEST(attach_is_allowed_where_the_kernel_lets_read_the_memory)
{
	struct asker askers[CALLERS];
	struct target t;

	make_file();
	for (int caller = 0; caller < CALLERS; caller++)
		askers[caller] = begin_asker(caller);
	for (int i = 0; i < IDS * IDS * CAPS * 8; i++) {
		t = (struct target){
			.uid = i / 8 % IDS, .gid = i / 8 / IDS % IDS,
			.caps = i / 8 / (IDS * IDS),
			.undumpable = i & 1, .own_namespace = i & 2, .traced = i & 4,
		};
		/* Ids in combination only if the uid is the caller's: no other rule. */
		if (t.uid && t.gid)
			continue;
		compare_all(askers, &t);
	}
	for (int caller = 0; caller < CALLERS; caller++)
		end(askers[caller].pid);
	unlink(FILE_WITH_CAPS);
	fprintf(stderr, "%u questions, %u allowed, %u stricter than the kernel\n", asked,
		allowed, stricter);
	/* Both answers occur, and the exception. */
	ck_assert_uint_gt(allowed, 50);
	ck_assert_uint_gt(asked - allowed, 50);
	ck_assert_uint_gt(stricter, 0);
	dev_still_counts();
}
END_TEST

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "stay")) {
		struct target t = {
			.undumpable = atoi(argv[2]), .own_namespace = atoi(argv[3]),
		};

		stay(&t, atoi(argv[4]));
	}
	dev_setup();
	harness_add_timed(attach_is_allowed_where_the_kernel_lets_read_the_memory, 100);
	return harness_run();
}
