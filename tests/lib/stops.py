# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves in lizard-gdb, printed: a line for each stop with what came before, function, line and position."""
import gdb


def walk(command, times):
    for _ in range(times):
        try:
            gdb.execute(command, to_string=True)
            frame = gdb.selected_frame()
            where = gdb.execute("when", to_string=True).split("position")[1].strip()
            print("stop", command, frame.name(), frame.find_sal().line, where, flush=True)
        except gdb.error as e:
            print("stop", command, "failed:", e, flush=True)
            break


gdb.execute("set pagination off")
