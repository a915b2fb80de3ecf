# SPDX-License-Identifier: GPL-3.0-or-later
"""The present place, as GDB shows it."""
import contextlib
import os
import re

import gdb

from .replay import _lizard, inside, replay
from .stops import Forward, LastStop, Silence
from .text import printed, say

MI = os.environ.pop("LIZARD_GDB_MI", None) is not None


class Places:
    """Whether they are printed."""

    shown = True

    @classmethod
    @contextlib.contextmanager
    def hidden(cls):
        cls.shown = False
        try:
            yield
        finally:
            cls.shown = True


def newest(command):
    """COMMAND on the newest frame, without that frame's number."""
    gdb.newest_frame().select()  # a command that changes the frame does not print it into the string
    return re.sub(r"^#0 +", "", printed(command))


def place():
    """The frame line and the source line."""
    return newest("frame 0")


def location():
    """The frame line only."""
    return newest("with print frame-info location -- frame 0").splitlines()[0]


def as_after_step(old):
    """How GDB shows the present place after a step that began in frame OLD."""
    text = place()
    if gdb.newest_frame() != old or "\n" not in text.rstrip("\n"):
        return text
    header, line = text.split("\n", 1)
    middle = re.match(r"(0x[0-9a-f]+) in ", header)
    return middle.group(1) + "\t" + line if middle else line


def print_place(stepped_from=None):
    """Shows the present place, as after a step that began in frame STEPPED_FROM."""
    if not Places.shown:
        return
    if inside():
        _lizard.print_place(gdb.newest_frame() == stepped_from)
    else:
        say(as_after_step(stepped_from))


def show_displays():
    """What `display` shows at each stop."""
    if Places.shown:
        gdb.execute("display")


def carry_out(move, silent=False):
    """Carries out a move. It is armed first: what comes between would leave it to the next resume."""
    replay().arm(*move)
    begin = replay().now().get("crosses")
    if begin:
        execute_program(begin)
        replay().arm(*move)
    with Forward():
        LastStop.event = None
        (printed if silent else gdb.execute)("reverse-stepi")


def execute_program(begin):
    """To the position BEGIN, where another program begins. GDB goes on by itself once it knows the program, and is to
    stop there."""
    point = gdb.Breakpoint("*" + begin[begin.index("@") + 1 : begin.index("#")], internal=True)
    point.silent = True
    replay().arm("seek", begin)
    try:
        with Silence(), Forward():
            gdb.execute("reverse-continue")
    finally:
        if point.is_valid():
            point.delete()


def show_place():
    """After a stop that was not shown. A machine interface wants a stop of its own kind."""
    if MI:
        carry_out(("seek", "here"))
    else:
        print_place()
        show_displays()
