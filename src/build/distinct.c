/* SPDX-License-Identifier: MIT
 * Finds the distinct hashes. A bin is cut into runs that fit a core's first-level cache, and a
 * small hash table finds the duplicates of a run. Each thread takes the next bin that no thread has
 * taken. */
#include "build/distinct.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "ground/system.h"
#include "ground/threads.h"
#include "kind/spread.h"

enum { RUN = 2048 }; /* most hashes in a run, on average */
enum { MOST_RUN_BITS = 32 - WEIR_BIN_BITS };

struct work {
	struct weir_distinct *d;
	weir__step_fn *step;
	void *arg;
	uint64_t factor;
	atomic_uint next; /* the first bin that no thread has taken */
	pthread_mutex_t lock;
};

/* The working memory of a thread. */
struct scratch {
	uint64_t *in, *out; /* each large enough for a bin */
	uint32_t *table;    /* a run's hash table: 0, or 1 + the index of a distinct hash */
	uint64_t slots;     /* slots of the table, a power of two */
	uint64_t factor;
	struct weir_hash_bits bits;
};

static int no_memory(uint64_t hashes)
{
	return weir__fail(-ENOMEM, "no memory to sort %llu hashes in",
	                  (unsigned long long)hashes);
}

static unsigned run_bits_for(uint64_t n, unsigned bits)
{
	while (bits < MOST_RUN_BITS && n >> WEIR_BIN_BITS >> bits > RUN)
		bits++;
	return bits;
}

static uint64_t run_of(uint64_t hash, unsigned run_bits)
{
	return hash << WEIR_BIN_BITS >> 1 >> (63 - run_bits);
}

/* Move the hashes from in to out, grouped by run. @begin: receives where each run begins. */
static void scatter(const struct scratch *scratch, uint64_t n, unsigned run_bits, uint64_t *begin)
{
	const uint64_t runs = UINT64_C(1) << run_bits;
	uint64_t sum = 0;
	memset(begin, 0, (runs + 1) * sizeof *begin);
	for (uint64_t i = 0; i < n; i++)
		begin[run_of(scratch->in[i], run_bits) + 1]++;
	for (uint64_t i = 1; i <= runs; i++) {
		const uint64_t here = begin[i];
		begin[i] = sum; /* the next free index of run i - 1 */
		sum += here;
	}
	for (uint64_t i = 0; i < n; i++)
		scratch->out[begin[run_of(scratch->in[i], run_bits) + 1]++] = scratch->in[i];
}

static int grow_table(struct scratch *scratch, uint64_t n)
{
	uint64_t slots = 64;
	while (slots < 2 * n)
		slots *= 2;
	if (slots <= scratch->slots)
		return 0;
	free(scratch->table);
	scratch->table = malloc(slots * sizeof *scratch->table);
	scratch->slots = scratch->table ? slots : 0;
	return scratch->table ? 0 : no_memory(n);
}

/* Copy the distinct hashes of n hashes to @to, in their order. @to may be @hashes. Return: the
 * number of distinct hashes. The table uses the products of the hashes with a random factor, since
 * the caller may give its own hashes, which may be equal in some of their bits. Without the random
 * factor, a caller could choose many hashes that all go to one slot: quadratic time. */
static uint64_t copy_distinct(const struct scratch *scratch, const uint64_t *hashes, uint64_t n,
                              uint64_t *to)
{
	unsigned bits = 6;
	uint64_t kept = 0;
	while (UINT64_C(1) << bits < 2 * n)
		bits++;
	const uint64_t last = (UINT64_C(1) << bits) - 1;
	memset(scratch->table, 0, (last + 1) * sizeof *scratch->table);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t hash = hashes[i];
		uint64_t slot = hash * scratch->factor >> (64 - bits);
		while (scratch->table[slot] && to[scratch->table[slot] - 1] != hash)
			slot = (slot + 1) & last;
		if (scratch->table[slot])
			continue;
		to[kept++] = hash;
		scratch->table[slot] = (uint32_t)kept;
	}
	return kept;
}

/* Drop the duplicates of each run, in place. */
static int compare(struct scratch *scratch, struct weir_run_bin *bin, unsigned run_bits)
{
	const uint64_t runs = UINT64_C(1) << run_bits;
	uint64_t to = 0;
	for (uint64_t i = 0; i < runs; i++) {
		const uint64_t from = bin->begin[i], n = bin->begin[i + 1] - from;
		int err = n ? grow_table(scratch, n) : 0;
		if (err)
			return err;
		bin->begin[i] = to;
		to += n ? copy_distinct(scratch, scratch->out + from, n, scratch->out + to) : 0;
	}
	bin->begin[runs] = bin->n = to;
	return 0;
}

/* Keep the distinct hashes, in memory or in the file. They are the first bin->n hashes in
 * scratch->out, an array with room for @n hashes. */
static int keep_distinct(struct weir_distinct *d, struct scratch *scratch, struct weir_run_bin *bin,
                         uint64_t n)
{
	if (d->to_file)
		return weir__collect_write(d->from, scratch->out, bin->n, &bin->at);
	bin->hashes = scratch->out;
	scratch->out = NULL;
	/* With many duplicates, a smaller array is enough. */
	uint64_t *less = bin->n < n / 2 ? malloc(8 * bin->n + 8) : NULL;
	if (less) {
		memcpy(less, bin->hashes, 8 * bin->n);
		free(bin->hashes);
		bin->hashes = less;
	}
	return 0;
}

enum {
	COUNTED = 256, /* most sampled hashes of a bin */
	ROTATED = 16,  /* lowest bits, which are not judged: sharded sets put the shard's number
	                  there */
};

static void count_bits(struct weir_hash_bits *bits, const uint64_t *hashes, uint64_t n)
{
	const uint64_t step = n / COUNTED + 1;
	for (uint64_t i = 0; i < n; i += step, bits->n++) {
		weir__planes_add(bits->hash, hashes[i]);
		weir__planes_add(bits->product, weir__remix(hashes[i]));
	}
}

/* Return: true if each bit is 1 in about half of the hashes. If the bits are random, one bit
 * in 10^10 differs from a half by more than 6.5 standard deviations. */
static bool are_balanced(const uint64_t *ones, uint64_t n, unsigned bits)
{
	const double most = 6.5 * sqrt((double)n) / 2 + 0.01 * (double)n;
	for (unsigned bit = ROTATED; bit < bits; bit++) {
		const double set = weir__planes_read(ones, WEIR__HASH_PLANES, bit);
		if (fabs(set - (double)n / 2) > most)
			return false;
	}
	return true;
}

/* Hashes are uneven in the top bits, which choose the bin, if the bins differ too much in size. The
 * sample says nothing about these bits, since it has about equally many hashes from each bin. */
uint32_t weir__distinct_uneven(const struct weir_distinct *d, const char **why)
{
	const double mean = (double)d->n / WEIR_BINS;
	double sum = 0;
	if (d->n < WEIR_BINS)
		return WEIR_UNEVEN_UNKNOWN;
	for (unsigned i = 0; i < WEIR_BINS; i++)
		sum += ((double)d->bin[i].n - mean) * ((double)d->bin[i].n - mean);
	*why = sum / mean > weir__spread_limit(WEIR_BINS - 1, mean, 0.0004 * mean) ?
	               "they are alike in the top bits" :
	       !are_balanced(d->bits.hash, d->bits.n, 64 - WEIR_BIN_BITS) ||
	       !are_balanced(d->bits.product, d->bits.n, 64) ?
	               "some of their bits are alike" :
	               NULL;
	return *why ? WEIR_UNEVEN_YES : WEIR_UNEVEN_NO;
}

static int sort_bin(struct work *w, struct scratch *scratch, unsigned i)
{
	struct weir_distinct *d = w->d;
	struct weir_run_bin *bin = &d->bin[i];
	const uint64_t n = weir__collected_in(d->from, i), runs = UINT64_C(1) << d->run_bits;
	bin->begin = malloc((runs + 1) * sizeof *bin->begin);
	scratch->in = malloc(8 * n + 8);
	scratch->out = malloc(8 * n + 8);
	if (!bin->begin || !scratch->in || !scratch->out || n > UINT32_MAX - 1)
		return no_memory(n);
	int err = weir__collected_take(d->from, i, scratch->in);
	if (err)
		return err;
	scatter(scratch, n, d->run_bits, bin->begin);
	err = compare(scratch, bin, d->run_bits);
	if (!err)
		count_bits(&scratch->bits, scratch->out, bin->n);
	if (!err)
		err = keep_distinct(d, scratch, bin, n);
	if (err)
		return err;
	atomic_fetch_add_explicit(&d->n, bin->n, memory_order_relaxed);
	return w->step(w->arg, n);
}

static void add_bits(struct work *w, const struct weir_hash_bits *more)
{
	struct weir_hash_bits *bits = &w->d->bits;
	pthread_mutex_lock(&w->lock);
	bits->n += more->n;
	for (unsigned p = 0; p < WEIR__HASH_PLANES; p++) {
		weir__planes_add(bits->hash + p, more->hash[p]);
		weir__planes_add(bits->product + p, more->product[p]);
	}
	pthread_mutex_unlock(&w->lock);
}

static int sort_bins(void *work)
{
	struct work *w = work;
	struct scratch scratch = { .factor = w->factor };
	int err = 0;
	while (!err) {
		const unsigned i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
		if (i >= WEIR_BINS)
			break;
		err = sort_bin(w, &scratch, i);
		free(scratch.in);
		free(scratch.out);
		scratch.in = scratch.out = NULL;
	}
	if (err)
		atomic_store_explicit(&w->next, WEIR_BINS, memory_order_relaxed);
	free(scratch.table);
	add_bits(w, &scratch.bits);
	return err;
}

uint64_t weir__any_factor(void)
{
	uint64_t number;
	return weir__random(&number) ? UINT64_C(0x9E3779B97F4A7C15) : number | 1;
}

int weir__distinct(struct weir_distinct *out, struct weir_collected *from, unsigned run_bits,
                   unsigned threads, weir__step_fn *step, void *arg)
{
	struct work w = { .d = out, .step = step, .arg = arg, .factor = weir__any_factor() };
	memset(out, 0, sizeof *out);
	out->from = from;
	out->run_bits = run_bits_for(weir__collected(from), run_bits);
	out->to_file = from->fd >= 0;
	pthread_mutex_init(&w.lock, NULL);
	int err = weir__parallel(threads, sort_bins, &w);
	pthread_mutex_destroy(&w.lock);
	return err;
}

void weir__distinct_end(struct weir_distinct *d)
{
	for (unsigned i = 0; i < WEIR_BINS; i++) {
		free(d->bin[i].hashes);
		free(d->bin[i].begin);
	}
}

/* ---- parts of the distinct hashes ---- */

/* Find the hashes of a part that is smaller than a bin. @first, @end: receive the indices, in the
 * part's bin, of its first hash and after its last hash. */
static void range_of(const struct weir_distinct *d, uint64_t part, unsigned part_bits,
                     uint64_t *first, uint64_t *end)
{
	const struct weir_run_bin *bin = &d->bin[part >> (part_bits - WEIR_BIN_BITS)];
	const unsigned below = part_bits - WEIR_BIN_BITS; /* bits of a part within its bin */
	const uint64_t runs = UINT64_C(1) << (d->run_bits - below);
	const uint64_t run = (part & ((UINT64_C(1) << below) - 1)) * runs;
	*first = bin->begin[run];
	*end = bin->begin[run + runs];
}

static unsigned bins_of(unsigned part_bits)
{
	return part_bits < WEIR_BIN_BITS ? 1u << (WEIR_BIN_BITS - part_bits) : 1;
}

uint64_t weir__distinct_count(const struct weir_distinct *d, uint64_t part, unsigned part_bits)
{
	uint64_t n = 0, first, end;
	if (part_bits > WEIR_BIN_BITS) {
		range_of(d, part, part_bits, &first, &end);
		return end - first;
	}
	const unsigned bins = bins_of(part_bits);
	for (unsigned i = 0; i < bins; i++)
		n += d->bin[part * bins + i].n;
	return n;
}

static int copy(const struct weir_distinct *d, const struct weir_run_bin *bin, uint64_t first,
                uint64_t end, uint64_t *out)
{
	if (!bin->hashes)
		return end > first ? weir__collect_read(d->from, bin->at + 8 * first, end - first,
		                                        out) :
		                     0;
	memcpy(out, bin->hashes + first, 8 * (end - first));
	return 0;
}

int weir__distinct_read(const struct weir_distinct *d, uint64_t part, unsigned part_bits,
                        uint64_t *out)
{
	uint64_t first, end;
	int err = 0;
	if (part_bits > WEIR_BIN_BITS) {
		range_of(d, part, part_bits, &first, &end);
		return copy(d, &d->bin[part >> (part_bits - WEIR_BIN_BITS)], first, end, out);
	}
	const unsigned bins = bins_of(part_bits);
	for (unsigned i = 0; !err && i < bins; i++) {
		const struct weir_run_bin *bin = &d->bin[part * bins + i];
		err = copy(d, bin, 0, bin->n, out);
		out += bin->n;
	}
	return err;
}
