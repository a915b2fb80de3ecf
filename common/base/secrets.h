/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variables of the environment that look secret, by their names. */
#ifndef LIZARD_SECRETS_H
#define LIZARD_SECRETS_H

#include <stdbool.h>

/* What a recording has in place of the value. */
#define LZ_ENV_LEFT_OUT "(left out)"

/* VARIABLE: NAME=VALUE. Not one whose value is left out already. */
bool lz_env_is_secret(const char *variable);

#endif
