/* SPDX-License-Identifier: MIT
 * Builders for kinds that are built once. This file collects keys; finish.c builds the filter. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "build/builder.h"
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/batch.h"

enum { HASHED = 256 };

uint64_t weir_hash_seeded(uint64_t seed, const void *key, size_t len)
{
	return weir__hash(seed, key, len);
}

/* ---- making a builder ---- */

static int check_kind(const struct weir_params *p)
{
	const struct weir_kind *kind = weir__kind(p->kind);
	return kind->build ? 0 : weir__kind_cannot(kind, "be built: create it, then insert");
}

/* Before keys are added, report the errors that do not depend on the number of keys. */
static int check_shape(const struct weir_params *p)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_params one = WEIR_PARAMS_INIT;
	one.kind = p->kind;
	one.capacity = 1;
	one.fp_rate = p->fp_rate > 0 ? p->fp_rate : 0.5;
	one.fuse = p->fuse;
	one.layered.fingerprint_bits = p->layered.fingerprint_bits;
	return weir_plan_make(&one, &plan);
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

/* The bytes that each thread needs for sorting and building, besides the hashes. */
static const uint64_t thread_bytes = UINT64_C(56) << 20;

static int memory_for_hashes(uint64_t *out, const struct weir_builder_options *o)
{
	const uint64_t rest = o->threads * thread_bytes;
	*out = UINT64_MAX;
	if (!o->max_memory)
		return 0;
	if (o->max_memory < rest + rest / 8)
		return weir__refused(
			weir__fail(-EINVAL, "max_memory %" PRIu64 ": at least %" PRIu64 " for %"
			           PRIu32 " thread%s, however few keys there are", o->max_memory,
			           rest + rest / 8, o->threads, o->threads == 1 ? "" : "s"),
			WEIR_ERROR_THREADS, "max_memory", (double)o->max_memory, (double)(rest +
			rest / 8), o->threads, 0);
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

static int init_builder(struct weir_builder *b, const struct weir_builder_options *options)
{
	uint64_t most = 0;
	int err = check_options(&b->options, options);
	if (!err)
		err = memory_for_hashes(&most, &b->options);
	if (!err)
		err = weir__hashing_choose(&b->hashing, &b->params);
	if (!err)
		err = weir__isa_choose(&b->isa);
	if (!err)
		err = copy_folder(b, b->options.spill_folder);
	if (err)
		return err;
	b->params.seed = b->hashing.seed;
	if (b->params.secret)
		b->params.secret = memcpy(b->key, b->params.secret, sizeof b->key);
	pthread_mutex_init(&b->reporting, NULL);
	weir__collect_begin(&b->collected, most, b->folder);
	return 0;
}

int weir_builder_create(struct weir_builder **out, const struct weir_params *params,
                        const struct weir_builder_options *options)
{
	struct weir_params p, given;
	struct weir_builder *b = NULL;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: the builder needs a place");
	int err = weir__params_copy(params, &given);
	if (!err)
		err = weir__params_check_open(&given, &p);
	if (!err)
		err = check_kind(&p);
	if (!err)
		err = check_shape(&p);
	if (err)
		return err;
	if (posix_memalign((void **)&b, 64, sizeof *b))
		return weir__fail(-ENOMEM, "no memory for a builder's record");
	memset(b, 0, sizeof *b);
	b->params = p;
	b->hash_bits = given.hash_bits;
	err = init_builder(b, options);
	if (err) {
		free(b->folder);
		free(b);
		return err;
	}
	*out = b;
	return 0;
}

int weir_builder_destroy(struct weir_builder *b)
{
	if (!b)
		return 0;
	weir__sorted_free(b->included);
	weir_destroy(b->sieve);
	if (b->passed)
		weir__collect_end(b->passed);
	free(b->passed);
	weir__collect_end(&b->collected);
	pthread_mutex_destroy(&b->reporting);
	free(b->folder);
	memset(b->key, 0, sizeof b->key);
	free(b);
	return 0;
}

/* ---- adding ---- */

/* Return: true if the builder collects texts and these keys are texts. */
static bool are_texts(const struct weir_builder *b, struct weir_keys keys)
{
	return b->params.text.steps && (keys.form == WEIR_KEYS_IOV || keys.form == WEIR_KEYS_FIXED);
}

static struct weir_text_hashes hashes_of(const struct weir_builder *b)
{
	return (struct weir_text_hashes){ (struct weir_text *)(uintptr_t)&b->params.text,
		                          &b->hashing, false };
}

uint64_t weir_builder_hash(const struct weir_builder *b, const void *key, size_t len)
{
	uint64_t hash;
	const struct iovec one = { (void *)(uintptr_t)key, len };
	weir_builder_hash_keys(b, weir_keys_iov(&one, 1), &hash);
	return hash;
}

uint64_t weir_builder_hash_u64(const struct weir_builder *b, uint64_t key)
{
	return weir__hash_by(&b->hashing, &key, sizeof key);
}

void weir_builder_hash_keys(const struct weir_builder *b, struct weir_keys keys, uint64_t *out)
{
	struct weir_text alone = b->params.text; /* hashing notes lengths in this copy only */
	const struct weir_text_hashes h = { &alone, &b->hashing, false };
	alone.steps &= ~(uint32_t)WEIR_TEXT_CLOSED;
	if (!are_texts(b, keys) && weir__keys_form(keys))
		weir__keys_hash(&b->hashing, b->isa, keys, out);
	for (size_t at = 0; at < keys.n && are_texts(b, keys); at++)
		if (!weir__text_insert_hashes(&h, weir_keys_part(keys, at, 1), out + at))
			out[at] = 0;
}

int weir__builder_has_failed(int err)
{
	const char *why = err == -EINVAL ? "the builder was finished: it takes no more keys" :
	                                   "an earlier call has failed: the builder has lost keys "
	                                   "and can only be destroyed";
	return (int)weir__stopped(0, weir__fail(err, "%s", why));
}

/* For each excluded text, take all keys that a lookup of the text would probe. */
static int exclude_texts(struct weir_builder *b, struct weir_keys keys, weir__take_fn *take)
{
	const struct weir_text_hashes h = hashes_of(b);
	uint64_t hashes[HASHED + WEIR_TEXT_LOOKUPS];
	size_t n = 0;
	int err = 0, more = 0;
	for (size_t at = 0; at < keys.n && !err && more >= 0; at++) {
		more = weir__text_lookup_hashes(&h, keys, at, hashes + n);
		n += more > 0 ? (size_t)more : 0;
		if (n < HASHED && more >= 0 && at + 1 < keys.n)
			continue;
		err = take(b, hashes, n);
		n = 0;
	}
	return !err && more < 0 ? more : err;
}

static int take_many(struct weir_builder *b, struct weir_keys keys, weir__take_fn *take)
{
	uint64_t hashes[HASHED];
	int err = 0;
	if (keys.form == WEIR_KEYS_HASHES && weir__text_several(&b->params.text))
		return keys.n ? weir__text_refuse_hash(&b->params.text) : 0;
	if (keys.form == WEIR_KEYS_HASHES)
		return (int)weir__stopped(0, take(b, keys.at, keys.n));
	if (are_texts(b, keys) && b->sieve)
		return exclude_texts(b, keys, take);
	for (size_t at = 0; at < keys.n && !err; at += HASHED) {
		const size_t some = keys.n - at < HASHED ? keys.n - at : HASHED;
		const struct weir_keys part = weir_keys_part(keys, at, some);
		const struct weir_text_hashes h = hashes_of(b);
		size_t hashed = some;
		if (are_texts(b, keys))
			hashed = weir__text_insert_hashes(&h, part, hashes);
		else
			weir__keys_hash(&b->hashing, b->isa, part, hashes);
		err = take(b, hashes, hashed);
		if (err || hashed < some)
			err = (int)weir__stopped(at + (err ? 0 : hashed), err ? err : -EINVAL);
	}
	return err;
}

/* Hash a batch of one key that is not a text. Return: false for any other batch. */
static bool one_hash(const struct weir_builder *b, struct weir_keys key, uint64_t *hash)
{
	const struct iovec *vector = key.at;
	if (key.n != 1 || are_texts(b, key))
		return false;
	if (key.form == WEIR_KEYS_U64)
		*hash = weir__hash_by(&b->hashing, key.at, 8);
	else if (key.form == WEIR_KEYS_IOV)
		*hash = weir__hash_by(&b->hashing, vector->iov_base, vector->iov_len);
	else
		return false;
	return true;
}

int weir__builder_take(struct weir_builder *b, struct weir_keys keys, weir__take_fn *take)
{
	uint64_t hash;
	if (one_hash(b, keys, &hash)) {
		int err = take(b, &hash, 1);
		return err ? (int)weir__stopped(0, err) : 0;
	}
	if (keys.n && !weir__keys_form(keys))
		return weir__keys_refused();
	return take_many(b, keys, take);
}

static int add(struct weir_builder *b, const uint64_t *hashes, size_t n)
{
	int err = weir__collect(&b->collected, hashes, n);
	if (err)
		atomic_store_explicit(&b->failed, err, memory_order_relaxed);
	return err;
}

int weir_builder_add_keys(struct weir_builder *b, struct weir_keys keys)
{
	int err = atomic_load_explicit(&b->failed, memory_order_relaxed);
	if (err)
		return weir__builder_has_failed(err);
	if (b->sieve)
		return weir__fail(-EINVAL, "the builder is sealed: it takes no more included keys");
	return weir__builder_take(b, keys, add);
}

uint64_t weir__builder_added(struct weir_builder *b)
{
	return weir__collected(&b->collected);
}
