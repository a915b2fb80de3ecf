#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# GDB's own words for moves in a recording, in the patched GDB.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

patched_gdb || skip_all "the patched GDB is not built, or older than the library: make gdb"
prog_build tour || skip_all "no program"
record tour

out=$(gdb_run --patched "$T/tour" <<'END'
-- info
info record
break factorial if n == 2
continue
bookmark
-- end
record goto end
info symbol $pc
-- bookmark
goto-bookmark 1
print n
-- begin
record goto begin
info sharedlibrary
-- from there
continue
print n
-- time
record goto 100
when
-- words
goto-bookmark end
goto-bookmark start
when
END
)
like "$(section "$out" info)" '^Active record target: lizard-record$' "info record"
like "$(section "$out" info | tr '\n' ' ')" 'Recorded program: [^ ]*/tour .*Current time: [0-9]+ of [1-9]' "and what it says"
like "$(section "$out" end)" '^_?_?(GI_)?_?_?_?exit' "record goto end"
like "$(section "$out" bookmark)" '^\$1 = 2$' "goto-bookmark"
# The loader's entry has a name where libc6-dbg is installed.
like "$(section "$out" begin)" '^#0 .* in (_start|\?\?) \(\) from .*/ld-linux' "record goto begin"
is "$(section "$out" begin | grep -c '\.so\.')" 2 "forgets libraries that are not there yet"
like "$(section "$out" "from there")" 'Breakpoint 1, factorial \(n=2\)' "a continue from there meets the breakpoint"
like "$(section "$out" "time")" 'time 10[0-9] of' "record goto TIME"
like "$(section "$out" words)" 'time 0 of' "goto-bookmark start"

position=$(printf 'jump_forward factorial\nwhen\n' | gdb_run --patched "$T/tour" | sed -n 's/^position //p')
out=$(gdb_run --patched "$T/tour" <<END
record goto end
goto-bookmark "$position"
when
goto-bookmark "no position"
END
)
like "$out" "^position $position\$" "a bookmark of another session"
like "$out" "no position" "a wrong one is refused"
like "$(echo 'record stop' | gdb_run --patched "$T/tour")" 'nothing to stop' "record stop is refused"

out=$(gdb_run --patched "$T/tour" <<END
-- record
record
record full
-- save
break factorial if n == 3
continue
record
continue
record save $T/saved
-- restore
kill
record full restore $T/saved
print n
reverse-continue
-- core
kill
core-file $T/saved
END
)
is "$(section "$out" record)" "" "record has nothing to say: all is recorded"
like "$(echo 'record btrace' | gdb_run --patched "$T/tour")" 'already being recorded' "other ways to record are refused"
like "$(section "$out" save)" "^Saved core file $T/saved with execution log" "record save"
like "$(echo "record save $T/saved" | gdb_run --patched "$T/tour")" "saved.lizard exists" "does not overwrite"
like "$(section "$out" restore)" "^Restored records from core file $T/saved" "record restore"
like "$(section "$out" restore)" '^\$[0-9]+ = 3$' "begins where record was given"
like "$(section "$out" restore)" "$no_history" "with what was before"
like "$(section "$out" core)" 'factorial \(n=3\)' "the core file is one of that instant"
like "$(echo 'info lizard' | gdb_run --patched "$T/saved.lizard")" 'saved.lizard' "the saved recording is one for lizard-gdb"
out=$("$patched" -nx -batch -ex 'record full restore /etc/passwd' 2>&1)
like "$out" 'not a core dump' "what is no saved recording goes to GDB's own command"
done_testing
