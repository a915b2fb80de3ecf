"""GDB's commands for recordings: each file has one group of them, or what several need."""
import os

import gdb

from . import inlined
from .bookmarks import Checkpoint, DeleteCheckpoint, InfoCheckpoints, Restart
from .jumps import JumpBackward, JumpForward
from .libraries import on_new_breakpoint
from .opening import open_recording
from .redefined import Jump, QueueSignal, Return, Run, Signal, Start, StartInstruction
from .reverse_watchpoint import ReverseWatchpoint
from .status import InfoLizard, When
from .steps import BackStep, ForwardNext, ForwardStep, Prev
from .stops import on_stop

COMMANDS = (
    ForwardStep, ForwardNext, BackStep, Prev, JumpForward, JumpBackward, ReverseWatchpoint, When,
    InfoLizard, Checkpoint, Restart, InfoCheckpoints, DeleteCheckpoint, Jump, Return, Run, Start,
    StartInstruction, Signal, QueueSignal,
)


def built_in():
    """The patched GDB has them all itself, for its own target: there these are not needed."""
    if os.environ.get("LIZARD_GDB_OPEN", "").startswith("target remote"):
        return False
    try:
        return bool(gdb.execute("help lizard", to_string=True))
    except gdb.error:
        return False


def define():
    if built_in():
        return
    for command in COMMANDS:
        command()
    inlined.define()
    gdb.events.stop.connect(on_stop)
    gdb.events.breakpoint_created.connect(on_new_breakpoint)
