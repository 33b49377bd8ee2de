/* SPDX-License-Identifier: MIT
 * The passes over the input. Every thread takes a chunk of lines, hashes it and loads its hashes
 * by large batches, so that the library can load them part by part and write in cache. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"
#include "fill.h"
#include "keying.h"
#include "output/progress.h"
#include "output/say.h"
#include "output/units.h"

/* Hashes of one batch: 32 MiB, less where many threads have one each; touched only as far as
 * there are keys. */
#define BATCH_MOST ((size_t)4 << 20)
#define BATCH_LEAST ((size_t)256 << 10)
#define BATCHES_MOST ((size_t)32 << 20)
#define KEYS 256                /* of one call */

struct batch {
	struct batch *next;
	size_t n, room;
	uint64_t hashes[];
};

enum task { COUNT, LOAD, SPOOL, UNSPOOL };

struct pass {
	enum task task;
	const struct fill *fill;
	struct lines *lines;
	struct weir_filter *f;
	struct spool *spool;
	struct weir_builder *builder; /* that takes the hashes in place of f */
	int (*take)(struct weir_builder *b, struct weir_keys keys); /* by this verb */
	pthread_mutex_t lock; /* of spool, removed and what was found */
	uint64_t *removed; /* not loaded but removed, and how many were */
	atomic_uint_fast64_t keys;
	atomic_uint_fast64_t bad;
	atomic_uint_fast64_t taken; /* keys by the filter */
	atomic_bool full;           /* it refused one, whose hash is */
	atomic_uint_fast64_t refused;
	atomic_bool failed;
	bool keyed; /* keys are not just lines */
	bool hints; /* it is the first pass, which looks for a missing option */
	struct tally *tally;
};

static struct batch *batch_new(const struct pass *pass)
{
	size_t room = BATCHES_MOST / pass->fill->threads;
	room = room > BATCH_MOST ? BATCH_MOST : room < BATCH_LEAST ? BATCH_LEAST : room;
	struct batch *batch = need(sizeof *batch + room * sizeof *batch->hashes);
	batch->next = NULL;
	batch->n = 0;
	batch->room = room;
	return batch;
}

/* By one thread at a time: of a key that is a line twice and was added once, one removal finds it
 * and one does not, however many threads there are. */
static int take_out(struct pass *pass, const struct batch *batch)
{
	pthread_mutex_lock(&pass->lock);
	int64_t n = weir_remove_keys(pass->f, weir_keys_hashes(batch->hashes, batch->n), NULL);
	*pass->removed += n > 0 ? (uint64_t)n : 0;
	pthread_mutex_unlock(&pass->lock);
	return n < 0 ? (int)n : 0;
}

static bool load(struct pass *pass, struct batch *batch)
{
	const struct weir_keys keys = weir_keys_hashes(batch->hashes, batch->n);
	int err = !batch->n     ? 0 :
	          pass->builder ? pass->take(pass->builder, keys) :
	          pass->removed ? take_out(pass, batch) :
	                          weir_fill_keys(pass->f, keys);
	atomic_fetch_add(&pass->taken, err ? weir_error_taken() : batch->n);
	if (err == -ENOSPC && pass->fill->found) {
		atomic_store(&pass->refused, batch->hashes[weir_error_taken()]);
		atomic_store(&pass->full, true);
	} else if (err) {
		say_weir(err, NULL);
	}
	batch->n = 0;
	return !err;
}

static bool keep(struct pass *pass, struct batch *batch)
{
	struct spool *spool = pass->spool;
	pthread_mutex_lock(&pass->lock);
	batch->next = spool->first;
	spool->first = batch;
	spool->hashes += batch->n;
	bool fits = spool->hashes <= spool->max_bytes / sizeof(uint64_t);
	pthread_mutex_unlock(&pass->lock);
	if (!fits && !atomic_exchange(&pass->failed, true))
		say("the hashes of the keys so far take more than %s: raise --max-memory, or give "
		    "the number of keys with -n: then none are kept",
		    show_bytes(SHOW, spool->max_bytes));
	return fits;
}

/* A batch is full: make room in it, or replace it. */
static bool flush(struct pass *pass, struct batch **batch)
{
	if (pass->task == LOAD)
		return load(pass, *batch);
	bool kept = keep(pass, *batch);
	*batch = batch_new(pass);
	return kept;
}

static bool put(struct pass *pass, const struct iovec *keys, size_t n, struct batch **batch)
{
	if (pass->task == COUNT)
		return true;
	for (size_t at = 0, some; at < n; at += some) {
		some = n - at < KEYS ? n - at : KEYS;
		if ((*batch)->n + some > (*batch)->room && !flush(pass, batch))
			return false;
		weir_hash_keys(pass->f, weir_keys_iov(keys + at, some),
		               (*batch)->hashes + (*batch)->n);
		(*batch)->n += some;
	}
	return true;
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
		if (pass->keyed)
			n = keyer->n;
		if (!put(pass, pass->keyed ? keyer->keys : lines, n, batch))
			return false;
		taken += n;
	}
	atomic_fetch_add(&pass->keys, taken);
	atomic_fetch_add(&pass->bad, bad);
	tally_add(pass->tally, chunk, taken, bad);
	return true;
}

/* At the beginning of each file. Each may have a header; the other hints are printed once. */
static void hint(const struct pass *pass, const struct chunk *chunk)
{
	struct keying how = pass->fill->keying;
	if (!pass->hints || !chunk->first)
		return;
	if (chunk->number == 0)
		hint_encoding(chunk);
	else
		how.normal.steps = 0;
	if (!pass->fill->found->steps_given && (chunk->number == 0 || how.field))
		hint_lines(pass->lines, chunk, &how, true);
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
		if (!take(pass, &chunk, &keyer, batch))
			got = -1;
	}
	pthread_mutex_lock(&pass->lock);
	if (pass->fill->found && weir_normal_unite(&pass->fill->found->noted, &keyer.noted))
		got = -1; /* cannot be: the steps are the same */
	pthread_mutex_unlock(&pass->lock);
	keyer_end(&keyer);
	chunk_free(&chunk);
	return got;
}

static void read_worker(void *arg)
{
	struct pass *pass = arg;
	struct batch *batch = pass->task == COUNT ? NULL : batch_new(pass);
	int got = take_chunks(pass, &batch);
	if (got == 0 && pass->task == LOAD && !load(pass, batch))
		got = -1;
	if (pass->task == SPOOL) {
		if (!keep(pass, batch))
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

/* After a pass that filled a filter. */
static void note_room(const struct pass *pass)
{
	struct fill_found *found = pass->fill->found;
	if (found) {
		found->full = atomic_load(&pass->full);
		found->taken = atomic_load(&pass->taken);
		found->refused = atomic_load(&pass->refused);
	}
}

/* Forget the findings of the pass before. */
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
	pass->lines = lines_open(&pass->fill->from);
	pass->keyed = keying_any(&pass->fill->keying);
	progress_begin(what);
	crew_run(pass->fill->threads, read_worker, read_tick, pass);
	progress_end();
	lines_close(pass->lines);
	pthread_mutex_destroy(&pass->lock);
	*keys = atomic_load(&pass->keys);
	const struct keyless keyless = tally_end(pass->tally);
	if (found) {
		found->bad = atomic_load(&pass->bad);
		found->keyless = keyless;
	}
	note_room(pass);
	return atomic_load(&pass->failed) ? -1 : 0;
}

void fill_prepare(struct fill *fill, struct fill_found *found)
{
	fill->found = found;
	keying_prepare(&fill->keying, &fill->from);
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

/* Keys are hashed by a filter: this one is for nothing else. All kinds hash alike, except split,
 * whose hash has no seed. */
static int hasher_new(struct weir_filter **out, struct weir_params *wanted)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	const bool seedless = wanted->kind == WEIR_SPLIT;
	params.kind = seedless ? WEIR_SPLIT : params.kind;
	params.capacity = 1;
	params.fp_rate = 0.5;
	params.seed = wanted->seed;
	params.secret = wanted->secret;
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
	if (hasher_new(&pass.f, params))
		return -1;
	int result = run(&pass, "reading", &keys);
	weir_destroy(pass.f);
	return result;
}

static int into_builder(struct pass *pass, const struct weir_params *params, const char *what,
                        uint64_t *keys)
{
	struct weir_params same = *params;
	if (hasher_new(&pass->f, &same))
		return -1;
	int result = run(pass, what, keys);
	weir_destroy(pass->f);
	return result;
}

int fill_gather(const struct fill *fill, const struct weir_params *params,
                struct weir_builder *builder, uint64_t *keys)
{
	struct pass pass = { .task = LOAD, .fill = fill, .builder = builder,
	                     .take = weir_builder_add_keys, .lock = PTHREAD_MUTEX_INITIALIZER };
	return into_builder(&pass, params, "reading", keys);
}

int fill_exclude(const struct fill *fill, const struct weir_params *params,
                 struct weir_builder *builder, uint64_t *keys)
{
	struct pass pass = { .task = LOAD, .fill = fill, .builder = builder,
	                     .take = weir_builder_exclude_keys,
	                     .lock = PTHREAD_MUTEX_INITIALIZER };
	return into_builder(&pass, params, "excluding", keys);
}

static void unspool_worker(void *arg)
{
	struct pass *pass = arg;
	while (!atomic_load(&pass->failed)) {
		pthread_mutex_lock(&pass->lock);
		struct batch *batch = pass->spool->first;
		if (batch)
			pass->spool->first = batch->next;
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
	progress_at(pass->spool->hashes ? (double)keys / (double)pass->spool->hashes : 0.0, keys);
}

int fill_from_spool(const struct fill *fill, struct spool *spool, struct weir_filter *f)
{
	struct pass pass = { .task = UNSPOOL, .fill = fill, .f = f, .spool = spool,
	                     .lock = PTHREAD_MUTEX_INITIALIZER };
	progress_begin("building");
	crew_run(fill->threads, unspool_worker, unspool_tick, &pass);
	progress_end();
	pthread_mutex_destroy(&pass.lock);
	note_room(&pass);
	return atomic_load(&pass.failed) ? -1 : 0;
}

uint64_t *spool_take(struct spool *spool)
{
	uint64_t *all = need(spool->hashes * sizeof *all);
	size_t at = 0;
	for (struct batch *batch = spool->first, *next; batch; batch = next) {
		next = batch->next;
		memcpy(all + at, batch->hashes, batch->n * sizeof *all);
		at += batch->n;
		free(batch);
	}
	spool->first = NULL;
	return all;
}

void spool_free(struct spool *spool)
{
	while (spool->first) {
		struct batch *next = spool->first->next;
		free(spool->first);
		spool->first = next;
	}
}
