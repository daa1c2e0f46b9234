# SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
# kernel.mk - what keeps the module from being built for a kernel, said in a line before
# the compiler says it in a hundred; and what of the kernel is out of the ordinary. Read
# by Kbuild; the lines are in DKMS's make.log too.

# `make clean` knows no options at all.
ifdef CONFIG_64BIT

# What doctor looks at as well: tools/doctor/kernel.c.
hwpmc-needs := MODULES PREEMPT_NOTIFIERS TRACEPOINTS KPROBES PERF_EVENTS
hwpmc-lacks := $(strip $(foreach o,$(hwpmc-needs),$(if $(CONFIG_$(o)),,CONFIG_$(o))))
ifneq ($(hwpmc-lacks),)
$(error hwpmc: this kernel is built without $(hwpmc-lacks), which the module needs; take one that has it, as each kernel of Debian does)
endif

# Flags of one compiler are errors of another one.
hwpmc-cc := $(shell $(CC) --version 2>/dev/null | head -n 1)
hwpmc-built-by := $(subst ",,$(CONFIG_CC_VERSION_TEXT))
ifeq ($(hwpmc-cc),)
$(error hwpmc: there is no compiler $(CC); install it: this kernel is built by $(hwpmc-built-by))
endif
ifneq ($(if $(CONFIG_CC_IS_CLANG),clang),$(findstring clang,$(hwpmc-cc)))
$(error hwpmc: this kernel is built by $(hwpmc-built-by), and $(CC) is $(hwpmc-cc); build by $(if $(CONFIG_CC_IS_CLANG),clang and lld: make LLVM=1,gcc: make CC=gcc))
endif
# kCFI came with clang 16. DKMS takes the one whose name is clang, that of Debian 12 is 14.
ifneq ($(CONFIG_CFI_CLANG)$(CONFIG_CFI),)
ifeq ($(shell $(CC) -fsanitize=kcfi -S -o /dev/null -x c /dev/null 2>/dev/null && echo y),)
$(error hwpmc: this kernel is built by $(hwpmc-built-by) with kCFI, which $(hwpmc-cc) cannot; install such clang and lld: make LLVM=-16, for DKMS PATH=/usr/lib/llvm-16/bin:$$PATH)
endif
endif
# What clang writes with LTO no other linker reads.
ifneq ($(CONFIG_LTO_CLANG),)
ifeq ($(findstring LLD,$(shell $(LD) --version 2>/dev/null)),)
$(error hwpmc: this kernel is built with LTO, and $(LD) is no lld; build by clang and lld: make LLVM=1)
endif
endif
ifneq ($(CONFIG_GCC_PLUGINS),)
ifeq ($(wildcard $(objtree)/scripts/gcc-plugins/*.so),)
$(error hwpmc: this kernel is built with plugins of gcc, and its headers lack them, scripts/gcc-plugins/*.so; build for the folder where the kernel itself was built)
endif
endif

# What is out of the ordinary, and no reason not to build. The compiler's name is no
# difference: gcc may be gcc-12.
hwpmc-note := $(foreach o,PREEMPT_RT X86_KERNEL_IBT CFI_CLANG CFI LTO_CLANG GCC_PLUGINS \
	MODULE_SIG_FORCE,$(if $(filter y,$(CONFIG_$(o))),CONFIG_$(o)))
ifneq ($(wordlist 2,99,$(hwpmc-cc)),$(wordlist 2,99,$(hwpmc-built-by)))
hwpmc-note += it was built by [$(hwpmc-built-by)], the module is by [$(hwpmc-cc)]
endif
ifneq ($(strip $(hwpmc-note)),)
$(info hwpmc: of this kernel: $(strip $(hwpmc-note)))
endif

endif
