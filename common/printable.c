#include <common/printable.h>
#include <string.h>

static unsigned control(const unsigned char *s)
{
	if (s[0] < 32 || s[0] == 127)
		return 1;
	return s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0 ? 2 : 0;
}

unsigned lz_printable(const char **s, const char *keep, char out[LZ_PRINTABLE])
{
	unsigned n = control((const unsigned char *)*s), len = 0;

	if (!n || strchr(keep, **s)) {
		out[0] = *(*s)++;
		out[1] = 0;
		return 1;
	}
	while (n--)
		len += (unsigned)snprintf(out + len, LZ_PRINTABLE - len, "\\x%02x",
		                          (unsigned char)*(*s)++);
	return len;
}

void lz_put_printable(FILE *to, const char *s, const char *keep)
{
	char c[LZ_PRINTABLE];

	while (*s) {
		lz_printable(&s, keep, c);
		fputs(c, to);
	}
}

void lz_copy_printable(char *to, size_t size, const char *s, const char *keep)
{
	char c[LZ_PRINTABLE];
	unsigned len;

	for (; *s && (len = lz_printable(&s, keep, c)) < size; size -= len, to += len)
		memcpy(to, c, len);
	*to = 0;
}
