/* SPDX-License-Identifier: MIT
 * Tables of text. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "plain.h"
#include "say.h"
#include "table.h"

void table_add(struct table *table, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	table->cells = need_more(table->cells, (table->n + 1) * sizeof *table->cells);
	char *cell = need(strlen(text) + 1);
	table->cells[table->n++] = strcpy(cell, text);
}

static int widest(const struct table *table, size_t column, size_t columns)
{
	size_t width = 0;
	for (size_t i = column; i < table->n; i += columns) {
		size_t len = strlen(table->cells[i]);
		width = len > width ? len : width;
	}
	return (int)width;
}

void table_print(const struct table *table, FILE *to)
{
	size_t columns = strlen(table->align);
	for (size_t i = 0; i < table->n; i++) {
		size_t column = i % columns;
		int width = widest(table, column, columns);
		if (column)
			fputs("  ", to);
		if (table->align[column] == 'r')
			fprintf(to, "%*s", width, table->cells[i]);
		else if (column + 1 < columns)
			fprintf(to, "%-*s", width, table->cells[i]);
		else /* no blanks at the end of a line; names stand in this column alone */
			plain_put(table->cells[i], to);
		if (column + 1 == columns)
			fputc('\n', to);
	}
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->n = 0;
}
