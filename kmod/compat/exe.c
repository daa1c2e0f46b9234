// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * exe.c - get_task_exe_file() of the kernel, which is not exported. get_file_rcu()
 * takes the file's pointer or, since 6.7, the address of that.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "exe.h"
#include "have.h"

/*
 * Under task_lock(), without a reference to the mm: the release of the last one waits for
 * the program's own I/O, and the caller may hold a lock.
 */
static struct file *exe_file(struct mm_struct *mm)
{
	struct file *file;

	rcu_read_lock();
#ifdef HAVE_GET_FILE_RCU_SLOT
	file = get_file_rcu(&mm->exe_file);
#else
	file = rcu_dereference(mm->exe_file);
	if (file && !get_file_rcu(file))
		file = NULL;
#endif
	rcu_read_unlock();
	return file;
}

const char *hwpmc_task_exe_path(struct task_struct *task, char *buf, size_t size)
{
	const char *path = "";
	struct file *file;

	task_lock(task);
	file = task->mm && !(task->flags & PF_KTHREAD) ? exe_file(task->mm) : NULL;
	task_unlock(task);
	if (!file)
		return path;
	path = file_path(file, buf, size);
	fput(file);
	return IS_ERR(path) ? "" : path;
}
