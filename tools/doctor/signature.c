/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signature.c - what the kernel wants of a module before it takes it, and whether this one
 * has it: lockdown, Secure Boot, the key that DKMS signs with and whether firmware knows it.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define EFI "/sys/firmware/efi/efivars/"
#define MOK_KEY "/var/lib/dkms/mok.pub"

enum lockdown { LOCKDOWN_NONE, LOCKDOWN_INTEGRITY, LOCKDOWN_CONFIDENTIALITY };

/* "none [integrity] confidentiality" */
static enum lockdown read_lockdown(const struct doctor *d)
{
	char line[128];

	dr_first_line(d, "/sys/kernel/security/lockdown", line, sizeof(line));
	if (strstr(line, "[integrity]"))
		return LOCKDOWN_INTEGRITY;
	return strstr(line, "[confidentiality]") ? LOCKDOWN_CONFIDENTIALITY : LOCKDOWN_NONE;
}

/* A variable's four bytes of attributes come before its value. */
static bool secure_boot(const struct doctor *d)
{
	size_t size;
	char *v = dr_read_all(d, EFI "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", &size);
	bool on = v && size >= 5 && v[4] == 1;

	free(v);
	return on;
}

static bool must_be_signed(const struct doctor *d)
{
	char line[8];

	dr_first_line(d, "/sys/module/module/parameters/sig_enforce", line, sizeof(line));
	return line[0] == 'Y' || read_lockdown(d) != LOCKDOWN_NONE;
}

/* The certificate of DKMS is one of those that shim gave the kernel, byte for byte. */
static bool key_is_enrolled(const struct doctor *d)
{
	size_t nlist, nkey;
	char *list = dr_read_all(d, EFI "MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23", &nlist);
	char *key = dr_read_all(d, MOK_KEY, &nkey);
	bool found = list && key && nkey && memmem(list, nlist, key, nkey);

	free(list);
	free(key);
	return found;
}

/* 1: signed, 0: not, -1: it is compressed, and that is not looked into. */
static int is_signed(const struct doctor *d, const char *module)
{
	static const char mark[] = "~Module signature appended~\n";
	char end[sizeof(mark)] = "";
	FILE *f;

	if (strcmp(strrchr(module, '.'), ".ko") != 0)
		return -1;
	f = fopen(module, "re");
	if (f && !fseek(f, -(long)(sizeof(mark) - 1), SEEK_END))
		if (fread(end, 1, sizeof(mark) - 1, f) == 0)
			end[0] = '\0';
	if (f)
		fclose(f);
	return !strcmp(end, mark);
}

/* What gets the module signed by a key that the kernel believes: the next of three steps. */
static void report_key(struct doctor *d)
{
	char version[64], command[160];

	if (!dr_dkms_source(d, version, sizeof(version)))
		snprintf(version, sizeof(version), VERSION);
	snprintf(command, sizeof(command), "dkms install --force hwpmc/%s -k %s", version,
		 d->release);
	/* A build makes it. That of Debian 12 has no `generate_mok`. */
	if (!dr_exists(d, MOK_KEY)) {
		dr_wrong(d, "key", command, "DKMS has no key for signing the module "
			 "(" MOK_KEY "); it creates a key when it builds the module");
		return;
	}
	if (!key_is_enrolled(d)) {
		dr_wrong(d, "key", "mokutil --import " MOK_KEY,
			 "the key that DKMS signs with is not enrolled; after the command, "
			 "reboot and confirm it on the console");
		return;
	}
	dr_wrong(d, "key", command, "the key of DKMS is enrolled, but the installed module is not "
		 "signed with it");
}

static void look_at_key(struct doctor *d)
{
	char module[DR_PATH];
	int has;

	if (!must_be_signed(d)) {
		dr_ok(d, "signature", "this kernel accepts unsigned modules");
		return;
	}
	if (dr_loaded(d)) {
		dr_ok(d, "signature", "this kernel requires one, and has accepted the module");
		return;
	}
	if (!dr_installed(d, d->release, module)) {
		dr_note(d, "signature", NULL, "this kernel requires signed modules");
		return;
	}
	has = is_signed(d, module);
	if (has == 1 && key_is_enrolled(d)) {
		dr_ok(d, "signature", "the installed module has one, and the key of DKMS is enrolled");
		return;
	}
	dr_note(d, "signature", NULL, "this kernel requires signed modules, and the installed "
		"module %s", has == 1 ? "is signed" : has ? "is compressed, so it was not checked" :
		"is unsigned");
	if (has < 0 && key_is_enrolled(d))
		return;
	report_key(d);
}

void dr_look_at_signature(struct doctor *d)
{
	switch (read_lockdown(d)) {
	case LOCKDOWN_NONE:
		dr_ok(d, "lockdown", "none");
		break;
	case LOCKDOWN_INTEGRITY:
		dr_ok(d, "lockdown", "integrity: modules must be signed; counting is not restricted");
		break;
	case LOCKDOWN_CONFIDENTIALITY:
		dr_note(d, "lockdown", "hwpmc record -e cycles:u ... (user mode)",
			"confidentiality: kernel mode can be counted, but not sampled");
		break;
	}
	dr_ok(d, "secure-boot", secure_boot(d) ? "on" : "off");
	look_at_key(d);
}
