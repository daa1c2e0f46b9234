// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * follow.c - keeps the executable mappings up to date that walks by unwind tables need
 * (sampling/unwind_maps.h). New ones come from mappings.c, the end of some is seen here.
 */
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
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

void hwpmc_map_follow(const struct hwpmc_map *m, gfp_t gfp)
{
	struct hwpmc_unwind_map u;

	if (!hwpmc_unwind_maps_wanted() || !hwpmc_unwind_maps_known(current->mm))
		return;
	map_for_walks(m, &u);
	hwpmc_unwind_maps_add(current->mm, &u, gfp);
}

void hwpmc_mappings_fill(struct mm_struct *mm, gfp_t gfp)
{
	struct hwpmc_vma_walk walk = HWPMC_VMA_WALK(mm);
	struct hwpmc_unwind_maps *maps;
	struct vm_area_struct *vma;
	unsigned int n = 0;
	struct hwpmc_map m;

	if (!hwpmc_unwind_maps_wanted())
		return;
	while ((vma = hwpmc_vma_next(&walk)))
		n += hwpmc_wants_vma(vma);
	maps = hwpmc_unwind_maps_alloc(n, gfp);
	walk = (struct hwpmc_vma_walk)HWPMC_VMA_WALK(mm);
	while (maps && maps->n < n && (vma = hwpmc_vma_next(&walk))) {
		if (!hwpmc_wants_vma(vma))
			continue;
		hwpmc_map_init(&m, vma);
		hwpmc_map_identify(&m);
		map_for_walks(&m, &maps->map[maps->n++]);
	}
	hwpmc_unwind_maps_set(mm, maps, gfp);
}

/* Walks of the child's stack need its mappings: those of its parent. A real-time kernel
 * allocates no memory here; there its chains end until it executes a program. */
void hwpmc_follow_fork(struct task_struct *child)
{
	if (!hwpmc_unwind_maps_wanted() || IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	if (current->mm && child->mm && hwpmc_task_event_wanted(child))
		hwpmc_unwind_maps_fork(current->mm, child->mm);
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
 * mmap_lock held. Of other memory only munmap() itself is seen, before it is done: if it
 * fails, chains end there, and say so.
 */
static int before_uprobe_munmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)regs->di;

	if (hwpmc_wants_vma(vma))
		hwpmc_unwind_maps_remove(vma->vm_mm, regs->si, regs->dx, true);
	return 0;
}

static int before_munmap(struct kprobe *kp, struct pt_regs *regs)
{
	const struct pt_regs *user = (const struct pt_regs *)regs->di;
	u64 start = user->di, len = PAGE_ALIGN(user->si);

	if (current->mm && start + len > start)
		hwpmc_unwind_maps_remove(current->mm, start, start + len, false);
	return 0;
}

static struct kprobe munmap_file, munmap_other;
static unsigned int followers;		/* hwpmc_lock */

int hwpmc_mappings_follow(void)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (!followers) {
		munmap_file = (struct kprobe){
			.symbol_name = "uprobe_munmap",
			.pre_handler = before_uprobe_munmap,
		};
		munmap_other = (struct kprobe){
			.symbol_name = "__x64_sys_munmap",
			.pre_handler = before_munmap,
		};
		ret = register_kprobe(&munmap_file);
		if (ret)
			return ret;
		ret = register_kprobe(&munmap_other);
		if (ret) {
			unregister_kprobe(&munmap_file);
			return ret;
		}
	}
	followers++;
	hwpmc_unwind_maps_get();
	return 0;
}

void hwpmc_mappings_unfollow(void)
{
	lockdep_assert_held(&hwpmc_lock);
	hwpmc_unwind_maps_put();
	if (--followers)
		return;
	unregister_kprobe(&munmap_file);
	unregister_kprobe(&munmap_other);
}
