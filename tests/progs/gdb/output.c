/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes lines in one piece, in several pieces, byte by byte and by writev, to standard output and error and to a file
 * with descriptor 7, from two threads. output FILE [ROUNDS] */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile long ticks;
static char noise[1 << 16]; /* the recording has to become large */

static void put(int fd, const char *text)
{
	write(fd, text, strlen(text));
}

static void in_pieces(int i)
{
	char number[32];

	sprintf(number, "%d", i);
	put(1, "item ");
	put(2, "error: item ");
	put(1, number);
	put(2, i % 2 ? "odd" : "even");
	put(1, " in pieces\n");
	put(2, "\n");
}

static void by_bytes(int i)
{
	char text[32];

	sprintf(text, "item %d bytes\n", i);
	for (char *c = text; *c; c++)
		write(1, c, 1);
}

static void by_vectors(int i)
{
	char number[32];

	sprintf(number, "%d", i);
	struct iovec v[] = {{"item ", 5}, {number, strlen(number)}, {" vectors\nitem next", 18}};
	writev(1, v, 3);
	put(1, " line\n");
}

static void *thread(void *unused)
{
	put(1, "item of a thread\n");
	return unused;
}

int main(int argc, char **argv)
{
	const int rounds = argc > 2 ? atoi(argv[2]) : 1;
	const int random = open("/dev/urandom", O_RDONLY);
	pthread_t other;
	char text[64];

	dup2(open(argv[1], O_CREAT | O_TRUNC | O_WRONLY, 0600), 7);
	for (int i = 0; i < rounds; i++) {
		read(random, noise, sizeof(noise));
		in_pieces(4 * i);
		by_bytes(4 * i + 1);
		by_vectors(4 * i + 2);
		pthread_create(&other, NULL, thread, NULL);
		pthread_join(other, NULL);
		sprintf(text, "error %d\nlast of\n", 4 * i + 3);
		put(7, text);
		for (int k = 0; k < 1000000; k++)
			ticks++;
	}
	put(2, "at the end: no line");
	return 0;
}
