/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_hold.h - holds a process where it enters a function of the kernel or of the
 * module, by tests/vm/kmods/holdmod.c. It keeps its CPU meanwhile.
 */
#ifndef KMOD_HOLD_H
#define KMOD_HOLD_H

#include <sys/types.h>

void hold_at(const char *symbol);
/* After so many calls that are let pass. */
void hold_at_call(const char *symbol, unsigned int skip);
/* The process is held at its next call of the function, once. HOLD_KTHREADS: the first kernel
 * thread that calls it. */
#define HOLD_KTHREADS	((pid_t)-1)
void hold_arm(pid_t pid);
void hold_wait(void);
/* Let it go, and unload. */
void hold_end(void);

#endif
