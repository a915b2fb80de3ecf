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


# Of MI's: what a stream has, or an event.
RECORD = re.compile(r'[~@&]"(.*)"|[*=][a-z].*')
ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"e": b"\033", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def unquoted(text):
    """Text without the records that GDB 18 makes of it where a program speaks MI, even if Python asks for the text."""
    records = [RECORD.fullmatch(line) for line in text.splitlines()]
    if not all(records):
        return text
    quoted = "".join(record[1] or "" for record in records).encode("utf-8", "surrogateescape")
    plain = ESCAPE.sub(lambda m: bytes([int(m[1], 8)]) if m[1].isdigit() else ESCAPES.get(m[1], m[1]), quoted)
    return plain.decode("utf-8", "surrogateescape")


def printed(command):
    """What GDB prints for COMMAND. A name in it may be no UTF-8, which Python does not take."""
    try:
        return unquoted(gdb.execute(command, to_string=True))
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
