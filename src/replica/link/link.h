/* SPDX-License-Identifier: MIT
 * A connection to the redis master that a URL leads to. It uses RESP2, and one thread owns it.
 *
 *     redis://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/DATABASE]   several: a Cluster
 *     rediss://...                                                 redis:// over TLS
 *     unix://[USER[:PASSWORD]@]/PATH[?db=DATABASE]
 *     redis+sentinel://[...@]HOST[:PORT][,HOST[:PORT]...]/MASTER[/DATABASE]
 *     rediss+sentinel://...                                        Sentinels and master over TLS
 *
 * A call first connects if the link is not connected. The server is untrusted, so the link limits
 * the length of an answer before it allocates memory, and every wait has a time limit.
 *
 * Error sentences never show the password options or the text of a URL up to its @. They show only
 * known words of an error reply to AUTH. They may show the text of a URL without @, and other error
 * replies, in which a hostile server can repeat a password. */
#ifndef WEIR_REPLICA_LINK_H
#define WEIR_REPLICA_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct redisReply; /* hiredis: freed by freeReplyObject() */
struct weir_link;

/* An option whose text is NULL is not set. The link copies the URL; all other texts must stay valid
 * until the link is closed. */
struct weir_link_options {
	const char *url;
	const char *user, *password; /* override user and password of the URL */
	const char *password_file;   /* overrides any password; read at each connection */
	const char *sentinel_user, *sentinel_password; /* for the Sentinels */
	const char *client_name;     /* sent with CLIENT SETNAME */
	/* TLS. Without ca_file the system's certificate authorities are trusted. */
	const char *ca_file, *cert_file, *key_file;
	const char *server_name;     /* the name that the certificate must have; NULL: the URL's
	                                host */
	bool insecure;               /* accept any certificate */
	uint32_t connect_ms;         /* longest time for lookup, TCP, TLS and login; 0: 1000 */
	uint32_t answer_ms;          /* longest wait for the next bytes of an answer; 0: 10000. The
	                                whole answer may take this time, plus 1 s for each
	                                10 KB */
	size_t max_bytes;            /* largest size of one reply; 0: 16 MiB */
	/* Called by the waiting thread after each piece of an answer, unless this is a second link;
	 * NULL: no call. */
	void (*waiting)(void *context);
	void *waiting_context;
};

/* Check the options, without connecting. Return: 0; -EINVAL, also for a bad TLS file; -ENOTSUP if
 * this build has no TLS; -ENOMEM; an error of eventfd(). */
int weir__link_open(struct weir_link **out, const struct weir_link_options *options);
/* Open a second link to the server of @of, with the options of @of. A call fails with -ENOTCONN
 * while @of is not connected. If @of has closed its connection since the second link connected, the
 * call closes the second link and returns -ECONNRESET. Close @of last. Each of the two links may
 * have its own thread. */
int weir__link_open_second(struct weir_link **out, struct weir_link *of);
void weir__link_close(struct weir_link *l);

/* Send a command and wait for its answer. After MOVED, send it to the server that MOVED names.
 * @reply: receives the answer, also an error reply. These errors, of a server that cannot serve
 *   now, become -EAGAIN: LOADING, BUSY, TRYAGAIN, ASK, MASTERDOWN, CLUSTERDOWN, READONLY,
 *   UNBLOCKED, too many clients. NOAUTH, WRONGPASS and DENIED become -EACCES. NOPERM stays a reply.
 * Return: 0; -EAGAIN; -EACCES; -ECONNREFUSED, -ECONNRESET, -ETIMEDOUT, -EHOSTUNREACH, ... ; -EPROTO
 *   the bytes are not RESP, or come without a command; -EMSGSIZE the reply exceeds max_bytes or
 *   the limits of lines and arrays (wire.h); -E2BIG the command is too large; -EKEYREJECTED the
 *   certificate is refused; -ECANCELED after weir__link_interrupt(). All but LOADING, BUSY,
 *   TRYAGAIN, ASK, NOAUTH, WRONGPASS and -E2BIG close the connection. The next call connects again.
 *   If the URL names several servers of redis, that call first tries the server that the URL names
 *   after the failed server. */
int weir__link_call(struct weir_link *l, const struct iovec *args, size_t n,
                    struct redisReply **reply);

/* The two halves of a call: send a few commands, then receive the answer of each, in order. If an
 * answer is MOVED, receiving it returns -EAGAIN: send all commands again. An error that closes the
 * connection drops the pending answers; receiving a dropped answer returns -ENOTCONN.
 * @ms: replaces answer_ms if redis may take longer (XREAD BLOCK, WAIT); 0: answer_ms. */
int weir__link_send(struct weir_link *l, const struct iovec *args, size_t n);
int weir__link_receive(struct weir_link *l, uint32_t ms, struct redisReply **reply);
/* Receive without blocking. While the answer is incomplete, returns 0 with NULL in @reply: then
 * poll weir__link_fd() for POLLIN. A call after the time limit returns -ETIMEDOUT. */
int weir__link_poll(struct weir_link *l, uint32_t ms, struct redisReply **reply);
int weir__link_fd(const struct weir_link *l); /* -1: not connected */

/* Ask a Sentinel, on a separate connection, whether the master has left the address to which @l is
 * connected. Call it every 5 s: a master that is cut off may keep its connection open. Blocks up to
 * connect_ms.
 * Return: 1 the master has left; 0 it has not, @l is not connected, or the URL names no Sentinel; a
 *   negative errno if this Sentinel does not answer: the next call asks the next Sentinel. */
int weir__link_master_moved(struct weir_link *l);

/* Return: the number of connections that @l has made. */
uint64_t weir__link_connections(const struct weir_link *l);
/* The server to which @l is connected or was connected last; before the first connection, the URL's
 * first host. The text has the form "redis://host:6379" or "unix:///path". */
const char *weir__link_peer(const struct weir_link *l);

/* Any thread may call this. The call in flight and all later calls return -ECANCELED until
 * weir__link_reset(). */
void weir__link_interrupt(struct weir_link *l);
/* Close the connection and clear an interruption. No call may be in flight. */
void weir__link_reset(struct weir_link *l);

#endif
