# SPDX-License-Identifier: BSD-2-Clause
# completion.mk - what bash completes of hwpmc's command line.

check-unit: check-unit-completion

check-unit-completion: tools
	BUILD=$(BUILD) $(TOP)/tests/unit/completion

.PHONY: check-unit-completion
