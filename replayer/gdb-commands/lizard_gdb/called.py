# SPDX-License-Identifier: GPL-3.0-or-later
"""Searching for the last change of an expression that calls functions. What a function looks at is not known, so nothing can
be watched: it is called in a copy of the process from line to line."""
import re

import gdb

from .activations import entry_of
from .change import find_instruction
from .expressions import known, same, uses_locals
from .moves import quietly
from .replay import replay
from .stops import LastStop, Silence, by_ctrl_c


class Unwinding:
    """A call that ends in a signal leaves nothing behind for a while."""

    setting = "unwindonsignal"

    def __enter__(self):
        self.old = gdb.parameter(self.setting)
        gdb.execute("set %s on" % self.setting)

    def __exit__(self, *unused):
        gdb.execute("set %s %s" % (self.setting, "on" if self.old else "off"))


def value_of_call(expression):
    """As evaluate(). Ctrl-C ends the call."""
    LastStop.event = None
    with Silence(), Unwinding():
        try:
            value = gdb.parse_and_eval(expression)
            value.fetch_lazy()
            text = value.format_string()
        except gdb.error as e:
            why = str(e).split("\n")[0]
            # newer GDBs tell of no stop, but name the signal
            if by_ctrl_c(LastStop.event) or "received signal SIGINT" in why:
                raise KeyboardInterrupt
            return "<%s>" % why, None
    return text, text


def search_calls(expression, new):
    """To the line that changed it, then into what that line calls."""
    frame = gdb.selected_frame() if uses_locals(expression) else None

    def look():
        if frame is not None and not frame.is_valid():
            return None
        (frame or gdb.newest_frame()).select()
        return value_of_call(expression)[0]

    met, later, old, new = search_lines(look, frame, new)
    while not met:
        met, old, new = find_instruction(look, later, old, new)
        if met or not enter_call():
            break
        met, later, old, new = search_lines(look, frame, new)
    return met, old, new


def search_lines(look, frame, new):
    """Back to the last line that changed the value, here and in the callers. The instant behind it, and both values."""
    first = program_time()
    here = later = replay().now()
    while True:
        before = here
        newest = gdb.newest_frame()
        if newest == frame and newest.pc() == entry_of(newest):
            return "start of the activation", later, new, new
        here = line_back(before, first)
        if here is None or here["position"] == before["position"]:
            return "interrupted", later, new, new
        if here["time"] <= first:
            return "start of the program", later, new, new
        old = look()
        if old is None:
            return "start of the activation", later, new, new
        if not known(old):
            continue
        if known(new) and not same(old, new):
            return None, later, old, new
        new, later = old, here


def line_back(before, first):
    """One line, but into main from behind it. None: interrupted."""
    if not quietly("back-next", 1):
        return None
    here = replay().now()
    if here["time"] <= first < before["time"]:
        if not quietly("seek", before["position"]) or not quietly("back-step", 1):
            return None
        here = replay().now()
    return here


def program_time():
    """When the present program's own code begins. Before that, it is not ready for calls."""
    info = replay().info()
    return int(re.search(r":(\d+)", info["begins"][info["n_program"] - 1]).group(1))


def enter_call():
    """To the last line of the function that the present instruction calls. False: it calls none that has lines."""
    call = replay().now()["position"]
    caller = gdb.newest_frame()
    with Silence():
        gdb.execute("nexti", to_string=True)
    behind = replay().now()["position"]
    if quietly("back-step", 1) and gdb.newest_frame() != caller and replay().now()["position"] != behind:
        return True
    quietly("seek", call)
    return False
