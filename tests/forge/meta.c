/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of meta. */
#include "tests/forge/forge.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <common/recording/meta.h>
#include <lizard/marker.h>

#define M(member, kind) FIELD(struct lz_meta, member, kind)
static const struct field numbers[] = {
    M(stub_addr, ADDRESS),    M(stub_len, LENGTH),        M(tid, THREAD),
    M(cpu_number, NUMBER),    M(parent, NUMBER),          M(parent_event, NUMBER),
    M(parent_marker, NUMBER), M(chaos_seed, NUMBER),      M(start_time, NUMBER),
    M(duration_ns, NUMBER),   M(exit_status, NUMBER),     M(instrumented, NUMBER),
    M(n_events, NUMBER),      M(n_markers_bytes, NUMBER), M(n_checkpoints, NUMBER),
    M(state, SMALL),          M(stub_addr, ADDRESS),      M(stub_len, LENGTH),
};
static const struct field texts[] = {
    M(program, SMALL), M(build_id, SMALL), M(cwd, SMALL),         M(host, SMALL), M(kernel, SMALL),
    M(cpu, SMALL),     M(features, SMALL), M(became, SMALL),      M(flow, SMALL), M(stopped, SMALL),
    M(program, SMALL), M(became, SMALL),   M(hashed_from, SMALL),
};
static const struct field lists[] = {M(argv, SMALL), M(envp, SMALL), M(outside, SMALL),
                                     M(cpuid, SMALL)};

static void forge_text(struct lz_meta *m)
{
	const struct field *f = &texts[pick(N_OF(texts))];
	const char *text = value_text();

	memcpy((char *)m + f->offset, &text, sizeof(text));
	note("meta %s `%.60s`", f->name, text);
}

static void forge_list(struct lz_meta *m)
{
	static const char *list[3];
	static const char *const *const to = list;
	const struct field *f = &lists[pick(N_OF(lists))];

	for (uint32_t i = 0, n = pick(3); i < n; i++)
		list[i] = value_text();
	memcpy((char *)m + f->offset, &to, sizeof(to));
	note("meta %s `%.60s`", f->name, list[0] ? list[0] : "");
}

static bool write_meta(const struct lz_meta *m)
{
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool done = dir >= 0 && lz_meta_write(dir, m) == 0;

	if (dir >= 0)
		close(dir);
	return done;
}

bool forge_meta(void)
{
	struct lz_meta m;

	if (lz_meta_read(".", &m) < 0)
		return false;
	switch (pick(4)) {
	case 0: forge_text(&m); break;
	case 1: forge_list(&m); break;
	default: field_forge(&m, &numbers[pick(N_OF(numbers))], "meta");
	}
	return write_meta(&m);
}

bool ring_over_stub(const struct payload *code)
{
	note("%s as markers in a buffer over the stub", code->name);
	return markers_become(code) &&
	       checkpoint_buffer(world.stub, (uint64_t)(code->end - code->code));
}

bool meta_over_ring(const struct payload *code)
{
	struct lz_meta m;

	if (!world.ring || lz_meta_read(".", &m) < 0 || !markers_become(code) ||
	    !checkpoint_buffer(world.ring, (uint64_t)(code->end - code->code)))
		return false;
	m.stub_addr = world.ring;
	m.stub_len = LZ_BUFFER_SIZE;
	note("meta stub_addr and stub_len %#llx+%#llx, %s as markers",
	     (unsigned long long)m.stub_addr, (unsigned long long)m.stub_len, code->name);
	return write_meta(&m);
}

bool forge_ring(void)
{
	return pick(2) ? ring_over_stub(payload_pick()) : meta_over_ring(payload_pick());
}
