# SPDX-License-Identifier: GPL-3.0-or-later
# The multi-call program `lizard` and its well-known names.
$(BIN)/lizard: $(OBJ)/libcmds.a $(LIBS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--start-group $(OBJ)/libcmds.a $(LIBS) -Wl,--end-group $(LDLIBS) -larchive -o $@

$(BIN)/lizard-trace $(BIN)/lizard-gdb: $(BIN)/lizard
	ln -sf lizard $@

all: $(BIN)/lizard $(BIN)/lizard-trace $(BIN)/lizard-gdb
