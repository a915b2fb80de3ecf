#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `lizard dap`: an editor's walk through a recording, compared with what the program printed.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

cd "$T" || exit 1

# The adapter's answers to requests of these names, with this launch.
ask() {
	for request in initialize launch disconnect; do
		text="{\"seq\":1,\"type\":\"request\",\"command\":\"$request\",\"arguments\":{\"program\":\"$1\"}}"
		printf 'Content-Length: %d\r\n\r\n%s' ${#text} "$text"
	done
}

# A GDB that is too old.
cat >old-gdb <<'END'
#!/bin/sh
case $1 in --version) echo "GNU gdb (Old) 13.1" ;; *) echo "No module named 'gdb.dap'" >&2; exit 1 ;; esac
END
chmod +x old-gdb
ask prog >requests
timeout 60 lizard dap --gdb "$T/old-gdb" <requests >out 2>err
like "$(cat out)" '"success":false,"message":"[^"]*old-gdb is GNU gdb \(Old\) 13.1, which has no Debug Adapter: GDB 14' \
	"a GDB without an adapter: launch is answered with what is missing"
like "$(cat err)" '^lizard: .*GDB 14' "and stderr says it, too"
is "$(grep -o 'Content-Length' out | wc -l)" 3 "and each request is answered"
timeout 60 lizard dap --gdb "$T/old-gdb" <<END >out 2>err
Content-Length: 99999999999999999999
END
is "$? $(cat out)" "1 " "a request that is none ends it"
timeout 60 lizard dap a b <requests >out 2>err
is "$? $(cat out)" "2 " "wrong usage"

timeout 60 lizard dap <requests >out 2>err
if grep -q 'has no Debug Adapter' err; then
	skip "an editor's walk" "$(sed -n 's/^lizard: \(.*has no Debug Adapter\).*/\1/p' err)"
	done_testing
fi
NODE_PATH=$("$LIZARD_SRC/tests/lib/npm-packages" 2>npm.err) || { skip "an editor's walk" "$(cat npm.err)"; done_testing; }
export NODE_PATH

source=$LIZARD_SRC/tests/progs/gdb/told.c
prog_build told
./told >native.out 2>native.err
truth=$(sed -n 's/^value //p' native.out | tr '\n' ' ')
truth=${truth% }
reversed=$(printf '%s\n' $truth | sort -rn | tr '\n' ' ')
reversed=${reversed% }
cp told crashes
record told
timeout 120 lizard-trace -q ./crashes crash >crashes.out 2>crashes.err

# walk SCENARIO LAUNCH [DAP OPTIONS]: what the client prints is in "out".
walk() {
	scenario=$1 launch=$2
	shift 2
	timeout 300 node "$LIZARD_SRC/tests/clients/dap.js" "$scenario" "$source" "$launch" lizard dap "$@" >out 2>err
}
said() {
	sed -n "s/^$1: //p" out
}
check() {
	is "$(said "$1")" "$2" "$3" || diag "$(cat out err)"
}
gone() {
	check gone "status 0, junk: none" "$1: the adapter ends, and wrote messages only"
}

walk output "{\"program\": \"$T/told\"}"
each=$(for value in $truth; do printf '|value %s,' "$value"; done)
each=$(echo "begins$each" | sed 's/,|/|/g')
check forwards "${each}ends" "what the program writes comes at its instants"
check end "end End of the recording: exit status 3" "and the walk ends where the run ended"
check backwards "start ''" "on the way back nothing is written"
all=$(tr '\n' ',' <native.err)$(tr '\n' ',' <native.out)
check jump "${all%,}" "a jump shows what it leaps over"
check again "${all%,}" "restart: all of it once more"
gone output

walk steps "{\"program\": \"$T/told\", \"stopOnEntry\": true}"
check entry "entry main" "stopOnEntry: at main"
check steps "the same" "stepBack leads to where next came from"
check instruction "the same" "and by instructions"
check "before main" step "and out of main"
gone steps

walk data "{\"recording\": \"told-1\"}"
check info "true account.value null account.value + 1 is not in memory here." "dataBreakpointInfo: of a local, of a member, of a sum"
check set "true false" "setDataBreakpoints: those that can be set"
check forwards "$truth" "forwards: each value that the program printed"
check backwards "$(echo "$reversed 0" | cut -d' ' -f2-)" "backwards: what was there before each of them"
last=${truth##* } before=$(echo "$truth" | awk '{ print $(NF - 1) }')
check "last change" "data breakpoint account.value = to; value = $before,value = $last" "reverse_watchpoint: to the last change"
earlier=$(echo "$truth" | awk '{ print $(NF - 2) }')
check member "data breakpoint value = $earlier,value = $before" "and of a member that the client shows"
check "no change" "pause false true" "and stays where nothing changed"
check "no symbol" 'nonesuch: No symbol "nonesuch" in current context.' "and fails for what there is not"
gone data

second=$(echo "$truth" | cut -d' ' -f2) third=$(echo "$truth" | cut -d' ' -f3)
walk instants "{\"program\": \"$T/told\"}"
check targets 2 "gotoTargets: the next time and the last"
check "no code" 0 "and none where there is no code"
check goto "goto printf(\"value %d\\n\", account.value); $second" "goto: the second time at that line"
check when "true true true" "when: the event, and the end"
check position "printf(\"value %d\\n\", account.value); $second" "jump to a position"
check jump "set $third" "jump to a function"
check undo "printf(\"value %d\\n\", account.value); $second" "undo_move"
check "no place" 'Function "nowhere" not defined.' "a jump that fails is an error response"
check console "account.value = to; 1" "a command in the console moves, with one stop"
gone instants

walk crash "{\"program\": \"$T/crashes\", \"end\": true}"
check crash "exception End of the recording: killed by SIGSEGV *(volatile int *)NULL = account.value;" "end: where it crashed"
check written "$(cat native.err),$(grep value native.out | tr '\n' ',' | sed 's/,$//')" "and all that it had written"
check before "if (argc > 1 && strcmp(argv[1], \"crash\") == 0)" "a step back from there"
check again "exception SIGSEGV, Segmentation fault" "and on to the signal"
gone crash

timeout 120 lizard-trace -q -o recordings/ticks ./told ticks >ticks.out 2>ticks.err
walk pause '{"recording": "ticks", "stopOnEntry": true}'
check continue pause "pause ends a run"
check reverseContinue pause "and one backwards"
gone pause

walk cancel '{"recording": "ticks", "stopOnEntry": true}'
if [ "$(said cancel)" != "not known" ]; then
	check cancel "cancelled, cancelled, done,done" "cancel ends a search, and a request that waits"
	check "cancel reason" pause "the client hears that its frames have gone"
	check "cancel place" "the same" "and the place is that of before"
	check "cancel after" start "one of an answered request does no harm"
else
	skip "cancel" "this GDB does not know it"
fi
gone cancel

# What people do wrong.
walk launch '{"program": "/bin/false"}'
like "$(said launch)" '/bin/false has never been recorded' "launch: no recording"
gone "no recording"
walk launch '{}'
like "$(said launch)" 'Which recording\?' "launch: nothing named"
walk launch '{}' told-1
check launch done "the recording on the command line"
cp -r recordings/told-1 recordings/damaged
printf 'junk' | dd of=recordings/damaged/checkpoints bs=1 seek=8 conv=notrunc 2>/dev/null
walk launch '{"recording": "damaged"}'
like "$(said launch)" 'recordings/damaged' "launch: a damaged recording is named"
gone "a damaged recording"
prog_build told -O1
walk launch "{\"program\": \"$T/told\"}"
check launch done "launch: the program was rebuilt since"
like "$(cat out)" 'was rebuilt after it was recorded' "and the console says so"
done_testing
