# GDB's own tests on Lizard: minutes, a nightly target. Not part of `make check`.
check-gdb-testsuite:
	@scripts/setup --gdb-testsuite
	@$(MAKE) --no-print-directory all gdb
	@LIZARD_BIN='$(abspath $(BIN))' tests/gdb-testsuite/run
	@LIZARD_BIN='$(abspath $(BIN))' tests/gdb-testsuite/run --list tests/gdb-testsuite/base.list --against stock

.PHONY: check-gdb-testsuite
