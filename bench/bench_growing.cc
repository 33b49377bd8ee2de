// SPDX-License-Identifier: MIT
// What does growing cost? Compares a filter that is made for a hundredth of the keys with a blocked
// filter of as many bytes that is made for all keys. Both run interleaved in one process, on one
// thread. Prints CPU times, and medians and quartiles of the rounds' ratios.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>
#include <weir/weir.h>
#include "keys.h"
#include "sets/set.h"
#include "sets/weir_filter.h"
#include "team.h"

namespace bench {
namespace {

constexpr size_t insert_piece = size_t(1) << 17, lookup_piece = size_t(1) << 15;
constexpr unsigned lookup_rounds = 41;

struct Side {
	std::unique_ptr<LayoutSet> set;
	double all = 0; /* nanoseconds of all rounds */
	std::vector<double> each;
};

double quantile(std::vector<double> v, double q)
{
	std::sort(v.begin(), v.end());
	return v[static_cast<size_t>(q * static_cast<double>(v.size() - 1) + 0.5)];
}

template <class Work> void timed(Side &side, size_t keys, Work work)
{
	double before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	work();
	double ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	side.all += ns;
	side.each.push_back(ns / static_cast<double>(keys));
}

void print(const char *what, Side (&sides)[2], double keys)
{
	std::vector<double> ratios;
	for (size_t i = 0; i < sides[0].each.size(); i++)
		ratios.push_back(sides[0].each[i] / sides[1].each[i]);
	std::printf("| %s | %.1f (%.1f) | %.1f (%.1f) | %.2f (%.2f to %.2f) |\n", what,
	            quantile(sides[0].each, 0.5), sides[0].all / keys,
	            quantile(sides[1].each, 0.5), sides[1].all / keys, quantile(ratios, 0.5),
	            quantile(ratios, 0.25), quantile(ratios, 0.75));
	std::fflush(stdout);
	for (Side &side : sides)
		side = { std::move(side.set), 0, {} };
}

void insert(Side (&sides)[2], size_t n)
{
	for (Side &side : sides)
		side.set->take_at_once(batch_keys);
	for (size_t at = 0, turn = 0; at < n; at += insert_piece, turn++) {
		std::vector<uint64_t> keys = make_keys(at, std::min(insert_piece, n - at));
		for (size_t i = 0; i < 2; i++) {
			Side &side = sides[(i + turn) % 2];
			timed(side, keys.size(),
			      [&] { side.set->insert(keys.data(), keys.size()); });
		}
	}
	print("insert in batches", sides, static_cast<double>(n));
}

void look_up(Side (&sides)[2], size_t n, bool there, size_t batch)
{
	uint64_t found = 0;
	for (Side &side : sides)
		side.set->take_at_once(batch);
	for (unsigned round = 0; round < lookup_rounds; round++) {
		std::vector<uint64_t> keys(lookup_piece);
		for (size_t i = 0; i < lookup_piece; i++) {
			uint64_t number = absent + round * lookup_piece + i;
			keys[i] = scramble(there ? scramble(number) % n : number);
		}
		for (size_t i = 0; i < 2; i++) {
			Side &side = sides[(i + round) % 2];
			timed(side, lookup_piece,
			      [&] { found += side.set->lookup(keys.data(), keys.size()); });
		}
	}
	if (there && found != 2 * lookup_rounds * lookup_piece) {
		std::fprintf(stderr, "bench_growing: keys were lost\n");
		std::exit(1);
	}
	std::string what = std::string(batch ? "batch, " : "lookup, ") + (there ? "hit" : "miss");
	print(what.c_str(), sides, static_cast<double>(lookup_rounds * lookup_piece));
}

void question(size_t n)
{
	Side sides[2];
	struct weir_params params = WeirFilter::params_of(n / 100, 0.01, WEIR_GROWING);
	params.growing.max_capacity = n;
	sides[0].set = weir_layout(params);
	params = WeirFilter::params_of(n, 0, WEIR_BLOCKED);
	params.max_bytes = sides[0].set->bytes();
	sides[1].set = weir_layout(params);
	std::printf("\n%zu keys, grown from %zu: %.1f MB, %.1f bits a key\n\n| what | growing, ns "
	            "(mean) | blocked of its bytes, ns | ratio |\n|---|---|---|---|\n", n, n / 100,
	            static_cast<double>(sides[0].set->bytes()) * 1e-6,
	            static_cast<double>(sides[0].set->bytes()) * 8 / static_cast<double>(n));
	insert(sides, n);
	for (size_t batch : { size_t(0), batch_keys })
		for (bool there : { true, false })
			look_up(sides, n, there, batch);
}

} // namespace
} // namespace bench

// Arguments: numbers of keys. The default is the numbers in bench/MEASURED.md.
int main(int argc, char **argv)
{
	std::vector<size_t> sizes;
	for (int i = 1; i < argc; i++)
		sizes.push_back(std::strtoull(argv[i], nullptr, 10));
	if (sizes.empty())
		sizes = { 1000000, 10000000, 100000000 };
	for (size_t n : sizes)
		bench::question(n);
	return 0;
}
