# SPDX-License-Identifier: GPL-3.0-or-later
"""Run by a plain GDB: prints "LINE COUNT" for each line of the file $SOURCE, as breakpoints on all of them count in a run with the
arguments $ARGUMENTS. $ONLY: these lines only."""
import os

import gdb

source = os.environ["SOURCE"]
with open(source) as text:
    last = len(text.readlines())
only = [int(n) for n in os.environ.get("ONLY", "").split()]
for setting in ("pagination off", "confirm off", "breakpoint pending off"):
    gdb.execute("set " + setting)


def breakpoint_at(line):
    try:
        point = gdb.Breakpoint("%s:%d" % (os.path.basename(source), line))
    except gdb.error:
        return None
    if point.pending:
        point.delete()
        return None
    return point


breakpoints = {}
for line in only or range(1, last + 1):
    point = breakpoint_at(line)
    # GDB 16 refuses a line before a function, for which GDB 13 takes the function's.
    later = line
    while only and not point and later < last:
        later += 1
        point = breakpoint_at(later)
    if point:
        breakpoints[line] = point
        point.ignore_count = 1 << 30
gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("run %s >/dev/null </dev/null" % os.environ.get("ARGUMENTS", ""), to_string=True)
for line, breakpoint in breakpoints.items():
    print("COUNT %d %d" % (line, breakpoint.hit_count))
