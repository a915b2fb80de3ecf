# SPDX-License-Identifier: GPL-3.0-or-later
# The multi-call program `lizard` and its well-known names.
# Bound at once: each tracer of a followed process is forked, and would find the libraries' functions anew.
$(BIN)/lizard: $(OBJ)/libcmds.a $(LIBS) scripts/link-libs
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,now -Wl,--start-group $(OBJ)/libcmds.a $(LIBS) -Wl,--end-group $(LINKED) -o $@

# libarchive brings ten more libraries, so it is loaded when it is used.
$(LIB)/lizard_archive.so: cmds/loaded/archive_table.c cmds/pack/archive.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(NO_FOLDER) $(WARN) -fPIC -shared $(LDFLAGS) $< -larchive -o $@

all: $(LIB)/lizard_archive.so

$(BIN)/lizard-trace $(BIN)/lizard-gdb: $(BIN)/lizard
	ln -sf lizard $@

all: $(BIN)/lizard $(BIN)/lizard-trace $(BIN)/lizard-gdb

# Completion for shells, where they look for it below PREFIX/share.
COMPLETION := $(SHARE)/bash-completion/completions/lizard $(SHARE)/zsh/site-functions/_lizard $(SHARE)/fish/vendor_completions.d/lizard.fish
$(SHARE)/bash-completion/completions/lizard: SHELL_NAME := bash
$(SHARE)/zsh/site-functions/_lizard: SHELL_NAME := zsh
$(SHARE)/fish/vendor_completions.d/lizard.fish: SHELL_NAME := fish
$(COMPLETION): $(BIN)/lizard scripts/make-completion
	@mkdir -p $(@D)
	scripts/make-completion $(SHELL_NAME) $(BIN)/lizard >$@.tmp
	mv $@.tmp $@

# bash and fish look for a file of each command's name.
COMPLETION_LINKS := $(foreach tool,lizard-trace lizard-gdb,$(SHARE)/bash-completion/completions/$(tool) $(SHARE)/fish/vendor_completions.d/$(tool).fish)
$(COMPLETION_LINKS): $$(@D)/lizard$$(suffix $$@)
	ln -sf lizard$(suffix $@) $@

all: $(COMPLETION) $(COMPLETION_LINKS)
