#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A web server, master and worker: 1,000 requests over loopback, reloaded half-way. At -O0 and with 200 requests, unless with
# LIZARD_LONG.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
levels=-O0 requests=200
[ -z "$LIZARD_LONG" ] || levels="-O0 -O2" requests=1000
verify_options=-a walked=long two_ways=-O2 # ngx_http_alloc_request() in ngx_http_create_request(): docs/design/exceptions.md
WALK_PLACES="ngx_http_handler ngx_http_parse_header_line ngx_event_process_posted ngx_output_chain"
WALK_WATCH="ngx_cycle->free_connection_n; ngx_cached_time; ngx_event_timer_rbtree.root"
. "$LIZARD_SRC/tests/lib/real-test.sh"

mkdir -p "$T/server/www"
for n in 10 1000 30000; do seq 1 $n >"$T/server/www/$n.txt"; done
cat >"$T/server/nginx.conf" <<'END'
worker_processes 1;
daemon off;
pid nginx.pid;
events { worker_connections 64; }
http {
	access_log access.log;
	client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
	sendfile on;
	gzip on; gzip_types text/plain; default_type text/plain;
	server { listen 127.0.0.1:PORT; root www; }
}
END
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sed -i "s/PORT/$port/" "$T/server/nginx.conf"

load() { # HOW-MANY
	timeout 300 python3 "$LIZARD_SRC/tests/lib/http-load.py" "$port" "$1" "$T/server/www"
}
workers() { lizard ps --json "$1" | python3 -c '
import json, sys
print(*(p["pid"] for p in json.load(sys.stdin)[1:]))'; }
reloaded() { [ "$(grep -c 'start worker process [0-9]' "$T/server/error.log")" = 2 ]; }

serve() { # RUN... PROGRAM: half of the requests, a new worker, the other half
	(cd "$T" && exec "$@" -e error.log -p server/ -c nginx.conf -g 'error_log error.log notice;') >"$T/out" 2>"$T/err" &
	pid=$!
	rm -f "$T/server/error.log"
	wait_until load 1
	load $((requests / 2)) >"$T/load"
	kill -HUP "$(cat "$T/server/nginx.pid")"
	wait_until reloaded
	load $((requests / 2)) >>"$T/load"
	kill -QUIT "$(cat "$T/server/nginx.pid")"
	wait "$pid"
}

for level in $levels; do
	program=$(real_build nginx lizard-cc "$level -g" "$T/build$level")
	ok $? "$level: builds with lizard-cc" || continue
	for i in $(seq $repeats); do
		rec=$T/recordings/nginx$level-$i
		serve lizard-trace -q --follow all -o "$rec" -- "$program"
		is "$? $(cat "$T/err" "$T/out")" "0 " "$level, run $i: it ends as without Lizard"
		is "$(tr '\n' ' ' <"$T/load")" "$((requests / 2)) right $((requests / 2)) right " "$level, run $i: every answer is right"
		is "$(workers "$rec" | wc -w)" 2 "$level, run $i: master and two workers"
		real_verify "$level, run $i" "$rec"
		is "$(grep -c 'not complete' "$T/verify.log")" 0 "$level, run $i: every recording is complete"
	done
done

worker=$(workers "$rec" | cut -d' ' -f1)
for front in stock patched; do
	[ $front = stock ] || patched_gdb || { skip "$front: the worker" "no patched GDB is built"; continue; }
	out=$(gdb_run --$front -p "$worker" "$rec" <<'END'
break ngx_http_finalize_request if rc == 404
continue
print r->uri.len
set $len = &r->uri.len
reverse_watchpoint *$len
bt 1
jump_forward ngx_worker_process_exit
print ngx_exiting
END
)
	like "$out" '^\$1 = [0-9]+$' "$front: a request for what is not there"
	like "$out" '^#0 .* ngx_http_process_request_uri ' "$front: where its name was read" || diag "$out"
	like "$out" '^\$2 = 1$' "$front: the worker that was told to go" || diag "$out"
done
real_walk nginx-worker "$rec" -p "$worker"
WALK_PLACES="ngx_palloc ngx_conf_parse ngx_hash_add_key ngx_vslprintf ngx_open_listening_sockets" # the master answers no requests
real_walk nginx-master "$rec"
done_testing
