# SPDX-License-Identifier: BSD-2-Clause
# Makefile - the human entry. Each folder brings its own rules as a .mk file;
# everything that is made goes to build/, nothing into the source folders.

TOP	:= $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
BUILD	:= $(TOP)/build
VERSION	:= 0.1.0

CC	?= gcc
CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	   -Wpointer-arith -Wno-unused-parameter -Wno-sign-compare
prefix	?= /usr
DESTDIR	?=

all: module lib tools

include $(wildcard $(TOP)/kmod/module.mk $(TOP)/lib/lib.mk $(TOP)/tools/tools.mk \
	$(TOP)/man/man.mk $(TOP)/tests/tests.mk $(TOP)/tests/vm/vm.mk \
	$(TOP)/tests/vpmu/vpmu.mk $(TOP)/tests/bench/bench.mk)

clean:
	rm -rf $(BUILD)

.PHONY: all module lib tools clean
.DEFAULT_GOAL := all
