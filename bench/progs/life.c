/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conway's life on a torus: branches that are hard to foretell. */
#include <stdio.h>
#include <stdlib.h>

enum { W = 512, H = 512 };
static unsigned char world[2][H][W];

static int neighbours(unsigned char w[H][W], int y, int x)
{
	int n = 0;
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++)
			if (dy || dx)
				n += w[(y + dy + H) % H][(x + dx + W) % W];
	return n;
}

static int generation(unsigned char from[H][W], unsigned char to[H][W])
{
	int alive = 0;
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			int n = neighbours(from, y, x);
			to[y][x] = n == 3 || (n == 2 && from[y][x]);
			if (to[y][x])
				alive++;
		}
	return alive;
}

/* The same soup anew from time to time, so that a long run stays as hard to foretell. */
static void soup(unsigned char w[H][W])
{
	unsigned x = 1;
	for (int i = 0; i < W * H; i++) {
		x = x * 1103515245 + 12345;
		w[i / W][i % W] = (x >> 16) % 3 == 0;
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 150;
	int alive = 0;
	for (int i = 0; i < rounds; i++) {
		if (i % 256 == 0)
			soup(world[0]);
		alive = generation(world[i % 2], world[(i + 1) % 2]);
	}
	printf("%d alive\n", alive);
	return 0;
}
