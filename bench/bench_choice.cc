/* SPDX-License-Identifier: MIT
 * Which kind and size? Every kind there is, at one rate asked of all and at one size given to
 * all: its time, its memory, and the rate that it really has. */
#include <cmath>
#include <functional>
#include <memory>
#include <weir/weir.h>
#include "../src/tool/numbers.h"
#include "harness.h"
#include "machine.h"
#include "sets/weir_filter.h"

namespace bench {
namespace {

struct Made {
	std::unique_ptr<Set> set;
	double rate; /* asked, or what the layout's own formula expects */
};

/* Makes a set for @n keys at @rate, or of @bits a key where that is not 0. */
using Make = std::function<Made(size_t n, double rate, double bits)>;

struct Kind {
	std::string name;
	uint32_t words_per_key; /* 0: there is no choice */
	Make make;
	/* slow: few points in a default run, none in a quick one; rare: in a full one only */
	enum { always, slow, rare } when;
	bool batch_only = false; /* another set with the same bits: a yardstick's batch verb */
	bool weir = false;
};

Made weir_kind(uint32_t kind, uint32_t z, size_t n, double rate, double bits)
{
	struct weir_params params = WeirFilter::params_of(n, rate, kind);
	params.words_per_key = z;
	if (bits > 0) {
		params.fp_rate = 0;
		params.max_bytes = static_cast<uint64_t>(static_cast<double>(n) * bits / 8);
	}
	std::unique_ptr<LayoutSet> set = weir_layout(params);
	double expected = set->fp_rate();
	return { std::move(set), bits > 0 ? expected : rate };
}

/* A kind, or each number of words of one that has words a key. */
void add_weir(std::vector<Kind> &all, uint32_t kind)
{
	bool words = kind_has(kind, "words_per_key");
	for (uint32_t z = words; z <= 8; z *= 2) {
		auto make = [kind, z](size_t n, double rate, double bits) {
			return weir_kind(kind, z, n, rate, bits);
		};
		all.push_back({ weir_kind_name(kind), z, make, Kind::always, false, true });
		if (!words)
			return;
	}
}

Make split(Maker maker)
{
	return [maker](size_t n, double rate, double bits) {
		double r = bits > 0 ? yardstick_rate(bits) : rate;
		return Made{ maker(n, r), r };
	};
}

/* Whose size is the textbook's: ln(1/rate) / ln(2)^2 bits a key. */
Make textbook_sized(Maker maker)
{
	return [maker](size_t n, double rate, double bits) {
		double r = bits > 0 ? std::exp(-bits * M_LN2 * M_LN2) : rate;
		return Made{ maker(n, r), r };
	};
}

const std::vector<Kind> &kinds()
{
	static const std::vector<Kind> all = [] {
		std::vector<Kind> kinds;
#define ADD(number, constant, name, summary) add_weir(kinds, number);
		WEIR_KINDS(ADD)
#undef ADD
		kinds.push_back({ "split", 0, split(yardstick_called), Kind::always });
		kinds.push_back({ "split", 0, split(yardstick_batch), Kind::always, true });
		kinds.push_back({ "libbloom", 0, textbook_sized(libbloom), Kind::slow });
		kinds.push_back({ "textbook", 0, textbook_sized(textbook), Kind::rare });
		return kinds;
	}();
	return all;
}

struct Case {
	const Kind *kind;
	size_t n;
	double rate, bits; /* one of them is 0 */
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

/* Would weir choose this layout, were it left to it? */
bool is_default(const Case &c)
{
	struct weir_params params = WeirFilter::params_of(c.n, c.rate, WEIR_BLOCKED);
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (c.bits > 0) {
		params.fp_rate = 0;
		params.max_bytes = static_cast<uint64_t>(static_cast<double>(c.n) * c.bits / 8);
	}
	check(weir_plan(&params, &plan), "weir_plan");
	return c.kind->words_per_key == plan.shape.field[0];
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
	if (c.kind->words_per_key)
		counter(state, "is_default", is_default(c));
	if (c.kind->weir)
		counter(state, "weir", 1);
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

void add_ops(Case c, const Options &options)
{
	for (auto [op, verb] : { std::pair("hit", Verb::hit), std::pair("miss", Verb::miss),
	                         std::pair("insert", Verb::insert) }) {
		c.op = op;
		c.verb = verb;
		c.batch = 0;
		if (!c.kind->batch_only && (verb != Verb::hit || !options.quick()))
			add_case(c);
		if (verb == Verb::miss && (c.kind->weir || c.kind->batch_only)) {
			c.op = "batch";
			c.batch = c.kind->weir ? batch_keys : 0;
			add_case(c);
		}
	}
}

constexpr size_t most_points = 8;

/* What is asked of a kind: rates, and bits a key. */
struct Points {
	std::vector<double> rates, bits;
};

const Points &points_of(const Kind &kind, const Options &options)
{
	static const Points all = { { 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5 },
	                            { 6, 8, 10, 12, 16, 20, 24, 32 } };
	static const Points usual = { { 0.1, 0.03, 0.01, 0.001, 1e-4, 1e-5 },
	                              { 8, 10, 12, 16, 24 } };
	static const Points quick = { { 0.1, 0.01, 0.001, 1e-4 }, { 8, 12, 16 } };
	static const Points slow = { { 0.1, 0.01, 0.001 }, { 8, 12, 16 } };
	if (options.full())
		return all;
	return options.quick() ? quick : kind.when == Kind::slow ? slow : usual;
}

void add_all(const Options &options)
{
	size_t n = options.quick() ? 1000000 : 10000000;
	size_t most = options.full()  ? size_t(1) << 30 :
	              options.quick() ? size_t(1) << 23 :
	                                size_t(1) << 27;
	auto last = options.quick() ? Kind::always : options.full() ? Kind::rare : Kind::slow;
	/* Point by point: where the time ends, every kind has been asked as much. */
	for (bool memory : { false, true })
		for (size_t i = 0; i < most_points; i++)
			for (const Kind &kind : kinds()) {
				const Points &points = points_of(kind, options);
				const std::vector<double> &at = memory ? points.bits : points.rates;
				if (kind.when > last || i >= at.size())
					continue;
				add_ops({ &kind, n, memory ? 0 : at[i], memory ? at[i] : 0, "",
				          Verb::miss, 0, most }, options);
			}
}

const char help[] =
	"Which kind and size? Time, memory and measured rate of each kind, on one CPU: at equal\n"
	"rate (rate:0.01, asked of all) and at equal memory (bits:12, bits a key given to all;\n"
	"fp_asked is then what the layout's own formula expects). blocked has one layout for\n"
	"each z, the words a key touches; is_default: weir would choose this one. hit, miss and\n"
	"insert take a key a call, batch asks absent keys 1024 a call. split is called through a\n"
	"pointer, as weir's verbs are (cores has it inlined); it, libbloom and textbook are what\n"
	"there is otherwise. fp_interval above 0.1: there were not enough absent keys to give\n"
	"the rate within a tenth; --quick asks 8 million at most, --full a thousand million.\n";

const Question choice = { "choice", help, { 3, 0.02 }, { 5, 0.03 }, { 9, 0.2 }, Question::nothing,
			   add_all };

} // namespace
} // namespace bench

int main(int argc, char **argv) { return bench::answer(argc, argv, bench::choice); }
