"""Moves that the remote protocol has no packet for.

Each is armed by a monitor packet and carried out by one reverse-stepi, so that GDB refreshes all it
knows and shows the new place as after `step`.
"""
import re

import gdb

from .libraries import refresh_libraries
from .places import MI, carry_out, place, show_displays
from .server import monitor, need_process, when
from .stops import Forward, LastStop, Silence, hits, reason_of_stop


def settle(shown=True):
    """After a move: what the server has to say about it, and the libraries. SHOWN: GDB has shown the
    new place itself."""
    unknown = gdb.newest_frame().name() is None
    if refresh_libraries() and unknown and shown:
        gdb.write(place())
    errors = []
    for line in monitor("note").splitlines():
        if line.startswith("error: "):
            errors.append(line[7:])
        elif line:
            gdb.write(line + "\n")
    if errors:
        raise gdb.GdbError("\n".join(errors))


def move(text):
    """Carries out a short move and shows the new place as after `step`."""
    need_process()
    carry_out(text)
    settle()


def move_outside(text):
    """As move(), but where inlined functions begin that control was not in, GDB shows the place as outside of them,
    as `next` does."""
    need_process()
    old = gdb.newest_frame()
    within = [frame for frame in inlined_around(old) if not begins(frame)]
    before = hits()
    LastStop.hit = []
    with Silence() as silence:
        carry_out(text)
    reason = reason_of_stop(before)
    settle(not silence.works)
    hide_inlined(within)
    if silence.works:
        gdb.write(reason + place() if reason else as_after_step(old))
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
    point = gdb.Breakpoint("*%d" % gdb.newest_frame().pc(), internal=True)
    point.silent = True
    try:
        monitor("seek " + when()["position"])
        with Silence(), Forward():
            gdb.execute("reverse-continue")
            hidden = len(shown) - len(inlined_around(gdb.newest_frame()))
            for _ in [frame for frame in shown[:hidden] if frame in within]:
                gdb.execute("step")
    finally:
        point.delete()


def as_after_step(old):
    """How GDB shows the present place after a step that began in frame OLD."""
    text = place()
    if gdb.newest_frame() != old or "\n" not in text.rstrip("\n"):
        return text
    header, line = text.split("\n", 1)
    middle = re.match(r"(0x[0-9a-f]+) in ", header)
    return middle.group(1) + "\t" + line if middle else line


def travel(text):
    """Carries out a move to anywhere and shows function and line. (GDB would show only the line if it
    took the place for the same activation.)"""
    need_process()
    with Silence() as silence:
        carry_out(text)
    shown = MI or not silence.works
    settle(shown)
    if not shown:
        gdb.write(place())
        show_displays()


def quietly(text):
    """A move that is not shown."""
    with Silence():
        carry_out(text, to_string=True)
    errors = [line for line in monitor("note").splitlines() if line.startswith("error: ")]
    if errors:
        raise gdb.GdbError(errors[0][7:])
