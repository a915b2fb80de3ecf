"""What the server of a recording is asked through monitor packets."""
import signal

import gdb


def uninterrupted(function):
    """Ctrl-C waits until FUNCTION is done."""

    def call(*args):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, set())
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            return function(*args)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    return call


@uninterrupted  # GDB would go away from the answer, and take it for that to its next packet
def monitor(text):
    """The server's answer to a monitor command."""
    try:
        return gdb.execute("monitor " + text, to_string=True)
    except gdb.error as e:
        raise gdb.GdbError("No recording is open. (%s)" % e)


def table(text):
    """Lines key=value as a dict."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def when():
    return table(monitor("when"))


def need_process():
    if gdb.selected_inferior().pid == 0:
        raise gdb.GdbError("The program is not being replayed.")


def instrumented():
    return table(monitor("info")).get("instrumented") == "1"
