/* SPDX-License-Identifier: MIT
 * Locations. A save or a copy writes the same bytes to every location, and a read gives the same
 * results from every location. If a function does not support a location, its error message names
 * the function and the location. */
#include <errno.h>
#include <sys/mman.h>
#include "delta.h"

enum { N = 3000, ROOM = 4 << 20, FORMS = 7 };

#define BIT(form) (1u << (form))
enum {
	TO_WRITE = BIT(WEIR_LOCATION_PATH) | BIT(WEIR_LOCATION_FD) | BIT(WEIR_LOCATION_ROOM),
	TO_PARSE = BIT(WEIR_LOCATION_PATH) | BIT(WEIR_LOCATION_FD) | BIT(WEIR_LOCATION_MEMORY),
	TO_READ = TO_PARSE | BIT(WEIR_LOCATION_CHAIN),
	TO_LOAD = TO_READ | BIT(WEIR_LOCATION_MAP) | BIT(WEIR_LOCATION_MAP_MEMORY),
};

/* f: a filter. weir_save() wrote the uncompressed image of f to the file name[0], and the
 * compressed image to name[1]. image, image_bytes: the contents and the lengths of the two files.
 * room: ROOM bytes of memory for an image. */
static struct weir_filter *f;
static unsigned char *image[2], *room;
static size_t image_bytes[2];
static char *const name[2] = { old_image, new_image };
static int fd = -1;

static struct weir_save_options saved_as(bool packed)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.generation = 7;
	o.zstd_level = packed ? 3 : 0;
	o.marks = weir_can(f, WEIR_CAN_PUBLISH) ? WEIR_MARK_SHRINK_ALLOWED : 0;
	return o;
}

static int drop(void **state)
{
	(void)state;
	weir_destroy(f), f = NULL;
	for (unsigned i = 0; i < 2; i++)
		free(image[i]), image[i] = NULL;
	free(room), room = NULL;
	if (fd >= 0)
		close(fd);
	fd = -1;
	return 0;
}

/* Return: true if filters of @kind can be saved. */
static bool make(uint32_t kind)
{
	static uint64_t hashes[N];
	drop(NULL);
	f = test_filter(kind, N, 0.01);
	room = aligned_alloc(64, ROOM);
	assert_non_null(room);
	for (uint64_t i = 0; i < N; i++)
		hashes[i] = test_key(i);
	assert_ok(test_fill(&f, hashes, N));
	for (unsigned packed = 0; packed <= TEST_ZSTD; packed++) {
		const struct weir_save_options o = saved_as(packed);
		int64_t bytes = weir_save(f, weir_location_path(name[packed]), &o);
		if (bytes == -ENOTSUP)
			return false;
		assert_ok(bytes);
		image[packed] = image_slurp(name[packed], &image_bytes[packed]);
		assert_int_equal(bytes, image_bytes[packed]);
	}
	return true;
}

static int setup(void **state)
{
	delta_setup(state);
	return make(WEIR_BLOCKED) ? 0 : -1;
}

static int teardown(void **state)
{
	drop(state);
	return folder_teardown(state);
}

/* Return: the location of the image in the given form. For WEIR_LOCATION_FD, the function writes
 * the image to a new file, and returns the location of its descriptor. */
static struct weir_location at(uint32_t form, bool packed)
{
	const size_t n = image_bytes[packed];
	switch (form) {
	case WEIR_LOCATION_PATH: return weir_location_path(name[packed]);
	case WEIR_LOCATION_FD:
		if (fd >= 0)
			close(fd);
		fd = memfd_create("image", 0);
		assert_true(write(fd, image[packed], n) == (ssize_t)n && !lseek(fd, 0, SEEK_SET));
		return weir_location_fd(fd);
	case WEIR_LOCATION_MEMORY: return weir_location_memory(image[packed], n);
	case WEIR_LOCATION_ROOM: return weir_location_room(room, ROOM);
	case WEIR_LOCATION_MAP: return weir_location_map(name[packed], WEIR_MAP_READ);
	case WEIR_LOCATION_MAP_MEMORY:
		memcpy(room, image[packed], n);
		return weir_location_map_memory(room, n);
	default: return weir_location_chain(name[packed], NULL, 0);
	}
}

/* ---- which locations a call supports ---- */

static int64_t save_to(struct weir_location to) { return weir_save(f, to, NULL); }
static int64_t inspect(struct weir_location from)
{
	return weir_image_inspect(from, &(struct weir_image_info)WEIR_IMAGE_INFO_INIT);
}

static int64_t verify(struct weir_location from) { return weir_image_verify(from, NULL, NULL); }
static int64_t measure(struct weir_location from)
{
	return weir_image_measure(from, WEIR_EXACT, NULL,
	                          &(struct weir_stats)WEIR_STATS_INIT);
}

static int64_t load(struct weir_location from)
{
	struct weir_filter *g;
	int err = weir_load(&g, from, NULL);
	if (!err)
		weir_destroy(g);
	return err;
}

static int64_t copy_from(struct weir_location from)
{
	return weir_image_copy(weir_location_path(made), from, NULL, NULL);
}

static int64_t copy_to(struct weir_location to)
{
	return weir_image_copy(to, at(WEIR_LOCATION_MEMORY, false), NULL, NULL);
}

static int64_t delta_of_old(struct weir_location from)
{
	return weir_delta_save(weir_location_path(delta), from, at(WEIR_LOCATION_PATH, false),
	                       NULL);
}

static int64_t delta_of_new(struct weir_location from)
{
	return weir_delta_save(weir_location_path(delta), at(WEIR_LOCATION_PATH, false), from,
	                       NULL);
}

static int64_t head_of_delta(struct weir_location from)
{
	int err = weir_delta_inspect(from, &(struct weir_delta_info)WEIR_DELTA_INFO_INIT);
	return err == -EBADMSG && strstr(weir_error_detail(), "it is an image") ? 0 : err;
}

static const struct call {
	const char *name;
	int64_t (*run)(struct weir_location at);
	unsigned takes;
	bool zstd;
} calls[] = {
	{ "weir_save", save_to, TO_WRITE, false },
	{ "weir_load", load, TO_LOAD, false },
	{ "weir_image_inspect", inspect, TO_READ, false },
	{ "weir_image_verify", verify, TO_READ, false },
	{ "weir_image_measure", measure, TO_READ, false },
	{ "weir_image_copy", copy_from, TO_READ, false },
	{ "weir_image_copy", copy_to, TO_WRITE, false },
	{ "weir_delta_save", delta_of_old, TO_READ, true },
	{ "weir_delta_save", delta_of_new, TO_READ, true },
	{ "weir_delta_inspect", head_of_delta, TO_PARSE, false },
};

static void test_unsupported_locations_are_refused(void **state)
{
	static const char *const forms[FORMS] = { "a path", "a descriptor", "memory", "room",
		                                  "a path to map", "memory to map",
		                                  "a chain of deltas" };
	static const char *const things[FORMS] = { old_image, "file descriptor ",
		                                   "the image in memory",
		                                   "the room for an image", old_image,
		                                   "the image in memory", old_image };
	(void)state;
	for (size_t c = 0; c < COUNT_OF(calls); c++) {
		char refused[100];
		struct weir_location none = weir_location_path(old_image);
		if (calls[c].zstd && !TEST_ZSTD)
			continue;
		for (uint32_t form = 0; form < FORMS; form++) {
			int64_t answer = calls[c].run(at(form, false));
			snprintf(refused, sizeof refused, "%s does not take %s", calls[c].name,
			         forms[form]);
			if (calls[c].takes >> form & 1)
				assert_ok(answer);
			else
				assert_refused(answer, -EINVAL, refused, things[form]);
		}
		none.form = FORMS;
		assert_refused(calls[c].run(none), -EINVAL, calls[c].name, "location.form 7");
	}
}

static void test_missing_locations_are_refused(void **state)
{
	const struct weir_location closed = weir_location_fd(12345);
	const struct weir_location nothing[] = { weir_location_path(NULL),
		                                 weir_location_memory(NULL, 5),
		                                 weir_location_chain(NULL, NULL, 0) };
	(void)state;
	for (size_t c = 0; c < COUNT_OF(calls); c++) {
		if (calls[c].zstd && !TEST_ZSTD)
			continue;
		assert_refused(calls[c].run(closed), -EBADF, "descriptor 12345", "not open");
		for (size_t i = 0; i < COUNT_OF(nothing); i++)
			if (calls[c].takes >> nothing[i].form & 1)
				assert_refused(calls[c].run(nothing[i]), -EINVAL, "is NULL", "");
		if (calls[c].takes >> WEIR_LOCATION_ROOM & 1)
			assert_refused(calls[c].run(weir_location_room(NULL, 5)), -EINVAL,
			               "room is NULL", "5 bytes");
	}
	assert_refused(inspect(weir_location_map(NULL, WEIR_MAP_READ)), -EINVAL,
	               "NULL: weir_image_inspect does not take", "a path to map");
	assert_refused(load(weir_location_chain(old_image, NULL, 2)), -EINVAL, "deltas is NULL",
	               "2 deltas");
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *none = NULL;
	static _Alignas(64) unsigned char given[64];
	unsigned char *damaged = malloc(image_bytes[0]);
	uint64_t id = 77;
	memcpy(damaged, image[0], image_bytes[0]);
	damaged[image_bytes[0] - 1] ^= 1;
	const struct weir_location there = weir_location_memory(damaged, image_bytes[0]);
	assert_int_equal(weir_image_verify(there, NULL, &id), -EBADMSG);
	assert_int_equal(id, 77);
	free(damaged);
	o.flags = WEIR_PREFAULT;
	assert_refused(weir_load(&none, weir_location_chain(old_image, NULL, 0), &o), -EINVAL,
	               "flags 0x4", "chain");
	o.flags = 0;
	o.memory = given;
	o.memory_bytes = sizeof given;
	assert_refused(weir_load(&none, weir_location_chain(old_image, NULL, 0), &o), -EINVAL,
	               "memory_bytes 64", "chain");
	o.memory = NULL;
	assert_refused(weir_load(&none, weir_location_chain(old_image, NULL, 0), &o), -EINVAL,
	               "memory_bytes 64", "chain");
	assert_null(none);
}

/* ---- saves and copies to every location ---- */

typedef int64_t put_fn(struct weir_location to, bool packed);

static int64_t by_save(struct weir_location to, bool packed)
{
	const struct weir_save_options o = saved_as(packed);
	return weir_save(f, to, &o);
}

/* Make a compressed image (@packed) from the uncompressed image, or the reverse. But if keys age,
 * the two images also differ in the ages, so copy the image that is compressed as @packed asks. */
static int64_t by_copy(struct weir_location to, bool packed)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	const bool other = TEST_ZSTD && !weir_can(f, WEIR_CAN_FORGET);
	o.zstd_level = packed ? 3 : 0;
	return weir_image_copy(to, at(WEIR_LOCATION_PATH, packed != other), NULL, &o);
}

static void assert_file(int file, bool packed)
{
	unsigned char *bytes = malloc(image_bytes[packed] + 1);
	assert_int_equal(pread(file, bytes, image_bytes[packed] + 1, 0), image_bytes[packed]);
	assert_memory_equal(bytes, image[packed], image_bytes[packed]);
	free(bytes);
}

static void goes_everywhere(put_fn *put, bool packed)
{
	const size_t n = image_bytes[packed];
	char needed[40];
	int file = memfd_create("to", 0);
	assert_int_equal(put(weir_location_fd(file), packed), n);
	assert_file(file, packed);
	close(file);
	assert_int_equal(put(weir_location_path(made), packed), n);
	file = open(made, O_RDONLY);
	assert_file(file, packed);
	close(file);
	assert_int_equal(put(weir_location_room(NULL, 0), packed), n);
	memset(room, 0xa5, n + 1);
	assert_int_equal(put(weir_location_room(room, n), packed), n);
	assert_memory_equal(room, image[packed], n);
	assert_int_equal(room[n], 0xa5);
	snprintf(needed, sizeof needed, "room for %zu", n - 1);
	assert_refused(put(weir_location_room(room, n - 1), packed), -ENOSPC, needed, "bytes");
	assert_int_equal(room[n], 0xa5);
}

static void test_images_have_the_same_bytes_at_every_location(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		for (unsigned packed = 0; make(test_kinds[k]) && packed <= TEST_ZSTD; packed++) {
			goes_everywhere(by_copy, packed);
			if (!weir_can(f, WEIR_CAN_FORGET))
				goes_everywhere(by_save, packed);
		}
}

static void test_an_image_can_be_copied_onto_itself(void **state)
{
	(void)state;
	if (!TEST_ZSTD || !make(WEIR_GROWING))
		return;
	assert_int_equal(by_copy(weir_location_path(old_image), true), image_bytes[1]);
	assert_same_files(old_image, new_image);
	assert_int_equal(by_copy(weir_location_path(new_image), false), image_bytes[0]);
	assert_true(image_spit(made, image[0], image_bytes[0]));
	assert_same_files(made, new_image);
}

static void test_wrong_options_of_a_copy_are_refused(void **state)
{
	static const unsigned char wrong[16] = "of another image";
	struct weir_load_options reading = WEIR_LOAD_OPTIONS_INIT;
	struct weir_save_options writing = WEIR_SAVE_OPTIONS_INIT;
	const struct weir_location to = weir_location_path(made), from = at(0, false);
	(void)state;
	writing.generation = 8;
	assert_refused(weir_image_copy(to, from, NULL, &writing), -EINVAL, "generation 8",
	               "weir_image_copy");
	writing.generation = 0;
	writing.marks = WEIR_MARK_SHRINK_ALLOWED;
	assert_refused(weir_image_copy(to, from, NULL, &writing), -EINVAL, "marks 0x4", "");
	writing.struct_size = 1;
	assert_refused(weir_image_copy(to, from, NULL, &writing), -EINVAL, "weir_save_options",
	               "1");
	writing = (struct weir_save_options)WEIR_SAVE_OPTIONS_INIT;
	reading.no_verify = true;
	assert_refused(weir_image_copy(to, from, &reading, NULL), -EINVAL, "no_verify 1", "");
	reading.no_verify = false;
	reading.secret = wrong;
	assert_refused(weir_image_copy(to, from, &reading, NULL), -EKEYREJECTED, "keyed", "");
	assert_int_equal(access(made, F_OK), -1);
}

/* ---- the same results from every location ---- */

static void reads_the_same(uint32_t form, bool packed, uint64_t id)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT, wanted = WEIR_IMAGE_INFO_INIT;
	struct weir_stats s = WEIR_STATS_INIT, exact = WEIR_STATS_INIT;
	struct weir_filter *g;
	uint64_t found = 0;
	assert_ok(weir_image_inspect(weir_location_path(name[packed]), &wanted));
	assert_ok(weir_image_inspect(at(form, packed), &info));
	assert_true(info.generation == 7 && info.marks == wanted.marks);
	assert_true(info.capacity == wanted.capacity && info.bytes == wanted.bytes &&
	            info.seed_fingerprint == wanted.seed_fingerprint);
	if (form == WEIR_LOCATION_CHAIN) /* the information is about the new image */
		assert_true(!info.compressed && info.file_bytes == image_bytes[0]);
	else
		assert_true(info.compressed == packed &&
		            (info.file_bytes == image_bytes[packed] ||
		             (form == WEIR_LOCATION_FD && packed)));
	assert_ok(weir_image_verify(at(form, packed), NULL, &found));
	assert_true(found == id);
	assert_ok(weir_measure(f, WEIR_EXACT, &exact));
	assert_ok(weir_image_measure(at(form, packed), WEIR_EXACT, NULL, &s));
	assert_true(s.marks == wanted.marks && exact.marks == 0);
	assert_true(s.bytes == exact.bytes && s.fill == exact.fill);
	assert_ok(weir_load(&g, at(form, packed), NULL));
	assert_ok(weir_measure(g, WEIR_EXACT, &s));
	assert_true(s.marks == wanted.marks && s.bytes == exact.bytes && s.fill == exact.fill);
	weir_destroy(g);
}

static void test_images_read_equally_from_every_location(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		for (unsigned packed = 0; make(test_kinds[k]) && packed <= TEST_ZSTD; packed++)
			for (uint32_t form = 0; form < FORMS; form++)
				if (TO_READ >> form & 1)
					reads_the_same(form, packed, id_of(name[packed]));
}

/* ---- deltas ---- */

static void test_deltas_have_the_same_bytes_at_every_location(void **state)
{
	struct weir_delta_info one = WEIR_DELTA_INFO_INIT, other;
	struct weir_save_options packed = WEIR_SAVE_OPTIONS_INIT;
	const char *const deltas[] = { delta };
	size_t n = 0;
	(void)state;
	save_keys(old_image, 100000, 0, 5000, 0);
	save_keys(new_image, 100000, 0, 5100, 3);
	const struct weir_location old = weir_location_path(old_image),
	                           new = weir_location_path(new_image),
	                           chain = weir_location_chain(old_image, deltas, 1);
	const int64_t bytes = weir_delta_save(weir_location_path(delta), old, new, NULL);
	unsigned char *file = image_slurp(delta, &n);
	assert_int_equal(bytes, n);
	assert_int_equal(weir_delta_save(weir_location_room(NULL, 0), old, new, NULL), n);
	assert_int_equal(weir_delta_save(weir_location_room(room, n), old, new, NULL), n);
	assert_memory_equal(room, file, n);
	assert_refused(weir_delta_save(weir_location_room(room, n - 1), old, new, NULL), -ENOSPC,
	               "the room", "");
	assert_refused(weir_delta_save(at(WEIR_LOCATION_FD, false), old, new, NULL), -ENOTSUP,
	               "descriptor", "weir_delta_save");
	assert_ok(weir_delta_inspect(weir_location_path(delta), &one));
	other = (struct weir_delta_info)WEIR_DELTA_INFO_INIT;
	assert_ok(weir_delta_inspect(weir_location_memory(file, n), &other));
	assert_true(other.new_id == one.new_id && other.file_bytes == n);
	other = (struct weir_delta_info)WEIR_DELTA_INFO_INIT;
	assert_true(write(fd, file, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
	assert_ok(weir_delta_inspect(weir_location_fd(fd), &other));
	assert_true(other.new_id == one.new_id && other.file_bytes == n);
	free(file);
	packed.zstd_level = 3;
	assert_ok(weir_image_copy(weir_location_path(made), chain, NULL, &packed));
	assert_same_files(made, new_image);
	assert_true(weir_image_copy(weir_location_room(room, ROOM), chain, NULL, NULL) ==
	            (int64_t)one.new_bytes);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		EACH(test_unsupported_locations_are_refused),
		EACH(test_missing_locations_are_refused),
		EACH(test_images_have_the_same_bytes_at_every_location),
		EACH(test_an_image_can_be_copied_onto_itself),
		EACH(test_wrong_options_of_a_copy_are_refused),
		EACH(test_images_read_equally_from_every_location),
#if TEST_ZSTD
		EACH(test_deltas_have_the_same_bytes_at_every_location),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
