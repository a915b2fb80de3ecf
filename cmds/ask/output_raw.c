/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cmds/ask/output_raw.h>
#include <lizard/error.h>
#include <stdio.h>

int lz_output_raw(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	return fwrite(bytes, 1, n, stdout) == n ? 0 : lz_fail_errno("the output cannot be written");
}
