/* SPDX-License-Identifier: MIT
 * The parser of a Parquet footer, by itself: what it reads, and which errors it reports. The
 * parser allocates only as much memory as the footer's bytes justify. */
#include <errno.h>
#include "../parquet/thrift_bytes.h"
#include "../test.h"
#include <weir/parquet.h>
#include "parquet/footer.h"

enum { FILTERS_END = 1000 };

/* Bytes of the largest realloc() during a parse. */
static size_t largest;
static bool no_memory;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	if (size > largest)
		largest = size;
	return no_memory ? NULL : __real_realloc(old, size);
}

/* Parse a copy of exactly @n bytes, so that a sanitizer detects an overrun. */
static int parse(struct weir_footer *out, const struct bytes *b, size_t n)
{
	static unsigned char *copy; /* the footer's names point into the copy */
	free(copy);
	copy = malloc(n ? n : 1);
	assert_non_null(copy);
	memcpy(copy, b->at, n);
	largest = 0;
	int err = weir__footer_read(out, "f.parquet", copy, n, FILTERS_END);
	assert_true(largest <= 64 * (n + 16));
	return err;
}

static void refused(const struct bytes *b, const char *why)
{
	struct weir_footer footer;
	assert_refused(parse(&footer, b, b->n), -EBADMSG, "f.parquet: byte ", why);
}

/* Return: a footer with one column and one row group, whose filter is at @offset. */
static struct bytes *plain(int64_t offset, int64_t length)
{
	static struct bytes b;
	b.n = 0;
	put_schema(&b);
	put_row_groups(&b, 1);
	put_columns(&b, 1);
	put_chunk(&b, "a", offset, length);
	put_rows(&b, 100);
	put_stop(&b);
	return &b;
}

static void test_a_plain_footer_is_read(void **state)
{
	struct weir_footer footer;
	struct bytes *b = plain(500, 47);
	(void)state;
	assert_ok(parse(&footer, b, b->n));
	assert_int_equal(footer.n_columns, 1);
	assert_int_equal(footer.n_groups, 1);
	assert_int_equal(footer.rows[0], 100);
	assert_int_equal(footer.chunks[0].filter_at, 500);
	assert_int_equal(footer.chunks[0].filter_bytes, 47);
	assert_int_equal(footer.chunks[0].values, 100);
	assert_false(footer.chunks[0].encrypted || footer.chunks[0].elsewhere);
	weir__footer_free(&footer);
	put(b, 0xff); /* other bytes may follow, such as a signature */
	assert_ok(parse(&footer, b, b->n));
	weir__footer_free(&footer);
}

static void test_truncated_footers_are_refused(void **state)
{
	struct weir_footer footer;
	struct bytes *b = plain(500, 47);
	(void)state;
	for (size_t n = 0; n < b->n; n++)
		assert_refused(parse(&footer, b, n), -EBADMSG, "f.parquet: byte ", ":");
}

static void test_every_changed_byte_is_survived(void **state)
{
	struct weir_footer footer;
	struct bytes *b = plain(500, 47);
	unsigned whole = 0;
	(void)state;
	for (size_t i = 0; i < b->n; i++)
		for (unsigned x = 1; x < 256; x++) {
			b->at[i] ^= (unsigned char)x;
			int err = parse(&footer, b, b->n);
			b->at[i] ^= (unsigned char)x;
			assert_true(err == 0 || err == -EBADMSG);
			whole += err == 0;
			if (err)
				continue;
			for (uint64_t c = 0; c < (uint64_t)footer.n_groups * footer.n_columns; c++)
				assert_true(footer.chunks[c].filter_at < FILTERS_END);
			weir__footer_free(&footer);
		}
	assert_in_range(whole, 100, 6000); /* some flips give other valid names or numbers */
}

static void test_filters_outside_the_file_are_refused(void **state)
{
	static const struct { int64_t at, length; const char *why; } wrong[] = {
		{ -1, 0, "a filter's offset is negative" },
		{ INT64_MIN, 0, "a filter's offset is negative" },
		{ 3, 0, "outside of the file's data" },
		{ FILTERS_END, 0, "outside of the file's data" },
		{ INT64_MAX, 47, "outside of the file's data" },
		{ FILTERS_END - 46, 47, "outside of the file's data" },
		{ 500, INT32_MAX, "outside of the file's data" },
		{ 500, -1, "a filter's length is negative" },
		{ 500, INT64_C(1) << 31, "longer than 32 bits" },
	};
	struct weir_footer footer;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(wrong); i++)
		refused(plain(wrong[i].at, wrong[i].length), wrong[i].why);
	assert_ok(parse(&footer, plain(FILTERS_END - 47, 47), plain(FILTERS_END - 47, 47)->n));
	weir__footer_free(&footer);
	assert_ok(parse(&footer, plain(4, 0), plain(4, 0)->n));
	weir__footer_free(&footer);
}

/* Return: a footer with @n row groups, each with a filter at an offset and length from @places. */
static struct bytes *filters(const int64_t (*places)[2], unsigned n)
{
	static struct bytes b;
	b.n = 0;
	put_schema(&b);
	put_row_groups(&b, n);
	for (unsigned i = 0; i < n; i++) {
		put_columns(&b, 1);
		put_chunk(&b, "a", places[i][0], places[i][1]);
		put_rows(&b, 100);
	}
	put_stop(&b);
	return &b;
}

/* With overlaps, a sparse file of 50 kB could declare terabytes of filters. */
static void test_overlapping_filters_are_refused(void **state)
{
	static const int64_t wrong[][3][2] = {
		{ { 500, 47 }, { 100, 47 }, { 500, 47 } },
		{ { 500, 0 }, { 100, 0 }, { 500, 0 } },
		{ { 500, 47 }, { 454, 47 }, { 100, 47 } },
		{ { 500, 0 }, { 100, 500 }, { 900, 0 } },
	};
	static const int64_t right[3][2] = { { 453, 47 }, { 500, 0 }, { 100, 0 } };
	struct weir_footer footer;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(wrong); i++)
		refused(filters(wrong[i], 3), "two filters lie in the same bytes of the file");
	struct bytes *b = filters(right, 3);
	assert_ok(parse(&footer, b, b->n));
	assert_int_equal(footer.chunks[0].filter_room, 47);
	assert_int_equal(footer.chunks[1].filter_room, FILTERS_END - 500);
	assert_int_equal(footer.chunks[2].filter_room, 353);
	weir__footer_free(&footer);
}

/* ---- counts, depths and unknown values ---- */

static void test_huge_counts_are_refused(void **state)
{
	static const uint64_t counts[] = { 1000, INT32_MAX, UINT64_C(1) << 31, UINT32_MAX,
		                           UINT64_MAX };
	static struct bytes b;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(counts); i++) {
		b.n = 0;
		put_list(&b, 2, T_STRUCT, counts[i]);
		refused(&b, "more elements than there are bytes");
		b.n = 0;
		put_schema(&b);
		put_row_groups(&b, counts[i]);
		put_columns(&b, 1);
		put_chunk(&b, "a", 0, 0);
		put_rows(&b, 1);
		refused(&b, "more elements than there are bytes");
		b.n = 0;
		put_schema(&b);
		put_row_groups(&b, 1);
		put_columns(&b, counts[i]);
		put_chunk(&b, "a", 0, 0);
		refused(&b, "more elements than there are bytes");
		b.n = 0;
		put_field(&b, 99, T_MAP);
		put_varint(&b, counts[i]);
		put(&b, T_I8 << 4 | T_I8);
		put(&b, 0);
		refused(&b, "more elements than there are bytes");
		b.n = 0;
		put_field(&b, 99, T_BINARY);
		put_varint(&b, counts[i]);
		refused(&b, "end within a value");
	}
}

static void test_different_counts_are_refused(void **state)
{
	static struct bytes b;
	(void)state;
	b.n = 0;
	put_schema(&b);
	put_row_groups(&b, 1);
	put_columns(&b, 2);
	put_chunk(&b, "a", 0, 0);
	put_chunk(&b, "a", 0, 0);
	put_rows(&b, 1);
	put_stop(&b);
	refused(&b, "another number of columns");
	for (int children = 0; children <= 2; children += 2) {
		b.n = 0;
		put_list(&b, 2, T_STRUCT, 2);
		put_group(&b, "root", children);
		put_leaf(&b, "a");
		refused(&b, children ? "ends within a group" : "is not a tree");
	}
	b.n = 0;
	put_list(&b, 2, T_STRUCT, 0);
	refused(&b, "the schema ends within a group");
	b.n = 0;
	put_list(&b, 2, T_STRUCT, 1);
	put_leaf(&b, "a");
	refused(&b, "is not a tree");
	b.n = 0;
	put_list(&b, 2, T_STRUCT, 1);
	put_group(&b, "root", -1);
	refused(&b, "a size is negative");
	b.n = 0;
	put_list(&b, 2, T_STRUCT, 2);
	put_group(&b, "root", INT32_MAX);
	put_leaf(&b, "a");
	refused(&b, "ends within a group");
}

/* Write a schema with a single column that is @levels levels deep, its own level included. */
static void nest(struct bytes *b, unsigned levels)
{
	b->n = 0;
	put_list(b, 2, T_STRUCT, levels + 1);
	put_group(b, "root", 1);
	for (unsigned i = 1; i < levels; i++)
		put_group(b, "g", 1);
	put_leaf(b, "a");
	put_row_groups(b, 0);
	put_stop(b);
}

static void test_deep_schemas_are_refused(void **state)
{
	static struct bytes b;
	struct weir_footer footer;
	const struct weir_element *path[WEIR_PARQUET_DEPTH];
	(void)state;
	nest(&b, WEIR_PARQUET_DEPTH);
	assert_ok(parse(&footer, &b, b.n));
	assert_int_equal(weir__schema_path(&footer, 0, path), WEIR_PARQUET_DEPTH);
	weir__footer_free(&footer);
	nest(&b, WEIR_PARQUET_DEPTH + 1);
	refused(&b, "nested deeper than 64 levels");
	nest(&b, 5000);
	refused(&b, "nested deeper than 64 levels");
}

static void test_unknown_values_are_skipped(void **state)
{
	static struct bytes b;
	struct weir_footer footer;
	(void)state;
	for (unsigned depth = WEIR_THRIFT_DEPTH; depth <= 60000; depth += 59936 / 2) {
		b.n = 0;
		put_field(&b, 99, T_LIST);
		for (unsigned i = 1; i < depth; i++)
			put(&b, 0x10 | T_LIST);
		put(&b, T_LIST);
		put_stop(&b);
		refused(&b, depth == WEIR_THRIFT_DEPTH ? "there is no schema" :
		                                         "nested deeper than 64 levels");
		b.n = 0;
		for (unsigned i = 0; i < depth / 3; i++)
			put_field(&b, 99, T_STRUCT);
		refused(&b, depth == WEIR_THRIFT_DEPTH ? "end within a value" :
		                                         "nested deeper than 64 levels");
	}
	/* an unknown field of each type precedes the known fields */
	struct bytes *rest = plain(500, 47);
	b.n = 0;
	put_field(&b, 40, T_TRUE);
	put_field(&b, 41, T_FALSE);
	put_field(&b, 42, T_I8), put(&b, 1);
	put_field(&b, 43, T_I16), put_int(&b, -300);
	put_i64(&b, 44, INT64_MIN);
	put_field(&b, 45, T_DOUBLE);
	for (unsigned i = 0; i < 8; i++)
		put(&b, 0xee);
	put_text(&b, 46, "text");
	put_list(&b, 47, T_TRUE, 2), put(&b, 1), put(&b, 2);
	put_field(&b, 48, T_SET), put(&b, 0x10 | T_I32), put_int(&b, 7);
	put_field(&b, 49, T_MAP), put_varint(&b, 0);
	put_field(&b, 50, T_MAP), put_varint(&b, 2), put(&b, T_BINARY << 4 | T_STRUCT);
	for (unsigned i = 0; i < 2; i++)
		put_string(&b, "key"), put_i32(&b, 1, 5), put_stop(&b);
	put_field(&b, 51, T_UUID);
	for (unsigned i = 0; i < 16; i++)
		put(&b, 0xee);
	memcpy(b.at + b.n, rest->at, rest->n);
	b.n += rest->n;
	assert_ok(parse(&footer, &b, b.n));
	assert_int_equal(footer.chunks[0].filter_at, 500);
	weir__footer_free(&footer);
	for (unsigned type = T_UUID + 1; type < 16; type++) {
		b.n = 0;
		put_field(&b, 99, type);
		refused(&b, "a type that there is not");
	}
}

/* ---- fields, columns and chunks ---- */

static void test_wrong_fields_are_refused(void **state)
{
	static struct bytes b;
	(void)state;
	b.n = 0;
	put_stop(&b);
	refused(&b, "there is no schema");
	b.n = 0;
	put_schema(&b);
	put_stop(&b);
	refused(&b, "there are no row groups");
	b.n = 0;
	put_row_groups(&b, 0);
	refused(&b, "before the schema");
	b.n = 0;
	put_schema(&b);
	put_schema(&b);
	refused(&b, "a field comes twice");
	b.n = 0;
	put_i32(&b, 2, 5);
	refused(&b, "another type than the format");
	b.n = 0;
	put_list(&b, 2, T_I32, 1), put_int(&b, 1);
	refused(&b, "a list is of another type");
	b.n = 0;
	put(&b, T_I32), put_int(&b, 70000);
	refused(&b, "longer than 16 bits");
	b.n = 0;
	put(&b, T_I64), put_int(&b, 30);
	for (unsigned i = 0; i < 10; i++)
		put(&b, 0xff);
	refused(&b, "longer than 64 bits");
	b.n -= 1;
	put(&b, 2); /* bit 64 */
	refused(&b, "longer than 64 bits");
	for (int sign = -1; sign <= 1; sign += 2) {
		b.n = 0;
		put_list(&b, 2, T_STRUCT, 1);
		put_i32(&b, 5, sign * (INT64_C(1) << 32));
		refused(&b, "longer than 32 bits");
	}
}

static void column(struct bytes *b, void (*fields)(struct bytes *b))
{
	b->n = 0;
	put_list(b, 2, T_STRUCT, 2);
	put_group(b, "root", 1);
	fields(b);
	put_stop(b);
	put_row_groups(b, 0);
	put_stop(b);
}

static void no_name(struct bytes *b) { put_i32(b, 1, 1); }
static void no_type(struct bytes *b) { put_text(b, 4, "a"); }
static void no_length(struct bytes *b) { put_i32(b, 1, 7), put_text(b, 4, "a"); }
static void type_8(struct bytes *b) { put_i32(b, 1, 8), put_text(b, 4, "a"); }
static void type_less(struct bytes *b) { put_i32(b, 1, -1), put_text(b, 4, "a"); }
static void both(struct bytes *b) { put_i32(b, 1, 1), put_text(b, 4, "a"), put_i32(b, 5, 1); }
static void length_less(struct bytes *b) { put_i32(b, 1, 7), put_i32(b, 2, -2); }

static void with_nul(struct bytes *b)
{
	put_i32(b, 1, 1);
	put_field(b, 4, T_BINARY);
	put_varint(b, 2), put(b, 'a'), put(b, 0);
}

static void test_wrong_columns_are_refused(void **state)
{
	static const struct { void (*fields)(struct bytes *b); const char *why; } wrong[] = {
		{ no_name, "has no name" },     { no_type, "has no type" },
		{ no_length, "fixed length" },  { type_8, "a type that there is not" },
		{ type_less, "a type that there is not" }, { both, "columns within it" },
		{ length_less, "a size is negative" },     { with_nul, "a NUL byte" },
	};
	static struct bytes b;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
		column(&b, wrong[i].fields);
		refused(&b, wrong[i].why);
	}
}

/* The newer logical type precedes the older converted type. The column also has a length, which is
 * invalid for the column's physical type. */
static void newer_first(struct bytes *b)
{
	put_field(b, 10, T_STRUCT);
	put_field(b, 5, T_STRUCT); /* DECIMAL */
	put_i32(b, 1, 3), put_i32(b, 2, 9);
	put_stop(b);
	put_stop(b);
	put_i32(b, 1, 1), put_i32(b, 2, 16), put_text(b, 4, "a");
	put_i32(b, 6, 6); /* DATE */
	put_i32(b, 7, 5);
}

static void test_the_newer_type_takes_precedence(void **state)
{
	static struct bytes b;
	struct weir_footer footer;
	(void)state;
	column(&b, newer_first);
	assert_ok(parse(&footer, &b, b.n));
	const struct weir_element *e = weir__footer_column(&footer, 0);
	assert_true(e->logical == WEIR_PARQUET_DECIMAL && e->scale == 3 && e->length == 0);
	weir__footer_free(&footer);
}

/* The logical type that of_logical() writes. integer_sign is T_TRUE for a signed integer. */
static unsigned logical, integer_sign;

static void of_logical(struct bytes *b)
{
	put_i32(b, 1, 1), put_text(b, 4, "a");
	put_field(b, 10, T_STRUCT);
	put_field(b, (int)logical, T_STRUCT);
	if (logical == 10) {
		put_field(b, 1, T_I8), put(b, 32);
		put_field(b, 2, integer_sign);
		put_field(b, 99, T_FALSE); /* a later version of the format may add this field */
	}
	if (logical == 5)
		put_i32(b, 2, 9);
	put_stop(b);
	put_stop(b);
}

static void test_logical_types_are_read(void **state)
{
	static const struct { unsigned number, sign; uint32_t is; } types[] = {
		{ 1, 0, WEIR_PARQUET_STRING },    { 4, 0, WEIR_PARQUET_STRING },
		{ 5, 0, WEIR_PARQUET_DECIMAL },   { 6, 0, WEIR_PARQUET_DATE },
		{ 7, 0, WEIR_PARQUET_TIME },      { 8, 0, WEIR_PARQUET_TIMESTAMP },
		{ 10, T_TRUE, WEIR_PARQUET_NONE }, { 10, T_FALSE, WEIR_PARQUET_UNSIGNED },
		{ 12, 0, WEIR_PARQUET_STRING },   { 14, 0, WEIR_PARQUET_UUID },
		{ 13, 0, WEIR_PARQUET_OTHER },
	};
	static struct bytes b;
	struct weir_footer footer;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(types); i++) {
		logical = types[i].number, integer_sign = types[i].sign;
		column(&b, of_logical);
		assert_ok(parse(&footer, &b, b.n));
		assert_int_equal(weir__footer_column(&footer, 0)->logical, types[i].is);
		weir__footer_free(&footer);
	}
}

static void test_wrong_chunks_are_refused(void **state)
{
	static struct bytes b;
	(void)state;
	b.n = 0;
	put_schema(&b);
	put_row_groups(&b, 1);
	put_columns(&b, 1);
	put_chunk(&b, "b", 0, 0);
	refused(&b, "not those of the schema");
	b.n = 0; /* an empty name in an empty group, then a name that is longer than the footer */
	put_list(&b, 2, T_STRUCT, 3);
	put_group(&b, "root", 1);
	put_group(&b, "", 1);
	put_leaf(&b, "");
	put_row_groups(&b, 1);
	put_columns(&b, 1);
	put_field(&b, 3, T_STRUCT);
	put_i32(&b, 1, 1);
	put_list(&b, 3, T_BINARY, 2);
	put_varint(&b, 0);
	put_varint(&b, 1000);
	refused(&b, "end within a value");
	b.n -= 3;
	put_varint(&b, 1000);
	refused(&b, "end within a value");
	b.n = 0;
	put_schema(&b);
	put_row_groups(&b, 1);
	put_columns(&b, 1);
	put_stop(&b);
	put_rows(&b, 1);
	refused(&b, "no metadata");
	b.n = 0;
	put_schema(&b);
	put_row_groups(&b, 1);
	put_columns(&b, 1);
	put_field(&b, 3, T_STRUCT);
	put_i32(&b, 1, 2);
	refused(&b, "another type than its column");
	b.n = 0;
	put_schema(&b);
	put_row_groups(&b, 1);
	put_rows(&b, 1);
	refused(&b, "a row group has no columns");
	b.n = 0;
	put_schema(&b);
	put_row_groups(&b, 1);
	put_columns(&b, 1);
	put_chunk(&b, "a", 0, 0);
	put_rows(&b, -1);
	refused(&b, "a number of rows is negative");
}

/* The chunk is encrypted, or is in another file. */
static void test_places_of_unreadable_filters_are_ignored(void **state)
{
	static struct bytes b;
	struct weir_footer footer;
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		b.n = 0;
		put_schema(&b);
		put_row_groups(&b, 1);
		put_columns(&b, 1);
		if (i == 0)
			put_text(&b, 1, "other.parquet");
		else if (i == 1)
			put_text(&b, 9, "secret");
		else
			put_field(&b, 8, T_STRUCT), put_stop(&b);
		if (i == 1)
			put_stop(&b);
		else
			put_chunk(&b, "a", FILTERS_END + 7, 9);
		put_rows(&b, 1);
		put_stop(&b);
		assert_ok(parse(&footer, &b, b.n));
		assert_int_equal(footer.chunks[0].elsewhere, i == 0);
		assert_int_equal(footer.chunks[0].encrypted, i != 0);
		weir__footer_free(&footer);
	}
}

static void test_without_memory_a_parse_fails(void **state)
{
	struct weir_footer footer;
	struct bytes *b = plain(500, 47);
	(void)state;
	no_memory = true;
	int err = parse(&footer, b, b->n);
	no_memory = false;
	assert_refused(err, -ENOMEM, "f.parquet", "no memory for its footer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_plain_footer_is_read),
		cmocka_unit_test(test_truncated_footers_are_refused),
		cmocka_unit_test(test_every_changed_byte_is_survived),
		cmocka_unit_test(test_filters_outside_the_file_are_refused),
		cmocka_unit_test(test_overlapping_filters_are_refused),
		cmocka_unit_test(test_huge_counts_are_refused),
		cmocka_unit_test(test_different_counts_are_refused),
		cmocka_unit_test(test_deep_schemas_are_refused),
		cmocka_unit_test(test_unknown_values_are_skipped),
		cmocka_unit_test(test_wrong_fields_are_refused),
		cmocka_unit_test(test_wrong_columns_are_refused),
		cmocka_unit_test(test_the_newer_type_takes_precedence),
		cmocka_unit_test(test_logical_types_are_read),
		cmocka_unit_test(test_wrong_chunks_are_refused),
		cmocka_unit_test(test_places_of_unreadable_filters_are_ignored),
		cmocka_unit_test(test_without_memory_a_parse_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
