/* SPDX-License-Identifier: MIT
 * The sets of bench_reload and the ways to replace them. */
#include <optional>
#include <stdexcept>
#include <unistd.h>
#include <urcu/urcu-bp.h>
#include "folder.h"
#include "keys.h"
#include "reload.h"
#include "sets/weir_filter.h"

namespace bench {
namespace {

constexpr size_t piece = size_t(1) << 20; /* hashes that the loader inserts per call */
constexpr uint32_t shards = 16;

void must(bool good, const char *verb)
{
	if (!good)
		throw std::runtime_error(std::string(verb) + ": " + weir_error_detail());
}

void insert_all(struct weir_reload *r, const std::vector<uint64_t> &hashes)
{
	for (size_t i = 0; i < hashes.size(); i += piece) {
		size_t n = std::min(piece, hashes.size() - i);
		must(weir_reload_insert_keys(r, weir_keys_hashes(&hashes[i], n), nullptr) >= 0,
		     "weir_reload_insert_keys");
	}
}

/* The readers' loops over the inlined functions of @Self: find, find_in_section, find_many, add. */
template <class Self> class Verbs : public Target {
public:
	uint64_t whole(Read read, const uint64_t *hashes, size_t n) override
	{
		uint64_t found = 0, bitmap[reload_batch / 64];
		switch (read) {
		case Read::hit:
			for (size_t i = 0; i < n; i++)
				found += self().find(hashes[i]);
			break;
		case Read::hit_of_16:
			for (size_t i = 0; i + reload_section <= n; i += reload_section)
				found += self().find_in_section(&hashes[i]);
			break;
		case Read::batch:
			for (size_t i = 0; i + reload_batch <= n; i += reload_batch)
				found += self().find_many(&hashes[i], reload_batch, bitmap);
			break;
		case Read::insert:
			for (size_t i = 0; i < n; i++)
				found += self().add(hashes[i]) >= 0;
			break;
		}
		return found;
	}
	uint64_t one_by_one(Read read, const uint64_t *hashes, size_t n,
	                    struct histogram *times) override
	{
		size_t step = read == Read::batch     ? reload_batch :
		              read == Read::hit_of_16 ? reload_section :
		                                        1;
		uint64_t found = 0, bitmap[reload_batch / 64], last = ticks_now();
		for (size_t i = 0; i + step <= n; i += step) {
			found += read == Read::hit       ? self().find(hashes[i]) :
			         read == Read::hit_of_16 ? self().find_in_section(&hashes[i]) :
			         read == Read::insert    ? self().add(hashes[i]) >= 0 :
			                                   self().find_many(&hashes[i], step,
			                                                    bitmap);
			uint64_t now = ticks_now();
			histogram_add(times, ticks_between(last + ticks.cost, now));
			last = ticks_now(); /* excludes the histogram's own time */
		}
		return found;
	}
	uint64_t wrong(size_t n) override
	{
		uint64_t found = 0;
		for (size_t i = 0; i < n; i++)
			found += self().find(scramble(absent + i)); /* as random as a hash */
		return found;
	}
	const std::vector<uint64_t> &hashes() const override { return hashes_; }

protected:
	explicit Verbs(size_t n) : hashes_(n) {}
	std::vector<uint64_t> hashes_;

private:
	Self &self() { return static_cast<Self &>(*this); }
};

class HandleTarget final : public Verbs<HandleTarget> {
public:
	HandleTarget(size_t n, Phase phase, const Flavor &flavor)
	    : Verbs(n), phase_(phase), rcu_(flavor.rcu ? flavor.rcu : &urcu_bp_flavor)
	{
		struct weir_params params = WeirFilter::params_of(n, 0.01, WEIR_BLOCKED);
		struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
		struct weir_filter *filter;
		check(weir_create(&filter, &params), "weir_create");
		std::vector<uint64_t> keys = make_keys(0, n);
		weir_hash_keys(filter, weir_keys_u64(keys.data(), n),
		               hashes_.data());
		check(weir_fill_keys(filter, weir_keys_hashes(hashes_.data(), n)),
		      "weir_fill_keys");
		if (phase == Phase::refresh)
			save_images(filter);
		options.flavor = flavor.rcu;
		check(weir_handle_create(&handle_, filter, &options), "weir_handle_create");
	}
	~HandleTarget() override { weir_handle_destroy(handle_); }
	HandleTarget(const HandleTarget &) = delete;
	HandleTarget &operator=(const HandleTarget &) = delete;

	bool find(uint64_t hash) const { return weir_handle_contains_hash(handle_, hash); }
	uint64_t find_in_section(const uint64_t *hashes) const
	{
		uint64_t found = 0;
		rcu_->read_lock();
		const struct weir_filter *now = weir_handle_get(handle_);
		for (size_t i = 0; i < reload_section; i++)
			found += weir_contains_hash(now, hashes[i]);
		rcu_->read_unlock();
		return found;
	}
	size_t find_many(const uint64_t *hashes, size_t n, uint64_t *bitmap) const
	{
		return weir_handle_contains_keys(handle_, weir_keys_hashes(hashes, n), bitmap);
	}
	int add(uint64_t hash) { return weir_handle_insert_hash(handle_, hash); }
	uint64_t bytes() override
	{
		struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT;
		struct weir_stats current = WEIR_STATS_INIT;
		check(weir_handle_measure(handle_, &stats, &current), "weir_handle_measure");
		return current.bytes;
	}

	void replace(double pace) override
	{
		if (phase_ == Phase::refresh) {
			refresh(pace);
			return;
		}
		struct weir_reload *r;
		struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
		options.pace = pace;
		check(weir_reload_begin(&r, handle_, &options), "weir_reload_begin");
		if (phase_ == Phase::copy)
			check(weir_reload_copy(r, WEIR_ALL_SETS), "weir_reload_copy");
		else
			insert_all(r, hashes_);
		check(weir_reload_commit(r), "weir_reload_commit");
	}

private:
	/* Saves two files, so that each refresh finds a different file. */
	void save_images(struct weir_filter *filter)
	{
		folder_.emplace();
		for (const char *name : { "one", "two" })
			check(weir_save(filter, weir_location_path(folder_->file(name).c_str()),
			                nullptr),
			      "weir_save");
	}
	void refresh(double pace)
	{
		struct weir_refresh_options options = WEIR_REFRESH_OPTIONS_INIT;
		options.pace = pace;
		std::string from = folder_->file(turn_++ % 2 ? "two" : "one");
		std::string next = folder_->file("next"), path = folder_->file("current");
		if (link(from.c_str(), next.c_str()) || rename(next.c_str(), path.c_str()))
			throw std::runtime_error(path + ": cannot be put there");
		int got = weir_handle_refresh(handle_, path.c_str(), &options);
		check(got < 0 ? got : 0, "weir_handle_refresh");
		if (got != 1)
			throw std::runtime_error(path + ": not taken for another file");
	}

	Phase phase_;
	const struct rcu_flavor_struct *rcu_;
	struct weir_handle *handle_ = nullptr;
	std::optional<Folder> folder_; /* for Phase::refresh only */
	unsigned turn_ = 0;
};

class ShardedTarget final : public Verbs<ShardedTarget> {
public:
	ShardedTarget(size_t n, const Flavor &flavor) : Verbs(n), parts_(shards)
	{
		struct weir_params params = WeirFilter::params_of(n, 0.01, WEIR_BLOCKED);
		struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
		options.params = &params;
		options.shards = shards;
		options.flavor = flavor.rcu;
		check(weir_handle_create(&set_, nullptr, &options), "weir_handle_create");
		for (size_t i = 0; i < n; i++) {
			uint64_t key = scramble(i);
			hashes_[i] = weir_handle_hash(set_, &key, sizeof(key));
			parts_[weir_handle_shard(set_, hashes_[i])].push_back(hashes_[i]);
		}
		replace(0);
	}
	~ShardedTarget() override { weir_handle_destroy(set_); }
	ShardedTarget(const ShardedTarget &) = delete;
	ShardedTarget &operator=(const ShardedTarget &) = delete;

	bool find(uint64_t hash) const { return weir_handle_contains_hash(set_, hash); }
	/* Never called: wanted() in bench_reload.cc leaves this case out. */
	uint64_t find_in_section(const uint64_t *) const
	{
		throw std::logic_error("sections of a sharded set are not measured");
	}
	size_t find_many(const uint64_t *hashes, size_t n, uint64_t *bitmap) const
	{
		return weir_handle_contains_keys(set_, weir_keys_hashes(hashes, n), bitmap);
	}
	int add(uint64_t hash) { return weir_handle_insert_hash(set_, hash); }
	uint64_t bytes() override
	{
		struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT;
		check(weir_handle_measure(set_, &stats, nullptr), "weir_handle_measure");
		return stats.bytes;
	}
	void replace(double pace) override
	{
		struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
		options.pace = pace;
		check(weir_reload_all(set_, &options, fill, this), "weir_reload_all");
	}

private:
	static int fill(struct weir_reload *r, uint32_t shard, void *self)
	{
		const std::vector<uint64_t> &part =
			static_cast<ShardedTarget *>(self)->parts_[shard];
		int64_t got = weir_reload_insert_keys(r, weir_keys_hashes(part.data(), part.size()),
		                                      nullptr);
		return got < 0 ? static_cast<int>(got) : 0;
	}

	struct weir_handle *set_ = nullptr;
	/* the loader's source, already sorted by shard */
	std::vector<std::vector<uint64_t>> parts_;
};

} // namespace

const char *name_of(Phase phase)
{
	switch (phase) {
	case Phase::rebuild: return "rebuild";
	case Phase::copy: return "copy";
	case Phase::roll: return "roll";
	case Phase::refresh: return "refresh";
	}
	return "";
}

const char *name_of(Read read)
{
	switch (read) {
	case Read::hit: return "hit";
	case Read::hit_of_16: return "hit_of_16";
	case Read::batch: return "batch";
	case Read::insert: return "insert";
	}
	return "";
}

std::unique_ptr<Target> make_target(size_t n, Phase phase, const Flavor &flavor)
{
	if (phase == Phase::roll)
		return std::make_unique<ShardedTarget>(n, flavor);
	return std::make_unique<HandleTarget>(n, phase, flavor);
}

} // namespace bench
