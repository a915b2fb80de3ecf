# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes of memory or of a register at the present instant, and the names that the source has for them."""
import re

import gdb

from .activations import callers_stack, entry_of, outer_frame, present_thread
from .replay import replay
from .text import printed

MOST_FRAMES = 64
RED_ZONE = 128
REFERENCES = gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF
PARTS = {8: "r%s", 4: "e%s", 2: "%s"}


class Location:
    """WORDS: as monitor's `found` has them, with the value's bytes or without."""

    def __init__(self, words):
        self.in_memory = words[0] == "memory"
        if self.in_memory:
            self.address, self.size = int(words[1], 16), int(words[2])
        else:
            self.register, self.byte, self.size = words[1].lower(), int(words[2]), int(words[3])
        rest = words[3 if self.in_memory else 4 :]
        self.bytes = bytes.fromhex(rest[0]) if rest else b""

    def words(self):
        """As a move takes them."""
        if not self.in_memory:
            return ["register", self.register, str(self.byte), str(self.size)]
        return ["memory", "%x" % self.address, str(self.size)] + frame_words(frame_around(self.address), self.address, self.size)

    def named(self):
        """The source's name and type, or None."""
        return name_of_memory(self.address, self.size) if self.in_memory else name_of_register(self.register, self.byte)

    def shown(self):
        """The name as far as there is one, and the value."""
        name, kind = self.named() or (self.plain(), None)
        return "%s = %s" % (name, self.value(kind))

    def plain(self):
        if self.in_memory:
            return "*%#x" % self.address
        if self.register == "rflags":
            return "the flags"
        short = re.fullmatch(r"r([a-ds][xipx]|[sb]p)", self.register)
        if self.byte or not short or self.size not in PARTS:
            return "$" + self.register
        return "$" + PARTS[self.size] % short.group(1)

    def value(self, kind=None):
        if not self.bytes:
            return "?"
        if kind is not None and kind.sizeof == len(self.bytes):
            try:
                return gdb.Value(self.bytes, kind).format_string()
            except (gdb.error, TypeError, ValueError):
                pass  # of a GDB that cannot
        number = int.from_bytes(self.bytes, "little")
        if len(self.bytes) > 8 or number >> 40:
            return "%#x" % number if len(self.bytes) <= 8 else "0x" + self.bytes[::-1].hex()
        signed = int.from_bytes(self.bytes, "little", signed=True)
        return str(signed)


# ---- the stack ----


def end_of_stack(frame):
    """What lies below does not belong to it."""
    return (int(frame.read_register("rsp")) & (2**64 - 1)) - RED_ZONE


def frames():
    frame, count = gdb.newest_frame(), 0
    while frame is not None and count < MOST_FRAMES:
        yield frame
        frame, count = frame.older(), count + 1


def frame_around(address):
    """Where the function begins in whose frame the ADDRESS is, and the stack pointer there; None: it is in none."""
    if address < end_of_stack(gdb.newest_frame()):
        return None
    for frame in frames():
        if frame.type() != gdb.NORMAL_FRAME:
            continue
        end = callers_stack(frame)
        if end is None:
            return None
        if address < end:
            entry = entry_of(frame)
            return (entry, end - 8) if entry is not None and address < end - 8 else None
    return None


def frame_words(frame, address, size):
    """As a move takes them: FRAME as frame_around() has it, and the variable in it."""
    if not frame:
        return []
    name = own_variable(frame[1], address, size)
    return ["frame", "%x" % frame[0], "%x" % frame[1]] + ([name] if name else [])


def own_variable(stack, address, size):
    """The local variable of the running thread that the memory is a part of, in the activation that began with that STACK pointer."""
    found = local_at(address, size)
    if not found or present_thread() != replay().now()["tid"]:
        return None
    symbol, frame = found
    if symbol.type.strip_typedefs().code in REFERENCES or callers_stack(outer_frame(frame)) != stack + 8:
        return None
    end = (int(symbol.value(frame).address) & (2**64 - 1)) + symbol.type.sizeof
    return symbol.name if address + size <= end else None


# ---- names ----


def name_of_memory(address, size):
    found = name_of_local(address, size)
    return found or name_of_static(address, size)


def variables(frame):
    try:
        block = frame.block()
    except RuntimeError:
        return
    while block is not None and not block.is_static and not block.is_global:
        for symbol in block:
            if symbol.is_variable or symbol.is_argument:
                yield symbol
        block = None if block.function is not None else block.superblock


def name_of_local(address, size):
    found = local_at(address, size)
    return found and within(*found, address, size)


def local_at(address, size):
    """The local variable there, and a frame that has it; None: there is none.  What a parameter refers to may lie in another
    frame."""
    for frame in frames():
        if address < end_of_stack(frame):
            return None
        for symbol in variables(frame):
            if within(symbol, frame, address, size):
                return symbol, frame
    return None


def name_of_static(address, size):
    text = printed("info symbol %#x" % address).split(" in section")[0]
    name = text.split(" + ")[0]
    if name.startswith("No symbol"):
        return None
    symbol = static_symbol(name)
    return within(symbol, None, address, size) if symbol is not None and symbol.is_variable else (text, None)


def static_symbol(name):
    try:
        return gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
    except (AttributeError, gdb.error):  # GDB 10 has no lookup_static_symbol() of all files
        return None


def within(symbol, frame, address, size):
    try:
        value = symbol.value(frame) if symbol.needs_frame else symbol.value()
        if value.is_optimized_out or value.address is None:
            return None
        offset, kind = address - (int(value.address) & (2**64 - 1)), value.type
    except (gdb.error, TypeError, ValueError):
        return None
    if not 0 <= offset < max(kind.sizeof, 1):
        return None
    return part(symbol.print_name, kind, offset, size)


def part(name, kind, offset, size):
    """The smallest member of NAME that holds SIZE bytes at OFFSET."""
    bare = kind.strip_typedefs()
    if bare.code == gdb.TYPE_CODE_ARRAY:
        element = bare.target()
        if element.sizeof and offset % element.sizeof + size <= element.sizeof:
            return part("%s[%d]" % (name, offset // element.sizeof), element, offset % element.sizeof, size)
    if bare.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        for field in bare.fields():
            at = getattr(field, "bitpos", None)
            if at is None or field.name is None or field.bitsize:
                continue
            if at // 8 <= offset and offset + size <= at // 8 + field.type.sizeof:
                return part("%s.%s" % (name, field.name), field.type, offset - at // 8, size)
    return name, kind if kind.sizeof == size and not offset else None


def name_of_register(register, byte):
    if byte:
        return None
    frame = gdb.newest_frame()
    for symbol in variables(frame):
        if register_of(symbol.name, frame.pc()) == register:
            return symbol.print_name, symbol.type
    return None


def whole(register):
    """The name of the whole of a general register."""
    short = re.fullmatch(r"[er]?([a-d]x|[sd]i|[sb]p)", register)
    if short:
        return "r" + short.group(1)
    long = re.fullmatch(r"(r\d+)[dwb]?", register)
    return long.group(1) if long else register


def register_of(name, pc):
    """The register in which a variable of frame #0 is at PC, or None. A recording's names are no commands."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        return None
    try:
        text = printed("info address " + name)
    except gdb.error:
        return None
    plain = re.search(r"is a variable in \$(\w+)\.", text)
    if plain:
        return whole(plain.group(1))
    for begin, end, register in re.findall(r"Range (0x[0-9a-f]+)-(0x[0-9a-f]+): a variable in \$(\w+)", text):
        if int(begin, 16) <= pc < int(end, 16):
            return whole(register)
    return None
