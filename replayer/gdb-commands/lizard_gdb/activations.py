# SPDX-License-Identifier: GPL-3.0-or-later
"""Where activations begin."""
import gdb


def entry_of(frame):
    """The address of the first instruction of FRAME's function, or None."""
    try:
        block = frame.block()
    except RuntimeError:
        return None
    while block and not block.function:
        block = block.superblock
    # The block begins at the lowest address, which is another one in a function with a cold part.
    return int(block.function.value().address) if block else None


def outer_frame(frame):
    """FRAME, or the one that it is inlined in."""
    while frame is not None and frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    return frame


def select_activation(activation):
    """Selects and returns the frame of ACTIVATION, if control is in it or at the beginning of what is inlined there;
    else None."""
    frame = gdb.newest_frame()
    while frame is not None and frame.type() == gdb.INLINE_FRAME and frame != activation:
        frame = frame.older()
    if frame != activation:
        return None
    frame.select()
    return frame


def callers_stack(frame):
    """The stack pointer of FRAME's caller, or None. Main has one as well, which "backtrace" does not show."""
    setting = "backtrace past-main"
    kept = gdb.parameter(setting)
    gdb.execute("set %s on" % setting)
    try:
        older = frame.older()
        return int(older.read_register("rsp")) & (2**64 - 1) if older else None
    finally:
        gdb.execute("set %s %s" % (setting, "on" if kept else "off"))


def activation_start(frame):
    """A breakpoint at the entry of FRAME's activation, or None if that cannot be said."""
    frame = outer_frame(frame)
    if frame is None:
        return None
    entry = entry_of(frame)
    cfa = callers_stack(frame)
    if entry is None or cfa is None:
        return None
    point = gdb.Breakpoint("*%d" % entry, internal=True)
    point.silent = True
    # The return address is on the stack and nothing else.
    point.condition = "(unsigned long)$rsp == %dUL" % (cfa - 8)
    return point


def present_thread():
    """The one that GDB has selected."""
    pid, tid, _ = gdb.selected_thread().ptid
    return tid or pid
