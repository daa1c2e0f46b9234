/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_maps.c - records about what is mapped where: at exec and afterwards, and the
 * snapshot of what was there before a PMC that samples is started; all of it
 * compared with what the kernel says in /proc.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "harness.h"
#include "../lib/kmod_rec.h"

/* ---- mappings ------------------------------------------------------------ */

/* A line of /proc/PID/maps of executable memory. */
struct line {
	uint64_t start, end, offset, inode;
	unsigned int major, minor;
	char path[256];
};

static bool next_line(FILE *f, struct line *l)
{
	char text[512], perms[8];

	while (fgets(text, sizeof(text), f)) {
		l->path[0] = 0;
		ck_assert_int_ge(sscanf(text, "%lx-%lx %7s %lx %x:%x %lu %255[^\n]",
				&l->start, &l->end, perms, &l->offset, &l->major,
				&l->minor, &l->inode, l->path), 7);
		/* This page is no memory of the process. */
		if (perms[2] == 'x' && strcmp(l->path, "[vsyscall]"))
			return true;
	}
	return false;
}

/* The last MAP_IN of these addresses behind record `from`. */
static const struct hwpmc_log_map *find_map(pid_t pid, const struct line *l,
					    unsigned int from)
{
	const struct hwpmc_log_map *m = NULL;

	for (unsigned int i = from; i < nrec; i++)
		if (rec[i].hdr->type == HWPMC_LOG_MAP_IN && rec[i].map->pid == pid &&
		    rec[i].map->start == l->start)
			m = rec[i].map;
	ck_assert_msg(m, "no MAP_IN of %s at %lx", l->path, l->start);
	return m;
}

static int64_t ns_of(struct timespec t)
{
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* As stat() has the file that lies there, if it is the one that is mapped. */
static void check_file(const struct hwpmc_log_map *m)
{
	struct hwpmc_log_file at;
	struct stat st;

	ck_assert(m->hdr.flags & HWPMC_MAP_HAS_FILE);
	ck_assert(!(m->hdr.flags & HWPMC_MAP_UNREAD) || !m->build_id_len);
	ck_assert_uint_eq(m->hdr.len, ((sizeof(*m) + strlen(m->path) + 8) & ~7ul) + sizeof(at));
	memcpy(&at, (const char *)m + m->hdr.len - sizeof(at), sizeof(at));
	ck_assert_int_eq(stat(m->path, &st), 0);
	ck_assert_uint_eq(m->inode, st.st_ino);
	ck_assert_uint_eq(at.size, st.st_size);
	ck_assert_int_eq(at.mtime, ns_of(st.st_mtim));
	ck_assert_int_eq(at.ctime, ns_of(st.st_ctim));
}

static void check_map(const struct hwpmc_log_map *m, const struct line *l)
{
	ck_assert_uint_eq(m->end, l->end);
	ck_assert_uint_eq(m->offset, l->offset);
	ck_assert_uint_eq(m->inode, l->inode);
	ck_assert_uint_eq(m->major, l->major);
	ck_assert_uint_eq(m->minor, l->minor);
	ck_assert_str_eq(m->path, l->path[0] ? l->path : "//anon");
	ck_assert_int_eq(!!(m->hdr.flags & HWPMC_MAP_ANON), !l->inode);
	if (l->inode) {
		if (l->path[0] == '/' && !strstr(l->path, " (deleted)"))
			check_file(m);
		return;
	}
	ck_assert(!(m->hdr.flags & (HWPMC_MAP_HAS_FILE | HWPMC_MAP_UNREAD)));
	ck_assert_uint_eq(m->build_id_len, 0);
	ck_assert(!(m->hdr.flags & HWPMC_MAP_HAS_BUILD_ID));
}

/* All executable memory of a process by the kernel's own list; how many. */
static unsigned int check_maps(FILE *f, pid_t pid, unsigned int from, uint8_t flag)
{
	unsigned int n = 0;
	struct line l;

	while (next_line(f, &l)) {
		const struct hwpmc_log_map *m = find_map(pid, &l, from);

		check_map(m, &l);
		ck_assert_uint_eq(m->hdr.flags & HWPMC_LOG_SNAPSHOT, flag);
		n++;
	}
	return n;
}

/* By readelf, of another make than ours. */
static void check_build_id(const struct hwpmc_log_map *m)
{
	char cmd[512], want[64] = "", got[64] = "";
	FILE *f;

	snprintf(cmd, sizeof(cmd), "readelf -n '%s' | sed -n 's/^ *Build ID: //p'",
		 m->path);
	f = popen(cmd, "r");
	ck_assert_ptr_nonnull(fgets(want, sizeof(want), f));
	pclose(f);
	want[strcspn(want, "\n")] = 0;
	for (uint32_t i = 0; i < m->build_id_len; i++)
		sprintf(got + 2 * i, "%02x", m->build_id[i]);
	ck_assert(m->hdr.flags & HWPMC_MAP_HAS_BUILD_ID);
	ck_assert(!(m->hdr.flags & HWPMC_MAP_UNREAD));
	ck_assert_str_eq(got, want);
}

static void show_maps(void *arg)
{
	dup2(*(int *)arg, STDOUT_FILENO);
	execl("/bin/cat", "concatenate", "/proc/self/maps", (char *)NULL);
	_exit(127);
}

START_TEST(exec_names_the_program_and_all_that_it_maps_follows)
{
	int maps = memfd_create("maps", 0);
	const struct hwpmc_record *r;
	unsigned int n = 0, all = 0;
	struct child c;
	FILE *f;

	begin();
	c = dev_child(show_maps, &maps);
	watch(c.pid, 0);
	dev_go(&c);
	dev_wait(&c);
	look();
	ck_assert_uint_eq(count(HWPMC_LOG_PROCEXEC), 1);
	r = find(HWPMC_LOG_PROCEXEC, 0);
	ck_assert_int_eq(r->exec->pid, c.pid);
	ck_assert_int_eq(r->exec->tid, c.pid);
	ck_assert_str_eq(r->exec->comm, "cat");
	ck_assert_str_eq(r->exec->path, "/bin/cat");
	lseek(maps, 0, SEEK_SET);
	f = fdopen(maps, "r");
	/* cat, ld.so, libc and the vdso. */
	n = check_maps(f, c.pid, r->serial, 0);
	ck_assert_uint_ge(n, 4);
	for (unsigned int i = r->serial; i < nrec; i++)
		if (rec[i].hdr->type == HWPMC_LOG_MAP_IN) {
			ck_assert_int_eq(rec[i].map->pid, c.pid);
			if (rec[i].map->inode)
				check_build_id(rec[i].map);
			all++;
		}
	/* Nothing that it has not. */
	ck_assert_uint_eq(all, n);
}
END_TEST

static void *exec_loop(void *arg)
{
	execl("build/vm/progs/loop", "loop", "1", (char *)NULL);
	return NULL;
}

static void exec_in_thread(void *arg)
{
	pthread_t t;

	pthread_create(&t, NULL, exec_loop, NULL);
	pause();
}

START_TEST(exec_by_a_thread_is_the_exec_of_its_process)
{
	const struct hwpmc_log_exec *r;
	char path[PATH_MAX];
	struct child c;

	begin();
	c = dev_child(exec_in_thread, NULL);
	watch(c.pid, 0);
	dev_go(&c);
	dev_wait(&c);
	look();
	ck_assert_uint_eq(count(HWPMC_LOG_PROCEXEC), 1);
	r = find(HWPMC_LOG_PROCEXEC, 0)->exec;
	ck_assert_int_eq(r->pid, c.pid);
	/* It has the process's number by then. */
	ck_assert_int_eq(r->tid, c.pid);
	ck_assert_str_eq(r->comm, "loop");
	/* A relative path is made absolute. */
	ck_assert_ptr_nonnull(realpath("build/vm/progs/loop", path));
	ck_assert_str_eq(r->path, path);
	check_gone(0, HWPMC_LOG_SYSEXIT, c.pid, c.pid);
}
END_TEST

#define PLAIN	"/tmp/mapped.bin"

struct made {
	void *file, *anon, *later;
};

static void map_some(void *arg)
{
	struct made *made = arg;
	int fd = open(PLAIN, O_RDONLY);

	mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	made->file = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	made->anon = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Between two that are not executable: no neighbour to be merged with. */
	made->later = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	made->later = (char *)made->later + 4096;
	mprotect(made->later, 4096, PROT_READ | PROT_EXEC);
	munmap(made->file, 8192);
}

START_TEST(what_becomes_executable_has_a_map_record_and_nothing_else_has)
{
	struct made *made = shared(4096);
	struct stat st;
	struct child c;
	int fd = open(PLAIN, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_eq(ftruncate(fd, 16384), 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	begin();
	c = dev_child(map_some, made);
	watch(c.pid, 0);
	look();
	ck_assert_uint_gt(nrec, 3);
	unsigned int from = nrec;

	dev_go(&c);
	dev_wait(&c);
	look();
	unsigned int maps = 0;
	for (unsigned int i = from; i < nrec; i++)
		maps += rec[i].hdr->type == HWPMC_LOG_MAP_IN;
	ck_assert_uint_eq(maps, 3);
	ck_assert_uint_eq(count(HWPMC_LOG_MAP_OUT), 0);

	struct line l = { (uintptr_t)made->file, (uintptr_t)made->file + 8192, 4096,
		st.st_ino, major(st.st_dev), minor(st.st_dev), PLAIN };
	check_map(find_map(c.pid, &l, from), &l);
	/* No ELF file, no build-id. */
	ck_assert_uint_eq(find_map(c.pid, &l, from)->build_id_len, 0);
	/* It is a hole, of which nothing was ever in memory. */
	ck_assert_uint_eq(find_map(c.pid, &l, from)->hdr.flags,
			  HWPMC_MAP_HAS_FILE | HWPMC_MAP_UNREAD);
	l = (struct line){
		.start = (uintptr_t)made->anon, .end = (uintptr_t)made->anon + 4096,
	};
	check_map(find_map(c.pid, &l, from), &l);
	l.start = (uintptr_t)made->later;
	l.end = l.start + 4096;
	check_map(find_map(c.pid, &l, from), &l);
}
END_TEST

#define RENAMES	4000
#define MOUNT	"/tmp/mapped.d"
#define MOUNTED	MOUNT "/file"

static void rename_on(void *arg)
{
	volatile int *stop = arg;
	const char *name[2] = { "/tmp/renamed.a", "/tmp/renamed.b" };

	close(open(name[0], O_WRONLY | O_CREAT, 0600));
	dev_pin(0, 1);
	for (int i = 0; !*stop; i++)
		rename(name[i % 2], name[(i + 1) % 2]);
}

/* Takes the CPU from who renames, wherever it is. */
static void interfere(void *arg)
{
	struct sched_param fifo = { .sched_priority = 1 };
	volatile int *stop = arg;

	dev_pin(0, 1);
	ck_assert_int_eq(sched_setscheduler(0, SCHED_FIFO, &fifo), 0);
	while (!*stop) {
		dev_spin(20000);
		usleep(50);
	}
}

static void map_on(void *arg)
{
	int fd = open(MOUNTED, O_RDONLY);

	for (int i = 0; i < RENAMES; i++)
		munmap(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0), 4096);
}

/*
 * Who looks up a path while something is renamed tries again, or waits for it: where a
 * spin lock sleeps, that is not allowed to a probe.
 */
START_TEST(each_mapping_has_its_path_while_files_are_renamed)
{
	volatile int *stop = shared(4096);
	struct child other[] = {
		dev_child(rename_on, (void *)stop), dev_child(interfere, (void *)stop),
	}, c;
	unsigned int maps = 0;
	int fd;

	mkdir(MOUNT, 0700);
	ck_assert_int_eq(mount("none", MOUNT, "tmpfs", 0, NULL), 0);
	fd = open(MOUNTED, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	close(fd);
	begin();
	c = dev_child(map_on, NULL);
	watch(c.pid, 0);
	for (int i = 0; i < 2; i++)
		dev_go(&other[i]);
	dev_go(&c);
	dev_wait(&c);
	*stop = 1;
	for (int i = 0; i < 2; i++)
		dev_wait(&other[i]);
	look();
	for (unsigned int i = 0; i < nrec; i++)
		maps += rec[i].hdr->type == HWPMC_LOG_MAP_IN &&
			!strcmp(rec[i].map->path, MOUNTED);
	ck_assert_uint_eq(maps, RENAMES);
	/* Who was told of it holds the file no longer. */
	ck_assert_msg(!umount(MOUNT), "umount: %s", strerror(errno));
}
END_TEST

/* ---- what was there before ----------------------------------------------- */

static pthread_barrier_t barrier;

static void *named_thread(void *arg)
{
	prctl(PR_SET_NAME, arg);
	pthread_barrier_wait(&barrier);
	pause();
	return NULL;
}

static void wait_in_threads(void *arg)
{
	static const char *const names[] = { "tweedledum", "tweedledee" };
	pthread_t t;

	prctl(PR_SET_NAME, "alice");
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&t, NULL, named_thread, (void *)names[i]);
	pthread_barrier_wait(&barrier);
	*(int *)arg = 1;
	pause();
}

/* A process with two more threads, asleep. */
static pid_t sleeper(void)
{
	volatile int *ready = shared(4096);
	struct child c = dev_child(wait_in_threads, (void *)ready);

	dev_go(&c);
	while (!*ready)
		dev_msleep(5);
	return c.pid;
}

static const struct hwpmc_log_task *find_task(uint8_t type, pid_t pid,
					      const char *comm)
{
	const struct hwpmc_log_task *found = NULL;

	for (unsigned int i = 0; i < nrec; i++) {
		const struct hwpmc_log_task *r = rec[i].task;

		if (r->hdr.type != type || r->pid != pid ||
		    (comm && strcmp(r->comm, comm)))
			continue;
		ck_assert_uint_eq(r->hdr.flags, HWPMC_LOG_SNAPSHOT);
		ck_assert_msg(!found, "two records of %d %s", pid, r->comm);
		found = r;
	}
	ck_assert_msg(found, "no record of %d %s", pid, comm);
	return found;
}

static void check_sleeper(pid_t pid)
{
	char path[64];
	FILE *f;

	ck_assert_int_eq(find_task(HWPMC_LOG_PROC_CREATE, pid, "alice")->tid, pid);
	ck_assert_int_ne(find_task(HWPMC_LOG_THR_CREATE, pid, "tweedledum")->tid, pid);
	ck_assert_int_ne(find_task(HWPMC_LOG_THR_CREATE, pid, "tweedledee")->tid, pid);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	ck_assert_uint_ge(check_maps(f, pid, 0, HWPMC_LOG_SNAPSHOT), 3);
	fclose(f);
}

/* Each directory of /proc that is a process. */
static unsigned int check_processes(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	unsigned int n = 0;

	while ((e = readdir(dir))) {
		pid_t pid = atoi(e->d_name);

		if (pid > 0)
			n += find_task(HWPMC_LOG_PROC_CREATE, pid, NULL)->tid == pid;
	}
	closedir(dir);
	return n;
}

static void check_modules(void)
{
	FILE *f = fopen("/proc/modules", "r");
	char text[512], name[64], path[80];
	unsigned int n = 0, found = 0;
	uint64_t at;

	while (fgets(text, sizeof(text), f)) {
		ck_assert_int_eq(sscanf(text, "%63s %*s %*s %*s %*s %lx", name, &at), 2);
		snprintf(path, sizeof(path), "[%s]", name);
		for (unsigned int i = 0; i < nrec; i++) {
			const struct hwpmc_log_map *m = rec[i].map;

			if (m->hdr.type != HWPMC_LOG_MAP_IN || strcmp(m->path, path))
				continue;
			ck_assert_int_eq(m->pid, -1);
			ck_assert_uint_eq(m->hdr.flags, HWPMC_LOG_SNAPSHOT);
			ck_assert_uint_eq(m->start, at);
			ck_assert_uint_gt(m->end, m->start);
			found++;
		}
		n++;
	}
	fclose(f);
	ck_assert_uint_ge(n, 3);
	ck_assert_uint_eq(found, n);
}

START_TEST(system_scope_begins_with_all_processes_threads_mappings_and_modules)
{
	pid_t pid = sleeper();
	unsigned int n;
	uint32_t id;

	begin();
	id = allocate("instructions:u", HWPMC_MODE_SS, 0, 0, RARELY);
	ok(hwpmc_start(h, id));
	look();
	check_sleeper(pid);
	ck_assert_uint_ge(check_processes(), 20);
	check_modules();
	/* The kernel's own are marked. */
	ck_assert_uint_eq(find_task(HWPMC_LOG_PROC_CREATE, 2, "kthreadd")->flags,
			  HWPMC_TASK_KERNEL);
	ck_assert_uint_eq(find_task(HWPMC_LOG_PROC_CREATE, getpid(), NULL)->flags, 0);
	/* Once a log, however many PMCs there are. */
	n = count(HWPMC_LOG_PROC_CREATE);
	ok(hwpmc_start(h, allocate("branches:u", HWPMC_MODE_SS, 0, 1, RARELY)));
	look();
	ck_assert_uint_eq(count(HWPMC_LOG_PROC_CREATE), n);
	kill(pid, SIGKILL);
}
END_TEST

START_TEST(process_scope_begins_with_the_process_alone)
{
	pid_t pid = sleeper();

	begin();
	watch(pid, 0);
	look();
	check_sleeper(pid);
	check_modules();
	ck_assert_uint_eq(count(HWPMC_LOG_PROC_CREATE), 1);
	ck_assert_uint_eq(count(HWPMC_LOG_THR_CREATE), 2);
	kill(pid, SIGKILL);
}
END_TEST

int main(void)
{
	dev_setup();
	/* A kernel that has all built in has no modules but these. */
	if (system("for m in hotmod nmimod; do [ -e /sys/module/$m ] || "
		   "insmod build/vm/kmods/$(uname -r)/$m.ko || exit 1; done")) {
		printf("Bail out! cannot load the tests' modules\n");
		return 1;
	}
	harness_fixture(kmod_setup, NULL);
	harness_add(exec_names_the_program_and_all_that_it_maps_follows);
	harness_add(exec_by_a_thread_is_the_exec_of_its_process);
	harness_add_timed(each_mapping_has_its_path_while_files_are_renamed, 60);
	harness_add(what_becomes_executable_has_a_map_record_and_nothing_else_has);
	harness_add(system_scope_begins_with_all_processes_threads_mappings_and_modules);
	harness_add(process_scope_begins_with_the_process_alone);
	return harness_run();
}
