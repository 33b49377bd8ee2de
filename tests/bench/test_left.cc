/* SPDX-License-Identifier: MIT
 * The remaining time that a benchmark program reports. The program reports no time until a tenth of
 * its cases is done, and never reports more than the rest of the limit that run.sh announced. */
#include <cstdio>
#include "../../bench/left.h"

namespace {

bool failed;

void check(const char *what, double found, double wanted)
{
	if (found > wanted - 1e-9 && found < wanted + 1e-9)
		return;
	fprintf(stderr, "test_left: %s: %g s, expected %g s\n", what, found, wanted);
	failed = true;
}

} // namespace

int main()
{
	using bench::seconds_left;
	check("nothing is done", seconds_left(0, 10, 0, 56), -1);
	check("less than a tenth is done", seconds_left(23, 237, 15, 56), -1);
	check("more than the limit leaves", seconds_left(24, 237, 20, 56), 36);
	check("more than the limit leaves", seconds_left(1, 10, 32, 56), 24);
	check("the limit is over", seconds_left(5, 10, 60, 56), 0);
	check("as much as is done", seconds_left(5, 10, 20, 56), 20);
	check("no limit", seconds_left(1, 10, 640, 0), 5760);
	return failed;
}
