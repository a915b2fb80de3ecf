/* Inlined calls on lines past 65,535, where GDB 13 takes them for calls on other lines. */
#line 70001
struct page {
	int extra, *data;
};

static int buf[8];

static inline __attribute__((always_inline)) int *extra_of(struct page *p)
{
	__asm__ volatile("nop");
	return p->data + p->extra;
}

static inline __attribute__((always_inline)) int checked(int *p, int n)
{
	__asm__ volatile("nop");
	if (p == buf + 7)
		return 0;
	return *p + n;
}

int main(void)
{
	struct page page = {0, buf};
	int sum = 0;
	for (int i = 0; i < 60; i++) {
		int *at;
		page.extra = i & 7;
		__asm__ volatile("nop"); at = extra_of(&page);
		*at += i;
		__asm__ volatile("nop"); sum += checked(at, i);
	}
	return sum == 0;
}
