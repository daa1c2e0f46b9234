# SPDX-License-Identifier: BSD-2-Clause
# tests.mk - the layers of tests. Each appends its results to build/results.tsv
# as `status<TAB>layer<TAB>name<TAB>detail`; tests/report sums them up.

# What several programs are made of is compiled once for all of them, to objects of
# their own folders: names.c is there twice. The rule is in tests/unit/stat.mk.
unit-objects	= $(patsubst $(TOP)/%.c,$(BUILD)/tests/unit/stat-obj/%.o,$(1))
UNIT_HARNESS	:= $(call unit-objects,$(TOP)/tests/harness/harness.c)
UNIT_LIB	:= $(call unit-objects,$(LIB_SRC))
UNIT_STAT	:= $(call unit-objects,$(STAT_SRC))

include $(sort $(wildcard $(TOP)/tests/unit/*.mk $(TOP)/tests/fuzz/*.mk))

# Everything: results start afresh, tests/check runs the layers side by side.
check:
	@BUILD=$(BUILD) $(TOP)/tests/check

# And what that leaves out for its time.
check-all:
	@BUILD=$(BUILD) $(TOP)/tests/check --all

check-host:
	@BUILD=$(BUILD) $(TOP)/tests/check --host

# Each part with unit tests on this machine adds its own target to these.
check-unit:

# Symbols of what is built are checked, too.
check-static: lib tools
	@BUILD=$(BUILD) $(TOP)/tests/static/run $(CHECKS)

# SERIES="5.10 6.12": those alone.
check-build:
	@BUILD=$(BUILD) $(TOP)/tests/static/build $(SERIES)

# The tests in VMs on other kernels: KERNELS="6.12 6.12-rt" GROUPS="count-intel ..."
# choose; the core is what depends most on the kernel, check-kernels-check what
# `make check` does of that.
check-kernels: vm-fetch vm-tests vpmu lib tools
	@BUILD=$(BUILD) $(TOP)/tests/kernels -g "$(GROUPS)" $(KERNELS)

# Of what check-kernels ran in pieces: one table.
check-kernels-table:
	@BUILD=$(BUILD) $(TOP)/tests/kernels --table -g "$(GROUPS)" $(KERNELS)

check-kernels-core check-kernels-check: check-kernels-%: vm-fetch vm-tests vpmu lib tools
	@BUILD=$(BUILD) $(TOP)/tests/kernels --$*

kernels-prepare:
	@BUILD=$(BUILD) $(TOP)/tests/kernels --check --prepare

# What is promised, line by line, and what the last run says of it.
check-spec:
	@BUILD=$(BUILD) $(TOP)/scripts/check-spec

# With COMPILE=1 dkms also builds the module.
check-dkms:
	@BUILD=$(BUILD) $(TOP)/tests/dkms $(if $(COMPILE),--compile)

# Debian's packages, from the tarball to the purge: SUITE=bookworm, minutes. With QUICK=1
# as `make check` does it.
check-packages: vm-fetch vpmu
	@BUILD=$(BUILD) $(TOP)/tests/packages/run $(if $(QUICK),--quick) $(SUITE)

# A module that is refused, enrolled and loaded, by firmware with Secure Boot: ten minutes.
check-secureboot: vm-fetch vpmu lib tools
	@BUILD=$(BUILD) $(TOP)/tests/secureboot/run

# Three machines that push to one receiver: ten minutes.
check-fleet: vm-fetch vm-tests vpmu module-vm lib tools
	@BUILD=$(BUILD) $(TOP)/tests/fleet/run

# The spec for rpm, on this machine.
check-rpm:
	@$(TOP)/scripts/install-deps rpm
	@BUILD=$(BUILD) $(TOP)/tests/rpm

# DKMS where it fails at its users': KERNELS="6.1-rt 6.12" builds for these instead.
check-dkms-field:
	@BUILD=$(BUILD) $(TOP)/tests/dkms-field $(KERNELS)

.PHONY: check-fleet check-rpm check-secureboot check-dkms-field check-packages check check-all check-host check-unit check-static check-build check-dkms \
	check-spec check-kernels check-kernels-core check-kernels-check \
	check-kernels-table kernels-prepare
