# SPDX-License-Identifier: BSD-2-Clause
# stat.mk - libhwpmcstat: logs to processes, images and functions. A library of its
# own: it needs elfutils and zstd, which who only counts does not. Static for now,
# as its only users are the tools.

STAT_SRC	:= $(sort $(wildcard $(TOP)/lib/stat/*.c))
STAT_OBJ	:= $(patsubst $(TOP)/lib/%.c,$(LIB_DIR)/obj/%.o,$(STAT_SRC))
STAT_STATIC	:= $(LIB_DIR)/libhwpmcstat.a
STAT_LIBS	:= -ldw -lelf -lzstd -lz -liberty

lib: $(STAT_STATIC)

$(STAT_STATIC): $(STAT_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(STAT_OBJ): LIB_CFLAGS += -I$(TOP)/lib/stat -D_GNU_SOURCE

-include $(STAT_OBJ:.o=.d)
