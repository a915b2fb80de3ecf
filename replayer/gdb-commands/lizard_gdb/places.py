"""The present place, as GDB shows it."""
import os
import re

import gdb

from .server import monitor, when
from .stops import Forward, LastStop

MI = os.environ.pop("LIZARD_GDB_MI", None) is not None


def newest(command):
    """COMMAND on the newest frame, without that frame's number."""
    gdb.newest_frame().select()  # a command that changes the frame does not print it into the string
    return re.sub(r"^#0 +", "", gdb.execute(command, to_string=True))


def place():
    """The frame line and the source line."""
    return newest("frame 0")


def location():
    """The frame line only."""
    return newest("with print frame-info location -- frame 0").splitlines()[0]


def show_displays():
    """What `display` shows at each stop."""
    gdb.execute("display")


def carry_out(text, to_string=False):
    """Carries out a move. It is armed first: what comes between would leave it to the next resume."""
    monitor(text)
    with Forward():
        LastStop.event = None
        gdb.execute("reverse-stepi", to_string=to_string)


def show_place():
    """After a stop that was not shown. A machine interface wants a stop of its own kind."""
    if MI:
        carry_out("seek " + when()["position"])
    else:
        gdb.write(place())
        show_displays()
