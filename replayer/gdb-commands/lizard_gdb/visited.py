# SPDX-License-Identifier: GPL-3.0-or-later
"""What `lizard calls --args` asks GDB for: a JSON object for each call, written as soon as it is known."""
import os

import gdb

from .arguments import argument_texts, value_text
from .report import MOST_ARGS, Report
from .shown import OneMove
from .visits import visit_entry, visit_return


def see(begin, end, returned):
    """Of the call between these instants. RETURNED: it did, and not in another way."""
    visit_entry(begin)
    seen = {"args": argument_texts(gdb.newest_frame(), MOST_ARGS), "value": None}
    if returned:
        value = visit_return(end)
        seen["value"] = None if value is None else value_text(lambda: value)
    return seen


def write(wanted, told):
    """WANTED: a descriptor of lines BEGIN END 0|1."""
    report = Report(told)
    with os.fdopen(wanted) as lines, OneMove():
        for line in lines:
            begin, end, returned = line.split()
            try:
                report.tell(**see(begin, end, returned == "1"))
            except (gdb.error, gdb.GdbError, RuntimeError) as why:
                report.tell(error=str(why))
