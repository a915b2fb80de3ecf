# SPDX-License-Identifier: GPL-3.0-or-later
BENCH_ARGS ?=
bench:
	@scripts/setup
	@$(MAKE) --no-print-directory all
	@LIZARD_SRC='$(CURDIR)' LIZARD_BIN='$(abspath $(BIN))' LIZARD_BENCH_DIR='$(abspath $(BUILD))/bench' \
		python3 bench/bench.py $(BENCH_ARGS)
.PHONY: bench
