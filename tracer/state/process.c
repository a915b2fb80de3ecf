/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes by their id, and the CPUs for what is not one of the program's. */
#include "tracer/state/process.h"

#include "tracer/state/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

/* NSpid: one number for each PID namespace, its own one last. */
static pid_t last_number(const char *line)
{
	const char *last = strrchr(line, '\t');

	return last ? atoi(last) : 0;
}

struct lz_process_status lz_process_status(pid_t pid)
{
	struct lz_process_status s = {0};
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (!strchr("STN", *line))
			continue;
		sscanf(line, "State: %c", &s.state);
		sscanf(line, "TracerPid: %d", &s.tracer);
		if (strncmp(line, "NSpid:", 6) == 0)
			s.own_pid = last_number(line);
		sscanf(line, "SigBlk: %" SCNx64, &s.blocked);
	}
	if (f)
		fclose(f);
	return s;
}

bool lz_is_parked(pid_t pid)
{
	const uint64_t never = 1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1);
	struct lz_process_status s = lz_process_status(pid);

	return s.state && !s.tracer && (s.blocked | never) == UINT64_MAX;
}

int lz_seize(pid_t pid)
{
	unsigned long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
	                        PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT |
	                        PTRACE_O_EXITKILL;

	if (ptrace(PTRACE_SEIZE, pid, 0, options) < 0)
		return lz_cannot_trace(pid);
	return 0;
}

void lz_other_cpus(const struct lz_tracer *t, cpu_set_t *cpus)
{
	const cpu_set_t *given = &t->borrowed.given;

	*cpus = *given;
	CPU_CLR(t->borrowed.cpu, cpus);
	if (!CPU_COUNT(cpus))
		*cpus = *given;
}

uint64_t lz_scratch(const struct lz_tracer *t, struct lz_proc *c)
{
	const uint64_t at = t->meta.stub_addr + LZ_STUB_SCRATCH;
	struct user_regs_struct r;
	uint8_t byte;

	if (lz_proc_read_some(c, at, &byte, 1) == 1)
		return at;
	/* another program has just begun: nothing is below its stack yet */
	return lz_proc_regs(c, &r) < 0 ? 0 : (r.rsp - 1024) & ~15ULL;
}
