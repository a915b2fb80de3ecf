#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ls, info, dump, rm and prune on recordings that lizard-trace made.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/json.sh"

lizard-cc -g -O1 -o "$T/small" "$LIZARD_SRC/tests/progs/fuzz/small.c" 2>"$T/cc.log"
ok $? "builds" || { diag "$(cat "$T/cc.log")"; done_testing; }


is "$(lizard ls)" "" "ls: nothing yet"
is "$(lizard ls --json | json 'scalar @$o')" 0 "ls --json: an empty list"
cd "$T" || exit 1
for i in 1 2 3; do
	lizard-trace -q --checkpoint-interval 2 ./small >"$T/out.$i"
	ok $? "recording $i"
done
is "$(readlink "$LIZARD_TRACE_DIR/small-latest")" small-3 "small-latest is the newest"
is "$(lizard ls | wc -l)" 4 "ls: a heading and three lines"
is "$(lizard ls --json | json 'join " ", map { "$_->{name}:$_->{status}" } @$o')" \
	"small-1:exit 0 small-2:exit 0 small-3:exit 0" "ls --json: names and status"

gcc -O1 -o "$T/ends" "$LIZARD_SRC/tests/progs/process/ends.c"
for how in 3 segv; do
	lizard-trace -q -o "$T/ends-$how" ./ends $how
	for command in "info --json" "ps --json" "dump --events --json"; do
		# shellcheck disable=SC2086
		is "$(lizard $command "$T/ends-$how" | tail -n 1 | json '
			$o = $$o[0] if ref $o eq "ARRAY";
			join " ", map { exists $o->{$_} ? $o->{$_} // "null" : "none" } "exit_status", "signal"')" \
			"$([ $how = 3 ] && echo 3 null || echo null 11)" "$command: how it ended ($how)"
	done
done
# While a recording is being made it is told whether the program has markers.
printf '#include <unistd.h>\nint main(void) { char c; write(1, "x", 1); return read(0, &c, 1) != 1; }\n' >waits.c
gcc -g waits.c -o waits-gcc && lizard-cc -g waits.c -o waits-lizard-cc
ok $? "programs that wait build"
for how in gcc lizard-cc; do
	rm -f in && mkfifo in
	lizard-trace -q -o "$T/waits-rec-$how" "./waits-$how" <in >"$T/out" 2>&1 &
	pid=$!
	exec 9>in
	wait_until test -s "$T/out"
	[ $how = gcc ] || wait_until sh -c "lizard info '$T/waits-rec-$how' | grep -q '^instrumented *yes'"
	wanted=$([ $how = gcc ] && echo "not known yet" || echo yes)
	is "$(lizard info "$T/waits-rec-$how" | sed -n 's/^instrumented  *//p') $(
		lizard info --json "$T/waits-rec-$how" | json '$o->{instrumented} // "null"')" \
		"$wanted $([ $how = gcc ] && echo null || echo 1)" "info of a recording that is being made, $how"
	echo >&9
	exec 9>&-
	wait $pid
	is "$? $(lizard info "$T/waits-rec-$how" | sed -n 's/^instrumented  *//p' | cut -c 1-3)" \
		"0 $([ $how = gcc ] && echo no: || echo yes)" "... and when it is made"
done
is "$(lizard ls --json | json '"$$o[0]{exit_status} $$o[0]{signal}"')" "0 " "ls --json: how it ended"

like "$(lizard info ./small)" "^program +$T/small\$" "info of a program: its latest recording"
is "$(lizard info --json small-2 | json '$o->{complete} && $o->{instrumented} && !$o->{damage}')" 1 \
	"info --json"
is "$(lizard info --json small-2 | json '$o->{argv}[0]')" ./small "info: the command line"
events=$(lizard info --json small-2 | json '$o->{events}')
bytes=$(lizard info --json small-2 | json '$o->{marker_bytes}')
lizard info --check small-2 >/dev/null
ok $? "info --check: whole"

is "$(lizard dump --events small-2 | wc -l)" "$events" "dump --events: as many as info says"
is "$(lizard dump --events small-2 | grep -c ' raise(\| tgkill(')" 6 "dump: system calls by name"
is "$(lizard dump --events small-2 | grep -c 'signal 10 (USR1)')" 6 "dump: signals by name"
like "$(lizard dump --events --bytes small-2 | grep 'read(' | cut -c 1-200)" \
	'\[4096 bytes at 0x[0-9a-f]+ "\\x7fELF' "dump --bytes: what a read brought"
like "$(lizard dump --events small-2 | tail -n 1)" 'exit: exit 0$' "dump: the exit is last"
is "$(lizard dump --markers small-2 | head -n 1 | sed 's/^marker [0-9]*://')" "0  enter  main  small.c:38" \
	"dump --markers: the first one enters main"
is "$(lizard dump --markers --json small-2 | perl -MJSON::PP -ne '$o = decode_json($_); $s{$o->{kind}}++;
	END { print $s{enter} == $s{exit} && $s{edge} > 1000 ? "balanced" : "not" }')" balanced \
	"dump --markers --json: as many exits as entries"
like "$(lizard dump --markers small-2 | tail -n 1)" "^marker [0-9]+:$((bytes - 1))  exit  main\$" \
	"dump --markers: the last byte leaves main"
is "$(lizard dump --markers --limit 7 small-2 | wc -l)" 7 "dump --limit"
like "$(lizard dump --checkpoints small-2 | head -n 1)" '^checkpoint 0 .* whole ' "dump --checkpoints"
lizard dump --markers small-2 2>"$T/err" | head -n 1 >/dev/null
is "$(cat "$T/err")" "" "dump into a closed pipe is quiet"
lizard dump small-2 >/dev/full 2>"$T/err"
is "$?" 1 "dump to a full disk fails"
lizard verify small-2 >/dev/full 2>"$T/err"
is "$? $(grep -c 'cannot write the output' "$T/err")" "1 1" "so does verify"
# Whether the last write has anything left to write depends on how long the numbers of processes are.
like "$(lizard tree --depth 2 small-2 2>&1 >/dev/full)" '^lizard: cannot write (all of the output|the output: No space left on device)$' \
	"no other reason is named for an earlier write"

for bad in "info" "info a b" "info --nonsense small-2" "dump" "dump --limit x small-2" "ls --x" "rm" "prune" \
	"dap --x" "dap a b" "pack" "pack a b" "unpack" "prune --keep x" "prune --max-size 3q" "prune --older-than 5x" "prune --older-than 5" "prune --older-than 0"; do
	# shellcheck disable=SC2086
	lizard $bad >"$T/out" 2>"$T/err"
	is "$? $(wc -c <"$T/out")" "2 0" "usage: lizard $bad"
done
like "$(lizard prune --older-than 5 2>&1)" 'lizard: `5` is not a duration: 30m, 12h, 7d and 2w are' \
	"prune: an age without a unit could be days or seconds"
# Without HOME the user's home directory counts; whoever has none is told what to do.
home=$(getent passwd "$(id -u)" | cut -d: -f6)
like "$(env -u HOME -u XDG_DATA_HOME LIZARD_TRACE_DIR= lizard info nothing 2>&1)" " $home/.local/share/lizard " \
	"HOME is not set: the user's home directory"
if [ "$(id -u)" = 0 ] && ! getent passwd 54321 >/dev/null &&
	setpriv --reuid=54321 --clear-groups test -x "$LIZARD_BIN/lizard-trace" 2>/dev/null; then
	setpriv --reuid=54321 --clear-groups env -u HOME -u XDG_DATA_HOME LIZARD_TRACE_DIR= \
		lizard-trace -q true 2>"$T/err"
	is "$? $(grep -c 'user 54321 has none; set LIZARD_TRACE_DIR, or .*lizard-trace -o DIR' "$T/err")" "125 1" \
		"a user without a home directory: an error"
	setpriv --reuid=54321 --clear-groups lizard info "$T/recordings/small-2" >"$T/out" 2>"$T/err"
	is "$? $(grep -c 'small-2.*: Permission denied' "$T/err")" "1 1" "somebody else's recording: it may not be read" || diag "$(cat "$T/err")"
	mkdir -m 0700 "$T/closed" && mkdir "$T/theirs" && chmod 0755 "$T/theirs" && cp -r "$T/recordings/small-2" "$T/theirs" && chown -R 54321 "$T/theirs"
	(cd "$T/closed" && setpriv --reuid=54321 --clear-groups env LIZARD_TRACE_DIR="$T/theirs" lizard info small-2) >"$T/out" 2>"$T/err"
	is $? 0 "a recording is found from a directory that may not be searched" || diag "$(cat "$T/err")"
else
	skip "a user without a home directory" "not root, or the build is out of its reach"
	skip "somebody else's recording" "likewise"
	skip "from a directory that may not be searched" "likewise"
fi

lizard info nothing >"$T/out" 2>"$T/err"
is "$? $(wc -c <"$T/out")" "1 0" "no such recording"
for command in ls rm prune info dump pack unpack report hunt dap; do
	like "$(lizard $command --help)" "^usage: lizard $command" "$command --help"
	is "$(lizard help $command)" "$(lizard $command --help)" "help $command"
done

# ps on a terminal: cut to its width, characters of several bytes counted once.
long=$(printf 'gr\303\274n %0200d' 7)
lizard-trace -q -o "$T/long" ./small "$(printf '\033[1m')$long" >/dev/null
is "$(lizard ps "$T/long" | tail -n 1 | grep -c "small .x1b.1m$long\$")" 1 "ps: all of a long command in a pipe"
for width in 75 110 200; do
	script -qc "stty cols $width; lizard ps '$T/long'" /dev/null </dev/null | tr -d '\r' | tail -n 1 >"$T/line"
	is "$(tr -d '\n' <"$T/line" | LC_ALL=C.UTF-8 wc -m)" "$width" "ps: cut on a terminal of $width columns"
done

lizard prune --keep 2 --dry-run | grep -q small-1
ok $? "prune --dry-run says what would go"
is "$(lizard ls | wc -l)" 4 "... and leaves it"
ends=$(lizard-trace -q ./ends 3; basename "$(readlink "$LIZARD_TRACE_DIR/ends-latest")")
names() { # of those that ls lists for its arguments
	lizard ls --json "$@" 2>"$T/err" | json 'join " ", sort map { $_->{name} } @$o'
}
is "$(names small)" "small-1 small-2 small-3" "ls PROG: its recordings"
is "$(names ./ends)" "$ends" "ls ./PROG: of that very file"
is "$(cd / && names ./small)" "" "and of no other"
is "$(names 'small-[12]' ends)" "$ends small-1 small-2" "ls: a pattern, and two words"
is "$(names 'sm*')" "small-1 small-2 small-3" "ls: a pattern for programs"
lizard ls none >"$T/out" 2>"$T/err"
is "$? $(wc -c <"$T/out") $(cat "$T/err")" "1 0 lizard: no recording of \`none\` in $LIZARD_TRACE_DIR" "ls: none of that name"
mkdir "$LIZARD_TRACE_DIR/ends-mine"
lizard rm 'ends-[!0]*'
is "$? $(names ends) $(ls -d "$LIZARD_TRACE_DIR"/ends*)" "0  $LIZARD_TRACE_DIR/ends-mine" "rm: a pattern, recordings only"
rmdir "$LIZARD_TRACE_DIR/ends-mine"
lizard rm 'e*' 2>"$T/err"
is "$? $(grep -c 'no recording matches .e\*. in' "$T/err")" "1 1" "rm: a pattern that nothing matches"
lizard rm '*-latest' 2>"$T/err"
is "$? $(names small)" "1 small-1 small-2 small-3" "rm: a pattern means no links"
lizard prune --older-than 1h --max-size 1T
is "$(lizard ls | wc -l)" 4 "prune: nothing is that old or big"
lizard prune --keep 2 >/dev/null
is "$(lizard ls --json | json 'join " ", map { $_->{name} } @$o')" "small-2 small-3" "prune --keep 2"
lizard rm small-3
is "$? $(readlink "$LIZARD_TRACE_DIR/small-latest")" "0 small-2" "rm: small-latest is the newest left"
lizard rm small 2>"$T/err"
is "$?" 1 "rm: a program's name is not a recording's"
mkdir "$T/mine"
lizard rm "$T/mine" 2>"$T/err"
is "$? $(test -d "$T/mine" && echo there)" "1 there" "rm: only recordings"
mv "$LIZARD_TRACE_DIR/small-2" "$T/mine/real"
ln -s "$T/mine/real" "$LIZARD_TRACE_DIR/leads"
lizard rm leads 2>"$T/err"
is "$? $(test -f "$T/mine/real/meta" && echo there) $(grep -c "is a link to $T/mine/real" "$T/err")" "1 there 1" "rm: not what a link leads to elsewhere"
rm "$LIZARD_TRACE_DIR/leads"
mv "$T/mine/real" "$LIZARD_TRACE_DIR/small-2"
sed -i '1s/[0-9]*$/1/' "$LIZARD_TRACE_DIR/small-2/meta"
like "$(lizard ls)" "format 1" "ls: a recording of another version is not called damaged"
cp -r "$LIZARD_TRACE_DIR/small-2" "$LIZARD_TRACE_DIR/old"
touch -d '3 hours ago' "$LIZARD_TRACE_DIR/old/meta"
lizard prune --older-than 1h >"$T/out"
is "$(ls "$LIZARD_TRACE_DIR" | grep -c "^small-2$\|^old$") $(grep -c ' old$' "$T/out")" "1 1" "prune --older-than: of one of another version it is known when it was last written"
lizard prune --max-size 1K >/dev/null
# Recordings elsewhere still have copies that are in the store.
is "$(ls "$LIZARD_TRACE_DIR")" "" "prune --max-size: nothing is left"

# Used wrongly.
is "$(lizard -v)" "$(lizard --version)" "-v"
for command in ls ps rm prune pack unpack info index dump calls hits coverage profile tree grep strace output marks points timeline diff verify serve report hunt; do
	lizard $command --frob "$T/none" >"$T/out" 2>"$T/err"
	like "$? $(head -n 1 "$T/err")" "^2 lizard $command: unrecognized option '--frob'$" "$command: status and message of an unknown option"
done
for command in ps rm prune pack unpack info index dump calls hits coverage profile tree grep strace output marks points timeline diff verify serve gdb report hunt; do
	lizard $command >"$T/out" 2>"$T/err"
	is "$?" 2 "$command: status without an argument"
done
lizard-trace --fl= ./small 2>"$T/err"
is "$? $(head -n 1 "$T/err")" "125 lizard-trace: option '--fl=' is ambiguous; it may be --flow --flow-limit" "an ambiguous abbreviation"
lizard-trace --quiet=1 ./small 2>"$T/err"
is "$? $(head -n 1 "$T/err")" "125 lizard-trace: option '--quiet=1' takes no argument" "an argument too many"
lizard-trace --ma 2>"$T/err"
is "$? $(head -n 1 "$T/err")" "125 lizard-trace: option '--ma' requires an argument" "an abbreviation without its argument"
cd /
done_testing
