/* SPDX-License-Identifier: MIT
 * Finishes a builder. weir_build() runs a builder from start to end. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "build/builder.h"
#include "build/distinct.h"
#include "filter/filter.h"
#include "ground/error.h"
#include "ground/system.h"

/* How a builder handles an exclude list. Sealing makes the sieve, which is a filter of the included
 * keys. The exclude list is streamed through the sieve, and only excluded keys that pass are kept.
 * The kind builds the filter from the included keys and the kept excluded keys. */

/* ---- sealing ---- */

/* Excluded keys that pass the sieve use the memory that the included keys leave. Included keys
 * that take more than half of the memory go to the file, if the builder has a spill folder. */
static int settle_memory(struct weir_builder *b)
{
	const uint64_t bytes = 8 * weir__collected(&b->collected);
	if (b->collected.most_bytes == UINT64_MAX || bytes <= b->collected.most_bytes / 2 ||
	    !b->folder)
		return 0;
	return weir__collect_to_file(&b->collected);
}

static uint64_t remaining_memory(const struct weir_builder *b)
{
	const uint64_t most = b->collected.most_bytes, kept = 8 * b->included->given.n;
	if (most == UINT64_MAX || b->included->distinct.to_file)
		return most;
	return most > kept ? most - kept : 0;
}

static int make_sieve(struct weir_builder *b)
{
	struct weir_params p;
	struct weir_plan plan = WEIR_PLAN_INIT;
	int err = weir__kind(b->params.kind)->sieve(&b->params, &p);
	if (!err)
		err = weir_plan_make(&p, &plan);
	return err ? err : weir__builder_make(b, &b->sieve, &p, &plan, &b->included->given);
}

static int make_passed(struct weir_builder *b)
{
	void *memory;
	if (posix_memalign(&memory, 64, sizeof *b->passed))
		return weir__fail(-ENOMEM, "no memory for what passes of the exclude list");
	b->passed = memory;
	weir__collect_begin(b->passed, remaining_memory(b), b->folder);
	return 0;
}

int weir__builder_seal(struct weir_builder *b)
{
	const double begun = weir__seconds();
	int err = settle_memory(b);
	if (!err)
		err = weir__builder_sort(b, &b->included);
	if (!err)
		err = make_sieve(b);
	if (!err)
		err = make_passed(b);
	b->report.sort_seconds = 0;
	b->report.seal_seconds = weir__seconds() - begun;
	return err;
}

static int check_sieve(const struct weir_builder *b)
{
	const struct weir_kind *kind = weir__kind(b->params.kind);
	return kind->sieve ? 0 : weir__kind_cannot(kind, "take an exclude list");
}

int weir_builder_seal(struct weir_builder *b)
{
	int err = check_sieve(b), failed = atomic_load_explicit(&b->failed, memory_order_relaxed);
	if (err)
		return err;
	if (failed)
		return weir__builder_has_failed(failed);
	if (b->sieve)
		return weir__fail(-EINVAL, "the builder is sealed already");
	err = weir__builder_seal(b);
	if (err)
		atomic_store_explicit(&b->failed, err, memory_order_relaxed);
	return err;
}

/* ---- excluding ---- */

enum { AT_A_TIME = 512 };

static int exclude_some(struct weir_builder *b, const uint64_t *hashes, size_t n)
{
	uint64_t bitmap[WEIR_BITMAP_WORDS(AT_A_TIME)], kept[AT_A_TIME];
	size_t m = 0;
	if (!weir__contains_hashes(b->sieve, hashes, n, bitmap))
		return 0;
	for (size_t word = 0; 64 * word < n; word++)
		for (uint64_t left = bitmap[word]; left; left &= left - 1)
			kept[m++] = hashes[64 * word + (unsigned)__builtin_ctzll(left)];
	return weir__collect(b->passed, kept, m);
}

static int exclude(struct weir_builder *b, const uint64_t *hashes, size_t n)
{
	int err = 0;
	for (size_t at = 0; at < n && !err; at += AT_A_TIME)
		err = exclude_some(b, hashes + at, n - at < AT_A_TIME ? n - at : AT_A_TIME);
	if (err)
		atomic_store_explicit(&b->failed, err, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&b->excluded, n, memory_order_relaxed);
	return err;
}

int weir_builder_exclude_keys(struct weir_builder *b, struct weir_keys keys)
{
	int err = check_sieve(b), failed = atomic_load_explicit(&b->failed, memory_order_relaxed);
	if (err)
		return err;
	if (failed)
		return weir__builder_has_failed(failed);
	if (!b->sieve)
		return weir__fail(-EINVAL, "the builder is not sealed: all included keys first, "
		                  "then weir_builder_seal()");
	return weir__builder_take(b, keys, exclude);
}

/* ---- finishing ---- */

static int fail_in_both(const struct weir_build_report *report)
{
	return weir__fail(-EEXIST, "hash 0x%016" PRIx64 " is of an included and an excluded key%s: "
	                  "if it is one key, it can be in one list only; if they are two, start "
	                  "again with another seed", report->equal_hash,
	                  report->equal > 1 ? ", and it is not the only one" : "");
}

/* The second level stores the included keys and the excluded keys that passed. Check that a run is
 * not longer than a part of this level (@run_bits in distinct.h). */
static int check_runs(const struct weir_builder *b, uint64_t passed)
{
	const unsigned bits = WEIR_BIN_BITS + b->included->distinct.run_bits;
	if ((b->report.keys + passed) >> bits <= 1000000)
		return 0;
	return weir__refused(
		weir__fail(-EFBIG, "exclude_keys %" PRIu64 ": %" PRIu64
		           " keys of the exclude list "
		           "have passed the first level: give a number nearer to the list's",
		           b->params.layered.exclude_keys, passed),
		WEIR_ERROR_PASSED, "exclude_keys", (double)b->params.layered.exclude_keys,
		(double)passed, 0, 0);
}

static int build_on_sieve(struct weir_builder *b, struct weir_filter **out,
                          const struct weir_sorted *passed)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	int err = check_runs(b, passed->given.n);
	if (!err)
		err = weir__overlap(&b->included->distinct, &passed->distinct, b->options.threads,
		                    &b->report.equal, &b->report.equal_hash);
	if (!err && b->report.equal)
		err = fail_in_both(&b->report);
	if (err)
		return err;
	b->included->given.sieve = b->sieve;
	b->included->given.passed = &passed->given;
	plan.shape.kind = b->params.kind;
	err = weir__kind(b->params.kind)->on_sieve(&b->params, b->sieve, passed->given.n, &plan);
	if (!err)
		err = weir__builder_make(b, out, &b->params, &plan, &b->included->given);
	b->included->given.passed = NULL;
	return err;
}

int weir__builder_finish_sealed(struct weir_builder *b, struct weir_filter **out)
{
	struct weir_build_report *report = &b->report;
	struct weir_sorted *passed = NULL;
	const uint64_t collected = weir__collected(b->passed);
	const double begun = weir__seconds();
	report->excluded = atomic_load_explicit(&b->excluded, memory_order_relaxed);
	b->done = 0;
	b->total = 2 * collected + report->keys;
	int err = weir__sort(&passed, b, b->passed, b->params.capacity + collected);
	const double sorted = weir__seconds();
	report->sort_seconds = sorted - begun;
	report->spilled_bytes += atomic_load_explicit(&b->passed->end, memory_order_relaxed);
	if (!err) {
		report->passed = passed->given.n;
		b->total = collected + report->passed + report->keys;
		err = build_on_sieve(b, out, passed);
		report->build_seconds = weir__seconds() - sorted;
	}
	weir__sorted_free(passed);
	return err;
}

/* ---- the end ---- */

/* Finish a builder for a kind without an exclude list. */
static int finish_at_once(struct weir_builder *b, struct weir_filter **out)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_sorted *sorted = NULL;
	int err = weir__builder_sort(b, &sorted);
	const double begun = weir__seconds();
	if (!err)
		err = weir_plan_make(&b->params, &plan);
	if (!err)
		err = weir__builder_make(b, out, &b->params, &plan, &sorted->given);
	b->report.build_seconds = weir__seconds() - begun;
	weir__sorted_free(sorted);
	return err;
}

static int finish(struct weir_builder *b, struct weir_filter **out)
{
	if (!weir__kind(b->params.kind)->sieve)
		return finish_at_once(b, out);
	int err = b->sieve ? 0 : weir__builder_seal(b);
	return err ? err : weir__builder_finish_sealed(b, out);
}

int weir_builder_finish(struct weir_filter **out, struct weir_builder *b,
                        struct weir_build_report *report)
{
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: the filter needs a place");
	int err = report ? weir__size_check(report, sizeof *report, "weir_build_report") : 0;
	if (err)
		return err;
	err = atomic_exchange_explicit(&b->failed, -EINVAL, memory_order_relaxed);
	if (err)
		return weir__builder_has_failed(err);
	err = finish(b, out);
	if (report) {
		b->report.struct_size = report->struct_size;
		memcpy(report, &b->report, report->struct_size);
	}
	return err;
}

/* ---- all at once ---- */

int weir_build(struct weir_filter **out, const struct weir_params *params, struct weir_keys keys,
               const struct weir_builder_options *options)
{
	struct weir_params p;
	struct weir_builder *b;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_build needs a place for the filter");
	int err = weir__params_check_open(params, &p);
	if (err)
		return err;
	if (keys.form == WEIR_KEYS_HASHES && !p.seed && !p.secret && !weir__kind(p.kind)->as_is)
		return weir__fail(-EINVAL, "seed 0: give the one that the hashes were made with");
	if (keys.n && !keys.at)
		return weir__fail(-EINVAL, "keys.at is NULL: %zu keys to build from",
		                  (size_t)keys.n);
	err = weir_builder_create(&b, params, options);
	if (err)
		return err;
	err = weir_builder_add_keys(b, keys);
	if (!err)
		err = weir_builder_finish(out, b, NULL);
	weir_builder_destroy(b);
	return err;
}
