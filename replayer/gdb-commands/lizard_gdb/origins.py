# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a value came from: link by link."""
import re

import gdb

from .expressions import assigns
from .libraries import refresh_libraries
from .locations import Location, register_of
from .moves import go, must
from .replay import position
from .reuse import ALLOCATORS, Block, caller, plain, returns_of, reused
from .server import monitor
from .text import printed

MOST_LINKS = 200
MOST_NAMING = 6  # copies that are followed to name what an instruction computes with


class Origin:
    """What put a value where it is. The present instant is right before it, or the same if it is not known."""

    def __init__(self, *words):
        must("origin", *words)
        refresh_libraries()
        lines = [line.split("=", 1) for line in monitor("found").splitlines()]
        self.is_ = dict(lines)
        self.kind, self.insn = self.is_["kind"], self.is_["insn"]
        self.inputs = [Location(text.split()) for key, text in lines if key == "input"]
        self.source = Location(self.is_["from"].split()) if "from" in self.is_ else None
        self.position = position()

    def is_proven(self):
        return self.is_.get("proven") != "0"


def place(frame=None):
    """The present one in a few words."""
    frame = frame or gdb.newest_frame()
    line = frame.find_sal()
    name = frame.name() or "%#x" % frame.pc()
    return "%s, %s:%d" % (name, line.symtab.filename.rsplit("/", 1)[-1], line.line) if line.symtab else name


def location_of(expression):
    """What it refers to now, or in frame #0 the register that it is in."""
    if assigns(expression):
        raise gdb.GdbError('flowback: "%s" changes what it is to follow; "==" compares.' % expression)
    register = re.fullmatch(r"\$(\w+)", expression)
    if register and expression not in ("$pc", "$sp", "$fp", "$rip", "$eflags"):
        size = gdb.parse_and_eval(expression).type.sizeof
        return Location(["register", register.group(1), "0", str(min(size, 32))])
    value = gdb.parse_and_eval(expression)
    if value.is_optimized_out:
        raise gdb.GdbError("%s is optimized out here." % expression)
    if value.address is not None:
        value.fetch_lazy()
        return Location(["memory", "%x" % (int(value.address) & (2**64 - 1)), str(value.type.sizeof)])
    frame = gdb.selected_frame()
    name = register_of(expression, frame.pc()) if re.fullmatch(r"\w+", expression) else None
    if name is None:
        raise gdb.GdbError("%s is neither in memory nor in a register: its parts can be followed." % expression)
    if frame.level() and frame != gdb.newest_frame():
        raise gdb.GdbError("%s is in a register of an outer frame: \"finish\" or \"bs\" leads to where it can be followed." % expression)
    return Location(["register", name, "0", str(value.type.sizeof)])


class Link:
    """One that is shown."""

    def __init__(self, text, inputs=(), ends=False):
        self.position, self.place, self.text, self.inputs, self.ends = position(), place(), text, inputs, ends


class Input:
    """Something that an instruction computes with: as it was named there, and from where it is followed."""

    def __init__(self, location):
        """At the present instant; comes back to it."""
        here = position()
        self.position, self.location, self.text = here, location, location.shown()
        self.name_by_source()
        go(here)

    def name_by_source(self):
        """A register without a name was loaded from something, as a rule in the same line."""
        line, location = place(), self.location
        if gdb.newest_frame().find_sal().symtab is None:
            return
        for _ in range(MOST_NAMING):
            if location.in_memory or location.named():
                break
            origin = Origin(*location.words())
            if origin.kind == "constant" and place() == line:
                self.text = "the constant %s" % location.value()
            if origin.kind != "copy" or not origin.is_proven() or place() != line:
                return
            location = origin.source
        self.position, self.location, self.text = position(), location, location.shown()


def made(origin, how="made"):
    inputs = [Input(location) for location in origin.inputs]
    return Link("%s by `%s` of %s" % (how, origin.insn, ", ".join(one.text for one in inputs) or "nothing"), inputs, True)


def event_text(number):
    """An event that is elsewhere."""
    return "%s, event %s" % (Origin("event", number).is_["call"], number)


def descriptor_text(origin):
    """What a call has read from: what made the descriptor and named its other end, and where in the file."""
    if "made" not in origin.is_:
        return ""
    here = position()
    events = [event_text(origin.is_[key]) for key in ("made", "peer") if key in origin.is_]
    go(here)
    offset = ", offset %s" % origin.is_["offset"] if "offset" in origin.is_ else ""
    return "; descriptor %s is of %s%s" % (origin.is_["fd"], " and ".join(events), offset)


def from_event(origin, ends=True):
    byte = ", byte %s of what it gave" % origin.is_["byte"] if "byte" in origin.is_ else ""
    text = "from %s, event %s%s%s" % (origin.is_["call"], origin.is_["event"], byte, descriptor_text(origin))
    return Link(text, ends=ends)


def through_pipe(origin, size):
    """Where the process itself wrote what it has read now: goes there. None: another value was there."""
    event, byte = origin.is_["sent"].split()
    sent = Origin("event", event, byte, size)
    read = bytes.fromhex(origin.is_["value"])
    return sent if sent.source.bytes == read[: len(sent.source.bytes)] else None


def section_of(address):
    """The section of a file that is mapped there, or None."""
    for begin, end, name in re.findall(r"(0x[0-9a-f]+) - (0x[0-9a-f]+) is (\S+)", printed("info files")):
        if int(begin, 16) <= address < int(end, 16):
            return name
    return None


MAPS = re.compile(r"(mmap|brk|mremap)\(")

def caller_place():
    """Who called the C library's function, as far as the source says."""
    frame = gdb.newest_frame().older()
    while frame is not None and not frame.find_sal().symtab:
        frame = frame.older()
    return place(frame or gdb.newest_frame())


def fresh_block(location, here, event, since):
    """The link of memory that a call has mapped at SINCE and nothing has written up to HERE, if it was allocated between: goes to
    right before the allocation returns. None: it was not, and nothing moves."""
    returns = sum(map(returns_of, ALLOCATORS), [])
    if not returns:
        return None
    go(here)
    must("origin", "allocation", "%x" % location.address, "from", since, *returns)
    found = dict(line.split("=", 1) for line in monitor("found").splitlines())
    if found["kind"] != "allocated":
        go(since)
        return None
    block = "%s bytes at %#x" % (found["size"], int(found["block"]))
    name = plain(gdb.newest_frame().name()) or "the C library"
    link = Link("never written since %s gave it, in a block of %s; its memory is %s" % (name, block, event), ends=True)
    link.place = caller_place()
    return link


def reused_block(block, since):
    """The link of memory that was allocated again since the present instant SINCE, at which it was last written: goes into the
    allocation. None: it was not, and nothing moves."""
    name = reused(block, since)
    if name is None:
        return None
    link = Link("never written since %s gave it again, in a block of %d bytes at %#x" % (name, block.size, block.begin), ends=True)
    link.place = place(caller(block))
    return link


def from_begin(location):
    """Nothing has written it since the recording began."""
    section = section_of(location.address)
    if section in (".bss", ".tbss"):
        return "never written: zero as the program begins"
    if section:
        return "the initial data of the program's file, section %s" % section
    stack = int(gdb.newest_frame().read_register("rsp")) & (2**64 - 1)
    if location.address >= stack:
        return "the arguments or the environment that the program was started with"
    return "never written since the recording began"


def end_of(origin, location):
    """The link at which a chain ends."""
    if origin.kind == "made":
        return made(origin)
    if origin.kind == "constant":
        return Link("the constant %s in `%s`" % (signed(int(origin.is_["constant"]), location.size), origin.insn), ends=True)
    if origin.kind == "address":
        number = int(origin.is_["constant"])
        name = printed("info symbol %#x" % number).split(" in section")[0]
        return Link("the address %#x%s" % (number, "" if name.startswith("No symbol") else " of " + name), ends=True)
    if origin.kind == "event":
        return from_event(origin)
    if origin.kind == "frame":
        return Link("never written since the function was called: it is not initialized", ends=True)
    if origin.kind == "begin":
        return Link(from_begin(location), ends=True)
    return Link("not followed further: too many instructions without markers", ends=True)


def signed(number, size):
    bits = 8 * min(size, 8)
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


def follow(location):
    """The links from the present instant on. Copies between registers without names are followed and not shown."""
    for _ in range(MOST_LINKS):
        here = position()
        block = Block(location.address) if location.in_memory else None
        origin = Origin(*location.words())
        if origin.kind == "event" and MAPS.match(origin.is_["call"]):
            link = fresh_block(location, here, from_event(origin).text, origin.position)
            if link:
                yield link
                return
        elif block and origin.kind not in ("begin", "frame", "far"):
            link = reused_block(block, origin.position)
            if link:
                yield link
                return
        if "sent" in origin.is_:
            yield from_event(origin, ends=False)
            sent = through_pipe(origin, location.size)
            if sent is None:
                yield Link("not followed further: it was not written by this process", ends=True)
                return
            location = sent.source
            yield Link("written by %s, event %s, from %s" % (sent.is_["call"], sent.is_["event"], location.shown()))
            continue
        if origin.kind != "copy":
            yield end_of(origin, location)
            return
        if not origin.is_proven():
            yield Link("another value was in %s before `%s`: not followed further" % (origin.source.plain(), origin.insn), ends=True)
            return
        location = origin.source
        if location.in_memory or location.named():
            yield Link("copied from %s" % location.shown())
    yield Link("not followed further: %d links" % MOST_LINKS, ends=True)
