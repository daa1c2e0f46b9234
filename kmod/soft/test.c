// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * test.c - class TEST: samples with payloads that a test makes, without hardware. Rows have the
 * callbacks of struct hwpmc_sampler, as those of hardware that records its samples. The class
 * exists only in a module that was loaded with testclass=1 or 2.
 *
 * A privileged program writes lines to the parameter testevents:
 *
 *	EVENTS ADDRESS WORDS	(a decimal number, two hexadecimal ones)
 *
 * So many events happen to the writing thread, on its CPU, in each row that counts there.
 * ADDRESS is the exact address of each, 0: it has none; bit n of WORDS means that word n is
 * present (enum hwpmc_precise_test). With testclass=1 each overflow is handled where it happens.
 * With testclass=2 it waits for the next NMI of a counter that samples; overflows that happen
 * while another one waits are lost, as in a full buffer of hardware.
 */
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <asm/ptrace.h>

#include "../backends/classes.h"
#include "../core/cpu.h"
#include "../sampling/sample.h"
#include "hwpmc_log.h"	/* uapi */

#define ROWS		2
#define SELECT		1	/* of a row that counts; it has no other meaning */
#define WORD_VALUE	0x7e57
#define PHYSICAL_VALUE	0x12345000

static int testclass;		/* constant after load */
module_param(testclass, int, 0444);
MODULE_PARM_DESC(testclass, "1 or 2: make a class of counters for tests of logs (0)");

struct test_row {
	u64 armed;		/* events of the period that it is armed for */
	u64 left;		/* of them; 0: it has overflowed */
	u64 beyond;		/* events since then */
	u64 number;		/* overflows handled so far */
	u64 pc, words;		/* of the overflow */
};

/* Of a CPU; used there with interrupts off, and in NMI. */
struct test_cpu {
	struct test_row row[ROWS];
	u32 on;			/* bit per row that counts */
};

static DEFINE_PER_CPU(struct test_cpu, test_cpus);
static struct hwpmc_class *test_class;	/* NULL: there is none; constant after load */

static struct test_row *row_of_nmi(unsigned int ri)
{
	return &this_cpu_ptr(&test_cpus)->row[ri];
}

/* ---- callbacks ----------------------------------------------------------- */

static int test_probe(struct hwpmc_class *cls)
{
	if (testclass != 1 && testclass != 2)
		return -ENODEV;
	cls->name = "TEST";
	cls->id = HWPMC_CLASS_TEST;
	cls->caps = HWPMC_CAP_INTERRUPT | HWPMC_CAP_USER | HWPMC_CAP_SYSTEM |
		    HWPMC_CAP_PRECISE;
	cls->payloads = HWPMC_F_EXACT | HWPMC_F_MEMORY;
	cls->width = 64;
	cls->num = ROWS;
	cls->rdpmc_base = -1;
	cls->max_period = S64_MAX;
	cls->stays_on = true;
	cls->nmi = testclass == 2;
	test_class = cls;
	return 0;
}

static int test_claim(struct hwpmc_class *cls, struct hwpmc_hdr *hdr)
{
	return 0;
}

static void test_release(struct hwpmc_class *cls)
{
}

static void test_reset_irqoff(struct hwpmc_class *cls, bool on)
{
	this_cpu_write(test_cpus.on, 0);
}

static int test_encode(const struct hwpmc_class *cls, const struct hwpmc_request *req,
		       struct hwpmc_encoding *enc)
{
	if (!hwpmc_mode_is_sampling(req->mode))
		return hwpmc_encode_refuse(enc, -EOPNOTSUPP, HWPMC_WHY_CAPS, HWPMC_CAP_READ);
	if (req->flags & HWPMC_F_EV_PMU || req->ev != HWPMC_EV_TEST)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, req->ev);
	enc->select.sel = SELECT;
	enc->rows = GENMASK_ULL(ROWS - 1, 0);
	return 0;
}

static void test_program_irqoff(struct hwpmc_class *cls, unsigned int ri,
				const struct hwpmc_select *select)
{
	this_cpu_write(test_cpus.on, this_cpu_read(test_cpus.on) | BIT(ri));
}

static void test_stop_nmi(struct hwpmc_class *cls, unsigned int ri)
{
	this_cpu_write(test_cpus.on, this_cpu_read(test_cpus.on) & ~BIT(ri));
}

static u64 test_read_irqoff(struct hwpmc_class *cls, unsigned int ri)
{
	return -row_of_nmi(ri)->left;
}

static const char *test_event_at(const struct hwpmc_class *cls, unsigned int place, u32 *ev)
{
	if (place)
		return NULL;
	*ev = HWPMC_EV_TEST;
	return "TEST";
}

static const char *test_event_name(const struct hwpmc_class *cls, u32 ev)
{
	return ev == HWPMC_EV_TEST ? "TEST" : NULL;
}

/* ---- samples -------------------------------------------------------------- */

static bool test_overflowed_nmi(struct hwpmc_class *cls, unsigned int ri)
{
	return !row_of_nmi(ri)->left;
}

static void test_payload_nmi(struct hwpmc_class *cls, unsigned int ri, u32 flags,
			     struct hwpmc_payload *p)
{
	struct test_row *r = row_of_nmi(ri);

	p->kind = HWPMC_PRECISE_TEST;
	p->pc = r->pc;
	p->exact = r->pc;
	p->present = r->words;
	if (!(flags & HWPMC_F_MEMORY))
		p->present &= BIT(HWPMC_TEST_WORD);
	p->virtual = BIT(HWPMC_TEST_ADDRESS);
	p->physical = BIT(HWPMC_TEST_PHYSICAL);
	p->word[HWPMC_TEST_WORD] = WORD_VALUE;
	p->word[HWPMC_TEST_ADDRESS] = r->pc;
	p->word[HWPMC_TEST_PHYSICAL] = PHYSICAL_VALUE;
	p->word[HWPMC_TEST_LATENCY] = ++r->number;
}

static void test_rearm_nmi(struct hwpmc_class *cls, unsigned int ri, u64 n)
{
	struct test_row *r = row_of_nmi(ri);

	r->armed = n;
	r->left = n;
	r->beyond = 0;
}

static u64 test_lost_nmi(struct hwpmc_class *cls, unsigned int ri)
{
	const struct test_row *r = row_of_nmi(ri);

	return div64_u64(r->beyond, r->armed);
}

static u64 test_left_irqoff(struct hwpmc_class *cls, unsigned int ri)
{
	return row_of_nmi(ri)->left;
}

static const struct hwpmc_sampler test_sampler = {
	.overflowed_nmi = test_overflowed_nmi,
	.payload_nmi = test_payload_nmi,
	.rearm_nmi = test_rearm_nmi,
	.left_irqoff = test_left_irqoff,
	.lost_nmi = test_lost_nmi,
};

const struct hwpmc_class_ops hwpmc_test_ops = {
	.probe = test_probe,
	.hardware.claim = test_claim,
	.hardware.release = test_release,
	.cpu.reset_irqoff = test_reset_irqoff,
	.encode = test_encode,
	.row.program_irqoff = test_program_irqoff,
	.row.stop_nmi = test_stop_nmi,
	.row.read_irqoff = test_read_irqoff,
	.events.at = test_event_at,
	.events.name = test_event_name,
	.interrupt.sampler = &test_sampler,
};

/* ---- events --------------------------------------------------------------- */

static void overflow_irqoff(unsigned int ri)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	unsigned int nr = test_class->first + ri;

	if (!test_class->nmi && c->ticking & BIT_ULL(nr))
		hwpmc_sample_payload_irqoff(c, nr, task_pt_regs(current));
}

/* Of one row: an overflow at a time, for each is handled before the next one happens. */
static void hit_irqoff(unsigned int ri, u64 events, u64 pc, u64 words)
{
	struct test_row *r = row_of_nmi(ri);

	while (events && r->left) {
		u64 n = min(events, r->left);

		events -= n;
		if (n == r->left) {
			r->pc = pc;
			r->words = words;
		}
		/* From here on the NMI handler may find it. */
		barrier();
		WRITE_ONCE(r->left, r->left - n);
		if (!READ_ONCE(r->left))
			overflow_irqoff(ri);
	}
	r->beyond += events;
}

static int testevents_set(const char *text, const struct kernel_param *param)
{
	unsigned long long events, pc, words;
	unsigned long flags;
	unsigned int ri;

	if (!test_class)
		return -ENODEV;
	if (sscanf(text, "%llu %llx %llx", &events, &pc, &words) != 3 || words >> 4)
		return -EINVAL;
	local_irq_save(flags);
	for (ri = 0; ri < ROWS; ri++)
		if (this_cpu_read(test_cpus.on) & BIT(ri))
			hit_irqoff(ri, events, pc, words);
	local_irq_restore(flags);
	return 0;
}

static const struct kernel_param_ops testevents_ops = { .set = testevents_set };
module_param_cb(testevents, &testevents_ops, NULL, 0200);
MODULE_PARM_DESC(testevents, "with testclass: \"EVENTS ADDRESS WORDS\" happen to the writer");
