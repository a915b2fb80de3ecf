# GDB's commands for recordings: found by lizard-gdb as ../lib/lizard/lizard.py.
$(LIB)/lizard.py: replayer/gdb-commands/lizard.py
	@mkdir -p $(@D)
	cp $< $@

all: $(LIB)/lizard.py
