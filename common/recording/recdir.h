/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where recordings live: making a new one's directory. */
#ifndef LIZARD_RECDIR_H
#define LIZARD_RECDIR_H

/* The user's home directory. Services and containers may have none in the environment. NULL:
 * lz_error(). */
const char *lz_home(void);
/* mkdir -p, mode 0700 for what is missing. */
int lz_make_dirs(const char *path);
/* As mkdir(), mode 0700, for what will have many recordings. ext4 is told that they are not related, and does
 * not put all of them into one group of inodes: without a journal it looks at each inode there that was freed in
 * the last five minutes, for each new one. */
int lz_make_spread(const char *dir);
/* Makes DIR, which must not exist or be empty. */
int lz_recdir_make(const char *dir);
/* Makes the next free PROG-N below lz_recordings_dir(); returns its path, malloced. */
char *lz_recdir_next(const char *program);
/* N of the newest PROG-N there, 0 if there is none. */
unsigned long lz_recdir_highest(const char *dir, const char *prog);
/* The newest PROG-N there that is of the file PROGRAM: by its build-id, else by its path. NULL: none
 * is. malloced. */
char *lz_recdir_match(const char *dir, const char *program);
/* Says that the recording DIR is of another program of that name. */
void lz_recdir_tell_other(const char *dir, const char *program);
/* Points PROG-latest beside DIR at it. */
int lz_recdir_latest(const char *dir, const char *program);

/* The folders of the recording that DIRFD is are its own: none is a link to somebody else's. */
int lz_recdir_check(int dirfd);

#endif
