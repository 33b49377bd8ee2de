/* SPDX-License-Identifier: MIT
 * Builds a fuse structure. Each of several threads takes the next part that no thread has taken. */
#include "ground/error.h"
#include "ground/threads.h"
#include "kind/spread.h"
#include "kinds/common/fuse_build.h"

/* If one in three tries fails, all ten fail for one in 60,000 parts. Then all parts must become
 * larger, since all have one size. */
enum { TRIES = 10 };

struct work {
	const struct weir_fuse_job *job;
	uint64_t most_keys; /* the keys in the largest part */
	uint64_t parts;
	atomic_uint_fast64_t next;
};

static uint64_t count_in(const struct weir_key_set *keys, uint64_t i, unsigned part_bits)
{
	return keys ? keys->count(keys, i, part_bits) : 0;
}

static int does_not_peel(const struct work *w, uint64_t i, uint64_t keys)
{
	return weir__fail(-EAGAIN, "part %llu of %llu: %llu keys cannot be built into %llu cells "
	                  "with any of %d seeds: the hashes are probably not uniform: "
	                  WEIR__UNEVEN_REMEDY, (unsigned long long)i,
	                  (unsigned long long)w->parts, (unsigned long long)keys,
	                  (unsigned long long)w->job->part.cells, TRIES);
}

/* Read job->keys before job->others: the first @marked hashes in @out must be the marked keys. */
static int read_part(const struct weir_fuse_job *job, uint64_t i, uint64_t marked, uint64_t *out)
{
	const unsigned part_bits = job->part.part_bits;
	int err = job->keys->read(job->keys, i, part_bits, out);
	if (!err && job->others)
		err = job->others->read(job->others, i, part_bits, out + marked);
	return err;
}

static int build_part(const struct work *w, struct weir_fuse_room *room, uint64_t i)
{
	const struct weir_fuse_job *job = w->job;
	const bool second = job->others;
	const uint64_t marked = count_in(job->keys, i, job->part.part_bits);
	const uint64_t n = marked + count_in(job->others, i, job->part.part_bits);
	for (unsigned t = 0; t < TRIES; t++) {
		const unsigned try = second ? WEIR_FUSE_SECOND_TRY + t : t;
		const uint64_t seed = weir__fuse_seed(job->hash_seed, i, try);
		int err = read_part(job, i, marked, room->keys);
		if (err)
			return err;
		if (!weir__fuse_peel(room, &job->part, n, marked, seed))
			continue;
		unsigned char *at = (unsigned char *)(job->words + 8 * job->part_lines * i);
		const uint64_t stored = WEIR__LE64(seed);
		__builtin_memcpy(at, &stored, sizeof stored);
		weir__fuse_assign(room, &job->part, n, seed, at + WEIR_FUSE_SEED, second);
		return job->keys->built(job->keys, n);
	}
	return does_not_peel(w, i, n);
}

static int build_parts(void *work)
{
	struct work *w = work;
	struct weir_fuse_room room = { .keys = NULL };
	int err = weir__fuse_room_make(&room, &w->job->part, w->most_keys);
	while (!err) {
		const uint64_t i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
		if (i >= w->parts)
			break;
		err = build_part(w, &room, i);
	}
	if (err)
		atomic_store_explicit(&w->next, w->parts, memory_order_relaxed);
	weir__fuse_room_free(&room);
	return err;
}

static uint64_t largest_part(const struct work *w, uint64_t *which)
{
	const struct weir_fuse_job *job = w->job;
	uint64_t most_keys = 0;
	for (uint64_t i = 0; i < w->parts; i++) {
		const uint64_t n = count_in(job->keys, i, job->part.part_bits) +
		                   count_in(job->others, i, job->part.part_bits);
		if (n > most_keys)
			*which = i;
		most_keys = n > most_keys ? n : most_keys;
	}
	return most_keys;
}

int weir__fuse_build(const struct weir_fuse_job *job)
{
	struct work w = { .job = job, .parts = UINT64_C(1) << job->part.part_bits };
	const unsigned threads = job->keys->threads;
	uint64_t largest = 0;
	w.most_keys = largest_part(&w, &largest);
	if (w.most_keys > job->part.cells)
		return does_not_peel(&w, largest, w.most_keys);
	return weir__parallel(threads < w.parts ? threads : (unsigned)w.parts, build_parts, &w);
}
