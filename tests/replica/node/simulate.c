/* SPDX-License-Identifier: MIT
 * Simulates nodes, an application that inserts, and a redis that loses data at random, all in one
 * thread. Each seed is one history. The rules that each history must keep (own, all, well, gone)
 * are at the head of tests/model/union.pml.
 *
 * usage: simulate [--seeds N] [--first SEED] [--features LETTERS] [--ring BYTES] [--verbose]
 *        simulate --nodes N [--features LETTERS] [--calm SECONDS] [--well MILLISECONDS] */
#include <errno.h>
#include <getopt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>
#include "node/node.h"
#include "lists.h"
#include "toy.h"

enum { MOST = 1024, SLOTS = 4096, QUIET_MS = 60000 };

struct key {
	uint64_t hash, ticket, at;
	unsigned owner;
	bool told, removed, gone, excused, acked;
};

struct seat {
	struct weir_node node;
	struct weir_handle *handle;
	struct toy_store *store;
	unsigned later; /* 1 + the next seat in the same slot of sim.slots; 0 for the last seat */
};

static struct sim {
	struct toy toy;
	struct seat *seats;
	unsigned nodes, slots[SLOTS];
	struct key *keys;
	size_t n_keys, max_keys;
	const char *features;
	uint64_t ring, seed, publish_ms, capacity;
	uint32_t poll_ms;
	bool verbose, replaced, promoted, failed, faults;
	uint64_t gave_up, generations, wells, slowest;
} *s;

static bool has_feature(char letter)
{
	return strchr(s->features, letter) != NULL;
}

static uint64_t chance(uint64_t below)
{
	return toy_number(&s->toy, below);
}

static void wrong(const char *rule, unsigned seat, const char *what)
{
	if (!s->failed)
		fprintf(stderr, "ERROR: seed %llu features %s ring %llu at %llu ms: %s: node %u: "
		        "%s\n", (unsigned long long)s->seed, s->features,
		        (unsigned long long)s->ring, (unsigned long long)s->toy.clock, rule, seat,
		        what);
	s->failed = true;
}

static struct weir_filter *empty(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.capacity = s->capacity;
	params.fp_rate = s->capacity > 2000 ? 1e-4 : 1e-7;
	params.seed = 7;
	if (weir_create(&f, &params))
		abort();
	return f;
}

static struct toy_server *server_of(const struct seat *seat)
{
	return &s->toy.server[seat->store->server];
}

static void schedule(unsigned i, uint64_t at)
{
	const uint64_t soon = at <= s->toy.clock ? s->toy.clock + 1 : at;
	const uint64_t most = s->toy.clock + SLOTS - 1;
	unsigned *slot = &s->slots[(soon < most ? soon : most) % SLOTS];
	s->seats[i].later = *slot;
	*slot = i + 1;
}

/* Open a node with the head's image, or with an empty set if that image is missing. */
static void sit(unsigned i, unsigned server)
{
	struct seat *seat = &s->seats[i];
	seat->store = toy_store(&s->toy, i, server);
	const struct weir_filter *image = toy_head_image(&s->toy.server[server]);
	struct weir_filter *f = NULL;
	if (!image)
		f = empty();
	else if (weir_clone(&f, image))
		abort();
	if (weir_handle_create(&seat->handle, f, NULL))
		abort();
	const struct weir_node_options options = {
		.store = &seat->store->store, .handle = seat->handle, .set = "toy",
		.id = chance(UINT64_MAX) + 1, .max_pending_bytes = s->ring,
		.may_publish = !has_feature('n') || i == 0, .publish_ms = s->publish_ms,
		.poll_ms = s->poll_ms,
	};
	if (weir__node_make(&seat->node, &options))
		abort();
	if (image)
		weir__node_start(&seat->node, toy_head(&s->toy.server[server]));
}

static void stand(unsigned i)
{
	s->gave_up += s->seats[i].node.given_up;
	s->generations += s->seats[i].node.generations;
	weir__node_free(&s->seats[i].node);
	(void)weir_handle_destroy(s->seats[i].handle);
}

#include "oracle.h"

/* ---- time ---- */

static void run_until(uint64_t end, bool check)
{
	while (s->toy.clock < end && !s->failed) {
		s->toy.clock++;
		unsigned *slot = &s->slots[s->toy.clock % SLOTS], at = *slot;
		*slot = 0;
		while (at) {
			struct seat *seat = &s->seats[at - 1];
			const unsigned i = at - 1;
			at = seat->later;
			schedule(i, weir__node_round(&seat->node, s->toy.clock));
			if (check)
				check_own(i);
		}
	}
}

/* ---- the application, and what happens to redis and to nodes ---- */

static void insert(unsigned i)
{
	if (s->n_keys == s->max_keys) {
		s->max_keys = s->max_keys ? 2 * s->max_keys : 256;
		s->keys = realloc(s->keys, s->max_keys * sizeof *s->keys);
		if (!s->keys)
			abort();
	}
	struct key *key = &s->keys[s->n_keys++];
	*key = (struct key){ .hash = chance(UINT64_MAX), .owner = i,
	                     .at = s->toy.clock };
	int err = weir__node_insert_hash(&s->seats[i].node, key->hash);
	key->told = err >= 0;
	if (err < 0 && (err != -ENOBUFS || s->seats[i].node.may_publish))
		wrong("insert", i, weir_error_detail());
	if (err < 0 && weir_handle_contains_hash(s->seats[i].handle, key->hash))
		wrong("refused", i, "the key is in the set all the same");
	key->ticket = weir__node_flush(&s->seats[i].node);
}

/* Return: true if each server has the hash in its log or in its image. The image counts only if the
 * node's ring has freed the hash. */
static bool is_kept(const struct seat *seat, uint64_t hash)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct toy_server *server = &s->toy.server[i];
		if (!toy_log_has(server, hash) &&
		    (in_ring(&seat->node.ring, hash) || !toy_image_has(server, hash)))
			return false;
	}
	return true;
}

static bool another_has(unsigned i, uint64_t hash)
{
	for (unsigned j = 0; j < s->nodes; j++)
		if (j != i && weir_handle_contains_hash(s->seats[j].handle, hash))
			return true;
	return false;
}

/* Replace node @i by an empty node. Excuse each key of node @i that may be lost now. If redis can
 * only lose everything at once ("f", "d"), excuse only the keys that no other node has. */
static void die(unsigned i)
{
	const bool whole = strspn(s->features, "fdkgmoe") == strlen(s->features) &&
	                   strpbrk(s->features, "fd");
	const bool loses = strpbrk(s->features, "fxdribu") && !whole;
	for (size_t k = 0; k < s->n_keys; k++) {
		struct key *key = &s->keys[k];
		if (whole && (key->owner == i || key->owner >= MOST))
			key->excused = key->excused || !another_has(i, key->hash);
		else if (key->owner == i && (loses || !is_kept(&s->seats[i], key->hash)))
			key->excused = true;
	}
	const unsigned server = s->seats[i].store->server;
	stand(i);
	sit(i, server);
	for (size_t k = 0; k < s->n_keys; k++) /* the node that inserted these keys is dead now */
		s->keys[k].owner += s->keys[k].owner == i ? MOST : 0;
}

static bool settled(unsigned i)
{
	const struct weir_node *n = &s->seats[i].node;
	return n->may_publish && n->state != WEIR_NODE_OFFLINE && !n->doubt &&
	       n->newest.id == n->head.generation;
}

/* Publish a record that lacks every third key. The nodes keep running while the record is read. */
static void publish_record(unsigned i)
{
	struct weir_record r;
	if (!settled(i) || weir__node_record(&s->seats[i].node, &r, NULL))
		return;
	const size_t of = s->n_keys;
	const uint64_t now = s->toy.clock;
	if (chance(2))
		insert((unsigned)chance(s->nodes));
	struct weir_filter *f = empty();
	for (size_t k = 0; k < s->n_keys; k++)
		if ((!s->keys[k].removed && k % 3) || k >= of)
			(void)weir_insert_hash(f, s->keys[k].hash);
	run_until(s->toy.clock + chance(100), true);
	int err;
	while ((err = weir__node_publish_record(&s->seats[i].node, &r, f)) == -EINPROGRESS)
		run_until(s->toy.clock + 1, true);
	weir_destroy(f);
	if (err && err != -EIO)
		return;
	s->replaced = true;
	for (size_t k = 0; k < of; k += 3) {
		s->keys[k].removed = true; /* unless redis lacks the record after -EIO */
		s->keys[k].gone = s->keys[k].at + 1000 < now; /* the key's node had time to
		                                                 read the key's entry */
	}
}

static void roll_back(unsigned i)
{
	const struct toy_server *server = server_of(&s->seats[i]);
	struct weir_record r;
	if (!settled(i) || !server->kept[1])
		return;
	const struct weir_manifest kept = *toy_kept(server, 1);
	if (weir__node_record(&s->seats[i].node, &r, &kept))
		return;
	int err = weir__node_publish_record(&s->seats[i].node, &r, NULL);
	if (err && err != -EIO)
		return;
	for (size_t k = 0; k < s->n_keys; k++) {
		struct key *key = &s->keys[k];
		const unsigned owner = key->owner % MOST;
		if (!toy_log_has(server, key->hash) && !toy_image_has(server, key->hash) &&
		    !in_ring(&s->seats[owner].node.ring, key->hash))
			key->removed = true;
		if (err)
			key->removed = true;
	}
}

static void promote(void)
{
	struct toy *t = &s->toy;
	if (!s->promoted) {
		t->server[0].run = chance(UINT64_MAX) + 1;
		s->promoted = true;
	}
	t->stores[chance(s->nodes)].server = 0;
}

static void happen(char what)
{
	struct toy *t = &s->toy;
	const unsigned i = (unsigned)chance(s->nodes);
	struct toy_server *at = &t->server[s->promoted ? chance(2) : 1];
	switch (what) {
	case 's': if (!s->promoted) toy_save(t); break;
	case 'c': if (!s->promoted) toy_fall_back(t, true); break;
	case 'r': if (!s->promoted) toy_fall_back(t, false); break;
	case 'p': promote(); break;
	case 'f': toy_flush(at); break;
	case 'd': toy_drop_log(at); break;
	case 'x': toy_delete(at, at->n ? chance(at->n) : 0); break;
	case 'u': toy_spoil(at, chance(at->n + 1)); break;
	case 'i': toy_lose_image(at); break;
	case 'k': die(i); break;
	case 'R': publish_record(i); break;
	case 'b': roll_back(i); break;
	case 'm': at->full = !at->full; break;
	case 'o': at->down = !at->down; break;
	case 'e': t->failing = t->failing ? 0 : (unsigned)chance(200); break;
	case 'g': s->seats[i].node.publish_asked = true; break;
	default: break;
	}
}

static void calm(void)
{
	struct toy *t = &s->toy;
	t->failing = 0;
	for (unsigned i = 0; i < 2; i++)
		t->server[i].full = t->server[i].down = false;
	for (unsigned i = 0; i < s->nodes; i++)
		t->stores[i].server = s->promoted ? 0 : 1;
}

/* Return: milliseconds until all nodes are well. */
static uint64_t quiet(void)
{
	calm();
	const uint64_t from = s->toy.clock;
	while (!all(is_well) && s->toy.clock < from + QUIET_MS && !s->failed)
		run_until(s->toy.clock + 1, true);
	const uint64_t took = s->toy.clock - from;
	run_until(s->toy.clock + 1500, true);
	const bool heals = !s->faults || strcmp(s->features, "x") == 0;
	for (unsigned i = 0; i < s->nodes && !s->failed; i++)
		if (!is_well(i))
			wrong("well", i, s->seats[i].node.why);
		else if (heals && s->seats[i].node.given_up)
			wrong("well", i, "it gave up, although a node has what it lacked");
	if (!s->faults && took > 2000)
		wrong("well", 0, "it took more than 2 seconds, without a fault");
	if (!s->failed)
		check_all();
	return took;
}

static void history(uint64_t seed, const char *features, uint64_t ring)
{
	static struct sim sim;
	sim = (struct sim){ .seed = seed, .features = features, .ring = ring,
		            .capacity = 2000,
		            .verbose = sim.verbose, .gave_up = sim.gave_up,
		            .generations = sim.generations, .wells = sim.wells,
		            .slowest = sim.slowest };
	s = &sim;
	toy_make(&s->toy, seed);
	s->faults = strpbrk(features, "scrpfdxikbmoeu") != NULL;
	s->nodes = 2 + (unsigned)chance(4);
	s->seats = calloc(s->nodes, sizeof *s->seats);
	s->toy.slow = chance(3) ? 0 : 5;
	for (unsigned i = 0; i < s->nodes; i++) {
		sit(i, 1);
		schedule(i, s->toy.clock + 1 + chance(20));
	}
	for (unsigned k = 0; k < 4; k++)
		insert(0);
	run_until(s->toy.clock + 1000, true);
	toy_save(&s->toy);
	const size_t letters = strlen(features);
	const uint64_t events = 20 + chance(60);
	for (uint64_t e = 0; e < events && !s->failed; e++) {
		run_until(s->toy.clock + 1 + chance(chance(8) ? 60 : 1200), true);
		if (chance(3) || !letters)
			insert((unsigned)chance(s->nodes));
		else
			happen(features[chance(letters)]);
	}
	const uint64_t took = quiet();
	s->slowest = took > s->slowest ? took : s->slowest;
	s->wells += took;
	for (unsigned i = 0; i < s->nodes; i++)
		stand(i);
	toy_free(&s->toy);
	free(s->seats);
	free(s->keys);
	if (s->verbose)
		printf("seed %llu %s ring %llu: %u nodes, %zu keys, well after %llu ms\n",
		       (unsigned long long)seed, features, (unsigned long long)ring, s->nodes,
		       s->n_keys, (unsigned long long)took);
}

#include "crowd.h"

/* The faults of a seed unless --features names them: s save, c crash back to the save, r restore
 * the save into the running server, p promote the replica, f FLUSHALL, d delete the log, x delete
 * an entry, i lose the head's image, k a node dies, R record, b rollback, g ask for a generation,
 * m redis is full, o redis is down, e calls fail, n only node 0 may publish, u spoil an entry. */
static const char *const mixes[] = {
	"", "g", "sc", "p", "sr", "f", "d", "x", "i", "R", "Rg", "Rsr", "Rp", "kg", "kgsc", "m",
	"mo", "oe", "osce", "scx", "bg", "bgR", "bgsc", "Rscf", "pR", "gx", "ig", "igx", "kpg",
	"scfdxr", "scrfdxikRbgmoe", "prR", "nRg", "nsc", "gscR", "xi", "dk", "gr", "bgd", "mR",
	"kf", "kfg", "kdfg", "kfgoe", "u", "bgu", "scxuR",
};

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seeds", 1, NULL, 's' }, { "first", 1, NULL, 'f' }, { "features", 1, NULL, 'l' },
		{ "ring", 1, NULL, 'r' }, { "nodes", 1, NULL, 'n' }, { "calm", 1, NULL, 'c' },
		{ "well", 1, NULL, 'w' }, { 0 },
	};
	static const uint64_t rings[] = { 0, 16, 400, 1 << 20 };
	uint64_t seeds = 400, first = 1, ring = UINT64_MAX, nodes = 0, calm = 300;
	uint64_t well = QUIET_MS - 10;
	const char *features = NULL;
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		uint64_t *number = c == 's' ? &seeds : c == 'f' ? &first : c == 'r' ? &ring :
		                   c == 'n' ? &nodes : c == 'c' ? &calm : c == 'w' ? &well : NULL;
		if (c == 'l')
			features = optarg;
		else if (number)
			*number = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (nodes)
		return crowd((unsigned)nodes, features ? features : "cfodrx", 1000 * calm, well);
	for (uint64_t i = 0; i < seeds; i++) {
		const uint64_t seed = first + i;
		const char *mix = features ? features :
		                             mixes[seed % (sizeof mixes / sizeof *mixes)];
		history(seed, mix, ring != UINT64_MAX ? ring : strchr(mix, 'n') ? 1 << 20 :
		                   rings[seed / 7 % 4]);
		if (s->failed)
			return 1;
	}
	printf("%llu histories, well after %llu ms, %llu at most; %llu generations, %llu given "
	       "up\n", (unsigned long long)seeds, (unsigned long long)(s->wells / seeds),
	       (unsigned long long)s->slowest, (unsigned long long)s->generations,
	       (unsigned long long)s->gave_up);
	return 0;
}
