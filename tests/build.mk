# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests (the `check` library) are C files tests/unit/NAME.c, one program each; end-to-end and
# fuzz tests are executable TAP scripts tests/{e2e,fuzz}/NAME.t. LIZARD_LONG=1 asks a test for
# its long version.
UNIT_SRC   := $(wildcard tests/unit/*.c)
UNIT_TESTS := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/unit/%)
# Further archives and objects that unit tests link with, from other folders' build.mk.
UNIT_LIBS  ?=

$(BUILD)/tests/unit/%: tests/unit/%.c $(LIBS) $$(UNIT_LIBS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) -DLIZARD_SOURCE='"$(CURDIR)"' $(CFLAGS) $(LDFLAGS) -Wall -Wextra -Wno-unused-parameter \
		-MMD -MP -MF $@.d $< $(UNIT_LIBS) -Wl,--start-group $(LIBS) -Wl,--end-group -lcheck -lsubunit -lm -lrt $(LDLIBS) -o $@
-include $(UNIT_TESTS:%=%.d)
$(BUILD)/tests/unit/test_failing_calls: LDFLAGS += $(foreach f,malloc calloc fdopendir copy_file_range pwrite ioctl,-Wl,--wrap=$(f))
$(BUILD)/tests/unit/test_fast_log $(BUILD)/tests/unit/test_fast_maps $(BUILD)/tests/unit/test_fast_hands: LDFLAGS += -Wl,--wrap=lz_writer_event,--wrap=lz_writer_keep,--wrap=lz_writer_file_part

unit-tests: $(UNIT_TESTS)

-include $(wildcard tests/*/build.mk)

# What goes through lizard-gdb runs on the patched GDB where that is built, and on a stock one as well.
ON_BOTH   := $(filter-out %/gdb-forward.t %/gdb-front-ends.t %/gdb-record.t %/gdb-reverse.t,$(sort $(wildcard tests/e2e/gdb-*.t tests/e2e/walk-*.t)))
STOCK_TOO  = $(if $(wildcard $(LIB)/gdb/bin/gdb),$(addprefix stock:,$(ON_BOTH)))
TESTS     ?= $(UNIT_TESTS) $(sort $(wildcard tests/e2e/*.t) $(wildcard tests/fuzz/*.t)) $(STOCK_TOO)
TEST_JOBS ?= 3 # of two CPUs: many tests wait half of their time
TEST_TMP  ?= $(abspath $(BUILD))/test-tmp
TEST_ENV   = LIZARD_SRC='$(CURDIR)' LIZARD_BUILD='$(abspath $(BUILD))' LIZARD_BIN='$(abspath $(BIN))' \
	LIZARD_TMP='$(TEST_TMP)' LIZARD_SANITIZE='$(SANITIZE)' $(addprefix LIZARD_GCC=,$(firstword $(GCC)))
# Leak reports are of no use in programs that exit at once. A test preloads a library of its own.
TEST_ENV  += ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:verify_asan_link_order=0 UBSAN_OPTIONS=print_stacktrace=1

# What was said to this make is not meant for those that tests run: TESTS= has a meaning for automake, too.
TEST_SH = unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL TESTS; $(TEST_ENV)

# Make reads some answers (the plugin's headers) while parsing: install first, then start afresh.
check check-long:
	@scripts/setup
	@$(MAKE) --no-print-directory all unit-tests
	@$(if $(filter 1,$(SANITIZE))$(filter command,$(origin TESTS)),,$(MAKE) --no-print-directory gdb)
	@$(MAKE) --no-print-directory run-$@
run-check: unit-tests
	@mkdir -p '$(TEST_TMP)'
	@$(TEST_SH) scripts/run-tests -j $(TEST_JOBS) $(addprefix --counts ,$(TEST_COUNTS)) $(TESTS)
run-check-long: unit-tests
	@mkdir -p '$(TEST_TMP)'
	@$(TEST_SH) LIZARD_LONG=1 scripts/run-tests -j $(TEST_JOBS) $(TESTS)

# In another Debian release: RELEASE=trixie; SMOKE=1: a few tests that take minutes; TESTS= chooses.
check-release:
	@$(if $(RELEASE),,echo 'make: name the release: make check-release RELEASE=trixie' >&2; exit 2)
	@scripts/check-release $(if $(SMOKE),--smoke) $(RELEASE) $(if $(filter command,$(origin TESTS)),$(TESTS))

# The Debian packages; NO_GDB=1: without that of the patched GDB.
check-deb:
	@scripts/setup --check-deb
	@scripts/check-deb $(if $(NO_GDB),--no-gdb)

.PHONY: unit-tests check-release check-deb check check-long run-check run-check-long
