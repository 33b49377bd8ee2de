/* SPDX-License-Identifier: MIT
 * A cuckoo filter of one line, so full that an insert of the newcomer must move the resident. The
 * test writes its words itself: bucket A holds the resident and fillers, bucket C has room, the
 * newcomer's other bucket B and all the rest are full of fillers. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_CUCKOO_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_CUCKOO_H

#include "forms.h"

enum { CUCKOO_BUCKETS = 8 };

/* A key by what inserts of it wrote into an empty filter. */
struct lodger {
	uint64_t hash;
	unsigned bucket[2], fingerprint;
};

/* The resident has bucket A in common with the newcomer. The twin is the resident's fingerprint in
 * the same two buckets, the other one first. The second newcomer wants A and B as the first. The
 * local has bucket B alone in common with it. */
extern struct lodger newcomer, resident, twin, second, local;
/* Hashes to try, one after another. */
uint64_t cuckoo_hash(uint64_t try);
/* prepare: those of the subject's layout. */
bool cuckoo_find_lodgers(void);

unsigned cuckoo_places(void); /* to a bucket */
/* Begin: so many places are free in bucket C; the resident's copy is in A. */
void cuckoo_furnish(unsigned room);
void cuckoo_write(unsigned bucket, unsigned place, unsigned value);
/* Places of the filter. */
unsigned cuckoo_taken(void);
static inline unsigned cuckoo_free(void)
{
	return CUCKOO_BUCKETS * cuckoo_places() - cuckoo_taken();
}
bool cuckoo_has(const struct lodger *l);
int64_t cuckoo_copies(const struct lodger *l);

/* Threads; each notes its answer and promises: slot 0, 1 and 2. */
void cuckoo_insert_newcomer(void *unused);
void cuckoo_insert_second(void *unused);
void cuckoo_remove_resident(void *unused);
void cuckoo_look_at_the_resident(void *unused);

bool cuckoo_moves(const struct subject *s);
/* With few random executions: the searches find more. Behind the name comes the body, then what
 * else there is. */
#define CUCKOO_SCENARIO(text, ...) \
	{ .name = text, .group = "cuckoo", .fits = cuckoo_moves, .prepare = cuckoo_find_lodgers, \
	  .one_form = true, .cost = 3, .body = __VA_ARGS__ }

#endif
