/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who the program is, and what it may do. */
#include "calls.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>

RECIPE(getuid)
{
	SEE(OK(getuid) == getuid());
}

RECIPE(geteuid)
{
	SEE(OK(geteuid) == geteuid());
}

RECIPE(getgid)
{
	SEE(OK(getgid) == getgid());
}

RECIPE(getegid)
{
	SEE(OK(getegid) == getegid());
}

/* root becomes somebody else, anybody may become himself. */
static long somebody(void)
{
	return geteuid() == 0 ? 1234 : (long)geteuid();
}

static long some_group(void)
{
	return geteuid() == 0 ? 2345 : (long)getegid();
}

RECIPE(setuid)
{
	long id = somebody();

	PRIV(setuid, id);
	SEE(getuid() == id);
}

RECIPE(setgid)
{
	long id = some_group();

	PRIV(setgid, id);
	SEE(getgid() == id);
}

RECIPE(setreuid)
{
	long id = somebody();

	PRIV(setreuid, id, -1);
	SEE(getuid() == id);
}

RECIPE(setregid)
{
	long id = some_group();

	PRIV(setregid, id, -1);
	SEE(getgid() == id);
}

RECIPE(setresuid)
{
	long id = somebody();

	PRIV(setresuid, -1, id, -1);
	SEE(geteuid() == id);
}

RECIPE(setresgid)
{
	long id = some_group();

	PRIV(setresgid, -1, id, -1);
	SEE(getegid() == id);
}

RECIPE(getresuid)
{
	unsigned *r = out(4), *e = out(4), *s = out(4);

	SEE(OK(getresuid, r, e, s) == 0 && *r == getuid() && *e == geteuid());
}

RECIPE(getresgid)
{
	unsigned *r = out(4), *e = out(4), *s = out(4);

	SEE(OK(getresgid, r, e, s) == 0 && *r == getgid() && *e == getegid());
}

RECIPE(setfsuid)
{
	long id = somebody();

	SEE(OK(setfsuid, id) == geteuid());
	SEE(setfsuid((uid_t)-1) == id);
}

RECIPE(setfsgid)
{
	long id = some_group();

	SEE(OK(setfsgid, id) == getegid());
	SEE(setfsgid((gid_t)-1) == id);
}

RECIPE(setgroups)
{
	gid_t g[3] = {5, 6, 7}, got[8];

	PRIV(setgroups, 3, g);
	SEE(getgroups(8, got) == 3 && got[2] == 7);
}

RECIPE(getgroups)
{
	gid_t g[3] = {5, 6, 7}, *got = out(64);

	bool set = setgroups(3, g) == 0;
	long n = OK(getgroups, 16, got);
	SEE(n == OK(getgroups, 0, NULL));
	if (set)
		SEE(n == 3 && got[1] == 6);
	if (n == 0)
		not_seen(0, "this user is in no further group");
}

struct cap_header {
	uint32_t version;
	int pid;
};

RECIPE(capget)
{
	struct cap_header *h = inout(&(struct cap_header){0}, 8);
	uint32_t *c = out(24);

	FAILS(EINVAL, capget, h, c); /* it says which version it would be */
	SEE(h->version == _LINUX_CAPABILITY_VERSION_3);
	SEE(OK(capget, h, c) == 0);
}

RECIPE(capset)
{
	struct cap_header *h = inout(&(struct cap_header){0}, 8);
	uint32_t c[6] = {0}, now[6] = {1};

	FAILS(EINVAL, capset, h, c); /* it says which version it would be */
	SEE(OK(capset, h, c) == 0);
	SEE(syscall(SYS_capget, h, now) == 0 && now[0] == 0);
}

static int ruleset(void)
{
	struct landlock_ruleset_attr a = {LANDLOCK_ACCESS_FS_MAKE_REG};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &a, sizeof(a), 0);

	if (fd < 0)
		skip("no landlock on this kernel");
	return fd;
}

RECIPE(landlock_create_ruleset)
{
	long r = SYS(landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	if (r == -EOPNOTSUPP)
		skip("no landlock on this kernel");
	SEE(r >= 1);
}

RECIPE(landlock_add_rule)
{
	int fd = ruleset();
	struct landlock_path_beneath_attr a = {LANDLOCK_ACCESS_FS_MAKE_REG, open(".", O_PATH)};

	SEE(OK(landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &a, 0) == 0);
}

RECIPE(landlock_restrict_self)
{
	int fd = ruleset();

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	SEE(OK(landlock_restrict_self, fd, 0) == 0);
	SEE(open("f", O_CREAT | O_RDWR, 0600) < 0 && errno == EACCES);
}

RECIPE(lsm_list_modules)
{
	uint64_t *ids = out(256);
	uint32_t *size = inout(&(uint32_t){256}, 4), *small = inout(&(uint32_t){0}, 4);

	long n = OK(lsm_list_modules, ids, size, 0);
	SEE(*size == (uint32_t)n * 8);
	if (n)
		FAILS(E2BIG, lsm_list_modules, ids, small, 0);
	else
		not_seen(0, "there are none");
}

RECIPE(lsm_get_self_attr)
{
	uint32_t *size = inout(&(uint32_t){512}, 4);
	long r = SYS(lsm_get_self_attr, 100 /* LSM_ATTR_CURRENT */, out(512), size, 0);

	if (r < 0)
		only_fails("no module here has such attributes"), not_seen(0, "none");
	SEE(r > 0 || r == -EOPNOTSUPP || r == -EINVAL);
}

RECIPE(lsm_set_self_attr)
{
	only_fails("no module is there for sure");
	SEE(SYS(lsm_set_self_attr, 100, NULL, 0, 0) < 0);
}
