/* SPDX-License-Identifier: MIT
 * Sets of kinds that are built once are replaced under readers. Several threads fill a reload. Some
 * reloads are aborted, refused by the gate (struct weir_gate) or rolled back. A sharded set is
 * reloaded shard by shard. Readers always find the keys that all sets have, and find a set's own
 * keys while the set is current. In the layered kind readers never find a key that every set
 * excludes. */
#include <errno.h>
#include <stdio.h>
#include "flavor.h"
#include "../sharded.h"

enum { COMMON = 3000, OWN = 500, EXCLUDED = 6000 };
enum { SHARDS = 4, TOGETHER = 64, LOADERS = 3, SEED = 9 };
enum action { COMMITTED, ABORTED, REFUSED, ROLLED_BACK, ROLLED, ACTIONS };
static const char *const names[ACTIONS] = {
	"committed", "aborted", "refused", "rolled back", "rolled",
};

static struct built {
	const struct rcu_flavor_struct *flavor;
	uint32_t kind;
	struct weir_handle *handle;
	struct weir_handle *set;
	unsigned readers;
	atomic_bool over;
	_Atomic uint64_t lookups;
	/* A sequence counter, odd while a commit or a rollback may change the current set. If the
	 * counter has the same even value before and after a lookup, the lookup used the set that
	 * @round names. */
	_Atomic uint64_t changes;
	_Atomic uint64_t round;
	/* used only by the loader */
	uint64_t rounds, least, done[ACTIONS];
} s;

/* Return: key @i of a round. The first COMMON keys are the same in every round. */
static uint64_t key_of(uint64_t round, uint64_t i)
{
	return i < COMMON ? i : COMMON + round * OWN + i - COMMON;
}

static uint64_t excluded_key(uint64_t i)
{
	return UINT64_MAX - i;
}

static void succeeds(int64_t answer)
{
	check(answer >= 0, "%lld: %s", (long long)answer, weir_error_detail());
}

/* ---- readers ---- */

static void look_for_one(uint64_t *random)
{
	const uint64_t before = atomic_load_explicit(&s.changes, memory_order_acquire);
	const uint64_t round = atomic_load_explicit(&s.round, memory_order_relaxed);
	const uint64_t key = key_of(round, COMMON + stress_random(random) % OWN);
	const bool there = weir_handle_contains(s.handle, &key, sizeof key);
	/* A lookup of a later set sees data that was published, by release, after the counter
	 * became odd. This load then sees the odd value. */
	const uint64_t after = atomic_load_explicit(&s.changes, memory_order_relaxed);
	check(there || before != after || before % 2, "a key of round %llu is missed",
	      (unsigned long long)round);
}

static void look_for_many(uint64_t *random)
{
	uint64_t keys[TOGETHER];
	for (unsigned i = 0; i < TOGETHER; i++) {
		keys[i] = stress_random(random) % COMMON;
		check(weir_handle_contains(s.handle, &keys[i], 8), "key %llu is missed",
		      (unsigned long long)keys[i]);
		check(weir_handle_contains(s.set, &keys[i], 8),
		      "key %llu is missed in the sharded set", (unsigned long long)keys[i]);
	}
	check(weir_handle_contains_keys(s.handle, weir_keys_u64(keys, TOGETHER), NULL) ==
	              TOGETHER,
	      "a key of a batch is missed");
}

static void look_for_excluded(uint64_t *random)
{
	uint64_t keys[TOGETHER];
	for (unsigned i = 0; i < TOGETHER; i++) {
		keys[i] = excluded_key(stress_random(random) % EXCLUDED);
		check(!weir_handle_contains(s.handle, &keys[i], 8), "excluded key %llu is found",
		      (unsigned long long)keys[i]);
		check(!weir_handle_contains(s.set, &keys[i], 8),
		      "excluded key %llu is found in the sharded set", (unsigned long long)keys[i]);
	}
	check(weir_handle_contains_keys(s.handle, weir_keys_u64(keys, TOGETHER), NULL) == 0,
	      "an excluded key of a batch is found");
}

static void read_sets(unsigned thread)
{
	uint64_t random = thread;
	uint64_t n = 0;
	for (; !atomic_load_explicit(&s.over, memory_order_relaxed); n += 4 * TOGETHER) {
		for (unsigned j = 0; j < TOGETHER; j++)
			look_for_one(&random);
		look_for_many(&random);
		if (s.kind == WEIR_LAYERED)
			look_for_excluded(&random);
		check(weir_handle_insert(s.handle, "key", 3) == -ENOTSUP, "an insert was taken");
		s.flavor->read_quiescent_state();
	}
	atomic_fetch_add_explicit(&s.lookups, n, memory_order_relaxed);
}

/* ---- the loader, and the threads that collect keys for it ---- */

struct share {
	struct weir_reload *r;
	uint64_t round;
};

static void collect(void *shared, unsigned thread)
{
	const struct share *share = shared;
	for (uint64_t i = thread; i < COMMON + OWN; i += LOADERS) {
		const uint64_t key = key_of(share->round, i);
		if (i % 2)
			succeeds(weir_reload_insert(share->r, &key, sizeof key));
		else
			succeeds(weir_reload_insert_keys(share->r,
			                                 weir_keys_fixed(&key, sizeof key, 1),
			                                 NULL));
	}
}

static void exclude(void *shared, unsigned thread)
{
	const struct share *share = shared;
	for (uint64_t i = thread; i < EXCLUDED; i += LOADERS) {
		const uint64_t key = excluded_key(i);
		succeeds(weir_reload_exclude(share->r, &key, sizeof key));
	}
}

static int fill(struct weir_reload *r, uint32_t shard, void *round)
{
	struct share share = { r, *(uint64_t *)round };
	(void)shard;
	stress_run(LOADERS, collect, &share);
	if (s.kind == WEIR_LAYERED) {
		succeeds(weir_reload_seal(r));
		stress_run(LOADERS, exclude, &share);
	}
	return 0;
}

static void change(int (*verb)(void *), void *arg, uint64_t round)
{
	atomic_fetch_add_explicit(&s.changes, 1, memory_order_relaxed);
	const int err = verb(arg);
	check(err == 0, "%d: %s", err, weir_error_detail());
	atomic_store_explicit(&s.round, round, memory_order_relaxed);
	atomic_fetch_add_explicit(&s.changes, 1, memory_order_release);
}

static int commit(void *r) { return weir_reload_commit(r); }
static int roll_back(void *h) { return weir_handle_rollback(h); }

static void reload(enum action action, uint64_t round)
{
	static const struct iovec absent = { (void *)(uintptr_t)"no key of a set", 15 };
	struct weir_builder_options build = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_gate gate = WEIR_GATE_INIT;
	const uint64_t before = atomic_load_explicit(&s.round, memory_order_relaxed);
	struct weir_reload *r;
	gate.must_hit = &absent;
	gate.must_hits = 1;
	build.threads = 1 + (uint32_t)round % 2;
	o.build = &build;
	o.gate = action == REFUSED ? &gate : NULL;
	o.keep_previous = action == ROLLED_BACK;
	o.defer_free = round % 4 == 0;
	succeeds(weir_reload_begin(&r, s.handle, &o));
	fill(r, 0, &round);
	if (action == ABORTED) {
		weir_reload_abort(r);
	} else if (action == REFUSED) {
		check(weir_reload_commit(r) == -ECANCELED, "%s", weir_error_detail());
	} else {
		change(commit, r, round);
		if (action == ROLLED_BACK)
			change(roll_back, s.handle, before);
	}
}

static void load_sets(void)
{
	uint64_t random = 77;
	while (s.rounds < s.least) {
		const enum action action = stress_random(&random) % ACTIONS;
		uint64_t round = ++s.rounds;
		if (action == ROLLED)
			succeeds(weir_reload_all(s.set, NULL, fill, &round));
		else
			reload(action, round);
		s.done[action]++;
	}
	atomic_store_explicit(&s.over, true, memory_order_relaxed);
}

static void work(void *shared, unsigned thread)
{
	(void)shared;
	s.flavor->register_thread();
	if (thread < s.readers)
		read_sets(thread);
	else
		load_sets();
	s.flavor->unregister_thread();
}

/* ---- the first sets ---- */

static struct weir_filter *first(const struct weir_params *p)
{
	struct weir_builder *b;
	struct weir_filter *f = NULL;
	succeeds(weir_builder_create(&b, p, NULL));
	for (uint64_t i = 0; i < COMMON + OWN; i++)
		succeeds(weir_builder_add_u64(b, key_of(0, i)));
	if (p->kind == WEIR_LAYERED) {
		succeeds(weir_builder_seal(b));
		for (uint64_t i = 0; i < EXCLUDED; i++)
			succeeds(weir_builder_exclude_u64(b, excluded_key(i)));
	}
	succeeds(weir_builder_finish(&f, b, NULL));
	weir_builder_destroy(b);
	return f;
}

static void begin(uint32_t kind)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	uint64_t round = 0;
	p.kind = s.kind = kind;
	p.fp_rate = 1e-4; /* the probability that a lost key is found by chance */
	p.seed = SEED;
	s.handle = flavor_handle(s.flavor, 0, first(&p));
	succeeds(sharded_create(&s.set, &p, SHARDS, s.flavor));
	succeeds(weir_reload_all(s.set, NULL, fill, &round));
}

static void end(const char *flavor)
{
	succeeds(weir_handle_destroy(s.set));
	succeeds(weir_handle_destroy(s.handle));
	printf("%s, %s: %llu lookups;", flavor, weir_kind_name(s.kind),
	       (unsigned long long)s.lookups);
	for (unsigned i = 0; i < ACTIONS; i++)
		printf(" %llu %s%s", (unsigned long long)s.done[i], names[i],
		       i + 1 < ACTIONS ? "," : "\n");
}

int main(int argc, char **argv)
{
	static const uint32_t kinds[] = { WEIR_FUSE, WEIR_LAYERED };
	const struct stress stress = stress_read(argc, argv, 1000000);
	for (unsigned i = 0; i < 2; i++) {
		memset(&s, 0, sizeof s);
		s.flavor = flavor_named(stress.flavor_name);
		s.least = stress.operations / 20000 + 20; /* for a few of each action */
		s.readers = stress.threads;
		begin(kinds[i]);
		stress_run(s.readers + 1, work, NULL);
		end(stress.flavor_name);
	}
	return 0;
}
