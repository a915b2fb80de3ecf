#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Breakpoints in a program that writes code and reads its own: each arrival is met, and the program sees none of them.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build own-code -O0 || skip_all "no program"
record own-code
is "$("$T/own-code")" "$(cat "$T/own-code.out")" "it is recorded"
sums=$(cut -d' ' -f4 "$T/own-code.out" | tr '\n' ' ')

again() { # COUNT COMMAND...
	n=$1
	shift
	while [ "$n" -gt 0 ]; do
		printf '%s\n' "$@"
		n=$((n - 1))
	done
}

# Stops in SECTION, as turns; "-" where the debugger says that there are no more.
turns() {
	section "$out" "$1" | sed -En 's/^[$][0-9]* = ([0-9]*)$/\1/p; '"s/^($no_history).*/-/p" | tr '\n' ' '
}

# With WATCHES no debug register is free for a breakpoint.
meet() { # NAME WATCHES...
	name=$1
	shift
	out=$(
		gdb_run "$T/own-code" <<END
break made
continue
set \$open = open_code
set \$shut = shut_code
set \$twice = twice_called
set \$sum = checksum((void *)work, 15)
delete
$(printf '%s\n' "$@")
break *\$open
break *\$shut
hbreak *\$twice
break *((char *)work + 6) if turn < 0
break *((char *)work + 9) if turn < 0
-- forwards
$(again 12 continue 'print turn')
tbreak done
continue
print/u sums
-- called
print checksum((void *)work, 15) == \$sum
-- backwards
$(again 13 reverse-continue 'print turn')
-- jumps
delete
$(again 4 'jump_forward *$shut' 'print turn')
$(again 3 'jump_backward *$open' 'print turn')
END
	)
	is "$(turns forwards)" "0 0 0 1 1 1 2 2 2 3 3 3 " "$name: each call of written code, forwards" || diag "$out"
	is "$(section "$out" forwards | sed -n 's/.*{\(.*\)}/\1/p' | tr -d ,) " "$sums" "$name: the program sees no breakpoint"
	like "$(section "$out" called)" '= 1$' "$name: nor does a function that the debugger calls" || diag "$out"
	is "$(turns backwards)" "3 3 3 2 2 2 1 1 1 0 0 0 - 0 " "$name: and backwards" || diag "$out"
	is "$(turns jumps)" "0 1 2 3 3 2 1 " "$name: and by jumps" || diag "$out"
}

out=$(
	gdb_run "$T/own-code" <<END
break made
continue
set \$open = open_code
delete
break *\$open
-- forwards
$(again 4 continue 'print turn')
tbreak done
continue
print/u sums
END
)
is "$(turns forwards)" "0 1 2 3 " "in a debug register: each call"
is "$(section "$out" forwards | sed -n 's/.*{\(.*\)}/\1/p' | tr -d ,) " "$sums" "in a debug register: the program sees no breakpoint" || diag "$out"

# Without protection keys a program can read the breakpoints that are in memory.
grep -qw ospke /proc/cpuinfo || { done_testing; exit; }
meet "in registers and in memory"
meet "in memory" 'watch -l unused if 0' 'watch -l sums[3] if 0' 'break *map_all if turn < 0' 'break *map if turn < 0' \
	'break *($open + 6) if turn < 0'
done_testing
