"""Lizard's commands for GDB, over `lizard serve`.

Loaded by lizard-gdb into a stock GDB (10 or newer); works after `target remote :PORT` by hand as well.
A move that the remote protocol has no packet for is armed by a monitor packet and carried out by one
reverse-stepi, so that GDB refreshes all it knows and shows the new place as after `step`.
"""
import os
import re
import signal

import gdb

POSITION = re.compile(r"^\d[\d,]*:\d[\d,]*\.\d[\d,]*@(0x)?[0-9a-fA-F]+#\d+$")
PERCENT = re.compile(r"^\d+(\.\d*)?%$")


def version():
    m = re.match(r"\D*(\d+)", gdb.VERSION)
    return int(m.group(1)) if m else 0


# ---- the server ----


def monitor(text):
    """The server's answer to a monitor command."""
    try:
        return gdb.execute("monitor " + text, to_string=True)
    except gdb.error as e:
        raise gdb.GdbError("No recording is open. (%s)" % e)


def table(text):
    """Lines key=value as a dict."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def when():
    return table(monitor("when"))


def settle(shown=True):
    """After a move: what the server has to say about it, and the libraries. SHOWN: GDB has shown the
    new place itself."""
    unknown = gdb.newest_frame().name() is None
    if refresh_libraries() and unknown and shown:
        gdb.write(place())
    errors = []
    for line in monitor("note").splitlines():
        if line.startswith("error: "):
            errors.append(line[7:])
        elif line == "history":
            if not shown:
                gdb.write("\nNo more reverse-execution history.\n")
        elif line:
            gdb.write(line + "\n")
    if errors:
        raise gdb.GdbError("\n".join(errors))


def refresh_libraries():
    """GDB learns of libraries when the program loads them, and a move may pass such a moment. True if
    GDB heard of libraries that it did not know."""
    # This makes GDB look what there is, but not read the symbols of what is new.
    listed = gdb.execute("info sharedlibrary", to_string=True)
    if not gdb.parameter("auto-solib-add") or not re.search(r"^0x\S+ +0x\S+ +No ", listed, re.M):
        return False
    gdb.execute("sharedlibrary", to_string=True)
    return True


def move(text):
    """Carries out a short move and shows the new place as after `step`."""
    need_process()
    monitor(text)
    gdb.execute("reverse-stepi")
    settle()


def move_outside(text):
    """As move(), but where inlined functions begin, GDB shows the place as outside of them, as `next`
    does."""
    need_process()
    old = gdb.newest_frame()
    monitor(text)
    LastStop.event = None
    with Silence() as silence:
        gdb.execute("reverse-stepi")
    event = LastStop.event
    settle(not silence.works)
    if gdb.newest_frame().type() == gdb.INLINE_FRAME:
        hide_inlined()
    if silence.works:
        gdb.write(as_after_step(old, event))


def hide_inlined():
    """GDB does so where an inlined function begins, but for the end of a stepi and for breakpoints of the
    user's."""
    point = gdb.Breakpoint("*%d" % gdb.newest_frame().pc(), internal=True)
    point.silent = True
    try:
        monitor("seek " + when()["position"])
        with Silence():
            gdb.execute("reverse-continue")
    finally:
        point.delete()


def as_after_step(old, event):
    """What GDB shows after a step that began in frame OLD and ended with EVENT."""
    text = place()
    if isinstance(event, gdb.BreakpointEvent):
        return "\nBreakpoint %d, %s" % (event.breakpoint.number, text)
    if gdb.newest_frame() != old or "\n" not in text.rstrip("\n"):
        return text
    header, line = text.split("\n", 1)
    middle = re.match(r"(0x[0-9a-f]+) in ", header)
    return middle.group(1) + "\t" + line if middle else line


def travel(text):
    """Carries out a move to anywhere and shows function and line. (GDB would show only the line if it
    took the place for the same activation.)"""
    need_process()
    monitor(text)
    with Silence() as silence:
        gdb.execute("reverse-stepi")
    shown = MI or not silence.works
    settle(shown)
    if not shown:
        gdb.write(place())


def need_process():
    if gdb.selected_inferior().pid == 0:
        raise gdb.GdbError("The program is not being replayed.")


def instrumented():
    return table(monitor("info")).get("instrumented") == "1"


# ---- commands ----


class Command(gdb.Command):
    """A command whose help text is its class's docstring."""

    name = None
    kind = gdb.COMMAND_RUNNING
    completer = gdb.COMPLETE_NONE

    def __init__(self):
        super().__init__(self.name, self.kind, self.completer)

    def invoke(self, arg, from_tty):
        try:
            self.act(arg, from_tty)
        except gdb.error as e:  # its text is meant for the user, its type is not
            raise gdb.GdbError(str(e))


class ForwardStep(Command):
    """Step forward, into functions: GDB's `step`.
Usage: fs [N]"""

    name = "fs"

    def act(self, arg, from_tty):
        gdb.execute("step " + arg, from_tty)


class ForwardNext(Command):
    """Step forward, over functions: GDB's `next`.
Usage: fn [N]"""

    name = "fn"

    def act(self, arg, from_tty):
        gdb.execute("next " + arg, from_tty)


def back(move_name, fallback, arg, from_tty):
    count = 1
    if arg.strip():
        count = int(gdb.parse_and_eval(arg))
    if count <= 0:
        return
    need_process()
    if instrumented():
        carry_out = move_outside if move_name == "back-next" and not MI else move
        carry_out("%s %d" % (move_name, count))
        return
    gdb.write("The program was not built with lizard-cc: this is GDB's %s.\n" % fallback)
    gdb.execute("%s %d" % (fallback, count), from_tty)


class BackStep(Command):
    """Step backward, into functions: the exact reverse of `step`.
Usage: bs [N]
Goes to the place from which `step` leads here: to the last line of a function that has just
returned, to the last iteration of a loop, to the caller from a function's first line."""

    name = "bs"

    def act(self, arg, from_tty):
        back("back-step", "reverse-step", arg, from_tty)


class Prev(Command):
    """Step backward, over functions: the exact reverse of `next`.
Usage: prev [N]
A breakpoint that control meets inside a function stepped over stops it there."""

    name = "prev"

    def act(self, arg, from_tty):
        back("back-next", "reverse-next", arg, from_tty)


def addresses(location):
    """Where GDB would put breakpoints for LOCATION."""
    if location.startswith("*"):
        return [int(gdb.parse_and_eval(location[1:]).cast(gdb.lookup_type("unsigned long")))]
    gdb.decode_line(location)  # raises GDB's own sentence about an unknown place
    point = gdb.Breakpoint(location, internal=True)
    try:
        if hasattr(point, "locations"):
            found = [place.address for place in point.locations]
        else:
            found = listed_addresses(point.number)
    finally:
        point.delete()
    if not found:
        raise gdb.GdbError("There is no code at %s." % location)
    return found


def listed_addresses(number):
    """For a GDB that does not show locations to Python (before 13)."""
    text = gdb.execute("maintenance info breakpoints %d" % number, to_string=True)
    return [int(a, 16) for a in re.findall(r"^-?\d+(?:\.\d+)?\s.*?\s(0x[0-9a-f]+) ", text, re.M)]


def jump(direction, arg):
    arg = arg.strip()
    if not arg:
        raise gdb.GdbError("jump_%s: where to?" % direction)
    if arg in ("start", "end") or PERCENT.match(arg) or POSITION.match(arg):
        travel("seek " + arg)
        return
    need_process()
    found = addresses(arg)
    travel("jump %s %s" % (direction, " ".join("%x" % a for a in sorted(set(found)))))


class JumpForward(Command):
    """Go forward to the next instant at which control is at LOCATION.
Usage: jump_forward LOCATION
LOCATION is as for `break` (a line, a function, *ADDRESS), or an instant: start, end, a percentage
of the run such as 12.5%, or a position as `when` prints it."""

    name = "jump_forward"
    completer = gdb.COMPLETE_LOCATION

    def act(self, arg, from_tty):
        jump("forward", arg)


class JumpBackward(Command):
    """Go backward to the last instant at which control was at LOCATION.
Usage: jump_backward LOCATION
LOCATION is as for `break` (a line, a function, *ADDRESS), or an instant: start, end, a percentage
of the run such as 12.5%, or a position as `when` prints it."""

    name = "jump_backward"
    completer = gdb.COMPLETE_LOCATION

    def act(self, arg, from_tty):
        jump("backward", arg)


# ---- reverse_watchpoint ----


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
    text = gdb.execute("output " + expression, to_string=True)
    return (text, data if data is not None else text)


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


class Quiet:
    """No breakpoints and watchpoints of the user's for a while."""

    def __enter__(self):
        self.off = []
        for point in gdb.breakpoints() or ():
            if point.number > 0 and point.enabled:
                point.enabled = False
                self.off.append(point)
        return self

    def __exit__(self, *unused):
        for point in self.off:
            if point.is_valid():
                try:
                    point.enabled = True
                except gdb.error as e:
                    gdb.write("%s\n" % e)


def entry_of(frame):
    """The address of the first instruction of FRAME's function, or None."""
    try:
        block = frame.block()
    except RuntimeError:
        return None
    while block and not block.function:
        block = block.superblock
    return block.start if block else None


def activation_start(frame):
    """A breakpoint at the entry of FRAME's activation, or None if that cannot be said."""
    while frame is not None and frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    if frame is None:
        return None
    entry = entry_of(frame)
    older = frame.older()
    if entry is None or not older:
        return None
    cfa = int(older.read_register("rsp")) & (2**64 - 1)
    point = gdb.Breakpoint("*%d" % entry, internal=True)
    point.silent = True
    # The return address is on the stack and nothing else.
    point.condition = "(unsigned long)$rsp == %dUL" % (cfa - 8)
    return point


class LastStop:
    """What the last stop was about."""

    event = None


def on_stop(event):
    LastStop.event = event


def stopped_at(point):
    return isinstance(LastStop.event, gdb.BreakpointEvent) and any(
        p.is_valid() and p == point for p in LastStop.event.breakpoints
    )


MI = os.environ.pop("LIZARD_GDB_MI", None) is not None


def show_place():
    """After a stop that was not shown. A machine interface wants a stop of its own kind."""
    if MI:
        monitor("seek " + when()["position"])
        gdb.execute("reverse-stepi")
    else:
        gdb.write(place())


def place():
    """The frame line and the source line, without the frame's number."""
    text = gdb.execute("frame 0", to_string=True)
    return re.sub(r"^#0 +", "", text)


def search_change(expression, watch, start):
    """Runs backward to the last change; says which end was met, or None."""
    while True:
        before = monitor("when")
        LastStop.event = None
        gdb.execute("reverse-continue")
        if start is not None and stopped_at(start):
            return "start of the activation"
        if not watch.is_valid():
            return "start of the activation"
        if stopped_at(watch):
            return None
        if table(monitor("when"))["start"] == "1":
            return "start of the recording"
        if monitor("when") == before or not isinstance(LastStop.event, gdb.StopEvent):
            return "interrupted"
        if isinstance(LastStop.event, gdb.SignalEvent):
            return "interrupted"


def quietly(text):
    """A move that is not shown."""
    monitor(text)
    with Silence():
        gdb.execute("reverse-stepi", to_string=True)
    errors = [line for line in monitor("note").splitlines() if line.startswith("error: ")]
    if errors:
        raise gdb.GdbError(errors[0][7:])


def known(value):
    return "<optimized out>" not in value


def search_in_frame(expression):
    """For a variable in registers: the last line of this activation that changed it, then the
    instruction. A watchpoint would single-step, through all that is called as well."""
    frame = gdb.newest_frame()
    entry = entry_of(frame)
    new = evaluate(expression)[0]
    while True:
        later = when()["position"]
        if frame.pc() == entry:
            return "start of the activation", new, new
        quietly("back-next")
        if when()["start"] == "1":
            return "start of the recording", new, new
        if gdb.newest_frame() != frame:
            return "start of the activation", new, new
        frame = gdb.newest_frame()
        old = evaluate(expression)[0]
        if not known(old):
            continue
        if known(new) and old != new:
            break
        new = old
    return find_instruction(expression, later, old, new)


def find_instruction(expression, later, old, new):
    """Forward from here to the instruction that changes the value, no further than LATER."""
    with Silence():
        while True:
            before = when()["position"]
            gdb.execute("nexti", to_string=True)
            now = evaluate(expression)[0]
            if known(now) and now != old:
                break
            if when()["position"] == later:
                break
    quietly("seek " + before)
    return None, old, now if known(now) else new


def place_of(expression):
    """The memory that an expression refers to now, as an expression without variables."""
    value = gdb.parse_and_eval(expression)
    if value.address is None:
        raise gdb.GdbError("%s is not in memory." % expression)
    return "*(%s *) %#x" % (value.type, int(value.address))


def evaluate_in(frame, expression):
    """EXPRESSION as FRAME sees it, though control is in a function that it called."""
    if frame.is_valid():
        frame.select()
    try:
        return evaluate(expression)[0]
    finally:
        gdb.newest_frame().select()


class ReverseWatchpoint(Command):
    """Go backward to the last instant at which the value of EXPRESSION changed.
Usage: reverse_watchpoint [-l|-location] EXPRESSION
With -l, as for `watch`: the memory that EXPRESSION refers to now, whatever becomes of the variables in it.
Stops right before the instruction (or system call) that changed it, and shows the values before and
after. Further uses go to earlier changes. Breakpoints do not count."""

    name = "reverse_watchpoint"
    completer = gdb.COMPLETE_EXPRESSION

    def act(self, arg, from_tty):
        expression = arg.strip()
        if not expression:
            raise gdb.GdbError("reverse_watchpoint: which expression?")
        need_process()
        location = re.match(r"-l(?:ocation)?\s+(.+)", expression)
        if location:
            expression = place_of(location.group(1))
        frame = gdb.selected_frame()
        if uses_locals(expression) and frame.pc() == entry_of(frame):
            raise gdb.GdbError("%s: this is the start of the activation." % expression)
        new = evaluate(expression)
        if not known(new[0]):
            raise gdb.GdbError("%s is optimized out here." % expression)
        if new[1] is None:
            raise gdb.GdbError("%s: %s" % (expression, new[0].strip("<>")))
        with Quiet():
            met, old, new = self.search(expression, new[0])
        self.report(expression, met, old, new)

    def search(self, expression, new):
        frame = gdb.selected_frame()
        local = uses_locals(expression)
        watch = gdb.Breakpoint(expression, gdb.BP_WATCHPOINT, gdb.WP_WRITE, internal=True)
        watch.silent = True
        if watch.type == gdb.BP_WATCHPOINT and local and frame.level() == 0 and instrumented():
            watch.delete()
            return search_in_frame(expression)
        start = activation_start(frame) if local else None
        try:
            if watch.type == gdb.BP_WATCHPOINT:
                gdb.write("%s is not in memory: this goes by single steps.\n" % expression)
            met = search_change(expression, watch, start)
            return met, evaluate_in(frame, expression), new
        finally:
            for point in (watch, start):
                if point is not None and point.is_valid():
                    point.delete()

    def report(self, expression, met, old, new):
        refresh_libraries()
        if met == "interrupted":
            gdb.write("Interrupted before a change of %s was found.\n" % expression)
        elif met:
            gdb.write("%s did not change since the %s.\n" % (expression, met))
        else:
            gdb.write("%s\n\nOld value = %s\nNew value = %s\n" % (expression, old, new))
        show_place()


# ---- where am I ----


def commas(number):
    return "{:,}".format(int(number))


def percent(w):
    if int(w["total"]):
        return 100.0 * int(w["time"]) / int(w["total"])
    return 100.0 * int(w["event"]) / max(1, int(w["events"]))


class When(Command):
    """Show the present instant: event number, global time, percentage of the run, and position.
Usage: when
The position can be given to jump_forward and jump_backward."""

    name = "when"
    kind = gdb.COMMAND_STATUS

    def act(self, arg, from_tty):
        w = when()
        gdb.write(
            "event %s of %s, time %s of %s (%.2f%%)\nposition %s\n"
            % (
                commas(w["event"]),
                commas(w["events"]),
                commas(w["time"]),
                commas(w["total"]),
                percent(w),
                w["position"],
            )
        )


class InfoLizard(Command):
    """Describe the recording and the present instant.
Usage: info lizard"""

    name = "info lizard"
    kind = gdb.COMMAND_STATUS

    def act(self, arg, from_tty):
        i = table(monitor("info"))
        gdb.write("recording    %s\n" % i["recording"])
        gdb.write("program      %s\n" % i["program"])
        gdb.write("command      %s\n" % i["args"])
        gdb.write("directory    %s\n" % i["cwd"])
        gdb.write("ran for      %.3f s, %s\n" % (int(i["duration_ns"]) / 1e9, ending(i)))
        gdb.write("checkpoints  %s\n" % i["checkpoints"])
        if i["instrumented"] != "1":
            gdb.write("The program was not built with lizard-cc.\n")
        if "damage" in i:
            gdb.write("The recording was cut: %s\n" % i["damage"])
        gdb.execute("when")


def ending(info):
    status = int(info["exit_status"])
    if status < 0:
        return "its end is not in the recording"
    if status & 0x7F:
        return "ended by signal %d" % (status & 0x7F)
    return "exit status %d" % (status >> 8 & 0xFF)


# ---- bookmarks: what GDB calls checkpoints ----


class Bookmarks:
    next = 1
    kept = {}  # number -> (position, text)


class Checkpoint(Command):
    """Remember the present instant; `restart N` comes back to it.
Usage: checkpoint"""

    name = "checkpoint"

    def act(self, arg, from_tty):
        need_process()
        number = Bookmarks.next
        Bookmarks.next += 1
        Bookmarks.kept[number] = (when()["position"], place().splitlines()[0])
        gdb.write("Checkpoint %d: %s.\n" % (number, Bookmarks.kept[number][1]))


def bookmark(arg):
    try:
        number = int(gdb.parse_and_eval(arg))
    except gdb.error:
        number = 0
    if number not in Bookmarks.kept:
        raise gdb.GdbError("There is no checkpoint '%s'; `info checkpoints` lists them." % arg)
    return number


class Restart(Command):
    """Go to the instant that `checkpoint` remembered as number N.
Usage: restart N"""

    name = "restart"

    def act(self, arg, from_tty):
        travel("seek " + Bookmarks.kept[bookmark(arg)][0])


class InfoCheckpoints(Command):
    """List the remembered instants.
Usage: info checkpoints"""

    name = "info checkpoints"
    kind = gdb.COMMAND_STATUS

    def act(self, arg, from_tty):
        if not Bookmarks.kept:
            gdb.write("No checkpoints.\n")
        for number, (position, text) in sorted(Bookmarks.kept.items()):
            gdb.write("  %d %s, %s\n" % (number, position, text))


class DeleteCheckpoint(Command):
    """Forget a remembered instant.
Usage: delete checkpoint N"""

    name = "delete checkpoint"

    def act(self, arg, from_tty):
        del Bookmarks.kept[bookmark(arg)]


# ---- GDB's commands that mean something else on a recording ----


class Jump(Command):
    """A recorded run cannot go another way: see jump_forward and jump_backward."""

    name = "jump"
    completer = gdb.COMPLETE_LOCATION

    def act(self, arg, from_tty):
        raise gdb.GdbError(
            "A recorded run cannot be made to go another way. jump_forward and jump_backward go to "
            "an instant at which control was there."
        )


class Return(Command):
    """A recorded run cannot return early: see finish and reverse-finish."""

    name = "return"

    def act(self, arg, from_tty):
        raise gdb.GdbError(
            "A recorded run cannot be made to return early. `finish` goes to where the function "
            "returned, `up` shows the caller."
        )


class Run(Command):
    """Go to the start of the recording and continue from there.
Usage: run"""

    name = "run"

    def act(self, arg, from_tty):
        if arg.strip():
            raise gdb.GdbError("The program's arguments are the recorded ones.")
        to_start()
        gdb.execute("continue", from_tty)


class Start(Command):
    """Go to the start of the recording and from there to main.
Usage: start"""

    name = "start"

    def act(self, arg, from_tty):
        to_start()
        to_main()


def on_write(event):
    gdb.write(
        "A recording cannot be changed: this happens in a copy, which is thrown away as soon as you "
        "move in time.\n"
    )


# ---- opening ----


class Silence:
    """Stops are not shown for a while (GDB 12 and newer; elsewhere they are)."""

    setting = "suppress-cli-notifications"

    def __enter__(self):
        self.works = version() >= 12
        if self.works:
            self.old = gdb.parameter(self.setting)
            gdb.execute("set %s on" % self.setting)
        return self

    def __exit__(self, *unused):
        if self.works and not self.old:
            gdb.execute("set %s off" % self.setting)


def to_start():
    monitor("seek start")
    with Silence():
        gdb.execute("reverse-stepi")
    settle(False)


def to_main():
    """From the start to main; stays at the start of a program that has no main."""
    try:
        gdb.decode_line("main")
        point = gdb.Breakpoint("main", internal=True)
    except (gdb.error, RuntimeError):
        show_place()
        return
    point.silent = True
    try:
        with Quiet():
            gdb.execute("continue")
    finally:
        if point.is_valid():
            point.delete()
    show_place()


def announce():
    info = table(monitor("info"))
    if "damage" in info:
        gdb.write("This recording was cut: %s\n" % info["damage"])
    if info.get("instrumented") != "1":
        gdb.write(
            "The program was not built with lizard-cc, so there are no markers: bs and prev are GDB's "
            "reverse-step and reverse-next, jumps and reverse runs go from checkpoint to checkpoint, "
            "and all of them are slow.\n"
        )


def show_end():
    status = int(table(monitor("info"))["exit_status"])
    if status > 0 and status & 0x7F:
        number = status & 0x7F
        name = signal.Signals(number).name
        gdb.write("\nProgram received signal %s, %s.\n" % (name, signal.strsignal(number)))
    show_place()


def connect(command, at_end):
    with Silence():
        gdb.execute("target remote | " + command)
    monitor("quiet")
    announce()
    if at_end:
        show_end()
    else:
        to_main()
    # Only now: what GDB itself writes while connecting is nobody's doing.
    gdb.events.memory_changed.connect(on_write)
    gdb.events.register_changed.connect(on_write)


def open_recording():
    """Asked for by lizard-gdb through the environment."""
    command = os.environ.pop("LIZARD_GDB_SERVER", None)
    if command is None:
        return
    at_end = os.environ.pop("LIZARD_GDB_END", None) is not None
    sysroot = os.environ.pop("LIZARD_GDB_SYSROOT", None)
    if sysroot is not None:
        gdb.execute("set sysroot " + sysroot)
    confirm = gdb.parameter("confirm")
    gdb.execute("set confirm off")
    try:
        connect(command, at_end)
    except (gdb.error, gdb.GdbError) as e:
        gdb.write("lizard-gdb: %s\n" % e, gdb.STDERR)
        gdb.execute("quit 1")
    gdb.execute("set confirm " + ("on" if confirm else "off"))


def define():
    for command in (
        ForwardStep, ForwardNext, BackStep, Prev, JumpForward, JumpBackward, ReverseWatchpoint, When,
        InfoLizard, Checkpoint, Restart, InfoCheckpoints, DeleteCheckpoint, Jump, Return, Run, Start,
    ):
        command()
    gdb.events.stop.connect(on_stop)


define()
open_recording()
