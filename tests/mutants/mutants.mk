# SPDX-License-Identifier: BSD-2-Clause
# mutants.mk - `make check-mutants`: do the tests notice faults? tests/mutants/README.md.
# KIND=host or KIND=kmod: only these; ONLY=expression: only those whose name matches it.

check-mutants: module-vm lib tools vm-fetch vm-ready
	@BUILD=$(BUILD) $(TOP)/tests/mutants/run $(if $(ONLY),-m "$(ONLY)") $(KIND)

.PHONY: check-mutants
