/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* amd_found.h - see amd_found.c. For processors with AMD_EAX_FREEZE. */
#ifndef HWPMC_AMD_FOUND_H
#define HWPMC_AMD_FOUND_H

void hwpmc_amd_found_clear_irqoff(void);
void hwpmc_amd_found_restore_irqoff(void);

#endif /* HWPMC_AMD_FOUND_H */
