# SPDX-License-Identifier: GPL-3.0-or-later
"""GDB's commands that mean something else on a recording."""
import gdb

from .command import Command
from .latest import open_latest
from .moves import travel
from .replay import _lizard
from .start import to_main, to_start


class Jump(Command):
    """A recorded run cannot go another way: see jump_forward and jump_backward."""

    name = "jump"
    redefines = True
    completer = gdb.COMPLETE_LOCATION

    def act(self, arg, from_tty):
        raise gdb.GdbError(
            "A recorded run cannot be made to go another way. jump_forward and jump_backward go to "
            "an instant at which control was there."
        )


class QueueSignal(Command):
    """A recorded run gets the signals that it got, and no others."""

    name = "queue-signal"
    redefines = True
    repeats = False

    def act(self, arg, from_tty):
        raise gdb.GdbError(
            'A recorded run gets the signals that it got when it was recorded, and no others. '
            '"continue" goes on with those.'
        )


class Signal(QueueSignal):
    __doc__ = QueueSignal.__doc__

    name = "signal"

    def act(self, arg, from_tty):
        if arg.strip() != "0":
            super().act(arg, from_tty)
        gdb.execute("continue", from_tty)


def in_called_function():
    """Is the selected frame one of a function that GDB has called? That runs in a copy of the process."""
    try:
        frame = gdb.selected_frame()
    except gdb.error:
        return False
    while frame is not None and frame.type() != gdb.DUMMY_FRAME:
        frame = frame.older()
    return frame is not None


class Return(gdb.Function):
    """Asked before GDB's own "return": a recorded run cannot return early."""

    def __init__(self):
        if _lizard is not None:
            _lizard.take_over("return", self.invoke, None)
            return
        super().__init__("_lizard_may_return")
        gdb.execute("define hook-return\nif $_lizard_may_return()\nend\nend")

    def invoke(self, *unused):
        if in_called_function():
            return True
        raise gdb.GdbError(
            'A recorded run cannot be made to return early. "finish" goes to where the function '
            'returned, "up" shows the caller.'
        )


class FromStart(Command):
    """What begins at the recording's start. If none is open, the program's newest one is opened."""

    redefines = True
    repeats = False

    def act(self, arg, from_tty):
        words = arg.split()
        background = " &" if words[-1:] == ["&"] else ""
        if words != ["&"] * len(words[:1]):
            raise gdb.GdbError("The program's arguments are the recorded ones.")

        if gdb.selected_inferior().pid == 0:
            open_latest(self.show, lambda: self.go(background))
        else:
            to_start()
            self.show()
            self.go(background)

    def show(self):
        """The first place."""

    def go(self, background):
        """Away from it."""


class Run(FromStart):
    """Go to the start of the recording and continue from there.
Usage: run"""

    name = "run"

    def go(self, background):
        gdb.execute("continue" + background)


class Start(FromStart):
    """Go to the start of the recording and from there to main.
Usage: start"""

    name = "start"

    def show(self):
        to_main()


class StartInstruction(FromStart):
    """Go to the start of the recording.
Usage: starti"""

    name = "starti"

    def show(self):
        travel("seek", "start")
