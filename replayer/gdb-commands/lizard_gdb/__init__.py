"""GDB's commands for recordings: each file has one group of them, or what several need."""
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


def define():
    for command in COMMANDS:
        command()
    gdb.events.stop.connect(on_stop)
