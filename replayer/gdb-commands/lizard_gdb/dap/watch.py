# SPDX-License-Identifier: GPL-3.0-or-later
"""Data breakpoints: GDB's watchpoints, which stop runs in both directions."""
from typing import Optional, Sequence

import gdb
from gdb.dap.breakpoint import suppress_new_breakpoint_event

from ..text import printable
from .adapter import Failure, capability, child_value, request, select_frame
from .console import captured

KINDS = {"read": gdb.WP_READ, "write": gdb.WP_WRITE, "readWrite": gdb.WP_ACCESS}

points = {}  # by what the client asked for


def value_of(name, reference, frame):
    if reference:
        return child_value(reference, name)
    if frame is not None:
        select_frame(frame)
    return gdb.parse_and_eval(name)


def memory_at(address, size):
    return "*(char (*)[%d]) %s" % (size, address)


def memory_of(value):
    """The memory of a value, as an expression that means the same everywhere; None: it has none."""
    if value.address is None or value.is_optimized_out or getattr(value.type, "sizeof", 0) == 0:
        return None
    if value.is_lazy:
        value.fetch_lazy()
    size = value.dynamic_type.sizeof
    kind = {1: "char", 2: "short", 4: "int", 8: "long"}.get(size)
    named = str(value.type.unqualified())
    if is_known(named):
        return "*(%s *) %#x" % (named, int(value.address))
    return "*(%s *) %#x" % (kind, int(value.address)) if kind else memory_at("%#x" % int(value.address), size)


def is_known(name):
    """Can the type be written so in an expression?"""
    try:
        gdb.parse_and_eval("sizeof(%s *)" % name)
        return True
    except gdb.error:
        return False


@capability("supportsDataBreakpoints")
@capability("supportsDataBreakpointBytes")
@request("dataBreakpointInfo")
def data_breakpoint_info(
    *,
    name: str,
    variablesReference: int = 0,
    frameId: Optional[int] = None,
    bytes: int = 0,
    asAddress: bool = False,
    **args
):
    try:
        if asAddress:
            memory = memory_at("%#x" % int(name, 0), bytes or 8)
        else:
            memory = memory_of(value_of(name, variablesReference, frameId))
    except (gdb.error, Failure, ValueError) as e:
        return {"dataId": None, "description": printable("%s: %s" % (name, e))}
    if memory is None:
        return {"dataId": None, "description": printable("%s is not in memory here." % name)}
    return {"dataId": memory, "description": printable(name), "accessTypes": list(KINDS), "canPersist": False}


def watch(spec):
    point = points.pop((spec["dataId"], spec.get("accessType", "write")), None)
    if point is None or not point.is_valid():
        kind = KINDS[spec.get("accessType", "write")]
        point = captured(lambda: gdb.Breakpoint(spec["dataId"], type=gdb.BP_WATCHPOINT, wp_class=kind))[0]
    try:
        point.condition = spec.get("condition")
        hits = spec.get("hitCondition")
        point.ignore_count = int(gdb.parse_and_eval(hits)) if hits else 0
    except (gdb.error, ValueError):
        point.delete()
        raise
    return point


@request("setDataBreakpoints")
def set_data_breakpoints(*, breakpoints: Sequence, **args):
    wanted, answers = {}, []
    with suppress_new_breakpoint_event():
        for spec in breakpoints:
            try:
                point = watch(spec)
            except (gdb.error, KeyError, ValueError) as e:
                answers.append({"verified": False, "message": printable(str(e))})
                continue
            wanted[spec["dataId"], spec.get("accessType", "write")] = point
            answers.append({"id": point.number, "verified": True})
        for point in points.values():
            if point.is_valid():
                point.delete()
    points.clear()
    points.update(wanted)
    return {"breakpoints": answers}
