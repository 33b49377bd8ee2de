/* SPDX-License-Identifier: MIT
 * The sizes of filter that the benchmark chooses, for machines with caches of several sizes. */
#include <cstdio>
#include <cstdlib>
#include <string>
#include "../../bench/sizes.h"

namespace {

constexpr size_t mib = size_t(1) << 20;
int failed;

void check(bool good, const char *what, const char *test)
{
	if (good)
		return;
	fprintf(stderr, "%s: not %s\n", test, what);
	failed = 1;
}
#define CHECK(condition) check(condition, #condition, __func__)

/* Return: the sizes in MiB, each after the name of the cache or memory into which it fits: "L2:1
 * L3:16 memory:128!". A "!" follows a size that is marked as the largest. */
std::string words(const bench::Room &room, double seconds, double each)
{
	std::string all;
	for (const bench::Size &size : bench::sizes_of(room, seconds, each))
		all += std::string(all.empty() ? "" : " ") + size.fits + ":" +
		       std::to_string(size.bytes / mib) + (size.largest ? "!" : "");
	return all;
}

void usual_caches_are_measured_whole()
{
	bench::Room room = { 2 * mib, 32 * mib, 24 * 1024 * mib };
	CHECK(words(room, 3.5, 0.02 / mib) == "L2:1 L3:16 memory:128!");
	CHECK(words(room, 0, 0) == "L2:1 L3:16 memory:128!");
	room.l3 = 0;
	CHECK(words(room, 3.5, 0.02 / mib) == "L2:1 memory:64!");
}

/* On a machine with 480 MiB of L3, filters chosen by the caches alone would take 1.2 billion
 * inserts, so that even --quick would take half an hour. */
void a_large_L3_is_capped_by_time()
{
	bench::Room room = { 2 * mib, 480 * mib, 24 * 1024 * mib };
	CHECK(words(room, 0, 0) == "L2:1 L3:240 memory:1536!");
	CHECK(words(room, 3.5, 0.02 / mib) == "L2:1 L3:120!");
	CHECK(words(room, 12, 0.02 / mib) == "L2:1 L3:384!");
	CHECK(words(room, 60, 0.02 / mib) == "L2:1 L3:240 memory:1536!");
	room.memory = 512 * 1024 * mib;
	for (double each : { 0.001, 0.01, 0.1, 1.0 })
		for (const bench::Size &size : bench::sizes_of(room, 3.5, each / mib))
			CHECK(size.bytes <= 16 * mib ||
			      static_cast<double>(size.bytes) * each / mib <= 3.5);
}

} // namespace

int main()
{
	usual_caches_are_measured_whole();
	a_large_L3_is_capped_by_time();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
