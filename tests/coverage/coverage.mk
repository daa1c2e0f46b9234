# SPDX-License-Identifier: BSD-2-Clause
# coverage.mk - which lines and branches the tests execute: `make coverage` on this
# machine, in VMs with Debian's kernel and on the debug kernel, which can count in the
# module; `make coverage-host` of the first alone, in a minute. Steps, and how to add
# to what there is: tests/coverage/run.

coverage:
	@BUILD=$(BUILD) $(TOP)/tests/coverage/run

coverage-host:
	@BUILD=$(BUILD) $(TOP)/tests/coverage/run host table

.PHONY: coverage coverage-host
