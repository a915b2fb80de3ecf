# SPDX-License-Identifier: GPL-3.0-or-later
# TAP for shell tests. Source it: . "$(dirname "$0")/../lib/tap.sh"
#
# Gives: ok, is, like, wait_until, unmount_at_end, small_disk, skip, skip_all, diag, done_testing; the tools' places (LIZARD_BIN, LIZARD_SRC);
# a scratch directory $T of this test, removed at the end if everything passed and kept otherwise; and
# LIZARD_TRACE_DIR inside it, so that a failed test's recordings stay and can be replayed. The user's key is in it, too.

tap_n=0
tap_failed=0

LIZARD_SRC=${LIZARD_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
LIZARD_BUILD=${LIZARD_BUILD:-$LIZARD_SRC/build}
LIZARD_BIN=${LIZARD_BIN:-$LIZARD_BUILD/bin}
LIZARD_TMP=${LIZARD_TMP:-${TMPDIR:-/tmp}/lizard-tests}
LIZARD_LONG=${LIZARD_LONG:-}
export LIZARD_SRC LIZARD_BUILD LIZARD_BIN LIZARD_TMP LIZARD_LONG
# What lizard-cc and lizard-c++ start, without the plugin. LIZARD_GCC=N asks for another one.
PLAIN_CC=gcc${LIZARD_GCC:+-$LIZARD_GCC} PLAIN_CXX=g++${LIZARD_GCC:+-$LIZARD_GCC}
PATH=$LIZARD_SRC/tests/lib/bin:$LIZARD_BIN:$PATH
LC_ALL=C
export PATH LC_ALL

tap_name=$(basename "$0" .t)${LIZARD_FRONT_END:+-$LIZARD_FRONT_END}
T=$LIZARD_TMP/$tap_name
rm -rf "$T"
mkdir -p "$T/recordings"
LIZARD_TRACE_DIR=$T/recordings XDG_STATE_HOME=$T/state
export T LIZARD_TRACE_DIR XDG_STATE_HOME

diag() {
	printf '%s\n' "$*" | sed 's/^/# /' >&2
}

# ok STATUS NAME: passes if STATUS is 0.
ok() {
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		printf 'ok %d - %s\n' "$tap_n" "$2"
	else
		tap_failed=$((tap_failed + 1))
		printf 'not ok %d - %s\n' "$tap_n" "$2"
	fi
	[ "$1" = 0 ]
}

# is GOT WANTED NAME
is() {
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3" || { diag "got:    $1"; diag "wanted: $2"; }
		return 1
	fi
}

# like TEXT EXTENDED-REGEX NAME
like() {
	if printf '%s\n' "$1" | grep -Eq -e "$2"; then
		ok 0 "$3"
	else
		ok 1 "$3" || { diag "got:     $1"; diag "pattern: $2"; }
		return 1
	fi
}

# unmount_at_end DIR...: also if the test is ended midway. Whoever gets to the end has unmounted them before.
unmount_at_end() {
	tap_mounts=
	for tap_dir; do tap_mounts="$tap_mounts umount -l '$tap_dir' 2>/dev/null;"; done
	trap "$tap_mounts" EXIT
	trap 'exit 1' INT TERM HUP
}

# small_disk SIZE: mounts one at $T/small, as above. Without permission it fails.
small_disk() {
	unmount_at_end "$T/small"
	mkdir -p "$T/small" && mount -t tmpfs -o size="$1" tmpfs "$T/small" 2>/dev/null
}

# wait_until COMMAND...: until it succeeds; a machine may be slow, so two minutes. Its output is not shown.
wait_until() {
	tap_tries=0
	until "$@" >/dev/null 2>&1; do
		tap_tries=$((tap_tries + 1))
		[ $tap_tries -lt 1200 ] || { diag "waited in vain for: $*"; return 1; }
		sleep 0.1
	done
}

# skip NAME REASON
skip() {
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
}

skip_all() {
	printf '1..0 # SKIP %s\n' "$*"
	rm -rf "$T"
	exit 0
}

# Says how to replay what a failed check recorded.
replay_hint() {
	diag "the recording is kept; replay it with: LIZARD_TRACE_DIR=$LIZARD_TRACE_DIR $LIZARD_BIN/lizard-gdb $1"
}

done_testing() {
	printf '1..%d\n' "$tap_n"
	if [ "$tap_failed" = 0 ]; then
		rm -rf "$T"
		exit 0
	fi
	diag "kept: $T"
	exit 1
}
