# SPDX-License-Identifier: GPL-3.0-or-later
"""What Lizard and GDB print while they carry out a request: GDB gives it to who executes a command, so one is executed."""
import re

import gdb

THREADS = re.compile(r"^\[(New Thread|Thread .* exited|Switching to).*\]\n", re.M)


class Call(gdb.Command):
    """Calls a function. Its name is not for users."""

    function = result = failure = None

    def __init__(self):
        super().__init__("lizard-dap-call", gdb.COMMAND_OBSCURE)

    def invoke(self, arg, from_tty):
        try:
            self.result = self.function()
        except (Exception, KeyboardInterrupt) as e:
            self.failure = e


call = Call()


def captured(function):
    """What it gives, and what was printed meanwhile."""
    call.function, call.result, call.failure = function, None, None
    text = gdb.execute("lizard-dap-call", to_string=True)
    result, failure = call.result, call.failure
    call.function = call.result = call.failure = None
    if failure is not None:
        failure.printed = text
        raise failure
    return result, THREADS.sub("", text)
