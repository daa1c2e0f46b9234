/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module.c - the module: loaded, of which version, installed, and what DKMS has of it for
 * the kernel that runs and for the one that the next boot takes.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "common/msg.h"
#include "doctor.h"

#define DKMS "/var/lib/dkms/hwpmc"

bool dr_loaded(const struct doctor *d)
{
	return dr_exists(d, "/sys/module/hwpmc");
}

/* The entry of a folder that is the highest by versions, but `except`, of those that
 * `wanted` takes. */
static bool highest_entry(const struct doctor *d, const char *dir, const char *except,
			  bool (*wanted)(const struct doctor *d, const char *name),
			  char *name, size_t size)
{
	char path[DR_PATH];
	struct dirent *e;
	DIR *list = opendir(dr_path(d, path, "%s", dir));

	name[0] = '\0';
	while (list && (e = readdir(list)))
		if (e->d_name[0] != '.' && strlen(e->d_name) < size &&
		    (!except || strcmp(e->d_name, except) != 0) && wanted(d, e->d_name) &&
		    strverscmp(e->d_name, name) > 0)
			strcpy(name, e->d_name);
	if (list)
		closedir(list);
	return name[0];
}

static bool is_source(const struct doctor *d, const char *name)
{
	return dr_exists(d, DKMS "/%s/source", name);
}

static bool is_bootable(const struct doctor *d, const char *name)
{
	return dr_exists(d, "/boot/vmlinuz-%s", name);
}

bool dr_dkms_source(const struct doctor *d, char *version, size_t size)
{
	return highest_entry(d, DKMS, NULL, is_source, version, size);
}

/* depmod's list has every module that modprobe finds, compressed ones too. */
bool dr_installed(const struct doctor *d, const char *release, char path[DR_PATH])
{
	char list[128], line[DR_PATH], *name;
	bool found = false;
	FILE *f;

	snprintf(list, sizeof(list), "/lib/modules/%s/modules.dep", release);
	f = dr_open(d, list);
	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, ":\n")] = '\0';
		name = strrchr(line, '/');
		name = name ? name + 1 : line;
		found = !strncmp(name, "hwpmc.ko", 8);
	}
	if (f)
		fclose(f);
	if (found)
		dr_path(d, path, "/lib/modules/%s/%s", release, line);
	return found;
}

/* What is wrong with the loaded module is said in one line. */
static void look_at_loaded(struct doctor *d)
{
	static const char reload[] = "modprobe -r hwpmc && modprobe hwpmc";
	uint32_t contract = HWPMC_API_VERSION;
	char version[32];

	dr_first_line(d, "/sys/module/hwpmc/version", version, sizeof(version));
	if (d->open_errno == EPROTONOSUPPORT) {
		dr_wrong(d, "module", reload, "version %s is loaded, but these tools, version "
			 VERSION ", cannot use it: %s", version, d->open_why);
		return;
	}
	if (d->h)
		hwpmc_module_version(d->h, &contract);
	if (strcmp(version, VERSION) != 0)
		dr_note(d, "module", reload, "version %s is loaded, the tools are " VERSION
			": they are compatible by contract %u.%u", version, contract >> 24,
			contract >> 16 & 0xff);
	else
		dr_ok(d, "module", "version %s is loaded, contract %u.%u.%u", version,
		      contract >> 24, contract >> 16 & 0xff, contract & 0xffff);
}

/* How packages are installed here: the families differ in the command and the names. */
static bool is_rpm_based(const struct doctor *d)
{
	return dr_exists(d, "/etc/redhat-release") || dr_exists(d, "/etc/SuSE-release");
}

static bool has_headers(const struct doctor *d, const char *release)
{
	return dr_exists(d, "/lib/modules/%s/build/Makefile", release);
}

static void report_no_headers(struct doctor *d, enum dr_verdict verdict, const char *release)
{
	char command[160];

	snprintf(command, sizeof(command), is_rpm_based(d) ? "dnf install kernel-devel-%s" :
		 "apt-get install linux-headers-%s", release);
	dr_report(d, verdict, "dkms", command,
		  "the headers of kernel %s are not installed: DKMS cannot build the module",
		  release);
}

static void report_not_built(struct doctor *d, enum dr_verdict verdict, const char *release,
			     const char *version)
{
	char command[192], log[128];

	snprintf(command, sizeof(command), "dkms install hwpmc/%s -k %s", version, release);
	snprintf(log, sizeof(log), DKMS "/%s/build/make.log", version);
	if (dr_exists(d, "%s", log))
		dr_report(d, verdict, "dkms", command, "the module is not built for kernel %s: "
			  "the last build failed, see %s", release, log);
	else
		dr_report(d, verdict, "dkms", command,
			  "DKMS has not built the module for kernel %s", release);
}

static void look_at_dkms_of(struct doctor *d, enum dr_verdict verdict, const char *release)
{
	char version[64], path[DR_PATH];

	if (dr_installed(d, release, path))
		dr_ok(d, "dkms", "the module is installed for kernel %s", release);
	else if (!dr_dkms_source(d, version, sizeof(version)) && dr_loaded(d))
		dr_note(d, "dkms", "make dkms-install (in the source tree)", "the loaded module "
			"comes from a file and is not installed: after a reboot it is not loaded");
	else if (!dr_dkms_source(d, version, sizeof(version)))
		dr_report(d, verdict, "dkms", is_rpm_based(d) ? "dnf install hwpmc-dkms" :
			  "apt-get install hwpmc-dkms",
			  "no module is installed for kernel %s, and DKMS does not have its source",
			  release);
	else if (!has_headers(d, release))
		report_no_headers(d, verdict, release);
	else
		report_not_built(d, verdict, release, version);
}

static void look_at_dkms(struct doctor *d)
{
	char next[65], version[64], path[DR_PATH];

	/* A container has neither kernels nor DKMS of its own. */
	if (dr_contained(d))
		return;
	look_at_dkms_of(d, dr_loaded(d) ? DR_NOTE : DR_WRONG, d->release);
	/* One note is enough where the module was loaded from a file. */
	if (!dr_installed(d, d->release, path) && !dr_dkms_source(d, version, sizeof(version)))
		return;
	if (highest_entry(d, "/lib/modules", d->release, is_bootable, next, sizeof(next)) &&
	    strverscmp(next, d->release) > 0)
		look_at_dkms_of(d, DR_NOTE, next);
}

void dr_look_at_module(struct doctor *d)
{
	char path[DR_PATH];

	if (dr_loaded(d))
		look_at_loaded(d);
	else if (dr_contained(d))
		dr_wrong(d, "module", "modprobe hwpmc (on the host)", "the module is not loaded");
	else if (!dr_installed(d, d->release, path))
		dr_note(d, "module", NULL, "the module is not loaded, and not installed for kernel %s",
			d->release);
	else if (dr_is_wrong(d, "key"))
		dr_note(d, "module", NULL, "the module is installed, but this kernel will refuse it");
	else
		dr_wrong(d, "module", "modprobe hwpmc", "the module is installed, but not loaded");
	look_at_dkms(d);
}
