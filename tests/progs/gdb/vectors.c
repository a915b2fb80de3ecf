/* Inlined functions of several files: rows of one address that the files share. */
#include <stdio.h>
#include <emmintrin.h>
#include <tmmintrin.h>

static const char shifts[31] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
static char text[64] = "words, and more words; then some.";

static inline __m128i shift_right(__m128i value, unsigned long n)
{
	return _mm_shuffle_epi8(value, _mm_loadu_si128((const __m128i *)(shifts + n)));
}

static __attribute__((noinline)) int zeros(const char *p, unsigned n)
{
	__m128i v = _mm_load_si128((const __m128i *)text), zero = _mm_setzero_si128();

	if (n) {
		v = shift_right(v, n);
		if (_mm_movemask_epi8(_mm_cmpeq_epi8(v, zero)) >> n)
			return n;
		v = _mm_loadu_si128((const __m128i *)(p + n));
	}
	return _mm_movemask_epi8(_mm_cmpeq_epi8(v, zero));
}

int main(void)
{
	int sum = 0;

	for (unsigned i = 0; i < 40; i++)
		sum += zeros(text + i / 2, i % 16);
	printf("%d\n", sum);
	return 0;
}
