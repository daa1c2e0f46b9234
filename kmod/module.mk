# SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
# module.mk - `make module`: the module for KDIR=/lib/modules/RELEASE/build, which is the
# running kernel's if its headers are there. Without headers, and for `make module-vm`, it
# is the kernel that the test VMs boot (newest Debian 6.1), which is fetched. Installing it:
# for one kernel by kbuild, or for all of them by DKMS; and what other modules are built with.

KDIR ?= $(wildcard /lib/modules/$(shell uname -r)/build)
MODULES_DIR ?= /lib/modules
DKMS_SRC = $(DESTDIR)/usr/src/hwpmc-$(VERSION)

module: $(if $(KDIR),,module-vm)
ifneq ($(KDIR),)
	@BUILD=$(BUILD) $(TOP)/scripts/kbuild $(KDIR)
endif

module-vm:
	@BUILD=$(BUILD) $(TOP)/scripts/fetch-kernel-headers 6.1 >/dev/null
	@BUILD=$(BUILD) $(TOP)/scripts/kbuild \
		$$(BUILD=$(BUILD) $(TOP)/scripts/kernel-version 6.1)

# With MODULE_OUT install-module-files takes what scripts/kbuild has built there.
MODULE_OUT ?= $(BUILD)/kmod/install
install-module install-module-files: kdir = $(or $(KDIR),/lib/modules/$(shell uname -r)/build)
install-module-files: release = $(shell sed -n 's/.* UTS_RELEASE "\(.*\)"/\1/p' $(kdir)/include/generated/utsrelease.h)
install-module:
	BUILD=$(BUILD) $(TOP)/scripts/kbuild $(kdir) $(MODULE_OUT)
	$(MAKE) install-module-files

# The symbols are for other modules: hwpmc(9).
install-module-files:
	$(MAKE) -C $(kdir) M=$(MODULE_OUT)/kmod modules_install \
		$(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR))
	install -D -m 644 $(MODULE_OUT)/kmod/Module.symvers \
		$(DESTDIR)/lib/modules/$(release)/updates/hwpmc.symvers

# The headers of hwpmc(9), in a folder of their own: they are no headers for programs.
install-inkernel:
	install -d $(DESTDIR)$(includedir)/hwpmc-kernel/linux $(DESTDIR)$(prefix)/share/hwpmc
	install -m 644 $(TOP)/include/linux/hwpmc.h $(DESTDIR)$(includedir)/hwpmc-kernel/linux
	install -m 644 $(TOP)/include/uapi/hwpmc.h $(TOP)/include/uapi/hwpmc_target.h \
		$(DESTDIR)$(includedir)/hwpmc-kernel
	sed -e 's,@includedir@,$(includedir),' -e 's,@VERSION@,$(VERSION),' \
		$(TOP)/kmod/inkernel/kbuild.mk.in >$(DESTDIR)$(prefix)/share/hwpmc/kbuild.mk
	chmod 644 $(DESTDIR)$(prefix)/share/hwpmc/kbuild.mk

# The source as DKMS wants it: a folder of its own under /usr/src.
dkms-source:
	rm -rf $(DKMS_SRC)
	install -d $(DKMS_SRC)
	cp -r $(TOP)/dkms.conf $(TOP)/LICENSE $(TOP)/kmod $(TOP)/include $(DKMS_SRC)/

dkms-install: dkms-source
	@set -e; for build in $(MODULES_DIR)/*/build; do \
		[ -e "$$build" ] || continue; \
		k=$${build%/build}; found=yes; \
		(set -x; dkms install -m hwpmc -v $(VERSION) -k "$${k##*/}" --force); \
	done; [ "$$found" ] || { \
		echo "no kernel of this machine has headers: apt-get install linux-headers-amd64" >&2; \
		exit 1; }

dkms-uninstall:
	-dkms remove -m hwpmc -v $(VERSION) --all
	rm -rf $(DKMS_SRC)

.PHONY: module module-vm install-module install-module-files install-inkernel dkms-source dkms-install dkms-uninstall
