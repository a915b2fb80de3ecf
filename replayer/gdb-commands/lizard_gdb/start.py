# SPDX-License-Identifier: GPL-3.0-or-later
"""To the start of the recording, and from there to main."""
import gdb

from .moves import settle
from .places import carry_out, show_place
from .stops import Forward, Quiet, Silence
from .text import execute


def to_start():
    with Silence():
        carry_out(("seek", "start"))
    settle(False)


def to_main():
    """From the start to main; stays at the start of a program that has no main."""
    try:
        gdb.decode_line("main")
        point = gdb.Breakpoint("main", internal=True)
    except (gdb.error, RuntimeError):
        show_place()
        return
    point.silent = True
    try:
        with Quiet(), Forward():
            execute("continue")
    finally:
        if point.is_valid():
            point.delete()
    show_place()
