/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * trace.h - the tracepoints of the module, group hwpmc. Each is hwpmc_MAJOR_MINOR,
 * named by the words of debugflags (the list is in debug/debugflags.h). A tracepoint
 * that is off costs one instruction. Any context, NMI and the context switch with the
 * run queue lock held included. Task and CPU are in the head of each traced line.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hwpmc

#if !defined(HWPMC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HWPMC_TRACE_H

#include <linux/pid.h>
#include <linux/tracepoint.h>

#include "../core/pmc.h"
#include "../core/total.h"

DECLARE_EVENT_CLASS(hwpmc_of_pmc,
	TP_PROTO(const struct hwpmc_pmc *pmc),
	TP_ARGS(pmc),
	TP_STRUCT__entry(
		__field(u32, pmc)
		__field(u32, row)
		__field(u64, count)
	),
	TP_fast_assign(
		__entry->pmc = pmc->id;
		__entry->row = pmc->row;
		__entry->count = hwpmc_pmc_samples(pmc) ? hwpmc_pmc_asked(pmc) :
				 hwpmc_pmc_total_anywhere(pmc);
	),
	TP_printk("pmc=%#010x row=%u count=%llu", __entry->pmc, __entry->row,
		  __entry->count)
);

#define OF_PMC(name)							\
	DEFINE_EVENT(hwpmc_of_pmc, name,				\
		TP_PROTO(const struct hwpmc_pmc *pmc), TP_ARGS(pmc))

OF_PMC(hwpmc_pmc_allocate);
OF_PMC(hwpmc_pmc_read);
OF_PMC(hwpmc_pmc_release);
OF_PMC(hwpmc_pmc_start);
OF_PMC(hwpmc_pmc_stop);
OF_PMC(hwpmc_pmc_write);

DECLARE_EVENT_CLASS(hwpmc_of_link,
	TP_PROTO(const struct hwpmc_pmc *pmc, struct pid *tgid),
	TP_ARGS(pmc, tgid),
	TP_STRUCT__entry(
		__field(u32, pmc)
		__field(s32, pid)
	),
	TP_fast_assign(
		__entry->pmc = pmc->id;
		__entry->pid = pid_nr(tgid);
	),
	TP_printk("pmc=%#010x pid=%d", __entry->pmc, __entry->pid)
);

#define OF_LINK(name)							\
	DEFINE_EVENT(hwpmc_of_link, name,				\
		TP_PROTO(const struct hwpmc_pmc *pmc, struct pid *tgid), \
		TP_ARGS(pmc, tgid))

OF_LINK(hwpmc_pmc_attach);
OF_LINK(hwpmc_process_linktarget);
OF_LINK(hwpmc_process_unlinktarget);

DECLARE_EVENT_CLASS(hwpmc_of_process,
	TP_PROTO(struct pid *tgid),
	TP_ARGS(tgid),
	TP_STRUCT__entry(
		__field(s32, pid)
	),
	TP_fast_assign(
		__entry->pid = pid_nr(tgid);
	),
	TP_printk("pid=%d", __entry->pid)
);

#define OF_PROCESS(name)						\
	DEFINE_EVENT(hwpmc_of_process, name,				\
		TP_PROTO(struct pid *tgid), TP_ARGS(tgid))

OF_PROCESS(hwpmc_owner_allocate);
OF_PROCESS(hwpmc_owner_exec);
OF_PROCESS(hwpmc_owner_release);
OF_PROCESS(hwpmc_owner_signal);
OF_PROCESS(hwpmc_process_exec);
OF_PROCESS(hwpmc_process_exit);
OF_PROCESS(hwpmc_process_fork);

/* Rows whose slices begin or end. */
DECLARE_EVENT_CLASS(hwpmc_of_rows,
	TP_PROTO(u64 rows),
	TP_ARGS(rows),
	TP_STRUCT__entry(
		__field(u64, rows)
	),
	TP_fast_assign(
		__entry->rows = rows;
	),
	TP_printk("rows=%#llx", __entry->rows)
);

#define OF_ROWS(name)							\
	DEFINE_EVENT(hwpmc_of_rows, name, TP_PROTO(u64 rows), TP_ARGS(rows))

OF_ROWS(hwpmc_cpu_exit);
OF_ROWS(hwpmc_cpu_init);
OF_ROWS(hwpmc_csw_swi);
OF_ROWS(hwpmc_csw_swo);

DECLARE_EVENT_CLASS(hwpmc_of_log,
	TP_PROTO(u64 bytes, long ret),
	TP_ARGS(bytes, ret),
	TP_STRUCT__entry(
		__field(u64, bytes)
		__field(long, ret)
	),
	TP_fast_assign(
		__entry->bytes = bytes;
		__entry->ret = ret;
	),
	TP_printk("bytes=%llu ret=%ld", __entry->bytes, __entry->ret)
);

#define OF_LOG(name)							\
	DEFINE_EVENT(hwpmc_of_log, name,				\
		TP_PROTO(u64 bytes, long ret), TP_ARGS(bytes, ret))

OF_LOG(hwpmc_logging_config);
OF_LOG(hwpmc_logging_flush);
OF_LOG(hwpmc_logging_getbuf);
OF_LOG(hwpmc_logging_release);
OF_LOG(hwpmc_logging_write);

DECLARE_EVENT_CLASS(hwpmc_of_class,
	TP_PROTO(u32 class, int ret),
	TP_ARGS(class, ret),
	TP_STRUCT__entry(
		__field(u32, class)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->class = class;
		__entry->ret = ret;
	),
	TP_printk("class=%u ret=%d", __entry->class, __entry->ret)
);

#define OF_CLASS(name)							\
	DEFINE_EVENT(hwpmc_of_class, name,				\
		TP_PROTO(u32 class, int ret), TP_ARGS(class, ret))

OF_CLASS(hwpmc_md_exit);
OF_CLASS(hwpmc_md_init);

/* The select that a row is programmed with, or will be; 0: stopped. */
DECLARE_EVENT_CLASS(hwpmc_of_select,
	TP_PROTO(u32 row, u64 select),
	TP_ARGS(row, select),
	TP_STRUCT__entry(
		__field(u32, row)
		__field(u64, select)
	),
	TP_fast_assign(
		__entry->row = row;
		__entry->select = select;
	),
	TP_printk("row=%u select=%#llx", __entry->row, __entry->select)
);

#define OF_SELECT(name)							\
	DEFINE_EVENT(hwpmc_of_select, name,				\
		TP_PROTO(u32 row, u64 select), TP_ARGS(row, select))

OF_SELECT(hwpmc_md_allocate);
OF_SELECT(hwpmc_md_config);
OF_SELECT(hwpmc_md_release);

TRACE_EVENT(hwpmc_module_init,
	TP_PROTO(u32 classes, u32 rows),
	TP_ARGS(classes, rows),
	TP_STRUCT__entry(
		__field(u32, classes)
		__field(u32, rows)
	),
	TP_fast_assign(
		__entry->classes = classes;
		__entry->rows = rows;
	),
	TP_printk("classes=%u rows=%u", __entry->classes, __entry->rows)
);

/* Probes in the kernel that are being registered, and the result. */
TRACE_EVENT(hwpmc_module_hook,
	TP_PROTO(u32 which, int ret),
	TP_ARGS(which, ret),
	TP_STRUCT__entry(
		__field(u32, which)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->which = which;
		__entry->ret = ret;
	),
	TP_printk("hooks=%#x ret=%d", __entry->which, __entry->ret)
);

TRACE_EVENT(hwpmc_module_syscall,
	TP_PROTO(u32 op, int ret, u32 reason, s32 detail),
	TP_ARGS(op, ret, reason, detail),
	TP_STRUCT__entry(
		__field(u32, op)
		__field(int, ret)
		__field(u32, reason)
		__field(s32, detail)
	),
	TP_fast_assign(
		__entry->op = op;
		__entry->ret = ret;
		__entry->reason = reason;
		__entry->detail = detail;
	),
	TP_printk("op=%u ret=%d reason=%u detail=%d", __entry->op, __entry->ret,
		  __entry->reason, __entry->detail)
);

TRACE_EVENT(hwpmc_sampling_intr,
	TP_PROTO(u32 overflows, bool ours),
	TP_ARGS(overflows, ours),
	TP_STRUCT__entry(
		__field(u32, overflows)
		__field(bool, ours)
	),
	TP_fast_assign(
		__entry->overflows = overflows;
		__entry->ours = ours;
	),
	TP_printk("overflows=%u ours=%d", __entry->overflows, __entry->ours)
);

TRACE_EVENT(hwpmc_sampling_sample,
	TP_PROTO(const struct hwpmc_pmc *pmc, u64 bytes),
	TP_ARGS(pmc, bytes),
	TP_STRUCT__entry(
		__field(u32, pmc)
		__field(u32, bytes)
	),
	TP_fast_assign(
		__entry->pmc = pmc->id;
		__entry->bytes = bytes;
	),
	TP_printk("pmc=%#010x bytes=%u", __entry->pmc, __entry->bytes)
);

#endif /* HWPMC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH debug
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
