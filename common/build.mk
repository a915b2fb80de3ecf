# SPDX-License-Identifier: GPL-3.0-or-later
# The vDSO of recorded programs, as a part of common/process/vdso.c.
VDSO := $(OBJ)/common/process/image/vdso.so
$(VDSO): common/process/image/vdso.S common/process/image/vdso.lds
	@mkdir -p $(@D)
	$(CC) -nostdlib -shared -s $(NO_FOLDER) -Wl,-soname,linux-vdso.so.1,--hash-style=both,--build-id=none \
		-Wl,--eh-frame-hdr,-z,max-page-size=4096,-T,common/process/image/vdso.lds $< -o $@
$(OBJ)/common/process/vdso.o: $(VDSO)
$(OBJ)/common/process/vdso.o: override CFLAGS += -Wa,-I$(dir $(VDSO))
