/* SPDX-License-Identifier: MIT
 * See measure.h. */
#include "measure.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace bench {
namespace {

/* Looks up, inserts or removes @count keys from key @first on. After the last key, continues at key
 * 0. */
uint64_t work(Set &set, Op op, const std::vector<uint64_t> &keys, size_t first, size_t count)
{
	uint64_t found = 0;
	for (first %= keys.size(); count;) {
		size_t m = std::min(count, keys.size() - first);
		if (op == Op::insert || op == Op::present)
			set.insert(&keys[first], m);
		else if (op == Op::remove)
			found += m - set.remove(&keys[first], m);
		else
			found += op == Op::chain ? set.chain(&keys[first], m) :
			                           set.lookup(&keys[first], m);
		count -= m;
		first = 0;
	}
	return found;
}

Elapsed share_out(Team &team, Set &set, Op op, const std::vector<uint64_t> &keys, size_t first,
                  size_t count)
{
	unsigned threads = team.size();
	std::vector<uint64_t> found(threads * 8); /* a cache line per thread */
	Elapsed e = team.run([&](unsigned t) {
		size_t from = count * t / threads, to = count * (t + 1) / threads;
		found[t * 8] = work(set, op, keys, first + from, to - from);
	});
	asm volatile("" : : "r"(found.data()) : "memory");
	return e;
}

} // namespace

Cost measure(Team &team, Set &set, Op op, const Keys &keys, size_t first, size_t count, bool wall)
{
	const std::vector<uint64_t> &k = keys.of(op);
	Elapsed e;
	double done = 0;
	if (takes_all(op)) {
		for (size_t again = std::max<size_t>(1, (size_t(1) << 20) / k.size()); again;
		     again--) {
			set.clear();
			if (op == Op::remove)
				set.insert(k.data(), k.size());
			Elapsed one = share_out(team, set, op, k, 0, k.size());
			e.wall_ns += one.wall_ns;
			e.cpu_ns += one.cpu_ns;
			done += static_cast<double>(k.size());
		}
	} else {
		e = share_out(team, set, op, k, first, count);
		done = static_cast<double>(count);
	}
	return { (wall ? e.wall_ns : e.cpu_ns) / done, std::min(1.0, e.cpu_ns / e.wall_ns), done };
}

double Series::quantile(double q) const
{
	std::vector<double> sorted = values;
	std::sort(sorted.begin(), sorted.end());
	double at = q * static_cast<double>(sorted.size() - 1);
	size_t below = static_cast<size_t>(at), above = std::min(below + 1, sorted.size() - 1);
	return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Facts fill_and_ask(Set &set, const Keys &keys)
{
	size_t n = keys.present.size();
	set.clear();
	set.insert(keys.present.data(), n);
	uint64_t found = set.lookup(keys.present.data(), n);
	uint64_t wrong = set.lookup(keys.absent_.data(), keys.absent_.size());
	return { static_cast<double>(set.bytes()) * 8 / static_cast<double>(n),
		 static_cast<double>(wrong) / static_cast<double>(keys.absent_.size()), n - found };
}

double load_average()
{
	double load = 0;
	return getloadavg(&load, 1) == 1 ? load : -1;
}

std::string cpu_name()
{
	std::ifstream info("/proc/cpuinfo");
	for (std::string line; std::getline(info, line);)
		if (line.rfind("model name", 0) == 0)
			return line.substr(line.find(':') + 2);
	return "unknown CPU";
}

} // namespace bench
