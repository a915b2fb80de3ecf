# SPDX-License-Identifier: GPL-3.0-or-later
# The walk of `make demo`, sourced by lizard-gdb at the end of the recording.
import gdb


def say(text):
    print("\n# " + text, flush=True)


def do(command):
    print(gdb.parameter("prompt") + command, flush=True)
    out = gdb.execute(command, to_string=True)
    print(out, end="" if out.endswith("\n") else "\n", flush=True)
    return out


gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set width 0")

say("The end of the recording: the crash.")
do("when")
do("backtrace 3")

say("One factor of the product is a number without digits. Its struct is all zero:")
do("frame function bc_multiply")
do("print *n1")
do("print *n2")

say("Where did the zero come from, and why did control come there? Nothing moves for the answers.")
do("flowback n2->n_value")
do("flowback-goto 1")
do("flowback -why")
do("undo-move")
do("frame function bc_multiply")

say("The same on foot. Who has put these zeros there? Back to the last change of this word of memory.")
do("reverse_watchpoint -l n2->n_value")
do("when")
do("backtrace 3")

say("Not a number in sight: bc is making room for more arrays. How far has the loop got?")
do("print indx")
do("print a_count")
do("print v_count")

say("64 arrays have room, and the loop is beyond that. One line back, and one more:")
do("prev")
do("prev")
do("print indx < a_count")

say("The loop's end is the number of variables, v_count; it must be a_count. It begins here:")
do("jump_backward more_arrays")
do("when")
