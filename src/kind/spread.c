/* SPDX-License-Identifier: MIT
 * Reads the blocks for the test [SPREAD] in spread.h. uneven.c judges the result. */
#include "kind/spread.h"
#include <limits.h>
#include <math.h>
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

WEIR__INLINE const uint64_t *word_at(const struct weir_law *law, uint64_t word)
{
	return law->base + (law->word_bits == 32 ? word / 2 : word) * law->stride;
}

WEIR__INLINE uint64_t used_of(const struct weir_law *law, uint64_t word)
{
	uint64_t bits = weir__word_load_relaxed(word_at(law, word));
	if (law->word_bits == 32)
		bits = bits >> (32 * (word % 2)) & UINT32_MAX;
	return law->used ? law->used(bits) : bits;
}

/* Inlined by hand: without the popcount instruction the compiler's builtin is a function call. */
WEIR__INLINE unsigned ones_of(uint64_t b)
{
	b -= b >> 1 & UINT64_C(0x5555555555555555);
	b = (b & UINT64_C(0x3333333333333333)) + (b >> 2 & UINT64_C(0x3333333333333333));
	b = (b + (b >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(b * UINT64_C(0x0101010101010101) >> 56);
}

/* Compare a word with the fullest block so far. A word of few cells is often full. So the score
 * also counts the next words of its block, up to the first one that is not full. */
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

/* Sums that a loop keeps in registers. */
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

static void add_sums(struct weir_spread *s, const struct sums *sum, uint64_t words)
{
	s->used += sum->used;
	s->squares += sum->squares;
	s->words += words;
}

/* Read one word of each block. The loop prefetches blocks of counters, which have up to 512 bytes,
 * since the processor does not prefetch beyond a page. */
WEIR__INLINE void look_along(struct weir_spread *s, const struct weir_law *law, uint64_t first,
                             uint64_t n)
{
	enum { AHEAD = 16 };
	struct sums sum = { 0 };
	for (uint64_t block = first; block < first + n; block++) {
		const uint64_t word = block * law->words + (block & (law->words - 1));
		if (law->used && block + AHEAD < first + n)
			__builtin_prefetch(word_at(law, word + AHEAD * law->words));
		look(s, law, word, &sum);
	}
	add_sums(s, &sum, n);
}

/* For kinds with partner(), whose blocks are single words: read one block of each line. */
static void look_at_lines(struct weir_spread *s, uint64_t first, uint64_t end)
{
	const struct weir_law law = s->law;
	struct sums sum = { 0 };
	uint64_t words = 0;
	for (uint64_t line = (first + 7) / 8; 8 * line + line % 8 < end; line++, words++)
		look(s, &law, 8 * line + line % 8, &sum);
	add_sums(s, &sum, words);
}

/* Layouts of eight words with one-bit cells get loops of their own, in which the compiler sees
 * constants. */
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
	if (law.partner)
		look_at_lines(s, first, first + n);
	else
		look_along(s, &law, first, n);
}

/* The most blocks to count at a time is PORTION, so that neither the planes (weir__planes_add())
 * nor the sums of cells overflow. FEW and WIDE belong to count_bits(). */
enum { PLANES = 8, PORTION = (1 << PLANES) - 1, FEW = 16, WIDE = 8 };

static void note_whole(struct weir_spread *s, unsigned used)
{
	s->whole += used;
	s->whole_squares += (uint64_t)used * used;
	s->crowd = used > s->crowd ? used : s->crowd;
}

/* Count cells of one bit, in blocks of four or eight 64-bit words. Fewer than FEW blocks are
 * counted bit by bit. */
static void count_bits(struct weir_spread *s, uint64_t first, uint64_t n)
{
	const unsigned wide = s->law.words * s->law.word_bits / 64;
	uint64_t plane[PLANES][WIDE] = { { 0 } }, bits[WIDE] = { 0 };
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t word = (first + i * s->step) * wide;
		unsigned used = 0;
		for (unsigned w = 0; w < wide; w++) {
			bits[w] = weir__word_load_relaxed(s->law.base + (word + w) * s->law.stride);
			used += ones_of(bits[w]);
			for (uint64_t b = n < FEW ? bits[w] : 0; b; b &= b - 1)
				s->at[64 * w + (unsigned)__builtin_ctzll(b)]++;
		}
		note_whole(s, used);
		for (unsigned p = 0; p < PLANES; p++)
			for (unsigned w = 0; w < WIDE; w++) {
				const uint64_t carry = plane[p][w] & bits[w];
				plane[p][w] ^= bits[w];
				bits[w] = carry;
			}
	}
	for (unsigned i = 0; n >= FEW && i < 64 * wide; i++)
		for (unsigned p = 0; p < PLANES; p++)
			s->at[i] += (uint32_t)(plane[p][i / 64] >> i % 64 & 1) << p;
}

/* Return: the sum of a word's cells, at most 255. Four-bit cells are at most 15 each. */
WEIR__INLINE unsigned sum_of(uint64_t cells, unsigned width)
{
	const uint64_t low = UINT64_C(0x0f0f0f0f0f0f0f0f);
	if (width == 4)
		cells = (cells & low) + (cells >> 4 & low);
	return (unsigned)(cells * UINT64_C(0x0101010101010101) >> 56);
}

/* Count cells of several bits. used_of() leaves only the lowest bit of each used cell, so words can
 * be added: each cell of the sum counts the words that use it. */
static void count_cells(struct weir_spread *s, uint64_t first, uint64_t n, unsigned width)
{
	const struct weir_law *law = &s->law;
	const unsigned most = width == 4 ? 15 : 255;
	uint64_t column[WEIR__SPREAD_WORDS] = { 0 };
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t word = (first + i * s->step) * law->words;
		uint64_t row = 0;
		for (unsigned w = 0; w < law->words; w++) {
			const uint64_t used = used_of(law, word + w);
			column[w] += used;
			row += used;
		}
		note_whole(s, sum_of(row, width));
	}
	for (unsigned i = 0; i < law->words * law->cells; i++)
		s->at[i] += column[i / law->cells] >> i % law->cells * width & most;
}

void weir__spread_count(struct weir_spread *s, uint64_t first, uint64_t n)
{
	const uint64_t step = s->step, from = (first + step - 1) / step * step;
	const unsigned width = s->law.word_bits / s->law.cells, portion = width == 4 ? 15 : PORTION;
	if (s->law.partner || from >= first + n)
		return;
	const uint64_t blocks = (first + n - from - 1) / step + 1;
	for (uint64_t at = 0; at < blocks; at += portion) {
		const uint64_t some = blocks - at < portion ? blocks - at : portion;
		if (width == 1)
			count_bits(s, from + at * step, some);
		else
			count_cells(s, from + at * step, some, width);
	}
	s->counted += blocks;
}

/* Read all words of a few blocks. The words of one block are correlated, since they share its keys.
 * For so few blocks the correlation is negligible. */
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
	add_sums(s, &sum, 2 * ends);
	s->step = 1;
	weir__spread_count(s, 0, COUNTED);
	weir__spread_count(s, law->blocks - COUNTED, COUNTED);
}

/* ---- pairs of blocks ---- */

enum { PAIRED = 192, SOME = 96, TILE = 32, WORDS = 8, CELLS = 32, LANES = 4 };

typedef uint32_t four __attribute__((vector_size(4 * LANES)));
typedef int32_t four_signed __attribute__((vector_size(4 * LANES)));
typedef float four_floats __attribute__((vector_size(4 * LANES)));

/* Return: the number of set bits in each byte. */
WEIR__INLINE four ones_of_bytes(four b)
{
	b -= b >> 1 & 0x55555555;
	b = (b & 0x33333333) + (b >> 2 & 0x33333333);
	return (b + (b >> 4)) & 0x0f0f0f0f;
}

WEIR__INLINE four_floats sum_of_bytes(four b)
{
	b = (b & 0x00ff00ff) + (b >> 8 & 0x00ff00ff);
	return __builtin_convertvector((four_signed)((b + (b >> 16)) & 0xffff), four_floats);
}

/* Blocks side by side, so that LANES of them are compared at a time. */
struct tile {
	four bits[TILE / LANES][WORDS];
	four_floats ones[TILE / LANES][WORDS];
};

/* One block, repeated in each lane. */
struct row {
	four bits[WORDS];
	four_floats ones[WORDS], variance[WORDS];
};

static void set_row(struct row *row, const struct tile *tile, unsigned i)
{
	const float part = 1.0f / (CELLS * CELLS * (CELLS - 1));
	for (unsigned w = 0; w < WORDS; w++) {
		const float ones = tile->ones[i / LANES][w][i % LANES];
		row->bits[w] = (four){ 0 } + tile->bits[i / LANES][w][i % LANES];
		row->ones[w] = (four_floats){ 0 } + ones;
		row->variance[w] = (four_floats){ 0 } + ones * (CELLS - ones) * part;
	}
}

/* Fetch TILE of n blocks that are spread over the array, from number @first on. The numbers run
 * through every second block first, and then through the blocks between, so that the first SOME
 * blocks span the array too. */
static void fetch(const struct weir_law *halves, struct tile *tile, unsigned first, unsigned n)
{
	const struct weir_law law = { .base = halves->base, .stride = 1, .word_bits = 32 };
	const uint64_t apart = halves->blocks / n;
	for (unsigned i = 0; i < TILE; i++) {
		const unsigned at = first + i < n ? 2 * (first + i) : 0;
		const uint64_t block = apart * (at < n ? at : at - n + (n % 2 == 0));
		for (unsigned w = 0; w < WORDS; w++)
			tile->bits[i / LANES][w][i % LANES] =
				(uint32_t)used_of(&law, block * WORDS + w);
	}
	for (unsigned i = 0; i < TILE / LANES; i++)
		for (unsigned w = 0; w < WORDS; w++)
			tile->ones[i][w] = sum_of_bytes(ones_of_bytes(tile->bits[i][w]));
}

/* Compare a block with the first n blocks of the tile. If all cells are equally likely, the number
 * of cells that two words have in common is hypergeometric, given the used cells of each word. */
static void pair_with(struct weir_spread *s, const struct row *a, const struct tile *b, unsigned n)
{
	four_floats common = { 0 }, common_variance = { 0 };
	four place = { 0, 1, 2, 3 };
	for (unsigned j = 0; j < n; j += LANES, place += LANES) {
		const four_signed counts = place < n;
		four_floats mean = { 0 }, variance = { 0 };
		four bytes = { 0 };
		for (unsigned w = 0; w < WORDS; w++) {
			const four_floats ones = b->ones[j / LANES][w];
			bytes += ones_of_bytes(a->bits[w] & b->bits[j / LANES][w]);
			mean += a->ones[w] * ones;
			variance += a->variance[w] * (ones * (CELLS - ones));
		}
		const four_floats off = sum_of_bytes(bytes) - mean / CELLS;
		const four_floats more = variance * (2 * variance + 1);
		common += (four_floats)(counts & (four_signed)(off * off - variance));
		common_variance += (four_floats)(counts & (four_signed)more);
	}
	for (unsigned j = 0; j < LANES; j++) {
		s->common += (double)common[j];
		s->common_variance += (double)common_variance[j];
	}
}

/* Compare more pairs only while their sum is large: at least one standard deviation after SOME
 * blocks, and one standard deviation more after each further tile. With uniform hashes a sixth of
 * the filters pass the first of these tests, and a fiftieth of them pass the second. If the lower
 * halves of the hashes take only a thousand values, a comparison of all pairs just detects it. The
 * sum is then four standard deviations after SOME blocks, and six after the next tile. */
static void look_at_pairs(struct weir_spread *s)
{
	const unsigned n = s->law.blocks < PAIRED ? (unsigned)s->law.blocks : PAIRED;
	struct tile rows, columns;
	struct row row;
	for (unsigned r = 0; r < n; r += TILE) {
		const double deviations = r / TILE - 2.0;
		if (r >= SOME && s->common < deviations * sqrt(s->common_variance))
			return;
		fetch(&s->law, &rows, r, n);
		for (unsigned c = 0; c <= r; c += TILE) {
			fetch(&s->law, &columns, c, n);
			for (unsigned i = 0; i < TILE && r + i < n; i++) {
				set_row(&row, &rows, i);
				pair_with(s, &row, &columns, r + i - c < TILE ? r + i - c : TILE);
			}
		}
	}
}

/* ---- keys that move between two blocks ---- */

enum { BATCHES = 4, BATCH = 1024, BATCH_PLANES = 11 };

/* Count the pairs of keys with the same partner block. A hash table finds the pairs: each of its
 * chains holds the keys whose partner blocks have the same hash. Not inlined, so that the 4 KiB of
 * the table do not add to the caller's frame of 4 KiB. */
static __attribute__((noinline)) uint64_t meetings_of(const uint32_t *partner, unsigned n)
{
	uint16_t head[BATCH] = { 0 }, next[BATCH]; /* indices from 1 on; 0 ends a chain */
	uint64_t pairs = 0;
	for (unsigned i = 0; i < n; i++) {
		uint16_t *const chain = &head[partner[i] * 2654435769u >> 22];
		for (unsigned at = *chain; at; at = next[at - 1])
			pairs += partner[at - 1] == partner[i];
		next[i] = *chain;
		*chain = (uint16_t)(i + 1);
	}
	return pairs;
}

/* Read the first key of up to BATCH blocks, which lie pages apart in a large array. The function is
 * not inlined, because clang would put its arrays of 4 KiB and the tiles of look_at_pairs() into
 * one frame. */
static __attribute__((noinline)) void look_at_partners(struct weir_spread *s, uint64_t first,
                                                       uint64_t blocks)
{
	enum { AHEAD = 16 };
	const struct weir_law *law = &s->law;
	const uint64_t step = blocks / BATCH + 1, end = first + blocks;
	uint64_t plane[BATCH_PLANES] = { 0 };
	uint32_t partner[BATCH];
	unsigned n = 0, print;
	for (uint64_t block = first; block < end; block += step) {
		if (block + AHEAD * step < end)
			__builtin_prefetch(law->base + block + AHEAD * step);
		partner[n] = (uint32_t)law->partner(law->array, block, &print);
		weir__planes_add(plane, print);
		n += print != 0;
	}
	for (unsigned bit = 0; bit < law->print_bits; bit++)
		s->ones[bit] += weir__planes_read(plane, BATCH_PLANES, bit);
	s->meetings += meetings_of(partner, n);
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

/* ---- all steps together ---- */

/* Do all steps on about @most blocks. Return: true if every block was read. */
static bool look_at_most(struct weir_spread *s, const struct weir_law *law, uint64_t most)
{
	const uint64_t blocks = law->blocks, run = law->partner ? 512 : 64; /* a page at least */
	const uint64_t next = run * ((blocks - 1) / most + 1);
	weir__spread_begin(s, law, blocks);
	for (uint64_t block = 0; block < blocks; block += next)
		weir__spread_look(s, block, blocks - block < run ? blocks - block : run);
	weir__spread_count(s, 0, blocks);
	weir__spread_end(s);
	return next == run;
}

static bool stays(const struct weir_law *law, uint64_t most)
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

uint32_t weir__spread_confirm(const struct weir_law *law, uint64_t most, uint32_t verdict,
                              const char **why)
{
	if (verdict != WEIR_UNEVEN_YES || stays(law, most))
		return verdict;
	*why = NULL;
	return WEIR_UNEVEN_UNKNOWN;
}

uint32_t weir__spread_judge(const struct weir_law *law, uint64_t most, const char **why)
{
	struct weir_spread s;
	look_at_most(&s, law, most);
	return weir__spread_confirm(law, most, weir__spread_verdict(&s, why), why);
}
