/* SPDX-License-Identifier: MIT
 * Building filters of kinds fuse and layered, which are built once from all their keys and take no
 * inserts afterwards. weir_build() takes one batch. A builder collects keys from several threads:
 *
 *     struct weir_params params = WEIR_PARAMS_INIT;
 *     params.kind = WEIR_FUSE;
 *     params.fp_rate = 0.01;
 *     weir_builder_create(&b, &params, NULL);
 *     weir_builder_add_keys(b, weir_keys_u64(ids, n));     any thread, any number of times
 *     weir_builder_finish(&filter, b, NULL);
 *     weir_builder_destroy(b);
 *
 * A key may come more than once. Callers that hash keys themselves need the seed before the filter
 * exists: they set params.seed, or let the builder choose it and call weir_builder_hash(). */
#ifndef WEIR_BUILD_H
#define WEIR_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <weir/export.h>
#include <weir/filter.h>
#include <weir/image.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

/**
 * Hash a key for a filter that does not exist yet.
 * @seed: params.seed of that filter.
 * Return: the value that weir_hash() returns for a filter of that seed, without a secret and
 *   without normalisation (<weir/text.h>), of any kind but split.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: some nanoseconds.
 * Source: XXH3_64bits_withSeed of xxHash.
 */
WEIR_API uint64_t weir_hash_seeded(uint64_t seed, const void *key, size_t len);

struct weir_builder; /* opaque: the keys that a filter is to be built from */

/** Options of a builder. Start from WEIR_BUILDER_OPTIONS_INIT; 0 always means "not given". */
struct weir_builder_options {
	size_t struct_size;        /* sizeof(struct weir_builder_options) */
	uint32_t threads;          /* number of threads that sort and build, the caller's included;
	                              0: 1 */
	uint64_t max_memory;       /* limit in bytes of the memory besides the filter; 0: no limit.
	                              It must be at least 63 MiB a thread. Without spill_folder an
	                              add that needs more than max_memory fails (-EFBIG) */
	const char *spill_folder;  /* folder of an unnamed file for the hashes that exceed
	                              max_memory, 8 bytes each */
	weir_progress_fn *progress; /* called while the builder seals and finishes, by one thread at
	                               a time; NULL: none. Its arguments count hashes instead of
	                               bytes. For fuse bytes_total is twice the number of added
	                               keys, and less once the builder has found duplicates */
	void *progress_arg;
	bool allow_uneven;         /* try to build even if the hashes are not uniform. Without this
	                              flag finishing fails for such hashes (-EDOM), if there are 256
	                              keys or more */
	uint64_t different_keys;   /* number of different keys that are added; 0: unknown. Keys that
	                              share a hash add to the rate. If they add more than the
	                              filter's own rate, finishing fails with -EDOM, unless
	                              allow_uneven is set */
};

#define WEIR_BUILDER_OPTIONS_INIT WEIR__INIT(weir_builder_options)

/**
 * Build a filter from all its keys.
 * @out: receives the filter; untouched on failure.
 * @params: as for weir_create(). A capacity of 0 becomes the number of different keys, which needs
 *   the least memory. If the keys are hashes, give the seed or secret that they were made with.
 * @keys: of any form. A key may come more than once.
 * @options: as for weir_builder_create(); NULL for the defaults: one thread.
 * Return: 0 or a negative errno.
 * Errors: as weir_create(); -ENOTSUP if the kind takes inserts instead; -EINVAL for hashes with
 *   seed 0 and secret NULL, or if keys.at is NULL; -ENOSPC if there are more different keys than
 *   capacity, or no filter can be built from them; -EDOM, unless options->allow_uneven is set, if
 *   the hashes are not uniform (256 of them or more) or too few for options->different_keys.
 * Threads: any.  Order: none; publish the filter with release order.
 * Progress: blocking (memory).  Cost: fuse: 55 to 70 ns a key; besides the filter 8 bytes a key and
 *   at most 50 MB.
 * Source: Graf and Lemire 2022 (binary fuse filters).
 */
WEIR_API WEIR_MUST_CHECK int weir_build(struct weir_filter **out, const struct weir_params *params,
                                        struct weir_keys keys,
                                        const struct weir_builder_options *options);

/** The report of a builder. Start from WEIR_BUILD_REPORT_INIT. */
struct weir_build_report {
	size_t struct_size;     /* sizeof(struct weir_build_report) */
	uint64_t added;         /* number of adds: a key added twice counts twice */
	uint64_t keys;          /* number of different keys, counted by their hashes */
	uint64_t spilled_bytes; /* bytes written to the file in spill_folder */
	double sort_seconds;    /* time to sort the hashes and find equal hashes; layered: for
	                           the second level only */
	double build_seconds;   /* time to build the filter; layered: its second level */
	/* The next five fields are for a kind with an exclude list (layered). */
	uint64_t excluded;      /* number of excludes: a key excluded twice counts twice */
	uint64_t passed;        /* different keys of the list that the first level let pass */
	uint64_t equal;         /* number of hashes that are in both lists; if it is not 0,
	                           finishing returns -EEXIST */
	uint64_t equal_hash;    /* the smallest hash in both lists */
	double seal_seconds;    /* time to sort the included keys and build the first level */
	uint32_t hashes_uneven; /* enum weir_uneven: whether hashes of included keys are uniform */
};

#define WEIR_BUILD_REPORT_INIT WEIR__INIT(weir_build_report)

/**
 * Create a builder, which collects keys.
 * @out: receives the builder; untouched on failure.
 * @params: parameters of the filter to build, copied. If seed is 0 and secret NULL, the builder
 *   chooses a random seed. A capacity of 0 becomes the number of different keys. With any other
 *   capacity weir_builder_finish() refuses more different keys than that.
 * @options: NULL for the defaults; copied.
 * Return: 0 or a negative errno.
 * Errors: -ENOTSUP if the kind takes inserts instead, or is unknown; -EINVAL if a parameter is out
 *   of its range; -ENOMEM.
 * Threads: any.  Progress: blocking (memory).  Cost: microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_builder_create(struct weir_builder **out,
                                                 const struct weir_params *params,
                                                 const struct weir_builder_options *options);

/**
 * Hash a key for the filter that a builder will make.
 * @b: the builder.
 * Return: the value that weir_hash() will return.
 * Errors: none.  Threads: any, also while other threads add keys.  Progress: wait-free.
 *   Cost: some nanoseconds.
 */
WEIR_API uint64_t weir_builder_hash(const struct weir_builder *b, const void *key, size_t len);

/** As weir_builder_hash(), for the eight bytes at &key, which are never normalised. */
WEIR_API uint64_t weir_builder_hash_u64(const struct weir_builder *b, uint64_t key);
/** As weir_builder_hash(), for each key of a batch, into @out. */
WEIR_API void weir_builder_hash_keys(const struct weir_builder *b, struct weir_keys keys,
                                     uint64_t *out);

/**
 * Add a batch of keys to a builder. A key may be added more than once.
 * @b: the builder.
 * @keys: of any form. Hashes must be of weir_builder_hash(). weir_hash_seeded() with the builder's
 *   seed gives the same hashes if the builder has no secret, and no normalisation step
 *   (<weir/text.h>) changes the text.
 * Return: 0 or a negative errno. After -ENOMEM, -EFBIG or a file's error some keys of the batch may
 *   be added, and every further call fails as well.
 * Errors: -ENOMEM; -EFBIG if max_memory is reached without a spill_folder; the errno of a file
 *   operation in spill_folder; -EINVAL if the builder is sealed or finished. -EINVAL also for
 *   hashes with cidr or suffixes, or for a batch of form WEIR_KEYS_NONE: no key is added. -EINVAL
 *   also if normalisation refuses a key: the keys before it are added (weir_error_taken()). After
 *   the last three errors the builder accepts further keys.
 * Threads: any number at the same time.  Progress: blocking: a lock that few threads share, memory,
 *   the file.  Cost: some 20 ns a call, some 5 ns a hash; 8 bytes a hash.
 */
WEIR_API WEIR_MUST_CHECK int weir_builder_add_keys(struct weir_builder *b, struct weir_keys keys);

/**
 * Seal the included keys of a builder and begin the exclude list. Only kinds that are exact on both
 * lists (layered) have one. The call builds the first level. The list may be far larger than
 * memory: the builder keeps only the one key in 2^fingerprint_bits that passes the first level, in
 * 8 bytes.
 * @b: the builder. params.layered.exclude_keys should be about the length of the list.
 * Return: 0 or a negative errno. If building failed, every further call fails as well.
 * Errors: -ENOTSUP if the kind takes no exclude list; -EINVAL if the builder is sealed or finished;
 *   as weir_builder_finish().
 * Threads: one; no other thread may use the builder during the call.  Order: none.
 * Progress: blocking.
 * Cost: as weir_build(), shared by the threads.
 * Source: the two levels of Clubcards (Schanck 2025).
 */
WEIR_API WEIR_MUST_CHECK int weir_builder_seal(struct weir_builder *b);

/**
 * Exclude a batch of keys: their lookups will return false. A key may be excluded more than once.
 * @b: the builder, sealed.
 * @keys: as for weir_builder_add_keys().
 * Return: 0 or a negative errno. After -ENOMEM, -EFBIG or a file's error some keys of the batch may
 *   be excluded, and every further call fails as well.
 * Errors: -ENOTSUP if the kind takes no exclude list; -EINVAL if the builder is not sealed yet or
 *   already finished, or normalisation refuses a key; -ENOMEM, -EFBIG and the errno of a file
 *   operation as weir_builder_add_keys(). weir_builder_finish() reports a key of both lists.
 * Threads: any number at the same time.  Progress: blocking for keys that pass the first level, as
 *   weir_builder_add_keys().  Cost: a batch of lookups; 8 bytes for one key in 2^fingerprint_bits.
 */
WEIR_API WEIR_MUST_CHECK int weir_builder_exclude_keys(struct weir_builder *b,
                                                       struct weir_keys keys);

/**
 * Build the filter from the collected keys.
 * @out: receives the filter; untouched on failure.
 * @report: receives the figures, or after a failure the figures known by then; may be NULL.
 * Return: 0 or a negative errno. In both cases the builder is now empty and can only be destroyed,
 *   except after -EINVAL for @out or @report.
 * Errors: as weir_build(); -EDOM if the included hashes are not uniform, and allow_uneven is not
 *   set; -ECANCELED if progress stopped the call; -EFBIG for max_memory; the errno of reading or
 *   writing the file; the error of an earlier call that failed; -EEXIST if an included and an
 *   excluded key have one hash (report->equal_hash). With 12 million included and 816 million
 *   excluded keys, two different keys have one hash in 1 of 2,000 builds; another seed separates
 *   them. A key in both lists gives this error under any seed. To find the key, compare
 *   weir_builder_hash() of each key with that hash.
 * Threads: one; no other thread may use the builder during the call or afterwards.  Order: none;
 *   publish the filter with release order.  Progress: blocking.
 * Cost: as weir_build(), shared by the threads.
 */
WEIR_API WEIR_MUST_CHECK int weir_builder_finish(struct weir_filter **out, struct weir_builder *b,
                                                 struct weir_build_report *report);

/**
 * Free a builder, finished or not.
 * @b: NULL is allowed.
 * Return: 0.  Errors: none.  Threads: the last user.  Progress: blocking (memory).
 */
WEIR_API int weir_builder_destroy(struct weir_builder *b);

/* ---- one key: batches of one ---- */

/** As weir_builder_add_keys(), for one key. */
static inline WEIR_MUST_CHECK int weir_builder_add(struct weir_builder *b, const void *key,
                                                   size_t len)
{
	struct iovec one = { (void *)(uintptr_t)key, len };
	return weir_builder_add_keys(b, weir_keys_iov(&one, 1));
}
/** As weir_builder_add(), for the eight bytes at &key. */
static inline WEIR_MUST_CHECK int weir_builder_add_u64(struct weir_builder *b, uint64_t key)
{
	return weir_builder_add_keys(b, weir_keys_u64(&key, 1));
}
/** As weir_builder_add(), for a hash. */
static inline WEIR_MUST_CHECK int weir_builder_add_hash(struct weir_builder *b, uint64_t hash)
{
	return weir_builder_add_keys(b, weir_keys_hashes(&hash, 1));
}
/** As weir_builder_exclude_keys(), for one key. */
static inline WEIR_MUST_CHECK int weir_builder_exclude(struct weir_builder *b, const void *key,
                                                       size_t len)
{
	struct iovec one = { (void *)(uintptr_t)key, len };
	return weir_builder_exclude_keys(b, weir_keys_iov(&one, 1));
}
/** As weir_builder_exclude(), for the eight bytes at &key. */
static inline WEIR_MUST_CHECK int weir_builder_exclude_u64(struct weir_builder *b, uint64_t key)
{
	return weir_builder_exclude_keys(b, weir_keys_u64(&key, 1));
}
/** As weir_builder_exclude(), for a hash. */
static inline WEIR_MUST_CHECK int weir_builder_exclude_hash(struct weir_builder *b, uint64_t hash)
{
	return weir_builder_exclude_keys(b, weir_keys_hashes(&hash, 1));
}

WEIR_END_DECLS

#endif
