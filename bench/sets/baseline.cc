/* SPDX-License-Identifier: MIT
 * The filters and sets that a user would write or use instead of weir, as contenders. */
#include <mutex>
#include <stdexcept>
#include "baseline_lfht.h"
#include "baseline_libbloom.h"
#include "baseline_locked.h"
#include "baseline_textbook.h"
#include "set.h"

namespace bench {
namespace {

class TextbookSet final : public SingleKeySet<TextbookSet> {
public:
	TextbookSet(size_t n, double rate) : filter(n, rate) {}
	uint64_t bytes() const override { return filter.region.bytes(); }
	void clear() override { filter.region.clear(); }
	bool concurrent() const override { return false; }
	bool find(const void *key, size_t len) const { return filter.contains(key, len); }
	void add(const void *key, size_t len) { filter.insert(key, len); }

private:
	Textbook filter;
};

class LibBloomSet final : public SingleKeySet<LibBloomSet> {
public:
	LibBloomSet(size_t n, double rate) : filter(n, rate) {}
	uint64_t bytes() const override { return static_cast<uint64_t>(filter.bloom.bytes); }
	void clear() override { filter.clear(); }
	bool concurrent() const override { return false; }
	bool find(const void *key, size_t len) { return filter.contains(key, len); }
	void add(const void *key, size_t len) { filter.insert(key, len); }

private:
	LibBloom filter;
};

/* libbloom made thread-safe in the simplest way: one mutex for all calls. */
class LibBloomMutexSet final : public SingleKeySet<LibBloomMutexSet> {
public:
	LibBloomMutexSet(size_t n, double rate) : filter(n, rate) {}
	uint64_t bytes() const override { return static_cast<uint64_t>(filter.bloom.bytes); }
	void clear() override { filter.clear(); }
	bool find(const void *key, size_t len)
	{
		std::lock_guard<std::mutex> hold(lock);
		return filter.contains(key, len);
	}
	void add(const void *key, size_t len)
	{
		std::lock_guard<std::mutex> hold(lock);
		filter.insert(key, len);
	}

private:
	LibBloom filter;
	std::mutex lock;
};

template <class Lock> class LockedSet final : public SingleKeySet<LockedSet<Lock>> {
public:
	LockedSet(size_t n, double rate) : filter(n, rate) {}
	uint64_t bytes() const override { return filter.filter.region.bytes(); }
	void clear() override { filter.filter.region.clear(); }
	bool find(const void *key, size_t len) { return filter.contains(key, len); }
	void add(const void *key, size_t len) { filter.insert(key, len); }

private:
	Locked<Lock> filter;
};

class LfhtSet final : public Set {
public:
	explicit LfhtSet(size_t n) : n_(n), table_(make()) {}
	~LfhtSet() override { lfht_destroy(table_); }
	LfhtSet(const LfhtSet &) = delete;
	LfhtSet &operator=(const LfhtSet &) = delete;

	uint64_t bytes() const override { return lfht_bytes(table_); }
	void clear() override
	{
		lfht_destroy(table_);
		table_ = make();
	}
	uint64_t lookup(const uint64_t *keys, size_t n) override
	{
		uint64_t found = 0;
		for (size_t i = 0; i < n; i++)
			found += lfht_contains(table_, keys[i]);
		return found;
	}
	uint64_t chain(const uint64_t *keys, size_t n) override
	{
		uint64_t found = 0, last = 0;
		for (size_t i = 0; i < n; i++) {
			uint64_t answer = lfht_contains(table_, keys[i] ^ last);
			asm volatile("" : "+r"(answer));
			found += answer;
			last = answer >> 1;
		}
		return found;
	}
	void insert(const uint64_t *keys, size_t n) override
	{
		for (size_t i = 0; i < n; i++)
			lfht_insert(table_, keys[i]);
	}
	uint64_t lookup(const struct iovec *, size_t) override
	{
		throw std::logic_error("lfht: 8-byte keys only");
	}
	void insert(const struct iovec *, size_t) override
	{
		throw std::logic_error("lfht: 8-byte keys only");
	}

private:
	struct lfht *make() const
	{
		struct lfht *table = lfht_create(n_);
		if (!table)
			throw std::bad_alloc();
		return table;
	}

	size_t n_;
	struct lfht *table_;
};

} // namespace

std::unique_ptr<Set> textbook(size_t n, double rate)
{
	return std::make_unique<TextbookSet>(n, rate);
}
std::unique_ptr<Set> libbloom(size_t n, double rate)
{
	return std::make_unique<LibBloomSet>(n, rate);
}
std::unique_ptr<Set> libbloom_mutex(size_t n, double rate)
{
	return std::make_unique<LibBloomMutexSet>(n, rate);
}
std::unique_ptr<Set> mutex_per_shard(size_t n, double rate)
{
	return std::make_unique<LockedSet<Mutex>>(n, rate);
}
std::unique_ptr<Set> rwlock_per_shard(size_t n, double rate)
{
	return std::make_unique<LockedSet<ReadWriteLock>>(n, rate);
}
std::unique_ptr<Set> lfht(size_t n, double) { return std::make_unique<LfhtSet>(n); }

} // namespace bench
