# SPDX-License-Identifier: GPL-3.0-or-later
"""GDB's commands for recordings: each file has one group of them, or what several need."""
import os

import gdb

from . import conditions, inlined, listing, report
from .bookmarks import Checkpoint, DeleteCheckpoint, InfoCheckpoints, Restart
from .jumps import JumpBackward, JumpForward
from .latest import TELL
from .libraries import on_new_breakpoint
from .opening import open_recording
from .programs import on_modified, on_new_objfile
from .redefined import Jump, QueueSignal, Return, Run, Signal, Start, StartInstruction
from .replay import _lizard
from .reverse_watchpoint import ReverseWatchpoint
from .status import InfoLizard, When
from .shown import Shown
from .steps import BackStep, ForwardNext, ForwardStep, Prev
from .stops import on_stop
from .undo import RedoMove, UndoMove

if "LIZARD_GDB_DAP" in os.environ:
    from . import dap

COMMANDS = (
    ForwardStep, ForwardNext, BackStep, Prev, JumpForward, JumpBackward, ReverseWatchpoint,
    UndoMove, RedoMove, When, InfoLizard, Checkpoint, Restart, InfoCheckpoints, DeleteCheckpoint, Jump, Return, Run, Start,
    StartInstruction, Signal, QueueSignal,
)

done = False


def define():
    """Of what events and hooks tell the server, the patched GDB's target sees itself."""
    global done
    if done:
        return
    done = True
    for command in COMMANDS:
        command()
    listing.define(COMMANDS)
    gdb.events.stop.connect(on_stop)
    gdb.events.new_objfile.connect(on_new_objfile)
    gdb.events.breakpoint_modified.connect(on_modified)
    if _lizard is None or os.environ.get("LIZARD_GDB_OPEN", "").startswith("target remote") or "--stock" in TELL:
        Shown.asks_server = True
        inlined.define()
        conditions.define()
        gdb.events.breakpoint_created.connect(on_new_breakpoint)
    if "dap" in globals():
        dap.define()
