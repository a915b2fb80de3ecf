/* Calls getpid through the 32-bit gate, where it has another number. Ends with 0 if it was made, 1 if it gave ENOSYS. */
#include <errno.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0; i < 3; i++) {
		long result = 20, other = 0x1234567890;

		__asm__ volatile("int $0x80" : "+a"(result), "+c"(other) : : "memory");
		if (other != 0x1234567890)
			return 2;
		if (result != getpid())
			return result == -ENOSYS ? 1 : 3;
	}
	return 0;
}
