/* A handler prints while a line is being printed: the lines are mixed up. */
#include "rings.h"

static char text[1 << 16];
static FILE *out;

static void on_signal(int signo)
{
	if (rung < 200)
		fputs("[signal]\n", out);
	rung++;
}

static void prints(void)
{
	for (int i = 0; i < 400; i++)
		fprintf(out, "<%d %d %d>\n", i, i * 2, i * 3);
}

int main(void)
{
	int wrong = 0;

	out = fmemopen(text, sizeof(text), "w");
	setvbuf(out, NULL, _IOFBF, sizeof(text));
	rung_at(on_signal, prints);
	fclose(out);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		wrong |= !((line[0] == '<' && line[strlen(line) - 1] == '>' && !strchr(line, '[')) ||
		           !strcmp(line, "[signal]"));
	return wrong;
}
