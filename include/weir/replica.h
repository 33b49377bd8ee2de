/* SPDX-License-Identifier: MIT
 * A replica keeps one set equal on many machines. Each node (a process that joins the set) has a
 * handle of its own, and redis (7.0 or later) carries inserts from node to node. It is a separate
 * library: link with -lweir-redis (pkg-config weir-redis).
 *
 *     struct weir_replica_options o = WEIR_REPLICA_OPTIONS_INIT;
 *     o.set = "seen";
 *     o.url = "redis://10.0.0.5";
 *     o.params = &params;                               of a new set, if redis has none
 *     weir_replica_open(&replica, &o);                  fetches the set as it is now
 *     set = weir_replica_handle(replica);
 *     weir_handle_contains(set, key, len)               any thread: local, never waits
 *     weir_replica_insert(replica, key, len, WEIR_REPLICA_SOON)
 *                                                       any thread: soon on all nodes
 *     weir_replica_insert(replica, key, len, WEIR_REPLICA_CONFIRMED)
 *                                                       when it returns, redis has the key
 *     weir_replica_close(replica);
 *
 * Insert through weir_replica_insert(): an insert that bypasses it stays on this node, until the
 * set is replaced.
 *
 * How it works. Redis has immutable images of the set, the generations, and one log of inserted
 * hashes. Generations are numbered within eras; within an era the set only grows. A thread of the
 * library sends this node's inserts, applies those of other nodes, and keeps each insert that it
 * sent until a generation contains it. If redis may have lost data, the thread merges the newest
 * generation into this node's set, and publishes the set if redis may lack keys of it. A second
 * thread moves images. Lookups never wait.
 *
 * Failures. An insert has returned, and then a failure happens. Do all nodes get the key in the
 * end? The table assumes that redis is not tampered with (see trusted_keys).
 *
 *                                 | insert    | confirmed,   | confirmed,    | confirmed by
 *                                 |           | appendfsync  | appendfsync   | replicas
 *                                 |           | everysec     | always        |
 *     this node dies              | no (a)    | yes          | yes           | yes
 *     redis restarts              | yes (b)   | yes (b)      | yes           | yes
 *     its machine loses power     | yes (b)   | yes (b)      | yes           | yes (b)
 *     a replica is promoted       | yes (b)   | yes (b)      | yes (b)       | yes
 *     the network is cut, for     | yes (b)   | yes (b)      | yes (b)       | yes (b)
 *       any time; FLUSHALL        |           |              |               |
 *     redis dies, and this node   | no        | not the last | yes           | if a replica
 *       before it could resend    |           | 1 to 2 s     |               |   is promoted
 *     this node dies, then a      | no        | no           | no            | yes (c)
 *       replica is promoted       |           |              |               |
 *   (a) inserts of the last 20 ms or so are lost, since redis does not have them yet. If
 *     max_pending_bytes were used up, inserts that no generation contains are lost.
 *   (b) this node still has the key, and sends or publishes it again. If max_pending_bytes are used
 *     up, it publishes and loses nothing. Only a node that may not publish (a signed set, no
 *     secret_key) then refuses: its insert returns -ENOBUFS, and the key is not in its set.
 *   (c) if confirm_replicas is WEIR_REPLICAS_ALL, and the promoted replica was not away for longer
 *     than replica_grace_ms.
 *
 * Kinds. Inserts into blocked, classic, growing and split filters are replicated one by one, and an
 * insert may be applied twice. Fuse and layered filters are replicated by images alone. All other
 * kinds are refused.
 *
 * Removing. Only a new era removes keys: weir_replica_publish_from(), weir_replica_rollback(). If
 * redis loses that generation, the keys may come back until the next new era.
 *
 * Eviction. If redis has a maxmemory, it needs maxmemory-policy noeviction. Under another policy it
 * may lose the set, so confirmed inserts return -EAGAIN, and the node reports it.
 *
 * Seeds. Nodes exchange hashes, which are valid for one seed only. A set keeps the seed of its
 * first filter; for another seed make another set. All nodes must also have the same secret. In a
 * set with normalisation (text.h) keys are texts. With cidr or suffixes a hash cannot stand for a
 * text, so such a set is replicated by images alone.
 *
 * Signatures. With trusted_keys a node accepts only generations signed by one of these keys. This
 * needs state_file, in which the node records the newest version that it has accepted, so that it
 * refuses older generations, even after a restart. The log is not signed: a client with redis's
 * password can add keys, but cannot remove keys from a running node. The comment of trusted_keys
 * tells which keys such a client can withhold from other nodes.
 *
 * Fork. A child of fork() does not have the two threads: open after the last fork(). */
#ifndef WEIR_REPLICA_H
#define WEIR_REPLICA_H

#include <weir/handle.h>
#include <weir/metrics.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

struct weir_replica;
struct weir_save_options;

/** Confirmed inserts wait for all replicas that are connected to redis, or were connected within
 * the last replica_grace_ms. A value of weir_replica_options.confirm_replicas. */
#define WEIR_REPLICAS_ALL 0
/** Confirmed inserts wait for redis alone. A value of weir_replica_options.confirm_replicas. */
#define WEIR_REPLICAS_NONE UINT32_MAX

/** The largest weir_replica_options.keep. */
#define WEIR_REPLICA_KEEP_MOST 64
/** The largest number of nodes in a weir_replica_view. There is a limit because any client that
 * writes to redis can fake reports. */
#define WEIR_REPLICA_NODES_MOST 10000

/** The version of a generation: "3.14" is number 14 of era 3. 0.0 means no generation. */
struct weir_replica_version {
	uint64_t era, number;
};

/** How to join a set. Start from WEIR_REPLICA_OPTIONS_INIT. The library copies the struct and all
 * that it points to, except handle and context. */
struct weir_replica_options {
	size_t struct_size; /* sizeof(struct weir_replica_options) */
	const char *set;    /* name of the set: 1 to 64 letters, digits, - _ . */

	/* The connection. */
	const char *url;    /* redis:// rediss:// unix:// redis+sentinel:// rediss+sentinel:// */
	const char *user, *password;   /* instead of those in the URL */
	const char *password_file;     /* its first line is the password; read at each connection */
	const char *sentinel_user, *sentinel_password;
	const char *ca_file, *cert_file, *key_file; /* for TLS; NULL ca_file: the system's CAs */
	const char *server_name;       /* name in the server's certificate; NULL: the URL's host */
	bool insecure;                 /* accept any certificate */
	uint32_t connect_ms, answer_ms; /* connect_ms: timeout of one try to find and reach a host;
	                                   0: 1000. answer_ms: timeout of the next piece of an
	                                   answer; 0: 10000, or 2000 with a Sentinel's URL */

	/* The handle. */
	struct weir_handle *handle;    /* your own handle, with a filter of the set's seed. Then
	                                  open waits for nothing, redis may be down, and
	                                  weir_replica_close() does not destroy the handle. NULL:
	                                  make a handle from the set in redis */
	const struct weir_params *params; /* if handle is NULL and no node has published the set:
	                                     parameters of generation 1.1; NULL: fail. A set that
	                                     exists stays as it is. If its kind or size differs, the
	                                     node calls report once */
	const void *secret;            /* the secret of keyed filters, 16 bytes; NULL: not keyed */
	uint64_t max_image_bytes;      /* refuse images that are larger or unpack to more bytes,
	                                  since 500 KB of zstd may unpack to 16 GiB; 0: 16 GiB */

	/* Inserts. */
	uint64_t max_pending_bytes;    /* limit in bytes of the inserts that no generation contains
	                                  yet; 0: 256 MiB */
	uint32_t poll_ms;              /* milliseconds between two reads of the log, and between two
	                                  sends of less than 64 KB: 1 to 1000; 0: one millisecond
	                                  for each five nodes, but at least 20 and at most 1000 */
	uint32_t confirm_replicas;     /* number of replicas that must have a confirmed insert;
	                                  or WEIR_REPLICAS_ALL (0) or WEIR_REPLICAS_NONE */
	uint32_t confirm_ms;           /* timeout of a confirmed insert; 0: 10000 */
	uint32_t replica_grace_ms;     /* how long a disconnected replica still counts. Set it above
	                                  the time of a failover, including Sentinel's
	                                  down-after-milliseconds (30 s by default); 0: 60000 */

	/* Publishing. */
	uint32_t publish_seconds;      /* seconds from the last generation until one node publishes
	                                  the set, if there were inserts; 0: publish only when a
	                                  call or the node's own rules require it */
	uint32_t keep;                 /* generations to keep for a rollback, the newest included:
	                                  1 to WEIR_REPLICA_KEEP_MOST; 0: 2 */
	int zstd_level;                /* level to compress images, 1 to 19; 0: not compressed */
	const char *secret_key;        /* file of the key to sign with, which needs trusted_keys;
	                                  NULL: none */
	uint32_t expires_seconds;      /* how long a signed generation is valid; it is signed again
	                                  after a quarter of that time; 0: a day */

	/* Trust. */
	const char *trusted_keys;      /* file of public keys: accept only generations signed by one
	                                  of them; NULL: accept all. The file is read at open: to
	                                  trust another key, close and open. Although images are
	                                  signed, redis, or a client with its password, can silently
	                                  withhold from other nodes all keys inserted since the
	                                  newest signed image, confirmed keys too. The inserting
	                                  node keeps these keys in its own set */
	const char *state_file;        /* file that records the newest version accepted, across all
	                                  starts of the node. Give both trusted_keys and state_file,
	                                  or neither of them */

	/* Called on the library's thread when a generation is swapped in (@result 1), a failure
	 * begins (a negative errno), or a failure ends or something is worth knowing (0).
	 * @sentence is valid until the callback returns. Sentences that differ only in numbers are
	 * one failure. The callback must not call weir_replica_*(). NULL: write to standard
	 * error. */
	void (*report)(void *context, int result, const char *sentence);
	void *context;                 /* for report; not copied */
};
#define WEIR_REPLICA_OPTIONS_INIT WEIR__INIT(weir_replica_options)

/**
 * Join a set, and start the threads that keep this node equal to the others. When the call returns,
 * this node has all that redis had of the set at the call, unless options.handle is given.
 * @out: receives the replica; untouched on failure.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL for an option; -ENOENT if no node has published the set, and params are NULL or
 *   this node cannot sign; -EKEYREJECTED if no trusted key has signed the set, if it belongs to
 *   another set or is older than state_file allows, or has another seed or secret; -EKEYEXPIRED if
 *   its signature has expired; -ENOTSUP for a kind that cannot be replicated, or an option that
 *   this build lacks; -EBADMSG if the set in redis is damaged; -ENOMEM; -EAGAIN if no thread can
 *   start, redis cannot serve now, or redis lost the set and a running node does not publish it;
 *   the errno of connecting and of files. With options.handle connection errors go to report.
 * Threads: any one.  Progress: blocking. If redis lacks the set, the call waits 3 s for a running
 *   node to publish it again, or up to a minute for its upload.  Cost: fetching the image.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_open(struct weir_replica **out,
                                               const struct weir_replica_options *options);

/**
 * Close a replica: send the pending inserts if redis accepts them in time, stop the threads, and
 * free the replica. Its handle is destroyed if weir_replica_open() made it.
 * @r: a replica; NULL is a no-op.
 * Return: 0; or a negative errno. -EBUSY: your reload of its handle is open. -EDEADLK: the caller
 *   is in a read-side section or on the library's thread. After these two errors the replica is not
 *   closed, though its thread may have stopped: call again. -EAGAIN: closed, but inserts of this
 *   node may not have reached redis; weir_error_detail() tells how many bytes. -EKEYREJECTED:
 *   closed, but redis has a set of another seed, secret or normalisation, so other nodes do not
 *   find this node's keys.
 * Threads: one, when all other calls have returned.  Progress: blocking. For pending inserts it
 *   waits up to confirm_ms, or a second if redis does not answer.
 */
WEIR_API int weir_replica_close(struct weir_replica *r);

/** Get the handle of a replica, for lookups by any verb of handle.h. Wait-free. */
WEIR_API struct weir_handle *weir_replica_handle(const struct weir_replica *r);

/** How long an insert waits. */
enum weir_replica_wait {
	WEIR_REPLICA_SOON = 0,      /* it does not wait: this node has the key now, and other nodes
	                               will have it soon */
	WEIR_REPLICA_CONFIRMED = 1, /* it waits until redis and confirm_replicas of its replicas
	                               have the key: see Failures above */
};

/**
 * Insert a key on this and all other nodes. Confirmed inserts of several threads travel together.
 * @wait: enum weir_replica_wait.
 * Return: WEIR_NEW, WEIR_SEEN, or a negative errno.
 * Errors: as weir_handle_insert(); -ENOBUFS if max_pending_bytes are used up and this node may not
 *   publish; -ENOTSUP if the kind is built once; -EINVAL for @wait. After these errors the key may
 *   be on no node. With WEIR_REPLICA_CONFIRMED also -EAGAIN if redis is full, may evict keys, or
 *   too few replicas have the key; -ETIMEDOUT if it was not confirmed within confirm_ms;
 *   -EKEYREJECTED as weir_replica_close(). After these three errors this node's set has the key,
 *   and the node sends it when it can. To find out whether the key is confirmed now, repeat the
 *   call, or call weir_replica_flush().
 * Threads: any; with WEIR_REPLICA_CONFIRMED outside of read-side sections.  Progress: no lock that
 *   another thread may hold for long; with WEIR_REPLICA_CONFIRMED blocking (network).  Cost: as
 *   weir_handle_insert(), and 8 bytes until a generation contains the key.
 */
WEIR_API int weir_replica_insert(struct weir_replica *r, const void *key, size_t len,
                                 uint32_t wait);
/** As weir_replica_insert(), for the eight bytes at &key: see weir_contains_u64(). */
WEIR_API int weir_replica_insert_u64(struct weir_replica *r, uint64_t key, uint32_t wait);
/** As weir_replica_insert(), for a hash of weir_handle_hash(). */
WEIR_API int weir_replica_insert_hash(struct weir_replica *r, uint64_t hash, uint32_t wait);
/**
 * As weir_replica_insert(), for a batch. The call waits once for the whole batch.
 * @bitmap: as for weir_handle_insert_keys().
 * Return: the number of keys that were WEIR_NEW, or a negative errno.
 * Errors: as weir_replica_insert(), for the first key that is refused. Keys before that key may be
 *   in the set, and you may give the batch again. -EINVAL for a batch of form WEIR_KEYS_NONE.
 */
WEIR_API int64_t weir_replica_insert_keys(struct weir_replica *r, struct weir_keys keys,
                                          uint64_t *bitmap, uint32_t wait);

/**
 * Wait until all earlier inserts are confirmed: redis and confirm_replicas of its replicas have
 * each insert in the log or in a generation.
 * @milliseconds: the longest wait; 0: confirm_ms.
 * Return: 0; -EAGAIN, -ETIMEDOUT, -EKEYREJECTED as weir_replica_insert(); -ECANCELED if a failed
 *   weir_replica_close() has stopped the thread.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_flush(struct weir_replica *r, uint32_t milliseconds);

/**
 * Publish this node's set as the next generation, as soon as the node has all known inserts.
 * Return: 0 or a negative errno.
 * Errors: -EAGAIN if redis cannot serve now, or this node lacked inserts of others for 10 s;
 *   -ENOSPC if redis is full; -EKEYREJECTED if the set is signed and this node cannot sign;
 *   -ECANCELED as weir_replica_flush(); errors of the connection.
 * Threads: any, outside of read-side sections.  Progress: blocking.  Cost: an image's transport.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish(struct weir_replica *r);

/**
 * Publish this node's set together with another filter's keys as the next generation.
 * @more: of the set's own seed, and of a size with which weir_merge() can merge it.
 * Return: 0 or a negative errno.
 * Errors: as weir_replica_publish(); as weir_merge(), and the set is unchanged. After any other
 *   error @more may be in this node's set, which the node then publishes when it can.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish_with(struct weir_replica *r,
                                                       const struct weir_filter *more);

/**
 * Publish a filter made from the application's own record, as a new era. The set loses each key
 * that is neither in the filter nor inserted since.
 * @make: called once, on the calling thread. The node first notes its position in the log, then
 *   calls @make, and adds all later inserts to the filter. @make reads the record and makes a
 *   filter of the set's own seed (weir_replica_params()). No key is lost if applications write
 *   their record before they insert, and @make reads all that was written (not from a database
 *   replica that lags). @make returns 0 or a negative errno.
 * Return: 0 or a negative errno.
 * Errors: as weir_replica_publish(), but the call does not fail if this node lacks inserts of
 *   others; the value of @make; -ESTALE if redis lost its log during the call (call again); -EEXIST
 *   if another generation was published during the call (call again); -EKEYREJECTED for another
 *   seed or secret.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish_from(
	struct weir_replica *r, int (*make)(void *context, struct weir_filter **out),
	void *context);

/**
 * Publish an earlier generation again, with all later inserts, as a new era.
 * @version: a generation that redis keeps (weir_replica_view()).
 * Return: 0 or a negative errno.
 * Errors: as weir_replica_publish_from(); -ENOENT if redis does not keep that generation;
 *   -EKEYREJECTED if no trusted key signed it.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_rollback(struct weir_replica *r,
                                                   struct weir_replica_version version);

/**
 * Get parameters for another filter of the set, with the set's seed and size, as weir_params_of()
 * does.
 * Return: 0, or an error as weir_params_of().
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_params(struct weir_replica *r, struct weir_params *out);

/**
 * Save this node's set, as weir_save(): for a start without redis, or for other programs. After a
 * failure weir_replica_measure() and weir replicate status show the sentence of this failure until
 * a save succeeds.
 * Return: 0, or an error as weir_save().
 * Threads: any, outside of read-side sections.  Progress: blocking. During the call this node
 *   neither sends its inserts nor applies inserts of other nodes.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_save(struct weir_replica *r, const char *path,
                                               const struct weir_save_options *options);

/** The state of a node. */
enum weir_replica_state {
	WEIR_REPLICA_OFFLINE = 0,     /* the last exchange with redis failed */
	WEIR_REPLICA_CATCHING_UP = 1, /* connected, but data of redis is still missing */
	WEIR_REPLICA_FOLLOWING = 2,   /* up to date */
	WEIR_REPLICA_PUBLISHING = 3,  /* up to date, and uploading its set */
};
/** Get the name of a state: "offline", "catching up", "following", "publishing"; "?" for any other
 * number. */
WEIR_API const char *weir_replica_state_name(uint32_t state);

/** The figures of this node. Start from WEIR_REPLICA_STATS_INIT. */
struct weir_replica_stats {
	size_t struct_size;       /* sizeof(struct weir_replica_stats) */
	uint32_t state;           /* enum weir_replica_state */
	bool complete;            /* within the last 2 s redis answered a heartbeat and a later read
	                             of the log, and the node knows of nothing that it lacks */
	bool owes;                /* this node has keys that redis lacks, and publishes them if it
	                             may */
	bool overflowed;          /* max_pending_bytes were used up, so this node will publish */
	uint64_t lacking_ms;      /* how long complete has been false */
	/* joined: the version of this node's set; newest: the newest version in redis */
	struct weir_replica_version joined, newest;
	struct weir_replica_version refused; /* a version that this node refuses; 0.0: none */
	uint64_t pending_bytes;   /* bytes of inserts that no generation contains yet */
	uint64_t batches_read;    /* batches of the log that this node applied, from all nodes */
	uint64_t foreign;         /* batches of the log with another seed or secret, skipped */
	uint64_t given_up;        /* times that this node stopped waiting for data that no node
	                             has */
	uint64_t published;       /* generations that this node published */
	uint64_t failures;        /* exchanges with redis that failed since open */
	uint64_t node;            /* this node's id: random for each open */
	uint64_t image_here;      /* bytes received so far of an image that is being fetched */
	uint64_t image_bytes;     /* all bytes of that image; 0: no image is being fetched */
	char error[WEIR_SENTENCE_BYTES]; /* sentence of the present failure; "": none. It is also a
	                             failure if complete is false for 30 s (report gets
	                             -ETIMEDOUT) */
};
#define WEIR_REPLICA_STATS_INIT WEIR__INIT(weir_replica_stats)

/**
 * Measure this node, as of the last round of its thread.
 * Return: 0; -EINVAL if struct_size is wrong.
 * Threads: any.  Progress: blocking (a lock that threads hold briefly).
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_measure(const struct weir_replica *r,
                                                struct weir_replica_stats *out);

/**
 * Get metric number @i of this node, from weir_replica_measure(). It is a weir_metric_fn. The names
 * are those of weir replicate status --prometheus: weir_replica_node_complete and so on.
 * Return: 1; 0 if @i is past the last metric.
 * Threads: any.  Progress: blocking (a lock that threads hold briefly).
 */
WEIR_API int weir_replica_metric(const void *replica, uint32_t i, struct weir_metric *out);

/** Get the metrics of a replica, for weir_metrics_write(). Its handle has metrics of its own: add
 * weir_metrics_handle(weir_replica_handle(r), labels). */
static inline struct weir_metrics weir_metrics_replica(const struct weir_replica *r,
                                                       const char *labels)
{
	return weir_metrics_other(r, weir_replica_metric, labels);
}

/** The report of a node. Other programs wrote its texts: escape them to print them. */
struct weir_replica_node {
	uint64_t node;            /* id of the node */
	char host[65];
	int64_t pid;
	double age;               /* seconds since its last report, by redis's clock */
	uint32_t state;           /* enum weir_replica_state */
	struct weir_replica_version joined, refused; /* as in struct weir_replica_stats */
	char position[42];        /* id of the last log entry that the node has applied */
	/* complete, owes: as in struct weir_replica_stats. publisher: the node has publish_seconds,
	 * and may publish */
	bool complete, owes, publisher;
	double lacking;           /* seconds since complete became false, 0 if it is true */
	uint64_t pending_bytes, given_up;
	uint64_t image_here, image_bytes; /* as in struct weir_replica_stats */
	/* keys: distinct keys in the node's filter, estimated. capacity: weir_stats.max_capacity of
	 * that filter */
	uint64_t keys, capacity;
	bool saturated, nearly_full; /* as in struct weir_stats */
	char error[WEIR_SENTENCE_BYTES]; /* "": all is well */
};

/** A generation, as its manifest describes it. */
struct weir_replica_generation {
	struct weir_replica_version version, parent;
	uint64_t id;              /* a random number: two generations of one version differ in it */
	uint64_t image_bytes;
	uint64_t signed_ms;       /* when it was signed: ms since 1970, by the publisher's clock */
	uint64_t expires_ms;      /* when the signature expires: ms since 1970, by the publisher's
	                             clock; 0: never */
	uint64_t publisher;       /* id of the node that published it */
	char image[65];           /* BLAKE2b-256 of the image, in hexadecimal digits */
	char position[42];        /* id of the last log entry that the generation contains */
	const char *kind;
	const char *source;       /* what it was made from: "set", "record" or "rollback" */
	bool is_signed;           /* the generation has a signature, by any key */
	int trusted;              /* with trusted_keys: 0 if the generation is trusted; else
	                             -EKEYREJECTED or -EKEYEXPIRED */
	bool damaged;             /* its manifest cannot be read, and all other fields are 0 */
	uint64_t chunks_absent;   /* pieces of its image that redis has lost */
};

/** A set as redis has it. */
struct weir_replica_view {
	uint64_t now_ms;          /* the server's clock */
	struct weir_replica_generation current; /* version 0.0 if the set has no generation */
	uint64_t lease;           /* id of the node that is going to publish; 0: none */
	uint64_t log_length;      /* entries of the log */
	char log_last[42];        /* id of the last entry */
	uint32_t replicas;        /* number of replicas that WEIR_REPLICAS_ALL waits for */
	uint64_t used_memory, maxmemory;
	char policy[32];          /* maxmemory-policy: if not noeviction, redis may lose the set */
	struct weir_replica_node *nodes; /* newest report first */
	size_t node_count;
	struct weir_replica_generation *kept; /* generations for a rollback, newest first */
	size_t kept_count;
	uint64_t nodes_left_out;  /* number of reports that nodes lacks: the oldest reports, if
	                             there are more than WEIR_REPLICA_NODES_MOST; or all reports,
	                             if they are too large for one answer of redis */
};

/**
 * View a set without joining it or writing anything.
 * @options: as for weir_replica_open(), but only the connection, set, trusted_keys and state_file
 *   count. The call only reads state_file.
 * @out: receives the view; free it by weir_replica_view_free().
 * Return: 0, or an error as weir_replica_open().
 * Threads: any.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_view(struct weir_replica_view **out,
                                               const struct weir_replica_options *options);
/** Free a view. @view: may be NULL. */
WEIR_API void weir_replica_view_free(struct weir_replica_view *view);

/**
 * Make a pair of keys for signatures, in two new files. Only the owner of the files can read the
 * secret key.
 * Return: 0; -EEXIST if a file exists; -ENOTSUP if this build lacks libsodium; the errno of
 *   writing, after which neither file exists.
 * Threads: any.  Progress: blocking (file system).
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_key_make(const char *secret_file,
                                                   const char *public_file);

WEIR_END_DECLS

#endif
