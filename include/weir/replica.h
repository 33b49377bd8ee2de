/* SPDX-License-Identifier: MIT
 * One set on many machines: a handle that is kept equal to those of the other nodes, by way of
 * redis. In a library of its own: link with -lweir-redis (pkg-config weir-redis).
 *
 *     struct weir_replica_options o = WEIR_REPLICA_OPTIONS_INIT;
 *     o.set = "seen";
 *     o.url = "redis://10.0.0.5";
 *     o.params = &params;                               if there is no such set yet
 *     weir_replica_open(&replica, &o);                  fetches the set as it is now
 *     set = weir_replica_handle(replica);
 *     weir_handle_contains(set, key, len)               any thread: local, as ever
 *     weir_replica_insert(replica, key, len, WEIR_REPLICA_SOON)
 *                                                       any thread: here at once, soon everywhere
 *     weir_replica_insert(replica, key, len, WEIR_REPLICA_CONFIRMED)
 *                                                       when it has returned, redis has it
 *     weir_replica_close(replica);
 *
 * A thread of the library owns the connection. It sends what was inserted here, applies what was
 * inserted elsewhere, and when somebody publishes a generation it has the image fetched by another
 * thread, adds what followed, and swaps it in by a reload (reload.h), so that no insert is lost. An
 * image of another node's set is not fetched where all that it has is there already. Lookups never
 * wait for any of it, nor do inserts for an image. Inserts that bypass weir_replica_insert() stay
 * on this node, until it takes another image.
 *
 * What an insert survives, once the call has returned:
 *
 *                                 | insert    | confirmed,   | confirmed,    | confirmed, all
 *                                 | (local)   | appendfsync  | appendfsync   | replicas waited
 *                                 |           | everysec     | always        | for
 *     this node ends              | no (a)    | yes          | yes           | yes
 *     redis restarts              | yes (b)   | yes (b)      | yes           | yes
 *     its machine loses power     | yes (b)   | yes (b)      | yes           | yes (b)
 *     another redis is promoted   | yes (b)   | yes (b)      | yes (b)       | yes
 *     the network is cut          | yes (c)   | yes          | yes           | yes
 *     redis ends, and this node   | no        | last second  | yes           | if one of the
 *       too, before it is back    |           |   no         |               |   replicas lives
 *     promoted, and this node     | no        | no           | no            | yes
 *       ended before              |           |              |               |
 *   (a) what was not sent yet: some 100 ms.
 *   (b) because this node has it and sends it again.
 *   (c) it is sent when the network is back, if max_pending_bytes sufficed until then.
 *   WAIT, which the last column rests on, tells of memory, not of disks, and waiting for fewer
 *   replicas than there are does not survive every promotion. Redis promises no more, nor does
 *   this. What somebody deletes from redis by hand is in no node's promise, though nodes notice.
 *
 * Kinds. Inserts are replicated of blocked, classic, growing and split filters: there an insert may
 * come twice. Fuse and layered filters are replicated by images alone. The others are refused.
 *
 * Full. When redis has no room but for an image and a manifest (maxmemory), batches wait here;
 * beyond max_pending_bytes a local insert goes on on this node alone, answers as always and is
 * counted (not_replicated), and a confirmed one answers -EAGAIN. What is kept so is everywhere when
 * this node publishes its set, and is gone when it joins another's generation before that. Set
 * maxmemory-policy noeviction: other policies may evict the set's keys.
 *
 * Seeds. Nodes tell one another the hashes of keys, which mean something by one seed alone: all
 * filters of a set have that of the first. Who wants to change it, once or now and then, publishes
 * the set with stream_keys: nodes then tell one another the keys, of at most 65,532 bytes, each
 * with 4 bytes for its length, and a generation from a record (weir_replica_publish_from()) may be
 * of any seed. Each node hashes a key for each filter in use; a handle of the caller's needs
 * WEIR_HANDLE_ANY_SEED. A secret is no seed: all have the same.
 *
 * Keys. In a set with normalisation (text.h, weir build --lowercase and its like) they are texts,
 * and generations by other steps are refused. With cidr or suffixes no hash stands for a text, so
 * inserts want stream_keys: without it, and of hashes, they fail (-EINVAL).
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

/** weir_replica_options.replicas: as many as are connected to redis, or were in the last ten
 * minutes: one that is cut off for the moment may be promoted all the same. So may one that is
 * still being given what the master had when it came: until it has that, nothing is confirmed. */
#define WEIR_REPLICAS_ALL UINT32_MAX

/** The largest weir_replica_options.keep. */
#define WEIR_REPLICA_KEEP_MOST 64

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
	uint32_t connect_ms, answer_ms; /* time-outs: to find and reach a host, and between two
	                                   pieces of an answer; 0: 5000, 10000 */

	/* The handle. */
	struct weir_handle *handle;    /* of the caller's, with a filter of the set's own seed:
	                                  nothing is waited for then, and redis may be away; not
	                                  closed by weir_replica_close(). NULL: it is made from what
	                                  redis has */
	const struct weir_params *params; /* then: of the filter if nobody has published one yet,
	                                     which makes it generation 1, of which report hears;
	                                     NULL: that is an error. A set that is there stays as
	                                     it is: if it is of another kind or size, report
	                                     hears of it once */
	const void *secret;          /* of keyed filters: 16 bytes */
	uint64_t max_image_bytes;      /* refuse larger images, also when unpacked: some 500 KB
	                                  of zstd may be 16 GiB; 0: 16 GiB */

	/* Inserts. */
	uint64_t max_pending_bytes;    /* of batches that could still be lost; 0: 256 MiB */
	uint32_t poll_ms;              /* how often to look, up to half as much longer; 0: 100 */
	uint32_t idle_ms;              /* how often to report, and to say so when there is nothing
	                                  to send; after four times that a silent node has gone,
	                                  as far as others wait for it; 0: 5000 */
	bool stream_keys;              /* nodes tell one another keys, not hashes, so that a
	                                  generation may be of another seed (see below, Seeds):
	                                  settled when a set is first published. With a handle
	                                  of the caller's: it must be as the set is */
	uint32_t confirm_replicas;     /* that must have a confirmed insert; WEIR_REPLICAS_ALL */
	uint32_t confirm_ms;           /* how long a confirmed insert waits at most; 0: 10000 */

	bool passing;                  /* it ends soon, as a command does: one that has been killed,
	                                  or could not say that it ends, has simply gone */

	/* Publishing. */
	uint32_t publish_seconds;      /* publish this node's set so often, if no other node has
	                                  the lease to; 0: only by weir_replica_publish() */
	uint32_t replicas;             /* that must have a generation before batches that it covers
	                                  are forgotten */
	uint32_t keep;                 /* generations to keep for a rollback, the current one too:
	                                  1 to WEIR_REPLICA_KEEP_MOST; 0: 2 */
	int zstd_level;                /* of images; 0: not compressed */
	const char *secret_key;        /* file of the key to sign with; NULL: none */
	const char *image_folder;      /* where images are put for a web server; NULL: in redis */

	/* Trust. */
	const char *trusted_keys;      /* file of public keys: no generation without a signature of
	                                  one of them is taken; NULL: any. It is read when the
	                                  set is joined: a node that is to trust another key is
	                                  closed and opened */
	const char *image_url;         /* base URL of images that are in no redis; https:// */
	const char *image_ca_file;     /* its authorities; NULL: the system's */
	bool image_http;               /* http:// will do */
	const char *read_url;          /* replicas of redis, one drawn at random, of which images
	                                  are asked first: what they lack, or all when they are
	                                  away, comes from the master; users, passwords and TLS as
	                                  of url; NULL: none */

	/* Called on the library's thread: a generation was swapped in (@result 1), something began
	 * to fail (a negative errno) or is over, or is worth a look (0), with a sentence valid
	 * until it returns. A server that is full is one failure, whatever its numbers are. It
	 * must not call weir_replica_*(). NULL: a line on standard error. */
	void (*report)(void *context, int result, const char *sentence);
	void *context;                 /* not copied */
};
#define WEIR_REPLICA_OPTIONS_INIT \
	{ sizeof(struct weir_replica_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, 0, 0, 0, 0, \
	  0, 0, 0, 0, 0, false, 0, 0, false, 0, WEIR_REPLICAS_ALL, 0, 0, 0, 0, 0, 0, 0, false, 0, \
	  0, 0 }

/**
 * Join a set, and start the thread that keeps this node equal to the others. All that redis has of
 * the set when this is called is there when it returns, unless the handle is the caller's.
 * @out: receives the replica; untouched on failure.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL an option; -ENOENT nobody has published the set and there are no params;
 *   -EKEYREJECTED the image or its signature is by another seed or key; -ENOTSUP a kind that cannot
 *   be replicated, or an option this build lacks; -EBADMSG what is there is damaged; -ENOMEM,
 *   -EAGAIN no thread, redis cannot serve now, or nobody has published the set (any more) and
 *   nodes that live have sent inserts that are by another seed: one of those can publish it; the
 *   errno of connecting. With a handle of the caller's those of the connection go to report.
 * Threads: any one.  Progress: blocking; of a set that redis has lost, some 20 seconds for whoever
 *   lives to say so.  Cost: that of fetching the image.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_open(struct weir_replica **out,
                                               const struct weir_replica_options *options);

/**
 * Send what is pending, as far as one try goes, stop the thread, and free the replica.
 * @r: a replica, or NULL for nothing. Its handle is destroyed if weir_replica_open() made it.
 * Return: 0; -EBUSY a reload of the caller's is open, -EDEADLK inside a read-side section or on the
 *   library's thread: it is not closed yet, though the thread may have stopped, and may be closed
 *   again; -EAGAIN closed, but inserts of this node may not have reached redis, in which case
 *   weir_error_detail() says how many bytes of them; -EKEYREJECTED closed, but somebody has begun
 *   the set anew by another seed or key, and the others pass by what this node inserted.
 * Threads: one, when all other calls have returned.  Progress: blocking: for what is pending up to
 *   confirm_ms, and as long again and a second where redis does not answer.
 */
WEIR_API int weir_replica_close(struct weir_replica *r);

/** The handle, for lookups by any of handle.h's verbs. Wait-free. */
WEIR_API struct weir_handle *weir_replica_handle(const struct weir_replica *r);

/** What an insert waits for. */
enum weir_replica_wait {
	WEIR_REPLICA_SOON = 0,      /* nothing: the key is here now, and soon on all other nodes */
	WEIR_REPLICA_CONFIRMED = 1, /* redis has it, and confirm_replicas: see the table above */
};

/**
 * Insert a key here and on all other nodes. Confirmed inserts of several threads are sent together.
 * @wait: enum weir_replica_wait.
 * Return: WEIR_NEW, WEIR_SEEN, or a negative errno.
 * Errors: as weir_handle_insert(): then it is on no node for certain; -EINVAL @wait. A key that
 *   this node keeps to itself, since there was no room for it in pending batches, is no error
 *   (above: Full). With WEIR_REPLICA_CONFIRMED also -EAGAIN redis, or this node's room for batches,
 *   is full; -ETIMEDOUT it was not confirmed within confirm_ms; -EKEYREJECTED somebody has begun
 *   the set anew by another seed or key, and the other nodes pass by what this one inserts. In all
 *   three the key is in this node's set, and it is sent when that is possible: who needs to know
 *   calls again, or weir_replica_flush().
 * Threads: any; to wait, outside of read-side sections.  Progress: a lock that is held for an
 *   append, and while batches are made of what was appended; with WEIR_REPLICA_CONFIRMED blocking
 *   (network).  Cost: that of weir_handle_insert() and some 20 ns.
 */
WEIR_API int weir_replica_insert(struct weir_replica *r, const void *key, size_t len,
                                 uint32_t wait);
/** As weir_replica_insert(), of a number, as weir_handle_insert_u64() takes it.
 * Errors: also -ENOTSUP in a set with normalisation whose batches are of keys (stream_keys): the
 *   other nodes would take it for text. */
WEIR_API int weir_replica_insert_u64(struct weir_replica *r, uint64_t key, uint32_t wait);
/** As weir_replica_insert(), of a hash (weir_handle_hash()). */
WEIR_API int weir_replica_insert_hash(struct weir_replica *r, uint64_t hash, uint32_t wait);
/**
 * As weir_replica_insert(), of a batch, which waits once.
 * @bitmap: as weir_handle_insert_keys().
 * Return: how many were new, or a negative errno.
 * Errors: as weir_replica_insert() and weir_replica_insert_u64(), of the first key that is refused:
 *   weir_error_taken() keys before it are in. -EINVAL a batch of no form; -ENOMEM.
 * Cost: as weir_handle_insert_keys() and 20 ns a key; above 64 keys, 8 bytes of memory for each.
 */
WEIR_API int64_t weir_replica_insert_keys(struct weir_replica *r, struct weir_keys keys,
                                          uint64_t *bitmap, uint32_t wait);

/**
 * Wait until all that was inserted before this call is confirmed.
 * @milliseconds: at most; 0: confirm_ms.
 * Return: 0; -EAGAIN, -ETIMEDOUT, -EKEYREJECTED as above; -ECANCELED a weir_replica_close() that
 *   failed has stopped the thread.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_flush(struct weir_replica *r, uint32_t milliseconds);

/**
 * Publish this node's set as the next generation. If the image of one that another node has
 * published is on its way here, it is waited for.
 * Return: 0 or a negative errno.
 * Errors: -EAGAIN this node lacks inserts of others, or redis cannot serve now; -EPERM another node
 *   has the lease to publish; -EEXIST another has just published; -ENOSPC redis is full;
 *   -EKEYREJECTED what is there is signed, and this would not be; -ENOTSUP; those of the
 *   connection.
 * Threads: any, outside of read-side sections.  Progress: blocking.  Cost: an image's transport.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish(struct weir_replica *r);

/**
 * Publish this node's set together with another filter's keys as the next generation.
 * @more: of the set's own seed, and of a size that weir_merge() unites with it.
 * Return: 0 or a negative errno.
 * Errors: as weir_replica_publish(); -EKEYREJECTED another kind or size: it can replace the set
 *   (weir_replica_publish_from()), and not be united with it; or another seed or key, by which it
 *   cannot replace it either unless batches are of keys; -ENOTSUP a kind for which that is so;
 *   else those of weir_merge().
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish_with(struct weir_replica *r,
                                                       const struct weir_filter *more);

/**
 * Publish a filter made from the application's own record, which replaces the set: what is neither
 * in it nor inserted since is in the set no more.
 * @make: called once, on the calling thread, after the place in the stream was noted from which
 *   inserts are added to the filter: it reads the record and makes a filter of the set's own seed
 *   (weir_replica_params()). That loses nothing only if applications write their record
 *   before they insert, and if the record that is read has all that was written: it is no
 *   replica that lags. It returns 0 or a negative errno.
 * Return: 0 or a negative errno.
 * Errors: those of weir_replica_publish() but -EAGAIN for lacking inserts; what make returned;
 *   -ESTALE redis began anew meanwhile: call again; -EKEYREJECTED another seed or key.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_publish_from(
	struct weir_replica *r, int (*make)(void *context, struct weir_filter **out),
	void *context);

/**
 * Publish a generation of before again, with all that was inserted since, as the newest. If redis
 * has lost what nodes that run have (it came back without what it had last), some of what followed
 * may be in their sets alone: those keep theirs beside it, and say so, until a generation comes
 * that was made from the record.
 * @generation: one that is kept; also the current one, which is signed anew by this node then.
 * Return: 0 or a negative errno.
 * Errors: as weir_replica_publish(); -ENOENT it is not kept, or not all that followed it is;
 *   -EKEYREJECTED a secret key and no trusted ones: redis may say that anything was kept; -EBADMSG
 *   what is kept by that number is another.
 * Threads: any, outside of read-side sections.  Progress: blocking.
 */
WEIR_API WEIR_MUST_CHECK int weir_replica_rollback(struct weir_replica *r, uint64_t generation);

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

/** Start from WEIR_REPLICA_STATS_INIT. */
struct weir_replica_stats {
	size_t struct_size;
	bool connected;           /* the last exchange with redis succeeded */
	bool complete;            /* nothing is known that this node lacks: no insert, and no
	                             generation whose image is still to come */
	uint64_t lacking_ms;      /* for how long that has not been so */
	uint64_t generation;      /* that was joined last; 0: none */
	uint64_t newest;          /* that redis was seen to have */
	uint64_t refused;         /* generation whose image will not do; 0: none */
	uint64_t batches_read;    /* applied, of all nodes */
	uint64_t retained_bytes;  /* of batches that are kept: the limit is max_pending_bytes */
	uint64_t not_replicated;  /* inserts that this node keeps to itself, or kept until it joined
	                             another's generation; 0 when it has published its set */
	uint64_t failures;        /* exchanges that failed, ever */
	uint64_t node;            /* this node's id: random for each open */
	uint64_t image_here;      /* bytes of an image on its way that are here, */
	uint64_t image_bytes;     /* and that it has; 0: none is on its way */
	char error[WEIR_SENTENCE_BYTES]; /* the last failure's sentence, if it is not over; "" */
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
 * The names are those of weir replicate status --prometheus, weir_replica_node_complete and so on;
 * connected, newest_generation, batches_total and failures_total are here only.
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

/** A node, as it has reported. */
struct weir_replica_node {
	uint64_t node, opened;    /* its id; and its first one: others follow when redis has lost
	                             what it knew of it */
	char host[65];
	int64_t pid;
	double age;               /* seconds since its report, or until it: redis's clock may have
	                             been set back */
	uint64_t generation;
	char checksum[33];        /* of that generation's image: nodes that agree have the same */
	char position[42];        /* in the stream, up to which it has applied all */
	bool complete, publisher; /* publisher: it is to publish now and then */
	bool passing;             /* a command, which ends soon: here while it reports */
	double lacking;           /* seconds for which it had not been complete when it reported */
	uint64_t retained_bytes, not_replicated, refused;
	uint64_t image_here, image_bytes; /* of an image on its way */
	uint64_t keys, capacity;  /* in its filter, by estimate, and those that it is made for */
	bool saturated, nearly_full; /* as struct weir_stats has them */
	char error[WEIR_SENTENCE_BYTES]; /* "": all is well */
};

/** A generation, as its manifest says. */
struct weir_replica_generation {
	uint64_t generation, base;
	uint64_t image_bytes;
	uint64_t published_ms;    /* milliseconds since 1970, by the server's clock; if it is
	                             signed, by its publisher's */
	uint64_t publisher;       /* the node */
	char checksum[33];
	char position[42];        /* in the stream, up to which it has all */
	const char *kind;
	bool stream_keys;         /* as the option says */
	bool is_signed;           /* by somebody */
	bool damaged;             /* what is there is no manifest: the other fields are 0 */
	uint64_t chunks_absent;   /* pieces of its image that redis has lost */
};

/** What redis has of a set. */
struct weir_replica_view {
	uint64_t now_ms;          /* the server's clock */
	char epoch[57];           /* of the server's history: another after each restart */
	struct weir_replica_generation current; /* generation 0: none */
	uint64_t lease_owner;     /* who may publish now; 0: anybody */
	int64_t lease_ms;         /* for how long */
	uint64_t stream_length, stream_added; /* batches there, and ever */
	char stream_last[42];     /* the id of the last */
	uint64_t used_memory, maxmemory;
	char policy[32];          /* maxmemory-policy: noeviction, or redis may lose the set */
	char no_writes[401];      /* why it takes none, in its words: its replicas are away, or it
	                             cannot save; "": it takes them, or is full */
	struct weir_replica_node *nodes; /* by the age of their reports */
	size_t node_count;
	struct weir_replica_generation *kept; /* to which a rollback is possible, newest first */
	size_t kept_count;
};

/**
 * Look at a set without joining it: nothing is written.
 * @options: as for weir_replica_open(), of which those of the connection and set are used.
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
