/* SPDX-License-Identifier: MIT
 * The interface of a kind, and the inside of a filter.
 *
 * A kind knows its shape, its mathematics and its kernels. The rest of the library knows only an
 * array of 64-byte lines and calls the kind through the members below. A new kind is
 *   - a line in <weir/kinds.h>,
 *   - a folder in kinds/ (and its name in kinds/meson.build) that defines weir__kind_NAME,
 *   - for what a caller may choose, a group in struct weir_params and its rows in filter/groups.c.
 * A new filter's array is all zero: that is the empty set of every kind.
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
 * them once. A batch is handed over whole, so that the loop over its keys calls nothing;
 * weir__batch_run() in batch.h is that loop. The batch functions return how many keys were answered
 * true or WEIR_NEW. They write the answers into bitmap, bits past the last key cleared, unless it
 * is NULL. All but load may run in any number of threads at the same time.
 *
 * A law allows several threads to load at once. A kind promises it by the field of its name:
 * L1  partition_bits: the top bits of a hash choose the lines of its key. Cut the array into 2^p
 *     equal runs of whole blocks (block_lines), for any p up to partition_bits that allows it. Then
 *     run i holds the keys whose top p bits are i, and no others. So hashes that are collected by
 *     those bits can be loaded run by run, each run by one owner at a time (O1). 0: the bits of a
 *     key may lie anywhere.
 */
struct weir_kernel {
	enum weir_isa isa;       /* that it was compiled for */
	/* All inserts are NULL if the kind takes none. A verb of a uint64_t that is NULL is made of
	 * that of a key. */
	struct weir_verbs verbs;
	size_t (*contains_batch)(const struct weir_filter *f, const struct weir_batch *batch,
	                         uint64_t *bitmap);
	/* NULL if the inserts above are. Of a kind that refuses keys (most, below): in the order of
	 * the keys up to the first that is refused; then it returns weir__stopped() with the number
	 * of those before, and their answers are in the bitmap, the others' bits cleared. Other
	 * kinds never fail here. */
	int64_t (*insert_batch)(struct weir_filter *f, const struct weir_batch *batch,
	                        uint64_t *bitmap);
	/* Take n keys by plain stores: the caller alone owns their lines (L1). It must take every
	 * key. NULL: insert_batch serves. */
	void (*load)(struct weir_filter *f, const uint64_t *hashes, size_t n);
	unsigned partition_bits; /* L1 */
	unsigned block_lines;    /* that the cells of one key lie in; 0: one */
	/* As weir_route_hash(), and of many: the number of masks that are not 0; far: the array
	 * outgrows a core's own cache. NULL: the filter has one set. */
	uint64_t (*route)(const struct weir_array *a, uint64_t hash);
	size_t (*route_each)(const struct weir_array *a, const uint64_t *hashes, size_t n, bool far,
	                     uint64_t *masks);
	/* As weir_remove_hash() and weir_count_hash(), which it answers 0 or more. NULL: cannot. */
	int (*remove)(struct weir_filter *f, uint64_t hash);
	/* An insert with WEIR_ONCE. NULL: a lookup and an insert serve. */
	int (*insert_once)(struct weir_filter *f, uint64_t hash);
	int64_t (*count)(const struct weir_filter *f, uint64_t hash);
};

/* Counts over runs of lines. All are sums, so those of several runs add up. */
struct weir_measure {
	uint64_t lines; /* looked at */
	uint64_t cells; /* bits, counters or slots in those lines: the kind's choice, not 0 */
	uint64_t used;  /* cells that are not 0; used / cells is the fill in struct weir_stats */
	uint64_t stuck; /* counters at their largest value */
	double rate;    /* a sum of the kind's own, for its estimate() */
};

/* A compound is a filter made of members, filters of another kind.
 * M1  Its own array is that of its first member, in the same memory, which the compound owns. So
 *     what asks for one array finds that one.
 * M2  Members are only added, at the end, and each lives as long as the compound. All have its
 *     hashing and what is done to its keys.
 * Verbs on whole filters go from member to member. */
enum { WEIR__MEMBERS_MOST = 16 };
struct weir_member {
	struct weir_filter *f;
	uint64_t note; /* what the compound knows of it beside its bits; the image keeps it */
};

/* Everything about a filter except its bits. All of it is checked. */
struct weir_layout {
	const struct weir_kind *kind;
	struct weir_hashing hashing;
	struct weir_shape shape;
	uint32_t shards;
	uint64_t lines;
	uint64_t capacity;
	uint64_t max_capacity; /* of a compound that grows; else 0 */
	double fp_rate;
	struct weir_text text;
	uint32_t flags; /* enum weir_flags */
};

/* What an image says of a compound before its members. All of it may be damaged. */
struct weir_parts {
	const struct weir_layout *whole;
	const uint64_t *own;               /* the head's words for the compound's own use */
	unsigned n;                        /* members */
	uint64_t note[WEIR__MEMBERS_MOST]; /* theirs */
};

/* A copy of a compound's members as they are at one moment, and what its head has besides. */
enum { WEIR__OWN_WORDS = 4 };
struct weir_frozen {
	struct weir_member member[WEIR__MEMBERS_MOST];
	unsigned n;
	uint64_t own[WEIR__OWN_WORDS];
};

/* The keys that a filter is built from: hashes, all different. Any thread may ask for them. */
struct weir_key_set {
	uint64_t n;
	unsigned threads; /* to build with */
	/* How many there are whose top part_bits are part. */
	uint64_t (*count)(const struct weir_key_set *given, uint64_t part, unsigned part_bits);
	/* Put those into out, near each other by their top bits. Return: 0 or a negative errno. */
	int (*read)(const struct weir_key_set *given, uint64_t part, unsigned part_bits,
	            uint64_t *out);
	/* Of kinds with an exclude list: the filter of these keys that the list was streamed
	 * through, and what it let pass. None of that is among the keys. */
	const struct weir_filter *sieve;
	const struct weir_key_set *passed;
	/* So many more are built in. Return: 0; -ECANCELED the caller wants no more of it. */
	int (*built)(const struct weir_key_set *given, uint64_t keys);
};

/* Functions that return an int return 0 or a negative errno, after weir__fail(). */
struct weir_kind {
	uint32_t id;                  /* enum weir_kind_id */
	const char *name;             /* as in <weir/kinds.h> */
	const struct weir_hash *hash; /* from a key to its 64 bits, unless the filter is keyed */
	/* Others know which keys it has: its seed is 0, it is never keyed, and nothing is done to
	 * keys before they are hashed. */
	bool as_is;
	/* enum weir_ability: what no member below shows. weir__kind_can() adds the rest. */
	uint32_t can;
	/* The names of the numbers in its shapes, NULL past the last. A number that a caller may
	 * choose has the name of its field in the kind's group of struct weir_params. */
	const char *fields[WEIR_SHAPE_FIELDS];

	/* Check the kind's own group in params, and set the general fields that follow from it.
	 * NULL: there is nothing beside the numbers of its shapes. */
	int (*settle)(struct weir_params *params);
	/* Choose shape.field, then weir__size_complete() (sizing.h), then give the reason.
	 * shape.kind is set already. plan.c has checked params, except that the numbers of the
	 * kind's own shape may have any value. */
	int (*plan)(const struct weir_params *params, struct weir_plan *out);
	/* Does the kind have this shape, in that many lines (UINT64_MAX: not known)? The numbers
	 * may come from a damaged image; those past the last name are 0. Callers ask
	 * weir__shape_legal(). */
	bool (*legal)(const struct weir_shape *shape, uint64_t lines);
	/* Of racing inserts of a new key, does one alone return WEIR_NEW? NULL: of no shape. */
	bool (*decides)(const struct weir_shape *shape);
	/* A legal shape in words, such as "7 bits a key". */
	void (*describe)(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT]);
	/* The kernel for an instruction set and a legal shape. A kind that is not compiled for each
	 * set returns its scalar kernel for the others. NULL: no filter can be made. */
	const struct weir_kernel *(*kernel)(enum weir_isa isa, const struct weir_shape *shape);

	/* Add lines first .. first+n-1 to sum; from a sum, the distinct keys in f and the rate of
	 * absent keys answered true. Others may insert meanwhile. */
	void (*measure)(const struct weir_filter *f, uint64_t first, uint64_t n,
	                struct weir_measure *sum);
	void (*estimate)(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
	                 double *rate);

	/* ---- optional; NULL: there is none ---- */

	/* How the cells of its keys lie (spread.h), of an array of the kind alone. Return: false,
	 * this filter's shape has no such law. */
	bool (*law)(const struct weir_filter *f, struct weir_law *out);
	/* In the place of that: were its keys' hashes uniform? @all: look at all of it.
	 * @why, return: as weir__spread_judge(). */
	uint32_t (*judge)(const struct weir_filter *f, bool all, const char **why);
	/* State of the kind's own beside the array, f->own: it is in no image. create() is called
	 * when all else of the filter is set, destroy() before its memory is freed. create() may
	 * find keys in the array, or a loader that is still to fill it. It returns 0, or a negative
	 * errno after weir__fail(). */
	int (*create)(struct weir_filter *f);
	void (*destroy)(struct weir_filter *f);
	/* After create(), of a new filter: take what of params is in no shape and no layout. And
	 * put that into params of another such filter. */
	int (*begin)(struct weir_filter *f, const struct weir_params *params);
	void (*asked)(const struct weir_filter *f, struct weir_params *out);
	/* In the place of measure() and estimate(), of all of f: fill, fill_max, keys_estimated,
	 * fp_rate_estimated and sampled. @lines: to read at most, or UINT64_MAX for all. */
	void (*figures)(const struct weir_filter *f, uint64_t lines, struct weir_stats *out);

	/* ---- of kinds whose array begins with something else than keys, such as names, which
	 *      begin() writes; else 0 and NULL. Copies and unions of bits begin behind it ---- */

	uint64_t head_lines;
	/* Take it from an image, which an enemy may have made. Return: 0 or -EBADMSG. */
	int (*check)(const struct weir_filter *f);
	/* Does it say the same of both? Return: 0 or -EINVAL. NULL: of every two. */
	int (*alike)(const struct weir_filter *a, const struct weir_filter *b);

	/* Between the two no key changes its place, so that a walk over the lines meets each key
	 * that was there before it. Lookups go on, and inserts that move nothing. */
	void (*hold)(const struct weir_filter *f);
	void (*let_go)(const struct weir_filter *f);

	/* The distinct keys that f was made to take before it refuses one (-ENOSPC); a handle's
	 * statistics compare its keys with that. NULL: it takes every key. */
	uint64_t (*most)(const struct weir_filter *f);
	/* The copies of a key that f can hold before it refuses the next (-ENOSPC), however empty
	 * it is. NULL: it refuses none for that. */
	unsigned (*copies)(const struct weir_filter *f, uint64_t hash);

	/* ---- optional; NULL: cannot ---- */

	/* Add lines first .. first+n-1 of src to those of dst. The two have one shape, size, hash
	 * and seed, and others may insert into both meanwhile. Of a kind that has hold(), all lines
	 * in one call, and a failure is weir__stopped() with the number of copies that were
	 * added. */
	int (*merge)(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
	             uint64_t n);
	/* Take out of dst again what a merge() of all lines added: the first copies of src. Nobody
	 * changes either meanwhile. NULL: merge() takes everything. */
	void (*take_back)(struct weir_filter *dst, const struct weir_filter *src, uint64_t copies);
	/* Copy lines first .. first+n-1 into out, 8 words each, while others may insert. The copy
	 * must have every key whose insert happens-before the call. */
	void (*snapshot)(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out);
	/* Put the keys of f into dst, which is private, empty and factor times smaller. factor is a
	 * power of two that divides f's lines, or that folded() took. Others may insert into f
	 * meanwhile. */
	int (*fold)(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor);
	/* Make the shape and lines of a layout those of a filter that is folded by a power of two.
	 * NULL: the shape is the same, and the factor divides the lines. */
	int (*folded)(struct weir_layout *layout, uint32_t factor);
	/* Put all keys into a private and empty filter: of kinds that take no inserts. -EAGAIN: it
	 * must be larger for that; the array is as it may be. */
	int (*build)(struct weir_filter *f, const struct weir_key_set *given);
	/* Make a plan larger, for the next try. */
	void (*enlarge)(struct weir_plan *plan);
	/* Of kinds that are exact on an exclude list too, both: the parameters of the sieve, a
	 * filter of the included keys that the list is streamed through; then the plan of the
	 * whole, when so many different keys of the list have passed. */
	int (*sieve)(const struct weir_params *params, struct weir_params *out);
	int (*on_sieve)(const struct weir_params *params, const struct weir_filter *sieve,
	                uint64_t passed, struct weir_plan *out);
	/* The view for programs that inline the verbs: <weir/inline.h>, of the blocked kind. Who
	 * may insert by it is the caller's affair. */
	int (*view)(const struct weir_filter *f, struct weir_inline_mut *out);

	/* ---- compounds whose members lie in one array of theirs, and then all of them, with
	 *      own_words and suits() below: an image has the members, memory has not ---- */

	/* Copy them. They and their hashing are the caller's on success. */
	int (*freeze)(const struct weir_filter *f, struct weir_frozen *out);
	/* Make an empty filter for the members of an image, which is not checked yet. Then put()
	 * each of them as it is read, and then thawed(). Others get it after that. */
	int (*thaw)(struct weir_filter **out, const struct weir_parts *parts,
	            const struct weir_load_options *options);
	void (*put)(struct weir_filter *f, unsigned i, const struct weir_filter *member);
	int (*thawed)(struct weir_filter *f, const struct weir_load_options *options);

	/* ---- compounds alone, and then all of them; NULL: one array is all there is. Of the
	 *      members above create() makes the first member around the array, measure(),
	 *      estimate(), merge(), snapshot() and fold() are NULL, and max_capacity() decides
	 *      whether it grows ---- */

	/* The members now, the first first. Return: how many. */
	unsigned (*members)(const struct weir_filter *f,
	                    struct weir_member out[WEIR__MEMBERS_MOST]);
	/* How many words of its own it has in an image's head: from the first on. */
	unsigned own_words;
	/* Can a compound of these parts have this member i? */
	int (*suits)(const struct weir_parts *parts, unsigned i, const struct weir_layout *member);
	/* Take those of an image or a copy into a filter just made, all but the first, whose bits
	 * are its array already. They are f's on success. Each suits. */
	int (*adopt)(struct weir_filter *f, const struct weir_member *members, unsigned n);
	/* Can n members of another filter be merged into dst? The two have one first member, shape,
	 * hash and seed. Then add members to dst until it has as many, and what is noted of theirs
	 * to its own. Their bits are merged after that. */
	int (*join)(struct weir_filter *dst, const struct weir_member *from, unsigned n);
	/* So much more is noted of a member that was joined: its bits may be among the merged. */
	void (*joined)(struct weir_filter *dst, unsigned member, uint64_t more);
	/* Have the memory that the next inserts may need. */
	int (*grow_ahead)(struct weir_filter *f);

	/* ---- a view alone: a filter without bits, whose verbs ask others ---- */

	/* The figures that weir__survey() gives of it. */
	int (*survey)(const struct weir_filter *f, const struct weir_survey *survey,
	              struct weir_stats *out);
};

/* All abilities that filters of the kind can have. */
uint32_t weir__kind_can(const struct weir_kind *kind);

/* Does the kind have this shape, and 0 in every field that it has no name for? */
bool weir__shape_legal(const struct weir_kind *kind, const struct weir_shape *shape,
                       uint64_t lines);

/* Fails with -ENOTSUP, as every verb does that a kind lacks: "kind blocked cannot remove keys". */
int weir__kind_cannot(const struct weir_kind *kind, const char *verb);

/* Fail with -EAGAIN if @f stands for a set that is still to come: its bits are no keys.
 * @verb: would read them, for the sentence. */
int weir__set_check(const struct weir_filter *f, const char *verb);

/* As the kind's hold and let_go, if it has them: around a walk that merges or copies @f. */
void weir__hold(const struct weir_filter *f);
void weir__let_go(const struct weir_filter *f);

/* The fields that every verb reads and none writes. */
struct weir_array {
	uint64_t *words;         /* 8 a line, 64-byte aligned, little-endian in memory (B3) */
	uint64_t lines;          /* of 64 bytes */
	uint64_t seed;           /* hashing.seed, beside the words */
	uint64_t flip8;          /* weir__flip8(seed), for 8-byte keys of kinds with XXH3 */
	struct weir_shape shape; /* legal */
	void *own;               /* f->own, of kinds whose kernels need it */
};

#ifdef WEIR_DEBUG
struct weir_apart { /* weir__change_begin() and its like */
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
	bool no_set;         /* a handle's placeholder: its bits are no keys (H10 in set/) */
	atomic_bool owned;   /* by a handle, which alone frees it (O5) */
	bool outgrows_cache; /* larger than a core's own cache: batches prefetch */
	uint8_t few;         /* keys of a batch up to which the verbs of one key are faster */
	uint32_t shards;     /* a power of two that divides the lines */
	uint64_t bytes;      /* of bits: 64 * lines */
	uint64_t capacity;   /* keys, as asked */
	uint64_t max_capacity; /* of a compound that grows; else 0 */
	uint32_t flags;      /* enum weir_flags; those of memory for members to come */
	double fp_rate;      /* as asked */
	struct weir_hashing hashing;
	uint32_t marks;      /* enum weir_image_marks of the image it was loaded from; else 0 */
	struct weir_text text;   /* its normalisation; the lengths are shared (N3) */
	struct weir_verbs raw;   /* its verbs without that: verbs, unless it has one */
	void *own;           /* of its kind (create) */
	atomic_uint standby; /* as the previous filter of a handle (O10; H12 in set/) */
	struct weir_memory memory;
#ifdef WEIR_DEBUG
	struct weir_apart apart;
#endif
	uint32_t parts;             /* for bulk loading: a power of two, at most 2^partition_bits */
	struct weir_owner owners[]; /* of the parts (O1) */
};

/* With WEIR_ONCE a copy may stand for several keys, so none is ever taken away. */
static inline bool weir__removes(const struct weir_filter *f)
{
	return f->kernel->remove && !(f->flags & WEIR_ONCE);
}

/* The line that the top bits of a hash choose. If the kind has L1 for all 64 bits, the key's bits
 * lie there. Else this is only a guess at a line to fetch. */
static inline uint64_t *weir__line(const struct weir_array *a, uint64_t hash)
{
	return a->words + 8 * weir__mulhi64(hash, a->lines);
}

/* weir__kind_blocked and so on, each in its own folder. */
#define WEIR__DECLARE(number, constant, name, summary) \
	extern const struct weir_kind weir__kind_##name;
WEIR_KINDS(WEIR__DECLARE)
#undef WEIR__DECLARE

/* The rule that nothing else can check: of a kind that removes keys no insert or removal may run
 * while the filter is saved, copied, merged or folded (filter.h), since the copy could have a key
 * by halves, and removing it there would take another's share. A debug build stops the program that
 * breaks it; others do nothing. A handle's reload and refresh are not asked: what they carry beside
 * live inserts is too much at worst. */

#if defined WEIR_DEBUG && !defined WEIR_DET
/* @verb: for the sentence, such as "weir_clone". */
void weir__change_begin(struct weir_filter *f);
void weir__change_end(struct weir_filter *f);
void weir__whole_begin(const struct weir_filter *f, const char *verb);
void weir__whole_end(const struct weir_filter *f);
/* Put verbs that ask in the place of the filter's inserts. */
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

/* Members of struct weir_kind for kinds whose bits only go from 0 to 1 (B1). Others must look
 * before they take them: counters cannot be or'ed, and a copy made word by word can miss a key that
 * moves. */

/* merge: or each word into dst, if that changes it. */
int weir__bits_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                     uint64_t n);
/* snapshot: word by word. Also for counters that only grow, or that nobody changes meanwhile. */
void weir__bits_snapshot(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out);

#endif
