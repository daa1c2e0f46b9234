// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * unwind.c - unwind tables of owners, by file; and the walk of user stacks by them, which
 * unwind_walk.h has.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../core/owner.h"
#include "../core/stats.h"
#include "../debug/tunables.h"
#include "scratch.h"
#include "unwind.h"
#include "unwind_maps.h"

#define BUCKET_BITS	10
/* The owner chooses the files: without a bound an NMI could walk all of its tables for
 * each frame. All programs of an installation, some 2,000 files, are 2 in a bucket. */
#define BUCKET_TABLES	32

struct hwpmc_owned_table {
	struct hwpmc_unwind_file file;
	struct hwpmc_unwind_table table;
	struct hwpmc_unwind_row *row;	/* the copy, which .table refers to, too */
	u32 *page;
	bool none;			/* the file has no table: no rows */
	struct mm_struct *mm;		/* that the memory is charged to, or NULL */
	unsigned long pages;
	struct hlist_node node;		/* in its bucket; hwpmc_lock, RCU */
};

/* The tables of one owner. */
struct hwpmc_tables {
	struct hwpmc_tables *next;	/* of those to be freed together */
	u64 serial;			/* as of struct hwpmc_unwind_maps */
	unsigned long pages;		/* of all tables; hwpmc_lock */
	struct hlist_head bucket[1 << BUCKET_BITS];
};

/* ---- in the NMI ----------------------------------------------------------- */

static bool is_same_file_nmi(const struct hwpmc_unwind_file *a,
			     const struct hwpmc_unwind_file *b)
{
	return a->inode == b->inode && a->dev == b->dev && a->kind == b->kind;
}

/* Not memcmp(): it may be a call that is traced. */
static bool is_same_build_id_nmi(const struct hwpmc_unwind_file *a,
				 const struct hwpmc_unwind_file *b)
{
	unsigned int i;

	if (a->build_id_len != b->build_id_len)
		return false;
	for (i = 0; i < sizeof(a->build_id); i++)
		if (a->build_id[i] != b->build_id[i])
			return false;
	return true;
}

static const struct hlist_head *bucket_of_nmi(const struct hwpmc_tables *tables,
					      const struct hwpmc_unwind_file *file)
{
	return &tables->bucket[hash_64(file->inode ^ file->dev, BUCKET_BITS)];
}

static const struct hwpmc_unwind_table *
unwind_table_nmi(const void *arg, const struct hwpmc_unwind_map *map)
{
	static const struct hwpmc_unwind_table no_rows;
	const struct hwpmc_tables *tables = arg;
	const struct hwpmc_owned_table *t;

	if (map->file.kind == UNWIND_FILE_NONE)
		return &no_rows;
	if (!tables)
		return NULL;
	hlist_for_each_entry_rcu(t, bucket_of_nmi(tables, &map->file), node,
				 lockdep_is_held(&hwpmc_lock))
		if (is_same_file_nmi(&t->file, &map->file))
			return is_same_build_id_nmi(&t->file, &map->file) ? &t->table :
				NULL;
	return NULL;
}

static __always_inline bool unwind_read_nmi(u64 at, u64 *value)
{
	const u64 __user *word = (const u64 __user *)at;

	if (!user_access_begin(word, sizeof(*word)))
		return false;
	unsafe_get_user(*value, word, fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

static u64 unwind_reg_nmi(const void *regs, unsigned int nr)
{
#define AT(reg)	offsetof(struct pt_regs, reg)
	static const u8 place[] = {
		AT(ax), AT(dx), AT(cx), AT(bx), AT(si), AT(di), AT(bp), AT(sp),
		AT(r8), AT(r9), AT(r10), AT(r11), AT(r12), AT(r13), AT(r14), AT(r15),
	};
#undef AT
	return *(const unsigned long *)(regs + place[nr]);
}

#include "unwind_walk.h"

/* Few chains end in code without tables: inline, this would slow down the others. */
static noinline unsigned int go_on_nmi(struct hwpmc_unwind_walk *w, u64 *pc, unsigned int n,
				       unsigned int max, unsigned int *end)
{
	return unwind_go_on_nmi(w, pc, n, max, end);
}

/* How the chain ends, in the record and in the statistics. */
static unsigned int put_end_nmi(u64 *pc, unsigned int end, u8 *flags)
{
	this_cpu_inc(hwpmc_stats.chains[end]);
	if (end == HWPMC_CHAIN_COMPLETE)
		return 0;
	if (end == HWPMC_CHAIN_DEPTH) {
		*flags |= HWPMC_SAMPLE_CUT;
		return 0;
	}
	if (end == HWPMC_CHAIN_FAULT)
		*flags |= HWPMC_SAMPLE_FAULT;
	*flags |= HWPMC_SAMPLE_ENDS;
	pc[0] = HWPMC_PC_END(end);
	return 1;
}

static unsigned int finish_nmi(const struct hwpmc_pmc *pmc, struct hwpmc_unwind_walk *w,
			       u64 *pc, unsigned int n, unsigned int max,
			       unsigned int end, u8 *flags)
{
	if (pmc->flags & HWPMC_F_TABLES_FP)
		n = go_on_nmi(w, pc, n, max, &end);
	/* Marks count towards max: a chain without room for one ends by its depth. */
	if (n == max && end != HWPMC_CHAIN_COMPLETE)
		end = HWPMC_CHAIN_DEPTH;
	return n + put_end_nmi(pc + n, end, flags);
}

unsigned int hwpmc_unwind_chain_nmi(const struct hwpmc_pmc *pmc, const struct pt_regs *regs,
				    u64 *pc, unsigned int max, bool readable, u8 *flags)
{
	const struct hwpmc_unwind_maps *maps = hwpmc_unwind_maps_nmi(current->mm);
	const struct hwpmc_tables *tables = READ_ONCE(pmc->owner->tables);
	unsigned int n = 1, end = HWPMC_CHAIN_NO_MAPPING;
	struct hwpmc_unwind_walk w = {
		.ip = regs->ip, .sp = regs->sp, .bp = regs->bp, .first = true,
		.regs = regs, .tables = tables,
		.all_known = pmc->flags & HWPMC_F_TABLES_ALL,
	};

	*flags |= HWPMC_SAMPLE_TABLES;
	pc[0] = regs->ip;
	if (unlikely(!readable)) {
		end = HWPMC_CHAIN_FAULT;
	} else if (likely(maps)) {
		/* Before the bounds of mappings are read: they change before it. */
		u64 of_maps = smp_load_acquire(&maps->serial);
		/* Before tables are looked for: they change before it, too. */
		u64 of_tables = tables ? smp_load_acquire(&tables->serial) : 0;

		w.map = maps->map;
		w.nmap = maps->n;
		/* An NMI could change an entry that the code below it writes. */
		if (in_nmi()) {
			w.tag = unwind_tag_nmi(&this_cpu_ptr(hwpmc_scratch)->states, of_maps,
					       of_tables);
			w.memo = this_cpu_ptr(hwpmc_scratch)->memo;
			w.past = &this_cpu_ptr(hwpmc_scratch)->past;
		}
		n = unwind_walk_nmi(&w, pc, max, &end);
	}
	return finish_nmi(pmc, &w, pc, n, max, end, flags);
}

/* ---- tables --------------------------------------------------------------- */

static void table_uncharge(struct hwpmc_owned_table *t)
{
	if (!t->mm)
		return;
	atomic64_sub(t->pages, &t->mm->pinned_vm);
	mmdrop(t->mm);
}

void hwpmc_owned_table_free(struct hwpmc_owned_table *table)
{
	if (IS_ERR_OR_NULL(table))
		return;
	table_uncharge(table);
	kvfree(table->row);
	kvfree(table->page);
	kfree(table);
}

/* As a log's rings, see log/rings.c: the privileged are not charged. */
static int table_charge(struct hwpmc_owned_table *t, struct hwpmc_op_unwind *op)
{
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct mm_struct *mm = current->mm;

	if (perfmon_capable())
		return 0;
	if (atomic64_add_return(t->pages, &mm->pinned_vm) + READ_ONCE(mm->locked_vm) >
	    limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(t->pages, &mm->pinned_vm);
		return hwpmc_refuse(&op->hdr, -EPERM, HWPMC_WHY_LOCKED_MEMORY,
				    t->pages << (PAGE_SHIFT - 10));
	}
	mmgrab(mm);
	t->mm = mm;
	return 0;
}

static int file_of_op(struct hwpmc_unwind_file *file, struct hwpmc_op_unwind *op)
{
	u32 bad = op->flags & ~(HWPMC_UNWIND_F_VDSO | HWPMC_UNWIND_F_NONE);
	bool vdso = op->flags & HWPMC_UNWIND_F_VDSO;

	/* No table has rows. */
	if (op->nrow)
		bad |= op->flags & HWPMC_UNWIND_F_NONE;
	*file = (struct hwpmc_unwind_file){ .kind = UNWIND_FILE_VDSO };
	if (bad)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_FLAGS, bad);
	if (op->build_id_len > sizeof(file->build_id) ||
	    (vdso && (op->inode || op->major || op->minor || op->build_id_len)))
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_RESERVED, 0);
	if (vdso)
		return 0;
	file->kind = UNWIND_FILE_INODE;
	file->inode = op->inode;
	file->dev = MKDEV(op->major, op->minor);
	file->build_id_len = op->build_id_len;
	memcpy(file->build_id, op->build_id, op->build_id_len);
	return 0;
}

/* Its size is known to be within the limit for the owner. */
static int table_copy(struct hwpmc_owned_table *t, struct hwpmc_op_unwind *op)
{
	size_t bytes = (size_t)op->nrow * sizeof(*t->row);
	u32 valid, npage;

	t->row = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!t->row)
		return hwpmc_refuse(&op->hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	if (copy_from_user(t->row, u64_to_user_ptr(op->rows), bytes))
		return hwpmc_refuse(&op->hdr, -EFAULT, HWPMC_WHY_BAD_ADDRESS, 0);
	valid = hwpmc_unwind_check(t->row, op->nrow);
	if (valid != op->nrow)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_UNWIND_ROW, valid);
	npage = hwpmc_unwind_pages(t->row, op->nrow);
	t->page = kvmalloc_array(npage, sizeof(*t->page), GFP_KERNEL_ACCOUNT);
	if (!t->page)
		return hwpmc_refuse(&op->hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	hwpmc_unwind_index(&t->table, t->row, op->nrow, t->page);
	t->pages = DIV_ROUND_UP(bytes + npage * sizeof(*t->page), PAGE_SIZE);
	return 0;
}

static int check_size(struct hwpmc_op_unwind *op)
{
	u64 kib = (u64)op->nrow * sizeof(struct hwpmc_unwind_row) / 1024;

	if (op->nrow <= HWPMC_UNWIND_ROWS_MAX && kib <= READ_ONCE(hwpmc_unwindtables))
		return 0;
	return hwpmc_refuse(&op->hdr, -E2BIG, HWPMC_WHY_UNWIND_LIMIT,
			    min_t(u64, kib, S32_MAX));
}

struct hwpmc_owned_table *hwpmc_owned_table_new(struct hwpmc_op_unwind *op)
{
	struct hwpmc_owned_table *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!t)
		return ERR_PTR(hwpmc_refuse(&op->hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0));
	ret = file_of_op(&t->file, op);
	t->none = op->flags & HWPMC_UNWIND_F_NONE;
	if (op->nrow) {
		ret = ret ?: check_size(op);
		ret = ret ?: table_copy(t, op);
		ret = ret ?: table_charge(t, op);
	}
	if (ret) {
		hwpmc_owned_table_free(t);
		return ERR_PTR(ret);
	}
	return t;
}

/* ---- owners --------------------------------------------------------------- */

static struct hwpmc_tables *tables_of(struct hwpmc_owner *owner)
{
	lockdep_assert_held(&hwpmc_lock);
	if (!owner->tables) {
		struct hwpmc_tables *tables = kzalloc(sizeof(*tables), GFP_KERNEL_ACCOUNT);

		if (!tables)
			return NULL;
		tables->serial = hwpmc_unwind_serial();
		/* Pairs with READ_ONCE() in the NMI. */
		smp_store_release(&owner->tables, tables);
	}
	return owner->tables;
}

/* *n: how many tables are in the bucket. */
static struct hwpmc_owned_table *table_find(struct hwpmc_tables *tables,
					    const struct hwpmc_unwind_file *file,
					    unsigned int *n)
{
	struct hwpmc_owned_table *t, *found = NULL;

	lockdep_assert_held(&hwpmc_lock);
	*n = 0;
	hlist_for_each_entry(t, bucket_of_nmi(tables, file), node) {
		(*n)++;
		if (is_same_file_nmi(&t->file, file))
			found = t;
	}
	return found;
}

bool hwpmc_owned_table_is_added(const struct hwpmc_owned_table *table)
{
	return table->row || table->none;
}

int hwpmc_tables_put(struct hwpmc_owner *owner, struct hwpmc_op_unwind *op,
		     struct hwpmc_owned_table *table, struct hwpmc_owned_table **old)
{
	struct hwpmc_tables *tables = tables_of(owner);
	bool adds = hwpmc_owned_table_is_added(table);
	unsigned int n;
	u64 pages;

	lockdep_assert_held(&hwpmc_lock);
	*old = NULL;
	if (!tables)
		return hwpmc_refuse(&op->hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	*old = table_find(tables, &table->file, &n);
	if (adds && !*old && n >= BUCKET_TABLES)
		return hwpmc_refuse(&op->hdr, -E2BIG, HWPMC_WHY_UNWIND_FILES, n);
	pages = tables->pages + table->pages - (*old ? (*old)->pages : 0);
	if (table->row && pages << (PAGE_SHIFT - 10) > READ_ONCE(hwpmc_unwindtables)) {
		*old = NULL;
		return hwpmc_refuse(&op->hdr, -E2BIG, HWPMC_WHY_UNWIND_LIMIT,
				    min_t(u64, pages << (PAGE_SHIFT - 10), S32_MAX));
	}
	tables->pages = pages;
	/* In front of the one that it replaces: at no moment is there none. */
	if (adds)
		hlist_add_head_rcu(&table->node, (struct hlist_head *)
				   bucket_of_nmi(tables, &table->file));
	if (*old)
		hlist_del_rcu(&(*old)->node);
	/* What is remembered under the old number is not found any more. */
	smp_store_release(&tables->serial, hwpmc_unwind_serial());
	return 0;
}

void hwpmc_tables_take(struct hwpmc_owner *owner, struct hwpmc_tables **list)
{
	struct hwpmc_tables *tables = owner->tables;

	lockdep_assert_held(&hwpmc_lock);
	if (!tables)
		return;
	WRITE_ONCE(owner->tables, NULL);
	tables->next = *list;
	*list = tables;
}

static void tables_free(struct hwpmc_tables *tables)
{
	struct hwpmc_owned_table *t;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tables->bucket); i++) {
		hlist_for_each_entry_safe(t, next, &tables->bucket[i], node)
			hwpmc_owned_table_free(t);
		cond_resched();
	}
	kfree(tables);
}

void hwpmc_tables_free(struct hwpmc_tables *list)
{
	struct hwpmc_tables *tables;

	if (!list)
		return;
	synchronize_rcu();
	while ((tables = list)) {
		list = tables->next;
		tables_free(tables);
	}
}
