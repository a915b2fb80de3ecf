# SPDX-License-Identifier: GPL-3.0-or-later
"""Types into lizard-gdb on a terminal: Ctrl-C in long runs. Prints TAP lines without a plan.
Usage: interrupt.py LIZARD-GDB PROGRAM THE-SAME-WITH-N-IN-A-REGISTER"""
import os
import re
import sys
import time

from terminal import Terminal

PROMPT = "(gdb) "
# while the program runs, or while GDB evaluates a condition
STOPPED = r"SIGINT|testing breakpoint condition:\s+Quit"


class Debugger(Terminal):
    def command(self, text):
        self.type(text + "\n")
        return self.until(re.escape(PROMPT) + "$")

    def interrupt(self, text, after, begun="Continuing"):
        """Starts a command and interrupts it."""
        self.type(text + "\n")
        self.until(begun)
        time.sleep(after)
        begin = time.time()
        self.type("\x03")
        return self.until(re.escape(PROMPT) + "$"), time.time() - begin


def time_of(terminal):
    m = re.search(r"time ([\d,]+) of ([\d,]+)", terminal.command("when"))
    return tuple(int(n.replace(",", "")) for n in m.groups()) if m else (-1, -1)


def ok(good, name, text):
    print("%s - %s" % ("ok" if good else "not ok", name))
    if not good:
        print("".join("# %s\n" % line for line in text.splitlines()), end="")


def history(t):
    """The patched GDB only."""
    t.command("set record instruction-history-size unlimited")
    before = time_of(t)
    text, took = t.interrupt("record instruction-history -", 1, "history -")
    # while they are found, or shown
    ok(re.search("interrupted|Quit", text) and time_of(t) == before and took < 10, "Ctrl-C in instruction-history (%.1f s)" % took, text[-500:])
    t.command("jump_forward end")
    before = time_of(t)
    text, took = t.interrupt("record instruction-history -", 1, "history -")
    ok("interrupted" in text and time_of(t) == before and took < 10, "Ctrl-C in instruction-history that re-executes (%.1f s)" % took, text[-500:])


def main():
    t = Debugger([sys.argv[1], "-nx", "-ex", "set width 0", "-ex", "set style enabled off", sys.argv[2]])
    ok(True, "started", t.until(re.escape(PROMPT) + "$"))
    t.command("set pagination off")
    t.command("break long.c:22 if i == 1000000000")
    text, took = t.interrupt("continue", 0.7)
    now, total = time_of(t)
    ok(re.search(STOPPED, text) and 0 < now < total and took < 10, "Ctrl-C in continue (%.1f s)" % took, text)
    text = t.command("next")
    ok("SIG" not in text and "error" not in text.lower(), "a step after it", text)
    t.command("jump_forward 90%")
    text, took = t.interrupt("reverse-continue", 0.5)
    now, total = time_of(t)
    ok(re.search(STOPPED, text) and 0 < now < total and took < 10, "Ctrl-C in reverse-continue (%.1f s)" % took, text)
    text = t.command("print state")
    ok(re.search(r"\$\d+ = \d+", text) is not None, "the program can be looked at after it", text)
    if "target lizard" in t.command("info lizard"):
        history(t)
    t.type("kill\ny\nquit\n")
    t.until("never", 1)


def search():
    t = Debugger([sys.argv[1], "-nx", "-ex", "set width 0", "-ex", "set style enabled off", sys.argv[3]])
    t.until(re.escape(PROMPT) + "$")
    t.command("jump_forward 90%")
    text, took = t.interrupt("reverse_watchpoint n", 2, "_watchpoint n")
    ok("Interrupted before a change" in text and took < 10, "Ctrl-C in reverse_watchpoint (%.1f s)" % took, text[-1000:])
    t.type("kill\ny\nquit\n")
    t.until("never", 1)


main()
search()
