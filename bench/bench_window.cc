// SPDX-License-Identifier: MIT
// Compares lookups and inserts in a window with those in a blocked filter of as many bytes and
// keys. Layouts: columns, a ring with one word per key, and a ring with the number of words per key
// that needs the least memory. All run interleaved in one process. Prints CPU times, and the
// medians and quartiles of the rounds' ratios. A section of qsbr costs nothing, so a window with
// qsbr shows the cost of its layout alone. A window with bp, the default flavor, also has the cost
// of sections ([SECTION-IF-ADVANCED]).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>
#include <urcu/urcu-qsbr.h>
#include <weir/weir.h>

namespace {

constexpr int kRounds = 21;
constexpr size_t kSlice = 1 << 16;

double cpu_seconds()
{
	timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

uint64_t key_of(uint64_t i)
{
	uint64_t x = i * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	return (x ^ (x >> 27)) * 0x94D049BB133111EBu;
}

void must(int err)
{
	if (err >= 0)
		return;
	std::fprintf(stderr, "%s\n", weir_error_detail());
	std::exit(1);
}

struct Contender {
	const char *name;
	weir_filter *filter;
	uint64_t bytes;
};

Contender window_of(const char *name, uint32_t generations, uint32_t layout, uint32_t words,
                    uint64_t keys, const rcu_flavor_struct *flavor)
{
	weir_params o = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	Contender c = { name, nullptr, 0 };
	o.kind = WEIR_WINDOW;
	o.window.generations = generations;
	o.window.layout = layout;
	o.window.words_per_key = words;
	o.capacity = keys;
	o.fp_rate = 0.01;
	o.window.run.flavor = flavor;
	must(weir_plan_make(&o, &plan));
	must(weir_create(&c.filter, &o));
	c.bytes = plan.bytes;
	for (uint64_t i = 0; i < keys; i++) {
		if (i && i % (keys / generations + 1) == 0)
			must(weir_window_advance(c.filter));
		(void)weir_insert_u64(c.filter, key_of(i));
	}
	return c;
}

Contender blocked_of(uint64_t bytes, uint64_t keys)
{
	weir_params p = WEIR_PARAMS_INIT;
	Contender c = { "blocked", nullptr, bytes };
	p.capacity = keys;
	p.max_bytes = bytes;
	p.blocked.words_per_key = 2;
	p.blocked.bits_per_word = 3;
	must(weir_create(&c.filter, &p));
	for (uint64_t i = 0; i < keys; i++)
		(void)weir_insert_u64(c.filter, key_of(i));
	return c;
}

enum Verb { kOne, kBatch, kInsert };
size_t sink;

double nanoseconds(const Contender &c, Verb verb, const std::vector<uint64_t> &keys)
{
	size_t n = keys.size();
	double begin = cpu_seconds();
	if (verb == kOne)
		for (uint64_t key : keys)
			sink += weir_contains_u64(c.filter, key);
	else if (verb == kBatch)
		sink += weir_contains_keys(c.filter, weir_keys_u64(keys.data(), n), nullptr);
	else
		for (uint64_t key : keys)
			sink += size_t(weir_insert_u64(c.filter, key));
	return (cpu_seconds() - begin) / double(n) * 1e9;
}

double quantile(std::vector<double> v, double q)
{
	std::sort(v.begin(), v.end());
	return v[size_t(q * double(v.size() - 1) + 0.5)];
}

void compare(const char *what, Verb verb, const std::vector<Contender> &all,
             const std::vector<uint64_t> &keys)
{
	std::vector<std::vector<double>> ns(all.size()), ratios(all.size());
	for (int round = 0; round < kRounds; round++) {
		for (size_t i = 0; i < all.size(); i++)
			ns[i].push_back(nanoseconds(all[i], verb, keys));
		// in the list, each window follows the blocked filter with as many bytes
		for (size_t i = 1; i < all.size(); i += 2)
			ratios[i].push_back(ns[i].back() / ns[i - 1].back());
	}
	for (size_t i = 1; i < all.size(); i += 2)
		std::printf("| %s | %s | %.1f | %.1f | %.2f (%.2f to %.2f) |\n", what, all[i].name,
		            quantile(ns[i], 0.5), quantile(ns[i - 1], 0.5),
		            quantile(ratios[i], 0.5), quantile(ratios[i], 0.25),
		            quantile(ratios[i], 0.75));
}

void question(uint32_t generations, uint64_t keys)
{
	const rcu_flavor_struct *qsbr = &urcu_qsbr_flavor;
	std::vector<Contender> all;
	std::vector<uint64_t> there(kSlice), absent(kSlice), fresh(kSlice);
	Contender windows[] = {
		window_of("columns, bp", generations, WEIR_WINDOW_COLUMNS, 1, keys, nullptr),
		window_of("columns", generations, WEIR_WINDOW_COLUMNS, 1, keys, qsbr),
		window_of("ring, z = 1", generations, WEIR_WINDOW_RING, 1, keys, qsbr),
		window_of("ring, chosen", generations, WEIR_WINDOW_RING, 0, keys, qsbr),
	};
	std::printf("\nG = %u, %llu keys:", generations, (unsigned long long)keys);
	for (const Contender &w : windows) {
		std::printf(" %s %.1f MB (%.1f bits a key);", w.name, double(w.bytes) * 1e-6,
		            double(w.bytes) * 8 / double(keys));
		all.push_back(blocked_of(w.bytes, keys));
		all.push_back(w);
	}
	std::printf("\n\n| what | layout | ns | blocked of its bytes, ns | ratio |\n"
	            "|---|---|---|---|---|\n");
	for (size_t i = 0; i < kSlice; i++) {
		there[i] = key_of(key_of(i) % keys);
		absent[i] = key_of((uint64_t(1) << 40) + i);
	}
	compare("lookup, hit", kOne, all, there);
	compare("lookup, miss", kOne, all, absent);
	compare("batch, hit", kBatch, all, there);
	compare("batch, miss", kBatch, all, absent);
	compare("insert again", kInsert, all, there);
	for (const Contender &c : all)
		weir_destroy(c.filter);
}

} // namespace

// Arguments: pairs of a number of generations and a number of keys. The default has the pairs of
// bench/MEASURED.md and more pairs.
int main(int argc, char **argv)
{
	std::vector<uint64_t> asked;
	urcu_qsbr_register_thread();
	for (int i = 1; i < argc; i++)
		asked.push_back(std::strtoull(argv[i], nullptr, 10));
	if (asked.empty())
		asked = { 7, 200000, 7, 5000000, 7, 20000000, 2, 1000000, 4, 1000000, 16, 1000000 };
	for (size_t i = 0; i + 1 < asked.size(); i += 2)
		question(uint32_t(asked[i]), asked[i + 1]);
	urcu_qsbr_unregister_thread();
	return sink == 0;
}
