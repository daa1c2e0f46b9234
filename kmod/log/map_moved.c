// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * map_moved.c - see map_moved.h. The handlers run in the task that calls, with preemption off.
 *
 * Limits: calls whose return could not be waited for are declared as one BUSY drop in all logs
 * when one of the others returns. If mmap_lock is taken at the call and at its return, the move
 * is a BUSY drop even if it was of data.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "../core/owner.h"
#include "../sampling/log.h"
#include "map.h"
#include "map_copied.h"
#include "map_moved.h"
#include "map_probes.h"
#include "task_logs.h"

/* Calls at a time whose return is waited for, and mappings that one of them can move. */
#define RETURNS		64
#define MOVED_MAPS	256

struct move {
	unsigned long old, old_len;
	unsigned long len;		/* of the new place */
};

static struct kretprobe probes[2];
static unsigned long declared;		/* calls missed, of both probes */

static void emit_move_drop(struct hwpmc_owner *owner, void *unused)
{
	struct hwpmc_log *log = READ_ONCE(owner->log);

	if (log)
		hwpmc_log_drop(log, HWPMC_DROP_BUSY);
}

/* Data alone is moved often: its return is not waited for. */
static bool is_data(struct mm_struct *mm, unsigned long at)
{
	struct vm_area_struct *vma;
	bool data;

	if (!mmap_read_trylock(mm))
		return false;
	vma = find_vma(mm, at);
	data = !vma || !hwpmc_wants_vma(vma);
	mmap_read_unlock(mm);
	return data;
}

static int at_move_call(struct kretprobe_instance *ri, struct move move)
{
	if (!current->mm || !hwpmc_task_logs_any(current) || is_data(current->mm, move.old))
		return 1;
	*(struct move *)ri->data = move;
	return 0;
}

/* mremap(old, old_len, len, flags, new) */
static int at_move(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct pt_regs *user = (const struct pt_regs *)regs->di;

	return at_move_call(ri, (struct move){ user->di, user->si, user->dx });
}

static int at_move32(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct pt_regs *user = (const struct pt_regs *)regs->di;

	return at_move_call(ri, (struct move){ (u32)user->bx, (u32)user->cx, (u32)user->dx });
}

/* Returns false if there are more than are listed. */
static bool emit_range(struct mm_struct *mm, unsigned long at, unsigned long end)
{
	unsigned int left = MOVED_MAPS, pages = HWPMC_PROBE_PAGES;
	struct vm_area_struct *vma;

	while (at < end && left--) {
		vma = find_vma(mm, at);
		if (!vma || vma->vm_start >= end)
			return true;
		if (hwpmc_wants_vma(vma))
			hwpmc_report_vma(vma, &pages);
		at = vma->vm_end;
	}
	return at >= end;
}

/* A call is missed while others are waited for: one of these returns later. */
static void declare_missed(void)
{
	unsigned long before = READ_ONCE(declared);
	unsigned long missed = READ_ONCE(probes[0].nmissed) + READ_ONCE(probes[1].nmissed);

	if (missed == before || cmpxchg(&declared, before, missed) != before)
		return;
	rcu_read_lock();
	hwpmc_owners_each_rcu(emit_move_drop, NULL);
	rcu_read_unlock();
}

static bool is_as_before(const struct move *move, unsigned long at)
{
	return at == move->old && PAGE_ALIGN(move->len) <= PAGE_ALIGN(move->old_len);
}

static int after_mremap(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long at = regs_return_value(regs);
	struct mm_struct *mm = current->mm;
	bool all = false;

	declare_missed();
	if (!mm || IS_ERR_VALUE(at) || is_as_before((struct move *)ri->data, at))
		return 0;
	if (mmap_read_trylock(mm)) {
		all = emit_range(mm, at, at + PAGE_ALIGN(((struct move *)ri->data)->len));
		mmap_read_unlock(mm);
	}
	if (!all)
		hwpmc_task_logs_each(current, emit_move_drop, NULL);
	return 0;
}

static int hook_call(struct kretprobe *probe, const char *symbol, kretprobe_handler_t at)
{
	int ret;

	/* register_kretprobe() refuses fields that an earlier registration set. */
	*probe = (struct kretprobe){
		.kp.symbol_name = symbol, .entry_handler = at, .handler = after_mremap,
		.data_size = sizeof(struct move), .maxactive = RETURNS,
	};
	ret = register_kretprobe(probe);
	if (ret)
		probe->kp.addr = NULL;
	return ret;
}

/* Without an address: it was not registered. */
static void unhook_call(struct kretprobe *probe)
{
	if (probe->kp.addr)
		unregister_kretprobe(probe);
	probe->kp.addr = NULL;
}

int hwpmc_moved_hook(void)
{
	int ret;

	declared = 0;
	/* Of an earlier registration, if this kernel has no calls of 32-bit programs. */
	probes[1].nmissed = 0;
	ret = hook_call(&probes[0], "__x64_sys_mremap", at_move);
	if (ret)
		return ret;
	ret = hook_call(&probes[1], "__ia32_sys_mremap", at_move32);
	/* Kernels without 32-bit programs have it not. */
	if (ret == -ENOENT)
		return 0;
	if (ret)
		unhook_call(&probes[0]);
	return ret;
}

void hwpmc_moved_unhook(void)
{
	unhook_call(&probes[1]);
	unhook_call(&probes[0]);
}
