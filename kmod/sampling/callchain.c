// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * callchain.c - frames of the kernel and of user programs. Runs in NMI: takes no
 * lock, allocates nothing, faults nothing in. A page of the user stack that is not
 * present ends the chain, and HWPMC_SAMPLE_FAULT says so.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/cpu_entry_area.h>
#include <asm/unwind.h>

#include "../core/owner.h"
#include "../core/pmc.h"
#include "callchain.h"
#include "unwind.h"
#include "hwpmc_log.h"	/* uapi */

static unsigned int kernel_frames_nmi(struct pt_regs *regs, u64 *pc,
				      unsigned int max)
{
	struct unwind_state state;
	unsigned int n = 0;
	unsigned long addr;

	unwind_start(&state, current, regs, NULL);
	for (; n < max && !unwind_done(&state); unwind_next_frame(&state)) {
		addr = unwind_get_return_address(&state);
		if (!addr)
			break;
		pc[n++] = addr;
	}
	return n;
}

/* The callers of this module, without its own frames; at least one entry. Not in NMI:
 * there a sample has registers. */
static unsigned int frames_from_here_nmi(u64 *pc, unsigned int max)
{
	struct unwind_state state;
	unsigned int n = 0;

	pc[0] = _THIS_IP_;
	for (unwind_start(&state, current, NULL, NULL);
	     n < max && !unwind_done(&state); unwind_next_frame(&state)) {
		unsigned long addr = unwind_get_return_address(&state);

		if (!addr)
			break;
		if (!within_module(addr, THIS_MODULE))
			pc[n++] = addr;
	}
	return max(n, 1u);
}

/* What a frame pointer points to. */
struct user_frame {
	u64 next;		/* frame pointer of the caller */
	u64 ret;		/* return address */
};

static bool read_frame_nmi(unsigned long at, bool wide, struct user_frame *f)
{
	const u64 __user *long_words = (const u64 __user *)at;
	const u32 __user *words = (const u32 __user *)at;
	u32 next, ret;

	if (!user_access_begin(long_words, sizeof(*f)))
		return false;
	if (likely(wide)) {
		unsafe_get_user(f->next, &long_words[0], fault);
		unsafe_get_user(f->ret, &long_words[1], fault);
	} else {
		unsafe_get_user(next, &words[0], fault);
		unsafe_get_user(ret, &words[1], fault);
		f->next = next;
		f->ret = ret;
	}
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/* Each frame must lie above the one before: so a damaged chain ends, too. */
static unsigned int walk_frames_nmi(const struct pt_regs *regs, bool wide,
				    u64 *pc, unsigned int max, u8 *flags)
{
	unsigned long fp = regs->bp, sp = regs->sp;
	unsigned long word = wide ? sizeof(u64) : sizeof(u32);
	struct user_frame f;
	unsigned int n = 0;

	while (n < max && fp >= sp && !(fp & (word - 1))) {
		if (!read_frame_nmi(fp, wide, &f)) {
			*flags |= HWPMC_SAMPLE_FAULT;
			break;
		}
		if (!f.ret)
			break;
		pc[n++] = f.ret;
		sp = fp + 2 * word;
		fp = f.next;
	}
	return n;
}

static bool is_64bit_nmi(const struct pt_regs *regs)
{
	return regs->cs == __USER_CS;
}

/* While an mm is being switched the page tables loaded are not those of current.
 * copy_from_user_nmi() fails then: use it as the test. */
static bool user_memory_is_there_nmi(unsigned long sp)
{
	u8 byte;

	return !copy_from_user_nmi(&byte, (const void __user *)sp, 1);
}

static unsigned int user_frames_nmi(const struct pt_regs *regs, u64 *pc,
				    unsigned int max, u8 *flags)
{
	unsigned int n;

	if (!max)
		return 0;
	if (!user_memory_is_there_nmi(regs->sp)) {
		*flags |= HWPMC_SAMPLE_FAULT;
		return 0;
	}
	pagefault_disable();
	if (!is_64bit_nmi(regs))
		*flags |= HWPMC_SAMPLE_32BIT;
	n = walk_frames_nmi(regs, is_64bit_nmi(regs), pc, max, flags);
	pagefault_enable();
	return n;
}

static unsigned int table_frames_nmi(const struct hwpmc_pmc *pmc,
				     const struct pt_regs *regs, u64 *pc,
				     unsigned int max, u8 *flags)
{
	unsigned int n;

	pagefault_disable();
	n = hwpmc_unwind_chain_nmi(pmc, regs, pc, max, user_memory_is_there_nmi(regs->sp),
				   flags);
	pagefault_enable();
	return n;
}

static unsigned int user_chain_nmi(const struct hwpmc_pmc *pmc,
				   const struct pt_regs *regs, u64 *pc,
				   unsigned int max, u8 *flags)
{
	pc[0] = regs->ip;
	if (!(pmc->flags & HWPMC_F_CALLCHAIN))
		return 1;
	if (pmc->flags & HWPMC_F_TABLES && is_64bit_nmi(regs))
		return table_frames_nmi(pmc, regs, pc, max, flags);
	return 1 + user_frames_nmi(regs, pc + 1, max - 1, flags);
}

/* Amid an exec the memory is that of the new program, which may have gained rights; its
 * PMCs are taken away by the probe that follows. */
static bool may_read_user_nmi(const struct hwpmc_pmc *pmc)
{
	return current->mm && !(current->flags & PF_KTHREAD) &&
		(pmc->privileged || !current->in_execve);
}

/* ---- where user mode was left --------------------------------------------- */

/*
 * The registers at the end of a stack that the kernel was entered on, as far as they have been
 * saved: they are pushed from the end down, the ones of the interrupt's frame first. On the way
 * out they are popped, and the frame is the last to go.
 */
static void saved_registers_nmi(const struct pt_regs *regs, const struct pt_regs *saved,
				struct pt_regs *user)
{
	*user = *saved;
	if (regs->sp > (unsigned long)&saved->bp)
		user->bp = regs->bp;
	/* SYSCALL has left the address in RCX, and pushes it only now. */
	if (regs->sp > (unsigned long)&saved->ip)
		user->ip = regs->cx;
	if (regs->sp > (unsigned long)&saved->sp)
		user->sp = 0;
}

/* An empty stack's pointer is that of its end. */
static bool is_on_task_stack_nmi(unsigned long sp)
{
	return sp - 1 - (unsigned long)task_stack_page(current) < THREAD_SIZE;
}

/*
 * The registers that an interrupt has pushed on this CPU's stack for the way in, or NULL where
 * sp is on another one: those of exceptions lie next to it.
 */
static const struct pt_regs *entry_registers_nmi(unsigned long sp)
{
	const struct entry_stack *stack = cpu_entry_stack(smp_processor_id());

	if (sp - 1 - (unsigned long)stack >= sizeof(*stack))
		return NULL;
	return (const struct pt_regs *)(stack + 1) - 1;
}

/* With page table isolation the entry computes CR3 in RSP, for want of another register. */
static bool is_cr3_nmi(unsigned long sp)
{
	return !((sp ^ __native_read_cr3()) & CR3_ADDR_MASK & ~PAGE_SIZE);
}

/*
 * An overflow in user mode whose NMI came a few instructions later, behind the entry of the
 * kernel: where the program went into it. Up to the first instructions of the entry, where
 * the registers of the thread's stack are still those of the last time. The code segment is
 * that of the last time, for SYSCALL leaves it nowhere.
 */
static void user_registers_nmi(const struct pt_regs *regs, struct pt_regs *user)
{
	const struct pt_regs *last = task_pt_regs(current), *entry;

	if (is_on_task_stack_nmi(regs->sp)) {
		saved_registers_nmi(regs, last, user);
		return;
	}
	if (regs->sp < TASK_SIZE_MAX) {		/* SYSCALL, before it has changed the stack */
		*user = *last;
		user->ip = regs->cx;
		user->sp = is_cr3_nmi(regs->sp) ? 0 : regs->sp;
		user->bp = regs->bp;
		return;
	}
	entry = entry_registers_nmi(regs->sp);
	if (entry && user_mode((struct pt_regs *)entry))
		saved_registers_nmi(regs, entry, user);
	else
		*user = *last;
}

/* Is the sample of the thread's user part, though the NMI hit the kernel? */
static bool has_left_user_mode_nmi(const struct hwpmc_pmc *pmc)
{
	return pmc->user_only && current->mm && !(current->flags & PF_KTHREAD);
}

static noinline unsigned int left_chain_nmi(const struct hwpmc_pmc *pmc,
					    const struct pt_regs *regs, u64 *pc,
					    unsigned int max, u8 *flags)
{
	struct pt_regs user;

	*flags = HWPMC_SAMPLE_USER;
	user_registers_nmi(regs, &user);
	if (may_read_user_nmi(pmc))
		return user_chain_nmi(pmc, &user, pc, max, flags);
	pc[0] = user.ip;
	return 1;
}

/* User frames after those of the kernel, where they were asked for and the thread has
 * a user part. */
static unsigned int user_part_nmi(const struct hwpmc_pmc *pmc, u64 *pc,
				  unsigned int max, u8 *flags)
{
	if (!(pmc->flags & HWPMC_F_USERCALLCHAIN) || !max || !may_read_user_nmi(pmc))
		return 0;
	*flags |= HWPMC_SAMPLE_SPLIT;
	pc[0] = HWPMC_PC_USER;
	return 1 + user_chain_nmi(pmc, task_pt_regs(current), pc + 1, max,
				  flags);
}

static unsigned int kernel_chain_nmi(const struct hwpmc_pmc *pmc,
				     struct pt_regs *regs, u64 *pc,
				     unsigned int max, u8 *flags)
{
	unsigned int n = 1;

	if (!pmc->privileged) {
		*flags |= HWPMC_SAMPLE_HIDDEN;
		pc[0] = HWPMC_PC_HIDDEN;
	} else if (!regs) {
		n = frames_from_here_nmi(pc, pmc->flags & HWPMC_F_CALLCHAIN ?
				     max : 1);
	} else {
		pc[0] = regs->ip;
		if (pmc->flags & HWPMC_F_CALLCHAIN)
			n += kernel_frames_nmi(regs, pc + 1, max - 1);
	}
	return n + user_part_nmi(pmc, pc + n, max - n, flags);
}

unsigned int hwpmc_callchain_nmi(const struct hwpmc_pmc *pmc,
				 struct pt_regs *regs, u64 *pc,
				 unsigned int max, u8 *flags)
{
	unsigned int n, marks;

	if (regs && user_mode(regs)) {
		*flags = HWPMC_SAMPLE_USER;
		n = user_chain_nmi(pmc, regs, pc, max, flags);
	} else if (regs && has_left_user_mode_nmi(pmc)) {
		n = left_chain_nmi(pmc, regs, pc, max, flags);
	} else {
		*flags = 0;
		n = kernel_chain_nmi(pmc, regs, pc, max, flags);
	}
	/* The walk by tables knows whether there was more. */
	if (*flags & HWPMC_SAMPLE_TABLES)
		return n;
	marks = !!(*flags & HWPMC_SAMPLE_SPLIT);
	if (n - marks == max && pmc->flags & HWPMC_F_CALLCHAIN)
		*flags |= HWPMC_SAMPLE_CUT;
	return n;
}
