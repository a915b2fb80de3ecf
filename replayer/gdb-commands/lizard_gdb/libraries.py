# SPDX-License-Identifier: GPL-3.0-or-later
"""What GDB knows of the program's libraries."""
import os
import re

import gdb

from .replay import _lizard, inside
from .server import monitor
from .text import printed
from .version import version

WATCHPOINTS = (gdb.BP_WATCHPOINT, gdb.BP_HARDWARE_WATCHPOINT, gdb.BP_READ_WATCHPOINT, gdb.BP_ACCESS_WATCHPOINT)
watchpoints = []
listed = None  # the server's list of libraries that GDB has read


def on_new_breakpoint(point):
    """What is watched may depend on the symbols of a library, and GDB evaluates it at each resume: it must not forget the
    library meanwhile. It may where only the program's own are watched; where it loads one, it looks afresh."""
    if point.type in WATCHPOINTS and uses_library(point.expression):
        watchpoints.append(point)
        keep_libraries()


def uses_library(expression):
    """Is a name in it one of a library?"""
    return any(is_of_library(name) for name in set(re.findall(r"[A-Za-z_]\w*", expression)))


def is_of_library(name):
    try:
        symbol = gdb.lookup_symbol(name)[0] or gdb.lookup_symbol(name, domain=gdb.SYMBOL_STRUCT_DOMAIN)[0]
        if symbol is None:  # one without debug information
            return gdb.solib_name(int(gdb.parse_and_eval("&" + name))) is not None
    except gdb.error:  # none, or there is no process yet
        return False
    if symbol.symtab is None:
        return False
    objfile = symbol.symtab.objfile
    return (objfile.owner or objfile).filename != gdb.current_progspace().filename


def keep_libraries():
    """As long as there are watchpoints. The patched GDB's target looks itself."""
    if inside() or not watchpoints or gdb.selected_inferior().pid == 0:
        return
    watchpoints[:] = [point for point in watchpoints if point.is_valid()]
    monitor("libraries keep" if watchpoints else "libraries forget")


def refresh_libraries():
    """GDB learns of libraries when the program loads them, and a move may pass such a moment. True if
    GDB heard of libraries that it did not know."""
    if inside():
        return _lizard.refresh_libraries()
    keep_libraries()
    if version() > 16:
        return read_libraries()
    # This makes GDB look what there is, but not read the symbols of what is new.
    listed = printed("info sharedlibrary")
    if not gdb.parameter("auto-solib-add") or not re.search(r"^0x\S+ +0x\S+ +No ", listed, re.M):
        return False
    gdb.execute("sharedlibrary", to_string=True)
    return True


def on_library(event):
    """GDB has read a library, or dropped one, by itself."""
    global listed
    listed = None


def read_libraries():
    """GDB 18 keeps its list of libraries until the loader changes it. It reads the list when a path for libraries is set."""
    global listed
    now = printed("maint packet qXfer:libraries-svr4:read::0,100000")
    if now == listed:
        return False
    printed("set solib-search-path " + (gdb.parameter("solib-search-path") or ""))
    listed = now
    return True


def refresh_in_loader():
    """The same after a stop in the loader, as at the recording's begin: GDB would take libraries of later for loaded and
    look names up among theirs only. The patched GDB's target does so itself."""
    if inside():
        return
    loader = gdb.solib_name(gdb.newest_frame().pc())
    if loader and os.path.basename(loader).startswith("ld-"):
        refresh_libraries()
