/* SPDX-License-Identifier: MIT
 * Which kind and size? Measures the time, the memory and the real rate of each kind, at the same
 * rate for all kinds and at the same size for all kinds. */
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>
#include <weir/weir.h>
#include "choice_kinds.h"
#include "harness.h"
#include "sets/weir_filter.h"

namespace bench {
namespace {

struct Case {
	const Kind *kind;
	size_t n;
	/* one of these is 0: the case asks for a rate, or for a number of bits per key */
	double rate, bits;
	const char *op;
	Verb verb;
	size_t batch;
	size_t most_misses;
};

struct Filled {
	const Kind *kind = nullptr;
	size_t n = 0;
	double rate = 0, bits = 0;
	std::unique_ptr<Work> work;
	Quality quality;
};

Filled &filled(const Case &c)
{
	static Filled last;
	if (last.kind != c.kind || last.n != c.n || last.rate != c.rate || last.bits != c.bits) {
		last = Filled();
		Made made = c.kind->make(c.n, c.rate, c.bits);
		last.work = std::make_unique<Work>(std::move(made.set), c.n);
		last.quality = last.work->fill(made.rate, c.most_misses);
		last.kind = c.kind;
		last.n = c.n;
		last.rate = c.rate;
		last.bits = c.bits;
	}
	return last;
}

/* Return: true if weir would choose this layout by default. */
bool is_default(const Case &c)
{
	struct weir_params params = WeirFilter::params_of(c.n, c.rate, WEIR_BLOCKED);
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (c.bits > 0) {
		params.fp_rate = 0;
		params.max_bytes = static_cast<uint64_t>(static_cast<double>(c.n) * c.bits / 8);
	}
	check(weir_plan_make(&params, &plan), "weir_plan_make");
	return c.kind->words_per_key == plan.shape.blocked.words_per_key;
}

void run(benchmark::State &state, const Case &c)
{
	Filled &f = filled(c);
	Team &team = team_of(1);
	f.work->set().take_at_once(c.batch);
	size_t each = f.work->usual();
	f.work->round(team, c.verb, each);
	Tally tally = rounds(state, [&] { return f.work->round(team, c.verb, each); });
	report(state, f.quality, f.work->set().bytes());
	report(state, tally, 1);
	if (c.kind->words_per_key && c.kind->name == "blocked")
		counter(state, "is_default", is_default(c));
	if (!c.kind->weir)
		return;
	counter(state, "weir", 1);
	counter(state, "inserts", c.kind->inserts);
	counter(state, "removes", c.kind->removes);
	counter(state, "counts", c.kind->counts);
	counter(state, "grows", c.kind->grows);
}

void add_case(const Case &c)
{
	Part size = c.bits > 0 ? Part("bits", c.bits) : Part("rate", c.rate);
	auto body = [c](benchmark::State &state) { run(state, c); };
	if (c.kind->words_per_key)
		add({ { "kind", c.kind->name }, { "z", c.kind->words_per_key }, size,
		      { "keys", c.n }, { "op", c.op } }, body);
	else
		add({ { "kind", c.kind->name }, size, { "keys", c.n }, { "op", c.op } }, body);
}

void add_ops(std::vector<Case> &cases, Case c, const Options &options)
{
	for (Verb verb : { Verb::hit, Verb::miss, Verb::insert, Verb::remove, Verb::count }) {
		c.op = name_of(verb);
		c.verb = verb;
		c.batch = 0;
		if ((verb == Verb::insert && !c.kind->inserts) ||
		    (verb == Verb::remove && !c.kind->removes) ||
		    (verb == Verb::count && !c.kind->counts))
			continue;
		if (!c.kind->batch_only && (verb != Verb::hit || !options.quick()))
			cases.push_back(c);
		if (verb == Verb::miss && (c.kind->weir || c.kind->batch_only)) {
			c.op = "batch";
			c.batch = c.kind->weir ? batch_keys : 0;
			cases.push_back(c);
		}
	}
}

constexpr size_t most_points = 12;

/* The report compares the kinds at the operator's rate, or by default at this rate. */
constexpr double usual_rate = 0.01;

/* Return: true if the report compares kinds by this row. These rows look up absent keys at
 * @first_rate. A row with a given number of words per key is such a row only for the blocked kind
 * with the default layout. */
bool is_first(const Case &c, double first_rate)
{
	return c.rate == first_rate && c.op == std::string("miss") &&
	       (!c.kind->words_per_key || (c.kind->name == "blocked" && is_default(c)));
}

/* The rates, and the bits per key, at which a kind is measured. */
struct Points {
	std::vector<double> rates, bits;
};

const Points &usual_points(const Kind &kind, const Options &options)
{
	static const Points all = { { usual_rate, 0.1, 0.03, 0.003, 0.001, 1e-4, 1e-5 },
	                            { 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128, 192 } };
	static const Points usual = { { usual_rate, 0.1, 0.03, 0.001, 1e-4, 1e-5 },
	                              { 8, 10, 12, 16, 24 } };
	static const Points quick = { { usual_rate, 0.1, 0.001, 1e-5 }, { 8, 12, 16 } };
	static const Points slow = { { usual_rate, 0.1, 0.001 }, { 8, 12, 16 } };
	static const Points few = { { usual_rate, 0.1, 0.001, 1e-5 }, { 16 } };
	if (options.full())
		return all;
	if (kind.when == Kind::few)
		return few;
	return options.quick() ? quick : kind.when == Kind::slow ? slow : usual;
}

/* Return: the points of a kind. The operator's rate comes first. */
Points points_of(const Kind &kind, const Options &options)
{
	Points points = usual_points(kind, options);
	std::vector<double> &rates = points.rates;
	if (options.rate > 0) {
		auto same = [&](double rate) { return std::abs(rate / options.rate - 1) < 1e-9; };
		rates.erase(std::remove_if(rates.begin(), rates.end(), same), rates.end());
		rates.insert(rates.begin(), options.rate);
	}
	return points;
}

/* Return: the operator's number of keys, or the mode's default. A number below 100,000 is raised to
 * 100,000, because with fewer keys the kinds hardly differ. A large number is lowered to the
 * largest number that the mode has time for. */
size_t keys_of(const Options &options)
{
	size_t usual = options.smoke() ? 100000 : options.quick() ? 1000000 : 10000000;
	if (!options.size)
		return usual;
	return std::clamp<size_t>(options.size, 100000, options.quick() ? usual : 10 * usual);
}

void add_all(const Options &options)
{
	size_t n = keys_of(options);
	size_t most = options.full()  ? size_t(1) << 30 :
	              options.smoke() ? size_t(1) << 20 :
	              options.quick() ? size_t(1) << 23 :
	                                size_t(1) << 27;
	auto last = options.quick() ? Kind::few : options.full() ? Kind::rare : Kind::slow;
	/* Add the cases point by point. So a run that ends early has measured every kind at the
	 * same points. */
	std::vector<Case> cases;
	for (bool memory : { false, true })
		for (size_t i = 0; i < most_points; i++)
			for (const Kind &kind : kinds()) {
				const Points points = points_of(kind, options);
				const std::vector<double> &at = memory ? points.bits : points.rates;
				if (kind.when > last || i >= at.size() ||
				    !kind.can(n, memory ? 0 : at[i], memory ? at[i] : 0))
					continue;
				add_ops(cases, { &kind, n, memory ? 0 : at[i], memory ? at[i] : 0,
				                 "", Verb::miss, 0, most }, options);
			}
	/* Run the first row of every kind before any second row. A busy machine may end a run
	 * early, and advice from half of the kinds would be wrong. */
	const double first_rate = options.rate > 0 ? options.rate : usual_rate;
	std::stable_partition(cases.begin(), cases.end(),
	                      [first_rate](const Case &c) { return is_first(c, first_rate); });
	for (const Case &c : cases)
		add_case(c);
}

const char help[] =
	"Which kind and size? Time, memory and measured rate of each kind, on one CPU: at equal\n"
	"rate (rate:0.01, asked of all; where a kind has none so high, fp_asked is its own) and\n"
	"at equal memory (bits:12, bits a key given to all; fp_asked is then what the layout's\n"
	"own formula expects). blocked has one layout for each z, the words a key touches;\n"
	"is_default: weir would choose this one. growing begins with room for a hundredth of the\n"
	"keys. hit, miss, insert, remove and count take a key a call, the last two of kinds that\n"
	"can; batch asks absent keys 1024 a call. yardstick, of split blocks, is called\n"
	"through a pointer, as weir's verbs are (cores has it inlined, as split); it, libbloom\n"
	"and textbook are what there is otherwise. fp_interval above 0.1: there were not enough\n"
	"absent keys to give the rate within a tenth; --quick asks 8 million at most, --full a\n"
	"thousand million.\n";

const Question choice = { "choice", help, { 3, 0.02 }, { 5, 0.03 }, { 9, 0.2 },
			   "/rate:0.01/", Question::set, add_all };

} // namespace
} // namespace bench

int main(int argc, char **argv) { return bench::answer(argc, argv, bench::choice); }
