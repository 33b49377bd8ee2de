/* SPDX-License-Identifier: MIT
 * What a handle publishes, and the rules that make a reload lose nothing; the writer's claim, and
 * what a writer leaves to a grace period. Only this folder knows what is in a handle.
 *
 * H1  An inserter reads the generation record once, in one read-side section, and inserts into
 *     every filter that it names. Lookups read current. There is one published pointer and the
 *     record it points to never changes: two pointers would let an inserter pair an old current
 *     with a new next.
 * H2  begin publishes {current, next, previous} and waits for a grace period. So once begin has
 *     returned, every insert that starts goes to both, and every insert that read the record before
 *     has ended: its bits are in current, and a copy made now carries them. The copy ors into next
 *     word by word, atomically: plain stores would wipe out what inserters write there meanwhile.
 *     For the same reason loader threads use atomic inserts (weir_insert_keys sorts them by shard
 *     first), not weir_fill_keys().
 * H3  What leaves the record (a filter, the old record itself) is freed only after a grace period
 * that began after it had left.
 * H4  One writer at a time: begin, rollback, drop, refresh and destroy claim the handle and answer
 *     -EBUSY if it is taken. The writer alone stores the pointer, so it may load it in any order.
 * H5  While previous is kept it is named by every record published, so it receives every insert
 *     (H1), and a rollback loses none. What was inserted before its successor's begin was inserted
 *     into it as the current one. If it refuses one: H12.
 * H6  A thread is not cancelled in a verb that claims the handle or waits for a grace period
 *     (threads.h): the claim would stay taken, and liburcu's lock, which every grace period of the
 *     flavor needs. Between begin and commit it may be: then the reload stays open, as after any
 *     other return from the loader, and somebody has to abort it.
 * H7  Memory of the caller's that some filter of the handle has its bits in is not given to the
 *     next one, since that would be cleared before anything is published. A filter has its bits
 *     until it is freed; so the writer keeps a list of what call_rcu has still to free. Only the
 *     writer walks the list, adds to it and takes out what is no longer held: call_rcu's thread
 *     ends a record's hold when it has freed what the record names, and does not touch it again.
 * H8  Whether a key is new is decided by current alone, so each record has one decider and a swap
 *     changes it. Threads that insert one new key across a swap may have two deciders: at least one
 *     of them is answered WEIR_NEW, not exactly one. Making it exactly one takes a decision that
 *     moves from filter to filter while inserts are under way: three more records and grace periods
 *     in each commit, during which only who was new in current inserts into next, and even then
 *     for a next filter that is a copy alone. That was not worth it.
 * H9  With WEIR_HANDLE_ANY_SEED the filters of a record may hash differently. How is decided by the
 *     record alone, when it is published (alike): an inserter hashes its key once for each hash
 *     identity, the function and its seed or key, that its record names. A filter and the hash that
 *     is inserted into it are thus of one record, which never changes (H1). Of a hash that came
 *     from elsewhere nobody knows which filter's it is. So such a handle refuses to insert it, and
 *     answers that it may be there: a wrong "absent" would break the promise. Exactly one
 *     WEIR_NEW (words_per_key 1) holds within a generation: H8.
 * H10 Before the first set current is a placeholder, which no key is inserted into: it is never
 *     kept as previous, nor carried, nor compared with. Instead an inserter keeps its key: in its
 *     section it pushes it onto the stack of its record's absence, and then it inserts it into next
 *     as well, if the record names one. So once begin's grace period is over, each key that was
 *     ever pushed is on the stack, or its inserter's record names next, or both; the loader replays
 *     the stack into next then, and not earlier. What sees next is pushed all the same, since an
 *     abort gives next up. The stack is freed with the placeholder, after commit's grace period:
 *     sections that began before it push up to their end. The replay notes the length of a text in
 *     next before it inserts the text, as any insert does (N3). A closed next that has none of that
 *     length refuses the text: that ends the refresh or reload, and the text stays kept.
 * H11 is in refusal.h: what was refused last, and why.
 * H12 A filter may refuse a key: it is full. An insert is acknowledged only if every filter of its
 *     record has the key, but for a previous one that is void. An inserter asks current first,
 *     then next, then previous. Where current or next refuses, it removes from those before what
 *     it put there itself, and answers the error. That takes nobody else's share: in that filter
 *     its insert had ended, and nobody else removes it, since it was not acknowledged. A filter
 *     that cannot remove keeps the key: a yes that nobody was promised. So does one with WEIR_ONCE,
 *     where another thread's insert may have been answered by what this one stored.
 *     Where previous refuses, one word of it, its standby, is decided (O10): an inserter says VOID,
 *     a rollback, before it publishes, RETURNS. Who comes second finds what the first has decided.
 *     VOID: the insert stands and previous is never current again. So the rollback answers -ENOENT,
 *     nothing more is inserted into previous, and the next writer frees it. RETURNS: previous is
 *     about to be current, so its refusal counts as one of next's. No record changes (H1): VOID
 *     says what they mean from then on, and stays as long as one names the filter as previous. A
 *     commit that keeps a filter opens its standby before it publishes. By then no section has it
 *     as the previous one of an earlier record: the rollback waited for those.
 * H13 A removal goes to current alone, and is refused (-EBUSY) if the record names next or a
 *     previous that is not void: it could come there before the key does. The insert that it
 *     undoes had returned, so it had read this record or an older one, and the key is in every
 *     filter of this one. A section that found an older record may remove from current while a
 *     begin publishes next. begin returns after it, so the loader reads its source later; if that
 *     still has the key, next has one too many, never too few. For the same reason a copy (H2) of a
 *     kind that removes may count too much in next, and never too little: nothing that was
 *     acknowledged is taken out of current while next is there. What H12 takes back was not.
 * H14 A filter of a kind that is built once takes no insert, so it may be next only where no insert
 *     is acknowledged: current takes none either, or stands for the first set and keeps none. Then
 *     no insert need reach it beside its loader's, and it is published when it is built, in the
 *     commit: no record ever names it as next. As previous it refuses each insert, so the first
 *     one that comes makes it void (H12), and a rollback loses none.
 *
 * Spin (tests/model/reload.pml and its like) shows that H1 to H5 suffice, tests/schedule runs
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

/* One key, as a verb was given it. */
struct weir_given {
	const void *key; /* NULL: by its hash */
	size_t len;
	uint64_t hash;
	bool number; /* the key is one: never text */
	bool fixed;  /* of a batch of keys of one width: an address, in a set with cidr */
};

/* Key @at of a batch that has a form. */
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

struct weir_kept; /* a key that was inserted */

struct weir_absence {
	int answer;     /* to an insert: what a lookup is answered, so WEIR_SEEN for yes */
	uint64_t limit; /* bytes of those kept; 0: none are, and inserts are refused */
	bool drops;     /* those that the first filter has no room for */
	atomic_uint_fast64_t taken;
	struct weir_kept *newest;
};

/* @options: complete.  @placeholder: receives the first filter of the handle, the caller's.
 * Return: 0; -EINVAL, -ENOMEM with the sentence. */
int weir__absence_make(struct weir_absence **out, struct weir_filter **placeholder,
                       const struct weir_handle_options *options);
/* By an inserter, in its section.
 * Return: @a->answer; -EAGAIN nothing is kept; -ENOBUFS there is no more room; -ENOMEM. */
int weir__absence_keep(struct weir_absence *a, const struct weir_given *key);
/* Insert all that was kept into @next; texts that it cannot read are passed over.
 * @dropped: receives how many it had no room for. Return: 0, or the error of an insert. */
int weir__absence_replay(struct weir_absence *a, struct weir_filter *next, uint64_t *dropped);
/* @a: may be NULL. */
void weir__absence_free(struct weir_absence *a);

/* ---- the last refusal of a handle's commits and refreshes, for its statistics: why, and since
 *      when ----
 *
 * H11 A refusal is published by a pointer of its own, which leads to nothing but a sentence, so it
 *     may be older or newer than the record (H1) that a reader has. Only the writer (H4) publishes.
 *     There are two places: the sentence is written into the one that is not published, and a
 *     grace period before that sees to it that nobody who found it published still reads it. So
 *     readers copy it in a section, never wait and never see half of one, and to refuse needs no
 *     memory, which may be just what is lacking. */

struct weir_refusal {
	atomic_uint_fast64_t since; /* ns of CLOCK_MONOTONIC; 0: something was published since */
	char sentence[WEIR_SENTENCE_BYTES];
};

struct weir_refusals {
	struct weir_refusal *last; /* NULL: none yet */
	struct weir_refusal places[2];
};

/* By the writer, outside of sections: a commit or refresh fails with the thread's sentence. May
 * wait for a grace period. */
void weir__refusal_begins(struct weir_handle *h);
/* By the writer: a filter was published, or the file is the one that was. */
void weir__refusal_ends(struct weir_handle *h);
/* Is a commit or refresh refused now? Any thread, at any time. */
bool weir__refused_now(const struct weir_handle *h);
/* In a section. */
void weir__refusal_read(const struct weir_handle *h, struct weir_handle_stats *out);

/* ---- the file that a handle's refresh has taken or refused last, so that it is not looked at
 *      again; by the handle's writer alone ----
 *
 * What is found damaged may be about to be written, in place, by somebody who copies over it. The
 * next bytes then give it another size, time or commit record, and it is another file. But times
 * are as coarse as the kernel's tick (some file systems': two seconds): bytes written within the
 * tick of the head that was read change nothing that shows. So for some seconds a damaged file is
 * read again at each look, in silence: the same refusal is not reported twice. */

struct weir_last_file {
	struct weir_file_identity identity;
	bool refused;
	/* 0, or the generation whose filter it was refused with: then it is looked at again when
	 * another one is current */
	uint64_t refused_with;
	double damaged_since; /* weir__seconds(); 0: it is not, or it will stay so */
};

/* Was it looked at already, with the same answer to come? */
bool weir__last_file_is(const struct weir_last_file *last, const struct weir_file_identity *file,
                        uint64_t generation);

/* Remember a verdict. @err: 0 or the refusal. @with: the generation that it was refused beside, or
 * 0. @began: when the look did. Return: whether this very refusal was there before. */
bool weir__last_file_judge(struct weir_last_file *last, const struct weir_file_identity *file,
                           int err, uint64_t with, double began);

/* Where the bits of a filter are. */
struct weir_bits {
	const void *at;
	uint64_t bytes;
};

/* What there is beside an insert of a key or a hash into current. */
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
	/* what follows from these and the handle; weir__publish() writes it */
	const struct weir_filter *by_hash; /* for lookups of hashes: current, or weir__any_hash */
	struct weir_absence *absence;      /* H10; NULL: current is a set */
	unsigned beside;                   /* 0 or bits as above */
	unsigned char alike[WEIR_TAKERS];  /* H9: the first taker with the same hashes */
};

/* Says of every hash that it may be there (set/dual_write.c). */
extern const struct weir_filter weir__any_hash;

/* H12: the previous filter, if a rollback may return to it; NULL: there is none. */
static inline struct weir_filter *weir__standby(const struct weir_generation *g)
{
	struct weir_filter *p = g->previous;
	return p && weir__standby_load_relaxed(&p->standby) != WEIR_STANDBY_VOID ? p : NULL;
}

/* H1, H10, H12: those that an insert goes to, in this order: current, next and previous; NULL:
 * there is none. */
static inline struct weir_filter *weir__taker(const struct weir_generation *g, unsigned i)
{
	return i == 1 ? g->next : i == 2 ? weir__standby(g) : g->absence ? NULL : g->current;
}

/* What a writer has taken out of the record, to be freed together; each may be NULL. */
struct weir_retired {
	struct rcu_head head;
	struct weir_handle *handle;
	struct weir_filter *filters[2];
	struct weir_generation *records[2];
	struct weir_absence *absence; /* H10 */
	/* left to call_rcu (H7): */
	struct weir_retired *older;
	struct weir_bits bits[2]; /* the filters', since those go while a writer looks here */
	uint64_t bytes;           /* of bits of both, when they were retired */
	atomic_bool held;         /* not freed yet */
};

struct weir_handle {
	/* Read by every verb, written by writers only. */
	struct weir_handle_verbs verbs;     /* these two first: the public header reads them */
	struct weir_generation *generation;
	struct weir_rcu rcu;
	uint32_t flags; /* enum weir_handle_flags */
	uint32_t can;   /* enum weir_ability: what each filter must have */
	struct weir_sharded *sharded; /* itself, if it is a sharded set; NULL: it is one filter */
	/* itself; of a shard, the set: it has the claim (H4) and the figures */
	struct weir_handle *whole;

	_Alignas(64) atomic_bool claimed;   /* H4 */
	struct weir_absence *absence;       /* the writer's: NULL from the first set on (H10) */
	struct weir_retired *retired;       /* the writer's: the newest left to call_rcu (H7) */
	atomic_uint retiring;               /* retired by call_rcu, not yet freed */
	atomic_uint_fast64_t bytes_retired; /* of bits, in those */
	atomic_bool followed;               /* follow.c: a thread has the handle's address */
	atomic_uint_fast64_t swaps;
	atomic_uint_fast64_t collecting; /* 1: a reload is open that publishes nothing yet */
	atomic_uint_fast64_t refused;
	atomic_uint_fast64_t failed;        /* commits that could not build their filter */
	atomic_uint_fast64_t kept_dropped;  /* of the keys that were kept for the first filter */
	atomic_uint_fast64_t reload_ns;     /* that the last commit or refresh took */
	struct weir_last_file last_file; /* the writer's */
	struct weir_refusals refusals;   /* H11 */
};

/* H1 (O4), in a section. */
static inline const struct weir_generation *weir__generation(const struct weir_handle *h)
{
	return weir__record_load_acquire(&h->generation);
}

/* Write what follows from the record's filters and from the handle. */
void weir__record_complete(const struct weir_handle *h, struct weir_generation *record);

/* By the writer alone. Returns what was published before. */
static inline struct weir_generation *weir__publish(struct weir_handle *h,
                                                    struct weir_generation *record)
{
	struct weir_generation *old = h->generation;
	weir__record_complete(h, record);
	weir__record_store_release(&h->generation, record);
	return old;
}

/* H4 (O5): claim the handle. @verb: for the sentence.
 * Return: 0; -EDEADLK in a section, -EBUSY if another writes. */
int weir__writer_begin(struct weir_handle *h, const char *verb);

/* As that, for a verb that destroys: -EDEADLK also where call_rcu runs it, since that thread may
 * have to free what the verb waits for. */
int weir__destroy_begin(struct weir_handle *h, const char *verb);

/* H12: free a previous filter that is void, if there is one and there is memory for a record. May
 * wait for a grace period. The handle is claimed, and there is no next filter. */
void weir__standby_free(struct weir_handle *h);

static inline void weir__writer_release(struct weir_handle *h)
{
	weir__flag_release(&h->whole->claimed);
}

/* Return: a record with the time of now, or NULL. */
struct weir_generation *weir__record(struct weir_filter *current, struct weir_filter *next,
                                     struct weir_filter *previous, uint64_t number);

/* H3: free it, and what it names, after a grace period: one that is waited for here, or
 * (@defer) call_rcu's. @retired: malloc'ed. The handle is claimed. */
void weir__retire(struct weir_handle *h, struct weir_retired *retired, bool defer);
/* Wait until all that was retired has been freed. No writer may begin meanwhile. */
void weir__retired_wait(struct weir_handle *h);

/* Where its bits are; of one that consists of others, those of the first. */
struct weir_bits weir__filter_bits(const struct weir_filter *f);
/* H7. Return: in words, the filter of the handle that has bits there; NULL: none. The handle is
 * claimed, and there is no next filter. */
const char *weir__bits_in(struct weir_handle *h, struct weir_bits place);

/* Bytes of bits of the filters that a record of the handle names and of those retired. */
uint64_t weir__held_bytes(const struct weir_handle *h, const struct weir_generation *g);

/* ---- inserts in a section while g->beside is not 0: into more than the current filter ---- */

/* H1: into every filter of the record. Return: the current one's answer, or the error of the first
 * that refuses. */
/* The hash by which @f inserts a key that was not given by its hash.
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
int weir__insert_hash_beside(const struct weir_generation *g, uint64_t hash);
int weir__insert_key_beside(const struct weir_generation *g, const void *key, size_t len);
int weir__insert_u64_beside(const struct weir_generation *g, uint64_t key);
/* Of a batch. Return: how many were new. */
int64_t weir__insert_keys_beside(const struct weir_generation *g, struct weir_keys keys,
                                 uint64_t *bitmap);

/* H9: -EINVAL, for a hash of nobody knows which filter. @verb: what is to be done with the key. */
int weir__refuse_hashes(const char *verb);

/* H1, in a section: insert into every filter that the record names. */
static inline bool weir__alone(const struct weir_generation *g)
{
	return __builtin_expect(!g->beside, 1);
}

static inline int weir__insert_hash(const struct weir_generation *g, uint64_t hash)
{
	return weir__alone(g) ? weir_insert_hash(g->current, hash) :
	                        weir__insert_hash_beside(g, hash);
}

/* ---- handles as objects ---- */

/* Let @h, zeroed memory, publish a filter by the verbs of one filter. After a failure the filter is
 * still the caller's. @options: complete.  Return: 0; -EBUSY another handle owns it; -ENOMEM. */
int weir__handle_init(struct weir_handle *h, struct weir_filter *first,
                      const struct weir_handle_options *options);
/* As that, in memory of its own. @absence: of a placeholder (H10), or NULL. */
int weir__handle_make(struct weir_handle **out, struct weir_filter *first,
                      struct weir_absence *absence, const struct weir_handle_options *options);
/* Free a handle that nobody uses any more, and all it holds. */
void weir__handle_free(struct weir_handle *h);

/* Refuse a verb that only a set of one filter has. Return: 0 or -ENOTSUP. */
int weir__one_filter_check(const struct weir_handle *h, const char *verb);

#endif
