#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# LLDB at a server's port: what it shows is what GDB shows, or what the program itself printed. LIZARD_LLDB names the LLDB.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
. "$LIZARD_SRC/tests/lib/lldb.sh"

lldb_find || skip_all "no LLDB from 19 on (Debian: lldb-19, python3-lldb-19)"
diag "$lldb, version $lldb_version"
"$LIZARD_BIN/lizard-cc" -g -O0 -pthread "$LIZARD_SRC/tests/progs/lldb/debugged.c" -o "$T/debugged" || skip_all "no program"
record debugged
status=$?

# "FUNCTION LINE" of each frame of a debugger's bt.
frames() {
	sed -n -e 's/^ *\*\{0,1\} *frame #[0-9]*: 0x[0-9a-f]* [^`]*`\([a-z_0-9]*\).* at [^:]*:\([0-9]*\).*/\1 \2/p' \
		-e 's/^#[0-9]* *\(0x[0-9a-f]* in \)\{0,1\}\([a-z_0-9]*\) (.*) at .*:\([0-9]*\)$/\2 \3/p'
}
# The value of each `$1 = VALUE` or `(type) $1 = VALUE`.
values() {
	sed -n 's/^\(([^)]*) \)\{0,1\}\$[0-9]* = //p'
}
# The line of each stop, "NAME at FILE:LINE".
lines() {
	sed -n 's/^ *frame #0: .* at [^:]*:\([0-9]*\).*/\1/p'
}
positions() {
	sed -n 's/^position //p'
}

# ---- forwards ----
lldb_serve "$T/debugged"
like "$(cat "$T/server")" "lldb -o 'command script import /.*/lizard_lldb.py' $T/debugged\$" "the server says what to type"
shown=$(lldb_run "$T/debugged" <<'END'
breakpoint set -n add
continue
-- bt
bt 2
-- variables
frame variable
-- values
expr twice(21)
expr scale(1.5, 4)
expr length("hello")
expr values[1] + 5
expr sizeof(struct point)
-- registers
register read rip rsp rbp
-- kept
expr int $mine = 5
-- change
expr sum = 77
expr sum
-- next
next
next
-- undone
expr sum
expr $mine + 1
-- finish
finish
-- steps
next
next
step
step
-- images
image list -f
-- regions
memory region $pc
memory region $sp
memory region 0
-- dead
expr *(int *)length
expr raise(11)
expr (int)sum
-- signal
breakpoint disable 1
continue
-- end
continue
continue
-- other
process detach
END
)
cat >"$T/gdb-commands" <<'END'
break add
continue
-- bt
bt 2
-- variables
info args
-- values
print twice(21)
print scale(1.5, 4)
print length("hello")
print values[1] + 5
print sizeof(struct point)
-- registers
info registers rip rsp rbp
-- next
next
next
-- undone
print sum
-- finish
finish
-- steps
next
next
step
step
-- images
info sharedlibrary
END
gdb=$(gdb_run "$T/debugged" <"$T/gdb-commands")
is "$(section "$shown" bt | frames)" "$(section "$gdb" bt | frames)" "the frames are GDB's"
like "$(section "$shown" bt | frames)" "^add [0-9]+" "and there are some"
is "$(section "$shown" variables | sed -n 's/^([a-z]*) //p')" "$(section "$gdb" variables)" "so are the arguments"
is "$(section "$shown" values | values)" "$(section "$gdb" values | values)" "and what the program's functions give"
is "$(section "$shown" values | values | head -n 1)" 42 "which is right"
is "$(section "$shown" registers | sed -n 's/^ *\(r[a-z]*\) = 0x0*\([0-9a-f]*\).*/\1 \2/p')" \
	"$(section "$gdb" registers | sed -n 's/^\(r[a-z]*\) *0x\([0-9a-f]*\).*/\1 \2/p')" "and registers"
is "$(section "$shown" change | values)" "77
77" "a variable is changed in the copy"
is "$(section "$shown" undone | values | head -n 1)" "$(section "$gdb" undone | values)" "the change is gone when it goes on"
is "$(section "$shown" undone | values | tail -n 1)" 6 "a variable of LLDB's own is not"
is "$(section "$shown" finish | lines)" "$(section "$gdb" finish | sed -n 's/^0x.* in main () at .*:\([0-9]*\)$/\1/p')" "finish ends in the caller"
is "$(section "$shown" steps | lines)" "$(section "$gdb" steps | sed -n -e 's/^\([0-9]*\)	.*/\1/p')" "next and step go as GDB's do"
is "$(section "$shown" images | sed -n 's/^\[.*\] *//; s/ *$//; /\.so/p' | grep -v debug$ | sort)" \
	"$(section "$gdb" images | grep -o '/.*' | xargs -n 1 realpath | sort)" "the libraries are GDB's"
like "$(section "$shown" regions)" "r-x $T/debugged" "the program's code is a region with its file"
like "$(section "$shown" regions)" 'rw- \[stack\]' "so is the stack"
like "$(section "$shown" regions)" '^\[0x0000000000000000-0x[0-9a-f]*\) ---' "and what is not mapped"
like "$(section "$shown" dead)" 'signal SIGSEGV' "a called function that crashes says so"
is "$(section "$shown" dead | values | tail -n 1)" 0 "and leaves nothing behind"
like "$(section "$shown" signal)" 'stop reason = signal SIGUSR1' "a signal stops it, under Linux's name"
like "$(section "$shown" end)" 'stop reason = The recording ends here: the program exited with status 1\.' "so does the end, with its reason"
is "$(section "$shown" end | grep -c 'recording ends here')" 2 "it stays there"
is $status 1 "the program's own status"
lldb_end

# ---- threads and watchpoints ----
# LLDB finds no variables of a thread from the C library's frames in assembly, where a thread waits since glibc 2.41.
lldb_serve "$T/debugged"
shown=$(lldb_run "$T/debugged" <<'END'
breakpoint set -n twice
process handle -s false -n false SIGUSR1
continue
-- threads
thread list
-- here
up
expr own
expr p.x
expr twice(p.y)
-- there
thread select 1
bt
script [lldb.thread.SetSelectedFrame(f.idx) for f in lldb.thread if f.name == 'main']
expr own
expr twice(own)
-- step
thread select 2
frame select 0
finish
-- watch
breakpoint delete 1
jump_backward start
watchpoint set variable sum
continue
continue
continue
continue
continue
process detach
END
)
gdb=$(gdb_run "$T/debugged" <<'END'
break twice
handle SIGUSR1 nostop noprint
continue
delete
-- threads
info threads
-- here
up
print own
print p.x
print twice(p.y)
-- there
thread 1
print own
print twice(own)
END
)
is "$(section "$shown" threads | sed -n "s/.*thread #\([0-9]*\): tid = \([0-9]*\),.* name = '\([a-z]*\)'.*/\1 \2 \3/p")" \
	"$(section "$gdb" threads | sed -n 's/^[* ] \([0-9]*\) *Thread [0-9]*\.\([0-9]*\) "\([a-z]*\)".*/\1 \2 \3/p')" "the threads are GDB's"
is "$(section "$shown" threads | grep -c 'tid =')" 2 "which are two"
is "$(section "$shown" here | values)" "$(section "$gdb" here | values)" "a thread's own variable, in the thread that runs"
is "$(section "$shown" there | values)" "$(section "$gdb" there | values)" "in the one that waits, and calls in both"
is "$(section "$shown" there | values)" "3
6" "which have values of their own"
like "$(section "$shown" there)" 'frame #[0-9]+: .*`main at debugged.c' "the one that waits has its frames"
like "$(section "$shown" step)" 'thread #2, .*stop reason = step out' "the other one is stepped"
is "$(section "$shown" watch | sed -n 's/^new value: //p' | sed 1d)" "$(sed -n 's/^sum //p' "$T/debugged.out" | sed '/^0$/d')
1100" "each change of a watched variable is met"
lldb_end

# ---- backwards ----
lldb_serve -e "$T/debugged"
shown=$(lldb_run "$T/debugged" <<'END'
jump_backward -any add
-- walk
when
prev
when
prev
when
bs
when
bs
when
-- continue
breakpoint set -n add -c 'i != 2'
jump_forward end
reverse-continue
when
-- more
reverse-continue
when
reverse-continue
when
reverse-continue
when
reverse-continue
when
-- start
reverse-continue
-- then
continue
when
finish
-- wrong
prev x
jump_backward nowhere
jump_backward twice
jump_backward 7:7.7@7#7
process detach
END
)
begin=$(section "$shown" walk | positions | head -n 1)
gdb=$(gdb_run "$T/debugged" <<END
-- walk
jump_forward $begin
when
prev
when
prev
when
bs
when
bs
when
-- continue
break add if i != 2
jump_forward end
reverse-continue
when
-- more
reverse-continue
when
reverse-continue
when
reverse-continue
when
reverse-continue
when
END
)
is "$(section "$shown" walk | positions)" "$(section "$gdb" walk | positions)" "bs and prev go where GDB's go"
is "$(section "$shown" walk | positions | sort -u | wc -l)" 5 "which are five places"
like "$(section "$shown" continue)" 'stop reason = signal SIGUSR1' "reverse-continue stops at a signal"
is "$(section "$shown" more | positions)" "$(section "$gdb" more | positions)" "and at breakpoints whose conditions hold, where GDB does"
like "$(section "$shown" start)" 'recording begins here' "and where the recording begins"
is "$(section "$shown" then | positions)" "$(section "$gdb" more | positions | tail -n 1)" "continue then goes forwards"
like "$(section "$shown" then)" 'stop reason = step out' "and finish"
like "$(section "$shown" wrong)" "error: 'x' is not a number" "an argument that is none"
like "$(section "$shown" wrong)" 'error: There is no code at nowhere' "a place that is none"
like "$(section "$shown" wrong)" 'does not come there before' "a place that does not come"
lldb_end

# ---- LLDB's own reverse execution ----
lldb_serve "$T/debugged"
if [ "$lldb_version" -ge 21 ]; then
	shown=$(lldb_run "$T/debugged" <<'END'
process handle -p false SIGUSR1
breakpoint set -n add
jump_forward end
process continue --reverse
-- back
process continue --reverse
frame variable i
process continue --reverse
frame variable i
-- forward
process continue --forward
frame variable i
process detach
END
)
	is "$(section "$shown" back | sed -n 's/^(int) i = //p')" "4
3" "process continue --reverse meets breakpoints"
	is "$(section "$shown" forward | sed -n 's/^(int) i = //p')" 4 "and process continue --forward"
else
	skip "process continue --reverse" "LLDB $lldb_version has none; 21 does"
fi

# ---- a second debugger; another build ----
lldb_run "$T/debugged" <<'END' >"$T/first"
jump_backward start
jump_forward add
process detach
END
kept=$(echo when | lldb_run "$T/debugged")
like "$kept" '^position .*' "the server goes on after a detach"
is "$(echo "$kept" | positions)" "$(printf 'break add\ncontinue\nwhen\n' | gdb_run "$T/debugged" | positions)" "where the first one left"
lldb_end
cp "$T/debugged" "$T/old"
sed 's/values\[i & 3\] = v;/values[i \& 3] = v + 1;/; s/int length/int longer(void)\n{\n\treturn 9;\n}\n\nint length/' \
	"$LIZARD_SRC/tests/progs/lldb/debugged.c" >"$T/debugged.c"
"$LIZARD_BIN/lizard-cc" -g -O0 -pthread "$T/debugged.c" -o "$T/debugged" || diag "it does not build anew"
lldb_serve "$T/debugged"
copy=$(sed -n "s/^lizard: for LLDB: .*lizard_lldb.py' //p" "$T/server")
like "$(cat "$T/server")" "was rebuilt after it was recorded; using the copy" "the program is another build: a message"
ok "$(cmp -s "$copy" "$T/old"; echo $?)" "and the copy is what LLDB shall open"
shown=$(lldb_run "$copy" <<'END'
breakpoint set -n add
continue
-- bt
bt
process detach
END
)
is "$(section "$shown" bt | frames | head -n 1)" "add 36" "which shows the frames of then"
lldb_end
mv "$T/old" "$T/debugged"

# ---- a crash ----
printf 'struct n { struct n *next; int v; };\nint main(int argc, char **argv)\n{\n\tstruct n a = {0, 5}, *p = &a;\n\twhile (argc)\n\t\tp = p->next;\n\treturn p->v;\n}\n' >"$T/crash.c"
"$LIZARD_BIN/lizard-cc" -g "$T/crash.c" -o "$T/crash"
record crash
lldb_serve -e "$T/crash"
shown=$(printf 'bt\nframe variable p\nprev\nprev\nprev\nexpr p->v\n' | lldb_run "$T/crash")
like "$shown" 'stop reason = signal SIGSEGV' "a crash is opened at its end"
like "$shown" '`main.* at crash.c:6' "with its line"
is "$(echo "$shown" | sed -n 's/^(n \*) p = //p' | head -n 1)" NULL "and values"
is "$(echo "$shown" | values)" 5 "before it they are others"
lldb_end
done_testing
