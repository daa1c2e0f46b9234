/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapped.c - counters that a thread reads itself, by RDPMC and its page. Each
 * thread has a page a handle: mapped when its first counter is opened, unmapped
 * when the thread or the handle ends, whichever is first.
 */
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
	_Atomic(struct hwpmc_user_row *) rows;	/* NULL: unmapped */
	atomic_uint users;			/* the handle and the thread */
	const struct hwpmc *h;			/* only compared */
	uint64_t serial;			/* of the handle: addresses return */
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool have_key;

static void page_unmap(struct thread_page *page)
{
	struct hwpmc_user_row *rows = atomic_exchange(&page->rows, NULL);

	if (rows)
		munmap(rows, HWPMC_USER_SIZE);
	if (atomic_fetch_sub(&page->users, 1) == 1)
		free(page);
}

static void end_thread(void *first)
{
	struct thread_page *page = first, *next;

	for (; page; page = next) {
		next = page->next_of_thread;
		page_unmap(page);
	}
}

static void make_key(void)
{
	have_key = !pthread_key_create(&key, end_thread);
}

static struct thread_page *find_page(const struct hwpmc *h)
{
	struct thread_page *page = pthread_getspecific(key);

	while (page && (page->h != h || page->serial != h->serial))
		page = page->next_of_thread;
	return page;
}

static int map_failed(struct hwpmc *h)
{
	return error_own(h, errno, what("cannot map this thread's counters: %s",
					strerror(errno)).text);
}

static struct thread_page *add_page(struct hwpmc *h)
{
	struct thread_page *page = calloc(1, sizeof(*page));
	void *rows;

	if (!page)
		return NULL;
	rows = mmap(NULL, HWPMC_USER_SIZE, PROT_READ, MAP_SHARED, h->fd,
		    HWPMC_USER_OFFSET);
	if (rows == MAP_FAILED || pthread_setspecific(key, page)) {
		free(page);
		return NULL;
	}
	page->rows = rows;
	page->users = 2;
	page->h = h;
	page->serial = h->serial;
	page->next_of_handle = atomic_load(&h->pages);
	while (!atomic_compare_exchange_weak(&h->pages, &page->next_of_handle,
					     page))
		;
	return page;
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
	if (page)
		return page;
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
		page_unmap(page);
	}
}

EXPORT int hwpmc_counter_open(struct hwpmc *h, uint32_t id,
			      struct hwpmc_counter *c)
{
	struct hwpmc_op_getmsr op = { .pmcid = id };
	struct thread_page *page;

	if (sys_call(h->fd, HWPMC_IOC_PMCGETMSR, &op.hdr))
		return error_from_call(h, &op.hdr,
				       what("read %s by RDPMC",
					    what_pmc(h, id).text).text);
	page = get_page(h);
	if (!page)
		return map_failed(h);
	atomic_store(&h->told[HWPMC_ID_ROW(id)], id);
	*c = (struct hwpmc_counter){
		.row = atomic_load(&page->rows) + HWPMC_ID_ROW(id),
		.h = h, .id = id,
	};
	return 0;
}

EXPORT int hwpmc_counter_read_again(const struct hwpmc_counter *c,
				    uint64_t *value)
{
	const volatile struct hwpmc_user_row *row = c->row;

	for (int i = 0; i < TRIES && row->sum == row->seq; i++)
		if (hwpmc_user_row_read(c->row, value))
			return 0;
	return hwpmc_read(c->h, c->id, value);
}

void mapped_forget(struct hwpmc *h, uint32_t id)
{
	uint32_t told = id;

	atomic_compare_exchange_strong(&h->told[HWPMC_ID_ROW(id) % HWPMC_ROW_MAX],
				       &told, 0);
}

/* Without a counter that was opened by the caller, but by its thread. */
bool mapped_read(struct hwpmc *h, uint32_t id, uint64_t *value)
{
	const struct thread_page *page;

	if (atomic_load_explicit(&h->told[HWPMC_ID_ROW(id) % HWPMC_ROW_MAX],
				 memory_order_relaxed) != id || !id)
		return false;
	page = find_page(h);
	return page && hwpmc_user_row_read(page->rows + HWPMC_ID_ROW(id), value);
}

const struct hwpmc_user_row *mapped_rows(const struct hwpmc *h)
{
	const struct thread_page *page = find_page(h);

	return page ? page->rows : NULL;
}
