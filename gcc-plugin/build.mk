# SPDX-License-Identifier: GPL-3.0-or-later
# The GCC plugin, once for each GCC, its runtime, and the compiler drivers.
# GCC=14 (or "13 14"): for these only. Default: each GCC whose plugin headers are installed.
GCCS       := $(shell scripts/gccs $(GCC) 2>/dev/null)
GCC_VERSIONS := $(or $(GCC),$(foreach g,$(GCCS),$(firstword $(subst :, ,$(g)))))
PLUGIN_SRC := $(patsubst gcc-plugin/%.cc,%,$(wildcard gcc-plugin/*.cc))
PLUGIN_C   := $(OBJ)/gcc-plugin/cfg-graph.o $(OBJ)/gcc-plugin/cfg-graph_walk.o

$(OBJ)/gcc-plugin/cfg-%.o: common/cfg/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -fPIC -O2 -g $(NO_FOLDER) $(WARN) -Iinclude -MMD -MP -c $< -o $@

# $(1): version, gcc, g++, directory of the headers
define plugin_for
$(OBJ)/gcc-plugin/gcc-$(word 1,$(1))/%.o: gcc-plugin/%.cc
	@mkdir -p $$(@D)
	$(word 3,$(1)) -std=gnu++14 -fno-rtti -fno-exceptions -fPIC -O2 -g $(NO_FOLDER) -Wall -Wno-literal-suffix \
	  -DLIZARD_VERSION='"$(VERSION)"' -Iinclude -isystem $(word 4,$(1)) -MMD -MP -c $$< -o $$@

$(LIB)/gcc-$(word 1,$(1))/lizard_plugin.so: $(PLUGIN_SRC:%=$(OBJ)/gcc-plugin/gcc-$(word 1,$(1))/%.o) $(PLUGIN_C)
	@mkdir -p $$(@D)
	$(word 3,$(1)) -shared $$^ -o $$@
endef
$(foreach g,$(GCCS),$(eval $(call plugin_for,$(subst :, ,$(g)))))

$(LIB)/gcc-%/lizard_plugin.so:
	@echo 'make: no plugin headers of GCC $*: install gcc-$*, g++-$* and gcc-$*-plugin-dev' >&2; exit 1

RUNTIME_FLAGS := -std=gnu11 -O2 -g $(NO_FOLDER) -Wall -Wextra -Iinclude -fno-stack-protector -fcf-protection=none \
                 -fno-tree-loop-distribute-patterns -ffreestanding

$(LIB)/lizard-rt.o: gcc-plugin/runtime.c gcc-plugin/runtime.h include/lizard/marker.h
	@mkdir -p $(@D)
	$(CC) $(RUNTIME_FLAGS) -fPIE -c $< -o $@

$(LIB)/lizard-start.o: gcc-plugin/start.c gcc-plugin/runtime.h include/lizard/marker.h
	@mkdir -p $(@D)
	$(CC) $(RUNTIME_FLAGS) -Igcc-plugin -fPIE -mno-sse -c $< -o $@

$(LIB)/liblizard-rt.so: gcc-plugin/runtime.c gcc-plugin/runtime.h include/lizard/marker.h
	@mkdir -p $(@D)
	$(CC) $(RUNTIME_FLAGS) -fPIC -shared -nostdlib $< -o $@

LIZARD_CC_OBJ := $(patsubst %,$(OBJ)/gcc-plugin/%.o,lizard-cc cmdline compiler)
$(LIZARD_CC_OBJ): $(OBJ)/gcc-plugin/%.o: gcc-plugin/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(NO_FOLDER) $(WARN) -MMD -MP -c $< -o $@

$(BIN)/lizard-cc: $(LIZARD_CC_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

# lizard-gcc-14 and lizard-g++-14 take the GCC of their name.
DRIVERS := lizard-c++ $(foreach v,$(GCC_VERSIONS),lizard-gcc-$(v) lizard-g++-$(v))
$(DRIVERS:%=$(BIN)/%): $(BIN)/lizard-cc
	ln -sf lizard-cc $@

# For programs, which find it beside the tools.
HEADER := $(BUILD)/include/lizard.h
$(HEADER): include/lizard.h
	@mkdir -p $(@D)
	cp $< $@

# Their manual page is lizard-cc's.
DRIVER_PAGES := $(DRIVERS:%=$(SHARE)/man/man1/%.1)
$(DRIVER_PAGES):
	@mkdir -p $(@D)
	echo '.so man1/lizard-cc.1' >$@

PLUGIN_ALL := $(or $(GCC_VERSIONS:%=$(LIB)/gcc-%/lizard_plugin.so),no-gcc) $(LIB)/lizard-rt.o $(LIB)/lizard-start.o \
              $(LIB)/liblizard-rt.so $(BIN)/lizard-cc $(DRIVERS:%=$(BIN)/%) $(DRIVER_PAGES) $(HEADER)
plugin: $(PLUGIN_ALL)
all: $(PLUGIN_ALL)
no-gcc:
	@echo 'make: no GCC with plugin headers is installed: `make setup` installs them for the system'"'"'s' >&2; exit 1
.PHONY: plugin no-gcc

-include $(wildcard $(OBJ)/gcc-plugin/*.d $(OBJ)/gcc-plugin/*/*.d)

# All of GCC's torture programs at four levels in checking mode: about an hour on two cores.
check-torture: plugin
	LIZARD_BIN=$(BIN) LIZARD_GCC=$(firstword $(GCC)) tests/torture/run -j 2
.PHONY: check-torture
