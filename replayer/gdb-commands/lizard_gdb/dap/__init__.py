# SPDX-License-Identifier: GPL-3.0-or-later
"""GDB's Debug Adapter for recordings: what `lizard dap` adds to it. GDB has two threads: one handles the requests, the other
one runs the program. What asks or moves that must be in the latter."""
from . import adapter

def define():
    """A launch that GDB's own adapter carried out would run the program. So that is refused first, and then replaced."""
    adapter.refuse("launch", "attach")
    from . import instants, launch, moves, stops, watch  # each adds its requests

    stops.define()
    adapter.tell_apart()
    adapter.note_cancels()
    adapter.tell_late_capabilities()
