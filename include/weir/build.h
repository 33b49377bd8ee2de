/* SPDX-License-Identifier: MIT
 * Filters that are built once, from all their keys, and take no insert afterwards.
 *
 * Such a kind needs every key at once. weir_build() takes a batch of keys; a builder collects
 * keys from several threads, of which some may be equal, and builds when there are no more. The
 * seed is known before the filter is, so that hashes can be made: it is given, or a builder chooses
 * it. */
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
 * The hash of a key by the library's function, before there is a filter.
 * @seed: that of the filter to come: params.seed.
 * Return: what weir_hash() returns for a filter of that seed without secret, of any kind but
 *   split.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: some nanoseconds.
 * Source: XXH3_64bits_withSeed of xxHash.
 */
WEIR_API uint64_t weir_hash_seeded(uint64_t seed, const void *key, size_t len);

struct weir_builder; /* opaque: the keys that a filter is to be built from */

/** How a builder works. Start from WEIR_BUILDER_OPTIONS_INIT; 0 always means "not given". */
struct weir_builder_options {
	size_t struct_size;
	uint32_t threads;          /* that sort and build, the caller's among them; 0: 1 */
	uint64_t max_memory;       /* bytes beside the filter, at least 63 MiB for each of the
	                              threads; 0: no limit. Adding fails with -EFBIG where more
	                              is needed, unless spill_folder is given. */
	const char *spill_folder;  /* where hashes that max_memory has no room for are kept, in a
	                              file without a name, 8 bytes each */
	weir_progress_fn *progress; /* called while it seals and while it finishes, by one thread
	                               at a time, with hashes done and their total: twice those
	                               added, less once it is known how many are equal. May be
	                               NULL. */
	void *progress_arg;
	bool allow_uneven;         /* build from hashes too that are not uniform, if that can be
	                              done: else the end fails with -EDOM, from 256 keys on */
	uint64_t different_keys;   /* how many different keys are added, where the caller knows:
	                              the end fails with -EDOM if there are so few different
	                              hashes that equal ones add more than the filter's rate to
	                              it, unless allow_uneven is set; 0: not known */
};

#define WEIR_BUILDER_OPTIONS_INIT WEIR__INIT(weir_builder_options)

/**
 * Build a filter from all its keys.
 * @out: receives the filter; untouched on failure.
 * @params: as for weir_create(). A capacity of 0 becomes the number of different keys, which needs
 *   the least memory. With hashes, the seed or secret that they were made with.
 * @keys: of any form. A key may occur more than once.
 * @options: as for weir_builder_create(); NULL for the defaults: one thread.
 * Return: 0 or a negative errno.
 * Errors: as weir_create(); -ENOTSUP the kind takes inserts instead; -EINVAL hashes with seed 0 and
 *   secret NULL, or keys.at is NULL; -ENOSPC there are more different keys than the capacity, or
 *   they cannot be built; -EDOM the hashes are not uniform (256 of them or more) or have too few
 *   values (options->different_keys), and options->allow_uneven is not set.
 * Threads: any.  Order: none; publish the filter with release order.
 * Progress: blocking (memory).  Cost: fuse: 55 to 70 ns a key; 8 bytes a key beside the filter and
 *   50 MB at most.
 * Source: Graf and Lemire 2022 (binary fuse filters).
 */
WEIR_API WEIR_MUST_CHECK int weir_build(struct weir_filter **out, const struct weir_params *params,
                                        struct weir_keys keys,
                                        const struct weir_builder_options *options);

/** What a builder did. Start from WEIR_BUILD_REPORT_INIT. */
struct weir_build_report {
	size_t struct_size;
	uint64_t added;         /* keys, with all that were equal */
	uint64_t keys;          /* different ones, by their hashes */
	uint64_t spilled_bytes; /* to the file */
	double sort_seconds;    /* to put them in order and find those that are equal */
	double build_seconds;   /* and to build */
	/* Of a kind with an exclude list; the two times above are then of its second level. */
	uint64_t excluded;      /* keys of the list, with all that were equal */
	uint64_t passed;        /* different ones that the first level let pass */
	uint64_t equal;         /* hashes that a key of each list has: -EEXIST unless it is 0 */
	uint64_t equal_hash;    /* the least of them */
	double seal_seconds;    /* to sort and build the first level */
	uint32_t hashes_uneven; /* enum weir_uneven, of the included keys */
};

#define WEIR_BUILD_REPORT_INIT WEIR__INIT(weir_build_report)

/**
 * Begin to collect keys.
 * @out: receives the builder; untouched on failure.
 * @params: of the filter to come, copied. Where seed is 0 and secret NULL a random seed is
 *   chosen. A capacity of 0 becomes the number of different keys; where it is given, more of them
 *   are refused at the end.
 * @options: NULL for the defaults; copied.
 * Return: 0 or a negative errno.
 * Errors: -ENOTSUP the kind takes inserts instead, or is unknown; -EINVAL a parameter is out of its
 *   range; -ENOMEM.
 * Threads: any.  Progress: blocking (memory).  Cost: microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_builder_create(struct weir_builder **out,
                                                 const struct weir_params *params,
                                                 const struct weir_builder_options *options);

/**
 * The hash of a key in the filter to come.
 * @b: the builder.
 * Return: what weir_hash() will return.
 * Errors: none.  Threads: any, also beside those that add.  Progress: wait-free.  Cost: some
 *   nanoseconds.
 */
WEIR_API uint64_t weir_builder_hash(const struct weir_builder *b, const void *key, size_t len);

/** As weir_builder_hash(), of the eight bytes at &key. */
WEIR_API uint64_t weir_builder_hash_u64(const struct weir_builder *b, uint64_t key);
/** As weir_builder_hash(), of each key of a batch, into @out. */
WEIR_API void weir_builder_hash_keys(const struct weir_builder *b, struct weir_keys keys,
                                     uint64_t *out);

/**
 * Add a batch of keys. They may be added again.
 * @b: the builder.
 * @keys: of any form; hashes are of weir_builder_hash(), or of weir_hash_seeded() with the same
 *   seed.
 * Return: 0 or a negative errno. After a failure some of them are added, and the builder has failed
 *   for good: it answers every further call alike.
 * Errors: -ENOMEM; -EFBIG max_memory, and no folder to spill to; what the file system answers to a
 *   spill; -EINVAL the builder was finished.
 * Threads: any number at the same time.  Progress: blocking: a lock that few threads share, memory,
 *   the file.  Cost: some 20 ns a call, some 5 ns a hash; 8 bytes each.
 */
WEIR_API WEIR_MUST_CHECK int weir_builder_add_keys(struct weir_builder *b, struct weir_keys keys);

/**
 * Seal the included keys: from now on keys of the exclude list are taken. For kinds that are exact
 * on such a list too (layered). The first level is built, so that of the list, which may be far
 * larger than memory, only those keys are kept that the first level lets pass: one in
 * 2^fingerprint_bits, 8 bytes each.
 * @b: the builder. Of its params exclude_keys should say about how long the list is.
 * Return: 0 or a negative errno. After a failure the builder has failed for good.
 * Errors: -ENOTSUP the kind takes no exclude list; -EINVAL it is sealed or finished; as
 *   weir_builder_finish().
 * Threads: nobody else may use the builder meanwhile.  Order: none.  Progress: blocking.
 * Cost: as weir_build(), shared by the threads.
 * Source: the two levels of Clubcards (Schanck 2025).
 */
WEIR_API WEIR_MUST_CHECK int weir_builder_seal(struct weir_builder *b);

/**
 * Exclude a batch of keys: lookups of them will be answered false. They may be excluded again.
 * @b: the builder, sealed.
 * @keys: as weir_builder_add_keys().
 * Return: 0 or a negative errno. After a failure some of them are excluded, and the builder has
 *   failed for good, but for -ENOTSUP and one that is not sealed.
 * Errors: -ENOTSUP the kind takes no exclude list; -EINVAL the builder is not sealed yet, or was
 *   finished; -ENOMEM, -EFBIG and those of a file as weir_builder_add_keys(). That a key is
 *   included is found by weir_builder_finish().
 * Threads: any number at the same time.  Progress: blocking where a key passes, as
 *   weir_builder_add_keys().  Cost: a batch of lookups; 8 bytes for one in 2^fingerprint_bits.
 */
WEIR_API WEIR_MUST_CHECK int weir_builder_exclude_keys(struct weir_builder *b,
                                                       struct weir_keys keys);

/**
 * Build the filter from what was added.
 * @out: receives the filter; untouched on failure.
 * @report: receives the figures, also on failure as far as it came; or NULL.
 * Return: 0 or a negative errno. Whatever it is, the builder has no keys any more, and can only be
 *   destroyed.
 * Errors: as weir_build(); -EDOM the included hashes are not uniform, and allow_uneven is not set;
 *   -ECANCELED progress stopped it; -EFBIG max_memory; what reading or writing the file answers;
 *   what an add has failed with; -EEXIST an included and an excluded key have one hash
 *   (report->equal_hash). By chance two keys do, 1 in 2,000 times at 12 million and 816 million
 *   keys: another seed separates them. A key that is in both lists has one hash under any seed. Who
 *   has the keys finds by weir_builder_hash() which it is, before or after this.
 * Threads: nobody else may use the builder meanwhile or afterwards.  Order: none; publish the
 *   filter with release order.  Progress: blocking.
 * Cost: as weir_build(), shared by the threads.
 */
WEIR_API WEIR_MUST_CHECK int weir_builder_finish(struct weir_filter **out, struct weir_builder *b,
                                                 struct weir_build_report *report);

/**
 * Free a builder, finished or not.
 * @b: NULL is allowed.
 * Return: 0.  Errors: none.  Threads: nobody else may use it.  Progress: blocking (memory).
 */
WEIR_API int weir_builder_destroy(struct weir_builder *b);

/* ---- one key: batches of one ---- */

/** As weir_builder_add_keys(), of one key. */
static inline WEIR_MUST_CHECK int weir_builder_add(struct weir_builder *b, const void *key,
                                                   size_t len)
{
	struct iovec one = { (void *)(uintptr_t)key, len };
	return weir_builder_add_keys(b, weir_keys_iov(&one, 1));
}
/** As weir_builder_add(), of the eight bytes at &key. */
static inline WEIR_MUST_CHECK int weir_builder_add_u64(struct weir_builder *b, uint64_t key)
{
	return weir_builder_add_keys(b, weir_keys_u64(&key, 1));
}
/** As weir_builder_add(), of a hash. */
static inline WEIR_MUST_CHECK int weir_builder_add_hash(struct weir_builder *b, uint64_t hash)
{
	return weir_builder_add_keys(b, weir_keys_hashes(&hash, 1));
}
/** As weir_builder_exclude_keys(), of one key. */
static inline WEIR_MUST_CHECK int weir_builder_exclude(struct weir_builder *b, const void *key,
                                                       size_t len)
{
	struct iovec one = { (void *)(uintptr_t)key, len };
	return weir_builder_exclude_keys(b, weir_keys_iov(&one, 1));
}
/** As weir_builder_exclude(), of the eight bytes at &key. */
static inline WEIR_MUST_CHECK int weir_builder_exclude_u64(struct weir_builder *b, uint64_t key)
{
	return weir_builder_exclude_keys(b, weir_keys_u64(&key, 1));
}
/** As weir_builder_exclude(), of a hash. */
static inline WEIR_MUST_CHECK int weir_builder_exclude_hash(struct weir_builder *b, uint64_t hash)
{
	return weir_builder_exclude_keys(b, weir_keys_hashes(&hash, 1));
}

WEIR_END_DECLS

#endif
