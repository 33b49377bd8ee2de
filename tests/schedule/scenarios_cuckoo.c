/* SPDX-License-Identifier: MIT
 * Keys that move while other threads look them up, insert and remove ([COPY-OWNER] to [EIGHT-TRIES]
 * in src/kinds/cuckoo/move.h). No key is missed, no removed key returns, and no key is doubled. */
#include <errno.h>
#include "kind/kind.h"
#include "scenario_cuckoo.h"

/* Key twin has the fingerprint and the buckets of key resident. So a lookup of twin finds the copy
 * of resident, and starts at bucket C. In this order, a lookup without [COPY-OWNER] to
 * [EIGHT-TRIES] could miss the copy in both buckets while the copy moves to C. */
static void look_for_all(void *unused)
{
	(void)unused;
	bool first = promised(0), other = promised(1);
	det_assert(cuckoo_has(&twin));
	det_assert(!first || answer[0] < 0 || cuckoo_has(&newcomer));
	det_assert(!other || answer[1] < 0 || cuckoo_has(&second));
}

static void lookup_beside_move(void)
{
	cuckoo_fill(1);
	det_spawn(cuckoo_insert_newcomer, NULL);
	det_spawn_reader(look_for_all, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && cuckoo_has(&newcomer) && cuckoo_copies(&resident) == 1);
	det_assert(cuckoo_free_slots() == 0);
}

/* The insert of key twin takes the slot in bucket C to which the copy of key resident would move.
 * Bucket C is the first bucket of twin. */
static void insert_twin(void *unused)
{
	(void)unused;
	answer[2] = weir_insert_hash(subject->filter, twin.hash);
	promise(2);
}

static void insert_beside_move(void)
{
	cuckoo_fill(2);
	det_spawn(cuckoo_insert_newcomer, NULL);
	det_spawn(insert_twin, NULL);
	det_spawn_reader(cuckoo_look_up_resident, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && answer[2] == WEIR_SEEN);
	det_assert(cuckoo_has(&newcomer) && cuckoo_copies(&resident) == 2);
	det_assert(cuckoo_free_slots() == 0);
}

static void remove_beside_move(void)
{
	cuckoo_fill(1);
	det_spawn(cuckoo_insert_newcomer, NULL);
	det_spawn(cuckoo_remove_resident, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && answer[2] == 1);
	det_assert(cuckoo_has(&newcomer) && !cuckoo_has(&resident));
	det_assert(cuckoo_copies(&resident) == 0);
	det_assert(cuckoo_free_slots() == 1);
}

/* Two threads remove one copy, so one of the removals returns 0. */
static void remove_twin(void *unused)
{
	(void)unused;
	answer[3] = weir_remove_hash(subject->filter, twin.hash);
}

static void two_removers(void)
{
	cuckoo_fill(1);
	det_spawn(cuckoo_remove_resident, NULL);
	det_spawn(remove_twin, NULL);
	det_join_all();
	det_assert((answer[2] == 1) + (answer[3] == 1) == 1 &&
	           (answer[2] == 0) + (answer[3] == 0) == 1);
	det_assert(cuckoo_copies(&resident) == 0 && cuckoo_free_slots() == 2);
}

/* There is always a free slot for both inserts, so neither is refused, whatever copies the inserts
 * move. */
static void begin_two_moves(void)
{
	cuckoo_fill(2);
	cuckoo_write(resident.bucket[0], 1, resident.fingerprint); /* a second copy that can move */
}

static void end_two_moves(void)
{
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && answer[1] == WEIR_NEW);
	det_assert(cuckoo_has(&newcomer) && cuckoo_has(&second) && cuckoo_copies(&resident) == 2);
	det_assert(cuckoo_free_slots() == 0);
}

static void two_movers(void)
{
	begin_two_moves();
	det_spawn(cuckoo_insert_newcomer, NULL);
	det_spawn(cuckoo_insert_second, NULL);
	end_two_moves();
}

/* Moves of one fingerprint are serialised ([COPY-OWNER]). So a lookup during two moves by one
 * thread meets all states that it meets during moves by two threads. The only difference is what
 * the second mover knows of the first mover. */
static void insert_both(void *unused)
{
	cuckoo_insert_newcomer(unused);
	cuckoo_insert_second(unused);
}

static void lookup_beside_moves(void)
{
	begin_two_moves();
	det_spawn(insert_both, NULL);
	det_spawn_reader(look_for_all, NULL);
	end_two_moves();
}

static void look_for_the_twin(void *unused)
{
	(void)unused;
	det_assert(cuckoo_has(&twin));
}

static void lookup_beside_movers(void)
{
	begin_two_moves();
	det_spawn(cuckoo_insert_newcomer, NULL);
	det_spawn(cuckoo_insert_second, NULL);
	det_spawn_reader(look_for_the_twin, NULL);
	end_two_moves();
}

/* The copy of key resident is in bucket C. The insert of key twin adds an equal copy in bucket A,
 * and then the removal of twin takes the copy in C. No key moves, but a lookup of A and then C
 * could miss both copies. */
static void insert_and_remove_twin(void *unused)
{
	(void)unused;
	answer[0] = weir_insert_hash(subject->filter, twin.hash);
	det_assert(weir_remove_hash(subject->filter, twin.hash) == 1);
}

static void removed_for_another(void)
{
	scenario_begin();
	for (unsigned b = 0; b < CUCKOO_BUCKETS; b++)
		cuckoo_write(b, 0, 0);
	cuckoo_write(resident.bucket[1], 0, resident.fingerprint);
	det_spawn(insert_and_remove_twin, NULL);
	det_spawn_reader(cuckoo_look_up_resident, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_SEEN && cuckoo_copies(&resident) == 1 && cuckoo_used() == 1);
}

/* ---- a filter of two cache lines, which has two stripes; the fingerprint of wide_resident and
 * wide_twin belongs to the second stripe ---- */

enum { WIDE = 2 * CUCKOO_BUCKETS, WIDE_WIDTH = 12, WIDE_TRIES = 10000000 };
static uint64_t wide_words[WIDE] __attribute__((aligned(64)));
static struct weir_filter *wide;
/* two keys with the same fingerprint, and with the same two buckets in opposite order */
static uint64_t wide_resident, wide_twin;
/* words that a scenario adds to the filter: a second fingerprint in the first bucket of
 * wide_resident */
static uint64_t wide_filler[WIDE];

static int wide_make(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	params.kind = WEIR_CUCKOO;
	params.cuckoo.fingerprint_bits = WIDE_WIDTH;
	params.capacity = 1;
	params.max_bytes = params.memory_bytes = sizeof wide_words;
	params.memory = wide_words;
	params.seed = SUBJECT_SEED;
	return weir_create(&wide, &params);
}

/* Return: the bucket that an insert into the empty filter chooses. @fingerprint: receives the word
 * that the insert writes. */
static unsigned wide_bucket(uint64_t hash, uint64_t *fingerprint)
{
	unsigned bucket = 0;
	(void)weir_insert_hash(wide, hash);
	while (bucket < WIDE - 1 && !wide_words[bucket])
		bucket++;
	*fingerprint = wide_words[bucket];
	wide_words[bucket] = 0;
	return bucket;
}

/* Return: the key's other bucket, or @bucket if both buckets are the same. */
static unsigned wide_other(uint64_t hash, unsigned bucket)
{
	unsigned other = bucket;
	for (unsigned i = 0; i < 64 / WIDE_WIDTH + 1; i++)
		(void)weir_insert_hash(wide, hash);
	for (unsigned i = 0; i < WIDE; i++) {
		other = wide_words[i] && i != bucket ? i : other;
		wide_words[i] = 0;
	}
	return other;
}

static bool wide_find(void)
{
	uint64_t try = 1, fingerprint = 0, found = 0;
	unsigned bucket = 0, other = 0;
	if (wide_twin)
		return true;
	if (wide_make())
		return false;
	for (; bucket == other || fingerprint % 2 == 0; try++) {
		bucket = wide_bucket(cuckoo_hash(try), &fingerprint);
		other = wide_other(cuckoo_hash(try), bucket);
		wide_resident = cuckoo_hash(try);
	}
	for (; !wide_twin && try < WIDE_TRIES; try++)
		if (wide_bucket(cuckoo_hash(try), &found) == other && found == fingerprint)
			wide_twin = cuckoo_hash(try);
	wide_filler[bucket] = fingerprint ^ 2;
	weir_destroy(wide);
	return wide_twin != 0;
}

static void wide_insert_and_remove(void *unused)
{
	(void)unused;
	answer[0] = weir_insert_hash(wide, wide_resident);
	det_assert(weir_remove_hash(wide, wide_twin) == 1);
}

static void wide_look(void *unused)
{
	(void)unused;
	det_assert(weir_contains_hash(wide, wide_resident));
	det_assert(weir_count_hash(wide, wide_resident) >= 1);
	det_assert(weir_contains_keys(wide, weir_keys_hashes(&wide_resident, 1), NULL) == 1);
	det_assert(wide->kernel->insert_once(wide, wide_resident) == WEIR_SEEN);
}

/* Return: true for the first subject only. */
static bool once(const struct subject *s)
{
	return s == &subjects[0];
}

/* A copy is added to wide_resident's first bucket, then the copy in its other bucket is removed.
 * Lookups and inserts must notice the removal, which changes the stripe's version. Otherwise an
 * insert would change the word of the other bucket, which has more free slots and still equals the
 * value that the insert has read. */
static void removed_in_its_stripe(void)
{
	scenario_begin();
	det_assert(wide_make() == 0);
	det_assert(weir_insert_hash(wide, wide_twin) == WEIR_NEW);
	for (unsigned i = 0; i < WIDE; i++)
		wide_words[i] |= wide_filler[i];
	det_spawn(wide_insert_and_remove, NULL);
	det_spawn_reader(wide_look, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_SEEN && weir_count_hash(wide, wide_resident) == 1);
	weir_destroy(wide);
}

const struct scenario cuckoo_scenarios[] = {
	CUCKOO_SCENARIO("lookup beside move", lookup_beside_move),
	CUCKOO_SCENARIO("lookup beside moves", lookup_beside_moves),
	CUCKOO_SCENARIO("lookup, two movers", lookup_beside_movers, .preemptions = 2),
	CUCKOO_SCENARIO("insert beside move", insert_beside_move),
	CUCKOO_SCENARIO("remove beside move", remove_beside_move),
	CUCKOO_SCENARIO("two removers", two_removers),
	CUCKOO_SCENARIO("two movers", two_movers),
	CUCKOO_SCENARIO("removed for another", removed_for_another),
	{ .name = "of two stripes", .group = "cuckoo", .body = removed_in_its_stripe,
	  .fits = once, .prepare = wide_find, .one_form = true, .cost = 3 },
	{ .name = NULL },
};
