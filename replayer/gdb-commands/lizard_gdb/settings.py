# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that GDB refuses while a program runs. Editors make them at the begin, and a recording is open by then: what is
set already is accepted."""
import gdb

from .text import printed


def is_on(text):
    return any(word.startswith(text) and (text != "o") for word in ("on", "1", "yes", "enable"))


class Setting(gdb.Command):
    """What GDB's help says of the setting."""

    defined = None

    def __init__(self, name):
        self.__doc__ = printed("help set " + name)
        self.setting = name
        super().__init__("set " + name, gdb.COMMAND_RUNNING)

    def invoke(self, arg, from_tty):
        self.dont_repeat()
        if is_on(arg.strip()) != gdb.parameter(self.setting):
            raise gdb.GdbError(NAMES[self.setting])


def define():
    """From the first recording on."""
    if not Setting.defined:
        Setting.defined = [Setting(name) for name in NAMES]


NAMES = {  # and why it cannot be changed
    "non-stop": "A recording is replayed in all-stop mode.",
    "mi-async": "GDB takes this setting only before a recording is open: lizard-gdb -iex 'set mi-async on'.",
}
