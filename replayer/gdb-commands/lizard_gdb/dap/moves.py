# SPDX-License-Identifier: GPL-3.0-or-later
"""Going back by steps and runs."""
import gdb
from gdb.dap.state import set_thread

from ..places import Places
from ..shown import OneMove
from . import adapter, output, stops
from .adapter import capability, request
from .console import captured


def one_move(command):
    with OneMove():
        gdb.execute(command)


def carry_out(command, thread, why="step", notes=True):
    """In GDB's thread. The client thinks that the program runs: it hears of a stop in any case. NOTES: what the command says is
    for the user."""
    try:
        if thread:
            set_thread(thread)
        with stops.reason(why), Places.hidden():
            said = captured(lambda: one_move(command))[1]
        output.say(said if notes else "")
    except (gdb.error, gdb.GdbError) as e:
        output.say("%s\n" % e, "stderr")
        if gdb.selected_thread() is not None:
            stops.tell(why=why, text=str(e))
    except KeyboardInterrupt:
        stops.tell(why="pause")


def moves(name, command, of_instruction=None, notes=True):
    """Request NAME is answered at once, and then COMMAND is carried out."""

    @request(name, on_dap_thread=True)
    def move(*, threadId: int = 0, granularity: str = "statement", **args):
        by_instruction = of_instruction and granularity == "instruction"
        adapter.after_response(lambda: carry_out(of_instruction if by_instruction else command, threadId, notes=notes))

    return move


capability("supportsStepBack")(moves("stepBack", "prev", "reverse-stepi"))
moves("bs", "bs")
moves("undo_move", "undo-move")
moves("redo_move", "redo-move")
adapter.lacks("supportsSingleThreadExecutionRequests")
# GDB's own leave the client waiting where a step cannot be made.
moves("next", "next", "nexti", notes=False)
moves("stepIn", "step", "stepi", notes=False)
moves("stepOut", "finish", notes=False)


def run_back(thread):
    set_thread(thread)
    adapter.run("reverse-continue")


@request("reverseContinue", on_dap_thread=True)
def reverse_continue(*, threadId: int, **args):
    adapter.after_response(lambda: run_back(threadId))
