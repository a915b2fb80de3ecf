# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions by the names that GDB has for them, and by those in the recording: the linker's."""
import collections
import functools
import re

import gdb

from .asked import ask, recording, rows
from .jumps import addresses, is_harmless
from .text import escaped, printed

MANGLED = re.compile(r"\b_Z\w+")
ONE_WORD = re.compile(r"_Z[\w.$]+")
BREAKS = re.compile(r"[\n\t]")
PARAMETERS = re.compile(r"\((?:[^()]|\([^()]*\))*\)( const)?$")
RETURNED = re.compile(r"^[^<> ]+ (?=[^ ]*<.*>$)")


def linkage_name(address):
    """Of the function whose code is at ADDRESS. None: it has none, or is inlined there."""
    blocks, block = [], gdb.block_for_pc(address)
    while block is not None:
        blocks += [block] if block.function is not None else []
        block = block.superblock
    if not blocks or any(outer.start <= address < outer.end for outer in blocks[1:]):
        return None
    return blocks[0].function.linkage_name


def is_strange(function):
    """Is it the name of a recorded function that GDB would take for something else? A script may have it from an answer."""
    return not is_harmless(function) and (function in Known.now().names or function in Known.now().shown)


def recorded_names(function):
    """The linker's names of what FUNCTION means to GDB and what has markers; FUNCTION itself if there is nothing, as in
    another program of the process."""
    known, found = Known.now(), set()
    if is_strange(function):
        return sorted({function} & known.names) or known.shown[function]
    try:
        names = {linkage_name(address) for address in addresses(function)} - {None}
    except (gdb.error, gdb.GdbError):
        return [function]
    for name in names:
        found.update([name] if name in known.names else known.shown.get(name, ()))
    return sorted(found) or [function]


def ask_functions(command, options, functions):
    """What `lizard COMMAND` says of FUNCTIONS."""
    return ask(command, options, [name for function in functions for name in recorded_names(function)])


@functools.lru_cache(maxsize=10000)
def shown_name(name):
    """The linker's NAME as GDB shows it."""
    if not name or not ONE_WORD.fullmatch(name):
        return name and BREAKS.sub(escaped, name)
    try:
        return printed("demangle -- " + name).rstrip("\n")
    except gdb.error:
        return name


def shown_names(text):
    """TEXT with all linker's names in it as GDB shows them."""
    return MANGLED.sub(lambda found: shown_name(found.group()), text)


class Known:
    """The functions that have markers, of one recording."""

    latest = None

    def __init__(self, where):
        self.recording = where
        self.names = {row["function"] for row in rows("calls", ["--names"])}
        self.shown = collections.defaultdict(list)  # a static function of C++ has no linker's name in GDB
        for name in self.names:
            self.shown[shown_name(name)].append(name)

    @classmethod
    def now(cls):
        """Of the recording at hand."""
        where = recording()
        if cls.latest is None or cls.latest.recording != where:
            cls.latest = cls(where)
        return cls.latest

    def typed(self):
        """As a user types them: without parameters, and without the type that a template returns."""
        return sorted({RETURNED.sub("", PARAMETERS.sub("", name)) for name in self.shown if is_harmless(name)})


def completions(text, word, options):
    """Of the option or the function's name that TEXT ends with. WORD is what GDB takes for its end."""
    name = re.search(r"\S*$", text).group()
    try:
        all_names = options if name.startswith("-") else Known.now().typed()
    except (gdb.error, gdb.GdbError):
        return []
    return [whole[len(name) - len(word or "") :] for whole in all_names if whole.startswith(name)]
