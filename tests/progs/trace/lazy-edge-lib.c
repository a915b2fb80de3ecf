#include "lazy-edge.h"

#define EDGE(n)                                                                                                                \
	int edge_##n(int x) { return x + n; }
EDGE_ALL
