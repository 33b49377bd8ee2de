/* SPDX-License-Identifier: MIT
 * A node: a handle that is kept equal to those of the other nodes, by the rules U1 to U12 of
 * tests/model/UNION.md. One thread drives it: it calls weir__node_round() when that asked to be
 * called, or sooner. Other threads insert and flush. A node does nothing but through its store and
 * its handle, and is told the time. */
#ifndef WEIR_REPLICA_NODE_H
#define WEIR_REPLICA_NODE_H

#include <pthread.h>
#include <weir/handle.h>
#include <weir/inline.h>
#include <weir/reload.h>
#include "ring.h"
#include "store.h"

enum {
	WEIR_NODE_BEAT_MS = 1000,     /* between two heartbeats, and after redis was full, */
	WEIR_NODE_SOON_MS = 250,      /* or between two where there are few nodes */
	WEIR_NODE_POLL_MS = 20,       /* between two readings, or sendings of less than 64 KB */
	WEIR_NODE_CALL_MS = 5000,     /* until a call is repeated, */
	WEIR_NODE_GIVE_UP_MS = 10000, /* or nobody will answer it (U9); without the lease */
	WEIR_NODE_JITTER_MS = 300,    /* before a publication, at most */
	WEIR_NODE_LEASE_MS = 3000,
	WEIR_NODE_LEASE_TRY_MS = 100, /* until it is asked for again */
	WEIR_NODE_LEASE_LONGEST_MS = 600000, /* that another uploads; it may be anybody's */
	WEIR_NODE_RETRY_MS = 20,      /* the first wait for redis, */
	WEIR_NODE_RETRY_MOST_MS = 400, /* and the longest */
	WEIR_NODE_SENT = 16,          /* batches in one touch, and entries in one reading */
	WEIR_NODE_ENTRY = 72,         /* bytes of redis's that an entry takes, but for its hashes */
	WEIR_NODE_RELIED = 32,        /* ids, before some become one debt without a name */
	WEIR_NODE_OUTRUN = 8,         /* publications in a row that are no progress any more */
};

enum weir_node_state {
	WEIR_NODE_OFFLINE,
	WEIR_NODE_CATCHING_UP,
	WEIR_NODE_FOLLOWING,
	WEIR_NODE_PUBLISHING,
};

struct weir_node_options {
	const struct weir_store *store;
	struct weir_handle *handle;  /* has its first filter, and no reload but the node's */
	const char *set;
	uint64_t id;                 /* random for each start */
	uint64_t max_pending_bytes;  /* of the ring */
	bool may_publish;            /* not: a signed set, and no secret key here */
	uint32_t poll_ms;            /* between two readings; 0: WEIR_NODE_POLL_MS */
	uint64_t publish_ms;         /* publish so long after the last generation, if the log has
	                                more; 0: only where a rule asks for it */
	uint64_t publish_bytes;      /* or when so much of the log is in no image; 0: likewise */
	void (*wake)(void *context); /* WEIR_RING_WAKE bytes wait; NULL: nothing */
	void *context;
};

/* What redis must have, since the node keeps it in no ring: a generation or a token (U6, U7). */
struct weir_debt {
	uint64_t id;    /* 0: several, whose names were too many: only its own publication pays */
	uint64_t stamp; /* of a token as a batch's; of a generation 0: each flush waits for it */
};

/* The stamp of keys of other nodes: no flush waits for them. */
#define WEIR_NODE_OTHERS (UINT64_MAX - 1)

/* What a publication noted when it began (U10, U11). */
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
	struct weir_inline first;          /* if inlined: hashes as each filter of the handle
	                                      does, without a section. It is the first filter's
	                                      view, whose words may be gone */
	_Atomic bool may_publish;          /* the owner may change it at any time */
	uint64_t publish_ms, publish_bytes;
	struct weir_ring ring;

	/* the insert's lock (U6): the set has what is inserted under it, and has says so */
	pthread_mutex_t lock;
	uint64_t token;                    /* the open one; 0: none is */
	struct weir_has has;               /* what is in the set */
	struct weir_debt relied[WEIR_NODE_RELIED];
	uint32_t n_relied, noted;          /* noted: of those, by the publication under way */

	/* flushes */
	_Atomic uint64_t asked, acknowledged;
	uint64_t collected;                /* the last flush whose keys are all in batches */

	/* time, in milliseconds */
	uint64_t now, met_at, beat_at, retry_at, retry_ms, send_at, lacks_since, called_at;
	uint64_t first_call, give_up_at, due_since, publish_at, lease_at, image_at;
	uint64_t joined_at;                /* publish_ms counts from there; 0: not known yet */
	uint64_t well_at;                  /* the last heartbeat behind which reading went well
	                                      too: that of met_at may be answered alone */
	uint32_t poll_ms, beat_ms;         /* the owner may change them between rounds */
	uint64_t jitter;                   /* state of its random numbers */

	enum weir_node_state state;
	struct weir_version floor;         /* the newest that was ever taken here; 0.0: whatever
	                                      redis has will do. What is published is above it */
	struct weir_head head;             /* what touch answered last */
	struct weir_manifest newest;       /* the head's, if its id is head.generation */
	struct weir_manifest joined;       /* of which the set has everything; id 0: none */
	uint64_t followed;                 /* U7: joined, and each later head of this epoch and era
	                                      has it, whether it says so or not; 0: none */
	uint64_t era;                      /* of the set */
	struct weir_log_id left;           /* where the cursor left its epoch, and */
	uint64_t began;                    /* the mark of a log that began anew, UINT64_MAX: two
	                                      did; both since the head was read, 0: none */
	struct weir_seen seen;             /* what each of its generations says */
	struct weir_seen had;              /* what this node had applied when redis lost the log;
	                                      mark 0: the head's image has all of it */
	struct weir_log_id cursor;         /* the log was applied up to there */
	uint64_t tag;                      /* of the entry there; 0: not known */
	struct weir_log_id suspect;        /* where the cursor was when it doubted last, */
	uint64_t suspect_mark;             /* in that epoch; 0: all was read since */
	struct weir_log_id hole;           /* the last entry that is missing, */
	uint64_t missing;                  /* and its tag, if that is all; 0: not known, or more */
	struct weir_log_id gap;            /* the last entry that was passed over: own ones up to
	                                      there may be of another log; 0-0: none */
	uint64_t again_at;                 /* when own entries may be sent again for a call */
	struct weir_log_id answer;         /* the last call that no generation has answered, */
	struct weir_version named;         /* and the version that it names: a newer head answers */
	uint64_t log_bytes;                /* applied, and above the position of joined */
	bool lacks;
	bool doubt;                        /* U3, until the head's position is known */
	bool extra;                        /* the next generation is not pure (U10) */
	bool call_due, called;             /* U8 */
	bool look;                         /* the head has news: touch at once */
	bool at_end;                       /* of the log */
	bool wanted;                       /* the owner asks for a generation, as soon as it can */
	bool reclaims;                     /* it asks for one above the floor, of an older head */
	uint64_t refused_id;               /* whose manifest is of no use here, */
	struct weir_version refused;       /* its version; 0.0: none is */
	uint64_t refused_at;               /* when it is asked for again */
	bool other_seed;                   /* why it is */
	uint64_t astray, astray_at;        /* what the head names beside another manifest, since */
	uint64_t unread;                   /* the generation whose image is of no use here */
	bool hopeless;                     /* and will be as long as it is the head's */
	uint64_t abandoned;                /* the one that is gone without it (U9) */
	bool publishing, publishing_extra; /* of this node's set; the set was not pure */
	uint64_t recording;                /* the record whose image is being uploaded; 0: none */
	struct weir_record publication;
	unsigned outrun;                   /* its last publications that others came before, */
	uint64_t stale_mark, stale_at;     /* as redis says; the head that it said so of first, */
	struct weir_version stale_base;    /* and when; 0: it did not */
	const char *report;                /* that the next touch gives to the others; NULL: none */
	bool wrote;                        /* something: set by a touch, cleared by the owner */
	int ended;                         /* how its last publication did; 0: not yet, or well */
	uint64_t batches, failures;        /* applied; exchanges that failed */
	uint64_t foreign, given_up, generations; /* entries by another seed; U9; published */
	int error;                         /* the last that is not over, and its sentence */
	char why[WEIR_SENTENCE_BYTES];
};

/* For reports, by the node's thread. */
struct weir_node_status {
	enum weir_node_state state;
	bool behind;                     /* something is still to come */
	bool lacks, owes, token;
	uint64_t lacks_ms;               /* how long */
	struct weir_log_id cursor, last, hole;
	struct weir_version joined, newest;
	uint64_t ring_bytes, foreign, given_up, generations;
	int error;
	const char *why;
};

/* Return: 0; -ENOTSUP a kind that cannot be replicated; as weir_measure(). */
int weir__node_make(struct weir_node *n, const struct weir_node_options *options);
void weir__node_free(struct weir_node *n);
/* Before the first round and insert: the handle's filter is the image of this generation. */
void weir__node_start(struct weir_node *n, const struct weir_manifest *m);

/* ---- any thread ---- */

/* U6. Return: as weir_handle_insert(); -ENOBUFS the ring is full and the node may not publish, so
 *   the key is not in the set; -ENOTSUP the kind is built once. */
int weir__node_insert(struct weir_node *n, const void *key, size_t len);
int weir__node_insert_u64(struct weir_node *n, uint64_t key);
int weir__node_insert_hash(struct weir_node *n, uint64_t hash);
/* Of a batch: up to the first that is refused. */
int64_t weir__node_insert_keys(struct weir_node *n, struct weir_keys keys, uint64_t *bitmap);
/* Ask for a confirmation of all inserts that have returned. Return: its number: they are in the
 * log, or in a generation, once weir__node_acknowledged() is not below it. */
uint64_t weir__node_flush(struct weir_node *n);
uint64_t weir__node_acknowledged(struct weir_node *n);

/* ---- the node's thread ---- */

/* Do what is due. Return: when to be called again. */
uint64_t weir__node_round(struct weir_node *n, uint64_t now_ms);
/* Merge a filter into the set, which is published then. Return: as weir_merge(); -ENOBUFS the node
 *   may not publish. */
int weir__node_merge(struct weir_node *n, const struct weir_filter *more);
/* U11. Note the log's end: read the record after that.
 * @kept: the generation to return to, whose position it has then; NULL: a record.
 * Return: 0; -EAGAIN the node has not seen the head; the store's. */
int weir__node_record(struct weir_node *n, struct weir_record *r, const struct weir_manifest *kept);
/* Publish it as a higher era, which this node joins as all others do.
 * @f: of the record; NULL: the image of @kept.
 * Return: 0; -EINPROGRESS again, soon; -EKEYREJECTED it hashes otherwise; or as the store's
 *   publish(). */
int weir__node_publish_record(struct weir_node *n, struct weir_record *r,
                              const struct weir_filter *f);
/* Publish the newest generation once more, under a new date: who has it follows without the image.
 * Return: 0; -EAGAIN this node has not joined it; -EEXIST another came; or as above. */
int weir__node_date(struct weir_node *n);
void weir__node_status(struct weir_node *n, struct weir_node_status *out);

/* ---- of the parts of a node: each file calls those before it ---- */

/* insert.c */
static inline bool weir__manifest_has(const struct weir_manifest *m, uint64_t id)
{
	return id && (m->id == id || weir__has(&m->has, id));
}
/* A generation that was returned to has what it says together with the log behind it. */
static inline bool weir__needs_log(const struct weir_node *n, const struct weir_manifest *m)
{
	return m->source == WEIR_SOURCE_ROLLBACK && !n->images_only;
}
/* Under the lock. */
void weir__debt_add(struct weir_node *n, uint64_t id, uint64_t stamp);
/* What was noted is in this generation. */
void weir__debts_paid(struct weir_node *n, uint64_t generation);
/* U7, before @m is joined: what it has without saying so goes by its name from now on. */
void weir__debts_rename(struct weir_node *n, const struct weir_manifest *m);
/* U7, after @m was joined. */
void weir__debts_release(struct weir_node *n, const struct weir_manifest *m);
/* The lowest stamp of those that are owed; UINT64_MAX: nothing is. */
uint64_t weir__debts_stamp(struct weir_node *n);

/* U7, before @m is joined: redis may have lost what other nodes inserted, and they may be gone. */
void weir__debts_of_others(struct weir_node *n, const struct weir_manifest *m);
/* A higher era has taken the set's place: it says what keys of other nodes are in it. */
void weir__debts_drop_others(struct weir_node *n);

/* U5: redis has a generation again that is older than one that was taken here. Its position is of
 * use, its image is not: the set has more, and what was removed since stays so. */
static inline bool weir__node_head_is_old(const struct weir_node *n)
{
	return n->head.generation && n->newest.id == n->head.generation &&
	       weir__version_compare(n->newest.version, n->floor) < 0;
}

/* Redis was put back to it within the era: nothing was removed since, so its image may be published
 * again, above the floor, if the owner asks for that. */
static inline bool weir__node_can_reclaim(const struct weir_node *n)
{
	return weir__node_head_is_old(n) && n->newest.version.era == n->floor.era;
}

/* The head's version is what the manifest says, which is checked. Nobody publishes above a number
 * that was written there alone: a signature would make it last. */
static inline bool weir__node_knows_head(const struct weir_node *n)
{
	return n->newest.id == n->head.generation &&
	       weir__version_compare(n->newest.version, n->head.version) == 0;
}

/* touch.c */
int weir__node_touch(struct weir_node *n, bool give_up);
void weir__node_doubt(struct weir_node *n);
/* U4: the log is another than the one that was read. Where to read it anew leads here again: to go
 * on at that entry, and lack what is before it. */
void weir__node_suspect(struct weir_node *n, struct weir_log_id to, uint64_t tag);
/* U4: the entries between are passed over. Own ones among them may be another log's. */
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
 * @whole: receives whether all of that is there. */
int weir__node_replay(struct weir_node *n, const struct weir_manifest *m, struct weir_reload *next,
                      bool *whole);
/* Insert hashes, into @next alone unless that is NULL. Return: as weir_insert_keys(). */
int weir__node_apply(struct weir_node *n, const unsigned char *hashes, size_t count,
                     struct weir_reload *next);

/* join.c */
/* The head's manifest, and where doubt reads on. */
int weir__node_manifest(struct weir_node *n);
/* U5. */
int weir__node_look(struct weir_node *n);
void weir__node_joined(struct weir_node *n, const struct weir_manifest *m);

/* publish.c */
int weir__node_publish(struct weir_node *n);

#endif
