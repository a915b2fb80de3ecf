# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by lizard-gdb at the end of a recording: how long the first `bs` takes, in seconds.
import time

import gdb

start = time.monotonic()
gdb.execute("bs", to_string=True)
print(f"BENCH {time.monotonic() - start:.4f}", flush=True)
