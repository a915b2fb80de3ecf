# SPDX-License-Identifier: GPL-3.0-or-later
"""Searching for the last change of a value."""
import gdb

from .activations import entry_of, select_activation
from .expressions import evaluate, known, same
from .moves import quietly
from .replay import replay
from .stops import LastStop, Silence, run, stopped_at


def search_change(expression, watch, start):
    """Runs backward to the last change; says which end was met, or None."""
    while True:
        before = replay().now()
        LastStop.event = None
        with Silence():
            gdb.execute("reverse-continue")
        if start is not None and stopped_at(start):
            return "start of the activation"
        if not watch.is_valid():
            return "start of the activation"
        if stopped_at(watch):
            return None
        here = replay().now()
        if here["start"]:
            return "start of the recording"
        if here["begin"]:
            return "start of the program"
        if here == before or not isinstance(LastStop.event, gdb.StopEvent):
            return "interrupted"
        if isinstance(LastStop.event, gdb.SignalEvent):
            return "interrupted"


def search_in_frame(expression):
    """For a variable in registers: the last line of this activation that changed it, then the
    instruction. A watchpoint would single-step, through all that is called as well."""
    frame = gdb.newest_frame()
    entry = entry_of(frame)
    new = evaluate(expression)[0]
    here = later = replay().now()
    while True:
        before = here
        if frame.pc() == entry:
            return "start of the activation", new, new
        if not quietly("back-next", 1):
            return "interrupted", new, new
        here = replay().now()
        if here["start"]:
            return "start of the recording", new, new
        if here["begin"]:
            return "start of the program", new, new
        if here["position"] == before["position"]:
            return "interrupted", new, new
        frame = select_activation(frame)
        if frame is None:
            return "start of the activation", new, new
        old = evaluate(expression)[0]
        if not known(old):
            continue
        if known(new) and not same(old, new):
            break
        new, later = old, here
    return find_instruction(lambda: evaluate(expression)[0] if select_activation(frame) else None, later, old, new)


def find_instruction(look, later, old, new):
    """Forward from here to LATER, and back to the last instruction on the way that changes the value. LOOK: what it is at
    an instant, or None."""
    here = replay().now()
    change, found = here, (None, old, old)
    with Silence():
        # A nexti may pass LATER: where a signal's handler does not return.
        while here["position"] != later["position"] and here["marker"] <= later["marker"]:
            before = here
            if not run("nexti"):
                return "interrupted", new, new
            here = replay().now()
            if here["position"] == before["position"]:
                return "interrupted", new, new
            value = new if here["position"] == later["position"] else look()
            if value is not None and known(value) and not same(value, found[2]):
                change, found = before, (None, found[2], value)
    return found if quietly("seek", change["position"]) else ("interrupted", new, new)
