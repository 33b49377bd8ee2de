/* SPDX-License-Identifier: MIT
 * Prints the results as a table: a row for each contender, a column for each operation and number
 * of threads. */
#ifndef WEIR_BENCH_TABLE_H
#define WEIR_BENCH_TABLE_H

#include <map>
#include <string>
#include <vector>
#include <benchmark/benchmark.h>

namespace bench {

/* Reads names of the form verb/contender/n:N/p:P%/threads:T/... and prints the table at the end. */
class Table final : public benchmark::BenchmarkReporter {
public:
	bool ReportContext(const Context &) override { return true; }
	void ReportRuns(const std::vector<Run> &runs) override;
	void Finalize() override;

private:
	struct Row {
		std::string contender, size, rate;
		double bits_per_key, fp_rate;
		std::map<std::string, double> per_second;
	};

	Row &row(const std::string &contender, const std::string &size, const std::string &rate);

	std::vector<Row> rows_;
	std::vector<std::string> columns_;
};

} // namespace bench

#endif
