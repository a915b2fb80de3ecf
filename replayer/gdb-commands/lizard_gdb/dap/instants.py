# SPDX-License-Identifier: GPL-3.0-or-later
"""Going to instants: goto, jump, reverse_watchpoint; and which one this is."""
from typing import Optional

import gdb
from gdb.dap.state import set_thread

from .. import jumps
from ..moves import quietly
from ..places import Places
from ..replay import need_process, position, replay
from ..shown import OneMove
from ..status import percent
from . import adapter, output, stops, watch
from .adapter import capability, import_line, request, select_frame
from .console import captured


def go(why, function, show):
    """In GDB's thread: a move that may fail. SHOW: the user is to see what it says."""
    before = position()

    def move():
        with OneMove():
            try:
                function()
                adapter.end_if_cancelled()
            except KeyboardInterrupt:
                quietly("seek", before)
                raise

    with stops.reason(why), Places.hidden():
        said = captured(move)[1]
    if show:
        output.say(said)
    return {"moved": position() != before, "output": said}


def answered(why, function, show=False):
    """In the adapter's thread: the response comes first, then the stop. What the client knows of the frames holds no more, even
    if nothing has moved in the end."""
    result = {"moved": False}
    with stops.held() as bodies:
        try:
            result = adapter.in_gdb(lambda: go(why, function, show))
        except (gdb.error, gdb.GdbError) as e:
            raise adapter.Failure(str(e)) from e
        finally:
            for body in bodies[-1:]:
                if not result["moved"]:
                    body["reason"] = "pause"
                adapter.later(lambda: adapter.send_event("stopped", body))
    return result


# ---- goto ----

targets = []


def arrivals(path, line):
    where = '-source "%s" -line %d' % (path.replace("\\", "\\\\").replace('"', '\\"'), line)
    try:
        need_process()
        jumps.addresses(where)
    except (gdb.error, gdb.GdbError):
        return []
    found = []
    for label, direction in (("the next time", "forward"), ("the last time", "backward")):
        targets.append((direction, where))
        found.append({"id": len(targets), "label": "Line %d, %s" % (line, label), "line": line})
    return found


@capability("supportsGotoTargetsRequest")
@request("gotoTargets")
def goto_targets(*, source, line: int, **args):
    return {"targets": arrivals(source.get("path", ""), import_line(line))}


@request("goto", on_dap_thread=True)
def goto(*, targetId: int, threadId: int = 0, **args):
    if not 0 < targetId <= len(targets):
        raise adapter.Failure("There is no such target.")
    direction, where = targets[targetId - 1]
    answered("goto", lambda: jump(direction, where, threadId))


def jump(direction, where, thread):
    if thread:
        set_thread(thread)
    jumps.jump(direction, where)


# ---- requests of Lizard's own ----


@request("jump", on_dap_thread=True)
def jump_request(*, location: str, direction: str = "forward", threadId: int = 0, **args):
    if direction not in ("forward", "backward"):
        raise adapter.Failure('direction: "forward" or "backward" is wanted.')
    return answered("goto", lambda: jump(direction, location, threadId))


@request("when")
def when(**args):
    need_process()
    now = replay().now()
    return {
        "position": position(),
        "event": now["event"],
        "events": now["events"],
        "time": now["time"],
        "total": now["total"],
        "percent": round(percent(now), 2),
        "start": bool(now["start"]),
        "end": bool(now["end"]),
    }


def expression_of(reference, name):
    """The memory of a variable that the client shows, else its name."""
    try:
        return watch.memory_of(adapter.child_value(reference, name)) or name
    except (gdb.error, adapter.Failure):
        return name


@request("reverse_watchpoint", on_dap_thread=True)
def reverse_watchpoint(
    *,
    expression: Optional[str] = None,
    frameId: Optional[int] = None,
    location: bool = False,
    variablesReference: int = 0,
    name: str = "",
    **args
):
    """Of an expression, or of what the client shows as NAME below a reference."""

    def search():
        if frameId is not None:
            select_frame(frameId)
        what = expression or expression_of(variablesReference, name)
        gdb.execute("reverse_watchpoint %s%s" % ("-l " if location else "", what))

    return answered("data breakpoint", search, True)
