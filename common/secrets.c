/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <common/secrets.h>

/* Of names, in either case: docs/man/lizard-trace.1 lists them. */
static const char *const names[] = {
    "*TOKEN*",      "*SECRET*",      "*PASSWORD*", "*PASSWD*",      "*PASSPHRASE*",
    "*_PASS",       "SSHPASS",       "*_PWD",      "*API_KEY*",     "*APIKEY*",
    "*ACCESS_KEY*", "*PRIVATE_KEY*", "*_KEY",      "*CREDENTIAL*",  "*COOKIE*",
    "*_AUTH",       "*AUTH_CONFIG*", "*_DSN",      "*DATABASE_URL", "*CONNECTION_STRING*",
};

/* https://user:password@host/ */
static bool has_password(const char *value)
{
	for (const char *p = value; (p = strstr(p, "://"));) {
		p += 3;
		const char *at = memrchr(p, '@', strcspn(p, "/?# \t"));
		if (at && memchr(p, ':', (size_t)(at - p)))
			return true;
	}
	return false;
}

bool lz_env_is_secret(const char *variable)
{
	const char *equals = strchr(variable, '=');
	bool found = false;
	char *name;

	if (!equals || equals == variable || strcmp(equals + 1, LZ_ENV_LEFT_OUT) == 0)
		return false;
	name = strndup(variable, (size_t)(equals - variable));
	for (size_t i = 0; name && !found && i < sizeof(names) / sizeof(names[0]); i++)
		found = fnmatch(names[i], name, FNM_CASEFOLD) == 0;
	found |= !name;
	free(name);
	return found || has_password(equals + 1);
}
