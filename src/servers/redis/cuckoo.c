/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "chain.h"
#include "cuckoo.h"
#include "murmur.h"

static const uint64_t MOST_BYTES = UINT64_C(1) << 46;

/* ---- sub filters ---- */

static uint64_t buckets_of(const struct cuckoo *c, unsigned j)
{
	return j ? c->buckets << j * (unsigned)__builtin_ctz(c->expansion) : c->buckets;
}

uint64_t cuckoo_sub_bytes(const struct cuckoo *c, unsigned j)
{
	unsigned shift = j ? j * (unsigned)__builtin_ctz(c->expansion) : 0;
	uint64_t bytes = c->buckets * c->bucket; /* below 2^48, since both were checked */
	return shift < 48 && bytes << shift >> shift == bytes && bytes << shift < MOST_BYTES
	               ? bytes << shift : 0;
}

uint64_t cuckoo_next_bytes(const struct cuckoo *c)
{
	return c->subs && !c->expansion ? 0 : cuckoo_sub_bytes(c, c->subs);
}

uint64_t cuckoo_bytes(const struct cuckoo *c)
{
	uint64_t sum = 0;
	if (c->expansion <= 1) /* sub filters of one size: a header can ask for 65,535 of them */
		return c->subs * cuckoo_sub_bytes(c, 0);
	for (unsigned j = 0; j < c->subs; j++)
		sum += cuckoo_sub_bytes(c, j);
	return sum;
}

unsigned char *cuckoo_sub(const struct cuckoo *c, unsigned j)
{
	return c->listed ? c->many[j] : c->one;
}

/* Make room in the list for one more sub filter. Its room is a power of two. */
static int lengthen(struct cuckoo *c)
{
	if (c->listed && c->subs & (c->subs - 1u))
		return 0;
	unsigned char **longer = c->memory->get(2 * c->subs * sizeof *longer);
	if (!longer)
		return weir_fail(-ENOMEM, "no memory for %u sub filters", c->subs + 1u);
	for (unsigned j = 0; j < c->subs; j++)
		longer[j] = cuckoo_sub(c, j);
	if (c->listed)
		c->memory->put(c->many);
	c->many = longer;
	c->listed = true;
	return 0;
}

int cuckoo_grow(struct cuckoo *c, uint64_t most)
{
	uint64_t bytes = cuckoo_next_bytes(c), all = cuckoo_bytes(c);
	if (c->subs >= CUCKOO_SUBS || (c->subs && !c->expansion))
		return weir_fail(-ENOSPC, "the filter has %u sub filters, the most there can be",
		                 c->subs);
	if (!bytes || (most && (bytes > most || all > most - bytes)))
		return weir_fail(-EFBIG, "the key would need %llu bytes, max-bytes is %llu",
		                 (unsigned long long)(all + bytes), (unsigned long long)most);
	int err = c->subs ? lengthen(c) : 0;
	if (err)
		return err;
	unsigned char *sub = c->memory->get(bytes);
	if (!sub)
		return weir_fail(-ENOMEM, "no memory for a sub filter of %llu bytes",
		                 (unsigned long long)bytes);
	memset(sub, 0, bytes);
	if (c->listed)
		c->many[c->subs] = sub;
	else
		c->one = sub;
	c->subs++;
	return 0;
}

void cuckoo_shrink(struct cuckoo *c)
{
	c->subs--;
	c->memory->put(cuckoo_sub(c, c->subs));
}

/* ---- filters ---- */

static bool is_power(uint64_t n)
{
	return n && !(n & (n - 1));
}

static int check(const struct cuckoo_settings *s)
{
	if (!is_power(s->buckets) || s->buckets >> 40)
		return weir_fail(-EINVAL, "%llu buckets are not a power of two below 2^40",
		                 (unsigned long long)s->buckets);
	if (!s->bucket || s->bucket > CUCKOO_BUCKET_MOST || !s->iterations ||
	    s->iterations > UINT16_MAX)
		return weir_fail(-EINVAL, "bucket size %llu is not in 1 to 255, or %llu iterations "
		                 "are not in 1 to 65535", (unsigned long long)s->bucket,
		                 (unsigned long long)s->iterations);
	if (s->expansion > CUCKOO_EXPANSION_MOST || (s->expansion && !is_power(s->expansion)))
		return weir_fail(-EINVAL, "expansion %llu is not a power of two up to 32768",
		                 (unsigned long long)s->expansion);
	if (s->old_hash && (s->seed || s->bucket != 2 || s->iterations != 20 || s->expansion != 1))
		return weir_fail(-EINVAL, "a filter from before RedisBloom 2.2 has bucket size 2, "
		                 "20 iterations, expansion 1 and no seed");
	return 0;
}

int cuckoo_create(struct cuckoo **out, const struct cuckoo_settings *s, uint64_t most,
                  const struct chain_memory *memory)
{
	int err = check(s);
	if (err)
		return err;
	struct cuckoo *c = memory->get(sizeof *c);
	if (!c)
		return weir_fail(-ENOMEM, "no memory for a key");
	*c = (struct cuckoo){ .memory = memory, .buckets = s->buckets,
		              .seed = s->seed, .bucket = (uint8_t)s->bucket,
		              .old_hash = s->old_hash,
		              .iterations = (uint16_t)s->iterations,
		              .expansion = (uint16_t)s->expansion };
	err = cuckoo_grow(c, most);
	if (err)
		memory->put(c);
	else
		*out = c;
	return err;
}

void cuckoo_destroy(struct cuckoo *c)
{
	if (!c)
		return;
	while (c->subs)
		cuckoo_shrink(c);
	if (c->listed)
		c->memory->put(c->many);
	c->memory->put(c);
}

struct cuckoo_settings cuckoo_settings_of(const struct cuckoo *c)
{
	return (struct cuckoo_settings){ c->buckets, c->seed, c->bucket, c->iterations,
		                         c->expansion, c->old_hash };
}

int cuckoo_copy(struct cuckoo **out, const struct cuckoo *from)
{
	struct cuckoo_settings s = cuckoo_settings_of(from);
	struct cuckoo *c;
	int err = cuckoo_create(&c, &s, 0, from->memory);
	if (err)
		return err;
	while (!err && c->subs < from->subs)
		err = cuckoo_grow(c, 0);
	for (unsigned j = 0; !err && j < c->subs; j++)
		memcpy(cuckoo_sub(c, j), cuckoo_sub(from, j), cuckoo_sub_bytes(c, j));
	c->items = from->items;
	c->deleted = from->deleted;
	c->changes = from->changes;
	if (err)
		cuckoo_destroy(c);
	else
		*out = c;
	return err;
}

size_t cuckoo_usage(const struct cuckoo *c)
{
	size_t sum = c->memory->size((void *)c);
	if (c->listed)
		sum += c->memory->size(c->many);
	for (unsigned j = 0; j < c->subs; j++)
		sum += c->memory->size(cuckoo_sub(c, j));
	return sum;
}

uint64_t cuckoo_fingerprints(const void *bytes, uint64_t n)
{
	const unsigned char *at = bytes;
	uint64_t sum = 0;
	for (uint64_t i = 0; i < n; i++)
		sum += at[i] != 0;
	return sum;
}

/* ---- items ---- */

struct item {
	uint64_t h[2]; /* the hash; and what gives the second bucket */
	unsigned char fp;
};

static uint64_t other(uint64_t h, unsigned char fp)
{
	return h ^ fp * UINT64_C(0x5bd1e995);
}

static struct item item_of(const struct cuckoo *c, const void *item, size_t len)
{
	uint64_t h = c->old_hash ? murmur2(item, len, 0) : murmur64a(item, len, c->seed);
	unsigned char fp = (unsigned char)(h % 255 + 1);
	if (c->old_hash)
		fp = h >> 24 ? (unsigned char)(h >> 24) : 7;
	return (struct item){ { h, other(h, fp) }, fp };
}

static unsigned char *bucket_at(const struct cuckoo *c, unsigned j, uint64_t h)
{
	return cuckoo_sub(c, j) + (h & (buckets_of(c, j) - 1)) * c->bucket;
}

/* Return: the slot of sub filter @j, in either bucket, that has @value; or NULL. */
static unsigned char *find(const struct cuckoo *c, unsigned j, const struct item *i,
                           unsigned char value)
{
	for (int k = 0; k < 2; k++) {
		unsigned char *at = bucket_at(c, j, i->h[k]);
		for (unsigned slot = 0; slot < c->bucket; slot++)
			if (at[slot] == value)
				return at + slot;
	}
	return NULL;
}

static bool has(const struct cuckoo *c, const struct item *i)
{
	for (unsigned j = c->subs; j-- > 0;)
		if (find(c, j, i, i->fp))
			return true;
	return false;
}

bool cuckoo_has(const struct cuckoo *c, const void *item, size_t len)
{
	struct item i = item_of(c, item, len);
	return has(c, &i);
}

uint64_t cuckoo_count(const struct cuckoo *c, const void *item, size_t len)
{
	struct item i = item_of(c, item, len);
	uint64_t sum = 0;
	for (unsigned j = 0; j < c->subs; j++) {
		const unsigned char *a = bucket_at(c, j, i.h[0]), *b = bucket_at(c, j, i.h[1]);
		for (unsigned slot = 0; slot < c->bucket; slot++)
			sum += (unsigned)(a[slot] == i.fp) + (a != b && b[slot] == i.fp);
	}
	return sum;
}

static bool put_free(struct cuckoo *c, unsigned j, const struct item *i)
{
	unsigned char *slot = find(c, j, i, 0);
	if (slot)
		*slot = i->fp;
	return slot != NULL;
}

/* One step of an eviction: exchange the fingerprint with the slot, and go to the other bucket of
 * the one that was there. Each step can be undone from the state after it. */
struct eviction {
	uint64_t bucket;
	unsigned slot;
	unsigned char fp;
};

static void exchange(struct cuckoo *c, unsigned j, struct eviction *e)
{
	unsigned char *at = cuckoo_sub(c, j) + e->bucket * c->bucket + e->slot, was = *at;
	*at = e->fp;
	e->fp = was;
}

/* Make room in the newest sub filter by moving fingerprints to their other buckets, beginning with
 * slot @slot of the bucket of @h. Return: true if the item is in. */
static bool evict(struct cuckoo *c, const struct item *i, uint64_t h, unsigned slot)
{
	unsigned j = c->subs - 1u, moves = 0;
	uint64_t mask = buckets_of(c, j) - 1;
	struct eviction e = { h & mask, slot, i->fp };
	while (moves++ < c->iterations) {
		exchange(c, j, &e);
		e.bucket = other(e.bucket, e.fp) & mask;
		unsigned char *slots = cuckoo_sub(c, j) + e.bucket * c->bucket;
		unsigned char *free_slot = memchr(slots, 0, c->bucket);
		if (free_slot) {
			*free_slot = e.fp;
			return true;
		}
		e.slot = (e.slot + 1) % c->bucket;
	}
	while (--moves > 0) { /* undo, last step first */
		e.slot = (e.slot + c->bucket - 1) % c->bucket;
		e.bucket = other(e.bucket, e.fp) & mask;
		exchange(c, j, &e);
	}
	return false;
}

/* Begin with the first slot of the first bucket alone, as RedisBloom does. A filter that cannot
 * grow and is not RedisBloom's then tries up to four slots of either bucket before it refuses an
 * item. */
static bool evict_any(struct cuckoo *c, const struct item *i)
{
	unsigned starts = c->bucket < 4 ? c->bucket : 4;
	if (!c->seed || c->expansion)
		return evict(c, i, i->h[0], 0);
	for (unsigned slot = 0; slot < starts; slot++)
		if (evict(c, i, i->h[0], slot) || evict(c, i, i->h[1], slot))
			return true;
	return false;
}

/* A header or a value from an enemy may have the largest number that a load accepts. */
static void count_up(uint64_t *count)
{
	*count += *count < CHAIN_NUMBERS - 1;
}

static int insert(struct cuckoo *c, const struct item *i, uint64_t most)
{
	for (unsigned j = c->subs; j-- > 0;)
		if (put_free(c, j, i))
			return 1;
	if (evict_any(c, i))
		return 1;
	int err = cuckoo_grow(c, most);
	return err ? err : put_free(c, c->subs - 1u, i);
}

int cuckoo_add(struct cuckoo *c, const void *item, size_t len, bool absent, uint64_t most)
{
	struct item i = item_of(c, item, len);
	if (absent && has(c, &i))
		return 0;
	int answer = insert(c, &i, most);
	if (answer > 0) {
		c->items++;
		count_up(&c->changes);
	}
	return answer;
}

bool cuckoo_remove(struct cuckoo *c, const void *item, size_t len)
{
	struct item i = item_of(c, item, len);
	for (unsigned j = c->subs; j-- > 0;) {
		unsigned char *slot = find(c, j, &i, i.fp);
		if (!slot)
			continue;
		*slot = 0;
		c->items -= c->items > 0; /* a header from an enemy may have said 0 */
		count_up(&c->deleted);
		count_up(&c->changes);
		if (c->subs > 1 && (double)c->deleted > (double)c->items * 0.1)
			cuckoo_compact(c);
		return true;
	}
	return false;
}

/* Move what fits from sub filter @j to older ones. Return: true if @j is now empty. */
static bool empty_sub(struct cuckoo *c, unsigned j)
{
	uint64_t buckets = buckets_of(c, j);
	bool empty = true;
	for (uint64_t b = 0; b < buckets; b++)
		for (unsigned slot = 0; slot < c->bucket; slot++) {
			unsigned char *at = cuckoo_sub(c, j) + b * c->bucket + slot;
			struct item i = { { b, other(b, *at) }, *at };
			bool moved = false;
			for (unsigned older = 0; *at && !moved && older < j; older++)
				moved = put_free(c, older, &i);
			if (moved)
				*at = 0;
			empty &= !*at;
		}
	return empty;
}

void cuckoo_compact(struct cuckoo *c)
{
	while (c->subs > 1 && empty_sub(c, c->subs - 1u))
		cuckoo_shrink(c);
	c->deleted = 0;
	count_up(&c->changes);
}
