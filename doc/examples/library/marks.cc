// SPDX-License-Identifier: BSD-2-Clause
// Marks in C++, which end with their block, also by an exception:
//	c++ -O2 marks.cc $(pkg-config --cflags --libs libhwpmc) -o marks
//	hwpmc stat --markers -e instructions:u ./marks
#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include <hwpmc_mark.h>

class mark {
public:
	explicit mark(const char *what) : name(what) { hwpmc_mark_begin(name); }
	~mark() { hwpmc_mark_end(name); }
	mark(const mark &) = delete;
	mark &operator=(const mark &) = delete;

private:
	const char *name;
};

static void work(uint64_t n)
{
	mark here("work");

	for (uint64_t i = 0; i < n; i++)
		__asm__ __volatile__("" : "+r"(i));
	if (n % 2)
		throw std::runtime_error("odd");
}

int main()
{
	int odd = 0;

	for (uint64_t i = 0; i < 100; i++) {
		try {
			work(1000 + i % 2);
		} catch (const std::exception &) {
			odd++;
		}
	}
	std::printf("%d odd\n", odd);
	return 0;
}
