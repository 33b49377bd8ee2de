/* SPDX-License-Identifier: MIT
 * See work.h. */
#include "work.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include "keys.h"
#include "machine.h"

namespace bench {
namespace {

/* keys generated at a time to fill a set or to look up all keys */
constexpr size_t piece = size_t(1) << 18;
constexpr size_t most_draws = size_t(1) << 20;

unsigned all_cpus() { return static_cast<unsigned>(allowed_cpus().size()); }

/* Return: the number of absent keys to look up, so that the 99 % interval of the rate is +-10 %.
 * This needs 664 false positives. We expect 800, for a margin. */
size_t misses_for(double rate, size_t most)
{
	return std::max<size_t>(
		100000, static_cast<size_t>(std::min(static_cast<double>(most), 800 / rate)));
}

void make(uint64_t first, size_t n, std::vector<uint64_t> &out)
{
	out.resize(n);
	for (size_t i = 0; i < n; i++)
		out[i] = scramble(first + i);
}

} // namespace

const char *name_of(Verb verb)
{
	switch (verb) {
	case Verb::hit: return "hit";
	case Verb::miss: return "miss";
	case Verb::insert: return "insert";
	case Verb::mixed: return "mixed";
	case Verb::zipf: return "zipf";
	case Verb::remove: return "remove";
	case Verb::count: return "count";
	}
	return "";
}

void Tally::add(const Tally &other)
{
	keys += other.keys;
	ns += other.ns;
	wall_ns += other.wall_ns;
	waited_ns += other.waited_ns;
	lost += other.lost;
}

Team &team_of(unsigned threads)
{
	static std::map<unsigned, std::unique_ptr<Team>> teams;
	std::unique_ptr<Team> &team = teams[threads];
	if (!team)
		team = std::make_unique<Team>(threads);
	return *team;
}

Work::Work(std::unique_ptr<Set> set, size_t n) : set_(std::move(set)), n_(n) {}

size_t Work::usual() const
{
	return set_->bytes() <= cache_bytes(2) ? size_t(1) << 15 : size_t(1) << 17;
}

void Work::empty()
{
	if (held_ || !empty_)
		set_->clear();
	held_ = drawn_ = 0;
	empty_ = true;
}

/* Inserts keys held_ to @held - 1. */
void Work::fill_to(size_t held)
{
	std::atomic<size_t> next{held_};
	team_of(set_->concurrent() ? all_cpus() : 1).run([&](unsigned) {
		std::vector<uint64_t> keys;
		for (size_t from; (from = next.fetch_add(piece)) < held;) {
			make(from, std::min(piece, held - from), keys);
			set_->load_keys(keys.data(), keys.size());
		}
	});
	set_->settle();
	held_ = held;
	empty_ = false;
}

/* Return: the number of @n keys, from key @first on, that the set finds. */
uint64_t Work::count(uint64_t first, size_t n)
{
	std::atomic<uint64_t> next{0}, found{0};
	team_of(all_cpus()).run([&](unsigned) {
		std::vector<uint64_t> keys;
		for (uint64_t from; (from = next.fetch_add(piece)) < n;) {
			make(first + from, std::min<size_t>(piece, n - from), keys);
			found.fetch_add(set_->lookup(keys.data(), keys.size()));
		}
	});
	return found;
}

Quality Work::fill(double rate, size_t most)
{
	bool batched = set_->take_at_once(batch_keys);
	empty();
	fill_to(n_);
	Quality q;
	q.bits_per_key = static_cast<double>(set_->bytes()) * 8 / static_cast<double>(n_);
	q.words_per_key = set_->words_per_key();
	q.fp_asked = rate;
	q.lost = n_ - count(0, n_);
	size_t misses = misses_for(rate, most);
	double wrong = static_cast<double>(count(absent << 1, misses));
	q.fp_measured = wrong / static_cast<double>(misses);
	q.fp_interval = wrong > 0 ? std::min(1.0, 2.576 * std::sqrt((1 - q.fp_measured) / wrong)) :
	                            1;
	if (batched)
		set_->take_at_once(0);
	return q;
}

/* Draws Zipf's keys once, since a draw takes longer than an insert. */
void Work::draw()
{
	if (!draws_.empty())
		return;
	Zipf zipf(n_);
	draws_.resize(most_draws);
	uint64_t state = 1;
	for (uint64_t &key : draws_)
		key = scramble(zipf(state));
}

/* Brings the set to the state in which the round begins. */
void Work::prepare(Team &team, Verb verb, size_t each)
{
	size_t total = each * team.size();
	switch (verb) {
	case Verb::hit:
	case Verb::miss:
	case Verb::count:
		if (held_ != n_) {
			empty();
			fill_to(n_);
		}
		return;
	case Verb::insert:
		if (held_ + total > n_ || (!held_ && !empty_))
			empty();
		return;
	case Verb::remove:
		if (held_ < total)
			fill_to(n_);
		return;
	case Verb::mixed:
		if (held_ < n_ / 2 || held_ + (each / lookups_an_insert + 1) * team.size() > n_) {
			empty();
			fill_to(n_ / 2);
		}
		return;
	case Verb::zipf:
		draw();
		if (!drawn_ || drawn_ + total > std::min(n_, most_draws))
			empty();
		return;
	}
}

/* Runs one thread's part of a round. Return: lost keys, as in Tally. */
uint64_t Work::run(Verb verb, unsigned thread, size_t each)
{
	const std::vector<uint64_t> &keys = keys_[thread];
	switch (verb) {
	case Verb::insert: set_->insert(keys.data(), each); return 0;
	case Verb::zipf: set_->insert(&draws_[drawn_ + thread * each], each); return 0;
	case Verb::mixed: return each - set_->mixed(keys.data(), each, fresh_[thread].data());
	case Verb::hit: return each - set_->lookup(keys.data(), each);
	case Verb::remove: return set_->remove(keys.data(), each);
	case Verb::count: return set_->count(keys.data(), each);
	case Verb::miss: break;
	}
	uint64_t wrong = set_->lookup(keys.data(), each);
	asm volatile("" : : "r"(wrong));
	return 0;
}

Tally Work::round(Team &team, Verb verb, size_t each)
{
	unsigned threads = team.size();
	each = std::min(each, n_ / 2);
	if (verb == Verb::insert || verb == Verb::zipf || verb == Verb::remove)
		each = std::min({ each, n_ / threads, most_draws / threads });
	prepare(team, verb, each);
	keys_.resize(std::max<size_t>(keys_.size(), threads));
	fresh_.resize(keys_.size());
	size_t new_each = verb == Verb::mixed ? (each + lookups_an_insert - 1) / lookups_an_insert :
	                                        each;
	std::vector<uint64_t> lost(threads * 8); /* a cache line per thread */
	team.run([&](unsigned t) {
		uint64_t at = asked_ + t * each;
		if (verb == Verb::insert)
			make(held_ + t * each, each, keys_[t]);
		else if (verb == Verb::remove)
			make(held_ - (t + 1) * each, each, keys_[t]);
		else if (verb != Verb::zipf)
			make(verb == Verb::miss ? absent + at : at % (held_ - each + 1), each,
			     keys_[t]);
		if (verb == Verb::mixed)
			make(held_ + t * new_each, new_each, fresh_[t]);
	});
	Elapsed e = team.run([&](unsigned t) { lost[t * 8] = run(verb, t, each); });
	Tally tally;
	tally.keys = static_cast<double>((verb == Verb::mixed ? each + new_each : each) * threads);
	tally.ns = threads > 1 ? e.wall_ns : e.cpu_ns;
	tally.wall_ns = e.wall_ns;
	tally.waited_ns = e.waited_ns;
	for (uint64_t l : lost)
		tally.lost += l;
	asked_ += each * threads;
	drawn_ += verb == Verb::zipf ? each * threads : 0;
	if (verb == Verb::zipf)
		empty_ = false;
	if (verb == Verb::remove)
		held_ -= each * threads, empty_ = false;
	if (verb == Verb::insert || verb == Verb::mixed)
		held_ += new_each * threads, empty_ = false;
	return tally;
}

} // namespace bench
