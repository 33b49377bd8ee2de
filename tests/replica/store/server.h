/* SPDX-License-Identifier: MIT
 * A private redis-server for the tests, on a Unix socket in a temporary folder. Connections use
 * plain hiredis. */
#ifndef WEIR_TESTS_REPLICA_STORE_SERVER_H
#define WEIR_TESTS_REPLICA_STORE_SERVER_H

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <hiredis/hiredis.h>
#include "../../test.h"
#include "store/redis.h"

struct server {
	char *folder, path[300];
	pid_t pid;
	redisContext *redis; /* the connection of ask() */
};

static inline void server_start(struct server *s, const char *option, const char *value)
{
	pid_t parent = getpid();
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			execlp("redis-server", "redis-server", "--port", "0", "--unixsocket",
			       s->path, "--dir", s->folder, "--save", "", "--logfile", "log",
			       option, value, (char *)NULL);
		_exit(127);
	}
	for (s->redis = NULL; !s->redis;) { /* until the test's time limit */
		assert_int_equal(waitpid(s->pid, NULL, WNOHANG), 0);
		usleep(5000);
		redisContext *c = redisConnectUnix(s->path);
		redisReply *a = c && !c->err ? redisCommand(c, "PING") : NULL;
		if (a && a->type == REDIS_REPLY_STATUS)
			s->redis = c;
		else if (c)
			redisFree(c);
		if (a)
			freeReplyObject(a);
	}
}

static inline void server_begin(struct server *s, const char *option, const char *value)
{
	signal(SIGPIPE, SIG_IGN); /* hiredis writes to closed connections */
	s->folder = test_folder();
	snprintf(s->path, sizeof s->path, "%s/s", s->folder);
	server_start(s, option, value);
}

static inline void server_kill(struct server *s)
{
	redisFree(s->redis);
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

static inline void server_end(struct server *s)
{
	server_kill(s);
	test_folder_remove(s->folder);
}

/* Send a command. @text: NULL, or receives the answer's text. Return: the answer's number, or the
 * length of the text. */
static inline long long ask(struct server *s, char *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	redisReply *a = redisvCommand(s->redis, format, args);
	va_end(args);
	assert_non_null(a);
	if (a->type == REDIS_REPLY_ERROR)
		fail_msg("%s: %s", format, a->str);
	long long n = a->type == REDIS_REPLY_INTEGER ? a->integer :
	              a->type == REDIS_REPLY_ARRAY   ? (long long)a->elements :
	              a->type == REDIS_REPLY_NIL     ? -1 :
	                                               (long long)a->len;
	if (text)
		snprintf(text, 4096, "%s", n >= 0 && a->str ? a->str : "");
	freeReplyObject(a);
	return n;
}

/* Let the server listen on a port that was free a moment ago. Return: the port. */
static inline unsigned give_port(struct server *s)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(bind(fd, (struct sockaddr *)&a, len) == 0 &&
	            getsockname(fd, (struct sockaddr *)&a, &len) == 0);
	close(fd);
	char port[16];
	snprintf(port, sizeof port, "%u", ntohs(a.sin_port));
	ask(s, NULL, "CONFIG SET port %s", port);
	return ntohs(a.sin_port);
}

/* The link of a store. It connects at the first call, and reconnects after an error. */
struct test_link {
	const struct server *server;
	redisContext *redis;
};

static inline int test_call(void *link, const struct iovec *args, size_t n, redisReply **reply)
{
	struct test_link *l = link;
	const char *text[256];
	size_t len[256];
	assert_true(n <= 256);
	for (size_t i = 0; i < n; i++) {
		text[i] = args[i].iov_base;
		len[i] = args[i].iov_len;
	}
	if (!l->redis)
		l->redis = redisConnectUnix(l->server->path);
	*reply = l->redis->err ? NULL : redisCommandArgv(l->redis, (int)n, text, len);
	if (*reply)
		return 0;
	redisFree(l->redis);
	l->redis = NULL;
	return weir_fail(-ECONNRESET, "no answer");
}

struct node {
	struct test_link link, image_link;
	struct weir_redis *redis;
	const struct weir_store *store;
	uint64_t id;
	struct weir_head head;
};

static inline struct weir_redis_options node_options(const struct server *s, struct node *n)
{
	n->link.server = n->image_link.server = s;
	return (struct weir_redis_options){ .set = "test", .call = test_call, .link = &n->link,
		.image_link = &n->image_link, .max_image_bytes = 1 << 28, .reserve = 1 << 20,
		.keep = 2, .grace_ms = 60000 };
}

static inline void node_open_with(struct node *n, const struct weir_redis_options *o)
{
	assert_ok(weir__redis_open(&n->redis, o));
	n->store = weir__redis_store(n->redis);
	assert_ok(weir__draw(&n->id));
}

static inline void node_open(struct node *n, const struct server *s)
{
	*n = (struct node){ .id = 0 };
	const struct weir_redis_options o = node_options(s, n);
	node_open_with(n, &o);
}

static inline void node_close(struct node *n)
{
	weir__redis_close(n->redis);
	if (n->link.redis)
		redisFree(n->link.redis);
	if (n->image_link.redis)
		redisFree(n->image_link.redis);
}

/* Send a heartbeat. Return: the head. */
static inline const struct weir_head *beat(struct node *n)
{
	const struct weir_touch t = { .node = n->id, .report = "well" };
	assert_ok(n->store->touch(n->store->context, &t, &n->head));
	return &n->head;
}

/* Append a batch of @hashes hashes. Return: its tag. */
static inline uint64_t append(struct node *n, size_t hashes)
{
	static unsigned char bytes[WEIR_ENTRY_BYTES];
	struct weir_entry e = { .kind = WEIR_ENTRY_BATCH, .node = n->id, .hashing = 7,
		                .hashes = bytes, .n = hashes };
	assert_ok(weir__draw(&e.tag));
	const struct weir_touch t = { .node = n->id, .entries = &e, .n = 1 };
	assert_ok(n->store->touch(n->store->context, &t, &n->head));
	return e.tag;
}

#endif
