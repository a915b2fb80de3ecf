#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs of one name in several folders: each command finds the recordings of the one that it was given.
. "$(dirname "$0")/../lib/tap.sh"

for i in one two three; do
	mkdir "$T/$i"
	echo "int main(void) { return sizeof(\"$i\"); }" >"$T/$i/main.c"
	(cd "$T/$i" && lizard-cc -g -Wl,--build-id main.c) || exit 1
done
for i in one two; do
	(cd "$T/$i" && lizard-trace -q ./a.out)
done
program() { # DIR ARGS...: of the recording that is meant there
	(cd "$1" && shift && lizard info "$@" 2>&1 | sed -n 's/^program *//p')
}

is "$(program "$T/one" ./a.out)" "$T/one/a.out" "an older recording, of the program given"
is "$(program "$T/two" ./a.out)" "$T/two/a.out" "the newest one"
is "$(program "$T" one/a.out)" "$T/one/a.out" "by another path"
is "$(program "$T/one" a.out)" "$T/one/a.out" "by its bare name"
ln -s one/a.out "$T/a.out"
is "$(program "$T" ./a.out)" "$T/one/a.out" "by a link"
mkdir "$T/moved" && cp "$T/one/a.out" "$T/moved"
is "$(program "$T/moved" ./a.out)" "$T/one/a.out" "by its build-id, from another place"
like "$(cd "$T/one" && lizard-gdb --stock -batch ./a.out -ex 'list 1' 2>&1)" '"one"' "lizard-gdb opens it"
like "$(cd "$T/one" && lizard verify ./a.out)" 'a.out-1: clean' "lizard verify replays it"

out=$(cd "$T/three" && lizard info ./a.out 2>&1)
like "$out" "no recording of this ./a.out; a.out-2 is taken, which is of $T/two/a.out" "none is of it: says which is taken"
is "$(cd "$T/one" && lizard info ./a.out 2>&1 | grep -c 'no recording')" 0 "... and nothing where it is its own"

# Rebuilt: its path still says which one.
echo 'int main(void) { return 77; }' >"$T/one/main.c"
(cd "$T/one" && lizard-cc -g -Wl,--build-id main.c)
is "$(program "$T/one" ./a.out)" "$T/one/a.out" "after a rebuild: by its path"

# A script's program is its interpreter.
for i in one two; do
	printf '#!/bin/sh\nexit 0\n' >"$T/$i/script"
	chmod +x "$T/$i/script"
	(cd "$T/$i" && lizard-trace -q ./script)
done
like "$(cd "$T/one" && lizard info ./script 2>&1)" 'script-1' "a script: by what was executed"
done_testing
