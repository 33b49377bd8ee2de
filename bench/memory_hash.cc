/* SPDX-License-Identifier: MIT
 * Measures keys of different lengths: XXH3 alone, inlined; weir's hash of one key and of a batch; a
 * whole lookup. Keys and filter are in the cache. */
#include <stdexcept>
#include <vector>
#include <weir/weir.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "bench_memory.h"
#include "sets/weir_filter.h"

namespace bench {
namespace {

constexpr size_t most_bytes = size_t(1) << 18, a_round = size_t(1) << 16;

/* Keys of one length, adjacent in memory, and a filter that has all of them. */
struct Lengthy {
	explicit Lengthy(size_t length)
	    : count(std::min<size_t>(1024, most_bytes / length)), bytes(count * length),
	      filter(WeirFilter::params_of(10000, 0.01, WEIR_BLOCKED))
	{
		for (size_t i = 0; i < bytes.size(); i += sizeof(uint32_t)) {
			uint32_t word = static_cast<uint32_t>(scramble(i));
			memcpy(&bytes[i], &word, sizeof(word));
		}
		for (size_t i = 0; i < count; i++)
			keys.push_back({ &bytes[i * length], length });
		check(weir_insert_keys(filter.filter, weir_keys_iov(keys.data(), count), nullptr) <
		              0,
		      "weir_insert_keys");
	}

	size_t count;
	std::vector<char> bytes;
	std::vector<struct iovec> keys;
	WeirFilter filter;
};

uint64_t xxh3(const Lengthy &l)
{
	uint64_t sum = 0;
	for (const struct iovec &key : l.keys)
		sum += XXH3_64bits_withSeed(key.iov_base, key.iov_len, 42);
	return sum;
}

uint64_t hash(const Lengthy &l)
{
	uint64_t sum = 0;
	for (const struct iovec &key : l.keys)
		sum += weir_hash(l.filter.filter, key.iov_base, key.iov_len);
	return sum;
}

uint64_t hash_batch(const Lengthy &l)
{
	uint64_t hashes[1024];
	weir_hash_keys(l.filter.filter, weir_keys_iov(l.keys.data(), l.count), hashes);
	asm volatile("" : : "r"(hashes) : "memory");
	return hashes[0];
}

/* lookup() and lookup_batch() return the number of keys found. The results of xxh3(), hash() and
 * hash_batch() are not used as numbers of keys. */
uint64_t lookup(const Lengthy &l)
{
	uint64_t found = 0;
	for (const struct iovec &key : l.keys)
		found += weir_contains(l.filter.filter, key.iov_base, key.iov_len);
	return found;
}

uint64_t lookup_batch(const Lengthy &l)
{
	uint64_t bitmap[1024 / 64];
	return weir_contains_keys(l.filter.filter, weir_keys_iov(l.keys.data(), l.count), bitmap);
}

struct Way {
	const char *name;
	uint64_t (*pass)(const Lengthy &);
	bool finds;
};
const Way ways[] = { { "xxh3", xxh3, false },
	             { "weir_hash", hash, false },
	             { "weir_hash_keys", hash_batch, false },
	             { "weir_contains", lookup, true },
	             { "weir_contains_keys", lookup_batch, true } };

void run(benchmark::State &state, const Way &way, size_t length)
{
	Lengthy l(length);
	Team &team = team_of(1);
	size_t passes = std::max<size_t>(1, a_round / l.count / (1 + length / 64));
	Tally tally = rounds(state, [&] {
		Tally t;
		uint64_t answers = 0;
		Elapsed e = team.run([&](unsigned) {
			for (size_t i = 0; i < passes; i++)
				answers += way.pass(l);
		});
		asm volatile("" : : "r"(answers));
		t.keys = static_cast<double>(passes * l.count);
		t.lost = way.finds ? passes * l.count - answers : 0;
		t.ns = e.cpu_ns;
		t.wall_ns = e.wall_ns;
		t.waited_ns = e.waited_ns;
		return t;
	});
	report(state, tally, 1);
	counter(state, "bytes_hashed_per_second",
	        tally.keys * static_cast<double>(length) / (tally.ns * 1e-9));
}

} // namespace

void add_hashes(const Options &options)
{
	for (size_t length = 4; length <= 1024; length *= options.quick() ? 4 : 2)
		for (const Way &way : ways)
			add({ { "what", "hash" }, { "of", way.name }, { "length", length } },
			    [&way, length](benchmark::State &state) { run(state, way, length); });
}

} // namespace bench
