/* A pipe within one process; with an argument, a child has had it as well. */
#include <unistd.h>
#include <sys/wait.h>
static int got;
static volatile int made = 77;
int main(int argc, char **argv)
{
	int p[2], w;
	(void)!pipe(p);
	if (argc > 1 && !fork()) _exit(0);
	if (argc > 1) wait(&w);
	int v = made;
	(void)!write(p[1], &v, 4);
	(void)!read(p[0], &got, 4);
	return got != 77;
}
