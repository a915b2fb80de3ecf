#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# lizard report: how a run ended, as text, Markdown and JSON, with nobody there to answer questions.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/json.sh"

part() { # FILE TITLE: the lines of that part
	sed -n "/^$2:\$/,/^\$/{/^$2:\$/d;/^\$/d;p}" "$1"
}
report() { # OUTPUT ARGS...
	out=$1
	shift
	timeout 120 lizard report "$@" >"$out" 2>"$T/err" </dev/null
}

mkdir "$T/src" && cp "$LIZARD_SRC/tests/progs/report/fails.c" "$T/src"
cd "$T/src" || exit 1
lizard-cc -g -O0 -pthread fails.c -o fails 2>"$T/err" && gcc -g -O0 -pthread fails.c -o plain
ok $? "builds" || { diag "$(cat "$T/err")"; done_testing; }
lizard-trace -q ./fails 'a `b` $(c)' >"$T/out" 2>"$T/err"
is $? 139 "a crash is recorded"

report "$T/crash" fails-1
is "$? $(cat "$T/err")" "0 " "report: status"
like "$(part "$T/crash" "How it ended")" '^  ended +killed by SIGSEGV after ' "how it ended"
like "$(part "$T/crash" "How it ended")" "^  command +./fails 'a .b. .\(c\)'\$" "the command"
is "$(part "$T/crash" Backtrace | sed 's/ = /=/g; s/, .[\\]000. <repeats [^>]*>//' | head -n 2)" \
	'  #0  deref (at=0x0, p={x=3, y=4, name="a`b"}) at fails.c:18
  #1  crash (text=0x'"$(sed -n 's/.*crash (text=0x\([0-9a-f]*\).*/\1/p' "$T/crash")"' "a `b` $(c)") at fails.c:35' "a backtrace with arguments"
is "$(part "$T/crash" "Last lines executed" | tail -n 4)" '  fails.c:33  crash  fflush(stdout);
  fails.c:34  crash  fprintf(stderr, "a \033[31mred\033[0m line\n```\n</pre><b>bold</b>\n@everyone [x](http://y)\n");
  fails.c:35  crash  return deref(NULL, p);
  fails.c:18  deref  return *at + p.x;' "the last lines"
is "$(part "$T/crash" "Last output" | head -n 3)" '  1| a `b` $(c)
  2| a \x1b[31mred\x1b[0m line
  2| ```' "the last output, its control characters as text"
like "$(part "$T/crash" "Last system calls and signals" | tail -n 1)" ' signal 11 \(SEGV\), which ends the process$' "the signal is last"
like "$(part "$T/crash" "Last system calls and signals" | tail -n 2 | head -n 1)" ' write\(2, 0x[0-9a-f]+, [0-9]+\) = [0-9]+$' "system calls before it"

report "$T/md" --markdown -o "$T/file.md" fails-1
is "$? $(wc -c <"$T/md")" "0 0" "-o: into a file alone"
# What a Markdown parser takes for text outside of fenced blocks.
perl -ne 'if ($fence) { $fence = "" if /^$fence`*\s*$/ } elsif (/^(`{3,})text$/) { $fence = $1 } else { print if /\S/ } END { print "open\n" if $fence }' \
	"$T/file.md" >"$T/outside"
is "$(cat "$T/outside")" "## Recording by Lizard
### How it ended
### Backtrace
### Last lines executed
### Last output
### Last system calls and signals" "Markdown: nothing of the recording is outside of the fences"
is "$(grep -c '^2| ```$' "$T/file.md") $(grep -c '^````text$' "$T/file.md")" "1 2" "... and the fences are longer than what they hold"

report "$T/json" --json --lines 2 --calls 3 fails-1
is "$(json '$p = $o->{processes}[0]; join " ", $p->{signal}, $p->{exit_status} // "null", scalar @{$p->{lines}}, scalar @{$p->{calls}},
	$p->{threads}[0]{frames}[0]{function}, $p->{threads}[0]{frames}[0]{args}[0]{value}, scalar keys %{$p->{missing}}' <"$T/json")" \
	"11 null 2 3 deref 0x0 0" "JSON"
is "$(json '$o->{processes}[0]{output}[1]{text}' <"$T/json" | head -n 1)" "$(printf 'a \033[31mred\033[0m line')" "JSON: the output as it was"

# Without markers.
lizard-trace -q ./plain x >"$T/out" 2>"$T/err"
report "$T/plain" ./plain
is "$? $(part "$T/plain" Backtrace | grep -c '^  #0  deref (at=0x0') $(part "$T/plain" "Last lines executed" | tail -n 1)" \
	"0 1   fails.c:18  deref  return *at + p.x;" "a program that lizard-cc has not built"
like "$(part "$T/plain" "How it ended")" '^  markers +none' "... which is said"

# Threads, other ways to write.
lizard-trace -q ./fails threads >"$T/out" 2>"$T/err"
report "$T/threads" --lines 1 ./fails
is "$(part "$T/threads" "Backtrace" | grep -c '^  thread .*, which ran last$') $(grep -c '^  #[0-9]*  *idle (arg=' "$T/threads")" "1 1" "each thread has a backtrace"
lizard-trace -q ./fails vectors >"$T/out" 2>"$T/err"
report "$T/vectors" --lines 1 ./fails
is "$(part "$T/vectors" "Last output") $(part "$T/vectors" "How it ended" | grep -c 'ended *exit status 0')" "  1| one two 1" "output by writev, and a run that ended well"

# Children.
lizard-trace -q --follow all -o "$T/family" ./fails child >"$T/out" 2>"$T/err"
report "$T/children" --lines 1 "$T/family"
is "$? $(grep -c '^Process ' "$T/children") $(grep -c '^  #0  deref (at=0x0' "$T/children") $(grep -c 'ended *exit status 0' "$T/children")" \
	"0 2 1 1" "the first process, and a child that a signal ended"
child=$(lizard ps --json "$T/family" | json '$$o[1]{pid}')
report "$T/child" --json --lines 1 -p "$child" "$T/family"
is "$? $(json '$p = $o->{processes}; @$p . " $$p[0]{pid} $$p[0]{signal} $$p[0]{threads}[0]{frames}[1]{function}"' <"$T/child")" "0 1 $child 11 crash" "-p: that process alone"
rm "$T/family/processes/$child/events"
report "$T/children" --lines 1 "$T/family"
is "$? $(grep -c '^Process ' "$T/children") $(grep -c "^  not all is known: .*/processes/$child" "$T/children")" "0 2 2" "a child of which only \`meta\` is left: what that tells, and in which two parts something is missing" || diag "$(cat "$T/children" "$T/err")"

# Recordings that are not whole.
cp -r "$LIZARD_TRACE_DIR/fails-1" "$T/cut"
size=$(stat -c %s "$T/cut/events")
truncate -s $((size / 2)) "$T/cut/events"
report "$T/out" --lines 1 "$T/cut"
is "$? $(grep -c '^  not whole ' "$T/out")" "0 1" "a recording that was cut: what there is"
sed -i 's/^state .*/state 0/; s/^exit-status .*/exit-status -1/' "$T/cut/meta"
report "$T/out" --json --lines 1 "$T/cut"
is "$? $(json '$p = $o->{processes}[0]; ($p->{complete} ? 1 : 0) . defined($p->{signal}) . defined($p->{exit_status})' <"$T/out")" "0 0" "... whose end is not known"
printf 'x' >"$T/cut/meta"
report "$T/out" "$T/cut"
is "$? $(wc -c <"$T/out") $(grep -c "$T/cut" "$T/err")" "1 0 1" "a damaged one: an error"
report "$T/out" -o "$T/never" "$T/cut"
[ ! -e "$T/never" ]
ok $? "... and no file"

# Debug information may name any file of this machine.
mkdir "$T/elsewhere" && printf 'a secret\nanother secret\n' >"$T/elsewhere/notes"
printf 'int main(void)\n{\n#line 2 "%s/elsewhere/notes"\n\treturn *(volatile int *)0;\n}\n' "$T" >names.c
lizard-cc -g -O0 names.c -o names && lizard-trace -q ./names 2>/dev/null
report "$T/names" ./names
is "$? $(grep -c secret "$T/names") $(part "$T/names" "Last lines executed" | tail -n 1)" "0 0   $T/elsewhere/notes:2  main" "a file that the recording does not keep is not quoted"
mkdir "$T/there" && lizard pack -o "$T/there/f.lizard" fails-1 2>"$T/err" && rm -r "$T/src"
cd "$T/there" && report "$T/packed" f.lizard
is "$? $(part "$T/packed" "Last lines executed" | tail -n 1)" "0   fails.c:18  deref  return *at + p.x;" "a packed recording, its sources gone here"

# No GDB.
LIZARD_FRONT_END=stock LIZARD_GDB=/nonexistent/gdb report "$T/none" "$LIZARD_TRACE_DIR/fails-1"
is "$? $(part "$T/none" Backtrace | grep -c '^  not all is known: GDB did not tell: .*/nonexistent/gdb') $(grep -c 'which ends the process' "$T/none")" \
	"0 1 1" "without GDB: what is known, and why there is no more"
printf '#!/bin/sh\nsleep 60\n' >slow && chmod +x slow
LIZARD_FRONT_END=stock LIZARD_GDB=$PWD/slow report "$T/slow" --seconds 1 "$LIZARD_TRACE_DIR/fails-1"
is "$? $(grep -c 'GDB was ended after 1 seconds' "$T/slow")" "0 1" "a GDB that takes too long is ended"
cat >half.py <<'END'
import json, os
dump = json.dump
def dump_and_leave(fact, file):
    dump(fact, file)
    if "all_threads" in fact:
        file.write("\n")
        file.flush()
        os._exit(1)
json.dump = dump_and_leave
END
printf '#!/bin/sh\nexec gdb -ix "%s" "$@"\n' "$PWD/half.py" >half && chmod +x half
LIZARD_FRONT_END=stock LIZARD_GDB=$PWD/half report "$T/half" "$LIZARD_TRACE_DIR/fails-1"
is "$? $(part "$T/half" Backtrace | grep -c '^  #0  deref \|not all') $(part "$T/half" "Last lines executed" | grep -c 'not all is known: GDB did not tell all')" \
	"0 1 1" "a GDB that fails half-way: what it has told, and which part is missing" || diag "$(cat "$T/half")"

for bad in "" "a b" "--nonsense a" "--lines x a" "--seconds 0 a" "--calls -1 a"; do
	# shellcheck disable=SC2086
	lizard report $bad >"$T/out" 2>"$T/err"
	is "$? $(wc -c <"$T/out")" "2 0" "usage: lizard report $bad"
done
lizard report --calls 1 --lines 0 "$LIZARD_TRACE_DIR/fails-1" >/dev/full 2>"$T/err"
is "$? $(grep -c 'cannot write the output' "$T/err")" "1 1" "a full disk"
cd /
done_testing
