/* SPDX-License-Identifier: MIT
 * Functions for all kinds: list a kind's abilities, check a shape, and fail if a kind lacks a
 * function. Also the functions that several kinds use as members of struct weir_kind. */
#include <stdio.h>
#include <stdlib.h>
#include "ground/error.h"
#include "kind/kind.h"

uint32_t weir__kind_can(const struct weir_kind *kind)
{
	uint32_t can = kind->can;
	can |= kind->build ? WEIR_CAN_BUILD : 0;
	can |= kind->sieve ? WEIR_CAN_EXCLUDE : 0;
	can |= kind->most ? WEIR_CAN_REFUSE : 0;
	can |= kind->grow_ahead ? WEIR_CAN_GROW : 0;
	can |= kind->decides ? WEIR_CAN_DECIDE : 0;
	can |= kind->merge || kind->join ? WEIR_CAN_MERGE : 0;
	can |= kind->snapshot || kind->members ? WEIR_CAN_CLONE : 0;
	can |= kind->fold ? WEIR_CAN_FOLD : 0;
	can |= kind->as_is ? 0 : WEIR_CAN_BE_KEYED;
	can |= kind->as_is || can & (WEIR_CAN_ROUTE | WEIR_CAN_FORGET) ? 0 : WEIR_CAN_NORMALISE;
	can |= kind->view ? WEIR_CAN_INLINE : 0;
	return can;
}

bool weir__shape_legal(const struct weir_kind *kind, const struct weir_shape *shape,
                       uint64_t lines)
{
	for (unsigned i = 0; i < WEIR_SHAPE_FIELDS; i++)
		if (!kind->fields[i] && shape->field[i])
			return false;
	return kind->legal(shape, lines);
}

int weir__kind_cannot(const struct weir_kind *kind, const char *verb)
{
	return weir__fail(-ENOTSUP, "kind %s cannot %s", kind->name, verb);
}

int weir__set_check(const struct weir_filter *f, const char *verb)
{
	return !f->no_set ? 0 :
	       weir__fail(-EAGAIN, "no set is published yet, so %s has nothing to read: repeat it "
	                  "when weir_handle_measure() no longer says absent", verb);
}

void weir__hold(const struct weir_filter *f)
{
	if (f->kind->hold)
		f->kind->hold(f);
}

void weir__let_go(const struct weir_filter *f)
{
	if (f->kind->let_go)
		f->kind->let_go(f);
}

/* ---- debug builds: no insert or removal during a copy, merge or fold ---- */

#if defined WEIR_DEBUG && !defined WEIR_DET

/* Return: f's counts of running calls, or NULL if inserts and removals are allowed during a copy of
 * f. They are allowed if f cannot remove keys. They are also allowed if f's kind has hold(), since
 * a copy then has each key in full or not at all. */
static struct weir_apart *apart_of(const struct weir_filter *f)
{
	return weir__removes(f) && !f->kind->hold ?
	               &((struct weir_filter *)(uintptr_t)f)->apart :
	               NULL;
}

static void stop(const struct weir_filter *f, const char *verb)
{
	fprintf(stderr, "weir: %s of a filter of kind %s beside an insert or a removal: the copy "
	        "could have a key by halves\n", verb, f->kind->name);
	abort();
}

void weir__change_begin(struct weir_filter *f)
{
	struct weir_apart *a = apart_of(f);
	if (!a)
		return;
	(void)weir__apart_add(&a->changes, 1);
	if (weir__apart_add(&a->wholes, 0))
		stop(f, "a save, clone, merge or fold");
}

void weir__change_end(struct weir_filter *f)
{
	struct weir_apart *a = apart_of(f);
	if (a)
		(void)weir__apart_add(&a->changes, UINT32_MAX);
}

void weir__whole_begin(const struct weir_filter *f, const char *verb)
{
	struct weir_apart *a = apart_of(f);
	if (!a)
		return;
	(void)weir__apart_add(&a->wholes, 1);
	if (weir__apart_add(&a->changes, 0))
		stop(f, verb);
}

void weir__whole_end(const struct weir_filter *f)
{
	struct weir_apart *a = apart_of(f);
	if (a)
		(void)weir__apart_add(&a->wholes, UINT32_MAX);
}

static int insert(struct weir_filter *f, const void *key, size_t len)
{
	weir__change_begin(f);
	int answer = f->apart.inside.insert(f, key, len);
	weir__change_end(f);
	return answer;
}

static int insert_hash(struct weir_filter *f, uint64_t hash)
{
	weir__change_begin(f);
	int answer = f->apart.inside.insert_hash(f, hash);
	weir__change_end(f);
	return answer;
}

static int insert_u64(struct weir_filter *f, uint64_t key)
{
	weir__change_begin(f);
	int answer = f->apart.inside.insert_u64(f, key);
	weir__change_end(f);
	return answer;
}

void weir__apart_wrap(struct weir_filter *f)
{
	if (!apart_of(f))
		return;
	f->apart.inside = f->verbs;
	f->verbs.insert = insert;
	f->verbs.insert_hash = insert_hash;
	f->verbs.insert_u64 = insert_u64;
}
#endif

/* ---- union and copy for kinds whose bits only go from 0 to 1 ---- */

int weir__bits_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                     uint64_t n)
{
	for (uint64_t i = 8 * first; i < 8 * (first + n); i++) {
		uint64_t bits = weir__word_load_relaxed(src->array.words + i);
		if (bits & ~weir__word_load_relaxed(dst->array.words + i))
			weir__word_or_relaxed(dst->array.words + i, bits);
	}
	return 0;
}

void weir__bits_snapshot(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out)
{
	const uint64_t *from = f->array.words + 8 * first;
	for (uint64_t i = 0; i < 8 * n; i++)
		out[i] = WEIR__LE64(weir__word_load_relaxed(from + i));
}
