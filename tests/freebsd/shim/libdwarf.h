/* SPDX-License-Identifier: BSD-2-Clause */
/* libdwarf.h - a type that is named and never used. */
#ifndef HWPMC_FREEBSD_LIBDWARF_H
#define HWPMC_FREEBSD_LIBDWARF_H

typedef struct hwpmc_dwarf *Dwarf_Debug;

#endif /* HWPMC_FREEBSD_LIBDWARF_H */
