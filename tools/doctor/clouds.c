/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clouds.c - the clouds and hypervisors that are known: how each is recognised, which of its
 * machines have counters, and how one gets them. A table of facts, and the search in it.
 */
#include <string.h>

#include "doctor.h"

#define SOFT_ALONE	"hwpmc list (lists the events of the kernel)"
#define BARE_METAL	"use a bare-metal machine of this cloud, or: " SOFT_ALONE

/* The first that matches is taken: a cloud stands before the hypervisor that it runs. */
static const struct dr_cloud clouds[] = {
	{ .name = "Amazon EC2", .vendor = "Amazon EC2",
	  .none = "Amazon gives counters to all sizes of generation 7 and later, and to whole "
		  "sockets of 5 and 6 (c5.9xlarge, m5.12xlarge, m6i.16xlarge, m6a.24xlarge)",
	  .command = "stop it, then: aws ec2 modify-instance-attribute --instance-id ID "
		     "--instance-type m7i.large",
	  .some = "sizes below a whole socket have only some of the events: others count 0" },
	{ .name = "Amazon EC2 (Xen)", .vendor = "Xen", .bios = "amazon",
	  .none = "only the largest size of Amazon's Xen generations has counters",
	  .command = "stop it, then: aws ec2 modify-instance-attribute --instance-id ID "
		     "--instance-type m7i.large",
	  .some = "only some events count: others count 0" },
	{ .name = "Google Compute Engine", .vendor = "Google", .product = "Google Compute Engine",
	  .none = "Google gives counters to instances that are created with them, in "
		  "machine series such as C4 and C4D",
	  .command = "gcloud compute instances create NAME --machine-type=c4-standard-4 "
		     "--performance-monitoring-unit=standard",
	  .some = "type 'architectural' counts instructions, cycles and branches, 'standard' "
		  "also events of the core, 'enhanced' also cache-references and cache-misses; "
		  "others count 0" },
	{ .name = "Microsoft Azure", .vendor = "Microsoft Corporation",
	  .asset = "7783-7084-3265-9085-8269-3286-77",
	  .none = "no size of Azure is known to have counters",
	  .command = SOFT_ALONE },
	{ .name = "WSL 2", .release = "microsoft",
	  .none = "Windows gives WSL 2 counters if its hypervisor can, unless .wslconfig "
		  "forbids it",
	  .command = "in %USERPROFILE%\\.wslconfig, [wsl2]: hardwarePerformanceCounters=true; then: "
		     "wsl --shutdown" },
	{ .name = "Microsoft Hyper-V", .vendor = "Microsoft Corporation",
	  .product = "Virtual Machine",
	  .none = "Hyper-V gives counters only to machines that are configured for it",
	  .command = "on the host, with the machine off: Set-VMProcessor NAME -Perfmon @(\"pmu\")" },
	{ .name = "VMware", .vendor = "VMware",
	  .none = "VMware gives counters only to machines that are configured for it",
	  .command = "power it off; processors: Virtualize CPU performance counters "
		     "(vpmc.enable = \"TRUE\" in its .vmx)",
	  .some = "instructions and branches count only the guest; other events include the "
		  "hypervisor's work for it" },
	{ .name = "VirtualBox", .product = "VirtualBox",
	  .none = "VirtualBox gives no counters to machines",
	  .command = "use another hypervisor, or: " SOFT_ALONE },
	{ .name = "bhyve", .product = "BHYVE",
	  .none = "bhyve gives no counters to machines",
	  .command = "use another hypervisor, or: " SOFT_ALONE },
	{ .name = "Parallels", .vendor = "Parallels",
	  .none = "Parallels gives counters only to machines that are configured for it",
	  .command = "on the host, with the machine off: prlctl set NAME --pmu-virt on" },
	{ .name = "Xen, paravirtual", .guest_type = "PV",
	  .none = "a paravirtual domain has no counter registers",
	  .command = "use a PVH or HVM domain, and boot Xen on the host with: vpmu=on" },
	{ .name = "DigitalOcean", .vendor = "DigitalOcean",
	  .none = "no Droplet is known to have counters",
	  .command = SOFT_ALONE },
	{ .name = "Hetzner Cloud", .vendor = "Hetzner", .product = "vServer",
	  .none = "no cloud server of Hetzner is known to have counters",
	  .command = "use a dedicated server, or: " SOFT_ALONE },
	{ .name = "Oracle Cloud", .asset = "OracleCloud.com",
	  .none = "no virtual shape of Oracle is known to have counters; bare-metal ones (BM.) have "
		  "them",
	  .command = BARE_METAL },
	{ .name = "Alibaba Cloud", .vendor = "Alibaba Cloud",
	  .none = "no virtual instance of Alibaba is known to have counters; bare-metal ones "
		  "(ebm) have them",
	  .command = BARE_METAL },
	{ .name = "OpenStack", .vendor = "OpenStack Foundation",
	  .none = "OpenStack gives counters to instances whose image or flavor requests them (on "
		  "OVHcloud and similar clouds, ask their support)",
	  .command = "openstack image set --property hw_pmu=true IMAGE; then create it again" },
	{ .name = "OpenStack", .product = "OpenStack",
	  .none = "OpenStack gives counters to instances whose image or flavor requests them",
	  .command = "openstack image set --property hw_pmu=true IMAGE; then create it again" },
	{ .name = "Proxmox VE", .bios = "Proxmox",
	  .none = "Proxmox gives counters to machines with processor type 'host'",
	  .command = "on the host: qm set VMID --cpu host; then stop and start it" },
	{ .name = "Xen", .vendor = "Xen",
	  .none = "Xen gives counters only if it is booted for it",
	  .command = "boot Xen on the host with: vpmu=on" },
	/* Signatures: what a monitor without firmware tables tells. */
	{ .name = "Xen", .signature = "XenVMMXenVMM",
	  .none = "Xen gives counters only if it is booted for it",
	  .command = "boot Xen on the host with: vpmu=on" },
	{ .name = "VMware", .signature = "VMwareVMware",
	  .none = "VMware gives counters only to machines that are configured for it",
	  .command = "power it off; processors: Virtualize CPU performance counters "
		     "(vpmc.enable = \"TRUE\" in its .vmx)" },
	{ .name = "VirtualBox", .signature = "VBoxVBoxVBox",
	  .none = "VirtualBox gives no counters to machines",
	  .command = "use another hypervisor, or: " SOFT_ALONE },
	{ .name = "bhyve", .signature = "bhyve bhyve ",
	  .none = "bhyve gives no counters to machines",
	  .command = "use another hypervisor, or: " SOFT_ALONE },
	{ .name = "Parallels", .signature = " lrpepyh  vr",
	  .none = "Parallels gives counters only to machines that are configured for it",
	  .command = "on the host, with the machine off: prlctl set NAME --pmu-virt on" },
	{ .name = "Microsoft Hyper-V", .signature = "Microsoft Hv",
	  .none = "Hyper-V gives counters only to machines that are configured for it",
	  .command = "on the host, with the machine off: Set-VMProcessor NAME -Perfmon @(\"pmu\")" },
	{ .name = "QEMU without KVM", .signature = "TCGTCGTCGTCG",
	  .none = "QEMU without KVM emulates a processor without counters",
	  .command = "on the host: qemu-system-x86_64 -accel kvm -cpu host,pmu=on" },
	{ .name = "KVM", .signature = "KVMKVMKVM",
	  .none = "QEMU gives counters only to machines that are started for it",
	  .command = "on the host: qemu-system-x86_64 -cpu host,pmu=on (libvirt: <pmu state='on'/> "
		     "by virsh edit; Proxmox: qm set VMID --cpu host)" },
	{ .name = "QEMU", .vendor = "QEMU",
	  .none = "QEMU gives counters only to machines that are started for it",
	  .command = "on the host: qemu-system-x86_64 -cpu host,pmu=on (libvirt: <pmu state='on'/> "
		     "by virsh edit; Proxmox: qm set VMID --cpu host)" },
	{ .name = "",
	  .none = "see the manual of the hypervisor for a virtual PMU",
	  .command = SOFT_ALONE },
};

static bool begins(const char *name, const char *with)
{
	return !with || !strncmp(name, with, strlen(with));
}

static bool has(const char *name, const char *part)
{
	return !part || strstr(name, part);
}

static bool equals(const char *name, const char *what)
{
	return !what || !strcmp(name, what);
}

static bool is_of(const struct dr_host *h, const struct dr_cloud *c)
{
	return begins(h->vendor, c->vendor) && begins(h->product, c->product) &&
	       equals(h->asset, c->asset) && has(h->bios, c->bios) &&
	       has(h->release, c->release) && equals(h->guest_type, c->guest_type) &&
	       equals(h->signature, c->signature);
}

const struct dr_cloud *dr_cloud_of(const struct dr_host *h)
{
	const struct dr_cloud *c = clouds;

	while (!is_of(h, c))
		c++;
	return c;
}

const struct dr_cloud *dr_cloud_at(unsigned int i)
{
	return i < sizeof(clouds) / sizeof(*clouds) ? &clouds[i] : NULL;
}
