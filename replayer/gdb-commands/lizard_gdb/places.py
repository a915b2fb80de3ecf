"""The present place, as GDB shows it."""
import os
import re

import gdb

from .server import monitor, when

MI = os.environ.pop("LIZARD_GDB_MI", None) is not None


def place():
    """The frame line and the source line, without the frame's number."""
    text = gdb.execute("frame 0", to_string=True)
    return re.sub(r"^#0 +", "", text)


def show_place():
    """After a stop that was not shown. A machine interface wants a stop of its own kind."""
    if MI:
        monitor("seek " + when()["position"])
        gdb.execute("reverse-stepi")
    else:
        gdb.write(place())


def refresh_libraries():
    """GDB learns of libraries when the program loads them, and a move may pass such a moment. True if
    GDB heard of libraries that it did not know."""
    # This makes GDB look what there is, but not read the symbols of what is new.
    listed = gdb.execute("info sharedlibrary", to_string=True)
    if not gdb.parameter("auto-solib-add") or not re.search(r"^0x\S+ +0x\S+ +No ", listed, re.M):
        return False
    gdb.execute("sharedlibrary", to_string=True)
    return True
