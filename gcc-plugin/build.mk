# SPDX-License-Identifier: GPL-3.0-or-later
# The GCC plugin, its runtime, and the compiler drivers.
HOSTCXX    := g++-12
PLUGIN_INC := $(shell $(HOSTCC) -print-file-name=plugin)/include
PLUGIN_OBJ := $(patsubst gcc-plugin/%.cc,$(OBJ)/gcc-plugin/%.o,$(wildcard gcc-plugin/*.cc)) \
              $(OBJ)/gcc-plugin/common-graph.o $(OBJ)/gcc-plugin/common-graph_walk.o

$(OBJ)/gcc-plugin/%.o: gcc-plugin/%.cc
	@mkdir -p $(@D)
	$(HOSTCXX) -std=gnu++14 -fno-rtti -fno-exceptions -fPIC -O2 -g $(NO_FOLDER) -Wall -Wno-literal-suffix \
	  -DLIZARD_VERSION='"$(VERSION)"' -Iinclude -isystem $(PLUGIN_INC) -MMD -MP -c $< -o $@

$(OBJ)/gcc-plugin/common-%.o: common/%.c
	@mkdir -p $(@D)
	$(HOSTCC) -std=gnu11 -fPIC -O2 -g $(NO_FOLDER) $(WARN) -Iinclude -MMD -MP -c $< -o $@

$(LIB)/lizard_plugin.so: $(PLUGIN_OBJ)
	@mkdir -p $(@D)
	$(HOSTCXX) -shared $^ -o $@

RUNTIME_FLAGS := -std=gnu11 -O2 -g $(NO_FOLDER) -Wall -Wextra -Iinclude -fno-stack-protector -fcf-protection=none \
                 -fno-tree-loop-distribute-patterns -ffreestanding

$(LIB)/lizard-rt.o: gcc-plugin/runtime.c gcc-plugin/runtime.h include/lizard/marker.h
	@mkdir -p $(@D)
	$(HOSTCC) $(RUNTIME_FLAGS) -fPIE -c $< -o $@

$(LIB)/lizard-start.o: gcc-plugin/start.c gcc-plugin/runtime.h include/lizard/marker.h
	@mkdir -p $(@D)
	$(HOSTCC) $(RUNTIME_FLAGS) -Igcc-plugin -fPIE -mno-sse -c $< -o $@

$(LIB)/liblizard-rt.so: gcc-plugin/runtime.c gcc-plugin/runtime.h include/lizard/marker.h
	@mkdir -p $(@D)
	$(HOSTCC) $(RUNTIME_FLAGS) -fPIC -shared -nostdlib $< -o $@

LIZARD_CC_OBJ := $(OBJ)/gcc-plugin/lizard-cc.o $(OBJ)/gcc-plugin/cmdline.o
$(LIZARD_CC_OBJ): $(OBJ)/gcc-plugin/%.o: gcc-plugin/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(NO_FOLDER) $(WARN) -MMD -MP -c $< -o $@

$(BIN)/lizard-cc: $(LIZARD_CC_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

$(BIN)/lizard-c++: $(BIN)/lizard-cc
	ln -sf lizard-cc $@

PLUGIN_ALL := $(LIB)/lizard_plugin.so $(LIB)/lizard-rt.o $(LIB)/lizard-start.o $(LIB)/liblizard-rt.so \
              $(BIN)/lizard-cc $(BIN)/lizard-c++
plugin: $(PLUGIN_ALL)
all: $(PLUGIN_ALL)
.PHONY: plugin

-include $(wildcard $(OBJ)/gcc-plugin/*.d)

# All of GCC's torture programs at four levels in checking mode: about an hour on two cores.
check-torture: plugin
	LIZARD_BIN=$(BIN) tests/torture/run -j 2
.PHONY: check-torture
