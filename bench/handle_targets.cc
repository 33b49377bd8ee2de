/* SPDX-License-Identifier: MIT
 * The comparisons behind the handle's promises. The program bench_handle is made from
 * bench_targets.cc and this file, which replaces targets.cc. */
#include "sets/handle.h"
#include "targets.h"

namespace bench {
namespace {

constexpr size_t k100 = 100000, k200 = 200000, m1 = 1000000, m10 = 10000000;

/* Adds lookups through a handle, compared with the bare filter. */
void lookups(std::vector<Comparison> &out, size_t n, unsigned threads)
{
	const Side bare = { "weir_contains", weir_single, Op::hit, threads };
	bool promised = threads == 1 && n == m1;
	auto against_bare = [&](const char *name, Maker make, double limit, double slack_ns) {
		Comparison c = { threads == 1 ? "lookup : bare" : "lookup : bare, 2 threads", n,
		                 0.01, { name, make, Op::hit, threads }, bare };
		c.limit = promised ? limit : 0;
		c.slack_ns = promised ? slack_ns : 0;
		out.push_back(c);
	};
	against_bare("weir_handle_get, memb", handle_get_memb, 1.15, 1);
	against_bare("weir_handle_get, memb, of 16", handle_get_16_memb, 1.15, 1);
	against_bare("weir_handle_get, qsbr", handle_get_qsbr, 1.15, 1);
	against_bare("weir_handle_contains, memb", handle_memb, 0, 0);
	against_bare("weir_handle_contains, qsbr", handle_qsbr, 0, 0);
	against_bare("weir_handle_contains, bp", handle_bp, 1.0, 3);
	against_bare("behind a rwlock", behind_rwlock, 0, 0);
	against_bare("behind a reference count", behind_count, 0, 0);
}

void reloads(std::vector<Comparison> &out, size_t n)
{
	bool promised = n == m1;
	out.push_back({ "insert, reload : none", n, 0.01,
	                { "weir_handle_insert, reload", handle_reloading, Op::insert },
	                { "weir_handle_insert", handle_bp, Op::insert }, promised ? 2.3 : 0 });
	out.push_back({ "readers, reloads : none", n, 0.01,
	                { "while reloads run", handle_back_to_back, Op::hit },
	                { "undisturbed", handle_get_memb, Op::hit }, promised ? 0.9 : 0, true });
}

/* Adds lookups through a guard, compared with lookups through its handle and in the bare filter. */
void guards(std::vector<Comparison> &out, size_t n)
{
	const Side handle = { "weir_handle_contains, bp", handle_bp, Op::hit };
	const Side bare = { "weir_contains", weir_single, Op::hit };
	const Side batch = { "weir_contains_keys", weir_batch, Op::hit };
	const char *one = "weir_guard_ask", *many = "weir_guard_ask_keys";
	auto against = [&](const char *question, Side guard, Side other) {
		other.op = guard.op;
		out.push_back({ question, n, 0.01, guard, other });
	};
	for (Op op : { Op::hit, Op::miss }) {
		bool hit = op == Op::hit;
		against(hit ? "guard, hit : handle" : "guard, miss : handle", { one, guarded, op },
		        handle);
		against(hit ? "guard, hit : bare" : "guard, miss : bare", { one, guarded, op },
		        bare);
		against(hit ? "guard, batch, hit : bare" : "guard, batch, miss : bare",
		        { many, guarded_batch, op }, batch);
	}
	against("guard, bypassed : bare", { one, guard_bypassed, Op::hit }, bare);
	against("guard, bypassed batch : bare", { many, guard_bypassed_batch, Op::hit }, batch);
}

} // namespace

std::vector<Comparison> targets()
{
	std::vector<Comparison> out;
	for (size_t n : { k100, m1, m10 }) {
		for (unsigned threads : { 1u, 2u })
			lookups(out, n, threads);
		reloads(out, n);
	}
	for (size_t n : { k200, m1 })
		guards(out, n);
	return out;
}

} // namespace bench
