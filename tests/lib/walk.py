# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks against the truth, run inside lizard-gdb: what Lizard finds backwards and by jumping against what
GDB's own forward step, next, breakpoints and watchpoints found.

Parameters, in the environment:
  WALK_MODES      any of step next jump watch (default: step next)
  WALK_SEED       of the random positions (default 1)
  WALK_POSITIONS  how many of them (default 50)
  WALK_FROM       the first arrivals at these locations, separated by blanks, instead of random positions
  WALK_N          steps, arrivals or changes from each (default 20)
  WALK_PLACES     for jump: locations as for `break`, separated by blanks; default: lines met by stepping
  WALK_WATCH      for watch: expressions, separated by ;
  WALK_TWO_WAYS   set for a program in which GDB's own stepping is known to lead to one stop from two, or past a stop that
                  it makes elsewhere (docs/design/exceptions.md): such a difference, shown by stepping, is an exception
  WALK_SKIPS      arguments of `skip`, separated by ;
  WALK_OUT        file for the result: lines `ok ...`, `not ok ...`, `# ...`; each exception is one of the latter
"""
import os
import random
import re
import sys
import traceback

import gdb

MODES = os.environ.get("WALK_MODES", "step next").split()
SEED = int(os.environ.get("WALK_SEED", "1"))
POSITIONS = int(os.environ.get("WALK_POSITIONS", "50"))
FROM = os.environ.get("WALK_FROM", "").split()
N = int(os.environ.get("WALK_N", "20"))
MAX_DEPTH = 64
TWO_WAYS = os.environ.get("WALK_TWO_WAYS")


class Result:
    def __init__(self):
        self.out = open(os.environ["WALK_OUT"], "w")
        self.compared = 0
        self.wrong = 0
        self.excepted = 0

    def diag(self, text):
        for line in text.splitlines():
            self.out.write("# %s\n" % line)
        self.out.flush()

    def end(self, name):
        good = self.wrong == 0 and self.compared > 0
        excepted = ", %d exceptions" % self.excepted if self.excepted else ""
        self.out.write(
            "%s %s: %d compared, %d wrong%s\n"
            % ("ok" if good else "not ok", name, self.compared, self.wrong, excepted)
        )
        self.out.flush()
        self.compared = self.wrong = self.excepted = 0

    def check(self, good, text, exception=lambda: None):
        """EXCEPTION: what GDB shows that makes it none of Lizard's faults, or None."""
        self.compared += 1
        if good:
            return
        shown = exception()
        if shown:
            self.excepted += 1
            self.diag("exception: " + shown)
        else:
            self.wrong += 1
            if self.wrong <= 10:
                self.diag(text())


class Moment:
    """An instant with what a user sees there."""

    def __init__(self):
        w = when()
        self.position = w["position"]
        self.thread = w["tid"]
        self.end = w["end"] == "1"
        self.start = w["start"] == "1"
        frame = gdb.newest_frame()
        sal = frame.find_sal()
        self.line = "%s:%d" % (os.path.basename(sal.symtab.filename) if sal.symtab else "?", sal.line)
        self.name = frame.name()
        self.depth = self.frames = 0
        while frame is not None and self.depth < MAX_DEPTH:
            self.depth += 1
            self.frames += frame.type() != gdb.INLINE_FRAME
            frame = frame.older()

    def key(self):
        return (self.position, self.line, self.depth)

    def __str__(self):
        return "%s %s %s depth %d" % (self.position, self.name, self.line, self.depth)


def when():
    text = gdb.execute("monitor when", to_string=True)
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def seek(position):
    gdb.execute("jump_forward " + position, to_string=True)


def do(command):
    """False if GDB refused."""
    try:
        gdb.execute(command, to_string=True)
        return True
    except gdb.error as e:
        gdb.write("walk: %s: %s\n" % (command, e))
        return False


def first_arrival(place):
    seek("start")
    seek(place)
    return when()["position"]


def random_positions(rng, total):
    if FROM:
        yield from map(first_arrival, FROM)
        return
    for _ in range(POSITIONS):
        yield "%.9f%%" % (100.0 * rng.randrange(total + 1) / max(1, total))


def forward(command):
    """N+1 moments: where the first COMMAND led, and each after it."""
    moments = []
    thread = when()["tid"]
    for _ in range(2 * N):
        before = when()["position"]
        if not do(command):
            break
        m = Moment()
        # The thread has ended, and another one has come to the end of the recording, or to a signal.
        if m.thread != thread:
            break
        # An end of the recording: nothing has to lead back from there.
        if m.end or len(moments) > N:
            break
        # A step into an inlined function that begins right here moves nothing.
        if m.position == before:
            moments = moments[:-1] + [m] if moments else []
        else:
            moments.append(m)
    if moments:
        seek(moments[-1].position)
    return moments


def instant(position):
    """For comparing which of two positions is earlier; equal between the same markers and events."""
    return tuple(int(n.replace(",", "")) for n in re.match(r"\d+:([\d,]+)\.([\d,]+)@", position).groups())


def comes_to(position, later):
    """Whether a run from POSITION meets LATER; between the same markers and events only running tells."""
    if instant(position) != instant(later):
        return instant(position) < instant(later)
    seek(position)
    point = gdb.Breakpoint("*" + re.search("@(0x[0-9a-f]+)#", later).group(1), internal=True)
    point.silent = True
    point.thread = gdb.selected_thread().num
    try:
        while do("continue"):
            now = when()["position"]
            if now == later or instant(now) != instant(later):
                return now == later
        return False
    finally:
        point.delete()


# The compiler's own code around a program, without lines and unwind rules: GDB guesses what called what there.
UNKNOWN_FRAMES = ("__do_global_dtors_aux", "_fini", "__cxa_finalize@plt")
LONGJMPS = ("longjmp", "_longjmp", "siglongjmp", "_siglongjmp", "__libc_longjmp", "__libc_siglongjmp")


def two_ways(command, begin, wanted, got, here):
    """How GDB itself, by COMMAND from GOT, shows that HERE has no one predecessor; None: it does not. The walk began at
    BEGIN and came from WANTED."""
    if not TWO_WAYS or got.frames > max(here.frames, wanted.frames):
        return None
    if here.name in UNKNOWN_FRAMES or wanted.name in UNKNOWN_FRAMES:
        return "GDB guesses the frames of code without unwind rules"
    # The first line of a callback that was come to inside of code without lines: bs goes to the line that called that.
    if wanted.line.startswith("?") and here.depth > got.depth and not got.line.startswith("?"):
        outside = instant(got.position) < instant(wanted.position)
        return "the callback's first line, and a walk that began inside of code without lines" if outside else None
    do(command)
    now = when()["position"]
    if now == here.position:
        if got.position != begin and instant(got.position) <= instant(begin):
            return "%s leads from both, from the latter over the place where the walk began" % command
        if comes_to(wanted.position, got.position):
            return "%s leads from both, past the latter when it comes from the former" % command
    # GDB goes over a call that never returns until control comes to the return address by another way.
    same_line = (got.line, got.depth) == (here.line, here.depth)
    if same_line and instant(wanted.position) < instant(got.position) and comes_to(got.position, here.position):
        return "%s from the former stops where the latter's line goes on, as an exception led out of a call" % command
    # It calls what we are at the start of, and does not stop there as it did coming from an earlier call.
    if here.name in LONGJMPS and instant(wanted.position) < instant(here.position) < instant(now):
        return "%s from the latter, which calls longjmp, passes the stop at its start" % command
    return None


def exception(command, back, here, wanted, got, shown):
    """Which stop GDB came to from one place where Lizard names another, and what it SHOWs; None: nothing."""
    return shown and "%s at %s: the walk's %s came from %s, %s goes to %s; %s" % (back, here, command, wanted, back, got, shown)


def handler_returned_here():
    """A handler that was called here returns here: control is here once more. GDB does not say so, as it steps over the breakpoint
    that it stands at together with the handler."""
    here = when()["position"]
    do("reverse-stepi")
    returned = gdb.selected_frame().name() == "__restore_rt"
    seek(here)
    return returned


def behind_handler(command, got, wanted, here):
    """How GDB shows that a signal came at WANTED, a line's start, and its handler returned to GOT, the same place."""
    address = "@" + got.position.split("@")[1].split("#")[0] + "#"
    same = address in wanted.position and (got.line, got.depth) == (wanted.line, wanted.depth)
    if not same or not handler_returned_here():
        return None
    do(command)
    led = when()["position"] == here.position
    seek(got.position)
    if not led:
        return None
    return "a signal came at the former, its handler returned to the latter, and %s leads from both" % command


STEPPED = {}


def steps_from(origin):
    """Moments of a walk of step, each made once: from the recording's first instant GDB steps through the whole loader."""
    if origin in STEPPED:
        if STEPPED[origin]:
            seek(STEPPED[origin][-1].position)
        return STEPPED[origin]
    STEPPED[origin] = forward("step")
    return STEPPED[origin]


def distinct(origins):
    return list(dict.fromkeys(origins))


def walk_step(result, origin):
    begin = when()["position"]
    moments = steps_from(origin)
    if len(moments) < 2:
        return
    for here, wanted in zip(reversed(moments), reversed(moments[:-1])):
        do("bs")
        got = Moment()
        result.check(
            got.key() == wanted.key(),
            lambda: "bs, walk from %s:\n  from   %s\n  wanted %s\n  got    %s" % (origin, here, wanted, got),
            lambda: exception(
                "step",
                "bs",
                here,
                wanted,
                got,
                behind_handler("step", got, wanted, here) or two_ways("step", begin, wanted, got, here),
            ),
        )
        if got.key() != wanted.key():
            seek(wanted.position)


def leads_here(got, here):
    """How GDB shows that GOT is a moment from which next leads HERE, in no deeper frame than it. A HERE in the middle of
    GOT's line, where only the return from a call stops, is passed by. The call may have been made in an inlined function
    that ended with it."""
    if got.frames > here.frames:
        return None
    do("next")
    if when()["position"] == here.position:
        return "the walk came out of a deeper call, over which next leads from the latter"
    if (got.line, got.depth) == (here.line, here.depth):
        return "the walk came out of a deeper call into the middle of the line that makes it"
    return None


def prev_again(here):
    """GDB then shows as many inlined calls as it does after prev, on which its next depends."""
    seek(here.position)
    return do("prev")


def walk_next(result, origin):
    begin = when()["position"]
    start = Moment()
    moments = forward("next")
    for i in range(len(moments) - 1, 0, -1):
        here, wanted = moments[i], moments[i - 1]
        do("prev")
        got = Moment()
        same = got.key() == wanted.key()
        # The walk came here by finishing a deeper call, or by that and a stop in the middle of the line of the
        # call: prev goes to the call, from which next leads here as well.
        before = moments[i - 2] if i > 1 else start
        returned = wanted.depth > here.depth or before.depth > wanted.depth
        result.check(
            same,
            lambda: "prev, walk from %s:\n  from   %s\n  wanted %s\n  got    %s" % (origin, here, wanted, got),
            lambda: exception(
                "next",
                "prev",
                here,
                wanted,
                got,
                behind_handler("next", got, wanted, here)
                or (returned and leads_here(got, here))
                or (prev_again(here) and two_ways("next", begin, wanted, got, here)),
            ),
        )
        if not same:
            seek(wanted.position)


def arrivals(place):
    """Positions at which a forward run meets a breakpoint in the present thread, at most N."""
    point = gdb.Breakpoint(place, internal=True)
    point.silent = True
    point.thread = gdb.selected_thread().num
    found = []
    try:
        while len(found) < N:
            if not do("continue"):
                break
            m = when()
            if m["end"] == "1":
                break
            found.append(m["position"])
    finally:
        point.delete()
    return found


def addresses(place):
    """What PLACE names here; None: nothing."""
    try:
        return {sal.pc for sal in gdb.decode_line(place)[1]}
    except gdb.error:
        return None


def jump_to(command, place, wanted):
    """Where the jump leads that GDB, too, would say it is."""
    do("%s %s" % (command, place))
    while when()["position"] != wanted and handler_returned_here():
        do("%s %s" % (command, place))
    return when()["position"]


def walk_jump(result, origin, place):
    seek(origin)
    begin = when()["position"]
    named = addresses(place)
    if named is None:
        # In a library that is not mapped yet; a breakpoint would wait for it.
        result.check(
            not do("jump_forward " + place) and when()["position"] == begin,
            lambda: "jump_forward %s from %s, where it is not known, is not refused" % (place, begin),
        )
        return
    truth = arrivals(place)
    # A library mapped meanwhile may have that line, too: then the same words name other code now.
    if not truth or addresses(place) != named:
        return
    seek(begin)
    for i, wanted in enumerate(truth):
        got = jump_to("jump_forward", place, wanted)
        result.check(
            got == wanted,
            lambda: "jump_forward %s from %s, number %d: wanted %s, got %s" % (place, begin, i, wanted, got),
        )
        if got != wanted:
            seek(wanted)
    for wanted in reversed(truth[:-1]):
        got = jump_to("jump_backward", place, wanted)
        result.check(
            got == wanted,
            lambda: "jump_backward %s, walk from %s: wanted %s, got %s" % (place, begin, wanted, got),
        )
        if got != wanted:
            seek(wanted)


def value_of(expression):
    try:
        return gdb.parse_and_eval(expression).format_string()
    except gdb.error as e:
        return "<%s>" % e


def changes(expression):
    """(position right after, value after) of what a forward watchpoint finds, at most N."""
    point = gdb.Breakpoint(expression, gdb.BP_WATCHPOINT, gdb.WP_WRITE, internal=True)
    point.silent = True
    found = []
    try:
        while len(found) < N:
            if not do("continue") or not point.is_valid():
                break
            m = when()
            if m["end"] == "1":
                break
            found.append((m["position"], value_of(expression)))
    finally:
        if point.is_valid():
            point.delete()
    return found


def plain(value):
    """Without the type that `print` puts before a pointer."""
    return re.sub(r"^\([^()]*\) (?=0x)", "", value)


def walk_watch(result, origin, expression):
    seek(origin)
    first = value_of(expression)
    truth = changes(expression)
    olds = [first] + [v for _, v in truth[:-1]]
    for (after, new), old in zip(reversed(truth), reversed(olds)):
        text = gdb.execute("reverse_watchpoint " + expression, to_string=True)
        place = when()["position"]
        shown = re.search(r"Old value = (.*)\nNew value = (.*)\n", text)
        do("stepi")
        got = when()["position"]
        result.check(
            got == after and shown is not None and tuple(map(plain, shown.groups())) == (plain(old), plain(new)),
            lambda: "reverse_watchpoint %s, walk from %s: wanted before %s, %s -> %s; got %s before %s:\n%s"
            % (expression, origin, after, old, new, place, got, text),
        )
        seek(place if got == after else after)
        if got != after:
            do("reverse-stepi")


def places_met(rng, total):
    """Lines that stepping meets."""
    met = set()
    for origin in random_positions(rng, total):
        seek(origin)
        for m in steps_from(origin):
            if not m.line.startswith("?"):
                met.add(m.line)
    return sorted(met)


def main():
    rng = random.Random(SEED)
    result = Result()
    total = int(when()["total"])
    gdb.execute("set suppress-cli-notifications on")
    gdb.execute("set backtrace past-main on")
    gdb.execute("handle all nostop noprint pass", to_string=True)
    for skip in os.environ.get("WALK_SKIPS", "").split(";"):
        if skip.strip():
            gdb.execute("skip " + skip)
    if "step" in MODES:
        for origin in distinct(random_positions(rng, total)):
            seek(origin)
            walk_step(result, origin)
        result.end("fs and bs")
    if "next" in MODES:
        for origin in distinct(random_positions(rng, total)):
            seek(origin)
            walk_next(result, origin)
        result.end("fn and prev")
    if "jump" in MODES:
        places = os.environ.get("WALK_PLACES", "").split() or places_met(rng, total)
        for origin in random_positions(rng, total):
            walk_jump(result, origin, rng.choice(places))
        if not result.compared:  # all places lay before where it began
            for place in places:
                walk_jump(result, first_arrival("main"), place)
        result.end("jumps")
    if "watch" in MODES:
        expressions = [e.strip() for e in os.environ["WALK_WATCH"].split(";")]
        for origin in random_positions(rng, total):
            walk_watch(result, origin, rng.choice(expressions))
        if not result.compared:  # all positions lay behind the last change
            walk_watch(result, first_arrival("main"), expressions[0])
        result.end("reverse_watchpoint")
    result.out.write("done\n")
    result.out.close()


try:
    main()
except Exception:
    traceback.print_exc(file=sys.stdout)
    raise
