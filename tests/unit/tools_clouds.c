/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_clouds.c - what the tools know of machines without counters: which classes are
 * counters, and each row of doctor's table of clouds and hypervisors.
 */
#include <string.h>

#include "common/machine.h"
#include "doctor/doctor.h"
#include "harness.h"

#define Q35	"Standard PC (Q35 + ICH9, 2009)"
#define SEABIOS	"SeaBIOS rel-1.16.3-0-ga6ed6b701f0a-prebuilt.qemu.org"

/* A machine as it tells of itself, the row that it must get, and a part of its remedy. */
static const struct {
	struct dr_host host;
	const char *name, *command;
} machines[] = {
	{ { .vendor = "Amazon EC2", .product = "m5.2xlarge", .bios = "Amazon EC2 1.0",
	    .signature = "KVMKVMKVM" }, "Amazon EC2", "modify-instance-attribute" },
	{ { .vendor = "Xen", .product = "HVM domU", .bios = "Xen 4.11.amazon",
	    .signature = "XenVMMXenVMM", .guest_type = "HVM" },
	  "Amazon EC2 (Xen)", "modify-instance-attribute" },
	{ { .vendor = "Google", .product = "Google Compute Engine", .bios = "Google Google",
	    .signature = "KVMKVMKVM" },
	  "Google Compute Engine", "--performance-monitoring-unit=standard" },
	{ { .vendor = "Microsoft Corporation", .product = "Virtual Machine",
	    .asset = "7783-7084-3265-9085-8269-3286-77", .signature = "Microsoft Hv" },
	  "Microsoft Azure", "hwpmc list" },
	{ { .release = "5.15.167.4-microsoft-standard-WSL2", .signature = "Microsoft Hv" },
	  "WSL 2", "hardwarePerformanceCounters=true" },
	{ { .vendor = "Microsoft Corporation", .product = "Virtual Machine",
	    .release = "6.1.0-18-amd64", .signature = "Microsoft Hv" },
	  "Microsoft Hyper-V", "-Perfmon @(\"pmu\")" },
	{ { .signature = "Microsoft Hv" }, "Microsoft Hyper-V", "-Perfmon @(\"pmu\")" },
	{ { .vendor = "VMware, Inc.", .product = "VMware20,1", .signature = "VMwareVMware" },
	  "VMware", "vpmc.enable" },
	{ { .signature = "VMwareVMware" }, "VMware", "vpmc.enable" },
	{ { .vendor = "innotek GmbH", .product = "VirtualBox", .signature = "KVMKVMKVM" },
	  "VirtualBox", "another hypervisor" },
	{ { .signature = "VBoxVBoxVBox" }, "VirtualBox", "another hypervisor" },
	{ { .vendor = "FreeBSD", .product = "BHYVE", .signature = "bhyve bhyve " },
	  "bhyve", "another hypervisor" },
	{ { .signature = "bhyve bhyve " }, "bhyve", "another hypervisor" },
	{ { .vendor = "Parallels International GmbH.", .product = "Parallels Virtual Platform",
	    .signature = " lrpepyh  vr" }, "Parallels", "--pmu-virt on" },
	{ { .signature = " lrpepyh  vr" }, "Parallels", "--pmu-virt on" },
	{ { .guest_type = "PV", .signature = "XenVMMXenVMM" }, "Xen, paravirtual", "vpmu=on" },
	{ { .vendor = "Xen", .product = "HVM domU", .bios = "Xen 4.17.4", .guest_type = "HVM" },
	  "Xen", "vpmu=on" },
	{ { .signature = "XenVMMXenVMM", .guest_type = "PVH" }, "Xen", "vpmu=on" },
	{ { .vendor = "DigitalOcean", .product = "Droplet", .signature = "KVMKVMKVM" },
	  "DigitalOcean", "hwpmc list" },
	{ { .vendor = "Hetzner", .product = "vServer", .signature = "KVMKVMKVM" },
	  "Hetzner Cloud", "dedicated server" },
	{ { .vendor = "QEMU", .product = Q35, .asset = "OracleCloud.com",
	    .signature = "KVMKVMKVM" }, "Oracle Cloud", "bare-metal" },
	{ { .vendor = "Alibaba Cloud", .product = "Alibaba Cloud ECS", .signature = "KVMKVMKVM" },
	  "Alibaba Cloud", "bare-metal" },
	{ { .vendor = "OpenStack Foundation", .product = "OpenStack Nova",
	    .signature = "KVMKVMKVM" }, "OpenStack", "hw_pmu=true" },
	{ { .vendor = "RDO", .product = "OpenStack Compute", .signature = "KVMKVMKVM" },
	  "OpenStack", "hw_pmu=true" },
	{ { .vendor = "QEMU", .product = Q35, .bios = "Proxmox distribution of EDK II 4.2025.02",
	    .signature = "KVMKVMKVM" }, "Proxmox VE", "qm set VMID --cpu host" },
	{ { .vendor = "QEMU", .product = Q35, .bios = SEABIOS, .signature = "TCGTCGTCGTCG" },
	  "QEMU without KVM", "-accel kvm" },
	{ { .vendor = "QEMU", .product = Q35, .bios = SEABIOS, .signature = "KVMKVMKVM" },
	  "KVM", "-cpu host,pmu=on" },
	{ { .signature = "KVMKVMKVM" }, "KVM", "-cpu host,pmu=on" },
	/* A folder of its files has no processor. */
	{ { .vendor = "QEMU", .product = Q35, .bios = SEABIOS }, "QEMU", "-cpu host,pmu=on" },
	{ { .vendor = "ACME", .product = "Cloud", .signature = "ACMEACMEACME" }, "", "hwpmc list" },
};

#define NMACHINES	(sizeof(machines) / sizeof(*machines))

START_TEST(each_cloud_and_hypervisor_has_its_own_remedy)
{
	for (size_t i = 0; i < NMACHINES; i++) {
		const struct dr_cloud *c = dr_cloud_of(&machines[i].host);

		ck_assert_msg(!strcmp(c->name, machines[i].name), "'%s' instead of '%s'", c->name,
			      machines[i].name);
		ck_assert_msg(strstr(c->command, machines[i].command), "%s: '%s'", c->name,
			      c->command);
	}
}
END_TEST

START_TEST(no_row_of_the_clouds_is_hidden_by_another)
{
	for (unsigned int row = 0; dr_cloud_at(row); row++) {
		unsigned int found = 0;

		for (size_t i = 0; i < NMACHINES; i++)
			found += dr_cloud_of(&machines[i].host) == dr_cloud_at(row);
		ck_assert_msg(found, "row %u, '%s': no machine is of it", row,
			      dr_cloud_at(row)->name);
	}
}
END_TEST

START_TEST(sentences_of_all_clouds_have_room)
{
	static const char before[] = "this virtual machine has no hardware counters: ; ";
	struct doctor d = { .root = "" };
	size_t why = 0;

	for (uint32_t i = 0; i < 200; i++) {
		const char *text = hwpmc_reason_text(i);

		if (text && strstr(text, "hypervisor gives") && strlen(text) > why)
			why = strlen(text);
	}
	ck_assert_uint_gt(why, 0);
	for (unsigned int row = 0; dr_cloud_at(row); row++) {
		const struct dr_cloud *c = dr_cloud_at(row);

		ck_assert_uint_lt(sizeof(before) + why + strlen(c->none),
				  sizeof(d.finding[0].text));
		ck_assert_uint_lt(strlen(c->command), sizeof(d.finding[0].command));
		ck_assert_ptr_null(strchr(c->none, '\n'));
	}
}
END_TEST

START_TEST(energy_and_frequency_are_no_counters)
{
	static const struct { uint32_t class_id; bool counters; } classes[] = {
		{ HWPMC_CLASS_TSC, false }, { HWPMC_CLASS_SOFT, false },
		{ HWPMC_CLASS_RAPL, false }, { HWPMC_CLASS_PERF, false },
		{ HWPMC_CLASS_IAF, true }, { HWPMC_CLASS_IAP, true },
		{ HWPMC_CLASS_P4, true }, { HWPMC_CLASS_K8, true },
	};
	struct hwpmc_op_getcpuinfo info = { .nclass = 0 };

	ck_assert(!machine_lists_counters(&info));
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		info = (struct hwpmc_op_getcpuinfo){
			.nclass = 5,
			.classes = {
				{ .class = HWPMC_CLASS_TSC }, { .class = HWPMC_CLASS_SOFT },
				{ .class = HWPMC_CLASS_PERF }, { .class = HWPMC_CLASS_RAPL },
				{ .class = classes[i].class_id },
			},
		};
		ck_assert_msg(machine_lists_counters(&info) == classes[i].counters, "class %u",
			      classes[i].class_id);
	}
}
END_TEST

START_TEST(counters_that_all_stand_still_are_a_problem)
{
	static const struct { struct hwpmc_classnote note; bool all; } cases[] = {
		{ { HWPMC_CLASS_IAP, HWPMC_WHY_ROW_STILL, 8, 0xff }, true },
		{ { HWPMC_CLASS_IAP, HWPMC_WHY_ROW_STILL, 7, 0x7f }, false },
		{ { HWPMC_CLASS_IAF, HWPMC_WHY_ROW_STILL, 3, 0x7 }, false },
		{ { HWPMC_CLASS_IAP, HWPMC_WHY_ROWS_AT_ONCE, 8, 0xff }, false },
		{ { HWPMC_CLASS_K8, HWPMC_WHY_ROW_STILL, 8, 0xff }, false },
	};
	struct hwpmc_op_getcpuinfo info = {
		.nclass = 2,
		.classes = {
			{ .class = HWPMC_CLASS_IAF, .num = 3 },
			{ .class = HWPMC_CLASS_IAP, .num = 8 },
		},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ck_assert_msg(machine_note_is_of_all(&info, &cases[i].note) == cases[i].all,
			      "case %zu", i);
}
END_TEST

int main(void)
{
	harness_add(each_cloud_and_hypervisor_has_its_own_remedy);
	harness_add(no_row_of_the_clouds_is_hidden_by_another);
	harness_add(sentences_of_all_clouds_have_room);
	harness_add(energy_and_frequency_are_no_counters);
	harness_add(counters_that_all_stand_still_are_a_problem);
	return harness_run();
}
