# SPDX-License-Identifier: GPL-3.0-or-later
# GDB's commands for recordings: found by lizard-gdb as ../lib/lizard/lizard.py.
GDB_COMMANDS := $(patsubst replayer/gdb-commands/%,$(LIB)/%,$(wildcard replayer/gdb-commands/*.py replayer/gdb-commands/*/*.py replayer/gdb-commands/*/*/*.py))

$(GDB_COMMANDS): $(LIB)/%: replayer/gdb-commands/%
	@mkdir -p $(@D)
	cp $< $@

all: $(GDB_COMMANDS) $(LIB)/lizard_lldb.py

# LLDB's commands, which its user imports.
$(LIB)/lizard_lldb.py: replayer/lldb-commands/lizard_lldb.py
	@mkdir -p $(@D)
	cp $< $@

# The patched GDB, found by lizard-gdb as ../lib/lizard/gdb/bin/gdb. Takes minutes once, so nothing waits for it.
gdb:
	@scripts/setup --gdb
	@$(MAKE) --no-print-directory all
	@CFLAGS='$(CFLAGS)' scripts/build-gdb $(LIB) $(OBJ)

.PHONY: gdb
