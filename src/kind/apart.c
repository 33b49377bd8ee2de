/* SPDX-License-Identifier: MIT */
#include "kind/apart.h"

#if defined WEIR_DEBUG && !defined WEIR_DET
#include <stdio.h>
#include <stdlib.h>

/* A kind that holds its moves off copies keys whole or not at all. */
static struct weir_apart *apart_of(const struct weir_filter *f)
{
	return f->kernel->remove && !f->kind->hold ?
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
