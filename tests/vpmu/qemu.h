/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * qemu.h - the part of QEMU's plug-in interface, version 7 (QEMU 11.1), that is
 * used here. No package ships qemu-plugin.h; QEMU resolves the symbols when it
 * loads the plug-in and refuses one that asks for another version.
 */
#ifndef VPMU_QEMU_H
#define VPMU_QEMU_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <inttypes.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;
struct qemu_plugin_register;

typedef struct {
	struct qemu_plugin_scoreboard *board;
	size_t offset;
} pl_u64;

typedef struct {
	struct qemu_plugin_register *handle;
	const char *name, *feature;
	bool readonly;
} pl_reg;

typedef struct {
	const char *target;
	struct { int min, cur; } api;
	bool system;
	struct { int smp, max; } vcpus;
} pl_info;

enum { CB_NO_REGS, CB_R_REGS, CB_RW_REGS, CB_RW_REGS_PC };
enum { COND_GE = 7 };
enum { OP_ADD, OP_STORE };
enum { MEM_R = 1, MEM_W = 2 };
enum { DISCON_INTERRUPT = 1, DISCON_EXCEPTION = 2 };

typedef void (*pl_udata_cb)(void *);
typedef void (*pl_vcpu_cb)(unsigned int, void *);
typedef void (*pl_trans_cb)(struct qemu_plugin_tb *, void *);
typedef void (*pl_mem_cb)(unsigned int, uint32_t, uint64_t, void *);
typedef void (*pl_discon_cb)(unsigned int, int, uint64_t, uint64_t, void *);

void qemu_plugin_register_vcpu_init_cb(uint64_t, pl_vcpu_cb, void *);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, pl_trans_cb, void *);
void qemu_plugin_register_vcpu_discon_cb(uint64_t, int, pl_discon_cb, void *);
void qemu_plugin_register_flush_cb(uint64_t, pl_udata_cb, void *);
void qemu_plugin_register_atexit_cb(uint64_t, pl_udata_cb, void *);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *,
	pl_vcpu_cb, int flags, int cond, pl_u64, uint64_t imm, void *);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *,
	int op, pl_u64, uint64_t imm);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, pl_vcpu_cb,
	int flags, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *,
	pl_vcpu_cb, int flags, void *);
void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *,
	pl_vcpu_cb, int flags, int cond, pl_u64, uint64_t imm, void *);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
	struct qemu_plugin_insn *, int op, pl_u64, uint64_t imm);
void qemu_plugin_register_vcpu_mem_inline_per_vcpu(struct qemu_plugin_insn *,
	int rw, int op, pl_u64, uint64_t imm);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, pl_mem_cb,
	int flags, int rw, void *);
bool qemu_plugin_mem_is_store(uint32_t);
unsigned int qemu_plugin_mem_size_shift(uint32_t);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t, uint64_t);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);
bool qemu_plugin_translate_vaddr(uint64_t, uint64_t *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *,
						 size_t);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *, size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
GArray *qemu_plugin_get_registers(void);
bool qemu_plugin_read_register(struct qemu_plugin_register *, GByteArray *);
bool qemu_plugin_write_register(struct qemu_plugin_register *, GByteArray *);
void qemu_plugin_set_pc(uint64_t) __attribute__((noreturn));
int qemu_plugin_read_memory_hwaddr(uint64_t, GByteArray *, size_t);
int qemu_plugin_write_memory_hwaddr(uint64_t, GByteArray *);
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *, unsigned);
bool qemu_plugin_read_memory_vaddr(uint64_t, GByteArray *, size_t);
int qemu_plugin_write_memory_vaddr(uint64_t, GByteArray *);

#endif
