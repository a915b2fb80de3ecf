#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Whether memory can be read is part of what is watched: a word of zeroes that system calls take away, and give back.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build unreadable || skip_all "no program"
at() { # LINE'S COMMENT
	echo "take () at $LIZARD_SRC/tests/progs/gdb/unreadable.c:$(grep -n "/\* $1 \*/" "$LIZARD_SRC/tests/progs/gdb/unreadable.c" | cut -d: -f1)"
}

search() { # NAME, WHAT IS WATCHED
	cat <<END
jump_backward start
jump_forward take
watch -l $2
-- forward $1
continue
bt
-- on $1
continue
bt
delete
-- back $1
reverse_watchpoint -l $2
bt
END
}

shown() { # SECTION: both values and the line of take()
	section "$out" "$1" | sed -n 's/^#[0-9]* .* in \(take ()\)/\1/p; s/^\(Old\|New\) value = //p' |
		sed 's/ at address [0-9a-fx]*//' | tr '\n' '|'
}

gone="0 '\\000'|<unreadable>|"
was_gone="0 '\\000'|<Cannot access memory>|"
# Without shared memory a search leaves out what checkpoints call unchanged.
for interval in auto 0; do
	[ $interval = auto ] && names='unmapped covered moved closed shrunk detached' || names='unmapped'
	[ $interval = auto ] && shared=shared || shared=
	rm -rf "$T/recordings/rec"
	timeout 60 lizard-trace -q --checkpoint-interval $interval --full-every 1000 -o "$T/recordings/rec" "$T/unreadable" $shared
	is $? 0 "$interval: it is recorded"
	out=$({
		for name in $names twice; do search $name "*$name"; done
		search part '*(char (*)[8192])part'
		printf -- '-- called\nprint *reopen()\n'
	} | gdb_run "$T/recordings/rec")
	for name in $names; do
		is "$(shown "forward $name")" "$gone$(at $name)|" "$interval: $name"
		is "$(shown "on $name")" "" "$interval: $name, and nothing behind that"
		is "$(shown "back $name")" "$was_gone$(at $name)|" "$interval: $name, backward"
	done
	is "$(shown 'forward twice')" "$gone$(at twice)|" "$interval: unmapped"
	is "$(shown 'on twice')" "<unreadable>|0 '\\000'|$(at again)|" "$interval: and mapped again"
	is "$(shown 'back twice')" "<Cannot access memory>|0 '\\000'|$(at again)|" "$interval: and mapped again, backward"
	is "$(shown 'forward part')" "'\\000' <repeats 8191 times>|<unreadable>|$(at part)|" "$interval: a part of it"
	is "$(shown 'back part')" "'\\000' <repeats 8191 times>|<Cannot access memory>|$(at part)|" "$interval: a part of it, backward"
	is "$(section "$out" called | sed -n 's/^[$].* = //p')" "0 '\\000'" "$interval: a called function makes it readable"
done
done_testing
