/* SPDX-License-Identifier: MIT
 * The batch pipeline, which is inlined into each kernel. It hashes a few keys, notes where they lie
 * and prefetches their lines. Meanwhile it works on keys noted earlier, whose lines have arrived.
 * The steps are small: a burst of prefetches would fill the core's line buffers and stall the core.
 * A filter that fits a core's own cache is not prefetched, since prefetches would only add
 * instructions. If a batch has hashes or 8-byte keys, the loop makes no calls, because some CPUs
 * (older CPUs with IBRS) do not predict indirect branches. On these CPUs an indirect call in each
 * step would stall the core. */
#ifndef WEIR_SRC_KIND_BATCH_H
#define WEIR_SRC_KIND_BATCH_H

#include "hash/hash.h"
#include "kind/kind.h"

enum {
	WEIR_BATCH_NOTES = 64, /* the most keys with notes at a time, a power of two */
	WEIR_HASHED = 64,  /* keys hashed at a time, so that many short multiply chains overlap */
	WEIR_AHEAD = 1024, /* distance in bytes at which keys or hashes are prefetched */
};

/* The prefetch target for lines of the array. Lookups fetch into the second-level cache, since a
 * first-level cache can wait for fewer lines at a time. Lines to be written always go into the
 * first level. */
enum { WEIR_TO_L2 = 2, WEIR_TO_L1 = 3 };

/* The keys of a batch. */
struct weir_batch {
	enum { WEIR_FROM_HASHES, WEIR_FROM_FIXED8, WEIR_FROM_KEYS } from;
	const void *keys;
	size_t key_bytes;
	size_t n;
	/* For WEIR_FROM_KEYS: put the hashes of keys at .. at+n-1 into out. */
	void (*hash)(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
	             size_t n, uint64_t *out);
};

/* Return: true if the batch has a valid form. Only then call weir__batch(). */
static inline bool weir__keys_form(struct weir_keys keys)
{
	return keys.form != WEIR_KEYS_NONE && keys.form <= WEIR_KEYS_U64;
}
struct weir_batch weir__batch(const struct weir_filter *f, struct weir_keys keys);
/* Return: true if the keys are text that the filter normalises. */
static inline bool weir__keys_text(const struct weir_filter *f, struct weir_keys keys)
{
	return f->text.steps && (keys.form == WEIR_KEYS_IOV || keys.form == WEIR_KEYS_FIXED);
}
/* Normalise a text and hash it. For filters whose lookups of a text probe a single key, so without
 * the steps cidr and suffixes. */
uint64_t weir__text_hash(const struct weir_filter *f, const void *text, size_t len);
/* Fail with -EINVAL, for a batch without a valid form. */
int weir__keys_refused(void);
/* Refuse an insert: set the error sentence and return f->insert_error, which must not be 0. */
int weir__insert_refused(const struct weir_filter *f);

/* Put the hashes of keys at .. at+n-1 into out. The batch must have keys, not hashes. */
void weir__batch_hash(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
                      size_t n, uint64_t *out);

/* Hash the keys of a batch that has a valid form, for callers without a filter. */
void weir__keys_hash(const struct weir_hashing *hashing, enum weir_isa isa, struct weir_keys keys,
                     uint64_t *out);

/* Put @answer into the bitmap for all n keys, unless @bitmap is NULL. Return: @answer ? n : 0. */
int64_t weir__answer_all(bool answer, size_t n, uint64_t *bitmap);

/* End the insert_batch of a kind that refused key @taken. Write the words of the bitmap from the
 * word with that key's bit on. @answers: that word, with the answers for the keys before @taken.
 * Return: weir__stopped(taken, err). */
int64_t weir__batch_stopped(const struct weir_batch *batch, size_t taken, uint64_t answers,
                            uint64_t *bitmap, int err);

/* The numbers that a kernel notes for its keys. The kind defines the rows. Key i of a batch uses
 * column i % WEIR_BATCH_NOTES. */
struct weir_notes {
	uint64_t row[4][WEIR_BATCH_NOTES];
} __attribute__((aligned(64)));

WEIR__INLINE unsigned weir__least(size_t left, unsigned most)
{
	return left < most ? (unsigned)left : most;
}

/* Return: the hashes of n keys from @at on. They are in the caller's array if the batch has hashes.
 * Otherwise they are in @scratch. */
WEIR__INLINE const uint64_t *weir__batch_take(const struct weir_filter *f, uint64_t flip8,
                                              const struct weir_batch *batch, size_t at, unsigned n,
                                              uint64_t *scratch)
{
	const char *keys = (const char *)batch->keys + 8 * at;
	if (batch->from == WEIR_FROM_KEYS) {
		batch->hash(f, batch, at, n, scratch);
		return scratch;
	}
	/* Prefetch the keys too. The hardware prefetcher does not follow the keys, since prefetches
	 * of filter lines come between the accesses to them. */
	for (unsigned line = 0; line < WEIR_HASHED * 8; line += 64)
		__builtin_prefetch(keys + WEIR_AHEAD + line, 0, 3);
	if (batch->from == WEIR_FROM_HASHES)
		return (const uint64_t *)(const void *)keys;
	weir__hash8_each(flip8, keys, n, scratch);
	return scratch;
}

/* Note n keys in columns at .. at+n-1. If the filter outgrows the cache (far), prefetch. */
typedef void weir__note_fn(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                           bool far, struct weir_notes *notes, unsigned at);
/* Work on the n keys noted in columns at .. at+n-1. Return: a bitmask of the answers in order. */
typedef uint64_t weir__work_fn(const struct weir_array *a, bool far,
                               const struct weir_notes *notes, unsigned at, unsigned n);

/* The loop of every batch function. Return: the number of answers that are true.
 * @step: the number of keys to note or work on at a time, a power of two up to 32.
 * @lead: the number of keys noted before the first is worked on, a multiple of @step.
 * @step + @lead is at most WEIR_BATCH_NOTES.
 * @step, @lead, @note and @work must be constants, so that the compiler inlines them. */
WEIR__INLINE size_t weir__batch_run(const struct weir_filter *f, const struct weir_batch *batch,
                                    uint64_t *bitmap, unsigned step, unsigned lead,
                                    weir__note_fn *note, weir__work_fn *work)
{
	uint64_t scratch[WEIR_HASHED] __attribute__((aligned(64))), answers = 0;
	struct weir_notes notes;
	/* a copy that no store can alias, so the compiler keeps it in registers */
	const struct weir_array array = f->array;
	size_t n = batch->n, positive = 0;
	bool far = f->outgrows_cache;
	const uint64_t *hashes = NULL;
	/* a batch shorter than the lead gets a shorter lead, so that no step is idle */
	const size_t ahead = n < lead ? (n + step - 1) / step * step : lead;
	for (size_t noted = 0, worked = 0; worked < n; noted += step) {
		if (noted < n) {
			if (noted % WEIR_HASHED == 0)
				hashes = weir__batch_take(f, array.flip8, batch, noted,
				                          weir__least(n - noted, WEIR_HASHED),
				                          scratch);
			note(&array, hashes + noted % WEIR_HASHED, weir__least(n - noted, step),
			     far, &notes, noted % WEIR_BATCH_NOTES);
		}
		if (noted < ahead)
			continue;
		answers |= work(&array, far, &notes, worked % WEIR_BATCH_NOTES,
		                weir__least(n - worked, step))
		        << (worked % 64);
		worked += step;
		if (worked % 64 && worked < n)
			continue;
		positive += (size_t)__builtin_popcountll(answers);
		if (bitmap)
			bitmap[(worked - 1) / 64] = answers;
		answers = 0;
	}
	return positive;
}

/* Hash a key that is not eight bytes long. Eight-byte keys are hashed inline, without a stack
 * frame. The kernel's functions for one key are called indirectly. So they call this function
 * directly, since a second indirect call would be slow on CPUs that do not predict indirect
 * branches. */
static __attribute__((noinline, unused)) uint64_t weir__hash_other(const struct weir_filter *f,
                                                                   const void *key, size_t len)
{
	return weir__hash(f->array.seed, key, len);
}

/* Define contains_batch_NAME and insert_batch_NAME of a kernel, from a note and a work function. */
#define WEIR__BATCH_VERBS(name, step, lead, note_to_read, test, note_to_write, put) \
	static size_t contains_batch_##name(const struct weir_filter *f, \
	                                    const struct weir_batch *batch, uint64_t *bitmap) \
	{ \
		return weir__batch_run(f, batch, bitmap, step, lead, note_to_read, test); \
	} \
	static int64_t insert_batch_##name(struct weir_filter *f, const struct weir_batch *batch, \
	                                   uint64_t *bitmap) \
	{ \
		return (int64_t)weir__batch_run(f, batch, bitmap, step, lead, note_to_write, put); \
	}

#endif
