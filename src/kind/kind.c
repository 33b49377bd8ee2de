/* SPDX-License-Identifier: MIT
 * What is asked of every kind alike: what it can do, whether a shape is legal, and the answer to a
 * verb that it lacks. */
#include "ground/error.h"
#include "kind/kind.h"

/* A type (WEIR_TYPES) has verbs of its own: none that copies one, and none for texts. */
uint32_t weir__kind_can(const struct weir_kind *kind)
{
	const bool is_type = kind->made_by != NULL;
	uint32_t can = kind->can;
	can |= kind->build ? WEIR_CAN_BUILD : 0;
	can |= kind->sieve ? WEIR_CAN_EXCLUDE : 0;
	can |= kind->most ? WEIR_CAN_REFUSE : 0;
	can |= kind->grow_ahead ? WEIR_CAN_GROW : 0;
	can |= kind->decides ? WEIR_CAN_DECIDE : 0;
	can |= kind->merge || kind->join ? WEIR_CAN_MERGE : 0;
	can |= (kind->snapshot || kind->members) && !is_type ? WEIR_CAN_CLONE : 0;
	can |= kind->fold ? WEIR_CAN_FOLD : 0;
	can |= kind->as_is ? 0 : WEIR_CAN_BE_KEYED;
	can |= kind->as_is || is_type ? 0 : WEIR_CAN_NORMALISE;
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
