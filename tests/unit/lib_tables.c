/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_tables.c - the tables of data/events: every event of every model becomes the codes
 * that its table says, the module's encoder takes them to the rows that can count it, and
 * libpfm4 means the same bits by the same name, but for the differences that
 * tests/events/libpfm-differences.tsv lists. The same tables in the vendor's form are read alike.
 */
#include <errno.h>
#include <perfmon/pfmlib.h>
#include <stdio.h>

#include "backends/cputype.h"
#include "backends/intel_encode.h"
#include "backends/intel_kinds.h"
#include "backends/intel_regs.h"
#include "harness.h"
#include "lib_machines.h"
#include "tables.h"

#define MODULE_BITS	0x530000ull	/* user, kernel, interrupt, enable */

/* One line of intel-models.tsv, and what its CPU is for the library. */
struct model {
	char cpu[64], table[64], kind[32], unit[32];
	u32 number, core;
	u64 more_bits;
	struct event_machine machine;
};

typedef void model_fn(struct model *model);

static struct {
	unsigned int models, events, refused, with_class, encoded, bits, sources, differ;
} n;
static FILE *found_differences;

/* "GenuineIntel-6-55-[01234]" to a CPU of the first stepping. */
static void name_cpu(char *cpu)
{
	char *set = strchr(cpu, '[');

	if (set)
		strcpy(set, (char []){ set[1], '\0' });
	else
		strcat(cpu, "-1");
}

static void play(struct model *model)
{
	struct hwpmc_op_getcpuinfo info = {
		.nclass = 2, .pmu_version = 6,
		.classes = { { .class = HWPMC_CLASS_IAP, .num = 10 },
			     { .class = HWPMC_CLASS_IAF, .num = 16 } },
	};

	strcpy(info.cpuid, model->cpu);
	event_machine_init(&model->machine, &info);
	model->machine.any_thread = true;
}

static void each_model(model_fn *fn)
{
	FILE *f = fopen(TABLES_SRC "/intel-models.tsv", "r");
	char line[256];

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		struct model model;

		if (line[0] == '#')
			continue;
		ck_assert_int_eq(sscanf(line, "%40s %63s %31s", model.cpu, model.table,
					model.kind), 3);
		sscanf(model.cpu, "GenuineIntel-%*u-%x", &model.number);
		name_cpu(model.cpu);
		strcpy(model.unit, event_map_kind(model.kind, strlen(model.kind)));
		play(&model);
		n.models++;
		fn(&model);
	}
	fclose(f);
	ck_assert_uint_gt(n.models, 80);
}

static void use_tables(void)
{
	setenv("HWPMC_EVENTS", TABLES_SRC, 1);
	setenv("LIBPFM_FORCE_PMU", "perf", 1);
}

/* ---- by name to codes ------------------------------------------------------ */

static bool is_refused_by_rule(const struct event_row *row)
{
	return row->reg == 0x3f6 || (row->reg >= 0x3e0 && row->reg <= 0x3e3) ||
	       (row->fixed >= 0 && row->config[0] & CODE_ANY) ||
	       (!row->extra && (row->reg || (row->config[0] & 0xff) == 0xb7));
}

static void has_code(const struct hwpmc_event *ev, const char *spec, uint32_t class_id,
		     uint64_t config, uint64_t config1)
{
	for (unsigned int i = 0; i < ev->ncode; i++)
		if (ev->code[i].class_id == class_id && ev->code[i].config == config &&
		    ev->code[i].config1 == config1)
			return;
	ck_abort_msg("%s: none of its %u codes is 0x%llx with 0x%llx", spec, ev->ncode,
		     (unsigned long long)config, (unsigned long long)config1);
}

/* What the text of the table says, taken apart here, not by the library. */
static void codes_of_line(const char *line, const struct hwpmc_event *ev,
			  const char *spec)
{
	char selects[64], counters[32], registers[64] = "", value[32] = "", *s;
	unsigned int nselect = 0, nreg = 0;
	uint64_t extra;

	ck_assert_int_ge(sscanf(line, "%*[^\t]\t%63[^\t]\t%31[^\t]\t%63[^\t]\t%31[^\t]", selects,
				counters, registers, value), 2);
	if (counters[0] == 'F') {
		has_code(ev, spec, HWPMC_CLASS_IAF, (strtoull(counters + 1, NULL, 10) + 1) << 8, 0);
		return;
	}
	extra = strtoull(value, NULL, 16);
	for (s = registers; *s; s += strcspn(s, ",") + (s[strcspn(s, ",")] == ','))
		nreg++;
	for (s = selects; *s; s += strcspn(s, ",") + (s[strcspn(s, ",")] == ','), nselect++) {
		if (nreg == 1 && nselect != (strtoul(registers, NULL, 16) == 0x1a7) &&
		    strchr(selects, ','))
			continue;
		has_code(ev, spec, HWPMC_CLASS_IAP, strtoull(s, NULL, 16), extra);
	}
}

static void becomes_its_codes(struct model *model, const char *line)
{
	struct event_row row;
	struct event_error e = { .text = "" };
	struct hwpmc_event ev;
	char spec[256];
	bool refused;

	ck_assert(event_row_parse(line, strcspn(line, "\n"), &row));
	snprintf(spec, sizeof(spec), "%s::%s", model->unit, row.name);
	refused = event_parse(&model->machine, spec, &ev, &e) != 0;
	n.events++;
	ck_assert_msg(refused == is_refused_by_rule(&row), "%s, %s: %s", model->cpu, spec,
		      refused ? e.text : "is taken");
	if (refused) {
		ck_assert_msg(e.err == EINVAL && (strstr(e.text, "hwpmc does not") ||
			      strstr(e.text, "only with precise sampling") ||
			      strstr(e.text, "response mask")), "%s: %s", spec, e.text);
		n.refused++;
		return;
	}
	codes_of_line(line, &ev, spec);
	/* By its name alone as well; of two kinds the first that has it. */
	ck_assert_msg(!event_parse(&model->machine, row.name, &ev, &e), "%s, %s: %s",
		      model->cpu, row.name, e.text);
	if (!strcmp(model->unit, "cpu"))
		codes_of_line(line, &ev, row.name);
}

static void each_line(struct model *model, void (*fn)(struct model *, const char *))
{
	char command[256], line[1024];
	FILE *f;

	snprintf(command, sizeof(command), "xz -dc " TABLES_SRC "/%s.tsv.xz", model->table);
	f = popen(command, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (line[0] != '#')
			fn(model, line);
	ck_assert_int_eq(pclose(f), 0);
}

static void events_become_their_codes(struct model *model)
{
	each_line(model, becomes_its_codes);
}

START_TEST(every_event_of_every_table_becomes_its_codes)
{
	use_tables();
	each_model(events_become_their_codes);
	printf("# %u models, %u events, %u refused: latency, registers, both threads\n", n.models,
	       n.events, n.refused);
	ck_assert_uint_gt(n.events, 25000);
	ck_assert_uint_gt(n.refused, 300);
	ck_assert_uint_lt(n.refused, 1500);
}
END_TEST

/* A name that two kinds have with different codes, on a CPU of each; and one that only the
 * other kind has. */
START_TEST(a_name_without_a_kind_is_that_of_the_kind_of_the_cpu)
{
	struct model model = { .cpu = "GenuineIntel-6-97-2" };
	struct event_error e;
	struct hwpmc_event ev;

	use_tables();
	play(&model);
	model.machine.kind = "cpu_atom";
	ck_assert_int_eq(event_parse(&model.machine, "BR_INST_RETIRED.COND:u", &ev, &e), 0);
	ck_assert_uint_eq(ev.code[0].config, 0x7ec4);
	ck_assert_uint_eq(ev.kinds, 0);
	ck_assert_int_eq(event_parse(&model.machine, "MEM_INST_RETIRED.ALL_LOADS", &ev, &e), -1);
	ck_assert_int_eq(e.err, ENOENT);
	ck_assert_int_eq(event_parse(&model.machine, "cpu_core/MEM_INST_RETIRED.ALL_LOADS/u",
				     &ev, &e), 0);
	model.machine.kind = "cpu_core";
	ck_assert_int_eq(event_parse(&model.machine, "BR_INST_RETIRED.COND", &ev, &e), 0);
	ck_assert_uint_eq(ev.code[0].config, 0x11c4);
	/* FreeBSD's qualifiers behind the slash. */
	ck_assert_int_eq(event_parse(&model.machine, "cpu_atom/BR_INST_RETIRED.COND/u,cmask=2",
				     &ev, &e), 0);
	ck_assert_uint_eq(ev.code[0].config, 0x2007ec4);
	ck_assert_uint_eq(ev.kinds, HWPMC_KIND_ATOM);
}
END_TEST

/* ---- by the module's encoder ------------------------------------------------ */

static u64 counters_of_model;

static void note_counters(struct model *model, const char *line)
{
	struct event_row row;

	ck_assert(event_row_parse(line, strcspn(line, "\n"), &row));
	counters_of_model |= row.counters;
}

/* Bits 46 and 47 of its register: Intel's file of Gracemont alone has them, and a register that
 * lacks them faults. They are not accepted. */
static bool has_bits_not_accepted(const struct model *model, const struct hwpmc_event_code *code)
{
	return model->core == HWPMC_CPU_ALDERLAKEN && code->config1 >> 46;
}

static void encodes(struct model *model, const char *name, const struct event_row *row,
		    const struct hwpmc_event_code *code)
{
	struct hwpmc_intel_pmu pmu = {
		.version = 4, .gp_num = 10, .gp_map = 0x3ff, .gp_width = 48, .any_thread = true,
		.cputype = model->core, .extra = hwpmc_intel_extras(model->core),
		.more_bits = model->more_bits,
	};
	struct hwpmc_class cls = { .num = __builtin_popcountll(counters_of_model), .priv = &pmu };
	struct hwpmc_request req = {
		.caps = code->caps | HWPMC_CAP_USER | HWPMC_CAP_SYSTEM, .flags = code->flags,
		.mode = HWPMC_MODE_SC, .config = code->config, .config1 = code->config1,
	};
	struct hwpmc_encoding enc;

	if (has_bits_not_accepted(model, code)) {
		ck_assert_int_eq(hwpmc_iap_encode(&cls, &req, &enc), -EINVAL);
		ck_assert_uint_eq(enc.refusal.reason, HWPMC_WHY_EVENT_BITS);
		n.bits++;
		return;
	}
	ck_assert_msg(!hwpmc_iap_encode(&cls, &req, &enc), "%s, %s: refused, reason %u, %d",
		      model->cpu, name, enc.refusal.reason, enc.refusal.detail);
	n.encoded++;
	ck_assert_msg((enc.select.sel & ~MODULE_BITS) == code->config &&
		      enc.select.extra == code->config1, "%s, %s: select 0x%llx, extra 0x%llx",
		      model->cpu, name, (unsigned long long)enc.select.sel,
		      (unsigned long long)enc.select.extra);
	ck_assert_msg((enc.rows & row->counters) != 0,
		      "%s, %s: rows 0x%llx, counters 0x%llx", model->cpu, name,
		      (unsigned long long)enc.rows, (unsigned long long)row->counters);
	if (row->reg)
		ck_assert_msg(!(enc.rows & ~row->counters), "%s, %s: rows 0x%llx, counters 0x%llx",
			      model->cpu, name, (unsigned long long)enc.rows,
			      (unsigned long long)row->counters);
}

/* Whose rules hold, and which further bits of a select there are; false: the module has no
 * table for it. */
static bool find_core(struct model *model)
{
	const struct hwpmc_intel_kinds *kinds = hwpmc_intel_kinds_of(model->number);
	u32 kind = strstr(model->kind, "LowPower") ? HWPMC_KIND_LOWPOWER :
		   strstr(model->kind, "Atom") ? HWPMC_KIND_ATOM : HWPMC_KIND_CORE;

	if (strncmp(model->cpu, "GenuineIntel-6-", 15))
		return false;
	model->more_bits = 0;
	if (!strcmp(model->kind, "-") || !kinds) {
		model->core = hwpmc_core_intel(model->number);
		if (model->core == HWPMC_CORE_DARKMONT)
			model->more_bits = INTEL_SEL_UMASK2 | INTEL_SEL_EQ;
		return model->core != HWPMC_CPU_GENERIC;
	}
	for (unsigned int i = 0; i < HWPMC_KINDS_MAX; i++)
		if (kinds->kind[i].kind == kind) {
			model->core = kinds->kind[i].core;
			model->more_bits = kinds->kind[i].more_bits;
		}
	return true;
}

static void line_encodes(struct model *model, const char *line)
{
	struct event_row row;
	struct event_error e;
	struct hwpmc_event ev;
	char spec[256];

	ck_assert(event_row_parse(line, strcspn(line, "\n"), &row));
	if (is_refused_by_rule(&row) || row.fixed >= 0)
		return;
	snprintf(spec, sizeof(spec), "%s::%s", model->unit, row.name);
	ck_assert(!event_parse(&model->machine, spec, &ev, &e));
	for (unsigned int i = 0; i < ev.ncode; i++)
		if (ev.code[i].class_id == HWPMC_CLASS_IAP)
			encodes(model, row.name, &row, &ev.code[i]);
}

static void events_encode(struct model *model)
{
	if (!find_core(model))
		return;
	n.with_class++;
	counters_of_model = 0;
	each_line(model, note_counters);
	each_line(model, line_encodes);
}

START_TEST(every_event_is_taken_by_the_encoder_of_its_model_to_rows_that_can_count_it)
{
	use_tables();
	each_model(events_encode);
	printf("# %u models and kinds, %u codes; %u with bits that are not accepted\n", n.with_class,
	       n.encoded, n.bits);
	ck_assert_uint_eq(n.bits, 6 * 2 * 2);	/* models, events, codes */
	ck_assert_uint_gt(n.with_class, 75);
	ck_assert_uint_gt(n.encoded, 20000);
}
END_TEST

/* ---- two sources ------------------------------------------------------------- */

static const struct {
	const char *table, *pmu;
} pmus[] = {
	{ "nehalemep", "nhm" }, { "nehalemex", "nhm_ex" }, { "westmereep-dp", "wsm_dp" },
	{ "westmereep-sp", "wsm" }, { "sandybridge", "snb" }, { "jaketown", "snb_ep" },
	{ "ivybridge", "ivb" }, { "ivytown", "ivb_ep" }, { "haswell", "hsw" },
	{ "haswellx", "hsw_ep" }, { "broadwell", "bdw" }, { "broadwellx", "bdw_ep" },
	{ "skylake", "skl" }, { "skylakex", "skx" }, { "cascadelakex", "clx" },
	{ "icelake", "icl" }, { "icelakex", "icx" }, { "sapphirerapids", "spr" },
	{ "silvermont", "slm" }, { "goldmont", "glm" }, { "snowridgex", "tmt" },
	{ "bonnell", "atom" }, { "knightslanding", "knl" },
};

/* Of the same name, "A.B" and "A:B". False: libpfm4 does not know it. */
static bool pfm_code(const char *pmu, const char *name, uint64_t *config, uint64_t *extra)
{
	pfm_pmu_encode_arg_t arg = { .size = sizeof(arg) };
	char text[200], *p;

	snprintf(text, sizeof(text), "%s::%s", pmu, name);
	for (p = text + strlen(pmu) + 2; *p; p++)
		if (*p == '.')
			*p = ':';
	if (pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg))
		return false;
	*config = arg.count > 0 ? arg.codes[0] & ~MODULE_BITS : 0;
	*extra = arg.count > 1 ? arg.codes[1] : 0;
	free(arg.codes);
	return true;
}

static bool row_means(const struct event_row *row, uint64_t config, uint64_t extra)
{
	/* The number of a fixed counter, where the vendor's code does not have it. */
	if (row->fixed >= 0 && config == (uint64_t)(row->fixed + 1) << 8)
		return true;
	for (unsigned int i = 0; i < row->nconfig; i++)
		if (row->config[i] == config && (!extra || row->extra == extra))
			return true;
	return false;
}

static void compare_line(struct model *model, const char *line)
{
	struct event_row row;
	uint64_t config, extra;

	ck_assert(event_row_parse(line, strcspn(line, "\n"), &row));
	if (!pfm_code(model->unit, row.name, &config, &extra))
		return;
	n.sources++;
	if (row_means(&row, config, extra))
		return;
	n.differ++;
	fprintf(found_differences, "%s\t%s\t%llx\t%llx\t%llx\t%llx\n", model->table, row.name,
		(unsigned long long)row.config[0], (unsigned long long)row.extra,
		(unsigned long long)config, (unsigned long long)extra);
}

START_TEST(libpfm4_means_the_same_bits_but_for_the_listed_differences)
{
	char listed[256], found[256];
	FILE *want = fopen(DIFFERENCES, "r");

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	ck_assert_int_eq(pfm_initialize(), PFM_SUCCESS);
	found_differences = fopen(DIFFERENCES_FOUND, "w+");
	ck_assert_ptr_nonnull(found_differences);
	for (unsigned int i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++) {
		struct model model = { .number = 0 };

		strcpy(model.table, pmus[i].table);
		strcpy(model.unit, pmus[i].pmu);
		each_line(&model, compare_line);
	}
	printf("# %u names are known to both, %u differ\n", n.sources, n.differ);
	ck_assert_uint_gt(n.sources, 3000);
	ck_assert_ptr_nonnull(want);
	rewind(found_differences);
	while (fgets(listed, sizeof(listed), want)) {
		if (listed[0] == '#')
			continue;
		ck_assert_msg(fgets(found, sizeof(found), found_differences) &&
			      !strcmp(listed, found), "listed: %sfound: %s", listed, found);
	}
	ck_assert_msg(!fgets(found, sizeof(found), found_differences), "not listed: %s", found);
	fclose(want);
	fclose(found_differences);
}
END_TEST

/* ---- the vendor's form --------------------------------------------------------- */

static bool rows_equal(const struct event_row *a, const struct event_row *b)
{
	/* RS_EMPTY.COUNT and RS.EMPTY_COUNT are one name. */
	bool same_name = !strcmp(a->name, b->name);

	return a->nconfig == b->nconfig && !memcmp(a->config, b->config, sizeof(a->config)) &&
	       a->counters == b->counters && a->fixed == b->fixed && a->reg == b->reg &&
	       a->extra == b->extra && a->precise == b->precise &&
	       (!same_name || a->deprecated == b->deprecated);
}


/* The same event from the files in the vendor's form, with a description. */
static void same_in_json(struct model *model, const char *line)
{
	char normal[ROW_NAME], want[200];
	struct event_row row;
	struct event_found f;
	struct event_error e;

	ck_assert(event_row_parse(line, strcspn(line, "\n"), &row));
	event_normal(row.name, normal, sizeof(normal));
	for (char *p = normal; *p; p++)
		if (*p == ':')
			*p = '_';
	ck_assert_int_eq(event_tables_find(&model->machine, model->unit, normal, &f, &e), 1);
	ck_assert_msg(rows_equal(&row, &f.row), "%s, %s differs", model->cpu, row.name);
	snprintf(want, sizeof(want), "What %s counts.", f.row.name);
	ck_assert_uint_eq(f.row.ndesc, strlen(want));
	ck_assert(!memcmp(f.row.desc, want, f.row.ndesc));
	ck_assert_ptr_nonnull(strstr(f.table, "_core.json"));
	n.events++;
}

static void model_in_json(struct model *model)
{
	each_line(model, same_in_json);
}

START_TEST(files_in_the_vendors_form_say_the_same_and_describe)
{
	setenv("HWPMC_EVENTS", JSON_SRC ":" TABLES_SRC, 1);
	each_model(model_in_json);
	ck_assert_uint_gt(n.events, 25000);
}
END_TEST

/* The tables that a map has for a CPU, with a comma behind each. */
static const char *tables_of(const char *map, const char *cpu)
{
	static char names[200];
	struct event_map_line line;
	const char *at = map, *end = map + strlen(map);

	names[0] = '\0';
	while (event_map_next(&at, end, '\t', cpu, &line))
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s,", line.file);
	return names;
}

START_TEST(a_table_is_of_the_steppings_that_its_line_names)
{
	static const char map[] = "GenuineIntel-6-55-[01234]\tfirst\t-\n"
		"GenuineIntel-6-55-[56789ABCDEF]\tsecond\t-\nGenuineIntel-6-5\tthird\t-\n";

	ck_assert_str_eq(tables_of(map, "GenuineIntel-6-55-0"), "first,");
	ck_assert_str_eq(tables_of(map, "GenuineIntel-6-55-4"), "first,");
	ck_assert_str_eq(tables_of(map, "GenuineIntel-6-55-5"), "second,");
	ck_assert_str_eq(tables_of(map, "GenuineIntel-6-55-F"), "second,");
	ck_assert_str_eq(tables_of(map, "GenuineIntel-6-55-G"), "");
	ck_assert_str_eq(tables_of(map, "GenuineIntel-6-5-3"), "third,");
}
END_TEST

int main(void)
{
	harness_add(a_table_is_of_the_steppings_that_its_line_names);
	harness_add(a_name_without_a_kind_is_that_of_the_kind_of_the_cpu);
	harness_add(every_event_of_every_table_becomes_its_codes);
	harness_add(every_event_is_taken_by_the_encoder_of_its_model_to_rows_that_can_count_it);
	harness_add(libpfm4_means_the_same_bits_but_for_the_listed_differences);
	harness_add(files_in_the_vendors_form_say_the_same_and_describe);
	return harness_run();
}
