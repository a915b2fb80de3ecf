# SPDX-License-Identifier: GPL-3.0-or-later
"""What is printed is text: names in the recording and in its program may be a stranger's."""
import re

import gdb

# Control characters, bytes that are no UTF-8, and what turns the direction of text or ends a line.
STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def escaped(found):
    return "".join("\\x%02x" % byte for byte in found.group().encode("utf-8", "surrogateescape"))


def printable(text):
    """As common/base/printable.c shows it; line breaks and tabs stay."""
    return STEERS.sub(escaped, text)


def printed(command):
    """What GDB prints for COMMAND. A name in it may be no UTF-8, which Python does not take."""
    try:
        return gdb.execute(command, to_string=True)
    except UnicodeDecodeError:
        return "(what GDB prints for \"%s\" is no UTF-8)\n" % command


# What a stock GDB says of each file that it reads from the server, which is on a pipe.
READING = re.compile(
    r"^(Reading .* from remote target\.\.\.|warning: File transfers from remote targets can be slow\. .*)\n",
    re.M,
)


def execute(command):
    """GDB's COMMAND, which may read many files."""
    say(READING.sub("", printed(command)))


def say(text, stream=gdb.STDOUT):
    gdb.write(printable(text), stream)
