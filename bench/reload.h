/* SPDX-License-Identifier: MIT
 * The parts of bench_reload: the set that a loader replaces, and the threads that read the set at
 * the same time. The loader and the readers pass hashes instead of keys, so that only the set is
 * measured. */
#ifndef WEIR_BENCH_RELOAD_H
#define WEIR_BENCH_RELOAD_H

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include <urcu/flavor.h>
#include <weir/weir.h>
#include "reload_clock.h"

namespace bench {

enum class Phase {
	rebuild, /* a new filter is filled with every key */
	copy,    /* a new filter gets the bits of the old filter */
	roll,    /* the set is rebuilt shard by shard */
	refresh, /* an image file is loaded and published */
};
const char *name_of(Phase phase);

enum class Read { hit, hit_of_16, batch, insert };
const char *name_of(Read read);
/* Hashes in a call of Read::batch. */
constexpr size_t reload_batch = 64;
/* Lookups of Read::hit_of_16 in one section of the caller, as for one request. */
constexpr size_t reload_section = 16;

struct Flavor {
	const char *name;
	const struct rcu_flavor_struct *rcu; /* NULL: bp, which needs no calls */
	void enter() const { rcu ? rcu->register_thread() : void(); }
	void leave() const { rcu ? rcu->unregister_thread() : void(); }
	void quiet() const { rcu ? rcu->read_quiescent_state() : void(); }
};

/* A set that readers use while it is replaced. */
class Target {
public:
	virtual ~Target() = default;
	virtual const std::vector<uint64_t> &hashes() const = 0;
	/* Replaces the set once, in the calling thread. Throws if that fails.
	 * @pace: the share of a core that the replacement may use; 0: all of it. */
	virtual void replace(double pace) = 0;
	/* Looks up @n hashes, or inserts them if @read is Read::insert. Return: the number of
	 * hashes found, or the number of successful inserts. */
	virtual uint64_t whole(Read read, const uint64_t *hashes, size_t n) = 0;
	/* Works like whole(), and adds the time of each call to @times. */
	virtual uint64_t one_by_one(Read read, const uint64_t *hashes, size_t n,
	                            struct histogram *times) = 0;
	virtual uint64_t bytes() = 0;
	/* Looks up @n absent keys. Return: the number of keys found, which are false positives. */
	virtual uint64_t wrong(size_t n) = 0;
};

/* Makes a set of @n keys at 1 %: sharded for Phase::roll, else with one filter. */
std::unique_ptr<Target> make_target(size_t n, Phase phase, const Flavor &flavor);

/* The result of a run, for one reader or for all readers together. */
struct Reading {
	double keys = 0, ns = 0;
	double waited_ns = 0; /* the longest time that a reader waited for its CPU */
	uint64_t lost = 0;
};

/* Pinned threads that read during run(). */
class Readers {
public:
	/* @beside: the loader has its own CPU, so the readers' CPU time is measured. Otherwise the
	 * loader takes time from a reader, so the clock's time is measured. */
	Readers(Target &target, Read read, unsigned threads, const Flavor &flavor, bool beside);
	~Readers();
	Readers(const Readers &) = delete;
	Readers &operator=(const Readers &) = delete;

	/* The readers read while the calling thread runs @meanwhile. If @times is not NULL, it
	 * receives the time of each lookup call. */
	Reading run(struct histogram *times, const std::function<void()> &meanwhile);

private:
	enum { idle, whole, clocked, over };
	struct alignas(64) Reader {
		std::thread thread;
		Reading reading;
		std::unique_ptr<struct histogram> times;
	};
	void live(Reader &reader, unsigned number);
	void read(Reader &reader, int how, size_t &at);
	void wait_for(unsigned count);

	Target &target_;
	Read read_;
	const Flavor flavor_;
	const clockid_t clock_;
	std::vector<Reader> readers_;
	std::atomic<int> state_{idle};
	std::atomic<unsigned> resting_{0};
};

} // namespace bench

#endif
