#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""instants.py KIND N: of the events of a KIND (signal, switch) that `lizard dump --events --json` prints on standard input and
whose instants have a state, at most N: their positions, and instants three bytes of markers before."""
import json
import sys

kind, most = sys.argv[1], int(sys.argv[2])
events = [e for e in map(json.loads, sys.stdin) if e.get("kind") == kind and "state" in e]
for e in events[:: max(1, len(events) // most)][:most]:
    print("%d:%d.%d@%s#1" % (e["tid"], e["marker"], e["index"], e["ip"]))
    print("%d:%d" % (e["tid"], e["marker"] - 3))
