/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.c - each type of record: its shape, its fields and its line of text. Pure. */
#include <stddef.h>

#include "libhwpmclog.h"
#include "records.h"

#define FIELDS(name)	static const struct record_field name[]
#define F(kind, type, member) \
	{ #member, RECORD_##kind, offsetof(struct hwpmc_log_##type, member) }
#define F_AS(name, kind, type, member) \
	{ name, RECORD_##kind, offsetof(struct hwpmc_log_##type, member) }
#define PMC		{ "pmc", RECORD_ID, 0 }
#define SNAPSHOT	{ "snapshot", RECORD_SNAPSHOT, 0 }
#define END		{ NULL, RECORD_U32, 0 }

/* ---- fields, by name ----------------------------------------------------- */

FIELDS(drop_fields) = {
	F(DROPPED, drop, samples), F(DROPPED, drop, others), END,
};
FIELDS(initialize_fields) = {
	F(U32, initialize, schema), F(TEXT, initialize, cpuid),
	F(U32, initialize, ncpu), F(U32, initialize, khz),
	F(U64, initialize, tick), F(U64, initialize, monotonic),
	F(U64, initialize, realtime), F(I32, initialize, owner), END,
};
FIELDS(allocate_fields) = {
	PMC, F(TEXT, allocate, name), F(CLASS, allocate, class),
	F(MODE, allocate, mode), F(U32, allocate, ev), F(U32, allocate, flags),
	F(ADDRESS, allocate, config), F_AS("period", U64, allocate, count), END,
};
FIELDS(attach_fields) = {
	PMC, F(I32, attach, pid), F(TEXT, attach, path), END,
};
FIELDS(detach_fields) = { PMC, F(I32, attach, pid), END };
FIELDS(value_fields) = {
	PMC, F(I32, value, pid), F(I32, value, tid), F(U64, value, value), END,
};
FIELDS(exec_fields) = {
	F(I32, exec, pid), F(I32, exec, tid), F(TEXT, exec, comm),
	F(TEXT, exec, path), END,
};
FIELDS(fork_fields) = { F(I32, fork, parent), F(I32, fork, child), END };
FIELDS(task_fields) = {
	F(I32, task, pid), F(I32, task, tid), F(I32, task, parent),
	F(FLAGS, task, flags), F(TEXT, task, comm), SNAPSHOT, END,
};
FIELDS(map_fields) = {
	F(I32, map, pid), F(ADDRESS, map, start), F(ADDRESS, map, end),
	F(ADDRESS, map, offset), F(TEXT, map, path),
	{ "build_id", RECORD_BUILD_ID, 0 }, F(U32, map, major), F(U32, map, minor),
	F(U64, map, inode), { "file", RECORD_FILE, 0 }, { "unread", RECORD_UNREAD, 0 },
	SNAPSHOT, END,
};
FIELDS(unmap_fields) = {
	F(I32, unmap, pid), F(ADDRESS, unmap, start), F(ADDRESS, unmap, end),
	END,
};
FIELDS(context_fields) = { F(I32, context, pid), F(I32, context, tid), END };
FIELDS(throttle_fields) = {
	PMC, { "goes_on", RECORD_ON, 0 }, F(U32, throttle, percent), END,
};
FIELDS(clock_fields) = {
	F(U64, clock, tick), F(U64, clock, monotonic), F(U64, clock, realtime),
	END,
};
FIELDS(cpu_kind_fields) = {
	{ "of", RECORD_ID, 0 }, F(CORE, cpu_kind, kind), END,
};
FIELDS(period_fields) = {
	PMC, { "dropped", RECORD_ON, 0 }, F(U64, period, period), END,
};
FIELDS(loss_fields) = {
	PMC, F_AS("of_cpu", U32, loss, cpu), { "over", RECORD_ON, 0 },
	F(U32, loss, reason), F(I32, loss, detail), F_AS("text", LOSS, loss, reason),
	F(TICK, loss, since), END,
};
FIELDS(precise_fields) = {
	PMC, { "kind", RECORD_PRECISE, 0 }, { "exact", RECORD_EXACT, 0 },
	{ "words", RECORD_WORDS, 0 }, END,
};
FIELDS(note_fields) = { { "id", RECORD_ID, 0 }, F(TEXT, note, text), END };

/* ---- lines of text ------------------------------------------------------- */

FIELDS(drop_line) = { F(U32, drop, cpu), { "drops", RECORD_DROPS, 0 }, END };
FIELDS(initialize_line) = {
	F(SCHEMA, initialize, schema), { "machine", RECORD_MACHINE, 0 },
	F(CPUS, initialize, ncpu), F(KHZ, initialize, khz), END,
};
FIELDS(allocate_line) = {
	PMC, { "event", RECORD_EVENT, 0 }, F(FLAGS, allocate, flags),
	F(MODE, allocate, mode), F(U64, allocate, count), END,
};
FIELDS(procexit_line) = {
	PMC, F(I32, value, pid), F(U64, value, value), END,
};
FIELDS(exec_line) = { F(I32, exec, pid), F(TEXT, exec, path), END };
FIELDS(sysexit_line) = { F(I32, task, pid), END };
FIELDS(thr_exit_line) = { F(I32, task, tid), END };
FIELDS(proc_create_line) = {
	F(I32, task, pid), F(FLAGS, task, flags), F(TEXT, task, comm), END,
};
FIELDS(thr_create_line) = {
	F(I32, task, tid), F(I32, task, pid), F(FLAGS, task, flags),
	F(TEXT, task, comm), END,
};
FIELDS(comm_line) = {
	F(I32, task, pid), F(I32, task, tid), F(TEXT, task, comm), END,
};
FIELDS(map_line) = {
	F(I32, map, pid), F(ADDRESS, map, start), F(TEXT, map, path),
	F(ADDRESS, map, end), F(ADDRESS, map, offset), END,
};
FIELDS(throttle_line) = {
	PMC, F(U32, throttle, cpu), { "goes_on", RECORD_ON, 0 },
	F(U32, throttle, percent), END,
};
FIELDS(loss_line) = {
	PMC, F(U32, loss, cpu), { "over", RECORD_ON, 0 }, F(LOSS, loss, reason),
	F(TICK, loss, since), END,
};
FIELDS(clock_line) = { F(U64, clock, tick), F(U64, clock, realtime), END };
FIELDS(id_line) = { { "id", RECORD_ID, 0 }, END };
FIELDS(cpu_kind_line) = { F(U32, hdr, id), F(CORE, cpu_kind, kind), END };
FIELDS(cpu_line) = { F(U32, hdr, id), END };
FIELDS(padding_line) = { { "length", RECORD_LENGTH, 0 }, END };
FIELDS(no_line) = { END };

/* ---- types --------------------------------------------------------------- */

#define SHAPE(word, kind)	.name = word, .least = sizeof(struct hwpmc_log_##kind)
#define STRING(kind, member)	.string = offsetof(struct hwpmc_log_##kind, member)
#define FIXED(kind, member) \
	.fixed = offsetof(struct hwpmc_log_##kind, member), \
	.fixed_size = sizeof(((struct hwpmc_log_##kind *)0)->member)
#define ABOUT(kind, member)	.pid = offsetof(struct hwpmc_log_##kind, member)
#define OF_PROCESS(kind)	ABOUT(kind, pid)
#define OF_THREAD(kind) \
	ABOUT(kind, pid), .tid = offsetof(struct hwpmc_log_##kind, tid)
#define OF_PMC			.of_pmc = true
#define LINE(word, list)	.keyword = word, .line = list

static const struct record_type types[] = {
	[HWPMC_LOG_CLOSELOG] = { SHAPE("CLOSELOG", closelog),
		LINE("closelog", no_line) },
	[HWPMC_LOG_DROPNOTIFY] = { SHAPE("DROPNOTIFY", drop),
		.fields = drop_fields, LINE("drop", drop_line) },
	[HWPMC_LOG_INITIALIZE] = { SHAPE("INITIALIZE", initialize),
		.fields = initialize_fields, LINE("initlog", initialize_line) },
	[HWPMC_LOG_PMCALLOCATE] = { SHAPE("PMCALLOCATE", allocate),
		FIXED(allocate, name), OF_PMC,
		.fields = allocate_fields, LINE("allocate", allocate_line) },
	[HWPMC_LOG_PMCATTACH] = { SHAPE("PMCATTACH", attach),
		STRING(attach, path), OF_PROCESS(attach), OF_PMC,
		.fields = attach_fields, LINE("attach", attach_fields) },
	[HWPMC_LOG_PMCDETACH] = { SHAPE("PMCDETACH", attach),
		OF_PROCESS(attach), OF_PMC,
		.fields = detach_fields, LINE("detach", detach_fields) },
	[HWPMC_LOG_PROCCSW] = { SHAPE("PROCCSW", value),
		OF_THREAD(value), OF_PMC,
		.fields = value_fields, LINE("cswval", value_fields) },
	[HWPMC_LOG_PROCEXEC] = { SHAPE("PROCEXEC", exec),
		STRING(exec, path), FIXED(exec, comm), OF_THREAD(exec),
		.fields = exec_fields, LINE("exec", exec_line) },
	[HWPMC_LOG_PROCEXIT] = { SHAPE("PROCEXIT", value),
		OF_THREAD(value), OF_PMC,
		.fields = value_fields, LINE("exitval", procexit_line) },
	[HWPMC_LOG_PROCFORK] = { SHAPE("PROCFORK", fork), ABOUT(fork, child),
		.fields = fork_fields, LINE("fork", fork_fields) },
	[HWPMC_LOG_SYSEXIT] = { SHAPE("SYSEXIT", task),
		FIXED(task, comm), OF_THREAD(task),
		.fields = task_fields, LINE("exit", sysexit_line) },
	[HWPMC_LOG_USERDATA] = { SHAPE("USERDATA", hdr),
		LINE("userdata", id_line) },
	[HWPMC_LOG_MAP_IN] = { SHAPE("MAP_IN", map),
		STRING(map, path), OF_PROCESS(map),
		.fields = map_fields, LINE("map-in", map_line) },
	[HWPMC_LOG_MAP_OUT] = { SHAPE("MAP_OUT", unmap), OF_PROCESS(unmap),
		.fields = unmap_fields, LINE("map-out", unmap_fields) },
	[HWPMC_LOG_CALLCHAIN] = { SHAPE("CALLCHAIN", sample), OF_PMC },
	[HWPMC_LOG_PMCALLOCATEDYN] = { SHAPE("PMCALLOCATEDYN", allocate),
		FIXED(allocate, name), OF_PMC,
		.fields = allocate_fields, LINE("allocatedyn", allocate_line) },
	[HWPMC_LOG_THR_CREATE] = { SHAPE("THR_CREATE", task),
		FIXED(task, comm), OF_THREAD(task),
		.fields = task_fields, LINE("thr-create", thr_create_line) },
	[HWPMC_LOG_THR_EXIT] = { SHAPE("THR_EXIT", task),
		FIXED(task, comm), OF_THREAD(task),
		.fields = task_fields, LINE("thr-exit", thr_exit_line) },
	[HWPMC_LOG_PROC_CREATE] = { SHAPE("PROC_CREATE", task),
		FIXED(task, comm), OF_THREAD(task),
		.fields = task_fields, LINE("create", proc_create_line) },
	[HWPMC_LOG_CPU] = { SHAPE("CPU", hdr), .of_stream = true,
		LINE("cpu", cpu_line) },
	[HWPMC_LOG_CONTEXT] = { SHAPE("CONTEXT", context), OF_THREAD(context),
		.of_stream = true,
		.fields = context_fields, LINE("context", context_fields) },
	[HWPMC_LOG_THROTTLE] = { SHAPE("THROTTLE", throttle), OF_PMC,
		.fields = throttle_fields, LINE("throttle", throttle_line) },
	[HWPMC_LOG_COMM_NAME] = { SHAPE("COMM_NAME", task),
		FIXED(task, comm), OF_THREAD(task),
		.fields = task_fields, LINE("comm", comm_line) },
	[HWPMC_LOG_CLOCK] = { SHAPE("CLOCK", clock),
		.fields = clock_fields, LINE("clock", clock_line) },
	[HWPMC_LOG_NOTE] = { SHAPE("NOTE", note), STRING(note, text),
		.fields = note_fields, LINE("note", note_fields) },
	[HWPMC_LOG_PADDING] = { SHAPE("PADDING", hdr), .of_stream = true,
		LINE("padding", padding_line) },
	[HWPMC_LOG_SYNC] = { SHAPE("SYNC", hdr), .of_stream = true,
		LINE("sync", no_line) },
	[HWPMC_LOG_CPU_KIND] = { SHAPE("CPU_KIND", cpu_kind),
		.fields = cpu_kind_fields, LINE("cpu-kind", cpu_kind_line) },
	[HWPMC_LOG_PERIOD] = { SHAPE("PERIOD", period), .of_stream = true,
		.fields = period_fields, LINE("period", period_fields) },
	[HWPMC_LOG_LOSS] = { SHAPE("LOSS", loss), OF_PMC,
		.fields = loss_fields, LINE("loss", loss_line) },
	[HWPMC_LOG_PRECISE] = { SHAPE("PRECISE", precise), OF_PMC,
		.fields = precise_fields, LINE("precise", precise_fields) },
};

const struct record_type *record_type(uint8_t type)
{
	if (type >= sizeof(types) / sizeof(types[0]) || !types[type].name)
		return NULL;
	return &types[type];
}
