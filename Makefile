# SPDX-License-Identifier: GPL-3.0-or-later
# Lizard: `make` builds into build/; CONTRIBUTING.md names the rest.
# Each folder says in its own build.mk what it adds; order does not matter.

BUILD  ?= build
PREFIX ?= /usr/local
VERSION := 0.1.0

CC      ?= gcc
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
# A thread of ours has a stack of 1 MiB (common/base/thread.c), and one page behind it that faults.
WARN    += -Werror=frame-larger-than=131072 -fstack-clash-protection
CPPFLAGS += -D_GNU_SOURCE -DLIZARD_VERSION='"$(VERSION)"' -Iinclude -I.
# Distributions set PACKAGED=1: messages then name their packages instead of this Makefile.
CPPFLAGS += $(if $(PACKAGED),-DLIZARD_PACKAGED)
LDLIBS  := -lelf -ldw -lZydis -lz -lzstd -llz4 -ldeflate -lxxhash -lnettle -ljansson -lpthread
# Those of lizard itself. Packages have them all from the distribution, which mends them.
LINKED   = $(if $(PACKAGED)$(filter 1,$(SANITIZE)),$(LDLIBS),$(shell scripts/link-libs '$(CC)' $(LDLIBS)))
ifeq ($(SANITIZE),1)
override BUILD := $(patsubst %-san,%,$(BUILD))-san
CFLAGS  += -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined
LDFLAGS += -fsanitize=address,undefined
endif

BIN := $(BUILD)/bin
LIB := $(BUILD)/lib/lizard
SHARE := $(BUILD)/share
OBJ := $(BUILD)/obj
# What is built says nothing of the folder where it was built.
NO_FOLDER := -ffile-prefix-map=$(CURDIR)=.

all:

# One static library per folder, top to bottom; some folders have rooms.
FOLDERS := cmds replayer sysfake restorer tracer common
# replayer/gdb is compiled with GDB, cmds/loaded for objects that are loaded when they are used.
SOURCES  = $(filter-out replayer/gdb/% cmds/loaded/%,$(wildcard $(1)/*.c $(1)/*/*.c))
SRC     := $(foreach d,$(FOLDERS),$(call SOURCES,$(d)))
OBJS    := $(SRC:%.c=$(OBJ)/%.o)
ARCHIVE  = $(OBJ)/lib$(1).a

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(NO_FOLDER) $(WARN) -MMD -MP -c $< -o $@

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
TOOLS := lizard lizard-trace lizard-gdb lizard-cc lizard-c++
MAN   := $(sort $(wildcard docs/man/*.1))
install uninstall: export TO = $(DESTDIR)$(PREFIX)
install: all
	scripts/install-tree $(BIN) "$$TO/bin"
	scripts/install-tree $(LIB) "$$TO/lib/lizard"
	scripts/install-tree $(SHARE) "$$TO/share"
	scripts/install-tree $(BUILD)/include "$$TO/include"
	install -d -m 755 "$$TO/share/man/man1"
	install -m 644 $(MAN) "$$TO/share/man/man1"

# Folders that others use, too, stay.
uninstall:
	rm -rf "$$TO/lib/lizard" "$$TO/include/lizard.h"
	for tool in $(TOOLS); do rm -f "$$TO/bin/$$tool"; done
	rm -f "$$TO"/bin/lizard-gcc-[0-9]* "$$TO"/bin/lizard-g++-[0-9]*
	rm -f "$$TO"/share/man/man1/lizard-gcc-[0-9]* "$$TO"/share/man/man1/lizard-g++-[0-9]*
	for page in $(notdir $(MAN)) lizard-c++.1; do rm -f "$$TO/share/man/man1/$$page"; done
	for file in $(patsubst $(SHARE)/%,%,$(COMPLETION) $(COMPLETION_LINKS)); do rm -f "$$TO/share/$$file"; done

DIST := lizard-$(VERSION)
dist:
	@mkdir -p $(BUILD)
	git archive --format=tar.gz --prefix=$(DIST)/ -o $(BUILD)/$(DIST).tar.gz HEAD
	@echo '$(BUILD)/$(DIST).tar.gz'

# Debian packages of what is here; NO_GDB=1: without the patched GDB.
deb:
	@scripts/setup --deb
	@scripts/build-deb $(if $(NO_GDB),--no-gdb) $(BUILD)/deb

setup:
	@scripts/setup $(SETUP)
lint:
	@scripts/lint

clean:
	rm -rf $(BUILD) $(BUILD)-san

define HELP
make                build into $(BUILD)/ (BUILD=DIR: elsewhere), with a plugin for each GCC
                    that has plugin headers (GCC=14, GCC="13 14": for these only)
make gdb            build the patched GDB, too: some minutes, once
make setup          install the Debian packages that are missing (as root)
make install        install into PREFIX ($(PREFIX)), below DESTDIR if that is set
make uninstall      remove that again
make deb            build the Debian packages into $(BUILD)/deb (NO_GDB=1: without GDB)
make demo           record a real crash and walk back to its cause
make check          run every test (TESTS="...": these only)
make check-release  run the tests in a root of RELEASE=trixie (SMOKE=1: a few)
make check-deb      check the packages: twice the same, lintian, tests in a clean root
make check-long     run the long tests as well: hours
make lint           check style, layers, links and scripts
make bench          measure speed
make dist           write the sources that are committed to $(BUILD)/$(DIST).tar.gz
make clean          remove what was built
CONTRIBUTING.md says more.
endef
help: export HELP := $(HELP)
help:
	@echo "$$HELP"

.PHONY: all install uninstall dist deb setup lint clean help
