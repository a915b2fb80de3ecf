#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# last and next-access: what the program itself tells of its accesses is the truth.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build accesses || skip_all "no program"
record accesses
export ACCESSES_TOLD="$T/accesses.out"
out=$(echo "source $LIZARD_SRC/tests/lib/accesses.py" | GDB_SECONDS=580 gdb_run "$T/accesses")
for command in last next-access; do
	for kind in -w -r -a; do
		got=$(printf '%s\n' "$out" | grep -c "^$command $kind .*: ok$")
		is "$got" 4 "$command $kind: each access of four variables, and no others" || diag "$out"
	done
done

# What is said, about an uninitialized variable, an equal value, a call, an interval.
cat >"$T/said.c" <<'END'
#include <string.h>
#include <unistd.h>
int same = 3, never = 4;
char line[6];
static int use(int set)
{
	int left;

	if (set)
		left = set;
	same = 3;
	return left;
}
int main(int argc, char **argv)
{
	int fds[2], *at = &same;

	same = 3;
	if (pipe(fds) < 0 || write(fds[1], "pipes", 6) != 6 || read(fds[0], line, 6) != 6)
		return 1;
	same += use(argc) + use(argc - 1) + never;
	return write(fds[1], line, 6) != 6 || !at;
}
END
"$LIZARD_BIN/lizard-cc" -g -O0 "$T/said.c" -o "$T/said" && record said
out=$(gdb_run "$T/said" <<END
jump_forward end
-- call
last line
-- taken
jump_forward end
last -r line
-- equal
jump_forward end
last same
last same
last same
last same
-- none
last same
-- left
jump_forward end
jump_backward said.c:12
last left
jump_backward said.c:12
last left
-- pointer
jump_forward end
jump_backward said.c:22
last *at
-- interval
jump_forward end
info access line
info access never
info access same -since 0%
when
-- intervals
info intervals
END
)
like "$(section "$out" call)" '^line: written by read\(3, "pipes\\0", 6\) = 6, event [0-9]+\.$' "a call that wrote it is named"
like "$(section "$out" call | tr '\n' ' ')" 'Old value = .*000.* New value = "pipes"' "with the values before and behind"
like "$(section "$out" taken)" '^line: read by write\(4, "pipes\\0", 6\) = 6, event [0-9]+\.$' "a call that read it"
is "$(section "$out" equal | sed -n 's/^\(Old\|New\) value = //p' | tr '\n' ' ')" '3 9 3 3 3 3 3 3 ' "each time that it was written, with the same value or another" ||
	diag "$(section "$out" equal)"
like "$(section "$out" none)" 'same was not written before: nothing has moved' "until there is none"
is "$(section "$out" left | grep -c '^left was not written since its function was called: nothing has moved\.$')" 1 "one call leaves its variable as it finds it"
is "$(section "$out" left | grep -c '^left: written here\.$')" 1 "and one does not" || diag "$(section "$out" left)"
like "$(section "$out" pointer)" '^\*at: written here\.$' "what a local variable points to was written elsewhere"
like "$(section "$out" interval)" '^line: written first, then read\.$' "written first"
like "$(section "$out" interval)" '^last read: .* by write\(4, .*\) = 6, event' "the call that read it last"
like "$(section "$out" interval)" '^never: read, not written\.$' "read, not written"
like "$(section "$out" interval)" '^same: written first, then read\.$' "since a position"
like "$(section "$out" interval)" '^event .*\(100.00%\)$' "and the present instant stays"
like "$(section "$out" intervals)" '^\*  *[0-9]+ .* s  [0-9:.,]+@0x' "the list of intervals"

# What calls take, to the byte.
prog_build taken -O0 -w && record taken
untouched="path[10] behind first[5] second[6] part[3] other"
calls="path[2]=openat path[9]=openat polled[1].fd=poll slept.tv_nsec=clock_nanosleep vectors[1].iov_base=writev
first[4]=writev second[5]=writev peer.sun_path[3]=connect blocked=rt_sigprocmask word=futex part[2]=write"
out=$(for name in $calls $untouched; do
	echo "jump_forward end"
	echo "last -r ${name%=*}"
done | gdb_run "$T/taken")
said() { printf '%s\n' "$out" | grep -F -e "$1: read" -e "$1 was not"; }
for one in $calls; do
	name=${one%=*} call=${one#*=}
	like "$(said "$name")" ": (read|read and written) by $call\(.*, event [0-9]+\.\$" "$name is read by $call"
done
for name in $untouched; do
	like "$(said "$name")" 'was not read before: nothing has moved' "$name is not read"
done

done_testing
