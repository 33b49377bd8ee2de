/* SPDX-License-Identifier: MIT
 * Measures the figures that weir promises, most of them ratios. Each comparison runs both sides in
 * short alternating rounds. It prints the median time of each side, the median of the rounds'
 * ratios with its spread, memory and measured rate of both sides, and whether the promise is met.
 * This is a report, not a test: the exit status is 0 even if a promise is not met, and 1 only after
 * a failure, such as a lost key. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <map>
#include <stdexcept>
#include <unistd.h>
#include "measure.h"
#include "targets.h"

namespace bench {
namespace {

struct Options {
	unsigned rounds = 31;
	double round_ms = 20;
	size_t largest = 10000000;
	std::string only, json;
	bool promised = false, list = false;
};

struct Outcome {
	Comparison what;
	Series first, second, ratio;
	Facts first_facts, second_facts;
	double busy = 1;
	bool judged() const { return what.limit > 0 || what.most_ns > 0; }
	/* The ratio of the two sides' 10 % quantiles: other tenants of the machine disturb the
	 * fastest rounds least. */
	double quiet() const
	{
		double one = first.quantile(0.1), two = second.quantile(0.1);
		return what.gain ? two / one : one / two;
	}
	bool within_slack() const
	{
		return what.slack_ns > 0 && first.median() - second.median() <= what.slack_ns;
	}
	bool met() const
	{
		if (what.most_bits > 0 && first_facts.bits_per_key > what.most_bits)
			return false;
		if (what.most_ns > 0)
			return first.median() <= what.most_ns;
		return within_slack() ||
		       (what.gain ? ratio.median() >= what.limit : ratio.median() <= what.limit);
	}
};

std::unique_ptr<Set> make(const Side &side, const Comparison &c)
{
	ForcedIsa forced(side.isa);
	return side.make(c.n, c.rate);
}

/* A side with a filled filter and waiting threads. */
struct Runner {
	Runner(const Side &side, const Comparison &c, const Keys &keys)
	    : op(side.op), team(side.threads), set(make(side, c)), facts(fill_and_ask(*set, keys))
	{
		if (facts.lost && !side.no_filter)
			throw std::runtime_error(side.name + std::string(": lost ") +
			                         std::to_string(facts.lost) + " keys");
	}
	Cost round(const Keys &keys, size_t first, size_t count, bool wall)
	{
		return measure(team, *set, op, keys, first, count, wall);
	}

	Op op;
	Team team;
	std::unique_ptr<Set> set;
	Facts facts;
};

Outcome compare(const Comparison &c, const Keys &keys, const Options &options)
{
	Outcome o;
	o.what = c;
	Runner first(c.first, c, keys), second(c.second, c, keys);
	o.first_facts = first.facts;
	o.second_facts = second.facts;
	bool wall = c.wall || c.first.threads > 1 || c.second.threads > 1;
	size_t count = std::min<size_t>(c.n, size_t(1) << 20);
	Cost warm = second.round(keys, 0, count, wall);
	first.round(keys, 0, count, wall);
	count = std::max<size_t>(size_t(1) << 16,
	                         static_cast<size_t>(options.round_ms * 1e6 / warm.ns));
	unsigned rounds = options.rounds;
	if (takes_all(c.first.op)) /* a round is as long as it takes to fill the filter */
		rounds = std::min(rounds,
		                  std::max(5u, static_cast<unsigned>(5e9 / (warm.ns * warm.keys))));
	/* The side that runs later finds the round's keys in the cache. So a round of lookups runs
	 * the sides in the order first, second, second, first. A round of inserts takes long, so it
	 * runs each side once, and the order changes from round to round. */
	bool twice = !takes_all(c.first.op);
	for (unsigned i = 0; i < rounds; i++) {
		Cost one = {}, two = {};
		for (unsigned turn = 0; turn < (twice ? 2 : 1); turn++) {
			bool backwards = (twice ? turn : i) % 2;
			for (bool is_first : { !backwards, backwards }) {
				Runner &side = is_first ? first : second;
				Cost cost = side.round(keys, (2 * i + turn) * count, count, wall);
				(is_first ? one : two).ns += cost.ns / (twice ? 2 : 1);
				o.busy = std::min(o.busy, cost.busy);
			}
		}
		o.first.values.push_back(one.ns);
		o.second.values.push_back(two.ns);
		o.ratio.values.push_back(c.gain ? two.ns / one.ns : one.ns / two.ns);
	}
	return o;
}

std::string size_name(size_t n)
{
	return n % 1000000 ? std::to_string(n / 1000) + "k" : std::to_string(n / 1000000) + "M";
}

const char *verdict(const Outcome &o)
{
	return !o.judged() ? "" : o.met() ? "met" : "NOT MET";
}

void print(const Outcome &o)
{
	char limit[32] = "";
	if (o.what.most_bits > 0)
		snprintf(limit, sizeof(limit), "<= %.1f ns, %.2f bits", o.what.most_ns,
		         o.what.most_bits);
	else if (o.what.most_ns > 0)
		snprintf(limit, sizeof(limit), "<= %.1f ns", o.what.most_ns);
	else if (o.judged())
		snprintf(limit, sizeof(limit),
		         o.what.slack_ns > 0 ? "%s %.2f or +%.1f ns" : "%s %.2f",
		         o.what.gain ? ">=" : "<=", o.what.limit, o.what.slack_ns);
	printf("%-31s %4s %5.2f%% %-27s %7.2f  %-27s %7.2f  %6.3f %4.1f%%%s %6.3f %-8s %s%s\n",
	       o.what.question, size_name(o.what.n).c_str(), o.what.rate * 100, o.what.first.name,
	       o.first.median(), o.what.second.name, o.second.median(), o.ratio.median(),
	       o.ratio.spread() * 100, o.ratio.spread() > 0.1 ? "!" : " ", o.quiet(), limit,
	       verdict(o), o.busy < 0.9 ? "  (CPU was shared)" : "");
}

void print_facts(const std::vector<Outcome> &outcomes)
{
	std::map<std::string, Facts> seen;
	for (const Outcome &o : outcomes)
		for (bool second : { false, true }) {
			const Side &side = second ? o.what.second : o.what.first;
			char key[128];
			snprintf(key, sizeof(key), "%10s %5.2f%% %-28s",
			         size_name(o.what.n).c_str(), o.what.rate * 100, side.name);
			if (!side.no_filter)
				seen[key] = second ? o.second_facts : o.first_facts;
		}
	printf("\nMeasured when filled to capacity (0 false negatives in each):\n"
	       "%10s %6s %-28s %9s %8s\n",
	       "n", "asked", "", "bits/key", "measured");
	for (const auto &[key, facts] : seen)
		printf("%s %9.2f %7.3f%%\n", key.c_str(), facts.bits_per_key, facts.rate * 100);
}

void write_json(const std::string &path, const std::vector<Outcome> &outcomes)
{
	FILE *out = fopen(path.c_str(), "w");
	if (!out)
		throw std::runtime_error(path + ": " + strerror(errno));
	fprintf(out,
	        "{\n  \"cpu\": \"%s\", \"cpus\": %zu, \"load_average\": %.2f, \"isa\": \"%s\",\n"
	        "  \"comparisons\": [",
	        cpu_name().c_str(), allowed_cpus().size(), load_average(), weir_isa().c_str());
	auto side = [&](const char *name, const Side &s, const Series &t, const Facts &f) {
		fprintf(out,
		        "\"%s\": {\"name\": \"%s\", \"threads\": %u, \"ns\": %.4f, "
		        "\"spread\": %.4f, \"bits_per_key\": %.4f, \"measured_rate\": %.6f}",
		        name, s.name, s.threads, t.median(), t.spread(), f.bits_per_key, f.rate);
	};
	const char *comma = "";
	for (const Outcome &o : outcomes) {
		fprintf(out, "%s\n    {\"question\": \"%s\", \"n\": %zu, \"rate\": %g, ", comma,
		        o.what.question, o.what.n, o.what.rate);
		side("first", o.what.first, o.first, o.first_facts);
		fprintf(out, ", ");
		side("second", o.what.second, o.second, o.second_facts);
		fprintf(out,
		        ", \"ratio\": %.4f, \"ratio_spread\": %.4f, \"ratio_quiet\": %.4f, "
		        "\"rounds\": %zu, \"busy\": %.3f",
		        o.ratio.median(), o.ratio.spread(), o.quiet(), o.ratio.values.size(),
		        o.busy);
		if (o.what.most_ns > 0)
			fprintf(out, ", \"most_ns\": %g, \"most_bits\": %g, \"met\": %s",
			        o.what.most_ns, o.what.most_bits, o.met() ? "true" : "false");
		else if (o.judged())
			fprintf(out, ", \"limit\": %g, \"at_least\": %s, \"met\": %s", o.what.limit,
			        o.what.gain ? "true" : "false", o.met() ? "true" : "false");
		fprintf(out, "}");
		comma = ",";
	}
	fprintf(out, "\n  ]\n}\n");
	if (fclose(out))
		throw std::runtime_error(path + ": " + strerror(errno));
}

std::vector<Comparison> chosen(const Options &options)
{
	std::vector<Comparison> out;
	for (const Comparison &c : targets())
		if (c.n <= options.largest &&
		    (c.limit > 0 || c.most_ns > 0 || c.machine || !options.promised) &&
		    std::string(c.question).find(options.only) != std::string::npos &&
		    weir_has_isa(c.first.isa) && weir_has_isa(c.second.isa))
			out.push_back(c);
	std::stable_sort(out.begin(), out.end(),
	                 [](const Comparison &a, const Comparison &b) { return a.n < b.n; });
	return out;
}

void run(const Options &options)
{
	std::vector<Comparison> todo = chosen(options);
	if (options.list) {
		for (const Comparison &c : todo)
			printf("%s, n = %s, %g %%: %s : %s\n", c.question, size_name(c.n).c_str(),
			       c.rate * 100, c.first.name, c.second.name);
		return;
	}
	printf("%s, %zu CPUs, load average %.2f, weir's kernel: %s\n", cpu_name().c_str(),
	       allowed_cpus().size(), load_average(), weir_isa().c_str());
	printf("Nanoseconds a key, medians of %u alternating rounds. Ratio: median of the rounds' "
	       "own, and\n"
	       "its interquartile range (!: above 10 %%). Quiet: the ratio of the quickest tenths, "
	       "beside it,\n"
	       "for a machine that is shared.\n\n",
	       options.rounds);
	printf("%-31s %4s %6s %-27s %7s  %-27s %7s  %6s %5s  %6s\n", "", "n", "rate", "", "ns", "",
	       "ns", "ratio", "", "quiet");
	std::vector<Outcome> outcomes;
	std::unique_ptr<Keys> keys;
	for (const Comparison &c : todo) {
		if (!keys || keys->present.size() != c.n)
			keys = std::make_unique<Keys>(c.n, std::max<size_t>(c.n, 10000000));
		if (isatty(2))
			fprintf(stderr, "\r%zu of %zu: %s, n = %s\033[K\r", outcomes.size() + 1,
			        todo.size(), c.question, size_name(c.n).c_str());
		outcomes.push_back(compare(c, *keys, options));
		if (isatty(2))
			fprintf(stderr, "\033[K");
		print(outcomes.back());
		fflush(stdout);
	}
	print_facts(outcomes);
	if (!options.json.empty())
		write_json(options.json, outcomes);
}

const char usage[] =
	"usage: bench_targets [--largest=N] [--rounds=N] [--ms=N] [--promised]\n"
	"       [--only=TEXT] [--json=FILE] [--list]\n"
	"  --largest=N  leave out sizes above N keys (10000000; 100000000 for all)\n"
	"  --rounds=N   alternating rounds a comparison (31)\n"
	"  --ms=N       length of a round of lookups (20)\n"
	"  --promised   only the comparisons with a promise, and what the machine allows\n"
	"  --only=TEXT  comparisons whose question contains TEXT\n"
	"  --json=FILE  write the figures there too\n"
	"  --list       print the comparisons, run none\n";

Options parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "largest", required_argument, nullptr, 'n' },
		{ "rounds", required_argument, nullptr, 'r' },
		{ "ms", required_argument, nullptr, 'm' },
		{ "only", required_argument, nullptr, 'o' },
		{ "promised", no_argument, nullptr, 'p' },
		{ "json", required_argument, nullptr, 'j' },
		{ "list", no_argument, nullptr, 'l' },
		{ "help", no_argument, nullptr, 'h' },
		{ nullptr, 0, nullptr, 0 },
	};
	Options o;
	for (int c; (c = getopt_long(argc, argv, "h", longs, nullptr)) != -1;) {
		switch (c) {
		case 'n': o.largest = strtoull(optarg, nullptr, 10); break;
		case 'r': o.rounds = static_cast<unsigned>(std::max(1, atoi(optarg))); break;
		case 'm': o.round_ms = std::max(1.0, atof(optarg)); break;
		case 'p': o.promised = true; break;
		case 'o': o.only = optarg; break;
		case 'j': o.json = optarg; break;
		case 'l': o.list = true; break;
		case 'h': fputs(usage, stdout); exit(0);
		default: fputs(usage, stderr); exit(2);
		}
	}
	return o;
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
	bench::Options options = bench::parse(argc, argv);
	try {
		bench::run(options);
	} catch (const std::exception &e) {
		fprintf(stderr, "bench_targets: %s\n", e.what());
		return 1;
	}
	return 0;
}
