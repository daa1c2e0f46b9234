/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmc.c - the life of a PMC: allocate, attach, start, read, release. Each call
 * is one operation of the device. Any thread; no state but the handle's.
 */
#include <errno.h>
#include <stdio.h>

#include "internal.h"

/* The words are only put together where the call failed. */
#define CALL(h, request, op, ...)					\
	(handle_call(h, request, &(op)->hdr) ?			\
	 error_from_call(h, &(op)->hdr, what(__VA_ARGS__).text) : 0)

static int needs_pointer(struct hwpmc *h, const char *name)
{
	null_given(h, true, name);
	return -1;
}

EXPORT int hwpmc_allocate_raw(struct hwpmc *h, struct hwpmc_op_pmcallocate *req)
{
	const char *name;
	struct what w;

	if (!req)
		return needs_pointer(h, "hwpmc_allocate_raw");
	name = hwpmc_name_of_class(req->class);
	w = what("%s event 0x%llx", name ? name : "?",
		 (unsigned long long)(req->flags & HWPMC_F_EV_PMU ?
				      req->config : req->ev));
	return CALL(h, HWPMC_IOC_PMCALLOCATE, req, "%s",
		    what_allocate(req, w.text).text);
}

static int pmc_call(struct hwpmc *h, unsigned long request, uint32_t id,
		    const char *doing)
{
	struct hwpmc_op_pmc op = { .pmcid = id };

	return CALL(h, request, &op, "%s %s", doing, what_pmc(h, id).text);
}

EXPORT int hwpmc_release(struct hwpmc *h, uint32_t id)
{
	mapped_forget(h, id);
	return pmc_call(h, HWPMC_IOC_PMCRELEASE, id, "release");
}

EXPORT int hwpmc_start(struct hwpmc *h, uint32_t id)
{
	int rc = pmc_call(h, HWPMC_IOC_PMCSTART, id, "start");

	mapped_began(h);
	return rc;
}

EXPORT int hwpmc_stop(struct hwpmc *h, uint32_t id)
{
	return pmc_call(h, HWPMC_IOC_PMCSTOP, id, "stop");
}

EXPORT int hwpmc_attach(struct hwpmc *h, uint32_t id, pid_t pid)
{
	struct hwpmc_op_pmcattach op = { .pmcid = id, .pid = pid };
	int rc = CALL(h, HWPMC_IOC_PMCATTACH, &op, "attach %s to %s",
		      what_pmc(h, id).text, what_process(pid).text);

	mapped_began(h);
	return rc;
}

EXPORT int hwpmc_detach(struct hwpmc *h, uint32_t id, pid_t pid)
{
	struct hwpmc_op_pmcattach op = { .pmcid = id, .pid = pid };

	mapped_forget(h, id);
	return CALL(h, HWPMC_IOC_PMCDETACH, &op, "detach %s from %s",
		    what_pmc(h, id).text, what_process(pid).text);
}

/* ------------------------------------------------------------------------ */

EXPORT int hwpmc_read(struct hwpmc *h, uint32_t id, uint64_t *value)
{
	struct hwpmc_op_pmcrw op = { .pmcid = id, .flags = HWPMC_F_OLDVALUE };
	int rc;

	if (!value)
		return needs_pointer(h, "hwpmc_read");
	if (mapped_read(h, id, value))
		return 0;
	rc = CALL(h, HWPMC_IOC_PMCRW, &op, "read %s", what_pmc(h, id).text);
	if (!rc || op.hdr.reason == HWPMC_WHY_INCOMPLETE)
		*value = op.value;
	return rc;
}

EXPORT int hwpmc_write(struct hwpmc *h, uint32_t id, uint64_t value)
{
	struct hwpmc_op_pmcrw op = {
		.pmcid = id, .flags = HWPMC_F_NEWVALUE, .value = value,
	};

	return CALL(h, HWPMC_IOC_PMCRW, &op, "write %s",
		    what_pmc(h, id).text);
}

EXPORT int hwpmc_rw(struct hwpmc *h, uint32_t id, uint64_t value, uint64_t *old)
{
	struct hwpmc_op_pmcrw op = {
		.pmcid = id, .flags = HWPMC_F_NEWVALUE | HWPMC_F_OLDVALUE,
		.value = value,
	};
	int rc;

	if (!old)
		return needs_pointer(h, "hwpmc_rw");
	rc = CALL(h, HWPMC_IOC_PMCRW, &op, "read and write %s",
		  what_pmc(h, id).text);
	if (!rc || op.hdr.reason == HWPMC_WHY_INCOMPLETE)
		*old = op.value;
	return rc;
}

EXPORT int hwpmc_set(struct hwpmc *h, uint32_t id, uint64_t count)
{
	struct hwpmc_op_pmcsetcount op = { .pmcid = id, .count = count };

	return CALL(h, HWPMC_IOC_PMCSETCOUNT, &op, "set the count of %s",
		    what_pmc(h, id).text);
}

EXPORT int hwpmc_capabilities(struct hwpmc *h, uint32_t id, uint32_t *caps)
{
	struct hwpmc_op_getcaps op = { .pmcid = id };

	if (!caps)
		return needs_pointer(h, "hwpmc_capabilities");
	if (CALL(h, HWPMC_IOC_GETCAPS, &op, "get the capabilities of %s",
		 what_pmc(h, id).text))
		return -1;
	*caps = op.caps;
	return 0;
}

/* The id says the class, and the class its width: nothing to ask. */
EXPORT int hwpmc_width(struct hwpmc *h, uint32_t id, uint32_t *bits)
{
	uint32_t i;

	if (!h || !bits)
		return needs_pointer(h, "hwpmc_width");
	if (handle_has_names_only(h))
		return error_own(h, ENXIO, what("cannot get the width of %s: " ERROR_NAMES_ONLY,
						what_pmc(h, id).text).text);
	for (i = 0; i < h->info.nclass && i < HWPMC_CLASS_MAX; i++) {
		const struct hwpmc_classinfo *cls = &h->info.classes[i];

		if (cls->class == HWPMC_ID_CLASS(id) &&
		    HWPMC_ID_ROW(id) - cls->first < cls->num) {
			*bits = cls->width;
			return 0;
		}
	}
	return error_own(h, EINVAL,
			 what("cannot get the width of %s: there is no such "
			      "PMC here", what_pmc(h, id).text).text);
}

EXPORT int hwpmc_get_msr(struct hwpmc *h, uint32_t id, uint32_t *msr)
{
	struct hwpmc_op_getmsr op = { .pmcid = id };

	if (!msr)
		return needs_pointer(h, "hwpmc_get_msr");
	if (CALL(h, HWPMC_IOC_PMCGETMSR, &op, "read %s by RDPMC",
		 what_pmc(h, id).text))
		return -1;
	*msr = op.msr;
	return 0;
}
