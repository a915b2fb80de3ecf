# SPDX-License-Identifier: GPL-3.0-or-later
# GDB's own tests on Lizard: minutes, a nightly target. Not part of `make check`.
check-gdb-testsuite:
	@scripts/setup --gdb-testsuite
	@$(MAKE) --no-print-directory all gdb
	@rc=0; export LIZARD_BIN='$(abspath $(BIN))'; \
	tests/gdb-testsuite/run || rc=1; \
	tests/gdb-testsuite/run --list tests/gdb-testsuite/base.list --against stock || rc=1; \
	tests/gdb-testsuite/run --against none gdb.lizard/lizard-commands.exp || rc=1; \
	exit $$rc

.PHONY: check-gdb-testsuite
