# SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
# module.mk - `make module`: the module for KDIR=/lib/modules/RELEASE/build, which is the
# running kernel's if its headers are there. Without headers, and for `make module-vm`, it
# is the kernel that the test VMs boot (newest Debian 6.1), which is fetched. Installing it:
# for one kernel by kbuild, or for all of them by DKMS.

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

install-module: kdir = $(or $(KDIR),/lib/modules/$(shell uname -r)/build)
install-module:
	BUILD=$(BUILD) $(TOP)/scripts/kbuild $(kdir) $(BUILD)/kmod/install
	$(MAKE) -C $(kdir) M=$(BUILD)/kmod/install/kmod modules_install \
		$(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR))

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

.PHONY: module module-vm install-module dkms-source dkms-install dkms-uninstall
