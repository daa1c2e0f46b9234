# SPDX-License-Identifier: BSD-2-Clause
# demo.mk - `make demo`: the main job, shown: real programs counted in a virtual
# machine, with the emulated PMU's own totals beside each count.

# step OBJECT,GOALS: the compiler's lines go to a file, so that those of the demo stay on
# the screen.
step = echo "building $(1) ..."; mkdir -p $(BUILD); \
	$(MAKE) -j$$(nproc) $(2) >$(BUILD)/demo.log 2>&1 || { tail -n 20 $(BUILD)/demo.log; \
	echo "demo: cannot build $(1): the lines above are the last of $(BUILD)/demo.log" >&2; \
	exit 1; }

# On a fresh machine too: missing packages are installed before make looks for them.
demo:
	@$(TOP)/scripts/install-deps build vm
	@$(call step,the kernel module,module-vm)
	@$(call step,the library and the tools,lib tools)
	@$(call step,the emulated PMU,vm-fetch vm-tests vpmu)
	@$(TOP)/tests/demo/demo

check-demo: module-vm lib tools vm-fetch vm-tests vpmu
	@$(TOP)/tests/demo/demo -c
	@$(TOP)/tests/demo/check-try

.PHONY: demo check-demo
