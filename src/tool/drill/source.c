/* SPDX-License-Identifier: MIT
 * Prepares a drill: reads the hashes of the keys, 8 bytes each, and creates a handle whose filter
 * contains the keys. */
#include <stdlib.h>
#include <string.h>
#include "drill.h"
#include "host/memory_limit.h"
#include "input/file.h"
#include "output/say.h"
#include "output/units.h"

enum { INSERTS_LEAST = 100000 };

void drill_key(const struct drill *d, char *key, enum drill_key_kind kind, unsigned thread,
               uint64_t number)
{
	uint32_t who = (uint32_t)kind << 16 | thread;
	memset(key, 0, DRILL_KEY_BYTES);
	key[0] = d->fill.from.delimiter;
	memcpy(key + 4, &who, sizeof who);
	memcpy(key + 8, &number, sizeof number);
}

uint64_t drill_random(uint64_t *state) /* splitmix64 (Steele, Lea, Flood 2014) */
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

static int read_keys(struct drill *d, uint64_t memory)
{
	int64_t bytes = lines_total_bytes(&d->fill.from);
	if (bytes < 0)
		return TOOL_TROUBLE;
	d->fill.bytes = (uint64_t)bytes;
	struct spool spool = { .max_bytes = memory / 8 * 5,
		               .limited_by = "this machine or its control group",
		               .remedy = "give fewer of them" };
	/* This limit and that of the spool may exceed @memory together. But the pass needs little
	 * memory, since full batches go to the spool. */
	d->fill.room = memory / 2;
	if (fill_spool(&d->fill, &d->params, &spool)) {
		spool_free(&spool);
		return TOOL_TROUBLE;
	}
	d->n = spool.keys;
	d->source = spool_take(&spool);
	return d->n ? TOOL_OK :
	              trouble("the files have no keys: there is nothing to rehearse with");
}

/* Sizes the filter for the keys of the files and all inserts, unless -n gives its capacity. */
static int size_filter(struct drill *d, uint64_t memory)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (!d->inserters)
		d->inserts = 0;
	else if (!d->inserts_given)
		d->inserts = d->n > INSERTS_LEAST ? d->n : INSERTS_LEAST;
	if (!d->params.capacity)
		d->params.capacity = d->n + d->inserts;
	int err = weir_plan_make(&d->params, &plan);
	if (err)
		return trouble_weir(err, NULL);
	d->filter_bytes = plan.bytes;
	double needs = (double)plan.bytes * (d->keep_previous ? 3 : 2) +
	               8.0 * ((double)d->n + (double)d->inserts);
	if (needs > (double)memory)
		return trouble("%s filters of %s and the hashes of the keys need more memory than "
		               "this machine and its control groups have (%s)",
		               d->keep_previous ? "three" : "two", show_bytes(SHOW, plan.bytes),
		               show_bytes(SHOW, memory));
	return TOOL_OK;
}

static int publish(struct drill *d)
{
	struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_filter *first;
	int err = weir_create(&first, &d->params);
	if (err)
		return trouble_weir(err, NULL);
	err = weir_fill_keys(first, weir_keys_hashes(d->source, d->n));
	options.flavor = d->flavor.rcu;
	if (!err)
		err = weir_handle_create(&d->handle, first, &options);
	if (!err)
		return TOOL_OK;
	weir_destroy(first);
	return trouble_weir(err, NULL);
}

static void allocate_threads(struct drill *d)
{
	d->reader = xzalloc_lines(d->readers * sizeof *d->reader);
	d->inserter = xzalloc_lines((d->inserters + 1) * sizeof *d->inserter);
	for (unsigned i = 0; i < d->readers; i++) {
		d->reader[i].drill = d;
		d->reader[i].number = i;
		d->reader[i].random = d->params.seed + i;
	}
	for (unsigned i = 0; i < d->inserters; i++) {
		struct record *record = &d->inserter[i].record;
		d->inserter[i].drill = d;
		d->inserter[i].number = i;
		record->room = d->inserts / d->inserters + (i < d->inserts % d->inserters);
		record->hashes = xmalloc(record->room * sizeof *record->hashes);
	}
}

int drill_prepare(struct drill *d)
{
	const uint64_t machine = memory_of_machine(), groups = memory_left();
	const uint64_t memory = machine < groups ? machine : groups;
	int status = read_keys(d, memory);
	if (!status)
		status = size_filter(d, memory);
	if (!status)
		status = publish(d);
	if (!status)
		allocate_threads(d);
	return status;
}

void drill_free(struct drill *d)
{
	(void)weir_handle_destroy(d->handle);
	for (unsigned i = 0; d->inserter && i < d->inserters; i++)
		free(d->inserter[i].record.hashes);
	free(d->inserter);
	free(d->reader);
	free(d->loads.seconds);
	free(d->source);
}
