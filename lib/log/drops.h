/* SPDX-License-Identifier: BSD-2-Clause */
/* drops.h - drops by cause in records and rings. Not installed; for lib/log/. */
#ifndef HWPMC_LIB_DROPS_H
#define HWPMC_LIB_DROPS_H

#include <stdint.h>

struct hwpmc_log_ring;

/* Bytes of a DROPNOTIFY record with this many causes, at least. */
uint64_t drops_record_size(uint32_t ncause);
/* Add those of a ring to n entries each, as hwpmc_record_drops(); n is not 0. */
void drops_add_ring(const struct hwpmc_log_ring *ring, uint64_t *samples,
		    uint64_t *others, uint32_t n);

#endif /* HWPMC_LIB_DROPS_H */
