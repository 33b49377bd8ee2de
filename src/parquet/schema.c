/* SPDX-License-Identifier: MIT
 * Reads the schema of a footer: a tree in the form of a list, in which each group gives the number
 * of children that follow it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <weir/parquet.h>
#include "parquet/footer.h"

bool weir__footer_grow(void *array, uint64_t n, size_t size)
{
	void **at = array, *more;
	if (n & (n - 1)) /* not a power of two: the array has space */
		return true;
	more = n < SIZE_MAX / 2 / size ? realloc(*at, (n ? 2 * (size_t)n : 1) * size) : NULL;
	if (more)
		*at = more;
	return more != NULL;
}

/* ---- logical types ---- */

/* Return: the logical type for a ConvertedType, which older writers use. */
static uint8_t logical_converted(int32_t type)
{
	static const uint8_t of[] = {
		WEIR_PARQUET_STRING, WEIR_PARQUET_OTHER, WEIR_PARQUET_OTHER, WEIR_PARQUET_OTHER,
		WEIR_PARQUET_STRING /* enum */, WEIR_PARQUET_DECIMAL, WEIR_PARQUET_DATE,
		WEIR_PARQUET_TIME, WEIR_PARQUET_TIME, WEIR_PARQUET_TIMESTAMP,
		WEIR_PARQUET_TIMESTAMP, WEIR_PARQUET_UNSIGNED, WEIR_PARQUET_UNSIGNED,
		WEIR_PARQUET_UNSIGNED, WEIR_PARQUET_UNSIGNED, WEIR_PARQUET_NONE,
		WEIR_PARQUET_NONE, WEIR_PARQUET_NONE, WEIR_PARQUET_NONE,
		WEIR_PARQUET_STRING /* JSON */, WEIR_PARQUET_OTHER /* BSON */,
		WEIR_PARQUET_OTHER /* interval */,
	};
	return type >= 0 && (size_t)type < sizeof of ? of[type] : WEIR_PARQUET_OTHER;
}

/* Return: the logical type for a member of the union LogicalType. read_logical() corrects it for
 * unsigned integers. */
static uint8_t logical_union(int32_t id)
{
	switch (id) {
	case 1: case 4: case 12: return WEIR_PARQUET_STRING; /* string, enum, JSON */
	case 5: return WEIR_PARQUET_DECIMAL;
	case 6: return WEIR_PARQUET_DATE;
	case 7: return WEIR_PARQUET_TIME;
	case 8: return WEIR_PARQUET_TIMESTAMP;
	case 10: return WEIR_PARQUET_NONE;
	case 14: return WEIR_PARQUET_UUID;
	default: return WEIR_PARQUET_OTHER;
	}
}

/* Read a LogicalType. Field 1 of DecimalType is the scale. Field 2 of IntType tells whether the
 * integer is signed. */
static void read_logical(struct weir_thrift *t, struct weir_element *e)
{
	struct weir_field outer = { 0 };
	while (weir__thrift_field(t, &outer)) {
		e->logical = logical_union(outer.id);
		if (outer.id != 5 && outer.id != 10) {
			weir__thrift_skip(t, &outer);
			continue;
		}
		weir__thrift_struct(t, &outer);
		struct weir_field inner = { 0 };
		while (weir__thrift_field(t, &inner)) {
			if (outer.id == 5 && inner.id == 1) {
				e->scale = weir__thrift_i32(t, &inner);
				continue;
			}
			if (outer.id == 10 && inner.id == 2 && inner.type == WEIR_THRIFT_FALSE)
				e->logical = WEIR_PARQUET_UNSIGNED;
			weir__thrift_skip(t, &inner);
		}
	}
}

/* ---- one element ---- */

enum { TYPE = 1, TYPE_LENGTH, REPETITION, NAME, NUM_CHILDREN, CONVERTED, SCALE, PRECISION, FIELD_ID,
       LOGICAL };

static uint32_t not_negative(struct weir_thrift *t, int32_t value)
{
	if (value < 0)
		weir__thrift_fault(t, "a size is negative");
	return value < 0 ? 0 : (uint32_t)value;
}

static void read_field(struct weir_thrift *t, const struct weir_field *field,
                       struct weir_element *e)
{
	int32_t type;
	switch (field->id) {
	case TYPE:
		type = weir__thrift_i32(t, field);
		if (type < 0 || type > WEIR_PARQUET_FIXED)
			weir__thrift_fault(t, "a column is of a type that there is not");
		e->type = (uint8_t)type;
		break;
	case TYPE_LENGTH: e->length = not_negative(t, weir__thrift_i32(t, field)); break;
	case NAME: e->name = weir__thrift_binary(t, field); break;
	case NUM_CHILDREN: e->children = not_negative(t, weir__thrift_i32(t, field)); break;
	case CONVERTED:
		type = weir__thrift_i32(t, field);
		if (!(field->seen >> LOGICAL & 1))
			e->logical = logical_converted(type);
		break;
	case SCALE:
		type = weir__thrift_i32(t, field);
		if (!(field->seen >> LOGICAL & 1))
			e->scale = type;
		break;
	case LOGICAL:
		weir__thrift_struct(t, field);
		read_logical(t, e);
		break;
	default: weir__thrift_skip(t, field);
	}
}

static struct weir_element read_element(struct weir_thrift *t)
{
	struct weir_element e = { 0 };
	struct weir_field field = { 0 };
	while (weir__thrift_field(t, &field))
		read_field(t, &field, &e);
	weir__thrift_need(t, &field, NAME, "a column has no name");
	if (e.name.bytes && memchr(e.name.at, '\0', e.name.bytes))
		weir__thrift_fault(t, "a column's name has a NUL byte");
	e.is_group = !(field.seen >> TYPE & 1);
	if (!e.is_group && e.children)
		weir__thrift_fault(t, "a column has a type, and columns within it");
	if (e.is_group)
		weir__thrift_need(t, &field, NUM_CHILDREN, "a column has no type");
	if (!e.is_group && e.type == WEIR_PARQUET_FIXED)
		weir__thrift_need(t, &field, TYPE_LENGTH, "a column of fixed length has none");
	if (e.is_group || e.type != WEIR_PARQUET_FIXED)
		e.length = 0;
	return e;
}

/* ---- the tree ---- */

static int add_column(struct weir_footer *footer, uint32_t element)
{
	if (!weir__footer_grow(&footer->columns, footer->n_columns, sizeof *footer->columns))
		return -ENOMEM;
	footer->columns[footer->n_columns++] = element;
	return 0;
}

/* Set the parent of each element, and list the columns. */
static int make_tree(struct weir_footer *footer, struct weir_thrift *t)
{
	struct { uint32_t group, missing; } path[WEIR_PARQUET_DEPTH];
	unsigned depth = 0;
	for (uint32_t i = 0; i < footer->n_elements && !t->fault; i++) {
		struct weir_element *e = &footer->elements[i];
		while (depth && !path[depth - 1].missing)
			depth--;
		if ((i == 0) != (depth == 0) || (i == 0 && !e->is_group)) {
			weir__thrift_fault(t, "the schema is not a tree");
			break;
		}
		if (depth) {
			e->parent = path[depth - 1].group;
			path[depth - 1].missing--;
		}
		if (!e->is_group) {
			if (add_column(footer, i))
				return -ENOMEM;
		} else if (depth == WEIR_PARQUET_DEPTH) {
			weir__thrift_fault(t, "columns are nested deeper than 64 levels");
		} else {
			path[depth].group = i;
			path[depth++].missing = e->children;
		}
	}
	while (depth && !path[depth - 1].missing)
		depth--;
	if (depth || !footer->n_elements)
		weir__thrift_fault(t, "the schema ends within a group");
	return 0;
}

int weir__schema_read(struct weir_footer *footer, struct weir_thrift *t,
                      const struct weir_field *field)
{
	uint32_t n = weir__thrift_list(t, field, WEIR_THRIFT_STRUCT);
	for (uint32_t i = 0; i < n; i++) {
		struct weir_element e = read_element(t);
		if (t->fault)
			break;
		if (!weir__footer_grow(&footer->elements, footer->n_elements, sizeof e))
			return -ENOMEM;
		footer->elements[footer->n_elements++] = e;
	}
	return t->fault ? 0 : make_tree(footer, t);
}

unsigned weir__schema_path(const struct weir_footer *footer, uint32_t column,
                           const struct weir_element *path[WEIR_PARQUET_DEPTH])
{
	unsigned depth = 0;
	uint32_t at = footer->columns[column];
	for (uint32_t up = at; up; up = footer->elements[up].parent)
		depth++;
	for (unsigned i = depth; i--; at = footer->elements[at].parent)
		path[i] = &footer->elements[at];
	return depth;
}

void weir__schema_match(const struct weir_footer *footer, uint32_t column, struct weir_thrift *t,
                        const struct weir_field *field)
{
	const struct weir_element *path[WEIR_PARQUET_DEPTH];
	unsigned depth = weir__schema_path(footer, column, path);
	uint32_t n = weir__thrift_list(t, field, WEIR_THRIFT_BINARY);
	bool same = n == depth;
	for (uint32_t i = 0; i < n && same && !t->fault; i++) {
		struct weir_slice name = weir__thrift_element(t);
		same = name.bytes == path[i]->name.bytes &&
		       (!name.bytes || memcmp(name.at, path[i]->name.at, name.bytes) == 0);
	}
	if (!same)
		weir__thrift_fault(t, "a row group's columns are not those of the schema");
}
