// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * stale.c - code that was translated as it had been. QEMU 11.1.3 throws away what was
 * translated of a byte before it writes it; a vCPU that comes by between the two
 * translates the old byte again, and goes on with that for ever. The kernel patches
 * itself while it runs: an INT3 that is not there any more is an endless loop of
 * exceptions or an oops, a NOP that has become a call is an event that nobody sees.
 *
 * So what was translated of the kernel is compared with memory a moment later, and an
 * INT3 each time before it runs. To write a byte as it is throws the translation away.
 */
#include <string.h>

#include "vpmu.h"

#define INT3		0xcc
#define YOUNG		4096	/* translations to look at again; the oldest give way */
#define MOMENT_US	1000	/* longer than a step of the kernel's patching */

struct young {
	uint64_t start;
	int64_t since;
	bool suspect;		/* it was different once */
	uint16_t size;
	uint16_t constant;	/* offset of an instruction that no patching changes */
	uint8_t *code;		/* as translated */
};

/* Of this vCPU's thread. */
static __thread struct young young[YOUNG];
static __thread unsigned int head, tail;

static bool is_kernel(const struct block *blk)
{
	return blk->mode == KERNEL && blk->start >> 63;
}

static uint8_t *code_of(struct qemu_plugin_tb *tb, const struct block *blk)
{
	uint8_t *code = g_malloc0(blk->size);

	for (unsigned int i = 0; i < blk->n; i++)
		qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, i),
				      code + blk->slot[i].off,
				      blk->size - blk->slot[i].off);
	return code;
}

/*
 * First bytes of what the kernel patches while it runs, and puts there: jumps, calls,
 * returns, NOPs of any length, INT3.
 */
static bool is_patchable(uint8_t first)
{
	return memchr("\xcc\xe8\xe9\xeb\xc3\x90\x66\x0f\x2e\x3e", first, 10);
}

/* blk->size: there is none. */
static uint16_t constant_of(const struct block *blk, const uint8_t *code)
{
	for (unsigned int i = 0; i < blk->n; i++)
		if (!is_patchable(code[blk->slot[i].off]))
			return blk->slot[i].off;
	return blk->size;
}

static void drop_oldest(void)
{
	g_free(young[tail++ % YOUNG].code);
}

/* Throw away what is translated of this byte. */
static void touch(uint64_t addr)
{
	uint8_t byte;

	if (virt_read(addr, &byte, 1))
		virt_write(addr, &byte, 1);
}

/* ---- an INT3, before it runs --------------------------------------------- */

static void on_int3(unsigned int index, void *data)
{
	struct site *s = data;
	struct vcpu *v = vcpu_of(index);
	uint64_t addr = s->start + s->off;
	uint8_t byte = INT3;

	if (!virt_read(addr, &byte, 1) || byte == INT3) {
		v->no_int3 = 0;
		return;
	}
	/* Written just now, and thrown away, unless it is found once more. */
	if (v->no_int3 == addr) {
		v->n_stale_int3++;
		touch(addr);
	}
	v->no_int3 = addr;
	qemu_plugin_set_pc(s->start);
}

/* ---- the rest, a moment later -------------------------------------------- */

void stale_note(struct qemu_plugin_tb *tb, struct block *blk, struct site *int3)
{
	struct young *y;

	if (!is_kernel(blk))
		return;
	if (int3)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_int3, CB_RW_REGS_PC, int3);
	if (head - tail == YOUNG)
		drop_oldest();
	y = &young[head++ % YOUNG];
	*y = (struct young){
		.start = blk->start, .since = g_get_monotonic_time(),
		.size = blk->size, .code = code_of(tb, blk),
	};
	y->constant = constant_of(blk, y->code);
}

/*
 * By a byte that is as it was; false: all are others, and this is no longer that code. One
 * byte can only be what was patched. It is read and written, so a vCPU that patches this
 * byte between the two would lose what it wrote: that of a jump would be a NOP's. Only
 * where the block has nothing else is a byte taken that may be patched.
 */
static bool throw_away(const struct young *y, const uint8_t *now)
{
	if (y->constant < y->size && y->code[y->constant] == now[y->constant]) {
		touch(y->start + y->constant);
		return true;
	}
	for (unsigned int i = 0; i < y->size; i++)
		if (y->code[i] == now[i] || y->size == 1) {
			touch(y->start + i);
			return true;
		}
	return false;
}

/* True: enough of it. Twice the same, as it may be in the middle of being patched. */
static bool look_again(struct vcpu *v, struct young *y)
{
	uint8_t now[y->size];

	if (!virt_read(y->start, now, y->size) || !memcmp(now, y->code, y->size))
		return true;
	if (!y->suspect) {
		y->suspect = true;
		y->since = g_get_monotonic_time();
		return false;
	}
	v->n_renewed += throw_away(y, now);
	return true;
}

/* An interrupt was delivered, in kernel mode now. */
void stale_look(struct vcpu *v)
{
	int64_t now;

	if (head == tail)
		return;
	now = g_get_monotonic_time();
	while (head != tail) {
		struct young *y = &young[tail % YOUNG];

		if (now - y->since < MOMENT_US || !look_again(v, y))
			return;
		drop_oldest();
	}
}
