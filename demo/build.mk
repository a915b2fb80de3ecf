# SPDX-License-Identifier: GPL-3.0-or-later
demo:
	@scripts/setup
	@$(MAKE) --no-print-directory all
	@LIZARD_SRC='$(CURDIR)' LIZARD_BIN='$(abspath $(BIN))' demo/run.sh '$(abspath $(BUILD))/demo'
.PHONY: demo
