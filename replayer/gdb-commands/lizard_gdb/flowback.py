# SPDX-License-Identifier: GPL-3.0-or-later
"""flowback and flowback-goto."""
import gdb

from .command import OWN_COMPLETER, Command
from .moves import Interrupted, go, quietly, travel
from .origins import Link, Origin, follow, location_of, made
from .replay import need_process, position
from .stops import Forward, Quiet, SignalsPass
from .text import say

MOST_TREE = 200  # links of a tree


class Chain:
    """What the last one had."""

    links, inputs = [], []


def show(link, indent=""):
    Chain.links.append(link)
    say("%s%3d  %s: %s\n" % (indent, len(Chain.links), link.place, link.text))


def show_inputs():
    for i, one in enumerate(Chain.inputs, 1):
        say("     flowback %d follows %s\n" % (i, one.text))


def chain(location):
    for link in follow(location):
        show(link)
        if link.ends:
            Chain.inputs = list(link.inputs)
    show_inputs()


def tree(location, depth, indent="", came_from=None, edges=None):
    """The chains of all inputs, up to DEPTH instructions that compute."""
    for link in follow(location):
        if len(Chain.links) >= MOST_TREE:
            return
        if edges is None:
            show(link, indent)
        else:
            Chain.links.append(link)
            edges.append((came_from, len(Chain.links), link))
            came_from = len(Chain.links)
        if not link.ends or depth <= 1:
            continue
        for one in link.inputs:
            go(one.position)
            tree(one.location, depth - 1, indent + "    ", came_from, edges)


def as_dot(edges):
    def quoted(text):
        return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')

    lines = ["digraph flowback {", "\tnode [shape=box];"]
    for before, number, link in edges:
        lines.append("\tn%d [label=%s];" % (number, quoted("%d %s: %s" % (number, link.place, link.text))))
        if before:
            lines.append("\tn%d -> n%d;" % (number, before))
    return "\n".join(lines + ["}", ""])


def why():
    """The condition's inputs at the last conditional jump."""
    branch = Origin("branch")
    if branch.kind != "made":
        raise gdb.GdbError("No conditional jump is found before this instant.")
    show(Link("control came here by `%s`" % branch.insn))
    flags = [one for one in branch.inputs if one.plain() == "the flags"]
    origin = Origin(*(flags or branch.inputs)[0].words())
    if origin.kind != "made":
        raise gdb.GdbError("What the jump looks at is not found.")
    link = made(origin, "decided")
    show(link)
    Chain.inputs = list(link.inputs)
    show_inputs()


class Flowback(Command):
    """Say where the value of EXPRESSION came from.
Usage: flowback EXPRESSION
       flowback N
       flowback -all [DEPTH] [--dot] EXPRESSION
       flowback -why
Follows the value back through copies, of which each is proven by the same
value at both ends, to what made it: an instruction that computes, a constant,
a system call, the program's initial data, or memory that was not written.
Each link has a number, and "flowback-goto" goes there.
N follows number N of the last chain's inputs.  -all follows all inputs, up to
DEPTH instructions that compute (3), and --dot writes that for Graphviz.
-why names what the last conditional jump before now looked at.
EXPRESSION is in memory, or in a register in frame #0.  Nothing moves."""

    name = "flowback"
    kind = gdb.COMMAND_STATUS
    completer = gdb.COMPLETE_EXPRESSION
    repeats = False

    def act(self, arg, from_tty):
        need_process()
        words = arg.split()
        if not words:
            raise gdb.GdbError("flowback: which expression?")
        here, frame = position(), gdb.selected_frame()
        try:
            with Quiet(), SignalsPass(), Forward():
                self.run(words, arg.strip())
        except Interrupted:
            say("Interrupted.\n")
        finally:
            quietly("seek", here)
            if frame.is_valid():
                frame.select()

    def run(self, words, arg):
        if words == ["-why"]:
            Chain.links, Chain.inputs = [], []
            why()
        elif words[0].isdigit() and len(words) == 1:
            self.follow_input(int(arg))
        elif words[0] == "-all":
            self.all(words[1:])
        else:
            location = location_of(arg)
            Chain.links, Chain.inputs = [], []
            chain(location)

    def follow_input(self, number):
        if not 1 <= number <= len(Chain.inputs):
            raise gdb.GdbError("The last flowback has no input %d." % number)
        one = Chain.inputs[number - 1]
        Chain.links, Chain.inputs = [], []
        go(one.position)
        chain(one.location)

    def all(self, words):
        depth = int(words.pop(0)) if words and words[0].isdigit() else 3
        dot = "--dot" in words
        location = location_of(" ".join(word for word in words if word != "--dot"))
        Chain.links, Chain.inputs = [], []
        edges = [] if dot else None
        tree(location, depth, edges=edges)
        if dot:
            say(as_dot(edges))


class FlowbackGoto(Command):
    """Go to a link of the last flowback.
Usage: flowback-goto N"""

    name = "flowback-goto"
    completer = OWN_COMPLETER
    repeats = False

    def complete(self, text, word):
        return [str(n) for n in range(1, len(Chain.links) + 1) if str(n).startswith(text)]

    def act(self, arg, from_tty):
        number = int(arg) if arg.strip().isdigit() else 0
        if not 1 <= number <= len(Chain.links):
            raise gdb.GdbError("The last flowback has %d links: which one?" % len(Chain.links))
        travel("seek", Chain.links[number - 1].position)
