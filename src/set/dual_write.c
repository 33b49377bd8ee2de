/* SPDX-License-Identifier: MIT
 * Inserts that must do more than insert into current: during a reload, while a previous filter is
 * kept, into filters that hash differently ([ANY-SEED]), or before the first set
 * ([PLACEHOLDER]). */
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/batch.h"
#include "set/generation.h"

enum { AT_A_TIME = 64 }; /* keys at a time; a multiple of 64, for whole words of a bitmap */

/* [ANY-SEED]: the lookup of weir__any_hash. It answers yes, since the hash may belong to any
 * filter. */
static bool contains_any_hash(const struct weir_filter *f, uint64_t hash)
{
	(void)f, (void)hash;
	return true;
}

const struct weir_filter weir__any_hash = {
	.verbs = { .contains_hash = contains_any_hash }
};

int weir__refuse_hashes(const char *verb)
{
	return weir__fail(-EINVAL, "a hash, but the filters of this handle (WEIR_HANDLE_ANY_SEED) "
	                           "hash differently: %s the key, or add WEIR_HANDLE_OWN_HASHES if "
	                           "the hashes are all your own", verb);
}

/* [ANY-SEED]: hash the key for filter @i of the record, once for all filters that hash in the same
 * way. Return: 0; -EINVAL the filter cannot read the text. */
static int hash_for(const struct weir_generation *g, unsigned i, struct weir_filter *filter,
                    const struct weir_given *key, uint64_t hashes[WEIR_RECORD_FILTERS])
{
	const unsigned alike = g->alike[i];
	if (alike == i)
		return weir__given_hash(filter, key, &hashes[i]);
	hashes[i] = hashes[alike];
	return 0;
}

/* The insert of a key into one filter. */
struct made_insert {
	struct weir_filter *filter;
	uint64_t hash;
};

/* Undo an insert. A no-op for kinds without removal. */
static void undo(const struct made_insert *p)
{
	if (weir__removes(p->filter))
		(void)!weir__remove_made(p->filter, p->hash);
}

/* Insert the key into filter @i, p->filter, and store its hash in p. Return: WEIR_NEW,
 * WEIR_SEEN or a negative errno. */
static int insert_one(const struct weir_generation *g, unsigned i, const struct weir_given *key,
                      uint64_t hashes[WEIR_RECORD_FILTERS], struct made_insert *p)
{
	p->hash = key->hash;
	if (!key->key)
		return weir_insert_hash(p->filter, key->hash);
	int err = hash_for(g, i, p->filter, key, hashes);
	p->hash = hashes[i];
	return err ? err : weir__insert_made(p->filter, p->hash);
}

/* [REFUSED-KEY]: filter @i refused with @err. Return: 0 if the insert succeeds nevertheless, else
 * @err. */
static int decide_refusal(unsigned i, struct weir_filter *filter, int err)
{
	const bool is_void = i == 2 && weir__standby_decide_relaxed(&filter->standby,
	                                                            WEIR_STANDBY_VOID) ==
	                                      WEIR_STANDBY_VOID;
	return is_void ? 0 : err;
}

/* Name the filter that refused in the error message, and say where the key stays. Return: @err. */
static int explain(const struct weir_generation *g, unsigned i, int err)
{
	const bool removes = g->absence || weir__removes(g->current);
	if (i == 0)
		return err;
	return weir__fail(err, "%s: %s; %s", i == 1 ? "the next filter, of the reload that runs" :
	                                              "the filter that a rollback returns to",
	                  weir_error_detail(),
	                  g->absence ? "it is kept for a later one" :
	                  removes    ? "it is taken back from the current one" :
	                               "the current one, which cannot remove it, keeps it");
}

static int insert(const struct weir_generation *g, const struct weir_given *key)
{
	uint64_t hashes[WEIR_RECORD_FILTERS];
	struct made_insert inserts[WEIR_RECORD_FILTERS];
	unsigned done_inserts = 0;
	int answer = g->absence ? weir__absence_keep(g->absence, key) : 0;
	for (unsigned i = 0; i < WEIR_RECORD_FILTERS && answer >= 0; i++) {
		struct made_insert *p = &inserts[done_inserts];
		p->filter = weir__record_filter(g, i); /* read once: previous may become void */
		if (!p->filter)
			continue;
		int one = insert_one(g, i, key, hashes, p);
		int refused = one < 0 ? decide_refusal(i, p->filter, one) : 0;
		done_inserts += one >= 0;
		answer = refused ? explain(g, i, refused) : i == 0 ? one : answer;
	}
	while (answer < 0 && done_inserts)
		undo(&inserts[--done_inserts]);
	return answer;
}

int weir__insert_hash_beside(const struct weir_generation *g, uint64_t hash)
{
	if (g->beside & WEIR_BESIDE_NO_HASHES)
		return weir__refuse_hashes("insert");
	return insert(g, &(struct weir_given){ .hash = hash });
}

int weir__insert_key_beside(const struct weir_generation *g, const void *key, size_t len)
{
	if (g->beside == WEIR_BESIDE_NO_HASHES)
		return weir_insert(g->current, key, len);
	return insert(g, &(struct weir_given){ .key = key ? key : "", .len = len });
}

int weir__insert_u64_beside(const struct weir_generation *g, uint64_t key)
{
	if (g->beside == WEIR_BESIDE_NO_HASHES)
		return weir_insert_u64(g->current, key);
	return insert(g, &(struct weir_given){ .key = &key, .len = sizeof key, .number = true });
}

/* A piece of a batch during its insert into the filters of a record. */
struct piece {
	const struct weir_generation *g;
	struct weir_keys keys;
	const uint64_t *hashes[WEIR_RECORD_FILTERS]; /* the hashes for each filter */
	uint64_t made[WEIR_RECORD_FILTERS][AT_A_TIME];
	size_t taken; /* number of keys that all filters so far have accepted */
	int64_t err;  /* the first refusal; 0: none */
	char sentence[WEIR_SENTENCE_BYTES];
};

/* Hash the piece for filter @i, once for all filters that hash in the same way ([ANY-SEED]).
 * Return: the number of keys before the first key that the filter cannot read. */
static size_t hash_piece(struct piece *p, unsigned i, struct weir_filter *filter)
{
	const unsigned alike = p->g->alike[i];
	const bool given = p->keys.form == WEIR_KEYS_HASHES;
	size_t n = p->taken;
	if (!given && alike == i)
		n = weir__hashes_to_insert(filter, weir_keys_part(p->keys, 0, n), p->made[i]);
	p->hashes[i] = given ? p->keys.at : p->made[alike];
	return n;
}

/* [REFUSED-KEY]: filter @i accepted only @taken keys. Remove all later keys from the earlier
 * filters, the last key first. */
static void refuse_piece(struct piece *p, unsigned i, size_t taken, int err)
{
	p->err = explain(p->g, i, err);
	memcpy(p->sentence, weir_error_detail(), strlen(weir_error_detail()) + 1);
	for (size_t at = p->taken; at-- > taken;)
		for (unsigned before = i; before-- > 0;) {
			struct weir_filter *filter = weir__record_filter(p->g, before);
			if (filter)
				undo(&(struct made_insert){ filter, p->hashes[before][at] });
		}
	p->taken = taken;
}

static int64_t insert_into(struct piece *p, unsigned i, struct weir_filter *filter,
                           uint64_t *bitmap)
{
	const size_t can = hash_piece(p, i, filter);
	const int64_t answer = p->keys.form == WEIR_KEYS_HASHES ?
		weir_insert_keys(filter, weir_keys_hashes(p->hashes[i], can), bitmap) :
		weir__insert_hashes(filter, p->hashes[i], can, bitmap);
	return answer >= 0 && can < p->taken ? weir__stopped(can, -EINVAL) : answer;
}

/* Insert up to AT_A_TIME keys into each filter, as long as all earlier filters accept them. */
static int64_t insert_some(struct piece *p, uint64_t *bitmap)
{
	int64_t answer = 0;
	for (unsigned i = 0; i < WEIR_RECORD_FILTERS; i++) {
		struct weir_filter *filter = weir__record_filter(p->g, i);
		if (!filter)
			continue;
		int64_t one = insert_into(p, i, filter, i ? NULL : bitmap);
		size_t taken = one < 0 ? weir_error_taken() : p->taken;
		if (one < 0 && decide_refusal(i, filter, (int)one))
			refuse_piece(p, i, taken, (int)one);
		answer = i == 0 ? one : answer;
	}
	return p->err ? weir__stopped(p->taken, weir__fail((int)p->err, "%s", p->sentence)) :
	                answer;
}

/* Clear the answers for all keys from key @at on. */
static void forget_answers(uint64_t *bitmap, size_t at, size_t n)
{
	if (bitmap && at < n && at % 64)
		bitmap[at / 64] &= (UINT64_C(1) << at % 64) - 1;
	for (size_t word = (at + 63) / 64; bitmap && word < WEIR_BITMAP_WORDS(n); word++)
		bitmap[word] = 0;
}

static int64_t insert_in_pieces(const struct weir_generation *g, struct weir_keys keys,
                                uint64_t *bitmap)
{
	const size_t n = keys.n;
	int64_t inserted = 0;
	for (size_t done = 0; done < n; done += AT_A_TIME) {
		size_t some = n - done < AT_A_TIME ? n - done : AT_A_TIME;
		struct piece p;
		p.g = g, p.keys = weir_keys_part(keys, done, some), p.taken = some, p.err = 0;
		int64_t answer = insert_some(&p, bitmap ? bitmap + done / 64 : NULL);
		if (answer < 0) {
			forget_answers(bitmap, done + p.taken, n);
			return weir__stopped(done + p.taken, answer);
		}
		inserted += answer;
	}
	return inserted;
}

/* [PLACEHOLDER]: keep the keys, and insert them into next if there is one. */
static int64_t insert_absent(const struct weir_generation *g, struct weir_keys keys,
                             uint64_t *bitmap)
{
	const size_t n = keys.n;
	const bool answers = g->absence->answer == WEIR_NEW;
	for (size_t i = 0; i < n; i++) {
		struct weir_given key = weir__keys_one(keys, i);
		int answer = insert(g, &key);
		if (answer >= 0)
			continue;
		(void)weir__answer_all(answers, n, bitmap);
		forget_answers(bitmap, i, n);
		return weir__stopped(i, answer);
	}
	return weir__answer_all(answers, n, bitmap);
}

int64_t weir__insert_keys_beside(const struct weir_generation *g, struct weir_keys keys,
                                 uint64_t *bitmap)
{
	if (keys.n && !weir__keys_form(keys))
		return weir__stopped(0, weir__keys_refused());
	if (keys.form == WEIR_KEYS_HASHES && g->beside & WEIR_BESIDE_NO_HASHES)
		return weir__stopped(0, weir__refuse_hashes("insert"));
	if (g->absence)
		return insert_absent(g, keys, bitmap);
	if (!(g->beside & WEIR_BESIDE_FILTERS))
		return weir_insert_keys(g->current, keys, bitmap);
	return insert_in_pieces(g, keys, bitmap);
}
