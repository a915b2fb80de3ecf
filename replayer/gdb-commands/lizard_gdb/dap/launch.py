# SPDX-License-Identifier: GPL-3.0-or-later
"""Opening a recording, and beginning to walk."""
import os
from typing import Optional

import gdb

from ..handlers import listen
from ..latest import open_recording_of
from ..places import Places
from ..replay import replay
from ..shown import OneMove
from ..start import to_main, to_start
from . import adapter, messages, output, stops
from .adapter import capability, request
from .console import captured
from .moves import carry_out


class Walk:
    named = os.environ.pop("LIZARD_GDB_DAP", "")  # on the command line
    opened = configured = begun = ended = False
    at_end = at_main = False


def open_recording(what, cwd, process, at_end):
    with messages.to_file() as errors:
        try:
            notes = captured(lambda: open_recording_of(what, cwd, process, at_end, errors))[1]
        except (gdb.error, gdb.GdbError, OSError) as e:
            raise adapter.Failure(messages.more().replace("lizard: ", "").strip() or str(e))
        except KeyboardInterrupt:
            raise adapter.Failure("cancelled")
    return messages.more() + notes


def open_walk(what, cwd, process, at_end):
    if Walk.opened:
        raise adapter.Failure("A recording is open already.")
    with stops.untold(), Places.hidden():
        said = open_recording(what, cwd, process, at_end)
    Walk.opened = True
    Walk.at_end = at_end
    output.say(said)
    output.begin()
    if at_end:
        output.since_start()
    adapter.send_event(
        "process", {"name": replay().info()["program"], "isLocalProcess": False, "startMethod": "launch"}
    )


def begin():
    """In GDB's thread, when the recording is open and the client has set its breakpoints."""
    if not (Walk.opened and Walk.configured) or Walk.begun:
        return
    Walk.begun = True
    carry_out(go)


def go():
    if Walk.at_end:
        stops.tell()
    elif Walk.at_main:
        with stops.reason("entry"), Places.hidden():
            captured(to_main_at_once)
    else:
        adapter.run("continue")


def to_main_at_once():
    with OneMove():
        to_main()


def launch(
    *,
    recording: Optional[str] = None,
    program: Optional[str] = None,
    cwd: Optional[str] = None,
    process=None,
    end: bool = False,
    stopOnEntry: bool = False,
    stopAtBeginningOfMainSubprogram: bool = False,
    **args
):
    what = recording or program or Walk.named
    if not what:
        raise adapter.Failure('Which recording? Name it as "recording", or a recorded program as "program".')
    Walk.at_main = stopOnEntry or stopAtBeginningOfMainSubprogram
    adapter.in_gdb(lambda: open_walk(what, cwd, process, end))
    adapter.after_response(begin)


for name in ("launch", "attach"):
    request(name, on_dap_thread=True, expect_stopped=False)(launch)


@request("configurationDone", on_dap_thread=True, expect_stopped=False)
def configuration_done(**args):
    Walk.configured = True
    adapter.after_response(begin)


def start_again():
    with stops.untold():
        captured(to_start)
    output.go_on_here()
    carry_out(go)


@capability("supportsRestartRequest")
@request("restart", on_dap_thread=True)
def restart(**args):
    if not Walk.begun:
        raise adapter.Failure("No recording is open.")
    adapter.after_response(start_again)


@request("terminate", expect_stopped=False)
def terminate(**args):
    """Nothing runs that could be asked to end: the recording is closed."""
    listen(gdb.events.exited, on_exited)
    if gdb.selected_inferior().pid != 0:
        captured(lambda: gdb.execute("kill"))
    if not Walk.ended:
        adapter.send_event("terminated")


def on_exited(event):
    """GDB's adapter tells it."""
    Walk.ended = True
