"""What all commands have in common."""
import gdb

OWN_COMPLETER = -1  # the class's complete()


class Command(gdb.Command):
    """A command whose help text is its class's docstring."""

    name = None
    kind = gdb.COMMAND_RUNNING
    completer = gdb.COMPLETE_NONE
    repeats = True  # on an empty line

    def __init__(self):
        super().__init__(self.name, self.kind, self.completer)

    def invoke(self, arg, from_tty):
        if not self.repeats:
            self.dont_repeat()
        try:
            self.act(arg, from_tty)
        except gdb.error as e:  # its text is meant for the user, its type is not
            raise gdb.GdbError(str(e))
