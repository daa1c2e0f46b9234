// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * main.c - vpmu, an x86 performance-monitoring unit for QEMU's TCG, as a
 * plug-in: options and life cycle. README.md says what it is and what it does
 * not do; the interface to the guest is in vpmu_guest.h.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vpmu.h"

EXPORT int qemu_plugin_version = 7;
EXPORT int qemu_plugin_install(uint64_t, const pl_info *, int, char **);

struct config cfg = {
	.version = -1, .gp = -1, .fixed = 3, .width = 48, .full_width = true, .threads = 1,
	.initial_index = -1, .ibs_entry = 1,
};

struct qemu_plugin_scoreboard *boards;
struct vcpu *vcpus;
int max_vcpus, vcpus_seen;
bool one_thread;

static pthread_t first_thread;
static void **vcpu_cpu;			/* current_cpu of each vCPU */
static __thread void **current_cpu_slot;

void *current_cpu_now(void)
{
	if (!current_cpu_slot)
		current_cpu_slot = dlsym(RTLD_DEFAULT, "current_cpu");
	return current_cpu_slot ? *current_cpu_slot : NULL;
}

struct vcpu *vcpu_of(unsigned int index)
{
	void *cpu;

	if (!one_thread)
		return &vcpus[index];
	cpu = *current_cpu_slot;
	for (int i = 0; i < max_vcpus; i++)
		if (vcpu_cpu[i] == cpu)
			return &vcpus[i];
	abort();
}

/* As firmware leaves it: all counters enabled globally, none selected. */
static void reset(struct vcpu *v)
{
	struct board *b = board_of(v);

	memset(b, 0, sizeof(*b));
	machine_place(v);
	v->global_ctrl = manners_global_at_reset(v);
	if (cfg.initial_index >= 0)
		v->evtsel[cfg.initial_index] = cfg.initial_sel;
	inject_reset(v);
	apic_reset(v);
	counter_reconfigure(v, b);
	counter_arm(v, b, KERNEL);
}

static void on_vcpu(unsigned int index, void *data)
{
	struct vcpu *v = &vcpus[index];

	v->index = index;
	reset(v);
	vcpu_cpu[index] = current_cpu_now();
	if (!vcpus_seen++)
		first_thread = pthread_self();
	else if (pthread_equal(first_thread, pthread_self()))
		one_thread = true;
	if (!guest_find_registers())
		exit(1);
}

static void on_flush(void *data)
{
	translate_forget_all();
}

/* initial=INDEX:SELECTOR, the selector in hexadecimal */
static bool initial_option(const char *val)
{
	return sscanf(val, "%d:%" SCNx64, &cfg.initial_index,
		      &cfg.initial_sel) == 2 && cfg.initial_index >= 0;
}

static bool switch_option(const char *val, const char *on, const char *off,
			  bool *to)
{
	*to = !strcmp(val, on);
	return *to || !strcmp(val, off);
}

static bool model_option(const char *val)
{
	cfg.amd = !strcmp(val, "amd");
	cfg.p4 = !strcmp(val, "p4");
	cfg.none = !strcmp(val, "none");
	return cfg.amd || cfg.p4 || cfg.none || !strcmp(val, "intel");
}

static bool number_option(const char *name, const char *val)
{
	const struct { const char *name; int *to; } number[] = {
		{ "version", &cfg.version }, { "gp", &cfg.gp },
		{ "fixed", &cfg.fixed }, { "width", &cfg.width },
		{ "skid", &cfg.skid }, { "threads", &cfg.threads },
		{ "power", &cfg.power }, { "ibs-entry", &cfg.ibs_entry },
	};

	char *end;
	uint64_t n = strtoull(val, &end, 0);

	if (!*val || *end || *val == '-')
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(number); i++)
		if (strcmp(name, number[i].name) == 0) {
			*number[i].to = n;
			return true;
		}
	return inject_option(name, n);
}

static bool option(char *arg)
{
	char *val = strchr(arg, '=');

	if (!val)
		return false;
	*val++ = 0;
	if (!strcmp(arg, "model"))
		return model_option(val);
	if (!strcmp(arg, "machine"))
		return machine_option(val);
	if (!strcmp(arg, "gran"))
		return switch_option(val, "insn", "tb", &cfg.gran_insn);
	if (!strcmp(arg, "mem"))
		return switch_option(val, "on", "off", &cfg.mem);
	if (!strcmp(arg, "fw"))
		return switch_option(val, "on", "off", &cfg.full_width);
	if (!strcmp(arg, "pti"))
		return switch_option(val, "on", "off", &cfg.pti);
	if (!strcmp(arg, "irqoff"))
		return switch_option(val, "on", "off", &cfg.irqoff);
	if (!strcmp(arg, "tfa"))
		return switch_option(val, "on", "off", &cfg.tfa);
	if (!strcmp(arg, "tsc"))
		return switch_option(val, "on", "off", &cfg.tsc);
	if (!strcmp(arg, "ibs"))
		return ibs_option(val);
	if (!strcmp(arg, "core"))
		return switch_option(val, "off", "on", &cfg.no_core);
	if (!strcmp(arg, "signature"))
		return cpuid_signature_option(val);
	if (!strcmp(arg, "harm"))
		return switch_option(val, "on", "off", &cfg.harm);
	if (!strcmp(arg, "strict"))
		return strict_option(val);
	if (!strcmp(arg, "initial"))
		return initial_option(val);
	if (!strcmp(arg, "out")) {
		cfg.out = val;
		return true;
	}
	if (!strcmp(arg, "trace")) {
		cfg.trace = val;
		return true;
	}
	return number_option(arg, val);
}

/* What was not given, and whether all fits together. */
static bool settle(void)
{
	if (cfg.p4) {
		cfg.version = cfg.fixed = 0;
		cfg.gp = 18;
		cfg.width = 40;
		machine_settle();
		cfg.width_mask = (1ULL << cfg.width) - 1;
		return !cfg.machine && (cfg.threads == 1 || cfg.threads == 2);
	}
	if (cfg.machine) {
		machine_settle();
		cfg.width_mask = (1ULL << cfg.width) - 1;
		return !cfg.amd && cfg.initial_index < cfg.gp;
	}
	if (cfg.version < 0)
		cfg.version = cfg.amd ? 2 : 4;
	if (cfg.gp < 0)
		cfg.gp = !cfg.amd ? 8 : cfg.version ? 6 : 4;
	if (cfg.version > (cfg.amd ? 2 : 5) || cfg.gp < 1 || cfg.gp > MAX_GP ||
	    cfg.fixed > MAX_FIXED || cfg.width < 32 || cfg.width > 60 ||
	    cfg.initial_index >= cfg.gp)
		return false;
	if (cfg.amd && !cfg.version && cfg.gp != 4)
		return false;
	cfg.width_mask = (1ULL << cfg.width) - 1;
	machine_settle();
	return true;
}

static bool options(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		char *copy = g_strdup(argv[i]);	/* values point into it */

		if (!option(copy)) {
			fprintf(stderr, "vpmu: bad option %s\n", argv[i]);
			return false;
		}
	}
	if (!settle() || !ibs_settle()) {
		fprintf(stderr, "vpmu: no such PMU: %s version %d, %d + %d "
			"counters of %d bits\n", cfg.p4 ? "p4" :
			cfg.amd ? "amd" : "intel",
			cfg.version, cfg.gp, cfg.fixed, cfg.width);
		return false;
	}
	return true;
}

EXPORT int qemu_plugin_install(uint64_t id, const pl_info *info, int argc,
			       char **argv)
{
	if (strcmp(info->target, "x86_64") || !info->system) {
		fprintf(stderr, "vpmu: needs x86_64 system emulation\n");
		return -1;
	}
	if (!options(argc, argv) || !trace_open())
		return -1;
	max_vcpus = info->vcpus.max;
	vcpus = g_new0(struct vcpu, max_vcpus);
	vcpu_cpu = g_new0(void *, max_vcpus);
	boards = qemu_plugin_scoreboard_new(sizeof(struct board));
	p4_start();

	qemu_plugin_register_vcpu_init_cb(id, on_vcpu, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_block, NULL);
	qemu_plugin_register_vcpu_discon_cb(id,
		DISCON_INTERRUPT | DISCON_EXCEPTION, discon_event, NULL);
	qemu_plugin_register_flush_cb(id, on_flush, NULL);
	qemu_plugin_register_atexit_cb(id, trace_at_exit, NULL);
	return 0;
}
