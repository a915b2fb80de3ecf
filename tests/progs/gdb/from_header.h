/* Inlined into lines of another file. */
static inline void bump(volatile int *v)
{
	*v += 3;
	*v ^= 5;
}
