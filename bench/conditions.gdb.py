# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by lizard-gdb on a recording of visits, on each front end: what a breakpoint costs whose condition does not hold, for
# each hit, evaluated by GDB and where the process is. Lines that begin with BENCH are the result.
import gdb
import os
import time

HITS = int(os.environ["BENCH_HITS"])
ROUNDS = 5


def hit_us(move):
    """Between main and the end: the loading of libraries costs GDB more than some hits."""
    gdb.execute("jump_forward end" if move == "reverse-continue" else "jump_backward start", to_string=True)
    if move == "continue":
        gdb.execute("jump_forward main", to_string=True)
    start = time.monotonic()
    gdb.execute(move, to_string=True)
    return (time.monotonic() - start) * 1e6 / HITS


gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("jump_backward start", to_string=True)
gdb.execute("break visit if n == -1 && weights[0] == 1", to_string=True)
for where, rounds in (("target", ROUNDS), ("host", 1)):
    gdb.execute("set breakpoint condition-evaluation " + where)
    for move in ("continue", "reverse-continue"):
        us = sorted(hit_us(move) for _ in range(rounds))
        print("BENCH %-44s median %8.1f us a hit" % ("%s, a false condition, %s" % (move, where), us[len(us) // 2]), flush=True)
