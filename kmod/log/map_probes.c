// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * map_probes.c - kprobes on the kernel's functions that map and unmap memory: records of new
 * mappings, and the mappings that walks by unwind tables need. New mappings are found by one on
 * perf_event_mmap(), which every kernel calls for each of them but those that mremap() makes
 * (map_moved.h); there is no tracepoint. A
 * kprobe slows these calls of the whole machine down, so each is registered only while a log
 * needs it.
 *
 * Contexts: the handlers have preemption off; that of perf_event_mmap() holds mmap_lock for
 * writing. On a real-time kernel the spin locks of a path sleep: see rt_defer.c. On a kernel
 * without the function tracer a kprobe is a breakpoint, which lockdep treats as an NMI and
 * reports d_path()'s locks. The interrupted code cannot hold them: perf_event_mmap() may
 * sleep, so it is not called under a spin lock.
 */
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "../base/lock.h"
#include "../sampling/scratch.h"
#include "../sampling/unwind_maps.h"
#include "map.h"
#include "map_copied.h"
#include "map_follow.h"
#include "map_probes.h"
#include "map_retry.h"
#include "map_unwind.h"
#include "rt_defer.h"
#include "task_logs.h"

/* ---- new mappings -------------------------------------------------------- */

void hwpmc_report_vma(struct vm_area_struct *vma, unsigned int *pages)
{
	struct hwpmc_map m;

	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		hwpmc_defer_map(vma);
		return;
	}
	if (!hwpmc_task_logs_any(current))
		return;
	hwpmc_map_init(&m, vma);
	hwpmc_map_find_copied(&m, vma, GFP_ATOMIC, pages);
	preempt_disable();
	hwpmc_map_look_up(&m, this_cpu_ptr(hwpmc_scratch)->path);
	hwpmc_task_logs_each(current, hwpmc_emit_own_map, &m);
	preempt_enable();
}

static int before_perf_event_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)regs->di;
	unsigned int pages = HWPMC_PROBE_PAGES;

	/*
	 * The exec probe reports all that an exec maps. Before that, the PMCs of owners who may
	 * not see a program that has gained rights are still attached.
	 */
	if (vma->vm_mm != current->mm || current->in_execve)
		return 0;
	hwpmc_map_follow_vma(vma);
	if (hwpmc_wants_vma(vma))
		hwpmc_report_vma(vma, &pages);
	return 0;
}

static struct kprobe new_map_probe;

int hwpmc_mappings_hook(void)
{
	/* register_kprobe() refuses fields that an earlier registration set. */
	new_map_probe = (struct kprobe){
		.symbol_name = "perf_event_mmap",
		.pre_handler = before_perf_event_mmap,
	};
	return register_kprobe(&new_map_probe);
}

void hwpmc_mappings_unhook(void)
{
	unregister_kprobe(&new_map_probe);
}

/* ---- mappings that end ---------------------------------------------------- */

/*
 * Mappings that end. Of files: uprobe_munmap(vma, start, end) is called for each, with
 * mmap_lock held; also where one is split or joined, and then uprobe_mmap(vma) for each
 * part that stays.
 */
static int before_uprobe_munmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)regs->di;

	if (hwpmc_wants_vma(vma))
		hwpmc_unwind_maps_remove(vma->vm_mm, regs->si, regs->dx, true);
	return 0;
}

static int before_uprobe_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)regs->di;

	if (vma->vm_mm == current->mm && hwpmc_wants_vma(vma))
		hwpmc_map_follow_vma(vma);
	return 0;
}

/*
 * Of other memory only the system calls are seen. What they end is forgotten before they do
 * it, and once more after it: an attach may have listed it meanwhile. What mprotect() and
 * mmap() replace is seen by what is there then (before_perf_event_mmap()).
 */
struct call {
	unsigned long arg[5];
	bool moves;		/* mremap(), not munmap() */
};

static struct call call_of(const struct pt_regs *regs, bool narrow, bool moves)
{
	const struct pt_regs *user = (const struct pt_regs *)regs->di;

	/* Of a 32-bit program, or by int 0x80. */
	if (narrow)
		return (struct call){ { (u32)user->bx, (u32)user->cx, (u32)user->dx,
					(u32)user->si, (u32)user->di }, moves };
	return (struct call){ { user->di, user->si, user->dx, user->r10, user->r8 },
			      moves };
}

/* False: nothing was followed there. */
static bool forget_range(unsigned long start, unsigned long len, bool files)
{
	unsigned long end = start + PAGE_ALIGN(len);

	return end > start && hwpmc_unwind_maps_remove(current->mm, start, end, files);
}

/* munmap(start, len); mremap(start, len, new_len, flags, new_start) */
static void forget_ended(const struct call *call)
{
	forget_range(call->arg[0], call->arg[1], false);
	if (call->moves && call->arg[3] & MREMAP_FIXED)
		forget_range(call->arg[4], call->arg[2], false);
}

/*
 * What is there after the call: of mremap(), moved, of another length, or as it was; and what
 * another thread has mapped meanwhile. A real-time kernel allocates no memory here.
 */
static void look_again(unsigned long start, unsigned long len)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	unsigned long end = start + PAGE_ALIGN(len);
	struct mm_struct *mm = current->mm;

	if (IS_ENABLED(CONFIG_PREEMPT_RT) || end <= start)
		return;
	if (!mmap_read_trylock(mm)) {
		hwpmc_map_retry(mm, start, end, NULL, gfp);
		return;
	}
	hwpmc_map_unwind_range(mm, start, end, gfp);
	mmap_read_unlock(mm);
}

/* If something was followed there, it may be what another thread has mapped since. */
static void forget_and_look(unsigned long start, unsigned long len)
{
	if (forget_range(start, len, false))
		look_again(start, len);
}

/* What was forgotten before the call is there yet. */
static void look_at_failed(const struct call *call)
{
	look_again(call->arg[0], call->arg[1]);
	if (call->moves && call->arg[3] & MREMAP_FIXED)
		look_again(call->arg[4], call->arg[2]);
}

static int before_call(const struct pt_regs *regs, bool narrow, bool moves)
{
	struct call call = call_of(regs, narrow, moves);

	if (current->mm)
		forget_ended(&call);
	return 0;
}

/* Not 0: its return is not waited for. */
static int at_call(struct kretprobe_instance *ri, const struct pt_regs *regs, bool narrow,
		   bool moves)
{
	if (!current->mm || !hwpmc_unwind_maps_known(current->mm))
		return 1;
	*(struct call *)ri->data = call_of(regs, narrow, moves);
	return 0;
}

static int after_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct call *call = (const struct call *)ri->data;
	unsigned long ret = regs_return_value(regs);

	if (!current->mm)
		return 0;
	if (IS_ERR_VALUE(ret)) {
		look_at_failed(call);
		return 0;
	}
	forget_and_look(call->arg[0], call->arg[1]);
	if (!call->moves)
		return 0;
	/* Something else may be there. */
	forget_range(ret, call->arg[2], true);
	look_again(ret, call->arg[2]);
	return 0;
}

static int before_munmap(struct kprobe *kp, struct pt_regs *regs)
{
	return before_call(regs, false, false);
}

static int before_munmap32(struct kprobe *kp, struct pt_regs *regs)
{
	return before_call(regs, true, false);
}

static int before_mremap(struct kprobe *kp, struct pt_regs *regs)
{
	return before_call(regs, false, true);
}

static int before_mremap32(struct kprobe *kp, struct pt_regs *regs)
{
	return before_call(regs, true, true);
}

static int at_munmap(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return at_call(ri, regs, false, false);
}

static int at_munmap32(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return at_call(ri, regs, true, false);
}

static int at_mremap(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return at_call(ri, regs, false, true);
}

static int at_mremap32(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return at_call(ri, regs, true, true);
}

static const struct ending {
	const char *symbol;
	kprobe_pre_handler_t before;
	kretprobe_handler_t at;		/* NULL: its return is not waited for */
	bool optional;			/* kernels without 32-bit programs have it not */
} endings[] = {
	{ "uprobe_munmap", before_uprobe_munmap },
	{ "uprobe_mmap", before_uprobe_mmap },
	{ "__x64_sys_munmap", before_munmap, at_munmap },
	{ "__x64_sys_mremap", before_mremap, at_mremap },
	{ "__ia32_sys_munmap", before_munmap32, at_munmap32, true },
	{ "__ia32_sys_mremap", before_mremap32, at_mremap32, true },
};

/* Calls at a time whose return is waited for; of others it is not. */
#define RETURNS		64

static struct kprobe before_probes[ARRAY_SIZE(endings)];
static struct kretprobe after_probes[ARRAY_SIZE(endings)];
static unsigned int map_probes_users;		/* hwpmc_lock */

static int hook_ending(unsigned int i)
{
	int ret;

	/* Fields that an earlier registration set would be refused. */
	before_probes[i] = (struct kprobe){
		.symbol_name = endings[i].symbol, .pre_handler = endings[i].before,
	};
	ret = register_kprobe(&before_probes[i]);
	if (ret) {
		before_probes[i].addr = NULL;
		return ret;
	}
	if (!endings[i].at)
		return 0;
	after_probes[i] = (struct kretprobe){
		.kp.symbol_name = endings[i].symbol, .entry_handler = endings[i].at,
		.handler = after_call, .data_size = sizeof(struct call),
		.maxactive = RETURNS,
	};
	ret = register_kretprobe(&after_probes[i]);
	if (ret) {
		unregister_kprobe(&before_probes[i]);
		before_probes[i].addr = NULL;
	}
	return ret;
}

static void unhook_ending(unsigned int i)
{
	/* Without an address: it was not registered. */
	if (!before_probes[i].addr)
		return;
	if (endings[i].at)
		unregister_kretprobe(&after_probes[i]);
	unregister_kprobe(&before_probes[i]);
	before_probes[i].addr = NULL;
}

int hwpmc_mappings_follow(void)
{
	unsigned int i;
	int ret = 0;

	lockdep_assert_held(&hwpmc_lock);
	for (i = 0; !map_probes_users && !ret && i < ARRAY_SIZE(endings); i++) {
		ret = hook_ending(i);
		if (ret == -ENOENT && endings[i].optional)
			ret = 0;
	}
	if (ret) {
		while (i--)
			unhook_ending(i);
		return ret;
	}
	map_probes_users++;
	hwpmc_unwind_maps_get();
	return 0;
}

void hwpmc_mappings_unfollow(void)
{
	unsigned int i;

	lockdep_assert_held(&hwpmc_lock);
	hwpmc_unwind_maps_put();
	if (--map_probes_users)
		return;
	for (i = 0; i < ARRAY_SIZE(endings); i++)
		unhook_ending(i);
}
