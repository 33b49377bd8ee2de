/* SPDX-License-Identifier: MIT
 * The table of kinds, and the public functions about kinds and shapes. */
#include "filter/filter.h"
#include "ground/error.h"

static const struct weir_kind *const kinds[] = {
#define ENTRY(number, constant, name, summary) [number] = &weir__kind_##name,
	WEIR_KINDS(ENTRY)
#undef ENTRY
};

const struct weir_kind *weir__kind(uint32_t id)
{
	return id < sizeof kinds / sizeof kinds[0] ? kinds[id] : NULL; /* kinds[id] may be NULL */
}

const char *weir_kind_name(uint32_t kind)
{
	const struct weir_kind *k = weir__kind(kind);
	return k ? k->name : NULL;
}

uint32_t weir_kind_can(uint32_t kind, uint32_t what)
{
	const struct weir_kind *k = weir__kind(kind);
	return k ? weir__kind_can(k) & what : 0;
}

uint32_t weir_can(const struct weir_filter *f, uint32_t what)
{
	const uint32_t changes = WEIR_CAN_INSERT | WEIR_CAN_REMOVE | WEIR_CAN_GROW |
	                         WEIR_CAN_FILL_FAST | WEIR_CAN_DECIDE | WEIR_CAN_TELL_NEW;
	uint32_t can = weir__kind_can(f->kind);
	if (f->insert_error)
		can &= ~changes;
	if (weir__keyed(&f->hashing) || f->text.steps)
		can &= ~(uint32_t)WEIR_CAN_INLINE;
	if (weir__text_several(&f->text))
		can &= ~(uint32_t)WEIR_CAN_HASH;
	if (f->flags & WEIR_ONCE)
		can &= ~(uint32_t)(WEIR_CAN_REMOVE | WEIR_CAN_HOLD_COPIES);
	if (f->kind->decides && !f->kind->decides(&f->array.shape))
		can &= ~(uint32_t)WEIR_CAN_DECIDE;
	return can & what;
}

static const char *const abilities[] = {
	"INSERT", "BUILD", "EXCLUDE", "REMOVE", "COUNT", "HOLD_COPIES", "REFUSE", "GROW", "ROUTE",
	"FORGET", "DECIDE", "MERGE", "CLONE", "FOLD", "FILL_FAST", "BE_KEYED", "NORMALISE", "MAP",
	"MAP_LIVE", "PUBLISH", "REPLICATE", "INLINE", "BE_EXACT", "HASH", "TELL_NEW",
};
_Static_assert(WEIR_CAN_ALL == (1 << sizeof abilities / sizeof abilities[0]) - 1,
               "each ability has its name");
#define WEIR__FILLS(number, constant, name, summary) \
	_Static_assert(sizeof ((struct weir_shape *)0)->name == \
	               sizeof ((struct weir_shape *)0)->field, "it has all words of the union");
WEIR_KINDS(WEIR__FILLS)
#undef WEIR__FILLS

int weir__abilities_check(uint32_t has, uint32_t can, const struct weir_kind *kind,
                          const char *who)
{
	const uint32_t lacks = can & ~has, first = lacks & (0 - lacks);
	if (!lacks)
		return 0;
	return weir__fail(-ENOTSUP, "a filter of kind %s%s lacks WEIR_CAN_%s, which %s needs",
	                  kind->name,
	                  weir__kind_can(kind) & first ? " that is read-only or has WEIR_ONCE" : "",
	                  abilities[__builtin_ctz(lacks)], who);
}

const char *weir_shape_field(uint32_t kind, unsigned i)
{
	const struct weir_kind *k = weir__kind(kind);
	return k && i < WEIR_SHAPE_FIELDS ? k->fields[i] : NULL;
}

int weir_shape_text(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	const struct weir_kind *kind = weir__kind(shape->kind);
	text[0] = 0;
	if (!kind)
		return weir__fail(-ENOTSUP, "kind %u: this library does not know it", shape->kind);
	if (!weir__shape_legal(kind, shape, UINT64_MAX))
		return weir__fail(-EINVAL, "kind %s has no such shape", kind->name);
	kind->describe(shape, text);
	return 0;
}
