/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classic BPF as seccomp(2) has it: one program judges one system call. Pure. */
#ifndef LIZARD_TRACER_BPF_H
#define LIZARD_TRACER_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	LZ_BPF_MOST = 4096, /* instructions */
	/* The parts of a call that its number and its gate decide: nr and arch. */
	LZ_BPF_NUMBER = 8
};

/* Would the kernel take it? N is 1 to LZ_BPF_MOST. */
bool lz_bpf_valid(const struct sock_filter *code, unsigned n);
/* *RET: what it says of the call D, of which the first KNOWN bytes are known. False: it depends on
 * the others. CODE is valid. */
bool lz_bpf_run(const struct sock_filter *code, const struct seccomp_data *d, unsigned known,
                uint32_t *ret);

#endif
