/* SPDX-License-Identifier: MIT
 * A node keeps the filter of its handle equal to those of the other nodes, by the rules of
 * tests/model/UNION.md. One thread drives the node: it calls weir__node_round() at the time that
 * the last call returned, or earlier. Other threads insert and flush. A node acts only through its
 * store and its handle, and its caller passes the time. */
#ifndef WEIR_REPLICA_NODE_H
#define WEIR_REPLICA_NODE_H

#include <pthread.h>
#include <weir/handle.h>
#include <weir/inline.h>
#include <weir/reload.h>
#include "ring.h"
#include "store.h"

enum {
	WEIR_NODE_BEAT_MS = 1000,      /* longest interval of heartbeats */
	WEIR_NODE_BEAT_LEAST_MS = 250, /* interval of heartbeats for up to 250 nodes */
	WEIR_NODE_POLL_MS = 20,        /* interval of reads, and of sends of few inserts */
	WEIR_NODE_CALL_MS = 5000,      /* interval of a node's calls ([CALL-FOR-KEYS]) */
	WEIR_NODE_GIVE_UP_MS = 10000,  /* longest wait for an answer ([GIVE-UP]) or the lease */
	WEIR_NODE_JITTER_MS = 300,     /* longest random delay before a publication */
	WEIR_NODE_LEASE_MS = 3000,
	WEIR_NODE_LEASE_TRY_MS = 100,  /* interval of requests for the lease */
	WEIR_NODE_LEASE_LONGEST_MS = 600000, /* longest wait for another node's upload */
	WEIR_NODE_RETRY_MS = 20,       /* first delay after a failed request */
	WEIR_NODE_RETRY_MOST_MS = 400, /* longest delay after a failed request */
	WEIR_NODE_BATCHES = 16,        /* largest number of batches in a touch, and of entries in
	                                  a read */
	WEIR_NODE_ENTRY = 72,          /* bytes in redis of an entry without hashes */
	WEIR_NODE_DEBTS = 32,          /* slots for debts; extra debts share the last slot */
	WEIR_NODE_SUPERSEDED = 8,      /* after this many publications that ended with -ESTALE or
	                                  -EEXIST, a new one does not count as progress */
};

enum weir_node_state {
	WEIR_NODE_OFFLINE,
	WEIR_NODE_CATCHING_UP,
	WEIR_NODE_FOLLOWING,
	WEIR_NODE_PUBLISHING,
};

struct weir_node_options {
	const struct weir_store *store;
	struct weir_handle *handle;  /* must have a filter; only the node reloads it */
	const char *set;
	uint64_t id;                 /* random at each start */
	uint64_t max_pending_bytes;  /* largest size of the ring */
	bool may_publish;            /* false for a signed set without the secret key */
	uint32_t poll_ms;            /* time between two reads; 0: WEIR_NODE_POLL_MS */
	uint64_t publish_ms;         /* time after which a changed set is published; 0: publish
	                                only as [WHEN-TO-PUBLISH] requires */
	uint64_t publish_bytes;      /* size of the log at which the node publishes a
	                                generation; 0: no limit */
	void (*wake)(void *context); /* called when WEIR_RING_WAKE bytes of hashes wait to be
	                                sent; NULL: no-op */
	void *context;
};

/* A debt: a generation or token whose keys are in the set but not in the ring. If the head does not
 * include the generation or token, the node must publish its set ([RING-FIRST], [RING-RELEASE]). */
struct weir_debt {
	uint64_t id;    /* the id of the generation or token, or ~id of a rollback whose log the
	                   node owes; 0: only a publication of this node pays the debt */
	uint64_t stamp; /* flushes with this number or a higher one wait until the head includes
	                   the id. A generation's debt has 0 or WEIR_NODE_STAMP_OTHERS here */
};

/* The stamp of a debt for keys that other nodes inserted. No flush waits for such a debt. */
#define WEIR_NODE_STAMP_OTHERS (UINT64_MAX - 1)

/* The state at the start of a publication ([WHEN-TO-PUBLISH], [NEW-ERA]). */
struct weir_record {
	uint64_t mark;
	struct weir_version base;
	struct weir_manifest manifest;
};

struct weir_node {
	const struct weir_store *store;
	struct weir_handle *handle;
	char set[WEIR_SET_NAME + 1];
	uint64_t id, hashing;
	uint32_t kind, steps;
	bool images_only, inlined;
	struct weir_inline first;          /* if inlined: a view of the handle's first filter. It
	                                      hashes as every later filter does, without a read
	                                      section. The words of the first filter may be freed */
	_Atomic bool may_publish;          /* the owner of the node may change it at any time */
	uint64_t publish_ms, publish_bytes;
	struct weir_ring ring;

	/* Guards the fields up to n_publishing. An insert by a token holds the lock until the keys
	 * are in the set ([RING-FIRST]). */
	pthread_mutex_t lock;
	uint64_t token;                    /* the open token; 0: none */
	struct weir_has has;               /* ids of the generations and tokens in the set */
	struct weir_debt debts[WEIR_NODE_DEBTS];
	uint32_t n_debts, n_publishing;    /* n_publishing: number of debts, from the first one on,
	                                      that the publication in flight pays */

	/* Each flush has a number. flushes_asked is the number of the newest flush. All flushes up
	 * to the number flushes_acked are acknowledged. */
	_Atomic uint64_t flushes_asked, flushes_acked;
	uint64_t flushes_collected;        /* all keys up to this flush are in batches */

	/* Times in milliseconds. */
	uint64_t now, answered_at, beat_at, retry_at, retry_ms, send_at, lacks_since, called_at;
	uint64_t first_call, give_up_at, due_since, publish_at, lease_at, image_at;
	uint64_t joined_at;                /* the time from which publish_ms counts; 0: not known
	                                      yet */
	uint64_t synced_at;                /* time of the last heartbeat after which all reads
	                                      succeeded; answered_at is set by each heartbeat */
	uint32_t poll_ms, beat_ms;         /* intervals of reads and of heartbeats; the owner may
	                                      change them between rounds */
	uint64_t jitter;                   /* state of the random number generator */

	enum weir_node_state state;
	struct weir_version floor;         /* the newest version that this machine ever accepted;
	                                      0.0: none. The node never publishes a lower
	                                      version */
	struct weir_head head;             /* the last answer of touch */
	struct weir_manifest newest;       /* the head's manifest; stale unless newest.id is
	                                      head.generation */
	struct weir_manifest joined;       /* the generation that the node joined last: the set has
	                                      all its keys; id 0: none */
	uint64_t followed;                 /* the joined generation, if every later head of this
	                                      epoch and era includes its keys ([RING-RELEASE]);
	                                      0: none */
	uint64_t era;                      /* the set's era */
	struct weir_log_id crossing;       /* the cursor when the node read into an epoch that no
	                                      heartbeat had reported; 0-0: none */
	uint64_t new_log_mark;             /* mark of the new log whose first entry was read since
	                                      the last heartbeat; UINT64_MAX: two new logs; 0:
	                                      no new log */
	struct weir_seen seen;             /* the value of `seen` in each manifest of this node */
	struct weir_seen lost_cursor;      /* cursor in the log that redis lost (`had` in UNION.md);
	                                      mark 0: the head's image has all of that log */
	struct weir_log_id cursor;         /* the log is applied up to this entry */
	uint64_t tag;                      /* the tag of the entry at cursor; 0: unknown */
	struct weir_log_id suspect;        /* the cursor at the last weir__node_suspect() */
	uint64_t suspect_mark;             /* the head's mark at the last weir__node_suspect(); 0:
	                                      since then the node has read to the log's end */
	struct weir_log_id hole;           /* the last missing entry */
	uint64_t missing;                  /* the tag of the last missing entry; 0: unknown, or
	                                      several entries are missing */
	struct weir_log_id gap;            /* the last skipped entry. Own entries up to the gap may
	                                      belong to another log; 0-0: none */
	uint64_t again_at;                 /* earliest time to send entries again for a call */
	struct weir_log_id open_call;      /* the last unanswered call of any node */
	struct weir_version call_version;  /* the version in open_call. A head with a newer version
	                                      answers the call */
	uint64_t log_bytes;                /* bytes of applied log entries after joined.position */
	bool lacks;
	bool doubt;                        /* the node is in doubt ([DOUBT]): it does not know the
	                                      head's position yet */
	bool impure;                       /* the next generation is not pure ([WHEN-TO-PUBLISH]) */
	bool call_due, called;
	bool touch_now;                    /* the head has changed: send a heartbeat at once */
	bool at_end;                       /* the cursor is at the end of the log */
	bool publish_asked;                /* the owner wants a generation as soon as possible */
	bool reclaim_asked;                /* the owner asks to join and publish the image of an
	                                      older head (weir__node_can_reclaim()) */
	uint64_t refused_id;               /* the generation whose manifest was refused */
	struct weir_version refused;       /* the version of the refused manifest; 0.0: the head's
	                                      manifest was not refused */
	uint64_t refused_at;               /* time to read the refused manifest again */
	bool other_seed;                   /* refused_id was refused for its seed, key or steps */
	uint64_t mismatch,                 /* the head's generation if the manifest in redis belongs
	                                      to another generation; 0: no mismatch */
	         mismatch_at;              /* the time when the node noticed this mismatch */
	uint64_t unusable_image;           /* the generation whose image this node cannot use */
	bool no_retry;                     /* a retry cannot help for the image of this head */
	uint64_t abandoned;                /* the generation that the node gave up ([GIVE-UP]) */
	bool publishing, publishing_impure; /* publishing_impure: the value of `impure` when the
	                                       publication began */
	uint64_t record_id;                /* the record being uploaded; 0: none */
	struct weir_record publication;
	unsigned superseded;               /* number of publications that ended with -ESTALE or
	                                      -EEXIST since the last publication that succeeded */
	uint64_t stale_mark,               /* the mark of the publication that redis refused last
	                                      with -ESTALE or -EEXIST */
	         stale_at;                 /* time of the first such refusal with stale_mark and
	                                      stale_base; 0: none since the last success */
	struct weir_version stale_base;    /* the base version of the refused publication */
	const char *report;                /* text for the next touch; NULL: none */
	bool wrote;                        /* a touch has written to redis; the owner resets this */
	int publish_error;                 /* error of the last publication; 0: it succeeded, is in
	                                      flight or was superseded */
	uint64_t batches,                  /* number of batches applied */
	         failures;                 /* number of failed exchanges with redis */
	uint64_t foreign,                  /* number of entries with another seed */
	         given_up,                 /* number of times that this node gave up ([GIVE-UP]) */
	         generations;              /* number of generations that this node published */
	int error;                         /* the current error; 0: none */
	char why[WEIR_SENTENCE_BYTES];     /* the sentence of `error` */
};

/* The state of a node, for reports. Only the node's thread uses this struct. */
struct weir_node_status {
	enum weir_node_state state;
	bool behind;                     /* lacks keys, or has not read the whole log yet */
	bool lacks, owes, token;
	uint64_t lacks_ms;               /* milliseconds for which the node has lacked something */
	struct weir_log_id cursor, last, hole;
	struct weir_version joined, newest;
	uint64_t ring_bytes, foreign, given_up, generations;
	int error;
	const char *why;
};

/* Return: 0; -ENOTSUP the kind cannot be replicated; an error of weir_measure(). */
int weir__node_make(struct weir_node *n, const struct weir_node_options *options);
void weir__node_free(struct weir_node *n);
/* If the handle's filter is the image of @m, call this before the first round and before the first
 * insert. */
void weir__node_start(struct weir_node *n, const struct weir_manifest *m);

/* ---- any thread ---- */

/* Insert a key ([RING-FIRST]). Return: as weir_handle_insert(); -ENOBUFS the ring is full and the
 * node may not publish, so the set lacks the key; -ENOTSUP the kind is built once. */
int weir__node_insert(struct weir_node *n, const void *key, size_t len);
int weir__node_insert_u64(struct weir_node *n, uint64_t key);
int weir__node_insert_hash(struct weir_node *n, uint64_t hash);
/* Insert a batch, up to the first key that fails. Return: as weir_handle_insert_keys(). */
int64_t weir__node_insert_keys(struct weir_node *n, struct weir_keys keys, uint64_t *bitmap);
/* Request a confirmation of all inserts that have returned. Return: a number. Once
 * weir__node_acknowledged() returns at least this number, the inserts are in the log or in a
 * generation. */
uint64_t weir__node_flush(struct weir_node *n);
uint64_t weir__node_acknowledged(struct weir_node *n);

/* ---- the node's thread ---- */

/* Run one round. Return: the time of the next call. */
uint64_t weir__node_round(struct weir_node *n, uint64_t now_ms);
/* Merge a filter into the set, which the node then publishes. Return: as weir_merge(); -ENOBUFS the
 * node may not publish. */
int weir__node_merge(struct weir_node *n, const struct weir_filter *more);
/* Start a record ([NEW-ERA]): note the log's end. The caller reads its record afterwards.
 * @kept: the generation to roll back to, whose position @r receives; NULL: a record.
 * Return: 0; -EAGAIN the node has not read the head; an error of the store. */
int weir__node_record(struct weir_node *n, struct weir_record *r, const struct weir_manifest *kept);
/* Publish the record as a higher era, which this node joins like any other generation.
 * @f: the record's filter; NULL: the image of @kept.
 * Return: 0; -EINPROGRESS call again soon; -EKEYREJECTED @f has another seed, key or text steps; or
 *   as the store's publish(). */
int weir__node_publish_record(struct weir_node *n, struct weir_record *r,
                              const struct weir_filter *f);
/* Publish the newest generation again with a new date. Nodes that have joined that generation do
 * not fetch its image again.
 * Return: 0; -EAGAIN this node has not joined that generation; -EEXIST redis already has another
 *   head; an error of the store. */
int weir__node_republish(struct weir_node *n);
void weir__node_status(struct weir_node *n, struct weir_node_status *out);

/* ---- the files of a node; each file calls only functions of the files before it ---- */

/* insert.c */
static inline bool weir__manifest_has(const struct weir_manifest *m, uint64_t id)
{
	return id && (m->id == id || weir__has(&m->has, id));
}
/* Return: true if @m has its keys only together with the log after its position ([NEW-ERA]). */
static inline bool weir__needs_log(const struct weir_node *n, const struct weir_manifest *m)
{
	return m->source == WEIR_SOURCE_ROLLBACK && !n->images_only;
}
/* The caller holds the lock. */
void weir__debt_add(struct weir_node *n, uint64_t id, uint64_t stamp);
/* Replace the debts that the published @generation includes by one debt for @generation. */
void weir__debts_paid(struct weir_node *n, uint64_t generation);
/* Before @m is joined ([RING-RELEASE]): give the id of @m to each debt that @m includes by descent
 * but does not list (is_in() in insert.c). */
void weir__debts_rename(struct weir_node *n, const struct weir_manifest *m);
/* After @m is joined ([RING-RELEASE]): drop batches that @m covers, and add a debt for @m. */
void weir__debts_release(struct weir_node *n, const struct weir_manifest *m);
/* Return: the lowest stamp of the debts that the head does not include; UINT64_MAX: no debt. */
uint64_t weir__debts_lowest_stamp(struct weir_node *n);

/* Before @m is joined ([RING-RELEASE]): add a debt for other nodes' inserts that redis may have
 * lost, since those nodes may have ended. */
void weir__debts_add_others(struct weir_node *n, const struct weir_manifest *m);
/* Drop the debts for keys of other nodes after a swap: the higher era decides which keys stay. */
void weir__debts_drop_others(struct weir_node *n);

/* Return: true if the head is older than a generation that this machine accepted ([HEAD-JOIN]). The
 *   node uses the head's position but not the head's image: that image lacks newer keys, and may
 *   still have keys that a higher era removed. */
static inline bool weir__node_head_is_old(const struct weir_node *n)
{
	return n->head.generation && n->newest.id == n->head.generation &&
	       weir__version_compare(n->newest.version, n->floor) < 0;
}

/* Return: true if the head is old, but in the era of the newest accepted version (n->floor), so no
 *   key was removed since then. The node may publish the head's image again, with a version above
 *   n->floor, if the application asks for it. */
static inline bool weir__node_can_reclaim(const struct weir_node *n)
{
	return weir__node_head_is_old(n) && n->newest.version.era == n->floor.era;
}

/* Return: true if the head's version is that of its checked manifest. A node never publishes above
 *   a number that only the head claims, since a signature would make the number permanent. */
static inline bool weir__node_knows_head(const struct weir_node *n)
{
	return n->newest.id == n->head.generation &&
	       weir__version_compare(n->newest.version, n->head.version) == 0;
}

/* touch.c */
int weir__node_touch(struct weir_node *n, bool give_up);
void weir__node_doubt(struct weir_node *n);
/* The log is not the log that the node read ([LOG-READING]): enter doubt, and read again. If this
 * recurs at the same cursor, jump to @to instead. The node then counts as incomplete until it joins
 * a generation whose position is above the end that the log has now. */
void weir__node_suspect(struct weir_node *n, struct weir_log_id to, uint64_t tag);
/* The cursor skips the entries after @after up to @upto ([LOG-READING]). The ring queues own
 * entries among them again, since the ids of those entries may now belong to entries of another
 * log. */
void weir__node_gap(struct weir_node *n, struct weir_log_id after, struct weir_log_id upto);
void weir__node_jump(struct weir_node *n, struct weir_log_id to, uint64_t tag);
void weir__node_lack(struct weir_node *n, struct weir_log_id hole);
void weir__node_lack_nothing(struct weir_node *n);
/* Note an error for reports. Return: @err. */
int weir__node_note_error(struct weir_node *n, int err);
uint64_t weir__node_random(struct weir_node *n, uint64_t below);

/* log.c */
int weir__node_read(struct weir_node *n);
/* Apply the log after @m's position, up to the cursor, to @next ([HEAD-JOIN]).
 * @whole: receives true if all of that log was read. */
int weir__node_replay(struct weir_node *n, const struct weir_manifest *m, struct weir_reload *next,
                      bool *whole);
/* Insert hashes into @next, or into the handle if @next is NULL. Return: as weir_insert_keys(). */
int weir__node_apply(struct weir_node *n, const unsigned char *hashes, size_t count,
                     struct weir_reload *next);

/* join.c */
/* Read the head's manifest. In doubt, also move the cursor to the head's position ([DOUBT]). */
int weir__node_manifest(struct weir_node *n);
/* Join the head's generation, or fetch its image ([HEAD-JOIN]). */
int weir__node_join_head(struct weir_node *n);
void weir__node_joined(struct weir_node *n, const struct weir_manifest *m);

/* publish.c */
int weir__node_publish(struct weir_node *n);

#endif
