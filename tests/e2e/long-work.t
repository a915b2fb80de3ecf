#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Work that takes long: a terminal sees how far it is, and Ctrl-C ends it and leaves nothing half done. A library makes
# reading slow while the file $SLOW exists.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/gdb.sh"

cat >"$T/slow.c" <<'C'
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>
static void wait_a_while(void)
{
	const char *slow = getenv("SLOW");
	if (slow && access(slow, F_OK) == 0)
		usleep(100000);
}
ssize_t pread(int fd, void *buf, size_t n, off_t at)
{
	static ssize_t (*real)(int, void *, size_t, off_t);
	if (!real)
		real = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
	if (n >= 64 << 10)
		wait_a_while();
	return real(fd, buf, n, at);
}
ssize_t read(int fd, void *buf, size_t n)
{
	static ssize_t (*real)(int, void *, size_t);
	if (!real)
		real = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	if (n == 16 << 10)
		wait_a_while();
	return real(fd, buf, n);
}
int linkat(int from, const char *name, int to, const char *as, int flags)
{
	errno = EXDEV; /* so that things are copied */
	return -1;
}
C
gcc -shared -fPIC -D_GNU_SOURCE "$T/slow.c" -o "$T/slow.so" || skip_all "no library"
# 8 MB that do not get smaller: 32 pieces to read
cat >"$T/big.c" <<'C'
int main(void) { return 0; }
__asm__(".pushsection .rodata\n.incbin \"noise\"\n.popsection\n");
C
head -c 8000000 /dev/urandom >"$T/noise"
(cd "$T" && lizard-cc -g big.c -o big) && lizard-trace -q -o "$T/rec" "$T/big" && lizard pack -o "$T/rec.lizard" "$T/rec" 2>"$T/err"
is $? 0 "recorded and packed" || diag "$(cat "$T/err")"

SLOW=$T/slow
export SLOW
touch "$SLOW"
cat >"$T/work.py" <<'EOF2'
import os, re, sys, time
sys.path.insert(0, os.environ["LIZARD_SRC"] + "/tests/lib")
from terminal import Terminal

T = os.environ["T"]
NOW = "[0-9]+ %"


def ok(good, name, text=""):
    print("ok" if good else "not ok", "-", name)
    if not good:
        print("\n".join("# " + repr(line) for line in text.splitlines()))


def start(*words):
    return Terminal(["env", "LD_PRELOAD=" + T + "/slow.so", *words])


def shows_and_stops(name, what, words, left=()):
    t = start(*words)
    shown = t.until(what + ": +" + NOW, 60)
    ok(what in shown, name + ": shows how far it is", shown)
    begun = time.time()
    t.type("\x03")
    status = os.waitpid(t.pid, 0)[1]
    took = time.time() - begun
    os.close(t.fd)
    ok(os.WIFSIGNALED(status) and os.WTERMSIG(status) == 2, name + ": Ctrl-C ends it", shown)
    ok(took < 5, name + ": at once")
    there = [path for path in left if os.path.exists(path)]
    ok(not there, name + ": nothing is left", " ".join(there))
    recordings = [n for n in os.listdir(os.environ["LIZARD_TRACE_DIR"]) if not n.startswith(".copies-")]
    ok(not recordings, name + ": nor among the recordings", " ".join(recordings))


shows_and_stops("info", "lizard: checking the copies of mapped files", ["lizard", "info", T + "/rec"])
shows_and_stops("verify", "lizard: checking the copies of mapped files", ["lizard", "verify", T + "/rec"])
shows_and_stops("gdb", "lizard: checking the copies of mapped files", ["lizard-gdb", T + "/rec", "-nx", "-batch"])
shows_and_stops("pack", "lizard: packing",
                ["lizard", "pack", "--no-sources", "-o", T + "/cut.lizard", T + "/rec"], [T + "/cut.lizard"])
shows_and_stops("unpack", "lizard: unpacking", ["lizard", "unpack", T + "/rec.lizard", T + "/cut"], [T + "/cut"])
for what in "reading the packed recording", "unpacking":
    shows_and_stops("info FILE, " + what, "lizard: " + what, ["lizard", "info", T + "/rec.lizard"])


def at_prompt(t):
    return t.until(r"\(gdb\) $", 60)


def stops_on_the_way(front):
    """In the first seconds of GDB, which reads the recording once more, or has it read."""
    t = start("lizard-gdb", front, T + "/rec", "-nx")
    again = r"checking the copies.* {40}[\s\S]*checking the copies of mapped files: +" + NOW
    shown = t.until(again, 60)
    ok(re.search(again, shown), front + ": shows how far it is", shown)
    begun = time.time()
    t.type("\x03")
    text = t.until("lizard-gdb: .*interrupted", 60)
    if "interrupted" not in text:
        os.kill(t.pid, 9)
    status = os.waitpid(t.pid, 0)[1]
    ok("interrupted" in text and status == 1 << 8 and time.time() - begun < 15, front + ": Ctrl-C ends it", text)
    ok("Traceback" not in text, front + ": in order", text)


def stops_in_gdb(name, what, command, left=None):
    """GDB goes on, and the same command works later."""
    os.path.exists(T + "/slow") and os.unlink(T + "/slow")
    t = start("lizard-gdb", "--patched", T + "/rec", "-nx", "-ex", "set confirm off")
    at_prompt(t)
    open(T + "/slow", "w").close()
    t.type(command + "\n")
    shown = t.until(what + ": +" + NOW, 60)
    ok(what in shown, name + ": shows how far it is", shown)
    begun = time.time()
    t.type("\x03")
    text = at_prompt(t)
    ok(text.endswith("(gdb) ") and time.time() - begun < 5, name + ": Ctrl-C ends it", text)
    ok(not left or not os.path.exists(left), name + ": nothing is left")
    os.unlink(T + "/slow")
    t.type("echo ready\\n\n")  # "Quit" may come behind the prompt
    t.until(r"\nready\n\(gdb\) $", 60)
    t.type(command + "\n")
    text = at_prompt(t)
    t.type("print 6 * 7\n")
    text += t.until("= 42", 60)
    ok("= 42" in text and "nterrupted" not in text and (not left or os.path.exists(left)), name + ": it works later", text)
    t.type("quit\n")
    os.waitpid(t.pid, 0)
    open(T + "/slow", "w").close()


stops_on_the_way("--stock")
if os.environ["PATCHED"]:
    stops_on_the_way("--patched")
    stops_in_gdb("target lizard", "lizard: checking the copies of mapped files", "target lizard " + T + "/rec")
    stops_in_gdb("record save", "lizard: copying the recording", "record save " + T + "/saved", T + "/saved.lizard")

t = start("lizard", "info", T + "/rec")
text = t.until("\nsize .*\n", 60)
ok(NOW and "checking" in text and "recording   " in text, "it goes on to its end", text)
EOF2
all=39 PATCHED=
if patched_gdb; then
	all=50 PATCHED=1
fi
export PATCHED
timeout 300 python3 "$T/work.py" >"$T/tap" 2>&1
grep '^#' "$T/tap" >&2
while read -r verdict name; do
	case $verdict in
	ok) ok 0 "${name#- }" ;;
	not) ok 1 "${name#ok - }" ;;
	esac
done <"$T/tap"
is "$(grep -c '^\(not \)\?ok' "$T/tap")" $all "all was tried" || diag "$(tail -5 "$T/tap")"
LD_PRELOAD=$T/slow.so lizard info "$T/rec" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/err")" "0 " "what is no terminal sees nothing of it"
done_testing
