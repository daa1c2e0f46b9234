// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * guest.c - registers and memory of the guest, as seen from a callback on the
 * thread of the vCPU in question.
 */
#include <stdio.h>
#include <string.h>

#include "vpmu.h"

static const char *const reg_name[NREG] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9",
	"r10", "r11", "r12", "r13", "r14", "r15", "rip", "cs", "cr0", "cr2",
	"cr3", "cr4", "eflags",
};
static struct qemu_plugin_register *reg_handle[NREG];
static __thread GByteArray *scratch;

static GByteArray *get_scratch(void)
{
	if (!scratch)
		scratch = g_byte_array_sized_new(16);
	g_byte_array_set_size(scratch, 0);
	return scratch;
}

static GByteArray *scratch_with(const void *p, size_t size)
{
	GByteArray *a = get_scratch();

	g_byte_array_append(a, p, size);
	return a;
}

static void note_register(const pl_reg *r)
{
	for (int k = 0; k < NREG; k++)
		if (!strcmp(r->name, reg_name[k]))
			reg_handle[k] = r->handle;
}

/* Once, on a vCPU's thread. False: this QEMU's registers are not as known. */
bool guest_find_registers(void)
{
	GArray *regs;
	bool all = true;

	if (reg_handle[RAX])
		return true;
	regs = qemu_plugin_get_registers();
	if (g_array_get_element_size(regs) != sizeof(pl_reg)) {
		fprintf(stderr, "vpmu: register descriptors changed\n");
		return false;
	}
	for (unsigned int i = 0; i < regs->len; i++)
		note_register(&g_array_index(regs, pl_reg, i));
	g_array_free(regs, TRUE);
	for (int k = 0; k < NREG; k++) {
		if (reg_handle[k])
			continue;
		fprintf(stderr, "vpmu: no register %s\n", reg_name[k]);
		all = false;
	}
	return all;
}

uint64_t reg_read(enum reg r)
{
	GByteArray *a = get_scratch();
	uint64_t x = 0;

	if (qemu_plugin_read_register(reg_handle[r], a))
		memcpy(&x, a->data, MIN(a->len, sizeof(x)));
	return x;
}

void reg_write(enum reg r, uint64_t x)
{
	qemu_plugin_write_register(reg_handle[r], scratch_with(&x, sizeof(x)));
}

bool phys_read32(uint64_t addr, uint32_t *x)
{
	GByteArray *a = get_scratch();

	if (qemu_plugin_read_memory_hwaddr(addr, a, 4))
		return false;
	memcpy(x, a->data, 4);
	return true;
}

bool phys_write32(uint64_t addr, uint32_t x)
{
	return !qemu_plugin_write_memory_hwaddr(addr,
						scratch_with(&x, sizeof(x)));
}

bool virt_read(uint64_t addr, void *p, size_t size)
{
	GByteArray *a = get_scratch();

	if (!qemu_plugin_read_memory_vaddr(addr, a, size))
		return false;
	memcpy(p, a->data, size);
	return true;
}

bool virt_to_phys(uint64_t addr, uint64_t *phys)
{
	return qemu_plugin_translate_vaddr(addr, phys);
}

bool virt_write(uint64_t addr, const void *p, size_t size)
{
	return qemu_plugin_write_memory_vaddr(addr, scratch_with(p, size));
}

bool virt_read64(uint64_t addr, uint64_t *x)
{
	return virt_read(addr, x, sizeof(*x));
}

bool virt_write64(uint64_t addr, uint64_t x)
{
	return virt_write(addr, &x, sizeof(x));
}
