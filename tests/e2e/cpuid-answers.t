#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What cpuid always answers is not recorded as an event, and costs no stop: the program sees what the processor says.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

cat >"$T/ask.c" <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static unsigned own;

/* Behind it is what can be moved: registers, a conditional jump, and the program's own data. The flags stay. */
__attribute__((noinline)) static uint64_t ask(uint32_t leaf, uint32_t sub, uint32_t out[4], int flags)
{
	uint64_t after;

	__asm__ volatile("mov %[flags], %%r8d\n\t"
	                 "add $0x7f, %%r8b\n\t" /* 1: overflow and sign */
	                 "cpuid\n\t"
	                 "mov %%eax, own(%%rip)\n\t"
	                 "pushf\n\t"
	                 "pop %%r8\n\t"
	                 "mov %%r8, %[after]"
	                 : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]), [after] "=r"(after), "+m"(own)
	                 : "a"(leaf), "c"(sub), [flags] "r"(flags)
	                 : "r8", "cc", "memory");
	return after & 0x8d5;
}

__attribute__((noinline)) static int is_amd(void)
{
	uint32_t b;

	__asm__ volatile("xor %%eax, %%eax\n\tcpuid\n\ttest %%ebx, %%ebx\n\tje 1f\n\tnop\n1:" : "=b"(b) : : "rax", "rcx", "rdx", "cc");
	return b == 0x68747541;
}

/* Caches of Intel's processors, or of AMD's: such a leaf has a stop on the other ones. */
static int is_others(uint32_t leaf)
{
	return is_amd() ? leaf == 2 || leaf == 4 : leaf == 0x8000001d;
}

/* Where a register leads. A fault there is that instruction's. */
extern char behind[];
__attribute__((noinline, noclone)) static unsigned into(unsigned *at)
{
	own = 0;
	__asm__ volatile("mov $0x80000000, %%eax\n\t"
	                 "xor %%ecx, %%ecx\n\t"
	                 "cpuid\n"
	                 "behind: mov %%eax, (%%rdi)\n\t"
	                 "cmp $2, %%ecx"
	                 : "+D"(at) : : "rax", "rbx", "rcx", "rdx", "cc", "memory");
	return own;
}

static void on_fault(int signo, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	printf("%d at %p, %lld bytes behind it\n", signo, info->si_addr, (long long)(r[REG_RIP] - (greg_t)behind));
	r[REG_RDI] = (greg_t)&own;
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	static const uint32_t leaves[][2] = {{0, 9}, {2, 0}, {4, 0}, {4, 1}, {4, 2}, {0xd, 0}, {0xd, 1}, {0xd, 2},
	                                     {0xd, 3}, {0xd, 5}, {0xd, 9}, {0x8000001d, 0}, {0x8000001d, 1},
	                                     {0x80000000, 7}, {0x80000001, 0}, {0x80000002, 0}, {0x80000006, 3}, {0x80000008, 0}};

	for (int times = argc > 1 ? atoi(argv[1]) : 1; times-- > 0;)
		for (size_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++)
			for (int flags = is_others(leaves[i][0]) ? 2 : 0; flags < 2; flags++) {
				uint32_t x[4];
				uint64_t after = ask(leaves[i][0], leaves[i][1], x, flags);
				if (times == 0)
					printf("%x %x: %x %x %x %x %x %lx\n", leaves[i][0], leaves[i][1], x[0], x[1], x[2], x[3], own, after);
			}
	printf("%d %x\n", is_amd(), into(&own));
	sigaction(SIGSEGV, &act, NULL);
	printf("%x\n", into((unsigned *)16));
	return 0;
}
END
sed -i 's/^static unsigned own;/unsigned own;/' "$T/ask.c"

for cc in gcc lizard-cc; do
	$cc -g -O1 "$T/ask.c" -o "$T/ask-$cc" 2>"$T/cc.log" || diag "$(cat "$T/cc.log")"
	"$T/ask-$cc" >"$T/native"
	for calls in buffer stop; do
		rec=$T/rec-$cc-$calls
		LIZARD_TRACE_CHECK=1 lizard-trace -q --calls $calls -o "$rec" "$T/ask-$cc" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/err")" "0 " "$cc, $calls: recorded"
		ok "$(cmp -s "$T/native" "$T/out"; echo $?)" "... it sees what the processor says" || diag "$(diff "$T/native" "$T/out" | head -n 6)"
		n=$(lizard dump --events "$rec" | grep -c ' cpuid ')
		ok "$([ "$n" -le 6 ]; echo $?)" "... hardly any is an event" || diag "$n"
		timeout 60 lizard verify "$rec" >"$T/verify" 2>&1
		ok $? "... verify is clean" || diag "$(tail -n 5 "$T/verify")"
	done
	rec=$T/rec-$cc-buffer
	out=$(gdb_run "$rec" <<END
break ask
continue
-- code
disassemble ask
-- step
while (*(unsigned char *)\$pc != 0x0f || *((unsigned char *)\$pc + 1) != 0xa2)
stepi
end
x/i \$pc
-- over
stepi
x/i \$pc
print/x \$ebx
-- back
reverse-stepi
x/i \$pc
END
)
	is "$(section "$out" code | grep -c '	cpuid')" 1 "$cc: a debugger is shown the instruction"
	like "$(section "$out" step)" "cpuid" "... comes to it"
	like "$(section "$out" over)" "mov +%eax,.*own" "... steps over it"
	like "$(section "$out" over)" "= 0x$(sed -n '1s/^[^:]*: [^ ]* \([^ ]*\).*/\1/p' "$T/native")" "... with its answer"
	like "$(section "$out" back)" "cpuid" "... and back"
done

# Forty and more of them in each program had a stop. At each the recorder waits for the program.
waits() {
	command time -f '%w' -o "$T/time" "$@" >"$T/out" 2>&1
	tail -n 1 "$T/time"
}
if grep -q 'AuthenticAMD' /proc/cpuinfo && [ -x "$(command -v time)" ]; then
	fast=$(waits lizard-trace -q -o "$T/rec-fast" "$T/ask-gcc" 1000)
	stops=$(waits lizard-trace -q --calls stop -o "$T/rec-stops" "$T/ask-gcc" 1000)
	ok "$([ $((fast * 10)) -lt "$stops" ]; echo $?)" "hardly one of them has a stop" || diag "$fast $stops"
fi

# Answers that are none.
cp -r "$T/rec-gcc-buffer" "$T/forged"
for bad in 'cpuid 0 0 1' 'cpuid zero * 0 0 0 0' 'cpuid 0 * 0 0 0 0 0' 'cpuid 0 123456789 0 0 0 0'; do
	sed "s/^cpuid 0 .*/$bad/" "$T/rec-gcc-buffer/meta" >"$T/forged/meta"
	timeout 60 lizard verify "$T/forged" >"$T/verify" 2>&1
	code=$?
	like "$code $(cat "$T/verify")" "^[1-9][0-9]* .*is no answer of cpuid" "refused: $bad"
done
done_testing
