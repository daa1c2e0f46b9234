// SPDX-License-Identifier: BSD-2-Clause
// throws.cc - exceptions through frames with destructors, without end: for unwind_same.
#include <stdexcept>
#include <string>
#include <vector>

struct counted {
	std::vector<std::string> words;
	~counted() { words.clear(); }
};

__attribute__((noinline)) static int down(int depth)
{
	counted c;

	c.words.push_back(std::to_string(depth));
	if (!depth)
		throw std::runtime_error(c.words.back());
	return down(depth - 1) + c.words.size();
}

int main()
{
	volatile unsigned long caught = 0;

	for (;;)
		try {
			down(20);
		} catch (const std::exception &e) {
			caught += e.what()[0];
		}
}
