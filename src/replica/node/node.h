/* SPDX-License-Identifier: MIT
 * A node keeps the filter of its handle equal to those of the other nodes, by the rules U1 to U12
 * of tests/model/UNION.md. One thread drives the node: it calls weir__node_round() at the time that
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
	WEIR_NODE_BEAT_MS = 1000,     /* longest time between two heartbeats */
	WEIR_NODE_BEAT_LEAST_MS = 250,      /* time between two heartbeats of a small set */
	WEIR_NODE_POLL_MS = 20,       /* time between two reads, or sends of less than 64 KB */
	WEIR_NODE_CALL_MS = 5000,     /* time until the node repeats a call (U8) */
	WEIR_NODE_GIVE_UP_MS = 10000, /* time without an answer until the node gives up (U9), or
	                                 publishes without the lease */
	WEIR_NODE_JITTER_MS = 300,    /* longest random delay of a publication */
	WEIR_NODE_LEASE_MS = 3000,
	WEIR_NODE_LEASE_TRY_MS = 100, /* time between two requests for the lease */
	WEIR_NODE_LEASE_LONGEST_MS = 600000, /* longest wait for another node's upload */
	WEIR_NODE_RETRY_MS = 20,      /* first delay after a failed exchange with redis */
	WEIR_NODE_RETRY_MOST_MS = 400, /* longest delay after a failed exchange */
	WEIR_NODE_BATCHES = 16,          /* batches in one touch, and entries in one read */
	WEIR_NODE_ENTRY = 72,         /* bytes of an entry in redis besides its hashes */
	WEIR_NODE_DEBTS = 32,        /* debts; more debts share the last slot, without an id */
	WEIR_NODE_SUPERSEDED = 8,         /* consecutive superseded publications: no progress */
};

enum weir_node_state {
	WEIR_NODE_OFFLINE,
	WEIR_NODE_CATCHING_UP,
	WEIR_NODE_FOLLOWING,
	WEIR_NODE_PUBLISHING,
};

struct weir_node_options {
	const struct weir_store *store;
	struct weir_handle *handle;  /* has a filter, which only the node reloads */
	const char *set;
	uint64_t id;                 /* random at each start */
	uint64_t max_pending_bytes;  /* limit of the ring */
	bool may_publish;            /* false for a signed set without the secret key */
	uint32_t poll_ms;            /* time between two reads; 0: WEIR_NODE_POLL_MS */
	uint64_t publish_ms;         /* publish this long after the last generation if the log has
	                                more; 0: only by a rule */
	uint64_t publish_bytes;      /* or once the log above that image is this large; 0: only by a
	                                rule */
	void (*wake)(void *context); /* called when WEIR_RING_WAKE bytes wait; NULL: no-op */
	void *context;
};

/* A debt: a generation or token that redis must have, since no ring has its keys (U6, U7). */
struct weir_debt {
	uint64_t id;    /* 0: several debts without ids, which only an own publication pays */
	uint64_t stamp; /* as in struct weir_batch; 0 for a generation: each flush waits */
};

/* The stamp of a debt for other nodes' keys, for which no flush waits. */
#define WEIR_NODE_STAMP_OTHERS (UINT64_MAX - 1)

/* The state at the start of a publication (U10, U11). */
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
	struct weir_inline first;          /* if inlined: hashes like each filter of the handle,
	                                      without a read section. It is a view of the first
	                                      filter, whose words may be freed */
	_Atomic bool may_publish;          /* the owner may change it at any time */
	uint64_t publish_ms, publish_bytes;
	struct weir_ring ring;

	/* The insert's lock (U6): a holder adds keys to the set together with their id in `has`. */
	pthread_mutex_t lock;
	uint64_t token;                    /* the open token; 0: none */
	struct weir_has has;               /* ids of the generations and tokens in the set */
	struct weir_debt debts[WEIR_NODE_DEBTS];
	uint32_t n_debts, n_publishing;    /* n_publishing: those in the publication in flight */

	/* Flushes. */
	_Atomic uint64_t flushes_asked, flushes_acked;
	uint64_t flushes_collected;        /* the last flush whose keys are all in batches */

	/* Times in milliseconds. */
	uint64_t now, answered_at, beat_at, retry_at, retry_ms, send_at, lacks_since, called_at;
	uint64_t first_call, give_up_at, due_since, publish_at, lease_at, image_at;
	uint64_t joined_at;                /* publish_ms counts from here; 0: not known yet */
	uint64_t synced_at;                /* the last heartbeat after which manifest, log and head
	                                      succeeded too; answered_at: any answer */
	uint32_t poll_ms, beat_ms;         /* the owner may change them between rounds */
	uint64_t jitter;                   /* state of the random numbers */

	enum weir_node_state state;
	struct weir_version floor;         /* the newest version ever accepted on this machine; 0.0:
	                                      none. The node publishes only above it */
	struct weir_head head;             /* the last answer of touch */
	struct weir_manifest newest;       /* the head's manifest, if its id is head.generation */
	struct weir_manifest joined;       /* the set has all of this generation; id 0: none */
	uint64_t followed;                 /* the joined generation, if all later heads of this
	                                      epoch and era include it (U7); 0: none */
	uint64_t era;                      /* the set's era */
	struct weir_log_id crossing;       /* where the cursor entered an epoch that no head has
	                                      reported; 0-0: nowhere */
	uint64_t new_log_mark;             /* mark of a log start read since the last head;
	                                      UINT64_MAX: two starts; 0: none */
	struct weir_seen seen;             /* for each manifest that the node publishes */
	struct weir_seen lost_cursor;      /* the cursor in the log that redis lost; mark 0: the
	                                      head's image has all of that log */
	struct weir_log_id cursor;         /* the log is applied up to this entry */
	uint64_t tag;                      /* the tag of the entry at cursor; 0: unknown */
	struct weir_log_id suspect;        /* the cursor at the last suspicion (U4) */
	uint64_t suspect_mark;             /* the head's mark then; 0: the log's end was read */
	struct weir_log_id hole;           /* the last missing entry */
	uint64_t missing;                  /* its tag; 0: unknown, or several entries are missing */
	struct weir_log_id gap;            /* the last skipped entry; own entries up to it may be in
	                                      another log; 0-0: none */
	uint64_t again_at;                 /* time when own entries may be sent again for a call */
	struct weir_log_id open_call;      /* the last call that no generation has answered */
	struct weir_version call_version;  /* the version in that call; a newer head answers it */
	uint64_t log_bytes;                /* bytes of log applied above joined.position */
	bool lacks;
	bool doubt;                        /* in doubt (U3) until the head's position is known */
	bool impure;                       /* the next generation is not pure (U10) */
	bool call_due, called;
	bool touch_now;                    /* the head has changed: touch at once */
	bool at_end;                       /* the cursor is at the end of the log */
	bool publish_asked;                /* the owner wants a generation as soon as possible */
	bool reclaim_asked;                /* that request includes publishing the older head's
	                                      image again, above the floor */
	uint64_t refused_id;               /* the generation whose manifest was refused */
	struct weir_version refused;       /* its version; 0.0: none */
	uint64_t refused_at;               /* time to read its manifest again */
	bool other_seed;                   /* it was refused for its seed, key or text steps */
	uint64_t mismatch, mismatch_at;    /* the id that the head names but whose manifest is
	                                      missing, and since when */
	uint64_t unusable_image;           /* the generation whose image could not be used */
	bool no_retry;                     /* retries cannot help for this head's image */
	uint64_t abandoned;                /* the generation that the node gave up (U9) */
	bool publishing, publishing_impure; /* upload in progress; `impure` before it */
	uint64_t record_id;                /* the record being uploaded; 0: none */
	struct weir_record publication;
	unsigned superseded;               /* consecutive superseded publications */
	uint64_t stale_mark, stale_at;     /* stale_at: since when redis refuses this mark and base
	                                      as superseded; 0: it does not */
	struct weir_version stale_base;
	const char *report;                /* text for the next touch; NULL: none */
	bool wrote;                        /* a touch wrote to redis; the owner resets it */
	int publish_error;                 /* error of the last publication; 0: none */
	uint64_t batches, failures;        /* applied batches; failed exchanges */
	uint64_t foreign, given_up, generations; /* entries hashed by another seed; times the node
	                                            gave up (U9); generations it published */
	int error;                         /* the last error that still applies, and its sentence */
	char why[WEIR_SENTENCE_BYTES];
};

/* For reports. Only the node's thread uses it. */
struct weir_node_status {
	enum weir_node_state state;
	bool behind;                     /* the node has not caught up yet */
	bool lacks, owes, token;
	uint64_t lacks_ms;               /* how long the node has lacked something */
	struct weir_log_id cursor, last, hole;
	struct weir_version joined, newest;
	uint64_t ring_bytes, foreign, given_up, generations;
	int error;
	const char *why;
};

/* Return: 0; -ENOTSUP the kind cannot be replicated; an error of weir_measure(). */
int weir__node_make(struct weir_node *n, const struct weir_node_options *options);
void weir__node_free(struct weir_node *n);
/* Call before the first round and insert if the handle's filter is the image of @m. */
void weir__node_start(struct weir_node *n, const struct weir_manifest *m);

/* ---- any thread ---- */

/* Insert a key (U6). Return: as weir_handle_insert(); -ENOBUFS the ring is full and the node may
 * not publish, so the set lacks the key; -ENOTSUP the kind is built once. */
int weir__node_insert(struct weir_node *n, const void *key, size_t len);
int weir__node_insert_u64(struct weir_node *n, uint64_t key);
int weir__node_insert_hash(struct weir_node *n, uint64_t hash);
/* Insert a batch, up to the first key that fails. */
int64_t weir__node_insert_keys(struct weir_node *n, struct weir_keys keys, uint64_t *bitmap);
/* Request a confirmation of all inserts that have returned. Return: a number. Once
 * weir__node_acknowledged() reaches it, the inserts are in the log or in a generation. */
uint64_t weir__node_flush(struct weir_node *n);
uint64_t weir__node_acknowledged(struct weir_node *n);

/* ---- the node's thread ---- */

/* Run one round. Return: the time of the next call. */
uint64_t weir__node_round(struct weir_node *n, uint64_t now_ms);
/* Merge a filter into the set, which the node then publishes. Return: as weir_merge(); -ENOBUFS the
 * node may not publish. */
int weir__node_merge(struct weir_node *n, const struct weir_filter *more);
/* Start a record (U11): note the log's end. The caller reads its record afterwards.
 * @kept: the generation to roll back to, whose position @r receives; NULL: a record.
 * Return: 0; -EAGAIN the node has not read the head; an error of the store. */
int weir__node_record(struct weir_node *n, struct weir_record *r, const struct weir_manifest *kept);
/* Publish the record as a higher era, which this node joins like any other generation.
 * @f: the record's filter; NULL: the image of @kept.
 * Return: 0; -EINPROGRESS call again soon; -EKEYREJECTED @f has another seed, key or text steps; or
 *   as the store's publish(). */
int weir__node_publish_record(struct weir_node *n, struct weir_record *r,
                              const struct weir_filter *f);
/* Publish the newest generation again with a new date. Nodes that have it need no image.
 * Return: 0; -EAGAIN this node has not joined it; -EEXIST another head came; a store's error. */
int weir__node_republish(struct weir_node *n);
void weir__node_status(struct weir_node *n, struct weir_node_status *out);

/* ---- the files of a node; each calls only those before it ---- */

/* insert.c */
static inline bool weir__manifest_has(const struct weir_manifest *m, uint64_t id)
{
	return id && (m->id == id || weir__has(&m->has, id));
}
/* Return: true if @m has its keys only together with the log after its position (U11). */
static inline bool weir__needs_log(const struct weir_node *n, const struct weir_manifest *m)
{
	return m->source == WEIR_SOURCE_ROLLBACK && !n->images_only;
}
/* The caller holds the lock. */
void weir__debt_add(struct weir_node *n, uint64_t id, uint64_t stamp);
/* The published @generation includes the noted debts: replace them by one debt for @generation. */
void weir__debts_paid(struct weir_node *n, uint64_t generation);
/* Before @m is joined (U7): give the id of @m to each debt that @m includes by descent but does not
 * list (is_in() in insert.c). */
void weir__debts_rename(struct weir_node *n, const struct weir_manifest *m);
/* After @m is joined (U7): drop what @m covers from the ring. */
void weir__debts_release(struct weir_node *n, const struct weir_manifest *m);
/* Return: the lowest stamp of the debts that the head lacks; UINT64_MAX: no debt. */
uint64_t weir__debts_lowest_stamp(struct weir_node *n);

/* Before @m is joined (U7): add a debt for other nodes' inserts that redis may have lost, since
 * those nodes may have ended. */
void weir__debts_add_others(struct weir_node *n, const struct weir_manifest *m);
/* Drop the debts for other nodes' keys after a swap, since the higher era decides which stay. */
void weir__debts_drop_others(struct weir_node *n);

/* Return: true if the head is older than a generation accepted on this machine (U5). The node uses
 *   its position but not its image, which lacks keys and may have removed ones. */
static inline bool weir__node_head_is_old(const struct weir_node *n)
{
	return n->head.generation && n->newest.id == n->head.generation &&
	       weir__version_compare(n->newest.version, n->floor) < 0;
}

/* Return: true if the older head is in the floor's era, so that no key was removed since. If its
 *   owner asks for it, the node may publish that image again, above the floor. */
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
/* The log is not the one that the node read (U4): doubt, and read again. If this repeats at the
 * same cursor, jump to @to, and lack something until a position above the log's current end. */
void weir__node_suspect(struct weir_node *n, struct weir_log_id to, uint64_t tag);
/* The cursor skips the entries after @after up to @upto (U4). The ring queues own entries among
 * them again, since their ids may be another log's. */
void weir__node_gap(struct weir_node *n, struct weir_log_id after, struct weir_log_id upto);
void weir__node_jump(struct weir_node *n, struct weir_log_id to, uint64_t tag);
void weir__node_lack(struct weir_node *n, struct weir_log_id hole);
void weir__node_lack_nothing(struct weir_node *n);
/* Note an error for reports. Return: @err. */
int weir__node_note_error(struct weir_node *n, int err);
uint64_t weir__node_random(struct weir_node *n, uint64_t below);

/* log.c */
int weir__node_read(struct weir_node *n);
/* Apply the log after @m's position, up to the cursor, to @next (U5).
 * @whole: receives true if all of that log was read. */
int weir__node_replay(struct weir_node *n, const struct weir_manifest *m, struct weir_reload *next,
                      bool *whole);
/* Insert hashes into @next, or into the handle if @next is NULL. Return: as weir_insert_keys(). */
int weir__node_apply(struct weir_node *n, const unsigned char *hashes, size_t count,
                     struct weir_reload *next);

/* join.c */
/* Read the head's manifest. In doubt, also move the cursor to the head's position (U3). */
int weir__node_manifest(struct weir_node *n);
/* Join the head's generation, or fetch its image (U5). */
int weir__node_join_head(struct weir_node *n);
void weir__node_joined(struct weir_node *n, const struct weir_manifest *m);

/* publish.c */
int weir__node_publish(struct weir_node *n);

#endif
