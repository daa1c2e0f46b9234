/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine.c - what the report says of the machine: its processor, firmware, kernel and module.
 * No serial number and no name of the host or of a user is read; CPUID's leaf 3 would be one.
 */
#include <cpuid.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/fmt.h"
#include "report.h"

/* The value behind "name : " of the first CPU in /proc/cpuinfo; "": none. */
static void cpuinfo_of(const char *name, char *buf, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	size_t len = strlen(name);
	char line[8192];

	buf[0] = '\0';
	while (f && !buf[0] && fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ':');

		if (strncmp(line, name, len) == 0 && strchr("\t :", line[len]) && value) {
			value[strcspn(value, "\n")] = '\0';
			snprintf(buf, size, "%s", value + 1 + (value[1] == ' '));
		}
	}
	if (f)
		fclose(f);
}

bool machine_has_hypervisor(void)
{
	char flags[8192];

	cpuinfo_of("flags", flags, sizeof(flags));
	return strstr(flags, " hypervisor");
}

static void write_string(FILE *f, const char *name, const char *value)
{
	fprintf(f, "    \"%s\": ", name);
	fmt_json_string(f, value);
	fputs(",\n", f);
}

/* A line of a file, or "". */
static void write_file(FILE *f, const char *name, const char *path)
{
	FILE *in = fopen(path, "re");
	char line[256];

	if (!in || !fgets(line, sizeof(line), in))
		line[0] = '\0';
	if (in)
		fclose(in);
	line[strcspn(line, "\n")] = '\0';
	write_string(f, name, line);
}

/* Those files of the firmware's description that name no single machine. */
static void write_dmi(FILE *f)
{
	static const char *const files[] = {
		"sys_vendor", "product_name", "product_version", "board_vendor", "board_name",
		"bios_vendor", "bios_version", "bios_date",
	};
	char path[80], name[40];

	for (unsigned int i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "/sys/class/dmi/id/%s", files[i]);
		snprintf(name, sizeof(name), "dmi_%s", files[i]);
		write_file(f, name, path);
	}
}

/* ---- CPUID --------------------------------------------------------------------- */

#define SUBLEAVES	8

static bool has_subleaves(uint32_t leaf)
{
	static const uint32_t with[] = { 4, 7, 0xb, 0xd, 0xf, 0x10, 0x12, 0x14, 0x17, 0x18, 0x1a,
					 0x1f, 0x23, 0x24, 0x8000001d, 0x80000026 };

	for (unsigned int i = 0; i < sizeof(with) / sizeof(*with); i++)
		if (leaf == with[i])
			return true;
	return false;
}

static void write_leaves(FILE *f, int cpu, uint32_t first, const char **comma)
{
	uint32_t a, b, c, d, last;

	__cpuid(first, last, b, c, d);
	if (last < first || last > first + 0x100)
		return;
	for (uint32_t leaf = first; leaf <= last; leaf++)
		for (uint32_t sub = 0; sub < (has_subleaves(leaf) ? SUBLEAVES : 1); sub++) {
			if (leaf == 3)
				continue;
			__cpuid_count(leaf, sub, a, b, c, d);
			if (sub && !a && !b && !c && !d)
				continue;
			fprintf(f, "%s\n      [ %d, \"0x%x\", %u, \"0x%x\", \"0x%x\", \"0x%x\", \"0x%x\" ]",
				*comma, cpu, leaf, sub, a, b, c, d);
			*comma = ",";
		}
}

/* Of one CPU of each kind. */
static void write_cpuid(FILE *f, struct selftest *t)
{
	struct st_kind kind[ST_KINDS];
	unsigned int n = st_kinds(t, kind);
	const char *comma = "";

	fputs("    \"cpuid\": [", f);
	for (unsigned int i = 0; i < n; i++) {
		st_pin(kind[i].cpu);
		write_leaves(f, kind[i].cpu, 0, &comma);
		if (t->hypervisor)
			write_leaves(f, kind[i].cpu, 0x40000000, &comma);
		write_leaves(f, kind[i].cpu, 0x80000000, &comma);
	}
	st_pin(-1);
	fputs("\n    ]\n", f);
}

void machine_write(FILE *f, struct selftest *t)
{
	char text[256];
	struct utsname u;

	uname(&u);
	fputs("  \"machine\": {\n", f);
	cpuinfo_of("model name", text, sizeof(text));
	write_string(f, "model", text);
	cpuinfo_of("microcode", text, sizeof(text));
	write_string(f, "microcode", text);
	write_string(f, "kernel_version", u.version);
	write_file(f, "clocksource",
		   "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	write_file(f, "nmi_watchdog", "/proc/sys/kernel/nmi_watchdog");
	write_file(f, "module_version", "/sys/module/hwpmc/version");
	write_file(f, "module_srcversion", "/sys/module/hwpmc/srcversion");
	write_dmi(f);
	write_cpuid(f, t);
	fputs("  },\n", f);
}
