# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints where step and next lead, forwards, from some places of a recording: each place twice, as what a front end keeps from the
first time must not show the second.

Parameters, in the environment: FORWARD_N, how many steps from each place (default 15)."""
import os

import gdb

N = int(os.environ.get("FORWARD_N", "15"))


def position():
    text = gdb.execute("monitor when", to_string=True)
    return next(line for line in text.splitlines() if line.startswith("position="))


for percent in (35, 50, 65, 80, 95):
    for time in (1, 2):
        for command in ("next", "step"):
            gdb.execute("jump_forward %d%%" % percent, to_string=True)
            for _ in range(N):
                gdb.execute(command, to_string=True)
                line = gdb.newest_frame().find_sal().line
                print("%d%% %d %s %s line %d" % (percent, time, command, position(), line))
