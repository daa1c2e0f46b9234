// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * mappings.c - executable memory of processes, as MAP_IN records: live by a kprobe on
 * the function that tells perf of a new mapping, which all kernels call and which
 * has no tracepoint. The kprobe costs every mmap() of the machine, so it is there
 * only while a log wants it.
 *
 * Contexts: the kprobe's handler has preemption off and the mm's lock for writing;
 * hwpmc_put_map() is also called from probes and from snapshots. On a kernel without
 * the function tracer the kprobe is a breakpoint, which the kernel takes for an NMI:
 * its lockdep then complains of d_path()'s locks. They cannot be held by what was
 * interrupted: perf_event_mmap() may sleep, so nobody calls it under a spin lock.
 */
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/percpu.h>

#include "../compat/pagecache.h"
#include "../compat/vma.h"
#include "../core/owner.h"
#include "buildid.h"
#include "log.h"
#include "scratch.h"
#include "tell.h"

bool hwpmc_wants_vma(const struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_EXEC;
}

static const char *path_of(struct vm_area_struct *vma, char *page)
{
	const char *path;

	if (!vma->vm_file) {
		path = hwpmc_vma_name(vma);
		/* x86's vsyscall page has no vm_ops of its own kind. */
		return path ?: "//anon";
	}
	path = file_path(vma->vm_file, page, PAGE_SIZE);
	return IS_ERR(path) ? "//toolong" : path;
}

static void put_build_id(struct hwpmc_log_map *r, struct file *file)
{
	u8 id[HWPMC_LOG_BUILD_ID] = {};
	unsigned int n = 0;
	const void *head;
	struct page *page;

	head = file && S_ISREG(file_inode(file)->i_mode) ?
	       hwpmc_first_page(file, &page) : NULL;
	if (head) {
		n = hwpmc_build_id(head, PAGE_SIZE, id, sizeof(id));
		hwpmc_page_put(page);
	}
	r->build_id_len = n;
	memcpy(r->build_id, id, sizeof(id));
	if (n)
		r->hdr.flags |= HWPMC_MAP_HAS_BUILD_ID;
}

static void put_file(struct hwpmc_log_map *r, struct file *file)
{
	struct inode *inode = file ? file_inode(file) : NULL;

	r->inode = inode ? inode->i_ino : 0;
	r->major = inode ? MAJOR(inode->i_sb->s_dev) : 0;
	r->minor = inode ? MINOR(inode->i_sb->s_dev) : 0;
	if (!file)
		r->hdr.flags |= HWPMC_MAP_ANON;
}

bool hwpmc_put_map(struct hwpmc_owner *owner, s32 pid,
		   struct vm_area_struct *vma, u8 flags, char *page)
{
	struct hwpmc_log *log = READ_ONCE(owner->log);
	const char *path = path_of(vma, page);
	size_t len = strlen(path);
	struct hwpmc_log_map *r;

	if (!log)
		return true;
	preempt_disable();
	r = hwpmc_log_reserve(log, HWPMC_LOG_MAP_IN, sizeof(*r) + len + 1);
	if (r) {
		r->hdr.flags = flags;
		r->pid = pid;
		r->start = vma->vm_start;
		r->end = vma->vm_end;
		r->offset = vma->vm_file ? (u64)vma->vm_pgoff << PAGE_SHIFT : 0;
		r->__reserved = 0;
		put_file(r, vma->vm_file);
		put_build_id(r, vma->vm_file);
		memcpy(r->path, path, len + 1);
		hwpmc_log_commit(log);
	}
	preempt_enable();
	return r;
}

static void put_live(struct hwpmc_owner *owner, void *arg)
{
	hwpmc_put_map(owner, hwpmc_owner_tgid_nr(owner, current), arg, 0,
		      this_cpu_ptr(hwpmc_scratch)->path);
}

static int before_perf_event_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)regs->di;

	if (hwpmc_wants_vma(vma) && vma->vm_mm == current->mm)
		hwpmc_tell(current, put_live, vma);
	return 0;
}

static struct kprobe kprobe;

int hwpmc_mappings_hook(void)
{
	/* What the kernel left in it at the last time is in its way. */
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
