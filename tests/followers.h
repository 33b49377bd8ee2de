/* SPDX-License-Identifier: MIT
 * Helpers for the tests of followers: a folder with an image that is replaced, a log of the
 * follower's reports, and waits for reports. */
#ifndef WEIR_TESTS_FOLLOWERS_H
#define WEIR_TESTS_FOLLOWERS_H

#include <time.h>
#include "folder.h"
#include "handles.h"

/* Times in seconds. Followers poll at the interval @never or @often. A test of inotify uses @never,
 * so that only inotify can tell the follower of a change. A wait fails after @patience. */
static const double never = 600, often = 0.02, patience = 60;

static char other[4200];

/* The reports of followers. */
static struct log {
	pthread_mutex_t lock;
	unsigned swaps, failures;
	int result;
	char sentence[600];
} heard;

static inline void report(void *context, int result, const char *sentence)
{
	struct log *l = context;
	pthread_mutex_lock(&l->lock);
	l->swaps += result == 1;
	l->failures += result < 0;
	l->result = result;
	snprintf(l->sentence, sizeof l->sentence, "%s", sentence);
	pthread_mutex_unlock(&l->lock);
}

static inline int setup(void **state)
{
	(void)folder_setup(state);
	snprintf(other, sizeof other, "%s/other", folder);
	heard = (struct log){ .lock = PTHREAD_MUTEX_INITIALIZER };
	return 0;
}

static inline double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Wait until the condition holds, but for at most @patience seconds. */
#define WAIT_UNTIL(condition) \
	for (double begun_ = now(); !(condition) && now() - begun_ < patience;) \
		usleep(1000)

static inline void save(uint64_t from, uint64_t to)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 10000, 0.01);
	for (uint64_t i = from; i < to; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

static inline struct weir_follower *follow(struct weir_handle *h, double poll_seconds,
                                           bool poll_only)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_follower *f = NULL;
	o.poll_seconds = poll_seconds;
	o.poll_only = poll_only;
	o.report = report;
	o.context = &heard;
	assert_ok(weir_follower_start(&f, h, path, &o));
	return f;
}

/* Check that the last report had @result, and that its error text contains @part. */
static inline void heard_last(int result, const char *part)
{
	pthread_mutex_lock(&heard.lock);
	if (heard.result != result || !strstr(heard.sentence, part))
		fail_msg("reported %d, \"%s\", where %d with \"%s\" was due", heard.result,
		         heard.sentence, result, part);
	pthread_mutex_unlock(&heard.lock);
}

static inline bool has_heard(unsigned swaps, unsigned failures)
{
	pthread_mutex_lock(&heard.lock);
	bool there = heard.swaps >= swaps && heard.failures >= failures;
	pthread_mutex_unlock(&heard.lock);
	return there;
}

/* Wait until @swaps swaps and @failures failures were reported, and check that neither number is
 * larger. With the flavor qsbr this thread is offline during the wait. */
static inline void expect(const struct flavor *flavor, unsigned swaps, unsigned failures)
{
	double begun = now();
	flavor->rcu->thread_offline();
	WAIT_UNTIL(has_heard(swaps, failures));
	flavor->rcu->thread_online();
	pthread_mutex_lock(&heard.lock);
	if (heard.swaps != swaps || heard.failures != failures)
		fail_msg("after %.3f s %u swaps and %u failures (the last: %d, \"%s\"), where %u "
		         "and %u were due",
		         now() - begun, heard.swaps, heard.failures, heard.result, heard.sentence,
		         swaps, failures);
	pthread_mutex_unlock(&heard.lock);
}

#endif
