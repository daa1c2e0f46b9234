# SPDX-License-Identifier: BSD-2-Clause
# module.mk - `make module`: the module for the kernel that the test VMs boot
# (newest Debian 6.1), or for KDIR=/lib/modules/RELEASE/build.

KDIR ?=

module:
ifeq ($(KDIR),)
	@BUILD=$(BUILD) $(TOP)/scripts/fetch-kernel-headers 6.1 >/dev/null
	@BUILD=$(BUILD) $(TOP)/scripts/kbuild \
		$$(BUILD=$(BUILD) $(TOP)/scripts/kernel-version 6.1)
else
	@BUILD=$(BUILD) $(TOP)/scripts/kbuild $(KDIR)
endif
