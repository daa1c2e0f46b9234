/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drops.c - drops by cause, in arrays whose size the caller tells. A writer that is newer
 * than this library may count causes that have no name here: they are added to the last
 * entry, so that the entries always add up to all drops. Pure.
 */
#include <string.h>

#include "drops.h"
#include "libhwpmclog.h"

#define EXPORT	__attribute__((visibility("default")))

/* The first cause in each_dropped of a ring's page. */
#define FIRST_EACH	(HWPMC_DROP_FIXED + 1)

_Static_assert(HWPMC_DROP__COUNT <= HWPMC_DROP_OTHER, "each cause with a name has an entry");

/* The entry of a cause; that of causes without a name is the last one. */
static uint32_t entry_of(uint32_t cause, uint32_t n)
{
	return cause < HWPMC_DROP__COUNT && cause < n ? cause : n - 1;
}

static void add_fixed(uint64_t *to, uint32_t n, const __u64 *from, uint32_t ncause)
{
	for (uint32_t i = 0; i < ncause && i < HWPMC_DROP_FIXED; i++)
		to[entry_of(i, n)] += from[i];
}

static void add_pair(uint64_t *samples, uint64_t *others, uint32_t entry,
		     const struct hwpmc_log_drop_pair *pair)
{
	samples[entry] += pair->samples;
	others[entry] += pair->others;
}

/* Leaves in *sum the drops of causes without an entry. A drop between the two reads, or a page
 * that its owner overwrote, must not make it negative. */
static void take(__u64 *sum, __u64 *part)
{
	if (*part > *sum)
		*part = *sum;
	*sum -= *part;
}

uint64_t drops_record_size(uint32_t ncause)
{
	uint64_t pairs = ncause > HWPMC_DROP_FIXED ? ncause - HWPMC_DROP_FIXED : 0;

	return sizeof(struct hwpmc_log_drop) +
	       pairs * sizeof(struct hwpmc_log_drop_pair);
}

EXPORT uint32_t hwpmc_record_drops(const struct hwpmc_log_drop *r,
				   uint64_t *samples, uint64_t *others,
				   uint32_t n)
{
	const struct hwpmc_log_drop_pair *more;

	if (!r)
		return 0;
	more = (const void *)(r + 1);
	if (!n || !samples || !others)
		return r->ncause;
	memset(samples, 0, n * sizeof(*samples));
	memset(others, 0, n * sizeof(*others));
	add_fixed(samples, n, r->samples, r->ncause);
	add_fixed(others, n, r->others, r->ncause);
	for (uint32_t i = HWPMC_DROP_FIXED; i < r->ncause; i++) {
		samples[entry_of(i, n)] += more[i - HWPMC_DROP_FIXED].samples;
		others[entry_of(i, n)] += more[i - HWPMC_DROP_FIXED].others;
	}
	return r->ncause;
}

void drops_add_ring(const struct hwpmc_log_ring *ring, uint64_t *samples,
		    uint64_t *others, uint32_t n)
{
	const uint32_t each = sizeof(ring->each_dropped) / sizeof(ring->each_dropped[0]);
	/* Of all causes from FIRST_EACH on; the module counts the sum after the cause. */
	struct hwpmc_log_drop_pair later = ring->more_dropped[1];

	add_fixed(samples, n, ring->samples_dropped, HWPMC_DROP_FIXED);
	add_fixed(others, n, ring->others_dropped, HWPMC_DROP_FIXED);
	add_pair(samples, others, entry_of(HWPMC_DROP_FIXED, n), &ring->more_dropped[0]);
	for (uint32_t i = 0; i < each; i++) {
		struct hwpmc_log_drop_pair pair = ring->each_dropped[i];

		take(&later.samples, &pair.samples);
		take(&later.others, &pair.others);
		add_pair(samples, others, entry_of(FIRST_EACH + i, n), &pair);
	}
	add_pair(samples, others, n - 1, &later);
}
