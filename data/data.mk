# SPDX-License-Identifier: BSD-2-Clause
# data.mk - tables of events, where the library looks for them.

EVENTS_DATA := $(wildcard $(TOP)/data/events/*.tsv.xz) $(TOP)/data/events/intel-models.tsv \
	$(TOP)/data/events/LICENSE.txt

install-data:
	install -d $(DESTDIR)$(prefix)/share/hwpmc/events
	install -m 644 $(EVENTS_DATA) $(DESTDIR)$(prefix)/share/hwpmc/events

.PHONY: install-data
