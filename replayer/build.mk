# SPDX-License-Identifier: GPL-3.0-or-later
# What is copied into the replayed process uses nothing that is not copied with it.
$(OBJ)/replayer/stub/stub.o: override CFLAGS := -O2 -g -fPIC -ffreestanding -mgeneral-regs-only \
	-fno-stack-protector -mno-red-zone -fcf-protection=none -fno-jump-tables -fno-tree-loop-distribute-patterns \
	-fno-asynchronous-unwind-tables -fomit-frame-pointer \
	-ffixed-rbx -ffixed-rbp -ffixed-r12 -ffixed-r13 -ffixed-r14 -ffixed-r15

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
