// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * trace.c - what a run leaves on the host: a line for each access and PMI
 * (trace=), and the totals at the end as JSON (out=).
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "vpmu.h"

static FILE *trace_f;

bool trace_open(void)
{
	if (!cfg.trace)
		return true;
	trace_f = fopen(cfg.trace, "w");
	if (!trace_f)
		perror(cfg.trace);
	return trace_f;
}

void trace(struct vcpu *v, const char *fmt, ...)
{
	va_list ap;

	if (!trace_f)
		return;
	flockfile(trace_f);
	fprintf(trace_f, "cpu%u u=%" PRIu64 " k=%" PRIu64 " ", v->index,
		retired(v, board_of(v), USER), retired(v, board_of(v), KERNEL));
	va_start(ap, fmt);
	vfprintf(trace_f, fmt, ap);
	va_end(ap);
	putc('\n', trace_f);
	funlockfile(trace_f);
}

static void put_vcpu(FILE *f, struct vcpu *v)
{
	struct totals t;

	counter_totals(v, &t);
	const struct { const char *name; uint64_t val; } item[] = {
		{ "insn_user", t.insn[USER] },
		{ "insn_kernel", t.insn[KERNEL] },
		{ "branch_user", t.branch[USER] },
		{ "branch_kernel", t.branch[KERNEL] },
		{ "load_user", t.load[USER] },
		{ "load_kernel", t.load[KERNEL] },
		{ "store_user", t.store[USER] },
		{ "store_kernel", t.store[KERNEL] },
		{ "overflows", v->n_overflow },
		{ "pmi", v->n_pmi },
		{ "pmi_nmi", v->n_pmi_nmi },
		{ "pmi_masked", v->n_pmi_masked },
		{ "pmi_lost", v->n_lost },
		{ "pmi_doubled", v->n_doubled },
		{ "storm", v->n_storm },
		{ "rdmsr", v->n_rdmsr },
		{ "wrmsr", v->n_wrmsr },
		{ "rdmsr_native", v->n_rdmsr_native },
		{ "wrmsr_native", v->n_wrmsr_native },
		{ "rdpmc", v->n_rdpmc },
		{ "cpuid", v->n_cpuid },
		{ "gp", v->n_gp },
		{ "fires", v->n_fire },
		{ "nmis_unmasked", v->n_unmasked },
		{ "stale_int3", v->n_stale_int3 },
		{ "code_renewed", v->n_renewed },
		{ "interrupts", v->n_int },
		{ "exceptions", v->n_exc },
		{ "exceptions_fixed", v->n_exc_fixed },
		{ "flags_fixed", v->n_flags_fixed },
		{ "flags_bound", v->n_flags_bound },
		{ "space_switches", v->n_cr3 },
		{ "rep_again", v->n_rep_again },
		{ "pauses", v->n_pause },
		{ "ibs_op", v->ibs.seen[VPMU_IBS_OP] },
		{ "ibs_op_user", v->ibs.seen[VPMU_IBS_OP_USER] },
		{ "ibs_op_rip", v->ibs.seen[VPMU_IBS_OP_RIP] },
		{ "ibs_op_lin", v->ibs.seen[VPMU_IBS_OP_LIN] },
		{ "ibs_op_filtered", v->ibs.seen[VPMU_IBS_OP_FILTERED] },
		{ "ibs_fetch", v->ibs.seen[VPMU_IBS_FETCH] },
		{ "ibs_fetch_lin", v->ibs.seen[VPMU_IBS_FETCH_LIN] },
		{ "ibs_nmi", v->ibs.seen[VPMU_IBS_NMI] },
	};

	fprintf(f, "{\"cpu\":%u", v->index);
	for (size_t i = 0; i < G_N_ELEMENTS(item); i++)
		fprintf(f, ",\"%s\":%" PRIu64, item[i].name, item[i].val);
	fputc('}', f);
}

/* vCPUs that took NMIs while it was not known how QEMU masks them. */
static int nmi_masks_unknown(void)
{
	int n = 0;

	for (int i = 0; i < vcpus_seen; i++)
		n += vcpus[i].n_pmi_nmi && !vcpus[i].nmi_mask;
	return n;
}

void trace_at_exit(void *data)
{
	FILE *f = cfg.out ? fopen(cfg.out, "w") : stderr;

	if (!f)
		return;
	fprintf(f, "{\"model\":\"%s\",\"version\":%d,\"vcpus\":[",
		cfg.none ? "none" : cfg.p4 ? "p4" : cfg.amd ? "amd" : "intel", cfg.version);
	for (int i = 0; i < vcpus_seen; i++) {
		fputs(i ? ",\n " : "\n ", f);
		put_vcpu(f, &vcpus[i]);
	}
	fprintf(f, "],\"nmi_masks_unknown\":%d}\n", nmi_masks_unknown());
	if (f != stderr)
		fclose(f);
	if (trace_f)
		fflush(trace_f);
}
