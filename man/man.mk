# SPDX-License-Identifier: BSD-2-Clause
# man.mk - manual pages: every page of this folder is installed in its section.

install-man:
	@for page in $(TOP)/man/*.[1-9]; do \
		dir=$(DESTDIR)$(prefix)/share/man/man$${page##*.}; \
		install -d $$dir && install -m 644 $$page $$dir || exit 1; \
	done

.PHONY: install-man
