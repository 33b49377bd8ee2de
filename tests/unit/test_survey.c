/* SPDX-License-Identifier: MIT
 * Surveys (measurements of a sample) of an array and of a filter with members: which lines they
 * read, and when they call progress. */
#include <sys/mman.h>
#include "../test.h"
#include "filter/filter.h"

/* The survey reads lines in one shard of each group of 85 shards. The last group has a single
 * shard, and the memory after this shard is not readable. */
static void test_a_random_sample_ends_at_the_last_shard(void **state)
{
	enum { SHARDS = 256, BYTES = SHARDS << 16, RUNS = 3 };
	const struct weir_survey survey = { .lines = RUNS * WEIR__SURVEY_FEWEST_LINES,
		                            .unforeseen = true };
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	char *bits = mmap(NULL, 2 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)state;
	assert_true(bits != MAP_FAILED);
	assert_int_equal(mprotect(bits, BYTES, PROT_READ | PROT_WRITE), 0);
	p.max_bytes = p.memory_bytes = BYTES;
	p.memory = bits;
	p.fp_rate = 0.01;
	p.shards = SHARDS;
	assert_ok(weir_create(&f, &p));
	for (unsigned i = 0; i < 100; i++) {
		struct weir_stats s = WEIR_STATS_INIT;
		assert_ok(weir__survey(f, &survey, &s));
		assert_true(s.sampled * BYTES == 64 * 4 * WEIR__SURVEY_FEWEST_LINES);
	}
	weir_destroy(f);
	assert_int_equal(munmap(bits, 2 * BYTES), 0);
}

struct calls {
	uint64_t last, total;
	unsigned n, stop_at;
};

static int note(void *arg, uint64_t done, uint64_t total)
{
	struct calls *calls = arg;
	assert_true(done > calls->last && done < total);
	assert_true(!calls->n || total == calls->total);
	calls->last = done;
	calls->total = total;
	return ++calls->n == calls->stop_at;
}

/* Return: a filter with several layers of some MiB each. */
static struct weir_filter *grown(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.kind = WEIR_GROWING;
	p.capacity = 1500000;
	p.fp_rate = 0.01;
	p.growing.max_capacity = 8000000;
	assert_ok(weir_create(&f, &p));
	for (uint64_t i = 0; i < 2000000; i++)
		assert_ok(weir_insert_u64(f, i));
	return f;
}

static void test_progress_continues_over_the_members(void **state)
{
	struct weir_filter *f = grown();
	struct weir_member member[WEIR__MEMBERS_MOST];
	struct calls calls = { 0 };
	struct weir_stats s = WEIR_STATS_INIT;
	const struct weir_survey survey = { .lines = UINT64_MAX, .progress = note,
		                            .progress_arg = &calls };
	(void)state;
	assert_int_equal(weir__members(f, member), 2);
	assert_ok(weir__survey(f, &survey, &s));
	assert_int_equal(calls.total, s.bytes);
	assert_true(s.bytes - calls.last <= WEIR__PIECE);
	assert_true(calls.n >= s.bytes / WEIR__PIECE - 2);
	calls = (struct calls){ .stop_at = calls.n };
	assert_int_equal(weir__survey(f, &survey, &s), -ECANCELED);
	assert_int_equal(calls.n, calls.stop_at);
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_random_sample_ends_at_the_last_shard),
		cmocka_unit_test(test_progress_continues_over_the_members),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
