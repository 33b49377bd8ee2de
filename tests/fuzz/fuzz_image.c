/* SPDX-License-Identifier: MIT
 * Any bytes as an image: the image is refused with an error text, or loaded, and then used, saved,
 * mapped and loaded again. The last load must give back what was saved. Anything else aborts. Run
 * by libFuzzer (run-fuzz.sh), or over the corpus by replay.c. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weir/weir.h>
#include <weir/router.h>
#include <weir/window.h>
#include "../kinds/can.h"
#include "fuzz_image.h"

enum { KEYS = 40, MOST_BITS = 1 << 20 };

static uint64_t key_of(uint64_t i)
{
	return (i + 1) * UINT64_C(0x9E3779B97F4A7C15) ^ (i << 7);
}

/* Check that a batch answers as single lookups do. */
static void look(const struct weir_filter *f)
{
	uint64_t hashes[KEYS], bitmap[WEIR_BITMAP_WORDS(KEYS)];
	for (unsigned i = 0; i < KEYS; i++)
		hashes[i] = i < 2 ? -(uint64_t)i : key_of(i); /* also hashes 0 and 2^64 - 1 */
	size_t found = weir_contains_keys(f, weir_keys_hashes(hashes, KEYS), bitmap);
	for (unsigned i = 0; i < KEYS; i++) {
		bool alone = weir_contains_hash(f, hashes[i]);
		MUST(alone == (bitmap[i / 64] >> i % 64 & 1));
		found -= alone;
	}
	MUST(found == 0);
}

/* Return: the set's steps of normalisation. A set with any step may refuse the texts of this
 * fuzzer. A step with which one lookup probes several keys also makes the set refuse hashes. */
static uint32_t steps_of(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	MUST(weir_measure(f, WEIR_SAMPLED, &s) == 0);
	return s.steps;
}

static void insert_and_look(struct weir_filter *f)
{
	uint64_t hashes[KEYS], bitmap[WEIR_BITMAP_WORDS(KEYS)];
	const uint32_t steps = steps_of(f);
	look(f);
	for (unsigned i = 0; i < KEYS; i++) {
		hashes[i] = key_of(i);
		int answer = weir_insert(f, &hashes[i], i % 9);
		if (answer == -ENOTSUP) { /* the kind is built once: only look up */
			(void)weir_contains(f, &hashes[i], i % 9);
			continue;
		}
		if (answer == -ENOSPC || answer == -ENOMEM)
			return; /* the image says that it is full, or memory is short */
		MUST(answer >= 0 || (answer == -EINVAL && steps));
		MUST(weir_contains(f, &hashes[i], i % 9) || answer == -EINVAL);
	}
	int64_t answer = weir_insert_keys(f, weir_keys_hashes(hashes, KEYS), bitmap);
	if (answer == -ENOTSUP)
		(void)weir_contains_keys(f, weir_keys_hashes(hashes, KEYS), bitmap);
	if (answer == -ENOSPC || answer == -ENOMEM || answer == -ENOTSUP)
		return;
	MUST((answer == -EINVAL) == ((steps & (WEIR_TEXT_CIDR | WEIR_TEXT_SUFFIXES)) != 0));
	MUST(answer >= 0 || answer == -EINVAL);
	MUST(weir_contains_keys(f, weir_keys_hashes(hashes, KEYS), bitmap) == KEYS);
}

static void measure(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	MUST(weir_measure(f, WEIR_EXACT, &s) == 0);
	MUST(s.bytes >= 64 && s.bytes <= MOST_BITS && s.bytes % 64 == 0 && s.shards >= 1 &&
	     s.bytes / 64 % s.shards == 0);
	MUST(s.capacity >= 1 && s.fp_rate > 0 && s.fp_rate < 1 && s.fill >= 0 && s.fill <= 1);
}

/* Return: the answer of test_keeps_copies(), which runs only once for each kind. */
static bool keeps_copies(uint32_t kind)
{
	static struct { bool asked, keeps; } known[16];
	MUST(kind < 16);
	if (!known[kind].asked)
		known[kind].keeps = test_keeps_copies(kind);
	known[kind].asked = true;
	return known[kind].keeps;
}

/* Check that two filters have equal bits. The filters have the same fill, and a merge of @a into @b
 * must not change the fill, unless the kind stores a copy for each insert. */
static void must_be_alike(struct weir_filter *a, struct weir_filter *b)
{
	struct weir_stats sa = WEIR_STATS_INIT, sb = WEIR_STATS_INIT, both = WEIR_STATS_INIT;
	MUST(weir_measure(a, WEIR_EXACT, &sa) == 0 && weir_measure(b, WEIR_EXACT, &sb) == 0);
	int err = weir_merge(b, a);
	MUST((err == 0 || err == -ENOSPC || err == -ENOTSUP) &&
	     weir_measure(b, WEIR_EXACT, &both) == 0);
	MUST(sa.fill == both.fill || (keeps_copies(sa.shape.kind) && sa.fill < both.fill));
	MUST(sa.fill == sb.fill && sa.capacity == sb.capacity && sa.fp_rate == sb.fp_rate);
	for (unsigned i = 0; i < KEYS; i++)
		MUST(weir_contains_hash(b, key_of(i)) || !weir_contains_hash(a, key_of(i)));
}

static int memory_file(void)
{
	int fd = memfd_create("image", 0);
	MUST(fd >= 0);
	return fd;
}

/* The key with which the input was loaded. */
static const void *secret;

static struct weir_load_options load_options(void)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.secret = secret;
	return o;
}

/* Forged bits come from no hashes, so the check for uneven hashes must be off. */
static const struct weir_save_options as_it_is = { .struct_size = sizeof as_it_is,
	                                           .allow_uneven = true };

static void save_and_load(struct weir_filter *f, int level)
{
	struct weir_save_options o = as_it_is;
	struct weir_load_options options = load_options();
	struct weir_filter *g;
	int fd = memory_file();
	o.zstd_level = level;
	const int64_t saved = weir_save(f, weir_location_fd(fd), &o);
	MUST(saved > 0 || (saved == -ENOTSUP && level)); /* a build without zstd */
	if (saved > 0) {
		MUST(lseek(fd, 0, SEEK_SET) == 0);
		MUST(weir_load(&g, weir_location_fd(fd), &options) == 0);
		must_be_alike(f, g);
		weir_destroy(g);
	}
	close(fd);
}

/* Map the input in each mode. The input has loaded, so it must map unless it is compressed. */
static void map(const uint8_t *data, size_t size)
{
	char path[64];
	struct weir_filter *f;
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_load_options o = load_options();
	struct weir_stats stats = WEIR_STATS_INIT;
	int fd = memory_file();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	MUST(write(fd, data, size) == (ssize_t)size);
	MUST(weir_image_verify(weir_location_path(path), NULL, NULL) == 0);
	MUST(weir_image_inspect(weir_location_path(path), &info) == 0 && info.file_bytes == size &&
	     !info.live);
	MUST(info.keyed == (secret != NULL) &&
	     weir_image_measure(weir_location_path(path), WEIR_SAMPLED, NULL, &stats) == 0);
	for (unsigned mode = WEIR_MAP_READ; mode <= WEIR_MAP_LIVE; mode++) {
		o.lock_dir = mode == WEIR_MAP_LIVE ? "/tmp" : NULL; /* /proc cannot hold locks */
		int err = weir_load(&f, weir_location_map(path, (enum weir_map_mode)mode), &o);
		if (mode == WEIR_MAP_LIVE && err == -ENOTSUP && !info.compressed)
			continue; /* the kind keeps state outside the array */
		MUST(info.compressed ? err == -EINVAL : err == 0);
		if (err)
			continue;
		if (mode == WEIR_MAP_READ)
			MUST(weir_verify(f) == 0);
		else
			insert_and_look(f);
		measure(f);
		if (mode == WEIR_MAP_LIVE)
			MUST(weir_seal(f) == 0);
		weir_destroy(f);
	}
	o.lock_dir = NULL;
	MUST(weir_load(&f, weir_location_path(path), &o) == 0);
	weir_destroy(f);
	close(fd);
}

/* An image that is marked live may be mapped live and sealed. Its bits are arbitrary. */
static void map_live(const uint8_t *data, size_t size)
{
	char path[64];
	struct weir_filter *f;
	struct weir_load_options o = load_options();
	int fd = memory_file();
	o.max_bytes = MOST_BITS;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	MUST(write(fd, data, size) == (ssize_t)size);
	o.lock_dir = "/tmp";
	int err = weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), &o);
	if (err == -EKEYREJECTED) {
		o.secret = secret = fuzz_key;
		err = weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), &o);
	}
	MUST(err == 0 || err == -EBADMSG || err == -EKEYREJECTED || err == -ENOTSUP);
	if (err == 0) {
		insert_and_look(f);
		MUST(weir_seal(f) == 0);
		weir_destroy(f);
		o.lock_dir = NULL;
		MUST(weir_load(&f, weir_location_path(path), &o) == 0);
		insert_and_look(f);
		weir_destroy(f);
	}
	close(fd);
}

/* ---- memory shared by processes ---- */

static _Alignas(4096) unsigned char shared[4 << 20];

/* Map the image that lies in memory. The map is refused if the image is compressed, or if the load
 * of the image failed. If bits are not verified, lookups may give any answer, but must end.
 * @loaded: the answer of the load. */
static void look_at_shared(const uint8_t *data, size_t size, int loaded)
{
	struct weir_load_options o = load_options();
	struct weir_filter *f;
	if (size > sizeof shared)
		return;
	memcpy(shared, data, size);
	o.max_bytes = MOST_BITS;
	for (unsigned trusting = 0; trusting < 2; trusting++) {
		o.no_verify = trusting;
		int err = weir_load(&f, weir_location_map_memory(shared, size), &o);
		MUST(err == 0 || err == -EINVAL || loaded);
		MUST(err || !loaded || trusting);
		if (err)
			continue;
		look(f);
		weir_destroy(f);
	}
}

/* Check that a copy into shared memory is a plain image of the same filter. */
static void read_shared(const uint8_t *data, size_t size)
{
	char path[64];
	struct weir_filter *f;
	struct weir_load_options o = load_options();
	int fd = memory_file();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	MUST(write(fd, data, size) == (ssize_t)size);
	memset(shared, 0xa5, sizeof shared);
	const int64_t n = weir_image_copy(weir_location_room(shared, sizeof shared),
	                                  weir_location_path(path), &o, NULL);
	MUST(n > 0 && weir_load(&f, weir_location_map_memory(shared, (size_t)n), &o) == 0);
	MUST(weir_verify(f) == 0);
	look(f);
	measure(f);
	weir_destroy(f);
	close(fd);
}

/* ---- windows ---- */

static void use(struct weir_filter *w)
{
	uint64_t hashes[KEYS], bitmap[WEIR_BITMAP_WORDS(KEYS)];
	struct weir_window_stats s = WEIR_WINDOW_STATS_INIT;
	struct weir_stats whole = WEIR_STATS_INIT;
	for (unsigned i = 0; i < KEYS; i++) {
		hashes[i] = key_of(i);
		MUST(weir_insert_hash(w, hashes[i]) >= 0);
	}
	MUST(weir_contains_keys(w, weir_keys_hashes(hashes, KEYS), bitmap) == KEYS);
	MUST(weir_measure(w, WEIR_SAMPLED, &whole) == 0 && whole.bytes <= 3 * MOST_BITS);
	MUST(weir_window_measure(w, WEIR_SAMPLED, &s) == 0);
	for (unsigned i = 0; i < s.generations; i++)
		MUST(s.age_seconds[i] >= 0 && s.fill[i] >= 0 && s.fill[i] <= 1);
	MUST(weir_window_tick(w) >= 0 && weir_window_advance(w) == 0);
	MUST(weir_contains_keys(w, weir_keys_hashes(hashes, KEYS), bitmap) == KEYS ||
	     s.generations == 2);
}

/* Check that the loaded window answers as the saved window does. */
static void save_and_load_window(struct weir_filter *w,
                                 const struct weir_load_options *options)
{
	struct weir_filter *back = NULL;
	int fd = memory_file();
	MUST(weir_save(w, weir_location_fd(fd), &as_it_is) > 0 && lseek(fd, 0, SEEK_SET) == 0);
	MUST(weir_load(&back, weir_location_fd(fd), options) == 0);
	for (unsigned i = 0; i < 8 * KEYS; i++)
		MUST(weir_age_hash(w, key_of(i)) == weir_age_hash(back, key_of(i)));
	weir_destroy(back);
	close(fd);
}

static void try_window(const uint8_t *data, size_t size)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *w = NULL;
	o.max_bytes = 3 * MOST_BITS;
	int err = weir_load(&w, weir_location_memory(data, size), &o);
	if (err == -EKEYREJECTED) {
		o.secret = fuzz_key;
		err = weir_load(&w, weir_location_memory(data, size), &o);
	}
	if (err) {
		MUST(!w && (err == -EBADMSG || err == -ENOTSUP || err == -EFBIG ||
		            err == -EKEYREJECTED));
		MUST(strncmp(weir_error_detail(), "the image in memory: ", 21) == 0 &&
		     strlen(weir_error_detail()) > 30);
		return;
	}
	if (!weir_can(w, WEIR_CAN_FORGET)) {
		weir_destroy(w);
		return;
	}
	use(w);
	save_and_load_window(w, &o);
	weir_destroy(w);
	w = NULL;
	o.run.forget_older = 1;
	if (weir_load(&w, weir_location_memory(data, size), &o) == 0)
		use(w);
	weir_destroy(w);
}

/* ---- routers ---- */

static void use_router(struct weir_filter *r)
{
	uint64_t hashes[KEYS], masks[KEYS];
	struct weir_router_stats s = WEIR_ROUTER_STATS_INIT;
	const uint32_t sets = weir_router_sets(r);
	MUST(sets >= 1 && sets <= WEIR_ROUTER_SETS);
	for (unsigned i = 0; i < KEYS; i++) {
		hashes[i] = key_of(i);
		MUST(weir_insert_into_hash(r, i % sets, hashes[i]) >= 0);
	}
	MUST(weir_route_keys(r, weir_keys_hashes(hashes, KEYS), masks) == KEYS);
	for (unsigned i = 0; i < KEYS; i++)
		MUST(masks[i] >> (i % sets) & 1 && (sets == 64 || masks[i] >> sets == 0));
	MUST(weir_router_measure(r, WEIR_SAMPLED, &s) == 0 && s.sets == sets);
	for (uint32_t set = 0; set < sets; set++) {
		const char *name = weir_router_name(r, set);
		MUST(*name && strlen(name) < WEIR_ROUTER_NAME);
		MUST(weir_router_find(r, name) == (int)set);
		MUST(s.fill[set] >= 0 && s.fill[set] <= 1 && s.fp_rates[set] <= 1);
	}
}

/* Check that the loaded router answers as the saved router does. */
static void save_and_load_router(struct weir_filter *r, const struct weir_load_options *options)
{
	struct weir_filter *back = NULL;
	int fd = memory_file();
	MUST(weir_save(r, weir_location_fd(fd), &as_it_is) > 0 && lseek(fd, 0, SEEK_SET) == 0);
	MUST(weir_load(&back, weir_location_fd(fd), options) == 0);
	for (unsigned i = 0; i < 8 * KEYS; i++)
		MUST(weir_route_hash(r, key_of(i)) ==
		     weir_route_hash(back, key_of(i)));
	weir_destroy(back);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = NULL, *copy;
	secret = NULL;
	o.max_bytes = MOST_BITS;
	int err = weir_load(&f, weir_location_memory(data, size), &o);
	if (err == -EKEYREJECTED) {
		o.secret = secret = fuzz_key;
		err = weir_load(&f, weir_location_memory(data, size), &o);
	}
	if (err) {
		MUST(!f && (err == -EBADMSG || err == -ENOTSUP || err == -EFBIG || err == -EBUSY ||
		            err == -EKEYREJECTED));
		MUST(strncmp(weir_error_detail(), "the image in memory: ", 21) == 0 &&
		     strlen(weir_error_detail()) > 30);
		look_at_shared(data, size, err);
		if (err == -EBUSY)
			map_live(data, size);
		if (err == -EFBIG) /* a window may have more bytes than a filter */
			try_window(data, size);
		return 0;
	}
	if (weir_can(f, WEIR_CAN_FORGET)) {
		weir_destroy(f);
		try_window(data, size);
		return 0;
	}
	measure(f);
	if (weir_can(f, WEIR_CAN_ROUTE)) {
		use_router(f);
		save_and_load_router(f, &o);
	}
	MUST(weir_clone(&copy, f) == 0);
	insert_and_look(copy);
	save_and_load(copy, 0);
	if (data[64] % 16 == 1) /* a byte of the generation, which may have any value */
		save_and_load(copy, 1);
	weir_destroy(copy);
	if (data[64] % 16 == 2)
		map(data, size);
	look_at_shared(data, size, 0);
	if (data[64] % 16 == 3)
		read_shared(data, size);
	weir_destroy(f);
	return 0;
}
