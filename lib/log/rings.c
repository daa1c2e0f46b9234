/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rings.c - the mapped rings of a handle: maps those of all CPUs and returns the bytes, or
 * the records, in them. One thread at a time.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../pmc/internal.h"
#include "drops.h"
#include "libhwpmclog.h"

struct ring {
	struct hwpmc_log_ring *ctl;
	const uint8_t *data;
	size_t mapped;
};

/* A ring whose records are returned one by one. */
struct piece {
	struct hwpmc_parser *parser;	/* NULL until the first call */
	unsigned int cpu;		/* CPU of the last ring */
	uint64_t head;			/* end of the piece */
	bool open;			/* the ring is released when the parser needs more */
	bool marked;			/* the parser has the CPU record only */
	struct hwpmc_log_hdr mark;
};

struct hwpmc_rings {
	struct hwpmc *h;
	uint32_t log;			/* h->logs when the log had begun; constant */
	bool *here;			/* a page that is empty in a forked child */
	struct piece piece;
	bool reading;			/* in hwpmc_rings_read() */
	bool flushed;			/* after the log was closed */
	unsigned int n;
	struct ring ring[];		/* by CPU; ctl NULL: no such CPU */
};

static int map_one(struct hwpmc_rings *rings, unsigned int cpu, uint32_t size)
{
	long page = sysconf(_SC_PAGESIZE);
	struct ring *ring = &rings->ring[cpu];
	void *at;

	ring->mapped = HWPMC_LOG_MAP_SIZE((size_t)size, page);
	at = mmap(NULL, ring->mapped, PROT_READ | PROT_WRITE, MAP_SHARED,
		  hwpmc_fd(rings->h), HWPMC_LOG_MAP_OFFSET(cpu));
	if (at == MAP_FAILED) {
		/* A hole in the numbers of CPUs. */
		if (errno == EINVAL && cpu)
			return 0;
		return -1;
	}
	ring->ctl = at;
	ring->data = (const uint8_t *)at + page;
	return 0;
}

/* Children of fork() have no copy of the mappings: other memory may be at their addresses. */
static bool are_inherited(const struct hwpmc_rings *rings)
{
	return handle_is_inherited(rings->h);
}

/* The memory is a copy, in a child of fork(). Makes no system call; are_inherited() also finds
 * a child that shares the memory. */
static bool are_in_a_copy(const struct hwpmc_rings *rings)
{
	return !*rings->here;
}

static int make_page(struct hwpmc_rings *rings)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return -1;
	if (madvise(at, page, MADV_WIPEONFORK)) {
		munmap(at, page);
		return -1;
	}
	rings->here = at;
	*rings->here = true;
	return 0;
}

static int refuse_inherited(const struct hwpmc_rings *rings)
{
	const struct hwpmc_hdr hdr = {
		.reason = HWPMC_WHY_NOT_OWNER, .detail = rings->h->pid,
	};

	errno = ESRCH;
	return error_from_call(rings->h, &hdr, "read the rings of the log");
}

EXPORT void hwpmc_rings_close(struct hwpmc_rings *rings)
{
	bool mapped;

	if (!rings)
		return;
	mapped = !are_inherited(rings);
	for (unsigned int i = 0; i < rings->n; i++)
		if (rings->ring[i].ctl && mapped)
			munmap(rings->ring[i].ctl, rings->ring[i].mapped);
	hwpmc_parser_free(rings->piece.parser);
	munmap(rings->here, sysconf(_SC_PAGESIZE));
	free(rings);
}

EXPORT int hwpmc_rings_open(struct hwpmc *h, uint32_t ring_size,
			    uint32_t wakeup, struct hwpmc_rings **out)
{
	struct hwpmc_op_configurelog op = {
		.logfd = -1, .flags = HWPMC_LOG_F_MAPPED,
		.ring_size = ring_size, .wakeup = wakeup,
	};
	struct hwpmc_rings *rings;
	unsigned int n;

	if (null_given(h, !h || !out, "hwpmc_rings_open"))
		return -1;
	*out = NULL;
	n = hwpmc_cpuinfo(h)->ncpu;
	rings = calloc(1, sizeof(*rings) + n * sizeof(rings->ring[0]));
	if (!rings)
		return error_own(h, ENOMEM, "out of memory for the rings");
	rings->h = h;
	if (make_page(rings)) {
		free(rings);
		return error_own(h, ENOMEM, "no memory for a page of the rings");
	}
	if (handle_call(h, HWPMC_IOC_CONFIGURELOG, &op.hdr) < 0) {
		hwpmc_rings_close(rings);
		return error_from_call(h, &op.hdr, "begin a log");
	}
	rings->log = ++h->logs;
	rings->n = n;
	for (unsigned int cpu = 0; cpu < n; cpu++) {
		if (!map_one(rings, cpu, op.ring_size))
			continue;
		n = errno;
		hwpmc_rings_close(rings);
		hwpmc_configure_log(h, -1);
		return error_own(h, n, "cannot map the rings of the log");
	}
	*out = rings;
	return 0;
}

static int read_one(struct ring *ring, unsigned int cpu, hwpmc_rings_fn *fn,
		    void *arg, uint64_t *bytes)
{
	uint64_t tail = ring->ctl->tail, head, size = ring->ctl->size;
	int rc;

	/* What the module wrote before it moved head. */
	head = __atomic_load_n(&ring->ctl->head, __ATOMIC_ACQUIRE);
	if (head == tail)
		return 0;
	rc = fn(cpu, ring->data + (tail & (size - 1)), head - tail, arg);
	if (rc)
		return rc;
	__atomic_store_n(&ring->ctl->tail, head, __ATOMIC_RELEASE);
	*bytes += head - tail;
	return 0;
}

EXPORT int hwpmc_rings_read(struct hwpmc_rings *rings, hwpmc_rings_fn *fn,
			    void *arg, uint64_t *bytes)
{
	uint64_t sum = 0;
	int rc = 0;

	if (null_given(rings ? rings->h : NULL, !rings || !fn, "hwpmc_rings_read"))
		return -1;
	if (bytes)
		*bytes = 0;
	if (are_inherited(rings))
		return refuse_inherited(rings);
	if (rings->piece.open)
		return error_own(rings->h, EBUSY, "cannot read the rings of the log: hwpmc_rings_next() "
				 "has not returned all records of a ring; call it until it returns 0");
	rings->reading = true;
	for (unsigned int i = 0; !rc && i < rings->n; i++)
		if (rings->ring[i].ctl)
			rc = read_one(&rings->ring[i], i, fn, arg, &sum);
	rings->reading = false;
	if (bytes)
		*bytes = sum;
	return rc;
}

EXPORT int hwpmc_rings_wait(struct hwpmc_rings *rings, int timeout_ms)
{
	struct pollfd pfd = { .events = POLLIN };
	int n;

	if (null_given(NULL, !rings, "hwpmc_rings_wait"))
		return -1;
	pfd.fd = hwpmc_fd(rings->h);
	if (are_inherited(rings))
		return refuse_inherited(rings);
	n = poll(&pfd, 1, timeout_ms);
	return n < 0 ? -1 : n > 0;
}

EXPORT void hwpmc_rings_mark(unsigned int cpu, struct hwpmc_log_hdr *mark)
{
	if (!mark)
		return;
	*mark = (struct hwpmc_log_hdr){
		.len = sizeof(*mark), .type = HWPMC_LOG_CPU, .id = cpu,
	};
}

/* ---- record by record ----------------------------------------------------- */

static void end_piece(struct hwpmc_rings *rings)
{
	struct piece *p = &rings->piece;

	if (p->open)
		__atomic_store_n(&rings->ring[p->cpu].ctl->tail, p->head, __ATOMIC_RELEASE);
	p->open = false;
}

static int feed_piece(struct hwpmc_rings *rings)
{
	const struct ring *ring = &rings->ring[rings->piece.cpu];
	uint64_t tail = ring->ctl->tail;

	return hwpmc_parser_feed(rings->piece.parser,
				 ring->data + (tail & (ring->ctl->size - 1)),
				 rings->piece.head - tail);
}

/* The ring whose turn it is. False: all are empty. */
static bool find_piece(struct hwpmc_rings *rings)
{
	struct piece *p = &rings->piece;

	for (unsigned int i = 1; i <= rings->n; i++) {
		unsigned int cpu = (p->cpu + i) % rings->n;
		const struct ring *ring = &rings->ring[cpu];

		if (!ring->ctl)
			continue;
		p->head = __atomic_load_n(&ring->ctl->head, __ATOMIC_ACQUIRE);
		if (p->head == ring->ctl->tail)
			continue;
		p->cpu = cpu;
		p->open = true;
		return true;
	}
	return false;
}

/* INITIALIZE, of CPU 0, is the first record of the stream. */
static bool begins_the_log(const struct ring *ring)
{
	const struct hwpmc_log_hdr *first =
		(const void *)(ring->data + (ring->ctl->tail & (ring->ctl->size - 1)));

	return first->type == HWPMC_LOG_INITIALIZE;
}

static int feed_next(struct hwpmc_rings *rings)
{
	struct piece *p = &rings->piece;

	if (p->marked) {
		p->marked = false;
		return feed_piece(rings);
	}
	end_piece(rings);
	if (!find_piece(rings))
		return 1;
	if (begins_the_log(&rings->ring[p->cpu]))
		return feed_piece(rings);
	hwpmc_rings_mark(p->cpu, &p->mark);
	p->marked = true;
	return hwpmc_parser_feed(p->parser, &p->mark, sizeof(p->mark));
}

/* 1, 0: the rings are empty, or -1. */
static int next_record(struct hwpmc_rings *rings, struct hwpmc_record *record)
{
	for (;;) {
		int rc;

		switch (hwpmc_parser_next(rings->piece.parser, record)) {
		case HWPMC_PARSE_RECORD:
			return 1;
		case HWPMC_PARSE_MORE:
			if (are_inherited(rings))
				return refuse_inherited(rings);
			rc = feed_next(rings);
			if (rc)
				return rc > 0 ? 0 : -1;
			break;
		default:
			return error_own(rings->h, hwpmc_parser_errno(rings->piece.parser),
					 what("cannot read the rings of the log: %s",
					      hwpmc_parser_error(rings->piece.parser)).text);
		}
	}
}

/* The first ring in turn is that of CPU 0. */
static int begin_records(struct hwpmc_rings *rings)
{
	if (are_in_a_copy(rings))
		return refuse_inherited(rings);
	if (rings->reading)
		return error_own(rings->h, EBUSY, "cannot read records of the log: the call is made "
				 "by the function of hwpmc_rings_read()");
	if (rings->piece.parser)
		return 0;
	rings->piece.parser = hwpmc_parser_new();
	rings->piece.cpu = rings->n - 1;
	return rings->piece.parser ? 0 :
	       error_own(rings->h, ENOMEM, "no memory for the parser of the log");
}

/*
 * The log has ended. When it was closed, a ring may have had no room for drops and CLOSELOG:
 * a flush writes them.
 */
static int next_after_end(struct hwpmc_rings *rings, bool can_flush, struct hwpmc_record *record)
{
	int rc;

	if (can_flush && !rings->flushed) {
		if (hwpmc_flush_log(rings->h) && errno == EINTR)
			return -1;
		rings->flushed = true;
		rc = next_record(rings, record);
		if (rc)
			return rc;
	}
	return error_own(rings->h, ENODATA, "cannot read records of the log: it has ended");
}

EXPORT int hwpmc_rings_next(struct hwpmc_rings *rings, int timeout_ms,
			    struct hwpmc_record *record)
{
	struct pollfd pfd = { .events = POLLIN };
	bool ended;
	int rc;

	if (null_given(rings ? rings->h : NULL, !rings || !record, "hwpmc_rings_next"))
		return -1;
	if (begin_records(rings))
		return -1;
	pfd.fd = hwpmc_fd(rings->h);
	do {
		rc = next_record(rings, record);
		if (rc)
			return rc;
		/* The descriptor is ready for a later log, too. */
		ended = rings->h->logs != rings->log;
		if (!ended && poll(&pfd, 1, timeout_ms) < 0)
			return -1;
		/* Fewer bytes than wake a reader, or the last ones of the log. */
		rc = next_record(rings, record);
		if (rc)
			return rc;
		if (ended || pfd.revents & (POLLHUP | POLLERR))
			return next_after_end(rings, !ended && !(pfd.revents & POLLERR), record);
	} while (timeout_ms < 0);
	return 0;
}

EXPORT void hwpmc_rings_drop_counts(const struct hwpmc_rings *rings,
				    uint64_t *samples, uint64_t *others,
				    uint32_t n)
{
	if (!n || !rings || !samples || !others)
		return;
	memset(samples, 0, n * sizeof(*samples));
	memset(others, 0, n * sizeof(*others));
	if (are_inherited(rings))
		return;
	for (unsigned int i = 0; i < rings->n; i++)
		if (rings->ring[i].ctl)
			drops_add_ring(rings->ring[i].ctl, samples, others, n);
}

/* For programs that were built when the arrays had a fixed size. */
#undef hwpmc_rings_drops
EXPORT void hwpmc_rings_drops(const struct hwpmc_rings *rings,
			      uint64_t *samples, uint64_t *others)
{
	hwpmc_rings_drop_counts(rings, samples, others, HWPMC_DROP_FIXED);
}
