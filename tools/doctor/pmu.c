/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmu.c - are there counters, and which program holds them. The module says so where it
 * can be asked; else the processor's flags and the files of perf's users.
 */
#include <stdlib.h>
#include <string.h>

#include "common/machine.h"
#include "doctor.h"

/* What of /proc/cpuinfo tells about counters. */
struct cpu {
	char vendor[32];
	int family;
	bool counters;		/* a flag names them */
};

static bool has_flag(const char *line)
{
	return strstr(line, " arch_perfmon") || strstr(line, " perfctr_core") ||
	       strstr(line, " perfmon_v2");
}

static void read_cpu(const struct doctor *d, struct cpu *cpu)
{
	FILE *f = dr_open(d, "/proc/cpuinfo");
	char line[8192];

	memset(cpu, 0, sizeof(*cpu));
	while (f && fgets(line, sizeof(line), f) && line[0] != '\n') {
		sscanf(line, "vendor_id : %31s", cpu->vendor);
		sscanf(line, "cpu family : %d", &cpu->family);
		if (!strncmp(line, "flags", 5) && has_flag(line))
			cpu->counters = true;
	}
	if (f)
		fclose(f);
}

/* AMD's first four and Netburst's have no flag: a hypervisor that hides the PMU has
 * none of either. */
static bool has_unnamed_counters(const struct doctor *d, const struct cpu *cpu)
{
	if (d->cloud || cpu->family < 15)
		return false;
	return !strcmp(cpu->vendor, "AuthenticAMD") || !strcmp(cpu->vendor, "HygonGenuine") ||
	       (!strcmp(cpu->vendor, "GenuineIntel") && cpu->family == 15);
}

static void report_none(struct doctor *d, const char *why)
{
	if (!d->cloud) {
		dr_wrong(d, "pmu", "hwpmc list (lists the events of the kernel)",
			 "this machine has no hardware counters that hwpmc can use: %s", why);
		return;
	}
	dr_wrong(d, "pmu", d->cloud->command, "this virtual machine has no hardware counters: "
		 "%s; %s", why, d->cloud->none);
}

/* A hypervisor can pass the processor's flags on and no counters. */
static void look_without_module(struct doctor *d)
{
	struct cpu cpu;

	read_cpu(d, &cpu);
	if (cpu.counters && d->cloud)
		dr_note(d, "pmu", "modprobe hwpmc, and run this again", "the processor lists counters (%s, "
			"family %d): the module tests whether they count in this virtual "
			"machine", cpu.vendor, cpu.family);
	else if (cpu.counters || has_unnamed_counters(d, &cpu))
		dr_ok(d, "pmu", "the processor has counters (%s, family %d)", cpu.vendor,
		      cpu.family);
	else
		report_none(d, "the processor lists no counters");
}

/* false: there are none to be held. */
static bool look_at_counters(struct doctor *d)
{
	if (!d->h)
		look_without_module(d);
	else if (!machine_has_counters(d->h))
		report_none(d, machine_without_counters(d->h));
	else
		dr_ok(d, "pmu", "version %u, %s", hwpmc_cpuinfo(d->h)->pmu_version,
		      hwpmc_cpuinfo(d->h)->cpuid);
	d->counters = !dr_is_wrong(d, "pmu");
	return d->counters;
}

/* What the module found not to count or interrupt when it last took the counters. */
static void look_at_findings(struct doctor *d)
{
	struct hwpmc_classnote notes[HWPMC_NOTES_MAX];
	int n = d->h ? hwpmc_notes(d->h, notes) : 0;
	char text[200];

	for (int i = 0; i < n; i++) {
		const char *name = hwpmc_name_of_class(notes[i].class);

		if (machine_note_is_missing(d->h, &notes[i]))
			continue;
		hwpmc_note_text(&notes[i], text, sizeof(text));
		if (machine_note_is_of_all(hwpmc_cpuinfo(d->h), &notes[i]))
			dr_wrong(d, "counters", "on the host: sysctl kernel.nmi_watchdog=0, and end "
				 "programs that use counters; then hwpmc selftest", "class %s: %s",
				 name, text);
		else
			dr_note(d, "counters", "hwpmc selftest (tests all counters)",
				"class %s: %s", name, text);
	}
}

static bool look_at_watchdog(struct doctor *d)
{
	uint32_t state = HWPMC_PMU_HELD;
	char line[16];

	dr_first_line(d, "/proc/sys/kernel/nmi_watchdog", line, sizeof(line));
	if (line[0] != '1') {
		dr_ok(d, "watchdog", "the NMI watchdog is off");
		return false;
	}
	/* Switched on beside counters that hwpmc has, it does not start. */
	if (d->h && !hwpmc_pmu_state(d->h, &state) && state == HWPMC_PMU_CLAIMED) {
		dr_note(d, "watchdog", "sysctl kernel.nmi_watchdog=0",
			"the NMI watchdog is enabled, but does not run: hwpmc holds the counters");
		return false;
	}
	dr_wrong(d, "watchdog", "sysctl kernel.nmi_watchdog=0",
		 "the NMI watchdog holds a counter of each CPU, and hwpmc needs all counters");
	return true;
}

static void look_at_holder(struct doctor *d)
{
	char who[128], remedy[192];
	uint32_t state = HWPMC_PMU_HELD;
	int found;

	if (d->h && !hwpmc_pmu_state(d->h, &state) && state != HWPMC_PMU_HELD) {
		dr_ok(d, "holder", "%s", state == HWPMC_PMU_CLAIMED ?
		      "hwpmc is using the counters" : "the counters are free");
		return;
	}
	found = hwpmc_pmu_holder(who, sizeof(who), remedy, sizeof(remedy));
	if (found < 0 && !d->h)
		dr_ok(d, "holder", "no known user of the counters");
	else
		dr_wrong(d, "holder", remedy, "the counters are held by %s", who);
}

/*
 * KVM's mediated PMU (Linux 7) gives a guest the counters themselves. The module and such guests
 * exclude each other; the parameter says that there may be one, and a claim that there is.
 */
static void look_at_guests(struct doctor *d)
{
	static const char *const modules[] = { "kvm_intel", "kvm_amd" };
	char path[80], command[100], line[16];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/sys/module/%s/parameters/enable_mediated_pmu",
			 modules[i]);
		if (!dr_first_line(d, path, line, sizeof(line)) || line[0] != 'Y')
			continue;
		snprintf(command, sizeof(command), "modprobe -r %s; modprobe %s enable_mediated_pmu=0",
			 modules[i], modules[i]);
		dr_note(d, "guests", command, "KVM's mediated PMU is on: the counters belong to "
			"a guest or to hwpmc, whichever starts first");
	}
}

void dr_look_at_pmu(struct doctor *d)
{
	bool held;

	if (!look_at_counters(d))
		return;
	look_at_findings(d);
	look_at_guests(d);
	dr_look_at_pt(d);
	held = look_at_watchdog(d);
	/* The watchdog is the holder then, and said already. */
	if (!held && dr_live(d))
		look_at_holder(d);
}
