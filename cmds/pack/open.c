/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed recordings that are opened in place of recordings: unpacked among them once. */
#include "cmds/pack/pack.h"

#include <common/base/cleanup.h>
#include <common/base/filecopy.h>
#include <common/base/print.h>
#include <common/recording/recdir.h>
#include <common/base/tree.h>
#include <common/base/work.h>
#include <dirent.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <lizard/recording.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int checksum(const char *path, uint32_t *crc)
{
	lz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct lz_work work;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return lz_fail_errno("cannot read %s", path);
	lz_work_begin(&work, "reading the packed recording", (uint64_t)st.st_size);
	int rc = lz_file_crc(fd, crc, &work);

	lz_work_end(&work);
	return rc;
}

struct opening {
	const char *path;
	char *all; /* where recordings are */
	uint32_t crc;
	uint64_t limit;
};

/* Among the recordings, for NAME. malloced. */
static char *place_for(const struct opening *o, const char *name, size_t len)
{
	char *dir = NULL;

	if (asprintf(&dir, "%s/%.*s.%08x", o->all, (int)len, name, o->crc) < 0) {
		lz_fail("no memory");
		return NULL;
	}
	return dir;
}

static bool is_recording(const char *dir)
{
	lz_auto_free char *meta = NULL;

	return asprintf(&meta, "%s/meta", dir) >= 0 && access(meta, F_OK) == 0;
}

static int move_there(const char *part, const char *dir)
{
	if (access(dir, F_OK) == 0 || rename(part, dir) == 0 || access(dir, F_OK) == 0)
		return 0;
	return lz_fail_errno("cannot rename %s", part);
}

/* One of several, from the folder PART to its place, which is added to DIRS. A link to it stays. */
static int move_one(const struct opening *o, const char *part, const char *name,
                    struct lz_names *dirs)
{
	lz_auto_free char *dir = place_for(o, name, strlen(name)), *from = NULL, *to = NULL;

	if (!dir || asprintf(&from, "%s/%s", part, name) < 0 ||
	    asprintf(&to, "..%s", strrchr(dir, '/')) < 0)
		return -1;
	if (move_there(from, dir) < 0)
		return -1;
	lz_undo_tree(from);
	if (symlink(to, from) < 0)
		return lz_fail_errno("cannot make the link %s", from);
	return lz_names_add(dirs, dir);
}

/* Unpacked beside DIR and then renamed, so that what is there is whole. Of several recordings, DIR
 * becomes a folder of links to them. */
static int unpack_beside(const struct opening *o, const char *dir, struct lz_names *dirs)
{
	lz_auto_free char *part = NULL;
	struct lz_names names = {0};
	int rc;

	if (asprintf(&part, "%s.part-%d", dir, (int)getpid()) < 0)
		return lz_fail("no memory");
	rc = lz_pack_read(o->path, part, o->limit, &names);
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = move_one(o, part, names.v[i], dirs);
	if (rc == 0)
		rc = move_there(part, dir);
	if (rc == 0 && !names.n)
		rc = lz_names_add(dirs, dir);
	lz_undo_tree(part);
	lz_names_free(&names);
	return rc;
}

/* The recordings to which there are links in DIR. 1: not all of them are there any more. */
static int add_linked(const struct opening *o, const char *dir, struct lz_names *dirs)
{
	struct dirent **v;
	int n = scandir(dir, &v, NULL, alphasort), rc = n < 0 ? 1 : 0;

	for (int i = 0; i < n; i++) {
		lz_auto_free char *place = place_for(o, v[i]->d_name, strlen(v[i]->d_name));

		if (rc == 0 && v[i]->d_name[0] != '.')
			rc = !place ? -1 : is_recording(place) ? lz_names_add(dirs, place) : 1;
		free(v[i]);
	}
	if (n >= 0)
		free(v);
	return rc;
}

static int open_at(const struct opening *o, const char *dir, struct lz_names *dirs)
{
	int rc;

	if (is_recording(dir))
		return lz_names_add(dirs, dir);
	rc = add_linked(o, dir, dirs);
	if (rc <= 0)
		return rc;
	lz_names_free(dirs);
	lz_undo_tree(dir);
	return unpack_beside(o, dir, dirs);
}

int lz_pack_open(const char *path, uint64_t limit, struct lz_names *dirs)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	lz_auto_free char *all = lz_recordings_dir(), *dir = NULL;
	struct opening o = {.path = path, .all = all, .limit = limit};
	int rc = all ? lz_make_dirs(all) : -1;

	if (rc == 0)
		rc = checksum(path, &o.crc);
	if (rc == 0)
		dir = place_for(&o, base, strcspn(base, "."));
	return rc == 0 && dir ? open_at(&o, dir, dirs) : -1;
}

/* ---- what a command was given ---- */

/* Does the name of the recording DIR begin with NAME, and end with a checksum? */
static bool is_named(const char *dir, const char *name)
{
	const char *base = strrchr(dir, '/') + 1;
	size_t len = strlen(name);

	return strncmp(base, name, len) == 0 && base[len] == '.' && strlen(base + len) == 9;
}

static int say_several(const char *path, const struct lz_names *dirs)
{
	lz_auto_free char *list = NULL;
	size_t len;
	FILE *to = open_memstream(&list, &len);

	for (size_t i = 0; to && i < dirs->n; i++) {
		const char *base = strrchr(dirs->v[i], '/') + 1;

		lz_print(to, "%s%.*s", i ? ", " : "", (int)strlen(base) - 9, base);
	}
	if (to)
		fclose(to);
	return lz_fail("%s holds several recordings: name one of them as FILE/NAME (%s)", path,
	               list ? list : "");
}

/* NAME: of several, or NULL. malloced. */
static char *open_one(const char *path, const char *name)
{
	struct lz_names dirs = {0};
	char *found = NULL;

	if (lz_pack_open(path, LZ_PACK_LIMIT, &dirs) == 0) {
		for (size_t i = 0; name && !found && i < dirs.n; i++)
			if (is_named(dirs.v[i], name))
				found = strdup(dirs.v[i]);
		if (!name && dirs.n == 1)
			found = strdup(dirs.v[0]);
		if (!found)
			say_several(path, &dirs);
	}
	lz_names_free(&dirs);
	return found;
}

char *lz_find(const char *what)
{
	const char *slash = strrchr(what, '/');
	lz_auto_free char *file = slash ? strndup(what, (size_t)(slash - what)) : NULL;

	if (lz_pack_is(what))
		return open_one(what, NULL);
	if (file && *file && slash[1] && lz_pack_is(file))
		return open_one(file, slash + 1);
	return lz_recording_find(what);
}
