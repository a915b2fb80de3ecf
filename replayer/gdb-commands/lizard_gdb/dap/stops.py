# SPDX-License-Identifier: GPL-3.0-or-later
"""What the client is told of stops. A command of Lizard's may stop often on its way: the client hears of its end."""
import contextlib

import gdb
from gdb.dap import breakpoint, events

from ..handlers import listen
from ..replay import replay
from ..shown import OneMove, Shown
from ..status import ending
from ..text import printable
from . import adapter, output


class Pending:
    stop = None  # the last one of a command that is not over
    reason = None  # of its end
    held = None  # a list: bodies of events that are to follow a response


def define():
    for registry, theirs, ours in (
        (gdb.events.stop, events._on_stop, on_stop),
        (gdb.events.cont, events._cont, on_cont),
    ):
        registry.disconnect(theirs)
        listen(registry, ours)
    for registry, theirs in (
        (gdb.events.breakpoint_created, breakpoint._bp_created),
        (gdb.events.breakpoint_modified, breakpoint._bp_modified),
        (gdb.events.breakpoint_deleted, breakpoint._bp_deleted),
    ):
        registry.disconnect(theirs)
        listen(registry, users_only(theirs))
    gdb.events.inferior_call.disconnect(events._on_inferior_call)  # that runs in a copy: nothing has moved
    Shown.over = command_over


def users_only(theirs):
    """Lizard's own breakpoints, which have negative numbers, are nobody's business."""

    def on_breakpoint(point):
        if point.number > 0:
            theirs(point)

    return on_breakpoint


def on_cont(event):
    if not Shown.commands:
        events._cont(event)


def on_stop(event):
    if Shown.commands:
        Pending.stop = event
    else:
        tell(event)


def command_over():
    event, Pending.stop = Pending.stop, None
    if event is not None and gdb.selected_thread() is not None:
        tell(event, Pending.reason)


@contextlib.contextmanager
def reason(text):
    """Stops of commands have this reason for a while."""
    Pending.reason = text
    try:
        yield
    finally:
        Pending.reason = None


@contextlib.contextmanager
def untold():
    """Nothing is said of a stop."""
    with OneMove():
        yield
        Pending.stop = None
    adapter.set_running(False)


@contextlib.contextmanager
def held():
    """Stops are not told at once. Gives what there is to tell."""
    Pending.held = []
    try:
        yield Pending.held
    finally:
        Pending.held = None


def tell(event=None, why=None, text=None):
    """Tells the client of a stop. WHY: its reason, if it was not a breakpoint or signal on the way."""
    adapter.set_running(False)
    output.tell()
    body = {"threadId": gdb.selected_thread().global_num, "allThreadsStopped": True}
    body.update(describe(event, why))
    if text:
        body["text"] = printable(text)
    if Pending.held is None:
        adapter.send_event("stopped", body)
    else:
        Pending.held.append(body)


def describe(event, why):
    details = getattr(event, "details", None) or {}
    kind = details.get("reason")
    paused = adapter.expects_pause()
    if "finish-value" in details:
        adapter.keep_finish_value(details["finish-value"])
    if why is None or kind in ("breakpoint-hit", "signal-received"):
        found = KINDS.get(kind, lambda *unused: None)(event, details, paused)
        if found is not None:
            return found
    if why in (None, "step") and kind not in STEPS:
        return at_edge() or {"reason": why or "pause"}
    return {"reason": why or STEPS[kind]}


def at_edge():
    now = replay().now()
    if now["end"]:
        info = replay().info()
        killed = info["exit_status"] > 0 and info["exit_status"] & 0x7F
        return {"reason": "exception" if killed else "end", "description": "End of the recording: " + ending(info)}
    if now["start"]:
        return {"reason": "start", "description": "Start of the recording"}
    return None


def at_signal(event, details, paused):
    name = details.get("signal-name", "")
    if paused and name in ("SIGINT", "SIGSTOP", "0"):
        return {"reason": "pause"}
    meaning = details.get("signal-meaning")
    return {
        "reason": "exception",
        "description": "Signal " + name,
        "text": "%s, %s" % (name, meaning) if meaning else name,
    }


def at_breakpoint(event, details, paused):
    points = [point for point in getattr(event, "breakpoints", ()) if point.is_valid() and point.number > 0]
    if points:
        return {"reason": "breakpoint", "hitBreakpointIds": [point.number for point in points]}
    return None


def at_watchpoint(event, details, paused):
    found = {"reason": "data breakpoint"}
    points = [point for point in getattr(event, "breakpoints", ()) if point.is_valid() and point.number > 0]
    if points:
        found["hitBreakpointIds"] = [point.number for point in points]
    value = details.get("value")
    if isinstance(value, dict):
        found["text"] = printable(", ".join("%s value = %s" % item for item in sorted(value.items(), reverse=True)))
    return found


KINDS = {
    "signal-received": at_signal,
    "breakpoint-hit": at_breakpoint,
    "watchpoint-trigger": at_watchpoint,
    "read-watchpoint-trigger": at_watchpoint,
    "access-watchpoint-trigger": at_watchpoint,
    "watchpoint-scope": at_watchpoint,
}
STEPS = {"end-stepping-range": "step", "function-finished": "step", "location-reached": "step", "exec": "exec"}
