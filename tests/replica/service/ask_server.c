/* SPDX-License-Identifier: MIT */
#include "ask_server.h"

struct weir_replica replica;
struct ask_server server;

int ask_setup(void **state)
{
	(void)state;
	memset(&server, 0, sizeof server);
	memset(&replica, 0, sizeof replica);
	pthread_mutex_init(&replica.lock, NULL);
	pthread_cond_init(&replica.done, NULL);
	replica.requests_end = &replica.requests;
	replica.publish_ms = 1000;
	return 0;
}

int ask_did(char what, int err)
{
	size_t n = strlen(server.did);
	assert_true(n + 1 < sizeof server.did);
	server.did[n] = what;
	return err ? weir_fail(err, "why %c", what) : 0;
}

int weir__node_look(struct weir_node *n)
{
	(void)n;
	return ask_did('l', server.look[server.looks++ % ANSWERS]);
}

bool weir__node_lacks_image(const struct weir_node *n)
{
	(void)n;
	return server.lacks;
}

int weir__node_read(struct weir_node *n)
{
	(void)n;
	return ask_did('r', server.read);
}

int weir__node_publish(struct weir_node *n, const struct weir_filter *more)
{
	(void)n, (void)more;
	atomic_fetch_add(&replica.not_replicated, server.kept_meanwhile);
	return ask_did('P', server.publish[server.publishes++ % ANSWERS]);
}

int weir__node_mark(struct weir_node *n, struct weir_mark *mark)
{
	(void)n, (void)mark;
	return ask_did('m', 0);
}

void weir__mark_free(struct weir_mark *mark)
{
	(void)mark;
}

int weir__node_publish_from(struct weir_node *n, const struct weir_filter *f,
                            const struct weir_mark *mark)
{
	(void)n, (void)mark;
	assert_non_null(f);
	return ask_did('F', server.publish[0]);
}

int weir__node_publish_again(struct weir_node *n, const char *text, size_t len)
{
	(void)n, (void)len;
	assert_string_equal(text, "kept");
	return ask_did('A', server.publish[0]);
}

int weir__redis_kept(struct weir_redis *r, uint64_t generation, char **text, size_t *len)
{
	(void)r;
	assert_int_equal(generation, 7);
	*text = strdup("kept");
	*len = 4;
	return ask_did('k', 0);
}

/* It is taken, or kept for longer. */
int weir__redis_lease(struct weir_redis *r, uint32_t milliseconds, bool take)
{
	(void)r;
	server.lease_ms = milliseconds;
	if (server.held)
		return ask_did('K', server.keep);
	server.takes = take;
	server.held = server.lease == 0;
	return ask_did('(', server.lease);
}

int weir__redis_release(struct weir_redis *r)
{
	(void)r;
	server.held = false;
	return ask_did(')', server.release);
}

void weir__service_note(struct weir_replica *r, int err)
{
	(void)r;
	server.notes++;
	snprintf(server.noted, sizeof server.noted, "%s", err ? weir_error_detail() : "");
}

/* The thread: here it is no other. */
void weir__service_wake(struct weir_replica *r)
{
	pthread_mutex_unlock(&r->lock);
	for (unsigned rounds = 0; r->requests; rounds++) {
		assert_true(rounds < ANSWERS);
		weir__service_answer(r, 0);
	}
	pthread_mutex_lock(&r->lock);
}
