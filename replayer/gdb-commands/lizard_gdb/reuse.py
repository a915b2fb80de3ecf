# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory of the C library's heap that was freed and allocated again."""
import re

import gdb

from .memory import found
from .moves import Interrupted, go, must
from .replay import position
from .text import printed

ALLOCATORS = ("malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc")
FREES = ("free", "cfree")
WORD = 8
MOST_STORES = 64  # of other functions of the C library, as memcpy(), to a block's first word


def plain(name):
    """The name that a program calls a function of the C library by."""
    return re.sub("^_+(GI_+)?(libc_)?", "", name or "")


def returns_of(function):
    """The addresses of the return instructions of a function of the C library."""
    try:
        if "libc" not in printed("info symbol " + function):
            return []
        return re.findall(r"^ *0x([0-9a-f]+)\b.*:\s+(?:\w+ )?ret", printed("disassemble " + function), re.M)
    except gdb.error:  # the program has none
        return []


def code_of_library():
    """Where the instructions of the C library are that has malloc(): begin and end. None: a program without."""
    try:
        address = int(gdb.parse_and_eval("(long) &malloc")) & (2**64 - 1)
    except gdb.error:
        return None
    sections = re.findall(r"(0x[0-9a-f]+) - (0x[0-9a-f]+) is \.text in \S*libc\b", printed("info files"))
    for begin, end in sections:
        if int(begin, 16) <= address < int(end, 16):
            return "%x" % int(begin, 16), "%x" % int(end, 16)
    return None


def in_library(code):
    """The frames of the C library that control is in."""
    frame = gdb.newest_frame()
    while frame is not None and int(code[0], 16) <= frame.pc() < int(code[1], 16):
        yield frame
        frame = frame.older()


def function_of(frame):
    """Its name and where it begins."""
    text = re.match(r"(\S+)(?: \+ (\d+))? in section", printed("info symbol %#x" % frame.pc()))
    return (plain(text.group(1)), frame.pc() - int(text.group(2) or 0)) if text else (plain(frame.name()), None)


def gap(where):
    return re.match(r"\d+:([\d,.]+)@", where).group(1)


class Block:
    """The one that holds ADDRESS at the present instant, HERE."""

    code = None  # of the library that has it

    def __init__(self, address):
        self.address, self.here = address, position()
        must("origin", "block", "%x" % address)
        words = found()
        self.exists = words["kind"] == "block"
        if self.exists:
            self.begin, self.size = int(words["block"]), int(words["size"])

    def last_store(self, bound):
        """Goes to the last store of the library to the length in front of the block or to its first word. Where a block begins, or
        has been freed, there is one. None: there is none, as far back as to BOUND."""
        words = ("access", "backward", "s", "%x" % (self.begin - WORD), str(2 * WORD), "from", bound, "by") + self.code
        must(*words)
        return None if "none" in found() else position()

    def follows(self, store, instant):
        """Is STORE, the last one before a later instant, behind INSTANT, or else in its gap?"""
        if gap(store) != gap(instant):
            return True
        go(instant)
        before = self.last_store(store)
        go(store)
        return before != store

    def kept_by_realloc(self, entry):
        """Was the address in the block that realloc() was given? Goes to where it was."""
        stored = position()
        try:
            must("jump", "backward", False, [entry])
        except gdb.error:
            return False
        frame = gdb.newest_frame()
        given = int(frame.read_register("rdi")) & (2**64 - 1)
        if given == self.begin:
            head = int.from_bytes(gdb.selected_inferior().read_memory(given - WORD, WORD), "little")
            if self.address < given + (head & ~7) - WORD:
                return True
        go(stored)
        return False

    def allocated_behind(self, freed):
        """Goes to the last allocation of the address that is behind the instant at which the block was freed."""
        returns = sum(map(returns_of, ALLOCATORS), [])
        go(self.here)
        if not returns:
            return False
        must("origin", "allocation", "%x" % self.address, "from", freed, *returns)
        if found()["kind"] != "allocated":
            return False
        returned = position()
        if gap(returned) != gap(freed):
            return True
        behind = self.last_store(freed) == freed
        go(returned)
        return behind

    def allocation_since(self, since):
        """Goes into the last allocation of the address behind SINCE, and returns the function's name. None: there is none."""
        for _ in range(MOST_STORES):
            stored = self.last_store(since)
            if stored is None or not self.follows(stored, since):
                return None
            for frame in in_library(self.code):
                name, entry = function_of(frame)
                if name == "realloc" and entry and self.kept_by_realloc(entry):
                    break
                if name in ALLOCATORS:
                    return name
                if name in FREES:
                    return plain(gdb.newest_frame().name()) if self.allocated_behind(stored) else None
        return None


def reused(block, since):
    """The name of the function that allocated BLOCK between SINCE and its instant: goes there. None: none did, and goes to SINCE."""
    block.code = code_of_library() if block.exists else None
    if block.code is None:
        return None
    go(block.here)
    name = block.allocation_since(since)
    if name is None:
        go(since)
    return name


def caller(block):
    """The frame that has called the library."""
    frame = gdb.newest_frame()
    for frame in in_library(block.code):
        pass
    return frame.older() or frame
