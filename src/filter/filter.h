/* SPDX-License-Identifier: MIT
 * Functions for filters of any kind: making, checking, measuring and merging them. */
#ifndef WEIR_SRC_FILTER_FILTER_H
#define WEIR_SRC_FILTER_FILTER_H

#include <weir/params.h>
#include "ground/error.h"
#include "kind/batch.h"
#include "kind/kind.h"
#include "normalise/normalise.h"

/* Return: the kind whose number in <weir/kinds.h> is @id, or NULL. */
const struct weir_kind *weir__kind(uint32_t id);

/* Return: the number of partitions for loading a filter of @bytes: a power of two, at most
 * 2^partition_bits ([PARTITION-BITS]). A partition is a run of whole shards and of whole blocks. It
 * fits half of a core's own cache if there are enough shards. */
uint32_t weir__bulk_parts(const struct weir_kernel *kernel, uint64_t bytes, uint32_t shards);

/* Load hashes into a private filter by plain stores. Each partition has one owner at a time
 * ([OWNED-PART]). Return: 0; or -ENOMEM (threads.h), then nothing was loaded. */
int weir__bulk_load(struct weir_filter *f, const uint64_t *hashes, size_t n);

/* ---- checks of parameters, for every kind ---- */

/* Copy parameters into this library's struct. Fields that an older header's struct lacks become 0,
 * which means "not given". Return: 0 or -EINVAL. */
int weir__params_copy(const struct weir_params *in, struct weir_params *out);

/* Copy parameters, as weir__params_copy() does, and check them. Return: 0 or a negative errno. */
int weir__params_check(const struct weir_params *in, struct weir_params *out);
/* Copy and check parameters for a kind that is built once. A capacity of 0 means that the number of
 * keys is known only at the end of the build. In this case the function keeps hash_bits, and the
 * caller calls weir__params_settle() once it knows the number. */
int weir__params_check_open(const struct weir_params *in, struct weir_params *out);
/* Set hash_bits to 0. If a rate is given, adjust the other parameters so that the plan stays within
 * the rate. Short hashes of different keys are equal at some rate, so the layout must have a lower
 * fp_rate. If rate and bytes are given, a capacity replaces the rate. Return: 0 or a negative
 * errno. */
int weir__params_settle(struct weir_params *p);

/* Fail if @p, a full-size struct, sets a field of another kind's group or a reserved word.
 * Return: 0 or -EINVAL. */
int weir__groups_check(const struct weir_params *p);
/* Fail if @p sets a field that a struct of @size bytes does not have. Return: 0 or -EINVAL. */
int weir__groups_fit(const struct weir_params *p, size_t size);
/* Set the fields of @p that ask for a legal shape, as weir_params_shape() does. */
void weir__groups_ask(struct weir_params *p, const struct weir_shape *shape);

/* Check that the abilities @has of a filter of @kind include all of @can (enum weir_ability).
 * @who: the function that needs them, for the error sentence.
 * Return: 0; or -ENOTSUP, with a sentence that names the first missing ability. */
int weir__abilities_check(uint32_t has, uint32_t can, const struct weir_kind *kind,
                          const char *who);

/* Check that all flags are known and compatible. Return: 0 or -EINVAL. */
int weir__flags_check(uint32_t flags);
/* If WEIR_ONCE is among the flags, check that the kind supports it. Return: 0 or -EINVAL. */
int weir__once_check(uint32_t flags, const struct weir_kind *kind);
/* Replace the insert functions of a filter that has WEIR_ONCE. Leaves other filters unchanged. */
void weir__once_wrap(struct weir_filter *f);
/* weir_insert_keys() for a filter with WEIR_ONCE, with keys that have one hash each. */
int64_t weir__once_insert_keys(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap);

/* Make a filter of @layout around memory that holds its bits.
 * @memory: 64 * layout->lines bytes at memory->bits. The filter owns it on success, the caller on
 *   failure.
 * @insert_error: 0, or the result of all inserts (-EROFS).
 * Return: 0; -ENOTSUP if this CPU or build lacks the instruction set that WEIR_ISA names, or if the
 * kind has no kernel; -ENOMEM. */
int weir__filter_make(struct weir_filter **out, const struct weir_layout *layout,
                      const struct weir_memory *memory, int insert_error);

/* Like weir__filter_make(), for a new filter: the kind's begin() also gets @params. */
int weir__filter_new(struct weir_filter **out, const struct weir_layout *layout,
                     const struct weir_memory *memory, const struct weir_params *params);

/* Make a handle the owner of the filter, so that weir_destroy() refuses the filter. Return: 0, or
 * -EBUSY if a handle owns it already. */
int weir__filter_own(struct weir_filter *f);
/* Do what weir_destroy() does, for the handle that owns the filter. */
void weir__filter_free(struct weir_filter *f);

struct weir_layout weir__filter_layout(const struct weir_filter *f);

/* Choose the hashing for @params: the kind's hash function with the given seed. If the seed is 0
 * and the kind has seeds, choose a random seed. If @params has a secret, choose SipHash with that
 * secret as its key instead. */
int weir__hashing_choose(struct weir_hashing *out, const struct weir_params *params);
/* weir_create() for checked parameters and their plan. The plan may be larger than weir_plan_make()
 * would make it, since a kind can enlarge its plan. */
int weir__create_planned(struct weir_filter **out, const struct weir_params *params,
                         const struct weir_plan *plan);

/* Make a compound.
 * @layout: the compound's layout, but the function takes shards and lines from the first member.
 * @members: 1 to WEIR__MEMBERS_MOST filters. The compound owns them on success, the caller on
 * failure. */
int weir__compound_make(struct weir_filter **out, const struct weir_layout *layout,
                        const struct weir_member *members, unsigned n, int insert_error);
/* Free members that no compound owns. */
void weir__members_free(const struct weir_member *members, unsigned n);
/* List the members of a compound; for other filters, only @f. Return: the number of members. */
unsigned weir__members(const struct weir_filter *f, struct weir_member out[WEIR__MEMBERS_MOST]);
/* Return: the number of bytes that the bits of all members take. */
uint64_t weir__filter_bytes(const struct weir_filter *f);

/* The options of weir__survey(). */
#define WEIR__SURVEY_FEWEST_LINES (4096 / 64)       /* a page */
#define WEIR__SURVEY_SAMPLE_LINES ((1 << 20) / 64)  /* the limit of weir_measure() */
struct weir_survey {
	uint64_t lines;  /* the most lines to read, at least WEIR__SURVEY_FEWEST_LINES; a filter
	                    with more lines is sampled */
	bool unforeseen; /* sample at random, so that an attacker cannot prepare the sampled lines
	                    of an image; if the system has no random numbers, read every line */
	weir_progress_fn *progress; /* called between pieces (error.h), or NULL */
	void *progress_arg;
};

/* Return: true if the filter may soon refuse keys. @keys: the estimated number of keys in it. */
bool weir__nearly_full(const struct weir_filter *f, double keys);
/* weir_measure() with options. Return: 0; -EINVAL for a wrong struct_size; -ECANCELED if the
 * progress function stopped the call. */
int weir__survey(const struct weir_filter *f, const struct weir_survey *survey,
                 struct weir_stats *out);
/* Check that the bits look like those of a filter with uniform hashes.  @who: the calling function,
 * for the error sentence.  Return: 0 or -EDOM. */
int weir__hashes_check(const struct weir_filter *f, const char *who);
/* Return: 0, or -EINVAL if @effort is not in enum weir_effort. */
int weir__effort_check(uint32_t effort);
/* Make all inserts return -EROFS. */
void weir__filter_read_only(struct weir_filter *f);
extern const struct weir_kernel weir__keyless;
/* For a filter whose secret key is unknown: make all lookups return true, and all inserts fail
 * with -EROFS. */
void weir__filter_keyless(struct weir_filter *f);

/* ---- sets with normalisation (text.c) ---- */

/* If the filter has normalisation steps, replace the kernel's functions by those for texts. */
void weir__text_wrap(struct weir_filter *f);
/* How a set hashes texts. The data belongs to a filter, or to a builder that collects hashes. A
 * length is a prefix length (step cidr) or a number of labels (step suffixes). */
struct weir_text_hashes {
	struct weir_text *text; /* steps and lengths; other threads may add lengths to the struct
	                         * ([LENGTH-FIRST]) */
	const struct weir_hashing *hashing;
	bool shared; /* other processes use the lengths too, so lengths must not change */
};

struct weir_text_hashes weir__text_hashes_of(const struct weir_filter *f);
/* Hash texts for an insert, and note their lengths. Return: as weir__hashes_to_insert(). */
size_t weir__text_insert_hashes(const struct weir_text_hashes *h, struct weir_keys keys,
                                uint64_t *out);
/* Hash the keys that a lookup of text @at probes. Return: the number of hashes, or -EINVAL if the
 * text cannot be parsed. */
int weir__text_lookup_hashes(const struct weir_text_hashes *h, struct weir_keys keys, size_t at,
                             uint64_t out[WEIR_TEXT_LOOKUPS]);

/* Hash the key that an insert of the text stores. weir__insert_hash_of() also notes the text's
 * length; weir__key_hash_of() does not.
 * Return: 0 or -EINVAL. */
int weir__insert_hash_of(struct weir_filter *f, const void *text, size_t len, uint64_t *hash);
int weir__key_hash_of(const struct weir_filter *f, const void *text, size_t len, uint64_t *hash);
/* Hash a batch for an insert, up to the first text that cannot be parsed.
 * Return: the number of hashes. If it is not keys.n, weir_error_detail() gives the reason. */
size_t weir__hashes_to_insert(struct weir_filter *f, struct weir_keys keys, uint64_t *out);
/* weir_insert_keys() for hashes from weir__hashes_to_insert(), in any set. */
int64_t weir__insert_hashes(struct weir_filter *f, const uint64_t *hashes, size_t n,
                            uint64_t *bitmap);
static inline int weir__insert_made(struct weir_filter *f, uint64_t hash)
{
	return f->raw.insert_hash(f, hash);
}
/* weir_contains_keys() for hashes that weir has computed. Works in any set, even if lookups of the
 * set probe several keys. */
static inline int64_t weir__contains_hashes(const struct weir_filter *f, const uint64_t *hashes,
                                            size_t n, uint64_t *bitmap)
{
	const struct weir_batch batch = { .from = WEIR_FROM_HASHES, .keys = hashes, .n = n };
	return (int64_t)f->kernel->contains_batch(f, &batch, bitmap);
}
/* weir_remove_hash() for a hash that weir has computed. Works in any set, as
 * weir__contains_hashes() does. */
int weir__remove_made(struct weir_filter *f, uint64_t hash);
/* Look up a batch in a set whose lookups probe several keys. Not for WEIR_KEYS_U64. */
int64_t weir__several_contains_keys(const struct weir_filter *f, struct weir_keys keys,
                                    uint64_t *bitmap);
/* Hash a batch for a set whose lookups probe several keys. Return: a bitmask of the
 * valid keys among the first 64. The hash of a key that is not valid has no meaning. */
uint64_t weir__several_hash_keys(const struct weir_filter *f, struct weir_keys keys, uint64_t *out);
/* Return: true if the batch needs weir__several_contains_keys(). */
static inline bool weir__keys_several(const struct weir_filter *f, struct weir_keys keys)
{
	return weir__text_several(&f->text) && keys.form != WEIR_KEYS_U64 &&
	       f->kernel != &weir__keyless;
}
/* Refuse hashes, for a set whose lookups probe several keys. Return: -EINVAL. */
int weir__text_refuse_hash(const struct weir_text *t);

/* The largest batch for which the kernel's pipeline does not pay. */
enum {
#ifdef WEIR_DET
	WEIR__FEW = 0, /* the deterministic tests have few keys, but must test the pipeline */
#else
	WEIR__FEW = 5,
#endif
};

/* ---- operations on whole filters ---- */

/* Make an empty filter with the layout and seed of @f, in its own memory. */
int weir__filter_like(struct weir_filter **out, const struct weir_filter *f);
/* Return: 0 if weir_merge() can merge the two filters, else its error. */
int weir__merge_check(const struct weir_filter *dst, const struct weir_filter *src);
/* Merge two filters that weir__merge_check() allows. @progress, if not NULL, is called between
 * pieces (error.h). Return: as weir_merge(), or -ECANCELED if @progress stopped the merge. After
 * -ECANCELED, and for cuckoo after -ENOSPC or -EAGAIN, @dst may have a part of @src. */
int weir__merge(struct weir_filter *dst, const struct weir_filter *src,
                weir_progress_fn *progress, void *progress_arg);

#endif
