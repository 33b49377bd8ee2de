/* SPDX-License-Identifier: MIT
 * Bulk loading. A filter is cut into partitions, and the top bits of a hash choose its partition
 * ([PARTITION-BITS]).
 *
 * A single loading thread takes all partitions, loads a piece of its hashes in their order, drops
 * the partitions, and begins again with its next piece. This is the fastest way for an array that
 * fits the last-level cache. Several threads share the partitions. Each thread collects the hashes
 * of a partition in a bucket, and loads the bucket while the partition is in the core's own cache.
 * A single thread also uses buckets if its hashes would visit each line of a larger array
 * repeatedly. Without memory for buckets, a thread goes over its hashes in rounds. Each round
 * loads the hashes of the partitions that are free. */
#include "filter/filter.h"
#include "ground/threads.h"

/* The most hashes in all buckets together. The limit bounds the scratch memory. It is large
 * enough that each partition gets enough hashes to pay for fetching the partition. A test sets a
 * smaller limit. */
#ifndef WEIR_BULK_BUCKETS
#define WEIR_BULK_BUCKETS (16 << 20)
#endif

enum {
	PIECE = 64 << 10,    /* the most hashes in a piece, which takes some 100 us to load */
	MOST_PARTS = 1024,   /* the most partitions: a thread writes to a bucket for each */
	SHARED_PARTS = 16,   /* the most partitions of a small filter; 16 threads can load it */
	KEYS_A_LINE = 2,     /* the fewest hashes a line for which buckets pay */
	ROUND = 1 << 20,     /* the most hashes in a round, which takes some ms */
	SOME = 512,          /* hashes collected on the stack before they are loaded */
};

uint32_t weir__bulk_parts(const struct weir_kernel *kernel, uint64_t bytes, uint32_t shards)
{
	const uint64_t block = kernel->block_lines ? UINT64_C(64) * kernel->block_lines : 64;
	unsigned left = kernel->partition_bits;
	uint32_t parts = 1;
	while (left-- && parts < shards && parts < MOST_PARTS && bytes % (2 * parts * block) == 0 &&
	       (parts < SHARED_PARTS || bytes / parts > weir__cache_bytes() / 2))
		parts *= 2;
	return parts;
}

/* ---- loading as the owner of all partitions ---- */

/* Take partitions in order, and stop before the first partition that another thread owns or waits
 * for ([WANTED-FIRST]). Return: the number of partitions taken. */
static uint32_t take_partitions(struct weir_filter *f)
{
	uint32_t p = 0;
	while (p < f->parts && weir__owner_take_spare(&f->owners[p]))
		p++;
	return p;
}

static void drop_partitions(struct weir_filter *f, uint32_t taken)
{
	for (uint32_t p = 0; p < taken; p++)
		weir__owner_drop(&f->owners[p]);
}

/* Load while no other thread owns or wants a partition. An owner must not wait
 * ([OWNER-NEVER-WAITS]), so a thread that cannot take all partitions drops the partitions that it
 * has taken.  Return: the number of hashes loaded. */
static size_t load_whole(struct weir_filter *f, const uint64_t *hashes, size_t n)
{
	size_t done = 0;
	uint32_t taken = f->parts;
	while (done < n && taken == f->parts) {
		size_t piece = n - done < PIECE ? n - done : PIECE;
		taken = take_partitions(f);
		if (taken == f->parts) {
			f->kernel->load(f, hashes + done, piece);
			done += piece;
		}
		drop_partitions(f, taken);
	}
	return done;
}

/* ---- loading one partition at a time, from buckets ---- */

struct buckets {
	uint64_t *hashes;          /* the bucket of partition p begins at p * capacity */
	uint32_t *count;           /* hashes in each bucket */
	uint32_t capacity;         /* hashes that fit in each bucket */
	struct weir_memory memory; /* holds both arrays */
};

/* Return: the number of hashes that fit in a bucket: an equal share plus at least eight standard
 * deviations. The number of cache lines is odd, so that the ends of buckets are in different cache
 * sets. */
static uint32_t bucket_capacity(size_t hashes, uint32_t parts)
{
	uint64_t share = hashes / parts, slack = 8;
	while (slack * slack < 64 * share) /* eight standard deviations */
		slack *= 2;
	return (uint32_t)((share + slack) / 8 | 1) * 8;
}

static int buckets_alloc(struct buckets *b, uint32_t parts, size_t n)
{
	b->capacity = bucket_capacity(n < WEIR_BULK_BUCKETS ? n : WEIR_BULK_BUCKETS, parts);
	uint64_t hash_bytes = (uint64_t)parts * b->capacity * sizeof *b->hashes;
	uint64_t bytes = hash_bytes + parts * sizeof *b->count;
	int err = weir__memory_alloc(&b->memory, (bytes + 63) / 64 * 64, 0, NULL, 0);
	if (err)
		return err;
	b->hashes = b->memory.bits;
	b->count = (uint32_t *)(void *)((char *)b->memory.bits + hash_bytes);
	return 0;
}

/* Wait until no other thread owns the bucket's partition, then load the bucket into it. */
static void load_bucket(struct weir_filter *f, struct buckets *b, uint32_t part)
{
	while (!weir__owner_take(&f->owners[part]))
		weir__owner_wait(&f->owners[part]);
	f->kernel->load(f, b->hashes + (size_t)part * b->capacity, b->count[part]);
	weir__owner_drop(&f->owners[part]);
	b->count[part] = 0;
}

/* Return: the shift by which partition_of() gets the top log2(parts) bits of a hash. */
static unsigned partition_shift(const struct weir_filter *f)
{
	return 63 - (unsigned)__builtin_ctz(f->parts);
}

/* Return: the partition of a hash. The shift has two steps, since a shift by 64 is undefined. */
static uint32_t partition_of(uint64_t hash, unsigned shift)
{
	return (uint32_t)(hash >> 1 >> shift);
}

static void load_buckets(struct weir_filter *f, struct buckets *b, const uint64_t *hashes, size_t n)
{
	const unsigned shift = partition_shift(f);
	uint32_t *count = b->count, capacity = b->capacity, part = 0;
	for (size_t i = 0; i < n; i++) {
		/* Read the hash once, since the caller's memory may change during the load. A
		 * second read could return a hash of a partition that another thread owns. */
		uint64_t hash = *(const volatile uint64_t *)&hashes[i];
		part = partition_of(hash, shift);
		b->hashes[(size_t)part * capacity + count[part]] = hash;
		if (__builtin_expect(++count[part] == capacity, 0))
			load_bucket(f, b, part);
	}
	/* Start at the last hash's partition, which differs from thread to thread. So two threads
	 * seldom want the same partition at the same time. */
	for (uint32_t left = f->parts; left; left--, part = (part + 1) % f->parts)
		if (count[part])
			load_bucket(f, b, part);
}

/* ---- loading in rounds, without memory for buckets ---- */

enum round_state { DONE, PENDING, OWNED };

/* Load the hashes whose partition this thread has taken. Read each hash once, as in
 * load_buckets(). */
static void load_owned(struct weir_filter *f, const unsigned char *state, const uint64_t *hashes,
                       size_t n)
{
	const unsigned shift = partition_shift(f);
	uint64_t some[SOME];
	size_t count = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t hash = *(const volatile uint64_t *)&hashes[i];
		some[count] = hash;
		count += state[partition_of(hash, shift)] == OWNED;
		if (count < SOME)
			continue;
		f->kernel->load(f, some, count);
		count = 0;
	}
	f->kernel->load(f, some, count);
}

/* Take all pending partitions that have no owner. Return: true if it took any. */
static bool take_pending(struct weir_filter *f, unsigned char *state)
{
	bool any = false;
	for (uint32_t p = 0; p < f->parts; p++)
		if (state[p] == PENDING && weir__owner_take(&f->owners[p])) {
			state[p] = OWNED;
			any = true;
		}
	return any;
}

static void drop_owned(struct weir_filter *f, unsigned char *state)
{
	for (uint32_t p = 0; p < f->parts; p++)
		if (state[p] == OWNED) {
			weir__owner_drop(&f->owners[p]);
			state[p] = DONE;
		}
}

/* A round takes all pending partitions that have no owner, loads their hashes and drops the
 * partitions, without waiting ([OWNER-NEVER-WAITS]). If other threads own all pending partitions,
 * the thread first waits for a partition. So each round completes some partitions, and there are at
 * most f->parts rounds, however many threads load. A thread that wanted all partitions at once
 * could wait forever. */
static void load_in_rounds(struct weir_filter *f, const uint64_t *hashes, size_t n)
{
	unsigned char state[MOST_PARTS] = { DONE };
	const unsigned shift = partition_shift(f);
	for (size_t i = 0; i < n; i++)
		state[partition_of(hashes[i], shift)] = PENDING;
	for (uint32_t part = 0; part < f->parts; part++)
		while (state[part] == PENDING) {
			if (take_pending(f, state)) {
				load_owned(f, state, hashes, n);
				drop_owned(f, state);
			} else {
				weir__owner_wait(&f->owners[part]);
			}
		}
}

static bool buckets_pay(const struct weir_filter *f, size_t n)
{
	return f->bytes > weir__last_cache_bytes() && n >= KEYS_A_LINE * f->array.lines;
}

int weir__bulk_load(struct weir_filter *f, const uint64_t *hashes, size_t n)
{
	WEIR__UNCANCELLED; /* other threads may wait for this thread's partitions */
	struct buckets buckets;
	int err = weir__owners_begin();
	if (err)
		return err;
	size_t done = buckets_pay(f, n) ? 0 : load_whole(f, hashes, n);
	if (done == n)
		return 0;
	if (buckets_alloc(&buckets, f->parts, n - done)) {
		for (size_t some; done < n; done += some) {
			some = n - done < ROUND ? n - done : ROUND;
			load_in_rounds(f, hashes + done, some);
		}
		return 0;
	}
	load_buckets(f, &buckets, hashes + done, n - done);
	weir__memory_free(&buckets.memory);
	return 0;
}
