/* SPDX-License-Identifier: MIT
 * A connection to redis: one master, found where the URL says, held by one thread. RESP2.
 *
 *     redis://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/DATABASE]   several: of a Cluster
 *     rediss://...                                                 the same over TLS
 *     unix://[USER[:PASSWORD]@]/PATH[?db=DATABASE]
 *     redis+sentinel://[...@]HOST[:PORT][,HOST[:PORT]...]/MASTER[/DATABASE]
 *     rediss+sentinel://...                                        all of them over TLS
 *
 * A call connects if need be. Whatever comes from the other end is limited before memory is taken
 * for it: the other end may be anybody. */
#ifndef WEIR_REPLICA_WIRE_H
#define WEIR_REPLICA_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct redisReply; /* hiredis: freed by freeReplyObject() */
struct weir_wire;

/* Texts are copied; NULL: none. */
struct weir_wire_options {
	const char *url;
	const char *user, *password; /* override those of the URL */
	const char *password_file;   /* its first line is the password; read at each connection, so
	                                that it can be rotated */
	const char *sentinel_user, *sentinel_password; /* those of Sentinel itself */
	const char *client_name;     /* CLIENT SETNAME */
	/* TLS. Without ca_file the system's own authorities are trusted. */
	const char *ca_file, *cert_file, *key_file;
	const char *server_name;     /* the name that the certificate must have; NULL: the host's */
	bool insecure;               /* any certificate will do */
	uint32_t connect_ms, answer_ms; /* 0: 5000, 10000. connect_ms: of a host, for its name and
	                                   a connection together. answer_ms: from call to whole
	                                   answer, begun anew with each piece that arrives */
	size_t max_bytes;            /* of one reply; 0: 256 MiB */
};

/* Check the options and the URL; nothing is connected yet.
 * Return: 0; -EINVAL what is wrong, without any password in the sentence; -ENOTSUP TLS was asked
 *   for and this build has none; -ENOMEM; those of reading files. */
int weir__wire_open(struct weir_wire **out, const struct weir_wire_options *options);
void weir__wire_close(struct weir_wire *w);

/* Send a command and wait for its answer, on the connection there is, or a new one. MOVED and ASK
 * are followed. It is never sent twice but after those: whoever calls knows whether that does harm.
 * @reply: receives the answer, an error's too (REDIS_REPLY_ERROR). Of those these mean that the
 *   server cannot serve now, and become -EAGAIN: LOADING, MASTERDOWN, CLUSTERDOWN, TRYAGAIN, BUSY,
 *   READONLY (another is master by now); NOAUTH, WRONGPASS: -EACCES. NOPERM stays a reply.
 * Return: 0; -EAGAIN; -EACCES; -ECONNREFUSED, -ECONNRESET, -ETIMEDOUT, -EHOSTUNREACH, ... ;
 *   -EPROTO what came is no RESP, or no answer to a command; -EMSGSIZE the reply is larger than
 *   max_bytes, or has a line or arrays that none of redis has; -E2BIG the command is too large;
 *   -EKEYREJECTED the certificate; -ECANCELED by weir__wire_interrupt(). After any of these but
 *   -EAGAIN of LOADING, BUSY and TRYAGAIN, and -EACCES of a command, the connection is closed, and
 *   the next call makes another; where the URL has several hosts, to the next of them. */
int weir__wire_call(struct weir_wire *w, const struct iovec *args, size_t n,
                    struct redisReply **reply);
/* Has another connection been made since @number was read from here? It begins with 0. */
uint64_t weir__wire_number(const struct weir_wire *w);
/* "redis://host:6379", "unix:///path": to whom it is connected, or would connect first; no
 * password. Until the next call. */
const char *weir__wire_peer(const struct weir_wire *w);

/* Subscribe to a channel, on this connection, which is then good for nothing else.
 * Return: as weir__wire_call(). */
int weir__wire_subscribe(struct weir_wire *w, const char *channel);
/* Take what has arrived, without waiting. Return: how many messages, at most 1,000, what is over
 * comes with the next call; or a negative errno. */
int weir__wire_heard(struct weir_wire *w);
/* For poll(POLLIN); -1: there is no connection. */
int weir__wire_fd(const struct weir_wire *w);

/* Any thread. The call under way and all later ones end with -ECANCELED. */
void weir__wire_interrupt(struct weir_wire *w);
bool weir__wire_interrupted(const struct weir_wire *w);
/* Before the first call: begin at another of the URL's hosts, drawn at random. */
int weir__wire_draw(struct weir_wire *w);
/* When no call is under way: close the connection, and take an interruption back. The next call
 * connects again. */
void weir__wire_rest(struct weir_wire *w);
/* Wait until so many milliseconds have passed, somebody interrupts, or one of @fds (with POLLIN)
 * can be read. Return: whether nobody interrupted. */
struct pollfd;
bool weir__wire_wait(struct weir_wire *w, struct pollfd *fds, size_t n, int milliseconds);

/* Readable from the interruption on. */
int weir__wire_interrupt_fd(const struct weir_wire *w);

/* How long to wait after the @failures-th failure in a row, in milliseconds: doubled from 50 up to
 * 10,000, and of that a random part between a half and the whole, so that nodes do not come back
 * all at once. */
unsigned weir__wire_backoff(unsigned failures);

#endif
