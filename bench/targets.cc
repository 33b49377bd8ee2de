/* SPDX-License-Identifier: MIT
 * The comparisons behind weir's promises, and comparisons that are only reported. */
#include "targets.h"

namespace bench {
namespace {

constexpr size_t k100 = 100000, m1 = 1000000, m10 = 10000000, m100 = 100000000;

void lookups(std::vector<Comparison> &out, size_t n, double rate, bool promised)
{
	auto limit = [&](double x) { return promised ? x : 0; };
	double batch = n == m1 ? 0.90 : 0.80;
	for (Op op : { Op::hit, Op::miss }) {
		bool hit = op == Op::hit;
		out.push_back({ hit ? "batch lookup, hit" : "batch lookup, miss", n, rate,
		                { "weir_contains_keys", weir_batch, op },
		                { "yardstick, batch", yardstick_batch, op }, limit(batch) });
		out.push_back({ hit ? "single lookup, hit" : "single lookup, miss", n, rate,
		                { "weir_contains", weir_single, op },
		                { "yardstick, inlined", yardstick_single, op },
		                n == m1 ? limit(1.9) : 0 });
		out.push_back({ hit ? "inline lookup, hit" : "inline lookup, miss", n, rate,
		                { "weir_inline_contains", weir_inlined, op },
		                { "yardstick, inlined", yardstick_single, op },
		                n == m1 ? limit(1.15) : 0 });
	}
	out.push_back({ "batch against single yardstick", n, rate,
	                { "weir_contains_keys", weir_batch, Op::hit },
	                { "yardstick, inlined", yardstick_single, Op::hit } });
	out.push_back({ "batch against AVX-512 yardstick", n, rate,
	                { "weir_contains_keys", weir_batch, Op::hit },
	                { "yardstick -march=native", yardstick_native_batch, Op::hit } });
	out.push_back({ "dependent lookups (latency)", n, rate,
	                { "weir_contains", weir_single, Op::chain },
	                { "yardstick, inlined", yardstick_single, Op::chain } });
	out.push_back({ "dependent lookups (latency)", n, rate,
	                { "weir_inline_contains", weir_inlined, Op::chain },
	                { "yardstick, inlined", yardstick_single, Op::chain } });
}

/* Adds comparisons that show what a call through a pointer costs on this machine. The called
 * functions are an empty function, the yardstick's lookup and weir's lookup. */
void calls(std::vector<Comparison> &out)
{
	const Side yardstick = { "yardstick, inlined", yardstick_single, Op::hit };
	out.push_back({ "machine: a call by pointer", m1, 0.01,
	                { "empty call", empty_calls, Op::hit, 1, nullptr, true },
	                yardstick, 0, false, true });
	out.push_back({ "machine: yardstick by pointer", m1, 0.01,
	                { "yardstick, by pointer", yardstick_called, Op::hit },
	                yardstick, 0, false, true });
	out.push_back({ "single lookup, both by pointer", m1, 0.01,
	                { "weir_contains", weir_single, Op::hit },
	                { "yardstick, by pointer", yardstick_called, Op::hit }, 0, false, true });
}

/* Compares the ways to look up one key. For each rate the planner chooses a different one of its
 * six layouts. */
void ways(std::vector<Comparison> &out)
{
	for (double rate : { 0.1, 0.05, 0.01, 0.004, 0.001, 0.0001 }) {
		for (Op op : { Op::hit, Op::miss })
			out.push_back({ op == Op::hit ? "inlined : by pointer, hit" :
			                                "inlined : by pointer, miss",
			                m1, rate, { "weir_inline_contains", weir_inlined, op },
			                { "weir_contains", weir_single, op }, 0.90 });
		out.push_back({ "inlined : by pointer, insert", m1, rate,
		                { "weir_inline_insert", weir_inlined, Op::insert },
		                { "weir_insert", weir_single, Op::insert } });
	}
	out.push_back({ "inlined, its layout fixed", m1, 0.001,
	                { "WEIR_INLINE_WORDS_PER_KEY", weir_inlined_fixed, Op::hit },
	                { "weir_contains", weir_single, Op::hit } });
	for (size_t n : { m1, m100 })
		for (Op op : { Op::hit, Op::miss })
			out.push_back({ op == Op::hit ? "_u64 by pointer : inlined, hit" :
			                                "_u64 by pointer : inlined, miss",
			                n, 0.01, { "weir_contains_u64", weir_single_u64, op },
			                { "weir_inline_contains", weir_inlined, op },
			                n == m1 ? 1.7 : 1.25 });
	out.push_back({ "_u64 : a key and its length", m1, 0.01,
	                { "weir_contains_u64", weir_single_u64, Op::hit },
	                { "weir_contains", weir_single, Op::hit } });
	out.push_back({ "_u64 : a key and its length, new", m1, 0.01,
	                { "weir_insert_u64", weir_single_u64, Op::insert },
	                { "weir_insert", weir_single, Op::insert } });
}

void inserts(std::vector<Comparison> &out, size_t n, double rate, bool promised)
{
	const Side yardstick = { "yardstick, inlined", yardstick_single, Op::insert };
	auto limit = [&](size_t at, double x) { return promised && n == at ? x : 0; };
	out.push_back({ "insert new", n, rate, { "weir_insert", weir_single, Op::insert },
	                yardstick, limit(m1, 0.80) });
	out.push_back({ "insert new, inline", n, rate,
	                { "weir_inline_insert", weir_inlined, Op::insert }, yardstick,
	                limit(m1, 0.65) });
	out.push_back({ "insert new, batch", n, rate,
	                { "weir_insert_keys", weir_batch, Op::insert }, yardstick,
	                limit(m10, 0.50) });
	out.push_back({ "insert present : lookup", n, rate,
	                { "weir_insert", weir_single, Op::present },
	                { "weir_contains", weir_single, Op::hit }, promised ? 1.3 : 0 });
}

void threads(std::vector<Comparison> &out, size_t n, double rate)
{
	auto scale = [&](const char *question, const char *name, Maker make, Op op, double limit) {
		out.push_back({ question, n, rate, { name, make, op, 2 },
		                { "on 1 thread", make, op, 1 }, limit, true });
	};
	const Side one = { "on 1 thread", registers_only, Op::hit, 1, nullptr, true };
	out.push_back({ "machine: 2 threads : 1", n, rate,
	                { "registers only", registers_only, Op::hit, 2, nullptr, true },
	                one, 0, true, true });
	scale("2 threads : 1, batch lookup", "weir_contains_keys", weir_batch, Op::hit, 1.9);
	scale("2 threads : 1, single lookup", "weir_contains", weir_single, Op::hit, 1.9);
	scale("2 threads : 1, batch insert", "weir_insert_keys", weir_batch, Op::insert, 1.8);
	scale("2 threads : 1, single insert", "weir_insert", weir_single, Op::insert, 0);
	scale("2 threads : 1, yardstick insert", "yardstick, inlined", yardstick_single, Op::insert,
	      0);
	scale("2 threads : 1, mutex, lookup", "mutex per shard", mutex_per_shard, Op::hit, 0);
}

void kernels(std::vector<Comparison> &out, size_t n, double rate)
{
	for (Op op : { Op::hit, Op::miss }) {
		const char *question = op == Op::hit ? "kernels, hit" : "kernels, miss";
		auto compare = [&](const char *a, const char *isa_a, const char *b,
		                   const char *isa_b, Maker make) {
			out.push_back({ question, n, rate, { a, make, op, 1, isa_a },
			                { b, make, op, 1, isa_b } });
		};
		compare("weir_contains, avx2", "avx2", "weir_contains, scalar", "scalar",
		        weir_single);
		compare("weir_contains, best", nullptr, "weir_contains, avx2", "avx2", weir_single);
		compare("weir_contains_keys, avx2", "avx2", "weir_contains_keys, scalar",
		        "scalar", weir_batch);
		compare("weir_contains_keys, best", nullptr, "weir_contains_keys, avx2", "avx2",
		        weir_batch);
	}
}

void large(std::vector<Comparison> &out)
{
	const Side lines = { "random lines", random_lines, Op::hit, 1, nullptr, true };
	for (Op op : { Op::hit, Op::miss })
		out.push_back({ op == Op::hit ? "batch lookup : random line, hit" :
		                                "batch lookup : random line, miss",
		                m100, 0.01, { "weir_contains_keys", weir_batch, op },
		                lines, 1.35 });
	out.push_back({ "batch lookup : random line, 4M", m100, 0.01,
	                { "weir_contains_keys, 4M a call", weir_long_batch, Op::hit }, lines,
	                1.5 });
	out.push_back({ "single lookup : random line", m100, 0.01,
	                { "weir_contains", weir_single, Op::hit }, lines });
}

/* Adds comparisons of hashing and loading. weir's promise is a time per key here, not a ratio. */
void loads(std::vector<Comparison> &out, size_t n, double most_ns)
{
	Comparison c = { "hash and load : single inserts", n, 0.01,
		         { "weir_fill_keys", weir_private, Op::insert },
		         { "weir_insert", weir_single, Op::insert }, 0, true };
	c.most_ns = most_ns;
	out.push_back(c);
	out.push_back({ "insert all at once : by 1,024", n, 0.01,
	                { "weir_insert_hashes", weir_bulk, Op::insert },
	                { "weir_insert_keys", weir_batch, Op::insert } });
}

/* Adds lookups of batches of longer keys. Each lookup includes XXH3's time. weir promises a limit
 * for the rest of the time. */
void wide(std::vector<Comparison> &out)
{
	const Side alone = { "XXH3 alone", xxh3_wide, Op::hit, 1, nullptr, true };
	out.push_back({ "32 bytes, batch : XXH3 alone", m1, 0.01,
	                { "weir_contains_keys", weir_wide, Op::hit }, alone, 0.01, false, 2.5 });
	out.push_back({ "32 bytes, vectors : XXH3 alone", m1, 0.01,
	                { "weir_contains_keys", weir_wide_vectors, Op::hit }, alone, 0.01, false,
	                2.5 });
}

/* Adds kinds that remove keys. The counting filter fits the L2, so its larger words cost no cache
 * misses. For the cuckoo filter weir promises nanoseconds, as long as at most 95 % of its slots are
 * in use. */
void removing(std::vector<Comparison> &out)
{
	auto counting = [&](const char *question, Op op, Op other, double limit) {
		out.push_back({ question, k100, 0.01, { "counting", weir_counting, op },
		                { "blocked of its bytes", blocked_as_counting, other }, limit });
	};
	auto cuckoo = [&](const char *question, Op op, double most_ns) {
		Comparison c = { question, m1, 0.01, { "cuckoo", weir_cuckoo, op },
			         { "weir_insert", weir_single, op }, 0 };
		c.second.name = op == Op::insert ? "weir_insert" : "weir_contains";
		c.most_ns = most_ns;
		out.push_back(c);
	};
	counting("counting, hit : blocked", Op::hit, Op::hit, 1.5);
	counting("counting, miss : blocked", Op::miss, Op::miss, 1.5);
	counting("counting, insert : blocked", Op::insert, Op::insert, 1.6);
	counting("counting, remove : insert", Op::remove, Op::insert, 1.6);
	cuckoo("cuckoo, hit : blocked", Op::hit, 9);
	cuckoo("cuckoo, miss : blocked", Op::miss, 9);
	cuckoo("cuckoo, insert : blocked", Op::insert, 40);
	for (size_t n : { m1, m10 })
		for (Op op : { Op::insert, Op::hit })
			out.push_back({ op == Op::insert ? "2 threads : 1, cuckoo, insert" :
			                                   "2 threads : 1, cuckoo, lookup",
			                n, 0.01, { "cuckoo", weir_cuckoo, op, 2 },
			                { "on 1 thread", weir_cuckoo, op, 1 },
			                n == m1 ? 1.7 : 0, true });
}

/* Adds fuse filters with fingerprints of 8 bits. A build also hashes and sorts the keys. A filter
 * of more than two million keys has several parts, and each part is built by one thread. So a
 * second thread helps only with such a filter. */
void built(std::vector<Comparison> &out, size_t n)
{
	const double rate = 0.004;
	const Side fuse = { "fuse", weir_fuse, Op::insert };
	auto within = [&](const char *question, Side first, Side second, double most_ns) {
		Comparison c = { question, n, rate, first, second, 0 };
		c.most_ns = most_ns;
		return c;
	};
	Comparison build = within("fuse, build : insert", fuse,
	                          { "weir_insert", weir_single, Op::insert }, 65);
	build.most_bits = 9.15;
	out.push_back(build);
	Comparison two = { "fuse, build, 2 threads : 1", n, rate,
		           { "fuse by 2 threads", weir_fuse_by_two, Op::insert }, fuse,
		           n > m1 ? 1.8 : 0, true };
	two.wall = true;
	out.push_back(two);
	for (Op op : { Op::hit, Op::miss })
		out.push_back(within(op == Op::hit ? "fuse, hit : blocked" : "fuse, miss : blocked",
		                     { "fuse", weir_fuse, op },
		                     { "weir_contains", weir_single, op }, n == m1 ? 6.5 : 0));
	if (n == m100)
		out.push_back({ "fuse, batch : random line", n, rate,
		                { "fuse", weir_fuse_batch, Op::hit },
		                { "random lines", random_lines, Op::hit, 1, nullptr, true }, 2.5 });
}

} // namespace

std::vector<Comparison> targets()
{
	std::vector<Comparison> out;
	lookups(out, m1, 0.01, true);
	calls(out);
	ways(out);
	inserts(out, m1, 0.01, true);
	wide(out);
	kernels(out, m1, 0.01);
	threads(out, m1, 0.01);
	threads(out, m10, 0.01);
	removing(out);
	for (size_t n : { m1, m10, m100 })
		built(out, n);
	loads(out, m1, 3.5);
	loads(out, m10, 6);
	loads(out, m100, 10);
	lookups(out, m10, 0.01, true);
	inserts(out, m10, 0.01, true);
	lookups(out, k100, 0.01, false);
	inserts(out, k100, 0.01, false);
	for (size_t n : { k100, m1, m10 }) {
		lookups(out, n, 0.001, false);
		inserts(out, n, 0.001, false);
	}
	large(out);
	lookups(out, m100, 0.01, false);
	inserts(out, m100, 0.01, false);
	threads(out, m100, 0.01);
	return out;
}

} // namespace bench
