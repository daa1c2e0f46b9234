/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_metrics.c - formulas and definitions of metrics, and which of those that hwpmc has
 * by itself each model of the tables can count. On the host, under ASan and UBSan.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "event.h"
#include "harness.h"
#include "internal.h"
#include "stat/define.h"

static double value_of(const char *text, double a, double b)
{
	double count[FORMULA_EVENTS] = { a, b };
	struct formula f;
	const char *why;
	double value;

	ck_assert_msg(formula_parse(&f, text, &why) == 0, "%s: %s", text, why);
	value = formula_value(&f, count);
	formula_free(&f);
	return value;
}

START_TEST(formulas_are_computed_with_the_usual_precedence)
{
	ck_assert_double_eq(value_of("a / b", 6, 4), 1.5);
	ck_assert_double_eq(value_of("100 * a / b", 1, 8), 12.5);
	ck_assert_double_eq(value_of("a - b - 1", 9, 3), 5);
	ck_assert_double_eq(value_of("a + b * 2", 1, 3), 7);
	ck_assert_double_eq(value_of("( a + b ) * 2", 1, 3), 8);
	ck_assert_double_eq(value_of("(a + b) / (a - b)", 3, 1), 2);
	ck_assert_double_eq(value_of("a / a / b", 3, 4), 0.25);
	ck_assert_double_eq(value_of("0.5 * a", 3, 0), 1.5);
	ck_assert(!isfinite(value_of("a / b", 1, 0)));
	ck_assert(!isfinite(value_of("a / b", 0, 0)));
}
END_TEST

START_TEST(names_of_events_keep_the_characters_of_operators)
{
	struct formula f;
	const char *why;

	ck_assert_int_eq(formula_parse(&f,
		"cpu/event=0x3c,umask=0/u / branch-misses + branch-misses:k", &why), 0);
	ck_assert_uint_eq(f.nevent, 3);
	ck_assert_str_eq(f.event[0], "cpu/event=0x3c,umask=0/u");
	ck_assert_str_eq(f.event[1], "branch-misses");
	ck_assert_str_eq(f.event[2], "branch-misses:k");
	formula_free(&f);
}
END_TEST

static const struct {
	const char *text, *why;
} bad_formulas[] = {
	{ "", "a number or an event" },
	{ "a +", "a number or an event" },
	{ "+ a", "a number or an event" },
	{ "a b", "lacks an operator" },
	{ "( a", "it lacks a ')'" },
	{ "a )", "lacks an operator" },
	{ "2x * a", "number contains invalid" },
	{ "1 + 2", "no event" },
	{ "((((((((((((((((( a )))))))))))))))))", "too deep" },
	{ "a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q",
	  "too many events" },
};

START_TEST(malformed_formulas_are_refused_with_the_reason)
{
	char text[1024] = "a";
	struct formula f;
	const char *why;

	for (size_t i = 0; i < sizeof(bad_formulas) / sizeof(*bad_formulas); i++) {
		ck_assert_int_eq(formula_parse(&f, bad_formulas[i].text, &why), -1);
		ck_assert_msg(strstr(why, bad_formulas[i].why), "%s: %s",
			      bad_formulas[i].text, why);
	}
	for (int i = 0; i < FORMULA_STEPS; i++)
		strcat(text, " + a");
	ck_assert_int_eq(formula_parse(&f, text, &why), -1);
	ck_assert_str_eq(why, "it is too long");
}
END_TEST

/* ---- definitions --------------------------------------------------------- */

static int add_text(struct defines *d, const char *text)
{
	return defines_add(d, "a.metrics", text, strlen(text));
}

START_TEST(definitions_are_sections_of_keys_and_values)
{
	struct defines d = { .n = 0 };

	ck_assert_int_eq(add_text(&d, "# comment\n\n[one]\ngroups = x  yz\n"
		"cpu = GenuineIntel-*\nsmt=off\nunit = % of b\ndesc = what\n"
		"formula = a / b\n  [two]  \r\nformula = a\n"), 0);
	ck_assert_uint_eq(d.n, 2);
	ck_assert_str_eq(d.def[0].name, "one");
	ck_assert_str_eq(d.def[0].unit, "% of b");
	ck_assert_str_eq(d.def[0].cpu, "GenuineIntel-*");
	ck_assert_str_eq(d.def[0].desc, "what");
	ck_assert_str_eq(d.def[0].formula, "a / b");
	ck_assert(d.def[0].alone && !d.def[1].alone);
	ck_assert_uint_eq(d.def[1].line, 10);
	ck_assert(define_is(&d.def[0], "one") && define_is(&d.def[0], "x") &&
		  define_is(&d.def[0], "yz"));
	ck_assert(!define_is(&d.def[0], "on") && !define_is(&d.def[0], "") &&
		  !define_is(&d.def[0], "y") && !define_is(&d.def[0], "yzz") &&
		  !define_is(&d.def[1], "x"));
	defines_free(&d);
}
END_TEST

static const char *const bad_texts[] = {
	"formula = a\n", "[one]\n", "[one]\nunit = x\n[two]\nformula = a\n",
	"[one\nformula = a\n", "[]\nformula = a\n", "[one] x\nformula = a\n",
	"[one]\nformula a\n", "[one]\nformula = a +\n", "[one]\nsmt = maybe\nformula = a\n",
	"[one]\ncolour = red\nformula = a\n",
};

START_TEST(damaged_definitions_are_refused)
{
	for (size_t i = 0; i < sizeof(bad_texts) / sizeof(*bad_texts); i++) {
		struct defines d = { .n = 0 };

		ck_assert_msg(add_text(&d, bad_texts[i]) == -1, "%s", bad_texts[i]);
		defines_free(&d);
	}
}
END_TEST

/* ---- those that hwpmc has by itself, on each model ----------------------- */

static struct hwpmc *machine;

/* What this machine's CPUID says is not of the machine that is played: the linker has the
 * library call this. */
void __wrap_event_machine_cpuid(struct event_machine *m);
void __wrap_event_machine_cpuid(struct event_machine *m)
{
	/* Seven architectural events; the eighth is slots. */
	m->arch_missing = m->pmu_version < 5 ? ~0x7fu : 0;
}

/* NULL: none any more. */
static void be_cpu(const char *cpuid, unsigned int nfixed)
{
	hwpmc_close(machine);
	machine = NULL;
	if (!cpuid)
		return;
	machine = must_calloc(1, sizeof(*machine));
	machine->fd = -1;
	machine->info = (struct hwpmc_op_getcpuinfo){
		.nclass = 2, .pmu_version = nfixed > 3 ? 5 : 4,
		.classes = { { .class = HWPMC_CLASS_IAP, .num = 8 },
			     { .class = HWPMC_CLASS_IAF, .num = nfixed } },
	};
	snprintf(machine->info.cpuid, sizeof(machine->info.cpuid), "%s", cpuid);
	setenv("HWPMC_EVENTS", TABLES_SRC, 1);
	/* Names of the tables alone. */
	setenv("LIBPFM_FORCE_PMU", "perf", 1);
}

/* The first section of this name that is usable. */
static const struct define *define_here(const struct defines *d, const char *name,
					struct formula *f)
{
	const char *why;

	for (unsigned int i = 0; i < d->n; i++)
		if (strcmp(d->def[i].name, name) == 0 &&
		    define_usable(&d->def[i], machine, f, &why))
			return &d->def[i];
	return NULL;
}

/* A value for each event by its name, the same in all formulas. */
static double counted(const char *event)
{
	double value = 1000;

	for (; *event; event++)
		value += *event * 7;
	return value;
}

static double value_here(const struct defines *d, const char *name)
{
	double count[FORMULA_EVENTS], value;
	struct formula f;

	ck_assert_msg(define_here(d, name, &f) != NULL, "%s on %s", name,
		      machine->info.cpuid);
	for (unsigned int i = 0; i < f.nevent; i++)
		count[i] = counted(f.event[i]);
	value = formula_value(&f, count);
	formula_free(&f);
	return value;
}

static const struct {
	const char *cpu;
	bool alone;			/* slots are the core's */
	bool whole;			/* the four parts are all slots by the formulas */
} topdown_cpus[] = {
	{ "GenuineIntel-6-2A-7", true, true },		/* Sandy Bridge */
	{ "GenuineIntel-6-3C-3", true, true },		/* Haswell */
	{ "GenuineIntel-6-4F-1", true, true },		/* Broadwell */
	{ "GenuineIntel-6-5E-3", true, true },		/* Skylake */
	{ "GenuineIntel-6-55-7", true, true },		/* Cascade Lake */
	{ "GenuineIntel-6-6A-6", false, true },		/* Ice Lake */
	{ "GenuineIntel-6-8C-1", false, true },		/* Tiger Lake */
	{ "GenuineIntel-6-8F-8", false, false },	/* Sapphire Rapids */
	{ "GenuineIntel-6-CF-2", false, false },	/* Emerald Rapids */
	{ "GenuineIntel-6-86-7", false, true },		/* Tremont */
	{ "GenuineIntel-6-AF-3", false, true },		/* Sierra Forest */
};

START_TEST(parts_of_topdown_are_all_slots_on_each_model)
{
	static const char *const parts[] = {
		"topdown-retiring", "topdown-bad-speculation",
		"topdown-frontend-bound", "topdown-backend-bound",
	};
	struct defines d;

	ck_assert_int_eq(defines_load(&d), 0);
	for (size_t i = 0; i < sizeof(topdown_cpus) / sizeof(*topdown_cpus); i++) {
		double sum = 0;

		be_cpu(topdown_cpus[i].cpu, topdown_cpus[i].alone ? 3 : 4);
		for (int part = 0; part < 4; part++) {
			struct formula f;
			const struct define *def = define_here(&d, parts[part], &f);

			ck_assert_msg(def != NULL, "%s on %s", parts[part],
				      topdown_cpus[i].cpu);
			ck_assert_msg(def->alone == topdown_cpus[i].alone, "%s on %s: line %u",
				      parts[part], topdown_cpus[i].cpu, def->line);
			formula_free(&f);
			sum += value_here(&d, parts[part]);
		}
		if (topdown_cpus[i].whole)
			ck_assert_double_eq_tol(sum, 100, 1e-9);
	}
	be_cpu(NULL, 0);
	defines_free(&d);
}
END_TEST

START_TEST(metrics_of_architectural_events_are_on_every_model)
{
	FILE *models = fopen(TABLES_SRC "/intel-models.tsv", "r");
	char line[256], cpu[64];
	unsigned int n = 0;
	struct defines d;

	ck_assert_ptr_nonnull(models);
	ck_assert_int_eq(defines_load(&d), 0);
	while (fgets(line, sizeof(line), models)) {
		if (line[0] == '#' || sscanf(line, "%60s", cpu) != 1)
			continue;
		cpu[strcspn(cpu, "[")] = '\0';
		strcat(cpu, cpu[strlen(cpu) - 1] == '-' ? "4" : "-1");
		be_cpu(cpu, 3);
		ck_assert_double_eq(value_here(&d, "ipc"),
				    counted("instructions") / counted("cycles"));
		value_here(&d, "branch-miss-rate");
		value_here(&d, "llc-miss-rate");
		n++;
	}
	fclose(models);
	ck_assert_uint_gt(n, 80);
	be_cpu(NULL, 0);
	defines_free(&d);
}
END_TEST

START_TEST(every_metric_is_counted_by_some_model)
{
	static const char *const cpus[] = {
		"GenuineIntel-6-2A-7", "GenuineIntel-6-3C-3", "GenuineIntel-6-5E-3",
		"GenuineIntel-6-6A-6", "GenuineIntel-6-8F-8", "GenuineIntel-6-AF-3",
	};
	struct defines d;

	ck_assert_int_eq(defines_load(&d), 0);
	for (unsigned int i = 0; i < d.n; i++) {
		const char *why = NULL;
		struct formula f;
		bool usable = false;

		/* Of AMD's K8, which libpfm4 knows. */
		if (strstr(d.def[i].formula, "_l1_"))
			continue;
		for (int c = 0; c < 6 && !usable; c++) {
			be_cpu(cpus[c], c < 3 ? 3 : 4);
			usable = define_usable(&d.def[i], machine, &f, &why);
		}
		ck_assert_msg(usable, "%s, line %u: %s", d.def[i].name, d.def[i].line, why);
		formula_free(&f);
	}
	be_cpu(NULL, 0);
	defines_free(&d);
}
END_TEST

int main(void)
{
	/* What lies on this machine is no part of the tests. */
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	harness_add(formulas_are_computed_with_the_usual_precedence);
	harness_add(names_of_events_keep_the_characters_of_operators);
	harness_add(malformed_formulas_are_refused_with_the_reason);
	harness_add(definitions_are_sections_of_keys_and_values);
	harness_add(damaged_definitions_are_refused);
	harness_add(parts_of_topdown_are_all_slots_on_each_model);
	harness_add(metrics_of_architectural_events_are_on_every_model);
	harness_add(every_metric_is_counted_by_some_model);
	return harness_run();
}
