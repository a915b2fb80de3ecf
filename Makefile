# SPDX-License-Identifier: GPL-3.0-or-later
# Lizard: `make` builds into build/; CONTRIBUTING.md names the rest.
# Each folder says in its own build.mk what it adds; order does not matter.

BUILD  ?= build
PREFIX ?= /usr/local
VERSION := 0.1.0

CC      ?= gcc
HOSTCC  := gcc-12
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
CPPFLAGS += -D_GNU_SOURCE -DLIZARD_VERSION='"$(VERSION)"' -Iinclude -I.
LDLIBS  := -lelf -ldw -lZydis -lz -lzstd -llz4 -ljansson -lpthread
ifeq ($(SANITIZE),1)
override BUILD := $(patsubst %-san,%,$(BUILD))-san
CFLAGS  += -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined
LDFLAGS += -fsanitize=address,undefined
endif

BIN := $(BUILD)/bin
LIB := $(BUILD)/lib/lizard
OBJ := $(BUILD)/obj

all:

# One static library per folder, top to bottom; some folders have rooms.
FOLDERS := cmds replayer sysfake restorer tracer common
# replayer/gdb is compiled with GDB.
SOURCES  = $(filter-out replayer/gdb/%,$(wildcard $(1)/*.c $(1)/*/*.c))
SRC     := $(foreach d,$(FOLDERS),$(call SOURCES,$(d)))
OBJS    := $(SRC:%.c=$(OBJ)/%.o)
ARCHIVE  = $(OBJ)/lib$(1).a

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c $< -o $@

define folder_archive
$(OBJ)/lib$(1).a: $(patsubst %.c,$(OBJ)/%.o,$(call SOURCES,$(1)))
	@rm -f $$@
	ar qcs $$@ $$^
endef
$(foreach d,$(FOLDERS),$(eval $(call folder_archive,$(d))))

LIBS := $(foreach d,$(filter-out cmds,$(FOLDERS)),$(OBJ)/lib$(d).a)

.SECONDEXPANSION:
include $(wildcard */build.mk)
-include $(OBJS:.o=.d)

# The tools find their parts in ../lib/lizard beside their own folder, so what is in the build
# directory runs as it is and is installed as it is.
MAN := $(wildcard docs/man/*.1)
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/lizard $(DESTDIR)$(PREFIX)/share/man/man1
	cp -PR --preserve=mode,links $(BIN)/. $(DESTDIR)$(PREFIX)/bin/
	cp -PR --preserve=mode,links $(LIB)/. $(DESTDIR)$(PREFIX)/lib/lizard/
	find $(DESTDIR)$(PREFIX)/lib/lizard -name __pycache__ -prune -exec rm -r {} +
	$(if $(MAN),install -m 644 $(MAN) $(DESTDIR)$(PREFIX)/share/man/man1/)

setup:
	@scripts/setup
lint:
	@scripts/lint

clean:
	rm -rf $(BUILD) $(BUILD)-san

.PHONY: all install setup lint clean
