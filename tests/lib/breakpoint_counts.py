# SPDX-License-Identifier: GPL-3.0-or-later
"""Run by a plain GDB: prints "LINE COUNT" for each line of the file $SOURCE, as breakpoints on all of them count in a run with the
arguments $ARGUMENTS. $ONLY: these lines only."""
import os

import gdb

source = os.environ["SOURCE"]
with open(source) as text:
    lines = [int(n) for n in os.environ.get("ONLY", "").split()] or range(1, len(text.readlines()) + 1)
for setting in ("pagination off", "confirm off", "breakpoint pending off"):
    gdb.execute("set " + setting)
breakpoints = {}
for line in lines:
    try:
        breakpoints[line] = gdb.Breakpoint("%s:%d" % (os.path.basename(source), line))
    except gdb.error:
        continue
    breakpoints[line].ignore_count = 1 << 30
gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("run %s >/dev/null </dev/null" % os.environ.get("ARGUMENTS", ""), to_string=True)
for line, breakpoint in breakpoints.items():
    if not breakpoint.pending:
        print("COUNT %d %d" % (line, breakpoint.hit_count))
