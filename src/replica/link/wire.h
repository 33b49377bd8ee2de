/* SPDX-License-Identifier: MIT
 * What a link is made of: a URL, addresses, bytes with or without TLS, answers, and one connection
 * to one server. Times are milliseconds of a clock that nobody sets. */
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

/* ---- a URL of redis, taken apart ---- */

enum { WEIR_URL_HOSTS = 32, WEIR_HOST_NAME = 256, WEIR_PEER_TEXT = 300 };

struct weir_host {
	const char *name;
	uint16_t port;
};

struct weir_url {
	bool tls, sentinel;
	const char *path;            /* of a Unix socket; NULL: TCP */
	const char *user, *password; /* NULL: none */
	const char *master;          /* the name that Sentinels know it by */
	uint32_t database;
	size_t n;
	struct weir_host hosts[WEIR_URL_HOSTS]; /* the first is tried first */
	char *text;                  /* into which all of them point */
	size_t len;
};

int weir__url_read(struct weir_url *out, const char *text);
void weir__url_free(struct weir_url *u);
/* The first host failed: it comes last now. */
void weir__url_rotate(struct weir_url *u);
/* As weir__link_peer(). */
void weir__url_print(char text[WEIR_PEER_TEXT], const struct weir_url *u, const char *name,
                     uint16_t port);

/* ---- bytes to and from the other end ---- */

struct weir_stream {
	int fd;           /* -1: none */
	int interrupt;    /* eventfd: readable from the interruption on */
	const char *peer; /* for sentences */
	void *tls;        /* SSL of OpenSSL; NULL: none */
	const struct weir_transport *by;
};

/* Each moves what it can: -EAGAIN: nothing until the descriptor has @events. */
struct weir_transport {
	int64_t (*read)(struct weir_stream *s, void *data, size_t room, short *events);
	int64_t (*write)(struct weir_stream *s, const void *data, size_t len, short *events);
	void (*end)(struct weir_stream *s); /* NULL: nothing is to be done */
};

static inline bool weir__stream_interrupted(const struct weir_stream *s)
{
	return poll(&(struct pollfd){ .fd = s->interrupt, .events = POLLIN }, 1, 0) > 0;
}

/* How long something may take: @ms for each piece, and all of it until @end; 0: @ms and a second
 * for each 10 KB. */
struct weir_limit {
	uint32_t ms;
	uint64_t end;
};
uint64_t weir__limit_end(struct weir_limit limit, uint64_t heard, uint64_t begun, size_t bytes);

/* Return: 0; -ETIMEDOUT; -ECANCELED. */
int weir__stream_wait(const struct weir_stream *s, short events, uint64_t end);
/* @err: of errno; 0: the other end has closed. Return: @err, or -ECONNRESET, or -EAGAIN. */
int weir__stream_failed(const struct weir_stream *s, int err);

/* The addresses of a host, for freeaddrinfo(). */
int weir__resolve(const struct weir_stream *s, const struct weir_host *host, uint64_t end,
                  struct addrinfo **out);

/* TLS, for all connections of a link. */
struct weir_tls {
	int (*begin)(struct weir_tls *t, struct weir_stream *s, const char *name, uint64_t end);
	void (*free)(struct weir_tls *t);
};
int weir__tls_make(struct weir_tls **out, const struct weir_link_options *o);

/* ---- answers ---- */

enum {
	WEIR_REPLY_ELEMENTS = 1 << 18, /* of all arrays of an answer together */
	WEIR_REPLY_DEPTH = 7,          /* arrays in each other */
	WEIR_REPLY_LINE = 1 << 16,     /* bytes of what is no string of declared length */
};

#if HIREDIS_MAJOR >= 1
typedef size_t weir_reply_count;
#else
typedef int weir_reply_count;
#endif

struct weir_reader {
	redisReader *reader;
	redisReplyObjectFunctions functions;
	void *(*create_array)(const redisReadTask *task, weir_reply_count n); /* hiredis' own */
	size_t limit, bytes; /* of the answer that is being read */
	uint64_t elements;   /* declared in it */
	const char *peer;
};

/* @r must stay where it is. */
int weir__reader_begin(struct weir_reader *r, size_t limit, const char *peer);
void weir__reader_end(struct weir_reader *r);
int weir__reader_feed(struct weir_reader *r, const void *data, size_t len);
/* @out: NULL: the next answer is not whole yet. */
int weir__reader_next(struct weir_reader *r, redisReply **out);
bool weir__reader_left(const struct weir_reader *r); /* of bytes that no answer has taken */

/* Is it an error that begins with this word, or words? BUSY is not BUSYGROUP. */
static inline bool weir__reply_is(const redisReply *r, const char *word)
{
	size_t n = strlen(word);
	return r->type == REDIS_REPLY_ERROR && r->len >= n && memcmp(r->str, word, n) == 0 &&
	       (r->len == n || strchr(" ,.", r->str[n]));
}

/* ---- a connection to one server ---- */

struct weir_place {
	char name[WEIR_HOST_NAME];
	uint16_t port;               /* 0: nowhere */
	struct sockaddr_storage at;
	socklen_t len;               /* 0: the name's address is to be found */
	uint64_t number;             /* of the first link's connection to it; 0: there is none */
};

struct weir_wire {
	struct weir_stream stream;
	struct weir_reader reader;
	char peer[WEIR_PEER_TEXT];
	uint64_t heard, begun;       /* when a piece came last; when the answer was asked for */
	void (*waiting)(void *context); /* of the options */
	void *waiting_context;
};

/* What all connections of a link have in common. */
struct weir_manner {
	struct weir_link_options o;
	struct weir_url url;
	struct weir_tls *tls; /* NULL: none */
};

struct weir_speaker {
	const char *user, *password; /* NULL: none */
	bool selects;                /* a database, and gives its name */
};

/* @w must stay where it is, zeroed but for stream.fd -1 and stream.interrupt.
 * @place: receives the address, if it has none. */
int weir__wire_open(struct weir_wire *w, const struct weir_manner *m, struct weir_place *place,
                    struct weir_speaker speaker, uint64_t end);
void weir__wire_close(struct weir_wire *w);
int weir__wire_send(struct weir_wire *w, const struct iovec *args, size_t n,
                    struct weir_limit limit);
/* From now on the next answer is waited for. */
void weir__wire_await(struct weir_wire *w);
/* @reply: NULL: it is not whole yet, and it was not to be waited for. */
int weir__wire_receive(struct weir_wire *w, struct weir_limit limit, bool waits,
                       redisReply **reply);
int weir__wire_call(struct weir_wire *w, const struct iovec *args, size_t n,
                    struct weir_limit limit, redisReply **reply);
/* What an error says of the server (link.h). NULL: nothing. */
struct weir_verdict {
	const char *word;
	int err;
	bool closes; /* the connection is of no use */
	const char *remedy;
};
const struct weir_verdict *weir__wire_judge(const redisReply *r);

static inline struct iovec weir__wire_text(const char *text)
{
	return (struct iovec){ (void *)(uintptr_t)text, strlen(text) };
}

/* ---- where the master is ---- */

/* A host and a port that somebody else has named. Return: whether they can be such. */
bool weir__place_take(struct weir_place *place, const char *name, size_t len, const char *port);
/* Where the Sentinel that is asked first says the master is. */
int weir__master_ask(const struct weir_manner *m, int interrupt, struct weir_place *place);
/* Connect to the master: @moved, if it has a port, else where the URL says. @place: receives it. */
int weir__master_connect(struct weir_wire *w, struct weir_manner *m, struct weir_place *moved,
                         struct weir_place *place);
/* Connect to @place, as the user of the options. */
int weir__master_at(struct weir_wire *w, const struct weir_manner *m, struct weir_place *place);

#endif
