# SPDX-License-Identifier: GPL-3.0-or-later
demo:
	@scripts/setup
	@$(MAKE) --no-print-directory all
	@LIZARD_SRC='$(CURDIR)' LIZARD_BIN='$(abspath $(BIN))' demo/run.sh '$(abspath $(BUILD))/demo'

# README's picture
demo-flames: demo
	PATH='$(abspath $(BIN)):'"$$PATH" demo/flames.sh '$(BUILD)/demo/crash' >'$(BUILD)/demo/flames.svg'
	cp '$(BUILD)/demo/flames.svg' docs/flames.svg
.PHONY: demo demo-flames
