/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* amd_side_regs.h - see amd_side_regs.c. For processors with AMD_EAX_FREEZE. */
#ifndef HWPMC_AMD_SIDE_REGS_H
#define HWPMC_AMD_SIDE_REGS_H

void hwpmc_amd_found_clear_irqoff(void);
void hwpmc_amd_found_restore_irqoff(void);

#endif /* HWPMC_AMD_SIDE_REGS_H */
