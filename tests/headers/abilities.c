/* SPDX-License-Identifier: MIT
 * Checks that the table of abilities in <weir/kinds.h> is what weir_kind_can() answers.
 *
 * abilities KINDS.H: if the header has another table, print the right table and fail. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/kinds.h>

static const struct {
	const char *name;
	uint32_t can;
} rows[] = {
	{ "insert", WEIR_CAN_INSERT },
	{ "remove", WEIR_CAN_REMOVE },
	{ "count", WEIR_CAN_COUNT },
	{ "many sets", WEIR_CAN_ROUTE },
	{ "advance", WEIR_CAN_FORGET },
	{ "build", WEIR_CAN_BUILD },
	{ "exclude", WEIR_CAN_EXCLUDE },
	{ "grow_ahead", WEIR_CAN_GROW },
	{ "merge", WEIR_CAN_MERGE },
	{ "clone", WEIR_CAN_CLONE },
	{ "fold", WEIR_CAN_FOLD },
	{ "map", WEIR_CAN_MAP },
	{ "map live", WEIR_CAN_MAP_LIVE },
	{ "a handle", WEIR_CAN_PUBLISH },
	{ "a replica", WEIR_CAN_REPLICATE },
	{ "inline.h", WEIR_CAN_INLINE },
	{ "a key", WEIR_CAN_BE_KEYED },
	{ "normalise", WEIR_CAN_NORMALISE },
};

static const uint32_t kinds[] = {
#define NUMBER(number, constant, name, summary) number,
	WEIR_KINDS(NUMBER)
#undef NUMBER
};

enum { KINDS = sizeof kinds / sizeof kinds[0], ROWS = sizeof rows / sizeof rows[0] };

static void line(FILE *out, const char *text)
{
	size_t n = strlen(text);
	while (n && text[n - 1] == ' ')
		n--;
	fprintf(out, " *%.*s\n", (int)n, text);
}

static void table(FILE *out)
{
	char text[200];
	size_t at = (size_t)snprintf(text, sizeof text, "%-11s", "");
	for (unsigned k = 0; k < KINDS; k++)
		at += (size_t)snprintf(text + at, sizeof text - at, " %s",
		                       weir_kind_name(kinds[k]));
	line(out, text);
	for (unsigned r = 0; r < ROWS; r++) {
		at = (size_t)snprintf(text, sizeof text, " %-10s", rows[r].name);
		for (unsigned k = 0; k < KINDS; k++) {
			const int width = (int)strlen(weir_kind_name(kinds[k]));
			const bool can = weir_kind_can(kinds[k], rows[r].can) != 0;
			at += (size_t)snprintf(text + at, sizeof text - at, " %*s%s%*s",
			                       width / 2, "", can ? "x" : "-",
			                       width - width / 2 - 1, "");
		}
		line(out, text);
	}
}

static char *slurp(const char *path)
{
	static char text[1 << 16];
	FILE *in = fopen(path, "r");
	if (!in || !fread(text, 1, sizeof text - 1, in)) {
		perror(path);
		exit(1);
	}
	fclose(in);
	return text;
}

int main(int argc, char **argv)
{
	char *wanted = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&wanted, &n);
	if (argc != 2 || !out)
		return fputs("usage: abilities KINDS.H\n", stderr), 1;
	table(out);
	fclose(out);
	const bool same = strstr(slurp(argv[1]), wanted) != NULL;
	if (!same)
		printf("%s: the table of what each kind can is:\n%s", argv[1], wanted);
	free(wanted);
	return !same;
}
