// SPDX-License-Identifier: MIT
// Compares a router of 64 sets with the alternatives: 64 blocked filters queried in turn, and one
// blocked filter of (set, key) pairs queried 64 times. All have the same keys and rate, and run
// interleaved in one process. Prints thread CPU times, and medians and quartiles of the rounds'
// ratios. In a short round most lines stay in this core's cache, in a long round most do not.
// bench_router [KEYS]: keys per set, a million by default.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
#include <weir/weir.h>

namespace {

constexpr uint32_t kSets = 64;
constexpr int kRounds = 15;

double cpu_seconds()
{
	timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

// The hash of key i. All contenders take hashes from the caller.
uint64_t hash_of(uint64_t i)
{
	uint64_t x = i * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

uint64_t pair_of(uint32_t set, uint64_t hash)
{
	return (hash ^ set) * 0xD1342543DE82EF95u;
}

void must(int64_t err)
{
	if (err >= 0)
		return;
	std::fprintf(stderr, "%s\n", weir_error_detail());
	std::exit(1);
}

struct All {
	weir_filter *router = nullptr;
	std::vector<weir_filter *> filters;
	weir_filter *pairs = nullptr;
	uint64_t router_bytes = 0, filter_bytes = 0, pair_bytes = 0;
};

weir_filter *filter_of(uint64_t capacity, uint64_t *bytes)
{
	weir_params p = WEIR_PARAMS_INIT;
	struct weir_stats s = WEIR_STATS_INIT;
	weir_filter *f = nullptr;
	p.capacity = capacity;
	p.fp_rate = 0.01;
	must(weir_create(&f, &p));
	must(weir_measure(f, WEIR_SAMPLED, &s));
	*bytes += s.bytes;
	return f;
}

// Makes and fills all contenders. Set s has @keys keys, from number s * keys on.
All made(uint64_t keys)
{
	All all;
	weir_params p = WEIR_PARAMS_INIT;
	struct weir_stats s = WEIR_STATS_INIT;
	std::vector<uint64_t> hashes(keys), pairs(keys);
	p.kind = WEIR_ROUTER;
	p.router.sets = kSets;
	p.capacity = keys;
	p.fp_rate = 0.01;
	must(weir_create(&all.router, &p));
	must(weir_measure(all.router, WEIR_SAMPLED, &s));
	all.router_bytes = s.bytes;
	all.pairs = filter_of(keys * kSets, &all.pair_bytes);
	double router_seconds = 0, filter_seconds = 0;
	for (uint32_t set = 0; set < kSets; set++) {
		for (uint64_t i = 0; i < keys; i++) {
			hashes[i] = hash_of(set * keys + i);
			pairs[i] = pair_of(set, hashes[i]);
		}
		all.filters.push_back(filter_of(keys, &all.filter_bytes));
		double begin = cpu_seconds();
		must(weir_insert_into_keys(all.router, set, weir_keys_hashes(hashes.data(), keys),
		                             nullptr));
		router_seconds += cpu_seconds() - begin;
		begin = cpu_seconds();
		must(weir_insert_keys(all.filters[set], weir_keys_hashes(hashes.data(), keys),
		                      nullptr));
		filter_seconds += cpu_seconds() - begin;
		must(weir_insert_keys(all.pairs, weir_keys_hashes(pairs.data(), keys), nullptr));
	}
	std::printf("%u sets of %llu keys at 1 %%: router %.1f MB, filters %.1f MB, pairs %.1f MB; "
	            "inserts, batch: router %.1f ns, filters %.1f ns\n\n", kSets,
	            (unsigned long long)keys, double(all.router_bytes) * 1e-6,
	            double(all.filter_bytes) * 1e-6, double(all.pair_bytes) * 1e-6,
	            router_seconds / double(keys * kSets) * 1e9,
	            filter_seconds / double(keys * kSets) * 1e9);
	return all;
}

size_t sink;

struct Room {
	std::vector<uint64_t> masks, bitmap, pairs;
	explicit Room(size_t n) : masks(n), bitmap(WEIR_BITMAP_WORDS(n)), pairs(n) {}
};

// Each function queries a batch. The 64 filters write no masks, which favours them.
void by_router(const All &all, const uint64_t *hashes, size_t n, Room *room)
{
	sink += weir_route_keys(all.router, weir_keys_hashes(hashes, n), room->masks.data());
}

void one_by_one(const All &all, const uint64_t *hashes, size_t n, Room *)
{
	for (size_t i = 0; i < n; i++)
		sink += weir_route_hash(all.router, hashes[i]) != 0;
}

void by_filters(const All &all, const uint64_t *hashes, size_t n, Room *room)
{
	for (const weir_filter *f : all.filters)
		sink += weir_contains_keys(f, weir_keys_hashes(hashes, n), room->bitmap.data());
}

void by_pairs(const All &all, const uint64_t *hashes, size_t n, Room *room)
{
	for (uint32_t set = 0; set < kSets; set++) {
		for (size_t i = 0; i < n; i++)
			room->pairs[i] = pair_of(set, hashes[i]);
		sink += weir_contains_keys(all.pairs, weir_keys_hashes(room->pairs.data(), n),
		                           room->bitmap.data());
	}
}

typedef void Ask(const All &, const uint64_t *, size_t, Room *);
struct Contender {
	const char *name;
	Ask *ask;
};
const Contender contenders[] = { { "router", by_router },
	                         { "router, one by one", one_by_one },
	                         { "64 filters", by_filters },
	                         { "pairs, 64 times", by_pairs } };
constexpr size_t kContenders = sizeof contenders / sizeof *contenders;

double quantile(std::vector<double> v, double q)
{
	std::sort(v.begin(), v.end());
	return v[size_t(q * double(v.size() - 1) + 0.5)];
}

// Queries all hashes, batch by batch. Return: ns per key.
double nanoseconds(const All &all, Ask *ask, const std::vector<uint64_t> &hashes, size_t batch,
                   Room *room)
{
	double begin = cpu_seconds();
	for (size_t at = 0; at < hashes.size(); at += batch)
		ask(all, hashes.data() + at, std::min(batch, hashes.size() - at), room);
	return (cpu_seconds() - begin) / double(hashes.size()) * 1e9;
}

void question(const All &all, const char *what, const std::vector<uint64_t> &hashes, size_t batch)
{
	std::vector<std::vector<double>> ns(kContenders), ratios(kContenders);
	Room room(batch);
	for (int round = 0; round < kRounds; round++)
		for (size_t i = 0; i < kContenders; i++) {
			ns[i].push_back(nanoseconds(all, contenders[i].ask, hashes, batch, &room));
			ratios[i].push_back(ns[i].back() / ns[0].back());
		}
	for (size_t i = 0; i < kContenders; i++)
		std::printf("| %s | %zu | %zu | %s | %.1f (%.1f to %.1f) |"
		            " %.1f (%.1f to %.1f) |\n",
		            what, batch, hashes.size(), contenders[i].name,
		            quantile(ns[i], 0.5), quantile(ns[i], 0.25), quantile(ns[i], 0.75),
		            quantile(ratios[i], 0.5), quantile(ratios[i], 0.25),
		            quantile(ratios[i], 0.75));
}

} // namespace

int main(int argc, char **argv)
{
	const uint64_t keys = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
	const All all = made(keys);
	const struct {
		size_t batch, round;
	} sizes[] = { { 1024, 65536 }, { 1024, 1000000 }, { 1000000, 1000000 } };
	std::printf("| keys | batch | keys a round | who | ns a key | times the router's |\n"
	            "|---|---|---|---|---|---|\n");
	for (auto [batch, round] : sizes) {
		std::vector<uint64_t> absent(round), there(round);
		for (size_t i = 0; i < absent.size(); i++) {
			absent[i] = hash_of((uint64_t(1) << 40) + i);
			there[i] = hash_of(hash_of(i) % (keys * kSets));
		}
		question(all, "absent", absent, batch);
		question(all, "in one set", there, batch);
	}
	return sink == 42;
}
