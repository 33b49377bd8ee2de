/* SPDX-License-Identifier: MIT
 * Builds one part of a fuse structure. For each cell it keeps the number of keys and the XOR of
 * their hashes. If one key is left, the XOR is the hash of this key. */
#include "kinds/common/fuse_build.h"
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"

/* Each cell has a byte in the array counts. The upper five bits of the byte are the number of the
 * cell's keys. The lower bits are the XOR over these keys of the key's mark and of the cell's
 * number (0 to 2) for the key. With the planned size a cell has
 * 2.7 keys on average, and one in 10^22 has more than the bits can count. */
enum { WHICH = 3, MARK = 4, ONE = 8 };

/* Return: @bytes rounded up to whole lines, so that each array begins on a line. */
static uint64_t whole_lines(uint64_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

uint64_t weir__fuse_room_bytes(const struct weir_fuse *part, uint64_t keys)
{
	/* one more entry, since peeling writes a cell above the stack before it counts the cell */
	return whole_lines(8 * keys) + whole_lines(keys) + whole_lines(8 * part->cells) +
	       whole_lines(part->cells) + whole_lines(4 * (part->cells + 1));
}

int weir__fuse_room_make(struct weir_fuse_room *out, const struct weir_fuse *part, uint64_t keys)
{
	const uint64_t bytes = weir__fuse_room_bytes(part, keys);
	char *at;
	if (posix_memalign((void **)&at, 64, bytes))
		return weir__fail(-ENOMEM, "no memory to build a part of %llu keys in: %llu bytes",
		                  (unsigned long long)keys, (unsigned long long)bytes);
	*out = (struct weir_fuse_room){ .bytes = bytes, .keys = (void *)at };
	out->by = (void *)(at += whole_lines(8 * keys));
	out->xors = (void *)(at += whole_lines(keys));
	out->counts = (void *)(at += whole_lines(8 * part->cells));
	out->stack = (void *)(at + whole_lines(part->cells));
	return 0;
}

void weir__fuse_room_free(struct weir_fuse_room *room)
{
	free(room->keys);
	room->keys = NULL;
}

/* Add all keys to their cells. Return: false if a cell has more keys than can be counted. */
static bool count_keys(struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                       uint64_t marked, uint64_t seed)
{
	const struct weir_fuse p = *part;
	uint64_t *xors = room->xors;
	uint8_t *counts = room->counts;
	bool over = false;
	memset(counts, 0, p.cells);
	memset(xors, 0, 8 * p.cells);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t h = room->keys[i];
		const uint8_t mark = i < marked ? MARK : 0;
		struct weir_fuse_cells c = weir__fuse_cells(&p, h, weir__fuse_mix(h, seed));
		for (unsigned j = 0; j < 3; j++) {
			const uint8_t more = (uint8_t)((counts[c.at[j]] + ONE) ^ (j | mark));
			over |= more < ONE;
			counts[c.at[j]] = more;
			xors[c.at[j]] ^= h;
		}
	}
	return !over;
}

/* Push the cells with one key, in ascending order. Return: the number of these cells. */
static uint64_t push_singles(const struct weir_fuse_room *room, uint64_t cells)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < cells; i++) {
		room->stack[n] = (uint32_t)i;
		n += room->counts[i] / ONE == 1;
	}
	return n;
}

/* Remove a key from a cell. @j: the cell's number for the key, and the key's mark. Return: true if
 * one key is left in the cell. */
static inline bool remove_key(struct weir_fuse_room *room, uint32_t cell, unsigned j, uint64_t h)
{
	const uint8_t left = (uint8_t)((room->counts[cell] - ONE) ^ j);
	room->counts[cell] = left;
	room->xors[cell] ^= h;
	return left / ONE == 1;
}

bool weir__fuse_peel(struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                     uint64_t marked, uint64_t seed)
{
	static const uint8_t next[] = { 1, 2, 0 };
	const struct weir_fuse p = *part;
	uint64_t waiting, taken = 0;
	if (!count_keys(room, part, n, marked, seed))
		return false;
	/* All keys are in the cells now, so room->keys is free for the order of removal. */
	waiting = push_singles(room, p.cells);
	while (waiting) {
		const uint32_t cell = room->stack[--waiting];
		if (room->counts[cell] / ONE != 1)
			continue;
		const uint64_t h = room->xors[cell];
		const unsigned j = room->counts[cell] & WHICH, j1 = next[j], j2 = next[j1];
		const unsigned mark = room->counts[cell] & MARK;
		struct weir_fuse_cells c = weir__fuse_cells(&p, h, weir__fuse_mix(h, seed));
		room->keys[taken] = h;
		room->by[taken++] = (uint8_t)(j | mark);
		room->stack[waiting] = c.at[j1];
		waiting += remove_key(room, c.at[j1], j1 | mark, h);
		room->stack[waiting] = c.at[j2];
		waiting += remove_key(room, c.at[j2], j2 | mark, h);
	}
	return taken == n;
}

WEIR__INLINE void assign(const struct weir_fuse_room *room, const struct weir_fuse *part,
                         uint64_t n, uint64_t seed, unsigned char *cells, bool second)
{
	const struct weir_fuse p = *part;
	for (uint64_t i = n; i-- > 0;) {
		const uint64_t h = room->keys[i], m = weir__fuse_mix(h, seed);
		struct weir_fuse_cells c = weir__fuse_cells(&p, h, m);
		const unsigned j = room->by[i] & WHICH;
		uint64_t value = weir__fuse_value(m, p.width, second);
		value ^= second && !(room->by[i] & MARK);
		for (unsigned other = 0; other < 3; other++) /* cell c.at[j] is still 0 */
			value ^= weir__fuse_cell(cells, c.at[other], p.width);
		weir__fuse_put(cells, c.at[j], p.width, (uint32_t)value);
	}
}

void weir__fuse_assign(const struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                       uint64_t seed, unsigned char *cells, bool second)
{
	if (second)
		assign(room, part, n, seed, cells, true);
	else
		assign(room, part, n, seed, cells, false);
}
