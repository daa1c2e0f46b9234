// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * follow.c - keeps the executable mappings up to date that walks by unwind tables need
 * (sampling/unwind_maps.h). New ones come from mappings.c, the end of some is seen here.
 */
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "../compat/vma.h"
#include "../core/lock.h"
#include "../sampling/unwind_maps.h"
#include "task_event.h"

static u8 kind_of(const struct hwpmc_map *m)
{
	if (m->file)
		return UNWIND_FILE_INODE;
	return m->name && !strcmp(m->name, "[vdso]") ? UNWIND_FILE_VDSO :
		UNWIND_FILE_NONE;
}

static void map_for_walks(const struct hwpmc_map *m, struct hwpmc_unwind_map *u)
{
	*u = (struct hwpmc_unwind_map){
		.start = m->r.start, .end = m->r.end,
		.shift = m->r.start - m->r.offset,
		.file = {
			.inode = m->r.inode,
			.dev = MKDEV(m->r.major, m->r.minor),
			.kind = kind_of(m),
			.build_id_len = m->r.build_id_len,
		},
	};
	memcpy(u->file.build_id, m->r.build_id, m->r.build_id_len);
}

/* What moves the break is called too often for a probe: for walks no code is there. */
static bool is_heap(const struct hwpmc_map *m, const struct mm_struct *mm)
{
	return !m->file && m->r.start <= mm->brk && m->r.end >= mm->start_brk;
}

void hwpmc_map_follow(const struct hwpmc_map *m, struct mm_struct *mm, gfp_t gfp)
{
	struct hwpmc_unwind_map u;

	if (!hwpmc_unwind_maps_wanted() || !hwpmc_unwind_maps_known(mm))
		return;
	if (is_heap(m, mm)) {
		hwpmc_unwind_maps_remove(mm, m->r.start, m->r.end, true);
		return;
	}
	map_for_walks(m, &u);
	hwpmc_unwind_maps_add(mm, &u, gfp);
	if (m->unread)
		hwpmc_look_later(mm, m->r.start, m->r.end, m->file, gfp);
}

/* After they are followed: a look before would find nothing to add to. */
static void look_at_unread(struct mm_struct *mm, gfp_t gfp)
{
	struct hwpmc_vma_walk walk = HWPMC_VMA_WALK(mm);
	struct vm_area_struct *vma;
	struct hwpmc_map m;

	while ((vma = hwpmc_vma_next(&walk))) {
		if (!hwpmc_wants_vma(vma))
			continue;
		hwpmc_map_init(&m, vma);
		hwpmc_map_identify(&m);
		if (m.unread)
			hwpmc_look_later(mm, m.r.start, m.r.end, m.file, gfp);
	}
}

/* Of more than can be followed, anonymous code is left out: no table describes it. */
void hwpmc_mappings_fill(struct mm_struct *mm, gfp_t gfp)
{
	struct hwpmc_vma_walk walk = HWPMC_VMA_WALK(mm);
	struct hwpmc_unwind_maps *maps;
	struct vm_area_struct *vma;
	bool unread = false;
	unsigned int n = 0;
	struct hwpmc_map m;

	if (!hwpmc_unwind_maps_wanted())
		return;
	while ((vma = hwpmc_vma_next(&walk)))
		n += hwpmc_wants_vma(vma);
	maps = hwpmc_unwind_maps_alloc(min(n, HWPMC_UNWIND_MAPS_MAX), gfp);
	walk = (struct hwpmc_vma_walk)HWPMC_VMA_WALK(mm);
	while (maps && (vma = hwpmc_vma_next(&walk))) {
		if (!hwpmc_wants_vma(vma) || (!vma->vm_file && !vma->vm_ops &&
					      n > HWPMC_UNWIND_MAPS_MAX))
			continue;
		hwpmc_map_init(&m, vma);
		hwpmc_map_identify(&m);
		if (is_heap(&m, mm))
			continue;
		unread |= m.unread;
		map_for_walks(&m, &maps->map[maps->n++]);
		if (maps->n == HWPMC_UNWIND_MAPS_MAX)
			break;
	}
	hwpmc_unwind_maps_set(mm, maps, gfp);
	if (unread)
		look_at_unread(mm, gfp);
}

/*
 * Walks of the child's stack need its mappings: those of its parent, unless other threads
 * may have changed these since the memory was copied; those of the child itself are looked
 * at then, of which nothing but files of /proc can hold the lock. A real-time kernel
 * allocates no memory here; there its chains end until it executes a program.
 */
void hwpmc_follow_fork(struct task_struct *child)
{
	struct mm_struct *mm = child->mm;

	if (!hwpmc_unwind_maps_wanted() || IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	if (!current->mm || !mm || mm == current->mm || !hwpmc_task_event_wanted(child))
		return;
	if (atomic_read(&current->mm->mm_users) == 1) {
		hwpmc_unwind_maps_fork(current->mm, mm);
	} else if (mmap_read_trylock(mm)) {
		hwpmc_mappings_fill(mm, GFP_ATOMIC | __GFP_NOWARN);
		mmap_read_unlock(mm);
	}
}

/* The mm is new: only files of /proc can hold its lock. A real-time kernel does it on the
 * return to user mode. */
void hwpmc_follow_exec(void)
{
	if (!hwpmc_unwind_maps_wanted() || IS_ENABLED(CONFIG_PREEMPT_RT) ||
	    !hwpmc_task_event_wanted(current) || !mmap_read_trylock(current->mm))
		return;
	hwpmc_mappings_fill(current->mm, GFP_ATOMIC | __GFP_NOWARN);
	mmap_read_unlock(current->mm);
}

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
		hwpmc_follow_vma(vma);
	return 0;
}

/*
 * Of other memory only the system calls are seen. What they end is forgotten before they do
 * it, and once more after it: an attach may have listed it meanwhile. What mprotect() and
 * mmap() replace is seen by what is there then (mappings.c).
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
		hwpmc_look_later(mm, start, end, NULL, gfp);
		return;
	}
	hwpmc_follow_range(mm, start, end, gfp);
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

static struct kprobe before[ARRAY_SIZE(endings)];
static struct kretprobe after[ARRAY_SIZE(endings)];
static unsigned int followers;		/* hwpmc_lock */

static int hook_ending(unsigned int i)
{
	int ret;

	/* Fields that an earlier registration set would be refused. */
	before[i] = (struct kprobe){
		.symbol_name = endings[i].symbol, .pre_handler = endings[i].before,
	};
	ret = register_kprobe(&before[i]);
	if (ret) {
		before[i].addr = NULL;
		return ret;
	}
	if (!endings[i].at)
		return 0;
	after[i] = (struct kretprobe){
		.kp.symbol_name = endings[i].symbol, .entry_handler = endings[i].at,
		.handler = after_call, .data_size = sizeof(struct call),
		.maxactive = RETURNS,
	};
	ret = register_kretprobe(&after[i]);
	if (ret) {
		unregister_kprobe(&before[i]);
		before[i].addr = NULL;
	}
	return ret;
}

static void unhook_ending(unsigned int i)
{
	/* Without an address: it was not registered. */
	if (!before[i].addr)
		return;
	if (endings[i].at)
		unregister_kretprobe(&after[i]);
	unregister_kprobe(&before[i]);
	before[i].addr = NULL;
}

int hwpmc_mappings_follow(void)
{
	unsigned int i;
	int ret = 0;

	lockdep_assert_held(&hwpmc_lock);
	for (i = 0; !followers && !ret && i < ARRAY_SIZE(endings); i++) {
		ret = hook_ending(i);
		if (ret == -ENOENT && endings[i].optional)
			ret = 0;
	}
	if (ret) {
		while (i--)
			unhook_ending(i);
		return ret;
	}
	followers++;
	hwpmc_unwind_maps_get();
	return 0;
}

void hwpmc_mappings_unfollow(void)
{
	unsigned int i;

	lockdep_assert_held(&hwpmc_lock);
	hwpmc_unwind_maps_put();
	if (--followers)
		return;
	for (i = 0; i < ARRAY_SIZE(endings); i++)
		unhook_ending(i);
}
