// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * x86_held.c - see x86_held.h.
 *
 * The kernel's table of reservations cannot be read by a module. So probes of the functions
 * that reserve and release a select note what others have reserved: perf, before it opens its
 * first event, and after the last one. What was reserved before the probes is found by trying
 * once, at load; each claim tries as well, and corrects what is noted.
 */
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "x86_held.h"

/* As many selects as the largest machine has, and more. */
#define MOST	128

static DEFINE_RAW_SPINLOCK(held_lock);	/* a leaf; interrupts off */
static u32 held[MOST];			/* selects that others have; held_lock, */
static unsigned int nheld;		/* number of them; read anywhere */
static bool held_before;		/* some that are not in the list */
static u64 times;			/* reservations by others, from 1 on */
static u64 releases;

/* The task in which the module reserves; written there. */
static struct task_struct *trying;
static u64 releases_before;		/* that attempt; of its task */
static bool ready;			/* constant after load */

static void note_reserved(u32 msr)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&held_lock, flags);
	WRITE_ONCE(times, times + 1);
	if (nheld < MOST) {
		held[nheld] = msr;
		WRITE_ONCE(nheld, nheld + 1);
	}
	raw_spin_unlock_irqrestore(&held_lock, flags);
}

static void note_released(u32 msr)
{
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&held_lock, flags);
	/* A release of one of them is a release of all. */
	WRITE_ONCE(held_before, false);
	WRITE_ONCE(releases, releases + 1);
	for (i = 0; i < nheld && held[i] != msr; i++)
		;
	if (i < nheld) {
		held[i] = held[nheld - 1];
		WRITE_ONCE(nheld, nheld - 1);
	}
	raw_spin_unlock_irqrestore(&held_lock, flags);
}

static bool is_ours(void)
{
	return READ_ONCE(trying) == current;
}

/* Returns non-zero to skip the return probe. */
static int reserve_begins(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(u32 *)ri->data = regs->di;
	return is_ours();
}

static int reserve_ends(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if ((int)regs_return_value(regs))
		note_reserved(*(u32 *)ri->data);
	return 0;
}

static int release_begins(struct kprobe *kp, struct pt_regs *regs)
{
	if (!is_ours())
		note_released(regs->di);
	return 0;
}

static struct kretprobe reserve_probe;
static struct kprobe release_probe;

void hwpmc_x86_held_init(void)
{
	int ret;

	reserve_probe = (struct kretprobe){
		.kp.symbol_name = "reserve_evntsel_nmi", .data_size = sizeof(u32),
		.entry_handler = reserve_begins, .handler = reserve_ends, .maxactive = 16,
	};
	release_probe = (struct kprobe){
		.symbol_name = "release_evntsel_nmi", .pre_handler = release_begins,
	};
	ret = register_kprobe(&release_probe);
	if (!ret) {
		ret = register_kretprobe(&reserve_probe);
		if (ret)
			unregister_kprobe(&release_probe);
	}
	ready = !ret;
	times = ready;
	if (ret)
		pr_info("the holder of the counters is found only by attempts to allocate: no probe of reservations (%d)\n",
			ret);
}

void hwpmc_x86_held_exit(void)
{
	if (!ready)
		return;
	unregister_kretprobe(&reserve_probe);
	unregister_kprobe(&release_probe);
	ready = false;
}

void hwpmc_x86_held_try(void)
{
	releases_before = READ_ONCE(releases);
	WRITE_ONCE(trying, current);
}

void hwpmc_x86_held_asked(void)
{
	WRITE_ONCE(trying, NULL);
}

void hwpmc_x86_held_tried(bool others)
{
	unsigned long flags;

	WRITE_ONCE(trying, NULL);
	raw_spin_lock_irqsave(&held_lock, flags);
	if (!others)
		WRITE_ONCE(nheld, 0);
	/* From before the probes, or where there are none. */
	WRITE_ONCE(held_before, others && !nheld && releases == releases_before);
	raw_spin_unlock_irqrestore(&held_lock, flags);
}

bool hwpmc_x86_is_held(void)
{
	return READ_ONCE(held_before) || READ_ONCE(nheld);
}

u64 hwpmc_x86_held_times(void)
{
	return READ_ONCE(times);
}
