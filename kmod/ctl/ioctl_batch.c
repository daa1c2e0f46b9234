// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ioctl_batch.c - one call for many PMCs: the caller's array is copied in, sorted and
 * checked before any lock is taken, and copied out after the last one is released.
 * Process context.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "../core/doubt.h"
#include "../debug/trace.h"
#include "../log/snapshot.h"
#include "../pmc/batch.h"
#include "ioctl.h"

/* An entry in the order in which the module goes through them. */
struct order {
	u32 id;
	u32 entry;
};

struct request {
	struct hwpmc_batch batch;
	struct hwpmc_batch_entry *entry;	/* the caller's, copied */
	struct order *order;
	u32 n;
};

/* CPU, row, and then what makes equal ids neighbours. Process scope is the last "CPU". */
static u64 order_key(u32 id)
{
	u64 cpu = hwpmc_mode_is_system(HWPMC_ID_MODE(id)) ? HWPMC_ID_CPU(id) : 0xfff;

	return cpu << 40 | (u64)HWPMC_ID_ROW(id) << 32 | id;
}

static int order_compare(const void *a, const void *b)
{
	u64 x = order_key(((const struct order *)a)->id);
	u64 y = order_key(((const struct order *)b)->id);

	return x < y ? -1 : x > y;
}

static void request_free(struct request *r)
{
	free_cpumask_var(r->batch.cpus);
	kvfree(r->batch.item);
	kvfree(r->order);
	kvfree(r->entry);
}

static int request_alloc(struct request *r, u32 n)
{
	r->n = n;
	r->entry = kvcalloc(n, sizeof(*r->entry), GFP_KERNEL_ACCOUNT);
	r->order = kvcalloc(n, sizeof(*r->order), GFP_KERNEL_ACCOUNT);
	r->batch.item = kvcalloc(n, sizeof(*r->batch.item), GFP_KERNEL_ACCOUNT);
	if (zalloc_cpumask_var(&r->batch.cpus, GFP_KERNEL_ACCOUNT) && r->entry &&
	    r->order && r->batch.item)
		return 0;
	request_free(r);
	return -ENOMEM;
}

static int check_op(struct hwpmc_op_batch *op)
{
	if (op->command > HWPMC_BATCH_STOP)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_BATCH,
				    op->command);
	if (!op->n || op->n > HWPMC_BATCH_MAX)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_BATCH_COUNT,
				    HWPMC_BATCH_MAX);
	if (op->entry_size < HWPMC_SIZE_V1_BATCH_ENTRY)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_SIZE,
				    HWPMC_SIZE_V1_BATCH_ENTRY);
	if (op->entry_size > PAGE_SIZE)
		return hwpmc_refuse(&op->hdr, -E2BIG, HWPMC_WHY_SIZE,
				    sizeof(struct hwpmc_batch_entry));
	return 0;
}

/* Also an array that cannot be written is refused here, before anything is done. */
static int copy_entries_in(struct request *r, struct hwpmc_op_batch *op)
{
	char __user *user = u64_to_user_ptr(op->entries);
	size_t out = min_t(size_t, op->entry_size, sizeof(*r->entry));
	u32 i;
	int ret;

	for (i = 0; i < r->n; i++, user += op->entry_size) {
		ret = copy_struct_from_user(&r->entry[i], sizeof(r->entry[i]),
					    user, op->entry_size);
		if (ret == -E2BIG)
			return hwpmc_refuse(&op->hdr, ret, HWPMC_WHY_SIZE,
					    sizeof(r->entry[i]));
		r->entry[i].hdr = (struct hwpmc_hdr){};
		r->entry[i].error = 0;
		r->entry[i].value = 0;
		if (ret || copy_to_user(user, &r->entry[i], out))
			return hwpmc_refuse(&op->hdr, -EFAULT,
					    HWPMC_WHY_BAD_ADDRESS, 0);
		r->order[i] = (struct order){ r->entry[i].pmcid, i };
	}
	return 0;
}

static int copy_entries_out(struct request *r, struct hwpmc_op_batch *op)
{
	char __user *user = u64_to_user_ptr(op->entries);
	size_t out = min_t(size_t, op->entry_size, sizeof(*r->entry));
	u32 i;

	op->failed = 0;
	for (i = 0; i < r->n; i++, user += op->entry_size) {
		op->failed += r->entry[i].error != 0;
		if (copy_to_user(user, &r->entry[i], out))
			return hwpmc_refuse(&op->hdr, -EFAULT,
					    HWPMC_WHY_BAD_ADDRESS, 0);
	}
	return 0;
}

/* The PMCs of the entries, each once; an entry without one has its error then. */
static void find_pmcs(struct hwpmc_owner *owner, struct request *r, u32 command)
{
	struct hwpmc_batch *b = &r->batch;
	u32 i;

	for (i = 0; i < r->n; i++) {
		struct hwpmc_batch_entry *e = &r->entry[r->order[i].entry];
		struct hwpmc_pmc *pmc;

		if (e->error || (i && r->order[i].id == r->order[i - 1].id))
			continue;
		pmc = hwpmc_ioctl_pmc(owner, e->pmcid, &e->hdr);
		if (!IS_ERR(pmc) && command == HWPMC_BATCH_READ &&
		    hwpmc_pmc_samples(pmc))
			pmc = ERR_PTR(hwpmc_refuse(&e->hdr, -EINVAL,
						   HWPMC_WHY_RW_MODE, 0));
		if (IS_ERR(pmc)) {
			e->error = -PTR_ERR(pmc);
			continue;
		}
		b->item[b->n++] = (struct hwpmc_batch_item){
			.pmc = pmc, .entry = r->order[i].entry,
		};
		b->nsystem += hwpmc_pmc_is_system(pmc);
	}
}

/* As a single read: refused if it is known to be wrong or incomplete. */
static void check_value(struct hwpmc_batch_item *item)
{
	trace_hwpmc_pmc_read(item->pmc);
	if (item->ret)
		return;
	/* A register that is read alone has a fault of its own class. */
	item->ret = hwpmc_pmc_is_system(item->pmc) ?
		    hwpmc_pmc_refuse_unreliable(item->pmc, &item->hdr) :
		    hwpmc_pmc_check_value(item->pmc, &item->hdr);
	if (!item->ret && READ_ONCE(item->pmc->process.incomplete))
		item->ret = hwpmc_refuse(&item->hdr, -ENOMEM,
					 HWPMC_WHY_INCOMPLETE, 0);
}

static void do_read(struct hwpmc_owner *owner, struct hwpmc_batch *b)
{
	bool lost = false;
	unsigned int i;

	/* Final counts: tell an owner that waits for them. */
	for (i = b->nsystem; i < b->n; i++) {
		if (likely(!list_empty(&b->item[i].pmc->process.links)))
			continue;
		lost = true;
		hwpmc_doubt_look_finally(b->item[i].pmc);
	}
	if (lost)
		hwpmc_sigio(owner);
	hwpmc_batch_read(b);
	for (i = 0; i < b->n; i++)
		check_value(&b->item[i]);
}

static void store_items(struct request *r, u32 command)
{
	struct hwpmc_batch *b = &r->batch;
	unsigned int i;

	for (i = 0; i < b->n; i++) {
		struct hwpmc_batch_entry *e = &r->entry[b->item[i].entry];

		e->hdr = b->item[i].hdr;
		e->error = -b->item[i].ret;
		if (command == HWPMC_BATCH_READ)
			e->value = b->item[i].value;
	}
}

/* Entries that name the same PMC have one result. */
static void store_copies(struct request *r)
{
	u32 i;

	for (i = 1; i < r->n; i++)
		if (r->order[i].id == r->order[i - 1].id)
			r->entry[r->order[i].entry] =
				r->entry[r->order[i - 1].entry];
}

/*
 * PMCs whose log begins with the state of the machine: each on its own, before the others,
 * because that is written without the lock. Afterwards they run, or their entry has its
 * error.
 */
static int start_with_snapshot(struct hwpmc_owner *owner, struct request *r,
			       struct hwpmc_op_batch *op)
{
	struct hwpmc_batch *b = &r->batch;
	unsigned int i, n = 0;
	int ret;

	ret = hwpmc_owner_lock(owner, &op->hdr);
	if (ret)
		return ret;
	find_pmcs(owner, r, op->command);
	for (i = 0; i < b->n; i++)
		if (hwpmc_needs_snapshot(b->item[i].pmc))
			b->item[n++].entry = b->item[i].entry;
	mutex_unlock(&hwpmc_lock);
	for (i = 0; i < n; i++) {
		struct hwpmc_batch_entry *e = &r->entry[b->item[i].entry];

		e->error = -hwpmc_ioctl_start_one(owner, e->pmcid, &e->hdr);
	}
	b->n = 0;
	b->nsystem = 0;
	return 0;
}

static int run_request(struct hwpmc_owner *owner, struct request *r,
		       struct hwpmc_op_batch *op)
{
	int ret;

	/* A read, as the single one, does not wait for others' operations. */
	if (op->command == HWPMC_BATCH_READ) {
		rcu_read_lock();
		find_pmcs(owner, r, op->command);
		do_read(owner, &r->batch);
		store_items(r, op->command);
		rcu_read_unlock();
		return 0;
	}
	ret = op->command == HWPMC_BATCH_START ? start_with_snapshot(owner, r, op) : 0;
	ret = ret ?: hwpmc_owner_lock(owner, &op->hdr);
	if (ret)
		return ret;
	find_pmcs(owner, r, op->command);
	if (op->command == HWPMC_BATCH_START)
		hwpmc_batch_start(&r->batch);
	else
		hwpmc_batch_stop(&r->batch);
	store_items(r, op->command);
	mutex_unlock(&hwpmc_lock);
	return 0;
}

int hwpmc_ioctl_batch(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_batch *op = &arg->batch;
	struct request r = {};
	int ret;

	ret = check_op(op);
	if (ret)
		return ret;
	if (request_alloc(&r, op->n))
		return hwpmc_refuse(&op->hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	ret = copy_entries_in(&r, op);
	if (!ret) {
		sort(r.order, r.n, sizeof(*r.order), order_compare, NULL);
		ret = run_request(owner, &r, op);
	}
	if (!ret) {
		store_copies(&r);
		ret = copy_entries_out(&r, op);
	}
	request_free(&r);
	return ret;
}
