/* SPDX-License-Identifier: MIT
 * See sizes.h. */
#include "sizes.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <weir/weir.h>
#include "account.h"
#include "machine.h"
#include "sets/weir_filter.h"
#include "work.h"

namespace bench {
namespace {

constexpr size_t least_beyond = size_t(64) << 20;
constexpr size_t probed = size_t(16) << 20;
/* The cost of a key in a filter that fits no cache, divided by its cost in the probed filter. */
constexpr double beyond_caches = 1.7;

/* Return: the seconds that all CPUs need to fill one byte of a large filter and look up its keys.
 * The function measures CPU time, so that other programs do not change the sizes. */
double seconds_a_byte()
{
	size_t n = keys_for(probed);
	double began = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	Work work(weir_layout(WeirFilter::params_of(n, 0.01, WEIR_BLOCKED)), n);
	work.fill(0.01, 0);
	double took = (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began) * 1e-9 /
	              static_cast<double>(allowed_cpus().size());
	return took * beyond_caches / static_cast<double>(probed);
}

/* Return: the bytes of the L2, or a common size if the machine does not say. */
size_t l2_bytes()
{
	size_t known = cache_bytes(2);
	return known ? known : size_t(1) << 20;
}

/* Return: the level of the memory hierarchy for which a filter of @bytes counts. A filter of less
 * than twice the largest cache still counts for the L3. */
const char *place_of(size_t bytes, const Room &room)
{
	return bytes <= room.l2                          ? "L2" :
	       bytes < 2 * std::max(room.l2, room.l3) ? "L3" :
	                                                "memory";
}

} // namespace

std::vector<Size> sizes_of(const Room &room, double seconds, double each)
{
	std::vector<Size> out;
	size_t beyond = std::max(4 * std::max(room.l2, room.l3), least_beyond);
	for (Size size : { Size{ "L2", room.l2 / 2, false }, Size{ "L3", room.l3 / 2, false },
	                   Size{ "memory", std::min(beyond, room.memory / 16), false } }) {
		size_t wanted = size.bytes;
		if (size.fits == std::string("L3") && wanted <= 2 * room.l2)
			continue;
		while (size.bytes > probed && each * static_cast<double>(size.bytes) > seconds)
			size.bytes /= 2;
		if (size.bytes < wanted) {
			size.fits = place_of(size.bytes, room);
			fprintf(stderr,
			        "  a filter of %zu MiB takes %.0f s to fill: %zu MiB instead\n",
			        wanted >> 20, each * static_cast<double>(wanted), size.bytes >> 20);
		}
		if (out.empty() || std::string(out.back().fits) != size.fits)
			out.push_back(size);
		else if (size.bytes > out.back().bytes)
			out.back() = size;
	}
	out.back().largest = true;
	return out;
}

const std::vector<Size> &sizes(double seconds)
{
	static const std::vector<Size> found = [&] {
		Room room = { l2_bytes(), cache_bytes(3), memory_bytes() };
		return sizes_of(room, seconds, seconds > 0 ? seconds_a_byte() : 0);
	}();
	return found;
}

const std::vector<Size> &smallest_size()
{
	static const std::vector<Size> found = { { "L2", l2_bytes() / 2, true } };
	return found;
}

size_t keys_for(size_t bytes)
{
	double keys = static_cast<double>(bytes) * 8 / 10.27;
	double unit = std::pow(10, std::floor(std::log10(keys)) - 1);
	return static_cast<size_t>(std::round(keys / unit) * unit);
}

} // namespace bench
