# SPDX-License-Identifier: GPL-3.0-or-later
"""A process may execute one program after another. GDB disables a breakpoint whose place the next one does not have; here
it comes back with the program that has it."""
import gdb

waiting = []  # breakpoints that the present program has no place for


def on_new_objfile(event):
    """A program's own symbols have been read. GDB sets its breakpoints anew next."""
    if event.new_objfile.filename != gdb.current_progspace().filename or gdb.selected_inferior().pid == 0:
        return
    for point in gdb.breakpoints() or ():
        if point.enabled and point.number > 0 and point.location and not has_place(point.location):
            point.enabled = False  # GDB says nothing of such a one
            waiting.append(point)


def has_place(location):
    try:
        gdb.decode_line(location)
    except gdb.error:
        return False
    return True


def on_modified(point):
    """GDB has found a breakpoint's place, or lost it."""
    if point in waiting and point.is_valid() and not point.pending:
        waiting.remove(point)
        point.enabled = True
