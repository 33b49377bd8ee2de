/* SPDX-License-Identifier: MIT
 * A cuckoo filter of one line, so full that an insert of the newcomer must move the resident. The
 * test itself writes the words. Bucket A holds the resident and fillers, bucket C has room. All
 * others, the newcomer's other bucket B among them, are full of fillers. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_CUCKOO_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_CUCKOO_H

#include "forms.h"

enum { CUCKOO_BUCKETS = 8 };

/* A key, as its inserts into an empty filter show it. */
struct lodger {
	uint64_t hash;
	unsigned bucket[2], fingerprint;
};

/* The resident shares bucket A with the newcomer. The twin has the resident's fingerprint and the
 * same two buckets, the other one first. The second newcomer wants A and B as the first does. The
 * local shares only bucket B with it. */
extern struct lodger newcomer, resident, twin, second, local;
/* Hash number @try of the candidates. */
uint64_t cuckoo_hash(uint64_t try);
/* prepare: find the lodgers for the subject's layout. */
bool cuckoo_find_lodgers(void);

unsigned cuckoo_places(void); /* of one bucket */
/* Begin with @room free places in bucket C, and the resident's copy in A. */
void cuckoo_furnish(unsigned room);
void cuckoo_write(unsigned bucket, unsigned place, unsigned value);
/* The number of places in use. */
unsigned cuckoo_taken(void);
static inline unsigned cuckoo_free(void)
{
	return CUCKOO_BUCKETS * cuckoo_places() - cuckoo_taken();
}
bool cuckoo_has(const struct lodger *l);
int64_t cuckoo_copies(const struct lodger *l);

/* Threads. The first three note their answers and promise slots 0, 1 and 2. */
void cuckoo_insert_newcomer(void *unused);
void cuckoo_insert_second(void *unused);
void cuckoo_remove_resident(void *unused);
void cuckoo_look_at_the_resident(void *unused);

bool cuckoo_moves(const struct subject *s);
/* These have few random executions, because the searches find more. The arguments are the name, the
 * body, and then any other members. */
#define CUCKOO_SCENARIO(text, ...) \
	{ .name = text, .group = "cuckoo", .fits = cuckoo_moves, .prepare = cuckoo_find_lodgers, \
	  .one_form = true, .cost = 3, .body = __VA_ARGS__ }

#endif
