# SPDX-License-Identifier: GPL-3.0-or-later
"""What all commands have in common."""
import gdb

from .replay import _lizard
from .shown import OneMove
from .text import printable

OWN_COMPLETER = -1  # the class's complete()


class Command(gdb.Command):
    """A command whose help text is its class's docstring."""

    name = None
    kind = gdb.COMMAND_RUNNING
    completer = gdb.COMPLETE_NONE
    repeats = True  # on an empty line
    redefines = False  # GDB's command, for recordings

    def __init__(self):
        # so that "apropos lizard" finds it
        self.__doc__ = '%s\nSee also "help lizard".' % self.__doc__
        if _lizard is None:
            super().__init__(self.name, self.kind, self.completer)
        elif self.redefines:  # other programs keep GDB's
            _lizard.take_over(self.name, self.invoke, self.__doc__)
        else:
            super().__init__(self.name, self.kind, self.completer)
            if self.is_listed():
                _lizard.list_in_help(self.name)

    @classmethod
    def is_listed(cls):
        """By "help lizard"."""
        return " " not in cls.name and not cls.redefines

    def invoke(self, arg, from_tty):
        if not self.repeats:
            self.dont_repeat()
        try:
            with OneMove():
                self.act(arg, from_tty)
        except (gdb.error, gdb.GdbError) as e:  # its text is meant for the user, its type is not
            raise gdb.GdbError(printable(str(e)))
