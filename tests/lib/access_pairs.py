# SPDX-License-Identifier: GPL-3.0-or-later
"""last, info access and flowback at random positions, for random variables there, against GDB's own forward watchpoints.
Run inside lizard-gdb.

Parameters, in the environment:
  PAIRS_LAST      how many pairs for last (default 20); a fourth of that for info access
  PAIRS_FLOWBACK  how many pairs for flowback (default 10)
  PAIRS_SEED      of the random choices (default 1)
  PAIRS_OUT       file for the result: lines `ok ...`, `not ok ...`, `# ...`

A forward run has one hardware watchpoint for accesses, and a breakpoint at the instant that it must not pass. What an
access was, load or store, GDB's disassembler tells. Accesses by system calls are no hits of hardware watchpoints: of a call
that an answer names, its registers are looked at.
"""
import os
import random
import re
import sys
import traceback

import gdb
from lizard_gdb.origins import Origin, location_of
from lizard_gdb.locations import Location

LAST = int(os.environ.get("PAIRS_LAST", "20"))
FLOWBACK = int(os.environ.get("PAIRS_FLOWBACK", "10"))
SEED = int(os.environ.get("PAIRS_SEED", "1"))
MOST_STOPS = 30  # of a watchpoint for accesses between two instants, that are looked at one by one
# of those behind instructions that are known; for -w, changes are a proof as well
MOST_PASSED = {"-w": 300, "-r": 5000, "-a": 5000}
MOST_IN_STRETCH = 25
MOST_LINKS = 12  # of a chain
FRAMES = 4
WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
REGISTERS = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14".split()


class TooMany(Exception):
    """More accesses than a proof looks at."""


def do(command):
    return gdb.execute(command, to_string=True)


def when():
    return dict(line.split("=", 1) for line in do("monitor when").splitlines() if "=" in line)


def position():
    return when()["position"]


def seek(where):
    do("jump_forward " + where)


def instant(where):
    return tuple(int(n.replace(",", "")) for n in re.match(r"\d+:([\d,]+)\.([\d,]+)@", where).groups())


def register(name):
    return int(gdb.newest_frame().read_register(name)) & (2**64 - 1)


# ---- random variables ----


def scalar(rng, value, expression):
    """A part of VALUE that one watchpoint can hold, and its expression; None: there is none."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        if not 0 <= low <= high:
            return None
        i = rng.randint(low, min(high, low + 1000))
        return scalar(rng, value[i], "%s[%d]" % (expression, i))
    if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        fields = [f for f in kind.fields() if f.name and getattr(f, "bitpos", None) is not None and not f.bitsize]
        if not fields:
            return None
        field = rng.choice(fields)
        return scalar(rng, value[field], "%s.%s" % (expression, field.name))
    if kind.code == gdb.TYPE_CODE_PTR and rng.random() < 0.5:
        target = kind.target().strip_typedefs()
        if target.code not in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC) and target.sizeof:
            found = try_scalar(rng, value.dereference, "(*%s)" % expression)
            if found:
                return found
    if value.is_optimized_out or value.is_lazy and not readable(value):
        return None
    return (value, expression) if kind.sizeof in WORDS else None


def readable(value):
    try:
        value.fetch_lazy()
        return True
    except gdb.error:
        return False


def try_scalar(rng, get, expression):
    try:
        found = scalar(rng, get(), expression)
        return found if found and readable(found[0]) else None
    except gdb.error:
        return None


def locals_of(frame):
    """Those that the source can name here."""
    seen, block = set(), frame.block()
    while block is not None and not block.is_static and not block.is_global:
        for symbol in block:
            if (symbol.is_variable or symbol.is_argument) and symbol.name not in seen:
                seen.add(symbol.name)
                yield symbol
        block = None if block.function is not None else block.superblock


def statics_of(frame):
    symtab = frame.find_sal().symtab
    if symtab is None:
        return
    for block in (symtab.static_block(), symtab.global_block()):
        for symbol in block:
            if symbol.is_variable and not symbol.needs_frame:
                yield symbol


def random_frame(rng):
    frame = gdb.newest_frame()
    for _ in range(rng.randrange(FRAMES)):
        older = frame.older()
        if older is None or older.type() != gdb.NORMAL_FRAME:
            break
        frame = older
    return frame


def random_variable(rng):
    """(expression, address, size) at the present instant, whose frame is selected; None: there is none."""
    frame = random_frame(rng)
    try:
        choice = list((locals_of if rng.random() < 0.7 else statics_of)(frame))
    except RuntimeError:
        return None
    if not choice:
        return None
    frame.select()
    symbol = rng.choice(sorted(choice, key=lambda one: one.name))
    found = try_scalar(rng, lambda: gdb.parse_and_eval(symbol.name), symbol.name)
    if not found or found[0].address is None:
        return None
    address, size = int(found[0].address) & (2**64 - 1), found[0].type.sizeof
    return None if address % size else (found[1], address, size)


def percent(marker, total):
    return "%.9f%%" % (100.0 * marker / max(1, total))


def random_pair(rng, total):
    """Goes to a random instant. (position, expression, address, size, frame level)."""
    while True:
        seek(percent(rng.randrange(total + 1), total))
        for _ in range(rng.randrange(8)):
            do("stepi")
        found = random_variable(rng)
        if found:
            return (position(),) + found + (gdb.selected_frame().level(),)


# ---- the forward run ----


class Bound:
    """A breakpoint that is met at one instant, or seldom elsewhere: the registers must be the same."""

    def __init__(self, where):
        seek(where)
        self.where = where
        condition = " && ".join("$%s == %d" % (name, signed(register(name))) for name in REGISTERS)
        self.point = gdb.Breakpoint("*%#x" % register("rip"), internal=True)
        self.point.silent = True
        self.point.condition = condition

    def passed(self, now):
        """Whether NOW is at the bound or behind it. Between the same markers and events, only its breakpoint tells."""
        return now == self.where or instant(now) > instant(self.where)


def signed(value):
    return value - 2**64 if value >> 63 else value


LOADS = re.compile(r"(cmp|test|bt|u?comis[sd]|v?u?comis[sd]|jmp|nop|prefetch\w*|i?mul|i?div|f\w*ld\w*|fild|fadd|fsub\w*|fmul|fdiv\w*|fi\w*|fcom\w*|xrstor\w*|fxrstor\w*|ldmxcsr|vldmxcsr)$")
BOTH = re.compile(r"(add|sub|and|or|xor|inc|dec|neg|not|adc|sbb|sh[lr]d?|sar|sal|ro[lr]|rc[lr]|xadd|xchg|cmpxchg\w*|bt[src])$")
STORED_FLOATS = re.compile(r"(fst\w*|fist\w*|fn?st\w*)$")
STRINGS = re.compile(r"(movs|stos|lods|scas|cmps)[bwdq]?$")
BY_REGISTERS = re.compile(r"(syscall|push\w*|pop\w*|call|ret|leave|j\w+)$|" + STRINGS.pattern)


def next_insn():
    """(name, operands, the text) of the instruction that comes next."""
    text = do("x/i $pc").split(":\t", 1)[1].split("#")[0].strip()
    words = text.split(None, 1)
    while words[0] in ("rep", "repz", "repnz", "lock", "notrack", "bnd", "data16", "addr32", "fs", "gs", "ds"):
        words = words[1].split(None, 1)
    return words[0], words[1] if len(words) > 1 else "", text


def accesses(address, size):
    """(reads, writes) of the instruction that comes next, to the memory."""
    name, operands, text = next_insn()
    first = re.split(r",(?![^\[]*\])", operands)[0] if operands else ""

    def meets(begin, length):
        return begin < address + size and address < begin + length

    sp = register("rsp")
    if name == "syscall":
        return False, True
    if name in ("push", "call", "pushf"):
        stored = meets(sp - 8, 8)
        return "[" in operands and not stored, stored
    if name in ("pop", "ret", "leave"):
        stack = register("rbp") if name == "leave" else sp
        loaded = meets(stack, 8)
        return loaded, not loaded
    if STRINGS.match(name) and ("es:" in operands or "ds:" in operands):
        width = {"BYTE": 1, "WORD": 2, "DWORD": 4, "QWORD": 8}[re.search(r"(BYTE|DWORD|QWORD|WORD) PTR", operands).group(1)]
        rounds = register("rcx") if text.startswith("rep") else 1
        stored = name[:4] in ("movs", "stos") and meets(register("rdi"), width * rounds)
        source = "rdi" if name.startswith("scas") else "rsi"
        loaded = name[:4] != "stos" and (meets(register(source), width * rounds) or name[:4] == "cmps" and not stored)
        return loaded, stored
    if "[" not in first and "ds:" not in first and not re.match(r"[fg]s:", first.split()[-1] if first else ""):
        return True, name in ("xchg", "xadd") # the memory is not what it writes
    if STORED_FLOATS.match(name):
        return False, True
    if LOADS.match(name):
        return True, False
    return bool(BOTH.match(name)), not re.match("cmov", name)


class Watch(gdb.Breakpoint):
    """A watchpoint that does not stop behind the instructions that are KNOWN by where they end."""

    def __init__(self, address, size, kind):
        super().__init__("*(%s *) %#x" % (WORDS[size], address), gdb.BP_WATCHPOINT, kind, internal=True)
        self.silent = True
        self.known, self.passed, self.most = set(), 0, 0

    def stop(self):
        if self.passed == self.most or register("rip") not in self.known:
            return True
        self.passed += 1
        return False


def hits(bound, address, size, begin, kind=gdb.WP_ACCESS):
    """(position, watchpoint) right behind where a watchpoint fires, from BEGIN on up to the bound."""
    seek(begin)
    point = Watch(address, size, kind)
    try:
        while True:
            before = point.hit_count
            do("continue")
            now = when()
            stopped = now["position"]
            if now["end"] == "1":
                return
            if instant(stopped) > instant(bound.where):
                return
            if point.hit_count > before:
                yield stopped, point
            if stopped == bound.where:
                return
    finally:
        if point.is_valid():
            point.delete()


def changes(bound, address, size, begin):
    """Positions right behind which the value has changed."""
    return [stopped for stopped, _ in hits(bound, address, size, begin, gdb.WP_WRITE)]


def same_each_time(end):
    """Whether the instruction that comes next does the same to memory whenever something ends at END. Only a call, a return
    or a jump ends elsewhere than behind itself; a return's and a call's end has a call or no instruction in front."""
    length = gdb.selected_frame().architecture().disassemble(register("rip"))[0]["length"]
    return register("rip") + length == end and not BY_REGISTERS.match(next_insn()[0])


def classed(bound, address, size, begin, kind=None, most=MOST_STOPS):
    """(position before, reads, writes) of what a watchpoint for accesses finds. With KIND, instructions that are found to do
    only the other are passed over from then on."""
    found = []
    for stopped, point in hits(bound, address, size, begin):
        point.most = MOST_PASSED.get(kind)
        end = register("rip")
        do("reverse-stepi")
        found.append((position(),) + accesses(address, size))
        if kind and not fits(kind, *found[-1][1:]) and same_each_time(end):
            point.known.add(end)
        if len(found) > most or point.passed == point.most:
            raise TooMany()
        seek(stopped)
    return found


# ---- checks ----


class Result:
    def __init__(self):
        self.out = open(os.environ["PAIRS_OUT"], "w")
        self.reset()

    def reset(self):
        self.compared = self.wrong = self.calls = self.none = self.many = self.links = 0

    def diag(self, text):
        for line in text.splitlines():
            self.out.write("# %s\n" % line)
        self.out.flush()

    def check(self, good, text):
        self.compared += 1
        if not good:
            self.wrong += 1
            self.diag(text)

    def end(self, name, more):
        if not self.compared and not self.wrong and not (LAST if name != "flowback" else FLOWBACK):
            return  # it was not asked for
        good = not self.wrong and self.compared
        self.out.write("%s %s: %d compared, %d wrong, %s\n" % ("ok" if good else "not ok", name, self.compared, self.wrong, more))
        self.out.flush()
        self.reset()


def fits(kind, reads, writes):
    return writes if kind == "-w" else reads if kind == "-r" else reads or writes


def call_leads_to(address):
    """Whether one of the registers of the system call that comes next, or an array that it refers to, leads there."""
    inferior = gdb.selected_inferior()
    for name in ("rdi", "rsi", "rdx", "r10", "r8", "r9"):
        begin = register(name)
        if begin <= address < begin + (1 << 24):
            return True
        try:
            near = bytes(inferior.read_memory(begin, 256))
        except gdb.error:
            continue
        for i in range(0, 256, 8):
            begin = int.from_bytes(near[i : i + 8], "little")
            if begin <= address < begin + (1 << 24):
                return True
    return False


def frame_start(address, where):
    """Right before the call of the function in whose frame the memory is."""
    seek(where)
    frame = gdb.newest_frame()
    while frame is not None:
        older = frame.older()
        if older is None:
            return "start"
        if address < (int(older.read_register("rsp")) & (2**64 - 1)):
            break
        frame = older
    frame.select()
    do("reverse-finish")
    return position()


def check_last(result, pair, kind):
    where, expression, address, size, level = pair
    seek(where)
    do("frame %d" % level)
    text = do("last %s %s" % (kind, expression))
    at = position()

    def told(why):
        return "last %s %s from %s, frame %d, %d bytes at %#x: %s\n got %s:\n%s" % (kind, expression, where, level, size, address, why, at, text)

    moved = "nothing has moved" not in text
    by_call = re.search(r"(?:written|read|read and written) by .*, event \d+\.$", text, re.M)
    if not moved:
        result.none += 1
        if at != where:
            result.check(False, told("moved"))
            return
        begin = frame_start(address, where) if "since its function" in text else "start"
    else:
        begin = at
    if by_call:
        result.calls += 1
        if not call_leads_to(address) and "mmap" not in text and "brk" not in text and "execve" not in text:
            result.check(False, told("the call's registers do not lead there"))
            return
    bound = Bound(where)
    try:
        try:
            found = classed(bound, address, size, begin, kind)
        except TooMany:
            result.many += 1
            found = None
        if found is None:  # changes only, and the first access
            changed = changes(bound, address, size, begin) if kind == "-w" else []
            seek(begin)
            do("stepi")
            good = not moved and not changed or moved and changed in ([], [position()])
            result.check(good and kind == "-w", told("too many accesses; a watchpoint for changes fires at %s" % changed))
            return
        fitting = [before for before, reads, writes in found if fits(kind, reads, writes)]
        # what a call gives is seen if the value changes, but it is no instruction's access
        fitting = [one for one in fitting if not (by_call and one == at)]
        want = [at] if moved and not by_call else []
        result.check(fitting == want, told("forward runs find %s, all %s" % (fitting, found)))
    finally:
        bound.point.delete()


def check_info(result, rng, pair):
    where, expression, address, size, level = pair
    seek(where)
    marker, total = instant(where)[0], int(when()["total"])
    bound = Bound(where)
    try:
        for steps in (2000, 200, 30):
            seek(percent(max(0, marker - rng.randrange(steps // 2, steps)), total))
            begin = position()
            if instant(begin) >= instant(where):
                continue
            try:
                found = classed(bound, address, size, begin, most=MOST_IN_STRETCH)
                break
            except TooMany:
                continue
        else:
            result.many += 1
            return
    finally:
        bound.point.delete()
    seek(where)
    do("frame %d" % level)
    text = do("info access %s -since %s" % (expression, begin))
    if ", event " in text:
        result.calls += 1
        return
    for what, k in (("written", "-w"), ("read", "-r")):
        want = [before for before, reads, writes in found if fits(k, reads, writes)]
        got = re.findall(r"^(?:first|last) %s: (\S+), " % what, text, re.M)
        result.check(
            got == ([want[0], want[-1]] if want else []),
            "info access %s (%#x) from %s since %s: %s: forward runs find %s\n%s" % (expression, address, where, begin, what, want, text),
        )
    result.check(position() == where, "info access %s moved from %s" % (expression, where))


# ---- chains ----


def value_at(location):
    """The bytes of a location at the present instant; None: GDB has no simple name for it."""
    if location.in_memory:
        return bytes(gdb.selected_inferior().read_memory(location.address, location.size))
    vector = re.fullmatch(r"[xyz]mm(\d+)", location.register)
    if vector:
        if location.byte + location.size > 16:
            return None
        halves = gdb.parse_and_eval("$xmm%s.v2_int64" % vector.group(1))
        whole = sum((int(halves[i]) & (2**64 - 1)) << 64 * i for i in range(2))
    else:
        name = "eflags" if location.register == "rflags" else location.register
        whole = int(gdb.newest_frame().read_register(name)) & (2**64 - 1)
    return (whole >> 8 * location.byte).to_bytes(24, "little")[: location.size]


def aligned_parts(location):
    at, end = location.address, location.address + location.size
    while at < end:
        size = 8
        while at % size or size > end - at:
            size //= 2
        yield at, size
        at += size


def check_chain(result, pair):
    where, expression, _, _, level = pair
    seek(where)
    do("frame %d" % level)
    location = location_of(expression)
    said = []
    for _ in range(MOST_LINKS):
        origin = Origin(*location.words())
        at = origin.position
        said.append("%s %s `%s` %s" % (at, origin.kind, origin.insn, origin.is_.get("of", "")))

        def told(why):
            return "flowback %s from %s, link %d: %s\n%s" % (expression, pair[0], len(said), why, "\n".join(said))

        result.links += 1
        if origin.kind in ("far", "begin", "frame"):
            if origin.kind == "begin":
                check_quiet(result, location, "start", where, told)
            elif origin.kind == "frame":
                check_quiet(result, location, frame_start(location.address, where), where, told)
            return
        of = Location(origin.is_["of"].split()) if "of" in origin.is_ else location
        seek(where)
        wanted = value_at(of)
        seek(at)
        source = value_at(origin.source) if origin.source else None
        do("stepi")
        behind = position()
        got = value_at(of)
        if wanted is not None:
            result.check(got == wanted, told("%s is %s behind the link and %s at the next" % (of.plain(), got, wanted)))
        if of.in_memory:
            check_quiet(result, of, behind, where, told)
        if origin.kind != "copy" or not origin.is_proven():
            return
        if source is not None and wanted is not None:
            result.check(source == wanted[: len(source)], told("%s is copied, and %s wanted" % (source, wanted)))
        where, location = at, origin.source
        seek(at)


def check_quiet(result, location, begin, end, told):
    """No watchpoint for changes fires between."""
    bound = Bound(end)
    try:
        for at, size in list(aligned_parts(location))[:4]:
            fired = changes(bound, at, size, begin)
            result.check(not fired, told("%d bytes at %#x change at %s" % (size, at, fired)))
    finally:
        bound.point.delete()


def main():
    rng = random.Random(SEED)
    result = Result()
    total = int(when()["total"])
    for setting in ("suppress-cli-notifications on", "disassembly-flavor intel", "backtrace past-main on", "confirm off"):
        do("set " + setting)
    do("handle all nostop noprint pass")
    kinds = ("-w", "-r", "-a")
    for i in range(LAST):
        pair = random_pair(rng, total)
        check_last(result, pair, kinds[i % 3])
    result.end("last", "%d by calls, %d without, %d by changes only" % (result.calls, result.none, result.many))
    for _ in range(2 * LAST):  # not all can be proven
        if result.compared < 3 * (LAST // 4):
            check_info(result, rng, random_pair(rng, total))
    result.end("info access", "%d with calls, %d with too many accesses" % (result.calls, result.many))
    for _ in range(FLOWBACK):
        check_chain(result, random_pair(rng, total))
    result.end("flowback", "%d links" % result.links)
    result.out.write("done\n")
    result.out.close()


try:
    main()
except Exception:
    traceback.print_exc(file=sys.stdout)
    raise
