/* SPDX-License-Identifier: MIT
 * An example in C++17: how many different lines do the files have? Each file has a thread, and the
 * threads share no lock. words_per_key is 1, so exactly one thread gets WEIR_NEW for a new line.
 *
 *     distinct LINES FILE...      LINES: the largest number of different lines
 */
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
#include <weir/weir.h>

namespace {

/* A filter that frees itself. Its functions throw weir's error message. */
class Seen {
public:
	explicit Seen(std::uint64_t capacity)
	{
		weir_params params = WEIR_PARAMS_INIT;
		weir_filter *made = nullptr;
		params.capacity = capacity;
		params.fp_rate = 1e-6; /* this share of new lines is taken for known ones */
		params.blocked.words_per_key = 1;
		if (weir_create(&made, &params) < 0)
			throw std::runtime_error(weir_error_detail());
		filter.reset(made);
	}

	/* Return: true for the first call with this line, unless the line is a false positive.
	 * Later calls return false. */
	bool first(std::string_view line)
	{
		return weir_insert(filter.get(), line.data(), line.size()) == WEIR_NEW;
	}

	struct weir_stats stats() const /* "struct", because weir_stats is also a function */
	{
		struct weir_stats now = WEIR_STATS_INIT;
		if (weir_measure(filter.get(), WEIR_EXACT, &now) < 0)
			throw std::runtime_error(weir_error_detail());
		return now;
	}

private:
	struct Destroy {
		void operator()(weir_filter *f) const { weir_destroy(f); }
	};
	std::unique_ptr<weir_filter, Destroy> filter;
};

std::uint64_t count(Seen &seen, const std::string &name, std::atomic<bool> &failed)
{
	std::ifstream file(name);
	std::uint64_t lines = 0;
	for (std::string line; std::getline(file, line);)
		lines += seen.first(line);
	if (!file.eof()) {
		std::cerr << name << ": cannot be read\n";
		failed = true;
	}
	return lines;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 3) {
		std::cerr << "usage: " << argv[0] << " LINES FILE...\n";
		return 2;
	}
	try {
		Seen seen(std::strtoull(argv[1], nullptr, 10));
		std::atomic<std::uint64_t> lines{ 0 };
		std::atomic<bool> failed{ false };
		std::vector<std::thread> threads;
		for (int i = 2; i < argc; i++)
			threads.emplace_back([&, name = std::string(argv[i])] {
				lines += count(seen, name, failed);
			});
		for (std::thread &thread : threads)
			thread.join();
		std::cout << lines << '\n';
		if (seen.stats().saturated)
			std::cerr << "more lines than " << argv[1] << ": too few were counted\n";
		return failed || seen.stats().saturated;
	} catch (const std::exception &e) {
		std::cerr << argv[0] << ": " << e.what() << '\n';
		return 1;
	}
}
