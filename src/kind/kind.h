/* SPDX-License-Identifier: MIT
 * The interface of a kind, and the inside of a filter.
 *
 * A kind knows its shape, its mathematics and its kernels. The rest of the library sees only an
 * array of 64-byte lines, and calls the kind through the members below. A new kind needs
 *   - a line in <weir/kinds.h>,
 *   - a folder in kinds/ (and its name in kinds/meson.build) that defines weir__kind_NAME,
 *   - for parameters of its own, a group in struct weir_params and its rows in filter/groups.c.
 * A new filter's array is all zero, which is the empty set of every kind.
 * If a kind lacks an optional member, that member is NULL and the public verb fails with
 * weir__kind_cannot(). */
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

/*
 * The hot functions of one kind, for one instruction set and one shape. weir__filter_make() chooses
 * them once. A batch function gets the whole batch and calls nothing in its loop over the keys:
 * weir__batch_run() in batch.h is that loop. The batch functions return the number of keys answered
 * true or WEIR_NEW. They write the answers into bitmap, with the bits past the last key cleared,
 * unless bitmap is NULL. Any number of threads may run all of them but load at the same time.
 *
 * A law allows several threads to load at once. A kind promises it by the field of its name:
 * L1  partition_bits: the top bits of a hash choose the lines of its key. Cut the array into 2^p
 *     equal runs of whole blocks (block_lines), for any p up to partition_bits that allows it. Then
 *     run i holds exactly the keys whose top p bits are i. So hashes collected by those bits can be
 *     loaded run by run, each run by one owner at a time (O1). 0: the bits of a key may lie
 *     anywhere.
 */
struct weir_kernel {
	enum weir_isa isa;       /* it was compiled for */
	/* All inserts are NULL if the kind takes none. If a uint64_t verb is NULL, the verb for
	 * keys takes the eight bytes. */
	struct weir_verbs verbs;
	size_t (*contains_batch)(const struct weir_filter *f, const struct weir_batch *batch,
	                         uint64_t *bitmap);
	/* NULL if the inserts above are. A kind that refuses keys (most, below) inserts in key
	 * order up to the first refused one. Then it returns weir__stopped() with the number of
	 * keys before it; the bitmap has the answers of those, and all later bits are cleared.
	 * Other kinds never fail here. */
	int64_t (*insert_batch)(struct weir_filter *f, const struct weir_batch *batch,
	                        uint64_t *bitmap);
	/* Insert n keys by plain stores: the caller alone owns their lines (L1). Must not refuse a
	 * key. NULL: insert_batch serves. */
	void (*load)(struct weir_filter *f, const uint64_t *hashes, size_t n);
	unsigned partition_bits; /* L1 */
	unsigned block_lines;    /* over which a key's cells spread; 0: one */
	/* As weir_route_hash(). route_each does so for n hashes, and returns how many masks are not
	 * 0; far: the array outgrows a core's own cache. NULL: the filter has one set. */
	uint64_t (*route)(const struct weir_array *a, uint64_t hash);
	size_t (*route_each)(const struct weir_array *a, const uint64_t *hashes, size_t n, bool far,
	                     uint64_t *masks);
	/* remove: as weir_remove_hash(). count: as weir_count_hash(), 0 or more. NULL: cannot. */
	int (*remove)(struct weir_filter *f, uint64_t hash);
	/* An insert with WEIR_ONCE. NULL: a lookup and then an insert serve. */
	int (*insert_once)(struct weir_filter *f, uint64_t hash);
	int64_t (*count)(const struct weir_filter *f, uint64_t hash);
};

/* Counts over runs of lines. All are sums, so the counts of several runs add up. */
struct weir_measure {
	uint64_t lines; /* measured */
	uint64_t cells; /* bits, counters or slots in those lines: the kind's choice, not 0 */
	uint64_t used;  /* cells that are not 0; used / cells is the fill in struct weir_stats */
	uint64_t stuck; /* counters at their largest value */
	double rate;    /* a sum that the kind defines for its estimate() */
};

/* A compound is a filter made of members, which are filters of another kind.
 * M1  Its own array is its first member's, in the same memory, which the compound owns. So code
 *     that asks for one array finds that one.
 * M2  Members are only added, at the end, and each lives as long as the compound. All have its
 *     hashing and its normalisation.
 * Verbs on whole filters go from member to member. */
enum { WEIR__MEMBERS_MOST = 16 };
struct weir_member {
	struct weir_filter *f;
	uint64_t note; /* what the compound knows of it besides its bits; the image keeps it */
};

/* Everything about a filter except its bits, and checked in full. */
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

/* The image's description of a compound, which precedes its members. Any of it may be damaged. */
struct weir_parts {
	const struct weir_layout *whole;
	const uint64_t *own;               /* words of the head that the compound defines */
	unsigned n;                        /* members */
	uint64_t note[WEIR__MEMBERS_MOST]; /* their notes */
};

/* A copy of a compound's members as of one moment, with the compound's own words of the head. */
enum { WEIR__OWN_WORDS = 4 };
struct weir_frozen {
	struct weir_member member[WEIR__MEMBERS_MOST];
	unsigned n;
	uint64_t own[WEIR__OWN_WORDS];
};

/* The keys that a filter is built from: distinct hashes. Any thread may call these functions. */
struct weir_key_set {
	uint64_t n;
	unsigned threads; /* to build with */
	/* The number of keys whose top part_bits are part. */
	uint64_t (*count)(const struct weir_key_set *given, uint64_t part, unsigned part_bits);
	/* Put those keys into out, roughly ordered by their top bits. Return: 0 or a negative
	 * errno. */
	int (*read)(const struct weir_key_set *given, uint64_t part, unsigned part_bits,
	            uint64_t *out);
	/* For kinds with an exclude list: the filter of these keys that the list was streamed
	 * through, and the excluded keys that passed it. None of those is among the keys. */
	const struct weir_filter *sieve;
	const struct weir_key_set *passed;
	/* Reports that @keys more keys are built in. Return: 0; -ECANCELED the caller asks to
	 * stop. */
	int (*built)(const struct weir_key_set *given, uint64_t keys);
};

/* Functions that return an int return 0 or a negative errno, after weir__fail(). */
struct weir_kind {
	uint32_t id;                  /* enum weir_kind_id */
	const char *name;             /* as in <weir/kinds.h> */
	const struct weir_hash *hash; /* from a key to its 64 bits, unless the filter is keyed */
	/* Other programs know which keys it has: its seed is 0, it is never keyed, and keys are
	 * hashed without normalisation. */
	bool as_is;
	/* enum weir_ability: the abilities that no member below implies. weir__kind_can() adds the
	 * rest. */
	uint32_t can;
	/* The names of the numbers in its shapes, NULL past the last. A number that the caller can
	 * choose has the name of its field in the kind's group of struct weir_params. */
	const char *fields[WEIR_SHAPE_FIELDS];

	/* Check the kind's own group in params, and set the general fields that follow from it.
	 * NULL: the group has only the numbers of its shapes. */
	int (*settle)(struct weir_params *params);
	/* Choose shape.field, call weir__size_complete() (sizing.h), then give the reason.
	 * shape.kind is already set. plan.c has checked params, except for the numbers of the
	 * kind's own shape, which may have any value. */
	int (*plan)(const struct weir_params *params, struct weir_plan *out);
	/* Is this a shape of the kind, in @lines lines (UINT64_MAX: unknown)? The numbers may come
	 * from a damaged image; those past the last name are 0. Call weir__shape_legal()
	 * instead. */
	bool (*legal)(const struct weir_shape *shape, uint64_t lines);
	/* If threads race to insert a new key, does exactly one get WEIR_NEW? NULL: for no
	 * shape. */
	bool (*decides)(const struct weir_shape *shape);
	/* A legal shape in words, such as "7 bits a key". */
	void (*describe)(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT]);
	/* The kernel for an instruction set and a legal shape. A kind that is not compiled for a
	 * set returns its scalar kernel. NULL: no filter can be made. */
	const struct weir_kernel *(*kernel)(enum weir_isa isa, const struct weir_shape *shape);

	/* measure: add lines first .. first+n-1 to sum. estimate: from a sum, the distinct keys in
	 * f and the rate of absent keys answered true. Other threads may insert at the same
	 * time. */
	void (*measure)(const struct weir_filter *f, uint64_t first, uint64_t n,
	                struct weir_measure *sum);
	void (*estimate)(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
	                 double *rate);

	/* ---- optional; NULL: the kind has none ---- */

	/* How a key's cells lie (spread.h), for an array of this kind alone. Return: false if this
	 * filter's shape has no such law. */
	bool (*law)(const struct weir_filter *f, struct weir_law *out);
	/* Replaces law: were its keys' hashes uniform? @all: look at the whole array.
	 * @why, return: as weir__spread_judge(). */
	uint32_t (*judge)(const struct weir_filter *f, bool all, const char **why);
	/* The kind's own state beside the array, f->own, which no image has. create() is called
	 * when the rest of the filter is set, destroy() before its memory is freed. The array may
	 * have keys at create(), or a loader may still fill it. create() returns 0, or a negative
	 * errno after weir__fail(). */
	int (*create)(struct weir_filter *f);
	void (*destroy)(struct weir_filter *f);
	/* begin: called after create() for a new filter, takes the params that are in no shape and
	 * no layout. asked: puts those into the params of another such filter. */
	int (*begin)(struct weir_filter *f, const struct weir_params *params);
	void (*asked)(const struct weir_filter *f, struct weir_params *out);
	/* Replaces measure() and estimate(), for all of f: fill, fill_max, keys_estimated,
	 * fp_rate_estimated and sampled. @lines: to read at most, or UINT64_MAX for all. */
	void (*figures)(const struct weir_filter *f, uint64_t lines, struct weir_stats *out);

	/* ---- for kinds whose array begins with other data than keys, such as names, which begin()
	 *      writes; else 0 and NULL. Copies and unions of bits begin behind it ---- */

	uint64_t head_lines;
	/* Check the data of an image, which an attacker may have made. Return: 0 or -EBADMSG. */
	int (*check)(const struct weir_filter *f);
	/* Is the data of both the same? Return: 0 or -EINVAL. NULL: always. */
	int (*alike)(const struct weir_filter *a, const struct weir_filter *b);

	/* Between hold() and let_go() no key changes its place, so a walk over the lines meets each
	 * key that was present before. Lookups go on, and so do inserts that move no key. */
	void (*hold)(const struct weir_filter *f);
	void (*let_go)(const struct weir_filter *f);

	/* The number of distinct keys that f is sized for before it refuses one (-ENOSPC); a
	 * handle's statistics compare its keys with it. NULL: it takes every key. */
	uint64_t (*most)(const struct weir_filter *f);
	/* The copies of a key that f holds before it refuses the next (-ENOSPC), however empty it
	 * is. NULL: it never refuses a copy for that. */
	unsigned (*copies)(const struct weir_filter *f, uint64_t hash);

	/* ---- optional; NULL: cannot ---- */

	/* Add lines first .. first+n-1 of src to those of dst. The two have the same shape, size,
	 * hash and seed, and other threads may insert into both. A kind with hold() gets all lines
	 * in one call, and returns a failure as weir__stopped() with the number of copies added. */
	int (*merge)(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
	             uint64_t n);
	/* Remove from dst what a failed merge() of all lines added: the first @copies copies of
	 * src. No other thread changes either filter. NULL: merge() takes everything. */
	void (*take_back)(struct weir_filter *dst, const struct weir_filter *src, uint64_t copies);
	/* Copy lines first .. first+n-1 into out, 8 words each, while other threads may insert. The
	 * copy must have every key whose insert happens-before the call. */
	void (*snapshot)(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out);
	/* Put the keys of f into dst, which is private, empty and factor times smaller. factor is a
	 * power of two that divides f's lines, or that folded() accepted. Other threads may insert
	 * into f at the same time. */
	int (*fold)(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor);
	/* Change the shape and lines of a layout to those of a filter folded by a power of two.
	 * NULL: the shape stays, and the factor must divide the lines. */
	int (*folded)(struct weir_layout *layout, uint32_t factor);
	/* Put all keys into a private and empty filter, for kinds without inserts. -EAGAIN: the
	 * filter must be larger; the array's contents are undefined then. */
	int (*build)(struct weir_filter *f, const struct weir_key_set *given);
	/* Make a plan larger, for the next try. */
	void (*enlarge)(struct weir_plan *plan);
	/* For kinds that are also exact on an exclude list. sieve: the parameters of the sieve, a
	 * filter of the included keys that the list is streamed through. on_sieve: the plan of the
	 * whole filter, given the number of distinct excluded keys that passed. */
	int (*sieve)(const struct weir_params *params, struct weir_params *out);
	int (*on_sieve)(const struct weir_params *params, const struct weir_filter *sieve,
	                uint64_t passed, struct weir_plan *out);
	/* The view for programs that inline the verbs: <weir/inline.h>, for the blocked kind. The
	 * caller decides which threads insert through it. */
	int (*view)(const struct weir_filter *f, struct weir_inline_mut *out);

	/* ---- compounds whose members share one array in memory, but not in an image: all of
	 *      these, with own_words and suits() below, or none ---- */

	/* Copy them. On success the caller owns the copies and their hashing. */
	int (*freeze)(const struct weir_filter *f, struct weir_frozen *out);
	/* Make an empty filter for the members of an image that is not checked yet. The loader
	 * put()s each member as it is read, then calls thawed(). Only then do other threads get the
	 * filter. */
	int (*thaw)(struct weir_filter **out, const struct weir_parts *parts,
	            const struct weir_load_options *options);
	void (*put)(struct weir_filter *f, unsigned i, const struct weir_filter *member);
	int (*thawed)(struct weir_filter *f, const struct weir_load_options *options);

	/* ---- compounds: all of these; NULL: the filter has one array. For a compound, create()
	 *      above makes the first member around the array, measure(), estimate(), merge(),
	 *      snapshot() and fold() are NULL, and max_capacity() decides whether it grows ---- */

	/* The members now, in order. Return: how many. */
	unsigned (*members)(const struct weir_filter *f,
	                    struct weir_member out[WEIR__MEMBERS_MOST]);
	/* The words at the start of an image's head for the compound's own use. */
	unsigned own_words;
	/* Can member i belong to a compound of these parts? */
	int (*suits)(const struct weir_parts *parts, unsigned i, const struct weir_layout *member);
	/* Take the members of an image or a copy into a filter just made, all but the first, whose
	 * bits are its array already. On success f owns them. Each has passed suits(). */
	int (*adopt)(struct weir_filter *f, const struct weir_member *members, unsigned n);
	/* Can n members of another filter be merged into dst? The two have the same first member,
	 * shape, hash and seed. If so, add members to dst until it has as many, and add their notes
	 * to its own. Their bits are merged afterwards. */
	int (*join)(struct weir_filter *dst, const struct weir_member *from, unsigned n);
	/* Add @more to the note of a joined member: its bits may be among the merged ones. */
	void (*joined)(struct weir_filter *dst, unsigned member, uint64_t more);
	/* Allocate the memory that the next inserts may need. */
	int (*grow_ahead)(struct weir_filter *f);

	/* ---- only for a view: a filter without bits, whose verbs ask other filters ---- */

	/* Fill in what weir__survey() reports. */
	int (*survey)(const struct weir_filter *f, const struct weir_survey *survey,
	              struct weir_stats *out);
};

/* All abilities that filters of the kind can have. */
uint32_t weir__kind_can(const struct weir_kind *kind);

/* Does the kind have this shape, with 0 in every field that it has no name for? */
bool weir__shape_legal(const struct weir_kind *kind, const struct weir_shape *shape,
                       uint64_t lines);

/* Fails with -ENOTSUP, as every verb that a kind lacks: "kind blocked cannot remove keys". */
int weir__kind_cannot(const struct weir_kind *kind, const char *verb);

/* Fail with -EAGAIN if @f stands for a set that is yet to come: its bits are not keys.
 * @verb: the verb that would read them, for the sentence. */
int weir__set_check(const struct weir_filter *f, const char *verb);

/* The kind's hold and let_go, if it has them: call them around a walk that merges or copies @f. */
void weir__hold(const struct weir_filter *f);
void weir__let_go(const struct weir_filter *f);

/* The fields that every verb reads and no verb writes. */
struct weir_array {
	uint64_t *words;         /* 8 a line, 64-byte aligned, little-endian in memory (B3) */
	uint64_t lines;          /* of 64 bytes */
	uint64_t seed;           /* hashing.seed, kept next to the words */
	uint64_t flip8;          /* weir__flip8(seed), for 8-byte keys of kinds with XXH3 */
	struct weir_shape shape; /* legal */
	void *own;               /* f->own, for kinds whose kernels need it */
};

#ifdef WEIR_DEBUG
struct weir_apart { /* state of weir__change_begin() and its like */
	atomic_uint changes, wholes;
	struct weir_verbs inside;
};
#endif

struct weir_filter {
	struct weir_verbs verbs; /* first: the public header calls through it */
	struct weir_array array;

	const struct weir_kernel *kernel;
	const struct weir_kind *kind;
	int insert_error;    /* 0, or the answer of inserts: -EROFS (mapped read-only), -ENOTSUP */
	enum weir_isa isa;   /* of the machine; the kernel's may be lower */
	bool no_set;         /* a handle's placeholder: its bits are not keys (H10 in set/) */
	atomic_bool owned;   /* by a handle, which alone frees it (O5) */
	bool outgrows_cache; /* larger than a core's own cache: batches prefetch */
	uint8_t few;         /* the largest batch for the verbs of one key, which are faster then */
	uint32_t shards;     /* a power of two that divides the lines */
	uint64_t bytes;      /* of bits: 64 * lines */
	uint64_t capacity;   /* keys, as asked */
	uint64_t max_capacity; /* for a compound that grows; else 0 */
	uint32_t flags;      /* enum weir_flags; the memory flags are for members to come */
	double fp_rate;      /* as asked */
	struct weir_hashing hashing;
	uint32_t marks;      /* enum weir_image_marks of the image it was loaded from; else 0 */
	struct weir_text text;   /* its normalisation; the lengths are shared (N3) */
	struct weir_verbs raw;   /* its verbs without normalisation; same as verbs if it has none */
	void *own;           /* the kind's own state (create) */
	atomic_uint standby; /* for the previous filter of a handle (O10; H12 in set/) */
	struct weir_memory memory;
#ifdef WEIR_DEBUG
	struct weir_apart apart;
#endif
	uint32_t parts;             /* for bulk loading: a power of two, at most 2^partition_bits */
	struct weir_owner owners[]; /* of the parts (O1) */
};

/* With WEIR_ONCE a copy may stand for several keys, so no copy is ever removed. */
static inline bool weir__removes(const struct weir_filter *f)
{
	return f->kernel->remove && !(f->flags & WEIR_ONCE);
}

/* The line that the top bits of a hash choose. If the kind's partition_bits (L1) are 64, the key's
 * bits lie there. Otherwise the line is only a guess for a prefetch. */
static inline uint64_t *weir__line(const struct weir_array *a, uint64_t hash)
{
	return a->words + 8 * weir__mulhi64(hash, a->lines);
}

/* weir__kind_blocked and so on, each in its own folder. */
#define WEIR__DECLARE(number, constant, name, summary) \
	extern const struct weir_kind weir__kind_##name;
WEIR_KINDS(WEIR__DECLARE)
#undef WEIR__DECLARE

/* A rule that no other check covers. While a filter of a kind that removes keys is saved, copied,
 * merged or folded (filter.h), no insert or removal may run: the copy could have half of a key, and
 * removing that key from the copy would take another key's share. A debug build stops a program
 * that breaks the rule; other builds do nothing. A handle's reload and refresh are exempt: what
 * they carry during live inserts is at worst too much. */

#if defined WEIR_DEBUG && !defined WEIR_DET
/* @verb: for the sentence, such as "weir_clone". */
void weir__change_begin(struct weir_filter *f);
void weir__change_end(struct weir_filter *f);
void weir__whole_begin(const struct weir_filter *f, const char *verb);
void weir__whole_end(const struct weir_filter *f);
/* Replace the filter's inserts by verbs that check the rule. */
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

/* Members of struct weir_kind for kinds whose bits only go from 0 to 1 (B1). Other kinds must check
 * before they use them: counters cannot be OR'ed, and a word-by-word copy can miss a moving key. */

/* merge: OR each word into dst, if that changes it. */
int weir__bits_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                     uint64_t n);
/* snapshot: word by word. Also for counters that only grow, or that no thread changes during it. */
void weir__bits_snapshot(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out);

#endif
