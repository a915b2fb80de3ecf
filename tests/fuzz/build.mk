# SPDX-License-Identifier: GPL-3.0-or-later
# Tools of the fuzz tests: C files that the scripts tests/fuzz/*.t run.
FUZZ_TOOLS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/*.c))

$(BUILD)/tests/fuzz/%: tests/fuzz/%.c $(LIBS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(WARN) -MMD -MP -MF $@.d $< -Wl,--start-group $(LIBS) -Wl,--end-group $(LDLIBS) -o $@
-include $(FUZZ_TOOLS:%=%.d)

unit-tests: $(FUZZ_TOOLS)
