# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of expressions, and what they depend on."""
import re

import gdb

from .server import uninterrupted
from .text import printed, say


@uninterrupted  # GDB forgets a Ctrl-C that comes during pretty-printing
def evaluate(expression):
    """The value as text and as bytes, for printing and for comparing."""
    try:
        value = gdb.parse_and_eval(expression)
        value.fetch_lazy()
    except gdb.error as e:
        return ("<%s>" % e, None)
    try:
        data = value.bytes if hasattr(value, "bytes") else None
    except gdb.error:
        data = None
    text = printed("output " + expression)
    return (text, data if data is not None else text)


ABSENT = "<optimized out>"


def known(value):
    return ABSENT not in value and value != "<value has been optimized out>"  # it, or what leads to it


def unreadable(value):
    return value.startswith("<Cannot access memory at address ")


def same(a, b):
    """To watchpoints, what cannot be read is one value, wherever it would be."""
    return a == b or unreadable(a) and unreadable(b)


def evaluate_in(frame, expression):
    """EXPRESSION as FRAME sees it, though control is in a function that it called."""
    if frame.is_valid():
        frame.select()
    try:
        return evaluate(expression)[0]
    finally:
        gdb.newest_frame().select()


def place_of(expression):
    """The memory that an expression refers to now, as an expression without variables."""
    value = gdb.parse_and_eval(expression)
    if value.address is None:
        raise gdb.GdbError("%s is not in memory." % expression)
    return "*(%s *) %#x" % (value.type, int(value.address))


def without_quotes(expression):
    return re.sub(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""", "x", expression)


def assigns(expression):
    """Would evaluating it change the program? C's operators that do; text between quotes does not count."""
    return bool(re.search(r"\+\+|--|(?:<<|>>|[^=!<>]|^)=(?!=)", without_quotes(expression)))


def calls(expression):
    """Does evaluating it call a function of the program?"""
    bare = without_quotes(expression)
    if re.search(r"(?:\.|->)\s*[A-Za-z_]\w*\s*\(", bare):
        return True
    called = re.findall(r"(?<![\w$])([A-Za-z_]\w*)\s*\(", bare) + re.findall(r"\(([^()]*)\)\s*\(", bare)
    return any(is_function(text) for text in called)


def is_function(text):
    try:
        kind = gdb.parse_and_eval(text).type.strip_typedefs()
    except gdb.error:
        return False  # a type, or an operator like sizeof
    if kind.code == gdb.TYPE_CODE_PTR:
        kind = kind.target().strip_typedefs()
    return kind.code == gdb.TYPE_CODE_FUNC


def uses_locals(expression):
    """Does a name in it mean a local variable of the selected frame?"""
    try:
        block = gdb.selected_frame().block()
    except RuntimeError:
        return False
    names = set(re.findall(r"(?<![\w.$])(?<!->)[A-Za-z_]\w*", expression))
    while block and not block.is_static and not block.is_global:
        for symbol in block:
            if symbol.name in names and symbol.needs_frame:
                return True
        block = block.superblock
    return False


def of_thread(expression):
    """Is a name in it a thread-local variable's?"""
    return any("thread-local" in address_of(name) for name in set(re.findall(r"(?<![\w.$])(?<!->)[A-Za-z_]\w*", expression)))


def address_of(name):
    try:
        return printed("info address " + name)
    except gdb.error:  # no variable
        return ""


def registers_in(expression, frame):
    """The registers that it names."""
    found = []
    for name in re.findall(r"(?<![\w$])\$([A-Za-z]\w*)", expression):
        try:
            frame.read_register(name)
        except (ValueError, gdb.error):
            continue  # a variable of GDB's
        found.append("$" + name)
    return found


def of_frame(expression, frame):
    """EXPRESSION without registers, which mean other things in other frames: the memory that it refers to. A watchpoint
    follows those of the processor, so the value of registers alone is theirs."""
    registers = registers_in(expression, frame)
    if not registers:
        return expression
    if gdb.parse_and_eval(expression).address is not None:
        say("%s is of this frame: the memory that the expression refers to now is watched, as with -l.\n" % registers[0])
        return place_of(expression)
    if frame.level():
        raise gdb.GdbError("%s: only in frame #0 can a register be followed." % expression)
    return expression
