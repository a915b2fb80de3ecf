# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by lizard-gdb on a recording of far, on each front end: the last store to a variable that lies far back.
# `reverse_watchpoint` runs all that lies between; `last` asks what the compiler knows. Lines that begin with BENCH are the
# result.
import gdb
import os
import time

HERE = os.environ["BENCH_HERE"]


def ms(command):
    gdb.execute("jump_forward end", to_string=True)
    gdb.execute("jump_backward " + HERE, to_string=True)
    start = time.monotonic()
    try:
        gdb.execute(command, to_string=True)
    except gdb.error:
        pass  # nothing lies before
    return (time.monotonic() - start) * 1000


gdb.execute("set pagination off")
gdb.execute("set confirm off")
for what, variable in (("a static variable", "set_once"), ("a global one", "global_set_once"), ("one never stored to", "never_set"),
                       ("a local one, in one round of many", "in_one_round"), ("a parameter", "n")):
    last, change = ms("last " + variable), ms("reverse_watchpoint " + variable)
    print(f"BENCH {what:36} last {last:8.1f} ms, reverse_watchpoint {change:8.1f} ms", flush=True)
