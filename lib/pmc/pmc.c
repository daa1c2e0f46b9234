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
	return error_own(h, EINVAL,
			 what("%s: no place for the result was given",
			      name).text);
}

static const char *mode_verb(uint32_t mode)
{
	return mode == HWPMC_MODE_SS || mode == HWPMC_MODE_TS ? "sample" :
								"count";
}

static struct what what_allocate(const struct hwpmc_op_pmcallocate *req,
				 const char *name)
{
	if (req->cpu == HWPMC_CPU_ANY)
		return what("%s '%s'", mode_verb(req->mode), name);
	return what("%s '%s' on CPU %u", mode_verb(req->mode), name, req->cpu);
}

EXPORT int hwpmc_allocate_raw(struct hwpmc *h, struct hwpmc_op_pmcallocate *req)
{
	const char *name = hwpmc_name_of_class(req->class);
	struct what w;

	w = what("%s event 0x%llx", name ? name : "?",
		 (unsigned long long)(req->flags & HWPMC_F_EV_PMU ?
				      req->config : req->ev));
	return CALL(h, HWPMC_IOC_PMCALLOCATE, req, "%s",
		    what_allocate(req, w.text).text);
}

/*
 * Is another counter worth a try? Not where the request itself is wrong, or the
 * caller may not: the answer that says so is the one to show.
 */
static bool worth_another(const struct hwpmc_hdr *hdr)
{
	switch (hdr->reason) {
	case HWPMC_WHY_CLASS:
	case HWPMC_WHY_CAPS:
	case HWPMC_WHY_EVENT:
	case HWPMC_WHY_EVENT_BITS:
	case HWPMC_WHY_EVENT_ROWS:
	case HWPMC_WHY_ROWS_BUSY:
	case HWPMC_WHY_ROW_DISABLED:
	case HWPMC_WHY_EVENT_FILTERED:
	case HWPMC_WHY_ROW_STILL:
		return true;
	}
	return false;
}

/* A module that knows no names yet says that the argument is too large. */
static int allocate_named(struct hwpmc *h, struct hwpmc_op_pmcallocate_named *req)
{
	int rc = handle_call(h, HWPMC_IOC_PMCALLOCATE_NAMED, &req->op.hdr);

	if (rc && errno == E2BIG)
		rc = handle_call(h, HWPMC_IOC_PMCALLOCATE, &req->op.hdr);
	return rc;
}

/* The machine has the class, but not for processes. */
static bool is_system_scope_only(const struct hwpmc *h,
				 const struct hwpmc_op_pmcallocate *req)
{
	if (req->hdr.reason != HWPMC_WHY_CLASS ||
	    (req->mode != HWPMC_MODE_TC && req->mode != HWPMC_MODE_TS))
		return false;
	for (uint32_t i = 0; i < h->info.nclass && i < HWPMC_CLASS_MAX; i++)
		if (h->info.classes[i].class == req->class)
			return true;
	return false;
}

EXPORT int hwpmc_allocate_event(struct hwpmc *h,
				const struct hwpmc_event *event,
				enum hwpmc_mode mode, uint32_t flags,
				uint32_t cpu, uint64_t count, uint32_t *id)
{
	struct hwpmc_op_pmcallocate_named named = { 0 };
	struct hwpmc_op_pmcallocate *req = &named.op;
	uint32_t i;

	if (!id)
		return needs_pointer(h, "hwpmc_allocate");
	if (!event->ncode || event->ncode > HWPMC_EVENT_CODES)
		return error_own(h, EINVAL, "hwpmc_allocate_event: the event "
				 "was not made by hwpmc_event_parse");
	snprintf(named.name, sizeof(named.name), "%s", event->name);
	for (i = 0; i < event->ncode; i++) {
		const struct hwpmc_event_code *code = &event->code[i];

		*req = (struct hwpmc_op_pmcallocate) {
			.caps = code->caps, .cpu = cpu, .class = code->class_id,
			.ev = code->ev, .flags = flags | code->flags,
			.mode = mode, .count = count, .config = code->config,
			.config1 = code->config1, .kinds = event->kinds,
		};
		if (!allocate_named(h, &named)) {
			*id = req->pmcid;
			return 0;
		}
		if (!worth_another(&req->hdr))
			break;
	}
	if (is_system_scope_only(h, req))
		return error_as(h, EINVAL, &req->hdr,
				what("cannot %s: its counter belongs to a CPU, not to a "
				     "process; count it in system scope only",
				     what_allocate(req, event->name).text).text);
	return error_from_call(h, &req->hdr,
			       what_allocate(req, event->name).text);
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

static struct what what_process(pid_t pid)
{
	return pid ? what("process %d", pid) : what("this process");
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

	if (!bits)
		return needs_pointer(h, "hwpmc_width");
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
