/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host.c - what runs this machine: the names that firmware, the hypervisor and the kernel
 * tell of themselves. clouds.c knows what they mean.
 */
#include <cpuid.h>
#include <string.h>

#include "doctor.h"

#define SIGNATURES	0x40000000u	/* CPUID; further ones each 0x100 */

static bool is_virtual(const struct doctor *d)
{
	FILE *f = dr_open(d, "/proc/cpuinfo");
	bool found = false;
	char line[8192];

	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, "flags", 5) && strstr(line, " hypervisor");
	if (f)
		fclose(f);
	return found;
}

static void read_signature(unsigned int leaf, char signature[13])
{
	unsigned int eax, r[3];

	__cpuid(leaf, eax, r[0], r[1], r[2]);
	memcpy(signature, r, 12);
	signature[12] = '\0';
}

/* KVM and Xen can offer Hyper-V's interface first, and then their own. */
static void find_signature(struct dr_host *h)
{
	char second[13];

	read_signature(SIGNATURES, h->signature);
	if (strcmp(h->signature, "Microsoft Hv") != 0)
		return;
	read_signature(SIGNATURES + 0x100, second);
	if (!strcmp(second, "KVMKVMKVM") || !strcmp(second, "XenVMMXenVMM"))
		strcpy(h->signature, second);
}

#define DMI	"/sys/class/dmi/id/"

static void read_host(const struct doctor *d, struct dr_host *h)
{
	char type[16], version[64];

	dr_first_line(d, DMI "sys_vendor", h->vendor, sizeof(h->vendor));
	dr_first_line(d, DMI "product_name", h->product, sizeof(h->product));
	dr_first_line(d, DMI "chassis_asset_tag", h->asset, sizeof(h->asset));
	dr_first_line(d, DMI "bios_vendor", h->bios, sizeof(h->bios) / 2);
	dr_first_line(d, DMI "bios_version", version, sizeof(version));
	snprintf(h->bios + strlen(h->bios), sizeof(h->bios) / 2, " %s", version);
	dr_first_line(d, "/proc/sys/kernel/osrelease", h->release, sizeof(h->release));
	dr_first_line(d, "/sys/hypervisor/guest_type", h->guest_type, sizeof(h->guest_type));
	/* The files of another machine have no processor. */
	if (dr_live(d))
		find_signature(h);
	if (dr_first_line(d, "/sys/hypervisor/type", type, sizeof(type)) && !strcmp(type, "xen"))
		strcpy(h->signature, "XenVMMXenVMM");
}

void dr_find_host(struct doctor *d)
{
	if (!is_virtual(d))
		return;
	read_host(d, &d->host);
	d->cloud = dr_cloud_of(&d->host);
}

static const char *comma(const char *name)
{
	return name[0] ? ", " : "";
}

void dr_look_at_hypervisor(struct doctor *d)
{
	const struct dr_host *h = &d->host;
	const struct dr_cloud *c = d->cloud;
	bool lacks = c && c->some && d->counters;

	if (!c) {
		dr_ok(d, "hypervisor", "none");
		return;
	}
	dr_ok(d, "hypervisor", "this is a virtual machine%s%s%s%s%s%s: the hypervisor controls its "
	      "counters%s%s", comma(c->name), c->name, comma(h->vendor), h->vendor,
	      comma(h->product), h->product, lacks ? "; " : "", lacks ? c->some : "");
}
