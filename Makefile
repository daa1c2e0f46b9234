# SPDX-License-Identifier: BSD-2-Clause
# Makefile - the human entry; `make help` lists what it can do. Each folder
# brings its own rules as a .mk file; everything that is made goes to build/,
# nothing into the source folders.

TOP	:= $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
BUILD	:= $(TOP)/build
VERSION	:= 0.1.0

CC	?= gcc
CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	   -Wpointer-arith -Wno-unused-parameter -Wno-sign-compare \
	   -Werror=int-conversion -Werror=incompatible-pointer-types \
	   -Werror=implicit-function-declaration
# Of unit tests; and of library, tools and unit tests where `make coverage` builds
# them: --coverage, in place of the sanitizers.
SANITIZE	:= -fsanitize=address,undefined,float-cast-overflow \
		   -fno-sanitize-recover=all
COVERAGE	:=
COVERAGE_LIBS	:= $(if $(COVERAGE),-lgcov)
prefix	?= /usr/local
DESTDIR	?=

all: module lib tools

include $(wildcard $(TOP)/data/data.mk $(TOP)/kmod/module.mk $(TOP)/lib/lib.mk $(TOP)/lib/stat/stat.mk $(TOP)/tools/tools.mk \
	$(TOP)/man/man.mk $(TOP)/system/system.mk $(TOP)/tests/tests.mk $(TOP)/tests/vm/vm.mk \
	$(TOP)/tests/vpmu/vpmu.mk $(TOP)/tests/bench/bench.mk \
	$(TOP)/tests/demo/demo.mk $(TOP)/tests/export/export.mk \
	$(TOP)/tests/coverage/coverage.mk $(TOP)/tests/mutants/mutants.mk $(TOP)/tests/vm/debug/faults.mk)

# The rest of the tree: what library, tools, manual pages and services put into place, and
# what other modules are built with.
install: install-lib install-tools install-man install-system install-data install-inkernel

# Removes every file that install would put there, then those of its own folders that are
# empty, and nothing else.
uninstall:
	@mkdir -p $(BUILD); staged=$$(mktemp -d $(BUILD)/uninstall.XXXXXX) || exit 1; \
	trap 'rm -rf "$$staged"' EXIT; \
	$(MAKE) -s install DESTDIR="$$staged" >/dev/null && cd "$$staged" || exit 1; \
	find . ! -type d | while read -r file; do rm -fv "$(DESTDIR)/$${file#./}"; done; \
	find . -depth -type d -path '*/hwpmc*' | while read -r dir; do \
		[ ! -d "$(DESTDIR)/$${dir#./}" ] || \
			rmdir --ignore-fail-on-non-empty "$(DESTDIR)/$${dir#./}" || exit 1; \
	done

# The release's tarball: the same commit gives the same bytes.
dist:
	@$(TOP)/scripts/dist $(BUILD)/dist

help:
	@cat $(TOP)/scripts/help.txt

clean:
	rm -rf $(BUILD)

.PHONY: all module lib tools install install-lib install-tools install-man \
	install-system install-data uninstall dist help clean
.DEFAULT_GOAL := all
