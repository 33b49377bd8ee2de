/* SPDX-License-Identifier: MIT
 * See table.h. */
#include "table.h"
#include <algorithm>
#include <cstdio>
#include <sstream>

namespace bench {
namespace {

std::vector<std::string> split(const std::string &name)
{
	std::vector<std::string> parts;
	std::istringstream in(name);
	for (std::string part; std::getline(in, part, '/');)
		parts.push_back(part);
	return parts;
}

std::string after_colon(const std::string &s) { return s.substr(s.find(':') + 1); }

} // namespace

Table::Row &Table::row(const std::string &contender, const std::string &size,
                       const std::string &rate)
{
	for (Row &r : rows_)
		if (r.contender == contender && r.size == size && r.rate == rate)
			return r;
	rows_.push_back({ contender, size, rate, 0, 0, {} });
	return rows_.back();
}

void Table::ReportRuns(const std::vector<Run> &runs)
{
	for (const Run &run : runs) {
		std::vector<std::string> part = split(run.benchmark_name());
		if (run.error_occurred)
			fprintf(stderr, "%s: %s\n", run.benchmark_name().c_str(),
			        run.error_message.c_str());
		if (run.error_occurred || run.run_type != Run::RT_Iteration || part.size() < 5)
			continue;
		Row &r = row(part[1], after_colon(part[2]), after_colon(part[3]));
		std::string column = part[0] + " x" + after_colon(part[4]);
		if (std::find(columns_.begin(), columns_.end(), column) == columns_.end())
			columns_.push_back(column);
		auto counter = [&](const char *name) {
			auto at = run.counters.find(name);
			return at == run.counters.end() ? 0 : at->second.value;
		};
		r.per_second[column] = counter("items_per_second");
		if (counter("bits/key") > 0)
			r.bits_per_key = counter("bits/key"), r.fp_rate = counter("fp_%");
	}
}

void Table::Finalize()
{
	printf("Millions of keys a second, all threads together (x1, x2: threads)\n"
	       "%-26s %5s %6s %8s %8s",
	       "", "n", "asked", "measured", "bits/key");
	for (const std::string &column : columns_)
		printf(" %10s", column.c_str());
	putchar('\n');
	for (const Row &r : rows_) {
		printf("%-26s %5s %6s %7.3f%% %8.2f", r.contender.c_str(), r.size.c_str(),
		       r.rate.c_str(), r.fp_rate, r.bits_per_key);
		for (const std::string &column : columns_) {
			auto at = r.per_second.find(column);
			if (at == r.per_second.end())
				printf(" %10s", "-");
			else
				printf(" %10.1f", at->second / 1e6);
		}
		putchar('\n');
	}
}

} // namespace bench
