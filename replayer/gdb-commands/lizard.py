# SPDX-License-Identifier: GPL-3.0-or-later
"""Lizard's commands for GDB: what lizard-gdb loads into a stock GDB (10 or newer) and into the patched one.

Works after `target remote :PORT` by hand as well; "target lizard" loads it, too. The commands are in the package beside
this file.
"""
import os
import sys


def load():
    folder = os.path.dirname(os.path.realpath(__file__))
    kept = sys.dont_write_bytecode
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True  # the folder is the installation's
    try:
        import lizard_gdb
    finally:
        sys.path.remove(folder)
        sys.dont_write_bytecode = kept
    lizard_gdb.define()
    lizard_gdb.open_recording()


load()
