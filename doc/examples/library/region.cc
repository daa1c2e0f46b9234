// SPDX-License-Identifier: BSD-2-Clause
// Measure a block of C++:
//	c++ -O2 region.cc $(pkg-config --cflags --libs libhwpmc)
#include <cstdio>
#include <exception>

#include "hwpmc.hh"

static uint64_t work(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		sum += i;
		__asm__ __volatile__("" : "+r"(sum));
	}
	return sum;
}

int main()
try {
	hwpmc_example::counter instructions("instructions:u");
	hwpmc_example::region region(instructions, "work");

	for (int i = 0; i < 100; i++) {
		hwpmc_example::region::scope here(region);

		work(1000);
	}
	const hwpmc_region_stats s = region.stats();
	std::printf("work: %llu times, median %llu instructions, from %llu to %llu\n",
		    static_cast<unsigned long long>(s.count),
		    static_cast<unsigned long long>(s.median),
		    static_cast<unsigned long long>(s.min),
		    static_cast<unsigned long long>(s.max));
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "%s\n", e.what());
	return 1;
}
