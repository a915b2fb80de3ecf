# SPDX-License-Identifier: GPL-3.0-or-later
"""GDB's commands for recordings: each file has one group of them, or what several need."""
import os
import sys

import gdb

from . import calls, conditions, inlined, listing, report, visited
from .access import InfoAccess, InfoIntervals, Last, NextAccess
from .bookmarks import Checkpoint, DeleteCheckpoint, InfoCheckpoints, Restart
from .flowback import Flowback, FlowbackGoto
from .handlers import listen
from .jumps import JumpBackward, JumpForward
from .latest import TELL
from .libraries import on_library, on_new_breakpoint
from .marks import InfoMarks
from .opening import open_recording
from .points import Bookmark, DeleteBookmark, DeletePoint, GotoBookmark, GotoPoint, InfoBookmarks, InfoPoints, Point
from .programs import on_modified, on_new_objfile
from .questions import CallGoto, InfoCalls, InfoHits, InfoTree
from .redefined import Jump, QueueSignal, Return, Run, Signal, Start, StartInstruction
from .replay import _lizard
from .reverse_watchpoint import ReverseWatchpoint
from .status import InfoLizard, When
from .shown import Shown
from .steps import BackStep, ForwardNext, ForwardStep, Prev
from .stops import on_stop
from .undo import RedoMove, UndoMove
from .version import version

if "LIZARD_GDB_DAP" in os.environ:
    from . import dap

COMMANDS = (
    ForwardStep, ForwardNext, BackStep, Prev, JumpForward, JumpBackward, ReverseWatchpoint,
    Last, NextAccess, InfoAccess, InfoIntervals, Flowback, FlowbackGoto,
    UndoMove, RedoMove, When, InfoLizard, InfoCalls, InfoHits, InfoTree, CallGoto, Point, InfoPoints, GotoPoint, DeletePoint,
    Bookmark, InfoBookmarks, GotoBookmark, DeleteBookmark, InfoMarks,
    Checkpoint, Restart, InfoCheckpoints, DeleteCheckpoint, Jump, Return, Run, Start,
    StartInstruction, Signal, QueueSignal,
)

done = False


def define():
    """Of what events and hooks tell the server, the patched GDB's target sees itself."""
    global done
    if done:
        return
    done = True
    sys.modules["lizard"] = calls  # for `import lizard`
    for command in COMMANDS:
        command()
    listing.define(COMMANDS)
    listen(gdb.events.stop, on_stop)
    listen(gdb.events.new_objfile, on_new_objfile)
    listen(gdb.events.breakpoint_modified, on_modified)
    if _lizard is None or os.environ.get("LIZARD_GDB_OPEN", "").startswith("target remote") or "--stock" in TELL:
        Shown.asks_server = True
        inlined.define()
        conditions.define()
        listen(gdb.events.breakpoint_created, on_new_breakpoint)
        if version() > 16:
            listen(gdb.events.new_objfile, on_library)
            listen(gdb.events.free_objfile, on_library)
    if "dap" in globals():
        dap.define()
