# SPDX-License-Identifier: BSD-2-Clause
# lib.mk - libhwpmc, shared and static, with its headers as they are installed:
# build/lib/ and build/include/. Other parts compile with $(LIB_CFLAGS) and link
# with $(LIB_STATIC) (or $(LIB_SHARED)) and $(LIB_LIBS).

LIB_MAJOR	:= 1
LIB_DIR		:= $(BUILD)/lib
LIB_SRC		:= $(sort $(wildcard $(TOP)/lib/pmc/*.c $(TOP)/lib/event/*.c \
		     $(TOP)/lib/log/*.c $(TOP)/lib/freebsd/*.c))
LIB_OBJ		:= $(patsubst $(TOP)/lib/%.c,$(LIB_DIR)/obj/%.o,$(LIB_SRC))
LIB_CFLAGS	:= -I$(TOP)/include/uapi -I$(TOP)/lib/pmc -I$(TOP)/lib/log
LIB_LIBS	:= -ldl -ljansson -llzma -pthread $(COVERAGE_LIBS)
LIB_STATIC	:= $(LIB_DIR)/libhwpmc.a
LIB_SHARED	:= $(LIB_DIR)/libhwpmc.so
LIB_REAL	:= $(LIB_DIR)/libhwpmc.so.$(LIB_MAJOR).0.0
LIB_SONAME	:= libhwpmc.so.$(LIB_MAJOR)

# Where the tables of events are: of the prefix that is built for.
LIB_CFLAGS	+= -DHWPMC_DATADIR='"$(prefix)/share/hwpmc"'

libdir		?= $(prefix)/lib
includedir	?= $(prefix)/include

lib: $(LIB_STATIC) $(LIB_SHARED) $(LIB_DIR)/libhwpmc.pc \
	$(LIB_DIR)/libhwpmc-freebsd.pc

# Made anew where it differs, by a name of its own: several makes may be at work.
$(LIB_DIR)/prefix: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; echo '$(prefix)' > $$new; \
	if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi

$(LIB_DIR)/obj/event/tables.o: $(LIB_DIR)/prefix

$(LIB_DIR)/obj/%.o: $(TOP)/lib/%.c $(TOP)/lib/lib.mk
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) $(COVERAGE) $(WARN) -fPIC -fvisibility=hidden -pthread \
		$(LIB_CFLAGS) -I$(TOP)/lib/freebsd -MMD -MP -c -o $@ $<

$(LIB_STATIC): $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

# nodelete: threads that have mapped their page call it when they end, dlclose() or not.
$(LIB_REAL): $(LIB_OBJ) $(TOP)/lib/libhwpmc.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(LIB_SONAME) -Wl,-z,nodelete \
		-Wl,--version-script=$(TOP)/lib/libhwpmc.map -Wl,-z,defs \
		-o $@ $(LIB_OBJ) $(LIB_LIBS)

$(LIB_SHARED): $(LIB_REAL)
	ln -sf $(notdir $(LIB_REAL)) $(LIB_DIR)/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) $@

# The paths are those of the installed library: of this prefix, not of the one that was
# built with before, and below ${prefix} for pkg-config --define-prefix.
below_prefix = $(patsubst $(prefix)/%,$${prefix}/%,$(1))
$(LIB_DIR)/%.pc: $(TOP)/lib/%.pc.in $(TOP)/Makefile $(TOP)/lib/lib.mk FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; sed -e 's|@prefix@|$(prefix)|' -e 's|@libdir@|$(call below_prefix,$(libdir))|' \
		-e 's|@includedir@|$(call below_prefix,$(includedir))|' \
		-e 's|@VERSION@|$(VERSION)|' $< > $$new; \
	if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi

FORCE:

install-lib: lib
	install -d $(DESTDIR)$(libdir)/pkgconfig \
		$(DESTDIR)$(includedir)/hwpmc-freebsd/sys
	install -m 644 $(LIB_STATIC) $(DESTDIR)$(libdir)
	install -m 755 $(LIB_REAL) $(DESTDIR)$(libdir)
	ln -sf $(notdir $(LIB_REAL)) $(DESTDIR)$(libdir)/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) $(DESTDIR)$(libdir)/libhwpmc.so
	install -d $(DESTDIR)$(libdir)/hwpmc-freebsd
	ln -sf ../libhwpmc.so $(DESTDIR)$(libdir)/hwpmc-freebsd/libpmc.so
	ln -sf ../libhwpmc.a $(DESTDIR)$(libdir)/hwpmc-freebsd/libpmc.a
	install -m 644 $(LIB_DIR)/libhwpmc.pc $(LIB_DIR)/libhwpmc-freebsd.pc \
		$(DESTDIR)$(libdir)/pkgconfig
	install -m 644 $(TOP)/lib/pmc/libhwpmc.h $(TOP)/lib/pmc/hwpmc_mark.h $(TOP)/lib/log/libhwpmclog.h \
		$(TOP)/include/uapi/hwpmc.h $(TOP)/include/uapi/hwpmc_log.h \
		$(TOP)/include/uapi/hwpmc_unwind.h $(TOP)/include/uapi/hwpmc_target.h \
		$(DESTDIR)$(includedir)
	install -m 644 $(TOP)/lib/freebsd/pmc.h $(TOP)/lib/freebsd/pmclog.h \
		$(DESTDIR)$(includedir)/hwpmc-freebsd
	install -m 644 $(TOP)/lib/freebsd/sys/pmc.h \
		$(TOP)/lib/freebsd/sys/pmclog.h \
		$(DESTDIR)$(includedir)/hwpmc-freebsd/sys

-include $(LIB_OBJ:.o=.d)

.PHONY: lib install-lib FORCE
