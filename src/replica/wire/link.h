/* SPDX-License-Identifier: MIT
 * One connection to one server: a stream, its answers, and who is speaking. */
#ifndef WEIR_REPLICA_LINK_H
#define WEIR_REPLICA_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "reply.h"
#include "stream.h"
#include "wire.h"

/* ---- a URL of redis (wire.h), taken apart ---- */

enum { WEIR_HOSTS = 32, WEIR_HOST_TEXT = 300 };

struct weir_host {
	const char *name; /* of TCP */
	uint16_t port;
};

struct weir_address {
	bool tls, sentinel;
	const char *path; /* of a Unix socket; NULL: TCP */
	const char *user, *password; /* NULL: none */
	const char *master; /* the name that Sentinels know it by */
	uint32_t database;
	size_t n;
	struct weir_host hosts[WEIR_HOSTS]; /* the first is tried first */
	char *text; /* that the others point into */
	size_t text_len;
};

/* Return: 0; -EINVAL what is wrong, without a password in the sentence; -ENOMEM. */
int weir__address_parse(struct weir_address *out, const char *url);
void weir__address_free(struct weir_address *a);
/* The first host failed: it comes last now. */
void weir__address_rotate(struct weir_address *a);
/* "redis://host:port", "unix://path". Return: @text. */
const char *weir__address_print(char text[WEIR_HOST_TEXT], const struct weir_address *a,
                                const struct weir_host *host);

/* ---- a connection to one server ---- */

/* What all connections of a wire have in common. */
struct weir_manner {
	struct weir_address address;
	struct weir_tls *tls; /* NULL: none */
	char *server_name, *client_name;
	uint32_t connect_ms, answer_ms;
	size_t max_bytes;
	int interrupt;
};

/* Who is speaking. */
struct weir_speaker {
	const char *user, *password; /* NULL: none */
	bool selects;                /* a database, and gives its name */
};

struct weir_link {
	struct weir_byte_stream stream;
	struct weir_reply_reader reader;
	char peer[WEIR_HOST_TEXT];
};

/* @l must stay where it is, zeroed but for stream.fd -1. @host: NULL: the Unix socket.
 * Return: as weir__wire_call(). */
int weir__link_open(struct weir_link *l, const struct weir_manner *m, const struct weir_host *host,
                    const struct weir_speaker *speaker);
void weir__link_close(struct weir_link *l);
/* Return: as weir__wire_call(), but every answer of redis is one. */
int weir__link_call(struct weir_link *l, const struct weir_manner *m, const struct iovec *args,
                    size_t n, redisReply **reply);
/* The next answer. @milliseconds: 0: do not wait, -EAGAIN. */
int weir__link_answer(struct weir_link *l, uint32_t milliseconds, redisReply **reply);

/* Where a Sentinel says the master is.
 * @host: receives the master; its name points into @room.
 * Return: 0; -EAGAIN it does not know now; as weir__wire_call(). */
int weir__sentinel_ask(const struct weir_manner *m, const struct weir_speaker *speaker,
                       const struct weir_host *sentinel, struct weir_host *host,
                       char room[WEIR_HOST_TEXT]);
/* A host and a port that somebody else has named: into @host, whose name points into @room.
 * Return: whether they can be such. */
bool weir__host_take(struct weir_host *host, char room[WEIR_HOST_TEXT], const char *name,
                     size_t len, const char *port);

/* Is it an error that begins with this word, or words? BUSY is not BUSYGROUP. */
static inline bool weir__reply_is(const redisReply *r, const char *word)
{
	size_t n = strlen(word);
	return r->type == REDIS_REPLY_ERROR && r->len >= n && memcmp(r->str, word, n) == 0 &&
	       (r->len == n || strchr(" ,.", r->str[n]));
}

/* ---- what a wire is made of ---- */

struct weir_wire {
	struct weir_manner manner;
	char *user, *password, *password_file, *sentinel_user, *sentinel_password;
	struct weir_link link;
	uint64_t number;
	struct weir_host moved;       /* where a Cluster said that the keys are; port 0: nowhere */
	char moved_name[WEIR_HOST_TEXT];
	char peer[WEIR_HOST_TEXT];
	char host[WEIR_HOST_TEXT];    /* to which it is connected */
};

/* Open another connection to a server, as this wire's user. */
int weir__wire_link(struct weir_wire *w, struct weir_link *l, const struct weir_host *host);
/* Connect to the master, if that is not done. */
int weir__wire_connect(struct weir_wire *w);
/* Close a connection that failed, or whose server cannot serve. Where there are several, the next
 * one is to another: a server that hangs or is cut off from the rest would be found again. */
void weir__wire_leave(struct weir_wire *w);

/* ---- passwords in memory and in files ---- */

/* The first line of a file. @out: receives malloc'ed text.
 * Return: 0; -EINVAL it is empty or too long; -ENOMEM; the errno of reading. */
int weir__secret_read(char **out, const char *path);
void weir__secret_free(char *secret);

#endif
