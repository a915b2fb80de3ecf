"""What the server of a recording is asked through monitor packets."""
import gdb


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
