/* SPDX-License-Identifier: MIT
 * Keys that move while others look for them, insert, remove and copy (C1 to C8 in
 * src/kinds/cuckoo/move.h): none is missed, none comes back, none is doubled.
 *
 * The filter is one line, so full that an insert of the newcomer must move the resident. The test
 * writes its words itself: bucket A holds the resident and fillers, bucket C has room, the
 * newcomer's other bucket B and all the rest are full of fillers. */
#include <errno.h>
#include <string.h>
#include "forms.h"

enum { BUCKETS = 8, TRIES = 1000000 };

/* A key by what inserts of it wrote into an empty filter. */
struct lodger {
	uint64_t hash;
	unsigned bucket[2], fingerprint;
};

static struct lodger newcomer, resident, twin, second;
static unsigned width, hidden; /* hidden: what the fillers are */

static unsigned places(void)
{
	return 64 / width;
}

/* Copies fill both of its buckets; the first goes to the first one. */
static bool learn(struct lodger *l, uint64_t hash)
{
	const uint64_t *words = subject->bits[0];
	unsigned filled = 0;
	subject_clear(subject);
	*l = (struct lodger){ .hash = hash };
	(void)weir_insert_hash(subject->filter, hash);
	for (unsigned i = 0; i < BUCKETS; i++)
		if (words[i])
			l->bucket[0] = i, l->fingerprint = (unsigned)words[i];
	for (unsigned i = 1; i < places() + 1; i++)
		(void)weir_insert_hash(subject->filter, hash);
	for (unsigned i = 0; i < BUCKETS; i++)
		if (words[i]) {
			filled++;
			l->bucket[1] = i != l->bucket[0] ? i : l->bucket[1];
		}
	subject_clear(subject);
	return filled == 2;
}

static uint64_t hash_at(uint64_t try)
{
	return try * UINT64_C(0x9E3779B97F4A7C15) ^ try << 40;
}

static bool shares_one(const struct lodger *l)
{
	return l->bucket[0] == newcomer.bucket[0] && l->bucket[1] != newcomer.bucket[1] &&
	       l->fingerprint != newcomer.fingerprint;
}

/* The resident has bucket A in common with the newcomer. The twin is the resident's fingerprint in
 * the same two buckets, the other one first. The second newcomer wants A and B as the first. */
static bool find_lodgers(void)
{
	uint64_t try = 1;
	struct lodger l;
	width = test_params(subject->kind, &subject->row->ask).fingerprint_bits;
	while (!learn(&newcomer, hash_at(try)))
		try++;
	while (!learn(&resident, hash_at(try)) || !shares_one(&resident))
		try++;
	twin.hash = second.hash = 0;
	for (; try < TRIES && !(twin.hash && second.hash); try++) {
		if (!learn(&l, hash_at(try)))
			continue;
		if (l.fingerprint == resident.fingerprint && l.bucket[0] == resident.bucket[1] &&
		    l.bucket[1] == resident.bucket[0])
			twin = l;
		if (l.bucket[0] == newcomer.bucket[0] && l.bucket[1] == newcomer.bucket[1] &&
		    l.fingerprint != newcomer.fingerprint &&
		    l.fingerprint != resident.fingerprint)
			second = l;
	}
	hidden = 1;
	while (hidden == newcomer.fingerprint || hidden == resident.fingerprint ||
	       hidden == second.fingerprint)
		hidden++;
	return twin.hash && second.hash;
}

static void write_place(unsigned bucket, unsigned place, unsigned value)
{
	uint64_t *word = &subject->bits[0][bucket];
	*word &= ~(((UINT64_C(1) << width) - 1) << place * width);
	*word |= (uint64_t)value << place * width;
}

/* So many places are free in bucket C; the resident's copy is in A. */
static void furnish(unsigned room)
{
	scenario_begin();
	for (unsigned b = 0; b < BUCKETS; b++)
		for (unsigned place = 0; place < places(); place++)
			write_place(b, place, hidden);
	write_place(resident.bucket[0], 0, resident.fingerprint);
	for (unsigned i = 0; i < room; i++)
		write_place(resident.bucket[1], places() - 1 - i, 0);
}

static unsigned taken(void)
{
	unsigned n = 0;
	for (unsigned b = 0; b < BUCKETS; b++)
		for (unsigned place = 0; place < places(); place++)
			n += (det_load(&subject->bits[0][b], 8, DET_RELAXED) >> place * width &
			      ((1u << width) - 1)) != 0;
	return n;
}

static bool has(const struct lodger *l)
{
	return weir_contains_hash(subject->filter, l->hash);
}

static int64_t copies(const struct lodger *l)
{
	return weir_count_hash(subject->filter, l->hash);
}

static void insert_newcomer(void *unused)
{
	(void)unused;
	answer[0] = weir_insert_hash(subject->filter, newcomer.hash);
	promise(0);
}

static void insert_second(void *unused)
{
	(void)unused;
	answer[1] = weir_insert_hash(subject->filter, second.hash);
	promise(1);
}

/* The twin is found by the resident's copy, from C on: the order in which a lookup that comes
 * beside the move to C may find it in neither. */
static void look_for_all(void *unused)
{
	(void)unused;
	bool first = promised(0), other = promised(1);
	det_assert(has(&twin));
	det_assert(!first || answer[0] < 0 || has(&newcomer));
	det_assert(!other || answer[1] < 0 || has(&second));
}

static void lookup_beside_move(void)
{
	furnish(1);
	det_spawn(insert_newcomer, NULL);
	det_spawn_reader(look_for_all, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && has(&newcomer) && copies(&resident) == 1);
	det_assert(taken() == BUCKETS * places());
}

static void look_at_the_resident(void *unused)
{
	(void)unused;
	det_assert(has(&resident));
	det_assert(copies(&resident) >= 1);
}

/* The bucket that the resident would go to is taken by another's insert, of a key of C's own. */
static void insert_twin(void *unused)
{
	(void)unused;
	answer[2] = weir_insert_hash(subject->filter, twin.hash);
	promise(2);
}

static void insert_beside_move(void)
{
	furnish(2);
	det_spawn(insert_newcomer, NULL);
	det_spawn(insert_twin, NULL);
	det_spawn_reader(look_at_the_resident, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && answer[2] == WEIR_SEEN);
	det_assert(has(&newcomer) && copies(&resident) == 2);
	det_assert(taken() == BUCKETS * places());
}

static void remove_resident(void *unused)
{
	(void)unused;
	answer[2] = weir_remove_hash(subject->filter, resident.hash);
	promise(2);
}

static void remove_beside_move(void)
{
	furnish(1);
	det_spawn(insert_newcomer, NULL);
	det_spawn(remove_resident, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && answer[2] == 0);
	det_assert(has(&newcomer) && copies(&resident) == 0 && !has(&resident));
	det_assert(taken() == BUCKETS * places() - 1);
}

/* One copy, two removers: one of them is answered that there is none. */
static void remove_twin(void *unused)
{
	(void)unused;
	answer[3] = weir_remove_hash(subject->filter, twin.hash);
}

static void two_removers(void)
{
	furnish(1);
	det_spawn(remove_resident, NULL);
	det_spawn(remove_twin, NULL);
	det_join_all();
	det_assert((answer[2] == 0) + (answer[3] == 0) == 1 &&
	           (answer[2] == -ENOENT) + (answer[3] == -ENOENT) == 1);
	det_assert(copies(&resident) == 0 && taken() == BUCKETS * places() - 2);
}

/* There is room for both all the time: neither may be refused, whatever the other moves. */
static void two_movers(void)
{
	furnish(2);
	write_place(resident.bucket[0], 1, resident.fingerprint); /* a second one that can move */
	det_spawn(insert_newcomer, NULL);
	det_spawn(insert_second, NULL);
	det_spawn_reader(look_for_all, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && answer[1] == WEIR_NEW);
	det_assert(has(&newcomer) && has(&second) && copies(&resident) == 2);
	det_assert(taken() == BUCKETS * places());
}

/* There is room for one of them: the other is refused, and nothing of it stays. */
static void last_place(void)
{
	furnish(1);
	det_spawn(insert_newcomer, NULL);
	det_spawn(insert_second, NULL);
	det_spawn_reader(look_at_the_resident, NULL);
	det_join_all();
	det_assert((answer[0] == WEIR_NEW) + (answer[1] == WEIR_NEW) == 1);
	det_assert((answer[0] == -ENOSPC) + (answer[1] == -ENOSPC) == 1);
	det_assert(has(answer[0] == WEIR_NEW ? &newcomer : &second));
	det_assert(copies(&resident) == 1 && taken() == BUCKETS * places());
}

/* Full. Who inserts after the removal is not refused. */
static void insert_late(void *unused)
{
	(void)unused;
	bool late = promised(2);
	answer[0] = weir_insert_hash(subject->filter, newcomer.hash);
	det_assert(answer[0] == WEIR_NEW || (answer[0] == -ENOSPC && !late));
}

static void no_room(void)
{
	furnish(0);
	det_spawn(remove_resident, NULL);
	det_spawn(insert_late, NULL);
	det_join_all();
	det_assert(answer[2] == 0 && copies(&resident) == 0);
	det_assert(taken() == BUCKETS * places() - (answer[0] < 0));
	det_assert(has(&newcomer) == (answer[0] == WEIR_NEW));
}

/* A copy of the resident's fingerprint comes into A while the resident's own is in C, and C's is
 * taken for it: no mover, and yet a lookup of A, then C, could find neither. */
static void come_and_go(void *unused)
{
	(void)unused;
	answer[0] = weir_insert_hash(subject->filter, twin.hash);
	det_assert(weir_remove_hash(subject->filter, twin.hash) == 0);
}

static void removed_for_another(void)
{
	scenario_begin();
	for (unsigned b = 0; b < BUCKETS; b++)
		write_place(b, 0, 0);
	write_place(resident.bucket[1], 0, resident.fingerprint);
	det_spawn(come_and_go, NULL);
	det_spawn_reader(look_at_the_resident, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_SEEN && copies(&resident) == 1 && taken() == 1);
}

/* What waits for a walk over the array goes on when it is over; the copy has what was there. */
static void copy_filter(void *unused)
{
	struct weir_filter *made = NULL;
	(void)unused;
	bool early = promised(0);
	det_assert(weir_clone(&made, subject->filter) == 0);
	det_assert(weir_contains_hash(made, resident.hash));
	det_assert(weir_count_hash(made, resident.hash) == 1);
	det_assert(!early || weir_contains_hash(made, newcomer.hash));
	weir_destroy(made);
}

static void copied_beside_move(void)
{
	furnish(1);
	det_spawn(insert_newcomer, NULL);
	det_spawn(copy_filter, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && has(&newcomer) && copies(&resident) == 1);
}

/* Keys that are never removed. */
static void insert_if_absent(void *slot)
{
	answer[*(int *)slot] = weir_insert_absent_hash(subject->filter, resident.hash);
}

static void absent_twice(void)
{
	static int slots[] = { 0, 1 };
	scenario_begin();
	det_spawn(insert_if_absent, &slots[0]);
	det_spawn(insert_if_absent, &slots[1]);
	det_join_all();
	int fresh = (answer[0] == WEIR_NEW) + (answer[1] == WEIR_NEW);
	det_assert(fresh >= 1 && answer[0] >= 0 && answer[1] >= 0);
	det_assert(has(&resident) && copies(&resident) == fresh);
	det_assert(weir_insert_absent_hash(subject->filter, resident.hash) == WEIR_SEEN);
	det_assert(taken() == (unsigned)fresh);
}

static bool moves(const struct subject *s)
{
	return s->kind->id == WEIR_CUCKOO && s->bytes == BUCKETS * 8;
}

#define SCENARIO(text, function) \
	{ .name = text, .group = "cuckoo", .body = function, .fits = moves, \
	  .prepare = find_lodgers, .one_form = true }
const struct scenario cuckoo_scenarios[] = {
	SCENARIO("lookup beside move", lookup_beside_move),
	SCENARIO("insert beside move", insert_beside_move),
	SCENARIO("remove beside move", remove_beside_move),
	SCENARIO("two removers", two_removers),
	SCENARIO("two movers", two_movers),
	SCENARIO("last place", last_place),
	SCENARIO("no room", no_room),
	SCENARIO("removed for another", removed_for_another),
	SCENARIO("copied beside move", copied_beside_move),
	SCENARIO("absent twice", absent_twice),
	{ .name = NULL },
};
