#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Points: noted in one session, found again in another one; and the file that has them.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build tour -O0 && record tour
is $? 7 "recorded" || done_testing
rec=$T/recordings/tour-1

set --
while read -r command; do
	set -- "$@" -ex "$command"
done <<'END'
echo -- none\n
info points
goto-point 1
break factorial
continue
point the first  call
echo -- first\n
when
continue
point
echo -- second\n
when
point $3 "quoted" \\n
undo-move
echo -- done\n
END
out=$(gdb_run "$rec" "$@" </dev/null)
like "$(section "$out" none)" '^No points\.$' "none at first"
like "$(section "$out" none)" '^There is no point .1.; "info points" lists them\.$' "what is not there: said"
like "$(section "$out" none)" '^Point 1: factorial \(n=' "point says where that is"
first=$(section "$out" first | sed -n 's/^position //p')
second=$(section "$out" second | sed -n 's/^position //p')
[ -n "$first" ] && [ -n "$second" ] && [ "$first" != "$second" ]
ok $? "two instants"

set --
while read -r command; do
	set -- "$@" -ex "$command"
done <<'END'
echo -- list\n
info points
goto-point 2
echo -- number\n
when
goto-point first
echo -- note\n
when
echo -- complete\n
complete goto-point 2
delete-point 2
echo -- left\n
info points
delete-point 9
goto-point
undo-move
echo -- undone\n
when
END
out=$(gdb_run "$rec" "$@" </dev/null)
is "$(section "$out" list | head -n 3)" "1  $first  the first  call
2  $second
3  $second  \$3 \"quoted\" \\\\n" "another session lists them"
like "$(section "$out" number)" "^position $(printf %s "$second" | sed 's/[.#@]/\\&/g')\$" "goto-point by number"
like "$(section "$out" note)" "^position $(printf %s "$first" | sed 's/[.#@]/\\&/g')\$" "goto-point by a piece of the note"
is "$(section "$out" complete | grep -c '^goto-point 2$')" 1 "numbers are completed"
is "$(section "$out" left | sed -n 2p)" "2  $second  \$3 \"quoted\" \\\\n" "a deleted one is gone"
like "$(section "$out" left)" '^There is no point .9.' "deleting what is not there"
like "$(section "$out" left)" '^Which point\?' "no argument"
like "$(section "$out" undone)" "^position $(printf %s "$second" | sed 's/[.#@]/\\&/g')\$" "undo-move goes back from a point"

# ---- in a shell ----
is "$(lizard points "$rec")" "    1  $first  the first  call
    2  $second  \$3 \"quoted\" \\\\n" "lizard points"
is "$(lizard points --json "$rec" | head -n 1)" "{\"number\": 1, \"position\": \"$first\", \"note\": \"the first  call\"}" "... as JSON" ||
	diag "$(lizard points --json "$rec")"
lizard points --add "$first" --note "two
lines" "$rec" >"$T/out"
is "$(lizard points "$rec" | sed -n 3p)" "    3  $first  two lines" "a note is one line"
for bad in "--add 5" "--add nonsense" "--add 1:0.999999999@0x0#1" "--delete 0" "--delete x" "--delete 44"; do
	lizard points $bad "$rec" >"$T/out" 2>"$T/err"
	is "$? $(wc -l <"$T/err") $(wc -c <"$T/out")" "1 1 0" "$bad: refused"
done
lizard points --note only "$rec" >"$T/out" 2>"$T/err"
is "$?" 2 "a note alone"
is "$(lizard points "$rec" | wc -l)" 3 "nothing of that has changed them"

# Two that were made apart are merged as text, with comments.
cp "$rec/points" "$T/mine"
{ echo "# of a colleague"; echo; printf '%s' "$first at the end without a line break"; } >>"$rec/points"
is "$(lizard points "$rec" | wc -l)" 4 "merged as text"
lizard points --add "$second" --note behind "$rec" >/dev/null
is "$(lizard points "$rec" | tail -n 2)" "    4  $first  at the end without a line break
    5  $second  behind" "an open last line is ended first"
lizard points --delete 4 "$rec"
is "$(grep -c '^# of a colleague$' "$rec/points") $(lizard points "$rec" | wc -l)" "1 4" "comments stay"

# Many at once.
cp "$T/mine" "$rec/points"
for i in $(seq 20); do
	lizard points --add "$first" --note "at once $i" "$rec" >"$T/at.$i" &
done
lizard points --delete 1 "$rec"
wait
is "$(lizard points "$rec" | wc -l) $(lizard points "$rec" | grep -o 'at once .*' | sort -u | wc -l)" "22 20" "none is lost when many are kept at once"

# ---- packed, copied, removed ----
lizard pack "$rec" -o "$T/packed.lizard" >/dev/null 2>&1
LIZARD_TRACE_DIR=$T/unpacked lizard points "$T/packed.lizard" >"$T/out" 2>"$T/err"
is "$(cat "$T/out")" "$(lizard points "$rec")" "a pack has them" || diag "$(cat "$T/err")"

# ---- forged ----
mv "$rec/points" "$T/mine"
refused() { # NAME PATTERN
	lizard points "$rec" >"$T/out" 2>"$T/err"
	is "$? $(wc -c <"$T/out")" "1 0" "$1: refused"
	like "$(cat "$T/err")" "$2" "... with a reason"
	lizard points --add "$first" "$rec" >"$T/out" 2>"$T/err"
	is "$?" 1 "... to be written to, too"
}
printf '%s fine\nnonsense\n' "$first" >"$rec/points"
lizard points "$rec" >"$T/out" 2>"$T/err"
like "$? $(cat "$T/err")" '^1 .*line 2 of points' "a line that is no point is named"
rm "$rec/points"
echo "$first mine" >"$T/elsewhere"
ln -s "$T/elsewhere" "$rec/points"
refused "a link" 'points'
rm "$rec/points"
mkfifo "$rec/points"
refused "a FIFO" 'points is no file'
rm "$rec/points"
ln "$T/elsewhere" "$rec/points"
lizard points --add "$first" "$rec" 2>"$T/err"
like "$? $(cat "$T/err")" '^1 .*belongs to somebody else' "a second name of another file is not written to"
is "$(cat "$T/elsewhere")" "$first mine" "... and has not changed"
rm "$rec/points"
head -c 2000000 /dev/zero | tr '\0' '#' >"$rec/points"
refused "a long one" 'too long'
rm "$rec/points"
printf '%s \033[31mred\n' "$first" >"$rec/points"
is "$(lizard points "$rec" | grep -c "$(printf '\033')")" 0 "what steers a terminal is shown as text"
mv "$T/mine" "$rec/points"
lizard rm "$rec"
is "$? $(ls -d "$rec" 2>/dev/null)" "0 " "rm removes them with the recording"
done_testing
