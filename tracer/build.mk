# SPDX-License-Identifier: GPL-3.0-or-later
# What is copied into the program uses nothing that is not copied with it.
$(OBJ)/tracer/stub/stub.o $(OBJ)/tracer/stub/insns.o $(OBJ)/tracer/stub/try.o $(OBJ)/tracer/stub/wait.o: override CFLAGS := -O2 -g -fPIC -ffreestanding -mgeneral-regs-only \
	-fno-stack-protector -fcf-protection=none -fno-jump-tables -fno-tree-loop-distribute-patterns \
	-fno-asynchronous-unwind-tables
