/* SPDX-License-Identifier: MIT
 * weir_fill_keys: plain stores by several threads into a filter that nobody looks at yet. One
 * owner a shard (O1 in src/ground/atomic.h), so no two of those stores race; and what is published
 * afterwards with release order is all there. */
#include "forms.h"

/* Each loads a key of either pair, so that the two meet in every shard. */
static void load(void *first)
{
	unsigned from = *(unsigned *)first;
	uint64_t hashes[2] = { hash_of(from), hash_of(from + 2) };
	det_assert(weir_fill_keys(subject->filter, weir_keys_hashes(hashes, 2)) == 0);
	det_assert(det_allocated() <= 1); /* the other thread's scratch memory at most */
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

/* Keys 0 and 2 are loaded, then the filter is published: from then on it is looked at and
 * inserted into. */
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
