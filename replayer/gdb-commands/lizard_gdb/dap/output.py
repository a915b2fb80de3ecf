# SPDX-License-Identifier: GPL-3.0-or-later
"""What the program wrote, shown as the user comes by. On the way back nothing is."""
import codecs
import itertools
import re

from ..replay import replay
from ..server import monitor
from ..text import printable
from . import adapter, messages

COLOUR = re.compile("(\x1b\\[[0-9;]*m)")
CATEGORIES = {"1": "stdout", "2": "stderr"}


class Told:
    event = 0  # the client knows what was written before
    decoders = {}


def begin():
    """From the present instant on."""
    monitor("output keep")
    go_on_here()


def go_on_here():
    """Nothing that was written on the way to here is told."""
    Told.event = replay().now()["event"]
    forget_halves()


def forget_halves():
    """Of characters."""
    decoder = codecs.getincrementaldecoder("utf-8")
    Told.decoders = {fd: decoder("backslashreplace") for fd in CATEGORIES}


def since_start():
    """All of it counts as not yet told."""
    Told.event = 0


def tell():
    """Between the last place and the present one."""
    before, Told.event = Told.event, replay().now()["event"]
    say(messages.more())
    if Told.event < before:
        forget_halves()
    if Told.event > before:
        show(monitor("output %d" % before))


def show(answer):
    """The pieces of one call after the other, joined where they go to the same place."""
    pieces = [line.split(" ")[1:3] for line in answer.splitlines() if line != "cut"]
    if answer.startswith("cut"):
        say("(Earlier output is not shown.)\n")
    for fd, group in itertools.groupby(pieces, lambda piece: piece[0]):
        data = b"".join(bytes.fromhex(piece[1]) for piece in group)
        text = Told.decoders[fd].decode(data)
        if text:
            adapter.send_event("output", {"category": CATEGORIES[fd], "output": safe(text)})


def safe(text):
    """Colours may stay; what else a terminal or editor might obey is shown."""
    parts = COLOUR.split(text.replace("\r\n", "\n"))
    return "".join(part if i % 2 else printable(part) for i, part in enumerate(parts))


def say(text, category="console"):
    """To the user, from Lizard."""
    if text:
        adapter.send_event("output", {"category": category, "output": printable(text)})
