/* SPDX-License-Identifier: MIT
 * Filters of the kinds that are built once: their keys are collected, sorted, and then the kind
 * builds, in a larger array if it must. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weir/build.h>
#include "build/collect.h"
#include "build/distinct.h"
#include "error.h"
#include "filter.h"
#include "kinds/list.h"
#include "options.h"
#include "plan.h"
#include "progress.h"
#include "sizing.h"

enum { HASHED = 256, ENLARGED = 4 /* times */ };

struct weir_builder {
	struct weir_params params; /* with the seed */
	unsigned char key[WEIR_SIPHASH_KEY];
	struct weir_hashing hashing;
	struct weir_builder_options options;
	char *folder;
	atomic_int failed; /* 0, or what every further call answers */
	struct weir_collected collected;
	/* of finish */
	pthread_mutex_t reporting;
	uint64_t done, total;
};

uint64_t weir_hash_seeded(uint64_t seed, const void *key, size_t len)
{
	return weir__hash(seed, key, len);
}

bool weir_kind_is_built(uint32_t kind)
{
	const struct weir_kind *k = weir__kind(kind);
	return k && k->build;
}

/* ---- making one ---- */

/* A capacity that is not given is known at the end. */
static int check_params(struct weir_params *out, const struct weir_params *params)
{
	struct weir_params given;
	int err = weir__params_copy(params, &given);
	if (err)
		return err;
	const bool open = !given.capacity;
	given.capacity = open ? 1 : given.capacity;
	err = weir__params_check(&given, out);
	if (err)
		return err;
	out->capacity = open ? 0 : out->capacity;
	return 0;
}

static int check_kind(const struct weir_params *p)
{
	const struct weir_kind *kind = weir__kind(p->kind);
	return kind->build ? 0 : weir__kind_cannot(kind, "be built: create it, then insert");
}

static int check_options(struct weir_builder_options *out,
                         const struct weir_builder_options *options)
{
	*out = (struct weir_builder_options)WEIR_BUILDER_OPTIONS_INIT;
	int err = weir__options_copy(out, sizeof *out, options, "weir_builder_options");
	if (!err && out->threads > 1024)
		err = weir__fail(-EINVAL, "threads %" PRIu32 ": 1 to 1024, or 0 for 1",
		                 out->threads);
	out->threads = out->threads ? out->threads : 1;
	return err;
}

/* What sorting and building need at the same time as the hashes: of each thread. */
static const uint64_t room_of_thread = UINT64_C(56) << 20;

static int memory_for_hashes(uint64_t *out, const struct weir_builder_options *o)
{
	const uint64_t rest = o->threads * room_of_thread;
	*out = UINT64_MAX;
	if (!o->max_memory)
		return 0;
	if (o->max_memory < rest + rest / 8)
		return weir__fail(-EINVAL, "max_memory %" PRIu64 ": at least %" PRIu64 " for %"
		                  PRIu32 " thread%s", o->max_memory, rest + rest / 8, o->threads,
		                  o->threads == 1 ? "" : "s");
	*out = o->max_memory - rest;
	return 0;
}

static int copy_folder(struct weir_builder *b, const char *folder)
{
	if (!folder)
		return 0;
	b->folder = malloc(strlen(folder) + 1);
	if (!b->folder)
		return weir__fail(-ENOMEM, "no memory for a builder's record");
	strcpy(b->folder, folder);
	return 0;
}

static int begin(struct weir_builder *b, const struct weir_builder_options *options)
{
	uint64_t most = 0;
	int err = check_options(&b->options, options);
	if (!err)
		err = memory_for_hashes(&most, &b->options);
	if (!err)
		err = weir__hashing_choose(&b->hashing, &b->params);
	if (!err)
		err = copy_folder(b, b->options.spill_folder);
	if (err)
		return err;
	b->params.seed = b->hashing.seed;
	if (b->params.hash_key)
		b->params.hash_key = memcpy(b->key, b->params.hash_key, sizeof b->key);
	pthread_mutex_init(&b->reporting, NULL);
	weir__collect_begin(&b->collected, most, b->folder);
	return 0;
}

int weir_builder_create(struct weir_builder **out, const struct weir_params *params,
                        const struct weir_builder_options *options)
{
	struct weir_params p;
	struct weir_builder *b = NULL;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: the builder needs a place");
	int err = check_params(&p, params);
	if (!err)
		err = check_kind(&p);
	if (err)
		return err;
	if (posix_memalign((void **)&b, 64, sizeof *b))
		return weir__fail(-ENOMEM, "no memory for a builder's record");
	memset(b, 0, sizeof *b);
	b->params = p;
	err = begin(b, options);
	if (err) {
		free(b->folder);
		free(b);
		return err;
	}
	*out = b;
	return 0;
}

void weir_builder_destroy(struct weir_builder *b)
{
	if (!b)
		return;
	weir__collect_end(&b->collected);
	pthread_mutex_destroy(&b->reporting);
	free(b->folder);
	memset(b->key, 0, sizeof b->key);
	free(b);
}

/* ---- adding ---- */

uint64_t weir_builder_hash(const struct weir_builder *b, const void *key, size_t len)
{
	return weir__hash_by(&b->hashing, key, len);
}

static int has_failed(int err)
{
	return weir__fail(err, err == -EINVAL ? "the builder was finished: it takes no more keys" :
	                                        "an earlier call has failed: the builder has lost "
	                                        "keys and can only be destroyed");
}

int weir_builder_add_hashes(struct weir_builder *b, const uint64_t *hashes, size_t n)
{
	int err = atomic_load_explicit(&b->failed, memory_order_relaxed);
	if (err)
		return has_failed(err);
	err = weir__collect(&b->collected, hashes, n);
	if (err)
		atomic_store_explicit(&b->failed, err, memory_order_relaxed);
	return err;
}

int weir_builder_add_hash(struct weir_builder *b, uint64_t hash)
{
	return weir_builder_add_hashes(b, &hash, 1);
}

int weir_builder_add(struct weir_builder *b, const void *key, size_t len)
{
	return weir_builder_add_hash(b, weir_builder_hash(b, key, len));
}

int weir_builder_add_u64(struct weir_builder *b, uint64_t key)
{
	return weir_builder_add(b, &key, sizeof key);
}

int weir_builder_add_keys(struct weir_builder *b, const struct iovec *keys, size_t n)
{
	uint64_t hashes[HASHED];
	int err = 0;
	for (size_t at = 0; at < n && !err; at += HASHED) {
		const size_t some = n - at < HASHED ? n - at : HASHED;
		for (size_t i = 0; i < some; i++)
			hashes[i] = weir_builder_hash(b, keys[at + i].iov_base,
			                              keys[at + i].iov_len);
		err = weir_builder_add_hashes(b, hashes, some);
	}
	return err;
}

int weir_builder_add_fixed(struct weir_builder *b, const void *keys, size_t key_bytes, size_t n)
{
	const char *key = keys;
	uint64_t hashes[HASHED];
	int err = 0;
	for (size_t at = 0; at < n && !err; at += HASHED) {
		const size_t some = n - at < HASHED ? n - at : HASHED;
		for (size_t i = 0; i < some; i++, key += key_bytes)
			hashes[i] = weir_builder_hash(b, key, key_bytes);
		err = weir_builder_add_hashes(b, hashes, some);
	}
	return err;
}

/* ---- building ---- */

/* The keys sorted, for the kind. */
struct sorted {
	struct weir_key_set given; /* first */
	struct weir_distinct distinct;
	struct weir_builder *b;
};

static int step(void *builder, uint64_t hashes)
{
	struct weir_builder *b = builder;
	int err = 0;
	pthread_mutex_lock(&b->reporting);
	b->done += hashes;
	if (b->options.progress)
		err = weir__progress(b->options.progress, b->options.progress_arg, b->done,
		                     b->total);
	pthread_mutex_unlock(&b->reporting);
	return err;
}

static const struct sorted *of(const struct weir_key_set *given)
{
	return (const struct sorted *)(const void *)given;
}

static uint64_t given_count(const struct weir_key_set *given, uint64_t part, unsigned part_bits)
{
	return weir__distinct_count(&of(given)->distinct, part, part_bits);
}

static int given_read(const struct weir_key_set *given, uint64_t part, unsigned part_bits,
                      uint64_t *out)
{
	return weir__distinct_read(&of(given)->distinct, part, part_bits, out);
}

static int given_built(const struct weir_key_set *given, uint64_t keys)
{
	return step(of(given)->b, keys);
}

static int build_as_planned(struct weir_filter **out, const struct weir_params *p,
                            const struct weir_plan *plan, const struct weir_key_set *given)
{
	struct weir_filter *f = NULL;
	int err = weir__create_planned(&f, p, plan);
	if (!err)
		err = f->kind->build(f, given);
	if (err)
		weir_destroy(f);
	else
		*out = f;
	return err;
}

/* Larger and larger, within what was given. */
static int build(struct weir_filter **out, struct weir_params *p, const struct sorted *s)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (!p->capacity)
		p->capacity = s->given.n ? s->given.n : 1;
	int err = weir_plan(p, &plan);
	if (!err)
		err = build_as_planned(out, p, &plan, &s->given);
	for (unsigned i = 0; i < ENLARGED && err == -EAGAIN && weir__kind(p->kind)->enlarge; i++) {
		weir__kind(p->kind)->enlarge(&plan);
		if (p->max_bytes && plan.bytes > p->max_bytes)
			break;
		s->b->done = s->b->total / 2;
		err = build_as_planned(out, p, &plan, &s->given);
	}
	return err == -EAGAIN ? weir__fail(-ENOSPC, "%s", weir_error_detail()) : err;
}

static int check_number(const struct weir_params *p, uint64_t n)
{
	if (!p->capacity || n <= p->capacity)
		return 0;
	return weir__fail(-ENOSPC, "capacity %" PRIu64 ": there are %" PRIu64 " different keys",
	                  p->capacity, n);
}

/* No kind has parts for fewer than a million keys. */
static unsigned run_bits_for(uint64_t capacity)
{
	unsigned bits = 0;
	while (capacity >> WEIR_BIN_BITS >> bits > 1000000)
		bits++;
	return bits;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int finish(struct weir_builder *b, struct weir_filter **out, struct sorted *s,
                  struct weir_build_report *report)
{
	const double begun = now();
	report->added = weir__collected(&b->collected);
	b->total = 2 * report->added;
	int err = weir__distinct(&s->distinct, &b->collected, run_bits_for(b->params.capacity),
	                         b->options.threads, step, b);
	const double sorted = now();
	report->sort_seconds = sorted - begun;
	report->spilled_bytes = atomic_load_explicit(&b->collected.end, memory_order_relaxed);
	if (err)
		return err;
	s->given.n = report->keys = atomic_load_explicit(&s->distinct.n, memory_order_relaxed);
	err = check_number(&b->params, report->keys);
	if (!err)
		err = build(out, &b->params, s);
	report->build_seconds = now() - sorted;
	return err;
}

int weir_builder_finish(struct weir_builder *b, struct weir_filter **out,
                        struct weir_build_report *report)
{
	struct weir_build_report ours = WEIR_BUILD_REPORT_INIT;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: the filter needs a place");
	int err = report ? weir__size_check(report, sizeof *report, "weir_build_report") : 0;
	if (err)
		return err;
	err = atomic_exchange_explicit(&b->failed, -EINVAL, memory_order_relaxed);
	if (err)
		return has_failed(err);
	struct sorted *s = malloc(sizeof *s);
	if (!s)
		return weir__fail(-ENOMEM, "no memory to sort the keys in");
	s->b = b;
	s->given = (struct weir_key_set){ .threads = b->options.threads,
		                        .count = given_count,
		                        .read = given_read,
		                        .built = given_built };
	err = finish(b, out, s, &ours);
	weir__distinct_end(&s->distinct);
	free(s);
	if (report) {
		ours.struct_size = report->struct_size;
		memcpy(report, &ours, report->struct_size);
	}
	return err;
}

int weir_build(struct weir_filter **out, const struct weir_params *params, const uint64_t *hashes,
               size_t n)
{
	struct weir_params p;
	struct weir_builder *b;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_build needs a place for the filter");
	int err = check_params(&p, params);
	if (err)
		return err;
	if (!p.seed && !p.hash_key)
		return weir__fail(-EINVAL, "seed 0: give the one that the hashes were made with");
	if (n && !hashes)
		return weir__fail(-EINVAL, "hashes is NULL: %zu of them to build from", n);
	err = weir_builder_create(&b, &p, NULL);
	if (err)
		return err;
	err = weir_builder_add_hashes(b, hashes, n);
	if (!err)
		err = weir_builder_finish(b, out, NULL);
	weir_builder_destroy(b);
	return err;
}
