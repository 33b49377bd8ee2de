/* SPDX-License-Identifier: MIT
 * A cuckoo filter of one cache line, so full that an insert of the newcomer must move the resident.
 * The test writes the words itself. Bucket A contains the resident and fillers, and bucket C has
 * free slots. All other buckets, and among them the newcomer's other bucket B, are full of
 * fillers. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_CUCKOO_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_CUCKOO_H

#include "forms.h"

enum { CUCKOO_BUCKETS = 8 };

/* A key with its buckets and fingerprint, found by inserts into an empty filter. */
struct cuckoo_key {
	uint64_t hash;
	unsigned bucket[2], fingerprint;
};

/* Five keys. resident shares bucket A with newcomer. twin has the fingerprint of resident, and the
 * same two buckets in the opposite order. second has buckets A and B, like newcomer. local shares
 * only bucket B with newcomer. */
extern struct cuckoo_key newcomer, resident, twin, second, local;
/* Return: candidate number @try in the search for the hashes of these keys. */
uint64_t cuckoo_hash(uint64_t try);
/* For scenario.prepare: finds the five keys for the subject's layout. */
bool cuckoo_find_keys(void);

unsigned cuckoo_slots(void); /* Return: the number of slots in a bucket. */
/* Starts a scenario: fills the filter, except @room free slots in bucket C. Bucket A gets the copy
 * of resident. */
void cuckoo_fill(unsigned room);
void cuckoo_write(unsigned bucket, unsigned place, unsigned value);
/* Return: the number of slots in use. */
unsigned cuckoo_used(void);
static inline unsigned cuckoo_free_slots(void)
{
	return CUCKOO_BUCKETS * cuckoo_slots() - cuckoo_used();
}
bool cuckoo_has(const struct cuckoo_key *l);
int64_t cuckoo_copies(const struct cuckoo_key *l);

/* Thread functions. The first three functions record answers 0, 1 and 2, and promise slots 0, 1
 * and 2. */
void cuckoo_insert_newcomer(void *unused);
void cuckoo_insert_second(void *unused);
void cuckoo_remove_resident(void *unused);
void cuckoo_look_up_resident(void *unused);

bool cuckoo_moves(const struct subject *s);
/* A scenario of the cuckoo kind. The arguments are the name, the body, and then any other
 * members. */
#define CUCKOO_SCENARIO(text, ...) \
	{ .name = text, .group = "cuckoo", .fits = cuckoo_moves, .prepare = cuckoo_find_keys, \
	  .one_form = true, .cost = 3, .body = __VA_ARGS__ }

#endif
