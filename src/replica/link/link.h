/* SPDX-License-Identifier: MIT
 * A connection to one redis master, which the URL leads to. One thread holds it. RESP2.
 *
 *     redis://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/DATABASE]   several: a Cluster
 *     rediss://...                                                 the same over TLS
 *     unix://[USER[:PASSWORD]@]/PATH[?db=DATABASE]
 *     redis+sentinel://[...@]HOST[:PORT][,HOST[:PORT]...]/MASTER[/DATABASE]
 *     rediss+sentinel://...                                        Sentinels and master over TLS
 *
 * A call connects first if it must. The server is untrusted: answers are limited before memory is
 * allocated for them, and every wait has an end.
 *
 * Error sentences leave out the password options, the text of a URL up to its @, and all but known
 * words of an error that answers AUTH. They may show the text of a URL without @, and the server's
 * other errors, where a hostile server can repeat a password. */
#ifndef WEIR_REPLICA_LINK_H
#define WEIR_REPLICA_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct redisReply; /* hiredis: freed by freeReplyObject() */
struct weir_link;

/* NULL: not set. The link copies the URL; the other texts must stay until it is closed. */
struct weir_link_options {
	const char *url;
	const char *user, *password; /* override those of the URL */
	const char *password_file;   /* overrides both: its first line, read at each connection */
	const char *sentinel_user, *sentinel_password; /* those of Sentinel itself */
	const char *client_name;     /* CLIENT SETNAME */
	/* TLS. Without ca_file the system's own authorities are trusted. */
	const char *ca_file, *cert_file, *key_file;
	const char *server_name;     /* the name that the certificate must have; NULL: the host's */
	bool insecure;               /* accept any certificate */
	uint32_t connect_ms;         /* of one try: name, connection, TLS and greeting; 0: 1000 */
	uint32_t answer_ms;          /* for each piece of an answer; 0: 10000. The whole answer
	                                may take this and a second for each 10 KB */
	size_t max_bytes;            /* of one reply; 0: 16 MiB */
	/* The thread that waits for an answer calls it between two pieces; NULL: no call. Links
	 * beside this one do not call it. */
	void (*waiting)(void *context);
	void *waiting_context;
};

/* Check the options, without connecting.
 * Return: 0; -EINVAL, also a bad TLS file; -ENOTSUP no TLS in this build; -ENOMEM; of eventfd(). */
int weir__link_open(struct weir_link **out, const struct weir_link_options *options);
/* Open a link with the options of @of, a link that weir__link_open() made. It connects only to the
 * address to which @of is connected at that time; -ENOTCONN if @of is not connected. If @of has
 * left that connection since, the next call closes this one too: -ECONNRESET. Close @of last. Each
 * link may have a thread of its own. */
int weir__link_open_beside(struct weir_link **out, struct weir_link *of);
void weir__link_close(struct weir_link *l);

/* Send a command and wait for its answer. Only MOVED makes it send again, to the server it names.
 * @reply: receives the answer, also an error reply. Errors of a server that cannot serve now become
 *   -EAGAIN: LOADING, BUSY, TRYAGAIN, ASK, MASTERDOWN, CLUSTERDOWN, READONLY, UNBLOCKED, too many
 *   clients; or -EACCES: NOAUTH, WRONGPASS, DENIED. NOPERM stays a reply.
 * Return: 0; -EAGAIN; -EACCES; -ECONNREFUSED, -ECONNRESET, -ETIMEDOUT, -EHOSTUNREACH, ... ;
 *   -EPROTO the bytes are not RESP, or answer no command; -EMSGSIZE the reply exceeds max_bytes, or
 *   the limits of lines and arrays (wire.h); -E2BIG the command is too large; -EKEYREJECTED the
 *   certificate is refused; -ECANCELED after weir__link_interrupt(). All but LOADING, BUSY,
 *   TRYAGAIN, ASK, NOAUTH, WRONGPASS and -E2BIG close the connection. The next call makes another;
 *   if the URL has several hosts, to the next host. */
int weir__link_call(struct weir_link *l, const struct iovec *args, size_t n,
                    struct redisReply **reply);

/* The two halves of a call: send a few commands, then receive the answer of each, in order. MOVED
 * is -EAGAIN here: send all of them again. An error that closes the connection drops the answers
 * still owed; receiving one then returns -ENOTCONN.
 * @ms: replaces answer_ms if redis may take longer (XREAD BLOCK, WAIT); 0: answer_ms. */
int weir__link_send(struct weir_link *l, const struct iovec *args, size_t n);
int weir__link_receive(struct weir_link *l, uint32_t ms, struct redisReply **reply);
/* Like weir__link_receive(), but returns 0 with NULL in @reply while the answer is incomplete: then
 * poll weir__link_fd() for POLLIN. A call after the time limit returns -ETIMEDOUT. */
int weir__link_take(struct weir_link *l, uint32_t ms, struct redisReply **reply);
int weir__link_fd(const struct weir_link *l); /* -1: not connected */

/* Ask a Sentinel, on a connection of its own, whether the master has left the address to which @l
 * is connected. Call it every 5 s, since the connection to a master that was cut off from the other
 * servers may stay open. Waits up to connect_ms.
 * Return: 1 it has; 0 it has not, @l is not connected, or the URL names no Sentinel; a negative
 *   errno: this Sentinel does not tell; the next call asks the next one. */
int weir__link_master_moved(struct weir_link *l);

/* How many connections @l has made. */
uint64_t weir__link_number(const struct weir_link *l);
/* "redis://host:6379", "unix:///path": its server; if not connected, the last or first. */
const char *weir__link_peer(const struct weir_link *l);

/* Any thread may call this. The call in flight and all later ones end with -ECANCELED, until
 * weir__link_rest(). */
void weir__link_interrupt(struct weir_link *l);
/* Close the connection and clear an interruption. No call may be in flight. */
void weir__link_rest(struct weir_link *l);

#endif
