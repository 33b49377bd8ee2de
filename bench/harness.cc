/* SPDX-License-Identifier: MIT
 * See harness.h. */
#include "harness.h"
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <regex.h> // <regex> takes ten seconds to compile
#include <set>
#include <stdexcept>
#include <unistd.h>
#include "left.h"
#include "machine.h"

namespace bench {
namespace {

const Question *question;
bool failed;
const double program_began = clock_ns(CLOCK_MONOTONIC);
double allowed_seconds; /* 0: no limit */

double seconds_since_begin() { return (clock_ns(CLOCK_MONOTONIC) - program_began) * 1e-9; }

/* Return: true if it is too late to start this benchmark. All repetitions of a benchmark get the
 * same answer. bench/collect recognises the message by its beginning. */
bool left_out(benchmark::State &state, const std::string &name)
{
	static std::map<std::string, bool> late;
	bool is = late.emplace(name, allowed_seconds > 0 && seconds_since_begin() > allowed_seconds)
	                  .first->second;
	if (is)
		state.SkipWithError("left out: there was no time for it");
	return is;
}

/* Shows how many benchmarks have run. A terminal gets one line that changes. A log gets a new line
 * every few seconds. */
class Progress {
public:
	void expect(const std::string &name) { names_.push_back(name); }
	/* Counts the benchmarks that Google Benchmark will choose by the pattern. */
	void filter(std::string pattern)
	{
		bool without = !pattern.empty() && pattern[0] == '-';
		regex_t chosen;
		if (regcomp(&chosen, pattern.c_str() + without, REG_EXTENDED | REG_NOSUB))
			throw std::runtime_error("no regular expression: " + pattern);
		for (const std::string &name : names_)
			total_ += (regexec(&chosen, name.c_str(), 0, nullptr, 0) == 0) != without;
		regfree(&chosen);
	}
	void begin(const std::string &name)
	{
		if (!seen_.insert(name).second)
			return;
		bool terminal = isatty(2);
		double spent = clock_ns(CLOCK_MONOTONIC) * 1e-9 - began_;
		if (!terminal && spent < shown_ + log_every)
			return;
		shown_ = spent;
		char left[48] = "";
		double seconds = seconds_left(seen_.size() - 1, total_, spent, allowed_seconds);
		if (seconds >= 0)
			snprintf(left, sizeof(left), ", about %.0f s left", seconds);
		fprintf(stderr, terminal ? "\r%zu of %zu%s: %s\033[K\r" : "  %zu of %zu%s: %s\n",
		        seen_.size(), total_, left, name.c_str());
	}
	void end() const
	{
		if (isatty(2))
			fputs("\r\033[K", stderr);
	}

private:
	std::vector<std::string> names_;
	std::set<std::string> seen_;
	size_t total_ = 0;
	static constexpr double log_every = 15; /* seconds */
	double began_ = clock_ns(CLOCK_MONOTONIC) * 1e-9, shown_ = 0;
};

Progress &progress()
{
	static Progress line;
	return line;
}

void run(benchmark::State &state, const std::string &name,
         const std::function<void(benchmark::State &)> &body)
{
	if (left_out(state, name))
		return;
	progress().begin(name);
	try {
		body(state);
	} catch (const std::exception &e) {
		fprintf(stderr, "bench_%s: %s: %s\n", question->name, name.c_str(), e.what());
		failed = true;
		state.SkipWithError(e.what());
	}
}

/* Three repetitions are the fewest from which the report can tell the spread. */
constexpr Pace smoke = { 3, 0.01 };

#define OF_SIZE \
	"  --size=KEYS  ask about a set of so many keys, or as near as there is\n" \
	"               time for\n"
const char of_size[] = OF_SIZE;
const char of_set[] = OF_SIZE
	"  --rate=RATE  ask at this false-positive rate first, such as 0.5% or 0.005\n";

double wanted_rate(const std::string &text)
{
	char *end;
	double rate = strtod(text.c_str(), &end);
	if (*end == '%') {
		rate /= 100;
		end++;
	}
	if (*end || !(rate > 0 && rate <= 0.5)) {
		fprintf(stderr, "bench_%s: --rate=%s: give a rate above 0 and up to 0.5, such as "
		                "0.5%% or 0.005\n", question->name, text.c_str());
		exit(2);
	}
	return rate;
}

void usage(FILE *out)
{
	fprintf(out,
	        "usage: bench_%s [--smoke | --quick | --full] [--no-context] [--within=SECONDS]%s\n"
	        "       [Google Benchmark's options]\n\n%s\n"
	        "  --smoke      the least that the report needs, in seconds (%u repetitions of\n"
	        "               %g s): proof that it works, no measurement\n"
	        "  --quick      a selection (%u repetitions of %g s each)\n"
	        "  --full       everything (%u of %g s); without either, what is usual (%u of\n"
	        "               %g s)\n"
	        "  --no-context print nothing about the machine (the JSON has it)\n"
	        "  --within=SECONDS  begin nothing after so long: the rest is left out\n%s"
	        "  --help       this text, and Google Benchmark's own options\n\n"
	        "items_per_second are keys. One thread's time is of its CPU, several threads' of\n"
	        "the clock, unless stated otherwise above.\n"
	        "shared: there were more threads than CPUs, or other programs took a CPU for more\n"
	        "than a twentieth of the time. It exits with 1 if a filter lost a key.\n\n",
	        question->name,
	        question->takes == Question::keys ? "\n       [--keys FILE ...]" :
	        question->takes == Question::size ? "\n       [--size=KEYS]" :
	        question->takes == Question::set  ? "\n       [--size=KEYS] [--rate=RATE]" :
	                                            "",
	        question->help, smoke.repetitions, smoke.seconds,
	        question->quick.repetitions, question->quick.seconds, question->full.repetitions,
	        question->full.seconds, question->normal.repetitions, question->normal.seconds,
	        question->takes == Question::keys ?
	                "  --keys FILE  keys, one a line; several files may follow\n" :
	        question->takes == Question::size ? of_size :
	        question->takes == Question::set  ? of_set :
	                                            "");
}

const std::map<std::string, Mode> modes = { { "--smoke", Mode::smoke },
	                                    { "--quick", Mode::quick },
	                                    { "--full", Mode::full } };

struct Arguments {
	Options options;
	std::vector<std::string> rest; /* options that are passed on to Google Benchmark */
	std::string filter; /* --benchmark_filter; "": the mode's default */
	bool context = true;
};

Arguments parse(int argc, char **argv)
{
	Arguments a;
	for (int i = 1; i < argc; i++) {
		std::string arg = argv[i];
		if (modes.count(arg))
			a.options.mode = modes.at(arg);
		else if (arg == "--no-context")
			a.context = false;
		else if (arg.rfind("--within=", 0) == 0)
			allowed_seconds = strtod(arg.c_str() + 9, nullptr);
		else if (question->takes == Question::set && arg.rfind("--rate=", 0) == 0)
			a.options.rate = wanted_rate(arg.substr(7));
		else if ((question->takes == Question::size || question->takes == Question::set) &&
		         arg.rfind("--size=", 0) == 0)
			a.options.size = strtoull(arg.c_str() + 7, nullptr, 10);
		else if (question->takes == Question::keys && arg == "--keys" && i + 1 < argc &&
		         argv[i + 1][0] != '-')
			while (i + 1 < argc && argv[i + 1][0] != '-')
				a.options.keys.push_back(argv[++i]);
		else if (question->takes == Question::keys && arg.rfind("--keys=", 0) == 0)
			a.options.keys.push_back(arg.substr(7));
		else
			a.rest.push_back(arg == "-h" ? "--help" : arg);
		if (arg.rfind("--benchmark_filter=", 0) == 0)
			a.filter = arg.substr(19);
		if (arg == "--help" || arg == "-h")
			usage(stdout);
	}
	if (a.filter.empty())
		a.filter = a.options.smoke() ? question->smoke : ".";
	return a;
}

/* Passes Google Benchmark its options. Our options come first, so that the user's options override
 * them. */
bool initialize(const char *program, const Arguments &a)
{
	const Pace &pace = a.options.smoke() ? smoke :
	                   a.options.quick() ? question->quick :
	                   a.options.full()  ? question->full :
	                                       question->normal;
	/* Google Benchmark keeps a pointer to the program's name */
	static std::vector<std::string> words;
	words = { program, "--benchmark_filter=" + a.filter,
		  "--benchmark_repetitions=" + std::to_string(pace.repetitions),
		  "--benchmark_min_time=" + std::to_string(pace.seconds) + BENCH_UNIT_OF_TIME };
	words.insert(words.end(), a.rest.begin(), a.rest.end());
	std::vector<char *> pointers;
	for (std::string &word : words)
		pointers.push_back(word.data());
	pointers.push_back(nullptr);
	int count = static_cast<int>(words.size());
	benchmark::Initialize(&count, pointers.data());
	return !benchmark::ReportUnrecognizedArguments(count, pointers.data());
}

/* Prints only results, for --no-context. Google Benchmark's own reporter also prints lines about
 * the machine. */
class Results final : public benchmark::ConsoleReporter {
public:
	Results() : ConsoleReporter(isatty(STDOUT_FILENO) ? OO_Defaults : OO_Tabular) {}
	bool ReportContext(const Context &context) override
	{
		name_field_width_ = context.name_field_width;
		return true;
	}
};

} // namespace

Part::Part(const char *k, double v) : key(k)
{
	char text[32];
	snprintf(text, sizeof(text), "%g", v);
	value = text;
}

benchmark::internal::Benchmark *add(std::initializer_list<Part> parts,
                                    std::function<void(benchmark::State &)> body)
{
	std::string name = question->name;
	for (const Part &part : parts)
		name += std::string("/") + part.key + ":" + part.value;
	progress().expect(name);
	return benchmark::RegisterBenchmark(
		       name.c_str(),
		       [name, body](benchmark::State &state) { run(state, name, body); })
		->UseManualTime()
		->Unit(benchmark::kMicrosecond);
}

void report(benchmark::State &state, const Tally &tally, unsigned threads)
{
	state.SetItemsProcessed(static_cast<int64_t>(tally.keys));
	bool outnumbered = threads > allowed_cpus().size();
	counter(state, "shared", outnumbered || tally.waited_ns > 0.05 * tally.wall_ns);
	lost_keys(state, tally.lost);
}

void report(benchmark::State &state, const Quality &quality, uint64_t bytes)
{
	counter(state, "bits_per_key", quality.bits_per_key);
	if (quality.words_per_key)
		counter(state, "z", quality.words_per_key);
	counter(state, "fp_asked", quality.fp_asked);
	counter(state, "fp_measured", quality.fp_measured);
	counter(state, "fp_interval", quality.fp_interval);
	counter(state, "bytes", static_cast<double>(bytes));
	lost_keys(state, quality.lost);
}

void lost_keys(benchmark::State &state, uint64_t lost)
{
	counter(state, "lost", state.counters["lost"].value + static_cast<double>(lost));
	if (!lost)
		return;
	failed = true;
	state.SkipWithError("keys were lost");
}

int answer(int argc, char **argv, const Question &q)
{
	question = &q;
	allowed_cpus(); /* makes the list of CPUs before pin() restricts this thread */
	try {
		Arguments a = parse(argc, argv);
		if (!initialize(argv[0], a)) {
			usage(stderr);
			return 2;
		}
		q.add_all(a.options);
		progress().filter(a.filter);
		benchmark::AddCustomContext("weir_isa", weir_isa());
		benchmark::AddCustomContext("mode", a.options.smoke() ? "smoke" :
		                                    a.options.quick() ? "quick" :
		                                    a.options.full()  ? "full" :
		                                                        "normal");
		if (a.context) {
			benchmark::RunSpecifiedBenchmarks();
		} else {
			Results results;
			benchmark::RunSpecifiedBenchmarks(&results);
		}
		progress().end();
		benchmark::Shutdown();
	} catch (const std::exception &e) {
		fprintf(stderr, "bench_%s: %s\n", q.name, e.what());
		return 1;
	}
	return failed;
}

} // namespace bench
