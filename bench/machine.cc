/* SPDX-License-Identifier: MIT
 * See machine.h. */
#include "machine.h"
#include <algorithm>
#include <fstream>
#include <map>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace bench {
namespace {

std::string cpu_file(int cpu, const std::string &name)
{
	std::ifstream in("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/" + name);
	std::string text;
	std::getline(in, text);
	return text;
}

struct Cpus {
	std::vector<int> order;
	unsigned cores = 0;
};

/* Return: a name for the core of a CPU. If the kernel does not report cores, each CPU counts as a
 * core of its own. */
std::string core_of(int cpu)
{
	std::string core = cpu_file(cpu, "topology/core_id");
	return core.empty() ? "cpu" + std::to_string(cpu) :
	                      cpu_file(cpu, "topology/physical_package_id") + ":" + core;
}

Cpus find_cpus()
{
	std::vector<cpu_set_t> set(64); /* enough for 65536 CPUs */
	size_t bytes = set.size() * sizeof(set[0]);
	if (sched_getaffinity(0, bytes, set.data()))
		return { { 0 }, 1 };
	std::map<std::string, unsigned> seen;
	std::vector<std::pair<unsigned, int>> ranked;
	for (size_t cpu = 0; cpu < bytes * 8; cpu++)
		if (CPU_ISSET_S(cpu, bytes, set.data()))
			ranked.emplace_back(seen[core_of(static_cast<int>(cpu))]++,
			                    static_cast<int>(cpu));
	std::sort(ranked.begin(), ranked.end());
	Cpus out;
	for (const auto &[rank, cpu] : ranked)
		out.order.push_back(cpu);
	out.cores = static_cast<unsigned>(seen.size());
	return out;
}

const Cpus &cpus()
{
	static const Cpus found = find_cpus();
	return found;
}

/* Parses a size such as "1024K". */
size_t bytes_of(const std::string &text)
{
	size_t end = 0, n = text.empty() ? 0 : std::stoul(text, &end);
	return end >= text.size() ? n : text[end] == 'K' ? n << 10 : text[end] == 'M' ? n << 20 : n;
}

} // namespace

const std::vector<int> &allowed_cpus() { return cpus().order; }
unsigned allowed_cores() { return cpus().cores; }

void pin(int cpu)
{
	std::vector<cpu_set_t> set(64);
	size_t bytes = set.size() * sizeof(set[0]);
	CPU_SET_S(static_cast<size_t>(cpu), bytes, set.data());
	sched_setaffinity(0, bytes, set.data());
}

std::vector<unsigned> thread_counts(size_t most)
{
	unsigned all = static_cast<unsigned>(allowed_cpus().size());
	std::vector<unsigned> counts;
	for (unsigned n = 1; n < all; n *= 2)
		counts.push_back(n);
	counts.push_back(all);
	if (allowed_cores() < all)
		counts.push_back(allowed_cores());
	std::sort(counts.begin(), counts.end());
	counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
	for (size_t drop = 1; counts.size() > most && counts.size() > 2;
	     drop = drop + 2 < counts.size() ? drop + 1 : 1)
		counts.erase(counts.begin() + static_cast<long>(drop));
	return counts;
}

size_t cache_bytes(unsigned level)
{
	int cpu = allowed_cpus()[0];
	for (unsigned i = 0; i < 8; i++) {
		std::string folder = "cache/index" + std::to_string(i) + "/";
		if (cpu_file(cpu, folder + "level") == std::to_string(level) &&
		    cpu_file(cpu, folder + "type") != "Instruction")
			return bytes_of(cpu_file(cpu, folder + "size"));
	}
	long n = sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
	return n > 0 ? static_cast<size_t>(n) : 0;
}

size_t memory_bytes()
{
	return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
	       static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace bench
