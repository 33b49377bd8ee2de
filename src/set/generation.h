/* SPDX-License-Identifier: MIT
 * The record that a handle publishes, the rules by which a reload loses no key, the writer's claim,
 * and the freeing of what a writer retires. Only this folder knows the fields of a handle.
 *
 * [DUAL-WRITE]  A handle publishes one pointer to a generation record, and a published record never
 *    changes. An inserter loads the pointer once, in one read-side section, and inserts into every
 *    filter that the record names. Lookups read current. With two pointers, an inserter could pair
 *    an old current with a new next.
 * [BEGIN-WAITS]  weir_reload_begin() publishes {current, next, previous} and waits for a grace
 *    period. So every insert that starts after it has returned goes to both current and next. All
 *    inserts with an earlier record have ended: their bits are in current, and a later copy of
 *    current has these bits. The copy ORs into next word by word, atomically, since plain stores
 *    would erase the bits that inserters set in next at the same time. For the same reason loader
 *    threads use atomic inserts (weir_insert_keys() sorts by shard first), not weir_fill_keys().
 * [FREE-AFTER-GRACE]  An object that was removed from the record (a filter, or the old record
 *    itself) is freed only after a grace period that began after the removal.
 * [ONE-WRITER]  There is one writer at a time: begin, rollback, drop, refresh and destroy claim the
 *    handle, and return -EBUSY if another thread has claimed it. Only the writer stores the
 *    pointer, so the writer may load the pointer with any memory order.
 * [PREVIOUS-WRITTEN]  While previous is kept, every published record names it. So previous receives
 *    every insert ([DUAL-WRITE]), and a rollback loses no insert. Earlier keys went into previous
 *    while it was current. [REFUSED-KEY] covers a refusal by previous.
 * [NO-CANCELLATION]  Cancellation is off in a function that claims the handle or waits for a grace
 *    period (threads.h). A cancelled thread would keep the claim, and the lock of liburcu that
 *    every grace period of the flavor needs. Between the begin and the commit of a reload the
 *    loader's thread may be cancelled. The reload then stays open until the caller aborts it.
 * [BITS-IN-USE]  Memory that the caller gives for next must not hold the bits of a filter of the
 *    handle, since that memory is cleared before anything is published. Bits stay in use until
 *    their filter is freed. So the writer keeps a list of the retired filters that call_rcu has not
 *    freed yet. Only the writer walks the list, adds entries, and removes entries whose flag held
 *    is clear. call_rcu's thread frees the filters of an entry, then clears the entry's flag held,
 *    and does not touch the entry again.
 * [ONE-DECIDER]  Only current decides whether a key is new, and a swap changes which filter is
 *    current. If threads insert one new key across a swap, at least one thread gets WEIR_NEW, but
 *    perhaps more than one. For exactly one, the decision would have to move between filters during
 *    inserts. Each commit would need three more records and grace periods, in which an insert goes
 *    into next only if the key was new in current. Even that works only if next is a plain copy.
 * [ANY-SEED]  With WEIR_HANDLE_ANY_SEED the filters of a record may hash differently. The array
 *    alike in the record says which filters hash in the same way. An inserter hashes its key once
 *    for each hash identity (function and seed or key) in its record. Since a record never changes
 *    ([DUAL-WRITE]), each filter gets only hashes of its own identity. A hash given by the caller
 *    may belong to any filter. So without WEIR_HANDLE_OWN_HASHES such a handle refuses to insert
 *    hashes, and answers yes to lookups of hashes: a wrong "absent" would break the promise.
 *    With words_per_key 1, exactly one insert of an absent key gets WEIR_NEW, but only among
 *    inserts with the same current filter ([ONE-DECIDER]).
 * [PLACEHOLDER]  Before the first set, current is a placeholder. No key is inserted into it, and it
 *    is never kept as previous, copied or compared with. An inserter keeps its key instead: in its
 *    section it pushes the key onto the stack of its record's absence, and then inserts the key
 *    into next, if the record names one. So after the grace period of [BEGIN-WAITS], each kept key
 *    is on the stack already, or its inserter's record names next, or both. Only then does the
 *    loader replay the stack into next. An inserter that sees next pushes its key all the same,
 *    since an abort discards next. The stack is freed with the placeholder, after commit's grace
 *    period, since sections that began before may still push. The replay notes a text's length in
 *    next before it inserts the text, as any insert does ([LENGTH-FIRST]). A closed next without
 *    that length refuses the text. Then the refresh or reload fails, and the text stays on the
 *    stack.
 * [REFUSED-KEY]  A filter may refuse a key, for example when full. An insert is acknowledged only
 *    if every filter of its record has the key, except a void previous. An inserter asks current
 *    first, then next, then previous. If current or next refuses, the inserter removes its copies
 *    of the key from the filters that accepted it, and returns the error. That removes no other
 *    insert's copy: this inserter's copies were complete, and no other thread removes them, since
 *    they were not acknowledged. A filter without removal keeps the key, which is a false positive.
 *    A filter with WEIR_ONCE keeps the key too, since another thread may have been answered that
 *    the key is there. If previous refuses, its word standby is decided once ([PREVIOUS-FATE]). An
 *    inserter tries to set VOID, and a rollback tries to set RETURNS before it publishes; the first
 *    one decides. VOID: the insert succeeds, and previous never becomes current again. The rollback
 *    returns -ENOENT, no more keys go into previous, and the next writer frees it. RETURNS:
 *    previous is about to be current, so its refusal counts like a refusal by next. No record
 *    changes ([DUAL-WRITE]), but VOID changes the meaning of every record that names the filter as
 *    previous. A commit that keeps a filter as previous resets its standby before it publishes. By
 *    then no section has that filter as previous of an earlier record, since the rollback waited
 *    for those sections.
 * [REMOVAL-IN-CURRENT]  A removal goes to current alone. It is refused (-EBUSY) if the record names
 *    next or a previous that is not void, since the removal could reach that filter before the key
 *    does. The insert that a removal undoes has returned before the removal begins, so the key is
 *    in every filter of this record. A section with an older record may remove a key from current
 *    while weir_reload_begin() publishes next. That function returns after the section, so the
 *    loader reads its source later. If the source still has the key, next has one copy too many,
 *    never too few. For the same reason a copy ([BEGIN-WAITS]) of a kind that removes may count too
 *    much in next, never too little. While the record names next, only [REFUSED-KEY] removes keys
 *    from current, and the inserts of these keys were not acknowledged.
 * [BUILT-ONCE]  A kind that is built once takes no inserts. So its filter may be next only if no
 *    insert is acknowledged: current takes no inserts either, or is a placeholder that keeps no
 *    keys. Then only the loader's own inserts must reach next. The commit publishes the filter when
 *    it is built, so no record ever names it as next. As previous it refuses each insert, so the
 *    first insert makes it void ([REFUSED-KEY]), and a rollback loses no insert.
 *
 * Spin (tests/model/reload.pml and similar models) shows that [DUAL-WRITE], [BEGIN-WAITS],
 * [FREE-AFTER-GRACE], [ONE-WRITER] and [PREVIOUS-WRITTEN] suffice to lose no key. tests/schedule
 * runs the code itself. */
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

/* A key as the caller gave it: as bytes, as an integer or as a hash. */
struct weir_given {
	const void *key; /* NULL: the caller gave the hash */
	size_t len;
	uint64_t hash;
	bool number; /* the key is an integer, which no text normalisation changes */
	bool fixed;  /* the key has the fixed width of its batch: an address in a set with cidr */
};

/* Return: key @at of a batch whose form is valid. */
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

/* ---- before the first set: a placeholder answers lookups, and inserts are kept ([PLACEHOLDER])
 * ---- */

struct weir_kept; /* a key kept for the first set */

struct weir_absence {
	int answer;     /* the answer to inserts: WEIR_SEEN if lookups answer yes, else WEIR_NEW */
	uint64_t limit; /* most bytes of kept keys; 0: refuse inserts */
	bool drops;     /* drop kept keys that do not fit into the first filter */
	atomic_uint_fast64_t reserved;
	struct weir_kept *newest;
};

/* Make the state before the first set. @options: complete.  @placeholder: receives the handle's
 * first filter, which the caller owns.  Return: 0, -EINVAL or -ENOMEM. */
int weir__absence_make(struct weir_absence **out, struct weir_filter **placeholder,
                       const struct weir_handle_options *options);
/* Keep a key. The inserter calls this in its section.
 * Return: @a->answer; -EAGAIN keys are not kept; -ENOBUFS the limit is reached; -ENOMEM. */
int weir__absence_keep(struct weir_absence *a, const struct weir_given *key);
/* Insert all kept keys into @next, except texts that @next cannot read. Return: 0 or an error.
 * @dropped: receives the number of keys dropped because @next is full. */
int weir__absence_replay(struct weir_absence *a, struct weir_filter *next, uint64_t *dropped);
/* @a: may be NULL. */
void weir__absence_free(struct weir_absence *a);

/* ---- the last refusal of a handle's commits and refreshes, for its statistics ----
 *
 * [REFUSAL-POINTER]  The writer publishes a refusal by a pointer of its own, not in the record of
 *    [DUAL-WRITE]. So a reader may find a refusal that is older or newer than the record. Only
 *    the writer ([ONE-WRITER]) publishes a refusal. There are two slots, and the writer fills the
 *    one that is not published. If this slot has a text, the writer first waits for a grace period,
 *    so that no reader still reads the slot. Readers copy the text in a section, so they never wait
 *    and never see a half-written text. A refusal allocates nothing, since a lack of memory may be
 *    its reason. */

struct weir_refusal {
	atomic_uint_fast64_t since; /* ns of CLOCK_MONOTONIC; 0: the refusals have ended */
	char sentence[WEIR_SENTENCE_BYTES];
};

struct weir_refusals {
	struct weir_refusal *last; /* NULL: no refusal yet */
	struct weir_refusal slots[2];
};

/* Publish this thread's error message: a commit or refresh has failed. Only the writer calls this,
 * outside of sections. May wait for a grace period. */
void weir__refusal_begins(struct weir_handle *h);
/* Note that the last commit or refresh was not refused. A commit or refresh calls this when it has
 * published a filter. A refresh also calls it when it finds that the file is the published one. */
void weir__refusal_ends(struct weir_handle *h);
/* Return: true if the last commit or refresh was refused. Any thread may call this. */
bool weir__refused_now(const struct weir_handle *h);
/* Copy the last refusal to @out. Call this in a section. */
void weir__refusal_read(const struct weir_handle *h, struct weir_handle_stats *out);

/* ---- the file that a refresh accepted or refused last; only the writer uses it ----
 *
 * If a refresh has accepted or refused a file, later refreshes do not read the unchanged file again
 * and do not report the refusal again. There are two exceptions. The field refused_with describes
 * one. The other is a damaged file, which each refresh reads again for some seconds, since another
 * process may still be overwriting the file in place. Most later writes change its size, time or
 * commit record, so the file counts as changed. But file times are as coarse as the kernel's tick
 * (two seconds on some file systems), so a write within the same tick as the read may be
 * invisible. */

struct weir_last_file {
	struct weir_file_identity identity;
	bool refused;
	/* If the refusal may depend on the current filter (WEIR_VERDICT_UNFIT in set/follow):
	 * the number of the generation that had this current filter. When another generation is
	 * current, a refresh reads the file again. 0: the file was accepted, or was refused for a
	 * fault that no other current filter would change. */
	uint64_t refused_with;
	/* weir__seconds() when a refresh first found the damage. 0: the file is undamaged, or has
	 * been damaged for so long that no process is likely to be overwriting it. */
	double damaged_since;
};

/* Return: true if the same verdict on this file is certain, so that it need not be read again. */
bool weir__last_file_is(const struct weir_last_file *last, const struct weir_file_identity *file,
                        uint64_t generation);

/* Remember a verdict. @err: 0 or the refusal. @with: the value for refused_with. @began: when the
 * refresh began. Return: true if the file is damaged and the last verdict was damage of the same
 * file. */
bool weir__last_file_judge(struct weir_last_file *last, const struct weir_file_identity *file,
                           int err, uint64_t with, double began);

/* The memory of a filter's bits. */
struct weir_bits {
	const void *at;
	uint64_t bytes;
};

/* Reasons why an insert must do more than insert into current. */
enum {
	WEIR_BESIDE_FILTERS = 1,   /* there is a next or a previous filter */
	WEIR_BESIDE_NO_HASHES = 2, /* [ANY-SEED]: hashes are refused */
	WEIR_BESIDE_ABSENCE = 4,   /* [PLACEHOLDER]: current is the placeholder */
};

enum { WEIR_RECORD_FILTERS = 3 }; /* current, next and previous */

struct weir_generation {
	struct weir_filter *current; /* first member: weir_handle_get() reads it */
	struct weir_filter *next;    /* or NULL */
	struct weir_filter *previous;/* or NULL */
	uint64_t number;
	double since; /* seconds of CLOCK_MONOTONIC when current was published */
	/* weir__publish() computes the fields below */
	const struct weir_filter *by_hash; /* for lookups of hashes: current, or weir__any_hash */
	struct weir_absence *absence;      /* NULL unless current is a placeholder */
	unsigned beside;                   /* 0, or bits of WEIR_BESIDE_* */
	unsigned char alike[WEIR_RECORD_FILTERS]; /* [ANY-SEED]: i hashes as filter alike[i] */
};

/* A filter that answers yes to every hash (set/dual_write.c). */
extern const struct weir_filter weir__any_hash;

/* [REFUSED-KEY]: the previous filter if a rollback may return to it, else NULL. */
static inline struct weir_filter *weir__standby(const struct weir_generation *g)
{
	struct weir_filter *p = g->previous;
	return p && weir__standby_load_relaxed(&p->standby) != WEIR_STANDBY_VOID ? p : NULL;
}

/* [DUAL-WRITE], [PLACEHOLDER], [REFUSED-KEY]: filter @i that an insert goes to: 0 current, 1 next,
 * 2 previous. NULL: none. */
static inline struct weir_filter *weir__record_filter(const struct weir_generation *g, unsigned i)
{
	return i == 1 ? g->next : i == 2 ? weir__standby(g) : g->absence ? NULL : g->current;
}

/* Objects that a writer removed from the record, to be freed together. Each may be NULL. */
struct weir_retired {
	struct rcu_head head;
	struct weir_handle *handle;
	struct weir_filter *filters[2];
	struct weir_generation *records[2];
	struct weir_absence *absence; /* the state before the first set ([PLACEHOLDER]) */
	/* The fields below are set only if call_rcu frees the objects ([BITS-IN-USE]). */
	struct weir_retired *older;
	struct weir_bits bits[2]; /* copies, since the filters may be freed already */
	uint64_t bytes;           /* bytes of both filters' bits at the time of retirement */
	atomic_bool held;         /* the objects are not freed yet */
};

struct weir_handle {
	/* Every function reads these fields, and only writers change them. */
	struct weir_handle_verbs verbs;     /* handle.h reads the first two fields */
	struct weir_generation *generation;
	struct weir_rcu rcu;
	uint32_t flags; /* enum weir_handle_flags */
	uint32_t can;   /* enum weir_ability: required of each filter */
	struct weir_sharded *sharded; /* this handle, if it is a sharded set, else NULL */
	/* The handle that has the claim ([ONE-WRITER]) and the statistics: for a shard the handle
	 * of its set, else this handle. */
	struct weir_handle *whole;

	_Alignas(64) atomic_bool claimed;   /* a writer has claimed the handle ([ONE-WRITER]) */
	struct weir_absence *absence;       /* only the writer uses it; NULL after the first set */
	struct weir_retired *retired;       /* the writer's list, newest first ([BITS-IN-USE]) */
	atomic_uint retiring;               /* entries given to call_rcu and not freed yet */
	atomic_uint_fast64_t bytes_retired; /* bytes of the bits that these entries hold */
	atomic_bool followed;               /* follow.c: a follower's thread uses the handle */
	atomic_uint_fast64_t swaps;
	atomic_uint_fast64_t collecting; /* 1: a reload collects keys and has published nothing */
	atomic_uint_fast64_t refused;
	atomic_uint_fast64_t failed;        /* commits that could not build their filter */
	atomic_uint_fast64_t kept_dropped;  /* kept keys that the first filter had no room for */
	atomic_uint_fast64_t reload_ns;     /* duration of the last commit or refresh */
	struct weir_last_file last_file; /* only the writer uses it */
	struct weir_refusals refusals;   /* the last refusal ([REFUSAL-POINTER]) */
};

/* Load the record ([DUAL-WRITE], [HANDLE-RECORD]). Call this in a section. */
static inline const struct weir_generation *weir__generation(const struct weir_handle *h)
{
	return weir__record_load_acquire(&h->generation);
}

/* Compute the other fields of a record from its filters and the handle. */
void weir__record_complete(const struct weir_handle *h, struct weir_generation *record);

/* Publish a record. Only the writer calls this. Return: the record published before. */
static inline struct weir_generation *weir__publish(struct weir_handle *h,
                                                    struct weir_generation *record)
{
	struct weir_generation *old = h->generation;
	weir__record_complete(h, record);
	weir__record_store_release(&h->generation, record);
	return old;
}

/* [ONE-WRITER] ([ONE-HOLDER]): claim the handle. @verb: the calling function, for error messages.
 * Return: 0; -EDEADLK in a section; -EBUSY another writer is active. */
int weir__writer_begin(struct weir_handle *h, const char *verb);

/* Claim the handle for a function that destroys it. Returns -EDEADLK also in a callback of
 * call_rcu, since the thread that runs callbacks may have to free what the function waits for. */
int weir__destroy_begin(struct weir_handle *h, const char *verb);

/* [REFUSED-KEY]: free the previous filter if it is void. If memory for a record is short, the next
 * writer tries again. The caller has claimed the handle, and next is NULL. May wait for a grace
 * period. */
void weir__standby_free(struct weir_handle *h);

static inline void weir__writer_release(struct weir_handle *h)
{
	weir__flag_release(&h->whole->claimed);
}

/* Return: a record with the current time, or NULL. */
struct weir_generation *weir__record(struct weir_filter *current, struct weir_filter *next,
                                     struct weir_filter *previous, uint64_t number);

/* [FREE-AFTER-GRACE]: after a grace period, free @retired (from malloc) and all objects to which it
 * points. Wait for the grace period, or with @defer let call_rcu free them. The caller has claimed
 * the handle. */
void weir__retire(struct weir_handle *h, struct weir_retired *retired, bool defer);
/* Wait until all retired objects are freed. No writer may begin before this returns. */
void weir__retired_wait(struct weir_handle *h);

/* Return: the memory of a filter's bits. For a compound: the memory of its first member's bits. */
struct weir_bits weir__filter_bits(const struct weir_filter *f);
/* [BITS-IN-USE]: find a filter of the handle whose bits overlap with @place. Return: its name for
 * an error message, or NULL. The caller has claimed the handle, and next is NULL. */
const char *weir__bits_in(struct weir_handle *h, struct weir_bits place);

/* Return: bytes of the bits of a record's filters and of the retired filters. */
uint64_t weir__held_bytes(const struct weir_handle *h, const struct weir_generation *g);

/* ---- inserts when g->beside is not 0, in a section ---- */

/* Compute the hash by which @f inserts a key that the caller gave as bytes.
 * Return: 0 or -EINVAL. */
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
/* [DUAL-WRITE]: insert into every filter of the record. Return: current's answer, or the error of
 * the first filter that refuses. */
int weir__insert_hash_beside(const struct weir_generation *g, uint64_t hash);
int weir__insert_key_beside(const struct weir_generation *g, const void *key, size_t len);
int weir__insert_u64_beside(const struct weir_generation *g, uint64_t key);
/* [DUAL-WRITE]: insert a batch into every filter of the record. Return: the number of new keys, or
 * an error. */
int64_t weir__insert_keys_beside(const struct weir_generation *g, struct weir_keys keys,
                                 uint64_t *bitmap);

/* [ANY-SEED]: refuse a hash, since it may belong to any filter. @verb: what the caller should do
 * with the key instead. Return: -EINVAL. */
int weir__refuse_hashes(const char *verb);

static inline bool weir__alone(const struct weir_generation *g)
{
	return __builtin_expect(!g->beside, 1);
}

/* [DUAL-WRITE]: insert into every filter that the record names. Call this in a section. */
static inline int weir__insert_hash(const struct weir_generation *g, uint64_t hash)
{
	return weir__alone(g) ? weir_insert_hash(g->current, hash) :
	                        weir__insert_hash_beside(g, hash);
}

/* ---- handles as objects ---- */

/* Make a handle in @h, which is zeroed memory, and publish @first. On failure the filter stays the
 * caller's. @options: complete.  Return: 0; -EBUSY another handle owns the filter; -ENOMEM. */
int weir__handle_init(struct weir_handle *h, struct weir_filter *first,
                      const struct weir_handle_options *options);
/* Allocate a handle and call weir__handle_init(). @absence: for a placeholder ([PLACEHOLDER]), or
 * NULL. */
int weir__handle_make(struct weir_handle **out, struct weir_filter *first,
                      struct weir_absence *absence, const struct weir_handle_options *options);
/* Free a handle that no thread uses any more, and all that it owns. */
void weir__handle_free(struct weir_handle *h);

/* Fail if the handle is a sharded set, which lacks the function @verb. Return: 0 or -ENOTSUP. */
int weir__one_filter_check(const struct weir_handle *h, const char *verb);

#endif
