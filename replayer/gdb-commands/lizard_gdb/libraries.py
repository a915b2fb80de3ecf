"""What GDB knows of the program's libraries."""
import os
import re

import gdb


def refresh_libraries():
    """GDB learns of libraries when the program loads them, and a move may pass such a moment. True if
    GDB heard of libraries that it did not know."""
    # This makes GDB look what there is, but not read the symbols of what is new.
    listed = gdb.execute("info sharedlibrary", to_string=True)
    if not gdb.parameter("auto-solib-add") or not re.search(r"^0x\S+ +0x\S+ +No ", listed, re.M):
        return False
    gdb.execute("sharedlibrary", to_string=True)
    return True


def refresh_in_loader():
    """The same after a stop in the loader, as at the recording's begin: GDB would take libraries of later for loaded and
    look names up among theirs only."""
    loader = gdb.solib_name(gdb.newest_frame().pc())
    if loader and os.path.basename(loader).startswith("ld-"):
        refresh_libraries()
