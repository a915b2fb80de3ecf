#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""instants.py KIND N: of the events of a KIND (signal, switch) that `lizard dump --events --json` prints on standard input and
whose instants have a state, at most N: their positions, and instants three bytes of markers before. KIND unmarked: signals in code
without markers, where nobody knows how often control had come there; the handler's first instruction instead."""
import json
import sys

kind, most = sys.argv[1], int(sys.argv[2])
unmarked = kind == "unmarked"
events = [e for e in map(json.loads, sys.stdin) if e.get("kind") == ("signal" if unmarked else kind) and "state" in e]
events = [e for e in events if ("pages" in e) == unmarked]
for e in events[:: max(1, len(events) // most)][:most]:
    if unmarked:
        print("%d:%d.%d@%s#1" % (e["tid"], e["marker"], e["index"] + 1, e["new_ip"]))
    else:
        print("%d:%d.%d@%s#1" % (e["tid"], e["marker"], e["index"], e["ip"]))
    print("%d:%d" % (e["tid"], e["marker"] - 3))
