// SPDX-License-Identifier: BSD-2-Clause
// A counter and a region of the calling process that end by themselves, for C++11 and later.
#ifndef HWPMC_HH
#define HWPMC_HH

#include <libhwpmc.h>
#include <memory>
#include <stdexcept>
#include <string>

namespace hwpmc_example {

class counter {
	struct close { void operator()(struct hwpmc *h) const { hwpmc_close(h); } };

public:
	explicit counter(const std::string &event)
	{
		struct hwpmc *h = nullptr;

		if (hwpmc_open(&h) < 0)
			throw std::runtime_error(hwpmc_error(nullptr));
		handle.reset(h);
		if (hwpmc_open_counter(h, event.c_str(), HWPMC_MODE_TC, 0, 0, 0, &id) < 0 ||
		    hwpmc_start(h, id) < 0)
			throw std::runtime_error(hwpmc_error(h));
	}

	uint64_t read() const
	{
		uint64_t value;

		if (hwpmc_read(handle.get(), id, &value) < 0)
			throw std::runtime_error(hwpmc_error(handle.get()));
		return value;
	}

	struct hwpmc_region *new_region(const std::string &name) const
	{
		struct hwpmc_region *r = hwpmc_region_new(handle.get(), name.c_str(), &id, 1);

		if (!r)
			throw std::runtime_error(hwpmc_error(handle.get()));
		return r;
	}

private:
	std::unique_ptr<struct hwpmc, close> handle;
	uint32_t id = 0;
};

// Belongs to the thread that has made it.
class region {
	struct release { void operator()(struct hwpmc_region *r) const { hwpmc_region_free(r); } };

public:
	region(const counter &of, const std::string &name) : r(of.new_region(name)) {}

	// From here to the end of the block, also if that is left by an exception.
	class scope {
	public:
		explicit scope(region &of) : r(of.r.get()) { hwpmc_region_begin(r); }
		~scope() { hwpmc_region_end(r); }
		scope(const scope &) = delete;
		scope &operator=(const scope &) = delete;

	private:
		struct hwpmc_region *r;
	};

	hwpmc_region_stats stats() const
	{
		hwpmc_region_stats s;

		hwpmc_region_get(r.get(), 0, &s);
		return s;
	}

private:
	std::unique_ptr<struct hwpmc_region, release> r;
};

} // namespace hwpmc_example

#endif
