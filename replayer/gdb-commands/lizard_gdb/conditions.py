# SPDX-License-Identifier: GPL-3.0-or-later
"""Breakpoints whose conditions or commands call functions. GDB refuses calls while it runs backward; a recording's functions
run in a copy of the process, forward. So for the time of a move backward such a condition is replaced by one that asks
here. The patched GDB's target lets calls through by itself."""
import re

import gdb

from .libraries import WATCHPOINTS
from .replay import inside
from .server import uninterrupted
from .text import say

CALL = re.compile(r"""[\w)\]]\s*\(|["]""")  # text between quotes is put into memory by a call
replaced = {}  # number -> (breakpoint, its condition, what stands for it)


class Setting:
    """What `set exec-direction` was set to when the present move began. GDB's direction at a stop is that of the move."""

    at_start = None


def set_direction(direction):
    """As for any command that Python executes, GDB first carries out those of the breakpoint that it has stopped at."""
    gdb.execute("set exec-direction " + direction)


def goes_backward():
    return gdb.execute("show exec-direction", to_string=True).startswith("Reverse")


class Condition(gdb.Function):
    """The value of breakpoint NUMBER's own condition."""

    def __init__(self):
        super().__init__("_lizard_condition")

    def invoke(self, number):
        own = replaced[int(number)][1]
        backward = goes_backward()
        try:
            if backward:
                set_direction("forward")
            value = gdb.parse_and_eval(own)
            value.fetch_lazy()
            return value
        except gdb.error as e:
            raise gdb.GdbError(str(e))
        except KeyboardInterrupt:
            raise gdb.GdbError("Quit")
        finally:
            if backward:
                set_direction("reverse")


@uninterrupted
def on_resume(event):
    """A move begins. Calls are none."""
    restore()
    if inside():
        return
    Setting.at_start = gdb.parameter("exec-direction")
    if goes_backward():
        for point in gdb.breakpoints() or ():
            if point.enabled and point.condition and CALL.search(point.condition) and point.type not in WATCHPOINTS:
                replace(point)


def replace(point):
    """The condition stays in the new one, so that it is valid at the same locations."""
    own = point.condition
    try:
        point.condition = "1 ? $_lizard_condition(%d) : (%s)" % (point.number, own)
        replaced[point.number] = point, own, point.condition
    except gdb.error:
        pass  # valid nowhere


@uninterrupted
def restore():
    """The breakpoints have their own conditions again."""
    for point, own, other in replaced.values():
        if point.is_valid() and point.condition == other:
            point.condition = own
    replaced.clear()


def end_move():
    """What follows may call, too: the commands of the breakpoint that was hit."""
    restore()
    if Setting.at_start is None:
        return
    setting, Setting.at_start = Setting.at_start, None
    try:
        set_direction("forward")
    except gdb.error as e:
        say("%s\n" % e, gdb.STDERR)
    if setting == "reverse":
        set_direction("reverse")


def define():
    Condition()
    gdb.events.cont.connect(on_resume)
    gdb.events.exited.connect(lambda event: restore())
