# SPDX-License-Identifier: GPL-3.0-or-later
# Driving LLDB in tests, at a server's port. Sourced after tap.sh.
#
#   lldb_find                    sets $lldb to $LIZARD_LLDB, or the newest one from 19 on, and $lldb_version; 1: none
#   lldb_serve RECORDING [OPTIONS]
#                                starts lizard-gdb -s; sets $lldb_server and $lldb_port; its words are in $T/server
#   lldb_end                     ends that server
#   lldb_run [PROG] <commands    prints what LLDB prints for the commands on stdin, connected to that server
#
# A line `-- NAME` among the commands is printed, as gdb_run does.

lldb_version_of() {
	"$1" --version 2>/dev/null | sed -n 's/^lldb version \([0-9]*\).*/\1/p'
}

lldb_find() {
	lldb= lldb_version=0
	for each in ${LIZARD_LLDB:-lldb-23 lldb-22 lldb-21 lldb-20 lldb-19 lldb}; do
		found=$(lldb_version_of "$each")
		[ "${found:-0}" -ge 19 ] || continue
		lldb=$each lldb_version=$found
		return 0
	done
	return 1
}

lldb_serve() {
	rm -f "$T/server" # of the server before
	"$LIZARD_BIN/lizard-gdb" -s 0 "$@" >/dev/null 2>"$T/server" &
	lldb_server=$!
	wait_until grep -q listening "$T/server" || return 1
	lldb_port=$(sed -n 's/.*127.0.0.1:\([0-9]*\);.*/\1/p' "$T/server")
}

lldb_end() {
	kill $lldb_server 2>/dev/null
	wait $lldb_server 2>/dev/null
}

lldb_run() {
	{
		echo "settings set use-color false"
		# A crowded machine may answer late.
		echo "settings set plugin.process.gdb-remote.packet-timeout 60"
		echo "command script import $LIZARD_BIN/../lib/lizard/lizard_lldb.py"
		[ -z "${1:-}" ] || echo "target create $1"
		echo "gdb-remote $lldb_port"
		sed "s/^-- \(.*\)\$/script print('-- \1')/"
	} >"$T/lldb-commands"
	timeout 120 "$lldb" --no-lldbinit -b -o "command source -e 0 -c 0 $T/lldb-commands" </dev/null 2>&1 |
		grep -v '^(lldb) '
}
