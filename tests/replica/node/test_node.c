/* SPDX-License-Identifier: MIT
 * Single steps of a node that the simulation does not check: their order, refused input, and the
 * number that a flush returns. */
#include <dlfcn.h>
#include <stdatomic.h>
#include "lists.h"
#include "pair.h"

/* ---- order: wrappers of the library's functions ---- */

static unsigned looks;
static bool in_order = true, locked;

static int insert_hash(struct weir_handle *h, uint64_t hash)
{
	looks++;
	in_order = in_order && lists_have(&node[0].ring, hash);
	return (int)weir_handle_insert_keys(h, weir_keys_hashes(&hash, 1), NULL);
}

int64_t weir_handle_insert_keys(struct weir_handle *h, struct weir_keys keys, uint64_t *bitmap)
{
	static int64_t (*real)(struct weir_handle *, struct weir_keys, uint64_t *);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "weir_handle_insert_keys");
	if (h == handle[0] && node[0].token) {
		looks++;
		locked = pthread_mutex_trylock(&node[0].lock) == EBUSY;
		if (!locked)
			pthread_mutex_unlock(&node[0].lock);
	}
	return real(h, keys, bitmap);
}

static void test_the_ring_has_a_key_before_the_set(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	struct weir_handle_verbs *verbs = (struct weir_handle_verbs *)handle[0];
	int (*const real)(struct weir_handle *, uint64_t) = verbs->insert_hash;
	verbs->insert_hash = insert_hash;
	looks = 0;
	assert_ok(insert(0, 1));
	verbs->insert_hash = real;
	assert_int_equal(looks, 1);
	assert_true(in_order);
}

static void test_a_token_and_its_key_come_under_one_lock(void **state)
{
	(void)state;
	sit(0, 0, true);
	looks = 0;
	assert_ok(insert(0, 1));
	assert_true(looks);
	assert_true(locked);
	assert_true(status(0).owes && status(0).token);
	run(1000);
	assert_true(has(0, 1));
	assert_false(status(0).owes || status(0).token);
}

/* ---- refusals, hashes of keys, and kinds that are built once ---- */

static void test_an_insert_into_a_full_ring_fails_without_publications(void **state)
{
	(void)state;
	uint64_t keys[300], bitmap[5];
	for (unsigned i = 0; i < 300; i++)
		keys[i] = 1000 + i;
	sit(0, 8, false);
	assert_int_equal(insert(0, 1), WEIR_NEW);
	assert_refused(insert(0, 2), -ENOBUFS, "max_pending_bytes", "8 bytes");
	assert_true(has(0, 1));
	assert_false(has(0, 2));
	sit(1, 80, false);
	assert_refused(weir__node_insert_keys(&node[1], weir_keys_u64(keys, 300), bitmap),
	               -ENOBUFS, "max_pending_bytes", "80 bytes");
	assert_true(has(1, 1009));
	assert_false(has(1, 1010));
}

static void test_a_batch_reaches_the_other_node(void **state)
{
	(void)state;
	uint64_t keys[1500], bitmap[24] = { 0 };
	for (unsigned i = 0; i < 1500; i++)
		keys[i] = i < 1000 ? i : i - 1000;
	sit_with(0, filter(WEIR_CLASSIC, 4000, 7), 1 << 20, true);
	sit_with(1, filter(WEIR_CLASSIC, 4000, 7), 1 << 20, true);
	assert_int_equal(weir__node_insert_keys(&node[0], weir_keys_u64(keys, 1500), bitmap), 1000);
	run(1000);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(has(1, i));
	assert_int_equal(status(0).state, WEIR_NODE_FOLLOWING);
	assert_int_equal(status(0).ring_bytes, 0);
}

static bool takes_a_number(unsigned i, uint64_t key)
{
	const bool inserted = weir__node_insert_u64(&node[i], key) == WEIR_NEW;
	return inserted && lists_have(&node[i].ring, weir_handle_hash(handle[i], &key, 8)) &&
	       has(i, key);
}

/* The node hashes with a view of its first filter, also after a reload has replaced that filter. */
static void test_a_number_has_the_hash_of_its_bytes(void **state)
{
	(void)state;
	struct weir_params keyed = WEIR_PARAMS_INIT;
	struct weir_filter *f = filter(WEIR_BLOCKED, 1000, 7);
	struct weir_record r;
	keyed.capacity = 1000;
	keyed.fp_rate = 1e-6;
	keyed.secret = "0123456789abcdef";
	sit(0, 1 << 20, true);
	assert_true(node[0].inlined);
	assert_true(takes_a_number(0, 1));
	run(1000);
	assert_ok(weir__node_record(&node[0], &r, NULL));
	assert_ok(weir__node_publish_record(&node[0], &r, f));
	weir_destroy(f);
	run(1000);
	assert_false(has(0, 1));
	assert_true(takes_a_number(0, 2));
	assert_ok(weir_create(&f, &keyed));
	sit_with(1, f, 1 << 20, true);
	assert_false(node[1].inlined);
	assert_true(takes_a_number(1, 3));
}

static void test_a_generation_by_another_seed_is_refused(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	assert_ok(insert(0, 1));
	run(1000);
	sit_with(1, filter(WEIR_BLOCKED, 1000, 8), 1 << 20, true);
	assert_ok(insert(1, 2));
	run(2000);
	assert_int_equal(status(1).error, -EKEYREJECTED);
	assert_non_null(strstr(status(1).why, "another seed"));
	assert_int_not_equal(status(1).state, WEIR_NODE_FOLLOWING);
	assert_true(has(1, 2));
	assert_int_equal(status(0).foreign, 1);
	assert_int_equal(status(0).generations, 1);
}

static struct weir_filter *lowercase(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.capacity = 1000;
	params.fp_rate = 1e-6;
	params.seed = 7;
	params.text.steps = WEIR_TEXT_LOWERCASE;
	assert_ok(weir_create(&f, &params));
	return f;
}

/* The log has hashes. Nodes that change texts by different steps before they hash them would not
 * find each other's keys. */
static void test_a_generation_of_other_steps_is_refused(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	run(1000);
	sit_with(1, lowercase(), 1 << 20, true);
	run(2000);
	assert_int_equal(status(1).error, -EKEYREJECTED);
	assert_non_null(strstr(status(1).why, "other steps need a new set name"));
	assert_int_not_equal(status(1).state, WEIR_NODE_FOLLOWING);
}

static bool takes_text(unsigned i, const char *text)
{
	const size_t len = strlen(text);
	const bool inserted = weir__node_insert(&node[i], text, len) == WEIR_NEW;
	return inserted && lists_have(&node[i].ring, weir_handle_hash(handle[i], text, len));
}

static void test_a_text_has_the_hash_that_its_set_looks_for(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit_with(1, lowercase(), 1 << 20, true);
	assert_true(node[0].inlined && !node[1].inlined);
	for (unsigned i = 0; i < 2; i++)
		assert_true(takes_text(i, "Eight By") && takes_text(i, "a TEXT of more bytes"));
	assert_true(weir_handle_contains(handle[1], "eight bY", 8));
	assert_false(weir_handle_contains(handle[0], "eight bY", 8));
}

static void test_a_kind_that_is_built_once_comes_by_records(void **state)
{
	(void)state;
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f[3];
	params.kind = WEIR_FUSE;
	params.fp_rate = 1e-6;
	params.seed = 7;
	for (unsigned i = 0; i < 3; i++) {
		struct weir_builder *b;
		assert_ok(weir_builder_create(&b, &params, NULL));
		for (uint64_t k = 0; k < 100; k++)
			assert_ok(weir_builder_add_u64(b, i == 2 ? 1000 + k : k));
		assert_ok(weir_builder_finish(&f[i], b, NULL));
		weir_builder_destroy(b);
		if (i < 2)
			sit_with(i, f[i], 1 << 20, true);
	}
	run(1000);
	assert_refused(insert(0, 1), -ENOTSUP, "built once", "toy");
	struct weir_record r;
	assert_ok(weir__node_record(&node[0], &r, NULL));
	assert_ok(weir__node_publish_record(&node[0], &r, f[2]));
	weir_destroy(f[2]);
	run(1000);
	assert_true(has(0, 1001) && has(1, 1001) && !has(1, 1));
	toy_flush(&toy.server[1]); /* one node publishes a generation, which both nodes join */
	run(3000);
	assert_true(has(0, 1001) && has(1, 1001));
	assert_int_equal(status(0).state, WEIR_NODE_FOLLOWING);
	assert_int_equal(status(1).state, WEIR_NODE_FOLLOWING);
}

/* ---- flushes, debts and publications ---- */

static void test_a_flush_waits_for_redis(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	run(1000);
	toy.server[1].down = true;
	assert_ok(insert(0, 1));
	const uint64_t number = weir__node_flush(&node[0]);
	run(2000);
	assert_int_equal(status(0).state, WEIR_NODE_OFFLINE);
	assert_true(weir__node_acknowledged(&node[0]) < number);
	toy.server[1].down = false;
	run(420);
	assert_int_equal(weir__node_acknowledged(&node[0]), number);
	toy.server[1].full = true; /* accepts heartbeats but no entries */
	assert_ok(insert(0, 2));
	const uint64_t another = weir__node_flush(&node[0]);
	run(3000);
	assert_int_equal(status(0).state, WEIR_NODE_FOLLOWING);
	assert_true(weir__node_acknowledged(&node[0]) < another);
	toy.server[1].full = false;
	run(1020);
	assert_int_equal(weir__node_acknowledged(&node[0]), another);
}

static void test_a_flush_waits_for_the_tokens_drawn_before_it_and_no_later_one(void **state)
{
	(void)state;
	sit(0, 0, true);
	run(1000);
	assert_ok(insert(0, 1));
	const uint64_t number = weir__node_flush(&node[0]);
	run(20);
	assert_true(weir__node_acknowledged(&node[0]) < number);
	const uint64_t token = node[0].token;
	while (node[0].token == token)
		run(20);
	for (uint64_t i = 2; status(0).generations < 3; i++) { /* a token stays open */
		assert_ok(insert(0, i));
		run(20);
		if (status(0).generations == 2)
			break;
	}
	assert_true(weir__node_acknowledged(&node[0]) >= number);
	assert_true(status(0).owes || status(0).token);
}

static void test_debts_beyond_the_list_are_paid_by_an_own_generation_alone(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	run(1000);
	for (uint64_t id = 1; id <= WEIR_NODE_DEBTS + 10; id++)
		weir__debt_add(&node[0], id, id);
	assert_int_equal(node[0].n_debts, WEIR_NODE_DEBTS);
	assert_int_equal(node[0].debts[WEIR_NODE_DEBTS - 1].id, 0);
	assert_int_equal(node[0].debts[WEIR_NODE_DEBTS - 1].stamp, WEIR_NODE_DEBTS);
	struct weir_manifest m = node[0].newest;
	for (uint64_t id = 1; id < WEIR_NODE_DEBTS; id++)
		(void)weir__has_add(&m.has, id);
	weir__debts_release(&node[0], &m);
	assert_int_equal(node[0].n_debts, WEIR_NODE_DEBTS);
	node[0].n_publishing = node[0].n_debts;
	weir__debt_add(&node[0], 1000, 1000); /* the publication does not pay this debt */
	weir__debts_paid(&node[0], m.id);
	assert_int_equal(node[0].n_debts, 2);
	assert_int_equal(node[0].debts[1].id, 0);
}

/* [LOG-READING]: redis acknowledged an entry of node 0 that the node has not read. Now another
 * entry has that id, below a generation's position. */
static void test_own_entries_skipped_by_a_jump_are_sent_again(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	toy_save(&toy);
	assert_ok(insert(0, 1));
	toy.stores[0].no_read = true;
	(void)weir__node_round(&node[0], toy.clock += 20);
	assert_non_null(node[0].ring.acked.oldest);
	toy_fall_back(&toy, false);
	for (uint64_t i = 0; i < 3; i++) {
		assert_ok(insert(1, 100 + i));
		node[1].publish_asked = true;
		run_from(1, 1000);
	}
	assert_int_equal(status(1).generations + status(0).generations, 4);
	toy.stores[0].no_read = false;
	run(2000);
	assert_true(has(1, 1));
	assert_true(has(0, 102));
}

static void test_a_merged_filter_is_published(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	struct weir_filter *more = filter(WEIR_BLOCKED, 1000, 7);
	assert_ok(weir_insert_u64(more, 5));
	assert_ok(weir__node_merge(&node[0], more));
	weir_destroy(more);
	run(1000);
	assert_true(has(0, 5) && has(1, 5));
	assert_false(status(0).owes);
}

static void test_a_rollback_keeps_what_was_inserted_since(void **state)
{
	(void)state;
	sit_both_with_key_1();
	const struct weir_manifest kept = *toy_head(&toy.server[1]);
	assert_ok(insert(1, 2));
	node[0].publish_asked = true;
	run(1000);
	struct weir_record r;
	assert_ok(weir__node_record(&node[1], &r, &kept));
	assert_ok(weir__node_publish_record(&node[1], &r, NULL));
	run(1000);
	assert_true(has(0, 2) && has(1, 2) && has(0, 1));
	assert_int_equal(status(0).joined.era, 2);
	assert_true(status(0).joined.number >= 2); /* 2.2 has the keys that only the log had */
}

/* The image of a rollback needs the log after its position. Node 1 has not read that log, so it has
 * not joined the rollback. */
static void test_a_node_that_starts_with_a_rollback_has_not_joined_it(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	assert_ok(insert(0, 1));
	run(1000);
	struct weir_manifest m = *toy_head(&toy.server[1]);
	sit(1, 1 << 20, true);
	weir__node_start(&node[1], &m);
	assert_true(node[1].joined.id == m.id);
	weir__node_free(&node[1]);
	assert_ok(weir_handle_destroy(handle[1]));
	sit(1, 1 << 20, true);
	m.source = WEIR_SOURCE_ROLLBACK;
	weir__node_start(&node[1], &m);
	assert_int_equal(node[1].joined.id, 0);
}

static void test_a_republished_generation_needs_no_image(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	const struct weir_manifest before = *toy_head(&toy.server[1]);
	assert_ok(insert(0, 1));
	run(100);
	const uint64_t bytes = toy.bytes_out, log_bytes = node[1].log_bytes;
	assert_int_equal(log_bytes, WEIR_NODE_ENTRY + 8);
	assert_ok(weir__node_republish(&node[0]));
	run(1000);
	const struct weir_manifest *now = toy_head(&toy.server[1]);
	assert_int_equal(now->version.number, before.version.number + 1);
	assert_memory_equal(now->image, before.image, sizeof now->image);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(status(i).joined.number, now->version.number);
		assert_int_equal(status(i).state, WEIR_NODE_FOLLOWING);
	}
	assert_int_equal(node[1].log_bytes, log_bytes); /* the image has no new keys */
	assert_true(toy.bytes_out - bytes < before.bytes);
	assert_refused(weir__node_republish(&(struct weir_node){ .set = "toy", .doubt = true }),
	               -EAGAIN, "toy", "newest");
}

/* A client can write a lease that never ends. */
static void test_a_node_publishes_despite_a_lease_that_never_ends(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	run(1000);
	toy.server[1].holder = 99;
	toy.server[1].held_until = UINT64_MAX;
	node[0].publish_asked = true;
	run(5000);
	assert_int_equal(status(0).joined.number, 1);
	run(10000);
	assert_int_equal(status(0).joined.number, 2);
	/* A generation that only publish_ms requires waits as long as an upload may take. */
	toy.server[1].holder = 99;
	toy.server[1].held_until = UINT64_MAX;
	node[0].publish_ms = 3000;
	assert_ok(insert(0, 1));
	run(500000);
	assert_int_equal(status(0).joined.number, 2);
	run(150000);
	assert_int_equal(status(0).joined.number, 3);
}

static int no_space(void *context, const struct weir_filter *f, struct weir_manifest *m)
{
	(void)context, (void)f, (void)m;
	return weir_fail(-ENOSPC, "redis is full");
}

static void test_a_record_that_fails_leaves_the_lease_to_others(void **state)
{
	struct weir_record r;
	(void)state;
	sit(0, 1 << 20, true);
	run(3000); /* the lease expires */
	struct weir_filter *f = filter(WEIR_BLOCKED, 1000, 7);
	assert_ok(weir__node_record(&node[0], &r, NULL));
	toy.stores[0].store.upload = no_space;
	assert_int_equal(weir__node_publish_record(&node[0], &r, f), -ENOSPC);
	weir_destroy(f);
	toy.clock++;
	const struct weir_store *other = &toy_store(&toy, 1, 1)->store;
	assert_ok(other->lease(other->context, 2, WEIR_NODE_LEASE_MS));
}

/* The version that this machine accepted is above all versions in redis. */
static void test_an_older_head_is_published_over_only_if_asked(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	run(1000);
	assert_int_equal(status(0).generations, 1);
	node[0].floor = (struct weir_version){ 1, 2 };
	run(5000);
	assert_int_equal(status(0).generations, 1);
	node[0].publish_asked = true;
	run(1000);
	assert_int_equal(status(0).generations, 2);
	assert_int_equal(status(0).joined.number, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_ring_has_a_key_before_the_set),
		TEST(test_a_token_and_its_key_come_under_one_lock),
		TEST(test_an_insert_into_a_full_ring_fails_without_publications),
		TEST(test_a_batch_reaches_the_other_node),
		TEST(test_a_number_has_the_hash_of_its_bytes),
		TEST(test_a_generation_by_another_seed_is_refused),
		TEST(test_a_generation_of_other_steps_is_refused),
		TEST(test_a_text_has_the_hash_that_its_set_looks_for),
		TEST(test_a_kind_that_is_built_once_comes_by_records),
		TEST(test_a_flush_waits_for_redis),
		TEST(test_a_flush_waits_for_the_tokens_drawn_before_it_and_no_later_one),
		TEST(test_debts_beyond_the_list_are_paid_by_an_own_generation_alone),
		TEST(test_own_entries_skipped_by_a_jump_are_sent_again),
		TEST(test_a_merged_filter_is_published),
		TEST(test_a_rollback_keeps_what_was_inserted_since),
		TEST(test_a_node_that_starts_with_a_rollback_has_not_joined_it),
		TEST(test_a_republished_generation_needs_no_image),
		TEST(test_a_node_publishes_despite_a_lease_that_never_ends),
		TEST(test_a_record_that_fails_leaves_the_lease_to_others),
		TEST(test_an_older_head_is_published_over_only_if_asked),
	};
	return cmocka_run_group_tests_name("replica_node", tests, NULL, NULL);
}
