/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LIZARD_REPLAYER_XML_H
#define LIZARD_REPLAYER_XML_H

#include <stdio.h>

/* TEXT, from a recording, within quotes of XML that a debugger reads and shows. */
void lz_put_xml(FILE *to, const char *text);

#endif
