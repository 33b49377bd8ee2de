/* SPDX-License-Identifier: MIT
 * The record that a handle publishes, and the rules by which a reload loses no key; the writer's
 * claim, and the objects that a writer leaves to a grace period. Only this folder knows the members
 * of a handle.
 *
 * H1  An inserter reads the generation record once, in one read-side section, and inserts into
 *     every filter that the record names. Lookups read current. One pointer is published, and the
 *     record it points to never changes. With two pointers, an inserter could pair an old current
 *     with a new next.
 * H2  begin publishes {current, next, previous} and waits for a grace period. So every insert that
 *     starts after begin returns goes to both current and next. Every insert that read the earlier
 *     record has ended: its bits are in current, and a copy made now carries them. The copy ORs
 *     into next word by word, atomically: plain stores would erase the bits that inserters set
 *     there at the same time. For the same reason loader threads use atomic inserts
 *     (weir_insert_keys() sorts them by shard first), not weir_fill_keys().
 * H3  An object that left the record (a filter, or the old record itself) is freed only after a
 *     grace period that began after it left.
 * H4  One writer at a time: begin, rollback, drop, refresh and destroy claim the handle, and return
 *     -EBUSY if it is taken. Only the writer stores the pointer, so it may load it with any memory
 *     order.
 * H5  While previous is kept, every published record names it. So it receives every insert (H1),
 *     and a rollback loses none. Keys inserted before its successor's begin went into it while it
 *     was current. H12 covers a refusal by previous.
 * H6  Cancellation is off in a verb that claims the handle or waits for a grace period (threads.h).
 *     A cancelled thread would keep the claim, and liburcu's lock, which every grace period of the
 *     flavor needs. Between begin and commit a thread may be cancelled. The reload then stays open,
 *     as after any other return from the loader, and the caller has to abort it.
 * H7  Memory that the caller gives for next must not hold the bits of a filter of the handle, since
 *     it is cleared before anything is published. A filter keeps its bits until it is freed, so the
 *     writer lists the filters that call_rcu has yet to free. Only the writer walks the list, adds
 *     entries and removes those no longer held. call_rcu's thread ends its hold of an entry after
 *     it has freed the entry's filters, and does not touch the entry again.
 * H8  Only current decides whether a key is new, so each record has one decider, and a swap changes
 *     it. Threads that insert one new key across a swap may have two deciders. Then at least one
 *     thread gets WEIR_NEW, but perhaps more than one. Exactly one would need a decision that moves
 *     between filters during inserts. Each commit would need three more records and grace periods,
 *     in which an insert goes into next only if the key was new in current. Even that works only if
 *     next is nothing but a copy, so it was not worth it.
 * H9  With WEIR_HANDLE_ANY_SEED the filters of a record may hash differently. The record alone
 *     tells which ones hash alike: its member alike, written when it is published. An inserter
 *     hashes its key once for each hash identity (function and seed or key) in its record. So a
 *     filter and the hash inserted into it belong to one record, which never changes (H1). A hash
 *     from elsewhere may be any filter's. Without WEIR_HANDLE_OWN_HASHES such a handle refuses to
 *     insert it, and a lookup of it answers yes: a wrong "absent" would break the promise. Exactly
 *     one WEIR_NEW (words_per_key 1) holds within a generation: H8.
 * H10 Before the first set, current is a placeholder. No key is inserted into it, and it is never
 *     kept as previous, carried over or compared with. An inserter keeps its key instead: in its
 *     section it pushes the key onto the stack of its record's absence, and then inserts it into
 *     next, if the record names one. So after begin's grace period, each key ever pushed is on the
 *     stack, or its inserter's record names next, or both. Only then does the loader replay the
 *     stack into next. An inserter that sees next pushes its key all the same, since an abort gives
 *     up next. The stack is freed with the placeholder, after commit's grace period: sections that
 *     began before it push until they end. The replay notes a text's length in next before it
 *     inserts the text, as any insert does (N3). A closed next without that length refuses the
 *     text. Then the refresh or reload fails, and the text stays kept.
 * H11 stands below, with the last refusal.
 * H12 A filter may refuse a key, for example when full. An insert is acknowledged only if every
 *     filter of its record has the key, except a void previous. An inserter asks current first,
 *     then next, then previous. If current or next refuses, the inserter removes its own copies
 *     from the filters before it and returns the error. That takes no other insert's copy: the
 *     inserter's own had ended, and no other thread removes it, since it was not acknowledged. A
 *     filter without removal keeps the key: a yes that no caller was promised. So does one with
 *     WEIR_ONCE, since another thread's insert may have been answered by what this one stored.
 *     If previous refuses, one word of it, its standby, is decided (O10): an inserter sets VOID, a
 *     rollback sets RETURNS before it publishes. The second to come finds what the first decided.
 *     VOID: the insert stands, and previous never becomes current again. The rollback returns
 *     -ENOENT, no more keys go into previous, and the next writer frees it. RETURNS: previous is
 *     about to be current, so its refusal counts like one by next. No record changes (H1): VOID
 *     changes what records mean from then on, and stays while any names the filter as previous. A
 *     commit that keeps a filter opens its standby before it publishes. By then no section has that
 *     filter as previous of an earlier record: the rollback waited for those.
 * H13 A removal goes to current alone. It is refused (-EBUSY) if the record names next or a
 *     previous that is not void: it could get there before the key does. The insert that it undoes
 *     had returned, so it had read this record or an older one, and the key is in every filter of
 *     this one. A section with an older record may remove from current while a begin publishes
 *     next. begin returns after that section, so the loader reads its source later. If the source
 *     still has the key, next has one too many, never too few. For the same reason a copy (H2) of a
 *     kind that removes may count too much in next, never too little. While next is there, nothing
 *     acknowledged is taken out of current; what H12 takes back was not acknowledged.
 * H14 A kind that is built once takes no inserts. So its filter may be next only if no insert is
 *     acknowledged: current takes none either, or it stands for the first set and keeps none. Then
 *     only the loader's own inserts must reach next, and commit publishes it once it is built: no
 *     record ever names it as next. As previous it refuses each insert, so the first insert makes
 *     it void (H12), and a rollback loses none.
 *
 * Spin (tests/model/reload.pml and similar models) shows that H1 to H5 suffice; tests/schedule runs
 * the code itself. */
#ifndef WEIR_SRC_SET_GENERATION_H
#define WEIR_SRC_SET_GENERATION_H

#include <sys/uio.h>
#include <weir/filter.h>
#include <weir/handle.h>
#include "filter/filter.h"
#include "ground/atomic.h"
#include "image/io.h"
#include "kind/kind.h"
#include "rcu/rcu.h"

/* One key as the caller gave it. */
struct weir_given {
	const void *key; /* NULL: given by its hash */
	size_t len;
	uint64_t hash;
	bool number; /* an integer, so never text */
	bool fixed;  /* from a batch of fixed width: an address in a set with cidr */
};

/* Key @at of a batch whose form is valid. */
static inline struct weir_given weir__keys_one(struct weir_keys k, size_t at)
{
	const struct iovec *vector = k.at;
	if (k.form == WEIR_KEYS_HASHES)
		return (struct weir_given){ .hash = ((const uint64_t *)k.at)[at] };
	if (k.form == WEIR_KEYS_IOV)
		return (struct weir_given){
			.key = vector[at].iov_base ? vector[at].iov_base : "",
			.len = vector[at].iov_len
		};
	return (struct weir_given){ .key = (const char *)k.at + at * k.width,
		                    .len = k.width,
		                    .number = k.form == WEIR_KEYS_U64,
		                    .fixed = k.form == WEIR_KEYS_FIXED };
}

/* ---- before the first set: a placeholder answers lookups, and inserts are kept (H10) ---- */

struct weir_kept; /* a key kept for the first set */

struct weir_absence {
	int answer;     /* to an insert: WEIR_SEEN if lookups answer yes, else WEIR_NEW */
	uint64_t limit; /* bytes to keep; 0: keep none and refuse inserts */
	bool drops;     /* drop kept keys that the first filter has no room for */
	atomic_uint_fast64_t taken;
	struct weir_kept *newest;
};

/* @options: complete.  @placeholder: receives the handle's first filter, which the caller owns.
 * Return: 0; -EINVAL, -ENOMEM with the sentence. */
int weir__absence_make(struct weir_absence **out, struct weir_filter **placeholder,
                       const struct weir_handle_options *options);
/* Keep a key. Called by an inserter, in its section.
 * Return: @a->answer; -EAGAIN no keys are kept; -ENOBUFS no room left; -ENOMEM. */
int weir__absence_keep(struct weir_absence *a, const struct weir_given *key);
/* Insert all kept keys into @next; skip texts that it cannot read.
 * @dropped: receives the keys dropped for lack of room. Return: 0, or the error of an insert. */
int weir__absence_replay(struct weir_absence *a, struct weir_filter *next, uint64_t *dropped);
/* @a: may be NULL. */
void weir__absence_free(struct weir_absence *a);

/* ---- the last refusal of a handle's commits and refreshes, for its statistics ----
 *
 * H11 A pointer of its own publishes a refusal. It leads to nothing but a sentence, so it may be
 *     older or newer than a reader's record (H1). Only the writer (H4) publishes. There are two
 *     places, and the writer fills the one that is not published. It first waits for a grace
 *     period, so no reader that found this place published still reads it. Readers copy the
 *     sentence in a section: they never wait and never see half of one. A refusal needs no memory,
 *     which may be just what is lacking. */

struct weir_refusal {
	atomic_uint_fast64_t since; /* ns of CLOCK_MONOTONIC; 0: no longer refused */
	char sentence[WEIR_SENTENCE_BYTES];
};

struct weir_refusals {
	struct weir_refusal *last; /* NULL: none yet */
	struct weir_refusal places[2];
};

/* Publish the thread's sentence: a commit or refresh fails. Called by the writer, outside of
 * sections. May wait for a grace period. */
void weir__refusal_begins(struct weir_handle *h);
/* Called by the writer: a filter was published, or the file is the published one. */
void weir__refusal_ends(struct weir_handle *h);
/* Is a commit or refresh refused now? Any thread, at any time. */
bool weir__refused_now(const struct weir_handle *h);
/* Called in a section. */
void weir__refusal_read(const struct weir_handle *h, struct weir_handle_stats *out);

/* ---- the file that a refresh took or refused last; for the handle's writer alone ----
 *
 * The same file is not read again. But a damaged file may be one that another process is
 * overwriting in place. Its next bytes then change its size, time or commit record, so it counts as
 * another file. File times, though, are as coarse as the kernel's tick (two seconds on some file
 * systems). Bytes written within the tick of the head that was read change nothing visible. So for
 * some seconds each look reads a damaged file again, silently: the same refusal is not reported
 * twice. */

struct weir_last_file {
	struct weir_file_identity identity;
	bool refused;
	/* 0, or the generation with whose filter it was refused: another generation reads it
	 * again */
	uint64_t refused_with;
	double damaged_since; /* weir__seconds(); 0: not damaged, or damaged for good */
};

/* Was this file judged already, and would the same verdict come again? */
bool weir__last_file_is(const struct weir_last_file *last, const struct weir_file_identity *file,
                        uint64_t generation);

/* Remember a verdict. @err: 0 or the refusal. @with: the generation it was refused beside, or 0.
 * @began: when the look began. Return: true if the last look found the same damage. */
bool weir__last_file_judge(struct weir_last_file *last, const struct weir_file_identity *file,
                           int err, uint64_t with, double began);

/* The memory of a filter's bits. */
struct weir_bits {
	const void *at;
	uint64_t bytes;
};

/* Why an insert of a key or hash needs more than current. */
enum {
	WEIR_BESIDE_FILTERS = 1,   /* next, or previous, or both */
	WEIR_BESIDE_NO_HASHES = 2, /* H9: hashes are refused */
	WEIR_BESIDE_ABSENCE = 4,   /* H10: current is the placeholder */
};

enum { WEIR_TAKERS = 3 }; /* current, next and previous */

struct weir_generation {
	struct weir_filter *current; /* first: weir_handle_get() reads it */
	struct weir_filter *next;    /* or NULL */
	struct weir_filter *previous;/* or NULL */
	uint64_t number;
	double since; /* seconds of CLOCK_MONOTONIC when current was published */
	/* derived from the above and the handle by weir__publish() */
	const struct weir_filter *by_hash; /* for lookups of hashes: current, or weir__any_hash */
	struct weir_absence *absence;      /* H10; NULL: current is a set */
	unsigned beside;                   /* 0 or bits as above */
	unsigned char alike[WEIR_TAKERS];  /* H9: the first taker with the same hashes */
};

/* Answers yes to every hash (set/dual_write.c). */
extern const struct weir_filter weir__any_hash;

/* H12: the previous filter if a rollback may return to it, else NULL. */
static inline struct weir_filter *weir__standby(const struct weir_generation *g)
{
	struct weir_filter *p = g->previous;
	return p && weir__standby_load_relaxed(&p->standby) != WEIR_STANDBY_VOID ? p : NULL;
}

/* H1, H10, H12: filter @i that an insert goes to: current, next or previous; NULL: none. */
static inline struct weir_filter *weir__taker(const struct weir_generation *g, unsigned i)
{
	return i == 1 ? g->next : i == 2 ? weir__standby(g) : g->absence ? NULL : g->current;
}

/* Objects that a writer took out of the record, to be freed together; each may be NULL. */
struct weir_retired {
	struct rcu_head head;
	struct weir_handle *handle;
	struct weir_filter *filters[2];
	struct weir_generation *records[2];
	struct weir_absence *absence; /* H10 */
	/* if left to call_rcu (H7): */
	struct weir_retired *older;
	struct weir_bits bits[2]; /* copies: the filters may be freed while a writer looks here */
	uint64_t bytes;           /* of both filters' bits, when they were retired */
	atomic_bool held;         /* not freed yet */
};

struct weir_handle {
	/* Read by every verb, written by writers only. */
	struct weir_handle_verbs verbs;     /* these two first: the public header reads them */
	struct weir_generation *generation;
	struct weir_rcu rcu;
	uint32_t flags; /* enum weir_handle_flags */
	uint32_t can;   /* enum weir_ability: required of each filter */
	struct weir_sharded *sharded; /* this handle, if it is a sharded set, else NULL */
	/* this handle; for a shard its set, which has the claim (H4) and the figures */
	struct weir_handle *whole;

	_Alignas(64) atomic_bool claimed;   /* H4 */
	struct weir_absence *absence;       /* the writer's; NULL from the first set on (H10) */
	struct weir_retired *retired;       /* the writer's: newest of those at call_rcu (H7) */
	atomic_uint retiring;               /* handed to call_rcu, not yet freed */
	atomic_uint_fast64_t bytes_retired; /* of the bits in those */
	atomic_bool followed;               /* follow.c: a thread has the handle's address */
	atomic_uint_fast64_t swaps;
	atomic_uint_fast64_t collecting; /* 1: a reload is open that publishes nothing yet */
	atomic_uint_fast64_t refused;
	atomic_uint_fast64_t failed;        /* commits that could not build their filter */
	atomic_uint_fast64_t kept_dropped;  /* kept keys (H10) that did not fit the first filter */
	atomic_uint_fast64_t reload_ns;     /* time that the last commit or refresh took */
	struct weir_last_file last_file; /* the writer's */
	struct weir_refusals refusals;   /* H11 */
};

/* H1 (O4). Called in a section. */
static inline const struct weir_generation *weir__generation(const struct weir_handle *h)
{
	return weir__record_load_acquire(&h->generation);
}

/* Derive the rest of a record from its filters and the handle. */
void weir__record_complete(const struct weir_handle *h, struct weir_generation *record);

/* Called by the writer only. Return: the record published before. */
static inline struct weir_generation *weir__publish(struct weir_handle *h,
                                                    struct weir_generation *record)
{
	struct weir_generation *old = h->generation;
	weir__record_complete(h, record);
	weir__record_store_release(&h->generation, record);
	return old;
}

/* H4 (O5): claim the handle. @verb: for the sentence.
 * Return: 0; -EDEADLK in a section; -EBUSY another writer is at work. */
int weir__writer_begin(struct weir_handle *h, const char *verb);

/* Claim the handle for a verb that destroys. Also returns -EDEADLK in a callback of call_rcu: its
 * thread may have to free what the verb waits for. */
int weir__destroy_begin(struct weir_handle *h, const char *verb);

/* H12: free a void previous filter, if there is one and memory for a record. The caller has claimed
 * the handle, and next is NULL. May wait for a grace period. */
void weir__standby_free(struct weir_handle *h);

static inline void weir__writer_release(struct weir_handle *h)
{
	weir__flag_release(&h->whole->claimed);
}

/* Return: a record stamped with the current time, or NULL. */
struct weir_generation *weir__record(struct weir_filter *current, struct weir_filter *next,
                                     struct weir_filter *previous, uint64_t number);

/* H3: free @retired (malloc'ed) and all it names after a grace period. Wait for it here, or with
 * @defer leave it to call_rcu. The caller has claimed the handle. */
void weir__retire(struct weir_handle *h, struct weir_retired *retired, bool defer);
/* Wait until everything retired is freed. No writer may begin until then. */
void weir__retired_wait(struct weir_handle *h);

/* The memory of a filter's bits; for a compound, those of its first member. */
struct weir_bits weir__filter_bits(const struct weir_filter *f);
/* H7. Return: in words, the filter of the handle that has bits there; NULL: none. The caller has
 * claimed the handle, and next is NULL. */
const char *weir__bits_in(struct weir_handle *h, struct weir_bits place);

/* Bytes of bits of a record's filters and of the retired ones. */
uint64_t weir__held_bytes(const struct weir_handle *h, const struct weir_generation *g);

/* ---- inserts in a section while g->beside is not 0: they need more than current ---- */

/* The hash by which @f inserts a key that the caller gave as bytes.
 * Return: 0; -EINVAL, with the sentence. */
static inline int weir__given_hash(struct weir_filter *f, const struct weir_given *key,
                                   uint64_t *hash)
{
	if (key->fixed && f->text.steps) {
		const struct weir_keys one = weir_keys_fixed(key->key, key->len, 1);
		return weir__hashes_to_insert(f, one, hash) ? 0 : -EINVAL;
	}
	if (!key->number && f->text.steps)
		return weir__insert_hash_of(f, key->key, key->len, hash);
	*hash = weir__hash_by(&f->hashing, key->key, key->len);
	return 0;
}
/* H1: insert into every filter of the record. Return: current's answer, or the error of the first
 * filter that refuses. */
int weir__insert_hash_beside(const struct weir_generation *g, uint64_t hash);
int weir__insert_key_beside(const struct weir_generation *g, const void *key, size_t len);
int weir__insert_u64_beside(const struct weir_generation *g, uint64_t key);
/* Insert a batch so. Return: the number of new keys. */
int64_t weir__insert_keys_beside(const struct weir_generation *g, struct weir_keys keys,
                                 uint64_t *bitmap);

/* H9: return -EINVAL for a hash that may be any filter's. @verb: what to do with the key
 * instead. */
int weir__refuse_hashes(const char *verb);

static inline bool weir__alone(const struct weir_generation *g)
{
	return __builtin_expect(!g->beside, 1);
}

/* H1, in a section: insert into every filter that the record names. */
static inline int weir__insert_hash(const struct weir_generation *g, uint64_t hash)
{
	return weir__alone(g) ? weir_insert_hash(g->current, hash) :
	                        weir__insert_hash_beside(g, hash);
}

/* ---- handles as objects ---- */

/* Let @h, zeroed memory, publish @first by the verbs of one filter. On failure the filter stays the
 * caller's. @options: complete.  Return: 0; -EBUSY another handle owns the filter; -ENOMEM. */
int weir__handle_init(struct weir_handle *h, struct weir_filter *first,
                      const struct weir_handle_options *options);
/* Allocate a handle and call weir__handle_init(). @absence: a placeholder's (H10), or NULL. */
int weir__handle_make(struct weir_handle **out, struct weir_filter *first,
                      struct weir_absence *absence, const struct weir_handle_options *options);
/* Free a handle that no thread uses any more, and all it holds. */
void weir__handle_free(struct weir_handle *h);

/* Refuse a verb that a sharded set lacks. Return: 0 or -ENOTSUP. */
int weir__one_filter_check(const struct weir_handle *h, const char *verb);

#endif
