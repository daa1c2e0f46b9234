# SPDX-License-Identifier: BSD-2-Clause
# system.mk - what `make install` puts into place and `make uninstall` removes, and the
# examples for administrators.

check-unit: check-unit-system

check-unit-system: lib tools
	BUILD=$(BUILD) $(TOP)/tests/unit/system

.PHONY: check-unit-system
