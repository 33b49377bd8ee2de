/* SPDX-License-Identifier: MIT
 * A sharded set during inserts and lookups. Both shards are replaced, by a copy and from the
 * application's record. A lookup reads either the old filter or the new filter, and never a
 * mixture. Batches have keys of both shards. */
#include "scenario_sharded.h"

static void copied(void)
{
	sharded_begin(&urcu_bp_flavor);
	sharded_spawn_inserters();
	det_spawn(sharded_verify_thread, &sharded_three);
	det_spawn(sharded_copy_each_thread, NULL);
	det_join_all();
	det_assert(answer[1] == WEIR_NEW && answer[3] == WEIR_NEW);
	sharded_end_with(15, 1, 1);
}

static void copied_qsbr(void)
{
	sharded_begin(&det_qsbr_flavor);
	det_spawn(sharded_insert_thread, &sharded_three);
	det_spawn(sharded_verify_thread, &sharded_three);
	det_spawn(sharded_copy_each_thread, NULL);
	det_join_all();
	sharded_end_with(13, 1, 1);
}

/* A flag for each key. A thread writes the flag before it inserts the key, and fill() reads the
 * flag. Nothing else orders the insert and fill(). */
static uint32_t record[SUBJECT_KEYS];

static void record_and_insert(void *insertion)
{
	const struct insertion *i = insertion;
	det_store(&record[i->key], sizeof record[0], 1, DET_RELAXED);
	sharded_insert_thread(insertion);
}

/* Offers the whole record to each shard: key by key to the first shard, and as a batch to the
 * second. */
static int fill(struct weir_reload *r, uint32_t shard, void *context)
{
	uint64_t hashes[SUBJECT_KEYS];
	size_t n = 0;
	(void)context;
	for (unsigned key = 0; key < SUBJECT_KEYS; key++)
		if (det_load(&record[key], sizeof record[key], DET_RELAXED))
			hashes[n++] = sharded_key(key);
	for (size_t i = 0; i < n && shard == 0; i++)
		det_assert(form_reload_insert(r, hashes[i]) >= 0);
	if (shard)
		det_assert(form_reload_insert_all(r, hashes, n) >= 0);
	return 0;
}

static void fill_each_thread(void *unused)
{
	(void)unused;
	det_assert(weir_reload_all(sharded_set, NULL, fill, NULL) == 0);
}

static void recorded(void)
{
	sharded_begin(&urcu_bp_flavor);
	for (unsigned key = 0; key < SUBJECT_KEYS; key++)
		record[key] = key % 2 == 0;
	det_spawn(record_and_insert, &sharded_one);
	det_spawn(record_and_insert, &sharded_three);
	det_spawn(fill_each_thread, NULL);
	det_join_all();
	sharded_end_with(15, 1, 1);
}

/* Key 0 shares its first word with a key of the old first shard, and its second word with a key of
 * the new first shard. A lookup that read one word from each filter would find key 0. */
static uint64_t part[2];

static bool find_part(unsigned word)
{
	const struct key *whole = &subject->key[0];
	for (uint64_t i = 1; i < 1 << 20; i++) {
		uint64_t hash = i * UINT64_C(0xD1B54A32D192ED03) << 1;
		struct key k = subject_learn(subject, hash);
		bool has[2];
		for (unsigned w = 0; w < 2; w++)
			has[w] = k.word[w].index == whole->word[w].index &&
			         !(whole->word[w].mask & ~k.word[w].mask);
		part[word] = hash;
		if (has[word] && !has[!word])
			return true;
	}
	return false;
}

static bool prepare_parts(void)
{
	return sharded_prepare() && find_part(0) && find_part(1);
}

static void look_for_a_mixture(void *unused)
{
	uint64_t hash = sharded_key(0);
	(void)unused;
	acts_on_keys(1);
	det_assert(!sharded_holds(0));
	det_assert(weir_handle_contains_keys(sharded_set, weir_keys_hashes(&hash, 1), NULL) == 0);
}

static void replace_part(void *unused)
{
	(void)unused;
	struct weir_reload *r = sharded_begun(0);
	det_assert(form_reload_insert(r, sharded_hash(part[1])) == WEIR_NEW);
	det_assert(weir_reload_commit(r) == 0);
}

static void never_a_mixture(void)
{
	sharded_make(&urcu_bp_flavor);
	det_assert(form_handle_insert(sharded_set, sharded_hash(part[0])) == WEIR_NEW);
	det_spawn(look_for_a_mixture, NULL);
	det_spawn(replace_part, NULL);
	det_join_all();
	det_assert(!sharded_holds(0) &&
	           !form_handle_contains(sharded_set, sharded_hash(part[0])));
	det_assert(form_handle_insert(sharded_set, sharded_hash(part[0])) == WEIR_NEW &&
	           sharded_holds(0));
	sharded_end();
}

/* ---- batches over both shards ---- */

static void insert_batch(void *unused)
{
	uint64_t hashes[2] = { sharded_key(1), sharded_key(3) }, bitmap = 0;
	(void)unused;
	acts_on_keys(10);
	flavor->register_thread();
	det_assert(form_handle_insert_all(sharded_set, hashes, 2, &bitmap) == 2 && bitmap == 3);
	promise(1);
	flavor->unregister_thread();
}

static void look_up_batch(void *unused)
{
	uint64_t hashes[] = { sharded_key(0), sharded_key(1), sharded_key(2), sharded_key(3) };
	uint64_t bitmap = 0;
	(void)unused;
	acts_on_keys(15);
	flavor->register_thread();
	uint64_t must = promised(1) ? 15 : 5;
	int64_t n = form_handle_contains_all(sharded_set, hashes, 4, &bitmap);
	det_assert((bitmap & must) == must && n == __builtin_popcountll(bitmap));
	flavor->unregister_thread();
}

static void batches_of(const struct rcu_flavor_struct *of)
{
	sharded_begin(of);
	det_spawn(insert_batch, NULL);
	det_spawn(look_up_batch, NULL);
	det_spawn(sharded_copy_each_thread, NULL);
	det_join_all();
	sharded_end_with(15, 1, 1);
}

static void batches(void)
{
	batches_of(&urcu_bp_flavor);
}

static void batches_memb(void)
{
	batches_of(&det_memb_flavor);
}

const struct scenario sharded_scenarios[] = {
	{ SHARDED("each copied", copied), .fits = smallest, .preemptions = 2 },
	{ SHARDED("each copied", copied), .fits = two_words, .search_words = 1 },
	{ SHARDED("each copied, qsbr", copied_qsbr), .fits = smallest, .preemptions = 2 },
	{ SHARDED("each recorded", recorded), .fits = smallest, .preemptions = 2 },
	{ .name = "wholly", .group = "sharded", .body = never_a_mixture, .prepare = prepare_parts,
	  .narrowed = true, .cost = 20, .fits = two_words },
	{ SHARDED("batches over both", batches), .batches = true, .fits = smallest,
	  .preemptions = 2 },
	{ SHARDED("batches, memb", batches_memb), .batches = true, .fits = smallest,
	  .preemptions = 2 },
	{ .name = NULL },
};
