// SPDX-License-Identifier: BSD-2-Clause
/* kmod_rec.c - see kmod_rec.h. Linked into tests/vm/tests/kmod_records and kmod_maps. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>

#include "kmod_rec.h"

struct hwpmc *h;
struct hwpmc_record rec[MANY];
unsigned int nrec;

static int file;
static int pipe_ends[2];

void ok(int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(h));
}

void kmod_setup(void)
{
	dev_pin(getpid(), 0);
	/* That of the test before; 0: none. */
	if (file > 0)
		close(file);
	file = memfd_create("log", MFD_CLOEXEC);
	ck_assert_int_ge(file, 0);
	ok(hwpmc_open(&h));
}

void begin(void)
{
	ok(hwpmc_configure_log(h, file));
}

static void copy_record(const struct hwpmc_record *r)
{
	struct hwpmc_log_hdr *copy = malloc(r->hdr->len);

	ck_assert_uint_lt(nrec, MANY);
	memcpy(copy, r->hdr, r->hdr->len);
	rec[nrec] = *r;
	rec[nrec++].hdr = copy;
}

static void look_at_file(void)
{
	struct hwpmc_parser *p = hwpmc_parser_new();
	enum hwpmc_parse what;
	struct hwpmc_record r;
	off_t size;
	void *at;

	size = lseek(file, 0, SEEK_END);
	ck_assert_int_gt(size, 0);
	at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
	hwpmc_parser_feed(p, at, size);
	hwpmc_parser_end(p);
	nrec = 0;
	while ((what = hwpmc_parser_next(p, &r)) == HWPMC_PARSE_RECORD)
		copy_record(&r);
	ck_assert_msg(what == HWPMC_PARSE_END, "%s", hwpmc_parser_error(p));
	munmap(at, size);
	hwpmc_parser_free(p);
}

void look(void)
{
	ok(hwpmc_flush_log(h));
	look_at_file();
}

int begin_pipe(void)
{
	ck_assert_int_eq(pipe2(pipe_ends, O_CLOEXEC), 0);
	ck_assert_int_ge(fcntl(pipe_ends[1], F_SETPIPE_SZ, 8192), 8192);
	ok(hwpmc_configure_log(h, pipe_ends[1]));
	return pipe_ends[0];
}

/* Until all is written and read: the log keeps its end of the pipe. */
static void *copy_pipe(void *all_written)
{
	struct pollfd at = { .fd = pipe_ends[0], .events = POLLIN };
	char bytes[4096];
	ssize_t n;

	for (;;) {
		bool last = __atomic_load_n((bool *)all_written, __ATOMIC_ACQUIRE);

		if (poll(&at, 1, 10) <= 0 && last)
			return NULL;
		if (!(at.revents & POLLIN))
			continue;
		n = read(at.fd, bytes, sizeof(bytes));
		if (n <= 0 || write(file, bytes, n) != n)
			return NULL;
	}
}

void end_pipe(void)
{
	bool all_written = false;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, copy_pipe, &all_written), 0);
	ok(hwpmc_flush_log(h));
	ok(hwpmc_close_log(h));
	__atomic_store_n(&all_written, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	look_at_file();
}

const struct hwpmc_record *find(uint8_t type, unsigned int nth)
{
	for (unsigned int i = 0; i < nrec; i++)
		if (rec[i].hdr->type == type && !nth--)
			return &rec[i];
	ck_abort_msg("no such %s record", hwpmc_name_of_record(type));
	return NULL;
}

unsigned int count(uint8_t type)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < nrec; i++)
		n += rec[i].hdr->type == type;
	return n;
}

uint32_t allocate(const char *event, int mode, uint32_t flags, uint32_t cpu,
		  uint64_t n)
{
	uint32_t id;

	ok(hwpmc_allocate(h, event, mode, flags, cpu, n, &id));
	return id;
}

uint32_t watch(pid_t pid, uint32_t flags)
{
	uint32_t id = allocate("instructions:u", HWPMC_MODE_TS, flags,
			       HWPMC_CPU_ANY, RARELY);

	ok(hwpmc_attach(h, id, pid));
	ok(hwpmc_start(h, id));
	return id;
}

void *shared(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

void check_gone(unsigned int nth, uint8_t type, pid_t pid, pid_t tid)
{
	const struct hwpmc_log_task *r = find(type, nth)->task;

	ck_assert_uint_eq(r->hdr.len, sizeof(*r));
	ck_assert_int_eq(r->pid, pid);
	ck_assert_int_eq(r->tid, tid);
	ck_assert_uint_eq(r->flags, 0);
	ck_assert_str_eq(r->comm, "");
}
