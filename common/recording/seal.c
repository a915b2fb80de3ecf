/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <nettle/hmac.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/base/cleanup.h>
#include <common/recording/recdir.h>
#include <common/recording/seal.h>
#include <lizard/error.h>

enum { KEY_LEN = 32 };

/* ---- the key ---- */

/* The folder for what programs keep of a user, below which it is. */
static char *key_folder(void)
{
	const char *state = getenv("XDG_STATE_HOME");
	const bool given = state && *state == '/';
	const char *home = given ? state : lz_home();
	char *path;

	if (!home)
		return NULL;
	if (asprintf(&path, "%s/%s", home, given ? "lizard" : ".local/state/lizard") >= 0)
		return path;
	lz_fail("no memory");
	return NULL;
}

static int check_key(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_mode & 077 || st.st_size != KEY_LEN)
		return lz_fail("%s is no key of yours alone: remove it", path);
	return 0;
}

/* 1: there is none. */
static int read_key(const char *path, uint8_t key[KEY_LEN])
{
	lz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return errno == ENOENT ? 1 : lz_fail_errno("cannot open %s", path);
	if (check_key(fd, path) < 0)
		return -1;
	return read(fd, key, KEY_LEN) == KEY_LEN ? 0 : lz_fail("%s cannot be read", path);
}

static int write_key(const char *path)
{
	uint8_t key[KEY_LEN];
	lz_auto_close int fd =
	    open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return lz_fail_errno("cannot make %s", path);
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return lz_fail_errno("no random numbers");
	return write(fd, key, sizeof(key)) == sizeof(key) ? 0
	                                                  : lz_fail_errno("cannot write %s", path);
}

/* Of several processes that make one, the first one's stays. */
static int make_key(const char *folder, const char *path)
{
	lz_auto_free char *own = NULL;

	if (lz_make_dirs(folder) < 0)
		return -1;
	if (asprintf(&own, "%s.%d", path, getpid()) < 0)
		return lz_fail("no memory");
	unlink(own);
	int rc = write_key(own);
	if (rc == 0 && link(own, path) < 0 && errno != EEXIST)
		rc = lz_fail_errno("cannot make %s", path);
	unlink(own);
	return rc;
}

static int find_key(uint8_t key[KEY_LEN])
{
	lz_auto_free char *folder = key_folder(), *path = NULL;

	if (!folder)
		return -1;
	if (asprintf(&path, "%s/index-key", folder) < 0)
		return lz_fail("no memory");
	int rc = read_key(path, key);
	if (rc > 0 && make_key(folder, path) == 0)
		rc = read_key(path, key);
	return rc ? -1 : 0;
}

/* ---- the seal ---- */

int lz_seal(const char *name, const uint8_t *bytes, size_t len, uint8_t seal[LZ_SEAL_LEN])
{
	struct hmac_sha256_ctx mac;
	uint8_t key[KEY_LEN];

	if (find_key(key) < 0)
		return -1;
	hmac_sha256_set_key(&mac, sizeof(key), key);
	hmac_sha256_update(&mac, strlen(name) + 1, (const uint8_t *)name);
	hmac_sha256_update(&mac, len, bytes);
	hmac_sha256_digest(&mac, LZ_SEAL_LEN, seal);
	explicit_bzero(key, sizeof(key));
	explicit_bzero(&mac, sizeof(mac));
	return 0;
}
