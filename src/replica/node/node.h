/* SPDX-License-Identifier: MIT
 * A node keeps its handle equal to those of the other nodes, by the rules U1 to U12 of
 * tests/model/UNION.md. One thread drives it: it calls weir__node_round() at the time that the last
 * call returned, or sooner. Other threads insert and flush. A node acts only through its store and
 * its handle, and its caller tells it the time. */
#ifndef WEIR_REPLICA_NODE_H
#define WEIR_REPLICA_NODE_H

#include <pthread.h>
#include <weir/handle.h>
#include <weir/inline.h>
#include <weir/reload.h>
#include "ring.h"
#include "store.h"

enum {
	WEIR_NODE_BEAT_MS = 1000,     /* between two heartbeats at most; after redis was full */
	WEIR_NODE_SOON_MS = 250,      /* between two heartbeats of a small set */
	WEIR_NODE_POLL_MS = 20,       /* between two readings, or sendings of less than 64 KB */
	WEIR_NODE_CALL_MS = 5000,     /* until the node repeats a call (U8) */
	WEIR_NODE_GIVE_UP_MS = 10000, /* without an answer until the node gives up (U9), or
	                                 publishes without the lease */
	WEIR_NODE_JITTER_MS = 300,    /* before a publication, at most */
	WEIR_NODE_LEASE_MS = 3000,
	WEIR_NODE_LEASE_TRY_MS = 100, /* until the node asks for the lease again */
	WEIR_NODE_LEASE_LONGEST_MS = 600000, /* longest wait for another node's upload */
	WEIR_NODE_RETRY_MS = 20,      /* the first wait after an exchange with redis failed, */
	WEIR_NODE_RETRY_MOST_MS = 400, /* and the longest */
	WEIR_NODE_SENT = 16,          /* batches in one touch, and entries in one reading */
	WEIR_NODE_ENTRY = 72,         /* bytes that redis needs for an entry besides its hashes */
	WEIR_NODE_RELIED = 32,        /* debts; further ones share the last place, without an id */
	WEIR_NODE_OUTRUN = 8,         /* publications outrun in a row that mean no progress */
};

enum weir_node_state {
	WEIR_NODE_OFFLINE,
	WEIR_NODE_CATCHING_UP,
	WEIR_NODE_FOLLOWING,
	WEIR_NODE_PUBLISHING,
};

struct weir_node_options {
	const struct weir_store *store;
	struct weir_handle *handle;  /* has a filter; only the node reloads it */
	const char *set;
	uint64_t id;                 /* random for each start */
	uint64_t max_pending_bytes;  /* of the ring */
	bool may_publish;            /* false for a signed set without the secret key */
	uint32_t poll_ms;            /* between two readings; 0: WEIR_NODE_POLL_MS */
	uint64_t publish_ms;         /* publish this long after the last generation, if the log has
	                                more; 0: only if a rule asks */
	uint64_t publish_bytes;      /* or once this much of the log is in no image; 0: only if a
	                                rule asks */
	void (*wake)(void *context); /* WEIR_RING_WAKE bytes wait; NULL: nothing */
	void *context;
};

/* A debt: a generation or token that redis must have, since no ring keeps its keys (U6, U7). */
struct weir_debt {
	uint64_t id;    /* 0: several, without ids: only the node's own publication pays them */
	uint64_t stamp; /* as a batch's for a token; 0 for a generation: each flush waits for it */
};

/* The stamp of keys of other nodes: no flush waits for them. */
#define WEIR_NODE_OTHERS (UINT64_MAX - 1)

/* The state that a publication noted when it began (U10, U11). */
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

	/* the insert's lock (U6): under it, keys enter the set together with their id in `has` */
	pthread_mutex_t lock;
	uint64_t token;                    /* the open one; 0: none */
	struct weir_has has;               /* ids of the generations and tokens in the set */
	struct weir_debt relied[WEIR_NODE_RELIED];
	uint32_t n_relied, noted;          /* noted: those in the publication under way */

	/* flushes */
	_Atomic uint64_t asked, acknowledged;
	uint64_t collected;                /* the last flush whose keys are all in batches */

	/* time, in milliseconds */
	uint64_t now, met_at, beat_at, retry_at, retry_ms, send_at, lacks_since, called_at;
	uint64_t first_call, give_up_at, due_since, publish_at, lease_at, image_at;
	uint64_t joined_at;                /* publish_ms counts from here; 0: not known yet */
	uint64_t well_at;                  /* the last heartbeat after which manifest, log and head
	                                      went well too; met_at counts any answer */
	uint32_t poll_ms, beat_ms;         /* the owner may change them between rounds */
	uint64_t jitter;                   /* state of its random numbers */

	enum weir_node_state state;
	struct weir_version floor;         /* the newest version that was ever taken here; 0.0: take
	                                      any. This node publishes only above it */
	struct weir_head head;             /* the last answer to touch */
	struct weir_manifest newest;       /* the head's manifest, if its id is head.generation */
	struct weir_manifest joined;       /* the set has all of this generation; id 0: none */
	uint64_t followed;                 /* U7: the joined generation, if all later heads of this
	                                      epoch and era have it, named or not; 0: none */
	uint64_t era;                      /* of the set */
	struct weir_log_id left;           /* since the head was read: where the cursor left its
	                                      epoch; 0-0: it did not */
	uint64_t began;                    /* since then: the mark of a log that began anew;
	                                      UINT64_MAX: two began; 0: none */
	struct weir_seen seen;             /* the `seen` of each generation that it publishes */
	struct weir_seen had;              /* how far this node had applied the log that redis lost;
	                                      mark 0: the head's image has all of it */
	struct weir_log_id cursor;         /* the log is applied up to here */
	uint64_t tag;                      /* of the entry there; 0: not known */
	struct weir_log_id suspect;        /* the cursor at the last suspicion (U4), */
	uint64_t suspect_mark;             /* and the mark; 0: the log's end was read since */
	struct weir_log_id hole;           /* the last missing entry, */
	uint64_t missing;                  /* and its tag; 0: not known, or more are missing */
	struct weir_log_id gap;            /* the last entry passed over: own ones up to here may be
	                                      another log's; 0-0: none */
	uint64_t again_at;                 /* when the node may send own entries again for a call */
	struct weir_log_id answer;         /* the last call that no generation has answered, */
	struct weir_version named;         /* and the version that it names: a newer head answers */
	uint64_t log_bytes;                /* bytes of log applied above the position of joined */
	bool lacks;
	bool doubt;                        /* U3, until the head's position is known */
	bool extra;                        /* the next generation is not pure (U10) */
	bool call_due, called;             /* U8 */
	bool look;                         /* the head has news: touch at once */
	bool at_end;                       /* the cursor is at the log's end */
	bool wanted;                       /* the owner asks for a generation as soon as possible */
	bool reclaims;                     /* it asks to publish the older head's image again, above
	                                      the floor */
	uint64_t refused_id;               /* the generation whose manifest this node refused, */
	struct weir_version refused;       /* its version; 0.0: none, */
	uint64_t refused_at;               /* and when to ask for it again */
	bool other_seed;                   /* refused for another seed, key or normalisation */
	uint64_t astray, astray_at;        /* the id that the head names without its manifest, and
	                                      since when */
	uint64_t unread;                   /* the generation whose image this node could not use */
	bool hopeless;                     /* no retry helps while it is the head's */
	uint64_t abandoned;                /* the generation that was given up (U9) */
	bool publishing, publishing_extra; /* its set is being published; `extra` before */
	uint64_t recording;                /* the record whose image is being uploaded; 0: none */
	struct weir_record publication;
	unsigned outrun;                   /* its last publications that others came before */
	uint64_t stale_mark, stale_at;     /* stale_at: since redis says that another came first; */
	struct weir_version stale_base;    /* 0: no; the first head that it said so of */
	const char *report;                /* the next touch sends it; NULL: none */
	bool wrote;                        /* a touch wrote something; the owner clears it */
	int ended;                         /* result of its last publication; 0: not yet, or well */
	uint64_t batches, failures;        /* batches applied; failed exchanges */
	uint64_t foreign, given_up, generations; /* entries by another seed; times it gave up (U9);
	                                            generations it published */
	int error;                         /* the last error that still holds, and its sentence */
	char why[WEIR_SENTENCE_BYTES];
};

/* For reports, by the node's thread. */
struct weir_node_status {
	enum weir_node_state state;
	bool behind;                     /* it has not caught up yet */
	bool lacks, owes, token;
	uint64_t lacks_ms;               /* for how long it has lacked something */
	struct weir_log_id cursor, last, hole;
	struct weir_version joined, newest;
	uint64_t ring_bytes, foreign, given_up, generations;
	int error;
	const char *why;
};

/* Return: 0; -ENOTSUP a kind that cannot be replicated; as weir_measure(). */
int weir__node_make(struct weir_node *n, const struct weir_node_options *options);
void weir__node_free(struct weir_node *n);
/* Call before the first round and insert if the handle's filter is this generation's image. */
void weir__node_start(struct weir_node *n, const struct weir_manifest *m);

/* ---- any thread ---- */

/* U6. Return: as weir_handle_insert(); -ENOBUFS the ring is full and the node may not publish, so
 *   the key is not in the set; -ENOTSUP the kind is built once. */
int weir__node_insert(struct weir_node *n, const void *key, size_t len);
int weir__node_insert_u64(struct weir_node *n, uint64_t key);
int weir__node_insert_hash(struct weir_node *n, uint64_t hash);
/* Insert a batch, up to the first key that is refused. */
int64_t weir__node_insert_keys(struct weir_node *n, struct weir_keys keys, uint64_t *bitmap);
/* Ask for a confirmation of all inserts that have returned.
 * Return: a number. Those inserts are in the log or in a generation once weir__node_acknowledged()
 *   has reached it. */
uint64_t weir__node_flush(struct weir_node *n);
uint64_t weir__node_acknowledged(struct weir_node *n);

/* ---- the node's thread ---- */

/* Do what is due. Return: when to call this again. */
uint64_t weir__node_round(struct weir_node *n, uint64_t now_ms);
/* Merge a filter into the set; the node then publishes the set.
 * Return: as weir_merge(); -ENOBUFS the node may not publish. */
int weir__node_merge(struct weir_node *n, const struct weir_filter *more);
/* U11. Note the log's end. The caller reads its record after this.
 * @kept: the generation to return to, whose position @r takes; NULL: a record.
 * Return: 0; -EAGAIN the node has not seen the head; the store's. */
int weir__node_record(struct weir_node *n, struct weir_record *r, const struct weir_manifest *kept);
/* Publish the record as a higher era, which this node joins like all others.
 * @f: the record's filter; NULL: the image of @kept.
 * Return: 0; -EINPROGRESS call again soon; -EKEYREJECTED @f has another seed, key or normalisation;
 *   or as the store's publish(). */
int weir__node_publish_record(struct weir_node *n, struct weir_record *r,
                              const struct weir_filter *f);
/* Publish the newest generation again under a new date. Nodes that have it need no image.
 * Return: 0; -EAGAIN this node has not joined it; -EEXIST another came; or as above. */
int weir__node_date(struct weir_node *n);
void weir__node_status(struct weir_node *n, struct weir_node_status *out);

/* ---- the parts of a node: each file calls those before it ---- */

/* insert.c */
static inline bool weir__manifest_has(const struct weir_manifest *m, uint64_t id)
{
	return id && (m->id == id || weir__has(&m->has, id));
}
/* Has @m the keys that it claims only together with the log after its position (U11)? */
static inline bool weir__needs_log(const struct weir_node *n, const struct weir_manifest *m)
{
	return m->source == WEIR_SOURCE_ROLLBACK && !n->images_only;
}
/* The caller holds the lock. */
void weir__debt_add(struct weir_node *n, uint64_t id, uint64_t stamp);
/* The published @generation has the debts that it noted: the node relies on it instead. */
void weir__debts_paid(struct weir_node *n, uint64_t generation);
/* U7, before @m is joined: give the id of @m to each debt that @m has by descent but does not list
 * (is_in() in insert.c). */
void weir__debts_rename(struct weir_node *n, const struct weir_manifest *m);
/* U7, after @m was joined. */
void weir__debts_release(struct weir_node *n, const struct weir_manifest *m);
/* Return: the lowest stamp of the debts that the head lacks; UINT64_MAX: the node owes nothing. */
uint64_t weir__debts_stamp(struct weir_node *n);

/* U7, before @m is joined: owe the inserts of other nodes that redis may have lost, since those
 * nodes may be gone. */
void weir__debts_of_others(struct weir_node *n, const struct weir_manifest *m);
/* Drop those debts after a swap: the higher era decides which keys of other nodes stay. */
void weir__debts_drop_others(struct weir_node *n);

/* U5: redis is back at a generation older than one that was taken here. The node uses its position
 * but not its image: the set has more, and keys removed since must stay removed. */
static inline bool weir__node_head_is_old(const struct weir_node *n)
{
	return n->head.generation && n->newest.id == n->head.generation &&
	       weir__version_compare(n->newest.version, n->floor) < 0;
}

/* The older head is of the floor's era, so no key was removed since. If the owner asks, the node
 * may publish that image again, above the floor. */
static inline bool weir__node_can_reclaim(const struct weir_node *n)
{
	return weir__node_head_is_old(n) && n->newest.version.era == n->floor.era;
}

/* Is the head's version that of its checked manifest? A node never publishes above a number that
 * only the head claims: a signature would make it last. */
static inline bool weir__node_knows_head(const struct weir_node *n)
{
	return n->newest.id == n->head.generation &&
	       weir__version_compare(n->newest.version, n->head.version) == 0;
}

/* touch.c */
int weir__node_touch(struct weir_node *n, bool give_up);
void weir__node_doubt(struct weir_node *n);
/* U4: this is not the log that the node read: doubt, and read it anew. If that leads here again, go
 * on at @to, and lack something until a position beyond the log's present end. */
void weir__node_suspect(struct weir_node *n, struct weir_log_id to, uint64_t tag);
/* U4: the cursor passes over the entries after @after up to @upto. The ring queues own ones among
 * them again, since they may belong to another log. */
void weir__node_gap(struct weir_node *n, struct weir_log_id after, struct weir_log_id upto);
void weir__node_jump(struct weir_node *n, struct weir_log_id to, uint64_t tag);
void weir__node_lack(struct weir_node *n, struct weir_log_id hole);
void weir__node_whole(struct weir_node *n);
/* Note an error for reports. Return: @err. */
int weir__node_says(struct weir_node *n, int err);
uint64_t weir__node_random(struct weir_node *n, uint64_t below);

/* log.c */
int weir__node_read(struct weir_node *n);
/* U5: apply the log after @m's position, up to the cursor, to @next.
 * @whole: receives whether the node read all of it. */
int weir__node_replay(struct weir_node *n, const struct weir_manifest *m, struct weir_reload *next,
                      bool *whole);
/* Insert hashes into @next; NULL: into the handle. Return: as weir_insert_keys(). */
int weir__node_apply(struct weir_node *n, const unsigned char *hashes, size_t count,
                     struct weir_reload *next);

/* join.c */
/* Read the head's manifest, and settle where a node in doubt reads on (U3). */
int weir__node_manifest(struct weir_node *n);
/* U5. */
int weir__node_look(struct weir_node *n);
void weir__node_joined(struct weir_node *n, const struct weir_manifest *m);

/* publish.c */
int weir__node_publish(struct weir_node *n);

#endif
