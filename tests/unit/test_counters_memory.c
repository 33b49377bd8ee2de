/* SPDX-License-Identifier: MIT
 * Counters in memory and in images. Counters are packed side by side, the lowest bits first, in
 * whole blocks. Each counter stops at its largest value. */
#include <errno.h>
#include "../folder.h"
#include "../image_bytes.h"
#include "../kinds/can.h"

/* BLOCK: the number of counters in a block. LARGEST_BLOCK: the number of bytes in a block of 32-bit
 * counters. */
enum { BLOCK = 128, LARGEST_BLOCK = 512 };

static const struct { uint32_t kind, bits; } rows[] = {
	{ WEIR_COUNTING, 4 },  { WEIR_COUNTING, 8 },   { WEIR_COUNTING, 16 },
	{ WEIR_FREQUENCY, 8 }, { WEIR_FREQUENCY, 16 }, { WEIR_FREQUENCY, 32 },
};

static struct weir_stats exact(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &s));
	return s;
}

/* Return: a filter of one block in @memory. */
static struct weir_filter *made_as(uint32_t kind, uint32_t bits, uint32_t z, void *memory)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	/* some of the layouts have a kernel of their own, and the others use the general kernel */
	test_ask_counters(&p, kind, bits, z, z == 2 ? 2 : 1);
	p.max_bytes = p.memory_bytes = BLOCK * bits / 8, p.memory = memory;
	p.capacity = 1, p.seed = 7;
	assert_ok(weir_create(&f, &p));
	return f;
}

static struct weir_filter *made_in(void *memory, uint32_t bits)
{
	return made_as(bits < 32 ? WEIR_COUNTING : WEIR_FREQUENCY, bits, 1, memory);
}

static uint64_t counter(const unsigned char *memory, uint32_t bits, unsigned i)
{
	uint64_t value = 0;
	if (bits == 4)
		return memory[i / 2] >> i % 2 * 4 & 15;
	for (unsigned byte = bits / 8; byte-- > 0;)
		value = value << 8 | memory[i * bits / 8 + byte];
	return value;
}

static void set_counter(unsigned char *memory, uint32_t bits, unsigned i, uint64_t value)
{
	if (bits == 4)
		memory[i / 2] |= (unsigned char)(value << i % 2 * 4);
	for (unsigned byte = 0; byte < bits / 8; byte++)
		memory[i * bits / 8 + byte] = (unsigned char)(value >> 8 * byte);
}

/* Return: test value number @i for counters of @bits bits: small, middle and large values. */
static uint64_t edge(uint32_t bits, unsigned i)
{
	const uint64_t most = (UINT64_C(1) << bits) - 1;
	const uint64_t edges[] = { 0, 1, most / 2, most / 2 + 1, most - 1, most };
	return edges[i % COUNT_OF(edges)];
}

static void a_sum_never_carries_into_the_next_counter(void **state)
{
	static unsigned char memory[2][LARGEST_BLOCK] __attribute__((aligned(64)));
	(void)state;
	for (uint32_t bits = 4; bits <= 32; bits *= 2) {
		struct weir_filter *a = made_in(memory[0], bits), *b = made_in(memory[1], bits);
		const uint64_t most = (UINT64_C(1) << bits) - 1;
		for (unsigned i = 0; i < BLOCK; i++) {
			set_counter(memory[0], bits, i, edge(bits, i));
			set_counter(memory[1], bits, i, edge(bits, i / 6 + i));
		}
		assert_ok(weir_merge(a, b));
		for (unsigned i = 0; i < BLOCK; i++) {
			uint64_t sum = edge(bits, i) + edge(bits, i / 6 + i);
			assert_true(counter(memory[0], bits, i) == (sum < most ? sum : most));
			assert_true(counter(memory[1], bits, i) == edge(bits, i / 6 + i));
		}
		weir_destroy(a), weir_destroy(b);
		memset(memory, 0, sizeof memory);
	}
}

static void fills_equal_single_inserts_at_the_largest_value(void **state)
{
	static unsigned char memory[2][LARGEST_BLOCK] __attribute__((aligned(64)));
	enum { KEYS = 20, TIMES = 5 };
	uint64_t hashes[KEYS * TIMES];
	(void)state;
	for (unsigned i = 0; i < KEYS * TIMES; i++)
		hashes[i] = test_key(i % KEYS);
	for (size_t row = 0; row < COUNT_OF(rows); row++)
		for (uint32_t z = 1; z <= 8; z *= 2) {
			const uint32_t bits = rows[row].bits;
			struct weir_filter *f[2];
			for (unsigned i = 0; i < 2; i++) {
				f[i] = made_as(rows[row].kind, bits, z, memory[i]);
				for (unsigned c = 0; c < BLOCK; c++)
					set_counter(memory[i], bits, c,
					            (UINT64_C(1) << bits) - 3 + c % 2);
			}
			for (unsigned i = 0; i < KEYS * TIMES; i++)
				assert_int_equal(weir_insert_hash(f[0], hashes[i]), WEIR_SEEN);
			assert_ok(weir_fill_keys(f[1], weir_keys_hashes(hashes, KEYS * TIMES)));
			assert_memory_equal(memory[0], memory[1], BLOCK * bits / 8);
			assert_true(exact(f[1]).counters_stuck > KEYS / 2);
			weir_destroy(f[0]), weir_destroy(f[1]);
		}
}

/* ---- images ---- */

/* Asserts that every counter is full, so that every key is found with a full count. Frees the
 * filter. */
static void assert_full(struct weir_filter *f)
{
	struct weir_stats s = exact(f);
	assert_true(s.fill == 1 && s.counters_stuck == BLOCK && s.saturated);
	assert_true(s.fp_rate_estimated == 1);
	for (uint64_t key = 0; key < 100; key++) {
		uint64_t bytes = test_key(key);
		assert_int_equal(weir_insert_u64(f, bytes), WEIR_SEEN);
		assert_true(weir_count(f, &bytes, 8) == WEIR_COUNT_FULL);
	}
	assert_ok(weir_merge(f, f));
	assert_true(exact(f).counters_stuck == BLOCK);
	weir_destroy(f);
}

static void an_image_of_full_counters_is_valid(void **state)
{
	static unsigned char memory[LARGEST_BLOCK] __attribute__((aligned(64)));
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		for (uint32_t z = 1; z <= 8; z *= 2) {
			struct weir_filter *f = made_as(rows[i].kind, rows[i].bits, z, memory);
			struct weir_filter *g = NULL;
			struct weir_stats stats = WEIR_STATS_INIT;
			memset(memory, 0xff, BLOCK * rows[i].bits / 8);
			assert_ok(weir_save(f, weir_location_path(path), NULL));
			assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
			assert_ok(weir_image_measure(weir_location_path(path), WEIR_EXACT, NULL,
			                             &stats));
			assert_true(stats.counters_stuck == BLOCK);
			assert_ok(weir_load(&g, weir_location_path(path), NULL));
			assert_full(g);
			assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_PRIVATE), NULL));
			assert_full(g);
			assert_ok(weir_clone(&g, f));
			assert_full(g);
			assert_full(f);
		}
}

/* A block of counters occupies bits / 4 lines of 64 bytes. */
static void an_image_needs_whole_blocks(void **state)
{
	enum { LENGTH = 96, BLOCKS = 3 };
	static unsigned char memory[LARGEST_BLOCK] __attribute__((aligned(64)));
	(void)state;
	for (uint32_t bits = 4; bits <= 32; bits *= 2) {
		struct weir_filter *f = made_in(memory, bits), *g = NULL;
		size_t n = 0;
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		weir_destroy(f);
		unsigned char *one = image_slurp(path, &n);
		unsigned char *image = calloc(1, n + BLOCKS * LARGEST_BLOCK);
		memcpy(image, one, n);
		free(one);
		for (uint64_t lines = 1; lines <= BLOCKS * bits / 4; lines++) {
			size_t length = IMAGE_PAGE + 64 * lines;
			image_put64(image + IMAGE_BLOCKS, lines);
			image_put64(image + LENGTH, length);
			image_repair_table(image, length);
			image_repair(image, length);
			int err = weir_load(&g, weir_location_memory(image, length), NULL);
			if (lines % (bits / 4) == 0)
				assert_ok(err);
			else
				assert_refused(err, -EBADMSG, "a shape that kind", "counter_bits");
			weir_destroy(g);
			g = NULL;
		}
		free(image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_never_carries_into_the_next_counter),
		cmocka_unit_test(fills_equal_single_inserts_at_the_largest_value),
		cmocka_unit_test(an_image_of_full_counters_is_valid),
		cmocka_unit_test(an_image_needs_whole_blocks),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
