# SPDX-License-Identifier: GPL-3.0-or-later
""""help lizard" of a stock GDB. The patched one has a class of commands for it."""
import gdb

from .command import Command
from .replay import _lizard

HELP = """Moving in recordings made by lizard-trace.
See also "help record", "info lizard" and "checkpoint".

List of commands:

%s

Type "help" followed by command name for full documentation."""


def summary(command):
    return "%s -- %s" % (command.name, command.__doc__.splitlines()[0])


class Listing(gdb.Command):
    def __init__(self, commands):
        lines = sorted(summary(c) for c in commands if issubclass(c, Command) and c.is_listed())
        self.__doc__ = HELP % "\n".join(lines)
        super().__init__("lizard", gdb.COMMAND_SUPPORT)

    def invoke(self, arg, from_tty):
        gdb.execute("help lizard")


def define(commands):
    if _lizard is None:
        Listing(commands)
