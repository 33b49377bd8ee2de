/* SPDX-License-Identifier: MIT
 * Helpers for the tests of handles: the flavors of RCU, a thread that stays in a read-side section
 * until the test ends it, and checks for keys. */
#ifndef WEIR_TESTS_HANDLES_H
#define WEIR_TESTS_HANDLES_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <urcu/flavor.h>
#include "figures.h"
#include "test.h"

extern const struct rcu_flavor_struct urcu_bp_flavor, urcu_memb_flavor, urcu_mb_flavor,
	urcu_qsbr_flavor;

struct flavor {
	const char *name;
	const struct rcu_flavor_struct *given; /* argument of weir_handle_create() */
	const struct rcu_flavor_struct *rcu;   /* the flavor of a handle created with @given */
	bool has_sections;                     /* weir can tell if a thread is in a section */
};

static const struct flavor flavors[] = {
	{ "default", NULL, &urcu_bp_flavor, true },
	{ "bp", &urcu_bp_flavor, &urcu_bp_flavor, true },
	{ "memb", &urcu_memb_flavor, &urcu_memb_flavor, true },
	{ "mb", &urcu_mb_flavor, &urcu_mb_flavor, true },
	{ "qsbr", &urcu_qsbr_flavor, &urcu_qsbr_flavor, false },
};

#define FOR_EACH_FLAVOR(flavor) \
	for (const struct flavor *flavor = flavors; flavor < flavors + COUNT_OF(flavors); flavor++)

static inline int handle_with(struct weir_handle **out, struct weir_filter *initial,
                              const struct rcu_flavor_struct *flavor)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	o.flavor = flavor;
	return weir_handle_create(out, initial, &o);
}

/* Return: a handle on an empty filter. The calling thread is registered until close_handle(). */
static inline struct weir_handle *open_handle(const struct flavor *flavor, uint64_t capacity)
{
	struct weir_handle *h = NULL;
	flavor->rcu->register_thread();
	assert_ok(handle_with(&h, test_filter(WEIR_BLOCKED, capacity, 0.01), flavor->given));
	return h;
}

static inline void close_handle(const struct flavor *flavor, struct weir_handle *h)
{
	assert_ok(weir_handle_destroy(h));
	flavor->rcu->unregister_thread();
}

/* Check that since @before one filter was refused, and that nothing else has changed. */
static inline void assert_one_refused_since(const struct weir_handle *h,
                                            const struct weir_handle_stats *before)
{
	struct weir_handle_stats after = stats_of(h);
	assert_int_equal(after.generation, before->generation);
	assert_int_equal(after.swaps, before->swaps);
	assert_int_equal(after.refused, before->refused + 1);
	assert_int_equal(after.bytes, before->bytes);
	assert_false(after.reloading);
}

/* Return: the number of keys from @from to @to - 1 that the handle lacks. */
static inline uint64_t missing_in(const struct weir_handle *h, uint64_t from, uint64_t to)
{
	uint64_t n = 0;
	for (uint64_t i = from; i < to; i++)
		n += !weir_handle_contains_hash(h, test_key(i));
	return n;
}

static inline void insert_into(struct weir_handle *h, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		assert_ok(weir_handle_insert_hash(h, test_key(i)));
}

/* Wait until call_rcu has freed old filters, so that the handle has @bytes. */
static inline void expect_bytes(const struct flavor *flavor, const struct weir_handle *h,
                                uint64_t bytes)
{
	for (unsigned i = 0; i < 20000 && stats_of(h).bytes != bytes; i++) {
		flavor->rcu->thread_offline();
		usleep(1000);
		flavor->rcu->thread_online();
	}
	assert_int_equal(stats_of(h).bytes, bytes);
}

/* A thread in a read-side section. */
struct sitter {
	const struct rcu_flavor_struct *rcu;
	pthread_t thread;
	sem_t sits, leave;
};

static inline void *sit(void *argument)
{
	struct sitter *s = argument;
	s->rcu->register_thread();
	s->rcu->read_lock();
	sem_post(&s->sits);
	while (sem_wait(&s->leave))
		;
	s->rcu->read_unlock();
	s->rcu->unregister_thread();
	return NULL;
}

static inline void sitter_start(struct sitter *s, const struct rcu_flavor_struct *rcu)
{
	s->rcu = rcu;
	sem_init(&s->sits, 0, 0);
	sem_init(&s->leave, 0, 0);
	assert_int_equal(pthread_create(&s->thread, NULL, sit, s), 0);
	while (sem_wait(&s->sits))
		;
}

static inline void sitter_end(struct sitter *s)
{
	sem_post(&s->leave);
	pthread_join(s->thread, NULL);
}

#endif
