// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * mappings.c - executable mappings of processes, as MAP_IN records. New mappings are
 * found by a kprobe on perf_event_mmap(), which every kernel calls for each of them;
 * there is no tracepoint. The kprobe slows every mmap() of the machine down, so it
 * is registered only while a log needs it.
 *
 * Contexts: the kprobe's handler has preemption off and holds mmap_lock for writing;
 * the rest is also called from probes and from snapshots. On a real-time kernel the
 * spin locks of a path sleep: see kmod/log/deferred.c. On a kernel without the
 * function tracer the kprobe is a breakpoint, which lockdep treats as an NMI and
 * reports d_path()'s locks. The interrupted code cannot hold them: perf_event_mmap()
 * may sleep, so it is not called under a spin lock.
 */
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/percpu.h>

#include "../compat/inode.h"
#include "../compat/pagecache.h"
#include "../compat/vma.h"
#include "../core/owner.h"
#include "buildid.h"
#include "../sampling/log.h"
#include "../sampling/scratch.h"
#include "../sampling/unwind_maps.h"
#include "task_event.h"

bool hwpmc_wants_vma(const struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_EXEC;
}

static const char *path_of(const struct hwpmc_map *m, char *page)
{
	const char *path;

	if (!m->file)
		return m->name ?: "//anon";
	path = hwpmc_mapped_path(m->file, page, PAGE_SIZE);
	return IS_ERR(path) ? "//toolong" : path;
}

/* False: its first page is not in the page cache. */
static bool look_into_file(struct hwpmc_log_map *r, struct file *file)
{
	unsigned int n = 0;
	const void *head;
	struct page *page;

	if (!S_ISREG(file_inode(file)->i_mode))
		return true;
	head = hwpmc_first_page(file, &page);
	if (!head)
		return false;
	n = hwpmc_build_id(head, PAGE_SIZE, r->build_id, sizeof(r->build_id));
	if (hwpmc_elf_slide(head, PAGE_SIZE, r->offset, &r->slide))
		r->hdr.flags |= HWPMC_MAP_HAS_SLIDE;
	hwpmc_page_put(page);
	r->build_id_len = n;
	if (n)
		r->hdr.flags |= HWPMC_MAP_HAS_BUILD_ID;
	return true;
}

void hwpmc_map_init(struct hwpmc_map *m, struct vm_area_struct *vma)
{
	memset(m, 0, sizeof(*m));
	m->r.start = vma->vm_start;
	m->r.end = vma->vm_end;
	m->file = vma->vm_file;
	if (m->file)
		m->r.offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	else
		/* NULL for mappings without vm_ops->name: "//anon". */
		m->name = hwpmc_vma_name(vma);
}

void hwpmc_map_identify(struct hwpmc_map *m)
{
	if (m->file) {
		const struct inode *inode = file_inode(m->file);
		const struct inode *shown = hwpmc_mapped_inode(m->file);

		m->r.inode = shown->i_ino;
		m->r.major = MAJOR(shown->i_sb->s_dev);
		m->r.minor = MINOR(shown->i_sb->s_dev);
		m->at = (struct hwpmc_log_file){
			.size = i_size_read(inode),
			.mtime = hwpmc_inode_mtime(inode),
			.ctime = hwpmc_inode_ctime(inode),
		};
		m->r.hdr.flags |= HWPMC_MAP_HAS_FILE;
		m->unread = !look_into_file(&m->r, m->file);
		if (m->unread)
			m->r.hdr.flags |= HWPMC_MAP_UNREAD;
	} else {
		m->r.hdr.flags |= HWPMC_MAP_ANON;
	}
}

void hwpmc_map_look_up(struct hwpmc_map *m, char *page)
{
	m->path = path_of(m, page);
	hwpmc_map_identify(m);
}

/* again: if the file cannot be read here, this comes back later. */
static void follow_vma(struct vm_area_struct *vma, gfp_t gfp, bool again)
{
	struct hwpmc_map m;

	if (!hwpmc_wants_vma(vma)) {
		hwpmc_unwind_maps_remove(vma->vm_mm, vma->vm_start, vma->vm_end, true);
		return;
	}
	hwpmc_map_init(&m, vma);
	hwpmc_map_identify(&m);
	m.unread &= again;
	hwpmc_map_follow(&m, vma->vm_mm, gfp);
}

void hwpmc_follow_vma(struct vm_area_struct *vma)
{
	if (!hwpmc_unwind_maps_wanted() || !hwpmc_unwind_maps_known(vma->vm_mm))
		return;
	/* A real-time kernel allocates no memory here: deferred.c adds it. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		hwpmc_unwind_maps_remove(vma->vm_mm, vma->vm_start, vma->vm_end, true);
	else
		follow_vma(vma, GFP_ATOMIC | __GFP_NOWARN, true);
}

/* Mappings that a probe looks at: a program could have any number of them. */
#define RANGE_MAPS	256

void hwpmc_follow_range(struct mm_struct *mm, u64 start, u64 end, gfp_t gfp)
{
	unsigned int left = RANGE_MAPS;
	struct vm_area_struct *vma;
	u64 at = start;

	while (at < end && left--) {
		vma = find_vma(mm, at);
		if (!vma || vma->vm_start >= end)
			break;
		if (vma->vm_start > at)
			hwpmc_unwind_maps_remove(mm, at, vma->vm_start, true);
		follow_vma(vma, gfp, false);
		at = vma->vm_end;
	}
	if (at < end)
		hwpmc_unwind_maps_remove(mm, at, end, true);
}

bool hwpmc_put_map(struct hwpmc_owner *owner, s32 pid, const struct hwpmc_map *m,
		   u8 flags)
{
	struct hwpmc_log *log = READ_ONCE(owner->log);
	size_t len = strlen(m->path);
	size_t size = ALIGN(sizeof(struct hwpmc_log_map) + len + 1, HWPMC_LOG_ALIGN);
	size_t more = m->r.hdr.flags & HWPMC_MAP_HAS_FILE ? sizeof(m->at) : 0;
	struct hwpmc_log_map *r;

	if (!log)
		return true;
	preempt_disable();
	r = hwpmc_log_reserve(log, HWPMC_LOG_MAP_IN, size + more);
	if (r) {
		/* No old byte of the ring between the path and what follows it. */
		memset((u8 *)r + size - HWPMC_LOG_ALIGN, 0, HWPMC_LOG_ALIGN);
		memcpy((u8 *)r + sizeof(r->hdr), (u8 *)&m->r + sizeof(r->hdr),
		       sizeof(*r) - sizeof(r->hdr));
		r->hdr.flags = m->r.hdr.flags | flags;
		r->pid = pid;
		memcpy(r->path, m->path, len + 1);
		memcpy((u8 *)r + size, &m->at, more);
		hwpmc_log_commit(log);
	}
	preempt_enable();
	return r;
}

void hwpmc_put_own_map(struct hwpmc_owner *owner, void *map)
{
	hwpmc_put_map(owner, hwpmc_owner_tgid_nr(owner, current), map, 0);
}

static void put_live(struct hwpmc_owner *owner, void *vma)
{
	struct hwpmc_map m;

	hwpmc_map_init(&m, vma);
	hwpmc_map_look_up(&m, this_cpu_ptr(hwpmc_scratch)->path);
	hwpmc_put_own_map(owner, &m);
}

static int before_perf_event_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)regs->di;

	/*
	 * The exec probe reports all that an exec maps. Before that, the PMCs of owners who may
	 * not see a program that has gained rights are still attached.
	 */
	if (vma->vm_mm != current->mm || current->in_execve)
		return 0;
	hwpmc_follow_vma(vma);
	if (!hwpmc_wants_vma(vma))
		return 0;
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		hwpmc_defer_map(vma);
	else
		hwpmc_task_event(current, put_live, vma);
	return 0;
}

static struct kprobe kprobe;

int hwpmc_mappings_hook(void)
{
	/* register_kprobe() refuses fields that an earlier registration set. */
	kprobe = (struct kprobe){
		.symbol_name = "perf_event_mmap",
		.pre_handler = before_perf_event_mmap,
	};
	return register_kprobe(&kprobe);
}

void hwpmc_mappings_unhook(void)
{
	unregister_kprobe(&kprobe);
}
