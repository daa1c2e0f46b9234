/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmclog.c - FreeBSD's pmclog(3) over the parser of lib/log. Each record becomes the
 * event that FreeBSD has for it; those that only this log has (which CPU and thread
 * samples are of, notes, clocks) are used up here. Events come in the order of time, as
 * what an event names must have been told of before it.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libhwpmclog.h>
#include <poll.h>

#include "../log/order.h"
#include "pmc.h"
#include "pmclog.h"

#define EXPORT		__attribute__((visibility("default")))
#define BUFFER		(64 * 1024)
#define SAME(type) \
	static_assert((int)PMCLOG_TYPE_##type == (int)HWPMC_LOG_##type, #type)

SAME(CLOSELOG);
SAME(DROPNOTIFY);
SAME(INITIALIZE);
SAME(PMCALLOCATE);
SAME(PROCCSW);
SAME(PROCEXIT);
SAME(SYSEXIT);
SAME(USERDATA);
SAME(MAP_OUT);
SAME(CALLCHAIN);
SAME(PMCALLOCATEDYN);
SAME(PROC_CREATE);
static_assert(PMC_CALLCHAIN_DEPTH_MAX == HWPMC_LOG_DEPTH_MAX, "depth");
static_assert(P_KPROC == HWPMC_TASK_KERNEL, "flag of the kernel's threads");
static_assert(PMCLOG_COMM_MAX >= HWPMC_LOG_COMM, "names of threads");

/* What a tool noted as the name of an event. */
struct event_name {
	uint32_t id;
	char name[PMC_NAME_MAX];
};

struct log {
	struct pmclog_parse_state state;
	char cpuid[PMC_CPUID_LEN];
	struct hwpmc_parser *parser;
	struct order order;
	int fd;
	bool ended;			/* by pmclog_feed() of no bytes */
	size_t count;
	uint64_t time;			/* of the last event */
	struct event_name *names;
	unsigned int nname;
	char made[PMC_NAME_MAX];	/* the name in the last event */
	char error[200];		/* of reading */
	uint64_t buffer[BUFFER / sizeof(uint64_t)];
};

EXPORT void *pmclog_open(int fd)
{
	struct log *log = calloc(1, sizeof(*log));

	if (!log)
		return NULL;
	log->fd = log->state.ps_fd = fd;
	log->order = ORDER_NEW;
	log->parser = hwpmc_parser_new();
	if (log->parser)
		return log;
	free(log);
	return NULL;
}

EXPORT void pmclog_close(void *cookie)
{
	struct log *log = cookie;

	if (!log)
		return;
	hwpmc_parser_free(log->parser);
	order_free(&log->order);
	free(log->names);
	free(log);
}

EXPORT int pmclog_feed(void *cookie, char *data, int len)
{
	struct log *log = cookie;

	if (log->fd >= 0 || len < 0) {
		errno = EINVAL;
		return -1;
	}
	log->ended = !len;
	return hwpmc_parser_feed(log->parser, data, len);
}

EXPORT const char *pmclog_error(const void *cookie)
{
	const struct log *log = cookie;

	return log->error[0] ? log->error : hwpmc_parser_error(log->parser);
}

/* ---- names of events ----------------------------------------------------- */

static void put_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text);
}

/* Without memory events have the names that the kernel knows. */
static void keep_name(struct log *log, const struct hwpmc_log_note *note)
{
	struct event_name *n;

	if (strncmp(note->text, "event=", 6))
		return;
	n = realloc(log->names, (log->nname + 1) * sizeof(*n));
	if (!n)
		return;
	log->names = n;
	n[log->nname].id = note->hdr.id;
	put_text(n[log->nname++].name, sizeof(n->name), note->text + 6);
}

static const char *name_event(struct log *log, const struct hwpmc_log_allocate *r)
{
	const char *class = hwpmc_name_of_class(r->class);
	uint64_t code = r->flags & HWPMC_F_EV_PMU ? r->config : r->ev;

	for (unsigned int i = log->nname; i-- > 0; )
		if (log->names[i].id == r->hdr.id) {
			put_text(log->made, sizeof(log->made),
				 log->names[i].name);
			return log->made;
		}
	if (r->name[0])
		put_text(log->made, sizeof(log->made), r->name);
	else
		snprintf(log->made, sizeof(log->made), "%s-0x%" PRIx64,
			 class ? class : "class", code);
	return log->made;
}

/* ---- from records to events ---------------------------------------------- */

/* FreeBSD's readers know addresses only. */
static bool is_chain_mark(uint8_t flags, uint64_t pc)
{
	return flags & HWPMC_SAMPLE_TABLES &&
	       (pc == HWPMC_PC_FP || HWPMC_PC_REASON(pc) < 16);
}

static void event_callchain(struct pmclog_ev_callchain *to,
			    const struct hwpmc_record *r)
{
	bool split = r->hdr->flags & HWPMC_SAMPLE_SPLIT;
	bool user = r->hdr->flags & HWPMC_SAMPLE_USER;
	uint32_t n = 0;

	to->pl_pid = r->pid;
	to->pl_tid = r->tid;
	to->pl_pmcid = r->hdr->id;
	to->pl_cpuflags = PMC_CALLCHAIN_TO_CPUFLAGS((uint32_t)r->cpu,
						    user ? PMC_CC_F_USERSPACE : 0);
	to->pl_cpuflags2 = 0;
	for (uint32_t i = 0; i < r->npc && n < PMC_CALLCHAIN_DEPTH_MAX; i++)
		if ((!split || r->sample->pc[i] != HWPMC_PC_USER) &&
		    !is_chain_mark(r->hdr->flags, r->sample->pc[i]))
			to->pl_pc[n++] = r->sample->pc[i];
	to->pl_npc = n;
}

static void event_initialize(struct log *log, struct pmclog_ev_initialize *to,
			     const struct hwpmc_log_initialize *r)
{
	to->pl_version = r->api;
	to->pl_arch = r->cputype;
	to->pl_tsc_freq = r->khz * 1000ull;
	to->pl_ts.tv_sec = r->realtime / 1000000000;
	to->pl_ts.tv_nsec = r->realtime % 1000000000;
	put_text(to->pl_cpuid, sizeof(to->pl_cpuid), r->cpuid);
	put_text(log->cpuid, sizeof(log->cpuid), r->cpuid);
	log->state.ps_cpuid = log->cpuid;
	log->state.ps_arch = (enum pmc_cputype)r->cputype;
	log->state.ps_version = r->api;
	log->state.ps_initialized = 1;
}

static void event_drop(struct pmclog_ev_dropnotify *to, const struct hwpmc_log_drop *r)
{
	uint64_t samples, others;

	hwpmc_record_drops(r, &samples, &others, 1);
	to->pl_samples = samples;
	to->pl_others = others;
}

/* The number that pmc_pmu_idx_get_by_event() has for it, without its qualifiers, if the log
 * is of this machine. */
static uint32_t number_event(const struct log *log, const struct hwpmc_log_allocate *r,
			     const char *name)
{
	char event[PMC_NAME_MAX];
	char *qualifier;
	int i;

	if (!(r->flags & HWPMC_F_EV_PMU))
		return r->ev;
	put_text(event, sizeof(event), name);
	for (;;) {
		i = pmc_pmu_idx_get_by_event(log->cpuid, event);
		if (i >= 0)
			return (uint32_t)i;
		qualifier = strrchr(event, strchr(event, ',') ? ',' : ':');
		if (!qualifier)
			return r->ev;
		*qualifier = '\0';
	}
}

static void event_allocate(struct log *log, struct pmclog_ev *ev,
			   const struct hwpmc_log_allocate *r)
{
	struct pmclog_ev_pmcallocatedyn *dyn = &ev->pl_u.pl_ad;
	struct pmclog_ev_pmcallocate *to = &ev->pl_u.pl_a;

	if (r->hdr.type == HWPMC_LOG_PMCALLOCATEDYN) {
		put_text(dyn->pl_evname, sizeof(dyn->pl_evname),
			 name_event(log, r));
		dyn->pl_event = r->ev;
		dyn->pl_flags = r->flags;
		dyn->pl_pmcid = r->hdr.id;
		return;
	}
	to->pl_evname = name_event(log, r);
	to->pl_rate = r->count;
	to->pl_event = number_event(log, r, to->pl_evname);
	to->pl_flags = r->flags;
	to->pl_pmcid = r->hdr.id;
}

/* A field of a record, and where FreeBSD has it in its event. */
struct copy {
	uint16_t from, to;
	uint16_t size;			/* of the event's field; 0: no more */
	bool text;
};

#define TO(member)	offsetof(struct pmclog_ev, pl_u.member)
#define SIZE(member)	sizeof(((struct pmclog_ev *)0)->pl_u.member)
#define FROM(type, member) offsetof(struct hwpmc_log_##type, member)
#define SIZE_FROM(type, member) sizeof(((struct hwpmc_log_##type *)0)->member)
/* Numbers have one size in both. */
#define NUMBER(member, type, field)					\
	{ FROM(type, field), TO(member),				\
	  sizeof(struct { char is[SIZE(member)];			\
			  static_assert(SIZE(member) ==			\
					SIZE_FROM(type, field), ""); }), false }
#define TEXT(member, type, field) \
	{ FROM(type, field), TO(member), SIZE(member), true }
#define END		{ 0, 0, 0, false }
#define COPIES(name)	static const struct copy name[]

COPIES(nothing) = { END };
COPIES(attach) = {
	NUMBER(pl_t.pl_pmcid, attach, hdr.id), NUMBER(pl_t.pl_pid, attach, pid),
	TEXT(pl_t.pl_pathname, attach, path), END,
};
COPIES(detach) = {
	NUMBER(pl_d.pl_pmcid, attach, hdr.id), NUMBER(pl_d.pl_pid, attach, pid),
	END,
};
COPIES(proccsw) = {
	NUMBER(pl_c.pl_pid, value, pid), NUMBER(pl_c.pl_tid, value, tid),
	NUMBER(pl_c.pl_pmcid, value, hdr.id),
	NUMBER(pl_c.pl_value, value, value), END,
};
COPIES(procexit) = {
	NUMBER(pl_e.pl_pid, value, pid), NUMBER(pl_e.pl_pmcid, value, hdr.id),
	NUMBER(pl_e.pl_value, value, value), END,
};
COPIES(procexec) = {
	NUMBER(pl_x.pl_pid, exec, pid), TEXT(pl_x.pl_pathname, exec, path), END,
};
COPIES(procfork) = {
	NUMBER(pl_f.pl_oldpid, fork, parent), NUMBER(pl_f.pl_newpid, fork, child),
	END,
};
COPIES(map_in) = {
	NUMBER(pl_mi.pl_pid, map, pid), NUMBER(pl_mi.pl_start, map, start),
	TEXT(pl_mi.pl_pathname, map, path), END,
};
COPIES(map_out) = {
	NUMBER(pl_mo.pl_pid, unmap, pid), NUMBER(pl_mo.pl_start, unmap, start),
	NUMBER(pl_mo.pl_end, unmap, end), END,
};
COPIES(userdata) = { NUMBER(pl_u.pl_userdata, hdr, id), END };
COPIES(sysexit) = { NUMBER(pl_se.pl_pid, task, pid), END };
COPIES(thr_exit) = { NUMBER(pl_te.pl_tid, task, tid), END };
COPIES(thr_create) = {
	NUMBER(pl_tc.pl_tid, task, tid), NUMBER(pl_tc.pl_pid, task, pid),
	NUMBER(pl_tc.pl_flags, task, flags), TEXT(pl_tc.pl_tdname, task, comm),
	END,
};
COPIES(proc_create) = {
	NUMBER(pl_pc.pl_pid, task, pid), NUMBER(pl_pc.pl_flags, task, flags),
	TEXT(pl_pc.pl_pcomm, task, comm), END,
};

/* Events whose fields are those of the record; FreeBSD has none of other types. */
static const struct copy *const copies[] = {
	[HWPMC_LOG_CLOSELOG] = nothing,
	[HWPMC_LOG_PMCATTACH] = attach,
	[HWPMC_LOG_PMCDETACH] = detach,
	[HWPMC_LOG_PROCCSW] = proccsw,
	[HWPMC_LOG_PROCEXEC] = procexec,
	[HWPMC_LOG_PROCEXIT] = procexit,
	[HWPMC_LOG_PROCFORK] = procfork,
	[HWPMC_LOG_SYSEXIT] = sysexit,
	[HWPMC_LOG_USERDATA] = userdata,
	[HWPMC_LOG_MAP_IN] = map_in,
	[HWPMC_LOG_MAP_OUT] = map_out,
	[HWPMC_LOG_THR_CREATE] = thr_create,
	[HWPMC_LOG_THR_EXIT] = thr_exit,
	[HWPMC_LOG_PROC_CREATE] = proc_create,
};

static bool copy_fields(struct pmclog_ev *ev, const struct hwpmc_log_hdr *h)
{
	const struct copy *c;

	if (h->type >= sizeof(copies) / sizeof(copies[0]) || !copies[h->type])
		return false;
	for (c = copies[h->type]; c->size; c++)
		if (c->text)
			put_text((char *)ev + c->to, c->size,
				 (const char *)h + c->from);
		else
			memcpy((char *)ev + c->to, (const char *)h + c->from,
			       c->size);
	return true;
}

/*
 * A reader for FreeBSD adds this to the addresses of the file, but where the file has the
 * addresses and its first executable segment begins it: there the reader expects the place
 * of that. The kernel and its modules are where they begin.
 */
static uint64_t load_base(const struct hwpmc_log_map *r)
{
	uint64_t base = r->start - r->offset;

	if (r->pid == -1 || r->hdr.flags & HWPMC_MAP_ANON)
		return r->start;
	if (r->hdr.flags & HWPMC_MAP_HAS_SLIDE)
		base -= (uint64_t)((int64_t)r->slide * 4096);
	return base || r->offset ? base : r->start;
}

static void event_exec(struct pmclog_ev_procexec *to, const struct hwpmc_log_exec *r)
{
	struct hwpmc_log_place place = { 0 };

	if (r->hdr.flags & HWPMC_EXEC_HAS_PLACE &&
	    r->hdr.len >= sizeof(*r) + strlen(r->path) + 1 + sizeof(place))
		memcpy(&place, (const char *)r + r->hdr.len - sizeof(place),
		       sizeof(place));
	to->pl_pmcid = PMC_ID_INVALID;
	to->pl_entryaddr = place.entry;
	to->pl_baseaddr = place.interpreter;
	to->pl_dynaddr = place.base;
}

/* False: FreeBSD has no such event. */
static bool event_translate(struct log *log, struct pmclog_ev *ev,
			    const struct hwpmc_record *r)
{
	switch (r->hdr->type) {
	case HWPMC_LOG_CALLCHAIN:
		event_callchain(&ev->pl_u.pl_cc, r);
		return true;
	case HWPMC_LOG_DROPNOTIFY:
		event_drop(&ev->pl_u.pl_dn, r->drop);
		return true;
	case HWPMC_LOG_INITIALIZE:
		event_initialize(log, &ev->pl_u.pl_i, r->initialize);
		return true;
	case HWPMC_LOG_PMCALLOCATE:
	case HWPMC_LOG_PMCALLOCATEDYN:
		event_allocate(log, ev, r->allocate);
		return true;
	case HWPMC_LOG_PROCEXEC:
		event_exec(&ev->pl_u.pl_x, r->exec);
		break;
	}
	if (!copy_fields(ev, r->hdr))
		return false;
	if (r->hdr->type == HWPMC_LOG_MAP_IN)
		ev->pl_u.pl_mi.pl_start = load_base(r->map);
	return true;
}

/* ---- reading ------------------------------------------------------------- */

/* More bytes from the descriptor: PMCLOG_OK if there are some. */
static enum pmclog_state log_refill(struct log *log)
{
	ssize_t n;

	if (log->fd < 0)
		return PMCLOG_REQUIRE_DATA;
	log->error[0] = '\0';
	do {
		n = read(log->fd, log->buffer, sizeof(log->buffer));
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		return PMCLOG_EOF;
	if (n < 0 && errno == EAGAIN)
		return PMCLOG_REQUIRE_DATA;
	if (n < 0) {
		snprintf(log->error, sizeof(log->error),
			 "cannot read the log: %m");
		return PMCLOG_ERROR;
	}
	return hwpmc_parser_feed(log->parser, log->buffer, n) ? PMCLOG_ERROR :
	       PMCLOG_OK;
}

/* Into the queue that puts them in order, if FreeBSD has such an event. */
static bool record_take(struct log *log, const struct hwpmc_record *r)
{
	switch (r->hdr->type) {
	case HWPMC_LOG_NOTE:
		keep_name(log, r->note);
		return true;
	case HWPMC_LOG_CONTEXT:
	case HWPMC_LOG_CLOCK:
	case HWPMC_LOG_PADDING:
	case HWPMC_LOG_PERIOD:
	case HWPMC_LOG_PRECISE:
		return true;
	}
	return order_add(&log->order, r);
}

/* Does a read give something at once, be it the end? */
static bool can_read_now(const struct log *log)
{
	struct pollfd pfd = { .fd = log->fd, .events = POLLIN };

	return log->fd >= 0 && poll(&pfd, 1, 0) != 0;
}

/* PMCLOG_OK: there is more to look at. */
static enum pmclog_state log_more(struct log *log)
{
	enum pmclog_state state;

	/* A caller that waits for data is not to miss what was read already: only a log that says
	 * where its pieces end can be waited for. */
	if (log->ended || (!log->order.sync && !can_read_now(log)))
		order_all(&log->order);
	if (log->order.ready)
		return PMCLOG_OK;
	state = log_refill(log);
	if (state != PMCLOG_EOF)
		return state;
	order_all(&log->order);
	return log->order.ready ? PMCLOG_OK : PMCLOG_EOF;
}

static enum pmclog_state log_read_on(struct log *log)
{
	struct hwpmc_record r;

	switch (hwpmc_parser_next(log->parser, &r)) {
	case HWPMC_PARSE_RECORD:
		if (record_take(log, &r))
			return PMCLOG_OK;
		put_text(log->error, sizeof(log->error), "no memory for the log");
		return PMCLOG_ERROR;
	case HWPMC_PARSE_MORE:
		return log_more(log);
	default:
		/* What came before the error is right. */
		order_all(&log->order);
		return log->order.ready ? PMCLOG_OK : PMCLOG_ERROR;
	}
}

static void event_fill(struct log *log, struct pmclog_ev *ev, const struct hwpmc_record *r)
{
	/* One that was late has the time of the event before it. */
	if (r->hdr->time > log->time)
		log->time = r->hdr->time;
	ev->pl_type = r->hdr->type;
	ev->pl_tsc = log->time;
	ev->pl_offset = r->offset + r->hdr->len;
	ev->pl_data = (void *)r->hdr;
	ev->pl_len = r->hdr->len;
	ev->pl_count = ++log->count;
	log->state.ps_count = (int)log->count;
	log->state.ps_offset = ev->pl_offset;
}

static enum pmclog_state event_next(struct log *log, struct pmclog_ev *ev)
{
	enum pmclog_state state;
	struct hwpmc_record r;

	for (;;) {
		while (order_next(&log->order, &r)) {
			if (!event_translate(log, ev, &r))
				continue;
			event_fill(log, ev, &r);
			return PMCLOG_OK;
		}
		state = log_read_on(log);
		if (state != PMCLOG_OK)
			return state;
	}
}

EXPORT int pmclog_read(void *cookie, struct pmclog_ev *ev)
{
	struct log *log = cookie;

	ev->pl_state = event_next(log, ev);
	if (ev->pl_state == PMCLOG_ERROR)
		log->state.ps_state = PL_STATE_ERROR;
	return ev->pl_state == PMCLOG_OK ? 0 : -1;
}
