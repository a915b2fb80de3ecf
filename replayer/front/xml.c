/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/front/xml.h"

#include <common/base/printable.h>
#include <string.h>

void lz_put_xml(FILE *to, const char *text)
{
	char c[LZ_PRINTABLE];

	while (*text) {
		lz_printable(&text, "", c);
		if (strchr("<>&\"'", *c))
			fprintf(to, "&#%d;", *c);
		else
			fputs(c, to);
	}
}
