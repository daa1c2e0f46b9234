/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_storms.h - what storms share: choices that follow from a seed, a CPU that
 * goes and comes, interrupts that go wrong, and what memory is left of it all.
 */
#ifndef KMOD_STORMS_H
#define KMOD_STORMS_H

#include "../tests/kmod_dev.h"

uint64_t env_number(const char *name, uint64_t otherwise);
/* Begin with $STORM_SEED, or with the time; the log says which. */
void seed(void);
/* 0 to n - 1; also in children, where reseed() makes them differ. */
unsigned int pick(unsigned int n);
void reseed(uint64_t by);

void cpu1_online(int on);
/* Late, lost, doubled and stray interrupts at random on both CPUs, or none. */
void make_trouble(bool any);
/* What is without a cause has an owner, else the kernel would report it. */
void expect_nmis(void);

/* KiB that the kernel has for itself, caches dropped. */
unsigned long kernel_memory(void);
/* None of the module's own, in a kernel that was booted with slab_nomerge. */
void check_no_objects(const char *cache);

#endif
