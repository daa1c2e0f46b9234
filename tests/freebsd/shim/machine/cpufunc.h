/* SPDX-License-Identifier: BSD-2-Clause */
/* machine/cpufunc.h - CPUID, and names of makers. */
#ifndef HWPMC_FREEBSD_MACHINE_CPUFUNC_H
#define HWPMC_FREEBSD_MACHINE_CPUFUNC_H

#include <cpuid.h>
#include <dev/hwpmc/hwpmc_ibs.h>

#define INTEL_VENDOR_ID	"GenuineIntel"
#define AMD_VENDOR_ID	"AuthenticAMD"
#define HYGON_VENDOR_ID	"HygonGenuine"

#define do_cpuid(leaf, r) __cpuid(leaf, (r)[0], (r)[1], (r)[2], (r)[3])

#endif /* HWPMC_FREEBSD_MACHINE_CPUFUNC_H */
