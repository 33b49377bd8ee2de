/* SPDX-License-Identifier: MIT
 * The groups of struct weir_params: a row for each field, with the kind that the field belongs to.
 * Setting a field of another kind's group is an error. */
#include <inttypes.h>
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"

/* How an error sentence prints a field's value. */
enum form { WHOLE, REAL, OTHER };
#define NO_KIND UINT32_MAX /* no kind may set a reserved word */

struct row {
	const char *name; /* the group and the field, such as "classic.probes" */
	size_t at, size;
	uint32_t kind;    /* the kind that may set the field */
	enum form form;
};

#define ROW(kind, form, field) \
	{ #field, offsetof(struct weir_params, field), \
	  sizeof ((struct weir_params *)0)->field, kind, form }
#define SPARE(field) ROW(NO_KIND, OTHER, field)

static const struct row rows[] = {
	ROW(WEIR_BLOCKED, WHOLE, blocked.words_per_key),
	ROW(WEIR_BLOCKED, WHOLE, blocked.bits_per_word),
	SPARE(blocked.reserved),
	ROW(WEIR_CLASSIC, WHOLE, classic.probes),
	SPARE(classic.reserved),
	ROW(WEIR_COUNTING, WHOLE, counting.counter_bits),
	ROW(WEIR_COUNTING, WHOLE, counting.words_per_key),
	ROW(WEIR_COUNTING, WHOLE, counting.counters_per_word),
	SPARE(counting.reserved),
	ROW(WEIR_GROWING, WHOLE, growing.max_capacity),
	ROW(WEIR_GROWING, WHOLE, growing.words_per_key),
	ROW(WEIR_GROWING, WHOLE, growing.bits_per_word),
	SPARE(growing.reserved),
	ROW(WEIR_CUCKOO, WHOLE, cuckoo.fingerprint_bits),
	SPARE(cuckoo.reserved),
	ROW(WEIR_FUSE, WHOLE, fuse.fingerprint_bits),
	SPARE(fuse.reserved),
	ROW(WEIR_LAYERED, WHOLE, layered.exclude_keys),
	ROW(WEIR_LAYERED, WHOLE, layered.fingerprint_bits),
	SPARE(layered.reserved),
	ROW(WEIR_SPLIT, WHOLE, split.any_reader),
	SPARE(split.reserved),
	ROW(WEIR_FREQUENCY, WHOLE, frequency.counter_bits),
	ROW(WEIR_FREQUENCY, WHOLE, frequency.words_per_key),
	ROW(WEIR_FREQUENCY, WHOLE, frequency.counters_per_word),
	SPARE(frequency.reserved),
	ROW(WEIR_ROUTER, WHOLE, router.sets),
	ROW(WEIR_ROUTER, WHOLE, router.rows_per_key),
	ROW(WEIR_ROUTER, OTHER, router.names),
	ROW(WEIR_ROUTER, OTHER, router.keys),
	SPARE(router.reserved),
	ROW(WEIR_WINDOW, WHOLE, window.generations),
	ROW(WEIR_WINDOW, WHOLE, window.layout),
	ROW(WEIR_WINDOW, WHOLE, window.words_per_key),
	SPARE(window.reserved),
	ROW(WEIR_WINDOW, REAL, window.span_seconds),
	ROW(WEIR_WINDOW, WHOLE, window.generation_keys),
	ROW(WEIR_WINDOW, OTHER, window.run.flavor),
	ROW(WEIR_WINDOW, OTHER, window.run.clock),
	ROW(WEIR_WINDOW, OTHER, window.run.clock_arg),
	ROW(WEIR_WINDOW, OTHER, window.run.timer),
	ROW(WEIR_WINDOW, OTHER, window.run.forget_older),
	SPARE(window.run.reserved),
	SPARE(window.spare),
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static bool is_given(const struct weir_params *p, const struct row *row)
{
	const unsigned char *bytes = (const unsigned char *)p + row->at;
	size_t i = 0;
	while (i < row->size && !bytes[i])
		i++;
	return i < row->size;
}

static double value_of(const struct weir_params *p, const struct row *row)
{
	const unsigned char *at = (const unsigned char *)p + row->at;
	uint32_t small = 1; /* returned for the form OTHER, whose value would tell nothing */
	uint64_t large;
	double real;
	if (row->form == REAL)
		return memcpy(&real, at, sizeof real), real;
	if (row->form == WHOLE && row->size == sizeof large)
		return memcpy(&large, at, sizeof large), (double)large;
	if (row->form == WHOLE)
		memcpy(&small, at, sizeof small);
	return small;
}

static int refuse_field(const struct weir_params *p, const struct row *row)
{
	const char *kind = weir__kind(p->kind)->name;
	const double value = value_of(p, row);
	int err = row->form == OTHER ?
		weir__fail(-EINVAL, "%s: kind %s has no such parameter, leave it 0", row->name,
		           kind) :
		weir__fail(-EINVAL, "%s %.15g: kind %s has no such parameter, leave it 0",
		           row->name, value, kind);
	return weir__refused(err, WEIR_ERROR_KIND_LACKS, row->name, value, p->kind, 0, 0);
}

int weir__groups_check(const struct weir_params *p)
{
	for (unsigned i = 0; i < ROWS; i++)
		if (rows[i].kind != p->kind && is_given(p, &rows[i]))
			return refuse_field(p, &rows[i]);
	return 0;
}

int weir__groups_fit(const struct weir_params *p, size_t size)
{
	for (unsigned i = 0; i < ROWS; i++)
		if (rows[i].at + rows[i].size > size && is_given(p, &rows[i]))
			return weir__fail(-EINVAL, "weir_params.struct_size %zu: no room for %s, "
			                  "which is %.15g", size, rows[i].name,
			                  value_of(p, &rows[i]));
	return 0;
}

/* Return: the index of the row's field in the shape, or WEIR_SHAPE_FIELDS if the shape lacks it. */
static unsigned field_of(const struct weir_kind *kind, const struct row *row)
{
	const char *name = strrchr(row->name, '.') + 1;
	unsigned i = 0;
	while (i < WEIR_SHAPE_FIELDS && kind->fields[i] && strcmp(kind->fields[i], name))
		i++;
	return i < WEIR_SHAPE_FIELDS && kind->fields[i] ? i : WEIR_SHAPE_FIELDS;
}

void weir__groups_ask(struct weir_params *p, const struct weir_shape *shape)
{
	const struct weir_kind *kind = weir__kind(shape->kind);
	p->kind = kind->id;
	for (unsigned i = 0; i < ROWS; i++) {
		unsigned char *at = (unsigned char *)p + rows[i].at;
		const bool own = rows[i].kind == kind->id;
		const unsigned field = own ? field_of(kind, &rows[i]) : WEIR_SHAPE_FIELDS;
		if (field < WEIR_SHAPE_FIELDS)
			memcpy(at, &shape->field[field], sizeof shape->field[field]);
		else if (!own && rows[i].kind != NO_KIND)
			memset(at, 0, rows[i].size);
	}
}
