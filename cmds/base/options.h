/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LIZARD_CMDS_OPTIONS_H
#define LIZARD_CMDS_OPTIONS_H

#include <getopt.h>

/* As getopt_long(). A word that is no option is shown as text: it may be the name of a file,
 * which a shell has put there for `*`. */
int lz_option(int argc, char **argv, const char *letters, const struct option *longs);

#endif
