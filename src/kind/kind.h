/* SPDX-License-Identifier: MIT
 * The interface of a kind, and the internals of a filter.
 *
 * A kind defines its shapes, its formulas for rate and size, and its kernels. The rest of the
 * library sees an array of 64-byte lines and calls the kind through the members below. A new kind
 * needs
 *   - a line in <weir/kinds.h>,
 *   - a folder in kinds/ (and its name in kinds/meson.build) that defines weir__kind_NAME,
 *   - for parameters of its own, a group in struct weir_params and its rows in filter/groups.c.
 * An array of zeros must be the empty set of every kind. If a kind lacks an optional member, that
 * member is NULL and the public function fails with weir__kind_cannot(). */
#ifndef WEIR_SRC_KIND_KIND_H
#define WEIR_SRC_KIND_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/filter.h>
#include <weir/inline.h>
#include <weir/text.h>
#include <weir/params.h>
#include "ground/atomic.h"
#include "ground/memory.h"
#include "ground/system.h"
#include "hash/hash.h"

struct weir_array;
struct weir_batch;
struct weir_law;
struct weir_survey;
struct weir_load_options;

/* The hot functions of a kind for one instruction set and one shape. weir__filter_make() chooses
 * the kernel once per filter. Except for load, any number of threads may call the functions at
 * the same time.
 *
 * A batch function gets the whole batch and calls nothing in its loop over the keys, which is
 * weir__batch_run() in batch.h. It returns the number of keys answered true or WEIR_NEW. If bitmap
 * is not NULL, it receives the answers, and its bits past the last key are cleared.
 *
 * Several threads may load at once if the kind keeps this rule:
 * [PARTITION-BITS]  partition_bits: the top bits of a hash choose the lines of its key. Cut the
 *    array into 2^p equal partitions of whole blocks (block_lines), for any p up to partition_bits.
 *    Then partition i holds exactly the keys whose top p bits are i. So each partition can be
 *    loaded by its owner ([OWNED-PART]) alone. If partition_bits is 0, the bits of a key may lie
 *    anywhere. */
struct weir_kernel {
	enum weir_isa isa;       /* the instruction set that the kernel is compiled for */
	/* The insert functions are NULL if the kind takes no inserts. If contains_u64 or insert_u64
	 * is NULL, the function for byte strings gets the eight bytes of the integer. */
	struct weir_verbs verbs;
	size_t (*contains_batch)(const struct weir_filter *f, const struct weir_batch *batch,
	                         uint64_t *bitmap);
	/* NULL if the kind takes no inserts. A kind that may refuse keys (see most() below)
	 * inserts in key order up to the first refused key. It returns weir__stopped() with the
	 * number of keys before the refused key. The bitmap has the answers for these keys, and its
	 * later bits are cleared. In any other kind this function never fails. */
	int64_t (*insert_batch)(struct weir_filter *f, const struct weir_batch *batch,
	                        uint64_t *bitmap);
	/* Insert n keys by plain stores. The caller alone owns the lines of the keys
	 * ([PARTITION-BITS]). The function must not refuse a key. NULL: the caller uses
	 * insert_batch instead. */
	void (*load)(struct weir_filter *f, const uint64_t *hashes, size_t n);
	unsigned partition_bits; /* [PARTITION-BITS] */
	unsigned block_lines;    /* lines over which a key's cells spread; 0 means 1 */
	/* route works like weir_route_hash(). route_each does the same for n hashes, and returns
	 * the number of masks that are not 0. Its parameter far says that the array is larger than
	 * a core's own cache. Both functions are NULL if the filter has one set. */
	uint64_t (*route)(const struct weir_array *a, uint64_t hash);
	size_t (*route_each)(const struct weir_array *a, const uint64_t *hashes, size_t n, bool far,
	                     uint64_t *masks);
	/* Works like weir_remove_hash(). NULL: the kind cannot remove keys. */
	int (*remove)(struct weir_filter *f, uint64_t hash);
	/* An insert with WEIR_ONCE. NULL: a lookup and then an insert are used instead. */
	int (*insert_once)(struct weir_filter *f, uint64_t hash);
	/* Works like weir_count_hash(), but never fails. NULL: the kind cannot count keys. */
	int64_t (*count)(const struct weir_filter *f, uint64_t hash);
};

/* Counts over a run of lines. All of them are sums, so the counts of several runs can be added. */
struct weir_measure {
	uint64_t lines; /* lines measured */
	uint64_t cells; /* bits, counters or slots of these lines, as the kind chooses; never 0 */
	uint64_t used;  /* cells that are not 0; used / cells is the fill in struct weir_stats */
	uint64_t stuck; /* counters at their largest value */
	double rate;    /* a sum that the kind defines for its estimate() */
};

/* A compound is a filter made of members, which are filters of another kind. The two rules are for
 * compounds with members(). A compound with freeze() has its members only in copies and images.
 * [FIRST-MEMBER]  The compound's own array is the array of its first member. The compound owns the
 *    memory. Code that expects one array works on that array.
 * [MEMBERS-STAY]  Members are only appended, and each lives as long as the compound. All use the
 *    compound's hashing and normalisation. Functions on whole filters process the members one by
 *    one. */
enum { WEIR__MEMBERS_MOST = 16 };
struct weir_member {
	struct weir_filter *f;
	uint64_t note; /* a number about f that the image stores, such as the count of its keys */
};

/* Everything about a filter except its bits. All values have been checked. */
struct weir_layout {
	const struct weir_kind *kind;
	struct weir_hashing hashing;
	struct weir_shape shape;
	uint32_t shards;
	uint64_t lines;
	uint64_t capacity;
	uint64_t max_capacity; /* for a compound that grows; else 0 */
	double fp_rate;
	struct weir_text text;
	uint32_t flags; /* enum weir_flags */
};

/* The description of a compound at the start of its image. Any value may be damaged. */
struct weir_parts {
	const struct weir_layout *whole;
	const uint64_t *own;               /* words of the image's head that the compound defines */
	unsigned n;                        /* the number of members */
	uint64_t note[WEIR__MEMBERS_MOST]; /* the note of each member */
};

/* A copy of a compound's members at one moment, and of its own words of the image's head. */
enum { WEIR__OWN_WORDS = 4 };
struct weir_frozen {
	struct weir_member member[WEIR__MEMBERS_MOST];
	unsigned n;
	uint64_t own[WEIR__OWN_WORDS];
};

/* The keys that a filter is built from, as distinct hashes. Any thread may call these functions. */
struct weir_key_set {
	uint64_t n;
	unsigned threads; /* the number of threads to build with */
	/* Return the number of keys whose top part_bits bits are part. */
	uint64_t (*count)(const struct weir_key_set *given, uint64_t part, unsigned part_bits);
	/* Put the keys whose top part_bits bits are part into out, roughly ordered by their top
	 * bits. Return: 0 or a negative errno. */
	int (*read)(const struct weir_key_set *given, uint64_t part, unsigned part_bits,
	            uint64_t *out);
	/* For kinds with an exclude list. sieve is a filter of the keys of this set. The exclude
	 * list is streamed through the sieve. passed has the excluded keys that the sieve answers
	 * true. No key is in both this set and passed. */
	const struct weir_filter *sieve;
	const struct weir_key_set *passed;
	/* Report that @keys more keys are in the filter. Return: 0, or -ECANCELED to stop. */
	int (*built)(const struct weir_key_set *given, uint64_t keys);
};

/* Functions that return an int return 0 or a negative errno, which weir__fail() has recorded. */
struct weir_kind {
	uint32_t id;                  /* enum weir_kind_id */
	const char *name;             /* as in <weir/kinds.h> */
	const struct weir_hash *hash; /* hashes a key to 64 bits, unless the filter is keyed */
	/* Other programs read this kind's filters, so the seed is 0, the filter is never keyed, and
	 * keys are hashed without normalisation. */
	bool as_is;
	/* The abilities (enum weir_ability) that no function below implies. weir__kind_can() adds
	 * the abilities that the functions imply. */
	uint32_t can;
	/* The names of the numbers in a shape, followed by NULL. A number that the caller can
	 * choose has the name of its field in the kind's group of struct weir_params. */
	const char *fields[WEIR_SHAPE_FIELDS];

	/* Check the kind's own group in params, and set the general fields that follow from the
	 * group. NULL: the group has only the numbers of a shape. */
	int (*settle)(struct weir_params *params);
	/* Choose shape.field, call weir__size_complete() (sizing.h), then set reason. shape.kind is
	 * already set. plan.c has checked params, except for the numbers of the kind's own shape,
	 * which may have any value. */
	int (*plan)(const struct weir_params *params, struct weir_plan *out);
	/* Return true if the kind has this shape for @lines lines (UINT64_MAX: unknown). The
	 * numbers may come from a damaged image; unnamed ones are 0. Only weir__shape_legal() calls
	 * this function. */
	bool (*legal)(const struct weir_shape *shape, uint64_t lines);
	/* Return true if exactly one of several threads that race to insert a new key gets
	 * WEIR_NEW. NULL: no shape guarantees that. */
	bool (*decides)(const struct weir_shape *shape);
	/* Describe a legal shape in words, such as "7 bits a key". */
	void (*describe)(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT]);
	/* Return the kernel for an instruction set and a legal shape. A kind that is not compiled
	 * for this instruction set returns its scalar kernel. Return NULL if no filter can be
	 * made. */
	const struct weir_kernel *(*kernel)(enum weir_isa isa, const struct weir_shape *shape);

	/* Add the counts of lines first .. first+n-1 to sum. Other threads may insert at the same
	 * time. */
	void (*measure)(const struct weir_filter *f, uint64_t first, uint64_t n,
	                struct weir_measure *sum);
	/* Compute from a sum of measure() the distinct keys in f, and the rate at which absent keys
	 * are answered true. */
	void (*estimate)(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
	                 double *rate);

	/* ---- optional members of this struct: NULL if the kind does not need them ---- */

	/* Set the law by which a key's cells lie in the array (spread.h). Return: false if f has no
	 * law. */
	bool (*law)(const struct weir_filter *f, struct weir_law *out);
	/* Replaces law(). Judge whether the hashes of f's keys are uniform. The result and why are
	 * those of weir__spread_judge(). all: read the whole array. */
	uint32_t (*judge)(const struct weir_filter *f, bool all, const char **why);
	/* Make and free the kind's own state, f->own, which is not saved in images. create() is
	 * called when the rest of the filter is set. destroy() is called before the filter's memory
	 * is freed. At create() the array may already have keys, or a loader may fill it later. */
	int (*create)(struct weir_filter *f);
	void (*destroy)(struct weir_filter *f);
	/* Take the params that neither the shape nor the layout records. begin() is called after
	 * create() for a new filter. */
	int (*begin)(struct weir_filter *f, const struct weir_params *params);
	/* Set in out the params that begin() has taken, so that another filter like f can be
	 * made. */
	void (*asked)(const struct weir_filter *f, struct weir_params *out);
	/* Replaces measure() and estimate(): sets fill, fill_max, keys_estimated, fp_rate_estimated
	 * and sampled for all of f. @lines: the most lines to read; UINT64_MAX for all. */
	void (*figures)(const struct weir_filter *f, uint64_t lines, struct weir_stats *out);

	/* ---- head_lines, check() and alike(): only for kinds whose array begins with a head that
	 * begin() writes, such as the names of sets. Other kinds have 0 and NULL. Copies and unions
	 * of bits skip the head ---- */

	uint64_t head_lines;
	/* Check the head in an image, which an attacker may have made. Return: 0 or -EBADMSG. */
	int (*check)(const struct weir_filter *f);
	/* Return: 0 if both filters have the same head, else -EINVAL. NULL: the kind has no
	 * head. */
	int (*alike)(const struct weir_filter *a, const struct weir_filter *b);

	/* ---- only for kinds that move keys or refuse keys; otherwise NULL ---- */

	/* Between hold() and let_go() no key changes its slot. So a walk over the lines meets each
	 * key that was present at hold(). Lookups continue, and so do inserts that move no key. */
	void (*hold)(const struct weir_filter *f);
	void (*let_go)(const struct weir_filter *f);

	/* Return the number of distinct keys that f is sized for. Further keys may be refused
	 * (-ENOSPC). Statistics of a handle compare its keys with this number. NULL: f takes every
	 * key. */
	uint64_t (*most)(const struct weir_filter *f);
	/* Return the number of copies that f can hold of the key with this hash. f refuses one more
	 * copy (-ENOSPC), even if it has no other keys. NULL: f can hold any number of copies. */
	unsigned (*copies)(const struct weir_filter *f, uint64_t hash);

	/* ---- optional operations: NULL if the kind lacks the operation ---- */

	/* Add lines first .. first+n-1 of src to those of dst. Both filters have the same shape,
	 * size, hash and seed. Other threads may insert into both. A kind with hold() gets all
	 * lines in one call. If its merge() fails, it returns weir__stopped() with the number of
	 * copies that it added. */
	int (*merge)(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
	             uint64_t n);
	/* Undo a failed merge() of all lines: remove the first @copies copies of src from dst. No
	 * other thread changes either filter. NULL: merge() never fails. */
	void (*take_back)(struct weir_filter *dst, const struct weir_filter *src, uint64_t copies);
	/* Copy lines first .. first+n-1 into out, 8 words each, while other threads may insert. The
	 * copy must have every key whose insert happens-before the call. */
	void (*snapshot)(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out);
	/* Put the keys of f into dst, which is private, empty and factor times smaller. factor is a
	 * power of two. It divides f's lines, or folded() has accepted it. Other threads may insert
	 * into f at the same time. */
	int (*fold)(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor);
	/* Change the shape and lines of a layout to those of a filter folded by @factor, a power of
	 * two. NULL: the shape stays the same, and the factor must divide the lines. */
	int (*folded)(struct weir_layout *layout, uint32_t factor);
	/* For kinds without inserts: put all keys into a private, empty filter. Return -EAGAIN if
	 * the filter must be larger. The contents of the array are then undefined. */
	int (*build)(struct weir_filter *f, const struct weir_key_set *given);
	/* Make a plan larger, for the next call of build(). */
	void (*enlarge)(struct weir_plan *plan);
	/* For kinds that are also exact on an exclude list: set the parameters of the sieve. The
	 * sieve is a filter of the included keys, and the exclude list is streamed through it. */
	int (*sieve)(const struct weir_params *params, struct weir_params *out);
	/* Plan the whole filter, for @passed distinct excluded keys that passed the sieve. */
	int (*on_sieve)(const struct weir_params *params, const struct weir_filter *sieve,
	                uint64_t passed, struct weir_plan *out);
	/* Set the view for programs that inline lookups and inserts (<weir/inline.h>). Only the
	 * blocked kind has this function. The caller decides which threads insert through the
	 * view. */
	int (*view)(const struct weir_filter *f, struct weir_inline_mut *out);

	/* ---- for compounds whose members share one array in memory, but not in an image. The
	 * kind of such a compound has all members of this group, from freeze() to thawed(). In the
	 * group after this one it has only own_words and suits(). Any other kind has no member of
	 * this group ---- */

	/* Copy the members. On success the caller owns the copies and their hashing. */
	int (*freeze)(const struct weir_filter *f, struct weir_frozen *out);
	/* Make an empty filter for the members of an image that is not checked yet. The loader
	 * put()s each member as it is read, then calls thawed(). Other threads get the filter only
	 * after that. */
	int (*thaw)(struct weir_filter **out, const struct weir_parts *parts,
	            const struct weir_load_options *options);
	void (*put)(struct weir_filter *f, unsigned i, const struct weir_filter *member);
	int (*thawed)(struct weir_filter *f, const struct weir_load_options *options);

	/* ---- for compounds whose members have arrays of their own. The create() of such a
	 * compound makes the first member around the array. The kind of such a compound has NULL
	 * for measure(), estimate(), merge(), snapshot() and fold(). Only a compound that grows has
	 * grow_ahead(). A kind with freeze() has own_words and suits() of this group. Any other
	 * kind has no member of this group ---- */

	/* List the current members, in order. Return: the number of members. */
	unsigned (*members)(const struct weir_filter *f,
	                    struct weir_member out[WEIR__MEMBERS_MOST]);
	/* The number of words in an image's head that the compound defines (own in head.h). */
	unsigned own_words;
	/* Return: 0 if member i can belong to a compound of these parts. */
	int (*suits)(const struct weir_parts *parts, unsigned i, const struct weir_layout *member);
	/* Take over the members of an image or a copy, except the first, whose bits are f's array
	 * already. f is new, and each member has passed suits(). On success f owns the members. */
	int (*adopt)(struct weir_filter *f, const struct weir_member *members, unsigned n);
	/* Prepare dst for a merge of n members of another filter. Both filters have the same first
	 * member, shape, hash and seed. Fail if the members do not fit. Otherwise append members to
	 * dst until it has n, and add the note of each member of @from to the note of the same
	 * member of dst. Bits are merged later. */
	int (*join)(struct weir_filter *dst, const struct weir_member *from, unsigned n);
	/* Add @more to a member's note after its bits are merged. The bits may include keys that
	 * other threads inserted into the source after join(). */
	void (*joined)(struct weir_filter *dst, unsigned member, uint64_t more);
	/* Allocate the memory that the next inserts may need. */
	int (*grow_ahead)(struct weir_filter *f);

	/* ---- only for a view, which is a filter without bits that asks other filters ---- */

	/* Set what weir__survey() reports. */
	int (*survey)(const struct weir_filter *f, const struct weir_survey *survey,
	              struct weir_stats *out);
};

/* Return: all abilities that filters of the kind can have (enum weir_ability). */
uint32_t weir__kind_can(const struct weir_kind *kind);

/* Return: true if the kind has this shape, and every number without a name is 0. */
bool weir__shape_legal(const struct weir_kind *kind, const struct weir_shape *shape,
                       uint64_t lines);

/* Fail with -ENOTSUP and a sentence such as "kind blocked cannot remove keys". */
int weir__kind_cannot(const struct weir_kind *kind, const char *verb);

/* Fail with -EAGAIN if @f is the placeholder for a set that is not published yet. Its bits are not
 * keys. @verb: the function that would read them, for the error sentence. */
int weir__set_check(const struct weir_filter *f, const char *verb);

/* Call the kind's hold() and let_go(), if it has them, around a walk that merges or copies @f. */
void weir__hold(const struct weir_filter *f);
void weir__let_go(const struct weir_filter *f);

/* The fields that every lookup and insert reads, and that no lookup or insert writes. */
struct weir_array {
	uint64_t *words;         /* 8 words a line, aligned to 64 bytes, [LITTLE-ENDIAN] */
	uint64_t lines;          /* the number of 64-byte lines */
	uint64_t seed;           /* a copy of hashing.seed, next to the words */
	uint64_t flip8;          /* weir__flip8(seed), for 8-byte keys of kinds with XXH3 */
	struct weir_shape shape; /* a legal shape */
	void *own;               /* f->own, for kinds whose kernels need it */
};

#ifdef WEIR_DEBUG
struct weir_apart { /* state of weir__change_begin() and weir__whole_begin() */
	atomic_uint changes, wholes;
	struct weir_verbs inside;
};
#endif

struct weir_filter {
	struct weir_verbs verbs; /* the first field, since the public header calls them */
	struct weir_array array;

	const struct weir_kernel *kernel;
	const struct weir_kind *kind;
	int insert_error;    /* 0, or the error of every insert: -EROFS (such as for a
	                        read-only mapping), -ENOTSUP (a kind without inserts) */
	enum weir_isa isa;   /* best instruction set of this machine; the kernel may use another */
	bool no_set;         /* a [PLACEHOLDER] of a handle: its bits are not keys */
	atomic_bool owned;   /* a handle owns the filter and alone may free it ([ONE-HOLDER]) */
	bool outgrows_cache; /* the array is larger than a core's own cache, so batches prefetch */
	uint8_t few;         /* the largest batch for which one-key functions are faster */
	uint32_t shards;     /* a power of two that divides the lines */
	uint64_t bytes;      /* the bytes of bits, 64 * lines */
	uint64_t capacity;   /* the number of keys, as requested */
	uint64_t max_capacity; /* for a compound that grows; else 0 */
	uint32_t flags;      /* enum weir_flags; a growing filter also uses the memory
	                        flags for layers that it appends later */
	double fp_rate;      /* the requested rate */
	struct weir_hashing hashing;
	uint32_t marks;      /* enum weir_image_marks of the filter's image; 0 if it has no image */
	struct weir_text text;   /* the steps that normalise text keys, and the lengths of the keys
	                            in the filter, to which inserts may add ([LENGTH-FIRST]) */
	struct weir_verbs raw;   /* functions for keys that are normalised already */
	void *own;           /* the kind's own state, from create() */
	atomic_uint standby; /* if f is a handle's previous filter: its [PREVIOUS-FATE] */
	struct weir_memory memory;
#ifdef WEIR_DEBUG
	struct weir_apart apart;
#endif
	uint32_t parts;             /* the number of partitions for bulk loads: a power of
	                               two, at most 2^partition_bits */
	struct weir_owner owners[]; /* the owner of each partition ([OWNED-PART]) */
};

/* Return: true if f can remove keys. With WEIR_ONCE it cannot, since a stored copy may stand for
 * several keys. */
static inline bool weir__removes(const struct weir_filter *f)
{
	return f->kernel->remove && !(f->flags & WEIR_ONCE);
}

/* Return: the line that the top bits of a hash choose. If the kind's partition_bits
 * ([PARTITION-BITS]) are 64, the key's bits are in this line. Otherwise the line is only a guess
 * for a prefetch. */
static inline uint64_t *weir__line(const struct weir_array *a, uint64_t hash)
{
	return a->words + 8 * weir__mulhi64(hash, a->lines);
}

/* Declare weir__kind_blocked and so on. Each is defined in the kind's own folder. */
#define WEIR__DECLARE(number, constant, name, summary) \
	extern const struct weir_kind weir__kind_##name;
WEIR_KINDS(WEIR__DECLARE)
#undef WEIR__DECLARE

/* Debug builds abort a program that inserts or removes keys while a filter of a kind with removal
 * is saved, copied, merged or folded (filter.h). No other check covers this rule. The copy could
 * hold part of a key, and removing that key from the copy would take a part of another key away. A
 * handle's reload and refresh are exempt, since each insert during such a merge also goes into the
 * new filter. The counters of the new filter are then too high at worst, never too low. In builds
 * without WEIR_DEBUG the functions below do nothing. */

#if defined WEIR_DEBUG && !defined WEIR_DET
/* @verb: the name of the function for the message, such as "weir_clone". */
void weir__change_begin(struct weir_filter *f);
void weir__change_end(struct weir_filter *f);
void weir__whole_begin(const struct weir_filter *f, const char *verb);
void weir__whole_end(const struct weir_filter *f);
/* Replace the filter's inserts by functions that call weir__change_begin() and
 * weir__change_end(). */
void weir__apart_wrap(struct weir_filter *f);
#else
static inline void weir__change_begin(struct weir_filter *f)
{
	(void)f;
}
static inline void weir__change_end(struct weir_filter *f)
{
	(void)f;
}
static inline void weir__whole_begin(const struct weir_filter *f, const char *verb)
{
	(void)f, (void)verb;
}
static inline void weir__whole_end(const struct weir_filter *f)
{
	(void)f;
}
static inline void weir__apart_wrap(struct weir_filter *f)
{
	(void)f;
}
#endif

/* Members of struct weir_kind for kinds whose bits only change from 0 to 1 ([BITS-ONLY-SET]). Other
 * kinds must not use them unchecked: counters cannot be OR'ed, and a word-by-word copy can miss a
 * moving key. */

/* A merge(): OR each word of src into dst, if that changes dst. */
int weir__bits_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                     uint64_t n);
/* A snapshot(): copy word by word. It also suits counters that only grow or do not change. */
void weir__bits_snapshot(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out);

#endif
