// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * syscore.c - registers suspend and resume callbacks. The kernel takes a table of
 * operations, or, since 6.18 and in late 6.12 stable releases, an object with one.
 */
#include <linux/syscore_ops.h>

#include "have.h"
#include "syscore.h"

static int (*on_suspend)(void);
static void (*on_resume)(void);

#ifdef HAVE_SYSCORE_OBJECT
static int syscore_suspend_here(void *data)
{
	return on_suspend();
}

static void syscore_resume_here(void *data)
{
	on_resume();
}

static const struct syscore_ops ops = {
	.suspend = syscore_suspend_here,
	.resume = syscore_resume_here,
};

static struct syscore entry = { .ops = &ops };
#define register_entry		register_syscore
#define unregister_entry	unregister_syscore
#else
static int syscore_suspend_here(void)
{
	return on_suspend();
}

static void syscore_resume_here(void)
{
	on_resume();
}

static struct syscore_ops entry = {
	.suspend = syscore_suspend_here,
	.resume = syscore_resume_here,
};

#define register_entry		register_syscore_ops
#define unregister_entry	unregister_syscore_ops
#endif

void hwpmc_syscore_register(int (*suspend_fn)(void), void (*resume_fn)(void))
{
	on_suspend = suspend_fn;
	on_resume = resume_fn;
	register_entry(&entry);
}

void hwpmc_syscore_unregister(void)
{
	unregister_entry(&entry);
}
