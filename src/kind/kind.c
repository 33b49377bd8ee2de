/* SPDX-License-Identifier: MIT
 * What is asked of every kind alike: is a shape legal, and the answer to a verb that it lacks. */
#include "ground/error.h"
#include "kind/kind.h"

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
