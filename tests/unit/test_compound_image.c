/* SPDX-License-Identifier: MIT
 * Members in a compound's image: written and read as parts of the whole, whatever is done to its
 * keys and wherever its memory is; and members that somebody made up, each valid in itself and none
 * that the compound's head has room for. */
#include <errno.h>
#include <sys/mman.h>
#include "../image_bytes.h"
#include "../folder.h"

enum { KEYS = 3000, MEMBERS = 4, ROW = 16, LENGTH = 96 };

static struct weir_filter *made(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	params.kind = WEIR_GROWING;
	params.capacity = 100;
	params.max_capacity = 8000;
	params.fp_rate = 0.01;
	params.seed = 42;
	assert_ok(weir_create(&f, &params));
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_insert_u64(f, test_key(i)));
	return f;
}

static void assert_has(const struct weir_filter *f)
{
	for (uint64_t i = 0; i < KEYS; i++)
		assert_true(weir_contains_u64(f, test_key(i)));
}

/* A file of so many bytes behind others, at its image's first byte. */
static int stream_of(const void *bytes, size_t n)
{
	int fd = memfd_create("image", 0);
	assert_true(write(fd, "before", 6) == 6 && write(fd, bytes, n) == (ssize_t)n);
	assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
	return fd;
}

/* ---- what is done to keys: also set when there are layers already ---- */

/* And others, which make one more layer. */
static void put_names(struct weir_filter *f)
{
	const struct weir_normal lower = { .steps = WEIR_NORMAL_LOWERCASE };
	char name[32];
	assert_ok(weir_normal_set(f, &lower));
	for (unsigned i = 0; i < KEYS; i++) {
		int n = snprintf(name, sizeof name, "Name-%u.Example", i);
		assert_ok(weir_normal_insert(f, name, (size_t)n));
	}
}

static void assert_has_names(struct weir_filter *f)
{
	struct weir_normal n;
	char name[32];
	weir_normal_of(f, &n);
	assert_int_equal(n.steps, WEIR_NORMAL_LOWERCASE);
	for (unsigned i = 0; i < KEYS; i++) {
		int bytes = snprintf(name, sizeof name, "nAME-%u.eXAMPLE", i);
		assert_int_equal(weir_normal_contains(f, name, (size_t)bytes), 1);
	}
	assert_has(f);
	weir_destroy(f);
}

static void keys_are_normalised_after_a_load(void **state)
{
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = made(), *g = NULL;
	(void)state;
	put_names(f);
	for (; save.zstd_level <= TEST_ZSTD; save.zstd_level++) {
		assert_ok(weir_save(f, path, &save));
		assert_ok(weir_image_verify(path, NULL));
		assert_ok(weir_load(&g, path, NULL));
		assert_has_names(g);
		int fd = memfd_create("image", 0);
		assert_ok(weir_save_fd(f, fd, &save));
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_ok(weir_load_fd(&g, fd, NULL));
		assert_has_names(g);
		close(fd);
	}
	assert_ok(weir_save(f, path, NULL));
	assert_ok(weir_map(&g, path, WEIR_MAP_READ, NULL));
	assert_has_names(g);
	assert_ok(weir_clone(&g, f));
	assert_has_names(g);
	weir_destroy(f);
}

/* ---- one image, and what is made of it ---- */

static unsigned char *image;
static size_t image_bytes;

static int image_setup(void **state)
{
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = made();
	save.zstd_level = *state != NULL;
	assert_ok(weir_save(f, path, &save));
	weir_destroy(f);
	image = image_slurp(path, &image_bytes);
	return image == NULL || image[IMAGE_MEMBERS] != MEMBERS;
}

static int image_teardown(void **state)
{
	(void)state;
	free(image);
	return 0;
}

/* Where the image of member i begins. */
static size_t member_at(unsigned i)
{
	size_t at = 0;
	do
		at += IMAGE_PAGE;
	while (memcmp(image + at, "WEIRIMG1", 8) != 0 || i-- > 0);
	return at;
}

static uint64_t bytes_of_member(unsigned i)
{
	return 64 * image_get(image + member_at(i) + IMAGE_BLOCKS, 8);
}

/* The caller's memory is the first member's; the others have their own. */
static void memory_is_the_first_members(void **state)
{
	enum { ROOM = 1 << 20 };
	static unsigned char memory[ROOM] __attribute__((aligned(64)));
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	const unsigned char *bits = image + member_at(0) + IMAGE_PAGE;
	const uint64_t first = bytes_of_member(0);
	struct weir_filter *f = NULL;
	(void)state;
	memset(memory, 0xa5, ROOM);
	load.memory = memory;
	load.memory_bytes = ROOM;
	assert_ok(weir_load_memory(&f, image, image_bytes, &load));
	assert_memory_equal(memory, bits, first);
	for (uint64_t i = first; i < ROOM; i++)
		assert_int_equal(memory[i], 0xa5);
	assert_has(f);
	for (uint64_t i = KEYS; i < 2 * KEYS; i++)
		assert_ok(weir_insert_u64(f, test_key(i)));
	weir_destroy(f);
	load.memory_bytes = first; /* so much is enough */
	assert_ok(weir_load_memory(&f, image, image_bytes, &load));
	assert_has(f);
	weir_destroy(f);
	load.memory_bytes = first - 64;
	assert_refused(weir_load_memory(&f, image, image_bytes, &load), -EINVAL, "memory_bytes",
	               "");
}

/* ---- progress ---- */

static struct { unsigned calls; uint64_t done, total; } seen;

static int watch(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	assert_true(done > seen.done && done <= total);
	assert_true(seen.calls == 0 || total == seen.total);
	seen.calls++;
	seen.done = done;
	seen.total = total;
	return 0;
}

static void assert_watched(void)
{
	uint64_t total = 0;
	for (unsigned i = 0; i < MEMBERS; i++)
		total += bytes_of_member(i);
	assert_true(seen.calls >= MEMBERS && seen.done == total && seen.total == total);
	memset(&seen, 0, sizeof seen);
}

static int stop_in_the_second(void *arg, uint64_t done, uint64_t total)
{
	(void)total;
	return done > *(uint64_t *)arg ? -ECANCELED : 0;
}

static void progress_ends_at_the_total(void **state)
{
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	int fd = stream_of(image, image_bytes);
	uint64_t first = bytes_of_member(0);
	(void)state;
	load.progress = watch;
	assert_ok(weir_load_fd(&f, fd, &load));
	weir_destroy(f);
	assert_watched();
	assert_ok(weir_load_memory(&f, image, image_bytes, &load));
	weir_destroy(f);
	assert_watched();
	assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
	assert_ok(weir_image_verify_fd(fd, &load));
	assert_watched();
	assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
	load.progress = stop_in_the_second;
	load.progress_arg = &first;
	assert_true(weir_load_fd(&f, fd, &load) < 0);
	close(fd);
}

/* ---- members of others ---- */

struct edit {
	unsigned at, bytes;
	uint64_t value;
};

/* The image with @extra zeros behind it; the member's fields edited, and every checksum that is
 * over them right. The caller's. */
static unsigned char *forged(unsigned member, const struct edit *edit, size_t extra)
{
	unsigned char *copy = calloc(1, image_bytes + extra);
	size_t at = member_at(member);
	assert_non_null(copy);
	memcpy(copy, image, image_bytes);
	for (; edit->bytes; edit++)
		for (unsigned i = 0; i < edit->bytes; i++)
			copy[at + edit->at + i] = (unsigned char)(edit->value >> 8 * i);
	image_repair(copy + at, image_bytes - at);
	memcpy(copy + IMAGE_TABLE + ROW * member + 8, copy + at + IMAGE_COMMIT, 8);
	image_repair(copy, image_bytes);
	return copy;
}

/* Each way to read it refuses it with that sentence. */
static void all_refuse(const unsigned char *bytes, size_t n, const char *a, const char *b)
{
	struct weir_load_options trusting = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	trusting.no_verify = 1;
	assert_true(image_spit(path, bytes, n));
	assert_refused(weir_load_memory(&f, bytes, n, NULL), -EBADMSG, a, b);
	assert_refused(weir_load(&f, path, NULL), -EBADMSG, a, b);
	assert_refused(weir_image_verify(path, NULL), -EBADMSG, a, b);
	if (!image_get(bytes + IMAGE_COMPRESSION, 4)) {
		assert_refused(weir_map(&f, path, WEIR_MAP_READ, NULL), -EBADMSG, a, b);
		assert_refused(weir_map(&f, path, WEIR_MAP_PRIVATE, &trusting), -EBADMSG, a, b);
	}
}

static void refuse(unsigned member, const struct edit *edit, const char *sentence)
{
	char name[16];
	unsigned char *copy = forged(member, edit, 0);
	snprintf(name, sizeof name, "er %u:", member); /* "member" or "layer" */
	all_refuse(copy, image_bytes, name, sentence);
	free(copy);
}

#define EDITS(...) (const struct edit[]){ __VA_ARGS__, { 0, 0, 0 } }
#define FORMAT_2 { 8, 4, 2 }

static void each_member_is_as_the_head_has_it(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MEMBERS; i++) {
		uint64_t blocks, left = 0;
		for (unsigned j = i; j < MEMBERS; j++)
			left += bytes_of_member(j) / 64;
		unsigned char *same = forged(i, EDITS({ 8, 4, 1 }), 0);
		assert_memory_equal(same, image, image_bytes);
		free(same);
		refuse(i, EDITS({ IMAGE_COMPRESSION, 4, 1 }, { LENGTH, 8, 0 }),
		       "compression is 1 where the compound has 0");
		refuse(i, EDITS(FORMAT_2, { 48, 4, 3 }, { IMAGE_MARKS, 4, 1 }),
		       "hash is 3 where the compound has 1");
		refuse(i, EDITS({ 56, 8, 43 }),
		       "seed is 000000000000002b where the compound has 000000000000002a");
		refuse(i, EDITS(FORMAT_2, { IMAGE_MARKS, 4, 2 }),
		       "marks is 2 where the compound has 0");
		refuse(i, EDITS(FORMAT_2, { IMAGE_STEPS, 4, 1 }),
		       "what is done to keys is not what the compound has");
		refuse(i, EDITS({ IMAGE_GENERATION, 8, 9 }),
		       "generation is 9 where the compound has 0");
		/* one more than all the members from here on have, or the last has one less */
		blocks = i + 1 == MEMBERS ? left - 1 : left + 1;
		refuse(i, EDITS({ IMAGE_BLOCKS, 8, blocks },
		                { LENGTH, 8, IMAGE_PAGE + 64 * blocks }), "blocks is ");
		refuse(i, EDITS({ 20, 4, 5 }), "is of another shape");
		refuse(i, EDITS({ 32, 8, 99 }), "capacity is 99 where ");
	}
}

/* The members end where the head says, and nothing is behind them. */
static void nothing_is_behind_the_members(void **state)
{
	const struct edit none = { 0, 0, 0 };
	unsigned char *longer = forged(0, &none, IMAGE_PAGE);
	(void)state;
	all_refuse(longer, image_bytes + IMAGE_PAGE, "length", "");
	image_put64(longer + LENGTH, image_bytes + IMAGE_PAGE);
	image_repair(longer, image_bytes);
	char end[64];
	snprintf(end, sizeof end, "members end at byte %zu", image_bytes);
	struct weir_filter *f = NULL;
	assert_refused(weir_load_memory(&f, longer, image_bytes + IMAGE_PAGE, NULL), -EBADMSG,
	               "length", end);
	all_refuse(longer, image_bytes + IMAGE_PAGE, "length", end);
	int fd = stream_of(longer, image_bytes + IMAGE_PAGE);
	assert_refused(weir_load_fd(&f, fd, NULL), -EBADMSG, "length", end);
	close(fd);
	free(longer);
}

static void put_less(unsigned char *field, uint64_t less)
{
	image_put64(field, image_get(field, 8) - less);
}

/* Layers of a size that weir would not have chosen are as good, but not for a union with others. */
static void layers_of_another_size(void **state)
{
	const struct edit none = { 0, 0, 0 };
	const size_t at = member_at(MEMBERS - 1), n = image_bytes - 64;
	unsigned char *smaller = forged(0, &none, 0);
	struct weir_filter *f = NULL, *whole = made(), *empty = NULL;
	struct weir_params params = WEIR_PARAMS_INIT;
	(void)state;
	put_less(smaller + at + IMAGE_BLOCKS, 1);
	put_less(smaller + at + LENGTH, 64);
	image_repair_table(smaller + at, n - at);
	image_repair(smaller + at, n - at);
	memcpy(smaller + IMAGE_TABLE + ROW * (MEMBERS - 1) + 8, smaller + at + IMAGE_COMMIT, 8);
	put_less(smaller + IMAGE_BLOCKS, 1);
	put_less(smaller + LENGTH, 64);
	image_repair(smaller, n);
	assert_ok(weir_load_memory(&f, smaller, n, NULL));
	assert_refused(weir_merge(whole, f), -EINVAL, "lines of layer 3 differs",
	               "in the destination");
	assert_refused(weir_merge(f, whole), -EINVAL, "lines of layer 3 differs", "");
	assert_ok(weir_params_of(whole, &params));
	assert_ok(weir_create(&empty, &params));
	assert_refused(weir_merge(empty, f), -EINVAL, "lines of layer 3 differs", "");
	weir_destroy(f), weir_destroy(whole), weir_destroy(empty);
	free(smaller);
}

#if TEST_ZSTD
static void compressed_members_of_others(void **state)
{
	const struct edit none = { 0, 0, 0 };
	struct weir_filter *f = NULL;
	(void)state;
	for (unsigned i = 0; i < 2; i++) /* of which as many bytes follow as are bits */
		refuse(i, EDITS({ IMAGE_COMPRESSION, 4, 0 },
		                { LENGTH, 8, IMAGE_PAGE + bytes_of_member(i) }),
		       "compression is 0 where the compound has 1");
	unsigned char *longer = forged(0, &none, 1);
	assert_memory_equal(longer, image, image_bytes);
	all_refuse(longer, image_bytes + 1, "", "");
	int fd = stream_of(longer, image_bytes + 1); /* what follows there is not the image's */
	assert_ok(weir_load_fd(&f, fd, NULL));
	assert_int_equal(lseek(fd, 0, SEEK_CUR), (off_t)image_bytes + 6);
	weir_destroy(f);
	close(fd);
	for (unsigned i = 1; i < MEMBERS; i++) {
		longer[member_at(i) - 1] = 1; /* behind the member before */
		all_refuse(longer, image_bytes, "", "");
		longer[member_at(i) - 1] = 0;
	}
	free(longer);
}
#endif

#define OF_AN_IMAGE(test) cmocka_unit_test_setup_teardown(test, image_setup, image_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_normalised_after_a_load),
		OF_AN_IMAGE(memory_is_the_first_members),
		OF_AN_IMAGE(progress_ends_at_the_total),
		OF_AN_IMAGE(each_member_is_as_the_head_has_it),
		OF_AN_IMAGE(nothing_is_behind_the_members),
		OF_AN_IMAGE(layers_of_another_size),
#if TEST_ZSTD
		cmocka_unit_test_prestate_setup_teardown(compressed_members_of_others, image_setup,
		                                         image_teardown, (void *)1),
#endif
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
