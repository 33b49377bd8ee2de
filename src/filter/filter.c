/* SPDX-License-Identifier: MIT
 * Makes and destroys filters, and reports their parameters. Lookups and inserts are calls through
 * the filter's pointers (<weir/filter.h>). */
#include <stdlib.h>
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/batch.h"
#include "kind/kind.h"

static int refuse_insert(struct weir_filter *f, const void *key, size_t len)
{
	(void)key, (void)len;
	return weir__insert_refused(f);
}

static int refuse_insert_hash(struct weir_filter *f, uint64_t hash)
{
	(void)hash;
	return weir__insert_refused(f);
}

static void refuse_inserts(struct weir_filter *f, int insert_error)
{
	f->insert_error = insert_error;
	f->verbs.insert = refuse_insert;
	f->verbs.insert_hash = refuse_insert_hash;
	f->verbs.insert_u64 = refuse_insert_hash;
	f->raw.insert_hash = refuse_insert_hash;
}

/* The uint64_t functions for a kernel that has none. They pass the eight bytes to the functions for
 * byte strings. */
static bool contains_bytes(const struct weir_filter *f, uint64_t key)
{
	return f->verbs.contains(f, &key, sizeof key);
}

static int insert_bytes(struct weir_filter *f, uint64_t key)
{
	return f->verbs.insert(f, &key, sizeof key);
}

/* The functions for byte strings in a keyed filter. A kernel's own functions would ignore the
 * secret key. */
static bool contains_keyed(const struct weir_filter *f, const void *key, size_t len)
{
	return f->verbs.contains_hash(f, weir__siphash(f->hashing.key, key, len));
}

static int insert_keyed(struct weir_filter *f, const void *key, size_t len)
{
	return f->verbs.insert_hash(f, weir__siphash(f->hashing.key, key, len));
}

static void set_kernel(struct weir_filter *f, const struct weir_kernel *kernel, int insert_error)
{
	f->kernel = kernel;
	f->verbs = kernel->verbs;
	bool keyed = weir__keyed(&f->hashing);
	if (keyed) {
		f->verbs.contains = contains_keyed;
		f->verbs.insert = insert_keyed;
	}
	if (keyed || !f->verbs.contains_u64)
		f->verbs.contains_u64 = contains_bytes;
	if (keyed || !f->verbs.insert_u64)
		f->verbs.insert_u64 = insert_bytes;
	weir__once_wrap(f);
	weir__apart_wrap(f);
	weir__text_wrap(f);
	if (!kernel->verbs.insert)
		insert_error = -ENOTSUP;
	if (insert_error)
		refuse_inserts(f, insert_error);
}

void weir__filter_read_only(struct weir_filter *f)
{
	if (!f->insert_error)
		refuse_inserts(f, -EROFS);
}

/* ---- without the secret key, any key may be present ---- */

static bool maybe(const struct weir_filter *f, const void *key, size_t len)
{
	(void)f, (void)key, (void)len;
	return true;
}

static bool maybe_hash(const struct weir_filter *f, uint64_t hash)
{
	(void)f, (void)hash;
	return true;
}

static size_t maybe_batch(const struct weir_filter *f, const struct weir_batch *batch,
                          uint64_t *bitmap)
{
	(void)f;
	return (size_t)weir__answer_all(true, batch->n, bitmap);
}

const struct weir_kernel weir__keyless = {
	.isa = WEIR_ISA_SCALAR,
	.verbs = { .contains = maybe,
	           .contains_hash = maybe_hash,
	           .contains_u64 = maybe_hash },
	.contains_batch = maybe_batch,
};

void weir__filter_keyless(struct weir_filter *f)
{
	f->kernel = &weir__keyless;
	f->verbs.contains = maybe;
	f->verbs.contains_hash = f->verbs.contains_u64 = f->raw.contains_hash = maybe_hash;
	f->few = WEIR__FEW;
	weir__filter_read_only(f);
}

static struct weir_filter *filter_alloc(uint32_t parts)
{
	size_t bytes = sizeof(struct weir_filter) + parts * sizeof(struct weir_owner);
	struct weir_filter *f = NULL;
	if (posix_memalign((void **)&f, 64, bytes))
		return NULL;
	memset(f, 0, bytes);
	f->parts = parts;
	return f;
}

int weir__filter_make(struct weir_filter **out, const struct weir_layout *layout,
                      const struct weir_memory *memory, int insert_error)
{
	uint64_t seed = layout->hashing.seed;
	const struct weir_kind *kind = layout->kind;
	uint64_t bytes = 64 * layout->lines;
	enum weir_isa isa;
	int err = weir__isa_choose(&isa);
	if (err)
		return err;
	const struct weir_kernel *kernel = kind->kernel(isa, &layout->shape);
	if (!kernel)
		return weir__fail(-ENOTSUP, "kind %s has no kernel for %s", kind->name,
		                  weir__isa_name(isa));
	struct weir_filter *f =
		filter_alloc(weir__bulk_parts(kernel, bytes, layout->shards));
	if (!f)
		return weir__fail(-ENOMEM, "no memory for a filter's record");
	f->array = (struct weir_array){
		.words = memory->bits,
		.lines = layout->lines,
		.seed = seed,
		.flip8 = weir__flip8(seed),
		.shape = layout->shape
	};
	f->hashing = layout->hashing;
	f->text = layout->text;
	f->kind = kind;
	f->few = WEIR__FEW;
	f->flags = layout->flags;
	set_kernel(f, kernel, insert_error);
	f->isa = isa;
	f->shards = layout->shards;
	f->bytes = bytes;
	f->outgrows_cache = bytes > weir__cache_bytes();
	f->capacity = layout->capacity;
	f->max_capacity = layout->max_capacity;
	f->fp_rate = layout->fp_rate;
	f->memory = *memory;
	err = kind->create ? kind->create(f) : 0;
	if (err)
		free(f);
	else
		*out = f;
	return err;
}

struct weir_layout weir__filter_layout(const struct weir_filter *f)
{
	struct weir_layout layout = {
		.kind = f->kind,
		.hashing = f->hashing,
		.shape = f->array.shape,
		.shards = f->shards,
		.lines = f->array.lines,
		.capacity = f->capacity,
		.max_capacity = f->max_capacity,
		.fp_rate = f->fp_rate,
		.flags = f->flags
	};
	layout.text = weir__text_now(&f->text);
	return layout;
}

int weir__filter_new(struct weir_filter **out, const struct weir_layout *layout,
                     const struct weir_memory *memory, const struct weir_params *params)
{
	struct weir_filter *f;
	int err = weir__filter_make(&f, layout, memory, 0);
	if (err)
		return err;
	err = f->kind->begin ? f->kind->begin(f, params) : 0;
	if (err) {
		f->memory = (struct weir_memory){ 0 }; /* the caller still owns the memory */
		weir_destroy(f);
		return err;
	}
	*out = f;
	return 0;
}

int weir__hashing_choose(struct weir_hashing *out, const struct weir_params *p)
{
	const struct weir_kind *kind = weir__kind(p->kind);
	if (!kind->as_is)
		return weir__hashing_of(out, kind->hash, p->seed, p->secret);
	*out = weir__hashing_seeded(kind->hash, p->seed);
	return 0;
}

int weir__create_planned(struct weir_filter **out, const struct weir_params *p,
                         const struct weir_plan *plan)
{
	struct weir_hashing hashing;
	struct weir_memory memory;
	int err = weir__hashing_choose(&hashing, p);
	if (!err)
		err = weir__memory_alloc(&memory, plan->bytes, p->flags, p->memory,
		                         p->memory_bytes);
	if (err)
		return err;
	struct weir_layout layout = {
		.kind = weir__kind(p->kind),
		.hashing = hashing,
		.shape = plan->shape,
		.shards = plan->shards,
		.lines = plan->bytes / 64,
		.capacity = plan->capacity,
		.max_capacity = weir__kind(p->kind)->members ? plan->growing.max_capacity : 0,
		.flags = p->flags,
		.text = p->text,
		/* the requested rate, although a size rounded up has a slightly lower one */
		.fp_rate = p->fp_rate > 0 ? p->fp_rate : plan->fp_rate
	};
	err = weir__filter_new(out, &layout, &memory, p);
	if (err)
		weir__memory_free(&memory);
	return err;
}

int weir_create(struct weir_filter **out, const struct weir_params *params)
{
	struct weir_params p;
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_create needs a place for the filter");
	int err = weir__params_check(params, &p);
	if (!err)
		err = weir_plan_make(&p, &plan);
	return err ? err : weir__create_planned(out, &p, &plan);
}

int weir__filter_own(struct weir_filter *f)
{
	return weir__flag_claim_acquire(&f->owned) ? 0 :
	       weir__fail(-EBUSY, "the filter belongs to a handle already: give each handle a "
	                  "filter of its own, such as a copy by weir_clone()");
}

void weir__filter_free(struct weir_filter *f)
{
	if (f && f->kind->destroy)
		f->kind->destroy(f);
	if (f)
		weir__memory_free(&f->memory);
	free(f);
}

int weir_destroy(struct weir_filter *f)
{
	if (f && weir__flag_held_acquire(&f->owned))
		return weir__fail(-EBUSY, "weir_destroy: the filter belongs to a handle: "
		                  "weir_handle_destroy() frees it");
	weir__filter_free(f);
	return 0;
}

uint64_t weir_hash(const struct weir_filter *f, const void *key, size_t len)
{
	uint64_t hash;
	if (__builtin_expect(f->text.steps, 0)) {
		weir_hash_keys(f, weir_keys_iov(&(struct iovec){ (void *)(uintptr_t)key, len }, 1),
		               &hash);
		return hash;
	}
	return weir__hash_by(&f->hashing, key, len);
}

uint64_t weir_hash_u64(const struct weir_filter *f, uint64_t key)
{
	return weir__hash_by(&f->hashing, &key, sizeof key);
}

/* The symbols of functions that filter.h inlines, for callers that do not inline them. */
extern inline int weir_insert(struct weir_filter *f, const void *key, size_t len);
extern inline int weir_insert_hash(struct weir_filter *f, uint64_t hash);
extern inline int weir_insert_u64(struct weir_filter *f, uint64_t key);
extern inline bool weir_contains(const struct weir_filter *f, const void *key, size_t len);
extern inline bool weir_contains_hash(const struct weir_filter *f, uint64_t hash);
extern inline bool weir_contains_u64(const struct weir_filter *f, uint64_t key);

static int take_view(struct weir_inline_mut *out, const struct weir_filter *f)
{
	if (weir__keyed(&f->hashing))
		return weir__fail(-ENOTSUP, "the filter is keyed, and the inlined verbs hash by "
		                  "XXH3: use weir_contains and weir_insert");
	if (f->text.steps)
		return weir__fail(-ENOTSUP, "the filter normalises its keys, and the inlined verbs "
		                  "take them as they are: use weir_contains and weir_insert");
	return f->kind->view ? f->kind->view(f, out) : weir__kind_cannot(f->kind, "be inlined");
}

int weir_inline_check_layout(const struct weir_filter *f, uint32_t words_per_key,
                             uint32_t bits_per_word)
{
	struct weir_inline_mut view;
	char has[WEIR_SHAPE_TEXT], wanted[WEIR_SHAPE_TEXT];
	int err = take_view(&view, f);
	if (err || (weir__words_per_key(&view.view) == words_per_key &&
	            weir__bits_per_word(&view.view) == bits_per_word))
		return err;
	f->kind->describe(&f->array.shape, has);
	f->kind->describe(&(struct weir_shape){ .kind = f->kind->id,
	                                        .field = { words_per_key, bits_per_word } },
	                  wanted);
	return weir__fail(-ENOTSUP, "the filter has %s, the program needs %s: create it with "
	                  "blocked.words_per_key %u and bits_per_word %u, or compile without "
	                  "WEIR_INLINE_WORDS_PER_KEY", has, wanted,
	                  words_per_key, bits_per_word);
}

int weir_inline_init(struct weir_inline *out, const struct weir_filter *f)
{
	struct weir_inline_mut both;
	int err = take_view(&both, f);
	if (!err)
		*out = both.view;
	return err;
}

/* The name is in parentheses because it is also a macro, which rejects a const filter. */
int(weir_inline_init_mut)(struct weir_inline_mut *out, struct weir_filter *f)
{
	return take_view(out, f);
}

/* Ask for the filter's own number of shards if the plan would choose another number of shards, or
 * another size in bytes. The filter's number differs from the plan's if it was given in
 * params.shards, if it came from an image made elsewhere, or if a filter of 8 GiB or more was
 * folded. */
static int ask_shards(const struct weir_filter *f, struct weir_params *params)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	int err = weir_plan_make(params, &plan);
	if (err || (plan.bytes == f->bytes && plan.shards == f->shards))
		return err;
	if (params->struct_size < offsetof(struct weir_params, shards) + sizeof params->shards)
		return weir__fail(-EINVAL,
		                  "weir_params.struct_size %zu: no room for shards, which is %u",
		                  params->struct_size, f->shards);
	params->shards = f->shards;
	return 0;
}

/* Ask for the rate of a compound. The rate sizes all members, including those that the compound
 * appends later. Return: false if the size was given instead, so that the rate follows from the
 * size. */
static bool sized_by_rate(const struct weir_filter *f, struct weir_params *p)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (!f->kind->members && !f->kind->freeze)
		return false;
	p->fp_rate = f->fp_rate;
	if (weir_plan_make(p, &plan) == 0 && plan.bytes == f->bytes)
		return true;
	p->fp_rate = 0;
	return false;
}

/* Check that a plan yields the filter's shape, for kinds where the parameters may not determine it.
 * If blocks are smaller than a line, a new filter fills its lines, but this filter may end within a
 * line. If the filter is a window, the plan may choose another bits_per_word than the filter
 * has. */
static int check_blocks(const struct weir_filter *f, const struct weir_params *params)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	const uint32_t *has = f->array.shape.field, *planned = plan.shape.field;
	int err = weir_plan_make(params, &plan);
	for (unsigned i = 0; !err && i < WEIR_SHAPE_FIELDS; i++)
		if (planned[i] != has[i])
			err = weir__fail(-EINVAL, "%s is %u, and of this size one is made with "
			                 "%u%s", f->kind->fields[i], has[i], planned[i],
			                 f->kind->snapshot ? ": weir_clone copies the filter" : "");
	return err;
}

int weir_params_of(const struct weir_filter *f, struct weir_params *out)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	int err = weir__set_check(f, "weir_params_of");
	if (!err)
		err = weir__size_check(out, sizeof *out, "weir_params");
	if (err)
		return err;
	err = f->kind->survey ? weir__kind_cannot(f->kind, "say the parameters of one filter") :
	                        weir_params_shape(&p, &f->array.shape);
	if (err)
		return err;
	p.capacity = f->capacity;
	if (f->kind->asked)
		f->kind->asked(f, &p);
	p.secret = weir__keyed(&f->hashing) ? f->hashing.key : NULL;
	if (p.secret && out->struct_size < offsetof(struct weir_params, memory))
		return weir__fail(-EINVAL, "weir_params.struct_size %zu: no room for secret, "
		                  "and the filter is keyed", out->struct_size);
	err = weir__groups_fit(&p, out->struct_size);
	if (err)
		return err;
	p.struct_size = out->struct_size;
	if (!sized_by_rate(f, &p))
		p.max_bytes = f->bytes;
	p.seed = f->hashing.seed;
	p.flags = f->flags & WEIR_ONCE;
	weir_text_of(f, &p.text);
	if (p.text.steps && p.struct_size < offsetof(struct weir_params, blocked))
		return weir__fail(-EINVAL, "weir_params.struct_size %zu: no room for text, and the "
		                  "filter has steps", p.struct_size);
	err = ask_shards(f, &p);
	if (!err && (f->kind->folded || f->kind->freeze))
		err = check_blocks(f, &p);
	if (!err)
		memcpy(out, &p, out->struct_size);
	return err;
}
