# SPDX-License-Identifier: GPL-3.0-or-later
"""Who replays the selected inferior: this GDB itself, if it is the patched one, or a server. Either is asked by the same
functions."""
import gdb

from . import server

try:
    import _lizard
except ImportError:
    _lizard = None


def inside():
    """Does this GDB itself replay the selected inferior?"""
    return _lizard is not None and _lizard.replaying()


def replay():
    return _lizard if inside() else server


def need_process():
    if gdb.selected_inferior().pid == 0:
        raise gdb.GdbError("The program is not being replayed.")


def instrumented():
    return replay().info()["instrumented"]


def why_no_markers():
    if replay().info()["built"]:
        return "The program was built with lizard-cc, but none of its code runs in this recording"
    return "The program was not built with lizard-cc"


def position():
    return replay().position()
