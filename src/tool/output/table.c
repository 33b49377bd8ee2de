/* SPDX-License-Identifier: MIT
 * Tables of text. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"
#include "say.h"

void table_add(struct table *table, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	/* The array grows at 0 cells and at each power of two. */
	if ((table->n & (table->n - 1)) == 0)
		table->cells = xrealloc(table->cells,
		                        (table->n ? 2 * table->n : 1) * sizeof *table->cells);
	char *cell = xmalloc(strlen(text) + 1);
	table->cells[table->n++] = strcpy(cell, text);
}

/* Return: the width of the widest cell of each column, for the caller to free. */
static int *widths_of(const struct table *table, size_t columns)
{
	int *widths = xmalloc(columns * sizeof *widths);
	memset(widths, 0, columns * sizeof *widths);
	for (size_t i = 0; i < table->n; i++) {
		int len = (int)strlen(table->cells[i]);
		if (len > widths[i % columns])
			widths[i % columns] = len;
	}
	return widths;
}

void table_print(const struct table *table, FILE *to)
{
	size_t columns = strlen(table->align);
	int *widths = widths_of(table, columns);
	for (size_t i = 0; i < table->n; i++) {
		size_t column = i % columns;
		int width = widths[column];
		if (column)
			fputs("  ", to);
		if (table->align[column] == 'r')
			fprintf(to, "%*s", width, table->cells[i]);
		else if (column + 1 < columns)
			fprintf(to, "%-*s", width, table->cells[i]);
		/* The last column is not padded. Only the last column has names, which need
		 * escaping. */
		else
			plain_put(table->cells[i], to);
		if (column + 1 == columns)
			fputc('\n', to);
	}
	free(widths);
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->n = 0;
}
