# SPDX-License-Identifier: GPL-3.0-or-later
"""GDB steps through an inlined call one instruction at a time, minutes where it holds a loop: the server is told when it goes over
one, in next and finish, and runs out of it."""
import gdb

from .handlers import listen
from .server import monitor

HOOKED = ("next", "finish")


class Told:
    """Is the server told of a command that goes on?"""

    now = False


def depth_of(frame):
    """In how many inlined calls a frame is."""
    depth = 0
    while frame is not None and frame.type() == gdb.INLINE_FRAME:
        depth += 1
        frame = frame.older()
    return depth


def frame_of(command):
    """The frame in which the command goes on until it is there again; None: it does not step there."""
    frame = gdb.newest_frame()
    if command == "next":
        return frame
    if gdb.selected_frame().type() != gdb.INLINE_FRAME:
        return None
    while frame != gdb.selected_frame():
        if frame.type() != gdb.INLINE_FRAME:
            return None
        frame = frame.older()
    return frame.older()


def looks_at_each_step():
    """GDB compares what is watched without hardware after each instruction."""
    return any(p.type == gdb.BP_WATCHPOINT and p.enabled for p in gdb.breakpoints() or ())


class Begin(gdb.Function):
    """Asked before such a command, of its name."""

    def __init__(self):
        super().__init__("_lizard_goes_over")

    def invoke(self, command):
        try:
            frame = None if looks_at_each_step() else frame_of(command.string())
            if frame is not None:
                monitor("over %d" % depth_of(frame))
                Told.now = True
        except gdb.error:
            pass  # the command itself says what is wrong
        return 0


def over():
    """No such command goes on any more."""
    if not Told.now:
        return
    Told.now = False
    try:
        monitor("over none")
    except gdb.error:
        pass  # the recording is closed


def hooked_by_user(command):
    try:
        gdb.execute("show user hook-" + command, to_string=True)
        return True
    except gdb.error:
        return False


def define():
    Begin()
    for command in HOOKED:
        if not hooked_by_user(command):
            gdb.execute('define hook-%s\nif $_lizard_goes_over("%s")\nend\nend' % (command, command))
    listen(gdb.events.before_prompt, over)
