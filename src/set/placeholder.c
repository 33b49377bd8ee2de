/* SPDX-License-Identifier: MIT
 * The placeholder, and the keys that are kept for the first set ([PLACEHOLDER]). */
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "filter/filter.h"
#include "kind/kind.h"
#include "set/generation.h"

struct weir_kept {
	struct weir_kept *older;
	size_t len;
	bool hashed; /* bytes holds a hash, not a key */
	bool number, fixed; /* as in struct weir_given */
	char bytes[];
};

/* Make a filter of one line. No key is ever inserted into it. */
static int make_placeholder(struct weir_filter **out, const struct weir_handle_options *options)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = 1;
	p.max_bytes = 64;
	p.secret = options->secret;
	int err = weir_create(out, &p);
	if (err)
		return err;
	(*out)->no_set = true;
	if (options->absent == WEIR_ABSENT_YES)
		memset((*out)->array.words, 0xff, (*out)->bytes);
	return 0;
}

static int check(const struct weir_handle_options *options)
{
	if (options->absent == WEIR_ABSENT_REFUSED)
		return weir__fail(-EINVAL, "initial is NULL: weir_handle_create needs a filter, "
		                           "options.params to make one, or options.absent: the "
		                           "answer until one comes");
	if (!(options->flags & WEIR_HANDLE_ANY_SEED))
		return weir__fail(-EINVAL, "options.absent without WEIR_HANDLE_ANY_SEED: no seed "
		                           "is known before the first set comes");
	return 0;
}

int weir__absence_make(struct weir_absence **out, struct weir_filter **placeholder,
                       const struct weir_handle_options *options)
{
	int err = check(options);
	if (err)
		return err;
	struct weir_absence *a = malloc(sizeof *a);
	if (!a)
		return weir__fail(-ENOMEM, "no memory for a handle without a set");
	*a = (struct weir_absence){
		.answer = options->absent == WEIR_ABSENT_YES ? WEIR_SEEN : WEIR_NEW,
		.limit = options->keep_inserts,
		.drops = options->drop_kept
	};
	err = make_placeholder(placeholder, options);
	if (err)
		free(a);
	else
		*out = a;
	return err;
}

/* Reserve @bytes of the limit. Return: false if the limit is reached. */
static bool reserve(struct weir_absence *a, uint64_t bytes)
{
	uint64_t reserved = weir__figure_load_relaxed(&a->reserved);
	do {
		if (bytes > a->limit || reserved > a->limit - bytes)
			return false;
	} while (!weir__figure_swap_relaxed(&a->reserved, &reserved, reserved + bytes));
	return true;
}

/* [PLACEHOLDER] ([EARLY-KEYS]): push a kept key onto the stack. */
static void push(struct weir_absence *a, struct weir_kept *kept)
{
	kept->older = weir__kept_load_relaxed(&a->newest);
	while (!weir__kept_swap_release(&a->newest, &kept->older, kept))
		;
}

int weir__absence_keep(struct weir_absence *a, const struct weir_given *key)
{
	const void *bytes = key->key ? key->key : &key->hash;
	size_t len = key->key ? key->len : sizeof key->hash;
	if (!a->limit)
		return weir__fail(-EAGAIN, "no set is published yet, and options.keep_inserts is "
		                           "0: insert again when there is one");
	if (len > SIZE_MAX - sizeof(struct weir_kept) ||
	    !reserve(a, sizeof(struct weir_kept) + len))
		return weir__fail(-ENOBUFS,
		                  "no set is published yet, and options.keep_inserts %llu has no "
		                  "room for %zu bytes more: the key is not kept",
		                  (unsigned long long)a->limit, len);
	struct weir_kept *kept = malloc(sizeof *kept + len);
	if (!kept) {
		weir__figure_sub_relaxed(&a->reserved, sizeof *kept + len);
		return weir__fail(-ENOMEM, "no set is published yet, and there is no memory to "
		                           "keep a key of %zu bytes", len);
	}
	kept->len = len;
	kept->hashed = !key->key;
	kept->number = key->number;
	kept->fixed = key->fixed;
	if (len)
		memcpy(kept->bytes, bytes, len);
	push(a, kept);
	return a->answer;
}

/* Insert a kept key. The same key may be on the stack more often than the filter can store copies
 * of it. If the filter refuses the key because it has all these copies, the key counts as seen. */
static int insert_kept(struct weir_filter *next, uint64_t hash)
{
	int answer = weir__insert_made(next, hash);
	const bool is_there = answer == -ENOSPC && next->kind->copies &&
	                      next->kernel->count(next, hash) >= next->kind->copies(next, hash);
	return is_there ? WEIR_SEEN : answer;
}

/* Return: true if a set with normalisation can read the key. */
static bool readable(const struct weir_filter *f, const struct weir_given *key)
{
	uint64_t hash;
	if (key->fixed && f->text.steps & WEIR_TEXT_CIDR)
		return key->len == 4 || key->len == 16;
	return weir__key_hash_of(f, key->key, key->len, &hash) == 0;
}

/* Replay one key, but skip a text that the set cannot read. If a closed set refuses a readable
 * text, fail: publishing the set would lose an acknowledged insert. */
static int replay_one(struct weir_filter *next, const struct weir_kept *kept)
{
	const struct weir_given key = { .key = kept->bytes, .len = kept->len,
		                        .number = kept->number, .fixed = kept->fixed };
	uint64_t hash;
	int err = 0;
	if (kept->hashed)
		memcpy(&hash, kept->bytes, sizeof hash);
	else
		err = weir__given_hash(next, &key, &hash);
	if (err)
		return readable(next, &key) ? err : 0;
	return insert_kept(next, hash);
}

static int first_is_full(void)
{
	return weir__fail(-ENOSPC, "a key that was inserted before the first filter, and is kept "
	                  "for it: %s: give a filter of more capacity, or options.drop_kept",
	                  weir_error_detail());
}

int weir__absence_replay(struct weir_absence *a, struct weir_filter *next, uint64_t *dropped)
{
	const struct weir_kept *kept = weir__kept_load_acquire(&a->newest);
	int answer = 0;
	*dropped = 0;
	for (; kept && answer >= 0; kept = kept->older) {
		answer = replay_one(next, kept);
		if (answer == -ENOSPC && a->drops) {
			++*dropped;
			answer = 0;
		}
	}
	return answer == -ENOSPC ? first_is_full() : answer < 0 ? answer : 0;
}

void weir__absence_free(struct weir_absence *a)
{
	if (!a)
		return;
	for (struct weir_kept *kept = a->newest, *older; kept; kept = older) {
		older = kept->older;
		free(kept);
	}
	free(a);
}
