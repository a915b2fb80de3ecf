#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that change their user, or become undumpable, recorded without the right to look into other users' processes,
# as root in a container and ordinary users are: they and their children do as ever, and what is not recorded is said.
. "$(dirname "$0")/../lib/tap.sh"
[ "$(id -u)" = 0 ] || skip_all "needs root"
chmod 755 "$T"
gcc -g -O1 "$LIZARD_SRC/tests/progs/trace/drop.c" -o "$T/drop-plain" &&
	lizard-cc -g -O1 "$LIZARD_SRC/tests/progs/trace/drop.c" -o "$T/drop-lizard" || exit 1
caps=-sys_ptrace,-sys_admin,-perfmon,-checkpoint_restore
few() { setpriv --bounding-set=$caps --inh-caps=$caps -- "$@"; }
few test -x "$T/drop-plain" && setpriv --reuid=54321 --clear-groups test -x "$T/drop-plain" || skip_all "the build is out of reach"

for how in plain lizard; do
	for what in fork exec hide; do
		few "$T/drop-$how" $what >"$T/native" 2>&1
		want="$? $(cat "$T/native")"
		for follow in parent all nothing-like-it; do
			name="$how, $what, --follow $follow"
			few timeout -k 5 60 lizard-trace -q --follow $follow -o "$T/$how-$what-$follow" -- "$T/drop-$how" $what >"$T/out" 2>"$T/err"
			is "$? $(cat "$T/out")" "$want" "$name: as natively" || diag "$(cat "$T/err")"
			lizard verify -a "$T/$how-$what-$follow" >"$T/verify" 2>&1
			ok $? "$name: what is recorded verifies" || diag "$(tail -n 5 "$T/verify")"
			case $what-$follow in
			exec-* | fork-all) like "$(cat "$T/err")" "CAP_SYS_PTRACE" "$name: it is said what is not" ;;
			*) is "$(cat "$T/err")" "" "$name: nothing on stderr" ;;
			esac
		done
	done
done
is "$(lizard ps "$T/lizard-hide-all" | grep -c drop)" 2 "an undumpable process's child is recorded"
# With that right nothing is pretended: /proc of the process is closed to itself, as natively.
cat >"$T/look.c" <<'EOF'
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static void look(const char *when)
{
	int fd = open("/proc/self/mem", O_RDONLY);

	printf("%s: dumpable %d, %s\n", when, prctl(PR_GET_DUMPABLE), fd < 0 ? "closed" : "open");
	fflush(stdout);
	close(fd);
}
int main(int argc, char **argv)
{
	look("at first");
	if (argc > 1)
		prctl(PR_SET_DUMPABLE, 0);
	look("undumpable");
	if (setgid(54321) || setuid(54321))
		return 1;
	look("another user");
	if (!fork()) {
		look("child");
		_exit(0);
	}
	wait(NULL);
	prctl(PR_SET_DUMPABLE, 1);
	look("dumpable again");
	return 0;
}
EOF
lizard-cc -g -O1 -w "$T/look.c" -o "$T/look"
for args in "" hide; do
	for follow in parent all; do
		name="with the right to trace, $args --follow $follow"
		# shellcheck disable=SC2086
		timeout -k 5 60 lizard-trace -q --follow $follow -o "$T/look-$args-$follow" -- "$T/look" $args >"$T/out" 2>"$T/err"
		# shellcheck disable=SC2086
		is "$? $(cat "$T/out" "$T/err")" "0 $("$T/look" $args)" "$name: as natively"
		lizard verify -a "$T/look-$args-$follow" >"$T/verify" 2>&1
		ok $? "$name: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	done
done

# ---- an ordinary user, who may not open shared memory in /proc/PID/map_files: the program is asked which of its pages exist ----
user="setpriv --reuid=54321 --regid=54321 --clear-groups"
mkdir "$T/user" && chmod 777 "$T/user"
gcc -g -O1 -w "$LIZARD_SRC/tests/progs/trace/dropped.c" -o "$T/dropped"
for args in "" vfork; do
	for how in --dirty=auto --dirty=compare; do
		name="shared memory, $args $how"
		# shellcheck disable=SC2086
		$user timeout -k 5 20 lizard-trace -q $how --checkpoint-interval 20 -o "$T/user/$args$how" "$T/dropped" $args >"$T/out" 2>"$T/err"
		# shellcheck disable=SC2086
		is "$? $(cat "$T/out" "$T/err")" "0 $("$T/dropped" $args)" "$name: as natively"
		$user timeout -k 5 60 lizard verify "$T/user/$args$how" >"$T/verify" 2>&1
		ok $? "$name: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	done
done
done_testing
