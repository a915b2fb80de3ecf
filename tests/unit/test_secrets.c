/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which variables of the environment look secret. */
#include "tests/unit/suite.h"

#include <check.h>
#include <common/base/secrets.h>

START_TEST(secrets)
{
	static const char *const secret[] = {
	    "GITHUB_TOKEN=x",
	    "npm_config__authToken=x",
	    "SECRET=x",
	    "MY_SECRETS=x",
	    "DB_PASSWORD=x",
	    "db_passwd=x",
	    "KEY_PASSPHRASE=x",
	    "MAIL_PASS=x",
	    "SSHPASS=x",
	    "MYSQL_PWD=x",
	    "OPENAI_API_KEY=x",
	    "apikey=x",
	    "X_ACCESS_KEY_ID=x",
	    "PRIVATE_KEY_PEM=x",
	    "STRIPE_KEY=x",
	    "CREDENTIALS=x",
	    "COOKIE_JAR=x",
	    "NPM_AUTH=x",
	    "DOCKER_AUTH_CONFIG=",
	    "SENTRY_DSN=x",
	    "DATABASE_URL=x",
	    "STORAGE_CONNECTION_STRING=x",
	    "AWS_ACCESS_KEY_ID=x",
	    "AZURE_STORAGE_KEY=x",
	    "http_proxy=http://u:p@h/",
	    "A=b://c d://e:f@g",
	};
	static const char *const open_ones[] = {
	    "PATH=/bin",       "PWD=/",        "OLDPWD=/",           "HOME=/root",
	    "SSH_AUTH_SOCK=/", "KEYBOARD=us",  "XAUTHORITY=/x",      "TERM=a:b@c",
	    "TOKEN",           "=TOKEN=x",     "API_KEY=(left out)", "U=http://h:80/a@b",
	    "V=http://u@h/",   "COLUMNS=80",   "MONKEY=1",           "S=a://",
	    "AWS_CA_BUNDLE=/", "AWS_REGION=x",
	};

	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
		ck_assert_msg(lz_env_is_secret(secret[i]), "%s", secret[i]);
	for (size_t i = 0; i < sizeof(open_ones) / sizeof(open_ones[0]); i++)
		ck_assert_msg(!lz_env_is_secret(open_ones[i]), "%s", open_ones[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("secrets");
	TCase *tc = tcase_create("secrets");

	tcase_add_test(tc, secrets);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
