/* SPDX-License-Identifier: MIT
 * A filter used through a handle, with each flavor of RCU and during reloads, and through two
 * alternatives that keep the filter alive: a read-write lock and a reference count. The filter is
 * the same in all cases. */
#include <urcu/urcu-memb.h>
#include <urcu/urcu-qsbr.h>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <weir/weir.h>
#include "../handle_sections.h"
#include "handle.h"
#include "../team.h"
#include "weir_filter.h"

extern "C" const struct rcu_flavor_struct urcu_memb_flavor, urcu_qsbr_flavor;

namespace bench {
namespace {

/* The calls that each flavor requires of a thread. A thread of qsbr is online only while it
 * looks up or inserts keys, so a thread that waits for its team delays no grace period. */
struct Bp {
	static const struct rcu_flavor_struct *flavor() { return nullptr; }
	static void enter() {}
	static void leave() {}
};

struct Memb {
	struct Registered {
		Registered() { urcu_memb_register_thread(); }
		~Registered() { urcu_memb_unregister_thread(); }
	};
	static const struct rcu_flavor_struct *flavor() { return &urcu_memb_flavor; }
	static void enter() { static thread_local Registered registered; }
	static void leave() {}
	static constexpr auto sections = memb_sections;
};

struct MembLong : Memb {
	static constexpr auto sections = memb_long_sections;
};

struct Qsbr {
	struct Registered {
		Registered() { urcu_qsbr_register_thread(); }
		~Registered() { urcu_qsbr_unregister_thread(); }
	};
	static const struct rcu_flavor_struct *flavor() { return &urcu_qsbr_flavor; }
	static void enter()
	{
		static thread_local Registered registered;
		urcu_qsbr_thread_online();
	}
	static void leave() { urcu_qsbr_thread_offline(); }
	static constexpr auto sections = qsbr_sections;
};

constexpr size_t quiescent = 64; /* lookups between two quiescent states */

/* The loops over many keys, between the flavor's enter() and leave(). @Self has find(). */
template <class Self, class Flavor> class Handled : public SingleKeySet<Self> {
	using Base = SingleKeySet<Self>;

public:
	Handled(size_t n, double rate) : filter_(n, rate, WEIR_BLOCKED)
	{
		struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
		options.flavor = Flavor::flavor();
		check(weir_handle_create(&handle, filter_.filter, &options), "weir_handle_create");
		filter_.filter = nullptr; /* the handle owns the filter now */
	}
	~Handled() override { check(weir_handle_destroy(handle), "weir_handle_destroy"); }
	uint64_t bytes() const override { return filter_.region->bytes(); }
	void clear() override { filter_.region->clear(); }
	using Base::insert;
	using Base::lookup;
	uint64_t lookup(const uint64_t *keys, size_t n) override
	{
		uint64_t found = 0;
		Flavor::enter();
		for (size_t i = 0; i < n; i += quiescent) {
			found += Base::lookup(keys + i, std::min(quiescent, n - i));
			if constexpr (std::is_same_v<Flavor, Qsbr>)
				urcu_qsbr_quiescent_state();
		}
		Flavor::leave();
		return found;
	}
	void insert(const uint64_t *keys, size_t n) override
	{
		Flavor::enter();
		Base::insert(keys, n);
		Flavor::leave();
	}
	void add(const void *key, size_t len) { weir_handle_insert(handle, key, len); }

	struct weir_handle *handle = nullptr;

protected:
	WeirFilter filter_;
};

/* weir_handle_contains() */
template <class Flavor> class Contains final : public Handled<Contains<Flavor>, Flavor> {
public:
	using Handled<Contains<Flavor>, Flavor>::Handled;
	bool find(const void *key, size_t len) const
	{
		return weir_handle_contains(this->handle, key, len);
	}
};

/* weir_handle_get() in the caller's own sections, with the flavor's loop. */
template <class Flavor> class Get : public Handled<Get<Flavor>, Flavor> {
public:
	using Handled<Get<Flavor>, Flavor>::Handled;
	using Handled<Get<Flavor>, Flavor>::insert;
	using Handled<Get<Flavor>, Flavor>::lookup;
	uint64_t lookup(const uint64_t *keys, size_t n) override
	{
		Flavor::enter();
		uint64_t found = Flavor::sections(this->handle, keys, n);
		Flavor::leave();
		return found;
	}
	bool find(const void *key, size_t len) const
	{
		return weir_handle_contains(this->handle, key, len);
	}
};

/* The last CPU that this process may use, read before the first pin narrows the list. */
const int loaders_cpu = allowed_cpus().back();

/* Inserts during a reload that never ends, so every insert goes to two filters. */
class Reloading final : public Handled<Reloading, Bp> {
public:
	Reloading(size_t n, double rate) : Handled(n, rate), next_(filter_.region->bytes())
	{
		struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
		struct weir_params params = WEIR_PARAMS_INIT;
		params.capacity = n;
		params.fp_rate = rate;
		params.memory = next_.base();
		params.memory_bytes = next_.bytes();
		options.params = &params;
		check(weir_reload_begin(&reload_, handle, &options), "weir_reload_begin");
	}
	~Reloading() override { weir_reload_abort(reload_); }
	void clear() override
	{
		filter_.region->clear();
		next_.clear();
	}
	bool find(const void *key, size_t len) const
	{
		return weir_handle_contains(handle, key, len);
	}

private:
	Region next_;
	struct weir_reload *reload_ = nullptr;
};

/* During lookups a loader thread on the last CPU reloads the handle again and again. Each reload
 * inserts the keys of the last insert(). */
class BackToBack final : public Get<Memb> {
public:
	BackToBack(size_t n, double rate) : Get(n, rate), loader_(&BackToBack::load, this) {}
	~BackToBack() override
	{
		{
			std::lock_guard<std::mutex> hold(lock_);
			over_ = true;
		}
		wake_.notify_all();
		loader_.join();
	}
	void clear() override {}
	using Get::insert;
	using Get::lookup;
	uint64_t lookup(const uint64_t *keys, size_t n) override
	{
		looking(true);
		uint64_t found = Get::lookup(keys, n);
		looking(false);
		return found;
	}
	void insert(const uint64_t *keys, size_t n) override
	{
		Get::insert(keys, n);
		source_.resize(n);
		struct iovec one = { nullptr, sizeof(*keys) };
		for (size_t i = 0; i < n; i++) {
			one.iov_base = const_cast<uint64_t *>(&keys[i]);
			source_[i] = weir_handle_hash(handle, one.iov_base, one.iov_len);
		}
	}

private:
	/* Starts or stops the loader. Stopping waits until the current reload has ended, so that no
	 * reload disturbs the next measurement. */
	void looking(bool begins)
	{
		std::unique_lock<std::mutex> hold(lock_);
		looking_ = begins;
		wake_.notify_all();
		if (!begins)
			wake_.wait(hold, [&] { return idle_; });
	}

	void load()
	{
		pin(loaders_cpu);
		urcu_memb_register_thread();
		for (;;) {
			{
				std::unique_lock<std::mutex> hold(lock_);
				idle_ = !looking_ || source_.empty();
				wake_.notify_all();
				wake_.wait(hold,
				           [&] { return over_ || (looking_ && !source_.empty()); });
				if (over_)
					break;
				idle_ = false;
			}
			struct weir_reload *r = nullptr;
			check(weir_reload_begin(&r, handle, nullptr), "weir_reload_begin");
			weir_reload_insert_keys(r, weir_keys_hashes(source_.data(), source_.size()),
			                        nullptr);
			check(weir_reload_commit(r), "weir_reload_commit");
		}
		urcu_memb_unregister_thread();
	}

	std::vector<uint64_t> source_;
	std::mutex lock_;
	std::condition_variable wake_;
	bool over_ = false, looking_ = false, idle_ = true;
	std::thread loader_;
};

/* The bare filter, kept alive without a handle. */
template <class Self> class Kept : public SingleKeySet<Self>, protected WeirFilter {
public:
	Kept(size_t n, double rate) : WeirFilter(n, rate, WEIR_BLOCKED) {}
	uint64_t bytes() const override { return region->bytes(); }
	void clear() override { region->clear(); }
	void add(const void *key, size_t len) { weir_insert(filter, key, len); }
};

class ReadLocked final : public Kept<ReadLocked> {
public:
	using Kept::Kept;
	bool find(const void *key, size_t len)
	{
		pthread_rwlock_rdlock(&lock_);
		bool found = weir_contains(filter, key, len);
		pthread_rwlock_unlock(&lock_);
		return found;
	}

private:
	pthread_rwlock_t lock_ = PTHREAD_RWLOCK_INITIALIZER;
};

/* The lower bound of the cost of a reference count: one addition before each lookup and one
 * subtraction after the lookup. A real reference count must also find the filter and count in one
 * atomic step. */
class Counted final : public Kept<Counted> {
public:
	using Kept::Kept;
	bool find(const void *key, size_t len)
	{
		references_.fetch_add(1, std::memory_order_acquire);
		bool found = weir_contains(filter, key, len);
		references_.fetch_sub(1, std::memory_order_release);
		return found;
	}

private:
	alignas(64) std::atomic<uint64_t> references_{1};
};

template <class T>
std::unique_ptr<Set> make(size_t n, double rate)
{
	return std::make_unique<T>(n, rate);
}

} // namespace

std::unique_ptr<Set> handle_bp(size_t n, double rate) { return make<Contains<Bp>>(n, rate); }
std::unique_ptr<Set> handle_memb(size_t n, double rate) { return make<Contains<Memb>>(n, rate); }
std::unique_ptr<Set> handle_qsbr(size_t n, double rate) { return make<Contains<Qsbr>>(n, rate); }
std::unique_ptr<Set> handle_get_memb(size_t n, double rate) { return make<Get<Memb>>(n, rate); }
std::unique_ptr<Set> handle_get_16_memb(size_t n, double rate)
{
	return make<Get<MembLong>>(n, rate);
}
std::unique_ptr<Set> handle_get_qsbr(size_t n, double rate) { return make<Get<Qsbr>>(n, rate); }
std::unique_ptr<Set> handle_reloading(size_t n, double rate) { return make<Reloading>(n, rate); }
std::unique_ptr<Set> handle_back_to_back(size_t n, double rate)
{
	return make<BackToBack>(n, rate);
}
std::unique_ptr<Set> behind_rwlock(size_t n, double rate) { return make<ReadLocked>(n, rate); }
std::unique_ptr<Set> behind_count(size_t n, double rate) { return make<Counted>(n, rate); }

} // namespace bench
