# SPDX-License-Identifier: GPL-3.0-or-later
"""What `lizard report` asks GDB for: a JSON object per line, written as soon as it is known."""
import json
import os
import re

import gdb

from .arguments import argument_texts, text
from .moves import quietly
from .replay import instrumented, position
from .stops import SignalsPass, Silence
from .text import printed

MOST_THREADS = 64
MOST_FRAMES = 64
MOST_ARGS = 32


class Report:
    def __init__(self, fd):
        self.file = os.fdopen(fd, "w")

    def tell(self, **facts):
        json.dump(facts, self.file)
        self.file.write("\n")
        self.file.flush()


def place_of(frame):
    """Function, file and line; PATH: where the file is here."""
    sal = frame.find_sal()
    place = {"function": text(frame.name() or "")}
    if sal.symtab is not None and sal.line > 0:
        place.update(file=text(sal.symtab.filename), line=sal.line)
    return place, sal


def frame_json(frame):
    place = place_of(frame)[0]
    place["address"] = "0x%x" % frame.pc()
    place["library"] = text(gdb.solib_name(frame.pc()) or "")
    place["args"] = argument_texts(frame, MOST_ARGS)
    return place


def frames():
    """Of the selected thread, and why there are no more of them, or an empty text."""
    found, why = [], ""
    try:
        frame = gdb.newest_frame()
        while frame is not None and len(found) < MOST_FRAMES:
            found.append(frame_json(frame))
            older = frame.older()
            if older is None and frame.unwind_stop_reason() > gdb.FRAME_UNWIND_OUTERMOST:
                why = text(gdb.frame_stop_reason_string(frame.unwind_stop_reason()))
            frame = older
        if frame is not None:
            why = "and more frames"
    except (gdb.error, gdb.MemoryError, RuntimeError) as e:
        why = text(e)
    return found, why


def tell_threads(report):
    here = gdb.selected_thread()
    threads = sorted(gdb.selected_inferior().threads(), key=lambda t: (t.num != here.num, t.num))
    for thread in threads[:MOST_THREADS]:
        thread.switch()
        found, why = frames()
        report.tell(
            thread={
                "tid": thread.ptid[1] or thread.ptid[0],
                "name": text(thread.name or ""),
                "running": thread.num == here.num,
                "frames": found,
                "ends": why,
            }
        )
    here.switch()


def is_own(frame, sal):
    """Code of the program, or whose source is here: not the C library's."""
    if sal.symtab is None or sal.line <= 0:
        return False
    return gdb.solib_name(frame.pc()) is None or source_is_here(sal.symtab)


def source_is_here(symtab):
    """GDB takes any file of that name in the present directory, too: it must be in the same folder."""
    name = re.sub(r"^(\.\.?/)*", "", symtab.filename)
    path = symtab.fullname()
    return ("/" + path).endswith("/" + name) and os.path.exists(path)


def step_back(own):
    """To the line before, or out of what is not the program's own. False: there is none."""
    before = position()
    with Silence():
        if own and instrumented():
            quietly("back-step", 1)
        else:
            printed("reverse-step" if own else "reverse-finish")
    return position() != before


def tell_lines(report, count):
    told, last, more = 0, None, True
    while more and told < count:
        frame = gdb.newest_frame()
        place, sal = place_of(frame)
        own = is_own(frame, sal)
        if own and place != last:
            report.tell(at=dict(place, path=sal.symtab.fullname()))
            told, last = told + 1, place
        more = step_back(own)


def write(fd, lines):
    report = Report(fd)
    tell_threads(report)
    report.tell(all_threads=True)
    try:
        with SignalsPass():
            tell_lines(report, lines)
    except (gdb.error, gdb.GdbError) as e:  # the start of what was recorded
        report.tell(note=text(e))
    report.tell(done=True)
