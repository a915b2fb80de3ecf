# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves that the remote protocol has no packet for.

Each is armed and carried out by one reverse-stepi, so that GDB refreshes all it knows and shows the new place as after
`step`.
"""
import gdb

from .libraries import refresh_libraries
from .places import MI, Places, carry_out, print_place, show_displays
from .replay import _lizard, inside, need_process, replay
from .skips import skipped_here
from .stops import Forward, LastStop, Silence, hits, interrupted, reason_of_stop
from .text import say


def settle(shown=True):
    """After a move: what there is to say about it, and the libraries. SHOWN: GDB has shown the
    new place itself."""
    unknown = gdb.newest_frame().name() is None
    if refresh_libraries() and unknown and shown:
        print_place()
    note, failure = replay().outcome()
    if note:
        say(note)
    if failure:
        raise gdb.GdbError(failure)


def move(*what):
    """Carries out a short move and shows the new place as after `step`."""
    need_process()
    carry_out(what)
    settle()


def move_outside(*what):
    """As move(), but where inlined functions begin that control was not in, GDB shows the place as outside of them,
    as `next` does."""
    need_process()
    within = [frame for frame in inlined_around(gdb.newest_frame()) if not begins(frame)]
    move_and(lambda: hide_inlined(within), what)


def move_skipping(*what):
    """As move(), but where inlined functions begin that `step` skips, GDB shows the place as outside of them."""
    need_process()
    move_and(hide_skipped, what)


def move_and(hide, what):
    """A move after which some inlined functions are hidden."""
    old = gdb.newest_frame()
    before = hits()
    LastStop.hit = []
    with Silence() as silence:
        carry_out(what)
    reason = reason_of_stop(before)
    settle(not silence.works)
    hide()
    if silence.works and Places.shown:
        say(reason)
        print_place(None if reason else old)
        show_displays()


def inlined_around(frame):
    """FRAME and the frames around it, as far as they are of inlined calls."""
    frames = []
    while frame is not None and frame.type() == gdb.INLINE_FRAME:
        frames.append(frame)
        frame = frame.older()
    return frames


def begins(frame):
    """GDB's rule for an inlined function that begins where control is: the byte before is not of it."""

    def identity(block):
        return block.start, block.end, str(block.function)

    mine, before = frame.block(), gdb.block_for_pc(frame.pc() - 1)
    while mine.function is None:
        mine = mine.superblock
    while before is not None and identity(before) != identity(mine):
        before = before.superblock
    return before is None


def hide_inlined(within):
    """Has GDB hide the inlined functions that begin here, except those in WITHIN. GDB does so with all, but for the end
    of a stepi and for breakpoints of the user's; `step` then goes down into one without moving."""
    shown = inlined_around(gdb.newest_frame())
    if not shown or shown[0] in within:
        return
    hidden = hide_all(shown)
    enter(len([frame for frame in shown[:hidden] if frame in within]))


def hide_skipped():
    """Has GDB hide the inlined functions that begin here, from the outermost one on that `step` skips."""
    skipped = skipped_here()
    if skipped:
        enter(hide_all(inlined_around(gdb.newest_frame())) - skipped)


def hide_all(shown):
    """Of the inlined functions SHOWN, those that begin here. How many these are."""
    if inside():
        _lizard.hide_inlined()
    else:
        arrive_silently()
    return len(shown) - len(inlined_around(gdb.newest_frame()))


def enter(n):
    """Down into N of those that are hidden."""
    for _ in range(n):
        if inside():
            _lizard.enter_inlined()
        else:
            with Silence(), Forward():
                gdb.execute("step")


def arrive_silently():
    """Has GDB take the present place for one that it has run to: there it hides what is inlined."""
    point = gdb.Breakpoint("*%d" % gdb.newest_frame().pc(), internal=True)
    point.silent = True
    try:
        replay().arm("seek", "here")
        with Silence(), Forward():
            gdb.execute("reverse-continue")
    finally:
        point.delete()


def travel(*what):
    """Carries out a move to anywhere and shows function and line. (GDB would show only the line if it
    took the place for the same activation.)"""
    need_process()
    with Silence() as silence:
        carry_out(what)
    shown = MI or not silence.works
    settle(shown)
    if not shown:
        print_place()
        show_displays()


class Interrupted(Exception):
    """By Ctrl-C."""


def quietly(*what):
    """A move that is not shown. False if Ctrl-C ended it."""
    if inside():
        return _lizard.move(*what)
    with Silence():
        carry_out(what, silent=True)
    failure = replay().outcome()[1]
    if failure:
        raise gdb.GdbError(failure)
    return not interrupted()


def must(*what):
    """The same; Ctrl-C raises Interrupted."""
    if not quietly(*what):
        raise Interrupted()


def go(where):
    must("seek", where)
