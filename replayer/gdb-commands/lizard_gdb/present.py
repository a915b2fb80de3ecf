# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of some activations runs at the present instant. An activation is known from behind its first marker to behind its
last one; what the program does before and after these, in the function's first and last instructions, the frames tell."""
import gdb

from .activations import entry_of, outer_frame, present_thread
from .replay import replay
from .visits import ENTER_SIZE, break_address, instant

MOST_FRAMES = 10000


def names_frame(frame, names):
    function = frame.function() if frame.type() == gdb.NORMAL_FRAME else None
    return function is not None and function.linkage_name in names


def is_beginning(frame, names):
    """Is control in front of where a breakpoint on FRAME's function stops?"""
    entry = entry_of(frame) if names_frame(frame, names) else None
    return entry is not None and (frame.pc() == entry or entry < frame.pc() < (break_address(frame) or entry))


def count_frames(names):
    frame, count, seen = gdb.newest_frame(), 0, 0
    while frame is not None and seen < MOST_FRAMES:
        count, seen, frame = count + names_frame(frame, names), seen + 1, frame.older()
    return count


def present_instants():
    """Those at which an activation runs that runs now: the second one if it has not written its first marker yet."""
    marker = replay().now()["marker"]
    return ["%d:%d" % (present_thread(), marker + more) for more in (0, ENTER_SIZE)]


def present_instant():
    """That at which markers tell what runs now: a function whose first instruction comes next has written none yet."""
    frame = outer_frame(gdb.newest_frame())
    return present_instants()[frame is not None and frame.pc() == entry_of(frame)]


def present_one(activations):
    """That of ACTIVATIONS in which the program is now, the innermost one. None: it is in none."""
    marker, tid = replay().now()["marker"], present_thread()
    mine = {one.position: one for one in activations if one.thread == tid}.values()
    names = {name for one in mine for name in (one.linkage_name, one.function)}
    frame = outer_frame(gdb.newest_frame())
    runs = [one for one in mine if begin(one) <= marker and (marker < end(one) or one.how == "cut off")]
    comes = [one for one in mine if begin(one) == marker + ENTER_SIZE] if is_beginning(frame, names) else []
    ended = [one for one in mine if end(one) == marker and one.how in ("return", "tail call")]
    if (comes or ended) and count_frames(names) > len(runs):
        runs = comes or ended
    return max(runs, key=begin, default=None)


def begin(one):
    return instant(one.position)[1]


def end(one):
    return instant(one.end)[1]
