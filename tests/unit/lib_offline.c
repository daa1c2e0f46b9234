/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_offline.c - the names of events without the module: processors by their CPUID, and what a
 * handle without the device refuses. On the host, under ASan and UBSan.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <libhwpmc.h>
#include <libhwpmclog.h>

#include "../../lib/pmc/offline.h"
#include "harness.h"

struct processor {
	const char *vendor;
	uint32_t id;			/* leaf 1, EAX */
	uint32_t pmu[4];		/* leaf 0xA */
	uint32_t features;		/* leaf 0x80000001, ECX */
	const char *name, *classes;
	uint32_t version;
};

static void answer(void *arg, uint32_t leaf, uint32_t reg[4])
{
	const struct processor *p = arg;

	memset(reg, 0, 4 * sizeof(*reg));
	if (leaf == 0) {
		memcpy(&reg[1], p->vendor, 4);
		memcpy(&reg[3], p->vendor + 4, 4);
		memcpy(&reg[2], p->vendor + 8, 4);
	} else if (leaf == 1) {
		reg[0] = p->id;
	} else if (leaf == 0xa) {
		memcpy(reg, p->pmu, sizeof(p->pmu));
	} else if (leaf == 0x80000001) {
		reg[2] = p->features;
	}
}

static const char *classes_of(const struct hwpmc_op_getcpuinfo *info)
{
	static char text[200];
	int len = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < info->nclass; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s %u", i ? ", " : "",
				hwpmc_name_of_class(info->classes[i].class),
				info->classes[i].num);
	return text;
}

START_TEST(processors_have_names_and_classes_by_their_cpuid)
{
	static const struct processor known[] = {
		{ "GenuineIntel", 0x50654, { 0x07300404, 0, 0, 0x603 }, 0,
		  "GenuineIntel-6-55-4", "TSC 1, SOFT 1, IAP 4, IAF 3", 4 },
		{ "GenuineIntel", 0x406f1, { 0x07300801, 0, 0, 0x603 }, 0,
		  "GenuineIntel-6-4F-1", "TSC 1, SOFT 1, IAP 8", 1 },
		/* A virtual machine without counters. */
		{ "GenuineIntel", 0x50654, { 0 }, 0, "GenuineIntel-6-55-4", "TSC 1, SOFT 1", 0 },
		{ "GenuineIntel", 0xf49, { 0 }, 0, "GenuineIntel-15-04-9",
		  "TSC 1, SOFT 1, P4 18", 0 },
		{ "AuthenticAMD", 0xb00f21, { 0 }, 1u << 23 | 1u << 10,
		  "AuthenticAMD-26-02-1", "TSC 1, SOFT 1, K8 6, IBS 2", 1 },
		{ "AuthenticAMD", 0x100f43, { 0 }, 0, "AuthenticAMD-16-04-3",
		  "TSC 1, SOFT 1, K8 4", 1 },
		{ "HygonGenuine", 0x900f02, { 0 }, 1u << 23, "HygonGenuine-24-00-2",
		  "TSC 1, SOFT 1, K8 6", 1 },
		{ "AuthenticAMD", 0x681, { 0 }, 0, "AuthenticAMD-6-08-1", "TSC 1, SOFT 1", 0 },
		{ "CentaurHauls", 0x6f2, { 0x07300404, 0, 0, 0x603 }, 0,
		  "CentaurHauls-6-0F-2", "TSC 1, SOFT 1", 0 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct hwpmc_op_getcpuinfo info;

		offline_describe(&info, answer, (void *)&known[i]);
		ck_assert_str_eq(info.cpuid, known[i].name);
		ck_assert_str_eq(classes_of(&info), known[i].classes);
		ck_assert_uint_eq(info.pmu_version, known[i].version);
	}
}
END_TEST

static int note_event(const struct hwpmc_event_info *info, void *arg)
{
	strcat(arg, info->name);
	strcat(arg, " ");
	return 0;
}

START_TEST(events_of_the_kernel_have_their_names_without_the_module)
{
	char names[1000] = "";
	struct hwpmc_event event;
	struct hwpmc *h;

	ck_assert_int_eq(hwpmc_open_names(&h), 0);
	ck_assert_int_eq(hwpmc_event_each(h, HWPMC_CLASS_SOFT, note_event, names), 0);
	ck_assert_str_eq(names, "SOFT-CLOCK.HARD SOFT-CLOCK.STAT SOFT-CLOCK.PROF SOFT-LOCK.FAILED "
			 "SOFT-PAGE_FAULT.ALL SOFT-PAGE_FAULT.READ SOFT-PAGE_FAULT.WRITE "
			 "SOFT-CONTEXT_SWITCH SOFT-CPU_MIGRATION ");
	ck_assert_int_eq(hwpmc_event_parse(h, "page-faults", &event), 0);
	ck_assert_uint_eq(event.code[0].ev, HWPMC_EV_SOFT_PAGE_FAULT_ALL);
	ck_assert_int_eq(hwpmc_event_parse(h, "nosuch", &event), -1);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "bad event 'nosuch'"));
	hwpmc_close(h);
}
END_TEST

START_TEST(a_handle_without_the_device_counts_nothing)
{
	struct hwpmc_op_getdriverstats stats;
	struct hwpmc *h, *other;
	uint64_t value;
	uint32_t id;

	ck_assert_int_eq(hwpmc_open_names(&h), 0);
	ck_assert_int_eq(hwpmc_open_names(&other), 0);
	ck_assert_int_eq(hwpmc_fd(h), -1);
	errno = 0;
	ck_assert_int_eq(hwpmc_allocate(h, "page-faults", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id),
			 -1);
	ck_assert_int_eq(errno, ENXIO);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "page-faults"));
	ck_assert_int_eq(hwpmc_read(h, 1, &value), -1);
	ck_assert_int_eq(errno, ENXIO);
	ck_assert_int_eq(hwpmc_driver_stats(h, &stats), -1);
	ck_assert_int_eq(errno, ENXIO);
	ck_assert_str_eq(hwpmc_error(other), "");
	hwpmc_close(other);
	hwpmc_close(h);
	ck_assert_int_eq(hwpmc_open_names(NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

/* The call fails with ENXIO, and its sentence has the remedy. */
#define NEEDS_MODULE(call) do {							\
	errno = 0;								\
	ck_assert_msg((call) == -1, "%s succeeded", #call);			\
	ck_assert_msg(errno == ENXIO, "%s: errno %d", #call, errno);		\
	ck_assert_msg(strstr(hwpmc_error(h), "has only names of events; load the module"),	\
		      "%s: %s", #call, hwpmc_error(h));				\
} while (0)

static int take_note(const struct hwpmc_event_info *info, void *arg)
{
	return 0;
}

START_TEST(calls_that_need_the_module_are_enxio_with_the_remedy)
{
	struct hwpmc_batch_entry entry = { .pmcid = 7 };
	struct hwpmc_classnote notes[HWPMC_NOTES_MAX];
	struct hwpmc_op_pmcallocate req = { 0 };
	struct hwpmc_op_getdriverstats stats;
	struct hwpmc_op_kgmon kgmon = { 0 };
	struct hwpmc_unwind unwind = { 0 };
	const char *specs[] = { "page-faults" };
	struct hwpmc_event event = { .ncode = 1 };
	struct hwpmc_pmcinfo *rows;
	struct hwpmc_counter c;
	struct hwpmc_group *group;
	struct hwpmc_rings *rings;
	uint64_t value, more;
	uint32_t id = 7, other;
	struct hwpmc *h;
	unsigned int n;

	ck_assert_int_eq(hwpmc_open_names(&h), 0);
	NEEDS_MODULE(hwpmc_allocate(h, "page-faults", HWPMC_MODE_SC, 0, 0, 0, &id));
	NEEDS_MODULE(hwpmc_allocate_event(h, &event, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id));
	NEEDS_MODULE(hwpmc_allocate_raw(h, &req));
	NEEDS_MODULE(hwpmc_open_counter(h, "page-faults", HWPMC_MODE_TC, 0, 0, 0, &id));
	NEEDS_MODULE(hwpmc_open_event(h, &event, HWPMC_MODE_TC, 0, 0, 0, &id));
	NEEDS_MODULE(hwpmc_group_open(h, specs, 1, 0, 0, &group));
	NEEDS_MODULE(hwpmc_release(h, id));
	NEEDS_MODULE(hwpmc_attach(h, id, 0));
	NEEDS_MODULE(hwpmc_detach(h, id, 0));
	NEEDS_MODULE(hwpmc_start(h, id));
	NEEDS_MODULE(hwpmc_stop(h, id));
	NEEDS_MODULE(hwpmc_read(h, id, &value));
	NEEDS_MODULE(hwpmc_write(h, id, 0));
	NEEDS_MODULE(hwpmc_rw(h, id, 0, &value));
	NEEDS_MODULE(hwpmc_set(h, id, 0));
	NEEDS_MODULE(hwpmc_batch(h, HWPMC_BATCH_READ, &entry, 1));
	NEEDS_MODULE(hwpmc_counter_open(h, id, &c));
	NEEDS_MODULE(hwpmc_capabilities(h, id, &other));
	NEEDS_MODULE(hwpmc_width(h, id, &other));
	NEEDS_MODULE(hwpmc_get_msr(h, id, &other));
	NEEDS_MODULE(hwpmc_region_new(h, "x", &id, 1) ? 0 : -1);
	NEEDS_MODULE(hwpmc_configure_log(h, 1));
	NEEDS_MODULE(hwpmc_flush_log(h));
	NEEDS_MODULE(hwpmc_close_log(h));
	NEEDS_MODULE(hwpmc_write_log(h, 0));
	NEEDS_MODULE(hwpmc_rings_open(h, 0, 0, &rings));
	NEEDS_MODULE(hwpmc_pmu_state(h, &other));
	NEEDS_MODULE(hwpmc_notes(h, notes));
	NEEDS_MODULE(hwpmc_pmcinfo(h, 0, &rows, &n));
	NEEDS_MODULE(hwpmc_driver_stats(h, &stats));
	NEEDS_MODULE(hwpmc_module_version(h, &other));
	NEEDS_MODULE(hwpmc_admin(h, 0, 0, HWPMC_STATE_FREE));
	NEEDS_MODULE(hwpmc_revoke(h));
	NEEDS_MODULE(hwpmc_kgmon(h, &kgmon));
	NEEDS_MODULE(hwpmc_unwind_add(h, &unwind));
	NEEDS_MODULE(hwpmc_chain_stats(h, &value, 1));
	NEEDS_MODULE(hwpmc_kinds(h, 0, &id, &other));
	NEEDS_MODULE(hwpmc_uncounted(h, 7, &other, &value, &more));
	ck_assert_int_eq(hwpmc_event_each(h, HWPMC_CLASS_SOFT, take_note, NULL), 0);
	hwpmc_close(h);
}
END_TEST

START_TEST(tracepoints_without_the_module_are_refused_with_the_remedy)
{
	static const char *const specs[] = {
		"sched:sched_switch", "tracepoint:sched_switch", "tracepoint:sched:sched_switch",
		"SOFT-SCHED_SWITCH", "syscalls:sys_enter_openat",
	};
	struct hwpmc_event event;
	struct hwpmc *h;

	ck_assert_int_eq(hwpmc_open_names(&h), 0);
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		errno = 0;
		ck_assert_int_eq(hwpmc_event_parse(h, specs[i], &event), -1);
		ck_assert_int_eq(errno, ENOENT);
		ck_assert_msg(strstr(hwpmc_error(h), "tracepoints need the module; load it"),
			      "%s: %s", specs[i], hwpmc_error(h));
	}
	/* A name alone is that of a counter's event. */
	ck_assert_int_eq(hwpmc_event_parse(h, "nosuch", &event), -1);
	ck_assert_ptr_null(strstr(hwpmc_error(h), "tracepoint"));
	hwpmc_close(h);
}
END_TEST

int main(void)
{
	harness_add(processors_have_names_and_classes_by_their_cpuid);
	harness_add(events_of_the_kernel_have_their_names_without_the_module);
	harness_add(a_handle_without_the_device_counts_nothing);
	harness_add(calls_that_need_the_module_are_enxio_with_the_remedy);
	harness_add(tracepoints_without_the_module_are_refused_with_the_remedy);
	return harness_run();
}
