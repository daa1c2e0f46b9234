/* SPDX-License-Identifier: BSD-2-Clause */
/* gelf.h - two functions that tell of success the other way round than elfutils' do. */
#ifndef HWPMC_FREEBSD_GELF_H
#define HWPMC_FREEBSD_GELF_H

#include_next <gelf.h>

static inline int freebsd_elf_getphnum(Elf *elf, size_t *n)
{
	return elf_getphdrnum(elf, n) == 0;
}

static inline int freebsd_elf_getshnum(Elf *elf, size_t *n)
{
	return elf_getshdrnum(elf, n) == 0;
}

#define elf_getphnum(elf, n) freebsd_elf_getphnum(elf, n)
#define elf_getshnum(elf, n) freebsd_elf_getshnum(elf, n)

#endif /* HWPMC_FREEBSD_GELF_H */
