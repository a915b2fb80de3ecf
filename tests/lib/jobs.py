# SPDX-License-Identifier: GPL-3.0-or-later
"""Job control in an interactive shell. Prints TAP lines without a plan.
Usage: jobs.py PROGRAM RECORDER...; what the recorder does is compared with what happens without it."""
import os
import re
import sys

from terminal import Terminal

PROMPT = r"PROMPT> $"


def session(prefix, steps):
    """What the shell shows for the first step's command, then for what is typed."""
    shell = Terminal(["bash", "--norc", "--noprofile", "-i"])
    shell.type("PS1='PROMPT''> '; unset PROMPT_COMMAND; stty -echo\n")
    shell.until(PROMPT)
    shown = []
    for text, until in steps:
        shell.type(text.replace("RUN", prefix))
        shown.append(shell.until(until, 60))
    shell.type("\nkill -9 %1 2>/dev/null; exit\n")
    shell.until("exit$", 5)
    os.close(shell.fd)
    os.waitpid(shell.pid, 0)
    return "".join(shown)


def bare(text):
    """Without the name of the job, and without what is only the terminal's."""
    text = re.sub(r"\x1b\[[?0-9;]*[a-z]|\^Z|PROMPT> ", "", text)
    text = re.sub(r"(Stopped|Running) .*", r"\1", text)
    return [l for l in text.split("\n") if l.strip() and "jobs" not in l and "RUN" not in l and l.strip() == l
            and not re.search(r"^lizard|lizard-trace|^/", l)]


def main():
    program, recorder = sys.argv[1], " ".join(sys.argv[2:])
    cases = {
        "stops itself": [("RUN self\n", PROMPT), ("fg; echo status $?\n", r"status \d+\n")],
        "Ctrl-Z": [("RUN wait\n", "ready\n"), ("\x1a", PROMPT), ("fg; echo status $?\n", r"status \d+\n")],
        "Ctrl-Z, then in the background": [("RUN wait\n", "ready\n"), ("\x1a", PROMPT), ("bg; wait; echo status $?\n", r"status \d+\n")],
        "Ctrl-Z is caught": [("RUN caught; echo status $?\n", "ready\n"), ("\x1a", r"status \d+\n")],
        "Ctrl-Z is ignored": [("RUN ignored; echo status $?\n", "ready\n"), ("\x1a", r"status \d+\n")],
    }
    for number, (name, steps) in enumerate(cases.items(), 1):
        native = bare(session(program, steps))
        recorded = bare(session(f"{recorder} -o {os.environ['JOBS']}-{number} -- {program}", steps))
        good = native == recorded and any("status" in l for l in native)
        print(f"{'ok' if good else 'not ok'} - {name}: as without the recorder")
        if not good:
            print(f"# natively: {native}\n# recorded: {recorded}")


main()
