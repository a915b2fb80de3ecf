# SPDX-License-Identifier: GPL-3.0-or-later
"""Going to an activation's beginning and end, and reading there. Nothing is shown, and no breakpoint of the user's counts."""
import os

import gdb

from .activations import entry_of, outer_frame
from .jumps import function_addresses
from .moves import quietly
from .places import MI
from .replay import inside, position, replay
from .shown import OneMove
from .stops import Forward, Quiet, SignalsPass, Silence, run

ENTER_SIZE = 5  # bytes of the marker with which an activation begins


class Hidden:
    """Neither threads nor stops in another thread than before are told. A stock GDB prints such a stop past every redirection
    of its own."""

    events = "print thread-events"

    def __enter__(self):
        self.told = gdb.parameter(self.events)
        gdb.execute("set %s off" % self.events)
        self.stdout = None
        if not (inside() or MI or "LIZARD_GDB_DAP" in os.environ):
            gdb.flush()
            self.stdout = os.dup(1)
            with open(os.devnull, "w") as null:
                os.dup2(null.fileno(), 1)

    def __exit__(self, *unused):
        if self.stdout is not None:
            gdb.flush()
            os.dup2(self.stdout, 1)
            os.close(self.stdout)
        if self.told:
            gdb.execute("set %s on" % self.events)


class Excursion:
    """Whatever is visited meanwhile: at its end it is left for where one was. It may be within another one."""

    depth = 0
    origin = None

    def __enter__(self):
        if Excursion.depth == 0:
            frame = gdb.selected_frame()
            Excursion.origin = position(), gdb.selected_thread(), frame.level()
        Excursion.depth += 1
        self.move = OneMove()
        self.move.__enter__()
        return self

    def __exit__(self, *unused):
        Excursion.depth -= 1
        try:
            if Excursion.depth == 0:
                come_back(*Excursion.origin)
        finally:
            self.move.__exit__()


def come_back(where, thread, level):
    go("seek", where)
    if thread.is_valid() and thread != gdb.selected_thread():
        thread.switch()
    frame = gdb.newest_frame()
    while level > 0 and frame is not None:
        frame, level = frame.older(), level - 1
    if frame is not None:
        frame.select()


def go(*what):
    with Hidden():
        if not quietly(*what):
            raise KeyboardInterrupt


def instant(text):
    """Thread and marker of an instant as `lizard calls` prints it."""
    thread, marker = text.replace(",", "").split(":")
    return int(thread), int(marker.partition(".")[0])


def try_place(thread, marker, address):
    """To ADDRESS between two markers of THREAD, if control comes there between them."""
    try:
        go("seek", "%d:%d.%d@0x%x#1" % (thread, marker, replay().now()["event"], address))
    except gdb.GdbError:
        return False
    return True


class Entries:
    """Where GDB's breakpoint on a function is, by the function's first address."""

    known = {}


def break_address(frame):
    """Where GDB's breakpoint on FRAME's function is: arguments can be read there. None: it has none."""
    entry = entry_of(frame)
    if entry is None or frame.find_sal().symtab is None:
        return None
    key = gdb.current_progspace().filename, entry
    if key not in Entries.known:
        Entries.known[key] = find_break_address(frame, entry)
    return Entries.known[key]


def find_break_address(frame, entry):
    block = gdb.block_for_pc(entry)
    try:
        return next((a for a in function_addresses(frame.function().linkage_name) if block.start <= a < block.end), entry)
    except (gdb.error, gdb.GdbError):
        return entry


def entry_position(begin):
    """The position that visit_entry() goes to."""
    with Excursion():
        visit_entry(begin)
        return position()


def visit_entry(begin):
    """To where a breakpoint on the function stops in the activation that begins at the instant BEGIN."""
    go("seek", begin)
    thread, marker = instant(begin)
    frame = outer_frame(gdb.newest_frame())
    address = break_address(frame)
    if address is None:
        return
    if address == entry_of(frame):
        marker -= ENTER_SIZE  # optimized code is entered before its marker
    try_place(thread, marker, address)


def visit_return(end):
    """To behind the return of the activation that writes its last marker before the instant END: what GDB's finish would say
    it returns, or None."""
    go("seek", end)
    try:
        point = gdb.FinishBreakpoint(outer_frame(gdb.newest_frame()), internal=True)
    except (ValueError, gdb.error):
        return None  # nobody called it
    point.silent = True
    try:
        with Hidden(), Silence(), Quiet(), SignalsPass(), Forward():
            if not run("continue"):
                raise KeyboardInterrupt
        return point.return_value
    finally:
        if point.is_valid():
            point.delete()
