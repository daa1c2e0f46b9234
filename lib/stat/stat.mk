# SPDX-License-Identifier: BSD-2-Clause
# stat.mk - libhwpmcstat: logs to processes, images and functions. A library of its
# own: it needs elfutils and zstd, which who only counts does not. The tools are
# linked with the static one.

# Until 1.0.0 a minor version may change the interface, so the soname has it.
STAT_ABI	:= $(basename $(VERSION))
STAT_SRC	:= $(sort $(wildcard $(TOP)/lib/stat/*.c $(TOP)/lib/unwind/*.c))
STAT_OBJ	:= $(patsubst $(TOP)/lib/%.c,$(LIB_DIR)/obj/%.o,$(STAT_SRC))
STAT_STATIC	:= $(LIB_DIR)/libhwpmcstat.a
STAT_SHARED	:= $(LIB_DIR)/libhwpmcstat.so
STAT_REAL	:= $(LIB_DIR)/libhwpmcstat.so.$(STAT_ABI).0
STAT_SONAME	:= libhwpmcstat.so.$(STAT_ABI)
STAT_LIBS	:= -ldw -lelf -lzstd -llzma -lz -liberty $(COVERAGE_LIBS)

lib: $(STAT_STATIC) $(STAT_SHARED) $(LIB_DIR)/libhwpmcstat.pc

# One object, whose inner names cannot meet those of a program.
$(STAT_STATIC): $(STAT_OBJ)
	@rm -f $@
	$(LD) -r -o $(LIB_DIR)/obj/libhwpmcstat.o $^
	objcopy --localize-hidden $(LIB_DIR)/obj/libhwpmcstat.o
	$(AR) rcs $@ $(LIB_DIR)/obj/libhwpmcstat.o

$(STAT_REAL): $(STAT_OBJ) $(LIB_SHARED) $(TOP)/lib/libhwpmcstat.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(STAT_SONAME) \
		-Wl,--version-script=$(TOP)/lib/libhwpmcstat.map -Wl,-z,defs \
		-o $@ $(STAT_OBJ) $(LIB_SHARED) $(STAT_LIBS)

$(STAT_SHARED): $(STAT_REAL)
	ln -sf $(notdir $(STAT_REAL)) $(LIB_DIR)/$(STAT_SONAME)
	ln -sf $(STAT_SONAME) $@

$(STAT_OBJ): LIB_CFLAGS += -I$(TOP)/lib/stat -D_GNU_SOURCE

install-stat: lib
	install -d $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir)
	install -m 644 $(STAT_STATIC) $(DESTDIR)$(libdir)
	install -m 755 $(STAT_REAL) $(DESTDIR)$(libdir)
	ln -sf $(notdir $(STAT_REAL)) $(DESTDIR)$(libdir)/$(STAT_SONAME)
	ln -sf $(STAT_SONAME) $(DESTDIR)$(libdir)/libhwpmcstat.so
	install -m 644 $(LIB_DIR)/libhwpmcstat.pc $(DESTDIR)$(libdir)/pkgconfig
	install -m 644 $(TOP)/lib/stat/libhwpmcstat.h $(DESTDIR)$(includedir)

install-lib: install-stat

-include $(STAT_OBJ:.o=.d)

.PHONY: install-stat
