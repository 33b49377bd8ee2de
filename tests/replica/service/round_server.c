/* SPDX-License-Identifier: MIT */
#include "round_server.h"

struct weir_replica replica;
struct round_server server;
static struct weir_batch batch;

int round_setup(void **state)
{
	(void)state;
	memset(&server, 0, sizeof server);
	memset(&replica, 0, sizeof replica);
	server.fd = 3;
	pthread_mutex_init(&replica.lock, NULL);
	pthread_cond_init(&replica.done, NULL);
	strcpy(replica.node.epoch, "a");
	replica.node.seen.generation = replica.node.joined.generation = 7;
	replica.redis.there.generation = 7;
	return 0;
}

static int did(char what, const struct answer *a)
{
	size_t n = strlen(server.did);
	assert_true(n + 1 < sizeof server.did);
	server.did[n] = what;
	if (a->cuts)
		server.fd = -1;
	if (a->epoch)
		strcpy(replica.node.epoch, a->epoch);
	if (a->generation)
		replica.node.seen.generation = replica.node.joined.generation = a->generation;
	return a->err ? weir_fail(a->err, "why %c", what) : 0;
}

int weir__node_look(struct weir_node *n)
{
	(void)n;
	return did('l', &server.look[server.looks++ % ANSWERS]);
}

bool weir__node_wants_image(const struct weir_node *n)
{
	(void)n;
	return server.wants;
}

int weir__node_send(struct weir_node *n)
{
	(void)n;
	return did('s', &server.send[server.sends++ % ANSWERS]);
}

/* A call connects if need be. */
int weir__node_read(struct weir_node *n)
{
	server.fd = 3;
	n->retained.next = server.left ? &batch : NULL;
	return did('r', &server.read);
}

void weir__redis_image_only(struct weir_redis *r, const struct weir_manifest *wanted)
{
	(void)r;
	server.only = wanted;
}

bool weir__redis_image_comes(const struct weir_redis *r, const struct weir_manifest *m)
{
	(void)r, (void)m;
	return server.comes;
}

int weir__redis_wait(struct weir_redis *r, uint32_t replicas)
{
	(void)r;
	assert_int_equal(replicas, 2);
	replica.asked += server.asks;
	return did('w', &server.wait);
}

void weir__service_tell(struct weir_replica *r, int err)
{
	(void)r;
	assert_int_equal(err, 1);
	(void)did('t', &(struct answer){ 0 });
}

int weir__wire_fd(const struct weir_wire *w)
{
	(void)w;
	return server.fd;
}
