# SPDX-License-Identifier: GPL-3.0-or-later
# What is copied into the program uses nothing that is not copied with it.
$(patsubst %.c,$(OBJ)/%.o,$(wildcard tracer/stub/*.c)): override CFLAGS := -O2 -g -fPIC -ffreestanding -mgeneral-regs-only \
	-fno-stack-protector -fcf-protection=none -fno-jump-tables -fno-tree-loop-distribute-patterns \
	-fno-asynchronous-unwind-tables
