# SPDX-License-Identifier: GPL-3.0-or-later
# What the tests of forged recordings run: forge makes them, watch-calls watches what replay does with them.
FORGE_DIR   := $(BUILD)/tests/forge
FORGE_TOOLS := $(FORGE_DIR)/forge $(FORGE_DIR)/watch-calls
WATCH_SRC   := $(wildcard tests/forge/watch*.c)
FORGE_SRC   := $(filter-out $(WATCH_SRC),$(wildcard tests/forge/*.c))

$(FORGE_DIR)/%.o: tests/forge/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c $< -o $@

$(FORGE_DIR)/forge: $(FORGE_SRC:%.c=$(BUILD)/%.o)
$(FORGE_DIR)/watch-calls: $(WATCH_SRC:%.c=$(BUILD)/%.o)
$(FORGE_TOOLS): $(LIBS)
	$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) -Wl,--start-group $(LIBS) -Wl,--end-group $(LDLIBS) -o $@
-include $(WATCH_SRC:%.c=$(BUILD)/%.d) $(FORGE_SRC:%.c=$(BUILD)/%.d)

unit-tests: $(FORGE_TOOLS)
