#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A signal that comes when the kernel has just prepared a call to be made again, and the program has not made it yet: so late it
# comes in one of some ten thousand, or by a library before the recorder's ptrace().
. "$(dirname "$0")/../lib/tap.sh"

cat >"$T/restarts.c" <<'E'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>

/* What the kernel does itself when no signal is there. */
static void prepare(struct user_regs_struct *r)
{
	r->rax = (int64_t)r->rax == -516 ? SYS_restart_syscall : r->orig_rax;
	r->orig_rax = -1;
	r->rip -= 2;
}

/* Every other time. */
static int is_to_be_made_again(const struct user_regs_struct *r)
{
	static unsigned n;
	const int64_t result = r->rax;

	return (int64_t)r->orig_rax >= 0 && result <= -512 && result >= -516 && result != -515 && n++ % 2;
}

long ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	struct user_regs_struct r;
	va_list args;

	va_start(args, request);
	pid_t pid = va_arg(args, pid_t);
	void *addr = va_arg(args, void *), *data = va_arg(args, void *);
	va_end(args);
	if (!real)
		real = dlsym(RTLD_NEXT, "ptrace");
	if ((request == PTRACE_SYSCALL || request == PTRACE_CONT) && !data && real(PTRACE_GETREGS, pid, 0, &r) == 0 &&
	    is_to_be_made_again(&r)) {
		prepare(&r);
		real(PTRACE_SETREGS, pid, 0, &r);
	}
	return real(request, pid, addr, data);
}
E
(cd "$T" && gcc -O1 -shared -fPIC -o restarts.so restarts.c)
ok $? "the library builds" || done_testing

for cc in gcc lizard-cc; do
	$cc -w -g -O1 "$LIZARD_SRC/tests/progs/trace/made_again.c" -o "$T/$cc"
	ok $? "$cc builds" || done_testing
	"$T/$cc" >"$T/native"
	is "$(cat "$T/native")" "40 40 caught" "$cc: natively"
	for calls in stop buffer; do
		rec=$T/recordings/$cc-$calls
		LD_PRELOAD=$T/restarts.so ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
			timeout -k 5 60 lizard-trace -q --calls=$calls -o "$rec" "$T/$cc" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/out")" "0 40 40 caught" "$cc, --calls=$calls: recorded" || diag "$(tail -n 5 "$T/err")"
		timeout 60 lizard verify "$rec" >"$T/verify" 2>&1
		ok $? "$cc, --calls=$calls: verify is clean" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$rec"; }
	done
done
done_testing
