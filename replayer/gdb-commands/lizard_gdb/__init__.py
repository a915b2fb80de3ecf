"""GDB's commands for recordings: each file has one group of them, or what several need."""
import re

import gdb

from .bookmarks import Checkpoint, DeleteCheckpoint, InfoCheckpoints, Restart
from .jumps import JumpBackward, JumpForward
from .opening import open_recording
from .redefined import Jump, Return, Run, Start
from .reverse_watchpoint import ReverseWatchpoint
from .status import InfoLizard, When
from .steps import BackStep, ForwardNext, ForwardStep, Prev
from .stops import on_stop

COMMANDS = (
    ForwardStep, ForwardNext, BackStep, Prev, JumpForward, JumpBackward, ReverseWatchpoint, When,
    InfoLizard, Checkpoint, Restart, InfoCheckpoints, DeleteCheckpoint, Jump, Return, Run, Start,
)


def built_in(command):
    """The patched GDB has some of them itself, in a help class of their own."""
    try:
        return re.search("^%s --" % command.name, gdb.execute("help lizard", to_string=True), re.M)
    except gdb.error:
        return False


def define():
    for command in COMMANDS:
        if not built_in(command):
            command()
    gdb.events.stop.connect(on_stop)
