/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linked into an instrumented program: takes the program's markers as a tracer would (a guarded buffer,
 * its own SIGSEGV handler), and at exit checks the whole stream against the program's control-flow
 * graphs: every marker must follow the one before it by exactly one marker-free path.
 * Single-threaded programs only. Prints "stream: N markers" on stderr, or what is wrong, and then exits
 * with status 99. Not instrumented itself. */
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <lizard/cfg.h>
#include <lizard/error.h>
#include <lizard/marker.h>

enum { SINK_GUARD = LZ_SINK_SIZE - 0x1000 };

extern __thread unsigned char *__lizard_pos __attribute__((tls_model("initial-exec")));

static unsigned char *buffer, *kept;
static size_t n_kept, room;

static void take(unsigned char *end)
{
	size_t n = (size_t)(end - buffer);

	if (n_kept + n > room) {
		size_t bigger = 2 * (room + n) + (1 << 20);
		unsigned char *p = mmap(NULL, bigger, PROT_READ | PROT_WRITE,
		                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		memcpy(p, kept, n_kept);
		if (kept)
			munmap(kept, room);
		kept = p;
		room = bigger;
	}
	memcpy(kept + n_kept, buffer, n);
	n_kept += n;
	memset(buffer, 0, n);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	unsigned char *guard = buffer + SINK_GUARD, *at = info->si_addr;

	if (at < guard || at >= guard + 0x1000) {
		signal(sig, SIG_DFL);
		return;
	}
	take((unsigned char *)regs[REG_R15]);
	regs[REG_R15] = (greg_t)buffer;
}

static void start(void)
{
	size_t size = 2 * LZ_SINK_SIZE;
	unsigned char *p =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static unsigned char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction act = {.sa_sigaction = on_fault,
	                        .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	buffer = (unsigned char *)(((uintptr_t)p + LZ_SINK_SIZE - 1) & -(uintptr_t)LZ_SINK_SIZE);
	mprotect(buffer + SINK_GUARD, 0x1000, PROT_NONE);
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &act, NULL);
	__lizard_pos = buffer;
}

__attribute__((section(".preinit_array"), used)) static void (*const start_entry)(void) = start;

/* --- decoding --- */

struct activation {
	const struct lz_cfg_func *func;
	uint32_t last; /* marker, or LZ_SET_ENTER */
	uint32_t frame;
	bool landing; /* may be returned to by a landing */
};

static struct activation *stack;
static size_t depth, stack_room;
static size_t at;
static uint64_t n_markers;
static struct lz_cfg *cfg;
static uint64_t bias;

__attribute__((noreturn)) static void wrong(const char *what)
{
	const char *name = depth ? stack[depth - 1].func->name : "(none)";

	fprintf(stderr, "stream: at byte %zu of %zu, in %s after marker %d: %s\n", at, n_kept, name,
	        depth ? (int)stack[depth - 1].last : 0, what);
	fflush(stderr);
	_exit(99);
}

static void push(const struct lz_cfg_func *f)
{
	if (depth == stack_room) {
		stack_room = 2 * stack_room + 64;
		stack = realloc(stack, stack_room * sizeof(*stack));
	}
	stack[depth++] = (struct activation){.func = f, .last = LZ_SET_ENTER};
}

/* The function whose entry has these low 32 bits, in the executable only. */
static const struct lz_cfg_func *function_at(uint32_t low)
{
	uint64_t full = (bias & ~0xffffffffull) | low;
	const struct lz_cfg_func *f = lz_cfg_func_at(cfg, full - bias);

	if (!f)
		f = lz_cfg_func_at(cfg, full + (1ull << 32) - bias);
	if (!f)
		wrong("an entry of no function");
	return f;
}

static void follow(uint32_t id)
{
	struct activation *a = &stack[depth - 1];
	uint32_t *nodes;
	int64_t n;

	if (depth == 0)
		wrong("a marker outside of all functions");
	if (id != LZ_SET_EXIT && (id == 0 || id > a->func->n_markers))
		wrong("a marker that the function does not have");
	/* after a landing the next marker is the landing node's own */
	if (a->last == 0) {
		for (uint32_t v = 0; v < a->func->graph.n_nodes; v++)
			if (a->func->graph.node_marker[v] == id &&
			    (a->func->graph.node_flags[v] & LZ_NODE_LANDING)) {
				a->last = id;
				return;
			}
		wrong("no landing node's marker after a landing");
	}
	n = lz_graph_path(&a->func->graph, a->last, id, &nodes);
	free(nodes);
	if (n <= 0) {
		char text[100];

		snprintf(text, sizeof(text), "no marker-free path to marker %d", (int)id);
		wrong(text);
	}
	a->last = id;
}

/* Coroutines: activations that are out of sight for a while. */
static struct activation parked[64];
static size_t n_parked;

static void land(const struct lz_cfg_func *f, uint32_t frame)
{
	struct activation *a = depth ? &stack[depth - 1] : NULL;

	if (!(f->flags & LZ_FN_LANDING))
		wrong("a landing in a function without landing sites");
	if (a && a->func == f && a->last == LZ_SET_ENTER && !a->landing) {
		a->landing = true;
		a->frame = frame;
		return;
	}
	for (size_t i = depth; i > 0; i--)
		if (stack[i - 1].func == f && stack[i - 1].landing && stack[i - 1].frame == frame) {
			for (size_t k = i; k < depth && n_parked < 64; k++)
				if (stack[k].landing)
					parked[n_parked++] = stack[k];
			depth = i;
			stack[depth - 1].last = 0;
			return;
		}
	for (size_t i = 0; i < n_parked; i++)
		if (parked[i].func == f && parked[i].frame == frame) {
			push(f);
			stack[depth - 1] = parked[i];
			stack[depth - 1].last = 0;
			parked[i] = parked[--n_parked];
			return;
		}
	wrong("a landing in no known activation");
}

static uint32_t payload(size_t offset)
{
	uint32_t v;

	memcpy(&v, kept + at + offset, 4);
	return v;
}

static void decode_one(uint8_t code)
{
	if (code <= LZ_EDGE_MAX) {
		follow(code);
		return;
	}
	switch (code) {
	case LZ_WIDE: follow(payload(1) & 0xffff); break;
	case LZ_WIDE32: follow(payload(1)); break;
	case LZ_ENTER: push(function_at(payload(1))); break;
	case LZ_LANDING: land(function_at(payload(1)), payload(5)); break;
	case LZ_EXIT:
		follow(LZ_SET_EXIT);
		depth--;
		break;
	case LZ_TAIL:
		follow(LZ_SET_EXIT);
		depth--;
		break;
	}
}

static int note_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	bias = info->dlpi_addr;
	return 1; /* the first is the executable */
}

static void finish(void)
{
	take(__lizard_pos);
	cfg = lz_cfg_open("/proc/self/exe");
	if (!cfg) {
		fprintf(stderr, "stream: %s\n", lz_error());
		_exit(99);
	}
	dl_iterate_phdr(note_bias, NULL);
	for (at = 0; at < n_kept; n_markers++) {
		unsigned size = lz_marker_size(kept[at]);

		if (size == 0 || size > n_kept - at)
			wrong("no marker");
		decode_one(kept[at]);
		at += size;
	}
	fprintf(stderr, "stream: %llu markers\n", (unsigned long long)n_markers);
}

/* The last function to run; _exit() in a program leaves the check out. */
__attribute__((destructor(101))) static void finish_last(void)
{
	finish();
}
