# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions of breakpoints.

The server evaluates those that GDB can hand over, but not where GDB may have a breakpoint of its own at the same address, to
step or to finish: GDB would hand over the user's condition for that, too. Such breakpoints have no positive number.

Conditions and commands may call functions. GDB refuses calls while it runs backward; a recording's functions
run in a copy of the process, forward. So for the time of a move backward such a condition is replaced by one that asks
here. The patched GDB's target lets calls through by itself."""
import re

import gdb

from .handlers import listen
from .libraries import WATCHPOINTS
from .replay import inside
from .server import monitor
from .text import say

LOCATION = re.compile(r"^(-?\d+)(?:\.\d+)?\s.*?\b0x([0-9a-f]{8,})\b", re.M)  # in the list of breakpoints
CALL = re.compile(r"""[\w)\]]\s*\(|["]""")  # text between quotes is put into memory by a call
replaced = {}  # number -> (breakpoint, its condition, what stands for it)


class Setting:
    """What `set exec-direction` was set to when the present move began. GDB's direction at a stop is that of the move."""

    at_start = None
    heeding = "never"  # what the server was told


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


def with_conditions():
    """The numbers of the breakpoints that have one."""
    return {p.number for p in gdb.breakpoints() or () if p.enabled and p.condition and p.type not in WATCHPOINTS}


def heeding():
    """In which runs of the command that begins GDB wants no stop where a condition is false."""
    numbers = with_conditions()
    if not numbers:
        return "never"
    listed = [(int(n), int(at, 16)) for n, at in LOCATION.findall(gdb.execute("maintenance info breakpoints", to_string=True))]
    own = {at for number, at in listed if number <= 0 and number not in numbers}
    if any(at in own for number, at in listed if number in numbers):
        return "never"
    return "first" if any(number == 0 for number, at in listed) else "all"


def heed():
    """Tells the server."""
    runs = heeding()
    if runs == Setting.heeding == "never":
        return
    try:
        monitor("conditions " + runs)
        Setting.heeding = runs
    except gdb.GdbError:
        pass  # a live program


def on_resume(event):
    """A move begins. Calls are none."""
    restore()
    if inside():
        return
    heed()
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
    listen(gdb.events.cont, on_resume)
    listen(gdb.events.exited, lambda event: restore())
