/* SPDX-License-Identifier: MIT
 * The columns of an opened file, and their paths. */
#include <string.h>
#include "ground/error.h"
#include "parquet/footer.h"

uint32_t weir_parquet_columns(const struct weir_parquet *p)
{
	return p->footer.n_columns;
}

uint32_t weir_parquet_row_groups(const struct weir_parquet *p)
{
	return p->footer.n_groups;
}

int weir__parquet_check(const struct weir_parquet *p, uint32_t column)
{
	return column < p->footer.n_columns ?
	       0 : weir__fail(-EINVAL, "%s: column %u: it has %u, from 0", p->name, column,
	                      p->footer.n_columns);
}

int weir_parquet_column(const struct weir_parquet *p, uint32_t column,
                        struct weir_parquet_column *out)
{
	int err = weir__size_check(out, sizeof *out, "weir_parquet_column");
	if (!err)
		err = weir__parquet_check(p, column);
	if (err)
		return err;
	const struct weir_element *e = weir__footer_column(&p->footer, column);
	struct weir_parquet_column all = { .struct_size = out->struct_size, .type = e->type,
		                           .type_length = e->length, .logical = e->logical,
		                           .scale = e->scale };
	memcpy(out, &all, out->struct_size);
	return 0;
}

size_t weir_parquet_path(const struct weir_parquet *p, uint32_t column, char *out, size_t room)
{
	const struct weir_element *path[WEIR_PARQUET_DEPTH];
	size_t length = 0, left = room;
	unsigned depth = column < p->footer.n_columns ?
	                 weir__schema_path(&p->footer, column, path) : 0;
	for (unsigned i = 0; i < depth; i++) {
		for (uint32_t at = 0; at < path[i]->name.bytes && left > 1; at++, left--)
			*out++ = (char)path[i]->name.at[at];
		if (i + 1 < depth && left > 1) {
			*out++ = '.';
			left--;
		}
		length += path[i]->name.bytes + (i + 1 < depth);
	}
	if (room)
		*out = '\0';
	return length;
}

/* Is @path that of the column? */
static bool has_path(const struct weir_parquet *p, uint32_t column, const char *path, size_t len)
{
	const struct weir_element *names[WEIR_PARQUET_DEPTH];
	unsigned depth = weir__schema_path(&p->footer, column, names);
	for (unsigned i = 0; i < depth; i++) {
		size_t n = names[i]->name.bytes;
		bool dot = i + 1 < depth;
		if (len < n + dot || (n && memcmp(path, names[i]->name.at, n)) ||
		    (dot && path[n] != '.'))
			return false;
		path += n + dot;
		len -= n + dot;
	}
	return len == 0;
}

int weir_parquet_find(const struct weir_parquet *p, const char *path, uint32_t *column)
{
	size_t len = strlen(path);
	uint32_t found = UINT32_MAX;
	for (uint32_t i = 0; i < p->footer.n_columns; i++) {
		if (!has_path(p, i, path, len))
			continue;
		if (found != UINT32_MAX)
			return weir__fail(-EEXIST, "%s: columns %u and %u both have the path %s",
			                  p->name, found, i, path);
		found = i;
	}
	if (found == UINT32_MAX)
		return weir__fail(-ENOENT, "%s: has no column %s", p->name, path);
	*column = found;
	return 0;
}
