/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Relaxation of a 1000x1000 mesh: loops of floating point. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };
static double mesh[2][N][N];

static double relax(double from[N][N], double to[N][N])
{
	double change = 0;
	for (int y = 1; y < N - 1; y++)
		for (int x = 1; x < N - 1; x++) {
			double v =
			    (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]) / 4;
			double d = v - from[y][x];
			change += d < 0 ? -d : d;
			to[y][x] = v;
		}
	return change;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 300;
	double change = 0;
	for (int i = 0; i < N; i++)
		mesh[0][0][i] = mesh[1][0][i] = i % 100;
	for (int i = 0; i < rounds; i++)
		change = relax(mesh[i % 2], mesh[(i + 1) % 2]);
	printf("%.9f %.9f\n", change, mesh[rounds % 2][N / 4][N / 3]);
	return 0;
}
