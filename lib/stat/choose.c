/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * choose.c - leaves out samples by the image and the function that they hit, which are
 * known only when addresses have names. They count as excluded by the options.
 */
#include <stdlib.h>
#include <string.h>

#include "profile.h"

static bool is_image(const struct hwpmc_image *image, const char *name)
{
	return !strcmp(image->path, name) || !strcmp(image->name, name);
}

static bool hits(struct hwpmc_profile *p, const struct entry *e)
{
	const struct hwpmc_profile_options *o = &p->o;
	struct hwpmc_stack s = { .nframe = 0 };
	bool found;

	stacks_name_frames(p, e, &s);
	found = s.nframe &&
		(!o->image || is_image(s.frame[0]->image, o->image)) &&
		(!o->symbol || hwpmc_symbol_is(s.frame[0]->symbol, o->symbol));
	free(s.frame);
	return found;
}

/* What an earlier call has left out, which may have become more meanwhile. */
static void take_back(struct hwpmc_profile *p)
{
	for (uint32_t i = 0; i < p->nevent; i++) {
		struct event *ev = &p->event[i];

		p->totals.kept += ev->out_taken;
		ev->pub.samples += ev->out;
		ev->pub.filtered -= ev->out;
		ev->out = ev->out_taken = 0;
	}
}

void profile_choose(struct hwpmc_profile *p)
{
	for (uint32_t i = 0; i < p->nevent; i++) {
		struct event *ev = &p->event[i];

		ev->pub.taken = ev->pub.samples + ev->out - ev->more;
	}
	if (!p->o.image && !p->o.symbol)
		return;
	take_back(p);
	for (uint32_t i = 0; i < p->nentry; i++) {
		struct entry *e = &p->entry[i];

		e->out = !hits(p, e);
		if (!e->out)
			continue;
		p->event[e->event].out += e->count;
		p->event[e->event].out_taken += profile_taken(p, e);
	}
	for (uint32_t i = 0; i < p->nevent; i++) {
		struct event *ev = &p->event[i];

		p->totals.kept -= ev->out_taken;
		ev->pub.samples -= ev->out;
		ev->pub.filtered += ev->out;
		ev->pub.taken -= ev->out_taken;
	}
}
