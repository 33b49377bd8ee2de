/* SPDX-License-Identifier: MIT
 * A replica keeps one set equal on many machines. Each node has a handle of its own, and redis (7.0
 * or later) carries the inserts from node to node. It is a library of its own: link with
 * -lweir-redis (pkg-config weir-redis).
 *
 *     struct weir_replica_options o = WEIR_REPLICA_OPTIONS_INIT;
 *     o.set = "seen";
 *     o.url = "redis://10.0.0.5";
 *     o.params = &params;                               of a new set, if redis has none
 *     weir_replica_open(&replica, &o);                  fetches the set as it is now
 *     set = weir_replica_handle(replica);
 *     weir_handle_contains(set, key, len)               any thread: local, never waits
 *     weir_replica_insert(replica, key, len, WEIR_REPLICA_SOON)
 *                                                       any thread: here at once, soon everywhere
 *     weir_replica_insert(replica, key, len, WEIR_REPLICA_CONFIRMED)
 *                                                       when it returns, redis has the key
 *     weir_replica_close(replica);
 *
 * Insert through weir_replica_insert(): an insert that bypasses it stays on this node, until the
 * set is replaced.
 *
 * How it works. A set only grows within an era. Redis has immutable images, the generations, and
 * one log of inserted hashes. A thread of the library, the node, sends the inserts of this machine,
 * applies those of the others, and keeps what it sent until a generation covers it. A node in doubt
 * reads again, merges the newest generation into its set, and publishes if redis may lack something
 * that it holds. A second thread fetches and uploads images. Lookups never wait for any of this.
 *
 * Failures. An insert has returned. Does every node have the key in the end, if this happens next?
 * The table assumes an honest redis (see trusted_keys).
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
 *   (a) not the inserts of the last 20 ms or so, until redis has them; with max_pending_bytes full
 *     not those that no generation has yet.
 *   (b) this node still has the key, and sends or publishes it again. When max_pending_bytes are
 *     full, it publishes and loses nothing. Only a node that may not publish (a signed set, no
 *     secret_key) then refuses: its insert returns -ENOBUFS, and the key is not in its set.
 *   (c) with WEIR_REPLICAS_ALL, and unless the promoted replica was away for longer than
 *     replica_grace_ms.
 *
 * Kinds. Blocked, classic, growing and split filters are replicated insert by insert: there an
 * insert may come twice. Fuse and layered filters are replicated by images alone. The others are
 * refused.
 *
 * Removing. Only a new era removes keys: weir_replica_publish_from(), weir_replica_rollback(). If
 * redis loses that generation, the keys may be back until the next record.
 *
 * Eviction. Redis needs maxmemory-policy noeviction: under another policy it may lose the set's
 * keys, so confirmed inserts return -EAGAIN, and the node reports it.
 *
 * Seeds. Nodes exchange hashes, which are valid for one seed only. A set keeps the seed of its
 * first filter; another seed needs another set. A secret is not a seed: give all nodes the same. In
 * a set with normalisation (text.h) keys are texts. With cidr or suffixes no hash stands for a
 * text: such a set is replicated by images alone.
 *
 * Signatures. With trusted_keys a node takes only generations that one of them signed. With
 * state_file, which they need, it takes none that is older than one it took before. The log is not
 * signed: a client with redis's password can add keys, but cannot take one away from a node that
 * runs. trusted_keys tells what it can keep from the other nodes.
 *
 * Fork. A child of fork() does not have these threads: open after the last fork(). */
#ifndef WEIR_REPLICA_H
#define WEIR_REPLICA_H

#include <weir/handle.h>
#include <weir/metrics.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

struct weir_replica;
struct weir_save_options;

/** For weir_replica_options.confirm_replicas: all replicas that are connected to redis, or were
 * within the last replica_grace_ms. */
#define WEIR_REPLICAS_ALL 0
/** For weir_replica_options.confirm_replicas, no wait: redis alone has it. */
#define WEIR_REPLICAS_NONE UINT32_MAX

/** The largest weir_replica_options.keep. */
#define WEIR_REPLICA_KEEP_MOST 64
/** The most nodes of a weir_replica_view: any client that writes to redis can make up reports. */
#define WEIR_REPLICA_NODES_MOST 10000

/** The version of a generation: "3.14" is number 14 of era 3. All zero: none. */
struct weir_replica_version {
	uint64_t era, number;
};

/** How to join a set. Start from WEIR_REPLICA_OPTIONS_INIT. It is copied with all it points to,
 * unless marked. */
struct weir_replica_options {
	size_t struct_size; /* sizeof(struct weir_replica_options) */
	const char *set;    /* its name: 1 to 64 letters, digits, - _ . */

	/* The connection. */
	const char *url;    /* redis:// rediss:// unix:// redis+sentinel:// rediss+sentinel:// */
	const char *user, *password;   /* instead of those in the URL */
	const char *password_file;     /* its first line; read again at each connection */
	const char *sentinel_user, *sentinel_password;
	const char *ca_file, *cert_file, *key_file; /* TLS; without ca_file: the system's */
	const char *server_name;       /* that the certificate must have; NULL: the URL's */
	bool insecure;                 /* accept any certificate */
	uint32_t connect_ms, answer_ms; /* time-outs: of one try to find and reach a host, and
	                                   between two pieces of an answer; 0: 1000, and 10000 or,
	                                   with a Sentinel's URL, 2000 */

	/* The handle. */
	struct weir_handle *handle;    /* the caller's, with a filter of the set's own seed: then
	                                  open waits for nothing, redis may be away, and
	                                  weir_replica_close() does not destroy it. NULL: make one
	                                  from the set in redis */
	const struct weir_params *params; /* without handle: of the filter if no node has published
	                                     the set, which becomes generation 1.1; NULL: then fail.
	                                     A set that exists stays as it is: if its kind or size
	                                     differs, the node calls report once */
	const void *secret;            /* of keyed filters: 16 bytes */
	uint64_t max_image_bytes;      /* refuse larger images, unpacked too: some 500 KB of zstd
	                                  may be 16 GiB; 0: 16 GiB */

	/* Inserts. */
	uint64_t max_pending_bytes;    /* of inserts that no generation covers; 0: 256 MiB */
	uint32_t poll_ms;              /* how often to read the log and to send less than 64 KB;
	                                  0: 20, or 0.2 for each node if that is more; at most
	                                  1000 */
	uint32_t confirm_replicas;     /* that must have a confirmed insert; WEIR_REPLICAS_ALL (0),
	                                  WEIR_REPLICAS_NONE */
	uint32_t confirm_ms;           /* the longest wait of a confirmed insert; 0: 10000 */
	uint32_t replica_grace_ms;     /* how long a replica that is away still counts: longer than
	                                  a failover takes, Sentinel's down-after-milliseconds (30 s
	                                  unless you set it) included; 0: 60000 */

	/* Publishing. */
	uint32_t publish_seconds;      /* publish the set this long after the last generation, if
	                                  there were inserts: one node does; 0: only if a rule or a
	                                  call asks for it */
	uint32_t keep;                 /* generations to keep for a rollback, the newest too:
	                                  1 to WEIR_REPLICA_KEEP_MOST; 0: 2 */
	int zstd_level;                /* of images; 0: not compressed */
	const char *secret_key;        /* file of the key to sign with, which needs trusted_keys;
	                                  NULL: none */
	uint32_t expires_seconds;      /* how long a signed generation is valid; it is signed again
	                                  after a quarter of that; 0: a day */

	/* Trust. */
	const char *trusted_keys;      /* file of public keys: take only generations that one of
	                                  them signed; NULL: any. Read at open: to trust another
	                                  key, close and open. Even so, redis, or a client with its
	                                  password, can keep from the other nodes, without a report,
	                                  every key that was inserted since the newest signed image,
	                                  confirmed ones too. The inserting node keeps them in its
	                                  own set */
	const char *state_file;        /* has the newest version that was taken, across all starts
	                                  of this node: needed with trusted_keys, and only then */

	/* Called on the library's thread when a generation was swapped in (@result 1), something
	 * begins to fail (a negative errno), that is over, or something is worth a look (0).
	 * @sentence is valid until it returns. Sentences that differ only in their numbers are one
	 * failure. It must not call weir_replica_*(). NULL: write a line to standard error. */
	void (*report)(void *context, int result, const char *sentence);
	void *context;                 /* not copied */
};
#define WEIR_REPLICA_OPTIONS_INIT WEIR__INIT(weir_replica_options)

/**
 * Join a set, and start the thread that keeps this node equal to the others. When it returns, this
 * node has all that redis had of the set at the call, unless the handle is the caller's.
 * @out: receives the replica; untouched on failure.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL an option; -ENOENT no node has published the set, and params are NULL or this
 *   node cannot sign; -EKEYREJECTED no trusted key has signed it, it is another set's or older than
 *   the state file says, or it is by another seed or key; -EKEYEXPIRED its signature has expired;
 *   -ENOTSUP a kind that cannot be replicated, or an option this build lacks; -EBADMSG the set in
 *   redis is damaged; -ENOMEM; -EAGAIN no thread, redis cannot serve now, or redis lost the set and
 *   a running node does not publish it; the errno of connecting, of files. With a handle of the
 *   caller's those of the connection go to report.
 * Threads: any one.  Progress: blocking; if redis lacks the set, 3 s for a running node to publish
 *   it again, or up to a minute while one uploads it.  Cost: that of fetching the image.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_open(struct weir_replica **out,
                                               const struct weir_replica_options *options);

/**
 * Send the pending inserts, if redis takes them in time, stop the thread, and free the replica.
 * @r: a replica, or NULL for nothing. Its handle is destroyed if weir_replica_open() made it.
 * Return: 0; -EBUSY a reload of the caller's is open, -EDEADLK inside a read-side section or on the
 *   library's thread: it is not closed yet, though the thread may have stopped: close it again;
 *   -EAGAIN closed, but inserts of this node may not have reached redis: weir_error_detail() says
 *   how many bytes; -EKEYREJECTED closed, but redis has a set of another seed, key or
 *   normalisation: the other nodes do not find the inserts of this one.
 * Threads: one, when all other calls have returned.  Progress: blocking: for pending inserts up to
 *   confirm_ms, or a second if redis does not answer.
 */
WEIR_API int weir_replica_close(struct weir_replica *r);

/** Get the handle, for lookups by any verb of handle.h. Wait-free. */
WEIR_API struct weir_handle *weir_replica_handle(const struct weir_replica *r);

/** How long an insert waits. */
enum weir_replica_wait {
	WEIR_REPLICA_SOON = 0,      /* nothing: the key is here now, and soon on all other nodes */
	WEIR_REPLICA_CONFIRMED = 1, /* redis and confirm_replicas have it: see the table above */
};

/**
 * Insert a key here and on all other nodes. Confirmed inserts of several threads are sent together.
 * @wait: enum weir_replica_wait.
 * Return: WEIR_NEW, WEIR_SEEN, or a negative errno.
 * Errors: as weir_handle_insert(), -ENOBUFS max_pending_bytes are full and this node may not
 *   publish, -ENOTSUP the kind is built once, -EINVAL @wait: then no node need have the key.
 *   With WEIR_REPLICA_CONFIRMED also -EAGAIN redis is full, may evict keys, or too few replicas
 *   have the key; -ETIMEDOUT it was not confirmed within confirm_ms; -EKEYREJECTED redis has a set
 *   of another seed, key or normalisation: the other nodes do not find the inserts of this one. In
 *   all three the key is in this node's set, and the node sends it when it can. To find out whether
 *   it has, call again, or weir_replica_flush().
 * Threads: any; to wait, outside of read-side sections.  Progress: without a lock that another
 *   thread may hold for long; with WEIR_REPLICA_CONFIRMED blocking (network).  Cost: that of
 *   weir_handle_insert(), and 8 bytes kept until a generation covers it.
 */
WEIR_API int weir_replica_insert(struct weir_replica *r, const void *key, size_t len,
                                 uint32_t wait);
/** As weir_replica_insert(), of a number, as weir_handle_insert_u64() takes it. */
WEIR_API int weir_replica_insert_u64(struct weir_replica *r, uint64_t key, uint32_t wait);
/** As weir_replica_insert(), of a hash (weir_handle_hash()). */
WEIR_API int weir_replica_insert_hash(struct weir_replica *r, uint64_t hash, uint32_t wait);
/**
 * As weir_replica_insert(), of a batch, which waits once.
 * @bitmap: as weir_handle_insert_keys().
 * Return: how many were new, or a negative errno.
 * Errors: as weir_replica_insert(), for the first key that is refused: keys before it may be in the
 *   set, and the batch may be given again. -EINVAL a batch of no form.
 */
WEIR_API int64_t weir_replica_insert_keys(struct weir_replica *r, struct weir_keys keys,
                                          uint64_t *bitmap, uint32_t wait);

/**
 * Wait until all earlier inserts are confirmed: redis has each in its log or in a generation, and
 * confirm_replicas have that too.
 * @milliseconds: at most; 0: confirm_ms.
 * Return: 0; -EAGAIN, -ETIMEDOUT, -EKEYREJECTED as above; -ECANCELED a weir_replica_close() that
 *   failed has stopped the thread.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_flush(struct weir_replica *r, uint32_t milliseconds);

/**
 * Publish this node's set as the next generation, as soon as it lacks nothing.
 * Return: 0 or a negative errno.
 * Errors: -EAGAIN redis cannot serve now, or this node lacked inserts of others for 10 s; -ENOSPC
 *   redis is full; -EKEYREJECTED the set is signed, and this node cannot sign; -ECANCELED as
 *   weir_replica_flush(); those of the connection.
 * Threads: any, outside of read-side sections.  Progress: blocking.  Cost: an image's transport.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish(struct weir_replica *r);

/**
 * Publish this node's set together with another filter's keys as the next generation.
 * @more: of the set's own seed, and of a size that weir_merge() unites with it.
 * Return: 0 or a negative errno.
 * Errors: as weir_replica_publish(); those of weir_merge(): then the set is as it was. After
 *   another error @more may be in this node's set, which the node then publishes when it can.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish_with(struct weir_replica *r,
                                                       const struct weir_filter *more);

/**
 * Publish a filter made from the application's own record. It begins an era: the set loses each key
 * that is neither in the filter nor inserted since.
 * @make: called once, on the calling thread, after the node has noted the place in the log from
 *   which inserts are added to the filter. It reads the record and makes a filter of the set's own
 *   seed (weir_replica_params()). No key is lost if applications write their record before they
 *   insert, and if @make reads all that was written: not from a database replica that lags. It
 *   returns 0 or a negative errno.
 * Return: 0 or a negative errno.
 * Errors: those of weir_replica_publish() but -EAGAIN for lacking inserts; what @make returned;
 *   -ESTALE redis began anew during the call, -EEXIST another generation came during the call: call
 *   again; -EKEYREJECTED another seed or key.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish_from(
	struct weir_replica *r, int (*make)(void *context, struct weir_filter **out),
	void *context);

/**
 * Publish an earlier generation again, with all later inserts, as a new era.
 * @version: one that is kept (weir_replica_view()).
 * Return: 0 or a negative errno.
 * Errors: as weir_replica_publish_from(); -ENOENT it is not kept; -EKEYREJECTED no trusted key
 *   signed it.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_rollback(struct weir_replica *r,
                                                   struct weir_replica_version version);

/**
 * Get the parameters of the set's filter, seed and all, as weir_params_of(): to make another.
 * Return: 0; as weir_params_of().
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_params(struct weir_replica *r, struct weir_params *out);

/**
 * Save this node's set, as weir_save(): for a start without redis, or for other programs. A failure
 * is also this node's error (weir_replica_measure(), weir replicate status), until a save succeeds.
 * Return: 0; as weir_save().
 * Threads: any, outside of read-side sections.  Progress: blocking; inserts of others are applied
 *   when it is done.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_save(struct weir_replica *r, const char *path,
                                               const struct weir_save_options *options);

/** The state of a node. */
enum weir_replica_state {
	WEIR_REPLICA_OFFLINE = 0,     /* the last exchange with redis failed */
	WEIR_REPLICA_CATCHING_UP = 1, /* it still lacks something */
	WEIR_REPLICA_FOLLOWING = 2,   /* all is well */
	WEIR_REPLICA_PUBLISHING = 3,  /* all is well, and it uploads its set */
};
/** The name of a state: "offline", "catching up", "following", "publishing"; "?" for another
 * number. */
WEIR_API const char *weir_replica_state_name(uint32_t state);

/** The figures of this node. Start from WEIR_REPLICA_STATS_INIT. */
struct weir_replica_stats {
	size_t struct_size;
	uint32_t state;           /* enum weir_replica_state */
	bool complete;            /* within the last 2 s redis answered a heartbeat and a reading
	                             behind it, and the node lacks nothing that it knows of */
	bool owes;                /* it holds keys that redis lacks, and publishes them if it may */
	bool overflowed;          /* max_pending_bytes were full: it will publish */
	uint64_t lacking_ms;      /* how long it has not been complete */
	struct weir_replica_version joined, newest; /* of the set; in redis */
	struct weir_replica_version refused; /* a version that this node refuses; 0.0: none */
	uint64_t pending_bytes;   /* of inserts that no generation covers */
	uint64_t batches_read;    /* applied, of all nodes */
	uint64_t foreign;         /* batches of the log by another seed or key: not applied */
	uint64_t given_up;        /* how often this node went on without data that no node has */
	uint64_t published;       /* generations, by this node */
	uint64_t failures;        /* exchanges that failed, ever */
	uint64_t node;            /* this node's id: random for each open */
	uint64_t image_here;      /* of an image in transfer, the bytes that are here, */
	uint64_t image_bytes;     /* and all its bytes; 0: none is in transfer */
	char error[WEIR_SENTENCE_BYTES]; /* the sentence of the failure that lasts; "": none. Not
	                             being complete for 30 s is one (-ETIMEDOUT to report) */
};
#define WEIR_REPLICA_STATS_INIT WEIR__INIT(weir_replica_stats)

/**
 * Measure this node, as of its thread's last round.
 * Return: 0; -EINVAL struct_size.
 * Threads: any.  Progress: a lock that is held for a copy.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_measure(const struct weir_replica *r,
                                                struct weir_replica_stats *out);

/**
 * Get metric number @i of this node, from weir_replica_measure(): the weir_metric_fn of a replica.
 * The names are those of weir replicate status --prometheus: weir_replica_node_complete and so on.
 * Return: 1; 0 if @i is past the last metric.
 * Threads: any.  Progress: a lock that is held for a copy.
 */
WEIR_API int weir_replica_metric(const void *replica, uint32_t i, struct weir_metric *out);

/** The metrics of a replica, for weir_metrics_write(). Its handle has more: add
 * weir_metrics_handle(weir_replica_handle(r), labels). */
static inline struct weir_metrics weir_metrics_replica(const struct weir_replica *r,
                                                       const char *labels)
{
	return weir_metrics_other(r, weir_replica_metric, labels);
}

/** The report of a node. Other programs wrote its texts: escape them to print them. */
struct weir_replica_node {
	uint64_t node;            /* its id */
	char host[65];
	int64_t pid;
	double age;               /* seconds since its last report, by redis's clock */
	uint32_t state;           /* enum weir_replica_state */
	struct weir_replica_version joined, refused;
	char position[42];        /* in the log: it has applied all entries up to there */
	bool complete, owes, publisher; /* publisher: it has publish_seconds */
	double lacking;           /* seconds that it had not been complete when it reported */
	uint64_t pending_bytes, given_up;
	uint64_t image_here, image_bytes; /* of an image in transfer */
	uint64_t keys, capacity;  /* in its filter, estimated from a sample, and its room */
	bool saturated, nearly_full; /* as struct weir_stats has them */
	char error[WEIR_SENTENCE_BYTES]; /* "": all is well */
};

/** A generation, from its manifest. */
struct weir_replica_generation {
	struct weir_replica_version version, parent;
	uint64_t id;              /* random: two of one version differ in it */
	uint64_t image_bytes;
	uint64_t signed_ms;       /* milliseconds since 1970, by its publisher's clock */
	uint64_t expires_ms;      /* by the same clock; 0: never */
	uint64_t publisher;       /* the node */
	char image[65];           /* BLAKE2b-256 of the image, in hexadecimal digits */
	char position[42];        /* in the log: it has all entries up to there */
	const char *kind;
	const char *source;       /* "set", "record" or "rollback" */
	bool is_signed;           /* it has a signature, by any key */
	int trusted;              /* with trusted_keys: 0, or why it is not: -EKEYREJECTED,
	                             -EKEYEXPIRED */
	bool damaged;             /* its manifest cannot be read: the other fields are 0 */
	uint64_t chunks_absent;   /* pieces of its image that redis has lost */
};

/** A set as redis has it. */
struct weir_replica_view {
	uint64_t now_ms;          /* the server's clock */
	struct weir_replica_generation current; /* version 0.0: none */
	uint64_t lease;           /* the node that is about to publish; 0: none */
	uint64_t log_length;      /* entries of the log */
	char log_last[42];        /* the id of the last entry */
	uint32_t replicas;        /* that confirmed inserts wait for with WEIR_REPLICAS_ALL */
	uint64_t used_memory, maxmemory;
	char policy[32];          /* maxmemory-policy: unless noeviction, redis may lose the set */
	struct weir_replica_node *nodes; /* by the age of their reports */
	size_t node_count;
	struct weir_replica_generation *kept; /* for a rollback, newest first */
	size_t kept_count;
	uint64_t nodes_left_out;  /* the oldest reports beyond WEIR_REPLICA_NODES_MOST; or all, if
	                             together they are larger than an answer may be */
};

/**
 * Look at a set without joining it: nothing is written.
 * @options: as for weir_replica_open(), but only the connection, set, trusted_keys and state_file
 *   count. state_file is only read.
 * @out: receives the view; free it by weir_replica_view_free().
 * Return: 0; as weir_replica_open().
 * Threads: any.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_view(struct weir_replica_view **out,
                                               const struct weir_replica_options *options);
/** Free a view. @view: may be NULL. */
WEIR_API void weir_replica_view_free(struct weir_replica_view *view);

/**
 * Make a pair of keys for signatures, in two new files. Only its owner can read the secret one.
 * Return: 0; -EEXIST a file is there; -ENOTSUP this build lacks libsodium; the errno of writing:
 *   then neither file is there.
 * Threads: any.  Progress: blocking (file system).
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_key_make(const char *secret_file,
                                                   const char *public_file);

WEIR_END_DECLS

#endif
