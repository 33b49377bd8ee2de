/* SPDX-License-Identifier: MIT
 * weir_fill_keys(): several threads write a private filter with plain stores. Each shard has one
 * owner ([OWNED-PART] in src/ground/atomic.h), so plain stores of two threads do not race. After a
 * publication with release order, every key is in the filter. */
#include "forms.h"

/* Each thread adds one key of each pair (0 and 1, 2 and 3), so that the two threads meet in every
 * shard. */
static void load(void *first)
{
	unsigned from = *(unsigned *)first;
	uint64_t hashes[2] = { hash_of(from), hash_of(from + 2) };
	det_assert(weir_fill_keys(subject->filter, weir_keys_hashes(hashes, 2)) == 0);
	det_assert(det_allocated() <= 1); /* at most the other thread's scratch memory */
	promise(from);
}

static void both_loaded(void)
{
	for (unsigned i = 0; i < SUBJECT_KEYS; i++)
		det_assert(form_contains(subject->filter, hash_of(i)));
}

static void two_loaders(void)
{
	static unsigned first = 0, second = 1;
	scenario_begin();
	det_spawn(load, &first);
	det_spawn(load, &second);
	det_join_all();
	det_assert(promised(0) && promised(1));
	both_loaded();
}

/* Keys 0 and 2 are added, and then the filter is published. After the publication, threads look up
 * and insert. */
static void use_when_published(void *unused)
{
	(void)unused;
	if (!promised(0))
		return;
	det_assert(form_contains(subject->filter, hash_of(0)) &&
	           form_contains(subject->filter, hash_of(2)));
	det_assert(form_insert(subject->filter, hash_of(1)) == WEIR_NEW);
	promise(3);
}

static void look_when_published(void *unused)
{
	(void)unused;
	det_assert(!promised(0) || form_contains(subject->filter, hash_of(2)));
	det_assert(!promised(3) || form_contains(subject->filter, hash_of(1)));
}

static void published(void)
{
	static unsigned first = 0;
	scenario_begin();
	det_spawn(load, &first);
	det_spawn(use_when_published, NULL);
	det_spawn_reader(look_when_published, NULL);
	det_join_all();
	det_assert(form_contains(subject->filter, hash_of(0)) &&
	           form_contains(subject->filter, hash_of(2)));
}

static bool any(const struct subject *s)
{
	(void)s;
	return true;
}

const struct scenario load_scenarios[] = {
	{ .name = "two loaders", .group = "load", .body = two_loaders, .fits = any },
	{ .name = "published", .group = "load", .body = published, .fits = any },
	{ .name = NULL },
};
