# SPDX-License-Identifier: GPL-3.0-or-later
"""What GDB's line tables and blocks say of each address of a stretch of code, as tests/tools/lines.c prints it.

Parameters, in the environment: LINES_LOW, LINES_HIGH (hexadecimal), LINES_OUT (a file).
"""
import functools
import os
import re

import gdb


@functools.lru_cache(maxsize=None)
def begins_function(address):
    return re.match(r"[^+]* in section", gdb.execute("info symbol 0x%x" % address, to_string=True)) is not None


def is_inlined(around):
    """Is the innermost one of these blocks of functions an inlined call? A member function of a local type may lie in others'
    blocks, too. An inlined call may begin where its function does."""
    start = around[0].start
    return len(around) > 1 and (not begins_function(start) or any(block.start == start for block in around[1:]))


def functions_around(pc):
    """The blocks of functions around PC, innermost first; all but the last are inlined calls. Two calls of one function in each
    other may have the same bounds."""
    blocks = []
    block = gdb.block_for_pc(pc)
    while block is not None and not block.is_static and not block.is_global:
        if block.function is not None:
            blocks.append(block)
        block = block.superblock
    n = 1
    while n < len(blocks) and is_inlined(blocks[n - 1 :]):
        n += 1
    return [(n - i, block.start, block.end, str(block.function)) for i, block in enumerate(blocks[:n])]


def inlined(pc):
    around, before = functions_around(pc), functions_around(pc - 1)
    begin = 0
    while begin < len(around) - 1 and around[begin] not in before:
        begin += 1
    return "%d/%d" % (max(0, len(around) - 1), begin)


def row(pc):
    sal = gdb.find_pc_line(pc)
    if not sal.line:
        return "0"
    return "%d %x %x %s" % (sal.line, sal.pc, (sal.last or 0) + 1, os.path.basename(sal.symtab.filename))


with open(os.environ["LINES_OUT"], "w") as out:
    for pc in range(int(os.environ["LINES_LOW"], 16), int(os.environ["LINES_HIGH"], 16)):
        out.write("%x %s %s\n" % (pc, inlined(pc), row(pc)))
