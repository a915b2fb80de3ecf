#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Memory that the program maps more than once: wherever one goes, all mappings show the same, and a watchpoint sees what is
# stored through another one.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build aliased -D_GNU_SOURCE -O0 || skip_all "no program"
by_two=$(grep -n 'by two' "$LIZARD_SRC/tests/progs/gdb/aliased.c" | cut -d: -f1)

values() { # SECTION: what the three mappings show
	section "$out" "$1" | sed -n 's/^[$][0-9]* = //p' | tr '\n' ' '
}

lines() { # SECTION: in one line
	section "$out" "$1" | tr '\n' ' '
}

for interval in auto 0; do
	rm -rf "$T/recordings/rec"
	timeout 60 lizard-trace -q --checkpoint-interval "$interval" -o "$T/recordings/rec" "$T/aliased" >"$T/out"
	is "$?,$(cat "$T/out")" 0,5555 "$interval: it is recorded"
	out=$(gdb_run "$T/recordings/rec" <<END
break done
continue
-- end
print *one
print *two
print *seen
-- step back
up
reverse-stepi
bs
reverse-stepi 60
print *one
print *two
print *seen
-- far back
break add if n == 50
reverse-continue
print *one
print *two
print *seen
-- before the first
break aliased.c:$by_two if i == 3 && n == 5
reverse-continue
print *one
print *two
print *seen
-- forward
delete
continue
-- from the end
jump_backward start
jump_forward done
reverse_watchpoint *one
-- once more
reverse_watchpoint *one
-- read only
reverse_watchpoint *seen
-- watched
watch *seen
continue
-- two watched
watch *one
reverse-continue
END
	)
	is "$(values end)" "5555 5555 5555 " "$interval: at the end"
	is "$(section "$out" "step back" | sed -n 's/^[$][0-9]* = //p' | sort -u | wc -l)" 1 "$interval: all show the same a few steps back" || diag "$out"
	is "$(values "far back")" "505 505 505 " "$interval: before the second call"
	is "$(values "before the first")" "203 203 203 " "$interval: between two stores"
	like "$(lines "from the end")" "Old value = 5455.*New value = 5555.* add .*:$by_two" "$interval: the last change came through another mapping" ||
		diag "$out"
	like "$(lines "once more")" "Old value = 5454.*New value = 5455" "$interval: the one before through this"
	like "$(lines "read only")" "Old value = 5354.*New value = 5454" "$interval: through neither of one that is not writable"
	like "$(lines "watched")" "Old value = 5354.*New value = 5454" "$interval: a watchpoint there, forwards"
	like "$(lines "two watched")" "Old value = 5454.*New value = 5354" "$interval: two watchpoints, backwards"
done
done_testing
