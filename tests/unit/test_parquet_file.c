/* SPDX-License-Identifier: MIT
 * Files that DuckDB wrote (parquet/make.mjs). Every value is found in the filter of its row
 * group. Damaged files are refused with an error message. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "../folder.h"
#include "../parquet/thrift_bytes.h"
#include <weir/parquet.h>

enum { GROUPS = 3, EACH = 32, VALUES = GROUPS * EACH, ABSENT = 20000, FILE_ROOM = 1 << 14 };

static struct weir_parquet *open_named(const char *name)
{
	struct weir_parquet *p = NULL;
	char at[4096];
	snprintf(at, sizeof at, "%s/%s.parquet", PARQUET_FILES, name);
	assert_ok(weir_parquet_open(&p, at, NULL));
	return p;
}

/* ---- values ---- */

/* Put value number @n of a column into @room, as make.mjs wrote it.
 * Return: the length of the value. */
typedef size_t value_fn(char room[64], int64_t n);

#define PUT(type, value) \
	do { \
		type v = (type)(value); \
		memcpy(room, &v, sizeof v); \
		return sizeof v; \
	} while (0)
static size_t i32(char room[64], int64_t n) { PUT(int32_t, n * 1009 - 20000); }
static size_t i64(char room[64], int64_t n) { PUT(int64_t, n * 1000000007); }
static size_t f32(char room[64], int64_t n) { PUT(float, (double)n / 10.0); }
static size_t f64(char room[64], int64_t n) { PUT(double, (double)(3 * n) / 10.0); }
static size_t u32(char room[64], int64_t n) { PUT(uint32_t, n * 44739242); }
static size_t day(char room[64], int64_t n) { PUT(int32_t, 11015 + n); }
static size_t price(char room[64], int64_t n) { PUT(int32_t, n * 125); }
static size_t total(char room[64], int64_t n) { PUT(int64_t, n * 1234567875); }
static size_t at(char room[64], int64_t n) { PUT(int64_t, 1704067200000000 + n * 1000000); }
static size_t a(char room[64], int64_t n) { PUT(int32_t, n); }

#define TEXT(format) return (size_t)snprintf(room, 64, format, (long long)n)
static size_t s(char room[64], int64_t n) { TEXT("name %lld"); }
static size_t b(char room[64], int64_t n) { TEXT("raw %lld"); }
static size_t deep(char room[64], int64_t n) { TEXT("deep %lld"); }
static size_t item(char room[64], int64_t n) { TEXT("item %lld"); }

static size_t id(char room[64], int64_t n)
{
	char digits[16];
	snprintf(digits, sizeof digits, "%012lld", (long long)n);
	memset(room, 0, 16);
	room[6] = 0x40;
	room[8] = (char)0x80;
	for (unsigned i = 0; i < 12; i += 2)
		room[10 + i / 2] = (char)((digits[i] - '0') << 4 | (digits[i + 1] - '0'));
	return 16;
}

static const struct {
	const char *file, *path;
	struct weir_parquet_column is; /* the wanted values of all fields except struct_size */
	value_fn *value;
} columns[] = {
	{ "numbers", "i32", { 0, WEIR_PARQUET_INT32, 0, WEIR_PARQUET_NONE, 0 }, i32 },
	{ "numbers", "i64", { 0, WEIR_PARQUET_INT64, 0, WEIR_PARQUET_NONE, 0 }, i64 },
	{ "numbers", "f", { 0, WEIR_PARQUET_FLOAT, 0, WEIR_PARQUET_NONE, 0 }, f32 },
	{ "numbers", "d", { 0, WEIR_PARQUET_DOUBLE, 0, WEIR_PARQUET_NONE, 0 }, f64 },
	{ "numbers", "u32", { 0, WEIR_PARQUET_INT32, 0, WEIR_PARQUET_UNSIGNED, 0 }, u32 },
	{ "texts", "s", { 0, WEIR_PARQUET_BYTES, 0, WEIR_PARQUET_STRING, 0 }, s },
	{ "texts", "b", { 0, WEIR_PARQUET_BYTES, 0, WEIR_PARQUET_NONE, 0 }, b },
	{ "texts", "id", { 0, WEIR_PARQUET_FIXED, 16, WEIR_PARQUET_UUID, 0 }, id },
	{ "nested", "top.a", { 0, WEIR_PARQUET_INT32, 0, WEIR_PARQUET_NONE, 0 }, a },
	{ "nested", "top.b.c", { 0, WEIR_PARQUET_BYTES, 0, WEIR_PARQUET_STRING, 0 }, deep },
	{ "nested", "list.list.element", { 0, WEIR_PARQUET_BYTES, 0, WEIR_PARQUET_STRING, 0 },
	  item },
	{ "dated", "day", { 0, WEIR_PARQUET_INT32, 0, WEIR_PARQUET_DATE, 0 }, day },
	{ "dated", "price", { 0, WEIR_PARQUET_INT32, 0, WEIR_PARQUET_DECIMAL, 2 }, price },
	{ "dated", "total", { 0, WEIR_PARQUET_INT64, 0, WEIR_PARQUET_DECIMAL, 2 }, total },
	{ "dated", "at", { 0, WEIR_PARQUET_INT64, 0, WEIR_PARQUET_TIMESTAMP, 0 }, at },
};

/* Return: the number of values that the filter reports as present, among the @n values from number
 * @from on. */
static unsigned found(const struct weir_filter *f, unsigned c, int64_t from, unsigned n)
{
	unsigned yes = 0;
	for (unsigned i = 0; i < n; i++) {
		char room[64];
		uint64_t hash;
		size_t bytes = columns[c].value(room, from + i);
		assert_ok(weir_parquet_hash(&hash, columns[c].is.type, room, bytes));
		yes += weir_contains_hash(f, hash);
	}
	return yes;
}

static void test_every_value_is_found(void **state)
{
	(void)state;
	for (unsigned c = 0; c < COUNT_OF(columns); c++) {
		struct weir_parquet *p = open_named(columns[c].file);
		uint32_t column;
		unsigned wrong = 0;
		assert_ok(weir_parquet_find(p, columns[c].path, &column));
		assert_int_equal(weir_parquet_row_groups(p), GROUPS);
		for (unsigned g = 0; g < GROUPS; g++) {
			struct weir_filter *f;
			assert_ok(weir_parquet_read(&f, p, g, column));
			assert_int_equal(found(f, c, g * EACH, EACH), EACH);
			wrong += found(f, c, 1000, ABSENT);
			weir_destroy(f);
		}
		/* a filter of 64 bytes with 32 values has a false-positive rate of about 0.1 % */
		assert_in_range(wrong, 1, GROUPS * ABSENT / 100);
		weir_parquet_close(p);
	}
}

static void test_columns_are_listed(void **state)
{
	(void)state;
	for (unsigned c = 0; c < COUNT_OF(columns); c++) {
		struct weir_parquet *p = open_named(columns[c].file);
		struct weir_parquet_column is = WEIR_PARQUET_COLUMN_INIT;
		char path_of[64];
		uint32_t column;
		assert_ok(weir_parquet_find(p, columns[c].path, &column));
		assert_ok(weir_parquet_inspect_column(p, column, &is));
		assert_int_equal(is.type, columns[c].is.type);
		assert_int_equal(is.type_length, columns[c].is.type_length);
		assert_int_equal(is.logical, columns[c].is.logical);
		assert_int_equal(is.scale, columns[c].is.scale);
		size_t n = weir_parquet_path(p, column, path_of, sizeof path_of);
		assert_int_equal(n, strlen(columns[c].path));
		assert_string_equal(path_of, columns[c].path);
		for (size_t room = 1; room <= n; room++) {
			memset(path_of, 'x', sizeof path_of);
			assert_int_equal(weir_parquet_path(p, column, path_of, room), n);
			assert_int_equal(strlen(path_of), room - 1);
			assert_memory_equal(path_of, columns[c].path, room - 1);
		}
		assert_int_equal(weir_parquet_path(p, column, NULL, 0), n);
		assert_int_equal(weir_parquet_path(p, 99, path_of, sizeof path_of), 0);
		assert_string_equal(path_of, "");
		weir_parquet_close(p);
	}
}

static void test_chunks_are_described(void **state)
{
	struct weir_parquet *p = open_named("numbers");
	struct weir_parquet_chunk chunk = WEIR_PARQUET_CHUNK_INIT;
	(void)state;
	assert_ok(weir_parquet_inspect_chunk(p, 0, 0, &chunk));
	assert_int_equal(chunk.rows, 2048);
	assert_int_equal(chunk.values, 2048);
	assert_true(chunk.filter_offset > 4);
	assert_int_equal(chunk.filter_length, 80);
	assert_int_equal(chunk.encrypted + chunk.elsewhere, 0);
	/* a caller that was compiled with an older header, whose struct has no field values */
	chunk.struct_size = offsetof(struct weir_parquet_chunk, values);
	chunk.values = 7;
	assert_ok(weir_parquet_inspect_chunk(p, 2, 4, &chunk));
	assert_int_equal(chunk.values, 7);
	weir_parquet_close(p);
}

/* ---- errors, and unusual columns ---- */

static void test_wrong_row_groups_and_columns_are_refused(void **state)
{
	struct weir_parquet *p = open_named("dated");
	struct weir_parquet_chunk chunk = WEIR_PARQUET_CHUNK_INIT;
	struct weir_parquet_column is = WEIR_PARQUET_COLUMN_INIT;
	struct weir_filter *f = NULL;
	uint32_t column = 77;
	(void)state;
	assert_int_equal(weir_parquet_columns(p), 5);
	assert_refused(weir_parquet_read(&f, p, 3, 0), -EINVAL, "row group 3", "it has 3");
	assert_refused(weir_parquet_read(&f, p, 0, 5), -EINVAL, "column 5", "it has 5");
	assert_refused(weir_parquet_inspect_chunk(p, UINT32_MAX, 0, &chunk), -EINVAL, "4294967295",
	               "");
	assert_refused(weir_parquet_inspect_column(p, 5, &is), -EINVAL, "column 5",
	               "dated.parquet");
	assert_refused(weir_parquet_read(&f, p, 1, 4), -ENOENT, "column 4 of row group 1",
	               "no filter"); /* a column of booleans */
	assert_null(f);
	assert_refused(weir_parquet_find(p, "da", &column), -ENOENT, "no column da", "");
	assert_refused(weir_parquet_find(p, "dayx", &column), -ENOENT, "dayx", "");
	assert_refused(weir_parquet_find(p, "", &column), -ENOENT, "no column", "");
	assert_int_equal(column, 77);
	is.struct_size = 1;
	assert_refused(weir_parquet_inspect_column(p, 0, &is), -EINVAL, "weir_parquet_column",
	               " 1:");
	chunk.struct_size = sizeof chunk + 1;
	assert_refused(weir_parquet_inspect_chunk(p, 0, 0, &chunk), -EINVAL, "weir_parquet_chunk",
	               "");
	weir_parquet_close(p);
	p = open_named("nested");
	assert_refused(weir_parquet_find(p, "top.b", &column), -ENOENT, "top.b", "");
	assert_refused(weir_parquet_find(p, "top", &column), -ENOENT, "top", "");
	assert_refused(weir_parquet_find(p, "top/a", &column), -ENOENT, "top/a", "");
	weir_parquet_close(p);
	weir_parquet_close(NULL);
}

static void test_wrong_values_cannot_be_hashed(void **state)
{
	uint64_t hash = 5;
	(void)state;
	assert_refused(weir_parquet_hash(&hash, WEIR_PARQUET_BOOLEAN, "", 1), -ENOTSUP, "BOOLEAN",
	               "not defined");
	assert_refused(weir_parquet_hash(&hash, WEIR_PARQUET_INT96, "", 12), -ENOTSUP, "INT96",
	               "");
	assert_refused(weir_parquet_hash(&hash, 8, "", 4), -EINVAL, "type 8", "0 to 7");
	assert_refused(weir_parquet_hash(&hash, WEIR_PARQUET_INT32, "12345678", 8), -EINVAL,
	               "bytes 8", "INT32 has 4");
	assert_refused(weir_parquet_hash(&hash, WEIR_PARQUET_DOUBLE, "1234", 4), -EINVAL, "bytes 4",
	               "DOUBLE has 8");
	assert_int_equal(hash, 5);
	assert_ok(weir_parquet_hash(&hash, WEIR_PARQUET_BYTES, NULL, 0));
	assert_true(hash == UINT64_C(0xef46db3751d8e999)); /* XXH64 of an empty value */
	assert_string_equal(weir_parquet_type_name(WEIR_PARQUET_FIXED), "FIXED_LEN_BYTE_ARRAY");
	assert_null(weir_parquet_type_name(8));
	assert_null(weir_parquet_logical_name(WEIR_PARQUET_NONE));
	assert_string_equal(weir_parquet_logical_name(WEIR_PARQUET_OTHER), "OTHER");
	assert_null(weir_parquet_logical_name(WEIR_PARQUET_OTHER + 1));
}

static void spit(const void *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static size_t slurp(const char *name, unsigned char bytes[FILE_ROOM])
{
	char from[4096];
	snprintf(from, sizeof from, "%s/%s.parquet", PARQUET_FILES, name);
	FILE *file = fopen(from, "rb");
	assert_non_null(file);
	size_t n = fread(bytes, 1, FILE_ROOM, file);
	fclose(file);
	assert_in_range(n, 1000, FILE_ROOM - 1);
	return n;
}

static void test_other_files_are_refused(void **state)
{
	struct weir_parquet_file_options o = WEIR_PARQUET_FILE_OPTIONS_INIT;
	struct weir_parquet *p = NULL;
	(void)state;
	assert_refused(weir_parquet_open(&p, NULL, NULL), -EINVAL, "path is NULL", "");
	assert_refused(weir_parquet_open(&p, "/no/such", NULL), -ENOENT, "/no/such", "open");
	assert_refused(weir_parquet_open(&p, folder, NULL), -EISDIR, folder, "directory");
	assert_refused(weir_parquet_open(&p, "/dev/null", NULL), -EINVAL, "/dev/null", "regular");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(weir_parquet_open(&p, path, NULL), -EINVAL, path, "not a regular file");
	unlink(path);
	static const struct { const char *bytes; size_t n; int err; const char *why; } wrong[] = {
		{ "", 0, -EBADMSG, "not a Parquet file" },
		{ "PAR1", 4, -EBADMSG, "not a Parquet file" },
		{ "PAR1\0\0\0PAR1", 11, -EBADMSG, "not a Parquet file" },
		{ "PAR1\0\0\0\0PAR1", 12, -EBADMSG, "end within a value" },
		{ "PAR1\1\0\0\0PAR1", 12, -EBADMSG, "footer of 1 bytes is longer" },
		{ "PAR1\0\0\0\0\0PAR2", 13, -EBADMSG, "not a Parquet file" },
		{ "PAR2\0\1\0\0\0PAR1", 13, -EBADMSG, "not a Parquet file" },
		{ "PAR1\0\377\377\377\377PAR1", 13, -EBADMSG, "footer of 4294967295 bytes" },
		{ "PARE\0\1\0\0\0PARE", 13, -ENOTSUP, "encrypted" },
		{ "PAR1\0\1\0\0\0PAR1", 13, -EBADMSG, "no schema" },
	};
	for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
		spit(wrong[i].bytes, wrong[i].n);
		assert_refused(weir_parquet_open(&p, path, NULL), wrong[i].err, path, wrong[i].why);
	}
	o.struct_size = 3;
	assert_refused(weir_parquet_open(&p, path, &o), -EINVAL, "weir_parquet_file_options", "3");
	assert_null(p);
}

static void test_limits_are_checked(void **state)
{
	struct weir_parquet_file_options o = WEIR_PARQUET_FILE_OPTIONS_INIT;
	static unsigned char bytes[FILE_ROOM];
	struct weir_parquet *p = NULL;
	struct weir_filter *f = NULL;
	const size_t n = slurp("numbers", bytes);
	const uint64_t footer = bytes[n - 8] | (uint64_t)bytes[n - 7] << 8;
	(void)state;
	spit(bytes, n);
	o.max_footer_bytes = footer - 1;
	o.max_filter_bytes = 63;
	assert_refused(weir_parquet_open(&p, path, &o), -EFBIG, "footer", "max_footer_bytes");
	o.max_footer_bytes = footer;
	assert_ok(weir_parquet_open(&p, path, &o));
	assert_refused(weir_parquet_read(&f, p, 0, 0), -EFBIG, "64 bytes", "max_filter_bytes");
	weir_parquet_close(p);
	o.max_filter_bytes = 64;
	assert_ok(weir_parquet_open(&p, path, &o));
	assert_ok(weir_parquet_read(&f, p, 0, 0));
	weir_destroy(f);
	assert_int_equal(truncate(path, 100), 0); /* the file is still open */
	f = NULL;
	assert_refused(weir_parquet_read(&f, p, 0, 0), -EBADMSG, path, "it was longer");
	assert_null(f);
	weir_parquet_close(p);
}

static void put_column(struct bytes *b, const char *name, int type, int children)
{
	if (type)
		put_i32(b, 1, type);
	put_text(b, 4, name);
	if (children)
		put_i32(b, 5, children);
	put_stop(b);
}

/* Two columns have the path a.b. One column has a dot in its name, the other column is in a
 * group. */
static void test_an_ambiguous_path_is_refused(void **state)
{
	static struct bytes b;
	struct weir_parquet *p = NULL;
	uint32_t column = 77;
	(void)state;
	memcpy(b.at, "PAR1", b.n = 4);
	put_list(&b, 2, T_STRUCT, 4);
	put_column(&b, "root", 0, 2);
	put_column(&b, "a.b", WEIR_PARQUET_INT32, 0);
	put_column(&b, "a", 0, 1);
	put_column(&b, "b", WEIR_PARQUET_INT32, 0);
	put_list(&b, 4, T_STRUCT, 0);
	put_stop(&b);
	put(&b, (unsigned)b.n - 4), put(&b, 0), put(&b, 0), put(&b, 0);
	memcpy(b.at + b.n, "PAR1", 4);
	spit(b.at, b.n + 4);
	assert_ok(weir_parquet_open(&p, path, NULL));
	assert_refused(weir_parquet_find(p, "a.b", &column), -EEXIST, "columns 0 and 1", "a.b");
	assert_int_equal(column, 77);
	weir_parquet_close(p);
}

static void test_a_column_may_have_an_empty_name(void **state)
{
	static struct bytes b;
	struct weir_parquet *p = NULL;
	uint32_t column = 77;
	(void)state;
	memcpy(b.at, "PAR1", b.n = 4);
	put_list(&b, 2, T_STRUCT, 4);
	put_group(&b, "root", 2);
	put_leaf(&b, "");
	put_group(&b, "", 1);
	put_leaf(&b, "a");
	put_list(&b, 4, T_STRUCT, 0);
	put_stop(&b);
	put(&b, (unsigned)b.n - 4), put(&b, 0), put(&b, 0), put(&b, 0);
	memcpy(b.at + b.n, "PAR1", 4);
	spit(b.at, b.n + 4);
	assert_ok(weir_parquet_open(&p, path, NULL));
	assert_ok(weir_parquet_find(p, "", &column));
	assert_int_equal(column, 0);
	assert_ok(weir_parquet_find(p, ".a", &column));
	assert_int_equal(column, 1);
	assert_refused(weir_parquet_find(p, "a", &column), -ENOENT, "no column a", "");
	weir_parquet_close(p);
}

static void test_a_filter_in_another_file_is_refused(void **state)
{
	static struct bytes b;
	struct weir_parquet *p = NULL;
	struct weir_filter *f = NULL;
	(void)state;
	memcpy(b.at, "PAR1", b.n = 4);
	put_schema(&b);
	put_row_groups(&b, 1);
	put_columns(&b, 1);
	put_text(&b, 1, "other.parquet");
	put_chunk(&b, "a", 0, 0);
	put_rows(&b, 1);
	put_stop(&b);
	put(&b, (unsigned)b.n - 4), put(&b, 0), put(&b, 0), put(&b, 0);
	memcpy(b.at + b.n, "PAR1", 4);
	spit(b.at, b.n + 4);
	assert_ok(weir_parquet_open(&p, path, NULL));
	assert_refused(weir_parquet_read(&f, p, 0, 0), -ENOTSUP, "column 0 of row group 0",
	               "in another file: open that one");
	assert_null(f);
	weir_parquet_close(p);
}

/* The declared length is one byte shorter than the length in the filter's own header. */
static void test_a_wrong_declared_length_is_refused(void **state)
{
	struct weir_parquet_chunk chunk = WEIR_PARQUET_CHUNK_INIT;
	static unsigned char bytes[FILE_ROOM];
	static struct bytes whole, less;
	struct weir_parquet *p = open_named("numbers");
	struct weir_filter *f = NULL;
	const size_t n = slurp("numbers", bytes);
	(void)state;
	assert_ok(weir_parquet_inspect_chunk(p, 0, 0, &chunk));
	weir_parquet_close(p);
	put_int(&whole, (int64_t)chunk.filter_offset);
	put(&whole, 1 << 4 | T_I32); /* the next field, which is the length */
	less = whole;
	put_int(&whole, (int64_t)chunk.filter_length);
	put_int(&less, (int64_t)chunk.filter_length - 1);
	assert_int_equal(whole.n, less.n);
	unsigned char *at = memmem(bytes, n, whole.at, whole.n);
	assert_non_null(at);
	memcpy(at, less.at, less.n);
	spit(bytes, n);
	assert_ok(weir_parquet_open(&p, path, NULL));
	assert_refused(weir_parquet_read(&f, p, 0, 0), -EBADMSG, "numBytes is 64", "room for 63");
	assert_null(f);
	weir_parquet_close(p);
}

/* ---- damaged files, and files without a recorded length ---- */

/* Read every filter of a file. Return: the number of filters that could be read. */
static unsigned use(const char *name)
{
	struct weir_parquet *p = NULL;
	unsigned filters = 0;
	int err = weir_parquet_open(&p, name, NULL);
	if (err) {
		assert_null(p);
		assert_true(err == -EBADMSG || err == -ENOTSUP);
		assert_int_equal(strncmp(weir_error_detail(), name, strlen(name)), 0);
		return 0;
	}
	const uint32_t all = weir_parquet_columns(p);
	for (uint32_t c = 0; c < all; c++) {
		char room[64];
		(void)weir_parquet_path(p, c, room, sizeof room);
		for (uint32_t g = 0; g < weir_parquet_row_groups(p); g++) {
			struct weir_filter *f = NULL;
			err = weir_parquet_read(&f, p, g, c);
			assert_int_equal(err == 0, f != NULL);
			assert_true(err == 0 || err == -EBADMSG || err == -ENOTSUP ||
			            err == -ENOENT);
			assert_true(err == 0 || !strncmp(weir_error_detail(), name, strlen(name)));
			filters += err == 0;
			weir_destroy(f);
		}
	}
	weir_parquet_close(p);
	return filters;
}

static int memory_file(char name[64], const unsigned char *bytes, size_t n)
{
	int fd = memfd_create("file", 0);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, n, 0), n);
	snprintf(name, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void test_truncated_files_are_refused(void **state)
{
	static unsigned char bytes[FILE_ROOM];
	char name[64];
	size_t n = slurp("numbers", bytes);
	int fd = memory_file(name, bytes, n);
	(void)state;
	assert_int_equal(use(name), 15);
	while (n--) {
		assert_int_equal(ftruncate(fd, (off_t)n), 0);
		assert_int_equal(use(name), 0);
	}
	close(fd);
}

/* The filters are right before the footer, one after another. */
static void damage(const char *of, unsigned filters)
{
	static const unsigned char flips[] = { 0x01, 0x04, 0x10, 0x40, 0x80, 0xff };
	static unsigned char bytes[FILE_ROOM];
	char name[64];
	const size_t n = slurp(of, bytes);
	const size_t footer = bytes[n - 8] | (size_t)bytes[n - 7] << 8;
	int fd = memory_file(name, bytes, n);
	unsigned fewer = 0;
	assert_int_equal(use(name), filters);
	for (size_t i = n - 8 - footer - 15 * 80; i < n; i++) {
		for (unsigned x = 0; x < sizeof flips; x++) {
			unsigned char byte = bytes[i] ^ flips[x];
			assert_int_equal(pwrite(fd, &byte, 1, (off_t)i), 1);
			fewer += use(name) < filters;
		}
		assert_int_equal(pwrite(fd, bytes + i, 1, (off_t)i), 1);
	}
	close(fd);
	/* on average, at least one flip per byte of the footer makes a filter unreadable */
	assert_in_range(fewer, footer, sizeof flips * n);
}

static void test_damaged_footers_lose_filters(void **state)
{
	(void)state;
	damage("numbers", 15);
	damage("nested", 9);
}

static void test_the_header_gives_a_missing_length(void **state)
{
	static unsigned char bytes[FILE_ROOM];
	/* field 15 with the value 80 */
	static const unsigned char recorded[] = { 0x15, 0xa0, 0x01 };
	const size_t n = slurp("numbers", bytes);
	struct weir_parquet_chunk chunk = WEIR_PARQUET_CHUNK_INIT;
	struct weir_parquet *p;
	unsigned changed = 0;
	char name[64];
	(void)state;
	for (size_t i = n - 8 - (bytes[n - 8] | (size_t)bytes[n - 7] << 8); i < n - 8; i++)
		if (memcmp(bytes + i, recorded, sizeof recorded) == 0) {
			bytes[i] += 0x60; /* field 21, which the format does not define */
			changed++;
		}
	assert_int_equal(changed, 15);
	int fd = memory_file(name, bytes, n);
	assert_int_equal(use(name), 15);
	assert_ok(weir_parquet_open(&p, name, NULL));
	assert_ok(weir_parquet_inspect_chunk(p, 0, 0, &chunk));
	assert_int_equal(chunk.filter_length, 0);
	weir_parquet_close(p);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_value_is_found),
		cmocka_unit_test(test_columns_are_listed),
		cmocka_unit_test(test_chunks_are_described),
		cmocka_unit_test(test_wrong_row_groups_and_columns_are_refused),
		cmocka_unit_test(test_wrong_values_cannot_be_hashed),
		cmocka_unit_test(test_other_files_are_refused),
		cmocka_unit_test(test_limits_are_checked),
		cmocka_unit_test(test_an_ambiguous_path_is_refused),
		cmocka_unit_test(test_a_column_may_have_an_empty_name),
		cmocka_unit_test(test_a_filter_in_another_file_is_refused),
		cmocka_unit_test(test_a_wrong_declared_length_is_refused),
		cmocka_unit_test(test_truncated_files_are_refused),
		cmocka_unit_test(test_damaged_footers_lose_filters),
		cmocka_unit_test(test_the_header_gives_a_missing_length),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
