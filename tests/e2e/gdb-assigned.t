#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# last, of variables whose last store lies far back while their pages go on being written: the compiler's word says where
# to look, and a store that it does not know of is found all the same. Each store that counts has its variable's name in
# the source: that is the truth.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

cat >"$T/assigned.c" <<'END'
#include <string.h>
struct pair {
	long a, b, c, d;
};
extern int *hidden[], by_data, by_plain, by_hand;
void plain(int *next);
int *place_of_wild(void);
volatile long sink;
long noise[64];
#define KEPT __attribute__((used)) static int
KEPT only, twice, jumped, skipped, written_by_asm, table[4];
int global, pointed, same_name, wild, never, renamed, named;

__attribute__((noinline)) static void busy(long n)
{
	for (long i = 0; i < n; i++)
		noise[i & 63] += i % 3 ? i : noise[(i + 1) & 63];
}

static void set(int v)
{
	only = v;
	global = 2 * v;
	table[1] = 6;
	jumped = 5;
}

__attribute__((no_instrument_function, noinline)) static void unseen(int v)
{
	skipped = v;                                    /* skipped */
}

/* these store what is there already, as users of the compiler's word would not expect */
static void fill(int *to, int v)
{
	busy(2);
	*to = v;                                        /* filled */
}

static void scribble(int argc)
{
	busy(2);
	*place_of_wild() = 9;                           /* wild */
	*hidden[argc - 1] = 4;                          /* pointed */
	*hidden[argc] = 4;                              /* named */
}

static struct pair make(long v)
{
	struct pair p = {v, v, v, v};

	busy(3);
	return p;                                       /* returned */
}

static int recurse(int depth)
{
	int mine = depth;                               /* mine */

	if (depth)
		mine += recurse(depth - 1) > 100000;    /* mine */
	else
		busy(60000);
	return mine;                                    /* HERE recurse */
}

__attribute__((noinline)) static int locals(int given, int n)
{
	volatile int slot = n;
	int once = 1, escaped = 2, through = 3, met = 4;
	struct pair returned;
	int array[4] = {0};

	if (n > 2) {
		escaped = n;
		returned.d = n;
		met = 6;                                /* met */
	}
	for (int i = 0; i < 2; i++)
		busy(2);
	fill(&escaped, n);
	memcpy(&through, &n, sizeof n);                 /* through */
	returned = make(n);
	array[n & 3] = 7;                               /* array */
	once = n;                                       /* once */
	slot = n;                                       /* slot */
	{
		int nested = once + 1;                  /* nested */

		busy(60000);
		given += nested;                        /* given */
		for (int i = 0; i < 3; i++)
			busy(20000 + 0 * nested);
		busy(nested);                           /* HERE nested */
	}
	busy(60000);
	return once + escaped + through + met + array[1] + (int)returned.d + given + slot; /* HERE locals */
}

/* The edges of computed jumps carry no markers, so blocks do. */
static void interpret(const char *code)
{
	static void *const to[] = {&&end, &&add, &&set, &&wait};
	int sum = 0;

	goto *to[(int)*code];
add:
	sum++;
	goto *to[(int)*++code];
set:
	jumped = 5;                                     /* jumped */
	goto *to[(int)*++code];
wait:
	busy(2);
	goto *to[(int)*++code];
end:
	sink = sum;
}

static void first(int argc)
{
	set(1);
	twice = 1;
	busy(2);
	twice = 1;                                      /* twice */
	pointed = 4;
	named = 4;
	by_data = 5;                                    /* by_data */
	by_plain = 6;
	skipped = 8;
	wild = 2;
	same_name = argc + 30;                          /* same_name */
	for (int i = argc; i < 4; i++)
		table[i] = 6;                           /* table */
	__asm__("movl $11, %0" : "=m"(written_by_asm)); /* written_by_asm */
}

int main(int argc, char **argv)
{
	(void)argv;
	busy(1000);
	first(argc);
	scribble(argc);
	interpret("\1\1\3\2\3\1\1\3\1");
	plain(&by_plain);
	unseen(8);
	only = argc + 4;                                /* only */
	global = 2 * only;                              /* global */
	busy(100000);
	int r = locals(argc, argc + 2) + recurse(3);
	sink = r + only + skipped + twice + written_by_asm; /* HERE main */
	return 0;
}
END
cat >"$T/other.c" <<'END'
extern int pointed, named, renamed;
int *hidden[] = {&pointed, &named, &renamed};
int by_data, by_plain, by_hand;
static int same_name, only;
int other(int v)
{
	same_name = v;
	only = v;
	return same_name + only;
}
END
cat >"$T/plain.c" <<'END'
extern int by_hand, wild;
int *place_of_wild(void)
{
	return &wild;
}
void plain(int *next)
{
	*next = 6;                                      /* by_plain */
	by_hand = 7;                                    /* by_hand */
}
END

cat >"$T/threads.c" <<'END'
#include <pthread.h>
#include <semaphore.h>
static sem_t begun, go, done;
long noise[64];

__attribute__((noinline)) static void busy(long n)
{
	for (long i = 0; i < n; i++)
		noise[i & 63] += i % 3 ? i : noise[(i + 1) & 63];
}

static void *work(void *first)
{
	pthread_t other;
	int state = 2;

	if (first) {
		pthread_create(&other, NULL, work, NULL);
		sem_wait(&begun);
		busy(2);
		state = 2;                              /* state */
		busy(2);
		sem_post(&go);
		sem_wait(&done);
		busy(2);                                /* HERE work */
		pthread_join(other, NULL);
	} else {
		sem_post(&begun);
		sem_wait(&go);
		busy(300000);
		state = 3;
		sem_post(&done);
	}
	return state > 2 ? first : NULL;
}

int main(void)
{
	pthread_t one;

	sem_init(&begun, 0, 0);
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&one, NULL, work, &one);
	return pthread_join(one, NULL);
}
END

# With markers that can be read.
record_all() {
	"$LIZARD_BIN/lizard-trace" -q --flow=full "$T/$1" >"$T/$1.out" 2>&1
}

# The line whose comment is $1, as FILE:LINE.
line_of() {
	grep -n "/\* $1 \*/" "$T/assigned.c" "$T/plain.c" "$T/threads.c" | tail -n 1 | sed "s|.*/\([a-z]*\.c:[0-9]*\):.*|\1|"
}

check() {
	level=$1 names=$2 stop=$3 program=${4:-assigned$level}
	out=$({
		for name in $names; do
			printf 'jump_forward end\njump_backward -any %s\n-- %s\nlast %s\n' "$(line_of "HERE $stop")" "${name%%:*}" "${name#*:}"
		done
	} | GDB_SECONDS=280 gdb_run "$T/$program")
	for name in $names; do
		of=${name%%:*} said=$(section "$out" "$of" | tr '\n' ' ')
		like "$said" ": .*written here\..* at [^ ]*$(line_of "$of")\b" "$level, $stop: $name" || diag "$said"
	done
}

for level in -O0 -O2; do
	gcc -g $level -c "$T/plain.c" -o "$T/plain$level.o" &&
		"$LIZARD_BIN/lizard-cc" -g $level -fno-ipa-icf "$T/assigned.c" "$T/other.c" "$T/plain$level.o" -o "$T/assigned$level" &&
		record_all "assigned$level" || { fail "$level: built and recorded"; continue; }
	check "$level" "only global twice jumped pointed named by_data by_plain by_hand skipped wild same_name table:table[1] written_by_asm" main
	said=$(gdb_run "$T/assigned$level" <<END
jump_forward end
jump_backward $(line_of "HERE main")
last never
END
	)
	like "$said" 'never was not written before: nothing has moved' "$level: one that was never written" || diag "$said"
done
for level in -O0 -O2; do
	check "$level" slot locals
done
check -O0 "once filled:escaped through met array:array[3] given returned:returned.d" locals
check -O0 nested nested
check -O0 mine recurse

"$LIZARD_BIN/lizard-cc" -g -O0 -pthread "$T/threads.c" -o "$T/threads" && record_all threads
check -O0 state work threads

done_testing
