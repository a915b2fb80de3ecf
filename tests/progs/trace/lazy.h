#include <immintrin.h>

#ifdef WIDE
#define VECTOR __attribute__((target("avx"), noinline))
typedef double vector __attribute__((vector_size(32)));
#else
#define VECTOR __attribute__((noinline))
typedef double vector __attribute__((vector_size(16)));
#endif

#define LAZY_ALL                                                                                   \
	LAZY(0)                                                                                    \
	LAZY(1) LAZY(2) LAZY(3) LAZY(4) LAZY(5) LAZY(6) LAZY(7) LAZY(8) LAZY(9) LAZY(10) LAZY(11)  \
	    LAZY(12) LAZY(13) LAZY(14) LAZY(15) LAZY(16) LAZY(17) LAZY(18) LAZY(19)
