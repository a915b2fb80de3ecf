# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the commands of a section of README, and compares what they print with what stands below them.

Usage: readme.py README "Heading" FOLDER     The commands run in FOLDER. The exit status is 0 if all answers are right.

README wraps long lines, so all white space is alike. The number of a thread, the instants and the addresses depend on the
run and on the compiler."""
import re
import subprocess
import sys


def section(text, heading):
    return re.search(r"^## %s\n(.*?)(?=^## )" % re.escape(heading), text, re.M | re.S).group(1)


def questions(text):
    """(command, answer) of each command that stands alone in a block of code."""
    for block in re.findall(r"(?:^    .*\n)+", text, re.M):
        found = re.fullmatch(r"    \$ (.*)\n((?:.*\n)+)", block)
        if found:
            yield found.groups()


def comparable(text):
    text = re.sub(r"\b\d+:[\d,]+", "INSTANT", text)
    return re.sub(r"\b0x[0-9a-f]+", "ADDRESS", text).split()


def main(readme, heading, folder):
    with open(readme, encoding="utf-8") as file:
        asked = list(questions(section(file.read(), heading)))
    wrong = 0
    for command, answer in asked:
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode or done.stderr or comparable(done.stdout) != comparable(answer):
            wrong += 1
            print("$ %s\n%s%sREADME says:\n%s" % (command, done.stdout, done.stderr, answer))
    print("%d of %d answers are right" % (len(asked) - wrong, len(asked)))
    return wrong != 0


sys.exit(main(*sys.argv[1:]))
