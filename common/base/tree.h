/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Directories with all that is in them. */
#ifndef LIZARD_TREE_H
#define LIZARD_TREE_H

/* Calls FN for each entry of the directory until it fails. Missing: nothing. */
int lz_each_entry(int at, const char *name, int (*fn)(int dirfd, const char *name, void *arg),
                  void *arg);
/* Removes the file, or the directory and all in it; links are not followed. ARG is not used. */
int lz_remove_at(int dirfd, const char *name, void *arg);
int lz_remove_tree(const char *path);
/* Removes what a failure has left, and keeps the error's text. */
void lz_undo_tree(const char *path);

#endif
