# SPDX-License-Identifier: BSD-2-Clause
# man.mk - manual pages: every page of this folder is installed in its section, and each
# function of sections 3 and 9 as a page that includes the one that describes it.

install-man:
	@for page in $(TOP)/man/*.[1-9]; do \
		dir=$(DESTDIR)$(prefix)/share/man/man$${page##*.}; \
		install -d $$dir && install -m 644 $$page $$dir || exit 1; \
	done
	@for page in $(TOP)/man/*.[39]; do \
		section=$${page##*.}; \
		dir=$(DESTDIR)$(prefix)/share/man/man$$section; \
		for name in $$($(TOP)/scripts/man-functions $$page); do \
			echo ".so man$$section/$${page##*/}" >$$dir/$$name.$$section && \
				chmod 644 $$dir/$$name.$$section || exit 1; \
		done || exit 1; \
	done

.PHONY: install-man
