/* SPDX-License-Identifier: MIT
 * Helpers for the tests of live images: a fresh image for each test, inserts, and the check that an
 * image is live, or sealed and valid. */
#ifndef WEIR_TESTS_FAULT_LIVE_H
#define WEIR_TESTS_FAULT_LIVE_H

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "faults.h"

enum { FEW = 50, MOST_STEPS = 400 };

static inline int live_setup(void **state)
{
	(void)folder_setup(state);
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 200000, 0.01); /* has several shards */
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_SAMPLED, &stats));
	assert_true(stats.shards > 1);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	shim = (struct shim){ .no_waiting = true };
	return 0;
}

static inline void name_lock(char out[4400])
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	snprintf(out, 4400, "%s/.weir-live-%016llx-%016llx", folder, (unsigned long long)st.st_dev,
	         (unsigned long long)st.st_ino);
}

static inline int insert(struct weir_filter *f, uint64_t from)
{
	for (uint64_t i = from; i < from + FEW; i++)
		if (weir_insert_hash(f, test_key(i)) < 0)
			return -1;
	return 0;
}

static inline void assert_has(const struct weir_filter *f, uint64_t from)
{
	for (uint64_t i = from; i < from + FEW; i++)
		assert_true(weir_contains_hash(f, test_key(i)));
}

static inline struct weir_filter *map_live(void)
{
	struct weir_filter *f = NULL;
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	return f;
}

/* Check that the image is live, or sealed and valid. Return: true if it is sealed. */
static inline bool sealed(void)
{
	struct weir_filter *f = NULL;
	int err = weir_load(&f, weir_location_path(path), NULL);
	assert_ok(err == -EBUSY ? 0 : err);
	weir_destroy(f);
	return err == 0;
}

static inline void seal_it(struct weir_filter *f)
{
	assert_ok(weir_seal(f));
	weir_destroy(f);
	assert_true(sealed());
}

/* Fork a child that the kernel kills when this process ends. */
static inline pid_t new_process(void)
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

#endif
