# SPDX-License-Identifier: GPL-3.0-or-later
"""Going back by steps and runs."""
import gdb
from gdb.dap.state import set_thread

from ..places import Places
from ..shown import OneMove
from . import adapter, output, stops
from .adapter import capability, request
from .console import captured


def one_move(command, why="step", notes=True):
    """A command that ends soon. NOTES: what it says is for the user."""

    def execute():
        with OneMove():
            gdb.execute(command)

    with stops.reason(why), Places.hidden():
        said = captured(execute)[1]
    output.say(said if notes else "")


def carry_out(function, thread=0):
    """In GDB's thread. The client thinks that the program runs: it hears of a stop in any case."""
    try:
        if thread:
            set_thread(thread)
        function()
    except (gdb.error, gdb.GdbError) as e:
        output.say("%s\n" % e, "stderr")
        if gdb.selected_thread() is not None:
            stops.tell(why="pause", text=str(e))
    except KeyboardInterrupt:
        stops.tell(why="pause")


def moves(name, command, of_instruction=None, notes=True):
    """Request NAME is answered at once, and then COMMAND is carried out."""

    @request(name, on_dap_thread=True)
    def move(*, threadId: int = 0, granularity: str = "statement", **args):
        chosen = of_instruction if of_instruction and granularity == "instruction" else command
        adapter.after_response(lambda: carry_out(lambda: one_move(chosen, notes=notes), threadId))

    return move


def runs(name, command):
    @request(name, on_dap_thread=True)
    def run(*, threadId: int = 0, **args):
        adapter.after_response(lambda: carry_out(lambda: adapter.run(command), threadId))
        return {"allThreadsContinued": True}

    return run


capability("supportsStepBack")(moves("stepBack", "prev", "reverse-stepi"))
runs("reverseContinue", "reverse-continue")
moves("bs", "bs")
moves("undo_move", "undo-move")
moves("redo_move", "redo-move")
# GDB's own leave the client waiting where a move cannot be made.
runs("continue", "continue")
moves("next", "next", "nexti", notes=False)
moves("stepIn", "step", "stepi", notes=False)
moves("stepOut", "finish", notes=False)
adapter.lacks("supportsSingleThreadExecutionRequests")
