/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open.c - an event to a PMC: its codes are tried in order, for a CPU or any process, or for
 * a process that is known, beside the PMCs that it has already. Any thread; no state but
 * the handle's.
 */
#include <errno.h>
#include <stdio.h>

#include "internal.h"

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
	case HWPMC_WHY_ROWS_AT_ONCE:
	case HWPMC_WHY_ROW_DISABLED:
	case HWPMC_WHY_EVENT_FILTERED:
	case HWPMC_WHY_ROW_STILL:
	case HWPMC_WHY_ROW_MISREAD:
	case HWPMC_WHY_ONLY_LISTED:
	case HWPMC_WHY_TARGET_ROW:
		return true;
	}
	return false;
}

/* ---- one code --------------------------------------------------------------- */

typedef int open_one(struct hwpmc *h, struct hwpmc_op_pmcopen *req);

/* A module that knows no names yet says that the argument is too large. */
static int allocate_one(struct hwpmc *h, struct hwpmc_op_pmcopen *req)
{
	struct hwpmc_hdr *hdr = &req->allocate.op.hdr;
	int rc = handle_call(h, HWPMC_IOC_PMCALLOCATE_NAMED, hdr);

	if (rc && errno == E2BIG)
		rc = handle_call(h, HWPMC_IOC_PMCALLOCATE, hdr);
	return rc;
}

/* By a module that cannot choose the row for the process. */
static int allocate_and_attach(struct hwpmc *h, struct hwpmc_op_pmcopen *req)
{
	struct hwpmc_op_pmcattach attach = { .pid = req->pid };
	struct hwpmc_op_pmc release = { 0 };
	int err;

	if (allocate_one(h, req))
		return -1;
	release.pmcid = attach.pmcid = req->allocate.op.pmcid;
	if (!handle_call(h, HWPMC_IOC_PMCATTACH, &attach.hdr))
		return 0;
	err = errno;
	handle_call(h, HWPMC_IOC_PMCRELEASE, &release.hdr);
	req->allocate.op.hdr = attach.hdr;
	errno = err;
	return -1;
}

static int open_for_process(struct hwpmc *h, struct hwpmc_op_pmcopen *req)
{
	struct hwpmc_hdr *hdr = &req->allocate.op.hdr;
	int rc = handle_call(h, HWPMC_IOC_PMCOPEN, hdr);

	if (rc && hdr->reason == HWPMC_WHY_UNKNOWN_OP)
		rc = allocate_and_attach(h, req);
	return rc;
}

/* ---- all codes of an event ---------------------------------------------------- */

static void set_code(struct hwpmc_op_pmcopen *req, const struct hwpmc_op_pmcallocate *wanted,
		     const struct hwpmc_event_code *code)
{
	struct hwpmc_op_pmcallocate *op = &req->allocate.op;

	*op = *wanted;
	op->caps = code->caps;
	op->class = code->class_id;
	op->ev = code->ev;
	/* Counts have no address. */
	op->flags |= wanted->mode == HWPMC_MODE_SC || wanted->mode == HWPMC_MODE_TC ?
		     code->flags & ~HWPMC_F_PAYLOAD : code->flags;
	op->config = code->config;
	op->config1 = code->config1;
}

/*
 * On failure req has the answer to show: that the process has other PMCs on the counters of
 * one code says more than that another code cannot count the event.
 */
static int try_codes(struct hwpmc *h, const struct hwpmc_event *event, open_one *one,
		     struct hwpmc_op_pmcopen *req)
{
	const struct hwpmc_op_pmcallocate wanted = req->allocate.op;
	struct hwpmc_hdr conflict = { 0 };

	snprintf(req->allocate.name, sizeof(req->allocate.name), "%s", event->name);
	for (uint32_t i = 0; i < event->ncode; i++) {
		set_code(req, &wanted, &event->code[i]);
		if (!one(h, req))
			return 0;
		if (!worth_another(&req->allocate.op.hdr))
			return -1;
		if (req->allocate.op.hdr.reason == HWPMC_WHY_TARGET_ROW)
			conflict = req->allocate.op.hdr;
	}
	if (conflict.reason) {
		req->allocate.op.hdr = conflict;
		errno = EBUSY;
	}
	return -1;
}

static int check_event(struct hwpmc *h, const struct hwpmc_event *event, const uint32_t *id,
		       const char *call)
{
	if (null_given(h, !h || !event || !id, call))
		return -1;
	if (event->ncode && event->ncode <= HWPMC_EVENT_CODES)
		return 0;
	return error_own(h, EINVAL, what("%s: the event was not made by hwpmc_event_parse",
					 call).text);
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

static int refused(struct hwpmc *h, const struct hwpmc_op_pmcallocate *op, const char *doing)
{
	if (!is_system_scope_only(h, op))
		return error_from_call(h, &op->hdr, doing);
	return error_as(h, EINVAL, &op->hdr,
			what("cannot %s: its counter belongs to a CPU, not to a "
			     "process; count it in system scope", doing).text);
}

EXPORT int hwpmc_allocate_event(struct hwpmc *h, const struct hwpmc_event *event,
				enum hwpmc_mode mode, uint32_t flags, uint32_t cpu,
				uint64_t count, uint32_t *id)
{
	struct hwpmc_op_pmcopen req = { 0 };
	struct hwpmc_op_pmcallocate *op = &req.allocate.op;

	if (check_event(h, event, id, "hwpmc_allocate_event"))
		return -1;
	*op = (struct hwpmc_op_pmcallocate) {
		.cpu = cpu, .flags = flags, .mode = mode, .count = count,
		.kinds = event->kinds,
	};
	if (try_codes(h, event, allocate_one, &req))
		return refused(h, op, what_allocate(op, event->name).text);
	*id = op->pmcid;
	return 0;
}

/* The sentence of reason.c is about a PMC that has its counter already. */
static int all_taken(struct hwpmc *h, const struct hwpmc_hdr *hdr, const char *doing)
{
	char name[64], who[100] = "";
	int named = hdr->detail > 0 && !holder_process_name(hdr->detail, name, sizeof(name));

	if (hdr->detail > 0)
		snprintf(who, sizeof(who), " (of process %d%s%s)", hdr->detail,
			 named ? ", " : "", named ? name : "");
	return error_as(h, EBUSY, hdr,
			what("cannot %s: each counter for it is used by another PMC%s in that process; "
			     "end that measurement, or use an event of other counters",
			     doing, who).text);
}

EXPORT int hwpmc_open_event(struct hwpmc *h, const struct hwpmc_event *event,
			    enum hwpmc_mode mode, uint32_t flags, pid_t pid,
			    uint64_t count, uint32_t *id)
{
	struct hwpmc_op_pmcopen req = { .pid = pid };
	struct hwpmc_op_pmcallocate *op = &req.allocate.op;
	struct what doing;

	if (check_event(h, event, id, "hwpmc_open_event"))
		return -1;
	*op = (struct hwpmc_op_pmcallocate) {
		.cpu = HWPMC_CPU_ANY, .flags = flags, .mode = mode, .count = count,
		.kinds = event->kinds,
	};
	if (!try_codes(h, event, open_for_process, &req)) {
		*id = op->pmcid;
		mapped_began(h);
		return 0;
	}
	doing = what("%s in %s", what_allocate(op, event->name).text, what_process(pid).text);
	if (op->hdr.reason == HWPMC_WHY_TARGET_ROW)
		return all_taken(h, &op->hdr, doing.text);
	return refused(h, op, doing.text);
}
