/* SPDX-License-Identifier: MIT
 * The cuckoo kind. */
#include <errno.h>
#include <stdlib.h>
#include "kind.h"

/* ---- the reference: a bucket of eight bytes has 5 slots of 12 bits or 4 slots of 16 bits ---- */

enum { SEARCHED = 512 };

static unsigned width_of(const struct reference *ref)
{
	return reference_number(ref, "fingerprint_bits");
}

static unsigned slots(const struct reference *ref)
{
	return 64 / width_of(ref);
}

static unsigned get(const struct reference *ref, uint64_t bucket, unsigned slot)
{
	unsigned width = width_of(ref), value = 0;
	for (unsigned i = 0; i < width; i++) {
		uint64_t bit = bucket * 64 + slot * width + i;
		value |= (unsigned)(ref->bytes[bit / 8] >> bit % 8 & 1) << i;
	}
	return value;
}

static void set(struct reference *ref, uint64_t bucket, unsigned slot, unsigned value)
{
	unsigned width = width_of(ref);
	for (unsigned i = 0; i < width; i++) {
		uint64_t bit = bucket * 64 + slot * width + i;
		ref->bytes[bit / 8] &= (uint8_t)~(1u << bit % 8);
		ref->bytes[bit / 8] |= (uint8_t)((value >> i & 1) << bit % 8);
	}
}

static unsigned fingerprint_of(const struct reference *ref, uint64_t hash)
{
	uint64_t top = hash * UINT64_C(0x9E3779B97F4A7C15) / (UINT64_C(1) << 32);
	return 1 + (unsigned)(top * ((UINT64_C(1) << width_of(ref)) - 1) / (UINT64_C(1) << 32));
}

static uint64_t other_of(const struct reference *ref, uint64_t bucket, unsigned fingerprint)
{
	uint64_t m = 8 * ref->lines, x = fingerprint * UINT64_C(0xD1342543DE82EF95);
	x = (x ^ x / (UINT64_C(1) << 32)) * UINT64_C(0xD6E8FEB86659FD93);
	return (reference_high_half(x, m) + m - bucket) % m;
}

struct home {
	unsigned fingerprint;
	uint64_t bucket[2];
};

static struct home home_of(const struct reference *ref, uint64_t hash)
{
	struct home home = { .fingerprint = fingerprint_of(ref, hash) };
	home.bucket[0] = reference_high_half(hash, 8 * ref->lines);
	home.bucket[1] = other_of(ref, home.bucket[0], home.fingerprint);
	return home;
}

/* Return: the number of slots in @bucket that contain @value. A free slot contains 0. */
static unsigned times(const struct reference *ref, uint64_t bucket, unsigned value)
{
	unsigned n = 0;
	for (unsigned slot = 0; slot < slots(ref); slot++)
		n += get(ref, bucket, slot) == value;
	return n;
}

/* Return: the lowest slot in @bucket that contains @value. There must be such a slot. */
static unsigned lowest(const struct reference *ref, uint64_t bucket, unsigned value)
{
	unsigned slot = 0;
	while (get(ref, bucket, slot) != value)
		slot++;
	return slot;
}

static int64_t count(const struct reference *ref, uint64_t hash)
{
	struct home home = home_of(ref, hash);
	int64_t n = times(ref, home.bucket[0], home.fingerprint);
	if (home.bucket[1] != home.bucket[0])
		n += times(ref, home.bucket[1], home.fingerprint);
	return n;
}

static bool contains(const struct reference *ref, uint64_t hash)
{
	return count(ref, hash) > 0;
}

/* A bucket that the search has reached. @from: the index of the visit that led to this bucket, or
 * -1. @slot: the slot of that visit's bucket whose copy can move to this bucket. */
struct visit {
	uint64_t bucket;
	int from;
	unsigned slot;
};

static int visit(struct visit *seen, int n, uint64_t bucket, int from, unsigned slot)
{
	for (int i = 0; i < n; i++)
		if (seen[i].bucket == bucket)
			return n;
	if (n < SEARCHED)
		seen[n++] = (struct visit){ bucket, from, slot };
	return n;
}

/* Search breadth-first for a bucket with a free slot, then move each copy on the path to the next
 * bucket. Return: true if one of the two buckets of @bucket now has a free slot. */
static bool make_room(struct reference *ref, const uint64_t bucket[2])
{
	static struct visit seen[SEARCHED];
	int n = visit(seen, 0, bucket[0], -1, 0), at = 0;
	n = visit(seen, n, bucket[1], -1, 0);
	for (; at < n && !times(ref, seen[at].bucket, 0); at++)
		for (unsigned slot = 0; slot < slots(ref); slot++)
			n = visit(seen, n, other_of(ref, seen[at].bucket,
			                            get(ref, seen[at].bucket, slot)), at, slot);
	if (at == n)
		return false;
	for (; seen[at].from >= 0; at = seen[at].from) {
		uint64_t from = seen[seen[at].from].bucket, to = seen[at].bucket;
		set(ref, to, lowest(ref, to, 0), get(ref, from, seen[at].slot));
		set(ref, from, seen[at].slot, 0);
	}
	return true;
}

static int insert(struct reference *ref, uint64_t hash)
{
	struct home home = home_of(ref, hash);
	bool seen = contains(ref, hash);
	unsigned free0 = times(ref, home.bucket[0], 0), free1 = times(ref, home.bucket[1], 0);
	if (!free0 && !free1) {
		if (!make_room(ref, home.bucket))
			return -ENOSPC;
		free0 = times(ref, home.bucket[0], 0);
		free1 = times(ref, home.bucket[1], 0);
	}
	uint64_t to = home.bucket[free1 > free0];
	set(ref, to, lowest(ref, to, 0), home.fingerprint);
	return seen ? WEIR_SEEN : WEIR_NEW;
}

static int take_out(struct reference *ref, uint64_t hash)
{
	struct home home = home_of(ref, hash);
	for (unsigned i = 0; i < 2; i++)
		if (times(ref, home.bucket[i], home.fingerprint)) {
			set(ref, home.bucket[i], lowest(ref, home.bucket[i], home.fingerprint), 0);
			return 1;
		}
	return 0;
}

/* ---- the tables of the tests ---- */

#define SHAPE(bits) { WEIR_CUCKOO, .field = { bits } }
static const struct test_shape shapes[] = {
	{ .shape = SHAPE(12), .main = true },
	{ .shape = SHAPE(16), .main = true },
};

#define ASK(text, bits) .name = text, .ask.cuckoo.fingerprint_bits = bits
static const struct test_layout layouts[] = {
	{ ASK("cuckoo 12", 12), .huge_keys = 500009 },
	{ ASK("cuckoo 16", 16) },
};

static const struct test_subject subjects[] = {
	{ ASK("cuckoo 12", 12), .ask.capacity = 8, .bytes = 64 },
	{ ASK("cuckoo 16", 16), .ask.capacity = 8, .bytes = 64 },
};

#define GOLDEN(name, bits, capacity, keys, false_positives, sum) \
	{ name, SHAPE(bits), capacity, keys, false_positives, UINT64_C(sum) }
static const struct test_golden goldens[] = {
	GOLDEN("cuckoo_12", 12, 500, 500, 40, 0x519f6e9b71354895),
	GOLDEN("cuckoo_16", 16, 500, 500, 3, 0x0b853fa0f8a084d1),
};

const struct test_kind test_kind_cuckoo = {
	.id = WEIR_CUCKOO,
	.copies = true,
	.coarse = true,
	.reference = { .contains = contains, .insert = insert, .remove = take_out, .count = count },
	.bits_per_key = 64, /* each key is inserted twice, and a line has few slots */
	.shapes = TEST_ROWS(shapes),
	.layouts = TEST_ROWS(layouts),
	.subjects = TEST_ROWS(subjects),
	.goldens = TEST_ROWS(goldens),
};
