/* SPDX-License-Identifier: MIT
 * Filters of any kind, made around given memory. */
#ifndef WEIR_SRC_FILTER_FILTER_H
#define WEIR_SRC_FILTER_FILTER_H

#include <weir/params.h>
#include "ground/error.h"
#include "kind/batch.h"
#include "kind/kind.h"
#include "normalise/normalise.h"

/* The table of kinds, by the numbers of <weir/kinds.h>. */

/* The kind with that number, or NULL. */
const struct weir_kind *weir__kind(uint32_t id);

/* Bulk loading of a private filter by plain stores: a part has one owner at a time (O1). */

/* The number of parts of a filter of @bytes: a power of two, at most 2^partition_bits (L1). A part
 * is a run of whole shards and of whole blocks. It fits half of a core's own cache if there are
 * enough shards. */
uint32_t weir__bulk_parts(const struct weir_kernel *kernel, uint64_t bytes, uint32_t shards);

/* Return: 0 or -ENOMEM (threads.h); then nothing was loaded. */
int weir__bulk_load(struct weir_filter *f, const uint64_t *hashes, size_t n);

/* Checks of parameters for every kind. */

/* Copy parameters into this library's struct. Fields that an older header's struct lacks become 0,
 * which means "not given". Returns 0 or -EINVAL, with the sentence set. */
int weir__params_copy(const struct weir_params *in, struct weir_params *out);

/* Copy parameters, which may come from an older header, and check them.
 * Return: 0 or a negative errno. */
int weir__params_check(const struct weir_params *in, struct weir_params *out);
/* The same for a kind that is built once. A capacity of 0 means that it is known only at the end,
 * and hash_bits stays until then. */
int weir__params_check_open(const struct weir_params *in, struct weir_params *out);
/* Replace hash_bits by what it leaves for the layout: a lower fp_rate; or, if rate and bytes are
 * given, a capacity in place of the rate. Return: 0 or a negative errno. */
int weir__params_settle(struct weir_params *p);

/* Fail if @p, a full-size struct, sets a field of another kind's group or a reserved word.
 * Return: 0 or -EINVAL. */
int weir__groups_check(const struct weir_params *p);
/* Fail if a struct of @size bytes has no room for a field that @p sets. Return: 0 or -EINVAL. */
int weir__groups_fit(const struct weir_params *p, size_t size);
/* Ask for a legal shape, as weir_params_shape(). */
void weir__groups_ask(struct weir_params *p, const struct weir_shape *shape);

/* Are the abilities @can (enum weir_ability) among @has, those of a filter of @kind?
 * @who: the verb that needs them, for the sentence.  Return: 0; -ENOTSUP: the sentence names the
 * first one missing. */
int weir__abilities_check(uint32_t has, uint32_t can, const struct weir_kind *kind,
                          const char *who);

/* Check that all flags are known and that none excludes another. Return: 0 or -EINVAL. */
int weir__flags_check(uint32_t flags);
/* If WEIR_ONCE is among the flags, check that the kind can have it. Return: 0 or -EINVAL. */
int weir__once_check(uint32_t flags, const struct weir_kind *kind);
/* Replace the kernel's inserts by those of WEIR_ONCE, for a filter with that flag. */
void weir__once_wrap(struct weir_filter *f);
/* weir_insert_keys() for such a filter, with keys that have one hash each. */
int64_t weir__once_insert_keys(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap);

/*
 * Make a filter of @layout around memory that holds its bits.
 * @memory: 64 * layout->lines bytes at memory->bits. The filter owns it on success, the caller on
 *   failure.
 * @insert_error: 0, or the answer of inserts (-EROFS).
 * Return: 0; -ENOTSUP WEIR_ISA, or the kind has no kernel; -ENOMEM.
 */
int weir__filter_make(struct weir_filter **out, const struct weir_layout *layout,
                      const struct weir_memory *memory, int insert_error);

/* As weir__filter_make(), for a new filter: its kind begins it with @params. */
int weir__filter_new(struct weir_filter **out, const struct weir_layout *layout,
                     const struct weir_memory *memory, const struct weir_params *params);

/* From now on a handle owns the filter, and weir_destroy() refuses it. Return: 0; -EBUSY a handle
 * owns it already. */
int weir__filter_own(struct weir_filter *f);
/* The owner's weir_destroy(). */
void weir__filter_free(struct weir_filter *f);

struct weir_layout weir__filter_layout(const struct weir_filter *f);

/* Hash by the kind's function with @params' seed, or a random one if it is 0 and the kind has
 * seeds; with a secret, by SipHash and that key. */
int weir__hashing_choose(struct weir_hashing *out, const struct weir_params *params);
/* As weir_create(), for checked parameters and a plan that may have been enlarged. */
int weir__create_planned(struct weir_filter **out, const struct weir_params *params,
                         const struct weir_plan *plan);

/*
 * Make a compound of members, each a filter of its own.
 * @layout: the compound's; shards and lines are taken from the first member.
 * @members: 1 to WEIR__MEMBERS_MOST. The compound owns them on success, the caller on failure.
 */
int weir__compound_make(struct weir_filter **out, const struct weir_layout *layout,
                        const struct weir_member *members, unsigned n, int insert_error);
/* Free members that no compound took. */
void weir__members_free(const struct weir_member *members, unsigned n);
/* The members of a compound; for any other filter, the filter itself. Return: how many. */
unsigned weir__members(const struct weir_filter *f, struct weir_member out[WEIR__MEMBERS_MOST]);
/* Bytes of bits of all members. */
uint64_t weir__filter_bytes(const struct weir_filter *f);

/* How much weir__survey() reads, and the progress function that it calls. */
#define WEIR__SURVEY_FEWEST_LINES (4096 / 64)       /* a page */
#define WEIR__SURVEY_SAMPLE_LINES ((1 << 20) / 64)  /* weir_measure() */
struct weir_survey {
	uint64_t lines;  /* the most to read, at least WEIR__SURVEY_FEWEST_LINES: a sample if the
	                  * filter has more */
	bool unforeseen; /* sample at random places, so that an attacker cannot make an image sparse
	                  * just there. Without random numbers every line is read. */
	weir_progress_fn *progress; /* called between pieces (error.h), or NULL */
	void *progress_arg;
};

/* Can the filter refuse a key, and does it soon, with @keys keys (estimated)? */
bool weir__nearly_full(const struct weir_filter *f, double keys);
/* weir_measure() with those options. Return: 0; -EINVAL struct_size; -ECANCELED progress stopped
 * it. */
int weir__survey(const struct weir_filter *f, const struct weir_survey *survey,
                 struct weir_stats *out);
/* Are its bits as uniform hashes leave them?  @who: the verb, for the sentence.
 * Return: 0; -EDOM they are not. */
int weir__hashes_check(const struct weir_filter *f, const char *who);
/* Return: 0, or -EINVAL if @effort is not in enum weir_effort. */
int weir__effort_check(uint32_t effort);
/* From now on inserts return -EROFS. */
void weir__filter_read_only(struct weir_filter *f);
extern const struct weir_kernel weir__keyless;
/* In addition all lookups return true: the secret key of the filter's hashes is unknown. */
void weir__filter_keyless(struct weir_filter *f);

/* Sets with normalisation (text.c). */

/* Replace the kernel's verbs by those for texts, if the filter has steps. */
void weir__text_wrap(struct weir_filter *f);
/* How a set hashes texts: a filter's own data, or that of a builder that collects hashes for
 * one. */
struct weir_text_hashes {
	struct weir_text *text; /* its lengths are shared (N3) */
	const struct weir_hashing *hashing;
	bool shared; /* other processes use the lengths too, so they must not change */
};

struct weir_text_hashes weir__text_hashes_of(const struct weir_filter *f);
/* The hashes that an insert of texts sets; notes the lengths of the texts. Return: as
 * weir__hashes_to_insert(). */
size_t weir__text_insert_hashes(const struct weir_text_hashes *h, struct weir_keys keys,
                                uint64_t *out);
/* The hashes that a lookup of text @at probes. Return: how many; -EINVAL the text cannot be
 * read. */
int weir__text_lookup_hashes(const struct weir_text_hashes *h, struct weir_keys keys, size_t at,
                             uint64_t out[WEIR_TEXT_LOOKUPS]);

/* The hash that the insert of a text sets. The first function also notes the text's length.
 * Return: 0; -EINVAL, with the sentence. */
int weir__insert_hash_of(struct weir_filter *f, const void *text, size_t len, uint64_t *hash);
int weir__key_hash_of(const struct weir_filter *f, const void *text, size_t len, uint64_t *hash);
/* The hashes that the insert of a batch sets, up to the first text that cannot be read.
 * Return: how many. If fewer than all, weir_error_detail() says why. */
size_t weir__hashes_to_insert(struct weir_filter *f, struct weir_keys keys, uint64_t *out);
/* weir_insert_keys() of such hashes, for any set. */
int64_t weir__insert_hashes(struct weir_filter *f, const uint64_t *hashes, size_t n,
                            uint64_t *bitmap);
static inline int weir__insert_made(struct weir_filter *f, uint64_t hash)
{
	return f->raw.insert_hash(f, hash);
}
/* weir_contains_keys() of such hashes. */
static inline int64_t weir__contains_hashes(const struct weir_filter *f, const uint64_t *hashes,
                                            size_t n, uint64_t *bitmap)
{
	const struct weir_batch batch = { .from = WEIR_FROM_HASHES, .keys = hashes, .n = n };
	return (int64_t)f->kernel->contains_batch(f, &batch, bitmap);
}
/* weir_remove_hash() of such a hash. */
int weir__remove_made(struct weir_filter *f, uint64_t hash);
/* Batch lookup in a set whose lookups probe several keys; not for WEIR_KEYS_U64. */
int64_t weir__several_contains_keys(const struct weir_filter *f, struct weir_keys keys,
                                    uint64_t *bitmap);
/* Hashes the keys of such a batch. Return: a bit for each of the first 64 that is a key of this
 * set. */
uint64_t weir__several_hash_keys(const struct weir_filter *f, struct weir_keys keys, uint64_t *out);
/* Does the batch need these verbs? */
static inline bool weir__keys_several(const struct weir_filter *f, struct weir_keys keys)
{
	return weir__text_several(&f->text) && keys.form != WEIR_KEYS_U64 &&
	       f->kernel != &weir__keyless;
}
/* Says why a set takes no hashes. Return: -EINVAL. */
int weir__text_refuse_hash(const struct weir_text *t);

/* The largest batch that is too small for a kernel's pipeline. */
enum {
#ifdef WEIR_DET
	WEIR__FEW = 0, /* the schedules have few keys, and test the pipeline */
#else
	WEIR__FEW = 5,
#endif
};

/* Operations on whole filters. */

/* Make an empty filter of the same layout and seed as @f, in memory of its own. */
int weir__filter_like(struct weir_filter **out, const struct weir_filter *f);
/* Return: 0 if weir_merge() can merge the two, else its error. */
int weir__merge_check(const struct weir_filter *dst, const struct weir_filter *src);
/* weir_merge() of two filters that weir__merge_check() allows. It calls @progress between pieces
 * (error.h), unless that is NULL. Return: as weir_merge(), or -ECANCELED if @progress stopped it.
 * After -ECANCELED, and after -ENOSPC or -EAGAIN of cuckoo, @dst may have a part of @src. */
int weir__merge(struct weir_filter *dst, const struct weir_filter *src,
                weir_progress_fn *progress, void *progress_arg);

#endif
