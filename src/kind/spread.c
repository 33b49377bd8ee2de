/* SPDX-License-Identifier: MIT
 * [SPREAD]: look at the blocks. uneven.c judges what was seen. */
#include "kind/spread.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kind/kind.h"

bool weir__spread_law(const struct weir_filter *f, struct weir_law *law)
{
	if (!f->kind->law || !f->kind->law(f, law))
		return false;
	law->base = f->array.words;
	law->stride = 1;
	law->array = &f->array;
	return true;
}

void weir__spread_begin(struct weir_spread *s, const struct weir_law *law, uint64_t blocks)
{
	enum { COUNTED = 256 };
	memset(s, 0, sizeof *s);
	s->law = *law;
	s->step = blocks / COUNTED + 1;
	s->notable = law->apart || law->partner ? UINT_MAX : 1;
}

WEIR__INLINE uint64_t used_of(const struct weir_law *law, uint64_t word)
{
	const unsigned per = 64 / law->word_bits;
	uint64_t bits = weir__word_load_relaxed(law->base + word / per * law->stride);
	if (per == 2)
		bits = bits >> (32 * (word % 2)) & UINT32_MAX;
	return law->used ? law->used(bits) : bits;
}

/* Inline: the compiler's own is a call, unless it may use the instruction. */
WEIR__INLINE unsigned ones_of(uint64_t b)
{
	b -= b >> 1 & UINT64_C(0x5555555555555555);
	b = (b & UINT64_C(0x3333333333333333)) + (b >> 2 & UINT64_C(0x3333333333333333));
	b = (b + (b >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(b * UINT64_C(0x0101010101010101) >> 56);
}

/* A word of few cells is often full, so the words behind it are counted too, up to one that is
 * not. */
static void note_fullest(struct weir_spread *s, uint64_t word, unsigned cells)
{
	const struct weir_law *law = &s->law;
	const uint64_t first = word / law->words * law->words;
	unsigned score = cells;
	for (unsigned i = 1; i < law->words && cells == law->cells; i++, score += cells)
		cells = ones_of(used_of(law, first + (word + i - first) % law->words));
	if (score <= s->score)
		return;
	s->score = score;
	s->notable = score < law->cells ? score + 1 : law->cells;
	s->fullest = word / law->words;
}

/* What a loop adds up in registers. */
struct sums {
	uint64_t used, squares;
};

WEIR__INLINE void look(struct weir_spread *s, const struct weir_law *law, uint64_t word,
                       struct sums *sum)
{
	const unsigned cells = ones_of(used_of(law, word));
	sum->used += cells;
	sum->squares += cells * cells;
	if (__builtin_expect(cells >= s->notable, 0))
		note_fullest(s, word, cells);
}

WEIR__INLINE void look_along(struct weir_spread *s, const struct weir_law *law, uint64_t first,
                             uint64_t n)
{
	struct sums sum = { 0 };
	for (uint64_t block = first; block < first + n; block++)
		look(s, law, block * law->words + block % law->words, &sum);
	s->used += sum.used;
	s->squares += sum.squares;
	s->words += n;
}

/* The layouts whose words have the most cells are compiled for themselves. */
void weir__spread_look(struct weir_spread *s, uint64_t first, uint64_t n)
{
	struct weir_law law = s->law;
	if (law.words == 8 && !law.used && law.stride == 1) {
		law = (struct weir_law){ .base = law.base, .stride = 1, .words = 8,
			                 .word_bits = law.word_bits, .cells = law.cells };
		if (law.word_bits == 64)
			law.word_bits = 64, look_along(s, &law, first, n);
		else
			law.word_bits = 32, look_along(s, &law, first, n);
		return;
	}
	if (!law.partner) {
		look_along(s, &law, first, n);
		return;
	}
	for (uint64_t line = (first + 7) / 8; 8 * line + line % 8 < first + n; line++)
		look_along(s, &law, 8 * line + line % 8, 1);
}

/* Blocks are counted in portions that the planes have room for; few of them bit by bit. */
enum { PLANES = 8, PORTION = (1 << PLANES) - 1, FEW = 16 };

static void count_word(struct weir_spread *s, uint64_t first, uint64_t n, unsigned w)
{
	const struct weir_law *law = &s->law;
	const unsigned width = law->word_bits / law->cells;
	uint32_t *at = s->at + w * law->cells;
	uint64_t plane[PLANES] = { 0 };
	for (uint64_t i = 0; i < n; i++) {
		uint64_t bits = used_of(law, (first + i * s->step) * law->words + w);
		for (; n < FEW && bits; bits &= bits - 1)
			at[(unsigned)__builtin_ctzll(bits) / width]++;
		weir__planes_add(plane, bits);
	}
	for (unsigned i = 0; n >= FEW && i < law->cells; i++)
		at[i] += weir__planes_read(plane, PLANES, i * width);
}

static void count_block(struct weir_spread *s, uint64_t block)
{
	unsigned used = 0;
	for (unsigned w = 0; w < s->law.words; w++)
		used += ones_of(used_of(&s->law, block * s->law.words + w));
	s->whole += used;
	s->whole_squares += (uint64_t)used * used;
	s->crowd = used > s->crowd ? used : s->crowd;
}

void weir__spread_count(struct weir_spread *s, uint64_t first, uint64_t n)
{
	const uint64_t step = s->step, from = (first + step - 1) / step * step;
	if (s->law.partner || from >= first + n)
		return;
	const uint64_t blocks = (first + n - from - 1) / step + 1;
	for (unsigned w = 0; w < s->law.words; w++)
		for (uint64_t at = 0; at < blocks; at += PORTION)
			count_word(s, from + at * step,
			           blocks - at < PORTION ? blocks - at : PORTION, w);
	for (uint64_t at = 0; at < blocks; at++)
		count_block(s, from + at * step);
	s->counted += blocks;
}

/* The words of a block have more or less keys together: of so few blocks that makes nothing. */
static void look_at_ends(struct weir_spread *s)
{
	enum { MANY = 1024, WHOLE = 8, COUNTED = 64 };
	const struct weir_law *law = &s->law;
	const uint64_t words = law->blocks * law->words, ends = WHOLE * law->words;
	struct sums sum = { 0 };
	if (law->blocks < MANY)
		return;
	for (uint64_t word = 0; word < ends; word++) {
		look(s, law, word, &sum);
		look(s, law, words - 1 - word, &sum);
	}
	s->used += sum.used;
	s->squares += sum.squares;
	s->words += 2 * ends;
	s->step = 1;
	weir__spread_count(s, 0, COUNTED);
	weir__spread_count(s, law->blocks - COUNTED, COUNTED);
}

/* ---- pairs of blocks ---- */

enum { PAIRED = 192, TILE = 32, WORDS = 8 };

/* Blocks side by side, so that the compiler compares several at a time. */
struct tile {
	uint32_t bits[WORDS][TILE];
	float ones[WORDS][TILE];
};

WEIR__INLINE uint32_t ones_of_32(uint32_t b)
{
	b -= b >> 1 & 0x55555555;
	b = (b & 0x33333333) + (b >> 2 & 0x33333333);
	b = (b + (b >> 4)) & 0x0f0f0f0f;
	b += b >> 8;
	return (b + (b >> 16)) & 0x3f;
}

/* Given how many cells of a word are used in each of two blocks, and that each cell is used as
 * likely as any other, the number of those in common is hypergeometric. */
static void pair_with(struct weir_spread *s, const struct tile *a, unsigned i, const struct tile *b,
                      unsigned n)
{
	const float cells = (float)s->law.cells, part = 1 / (cells * cells * (cells - 1));
	float off[TILE] = { 0 }, variance[TILE] = { 0 };
	for (unsigned w = 0; w < WORDS; w++) {
		const float ones = a->ones[w][i], varies = ones * (cells - ones) * part;
		for (unsigned j = 0; j < TILE; j++) {
			const float other = b->ones[w][j];
			off[j] += (float)(int32_t)ones_of_32(a->bits[w][i] & b->bits[w][j]) -
			          ones * other / cells;
			variance[j] += varies * other * (cells - other);
		}
	}
	for (unsigned j = 0; j < n; j++) {
		s->common += (double)(off[j] * off[j] - variance[j]);
		s->common_variance += (double)(variance[j] * (2 * variance[j] + 1));
	}
}

/* Some of the n blocks that are paired, of all over the array. */
static void fetch(const struct weir_law *law, struct tile *tile, unsigned from, unsigned n)
{
	for (unsigned i = 0; i < TILE; i++)
		for (unsigned w = 0; w < WORDS; w++) {
			const uint64_t block = law->blocks / n * (from + i < n ? from + i : 0);
			const uint64_t bits = used_of(law, block * WORDS + w);
			tile->bits[w][i] = (uint32_t)bits;
			tile->ones[w][i] = (float)ones_of(bits);
		}
}

static void look_at_pairs(struct weir_spread *s)
{
	const struct weir_law *law = &s->law;
	const unsigned n = law->blocks < PAIRED ? (unsigned)law->blocks : PAIRED;
	struct tile row, column;
	for (unsigned r = 0; r < n; r += TILE) {
		fetch(law, &row, r, n);
		for (unsigned c = 0; c <= r; c += TILE) {
			fetch(law, &column, c, n);
			for (unsigned i = 0; i < TILE && r + i < n; i++)
				pair_with(s, &row, i, &column, r + i - c < TILE ? r + i - c : TILE);
		}
	}
}

/* ---- keys that move between two blocks ---- */

enum { BATCHES = 4, BATCH = 1024 };

static int compare(const void *a, const void *b)
{
	const uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
	return one < two ? -1 : one > two;
}

/* Of one key of each of some blocks, a batch at most. */
static void look_at_partners(struct weir_spread *s, uint64_t first, uint64_t blocks)
{
	const struct weir_law *law = &s->law;
	const unsigned width = law->word_bits / law->cells;
	uint32_t partner[BATCH], alike = 0;
	unsigned n = 0, print;
	for (uint64_t block = first; block < first + blocks; block += blocks / BATCH + 1) {
		const uint64_t bits = used_of(law, block);
		if (!bits)
			continue;
		partner[n++] = (uint32_t)law->partner(
			law->array, block, (unsigned)__builtin_ctzll(bits) / width, &print);
		for (unsigned bit = 0; bit < law->print_bits; bit++)
			s->ones[bit] += print >> bit & 1;
	}
	qsort(partner, n, sizeof partner[0], compare);
	for (unsigned i = 1; i < n; i++) {
		alike = partner[i] == partner[i - 1] ? alike + 1 : 0;
		s->meetings += alike;
	}
	s->partners += n;
	s->meetings_mean += (double)n * n / 2 / (double)law->blocks;
}

void weir__spread_end(struct weir_spread *s)
{
	const struct weir_law *law = &s->law;
	unsigned crowd = 0;
	look_at_ends(s);
	for (uint64_t i = 0, n = law->blocks / BATCHES; law->partner && i < BATCHES; i++)
		look_at_partners(s, i * n, n);
	if (law->halves)
		look_at_pairs(s);
	for (unsigned w = 0; s->score && w < law->words; w++)
		crowd += ones_of(used_of(law, s->fullest * law->words + w));
	s->crowd = crowd > s->crowd ? crowd : s->crowd;
}

/* ---- all of it ---- */

/* Return: whether every block was looked at. */
static bool look_at_most(struct weir_spread *s, const struct weir_law *law, uint64_t most)
{
	enum { RUN = 64 };
	const uint64_t blocks = law->blocks, next = RUN * ((blocks - 1) / most + 1);
	weir__spread_begin(s, law, blocks);
	for (uint64_t block = 0; block < blocks; block += next)
		weir__spread_look(s, block, blocks - block < RUN ? blocks - block : RUN);
	weir__spread_count(s, 0, blocks);
	weir__spread_end(s);
	return next == RUN;
}

bool weir__spread_stays(const struct weir_law *law, uint64_t most)
{
	enum { LOOKS = 3 };
	struct weir_spread s;
	const char *why;
	uint64_t first = 0;
	for (unsigned i = 0; i < LOOKS; i++) {
		const bool whole = look_at_most(&s, law, most);
		if (weir__spread_verdict(&s, &why) != WEIR_UNEVEN_YES && whole)
			return false;
		first = i ? first : s.used;
	}
	return (s.used > first ? s.used - first : first - s.used) <= first / 1000;
}

uint32_t weir__spread_judge(const struct weir_law *law, uint64_t most, const char **why)
{
	struct weir_spread s;
	look_at_most(&s, law, most);
	const uint32_t verdict = weir__spread_verdict(&s, why);
	if (verdict != WEIR_UNEVEN_YES || weir__spread_stays(law, most))
		return verdict;
	*why = NULL;
	return WEIR_UNEVEN_UNKNOWN;
}
