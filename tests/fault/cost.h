/* SPDX-License-Identifier: MIT
 * Helpers for the tests of what an image costs to read: a progress function that counts and stops,
 * a child process with a memory limit, and a check of an image's bits. */
#ifndef WEIR_TESTS_FAULT_COST_H
#define WEIR_TESTS_FAULT_COST_H

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "../declared.h"
#include "../folder.h"

static const uint64_t KIB = 1 << 10, MIB = 1 << 20;

/* The argument of count(), a progress function that stops at call number most_calls. */
struct stop {
	uint64_t calls, most_calls;
	uint64_t done,    /* bytes reported by the last call */
	         longest; /* the largest number of bytes between two calls */
};

static inline int count(void *arg, uint64_t done, uint64_t total)
{
	struct stop *stop = arg;
	assert_true(done <= total && done >= stop->done);
	if (done - stop->done > stop->longest)
		stop->longest = done - stop->done;
	stop->done = done;
	return ++stop->calls == stop->most_calls;
}

static inline struct weir_load_options counted(struct stop *stop)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.progress = count;
	o.progress_arg = stop;
	return o;
}

static inline uint64_t address_space(void)
{
	unsigned long long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");
	if (statm && fscanf(statm, "%llu", &pages) != 1)
		pages = 0;
	if (statm)
		fclose(statm);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static inline uint64_t most_resident(void)
{
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	return (uint64_t)used.ru_maxrss * KIB;
}

/* Call @run in a child process, so that the memory is counted from zero. The test fails if the
 * child takes @memory bytes or more. @growth: the number of bytes by which the child's address
 * space may grow; 0: no limit. */
static inline void within(void (*run)(void), uint64_t growth, uint64_t memory)
{
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct rlimit limit = { address_space() + growth, RLIM_INFINITY };
		uint64_t before = most_resident();
		if (growth && setrlimit(RLIMIT_AS, &limit))
			_exit(2);
		run();
		uint64_t taken = most_resident() - before;
		if (taken >= memory)
			print_error("%llu KiB of memory were taken\n",
			            (unsigned long long)(taken / KIB));
		_exit(taken >= memory);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* An assertion for a child process. If it fails, the child ends. An assertion of cmocka would let
 * the child go on with the next test. */
#define must(condition) \
	do { \
		if (!(condition)) { \
			print_error("%s:%d: not so: %s (\"%s\")\n", __FILE__, __LINE__, \
			            #condition, weir_error_detail()); \
			_exit(1); \
		} \
	} while (0)

/* Check that a load of the image at path gives the bits @bits. If the image is not packed, check
 * the same for a mapping. Then check that a load notices a changed bit in the image's last byte. */
static inline void assert_image_bits(const unsigned char *bits, uint64_t bytes, bool packed)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	size_t n = 0;
	char other[4200];
	o.allow_uneven = true; /* allow bits that no uniform hashes have set */
	snprintf(other, sizeof other, "%s/other", folder);
	for (int how = packed ? 1 : 0; how < 2; how++) {
		assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
		if (how)
			assert_ok(weir_load(&f, weir_location_path(path), NULL));
		else
			assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
		assert_ok(weir_save(f, weir_location_path(other), &o));
		weir_destroy(f);
		unsigned char *image = image_slurp(other, &n);
		assert_int_equal(n, DECLARED_HUGE_PAGE + bytes);
		assert_memory_equal(image + DECLARED_HUGE_PAGE, bits, bytes);
		free(image);
	}
	unsigned char *image = image_slurp(path, &n);
	image[n - 1] ^= 8;
	f = NULL;
	assert_refused(weir_load(&f, weir_location_memory(image, n), NULL), -EBADMSG, "shard 0",
	               "");
	assert_true(image_spit(path, image, n));
	assert_refused(weir_image_verify(weir_location_path(path), NULL, NULL), -EBADMSG, path,
	               "shard 0");
	assert_refused(weir_load(&f, weir_location_map(path, WEIR_MAP_PRIVATE), NULL),
	               packed ? -EINVAL : -EBADMSG, path, packed ? "compressed" : "shard 0");
	assert_null(f);
	free(image);
}

static inline unsigned char *random_bits(uint64_t bytes)
{
	unsigned char *bits = malloc(bytes);
	assert_non_null(bits);
	for (uint64_t i = 0; i < bytes / 8; i++)
		image_put64(bits + 8 * i, test_key(i));
	return bits;
}

#endif
