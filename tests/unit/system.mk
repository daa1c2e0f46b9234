# SPDX-License-Identifier: BSD-2-Clause
# system.mk - what `make install` puts into place and `make uninstall` removes, the
# examples for administrators, and modules that are built with what is installed.

check-unit: check-unit-system

check-unit-system: lib tools
	BUILD=$(BUILD) $(TOP)/tests/unit/system

check-unit: check-unit-inkernel

check-unit-inkernel: module-vm
	BUILD=$(BUILD) $(TOP)/tests/unit/inkernel

.PHONY: check-unit-system check-unit-inkernel
