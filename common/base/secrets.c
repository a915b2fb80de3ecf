/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <common/base/secrets.h>

/* Of names, in either case: docs/man/lizard-trace.1 lists them. */
static const char *const names[] = {
    "*TOKEN*",      "*SECRET*",      "*PASSWORD*", "*PASSWD*",      "*PASSPHRASE*",
    "*_PASS",       "SSHPASS",       "*_PWD",      "*API_KEY*",     "*APIKEY*",
    "*ACCESS_KEY*", "*PRIVATE_KEY*", "*_KEY",      "*CREDENTIAL*",  "*COOKIE*",
    "*_AUTH",       "*AUTH_CONFIG*", "*_DSN",      "*DATABASE_URL", "*CONNECTION_STRING*",
};

/* Unlike fnmatch(), which asks the locale: this is done for each process that is recorded. */
static bool matches(const char *pattern, const char *name, size_t len)
{
	const bool before = pattern[0] == '*', after = pattern[strlen(pattern) - 1] == '*';
	const size_t n = strlen(pattern) - before - after;

	if (len < n)
		return false;
	if (before && after)
		return memmem(name, len, pattern + 1, n) != NULL;
	return (before || len == n) && memcmp(name + len - n, pattern + before, n) == 0;
}

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
	const size_t len = (size_t)(equals - variable);
	name = strndup(variable, len);
	for (size_t i = 0; name && i < len; i++)
		name[i] = (char)toupper((unsigned char)name[i]);
	for (size_t i = 0; name && !found && i < sizeof(names) / sizeof(names[0]); i++)
		found = matches(names[i], name, len);
	found |= !name;
	free(name);
	return found || has_password(equals + 1);
}
