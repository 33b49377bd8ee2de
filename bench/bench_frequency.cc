// SPDX-License-Identifier: MIT
// How much do the counts of a frequency filter exceed the truth? Compares it with two count-min
// sketches of four rows, with equally wide counters in as many bytes: a plain sketch, and a
// conservative sketch, which needs a lock to raise several words at once ([WORD-DECIDES]). Inserts
// keys by Zipf's law, then counts each key. For each class of true counts, prints the mean and the
// 99th percentile of the excess, and the share of exact answers. Measures no times.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>
#include <weir/weir.h>
#include "count_min.h"
#include "zipf.h"

namespace bench {
namespace {

struct Asked {
	uint64_t keys = 1000000, inserts = 10000000;
	std::vector<double> exponents = { 0.8, 1.0, 1.2 };
	std::vector<double> rates = { 0.01, 0.1 }; /* rates to make filters for */
	std::vector<double> counters = { 2 };      /* sizes to make filters of, in counters per
	                                              key */
	uint32_t bits = 16;
	bool layouts = false;
};

struct Stream {
	std::vector<uint64_t> draws;
	std::vector<uint64_t> truth; /* truth[i]: number of inserts of key i */
	uint64_t distinct = 0;
};

/* Draws the keys. Zipf cannot invert its sum at exponent 1, so use an exponent very near to 1. */
Stream stream_of(const Asked &asked, double exponent)
{
	Zipf zipf(asked.keys, exponent == 1 ? 1.000001 : exponent);
	Stream s;
	uint64_t state = 1;
	s.truth.resize(asked.keys);
	for (uint64_t i = 0; i < asked.inserts; i++) {
		s.draws.push_back(zipf(state));
		s.distinct += s.truth[s.draws.back()]++ == 0;
	}
	return s;
}

/* The smallest true count of each class. The first class is that of absent keys. */
constexpr std::array<uint64_t, 6> classes = { 0, 1, 2, 10, 100, 1000 };
const char *const class_names[] = { "absent", "1", "2 to 9", "10 to 99", "100 to 999", "1000 on" };

struct Errors {
	std::array<std::vector<uint64_t>, classes.size()> over;
	uint64_t stuck = 0, below = 0;
};

using Count = std::function<int64_t(uint64_t key)>; /* negative: full */

Errors errors_of(const Stream &s, const Count &count)
{
	Errors e;
	auto ask = [&](uint64_t key, uint64_t truth) {
		int64_t answer = count(key);
		size_t c = classes.size() - 1;
		while (truth < classes[c])
			c--;
		if (answer < 0)
			e.stuck++;
		else if (static_cast<uint64_t>(answer) < truth)
			e.below++;
		else
			e.over[c].push_back(static_cast<uint64_t>(answer) - truth);
	};
	for (size_t i = 0; i < s.truth.size(); i++)
		if (s.truth[i])
			ask(scramble(i), s.truth[i]);
	for (uint64_t i = 0; i < s.distinct; i++)
		ask(scramble(absent + i), 0);
	return e;
}

void print(const char *name, const Errors &e)
{
	std::printf("| %s |", name);
	for (std::vector<uint64_t> over : e.over) {
		double sum = 0;
		if (over.empty()) {
			std::printf(" |");
			continue;
		}
		for (uint64_t o : over)
			sum += static_cast<double>(o);
		std::sort(over.begin(), over.end());
		size_t exact = static_cast<size_t>(
			std::upper_bound(over.begin(), over.end(), uint64_t(0)) - over.begin());
		double n = static_cast<double>(over.size());
		std::printf(" %.3g, %llu, %.4g %% |", sum / n,
		            (unsigned long long)over[static_cast<size_t>(0.99 * (n - 1))],
		            100 * static_cast<double>(exact) / n);
	}
	std::printf(" %llu |\n", (unsigned long long)e.stuck);
	if (e.below) {
		std::fprintf(stderr, "bench_frequency: %s: %llu counts below the truth\n", name,
		             (unsigned long long)e.below);
		std::exit(1);
	}
}

void must(int64_t err)
{
	if (err >= 0)
		return;
	std::fprintf(stderr, "bench_frequency: %s\n", weir_error_detail());
	std::exit(2);
}

void ask_weir(const Stream &s, const struct weir_params &params)
{
	struct weir_filter *f;
	struct weir_stats stats = WEIR_STATS_INIT;
	char shape[WEIR_SHAPE_TEXT];
	must(weir_create(&f, &params));
	for (uint64_t key : s.draws)
		must(weir_insert_u64(f, scramble(key)));
	must(weir_measure(f, WEIR_SAMPLED, &stats));
	must(weir_shape_text(&stats.shape, shape));
	print(shape, errors_of(s, [f](uint64_t key) { return weir_count(f, &key, sizeof key); }));
	weir_destroy(f);
}

template <class Counter> void ask_count_min(const Stream &s, uint64_t bytes)
{
	for (bool conservative : { false, true }) {
		CountMin<Counter> sketch(bytes, conservative);
		for (uint64_t key : s.draws)
			sketch.add(scramble(key));
		print(conservative ? "count-min, conservative" : "count-min",
		      errors_of(s, [&](uint64_t key) {
			      uint64_t n = sketch.count(key);
			      return n == CountMin<Counter>::most ? -1 : static_cast<int64_t>(n);
		      }));
	}
}

/* Measures a filter with the default layout, and count-min sketches with as many bytes as the
 * filter has. With --layouts also measures filters with all other layouts and as many bytes. */
void compare(const Asked &asked, const Stream &s, double exponent, struct weir_params params)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	must(weir_plan_make(&params, &plan));
	std::printf("\nZipf %g: %llu inserts of %llu keys, %u bits a counter, %.1f counters (%.1f "
	            "bits) a key\n\n| mean and 99 %% too much, exact |", exponent,
	            (unsigned long long)s.draws.size(), (unsigned long long)s.distinct, asked.bits,
	            plan.bits_per_key / asked.bits, plan.bits_per_key);
	for (const char *name : class_names)
		std::printf(" %s |", name);
	std::printf(" full |\n|---|---|---|---|---|---|---|---|\n");
	params.fp_rate = 0;
	params.max_bytes = plan.bytes;
	params.frequency.words_per_key = plan.shape.frequency.words_per_key;
	params.frequency.counters_per_word = plan.shape.frequency.counters_per_word;
	ask_weir(s, params);
	for (uint32_t z = 1; asked.layouts && z <= 8; z *= 2)
		for (uint32_t g = 1; g <= 64 / asked.bits; g++) {
			params.frequency.words_per_key = z;
			params.frequency.counters_per_word = g;
			if (weir_plan_make(&params, &plan) == 0)
				ask_weir(s, params);
		}
	if (asked.bits == 8)
		ask_count_min<uint8_t>(s, params.max_bytes);
	else if (asked.bits == 16)
		ask_count_min<uint16_t>(s, params.max_bytes);
	else
		ask_count_min<uint32_t>(s, params.max_bytes);
	std::fflush(stdout);
}

void ask_all(const Asked &asked)
{
	for (double exponent : asked.exponents) {
		Stream s = stream_of(asked, exponent);
		struct weir_params params = WEIR_PARAMS_INIT;
		params.kind = WEIR_FREQUENCY;
		params.capacity = s.distinct;
		params.frequency.counter_bits = asked.bits;
		params.seed = 42;
		for (double rate : asked.rates) {
			params.fp_rate = rate;
			compare(asked, s, exponent, params);
		}
		params.fp_rate = 0;
		for (double counters : asked.counters) {
			params.max_bytes = static_cast<uint64_t>(
				static_cast<double>(s.distinct) * counters * asked.bits / 8);
			compare(asked, s, exponent, params);
		}
	}
}

const char help[] =
	"Usage: bench_frequency [--quick] [--layouts] [--bits=8|16|32]\n"
	"How far above the truth are the counts of a frequency filter, beside those of a\n"
	"count-min in the same bytes? A million keys by Zipf's law (exponents 0.8, 1, 1.2) in\n"
	"ten million inserts; sizes for rates of 1 % and 10 %, and two counters a key.\n"
	"--quick: a tenth of both. --layouts: each layout that the kind has. Exit status: 1 if\n"
	"a count was below the truth.\n";

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
	bench::Asked asked;
	for (int i = 1; i < argc; i++) {
		std::string option = argv[i];
		if (option == "--quick")
			asked.keys /= 10, asked.inserts /= 10;
		else if (option == "--layouts")
			asked.layouts = true;
		else if (option == "--bits=8" || option == "--bits=16" || option == "--bits=32")
			asked.bits = static_cast<uint32_t>(std::atoi(option.c_str() + 7));
		else {
			std::fputs(bench::help, option == "--help" ? stdout : stderr);
			return option == "--help" ? 0 : 2;
		}
	}
	bench::ask_all(asked);
	return 0;
}
