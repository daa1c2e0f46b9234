// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * map_moved.c - see map_moved.h. The handlers run in the task that calls, with preemption off.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

#include "../core/owner.h"
#include "../sampling/log.h"
#include "map.h"
#include "map_moved.h"
#include "map_probes.h"
#include "task_logs.h"

/* Calls at a time whose return is waited for, and mappings that one of them can move. */
#define RETURNS		64
#define MOVED_MAPS	256

struct move {
	unsigned long len;		/* of the new place */
};

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

static int at_move_call(struct kretprobe_instance *ri, unsigned long old, unsigned long len)
{
	if (!current->mm || is_data(current->mm, old))
		return 1;
	((struct move *)ri->data)->len = len;
	return 0;
}

/* mremap(old, old_len, len, flags, new) */
static int at_move(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct pt_regs *user = (const struct pt_regs *)regs->di;

	return at_move_call(ri, user->di, user->dx);
}

static int at_move32(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct pt_regs *user = (const struct pt_regs *)regs->di;

	return at_move_call(ri, (u32)user->bx, (u32)user->dx);
}

/* Returns false if there are more than are listed. */
static bool emit_range(struct mm_struct *mm, unsigned long at, unsigned long end)
{
	unsigned int left = MOVED_MAPS;
	struct vm_area_struct *vma;

	while (at < end && left--) {
		vma = find_vma(mm, at);
		if (!vma || vma->vm_start >= end)
			return true;
		if (hwpmc_wants_vma(vma))
			hwpmc_report_vma(vma);
		at = vma->vm_end;
	}
	return at >= end;
}

static int after_mremap(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long at = regs_return_value(regs);
	struct mm_struct *mm = current->mm;
	bool all = false;

	if (!mm || IS_ERR_VALUE(at))
		return 0;
	if (mmap_read_trylock(mm)) {
		all = emit_range(mm, at, at + PAGE_ALIGN(((struct move *)ri->data)->len));
		mmap_read_unlock(mm);
	}
	if (!all)
		hwpmc_task_logs_each(current, emit_move_drop, NULL);
	return 0;
}

static struct kretprobe probes[2];

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
	int ret = hook_call(&probes[0], "__x64_sys_mremap", at_move);

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
