/* SPDX-License-Identifier: MIT
 * The layered kind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "kind.h"
#include "layered.h"

/* ---- the reference: two levels of parts. Each part has a seed and cells. The XOR of a key's three
 * cells is the key's fingerprint in the first level and one bit in the second level. ---- */

enum { TRIES = 10, SECOND_TRY = 128, SEED_BYTES = 8, BEHIND = 8 };

struct part {
	unsigned width, part_bits;
	uint64_t length, segments, number;
	bool second;
	uint8_t *bytes; /* the first byte of the part */
};

/* The number of lines of one part. */
static uint64_t lines_of(const struct part *p)
{
	const uint64_t bits = p->segments * p->length * p->width;
	return (SEED_BYTES + (bits + 7) / 8 + BEHIND + 63) / 64;
}

static struct part first_part(const struct reference *ref, uint64_t number)
{
	struct part p = { .width = reference_number(ref, "fingerprint_bits"),
		          .part_bits = reference_number(ref, "part_bits"),
		          .segments = reference_number(ref, "segments"),
		          .number = number };
	p.length = UINT64_C(1) << reference_number(ref, "segment_bits");
	p.bytes = ref->bytes + 64 * lines_of(&p) * number;
	return p;
}

static struct part second_part(const struct reference *ref, uint64_t number)
{
	const struct part first = first_part(ref, 0);
	struct part p = { .width = 1,
		          .part_bits = reference_number(ref, "second_part_bits"),
		          .segments = reference_number(ref, "second_segments"),
		          .number = number,
		          .second = true };
	p.length = UINT64_C(1) << reference_number(ref, "second_segment_bits");
	p.bytes = ref->bytes + 64 * (lines_of(&first) << first.part_bits) +
	          64 * lines_of(&p) * number;
	return p;
}

static uint64_t number_of(unsigned part_bits, uint64_t hash)
{
	return part_bits ? hash / (UINT64_C(1) << (64 - part_bits)) : 0;
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
	if (p->second)
		return (uint32_t)(top / (UINT64_C(1) << 31));
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

static bool passes(const struct part *p, uint64_t hash)
{
	const uint64_t seed = seed_of(p);
	uint64_t cell[3];
	cells_of(p, seed, hash, cell);
	return (get(p, cell[0]) ^ get(p, cell[1]) ^ get(p, cell[2])) ==
	       fingerprint_of(p, seed, hash);
}

static bool passes_first(const struct reference *ref, uint64_t hash)
{
	const struct part p = first_part(ref, number_of(first_part(ref, 0).part_bits, hash));
	return passes(&p, hash);
}

static bool contains(const struct reference *ref, uint64_t hash)
{
	const struct part p = second_part(ref, number_of(second_part(ref, 0).part_bits, hash));
	return passes_first(ref, hash) && passes(&p, hash);
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

static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Distinct hashes in ascending order. */
struct list {
	uint64_t *hash, n;
};

static struct list sorted(const uint64_t *hashes, uint64_t n)
{
	struct list list = { array(n, 8), 0 };
	if (n)
		memcpy(list.hash, hashes, 8 * n);
	qsort(list.hash, n, 8, ascending);
	for (uint64_t i = 0; i < n; i++)
		if (i == 0 || list.hash[i] != list.hash[list.n - 1])
			list.hash[list.n++] = list.hash[i];
	return list;
}

static bool has(const struct list *list, uint64_t hash)
{
	return bsearch(&hash, list->hash, list->n, 8, ascending);
}

static void assign(const struct part *p, uint64_t seed, const struct order *order,
                   const struct list *included)
{
	for (unsigned i = 0; i < SEED_BYTES; i++)
		p->bytes[i] = (uint8_t)(seed >> 8 * i);
	for (uint64_t i = order->n; i-- > 0;) {
		uint64_t cell[3];
		uint32_t value = fingerprint_of(p, seed, order->hash[i]);
		if (p->second && !has(included, order->hash[i]))
			value = 1 - value;
		cells_of(p, seed, order->hash[i], cell);
		for (unsigned j = 0; j < 3; j++)
			value ^= get(p, cell[j]);
		set(p, order->cell[i], value);
	}
}

/* @hashes: the hashes of this part, sorted and distinct. */
static bool build_part(const struct part *p, uint64_t set_seed, const uint64_t *hashes, uint64_t n,
                       const struct list *included)
{
	struct order order = { array(n, 8), array(n, 8), 0 };
	bool built = false;
	for (uint64_t t = 0; t < TRIES && !built; t++) {
		const uint64_t try = p->second ? SECOND_TRY + t : t;
		const uint64_t which = (p->number * 256 + try) * UINT64_C(0xD6E8FEB86659FD93);
		const uint64_t seed = mix(set_seed ^ which);
		built = peel(p, seed, hashes, n, &order);
		if (built)
			assign(p, seed, &order, included);
	}
	free(order.hash);
	free(order.cell);
	return built;
}

static bool build_level(struct reference *ref, const struct list *all, const struct list *included,
                        struct part (*part)(const struct reference *ref, uint64_t number))
{
	const unsigned part_bits = part(ref, 0).part_bits;
	uint64_t at = 0;
	bool built = true;
	for (uint64_t i = 0; i < UINT64_C(1) << part_bits && built; i++) {
		const struct part p = part(ref, i);
		uint64_t in = 0;
		while (at + in < all->n && number_of(part_bits, all->hash[at + in]) == i)
			in++;
		built = build_part(&p, ref->seed, all->hash + at, in, included);
		at += in;
	}
	return built;
}

int layered_reference_build(struct reference *ref, const uint64_t *hashes, size_t n,
                            const uint64_t *excluded, size_t m)
{
	const struct list included = sorted(hashes, n);
	uint64_t *both = array(included.n + m, 8), passed = included.n;
	bool built = build_level(ref, &included, &included, first_part);
	memcpy(both, included.hash, 8 * included.n);
	for (size_t i = 0; i < m; i++)
		if (passes_first(ref, excluded[i]))
			both[passed++] = excluded[i];
	const struct list all = sorted(both, passed);
	built = built && build_level(ref, &all, &included, second_part);
	free(both);
	free(all.hash);
	free(included.hash);
	return built ? 0 : -ENOSPC;
}

static int build(struct reference *ref, const uint64_t *hashes, size_t n)
{
	return layered_reference_build(ref, hashes, n, NULL, 0);
}

/* ---- the tables of the tests ---- */

#define SHAPE(width, segment_bits, segments) \
	{ WEIR_LAYERED, .field = { width, segment_bits, segments, 0, segment_bits, 3, 0 } }
static const struct test_shape shapes[] = {
	{ .shape = SHAPE(6, 4, 3), .main = true },
	{ .shape = SHAPE(8, 4, 3) },
	{ .shape = SHAPE(13, 4, 3), .main = true },
	{ .shape = SHAPE(16, 4, 3) },
	{ .shape = SHAPE(31, 4, 3) },
	{ .shape = SHAPE(32, 4, 3) },
};

/* Each of the two levels has at least one line. */
static unsigned block_lines(const struct weir_shape *shape)
{
	(void)shape;
	return 2;
}

static const struct test_layout layouts[] = { { .name = "layered" } };

static const struct test_golden goldens[] = {
	{ "layered_6", SHAPE(6, 4, 3), 500, 500, 165, UINT64_C(0x1e16bcf760499ca3) },
	{ "layered_excluded", SHAPE(6, 4, 3), 300, 300, 161, UINT64_C(0xc5f09d1c2147e2a7) },
	{ "layered_32", SHAPE(32, 4, 3), 200, 200, 0, UINT64_C(0x030a89cdb1f2524f) },
};

const struct test_kind test_kind_layered = {
	.id = WEIR_LAYERED,
	.every_isa = true,
	.coarse = true,
	.sized = true,
	.bits_per_key = 400, /* two keys of 32 bits in two lines */
	.block_lines = block_lines,
	.reference = { .contains = contains, .build = build },
	.shapes = TEST_ROWS(shapes),
	.layouts = TEST_ROWS(layouts),
	.goldens = TEST_ROWS(goldens),
};
