// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_losses.c - see kmod_losses.h.
 */
#include "kmod_losses.h"

struct hwpmc_log_loss losses[LOSSES];
atomic_uint nlosses;
uint64_t log_began;

static void look_at(const struct hwpmc_record *r)
{
	unsigned int n = atomic_load(&nlosses);

	if (r->hdr->type == HWPMC_LOG_INITIALIZE)
		log_began = r->initialize->tick;
	if (r->hdr->type != HWPMC_LOG_LOSS || n == LOSSES)
		return;
	losses[n] = *(const struct hwpmc_log_loss *)r->hdr;
	atomic_store(&nlosses, n + 1);
}

void begin_logging(struct session *s)
{
	atomic_store(&nlosses, 0);
	begin_looking(s, FAST, 0, look_at);
}

void await_losses(unsigned int n)
{
	for (int i = 0; i < LOOKS * 10 && atomic_load(&nlosses) < n; i++)
		dev_msleep(100);
	ck_assert_uint_eq(atomic_load(&nlosses), n);
}

unsigned int losses_of(uint32_t id, uint32_t cpu, uint8_t flags)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < atomic_load(&nlosses); i++)
		n += losses[i].hdr.id == id && losses[i].cpu == cpu &&
		     losses[i].hdr.flags == flags;
	return n;
}
