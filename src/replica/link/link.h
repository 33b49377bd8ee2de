/* SPDX-License-Identifier: MIT
 * A connection to redis: one master, found where the URL says, held by one thread. RESP2.
 *
 *     redis://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/DATABASE]   several: of a Cluster
 *     rediss://...                                                 the same over TLS
 *     unix://[USER[:PASSWORD]@]/PATH[?db=DATABASE]
 *     redis+sentinel://[...@]HOST[:PORT][,HOST[:PORT]...]/MASTER[/DATABASE]
 *     rediss+sentinel://...                                        all of them over TLS
 *
 * A call connects if need be. The other end may be anybody: what it sends is limited before memory
 * is taken for it, and no wait is without an end. No sentence has a password. */
#ifndef WEIR_REPLICA_LINK_H
#define WEIR_REPLICA_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct redisReply; /* hiredis: freed by freeReplyObject() */
struct weir_link;

/* NULL: none. All texts but the URL stay the caller's, and stay until the link is closed. */
struct weir_link_options {
	const char *url;
	const char *user, *password; /* override those of the URL */
	const char *password_file;   /* overrides both: its first line, read at each connection */
	const char *sentinel_user, *sentinel_password; /* those of Sentinel itself */
	const char *client_name;     /* CLIENT SETNAME */
	/* TLS. Without ca_file the system's own authorities are trusted. */
	const char *ca_file, *cert_file, *key_file;
	const char *server_name;     /* the name that the certificate must have; NULL: the host's */
	bool insecure;               /* any certificate will do */
	uint32_t connect_ms;         /* of one try: name, connection, TLS and greeting; 0: 1000 */
	uint32_t answer_ms;          /* begun anew with each piece of an answer; 0: 10000. All of
	                                it may take a second more for each 10 KB */
	size_t max_bytes;            /* of one reply; 0: 16 MiB */
	/* Called between two pieces of an answer, on the thread that waits for it; NULL: nothing.
	 * Not of a link beside this one. */
	void (*waiting)(void *context);
	void *waiting_context;
};

/* Check the options; nothing is connected yet.
 * Return: 0; -EINVAL; -ENOTSUP TLS in a build without it; -ENOMEM; those of reading files. */
int weir__link_open(struct weir_link **out, const struct weir_link_options *options);
/* A link with the options of @of, another link that weir__link_open() made. It connects to the
 * address to which @of is connected at that time, and to no other: -ENOTCONN without one. When @of
 * has connected anew since, a call closes this connection: -ECONNRESET. @of is closed last; each
 * may be held by a thread of its own. */
int weir__link_open_beside(struct weir_link **out, struct weir_link *of);
void weir__link_close(struct weir_link *l);

/* Send a command and wait for its answer. MOVED is followed; it is never sent twice but for that.
 * @reply: receives the answer, also an error's. Some errors mean that this server cannot serve now
 *   and become -EAGAIN: LOADING, BUSY, TRYAGAIN, ASK, MASTERDOWN, CLUSTERDOWN, READONLY, UNBLOCKED,
 *   too many clients; or -EACCES: NOAUTH, WRONGPASS, DENIED. NOPERM stays a reply.
 * Return: 0; -EAGAIN; -EACCES; -ECONNREFUSED, -ECONNRESET, -ETIMEDOUT, -EHOSTUNREACH, ... ;
 *   -EPROTO what came is no RESP, or no answer to a command; -EMSGSIZE the reply is larger than
 *   max_bytes, or has lines or arrays that none of redis has; -E2BIG the command; -EKEYREJECTED the
 *   certificate; -ECANCELED by weir__link_interrupt(). After all but LOADING, BUSY, TRYAGAIN, ASK,
 *   NOAUTH, WRONGPASS and -E2BIG the connection is closed, and the next call makes another; where
 *   the URL has several hosts, to the next of them. */
int weir__link_call(struct weir_link *l, const struct iovec *args, size_t n,
                    struct redisReply **reply);

/* The two halves of a call: a few commands are sent, then the answer of each is received, in order.
 * MOVED is -EAGAIN here: all of them are to be sent again. After an error that closes the
 * connection no answer is owed any more: -ENOTCONN.
 * @ms: in place of answer_ms, where redis may take longer (XREAD BLOCK, WAIT); 0: answer_ms. */
int weir__link_send(struct weir_link *l, const struct iovec *args, size_t n);
int weir__link_receive(struct weir_link *l, uint32_t ms, struct redisReply **reply);
/* As weir__link_receive(), but 0 and NULL in @reply if the answer is not whole yet: then poll
 * weir__link_fd() for POLLIN. -ETIMEDOUT as there, if it is called again. */
int weir__link_take(struct weir_link *l, uint32_t ms, struct redisReply **reply);
int weir__link_fd(const struct weir_link *l); /* -1: there is no connection */

/* Ask a Sentinel, on a connection of its own, whether the master is at another address than the
 * one to which @l is connected: every 5 s, since the connection to a master that was cut off
 * from the others may live on. Waits up to connect_ms.
 * Return: 1 it is; 0 it is not, there is no connection, or the URL names no Sentinel; a negative
 *   errno: this Sentinel does not say; the next one is asked next. */
int weir__link_master_moved(struct weir_link *l);

/* How many connections @l has made. */
uint64_t weir__link_number(const struct weir_link *l);
/* "redis://host:6379", "unix:///path": to whom it is connected, or was, or would connect first. */
const char *weir__link_peer(const struct weir_link *l);

/* Any thread. The call under way and all later ones end with -ECANCELED, until
 * weir__link_rest(). */
void weir__link_interrupt(struct weir_link *l);
/* When no call is under way: close the connection, and take an interruption back. */
void weir__link_rest(struct weir_link *l);

#endif
