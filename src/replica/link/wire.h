/* SPDX-License-Identifier: MIT
 * The layers of a link: URL, addresses, bytes with or without TLS, answers, and a connection to one
 * server. Times are milliseconds of CLOCK_MONOTONIC. */
#ifndef WEIR_REPLICA_WIRE_H
#define WEIR_REPLICA_WIRE_H

#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <hiredis/hiredis.h>
#include "link.h"

static inline uint64_t weir__wire_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- a parsed URL ---- */

enum { WEIR_URL_HOSTS = 32, WEIR_HOST_NAME = 256, WEIR_PEER_TEXT = 300 };

struct weir_host {
	const char *name;
	uint16_t port;
};

struct weir_url {
	bool tls, sentinel;
	const char *path;            /* path of a Unix socket; NULL: TCP */
	const char *user, *password; /* NULL: none */
	const char *master;          /* the master's name at the Sentinels */
	uint32_t database;
	size_t n;
	struct weir_host hosts[WEIR_URL_HOSTS]; /* tried in this order */
	char *text;                  /* the storage of all texts above */
	size_t len;
};

int weir__url_read(struct weir_url *out, const char *text);
void weir__url_free(struct weir_url *u);
/* Move the first host, which failed, to the end of the list. */
void weir__url_rotate(struct weir_url *u);
/* Write the text that weir__link_peer() returns. */
void weir__url_print(char text[WEIR_PEER_TEXT], const struct weir_url *u, const char *name,
                     uint16_t port);

/* ---- bytes to and from the server ---- */

struct weir_stream {
	int fd;           /* -1: not connected */
	int interrupt;    /* an eventfd; readable after an interruption */
	const char *peer; /* for error sentences */
	void *tls;        /* SSL of OpenSSL; NULL: no TLS */
	const struct weir_transport *by;
};

/* After -EAGAIN from read() or write(), poll the descriptor for @events before the next call. */
struct weir_transport {
	int64_t (*read)(struct weir_stream *s, void *data, size_t room, short *events);
	int64_t (*write)(struct weir_stream *s, const void *data, size_t len, short *events);
	void (*end)(struct weir_stream *s); /* NULL: no-op */
};

static inline bool weir__stream_interrupted(const struct weir_stream *s)
{
	return poll(&(struct pollfd){ .fd = s->interrupt, .events = POLLIN }, 1, 0) > 0;
}

/* A time limit: @ms for each piece of a transfer, and @end for the whole transfer. If @end is 0,
 * the whole transfer may take @ms, plus 1 s for each 10 KB of data. */
struct weir_limit {
	uint32_t ms;
	uint64_t end;
};
uint64_t weir__limit_end(struct weir_limit limit, uint64_t piece_at, uint64_t begun, size_t bytes);

/* Return: 0; -ETIMEDOUT; -ECANCELED. */
int weir__stream_wait(const struct weir_stream *s, short events, uint64_t end);
/* @err: a negative errno; 0: the server closed the connection. Return: -EAGAIN, -ECONNRESET or
 *   @err. */
int weir__stream_failed(const struct weir_stream *s, int err);

/* @out: receives the addresses of @host, which freeaddrinfo() frees. */
int weir__resolve(const struct weir_stream *s, const struct weir_host *host, uint64_t end,
                  struct addrinfo **out);

/* TLS settings of all connections of a link. */
struct weir_tls {
	int (*begin)(struct weir_tls *t, struct weir_stream *s, const char *name, uint64_t end);
	void (*free)(struct weir_tls *t);
};
int weir__tls_make(struct weir_tls **out, const struct weir_link_options *o);

/* ---- answers ---- */

enum {
	WEIR_REPLY_ELEMENTS = 1 << 18, /* limit of the elements of all arrays of an answer */
	WEIR_REPLY_DEPTH = 7,          /* limit of the levels of nested arrays */
	WEIR_REPLY_LINE = 1 << 16,     /* limit in bytes of a line, such as an error or a number */
};

#if HIREDIS_MAJOR >= 1
typedef size_t weir_reply_count;
#else
typedef int weir_reply_count;
#endif

struct weir_reader {
	redisReader *reader;
	redisReplyObjectFunctions functions;
	void *(*create_array)(const redisReadTask *task, weir_reply_count n);
	size_t limit,        /* largest size of an answer in bytes */
	       bytes;        /* bytes received of this answer */
	uint64_t elements;   /* elements that this answer has declared so far */
	const char *peer;
};

/* @r must not move afterwards. */
int weir__reader_begin(struct weir_reader *r, size_t limit, const char *peer);
void weir__reader_end(struct weir_reader *r);
int weir__reader_feed(struct weir_reader *r, const void *data, size_t len);
/* @out: receives NULL if the next answer is incomplete. */
int weir__reader_next(struct weir_reader *r, redisReply **out);
bool weir__reader_has_unread(const struct weir_reader *r);

/* Return: true if @r is an error that begins with @word. BUSY does not match BUSYGROUP. */
static inline bool weir__reply_is(const redisReply *r, const char *word)
{
	size_t n = strlen(word);
	return r->type == REDIS_REPLY_ERROR && r->len >= n && memcmp(r->str, word, n) == 0 &&
	       (r->len == n || strchr(" ,.", r->str[n]));
}

/* ---- a connection to one server ---- */

struct weir_server {
	char name[WEIR_HOST_NAME];
	uint16_t port;               /* 0: no server */
	struct sockaddr_storage at;
	socklen_t len;               /* 0: the name is not resolved yet */
	uint64_t number;             /* number of the main link's connection; 0: not connected */
};

struct weir_wire {
	struct weir_stream stream;
	struct weir_reader reader;
	char peer[WEIR_PEER_TEXT];
	uint64_t piece_at,           /* time when the last piece of an answer came */
	         wait_since;         /* time when the wait for the answer began */
	void (*waiting)(void *context); /* copied from the options */
	void *waiting_context;
};

/* Settings of all connections of a link. */
struct weir_link_config {
	struct weir_link_options o;
	struct weir_url url;
	struct weir_tls *tls; /* NULL: no TLS */
};

struct weir_login {
	const char *user, *password; /* NULL: no login */
	bool selects;                /* select the database and set client_name */
};

/* @w: zeroed, except stream.fd, which is -1, and stream.interrupt. @w must not move afterwards.
 * @server: if server->len is 0, receives the address of its name and port. */
int weir__wire_open(struct weir_wire *w, const struct weir_link_config *m,
                    struct weir_server *server, struct weir_login login, uint64_t end);
void weir__wire_close(struct weir_wire *w);
int weir__wire_send(struct weir_wire *w, const struct iovec *args, size_t n,
                    struct weir_limit limit);
/* Start the time limit of the next answer. */
void weir__wire_await(struct weir_wire *w);
/* @reply: receives NULL if @waits is false and the answer is incomplete. */
int weir__wire_receive(struct weir_wire *w, struct weir_limit limit, bool waits,
                       redisReply **reply);
int weir__wire_call(struct weir_wire *w, const struct iovec *args, size_t n,
                    struct weir_limit limit, redisReply **reply);
/* An error reply about the server rather than the command (link.h). */
struct weir_server_error {
	const char *word;
	int err;
	bool closes; /* the caller must close the connection */
	const char *remedy;
};
const struct weir_server_error *weir__wire_server_error(const redisReply *r);

static inline struct iovec weir__wire_text(const char *text)
{
	return (struct iovec){ (void *)(uintptr_t)text, strlen(text) };
}

/* ---- the address of the master ---- */

/* Set the host and port of @server to @name and @port, which come from a redis server or a
 * Sentinel. Return: false if they are invalid. */
bool weir__server_parse(struct weir_server *server, const char *name, size_t len, const char *port);
/* Ask the URL's first host, a Sentinel, for the address of the master. */
int weir__master_ask(const struct weir_link_config *m, int interrupt, struct weir_server *server);
/* Connect to @moved. If @moved has no port or the connection fails, connect to the URL's master.
 * Sets @server. */
int weir__master_connect(struct weir_wire *w, struct weir_link_config *m, struct weir_server *moved,
                         struct weir_server *server);
/* Connect to @server with the user and password of the options or the URL. */
int weir__master_connect_at(struct weir_wire *w, const struct weir_link_config *m,
                            struct weir_server *server);

#endif
