/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapped.c - counters that a thread reads itself, by RDPMC and its page. Each
 * thread has a page a handle. It is mapped when the thread opens its first counter,
 * and unmapped when the thread or the handle has ended and no region uses it.
 *
 * The kernel frees its page when the last PMC is detached from the thread, and makes
 * another one when the thread maps again. The new page is moved to the address of the old
 * one, so that rows of counters and regions stay valid.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE			/* mremap() */
#endif
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

/* How often a read is tried again that was switched out in its middle. */
#define TRIES	16

struct thread_page {
	struct thread_page *next_of_handle;	/* constant */
	struct thread_page *next_of_thread;	/* the thread's */
	struct hwpmc_user_row *rows;		/* constant */
	uint64_t epoch;				/* of the handle, when it was last mapped;
						 * the thread's */
	atomic_bool ended;			/* the thread or the handle */
	atomic_uint pins;			/* keep it mapped: regions; 1 until ended */
	atomic_uint users;			/* keep this: pins; the handle; the thread */
	const struct hwpmc *h;			/* only compared */
	uint64_t serial;			/* of the handle: addresses return */
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool have_key;

static void page_put(struct thread_page *page)
{
	if (atomic_fetch_sub(&page->users, 1) == 1)
		free(page);
}

void mapped_unpin(struct thread_page *page)
{
	if (!page)
		return;
	if (atomic_fetch_sub(&page->pins, 1) == 1)
		munmap(page->rows, HWPMC_USER_SIZE);
	page_put(page);
}

/* The thread or the handle has ended; the other one may end at the same time. */
static void page_end(struct thread_page *page)
{
	if (!atomic_exchange(&page->ended, true))
		mapped_unpin(page);
	page_put(page);
}

static void end_thread(void *first)
{
	struct thread_page *page = first, *next;

	for (; page; page = next) {
		next = page->next_of_thread;
		page_end(page);
	}
}

static void make_key(void)
{
	have_key = !pthread_key_create(&key, end_thread);
}

static struct thread_page *find_page(const struct hwpmc *h)
{
	struct thread_page *page;

	/* Until then the key is 0, which is that of another library. */
	if (!have_key)
		return NULL;
	page = pthread_getspecific(key);
	while (page && (page->h != h || page->serial != h->serial))
		page = page->next_of_thread;
	return page;
}

static int map_failed(struct hwpmc *h)
{
	return error_own(h, errno, what("cannot map this thread's counters: %s",
					strerror(errno)).text);
}

static void *map_rows(const struct hwpmc *h)
{
	return mmap(NULL, HWPMC_USER_SIZE, PROT_READ, MAP_SHARED, h->fd,
		    HWPMC_USER_OFFSET);
}

static struct thread_page *add_page(struct hwpmc *h)
{
	struct thread_page *page = calloc(1, sizeof(*page));
	uint64_t epoch = atomic_load(&h->epoch);
	void *rows;

	if (!page)
		return NULL;
	rows = map_rows(h);
	if (rows == MAP_FAILED || pthread_setspecific(key, page)) {
		int err = errno;

		if (rows != MAP_FAILED)
			munmap(rows, HWPMC_USER_SIZE);
		free(page);
		errno = err;
		return NULL;
	}
	page->rows = rows;
	page->epoch = epoch;
	page->pins = 1;
	page->users = 3;
	page->h = h;
	page->serial = h->serial;
	page->next_of_handle = atomic_load(&h->pages);
	while (!atomic_compare_exchange_weak(&h->pages, &page->next_of_handle,
					     page))
		;
	return page;
}

/*
 * The handle has attached or started a PMC since the page was mapped: the kernel may have
 * another page for this thread. Without one the old page stays, in which no row is valid.
 */
static void renew_page(struct hwpmc *h, struct thread_page *page)
{
	uint64_t epoch = atomic_load(&h->epoch);
	void *rows;

	if (page->epoch == epoch)
		return;
	page->epoch = epoch;
	rows = map_rows(h);
	if (rows == MAP_FAILED)
		return;
	if (mremap(rows, HWPMC_USER_SIZE, HWPMC_USER_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   page->rows) == MAP_FAILED)
		munmap(rows, HWPMC_USER_SIZE);
}

static struct thread_page *get_page(struct hwpmc *h)
{
	struct thread_page *page, *others;

	pthread_once(&once, make_key);
	if (!have_key) {
		errno = EAGAIN;
		return NULL;
	}
	page = find_page(h);
	if (page) {
		renew_page(h, page);
		return page;
	}
	others = pthread_getspecific(key);
	page = add_page(h);
	if (page)
		page->next_of_thread = others;
	return page;
}

void mapped_close(struct hwpmc *h)
{
	struct thread_page *page, *next;

	for (page = atomic_load(&h->pages); page; page = next) {
		next = page->next_of_handle;
		page_end(page);
	}
}

EXPORT int hwpmc_counter_open(struct hwpmc *h, uint32_t id,
			      struct hwpmc_counter *c)
{
	struct hwpmc_op_getmsr op = { .pmcid = id };
	struct thread_page *page;

	if (null_given(h, !h || !c, "hwpmc_counter_open"))
		return -1;
	if (handle_call(h, HWPMC_IOC_PMCGETMSR, &op.hdr))
		return error_from_call(h, &op.hdr,
				       what("read %s by RDPMC",
					    what_pmc(h, id).text).text);
	page = get_page(h);
	if (!page)
		return map_failed(h);
	atomic_store(&h->told[HWPMC_ID_ROW(id)], id);
	*c = (struct hwpmc_counter){
		.row = page->rows + HWPMC_ID_ROW(id),
		.h = h, .id = id,
	};
	return 0;
}

EXPORT int hwpmc_counter_read_again(const struct hwpmc_counter *c,
				    uint64_t *value)
{
	const volatile struct hwpmc_user_row *row;
	struct thread_page *page;

	if (null_given(NULL, !c || !value || !c->h, "hwpmc_counter_read_again"))
		return -1;
	row = c->row;
	for (int i = 0; i < TRIES && row->sum == row->seq; i++)
		if (hwpmc_user_row_read(c->row, value))
			return 0;
	page = find_page(c->h);
	if (page)
		renew_page(c->h, page);
	return hwpmc_read(c->h, c->id, value);
}

void mapped_began(struct hwpmc *h)
{
	if (h)
		atomic_fetch_add(&h->epoch, 1);
}

bool mapped_is_told(struct hwpmc *h, uint32_t id)
{
	return h && id && atomic_load_explicit(&h->told[HWPMC_ID_ROW(id) % HWPMC_ROW_MAX],
					  memory_order_relaxed) == id;
}

void mapped_forget(struct hwpmc *h, uint32_t id)
{
	uint32_t told = id;

	if (!h)
		return;
	atomic_compare_exchange_strong(&h->told[HWPMC_ID_ROW(id) % HWPMC_ROW_MAX],
				       &told, 0);
}

/* Without a counter that was opened by the caller, but by its thread. */
bool mapped_read(struct hwpmc *h, uint32_t id, uint64_t *value)
{
	const struct thread_page *page;

	if (!mapped_is_told(h, id))
		return false;
	page = find_page(h);
	return page && hwpmc_user_row_read(page->rows + HWPMC_ID_ROW(id), value);
}

/* The path is the same for each counter and in each call, so that the distances of the reads,
 * in instructions, are too. */
static __attribute__((noinline)) bool read_rows(const struct hwpmc_user_row *rows,
						const uint32_t *ids, unsigned int n,
						uint64_t *values)
{
	bool good = true;

	__asm__ __volatile__("lfence" : : : "memory");
	for (unsigned int i = 0; i < n; i++)
		good &= hwpmc_user_row_read(rows + HWPMC_ID_ROW(ids[i]), &values[i]);
	__asm__ __volatile__("lfence" : : : "memory");
	return good;
}

bool mapped_read_all(struct hwpmc *h, const uint32_t *ids, unsigned int n, uint64_t *values)
{
	const struct thread_page *page = find_page(h);
	const volatile struct hwpmc_user_row *row;
	uint32_t seq[HWPMC_GROUP_MAX];
	bool same;

	for (unsigned int i = 0; i < n; i++)
		if (!page || !mapped_is_told(h, ids[i]))
			return false;
	for (int try = 0; try < TRIES; try++) {
		same = true;
		for (unsigned int i = 0; i < n; i++) {
			row = page->rows + HWPMC_ID_ROW(ids[i]);
			seq[i] = row->seq;
			if (row->sum == seq[i])
				continue;
			if (row->seq == seq[i])
				return false;
			same = false;	/* switched in between */
		}
		same = same && read_rows(page->rows, ids, n, values);
		for (unsigned int i = 0; i < n; i++) {
			row = page->rows + HWPMC_ID_ROW(ids[i]);
			same &= row->seq == seq[i];
		}
		if (same)
			return true;
	}
	return false;
}

struct thread_page *mapped_pin(const struct hwpmc *h)
{
	struct thread_page *page = find_page(h);

	if (page) {
		atomic_fetch_add(&page->pins, 1);
		atomic_fetch_add(&page->users, 1);
	}
	return page;
}
