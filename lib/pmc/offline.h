/* SPDX-License-Identifier: BSD-2-Clause */
/* offline.h - the machine as CPUID describes it, where the module cannot be asked. Pure. */
#ifndef HWPMC_LIB_OFFLINE_H
#define HWPMC_LIB_OFFLINE_H

#include <hwpmc.h>

/* EAX, EBX, ECX and EDX of a leaf; zeros if the processor lacks it. */
typedef void offline_cpuid_fn(void *arg, uint32_t leaf, uint32_t reg[4]);

/* The name of the processor, and classes that its counters and this kernel have. */
void offline_describe(struct hwpmc_op_getcpuinfo *info, offline_cpuid_fn *cpuid, void *arg);

#endif
