# SPDX-License-Identifier: GPL-3.0-or-later
"""What functions were called with, and how values are written where no user sets how."""
import gdb

from .text import printable

LONGEST = 200


def argument_symbols(frame):
    """Of FRAME's function, in their order."""
    try:
        block = frame.block()
    except RuntimeError:
        return []
    while block is not None and block.function is None:
        block = block.superblock
    return [symbol for symbol in block or () if symbol.is_argument]


def text(value):
    """A string that JSON takes; a long one is cut."""
    value = printable(str(value)).replace("\n", " ").replace("\t", " ")
    return value if len(value) <= LONGEST else value[:LONGEST] + "..."


def value_text(read):
    """The value that READ gives, or why it does not."""
    try:
        return text(read().format_string(max_elements=64, repeat_threshold=10, symbols=True))
    except (gdb.error, gdb.MemoryError, RuntimeError, ValueError, UnicodeDecodeError) as e:
        return "<%s>" % text(e)


def argument_texts(frame, most):
    """The first MOST arguments of FRAME, for JSON."""
    return [
        {"name": text(symbol.print_name), "value": value_text(lambda: frame.read_var(symbol))}
        for symbol in argument_symbols(frame)[:most]
    ]
