/* SPDX-License-Identifier: MIT
 * Replicas for the tests, and a private server. */
#ifndef WEIR_TESTS_REPLICA_SERVICE_SERVICE_H
#define WEIR_TESTS_REPLICA_SERVICE_SERVICE_H

#include <pthread.h>
#include <weir/replica.h>
#include "../store/server.h"

static struct server server;
static char url[320];
static struct weir_params params;

/* The calls of report(): the number of calls with result 1 (swaps), 0 (news) and below 0
 * (failures), and the result and sentence of the last call. */
static struct { int swaps, news, failures, result; char sentence[WEIR_SENTENCE_BYTES]; } heard;
static pthread_mutex_t hearing = PTHREAD_MUTEX_INITIALIZER;

static inline void hear(void *context, int result, const char *sentence)
{
	(void)context;
	pthread_mutex_lock(&hearing);
	heard.swaps += result == 1;
	heard.news += result == 0;
	heard.failures += result < 0;
	heard.result = result;
	snprintf(heard.sentence, sizeof heard.sentence, "%s", sentence);
	pthread_mutex_unlock(&hearing);
}

static inline bool has_heard(int result, const char *part)
{
	pthread_mutex_lock(&hearing);
	const bool has = heard.result == result && strstr(heard.sentence, part);
	pthread_mutex_unlock(&hearing);
	return has;
}

/* Wait until @condition is true, or until the test's time limit. */
#define eventually(condition) \
	do \
		usleep(2000); \
	while (!(condition))

static inline int begin(void **state)
{
	(void)state;
	memset(&heard, 0, sizeof heard);
	server_begin(&server, NULL, NULL);
	snprintf(url, sizeof url, "unix://%s", server.path);
	params = (struct weir_params)WEIR_PARAMS_INIT;
	params.kind = WEIR_BLOCKED;
	params.capacity = 10000;
	params.fp_rate = 1e-6;
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	server_end(&server);
	return 0;
}

static inline struct weir_replica_options options(void)
{
	struct weir_replica_options o = WEIR_REPLICA_OPTIONS_INIT;
	o.set = "test";
	o.url = url;
	o.params = &params;
	o.report = hear;
	return o;
}

static inline struct weir_replica *open_with(const struct weir_replica_options *o)
{
	struct weir_replica *r = NULL;
	assert_ok(weir_replica_open(&r, o));
	return r;
}

static inline struct weir_replica *open_one(void)
{
	const struct weir_replica_options o = options();
	return open_with(&o);
}

static inline struct weir_replica_stats stats(const struct weir_replica *r)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	assert_ok(weir_replica_measure(r, &s));
	return s;
}

static inline bool has(const struct weir_replica *r, uint64_t key)
{
	return weir_handle_contains_u64(weir_replica_handle(r), key);
}

static inline int insert(struct weir_replica *r, uint64_t key, uint32_t wait)
{
	return weir_replica_insert_u64(r, key, wait);
}

#endif
