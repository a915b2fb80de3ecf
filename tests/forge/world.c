/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values that may do harm, by what the recording, the kernel and Lizard are like. */
#include "tests/forge/forge.h"
#include "tests/forge/calls.h"

#include <lizard/marker.h>
#include <string.h>

struct world world;

enum { STEPS = 64 };

static struct place place_of(const struct lz_checkpoint *ck, uint64_t addr)
{
	for (uint32_t i = 0; i < ck->n_vmas; i++) {
		const struct lz_vma *v = &ck->vmas[i];
		if (addr >= v->start && addr < v->end)
			return (struct place){addr, addr - v->start + v->offset, v->file};
	}
	return (struct place){.addr = addr, .file = LZ_NO_FILE};
}

static void add_places(struct lz_reader *r)
{
	uint64_t n = lz_reader_n_events(r), first = lz_reader_first_event(r);
	const struct lz_checkpoint *ck = lz_reader_checkpoint(r, lz_reader_n_checkpoints(r) - 1);

	for (uint64_t i = 0; ck && i < STEPS; i++) {
		const struct lz_event *ev = lz_reader_event(r, first + (n - first) * i / STEPS);
		if (ev && ev->ip && world.n_places < N_OF(world.place))
			world.place[world.n_places++] = place_of(ck, ev->ip);
	}
}

static void add_thread(uint32_t tid)
{
	for (uint32_t i = 0; i < world.n_tids; i++)
		if (world.tid[i] == tid)
			return;
	if (world.n_tids < N_OF(world.tid))
		world.tid[world.n_tids++] = tid;
}

static void add_checkpoint(const struct lz_checkpoint *ck)
{
	for (uint32_t i = 0; i < ck->n_threads; i++) {
		const struct lz_thread_state *t = &ck->threads[i];
		add_thread(t->tid);
		if (!t->buffer || world.ring)
			continue;
		world.ring = t->buffer;
		world.pos = t->regs.fs_base + ck->pos_offset;
	}
	world.n_maps = 0;
	for (uint32_t i = 0; i < ck->n_vmas && world.n_maps < N_OF(world.map); i++)
		world.map[world.n_maps++] = ck->vmas[i].start;
}

bool world_read(void)
{
	struct lz_reader *r = lz_reader_open(".");
	uint32_t n = r ? lz_reader_n_checkpoints(r) : 0;

	memset(&world, 0, sizeof(world));
	for (uint32_t i = 0; i < n; i++) {
		const struct lz_checkpoint *ck = lz_reader_checkpoint(r, i);
		if (ck)
			add_checkpoint(ck);
		if (ck && !i)
			world.regs = ck->threads[0].regs;
	}
	if (n) {
		world.stub = lz_reader_meta(r)->stub_addr;
		world.stub_len = lz_reader_meta(r)->stub_len;
		world.n_files = lz_reader_n_files(r);
		world.first = lz_reader_first_marker(r);
		add_places(r);
	}
	lz_reader_close(r);
	return world.n_places && world.n_maps;
}

uint64_t value_ours(void)
{
	const uint64_t ours[] = {
	    world.stub,
	    world.stub,
	    world.stub,
	    world.stub,
	    world.stub + 64, /* where names are put */
	    world.stub + LZ_PAGE - 1,
	    world.stub + world.stub_len - 1,
	    world.stub - 1,
	    world.stub - LZ_PAGE, /* a range runs into it */
	    world.ring,
	    world.ring + LZ_BUFFER_GUARD,
	    lz_ring_of(world.ring) + LZ_RING_SIZE - 1,
	    world.pos,
	    STUB_FIRST,
	    STUB_ELSEWHERE,
	};
	return ours[pick(N_OF(ours))];
}

uint64_t value_place(void)
{
	return world.place[pick(world.n_places)].addr;
}

uint64_t value_offset(uint32_t file, uint64_t size)
{
	uint32_t found = 0, which = 0;

	for (uint32_t i = 0; i < world.n_places; i++)
		if (world.place[i].file == file && !pick(++found))
			which = i;
	return found ? world.place[which].offset : pick((uint32_t)size);
}

static uint64_t of_program(void)
{
	uint64_t map = world.map[pick(world.n_maps)];

	switch (pick(4)) {
	case 0: return value_place();
	case 1: return world.regs.rsp - pick(8 * LZ_PAGE);
	case 2: return map - 1;
	default: return map + pick(LZ_PAGE);
	}
}

uint64_t value_address(void)
{
	static const uint64_t bad[] = {
	    0,
	    1,
	    LZ_PAGE - 1,
	    UINT64_MAX,
	    UINT64_MAX - LZ_PAGE + 1,
	    0xffffffffff600000, /* the kernel's page of calls */
	    0xffffffff81000000,
	    0xffff888000000000,
	    0x0000800000000000, /* not canonical */
	    0x8000000000000000,
	    0x00007ffffffff000, /* the last page, which cannot be had */
	    0x00007fffffffffff,
	    0x0000555555554000,
	    UINT32_MAX,
	};
	uint32_t how = pick(8);

	return how < 4 ? value_ours() : how < 6 ? bad[pick(N_OF(bad))] : of_program();
}

uint64_t value_length(void)
{
	static const uint64_t lengths[] = {
	    0,
	    1,
	    LZ_PAGE - 1,
	    LZ_PAGE,
	    2 * LZ_PAGE,
	    1ull << 31,
	    1ull << 32,
	    1ull << 40,
	    1ull << 46,
	    1ull << 47,
	    (1ull << 47) - LZ_PAGE,
	    1ull << 62,
	    1ull << 63,
	    UINT64_MAX,
	    -4096ull,
	    LZ_RING_SIZE,
	};
	return pick(4) ? lengths[pick(N_OF(lengths))] : -value_ours();
}

uint64_t value_number(uint64_t old)
{
	switch (pick(10)) {
	case 0: return 0;
	case 1: return UINT64_MAX;
	case 2: return UINT32_MAX;
	case 3: return 1ull << 63;
	case 4: return 1ull << pick(64);
	case 5: return old + 1;
	case 6: return old - 1;
	case 7: return old ^ 1ull << pick(64);
	case 8: return pick(1000);
	default: return value_address();
	}
}

const char *value_text(void)
{
	static char longest[5000];
	static const char *const texts[] = {
	    "",
	    ".",
	    "..",
	    "/",
	    "/etc/passwd",
	    "/dev/zero",
	    "/proc/self/mem",
	    "../../../../../../etc/passwd",
	    "-iex=shell touch owned",
	    "--args",
	    "|touch owned",
	    "$(touch owned)",
	    "`touch owned`",
	    "'; touch owned; '",
	    "x\nshell touch owned",
	    "\033]0;owned\007",
	    "%n%n%s%s%s",
	    "0",
	    "-1",
	    "18446744073709551615",
	    "hash",
	    longest,
	};
	memset(longest, 'a', sizeof(longest) - 1);
	return texts[pick(N_OF(texts))];
}
