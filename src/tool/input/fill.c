/* SPDX-License-Identifier: MIT
 * Passes over the input. Every thread takes a chunk of lines and loads the keys of the lines in
 * large batches. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include "batch.h"
#include "file.h"
#include "fill.h"
#include "keying.h"
#include "output/progress.h"
#include "output/say.h"
#include "output/units.h"

#define KEYS 256 /* largest number of keys in one call of the library */

enum task { COUNT, LOAD, SPOOL, UNSPOOL };

struct pass {
	enum task task;
	const struct fill *fill;
	struct lines *lines;
	struct weir_filter *f;
	struct spool *spool;
	struct weir_builder *builder; /* receives the keys instead of f, if not NULL */
	int (*take)(struct weir_builder *b, struct weir_keys keys); /* adds or excludes keys */
	pthread_mutex_t lock; /* guards spool, removed and fill->found */
	uint64_t *removed; /* if not NULL, the pass removes the keys, and counts the removed keys */
	atomic_uint_fast64_t keys;
	atomic_uint_fast64_t bad;
	atomic_uint_fast64_t taken; /* number of keys that the filter accepted */
	atomic_bool full;           /* the filter refused a key for lack of capacity */
	struct batch *refused;
	atomic_bool failed;
	bool keyed; /* keys are made from the lines; false: each line is a key */
	bool texts; /* batches contain texts, not hashes */
	bool hints; /* print hints: true in the first pass only */
	struct tally *tally;
};

static struct batch *batch_new(const struct pass *pass, size_t longest)
{
	const unsigned threads = pass->fill->threads;
	const uint64_t bytes = pass->fill->room / 2;
	return pass->texts ? batch_of_texts(threads, bytes, longest) :
	                     batch_of_hashes(threads, bytes);
}

/* Removes keys under a lock. So if a key was added once and two lines contain it, exactly one of
 * the two removals finds the key, whatever the number of threads. */
static int remove_batch(struct pass *pass, const struct batch *batch)
{
	pthread_mutex_lock(&pass->lock);
	int64_t n = weir_remove_keys(pass->f, batch_keys(batch), NULL);
	*pass->removed += n > 0 ? (uint64_t)n : 0;
	pthread_mutex_unlock(&pass->lock);
	return n < 0 ? (int)n : 0;
}

static bool load(struct pass *pass, struct batch *batch)
{
	const struct weir_keys keys = batch_keys(batch);
	int err = !batch->n     ? 0 :
	          pass->builder ? pass->take(pass->builder, keys) :
	          pass->removed ? remove_batch(pass, batch) :
	                          weir_fill_keys(pass->f, keys);
	atomic_fetch_add(&pass->taken, err ? weir_error_taken() : batch->n);
	if (err == -ENOSPC && pass->fill->found && !pass->builder) {
		const uint64_t at = weir_error_taken();
		if (!atomic_exchange(&pass->full, true))
			pass->refused = batch_of_one(batch, at);
	} else if (err && !atomic_exchange(&pass->failed, true)) {
		if (pass->builder)
			(void)trouble_refused();
		else
			say_weir(err, NULL);
	}
	batch->n = batch->used = 0;
	return !err;
}

static bool spool_batch(struct pass *pass, struct batch *batch)
{
	pthread_mutex_lock(&pass->lock);
	const bool fits = spool_keep(pass->spool, batch);
	pthread_mutex_unlock(&pass->lock);
	if (!fits && !atomic_exchange(&pass->failed, true))
		say("the %s so far take more than the %s for them that %s allows: %s",
		    pass->texts ? "keys" : "hashes of the keys",
		    show_bytes(SHOW, pass->spool->max_bytes),
		    pass->spool->limited_by ? pass->spool->limited_by : "this machine",
		    pass->spool->remedy ? pass->spool->remedy :
		    "raise that, or give the number of keys with -n: then none are kept");
	return fits;
}

/* Loads a full batch and empties it, or moves it to the spool and allocates a new batch. @longest:
 * bytes of a text that must fit into the batch. */
static bool flush(struct pass *pass, struct batch **batch, size_t longest)
{
	if (pass->task == LOAD) {
		if (!load(pass, *batch))
			return false;
		if ((*batch)->bytes >= longest || !pass->texts)
			return true;
		free(*batch);
		*batch = batch_new(pass, longest);
		return true;
	}
	bool kept = spool_batch(pass, *batch);
	*batch = batch_new(pass, longest);
	return kept;
}

static bool put_texts(struct pass *pass, const struct iovec *texts, size_t n, struct batch **batch)
{
	for (size_t i = 0; i < n; i++)
		while (!batch_put(*batch, texts[i]))
			if (!flush(pass, batch, texts[i].iov_len))
				return false;
	return true;
}

static bool put_hashes(struct pass *pass, const struct iovec *texts, size_t n,
                       struct batch **batch)
{
	for (size_t at = 0, some; at < n; at += some) {
		some = n - at < KEYS ? n - at : KEYS;
		if ((*batch)->n + some > (*batch)->room && !flush(pass, batch, 0))
			return false;
		const struct weir_keys keys = weir_keys_iov(texts + at, some);
		uint64_t *hashes = (*batch)->hashes + (*batch)->n;
		if (pass->builder)
			weir_builder_hash_keys(pass->builder, keys, hashes);
		else
			weir_hash_keys(pass->f, keys, hashes);
		(*batch)->n += some;
	}
	return true;
}

static bool put(struct pass *pass, const struct iovec *texts, size_t n, struct batch **batch)
{
	return pass->task == COUNT || (pass->texts ? put_texts : put_hashes)(pass, texts, n, batch);
}

static bool is_bad(struct pass *pass, const struct chunk *chunk, const struct keyer *keyer,
                   const char *line, const char *why)
{
	if (keyer_passes(keyer))
		return false;
	if (!atomic_exchange(&pass->failed, true)) {
		keyer_report(keyer, pass->lines, chunk, line, why);
		if (pass->fill->found)
			pass->fill->found->wrong = true;
	}
	return true;
}

static bool take(struct pass *pass, const struct chunk *chunk, struct keyer *keyer,
                 struct batch **batch)
{
	struct iovec lines[KEYS];
	uint64_t taken = 0, bad = 0;
	size_t at = 0, n;
	const char *why;
	while ((n = chunk_keys(pass->lines, chunk, &at, lines, KEYS)) > 0) {
		keyer_clear(keyer);
		for (size_t i = 0; pass->keyed && i < n; i++) {
			if (keyer_take(keyer, lines[i], &why))
				continue;
			if (is_bad(pass, chunk, keyer, lines[i].iov_base, why))
				return false;
			bad++;
		}
		const struct iovec *texts = pass->keyed ? keyer->keys : lines;
		if (!put(pass, texts, pass->keyed ? keyer->n : n, batch))
			return false;
		taken += pass->keyed ? keyer->counted : n;
	}
	atomic_fetch_add(&pass->keys, taken);
	atomic_fetch_add(&pass->bad, bad);
	tally_add(pass->tally, chunk, taken, bad);
	return true;
}

static void hint(const struct pass *pass, const struct chunk *chunk)
{
	if (pass->hints && chunk->first)
		hint_lines(pass->lines, chunk, &pass->fill->keying,
		           pass->fill->found->steps_given ? HINT_CHANGE : HINT_BUILD);
}

static int take_chunks(struct pass *pass, struct batch **batch)
{
	struct chunk chunk = { 0 };
	struct keyer keyer;
	int got = 0;
	keyer_begin(&keyer, &pass->fill->keying, pass->fill->what);
	while (!atomic_load(&pass->failed) && (got = lines_next(pass->lines, &chunk)) > 0) {
		hint(pass, &chunk);
		keyer_chunk(&keyer, &chunk);
		if (!take(pass, &chunk, &keyer, batch)) {
			got = -1;
			break;
		}
	}
	pthread_mutex_lock(&pass->lock);
	if (pass->fill->found) {
		pass->fill->found->local += keyer.local;
		slashed_add(&pass->fill->found->slashed, &keyer.slashed);
	}
	if (pass->fill->found && weir_text_unite(&pass->fill->found->noted, &keyer.noted))
		got = -1; /* cannot happen: the steps are the same */
	pthread_mutex_unlock(&pass->lock);
	keyer_end(&keyer);
	chunk_free(&chunk);
	return got;
}

static void read_worker(void *arg)
{
	struct pass *pass = arg;
	struct batch *batch = pass->task == COUNT ? NULL : batch_new(pass, 0);
	int got = take_chunks(pass, &batch);
	if (got == 0 && pass->task == LOAD && !load(pass, batch))
		got = -1;
	if (pass->task == SPOOL) {
		if (!spool_batch(pass, batch))
			got = -1;
	} else {
		free(batch);
	}
	if (got < 0)
		atomic_store(&pass->failed, true);
}

static void read_tick(void *arg)
{
	const struct pass *pass = arg;
	uint64_t keys = atomic_load(&((struct pass *)arg)->keys);
	double part = -1.0;
	if (pass->fill->bytes)
		part = (double)lines_done_bytes(pass->lines) / (double)pass->fill->bytes;
	else if (pass->fill->expected)
		part = (double)keys / (double)pass->fill->expected;
	progress_at(part, keys);
}

/* Records, after a pass, how many keys the filter accepted, and how many copies of a refused key
 * are in the filter. */
static void record_refusal(struct pass *pass)
{
	struct fill_found *found = pass->fill->found;
	if (!found)
		return;
	found->full = atomic_load(&pass->full);
	found->taken = atomic_load(&pass->taken);
	if (pass->refused)
		(void)!weir_count_keys(pass->f, batch_keys(pass->refused), &found->copies);
	free(pass->refused);
}

/* Begins a pass, and clears the findings of the previous pass. */
static void begin(struct pass *pass)
{
	struct fill_found *found = pass->fill->found;
	pass->tally = tally_new(&pass->fill->from);
	if (!found)
		return;
	pass->hints = !found->hinted;
	*found = (struct fill_found){ .noted = pass->fill->keying.normal,
	                              .hinted = true,
	                              .steps_given = found->steps_given };
}

static int run(struct pass *pass, const char *what, uint64_t *keys)
{
	struct fill_found *found = pass->fill->found;
	begin(pass);
	struct lines_options from = pass->fill->from;
	from.room = pass->fill->room / 4;
	from.threads = pass->fill->threads;
	pass->lines = lines_open(&from);
	pass->keyed = keying_any(&pass->fill->keying);
	pass->texts = keying_probes_several(&pass->fill->keying);
	progress_begin(what);
	run_threads(pass->fill->threads, read_worker, read_tick, pass);
	progress_end();
	if (found)
		found->marked = lines_marked(pass->lines);
	lines_close(pass->lines);
	pthread_mutex_destroy(&pass->lock);
	*keys = atomic_load(&pass->keys);
	const struct keyless keyless = tally_end(pass->tally);
	if (found) {
		found->bad = atomic_load(&pass->bad);
		found->keyless = keyless;
	}
	record_refusal(pass);
	return atomic_load(&pass->failed) ? -1 : 0;
}

/* A pass gives a quarter of its memory to chunks, a quarter to unpacking, and half to batches. */
uint64_t fill_least(unsigned threads)
{
	const uint64_t unpack = 512 << 10, batches = 2 * batch_least(threads);
	const uint64_t lines = 4 * (lines_least(threads) > unpack ? lines_least(threads) : unpack);
	return lines > batches ? lines : batches;
}

void fill_prepare(struct fill *fill, struct fill_found *found)
{
	fill->found = found;
	keying_prepare(&fill->keying, &fill->from);
}

void fill_say_passed(const struct fill_found *found)
{
	lines_say_marked(found->marked);
	hint_slashed(&found->slashed);
	if (found->bad)
		say("lines passed over: %llu", (unsigned long long)found->bad);
	if (found->local)
		say("local names left out: %llu, such as localhost (--keep-local keeps them)",
		    (unsigned long long)found->local);
}

int fill_count(const struct fill *fill, uint64_t *keys)
{
	struct pass pass = { .task = COUNT, .fill = fill, .lock = PTHREAD_MUTEX_INITIALIZER };
	return run(&pass, "counting", keys);
}

int fill_load(const struct fill *fill, struct weir_filter *f, uint64_t *keys)
{
	struct pass pass = { .task = LOAD, .fill = fill, .f = f,
	                     .lock = PTHREAD_MUTEX_INITIALIZER };
	return run(&pass, "building", keys);
}

int fill_remove(const struct fill *fill, struct weir_filter *f, uint64_t *keys, uint64_t *removed)
{
	struct pass pass = { .task = LOAD, .fill = fill, .f = f, .removed = removed,
	                     .lock = PTHREAD_MUTEX_INITIALIZER };
	*removed = 0;
	return run(&pass, "removing", keys);
}

/* Makes a filter that only hashes keys. All kinds share one hash, except split, whose hash has no
 * seed. */
static int hasher_new(struct weir_filter **out, struct weir_params *wanted)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	const bool seedless = wanted->kind == WEIR_SPLIT;
	params.kind = seedless ? WEIR_SPLIT : params.kind;
	params.capacity = 1;
	params.fp_rate = 0.5;
	params.seed = wanted->seed;
	params.secret = wanted->secret;
	params.text = wanted->text;
	int err = weir_create(out, &params);
	if (!err)
		err = weir_params_of(*out, &params);
	if (err) {
		say_weir(err, NULL);
		return -1;
	}
	wanted->seed = seedless ? 0 : params.seed;
	return 0;
}

int fill_spool(const struct fill *fill, struct weir_params *params, struct spool *spool)
{
	struct pass pass = { .task = SPOOL, .fill = fill, .spool = spool,
	                     .lock = PTHREAD_MUTEX_INITIALIZER };
	uint64_t keys;
	if (!keying_probes_several(&fill->keying) && hasher_new(&pass.f, params))
		return -1;
	int result = run(&pass, "reading", &keys);
	weir_destroy(pass.f);
	return result;
}

int fill_gather(const struct fill *fill, struct weir_builder *builder, uint64_t *keys)
{
	struct pass pass = { .task = LOAD, .fill = fill, .builder = builder,
	                     .take = weir_builder_add_keys, .lock = PTHREAD_MUTEX_INITIALIZER };
	return run(&pass, "reading", keys);
}

int fill_exclude(const struct fill *fill, struct weir_builder *builder, uint64_t *keys)
{
	struct pass pass = { .task = LOAD, .fill = fill, .builder = builder,
	                     .take = weir_builder_exclude_keys,
	                     .lock = PTHREAD_MUTEX_INITIALIZER };
	return run(&pass, "excluding", keys);
}

static void unspool_worker(void *arg)
{
	struct pass *pass = arg;
	while (!atomic_load(&pass->failed)) {
		pthread_mutex_lock(&pass->lock);
		struct batch *batch = spool_next(pass->spool);
		pthread_mutex_unlock(&pass->lock);
		if (!batch)
			break;
		size_t n = batch->n;
		if (!load(pass, batch))
			atomic_store(&pass->failed, true);
		atomic_fetch_add(&pass->keys, n);
		free(batch);
	}
}

static void unspool_tick(void *arg)
{
	struct pass *pass = arg;
	uint64_t keys = atomic_load(&pass->keys);
	progress_at(pass->spool->keys ? (double)keys / (double)pass->spool->keys : 0.0, keys);
}

static int unspool(struct pass *pass)
{
	progress_begin("building");
	run_threads(pass->fill->threads, unspool_worker, unspool_tick, pass);
	progress_end();
	pthread_mutex_destroy(&pass->lock);
	record_refusal(pass);
	return atomic_load(&pass->failed) ? -1 : 0;
}

int fill_from_spool(const struct fill *fill, struct spool *spool, struct weir_filter *f)
{
	struct pass pass = { .task = UNSPOOL, .fill = fill, .f = f, .spool = spool,
	                     .lock = PTHREAD_MUTEX_INITIALIZER };
	return unspool(&pass);
}

int fill_gather_spool(const struct fill *fill, struct spool *spool, struct weir_builder *builder)
{
	struct pass pass = { .task = UNSPOOL, .fill = fill, .builder = builder, .spool = spool,
	                     .take = weir_builder_add_keys, .lock = PTHREAD_MUTEX_INITIALIZER };
	return unspool(&pass);
}
