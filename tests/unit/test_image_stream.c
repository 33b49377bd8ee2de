/* SPDX-License-Identifier: MIT
 * Images through pipes, sockets, open files and memory. The calls never seek, read no byte beyond
 * the image, and return an error if the peer closes the connection. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include "../image_bytes.h"
#include "../folder.h"

enum { KEYS = 200000 };

static struct weir_filter *f, *untouched;
static int setup(void **state)
{
	signal(SIGPIPE, SIG_IGN);
	(void)folder_setup(state);
	f = test_filter(WEIR_BLOCKED, KEYS, 0.01);
	for (uint64_t i = 0; i < KEYS; i++)
		if (weir_insert_hash(f, test_key(i)) < 0)
			return -1;
	return 0;
}

static int teardown(void **state)
{
	weir_destroy(f);
	(void)folder_teardown(state);
	return untouched != NULL;
}

static void assert_all_there(const struct weir_filter *g)
{
	uint64_t others = 0;
	for (uint64_t i = 0; i < KEYS; i++)
		assert_true(weir_contains_hash(g, test_key(i)));
	for (uint64_t i = KEYS; i < 2 * KEYS; i++)
		others += weir_contains_hash(g, test_key(i));
	assert_true(others < KEYS / 50);
}

struct writer {
	int fd, level, answer;
	struct weir_save_options options;
};

static void *write_image(void *arg)
{
	struct writer *w = arg;
	w->options = (struct weir_save_options)WEIR_SAVE_OPTIONS_INIT;
	w->options.zstd_level = w->level;
	w->answer = test_done(weir_save(f, weir_location_fd(w->fd), &w->options));
	if (w->answer == 0 && write(w->fd, "after", 5) != 5)
		w->answer = -EIO;
	return NULL;
}

/* Send images through @fds, each followed by other bytes. The reader must read exactly the image's
 * bytes. */
static void through(int fds[2])
{
	for (int level = 0; level <= 3 * TEST_ZSTD; level += 3) {
		struct writer w = { .fd = fds[1], .level = level };
		struct weir_filter *g;
		pthread_t thread;
		char after[6] = "";
		assert_int_equal(pthread_create(&thread, NULL, write_image, &w), 0);
		assert_ok(weir_load(&g, weir_location_fd(fds[0]), NULL));
		assert_int_equal(read(fds[0], after, 5), 5);
		assert_string_equal(after, "after");
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_ok(w.answer);
		assert_all_there(g);
		weir_destroy(g);
	}
	close(fds[0]);
	close(fds[1]);
}

static void test_images_through_a_pipe(void **state)
{
	int fds[2];
	(void)state;
	assert_int_equal(pipe(fds), 0);
	through(fds);
}

static void test_images_through_a_socket(void **state)
{
	int fds[2];
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	through(fds);
}

static void test_a_stream_has_the_bytes_of_a_file(void **state)
{
	char file[4200];
	size_t n = 0, m = 0;
	(void)state;
	snprintf(file, sizeof file, "%s/file", folder);
	for (int level = 0; level <= 3 * TEST_ZSTD; level += 3) {
		struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
		o.zstd_level = level;
		int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
		assert_ok(weir_save(f, weir_location_fd(fd), &o));
		close(fd);
		assert_ok(weir_save(f, weir_location_path(file), &o));
		unsigned char *a = image_slurp(path, &n), *b = image_slurp(file, &m);
		assert_int_equal(n, m);
		assert_memory_equal(a, b, n);
		struct weir_filter *g;
		assert_ok(weir_load(&g, weir_location_memory(a, n), NULL));
		assert_all_there(g);
		weir_destroy(g);
		assert_refused(weir_load(&untouched, weir_location_memory(a, n - 1), NULL),
		               -EBADMSG, "memory", "");
		a = realloc(a, n + 1);
		assert_non_null(a);
		assert_refused(weir_load(&untouched, weir_location_memory(a, n + 1), NULL),
		               -EBADMSG, "memory", "");
		memmove(a + 1, a, n); /* now the image begins at an odd address */
		assert_ok(weir_load(&g, weir_location_memory(a + 1, n), NULL));
		weir_destroy(g);
		free(a);
		free(b);
	}
	unlink(file);
}

static void test_images_in_the_middle_of_a_file(void **state)
{
	struct weir_filter *g;
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	(void)state;
	assert_int_equal(write(fd, "before", 6), 6);
	for (int i = 0; i < 2; i++)
		assert_ok(weir_save(f, weir_location_fd(fd), NULL));
	assert_int_equal(write(fd, "after", 5), 5);
	assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
	for (int i = 0; i < 2; i++) {
		assert_ok(weir_load(&g, weir_location_fd(fd), NULL));
		assert_all_there(g);
		weir_destroy(g);
	}
	char after[6] = "";
	assert_int_equal(read(fd, after, 5), 5);
	assert_string_equal(after, "after");
	/* no bytes remain in the stream, so another load fails */
	assert_refused(weir_load(&untouched, weir_location_fd(fd), NULL), -EBADMSG,
	               "file descriptor", "byte 0");
	assert_int_equal(lseek(fd, 1 << 30, SEEK_SET), 1 << 30);
	/* the read position is beyond the end of the file */
	assert_refused(weir_load(&untouched, weir_location_fd(fd), NULL), -EBADMSG,
	               "file descriptor", "byte 0");
	close(fd);
}

/* Before it reads, a load checks how many bytes the file has after the read position. The bytes
 * before the read position are not part of the image. */
static void test_a_short_rest_of_a_file_is_refused(void **state)
{
	size_t n = 0;
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	unsigned char *image = image_slurp(path, &n);
	unsigned char *bytes = calloc(1, n + IMAGE_PAGE);
	assert_non_null(image);
	assert_non_null(bytes);
	memcpy(bytes + IMAGE_PAGE, image, n);
	assert_true(image_spit(path, bytes, n + IMAGE_PAGE - 1));
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(lseek(fd, IMAGE_PAGE, SEEK_SET), IMAGE_PAGE);
	assert_refused(weir_load(&untouched, weir_location_fd(fd), NULL), -EBADMSG,
	               "length of what is there", "");
	close(fd);
	unlink(path);
	free(image);
	free(bytes);
}

static int insert_more(void *filter, uint64_t done, uint64_t total)
{
	assert_true(done <= total);
	for (uint64_t i = KEYS; i < 2 * KEYS; i++)
		assert_true(weir_insert_hash(filter, test_key(i)) >= 0);
	return 0;
}

/* A stream contains each checksum before the bits. If keys are inserted after the checksum was
 * written, the stream must still contain the bits that the checksum covers. */
static void test_an_image_streamed_during_inserts_is_valid(void **state)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *filling, *g;
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	(void)state;
	assert_ok(weir_clone(&filling, f));
	o.progress = insert_more;
	o.progress_arg = filling;
	assert_ok(weir_save(filling, weir_location_fd(fd), &o));
	weir_destroy(filling);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_ok(weir_load(&g, weir_location_fd(fd), NULL));
	assert_all_there(g);
	weir_destroy(g);
	close(fd);
}

static void test_a_closed_peer_is_reported(void **state)
{
	int fds[2];
	(void)state;
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	assert_refused(weir_save(f, weir_location_fd(fds[1]), NULL), -EPIPE, "file descriptor",
	               "write");
	close(fds[1]);
	assert_refused(weir_save(f, weir_location_fd(fds[1]), NULL), -EBADF, "file descriptor", "");
	assert_refused(weir_load(&untouched, weir_location_fd(fds[1]), NULL), -EBADF,
	               "file descriptor", "");
	assert_refused(weir_load(&untouched, weir_location_fd(-1), NULL), -EBADF, "-1", "");
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "WEIRIMG1", 8), 8);
	close(fds[1]);
	assert_refused(weir_load(&untouched, weir_location_fd(fds[0]), NULL), -EBADMSG,
	               "file descriptor", "byte 8");
	close(fds[0]);
	fds[0] = open(folder, O_RDONLY | O_DIRECTORY);
	assert_refused(weir_load(&untouched, weir_location_fd(fds[0]), NULL), -EISDIR,
	               "file descriptor", "directory");
	/* the descriptor is open for reading only */
	assert_refused(weir_save(f, weir_location_fd(fds[0]), NULL), -EBADF, "file descriptor",
	               "write");
	close(fds[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_images_through_a_pipe),
		cmocka_unit_test(test_images_through_a_socket),
		cmocka_unit_test(test_a_stream_has_the_bytes_of_a_file),
		cmocka_unit_test(test_images_in_the_middle_of_a_file),
		cmocka_unit_test(test_a_short_rest_of_a_file_is_refused),
		cmocka_unit_test(test_an_image_streamed_during_inserts_is_valid),
		cmocka_unit_test(test_a_closed_peer_is_reported),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
