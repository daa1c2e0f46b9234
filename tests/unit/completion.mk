# SPDX-License-Identifier: BSD-2-Clause
# completion.mk - what shells complete of hwpmc's command line, and what its letters mean.

check-unit: check-unit-completion

check-unit-completion: tools
	BUILD=$(BUILD) $(TOP)/tests/unit/completion

.PHONY: check-unit-completion

check-unit: check-unit-letters

check-unit-letters: tools
	BUILD=$(BUILD) $(TOP)/tests/unit/letters

.PHONY: check-unit-letters
