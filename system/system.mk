# SPDX-License-Identifier: BSD-2-Clause
# system.mk - what the system's services read: udev's rule and the group of the device,
# and the examples for an administrator to copy.

docdir	?= $(prefix)/share/doc/hwpmc

install-system:
	install -D -m 644 $(TOP)/system/60-hwpmc.rules \
		$(DESTDIR)$(prefix)/lib/udev/rules.d/60-hwpmc.rules
	install -D -m 644 $(TOP)/system/hwpmc.conf $(DESTDIR)$(prefix)/lib/sysusers.d/hwpmc.conf
	for dir in modprobe.d modules-load.d sysctl.d; do \
		install -D -m 644 $(TOP)/doc/examples/$$dir/hwpmc.conf \
			$(DESTDIR)$(docdir)/examples/$$dir/hwpmc.conf || exit 1; \
	done

.PHONY: install-system
