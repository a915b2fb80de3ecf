# SPDX-License-Identifier: GPL-3.0-or-later
"""The places that the user is shown: between two of them lies a move, which undo-move takes back."""
import gdb

from .replay import _lizard, inside, replay
from .text import say


class Shown:
    commands = 0  # of Lizard's, that go on: stops in them are not shown
    asks_server = False  # not in the patched GDB, unless it was started for a server
    hinted = False
    over = None  # called when they are


def goes_on():
    """A command may leave the run going on, as an editor's do; its stop is shown in its time."""
    thread = gdb.selected_thread()
    return thread is not None and thread.is_running()


def shown():
    """The user is shown the present place."""
    if Shown.commands or gdb.selected_inferior().pid == 0 or not (inside() or Shown.asks_server) or goes_on():
        return
    try:
        returned = replay().here()
    except gdb.GdbError:
        return  # a live program
    if returned and not Shown.hinted:
        Shown.hinted = True
        say('Nothing stopped the run before. "undo-move" goes back to where it began.\n')


class OneMove:
    """Whatever is done meanwhile is one move."""

    def __enter__(self):
        Shown.commands += 1

    def __exit__(self, *unused):
        Shown.commands -= 1
        shown()
        if Shown.over is not None and not Shown.commands:
            Shown.over()
