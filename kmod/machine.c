// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * machine.c - identifies the CPU, probes each backend, and logs the classes found in
 * one line. Process context, at load.
 */
#include <linux/kernel.h>
#include <linux/printk.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "backends/classes.h"
#include "backends/cputype.h"
#include "machine.h"

struct backend {
	const struct hwpmc_class_ops *ops;
	u32 id;			/* of its class */
	bool hardware;		/* needs registers of the core PMU */
};

static const struct backend backends[] = {
	{ &hwpmc_tsc_ops, HWPMC_CLASS_TSC, false },
	{ &hwpmc_iaf_ops, HWPMC_CLASS_IAF, true },
	{ &hwpmc_iap_ops, HWPMC_CLASS_IAP, true },
	{ &hwpmc_p4_ops, HWPMC_CLASS_P4, true },
	{ &hwpmc_k8_ops, HWPMC_CLASS_K8, true },
	{ &hwpmc_soft_ops, HWPMC_CLASS_SOFT, false },
	{ &hwpmc_rapl_ops, HWPMC_CLASS_RAPL, false },
	{ &hwpmc_aperf_ops, HWPMC_CLASS_PERF, false },
	{ &hwpmc_ibs_ops, HWPMC_CLASS_IBS, false },
	{ &hwpmc_test_ops, HWPMC_CLASS_TEST, false },
};

static_assert(ARRAY_SIZE(backends) <= HWPMC_NOTES_MAX);

static const char *const cap_names[] = {
	"INT", "USR", "SYS", "EDG", "THR", "REA", "WRI", "INV", "QUA", "PRC",
	"TAG", "CSC", "SYW", "DOM",
};

static void machine_identify(struct hwpmc_machine *m)
{
	const struct cpuinfo_x86 *c = &boot_cpu_data;

	snprintf(m->cpuid, sizeof(m->cpuid), "%s-%u-%02X-%X", c->x86_vendor_id,
		 c->x86, c->x86_model, c->x86_stepping);
	m->cputype = HWPMC_CPU_GENERIC;
	if (c->x86_vendor == X86_VENDOR_INTEL && c->x86 == 6)
		m->cputype = hwpmc_cputype_intel(c->x86_model);
	else if (c->x86_vendor == X86_VENDOR_INTEL && c->x86 == 15)
		m->cputype = HWPMC_CPU_INTEL_PIV;
	else if ((c->x86_vendor == X86_VENDOR_AMD ||
		  c->x86_vendor == X86_VENDOR_HYGON) && c->x86 >= 0xf)
		m->cputype = HWPMC_CPU_AMD_K8;
}

/* "IAF/3/48/0x67<INT,USR,SYS,REA,WRI>" */
static int class_describe(const struct hwpmc_class *cls, char *buf, size_t len)
{
	unsigned int i;
	char sep = '<';
	int n;

	n = scnprintf(buf, len, "%s/%u/%u/%#x", cls->name, cls->num, cls->width,
		      cls->caps);
	for (i = 0; i < ARRAY_SIZE(cap_names); i++) {
		if (!(cls->caps & BIT(i)))
			continue;
		n += scnprintf(buf + n, len - n, "%c%s", sep, cap_names[i]);
		sep = ',';
	}
	return n + scnprintf(buf + n, len - n, ">");
}

static void machine_announce(const struct hwpmc_machine *m)
{
	char line[320];
	unsigned int i;
	int n = 0;

	for (i = 0; i < m->nclass; i++) {
		if (i)
			n += scnprintf(line + n, sizeof(line) - n, " ");
		n += class_describe(&m->cls[i], line + n, sizeof(line) - n);
	}
	pr_info("%s\n", line);
}

static void note_missing(struct hwpmc_machine *m, const struct backend *b,
			 const struct hwpmc_class *cls)
{
	if (!cls->refusal.reason)
		return;
	m->notes[m->nnotes++] = (struct hwpmc_classnote){
		.class = b->id, .reason = cls->refusal.reason,
		.detail = cls->refusal.detail,
	};
	if (b->hardware && !m->refusal.reason)
		m->refusal = cls->refusal;
}

static void probe_one(struct hwpmc_machine *m, const struct backend *b)
{
	struct hwpmc_class *cls = &m->cls[m->nclass];

	*cls = (struct hwpmc_class){ .ops = b->ops };
	if (b->ops->probe(cls)) {
		note_missing(m, b, cls);
		return;
	}
	m->nclass++;
	m->pmu_version = max(m->pmu_version, cls->pmu_version);
}

int hwpmc_machine_probe(struct hwpmc_machine *m)
{
	/* Xen PV redirects the counters' interrupt and emulates their registers. */
	bool usable = !boot_cpu_has(X86_FEATURE_XENPV);
	unsigned int i, hardware = 0;

	*m = (struct hwpmc_machine){ .nclass = 0 };
	machine_identify(m);
	for (i = 0; i < ARRAY_SIZE(backends); i++) {
		unsigned int before = m->nclass;

		if (backends[i].hardware && !usable)
			continue;
		probe_one(m, &backends[i]);
		if (backends[i].hardware)
			hardware += m->nclass - before;
	}
	if (hardware)
		m->refusal.reason = HWPMC_WHY_NONE;
	else if (!m->refusal.reason)
		m->refusal.reason = boot_cpu_has(X86_FEATURE_HYPERVISOR) ?
				    HWPMC_WHY_PMU_GUEST : HWPMC_WHY_NO_PMU;
	if (!hardware)
		pr_info("no usable performance counters on this machine\n");
	machine_announce(m);
	return m->nclass ? 0 : -ENODEV;
}
