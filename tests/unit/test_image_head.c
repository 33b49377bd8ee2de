/* SPDX-License-Identifier: MIT
 * The head of an image, without the rest of the image. The kinds blocked and classic, which came
 * first, have two fields of their shape at offsets of their own. Every later kind has seven fields
 * in an area that all later kinds share. */
#include <errno.h>
#include "../test.h"
#include "image/head.h"

enum { FORMAT = 8, OLD = 16, OLD_END = 24, AREA = 104, AREA_END = 132, MARKS = 136, STEPS = 140,
       LATER = 192, A_LATER_KIND = 200 };

static struct weir_image_head head_of(uint32_t kind)
{
	struct weir_image_head head = { .shape = { .kind = kind, .field = { 2, 3 } },
		                        .hash = 1,
		                        .shards = 1,
		                        .nblocks = 1,
		                        .seed = 1,
		                        .capacity = 1,
		                        .rate_bits = 1 };
	for (uint32_t i = 0; kind > WEIR_CLASSIC && i < WEIR_SHAPE_FIELDS; i++)
		head.shape.field[i] = UINT32_MAX - i;
	return head;
}

/* Parse @bytes with the checksums that @bytes contains. */
static int parse(const unsigned char *bytes, struct weir_image_head *out,
                 struct weir_image_fault *fault)
{
	struct weir_image_given given = { .length = UINT64_MAX };
	given.header_checksum = weir__image_get64(bytes + WEIR_IMAGE_CHECKSUM);
	given.commit = weir__image_get64(bytes + WEIR_IMAGE_COMMIT);
	int err = weir__image_check(bytes, &given, out, fault);
	return err ? err : weir__image_check_numbers(bytes, out, fault);
}

static void a_written_head_reads_back(void **state)
{
	static const uint32_t kinds[] = { WEIR_BLOCKED, WEIR_CLASSIC, WEIR_CLASSIC + 1,
		                          A_LATER_KIND, UINT32_MAX };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
		unsigned char bytes[WEIR_IMAGE_HEAD];
		struct weir_image_head head = head_of(kinds[i]), out;
		struct weir_image_fault fault;
		weir__image_put(bytes, &head);
		assert_int_equal(parse(bytes, &out, &fault), 0);
		test_assert_same_shape(&out.shape, &head.shape);
		assert_int_equal(out.hash, 1);
	}
}

/* Asserts that a head is refused if any byte from @from to @to - 1 is not 0. */
static void assert_zero(uint32_t kind, unsigned from, unsigned to)
{
	for (unsigned at = from; at < to; at++) {
		unsigned char bytes[WEIR_IMAGE_HEAD];
		struct weir_image_head head = head_of(kind), out;
		struct weir_image_fault fault;
		weir__image_put(bytes, &head);
		assert_int_equal(bytes[at], 0);
		bytes[at] = 1;
		assert_int_equal(parse(bytes, &out, &fault), -EBADMSG);
		assert_string_equal(fault.field, "reserved bytes");
	}
}

static void unused_fields_of_a_shape_are_zero(void **state)
{
	(void)state;
	assert_zero(WEIR_BLOCKED, AREA, AREA_END);
	assert_zero(WEIR_CLASSIC, AREA, AREA_END);
	assert_zero(A_LATER_KIND, OLD, OLD_END);
}

static void the_first_kinds_have_small_fields(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned value = 0; value < 256; value++) {
			unsigned char bytes[WEIR_IMAGE_HEAD];
			struct weir_image_head head = head_of(WEIR_BLOCKED), out;
			struct weir_image_fault fault;
			weir__image_put(bytes, &head);
			bytes[OLD + 4 * i] = (unsigned char)value;
			int err = parse(bytes, &out, &fault);
			assert_int_equal(err, value >= 1 && value <= 64 ? 0 : -EBADMSG);
			if (err)
				assert_string_equal(fault.field,
				                    i ? "bits_per_word" : "words_per_key");
		}
}

/* For a builder, seed 0 means a random seed, so an image with seed 0 could not recreate its
 * filter. */
static void seed_0_is_refused(void **state)
{
	unsigned char bytes[WEIR_IMAGE_HEAD];
	struct weir_image_head head = head_of(WEIR_BLOCKED), out;
	struct weir_image_fault fault;
	(void)state;
	head.seed = 0;
	weir__image_put(bytes, &head);
	assert_int_equal(parse(bytes, &out, &fault), -EBADMSG);
	assert_string_equal(fault.field, "seed");
}

/* A row without @refused has legal values, some of them at a limit. In any other row the field
 * @refused breaks a limit or a rule. */
static void each_field_has_limits(void **state)
{
	static const struct {
		uint64_t capacity, rate_bits, nblocks;
		uint32_t shards;
		const char *refused;
	} cases[] = {
		{ UINT64_C(1) << 48, 1, 1, 1, NULL },
		{ (UINT64_C(1) << 48) + 1, 1, 1, 1, "capacity" },
		{ 0, 1, 1, 1, "capacity" },
		{ 1, UINT64_C(0x3fefffffffffffff), 1, 1, NULL }, /* just below 1.0 */
		{ 1, UINT64_C(0x3ff0000000000000), 1, 1, "fp_rate, as bits," },
		{ 1, 0, 1, 1, "fp_rate, as bits," },
		{ 1, 1, UINT64_C(1) << 40, 1, NULL },
		{ 1, 1, (UINT64_C(1) << 40) + 1, 1, "blocks" },
		{ 1, 1, 2 * 1024, 2, NULL },
		{ 1, 1, 2 * 1024 - 2, 2, "shards" },
		{ 1, 1, 2 * 1024 + 1, 2, "shards" }, /* shards of unequal size */
		{ 1, 1, 3 * 1024, 3, "shards" },
		{ 1, 1, 65536 * 1024, 65536, NULL },
		{ 1, 1, 131072 * 1024, 131072, "shards" },
	};
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		unsigned char bytes[WEIR_IMAGE_HEAD];
		struct weir_image_head head = head_of(WEIR_BLOCKED), out;
		struct weir_image_fault fault;
		head.capacity = cases[i].capacity;
		head.rate_bits = cases[i].rate_bits;
		head.nblocks = cases[i].nblocks;
		head.shards = cases[i].shards;
		weir__image_put(bytes, &head);
		int err = parse(bytes, &out, &fault);
		assert_int_equal(err, cases[i].refused ? -EBADMSG : 0);
		if (err)
			assert_string_equal(fault.field, cases[i].refused);
	}
}

static void only_known_hashes_are_accepted(void **state)
{
	(void)state;
	for (uint32_t hash = 0; hash < 256; hash++) {
		unsigned char bytes[WEIR_IMAGE_HEAD];
		struct weir_image_head head = head_of(WEIR_BLOCKED), out;
		struct weir_image_fault fault;
		head.hash = hash;
		weir__image_put(bytes, &head);
		int err = parse(bytes, &out, &fault);
		assert_int_equal(err, hash == 1 || hash == 2 ? 0 : -EBADMSG);
		if (err)
			assert_string_equal(fault.field, "hash");
		else
			assert_int_equal(out.hash, hash);
	}
}

/* The test sets marks in the lowest or the highest byte of the word, with each hash function.
 * Without marks the format is 1. Known marks are read back. The mark keyed and hash 3 (SipHash)
 * require each other. An unknown mark comes from a newer weir. */
static void marks_are_known_or_newer(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4 * 256; i++) {
		uint32_t marks = i % 256 * (i / 256 % 2 ? 1u << 24 : 1), keyed = marks & 1;
		for (uint32_t hash = 1; hash <= 3; hash++) {
			unsigned char bytes[WEIR_IMAGE_HEAD];
			struct weir_image_head head = head_of(WEIR_BLOCKED), out;
			struct weir_image_fault fault;
			head.hash = hash;
			head.marks = marks;
			weir__image_put(bytes, &head);
			assert_int_equal(bytes[FORMAT], marks ? 2 : 1);
			int err = parse(bytes, &out, &fault);
			assert_int_equal(err, marks & ~15u ? -ENOTSUP :
			                      keyed == (hash == 3) ? 0 : -EBADMSG);
			if (!err)
				assert_int_equal(out.marks, marks);
		}
	}
}

/* The test changes each byte from the marks on. In format 1 these bytes are reserved. In format 2,
 * an unknown mark, an unknown step of normalisation, or a byte from LATER on that is not 0 comes
 * from a newer weir. A prefix length without the step that uses it is damage. Format 2 with neither
 * a mark nor a step is damage, too. */
static void unknown_words_come_from_a_newer_weir(void **state)
{
	(void)state;
	for (unsigned at = MARKS; at < WEIR_IMAGE_CHECKSUM; at++)
		for (uint32_t marks = 0; marks <= 2; marks += 2) {
			unsigned char bytes[WEIR_IMAGE_HEAD];
			struct weir_image_head head = head_of(WEIR_BLOCKED), out;
			struct weir_image_fault fault;
			head.marks = marks;
			weir__image_put(bytes, &head);
			bytes[at] |= 0x80;
			bool known = at >= STEPS + 4 && at < LATER;
			assert_int_equal(parse(bytes, &out, &fault),
			                 marks && !known ? -ENOTSUP : -EBADMSG);
			if (marks && at >= LATER)
				assert_int_equal(fault.found, at);
		}
	unsigned char bytes[WEIR_IMAGE_HEAD];
	struct weir_image_head head = head_of(WEIR_BLOCKED), out;
	struct weir_image_fault fault;
	weir__image_put(bytes, &head);
	bytes[FORMAT] = 2;
	assert_int_equal(parse(bytes, &out, &fault), -EBADMSG);
	bytes[FORMAT] = 3; /* the format of a compound, which needs members */
	assert_int_equal(parse(bytes, &out, &fault), -EBADMSG);
	assert_string_equal(fault.field, "members");
	bytes[FORMAT] = 4;
	assert_int_equal(parse(bytes, &out, &fault), -ENOTSUP);
}

/* With each combination of normalisation steps, each bit of the prefix lengths is either refused,
 * or is read and written again. */
static void lengths_need_their_steps(void **state)
{
	(void)state;
	for (uint32_t steps = 0; steps < 64; steps++)
		for (unsigned bit = 0; bit < 8 * (LATER - STEPS - 4); bit++) {
			unsigned char bytes[WEIR_IMAGE_HEAD], again[WEIR_IMAGE_HEAD];
			struct weir_image_head head = head_of(WEIR_BLOCKED), out;
			struct weir_image_fault fault;
			head.text.steps = steps;
			weir__image_put(bytes, &head);
			assert_int_equal(bytes[FORMAT], steps ? 2 : 1);
			int whole = parse(bytes, &out, &fault);
			assert_int_equal(whole, steps > 31          ? -ENOTSUP :
			                        (steps & 12) == 12 ? -EBADMSG : 0);
			bytes[STEPS + 4 + bit / 8] |= (unsigned char)(1 << bit % 8);
			int err = parse(bytes, &out, &fault);
			bool four = bit < 64, labels = bit >= 256, cidr = steps & 4;
			bool there = labels ? bit > 256 && steps & 8 :
			             four   ? cidr && bit <= 32 : cidr && bit <= 64 + 128;
			assert_int_equal(err, whole ? whole : there ? 0 : -EBADMSG);
			if (err)
				continue;
			assert_true((labels ? out.text.labels[(bit - 256) / 64] :
			             four   ? out.text.ipv4 :
			                      out.text.ipv6[(bit - 64) / 64]) ==
			            UINT64_C(1) << bit % 64);
			weir__image_put(again, &out);
			assert_memory_equal(again + STEPS, bytes + STEPS, LATER - STEPS);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_written_head_reads_back),
		cmocka_unit_test(unused_fields_of_a_shape_are_zero),
		cmocka_unit_test(the_first_kinds_have_small_fields),
		cmocka_unit_test(seed_0_is_refused),
		cmocka_unit_test(each_field_has_limits),
		cmocka_unit_test(only_known_hashes_are_accepted),
		cmocka_unit_test(marks_are_known_or_newer),
		cmocka_unit_test(unknown_words_come_from_a_newer_weir),
		cmocka_unit_test(lengths_need_their_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
