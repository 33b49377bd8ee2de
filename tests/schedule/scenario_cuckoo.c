/* SPDX-License-Identifier: MIT
 * The filter and the keys of scenarios of the cuckoo kind. */
#include <string.h>
#include "scenario_cuckoo.h"

enum { TRIES = 1000000 };

struct cuckoo_key newcomer, resident, twin, second, local;
static unsigned width, hidden; /* @hidden: the fingerprint of the fillers */

unsigned cuckoo_slots(void)
{
	return 64 / width;
}

/* Finds the buckets and the fingerprint of a key by inserting it into an empty filter. The first
 * copy goes to the key's first bucket. Return: true if the key has two different buckets. */
static bool learn(struct cuckoo_key *l, uint64_t hash)
{
	const uint64_t *words = subject->bits[0];
	unsigned filled = 0;
	subject_clear(subject);
	*l = (struct cuckoo_key){ .hash = hash };
	(void)weir_insert_hash(subject->filter, hash);
	for (unsigned i = 0; i < CUCKOO_BUCKETS; i++)
		if (words[i])
			l->bucket[0] = i, l->fingerprint = (unsigned)words[i];
	for (unsigned i = 1; i < cuckoo_slots() + 1; i++)
		(void)weir_insert_hash(subject->filter, hash);
	for (unsigned i = 0; i < CUCKOO_BUCKETS; i++)
		if (words[i]) {
			filled++;
			l->bucket[1] = i != l->bucket[0] ? i : l->bucket[1];
		}
	subject_clear(subject);
	return filled == 2;
}

uint64_t cuckoo_hash(uint64_t try)
{
	return try * UINT64_C(0x9E3779B97F4A7C15) ^ try << 40;
}

static bool shares_one(const struct cuckoo_key *l)
{
	return l->bucket[0] == newcomer.bucket[0] && l->bucket[1] != newcomer.bucket[1] &&
	       l->fingerprint != newcomer.fingerprint;
}

bool cuckoo_find_keys(void)
{
	uint64_t try = 1;
	struct cuckoo_key l;
	width = test_params(subject->kind, &subject->row->ask).cuckoo.fingerprint_bits;
	while (!learn(&newcomer, cuckoo_hash(try)))
		try++;
	while (!learn(&resident, cuckoo_hash(try)) || !shares_one(&resident))
		try++;
	twin.hash = second.hash = local.hash = 0;
	for (; try < TRIES && !(twin.hash && second.hash && local.hash); try++) {
		if (!learn(&l, cuckoo_hash(try)))
			continue;
		if (l.fingerprint == resident.fingerprint && l.bucket[0] == resident.bucket[1] &&
		    l.bucket[1] == resident.bucket[0])
			twin = l;
		if (l.bucket[0] == newcomer.bucket[0] && l.bucket[1] == newcomer.bucket[1] &&
		    l.fingerprint != newcomer.fingerprint &&
		    l.fingerprint != resident.fingerprint)
			second = l;
		if (l.bucket[0] == newcomer.bucket[1] && l.bucket[1] != newcomer.bucket[0] &&
		    l.bucket[1] != resident.bucket[1])
			local = l;
	}
	hidden = 1;
	while (hidden == newcomer.fingerprint || hidden == resident.fingerprint ||
	       hidden == second.fingerprint)
		hidden++;
	return twin.hash && second.hash && local.hash;
}

void cuckoo_write(unsigned bucket, unsigned place, unsigned value)
{
	uint64_t *word = &subject->bits[0][bucket];
	*word &= ~(((UINT64_C(1) << width) - 1) << place * width);
	*word |= (uint64_t)value << place * width;
}

void cuckoo_fill(unsigned room)
{
	scenario_begin();
	for (unsigned b = 0; b < CUCKOO_BUCKETS; b++)
		for (unsigned place = 0; place < cuckoo_slots(); place++)
			cuckoo_write(b, place, hidden);
	cuckoo_write(resident.bucket[0], 0, resident.fingerprint);
	for (unsigned i = 0; i < room; i++)
		cuckoo_write(resident.bucket[1], cuckoo_slots() - 1 - i, 0);
}

unsigned cuckoo_used(void)
{
	unsigned n = 0;
	for (unsigned b = 0; b < CUCKOO_BUCKETS; b++)
		for (unsigned place = 0; place < cuckoo_slots(); place++)
			n += (det_load(&subject->bits[0][b], 8, DET_RELAXED) >> place * width &
			      ((1u << width) - 1)) != 0;
	return n;
}

bool cuckoo_has(const struct cuckoo_key *l)
{
	return weir_contains_hash(subject->filter, l->hash);
}

int64_t cuckoo_copies(const struct cuckoo_key *l)
{
	return weir_count_hash(subject->filter, l->hash);
}

void cuckoo_insert_newcomer(void *unused)
{
	(void)unused;
	answer[0] = weir_insert_hash(subject->filter, newcomer.hash);
	promise(0);
}

void cuckoo_insert_second(void *unused)
{
	(void)unused;
	answer[1] = weir_insert_hash(subject->filter, second.hash);
	promise(1);
}

void cuckoo_look_up_resident(void *unused)
{
	(void)unused;
	det_assert(cuckoo_has(&resident));
	det_assert(cuckoo_copies(&resident) >= 1);
}

void cuckoo_remove_resident(void *unused)
{
	(void)unused;
	answer[2] = weir_remove_hash(subject->filter, resident.hash);
	promise(2);
}

bool cuckoo_moves(const struct subject *s)
{
	return s->kind->id == WEIR_CUCKOO && s->bytes == CUCKOO_BUCKETS * 8;
}
