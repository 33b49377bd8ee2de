/* SPDX-License-Identifier: MIT
 * The rules together: nodes and a server that loses what a server may lose, in thousands of orders
 * drawn by seed. No insert of a node that lives is ever absent there, and when all is quiet, every
 * node has every insert that was promised. */
#include <errno.h>
#include <weir/handle.h>
#include "../test.h"
#include "node.h"
#include "toy.h"

enum { NODES = 3, KEYS = 400, STEPS = 600, ROUNDS = 40 };

struct key {
	unsigned place, life; /* who inserted it, and in which of its lives */
	bool promised;        /* its batch was confirmed when every replica had it */
};

static struct toy toy;
static struct {
	struct weir_node node;
	struct weir_handle *handle;
	unsigned life;
} at[NODES];
static struct key keys[KEYS];
static unsigned inserted;
static bool of_keys; /* batches are, and each record gives a filter of another seed (L13) */

static uint64_t number(uint64_t below)
{
	return toy_number(&toy, below);
}

static struct weir_filter *new_filter(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.capacity = 4 * KEYS;
	p.fp_rate = 1e-6;
	p.seed = 42 + (of_keys ? number(3) : 0);
	assert_ok(weir_create(&f, &p));
	return f;
}

static void be_born(unsigned i)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	o.flags = of_keys ? WEIR_HANDLE_ANY_SEED : 0;
	assert_ok(weir_handle_create(&at[i].handle, new_filter(), &o));
	weir__node_make(&at[i].node, &toy.server, at[i].handle, "set",
	                test_random(&toy.random) | 1,
	                of_keys ? WEIR_ENTRY_KEYS : WEIR_ENTRY_HASHES, 1 << 20);
	at[i].life++;
}

static void die(unsigned i)
{
	weir__node_free(&at[i].node);
	assert_ok(weir_handle_destroy(at[i].handle));
}

static bool has(unsigned i, unsigned key)
{
	const uint64_t of = test_key(key);
	return of_keys ? weir_handle_contains(at[i].handle, &of, sizeof of) :
	                 weir_handle_contains_hash(at[i].handle, of);
}

static bool survives(unsigned key)
{
	return at[keys[key].place].life == keys[key].life;
}

static void insert(unsigned i)
{
	if (inserted == KEYS)
		return;
	keys[inserted] = (struct key){ .place = i, .life = at[i].life };
	int kept;
	const uint64_t key = test_key(inserted);
	assert_ok(of_keys ? weir__node_insert(&at[i].node, &key, sizeof key, &kept) :
	                    weir__node_insert_hash(&at[i].node, key, &kept));
	assert_int_equal(kept, 0);
	inserted++;
}

/* Confirmed inserts: the batches were answered, then every replica has them, and it is the same
 * epoch still (S1 in service.h). */
static void confirm(unsigned i)
{
	if (weir__node_send(&at[i].node) != 0 || !toy_wait(&toy) ||
	    weir__node_read(&at[i].node) != 0)
		return;
	for (unsigned k = 0; k < inserted; k++)
		if (keys[k].place == i && survives(k))
			keys[k].promised = true;
}

/* An answer that means that somebody has to look. */
static void look_after(unsigned i, int err)
{
	if (err == -ESTALE || err == -EEXIST)
		(void)weir__node_look(&at[i].node);
}

/* What lacks is asked for: of one whose batch lacks, or of all. */
static void want(unsigned i)
{
	struct weir_node *n = &at[i].node;
	if (n->gap) {
		look_after(i, weir__node_want(n, 0, 1));
		return;
	}
	for (size_t k = 0; k < n->origins.n; k++) {
		const struct weir_origin *o = &n->origins.of[k];
		if (o->seen > o->sequence) {
			look_after(i, weir__node_want(n, o->node, o->sequence + 1));
			return;
		}
	}
}

/* Some nodes are taken for gone, though they live: then nothing is lost either. */
static void heal(unsigned i, bool everybody)
{
	uint64_t alive[NODES];
	size_t n = 0;
	for (unsigned k = 0; k < NODES; k++)
		if (everybody || k == i || number(2))
			alive[n++] = at[k].node.id;
	qsort(alive, n, sizeof *alive, toy_ascending);
	(void)weir__node_heal(&at[i].node, alive, n);
}

/* From the application's record, which has every key. */
static void publish_from_source(unsigned i)
{
	struct weir_node *n = &at[i].node;
	struct weir_mark mark;
	struct weir_filter *f;
	int err = weir__node_mark(n, &mark);
	if (!err) {
		f = new_filter();
		for (unsigned k = 0; k < inserted; k++) {
			const uint64_t key = test_key(k);
			assert_ok(of_keys ? weir_insert(f, &key, sizeof key) :
			                    weir_insert_hash(f, key));
		}
		err = weir__node_publish_from(n, f, &mark);
		weir__mark_free(&mark);
		weir_destroy(f);
	}
	look_after(i, err);
}

static void step(bool kills, bool trims, bool source)
{
	unsigned i = (unsigned)number(NODES);
	switch (number(20)) {
	case 0: case 1: case 2: case 3:
		insert(i);
		break;
	case 4: case 5: case 6:
		look_after(i, weir__node_send(&at[i].node));
		break;
	case 7: case 8: case 9: case 10:
		look_after(i, weir__node_read(&at[i].node));
		break;
	case 11: case 12:
		(void)weir__node_look(&at[i].node);
		break;
	case 13: case 14:
		look_after(i, weir__node_publish(&at[i].node, NULL));
		break;
	case 15:
		confirm(i);
		break;
	case 16:
		toy.lags = number(2);
		(void)weir__node_idle(&at[i].node);
		if (!source && number(3) == 0)
			heal(i, false);
		break;
	case 17:
		if (number(4) == 0)
			toy_fail_over(&toy);
		break;
	case 18:
		want(i);
		if (kills && number(4) == 0) {
			die(i);
			be_born(i);
		}
		if (source && number(3) == 0)
			publish_from_source(i);
		break;
	default:
		if (trims && number(3) == 0)
			toy_trim(&toy, number(4));
		/* of an entry that was deleted in the middle nobody knows if its node has gone, and
		 * a flush takes what only the server had */
		if (trims && !kills && number(3) == 0)
			toy_delete(&toy, number(8));
		if (trims && number(20) == 0)
			toy_delete_all(&toy);
		if (trims && !kills && number(40) == 0)
			toy_flush(&toy);
	}
}

/* At any time: what a node inserted in this life it has. */
static void check_own(uint64_t seed)
{
	for (unsigned k = 0; k < inserted; k++)
		if (survives(k) && !has(keys[k].place, k))
			fail_msg("seed %llu: node %u lost its own key %u", (unsigned long long)seed,
			         keys[k].place, k);
}

static bool all_complete(void)
{
	bool complete = true;
	for (unsigned i = 0; i < NODES; i++)
		complete = complete && weir__node_complete(&at[i].node);
	return complete;
}

/* Nothing fails any more: everybody does what it does, in turn. */
static void become_quiet(bool source)
{
	toy.failing = 0;
	toy.lags = false;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < NODES; i++) {
			struct weir_node *n = &at[i].node;
			int err;
			while ((err = weir__node_look(n)) == -EINPROGRESS)
				;
			look_after(i, err);
			look_after(i, weir__node_idle(n));
			look_after(i, weir__node_read(n));
			if (!weir__node_complete(n) && round < ROUNDS / 2)
				want(i);
			else if (round % NODES == i)
				look_after(i, weir__node_publish(n, NULL));
			else if (source && round == ROUNDS / 2 && i == 0 && !all_complete())
				publish_from_source(i);
			if (!source && round >= ROUNDS / 4)
				heal(i, true);
		}
	}
}

static void check_all(uint64_t seed)
{
	for (unsigned i = 0; i < NODES; i++) {
		if (!weir__node_complete(&at[i].node))
			fail_msg("seed %llu: node %u is not complete", (unsigned long long)seed, i);
		for (unsigned k = 0; k < inserted; k++)
			if ((survives(k) || keys[k].promised) && !has(i, k))
				fail_msg("seed %llu: node %u lacks key %u of node %u",
				         (unsigned long long)seed, i, k, keys[k].place);
	}
}

static void run(uint64_t seed, unsigned failing, bool kills, bool trims, bool source)
{
	toy_make(&toy, seed);
	toy.failing = failing;
	toy.slow = seed % 2 ? 600 : 0;
	inserted = 0;
	for (unsigned i = 0; i < NODES; i++)
		be_born(i);
	for (unsigned s = 0; s < STEPS; s++) {
		step(kills, trims, source);
		check_own(seed);
	}
	become_quiet(source);
	check_own(seed);
	check_all(seed);
	for (unsigned i = 0; i < NODES; i++)
		die(i);
	toy_free(&toy);
}

static unsigned seeds = 80;

static void test_failovers(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		run(seed, 30, false, false, false);
}

static void test_failovers_and_kills(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		run(seed, 30, true, false, false);
}

static void test_trims(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		run(seed, 30, false, true, false);
}

static void test_a_source_of_record(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		run(seed, 30, true, true, true);
}

static void test_any_seed(void **state)
{
	(void)state;
	of_keys = true;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		run(seed, 30, true, seed % 2, true);
	of_keys = false;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failovers),
		cmocka_unit_test(test_failovers_and_kills),
		cmocka_unit_test(test_trims),
		cmocka_unit_test(test_a_source_of_record),
		cmocka_unit_test(test_any_seed),
	};
	if (argc > 1)
		seeds = (unsigned)atoi(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
