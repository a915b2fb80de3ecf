/* Functions that are looked up at their first call, with vectors for arguments. */
#include "lazy.h"

#define LAZY(n)                                                                                    \
	VECTOR vector lazy_##n(vector a, vector b)                                                 \
	{                                                                                          \
		return a * b + n;                                                                  \
	}
LAZY_ALL
