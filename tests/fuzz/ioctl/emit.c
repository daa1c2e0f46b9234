// SPDX-License-Identifier: BSD-2-Clause
/* emit.c - see emit.h. The reproducer begins with the texts of op.h and act.c, which
 * are in this program (sources.S). */
#include <stdlib.h>
#include <string.h>

#include "hwpmc.h"
#include "emit.h"

extern const char source_op[], source_op_end[], source_act[], source_act_end[];

const char *const op_names[OP__COUNT] = {
	"CALL", "OPEN", "CLOSE", "MAP", "UNMAP", "TOUCH", "POLL", "LOGFD", "CONSUME",
	"SPAWN", "KILL", "CHILD", "SPIN", "MIGRATE", "HOTPLUG", "TUNABLE", "PERF",
	"RDPMC", "ALARM", "MODULE", "THREADS",
};

const char *const call_names[HWPMC_OP__COUNT] = {
	"CONFIGURELOG", "FLUSHLOG", "GETCPUINFO", "GETDRIVERSTATS",
	"GETMODULEVERSION", "GETPMCINFO", "PMCADMIN", "PMCALLOCATE", "PMCATTACH",
	"PMCDETACH", "PMCGETMSR", "PMCRELEASE", "PMCRW", "PMCSETCOUNT", "PMCSTART",
	"PMCSTOP", "WRITELOG", "CLOSELOG", "GETDYNEVENTINFO", "GETCAPS",
	[HWPMC_OP_REVOKE] = "REVOKE", [HWPMC_OP_KGMON] = "KGMON",
	[HWPMC_OP_BATCH] = "BATCH", [HWPMC_OP_UNWIND] = "UNWIND",
	[HWPMC_OP_GETCHAINSTATS] = "GETCHAINSTATS",
	[HWPMC_OP_GETKINDS] = "GETKINDS",
	[HWPMC_OP_GETUNCOUNTED] = "GETUNCOUNTED", [HWPMC_OP_PMCOPEN] = "PMCOPEN",
};

static const char *name_of(const struct op *op)
{
	if (op->what != OP_CALL)
		return "";
	if (op->nr >= HWPMC_OP__COUNT || !call_names[op->nr])
		return "no operation";
	return call_names[op->nr];
}

void emit_op(FILE *f, const struct op *op)
{
	fprintf(f, "{ OP_%s, %u, %u, %u, %u, %u, %u, %u, %#x, %u, %u, %u, %#x,\n\t  {",
		op_names[op->what], op->owner, op->pmc, op->proc, op->log, op->map,
		op->mem, op->array, op->how, op->nr, op->size, op->n, op->id_xor);
	for (int i = 0; i < WORDS; i++)
		fprintf(f, " %#llx,", (unsigned long long)op->w[i]);
	fprintf(f, " } },\t/* %s */\n", name_of(op));
}

/* A source, without the include of what stands above it already. */
static void emit_source(FILE *f, const char *at, const char *end)
{
	static const char include[] = "#include \"op.h\"\n";
	const char *cut = strstr(at, include);

	if (!cut || cut >= end) {
		fwrite(at, 1, end - at, f);
		return;
	}
	fwrite(at, 1, cut - at, f);
	cut += strlen(include);
	fwrite(cut, 1, end - cut, f);
}

static const char driver[] =
"\nstatic int verbose;\n\n"
"static void run(const struct op *op, unsigned int n)\n"
"{\n"
"\tfor (unsigned int i = 0; i < n; i++) {\n"
"\t\tconst struct op *this = &op[i];\n"
"\t\tstruct outcome out;\n\n"
"\t\ti += act(this, n - i - 1, &out);\n"
"\t\tif (verbose && this->what == OP_CALL)\n"
"\t\t\tdprintf(1, \"%ld nr %u: errno %d reason %u\\n\",\n"
"\t\t\t\t(long)(this - op), this->nr, out.err, out.reason);\n"
"\t}\n"
"}\n\n"
"struct part { const struct op *op; unsigned int n; };\n\n"
"static void *thread(void *arg)\n"
"{\n"
"\tconst struct part *part = arg;\n\n"
"\tact_thread_init();\n"
"\trun(part->op, part->n);\n"
"\treturn NULL;\n"
"}\n\n"
"static int32_t peers[PEERS];\n\n"
"static void process(struct part *part, unsigned int n)\n"
"{\n"
"\tpthread_t id[8];\n\n"
"\tact_init();\n"
"\tact_peers = peers;\n"
"\tact_sequence = run;\n"
"\tfor (unsigned int i = 0; i < n; i++)\n"
"\t\tpthread_create(&id[i], NULL, thread, &part[i]);\n"
"\tfor (unsigned int i = 0; i < n; i++)\n"
"\t\tpthread_join(id[i], NULL);\n"
"}\n\n";

static void emit_main(FILE *f, unsigned int procs, unsigned int threads)
{
	fprintf(f, "int main(int argc, char *argv[])\n{\n\tverbose = argc > 1;\n");
	fprintf(f, "\tsetpgid(0, 0);\n\tfor (int p = 0; p < %u; p++) {\n", procs);
	fprintf(f, "\t\tif (fork())\n\t\t\tcontinue;\n");
	fprintf(f, "\t\tprocess(&parts[p * %u], %u);\n\t\t_exit(0);\n\t}\n", threads,
		threads);
	fprintf(f, "\tfor (int p = 0; p < %u; p++)\n\t\twait(NULL);\n", procs);
	fprintf(f, "\tsignal(SIGTERM, SIG_IGN);\n\tkill(0, SIGTERM);\n\treturn 0;\n}\n");
}

static void emit_parts(FILE *f, const struct plan *plan, int thread)
{
	unsigned int all = plan->procs * plan->threads;

	fprintf(f, "static struct part parts[] = {\n");
	for (unsigned int i = 0; i < all; i++)
		if (thread < 0 || (unsigned int)thread == i)
			fprintf(f, "\t{ ops%u, sizeof(ops%u) / sizeof(*ops%u) },\n",
				i, i, i);
	fprintf(f, "};\n\n");
}

void emit_c(FILE *f, const struct plan *plan, int thread)
{
	unsigned int all = plan->procs * plan->threads, n;

	fprintf(f, "/* Seed %llu, %u steps, %u processes of %u threads. As root:\n"
		" *\tcc -I include/uapi THIS.c -lpthread && ./a.out -v */\n"
		"#define _GNU_SOURCE\n",
		(unsigned long long)plan->seed, plan->ops, plan->procs,
		plan->threads);
	emit_source(f, source_op, source_op_end);
	emit_source(f, source_act, source_act_end);
	fputs(driver, f);
	for (unsigned int i = 0; i < all; i++) {
		struct op *ops;

		if (thread >= 0 && (unsigned int)thread != i)
			continue;
		ops = plan_sequence(plan, i / plan->threads, i % plan->threads, &n);
		fprintf(f, "/* what, owner, pmc, proc, log, map, mem, array, how, nr,"
			" size, n, id_xor, w */\n"
			"static const struct op ops%u[] = {\n", i);
		for (unsigned int k = 0; k < n; k++) {
			fprintf(f, "\t/* %u */ ", k);
			emit_op(f, &ops[k]);
		}
		fprintf(f, "};\n\n");
		free(ops);
	}
	emit_parts(f, plan, thread);
	if (thread >= 0)
		emit_main(f, 1, 1);
	else
		emit_main(f, plan->procs, plan->threads);
}
