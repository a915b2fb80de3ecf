# SPDX-License-Identifier: GPL-3.0-or-later
"""Bookmarks: what GDB calls checkpoints."""
import gdb

from .command import Command
from .moves import travel
from .places import location
from .replay import need_process, position
from .text import say


class Bookmarks:
    next = 1
    kept = {}  # number -> (position, text)


class Checkpoint(Command):
    """Remember the present instant; "restart N" comes back to it.
Usage: checkpoint"""

    name = "checkpoint"
    redefines = True

    def act(self, arg, from_tty):
        need_process()
        kept = position(), location()
        number = Bookmarks.next
        Bookmarks.next += 1
        Bookmarks.kept[number] = kept
        say("Checkpoint %d: %s.\n" % (number, kept[1]))


def bookmark(arg):
    try:
        number = int(gdb.parse_and_eval(arg))
    except gdb.error:
        number = 0
    if number not in Bookmarks.kept:
        raise gdb.GdbError("There is no checkpoint '%s'; \"info checkpoints\" lists them." % arg)
    return number


class Restart(Command):
    """Go to the instant that "checkpoint" remembered as number N.
Usage: restart N"""

    name = "restart"
    redefines = True
    repeats = False

    def act(self, arg, from_tty):
        travel("seek", Bookmarks.kept[bookmark(arg)][0])


class InfoCheckpoints(Command):
    """List the remembered instants.
Usage: info checkpoints"""

    name = "info checkpoints"
    redefines = True
    kind = gdb.COMMAND_STATUS

    def act(self, arg, from_tty):
        if not Bookmarks.kept:
            say("No checkpoints.\n")
        for number, (place, text) in sorted(Bookmarks.kept.items()):
            say("  %d %s, %s\n" % (number, place, text))


class DeleteCheckpoint(Command):
    """Forget a remembered instant.
Usage: delete checkpoint N"""

    name = "delete checkpoint"
    redefines = True
    repeats = False

    def act(self, arg, from_tty):
        del Bookmarks.kept[bookmark(arg)]
