# SPDX-License-Identifier: GPL-3.0-or-later
"""Which GDB this is."""
import re

import gdb


def version():
    """Its major number; 0: it does not tell."""
    m = re.match(r"\D*(\d+)", gdb.VERSION)
    return int(m.group(1)) if m else 0
