// SPDX-License-Identifier: BSD-2-Clause
/* kmod_rec.c - see kmod_rec.h. Linked into tests/vm/tests/kmod_records and kmod_maps. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "kmod_rec.h"

struct hwpmc *h;
struct hwpmc_record rec[MANY];
unsigned int nrec;

static int file;

void ok(int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(h));
}

void kmod_setup(void)
{
	dev_pin(getpid(), 0);
	/* The emulator's NMIs take long. */
	ck_assert_int_eq(system("echo 0 >/proc/sys/kern/hwpmc/selfcost"), 0);
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

void look(void)
{
	struct hwpmc_parser *p = hwpmc_parser_new();
	enum hwpmc_parse what;
	struct hwpmc_record r;
	off_t size;
	void *at;

	ok(hwpmc_flush_log(h));
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
