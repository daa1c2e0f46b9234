// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * rapl.c - class RAPL: the energy that a package and its parts have used, in microjoules.
 * A row is a domain; its counter always runs, cannot be written and is shared by all PMCs.
 * The registers have 32 bits: each CPU extends what it reads, and wrap.c has each CPU that
 * counts read before a register can wrap twice. Contexts as in backend.h.
 */
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <asm/processor.h>

#include "../compat/msr.h"
#include "classes.h"
#include "missing.h"
#include "rapl_regs.h"
#include "rapl_units.h"

/* By row: which domain it is. Written at probe. */
static u8 domain_of[RAPL_DOMAINS];
static struct hwpmc_rapl_units rapl_units;

/* By domain: what this CPU has read. Of this CPU, interrupts off. */
struct rapl_cpu {
	u32 last[RAPL_DOMAINS];
	u64 total[RAPL_DOMAINS];	/* in the register's units */
};

static DEFINE_PER_CPU(struct rapl_cpu, rapl_cpu);

static const char *const names[RAPL_DOMAINS] = {
	[RAPL_PKG] = "PKG", [RAPL_CORES] = "CORES", [RAPL_GPU] = "GPU",
	[RAPL_DRAM] = "DRAM", [RAPL_PLATFORM] = "PLATFORM",
};

/* A domain that is not there faults or reads 0; under a hypervisor all may. */
static bool domain_is_there(enum rapl_domain domain)
{
	u32 msr = hwpmc_rapl_register(&rapl_units, domain);
	u64 value;

	return msr && !hwpmc_rdmsr_safe(msr, &value) && (u32)value;
}

static int rapl_probe(struct hwpmc_class *cls)
{
	const struct cpuinfo_x86 *c = &boot_cpu_data;
	enum rapl_domain domain;
	u64 unit;

	if (!hwpmc_rapl_model(&rapl_units, c->x86_vendor == X86_VENDOR_INTEL,
			      c->x86_vendor == X86_VENDOR_AMD ||
			      c->x86_vendor == X86_VENDOR_HYGON, c->x86, c->x86_model))
		return hwpmc_missing(cls, HWPMC_WHY_CLASS_NONE, HWPMC_WHY_CLASS_NONE);
	if (hwpmc_rdmsr_safe(rapl_units.msr, &unit) || !unit)
		return hwpmc_missing(cls, HWPMC_WHY_CLASS_FAULT, HWPMC_WHY_CLASS_GUEST);
	hwpmc_rapl_unit(&rapl_units, unit);
	for (domain = 0; domain < RAPL_DOMAINS; domain++)
		if (domain_is_there(domain))
			domain_of[cls->num++] = domain;
	if (!cls->num)
		return hwpmc_missing(cls, HWPMC_WHY_CLASS_FAULT, HWPMC_WHY_CLASS_GUEST);
	cls->name = "RAPL";
	cls->id = HWPMC_CLASS_RAPL;
	cls->caps = HWPMC_CAP_READ | HWPMC_CAP_DOMWIDE;
	cls->width = 64;
	cls->wrap_ms = hwpmc_rapl_wrap_ms(&rapl_units);
	cls->rdpmc_base = -1;
	cls->shareable = true;
	cls->system_only = true;
	cls->privileged = true;
	return 0;
}

static int rapl_encode(const struct hwpmc_class *cls, const struct hwpmc_request *req,
		       struct hwpmc_encoding *enc)
{
	u32 domain = req->ev - HWPMC_EV_RAPL_FIRST;
	unsigned int ri;

	if (req->mode != HWPMC_MODE_SC)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_MODE, 0);
	if (req->flags & HWPMC_F_EV_PMU || domain >= RAPL_DOMAINS)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, 0);
	for (ri = 0; ri < cls->num; ri++)
		if (domain_of[ri] == domain)
			break;
	if (ri == cls->num)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
	*enc = (struct hwpmc_encoding){ .select = { .sel = 1 }, .rows = BIT_ULL(ri) };
	return 0;
}

static u64 rapl_read_irqoff(struct hwpmc_class *cls, unsigned int ri)
{
	struct rapl_cpu *c = this_cpu_ptr(&rapl_cpu);
	enum rapl_domain domain = domain_of[ri];
	u32 msr = hwpmc_rapl_register(&rapl_units, domain);
	u64 value;

	/* A hypervisor has taken the register away: no count is told any more. */
	if (hwpmc_rdmsr_safe(msr, &value)) {
		WRITE_ONCE(cls->read_fault, msr);
		value = c->last[domain];
	}
	c->total[domain] += (u32)value - c->last[domain];
	c->last[domain] = value;
	return hwpmc_rapl_microjoules(&rapl_units, domain, c->total[domain]);
}

static const char *rapl_event_at(const struct hwpmc_class *cls, unsigned int place, u32 *ev)
{
	if (place >= cls->num)
		return NULL;
	*ev = HWPMC_EV_RAPL_FIRST + domain_of[place];
	return names[domain_of[place]];
}

static const char *rapl_event_name(const struct hwpmc_class *cls, u32 ev)
{
	u32 domain = ev - HWPMC_EV_RAPL_FIRST;

	return domain < RAPL_DOMAINS ? names[domain] : NULL;
}

static const char *rapl_row_name(unsigned int ri)
{
	return names[domain_of[ri]];
}

const struct hwpmc_class_ops hwpmc_rapl_ops = {
	.probe = rapl_probe,
	.encode = rapl_encode,
	.row.read_irqoff = rapl_read_irqoff,
	.events.at = rapl_event_at,
	.events.name = rapl_event_name,
	.row.name = rapl_row_name,
};
