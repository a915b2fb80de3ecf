"""Searching for the last change of a value."""
import gdb

from .activations import entry_of, select_activation
from .expressions import ABSENT, evaluate, known
from .moves import quietly
from .server import monitor, table, when
from .stops import LastStop, Silence, stopped_at


def search_change(expression, watch, start):
    """Runs backward to the last change; says which end was met, or None."""
    while True:
        before = monitor("when")
        LastStop.event = None
        gdb.execute("reverse-continue")
        if start is not None and stopped_at(start):
            return "start of the activation"
        if not watch.is_valid():
            return "start of the activation"
        if stopped_at(watch):
            return None
        if table(monitor("when"))["start"] == "1":
            return "start of the recording"
        if monitor("when") == before or not isinstance(LastStop.event, gdb.StopEvent):
            return "interrupted"
        if isinstance(LastStop.event, gdb.SignalEvent):
            return "interrupted"


def search_in_frame(expression):
    """For a variable in registers: the last line of this activation that changed it, then the
    instruction. A watchpoint would single-step, through all that is called as well."""
    frame = gdb.newest_frame()
    entry = entry_of(frame)
    new = evaluate(expression)[0]
    while True:
        later = when()["position"]
        if frame.pc() == entry:
            return "start of the activation", new, new
        quietly("back-next")
        if when()["start"] == "1":
            return "start of the recording", new, new
        if when()["position"] == later:
            return "interrupted", new, new
        frame = select_activation(frame)
        if frame is None:
            return "start of the activation", new, new
        old = evaluate(expression)[0]
        if not known(old):
            continue
        if known(new) and old != new:
            break
        new = old
    return find_instruction(expression, frame, later, old, new)


def find_instruction(expression, frame, later, old, new):
    """Forward from here to the instruction that changes the value, no further than LATER."""
    with Silence():
        while True:
            before = when()["position"]
            LastStop.event = None
            gdb.execute("nexti", to_string=True)
            if isinstance(LastStop.event, gdb.SignalEvent) or when()["position"] == before:
                return "interrupted", new, new
            now = evaluate(expression)[0] if select_activation(frame) else ABSENT
            if known(now) and now != old:
                break
            if when()["position"] == later:
                break
    quietly("seek " + before)
    return None, old, now if known(now) else new
