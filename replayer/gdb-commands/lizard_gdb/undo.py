# SPDX-License-Identifier: GPL-3.0-or-later
"""undo-move and redo-move."""
import gdb

from .command import Command
from .moves import travel


def times(arg):
    return int(gdb.parse_and_eval(arg)) if arg.strip() else 1


class UndoMove(Command):
    """Go back to where you were before the last move.
Usage: undo-move [N]
Takes back the last N moves, whichever command made them: "continue" and
"reverse-continue" as well as Lizard's.  The last hundred are known.
"redo-move" makes them again."""

    name = "undo-move"
    direction = "undo"

    def act(self, arg, from_tty):
        count = times(arg)
        if count > 0:
            travel(self.direction, count)


class RedoMove(UndoMove):
    """Make a move again that "undo-move" has taken back.
Usage: redo-move [N]"""

    name = "redo-move"
    direction = "redo"
