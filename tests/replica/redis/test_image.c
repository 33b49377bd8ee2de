/* SPDX-License-Identifier: MIT
 * The image of a manifest, got from a server that gives whatever a test says: what is refused, and
 * by which of the checks. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "../../test.h"
#include "redis/redis.h"
#include "redis/coming.h"

enum { CHUNKS = 3, KEYS = 1000 };

/* A server in a thread: GET of a chunk is answered by what is given for its number. */
static struct {
	pthread_t thread;
	int listener;
	char path[64], url[80];
	const unsigned char *data[CHUNKS];
	size_t len[CHUNKS];
	atomic_uint asked;
} server;

static struct image {
	unsigned char *bytes;
	size_t len;
	struct weir_manifest m;
	struct weir_redis redis;
	struct weir_wire *wire;
	unsigned char hash[WEIR_IMAGE_HASH];
} of;

static const unsigned char key[16] = "0123456789abcde";

/* "*2 $3 GET $N {weir:x}:c:HEX:NUMBER", a line each. */
static void answer(FILE *in, int to)
{
	char line[200];
	for (unsigned n = 0; fgets(line, sizeof line, in); n++) {
		const char *colon = strrchr(line, ':');
		if (n % 5 != 4)
			continue;
		assert_non_null(colon);
		server.asked++;
		unsigned long i = strtoul(colon + 1, NULL, 10);
		assert_true(i < CHUNKS);
		if (!server.data[i]) {
			assert_int_equal(write(to, "$-1\r\n", 5), 5);
			continue;
		}
		dprintf(to, "$%zu\r\n", server.len[i]);
		assert_int_equal(write(to, server.data[i], server.len[i]), server.len[i]);
		assert_int_equal(write(to, "\r\n", 2), 2);
	}
}

static void *serve(void *arg)
{
	(void)arg;
	for (int s; (s = accept(server.listener, NULL, NULL)) >= 0;) {
		FILE *in = fdopen(s, "r");
		assert_non_null(in);
		answer(in, s);
		fclose(in);
	}
	return NULL;
}

static int begin_all(void **state)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	(void)state;
	snprintf(server.path, sizeof server.path, "/tmp/weir-image-%ld", (long)getpid());
	snprintf(server.url, sizeof server.url, "unix://%s", server.path);
	snprintf(at.sun_path, sizeof at.sun_path, "%s", server.path);
	server.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(server.listener, (const struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(server.listener, 10), 0);
	assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);
	return 0;
}

static int end_all(void **state)
{
	(void)state;
	shutdown(server.listener, SHUT_RDWR);
	pthread_join(server.thread, NULL);
	close(server.listener);
	unlink(server.path);
	return 0;
}

static void make_image(bool keyed)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	struct weir_bytes_sum sum;
	struct stat st;
	p.kind = WEIR_CLASSIC;
	p.capacity = KEYS;
	p.fp_rate = 1e-6;
	p.secret = keyed ? key : NULL;
	assert_ok(weir_create(&f, &p));
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_insert_u64(f, test_key(i)));
	int fd = memfd_create("image", 0);
	assert_true(fd >= 0);
	assert_ok(weir_save(f, weir_location_fd(fd), NULL));
	weir_destroy(f);
	assert_int_equal(fstat(fd, &st), 0);
	of.len = (size_t)st.st_size;
	assert_non_null(of.bytes = malloc(of.len + 1));
	assert_int_equal(pread(fd, of.bytes, of.len, 0), of.len);
	of.bytes[of.len] = 0;
	assert_ok(weir__bytes_sum(&sum, fd, of.len, true));
	memcpy(of.m.checksum, sum.checksum, sizeof of.m.checksum);
	memcpy(of.hash, sum.hash, sizeof of.hash);
	close(fd);
}

static void begin(bool keyed)
{
	const struct weir_wire_options o = { .url = server.url, .answer_ms = 5000 };
	memset(&of, 0, sizeof of);
	make_image(keyed);
	of.m.generation = 7;
	of.m.kind = WEIR_CLASSIC;
	of.m.bytes = of.len;
	of.m.chunks = CHUNKS;
	of.m.chunk_bytes = of.len / CHUNKS + 1;
	for (size_t i = 0, at = 0; i < CHUNKS; i++, at += of.m.chunk_bytes) {
		server.data[i] = of.bytes + at;
		server.len[i] = of.len - at < of.m.chunk_bytes ? of.len - at : of.m.chunk_bytes;
	}
	server.asked = 0;
	assert_ok(weir__wire_open(&of.wire, &o));
	weir__redis_make(&of.redis, of.wire, "x", 1);
	of.redis.image_wire = of.wire; /* nothing else asks meanwhile */
}

static int begin_plain(void **state)
{
	(void)state;
	begin(false);
	return 0;
}

static int begin_keyed(void **state)
{
	(void)state;
	begin(true);
	return 0;
}

static int end(void **state)
{
	(void)state;
	weir__redis_image_stop(&of.redis);
	weir__wire_close(of.wire);
	free(of.bytes);
	return 0;
}

static int get(void)
{
	struct weir_filter *f = NULL;
	int err = weir__redis_image_await(&of.redis, &of.m, &f);
	if (err)
		return err;
	for (uint64_t i = 0; i < KEYS; i++)
		assert_int_equal(weir_contains_u64(f, test_key(i)), 1);
	weir_destroy(f);
	return 0;
}

static void test_whole(void **state)
{
	(void)state;
	assert_ok(get());
	assert_int_equal(server.asked, CHUNKS);
}

/* By the length alone, before a byte of it is written beyond its place. */
static void test_length(void **state)
{
	(void)state;
	server.len[0]--;
	assert_refused(get(), -EBADMSG, "chunk 0", "bytes instead of");
	server.len[0]++;
	server.len[CHUNKS - 1]++;
	assert_refused(get(), -EBADMSG, "chunk 2", "bytes instead of");
	server.data[1] = NULL;
	assert_refused(get(), -EAGAIN, "chunk 1", "is not there");
}

/* The manifest's checksum, either half: the image has one of its own, which is right here. */
static void test_checksum(void **state)
{
	(void)state;
	for (unsigned half = 0; half < 2; half++) {
		of.m.checksum[half] ^= 1;
		assert_refused(get(), -EBADMSG, "generation 7", "its checksum is");
		of.m.checksum[half] ^= 1;
	}
	of.bytes[of.len / 2] ^= 1;
	assert_refused(get(), -EBADMSG, "generation 7", "its checksum is");
}

/* Its own bytes, and the manifest's checksum of them, but not what was signed. */
static void test_hash(void **state)
{
	(void)state;
	of.redis.trust = (struct weir_trust *)&of; /* whose keys are asked for with the manifest */
	memcpy(of.redis.image_hash, of.hash, sizeof of.hash);
	assert_ok(get());
	of.redis.image_hash[WEIR_IMAGE_HASH - 1] ^= 1;
	assert_refused(get(), -EKEYREJECTED, "generation 7", "not the one that was signed");
	of.redis.trust = NULL;
	assert_ok(get());
}

static uint64_t left(void)
{
	uint64_t here, all;
	weir__redis_image_bytes(&of.redis, &here, &all);
	return all;
}

static void test_too_large(void **state)
{
	(void)state;
	of.redis.max_image_bytes = of.len - 1;
	assert_refused(get(), -EFBIG, "generation 7", "allowed are");
	assert_int_equal(server.asked, 0);
}

static void test_kind(void **state)
{
	(void)state;
	of.m.kind = WEIR_BLOCKED;
	assert_refused(get(), -EBADMSG, "generation 7", "another kind");
}

static void test_key_of_a_keyed_one(void **state)
{
	(void)state;
	of.redis.secret = key;
	assert_ok(get());
	of.redis.secret = NULL;
	assert_refused(get(), -EKEYREJECTED, "generation 7", "key");
	assert_int_equal(left(), 0);
}

/* What came before a failure stays, for this image and for no other. */
static void is_given_up_for(const struct weir_manifest *other)
{
	server.data[CHUNKS - 1] = NULL;
	assert_refused(get(), -EAGAIN, "generation 7", "is not there");
	weir__redis_image_only(&of.redis, &of.m);
	assert_int_equal(left(), of.len);
	struct weir_filter *f;
	assert_refused(weir__redis_image(&of.redis, &of.m, &f), -EAGAIN, "", "is not there");
	weir__redis_image_only(&of.redis, other);
	assert_int_equal(left(), 0);
}

static void test_of_another(void **state)
{
	(void)state;
	struct weir_manifest other[8];
	for (unsigned i = 0; i < 8; i++)
		other[i] = of.m;
	other[0].generation++;
	other[1].bytes++;
	other[2].checksum[0]++;
	other[3].checksum[1]++;
	other[4].chunks++;
	other[5].chunk_bytes++;
	other[6].stored++;
	strcpy(other[7].path, "/another");
	for (unsigned i = 0; i < 8; i++)
		is_given_up_for(&other[i]);
	is_given_up_for(NULL);
	other[0] = of.m;
	other[0].kind = WEIR_BLOCKED;
	is_given_up_for(&other[0]);
}

static void test_nothing_is_left_of_what_will_not_do(void **state)
{
	(void)state;
	of.m.path[0] = '/'; /* and no base URL */
	assert_refused(get(), -ENOTSUP, "generation 7", "no base URL");
	assert_int_equal(left(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, begin_plain, end),
		cmocka_unit_test_setup_teardown(test_length, begin_plain, end),
		cmocka_unit_test_setup_teardown(test_checksum, begin_plain, end),
		cmocka_unit_test_setup_teardown(test_hash, begin_plain, end),
		cmocka_unit_test_setup_teardown(test_too_large, begin_plain, end),
		cmocka_unit_test_setup_teardown(test_kind, begin_plain, end),
		cmocka_unit_test_setup_teardown(test_of_another, begin_plain, end),
		cmocka_unit_test_setup_teardown(test_nothing_is_left_of_what_will_not_do,
			begin_plain, end),
		cmocka_unit_test_setup_teardown(test_key_of_a_keyed_one, begin_keyed, end),
	};
	return cmocka_run_group_tests(tests, begin_all, end_all);
}
