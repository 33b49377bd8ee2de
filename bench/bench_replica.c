/* SPDX-License-Identifier: MIT
 * Compares a replicated set of three nodes with filters in redis: bench_replica SOCKET KEYS. SOCKET
 * is the Unix socket of an empty redis. If this redis has loaded weir's module, the program also
 * measures BF.MEXISTS. replica.sh starts such a redis, and then this program. Prints the median of
 * 9 rounds, with the shortest and the longest round. */
#include "bench_replica.h"
#include <math.h>
#include <unistd.h>

enum { ROUNDS = 9, NODES = 3, BATCH = 1000 };

static struct weir_replica *node[NODES];
static struct weir_handle *plain; /* a handle without a replica, for comparison */
static redisContext *direct;
static uint64_t keys, misses;


/* @n: operations per round. */
static void measure(const char *what, uint64_t n, void (*round)(uint64_t n, unsigned number))
{
	double t[ROUNDS];
	for (unsigned i = 0; i < ROUNDS; i++) {
		double begun = now();
		round(n, i);
		t[i] = (now() - begun) / (double)n * 1e9;
	}
	qsort(t, ROUNDS, sizeof *t, by_size);
	printf("%-58s %10.1f ns  (%.1f to %.1f)\n", what, t[ROUNDS / 2], t[0], t[ROUNDS - 1]);
	fflush(stdout);
}

/* ---- lookups: half of the keys are present ---- */

static void by_bare(uint64_t n, unsigned number)
{
	const struct weir_filter *f = weir_handle_get(weir_replica_handle(node[1]));
	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = key_of((i * 2654435761 + number) % (2 * keys));
		misses += !weir_contains(f, &key, sizeof key);
	}
}

static void by_handle(uint64_t n, unsigned number)
{
	const struct weir_handle *h = weir_replica_handle(node[1]);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = key_of((i * 2654435761 + number) % (2 * keys));
		misses += !weir_handle_contains(h, &key, sizeof key);
	}
}

static redisReply *answer(void)
{
	void *reply;
	if (redisGetReply(direct, &reply) != REDIS_OK) {
		fprintf(stderr, "bench_replica: redis: %s\n", direct->errstr);
		exit(1);
	}
	return reply;
}

/* Asks a filter in Redisson's layout, with m bits and k bits per key. One pipeline has all GETBITs
 * of 1,000 keys. */
static void by_getbit(uint64_t n, unsigned number)
{
	double m = -(double)keys * log(0.01) / (log(2) * log(2));
	unsigned k = (unsigned)lround(m / (double)keys * log(2));
	for (uint64_t done = 0; done < n; done += BATCH) {
		for (uint64_t i = done; i < done + BATCH; i++) {
			uint64_t h = key_of((i * 2654435761 + number) % (2 * keys));
			for (unsigned b = 0; b < k; b++)
				redisAppendCommand(direct, "GETBIT bits %llu",
				                   (unsigned long long)((h + b * (h >> 32 | 1)) %
				                                        (uint64_t)m));
		}
		for (uint64_t i = 0; i < (uint64_t)BATCH * k; i++)
			freeReplyObject(answer());
	}
}

static void by_mexists(uint64_t n, unsigned number)
{
	const char *args[BATCH + 2] = { "BF.MEXISTS", "bloom" };
	size_t len[BATCH + 2] = { 10, 5 };
	uint64_t of[BATCH];
	for (uint64_t done = 0; done < n; done += BATCH) {
		for (uint64_t i = 0; i < BATCH; i++) {
			of[i] = key_of(((done + i) * 2654435761 + number) % (2 * keys));
			args[i + 2] = (const char *)&of[i];
			len[i + 2] = sizeof of[i];
		}
		redisAppendCommandArgv(direct, BATCH + 2, args, len);
		freeReplyObject(answer());
	}
}

/* ---- inserts ---- */

static void insert_local(uint64_t n, unsigned number)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = key_of(number * n + i);
		if (weir_replica_insert(node[0], &key, sizeof key, WEIR_REPLICA_SOON) < 0)
			fail("insert");
	}
}

static void insert_number(uint64_t n, unsigned number)
{
	for (uint64_t i = 0; i < n; i++)
		if (weir_replica_insert_u64(node[0], key_of(number * n + i), WEIR_REPLICA_SOON) < 0)
			fail("insert");
}

static void insert_plain(uint64_t n, unsigned number)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = key_of(number * n + i);
		if (weir_handle_insert(plain, &key, sizeof key) < 0)
			fail("insert");
	}
}

static void insert_plain_number(uint64_t n, unsigned number)
{
	for (uint64_t i = 0; i < n; i++)
		if (weir_handle_insert_u64(plain, key_of(number * n + i)) < 0)
			fail("insert");
}

static void print(const char *what, double *t, const char *unit)
{
	qsort(t, ROUNDS, sizeof *t, by_size);
	printf("%-58s %10.2f %s  (%.2f to %.2f)\n", what, t[ROUNDS / 2], unit, t[0],
	       t[ROUNDS - 1]);
}

struct comparison {
	const char *plain_name, *here_name;
	void (*plain)(uint64_t n, unsigned number);
	void (*here)(uint64_t n, unsigned number);
	double plain_ns[ROUNDS], here_ns[ROUNDS], ratio[ROUNDS];
};

static double ns_of(void (*round)(uint64_t n, unsigned number), uint64_t n, unsigned number)
{
	const double begun = now();
	round(n, number);
	return (now() - begun) / (double)n * 1e9;
}

/* Compares inserts into a plain handle with inserts into a replicated set. Runs a round of each in
 * turn, with the same keys, in equally full filters. After each pair of rounds, waits until redis
 * has confirmed all inserts. */
static void compare_inserts(const struct weir_params *p, uint64_t n)
{
	struct comparison c[2] = {
		{ .plain_name = "insert, a plain handle", .plain = insert_plain,
		  .here_name = "insert, local", .here = insert_local },
		{ .plain_name = "insert of a number, a plain handle", .plain = insert_plain_number,
		  .here_name = "insert of a number, local", .here = insert_number },
	};
	struct weir_filter *f;
	if (weir_create(&f, p) != 0 || weir_handle_create(&plain, f, NULL) != 0)
		fail("a handle");
	for (unsigned i = 0; i < 2 * ROUNDS; i++) {
		struct comparison *of = &c[i % 2];
		of->plain_ns[i / 2] = ns_of(of->plain, n / 2, i);
		of->here_ns[i / 2] = ns_of(of->here, n / 2, i);
		of->ratio[i / 2] = of->here_ns[i / 2] / of->plain_ns[i / 2];
		if (weir_replica_flush(node[0], 60000) != 0)
			fail("flush");
	}
	for (unsigned i = 0; i < 2; i++) {
		print(c[i].plain_name, c[i].plain_ns, "ns");
		print(c[i].here_name, c[i].here_ns, "ns");
		print("  as many times a plain handle's", c[i].ratio, "  ");
	}
	if (weir_handle_destroy(plain) != 0)
		fail("destroy");
}

static void insert_and_flush(uint64_t n, unsigned number)
{
	insert_local(n, number);
	if (weir_replica_flush(node[0], 60000) != 0)
		fail("flush");
}

static void insert_confirmed(uint64_t n, unsigned number)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = key_of(number * n + i);
		if (weir_replica_insert(node[0], &key, sizeof key, WEIR_REPLICA_CONFIRMED) < 0)
			fail("confirmed insert");
	}
}

static void measure_wire(const char *what)
{
	double before = info(direct, "stats", "total_net_input_bytes:");
	measure(what, keys / ROUNDS, insert_and_flush);
	printf("%-58s %10.2f bytes\n", "  on the wire, a key",
	       (info(direct, "stats", "total_net_input_bytes:") - before) /
	       (double)(keys / ROUNDS * ROUNDS));
}

/* ---- a generation ---- */

static struct weir_replica_version joined(unsigned i)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	if (weir_replica_measure(node[i], &s) != 0)
		fail("measure");
	return s.joined;
}

/* Waits until every node serves a generation newer than @before. */
static void await(struct weir_replica_version before)
{
	for (unsigned i = 0; i < NODES; i++) {
		struct weir_replica_version v;
		while (v = joined(i), v.era < before.era || (v.era == before.era &&
		                                             v.number <= before.number))
			usleep(1000);
	}
}

static void publish(uint64_t n, unsigned number)
{
	const struct weir_replica_version before = joined(0);
	(void)n, (void)number;
	if (weir_replica_publish(node[0]) != 0)
		fail("publish");
	await(before);
}

static int make(void *context, struct weir_filter **out)
{
	return weir_create(out, context);
}

static void publish_record(uint64_t n, unsigned number)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	const struct weir_replica_version before = joined(0);
	(void)n, (void)number;
	if (weir_replica_params(node[0], &p) != 0 ||
	    weir_replica_publish_from(node[0], make, &p) != 0)
		fail("publish");
	await(before);
}

static void open_nodes(const char *url, const char *set, const struct weir_params *p)
{
	for (unsigned i = 0; i < NODES; i++) {
		struct weir_replica_options o = WEIR_REPLICA_OPTIONS_INIT;
		o.set = set;
		o.url = url;
		o.params = p;
		o.poll_ms = 20;
		o.report = quiet;
		if (weir_replica_open(&node[i], &o) != 0)
			fail(set);
	}
}

static void close_nodes(void)
{
	for (unsigned i = 0; i < NODES; i++)
		if (weir_replica_close(node[i]) != 0)
			fail("close");
}

static void fill_module(void)
{
	freeReplyObject(redisCommand(direct, "BF.RESERVE bloom 0.01 %llu",
	                             (unsigned long long)keys));
	for (uint64_t i = 0; i < keys; i++) {
		uint64_t key = key_of(i);
		redisAppendCommand(direct, "BF.ADD bloom %b", &key, sizeof key);
		if (i % BATCH == BATCH - 1)
			for (unsigned k = 0; k < BATCH; k++)
				freeReplyObject(answer());
	}
}

static void fill_bits(void)
{
	redisReply *r = redisCommand(direct, "SETBIT bits %llu 1", (unsigned long long)keys * 10);
	freeReplyObject(r);
}

int main(int argc, char **argv)
{
	char url[300];
	struct weir_params p = WEIR_PARAMS_INIT;
	if (argc != 3)
		return 2;
	snprintf(url, sizeof url, "unix://%s", argv[1]);
	keys = strtoull(argv[2], NULL, 10) / BATCH * BATCH;
	p.capacity = keys;
	p.fp_rate = 0.01;
	direct = redisConnectUnix(argv[1]);
	if (!direct || direct->err)
		return 1;
	printf("a set of %llu keys at 1 %%, %d nodes in one process, redis on a Unix socket\n",
	       (unsigned long long)keys, NODES);
	open_nodes(url, "bench", &p);
	compare_inserts(&p, keys / ROUNDS);
	measure_wire("insert, until redis has it, many at once");
	measure("insert, confirmed one by one", 1000, insert_confirmed);
	sleep(1);
	measure("lookup, bare filter", 1000000, by_bare);
	measure("lookup, the replicated handle", 1000000, by_handle);
	fill_bits();
	measure("lookup, in redis: k GETBIT a key, 1,000 keys in a pipeline", 20000, by_getbit);
	redisReply *module = redisCommand(direct, "BF.CARD nothing");
	if (module && module->type != REDIS_REPLY_ERROR) {
		fill_module();
		measure("lookup, in redis: BF.MEXISTS of 1,000 keys", 100000, by_mexists);
	}
	freeReplyObject(module);
	close_nodes();
	p.capacity = UINT64_C(100) * 1000 * 1000 * 8 / 10; /* about 100 MB */
	open_nodes(url, "large", &p);
	measure("a generation from a record, 100 MB, until 3 nodes serve it", 1, publish_record);
	measure("likewise of a node's set, which all have", 1, publish);
	close_nodes();
	redisFree(direct);
	return misses == 0; /* half of the keys are absent, so a run without a miss has failed */
}
