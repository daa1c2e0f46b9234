// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* class.c - the callbacks of class SOFT. Contexts as in backend.h. */
#include <linux/kernel.h>

#include "../backends/classes.h"
#include "soft.h"

static int soft_probe(struct hwpmc_class *cls)
{
	unsigned int cpu;
	int ret;

	hwpmc_soft_cpus = alloc_percpu(struct hwpmc_soft_cpu);
	if (!hwpmc_soft_cpus)
		return -ENOMEM;
	ret = hwpmc_soft_events_init();
	if (ret) {
		free_percpu(hwpmc_soft_cpus);
		hwpmc_soft_cpus = NULL;
		return ret;
	}
	for_each_possible_cpu(cpu)
		hwpmc_soft_clocks_init(per_cpu_ptr(hwpmc_soft_cpus, cpu), cpu);
	hwpmc_soft_class = cls;
	cls->name = "SOFT";
	cls->id = HWPMC_CLASS_SOFT;
	cls->caps = HWPMC_CAP_INTERRUPT | HWPMC_CAP_USER | HWPMC_CAP_SYSTEM |
		    HWPMC_CAP_READ | HWPMC_CAP_WRITE;
	cls->width = 64;
	cls->num = HWPMC_SOFT_ROWS;
	cls->rdpmc_base = -1;
	cls->max_period = S64_MAX;
	cls->stays_on = true;
	return 0;
}

static void soft_exit(struct hwpmc_class *cls)
{
	hwpmc_soft_events_exit();
	free_percpu(hwpmc_soft_cpus);
	hwpmc_soft_cpus = NULL;
}

/* Nothing to reserve; but only claimed classes get reset_irqoff() with each CPU. */
static int soft_claim(struct hwpmc_class *cls, struct hwpmc_hdr *hdr)
{
	return 0;
}

static void soft_release(struct hwpmc_class *cls)
{
}

static void soft_reset_irqoff(struct hwpmc_class *cls, bool on)
{
	struct hwpmc_soft_cpu *s = this_cpu_ptr(hwpmc_soft_cpus);

	WRITE_ONCE(s->rows, 0);
	if (!on)
		hwpmc_soft_clocks_stop_irqoff(s);
}

static int soft_encode(const struct hwpmc_class *cls,
		       const struct hwpmc_request *req,
		       struct hwpmc_encoding *enc)
{
	u64 modes = (req->caps & HWPMC_CAP_USER ? HWPMC_SOFT_USER : 0) |
		    (req->caps & HWPMC_CAP_SYSTEM ? HWPMC_SOFT_SYSTEM : 0);

	if (req->flags & HWPMC_F_EV_PMU || !hwpmc_soft_event_is_here(req->ev))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, req->ev);
	if (!hwpmc_soft_event_has_probe(req->ev))
		return hwpmc_encode_refuse(enc, -EOPNOTSUPP, HWPMC_WHY_EVENT_TYPED, req->ev);
	if (modes != HWPMC_SOFT_MODES && !hwpmc_soft_event_has_modes(req->ev))
		return hwpmc_encode_refuse(enc, -EOPNOTSUPP, HWPMC_WHY_CAPS,
					   req->caps & (HWPMC_CAP_USER |
							HWPMC_CAP_SYSTEM));
	*enc = (struct hwpmc_encoding){
		.select = { .sel = req->ev | modes },
		.rows = hwpmc_first_rows(HWPMC_SOFT_ROWS),
		.counts_off_cpu = req->ev == HWPMC_EV_SOFT_CPU_MIGRATION &&
			     !hwpmc_mode_is_system(req->mode),
	};
	if (enc->counts_off_cpu)
		enc->select.sel |= HWPMC_SOFT_OFF_CPU;
	return 0;
}

static void soft_program_irqoff(struct hwpmc_class *cls, unsigned int ri,
				const struct hwpmc_select *select)
{
	struct hwpmc_soft_cpu *s = this_cpu_ptr(hwpmc_soft_cpus);

	WRITE_ONCE(s->rows, s->rows & ~BIT(ri));
	/* hwpmc_soft_hit_nmi() finds a row with its select, or no row. */
	barrier();
	s->sel[ri] = select->sel;
	barrier();
	WRITE_ONCE(s->rows, s->rows | BIT(ri));
	if (hwpmc_soft_is_clock(select->sel))
		hwpmc_soft_clock_start_irqoff(s, select->sel);
}

static void soft_stop_nmi(struct hwpmc_class *cls, unsigned int ri)
{
	struct hwpmc_soft_cpu *s = this_cpu_ptr(hwpmc_soft_cpus);

	WRITE_ONCE(s->rows, s->rows & ~BIT(ri));
}

static u64 soft_read_irqoff(struct hwpmc_class *cls, unsigned int ri)
{
	return this_cpu_read(hwpmc_soft_cpus->counter[ri]);
}

static void soft_write_nmi(struct hwpmc_class *cls, unsigned int ri, u64 value)
{
	this_cpu_write(hwpmc_soft_cpus->counter[ri], value);
}

static u32 soft_event_why(const struct hwpmc_class *cls, u32 ev)
{
	return hwpmc_soft_event_has_probe(ev) ? HWPMC_WHY_NONE : HWPMC_WHY_EVENT_TYPED;
}

const struct hwpmc_class_ops hwpmc_soft_ops = {
	.probe = soft_probe,
	.exit = soft_exit,
	.hardware.claim = soft_claim,
	.hardware.release = soft_release,
	.cpu.reset_irqoff = soft_reset_irqoff,
	.encode = soft_encode,
	.row.program_irqoff = soft_program_irqoff,
	.row.stop_nmi = soft_stop_nmi,
	.row.read_irqoff = soft_read_irqoff,
	.row.write_nmi = soft_write_nmi,
	.row.add_irqoff = hwpmc_soft_add_irqoff,
	.events.get = hwpmc_soft_event_get,
	.events.put = hwpmc_soft_event_put,
	.events.at = hwpmc_soft_event_at,
	.events.name = hwpmc_soft_event_name,
	.events.why = soft_event_why,
};
