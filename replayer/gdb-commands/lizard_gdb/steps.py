# SPDX-License-Identifier: GPL-3.0-or-later
"""fs, fn, bs, prev."""
import gdb

from .command import Command
from .moves import move, move_outside, move_skipping
from .places import MI
from .replay import instrumented, need_process, why_no_markers
from .skips import tell as tell_of_skips
from .text import say


class ForwardStep(Command):
    """Step forward, into functions: GDB's "step".
Usage: fs [N]"""

    name = "fs"

    def act(self, arg, from_tty):
        gdb.execute("step " + arg, from_tty)


class ForwardNext(Command):
    """Step forward, over functions: GDB's "next".
Usage: fn [N]"""

    name = "fn"

    def act(self, arg, from_tty):
        gdb.execute("next " + arg, from_tty)


def way_to_move(move_name):
    """What is shown then: a machine interface wants GDB's own stop."""
    skips = tell_of_skips()
    if MI:
        return move
    return move_outside if move_name == "back-next" else move_skipping if skips else move


def back(move_name, fallback, arg, from_tty):
    count = 1
    if arg.strip():
        count = int(gdb.parse_and_eval(arg))
    if count <= 0:
        return
    need_process()
    if instrumented():
        way_to_move(move_name)(move_name, count)
        return
    say("%s: this is GDB's %s.\n" % (why_no_markers(), fallback))
    gdb.execute("%s %d" % (fallback, count), from_tty)


class BackStep(Command):
    """Step backward, into functions: the exact reverse of "step".
Usage: bs [N]
Goes to the place from which "step" leads here: to the last line of a
function that has just returned, to the last iteration of a loop, to the
caller from a function's first line."""

    name = "bs"

    def act(self, arg, from_tty):
        back("back-step", "reverse-step", arg, from_tty)


class Prev(Command):
    """Step backward, over functions: the exact reverse of "next".
Usage: prev [N]
Breakpoints inside functions stepped over do not count."""

    name = "prev"

    def act(self, arg, from_tty):
        back("back-next", "reverse-next", arg, from_tty)
