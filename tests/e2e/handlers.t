#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A Ctrl-C that comes while GDB calls a function of Lizard's for an event is not lost.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

cd "$T" || exit 1

# A handler during which SIGINT comes, as the terminal sends it and as another thread interrupts GDB; and what happens to a
# command that goes on behind it.
cat >interrupted.py <<'END'
import os, signal, sys, time
import gdb
sys.path.insert(0, sys.argv_place)
from lizard_gdb.handlers import ignore, listen

called = []

def by_signal(event):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)
    called.append("signal")

def by_thread(event):
    called.append("thread")
    import _thread
    _thread.interrupt_main()  # what gdb.interrupt() of newer GDBs does while Python runs
    time.sleep(0.01)

def trial(name, on, off, handler):
    on(gdb.events.breakpoint_created, handler)
    try:
        gdb.Breakpoint("nowhere_%s" % name)
        time.sleep(0.5)
        gdb.write("%s: lost\n" % name)
    except KeyboardInterrupt:
        gdb.write("%s: interrupted\n" % name)
    off(gdb.events.breakpoint_created, handler)

plain = lambda registry, handler: registry.connect(handler), lambda registry, handler: registry.disconnect(handler)
trial("plain", *plain, by_signal)
trial("signal", listen, ignore, by_signal)
trial("thread", listen, ignore, by_thread)
gdb.Breakpoint("nowhere")
gdb.write("called: %s\n" % " ".join(called))
END
sed -i "s|sys.argv_place|\"$LIZARD_BIN/../lib/lizard\"|" interrupted.py
trials() { # GDB
	timeout 60 "$1" -nx -batch -ex 'set breakpoint pending on' -x interrupted.py >out 2>&1
	like "$(cat out)" '^plain: lost$' "$2: GDB loses one that comes in a handler" || diag "$(cat out)"
	like "$(cat out)" '^signal: interrupted$' "$2: it comes behind one of Lizard's" || diag "$(cat out)"
	like "$(cat out)" '^thread: interrupted$' "$2: so does an interrupt by another thread" || diag "$(cat out)"
	like "$(cat out)" '^called: signal thread$' "$2: the handler is done, and none is called that is ignored" || diag "$(cat out)"
}
trials gdb stock
! patched_gdb || trials "$patched" patched

cd "$LIZARD_SRC" || exit 1
out=$(scripts/check-handlers)
ok $? "all handlers are connected so" || diag "$out"
printf '%s\n' 'import gdb' 'gdb.events.stop.connect(on_stop)' 'add = gdb.events.cont.connect' 'listen(gdb.events.exited, f)' >"$T/bad.py"
is "$(scripts/check-handlers "$T/bad.py" | grep -o 'bad.py:[0-9]*' | tr '\n' ' ')" "bad.py:2 bad.py:3 " "the lint finds others"
done_testing
