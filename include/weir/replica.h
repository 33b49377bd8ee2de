/* SPDX-License-Identifier: MIT
 * One set on many machines: a handle that is kept equal to those of the other nodes, by way of
 * redis (7.0 or later). In a library of its own: link with -lweir-redis (pkg-config weir-redis).
 *
 *     struct weir_replica_options o = WEIR_REPLICA_OPTIONS_INIT;
 *     o.set = "seen";
 *     o.url = "redis://10.0.0.5";
 *     o.params = &params;                               if there is no such set yet
 *     weir_replica_open(&replica, &o);                  fetches the set as it is now
 *     set = weir_replica_handle(replica);
 *     weir_handle_contains(set, key, len)               any thread: local, never waits
 *     weir_replica_insert(replica, key, len, WEIR_REPLICA_SOON)
 *                                                       any thread: here at once, soon everywhere
 *     weir_replica_insert(replica, key, len, WEIR_REPLICA_CONFIRMED)
 *                                                       when it returns, redis has the key
 *     weir_replica_close(replica);
 *
 * A set only grows within an era. Redis has immutable images, the generations, and one log of
 * inserted hashes. A thread of the library, the node, sends what was inserted here, applies what
 * was inserted elsewhere, and keeps what it sent until a generation covers it. A node in doubt
 * reads again, unites its set with the newest generation, and publishes if redis may lack something
 * that it holds. A second thread fetches and uploads images. Lookups never wait for any of it.
 * Inserts that bypass weir_replica_insert() stay on this node, until the set is replaced.
 *
 * Does every node have the key in the end, if this happens once the call has returned? With an
 * honest redis, that is: see trusted_keys.
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
 *   (a) not what it inserted in the last 20 ms or so, until redis has it.
 *   (b) this node still has the key, and sends or publishes it again. A full ring loses nothing: it
 *     publishes. Only a node that may not publish (a signed set, no secret_key) then refuses: its
 *     insert answers -ENOBUFS, and the key is not in its set.
 *   (c) unless the promoted replica was away for longer than replica_grace_ms.
 *
 * Kinds. Inserts are replicated of blocked, classic, growing and split filters: there an insert may
 * come twice. Fuse and layered filters are replicated by images alone. The others are refused.
 *
 * Removing. Only a new era removes keys: weir_replica_publish_from(), weir_replica_rollback(). If
 * redis loses that generation, the keys may be back until the next record.
 *
 * Eviction. Redis needs maxmemory-policy noeviction: under another policy it may lose the set's
 * keys, so confirmed inserts answer -EAGAIN, and the node reports it.
 *
 * Seeds. Nodes tell one another hashes, which mean something by one seed alone. A set has that of
 * its first filter; another seed is another set. A secret is no seed: all nodes have the same. In a
 * set with normalisation (text.h) keys are texts. With cidr or suffixes no hash stands for a text:
 * such a set is replicated by images alone.
 *
 * Signatures. With trusted_keys a node takes no generation that none of them signed, and with
 * state_file, which they need, none that is older than one it took before. The log is not signed:
 * a client with redis's password can add keys, and cannot take one away from a node that runs. See
 * trusted_keys for what it can keep from the other nodes.
 *
 * Fork. A child has no such thread: open after the last fork(). */
#ifndef WEIR_REPLICA_H
#define WEIR_REPLICA_H

#include <weir/handle.h>
#include <weir/metrics.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

struct weir_replica;
struct weir_save_options;

/** weir_replica_options.confirm_replicas: as many as are connected to redis, or were within the
 * last replica_grace_ms. */
#define WEIR_REPLICAS_ALL 0
/** Likewise: none is waited for. */
#define WEIR_REPLICAS_NONE UINT32_MAX

/** The largest weir_replica_options.keep. */
#define WEIR_REPLICA_KEEP_MOST 64
/** The most nodes that a weir_replica_view has: whoever can write to redis can make up reports. */
#define WEIR_REPLICA_NODES_MOST 10000

/** Which generation: "3.14" is number 14 of era 3. All zero: none. */
struct weir_replica_version {
	uint64_t era, number;
};

/** Start from WEIR_REPLICA_OPTIONS_INIT. All that is pointed to is copied, but what is marked. */
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
	bool insecure;                 /* any certificate will do */
	uint32_t connect_ms, answer_ms; /* time-outs: of one try to find and reach a host, and
	                                   between two pieces of an answer; 0: 1000, and 10000 or,
	                                   with a Sentinel's URL, 2000 */

	/* The handle. */
	struct weir_handle *handle;    /* of the caller's, with a filter of the set's own seed:
	                                  nothing is waited for then, and redis may be away; not
	                                  closed by weir_replica_close(). NULL: it is made from what
	                                  redis has */
	const struct weir_params *params; /* then: of the filter if nobody has published one, which
	                                     makes it generation 1.1; NULL: that is an error. A set
	                                     that is there stays as it is: if it is of another kind
	                                     or size, report hears of it once */
	const void *secret;            /* of keyed filters: 16 bytes */
	uint64_t max_image_bytes;      /* refuse larger images, also when unpacked: some 500 KB
	                                  of zstd may be 16 GiB; 0: 16 GiB */

	/* Inserts. */
	uint64_t max_pending_bytes;    /* of inserts that no generation covers; 0: 256 MiB */
	uint32_t poll_ms;              /* how often to read the log and to send less than 64 KB;
	                                  0: 20, or 0.2 for each node if that is more; at most
	                                  1000 */
	uint32_t confirm_replicas;     /* that must have a confirmed insert; WEIR_REPLICAS_ALL (0),
	                                  WEIR_REPLICAS_NONE */
	uint32_t confirm_ms;           /* how long a confirmed insert waits at most; 0: 10000 */
	uint32_t replica_grace_ms;     /* for how long a replica counts that is away; 0: 15000 with
	                                  a Sentinel's URL, else 60000 */

	/* Publishing. */
	uint32_t publish_seconds;      /* publish the set so long after the last generation, if
	                                  there were inserts: one node does; 0: only where a rule or
	                                  a call asks for it */
	uint32_t keep;                 /* generations to keep for a rollback, the newest too:
	                                  1 to WEIR_REPLICA_KEEP_MOST; 0: 2 */
	int zstd_level;                /* of images; 0: not compressed */
	const char *secret_key;        /* file of the key to sign with; NULL: none */
	uint32_t expires_seconds;      /* how long a signed generation is valid; it is signed again
	                                  after a quarter of that; 0: a day */

	/* Trust. */
	const char *trusted_keys;      /* file of public keys: no generation without a signature of
	                                  one of them is taken; NULL: any. Read at open: to trust
	                                  another key, close and open. Redis, or a client with its
	                                  password, can all the same keep from the other nodes,
	                                  without a report, every key that was inserted since the
	                                  newest signed image, confirmed ones too. The inserting
	                                  node keeps them in its own set */
	const char *state_file;        /* the newest version that was taken, for all starts of this
	                                  node: needed with trusted_keys, and for them alone */

	/* Called on the library's thread: a generation was swapped in (@result 1), something began
	 * to fail (a negative errno) or is over, or is worth a look (0), with a sentence valid
	 * until it returns. A server that is full is one failure, whatever its numbers are. It
	 * must not call weir_replica_*(). NULL: a line on standard error. */
	void (*report)(void *context, int result, const char *sentence);
	void *context;                 /* not copied */
};
#define WEIR_REPLICA_OPTIONS_INIT WEIR__INIT(weir_replica_options)

/**
 * Join a set, and start the thread that keeps this node equal to the others. All that redis has of
 * the set when this is called is there when it returns, unless the handle is the caller's.
 * @out: receives the replica; untouched on failure.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL an option; -ENOENT nobody has published the set and there are no params;
 *   -EKEYREJECTED no trusted key has signed it, it is another set's or older than the state file
 *   says, or it is by another seed or key; -EKEYEXPIRED it is signed and has expired; -ENOTSUP a
 *   kind that cannot be replicated, or an option this build lacks; -EBADMSG what is there is
 *   damaged; -ENOMEM; -EAGAIN no thread, or redis cannot serve now; the errno of connecting, of
 *   files. With a handle of the caller's those of the connection go to report.
 * Threads: any one.  Progress: blocking; where redis has no such set, 3 s for whoever lives to
 *   publish it again.  Cost: that of fetching the image.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_open(struct weir_replica **out,
                                               const struct weir_replica_options *options);

/**
 * Send what is pending, as far as one try goes, stop the thread, and free the replica.
 * @r: a replica, or NULL for nothing. Its handle is destroyed if weir_replica_open() made it.
 * Return: 0; -EBUSY a reload of the caller's is open, -EDEADLK inside a read-side section or on the
 *   library's thread: it is not closed yet, though the thread may have stopped, and may be closed
 *   again; -EAGAIN closed, but inserts of this node may not have reached redis, in which case
 *   weir_error_detail() says how many bytes of them; -EKEYREJECTED closed, but redis has a set of
 *   another seed, key or normalisation: the others do not find what this node inserted.
 * Threads: one, when all other calls have returned.  Progress: blocking: for what is pending up to
 *   confirm_ms, or a second where redis does not answer.
 */
WEIR_API int weir_replica_close(struct weir_replica *r);

/** The handle, for lookups by any of handle.h's verbs. Wait-free. */
WEIR_API struct weir_handle *weir_replica_handle(const struct weir_replica *r);

/** How long an insert waits. */
enum weir_replica_wait {
	WEIR_REPLICA_SOON = 0,      /* nothing: the key is here now, and soon on all other nodes */
	WEIR_REPLICA_CONFIRMED = 1, /* redis has it, and confirm_replicas: see the table above */
};

/**
 * Insert a key here and on all other nodes. Confirmed inserts of several threads are sent together.
 * @wait: enum weir_replica_wait.
 * Return: WEIR_NEW, WEIR_SEEN, or a negative errno.
 * Errors: as weir_handle_insert(), -ENOBUFS max_pending_bytes are full and this node may not
 *   publish, -ENOTSUP the kind is built once, -EINVAL @wait: then no node need have it.
 *   With WEIR_REPLICA_CONFIRMED also -EAGAIN redis is full, may evict keys, or fewer replicas
 *   have it; -ETIMEDOUT it was not confirmed within confirm_ms; -EKEYREJECTED redis has the set
 *   of another seed, key or normalisation: the other nodes do not find what this one inserts. In
 *   all three the key is in this node's set, and the node sends it when that is possible: to know
 *   whether it has, call again, or weir_replica_flush().
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
 * Errors: as weir_replica_insert(), of the first key that is refused: keys before it may be in, and
 *   the batch may be given again. -EINVAL a batch of no form.
 */
WEIR_API int64_t weir_replica_insert_keys(struct weir_replica *r, struct weir_keys keys,
                                          uint64_t *bitmap, uint32_t wait);

/**
 * Wait until all that was inserted before this call is confirmed: each insert is in redis's log, or
 * in a generation that it has, and confirm_replicas have that too.
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
 *   redis is full; -EKEYREJECTED what is there is signed, and this would not be; those of the
 *   connection.
 * Threads: any, outside of read-side sections.  Progress: blocking.  Cost: an image's transport.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish(struct weir_replica *r);

/**
 * Publish this node's set together with another filter's keys as the next generation.
 * @more: of the set's own seed, and of a size that weir_merge() unites with it.
 * Return: 0 or a negative errno.
 * Errors: as weir_replica_publish(); those of weir_merge(): then the set is as it was. After
 *   another error @more is in this node's set, which is published when that is possible.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish_with(struct weir_replica *r,
                                                       const struct weir_filter *more);

/**
 * Publish a filter made from the application's own record. It begins an era: what is neither in it
 * nor inserted since is in the set no more.
 * @make: called once, on the calling thread, after the place in the log was noted from which
 *   inserts are added to the filter: it reads the record and makes a filter of the set's own seed
 *   (weir_replica_params()). That loses nothing only if applications write their record
 *   before they insert, and if the record that is read has all that was written: it is no
 *   replica that lags. It returns 0 or a negative errno.
 * Return: 0 or a negative errno.
 * Errors: those of weir_replica_publish() but -EAGAIN for lacking inserts; what make returned;
 *   -ESTALE redis began anew meanwhile, -EEXIST another generation came meanwhile: call again;
 *   -EKEYREJECTED another seed or key.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish_from(
	struct weir_replica *r, int (*make)(void *context, struct weir_filter **out),
	void *context);

/**
 * Publish a generation of before again, with all that was inserted since, as a new era.
 * @version: one that is kept (weir_replica_view()).
 * Return: 0 or a negative errno.
 * Errors: as weir_replica_publish_from(); -ENOENT it is not kept; -EKEYREJECTED no trusted key
 *   signed it; -EPERM a secret key without trusted ones: redis may say that anything was kept.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_rollback(struct weir_replica *r,
                                                   struct weir_replica_version version);

/**
 * The parameters of the set's filter as it is, seed and all, as weir_params_of(): to make another.
 * Return: 0; as weir_params_of().
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_params(struct weir_replica *r, struct weir_params *out);

/**
 * Save the set as it is here, as weir_save(): for a start without redis, or for other programs. If
 * it fails, that is this node's error too (weir_replica_measure(), weir replicate status), until an
 * image has been saved.
 * Return: 0; as weir_save().
 * Threads: any, outside of read-side sections.  Progress: blocking; inserts of others are applied
 *   when it is done.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_save(struct weir_replica *r, const char *path,
                                               const struct weir_save_options *options);

/** What a node does. */
enum weir_replica_state {
	WEIR_REPLICA_OFFLINE = 0,     /* the last exchange with redis failed */
	WEIR_REPLICA_CATCHING_UP = 1, /* something is still to come here */
	WEIR_REPLICA_FOLLOWING = 2,   /* all is well */
	WEIR_REPLICA_PUBLISHING = 3,  /* likewise, and it uploads its set */
};
/** Its name: "offline", "catching up", "following", "publishing"; "?" for another number. */
WEIR_API const char *weir_replica_state_name(uint32_t state);

/** Start from WEIR_REPLICA_STATS_INIT. */
struct weir_replica_stats {
	size_t struct_size;
	uint32_t state;           /* enum weir_replica_state */
	bool complete;            /* a heartbeat was answered within 2 s, and nothing is known that
	                             this node lacks */
	bool owes;                /* it holds what redis lacks, and will publish it */
	bool overflowed;          /* max_pending_bytes were full: it will publish */
	uint64_t lacking_ms;      /* for how long it has not been complete */
	struct weir_replica_version joined, newest; /* which the set has; that redis has */
	struct weir_replica_version refused; /* a version that will not do here; 0.0: none */
	uint64_t pending_bytes;   /* of inserts that no generation covers */
	uint64_t batches_read;    /* applied, of all nodes */
	uint64_t foreign;         /* entries of the log by another seed, or nobody's */
	uint64_t given_up;        /* how often this node went on without what no node has */
	uint64_t published;       /* generations, by this node */
	uint64_t failures;        /* exchanges that failed, ever */
	uint64_t node;            /* this node's id: random for each open */
	uint64_t image_here;      /* bytes of an image on its way that are here, */
	uint64_t image_bytes;     /* and that it has; 0: none is on its way */
	char error[WEIR_SENTENCE_BYTES]; /* the last failure's sentence, if it is not over; "".
	                             One of them: not complete for 30 s (-ETIMEDOUT to report) */
};
#define WEIR_REPLICA_STATS_INIT WEIR__INIT(weir_replica_stats)

/**
 * How this node stands, as of its thread's last round.
 * Return: 0; -EINVAL struct_size.
 * Threads: any.  Progress: a lock that is held for a copy.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_measure(const struct weir_replica *r,
                                                struct weir_replica_stats *out);

/**
 * Get metric number @i of this node, from weir_replica_measure(): the weir_metric_fn of a replica.
 * The names are those of weir replicate status --prometheus, weir_replica_node_complete and so on.
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

/** A node, as it has reported. Texts are others': escape them where they are printed. */
struct weir_replica_node {
	uint64_t node;            /* its id */
	char host[65];
	int64_t pid;
	double age;               /* seconds since its last report, by redis's clock */
	uint32_t state;           /* enum weir_replica_state */
	struct weir_replica_version joined, refused;
	char position[42];        /* in the log, up to which it has applied all */
	bool complete, owes, publisher; /* publisher: it has publish_seconds */
	double lacking;           /* seconds for which it had not been complete when it reported */
	uint64_t pending_bytes, given_up;
	uint64_t image_here, image_bytes; /* of an image on its way */
	uint64_t keys, capacity;  /* in its filter, estimated from a sample, and its room */
	bool saturated, nearly_full; /* as struct weir_stats has them */
	char error[WEIR_SENTENCE_BYTES]; /* "": all is well */
};

/** A generation, as its manifest says. */
struct weir_replica_generation {
	struct weir_replica_version version, parent;
	uint64_t id;              /* drawn for it: two of one version differ in this */
	uint64_t image_bytes;
	uint64_t signed_ms;       /* milliseconds since 1970, by its publisher's clock */
	uint64_t expires_ms;      /* likewise; 0: never */
	uint64_t publisher;       /* the node */
	char image[65];           /* BLAKE2b-256 of the image, in hexadecimal digits */
	char position[42];        /* in the log, up to which it has all */
	const char *kind;
	const char *source;       /* "set", "record" or "rollback" */
	bool is_signed;           /* by somebody */
	int trusted;              /* with trusted_keys: 0, or why it is not: -EKEYREJECTED,
	                             -EKEYEXPIRED */
	bool damaged;             /* what is there is no manifest: the other fields are 0 */
	uint64_t chunks_absent;   /* pieces of its image that redis has lost */
};

/** What redis has of a set. */
struct weir_replica_view {
	uint64_t now_ms;          /* the server's clock */
	struct weir_replica_generation current; /* version 0.0: none */
	uint64_t lease;           /* the node that is about to publish; 0: none */
	uint64_t log_length;      /* entries there */
	char log_last[42];        /* the id of the last */
	uint32_t replicas;        /* that confirmed inserts wait for with WEIR_REPLICAS_ALL */
	uint64_t used_memory, maxmemory;
	char policy[32];          /* maxmemory-policy: noeviction, or redis may lose the set */
	struct weir_replica_node *nodes; /* by the age of their reports */
	size_t node_count;
	struct weir_replica_generation *kept; /* to which a rollback is possible, newest first */
	size_t kept_count;
	uint64_t nodes_left_out;  /* reports beyond WEIR_REPLICA_NODES_MOST, the oldest; or all of
	                             them, if they are larger than an answer may be */
};

/**
 * Look at a set without joining it: nothing is written.
 * @options: as for weir_replica_open(), of which those of the connection, set, trusted_keys and
 *   state_file, which is only read, are used.
 * @out: receives the view; to be freed by weir_replica_view_free().
 * Return: 0; as weir_replica_open().
 * Threads: any.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_view(struct weir_replica_view **out,
                                               const struct weir_replica_options *options);
/** Free a view. @view: may be NULL. */
WEIR_API void weir_replica_view_free(struct weir_replica_view *view);

/**
 * Draw a pair of keys for signatures, into two new files: the secret one for its owner alone.
 * Return: 0; -EEXIST a file is there; -ENOTSUP this build has no libsodium; the errno of writing:
 *   then neither file is there.
 * Threads: any.  Progress: blocking (file system).
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_key_make(const char *secret_file,
                                                   const char *public_file);

WEIR_END_DECLS

#endif
