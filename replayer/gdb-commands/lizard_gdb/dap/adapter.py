# SPDX-License-Identifier: GPL-3.0-or-later
"""GDB's own adapter. What differs between its versions, from 14 on, is here."""
import inspect
import sys

import gdb.dap.server
from gdb.dap import events, frames, startup
from gdb.dap.varref import find_variable

server = sys.modules["gdb.dap.server"]  # from 15 on, the package has something else of that name, too
send_gdb = server.send_gdb
in_gdb = server.send_gdb_with_response  # from the adapter's thread, to wait for the result

# 14 has none, and answers with the text of any exception.
Failure = getattr(startup, "DAPException", Exception)
import_line = getattr(server, "import_line", lambda line: line)

added = {}


def request(name, **options):
    """Like GDB's decorator, but may replace a request of GDB's. Options that this GDB lacks are left out."""
    known = inspect.signature(server.request).parameters
    server._commands.pop(name, None)
    return server.request(name, **{key: value for key, value in options.items() if key in known})


def capability(name):
    def add(function):
        added[name] = server._capabilities[name] = True
        return function

    return add


plain_send = server.Server._send_json


def send_event(event, body=None):
    plain_send(server._server, {"type": "event", "event": event, "body": body or {}})


def tell_apart():
    """GDB takes all that it prints for the program's. The program's own comes another way."""

    def send(self, message):
        if message.get("event") == "output" and message["body"].get("category") == "stdout":
            message["body"]["category"] = "console"
        plain_send(self, message)

    server.Server._send_json = send


def lacks(name):
    """A capability of GDB's that means nothing in a recording."""
    server._capabilities.pop(name, None)


def refuse(*names):
    for name in names:

        @request(name, on_dap_thread=True, expect_stopped=False)
        def refused(**args):
            raise Failure("Lizard does not know the adapter of this GDB.")


def tell_late_capabilities():
    """GDB 14 begins to answer before it reads this file."""
    if getattr(server._server, "config", None) is not None:
        send_event("capabilities", {"capabilities": added})


def later(function):
    """Calls FUNCTION when the present request has been answered; GDB 14 calls it at once."""
    getattr(server, "call_function_later", lambda function: function())(function)


def after_response(function):
    """The same in GDB's thread."""
    later(lambda: send_gdb(function))


def set_running(running):
    events.inferior_running = running


def expects_pause():
    """Has the client asked for this stop?"""
    expected, events._expected_pause = events._expected_pause, False
    return expected


def keep_finish_value(value):
    """For the scope that shows what a function returned; 14 has none."""
    from gdb.dap import scopes

    if hasattr(scopes, "set_finish_value"):
        scopes.set_finish_value(value)


def select_frame(number):
    if hasattr(frames, "select_frame"):
        frames.select_frame(number)
    else:
        frames.frame_for_id(number).select()


def child_value(reference, name):
    """The value called NAME in a scope or variable that the client knows by REFERENCE."""
    parent = find_variable(reference)
    try:
        child = parent.find_child_by_name(name)
    except Failure:  # the client has not asked for its children
        list(parent.fetch_children(0, 0))
        child = parent.find_child_by_name(name)
    return child.value if hasattr(child, "value") else child._value


cancelled = set()  # requests that were interrupted, by number


def note_cancels():
    """GDB interrupts a request that is cancelled while it is carried out. What it does may catch that. 14 has no such request."""
    handler = getattr(server, "CancellationHandler", None)
    if handler is None:
        return
    interrupt = handler.cancel

    def cancel(self, number):
        with self.lock:
            if number == self.in_flight_gdb_thread:
                cancelled.add(number)
            interrupt(self, number)

    handler.cancel = cancel


def end_if_cancelled():
    """In GDB's thread: the request that is carried out."""
    if cancelled and server._server.canceller.in_flight_gdb_thread in cancelled:
        raise KeyboardInterrupt


def run(command):
    """A command that makes the program run; the client knows that it does."""
    events._suppress_cont, events._expected_pause = True, False
    try:
        gdb.execute(command, from_tty=True, to_string=True)
    finally:
        events._suppress_cont = False
