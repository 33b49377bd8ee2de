/* SPDX-License-Identifier: MIT
 * The fuse kind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "kind.h"

/* ---- the reference: a key's fingerprint is the XOR of three cells of a part ---- */

enum { TRIES = 10, SEED_BYTES = 8 };

struct part {
	unsigned width, part_bits;
	uint64_t length, segments, number;
	uint8_t *bytes; /* the first byte of the part */
};

static struct part part_of(const struct reference *ref, uint64_t number)
{
	struct part p = { .width = reference_number(ref, "fingerprint_bits"),
		          .part_bits = reference_number(ref, "part_bits"),
		          .segments = reference_number(ref, "segments"),
		          .number = number };
	const uint64_t parts = UINT64_C(1) << p.part_bits;
	p.length = UINT64_C(1) << reference_number(ref, "segment_bits");
	p.bytes = ref->bytes + ref->lines / parts * 64 * number;
	return p;
}

static uint64_t number_of(const struct reference *ref, uint64_t hash)
{
	const unsigned bits = reference_number(ref, "part_bits");
	return bits ? hash / (UINT64_C(1) << (64 - bits)) : 0;
}

static uint64_t mix(uint64_t x)
{
	x *= UINT64_C(0x9E3779B97F4A7C15);
	x ^= x / (UINT64_C(1) << 32);
	return x * UINT64_C(0xD6E8FEB86659FD93);
}

/* Return: x with its low segment_bits bits XORed with those of y. */
static uint64_t within_segment(const struct part *p, uint64_t x, uint64_t y)
{
	return x - x % p->length + (x % p->length ^ y % p->length);
}

static void cells_of(const struct part *p, uint64_t seed, uint64_t hash, uint64_t cell[3])
{
	const uint64_t m = mix(hash ^ seed), rest = hash * (UINT64_C(1) << p->part_bits);
	cell[0] = reference_high_half(rest, (p->segments - 2) * p->length);
	cell[1] = within_segment(p, cell[0] + p->length, m / (1 << 18));
	cell[2] = within_segment(p, cell[0] + 2 * p->length, m);
}

static uint32_t fingerprint_of(const struct part *p, uint64_t seed, uint64_t hash)
{
	uint64_t top = mix(hash ^ seed) / (UINT64_C(1) << 32);
	top /= UINT64_C(1) << (32 - p->width);
	return top ? (uint32_t)top : 1;
}

static uint32_t get(const struct part *p, uint64_t cell)
{
	uint32_t value = 0;
	for (unsigned i = 0; i < p->width; i++) {
		const uint64_t bit = 8 * SEED_BYTES + cell * p->width + i;
		value |= (uint32_t)(p->bytes[bit / 8] >> bit % 8 & 1) << i;
	}
	return value;
}

static void set(const struct part *p, uint64_t cell, uint32_t value)
{
	for (unsigned i = 0; i < p->width; i++) {
		const uint64_t bit = 8 * SEED_BYTES + cell * p->width + i;
		p->bytes[bit / 8] &= (uint8_t)~(1u << bit % 8);
		p->bytes[bit / 8] |= (uint8_t)((value >> i & 1) << bit % 8);
	}
}

static uint64_t seed_of(const struct part *p)
{
	uint64_t seed = 0;
	for (unsigned i = 0; i < SEED_BYTES; i++)
		seed |= (uint64_t)p->bytes[i] << 8 * i;
	return seed;
}

static bool contains(const struct reference *ref, uint64_t hash)
{
	const struct part p = part_of(ref, number_of(ref, hash));
	const uint64_t seed = seed_of(&p);
	uint64_t cell[3];
	cells_of(&p, seed, hash, cell);
	return (get(&p, cell[0]) ^ get(&p, cell[1]) ^ get(&p, cell[2])) ==
	       fingerprint_of(&p, seed, hash);
}

/* ---- building ---- */

/* The keys in the order in which peel() removes them, and the cell of each key. */
struct order {
	uint64_t *hash, *cell, n;
};

struct field {
	uint64_t keys, /* number of keys in the cell */
	         xor;  /* XOR of these keys' hashes */
};

static void *array(uint64_t n, size_t each)
{
	void *all = calloc(n + 1, each);
	if (!all)
		abort();
	return all;
}

/* Remove keys that are alone in a cell until no cell has one key. Return: true if no key is
 * left. */
static bool peel(const struct part *p, uint64_t seed, const uint64_t *hashes, uint64_t n,
                 struct order *order)
{
	const uint64_t cells = p->segments * p->length;
	struct field *field = array(cells, sizeof *field);
	uint64_t *stack = array(4 * cells + 3 * n, 8), waiting = 0, cell[3];
	for (uint64_t i = 0; i < n; i++) {
		cells_of(p, seed, hashes[i], cell);
		for (unsigned j = 0; j < 3; j++) {
			field[cell[j]].keys++;
			field[cell[j]].xor ^= hashes[i];
		}
	}
	for (uint64_t i = 0; i < cells; i++)
		if (field[i].keys == 1)
			stack[waiting++] = i;
	order->n = 0;
	while (waiting) {
		const uint64_t top = stack[--waiting], hash = field[top].xor;
		unsigned j = 0;
		if (field[top].keys != 1)
			continue;
		cells_of(p, seed, hash, cell);
		while (cell[j] != top)
			j++;
		order->hash[order->n] = hash;
		order->cell[order->n++] = top;
		for (unsigned follows = 1; follows < 3; follows++) {
			struct field *other = &field[cell[(j + follows) % 3]];
			other->keys--;
			other->xor ^= hash;
			if (other->keys == 1)
				stack[waiting++] = cell[(j + follows) % 3];
		}
	}
	free(stack);
	free(field);
	return order->n == n;
}

static void assign(const struct part *p, uint64_t seed, const struct order *order)
{
	for (unsigned i = 0; i < SEED_BYTES; i++)
		p->bytes[i] = (uint8_t)(seed >> 8 * i);
	for (uint64_t i = order->n; i-- > 0;) {
		uint64_t cell[3];
		uint32_t value = fingerprint_of(p, seed, order->hash[i]);
		cells_of(p, seed, order->hash[i], cell);
		for (unsigned j = 0; j < 3; j++)
			value ^= get(p, cell[j]);
		set(p, order->cell[i], value);
	}
}

static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* @hashes: the hashes of this part, sorted and distinct. */
static bool build_part(const struct part *p, uint64_t set_seed, const uint64_t *hashes, uint64_t n)
{
	struct order order = { array(n, 8), array(n, 8), 0 };
	bool built = false;
	for (uint64_t t = 0; t < TRIES && !built; t++) {
		const uint64_t which = (p->number * 256 + t) * UINT64_C(0xD6E8FEB86659FD93);
		const uint64_t seed = mix(set_seed ^ which);
		built = peel(p, seed, hashes, n, &order);
		if (built)
			assign(p, seed, &order);
	}
	free(order.hash);
	free(order.cell);
	return built;
}

static int build(struct reference *ref, const uint64_t *hashes, size_t n)
{
	uint64_t *sorted = array(n, 8), different = 0, at = 0;
	bool built = true;
	memcpy(sorted, hashes, 8 * n);
	qsort(sorted, n, 8, ascending);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || sorted[i] != sorted[i - 1])
			sorted[different++] = sorted[i];
	const uint64_t parts = UINT64_C(1) << reference_number(ref, "part_bits");
	for (uint64_t i = 0; i < parts && built; i++) {
		const struct part p = part_of(ref, i);
		uint64_t in = 0;
		while (at + in < different && number_of(ref, sorted[at + in]) == i)
			in++;
		built = build_part(&p, ref->seed, sorted + at, in);
		at += in;
	}
	free(sorted);
	return built ? 0 : -ENOSPC;
}

/* ---- the tables of the tests ---- */

#define SHAPE(width, segment_bits, segments) \
	{ WEIR_FUSE, .field = { width, segment_bits, segments, 0 } }
static const struct test_shape shapes[] = {
	{ .shape = SHAPE(7, 4, 3) },
	{ .shape = SHAPE(8, 4, 3), .main = true },
	{ .shape = SHAPE(12, 4, 3) },
	{ .shape = SHAPE(16, 4, 3), .main = true },
	{ .shape = SHAPE(31, 4, 3) },
	{ .shape = SHAPE(32, 4, 3) },
};

static const struct test_layout layouts[] = { { .name = "fuse" } };

static const struct test_golden goldens[] = {
	{ "fuse_8", SHAPE(8, 4, 3), 500, 500, 92, UINT64_C(0xede3707e6aeda894) },
	{ "fuse_12", SHAPE(12, 4, 3), 300, 300, 8, UINT64_C(0x9af7cb118a8b8006) },
	{ "fuse_32", SHAPE(32, 4, 3), 200, 200, 0, UINT64_C(0x4bf459ee936acdcb) },
};

const struct test_kind test_kind_fuse = {
	.id = WEIR_FUSE,
	.every_isa = true,
	.coarse = true,
	.sized = true,
	.bits_per_key = 200, /* two keys of 32 bits in one line */
	.reference = { .contains = contains, .build = build },
	.shapes = TEST_ROWS(shapes),
	.layouts = TEST_ROWS(layouts),
	.goldens = TEST_ROWS(goldens),
};
