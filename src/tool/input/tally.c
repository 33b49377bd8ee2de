/* SPDX-License-Identifier: MIT
 * See tally.h. A thread adds once a chunk, so the counters need no cache lines of their own. */
#include <stdatomic.h>
#include <stdlib.h>
#include "output/say.h"
#include "tally.h"

struct file {
	atomic_uint_fast64_t keys, bad;
};

struct tally {
	const struct lines_options *from;
	size_t n;
	struct file files[];
};

struct tally *tally_new(const struct lines_options *from)
{
	const size_t n = from->n ? from->n : 1; /* none is named: standard input */
	struct tally *t = need(sizeof *t + n * sizeof *t->files);
	t->from = from;
	t->n = n;
	for (size_t i = 0; i < n; i++) {
		atomic_init(&t->files[i].keys, 0);
		atomic_init(&t->files[i].bad, 0);
	}
	return t;
}

void tally_add(struct tally *t, const struct chunk *chunk, uint64_t keys, uint64_t bad)
{
	atomic_fetch_add(&t->files[chunk->file_number].keys, keys);
	atomic_fetch_add(&t->files[chunk->file_number].bad, bad);
}

struct keyless tally_end(struct tally *t)
{
	static char standard_input[] = "-";
	struct keyless none = { 0 };
	for (size_t i = t->n; i-- > 0;) {
		if (atomic_load(&t->files[i].keys))
			continue;
		none.files++;
		none.name = t->from->n ? t->from->names[i] : standard_input;
		none.bad = atomic_load(&t->files[i].bad);
	}
	free(t);
	return none;
}
