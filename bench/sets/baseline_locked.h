/* SPDX-License-Identifier: MIT
 * A split-block filter in 64 shards, each with a lock in its own cache line. The lock protects the
 * shard's bits, so an insert stores without atomic operations. */
#ifndef WEIR_BENCH_BASELINE_LOCKED_H
#define WEIR_BENCH_BASELINE_LOCKED_H

#include <pthread.h>
#include "yardstick_split_block.h"

namespace {

struct Mutex {
	void read() { pthread_mutex_lock(&lock); }
	void write() { pthread_mutex_lock(&lock); }
	void leave() { pthread_mutex_unlock(&lock); }
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
};

struct ReadWriteLock {
	void read() { pthread_rwlock_rdlock(&lock); }
	void write() { pthread_rwlock_wrlock(&lock); }
	void leave() { pthread_rwlock_unlock(&lock); }
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
};

template <class Lock> struct Locked {
	static constexpr unsigned shard_bits = 6;

	Locked(size_t n, double rate) : filter(n, rate, 1u << shard_bits) {}

	/* The top bits of the hash choose shard and block: a shard is a run of blocks. */
	Lock &lock_of(uint64_t h) { return shards[h >> (64 - shard_bits)].lock; }

	bool contains(const void *key, size_t len)
	{
		uint64_t h = SplitBlock::hash(key, len);
		Lock &lock = lock_of(h);
		lock.read();
		bool found = filter.contains(h);
		lock.leave();
		return found;
	}

	void insert(const void *key, size_t len)
	{
		uint64_t h = SplitBlock::hash(key, len);
		Lock &lock = lock_of(h);
		lock.write();
		filter.insert_plain(h);
		lock.leave();
	}

	SplitBlock filter;
	struct alignas(64) Shard {
		Lock lock;
	} shards[1 << shard_bits];
};

} // namespace

#endif
