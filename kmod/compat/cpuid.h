/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * cpuid.h - cpuid(), cpuid_eax(), cpuid_count() and their like, which moved from
 * the kernel's processor.h to a header of their own. Any context.
 */
#ifndef HWPMC_COMPAT_CPUID_H
#define HWPMC_COMPAT_CPUID_H

#include <asm/processor.h>

#include "have.h"

#ifdef HAVE_CPUID_API
#include <asm/cpuid/api.h>
#endif

#endif /* HWPMC_COMPAT_CPUID_H */
