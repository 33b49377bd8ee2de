/* SPDX-License-Identifier: MIT
 * WEIR.LOAD key SET name: afterwards the key contains all keys of the set in redis.
 *
 * Replicas and the append-only file do not get the command or the image, since the image may be
 * gone when they need it. They get the changes: BF.LOADCHUNK of a header if the command made the
 * key, and BF.LOADCHUNK of the pieces with new bits. So a replica and a replayed file have the
 * right key even if the set is gone. */
#include <errno.h>
#include <string.h>
#include "dump.h"
#include "set.h"

/* The pieces of a key's only link. A piece is the part of the bits that one chunk of a dump has. */
struct pieces {
	uint64_t n;
	/* The number of set bits of each piece before the merge. have_changed() replaces it by
	 * the number of bits that the merge added. NULL: the key is new. */
	uint64_t *ones;
	unsigned char *chunk; /* memory for one chunk */
};

static uint64_t bytes_of(const struct chain_link *l, uint64_t piece)
{
	uint64_t left = l->bytes - piece * DUMP_BITS_MOST;
	return left < DUMP_BITS_MOST ? left : DUMP_BITS_MOST;
}

/* Return: the number of set bits of a piece. A merge only sets bits, so a piece whose number stays
 * the same is unchanged. */
static uint64_t count_ones(const struct chain_link *l, uint64_t piece)
{
	const unsigned char *at = l->bits + piece * DUMP_BITS_MOST;
	uint64_t sum = 0, word;
	for (uint64_t i = 0; i < bytes_of(l, piece); i += sizeof word) {
		memcpy(&word, at + i, sizeof word);
		sum += (unsigned)__builtin_popcountll(word);
	}
	return sum;
}

static int begin(struct pieces *p, const struct chain_link *l, bool made)
{
	*p = (struct pieces){ .n = (l->bytes + DUMP_BITS_MOST - 1) / DUMP_BITS_MOST };
	p->chunk = key_memory.get(DUMP_FRAME_BYTES + bytes_of(l, 0));
	p->ones = made ? NULL : key_memory.get(p->n * sizeof *p->ones);
	if (!p->chunk || (!made && !p->ones))
		return weir_fail(-ENOMEM, "no memory to tell replicas of %llu bytes",
		                 (unsigned long long)l->bytes);
	for (uint64_t i = 0; i < p->n && p->ones; i++)
		p->ones[i] = count_ones(l, i);
	return 0;
}

/* Return: true if the key is new, or the merge has added bits to a piece. */
static bool have_changed(struct pieces *p, const struct chain_link *l)
{
	bool any = !p->ones;
	for (uint64_t i = 0; i < p->n && p->ones; i++) {
		p->ones[i] = count_ones(l, i) - p->ones[i];
		any |= p->ones[i] != 0;
	}
	return any;
}

static void end(struct pieces *p)
{
	key_memory.put(p->chunk);
	key_memory.put(p->ones);
}

static void replicate(struct redis_context *context, struct redis_string *name, struct chain *c,
                      const struct pieces *p)
{
	const struct chain_link *l = c->newest;
	struct dump_key k = dump_of_chain(c);
	unsigned char header[DUMP_HEADER_MOST];
	uint64_t id;
	size_t n = dump_put_header(&k, header, &id);
	if (!p->ones)
		redis.Replicate(context, bf_keys.load_chunk, "slb", name,
		                (long long)dump_iterator(&k, id, 0), (const char *)header, n);
	for (uint64_t i = 0; i < p->n; i++) {
		uint64_t at = i * DUMP_BITS_MOST, bytes = bytes_of(l, i);
		if (p->ones && !p->ones[i])
			continue;
		memcpy(p->chunk + DUMP_FRAME_BYTES, l->bits + at, bytes);
		dump_put_frame(p->chunk, &(struct dump_frame){ id, at, l->items },
		               p->chunk + DUMP_FRAME_BYTES, bytes);
		redis.Replicate(context, bf_keys.load_chunk, "slb", name,
		                (long long)dump_iterator(&k, id, at + bytes),
		                (const char *)p->chunk, (size_t)(DUMP_FRAME_BYTES + bytes));
	}
}

/* Estimate the number of items from the bits. Replicas get this number with each piece. */
static uint64_t items_of(const struct chain_link *l)
{
	struct weir_stats st = WEIR_STATS_INIT;
	if (weir_measure(l->filter, WEIR_SAMPLED, &st) != 0 ||
	    !(st.keys_estimated < (double)l->capacity))
		return l->capacity;
	uint64_t items = (uint64_t)(st.keys_estimated + 0.5);
	return items > l->items ? items : l->items;
}

/* Merge @f into the chain. On failure nothing changes.
 * @made: the new key that receives the chain; NULL: the chain already has a key */
static int merge_into(const struct set *s, struct redis_string *name, struct chain *c,
                      const struct weir_filter *f, struct redis_key *made)
{
	struct pieces p;
	struct chain_link *l = c->newest;
	int err = begin(&p, l, made != NULL);
	if (!err) {
		err = weir_merge(l->filter, f);
		if (err)
			(void)weir_fail(err, "set %s: its filter is not as that of a key with "
			                "error rate %g and capacity %llu: %s", set_name(s),
			                c->error, (unsigned long long)c->capacity,
			                weir_error_detail());
	}
	if (!err && made)
		redis.ModuleTypeSetValue(made, bf_keys.type, c);
	if (!err && have_changed(&p, l)) {
		l->items = items_of(l);
		replicate(s->context, name, c, &p);
	}
	end(&p);
	return err;
}

/* The settings and the form of a chain whose only link is as @f. */
static int settings_of(const struct weir_filter *f, struct chain_settings *out,
                       struct chain_form *form)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_stats st = WEIR_STATS_INIT;
	int err = weir_measure(f, WEIR_SAMPLED, &st);
	if (!err)
		err = weir_params_of(f, &p);
	if (err)
		return err;
	*out = (struct chain_settings){ .error = st.fp_rate, .capacity = st.capacity,
		                        .seed = p.seed };
	*form = (struct chain_form){ .capacity = st.capacity, .bytes = st.bytes,
		                     .words_per_key = st.shape.field[0],
		                     .bits_per_word = st.shape.field[1] };
	return 0;
}

static int make_key(const struct set *s, struct redis_string *name, struct redis_key *key,
                    const struct weir_filter *f)
{
	struct chain_settings settings;
	struct chain_form form;
	struct chain *c;
	int err = settings_of(f, &settings, &form);
	if (!err)
		err = chain_create_as(&c, &settings, &form, key_most_for(s->context),
		                      &key_memory);
	if (err)
		return weir_fail(err, "set %s: no key can be as its filter: %s", set_name(s),
		                 weir_error_detail());
	err = merge_into(s, name, c, f, key);
	if (err)
		chain_destroy(c);
	return err;
}

/* @c: the key's chain; NULL: the key is missing, and this function makes it */
static int load(struct set *s, struct redis_string *name, struct redis_key *key, struct chain *c,
                uint64_t *batches)
{
	struct weir_filter *f;
	int err = c ? set_check_key(s, c) : 0;
	if (!err)
		err = set_image(s, c ? c->newest->bytes : key_most_for(s->context), &f);
	if (err)
		return err;
	err = set_replay(s, f, s->manifest.hashing, batches);
	if (!err)
		err = c ? merge_into(s, name, c, f, NULL) : make_key(s, name, key, f);
	weir_destroy(f);
	return err;
}

int weir_load_set(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	struct set s;
	uint64_t batches;
	char version[WEIR_ID_TEXT];
	if (argc != 4)
		return redis.WrongArity(context);
	if (!key_open(context, &bf_keys, argv[1], REDIS_READ | REDIS_WRITE, &key, &c)) {
		int err = set_open(&s, context, argv + 1, false);
		if (!err)
			err = load(&s, argv[1], key, c, &batches);
		if (err) {
			key_fail(context, err, NULL);
		} else {
			redis.ReplyWithMap(context, 2);
			redis.ReplyWithSimpleString(context, "version");
			redis.ReplyWithSimpleString(context, weir__version_write(
				version, s.manifest.version));
			redis.ReplyWithSimpleString(context, "batches");
			redis.ReplyWithLongLong(context, (long long)batches);
		}
		set_close(&s);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}
