# SPDX-License-Identifier: BSD-2-Clause
# system.mk - what the system's services read: udev's rule and the group of the device, units,
# and the examples for an administrator to copy.

unitdir	?= $(prefix)/lib/systemd/system
UNITS	:= $(patsubst $(TOP)/system/%.service.in,%,$(wildcard $(TOP)/system/*.service.in))
docdir	?= $(prefix)/share/doc/hwpmc

install-system:
	install -D -m 644 $(TOP)/system/60-hwpmc.rules \
		$(DESTDIR)$(prefix)/lib/udev/rules.d/60-hwpmc.rules
	install -D -m 644 $(TOP)/system/hwpmc.conf $(DESTDIR)$(prefix)/lib/sysusers.d/hwpmc.conf
	for dir in modprobe.d modules-load.d sysctl.d; do \
		install -D -m 644 $(TOP)/doc/examples/$$dir/hwpmc.conf \
			$(DESTDIR)$(docdir)/examples/$$dir/hwpmc.conf || exit 1; \
	done
	install -d $(DESTDIR)$(unitdir)
	for unit in $(UNITS); do \
		sed 's,@bindir@,$(prefix)/bin,' $(TOP)/system/$$unit.service.in \
			>$(DESTDIR)$(unitdir)/$$unit.service || exit 1; \
		chmod 644 $(DESTDIR)$(unitdir)/$$unit.service; \
	done

.PHONY: install-system
