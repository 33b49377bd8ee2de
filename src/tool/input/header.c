/* SPDX-License-Identifier: MIT
 * Finds the column of the keys by its name in a file's first line. Each file is asked, since two
 * exports rarely have their columns in one order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "keyer.h"
#include "output/say.h"

enum { NAMES_SHOWN = 400 }; /* bytes */

struct columns {
	struct iovec wanted;
	uint32_t n, first, second; /* how many; the first two of that name, or 0 */
	char names[NAMES_SHOWN + 8];
	size_t len;
};

/* Blanks around a name are those of a writer who puts one after each comma. */
static struct iovec bare(const void *bytes, size_t len)
{
	return weir_normal_trim(bytes, len);
}

static void list(struct columns *c, struct iovec name)
{
	if (c->len >= NAMES_SHOWN)
		return;
	const char *comma = c->n > 1 ? ", " : "";
	int room = (int)(NAMES_SHOWN - c->len), len = (int)strlen(comma) + (int)name.iov_len;
	if (name.iov_len < NAMES_SHOWN && len < room) {
		c->len += (size_t)snprintf(c->names + c->len, (size_t)room, "%s%.*s", comma,
		                           (int)name.iov_len, (const char *)name.iov_base);
	} else {
		snprintf(c->names + c->len, sizeof c->names - c->len, "%s...", comma);
		c->len = NAMES_SHOWN;
	}
}

static void take(void *bytes, size_t len, void *arg)
{
	struct columns *c = arg;
	const struct iovec name = bare(bytes, len);
	c->n++;
	list(c, name);
	if (name.iov_len != c->wanted.iov_len ||
	    memcmp(name.iov_base, c->wanted.iov_base, name.iov_len) != 0)
		return;
	if (!c->first)
		c->first = c->n;
	else if (!c->second)
		c->second = c->n;
}

/* 1, or -1 after a message. */
static int settle(const struct columns *c, const char *file, const char *name)
{
	if (!c->first)
		say("%s: no column is named '%s': its first line has %s%s", file, name, c->names,
		    c->n > 1 ? "" : ": one column; --delimiter=C says what is between two");
	else if (c->second)
		say("%s: columns %u and %u are both named '%s': give the number of one, --field=%u",
		    file, c->first, c->second, name, c->first);
	return c->first && !c->second ? 1 : -1;
}

static int find(const struct keying *how, const char *file, struct iovec line, uint32_t *field)
{
	struct columns *c = need(sizeof *c);
	struct keyer k = { .how = how }; /* for its fields alone */
	const char *why;
	*c = (struct columns){ .wanted = bare(how->field_name, strlen(how->field_name)) };
	int is = -1;
	if (field_each(&k, line, take, c, &why))
		is = settle(c, file, how->field_name);
	else
		say("%s: its first line names no columns: %s", file, why);
	*field = c->first;
	field_end(&k);
	free(c);
	return is;
}

static int is_blank(const char *file)
{
	say("%s: its first line is blank, and is to name the columns: --skip-empty passes over "
	    "blank lines", file);
	return -1;
}

/* A title above the header would be skipped in its place, and the header would be a key. 1, or -1
 * after a message. */
static int has_field(const struct keying *how, const char *file, struct iovec line)
{
	const struct row_shape shape = row_shape(how, line);
	if (shape.open)
		say("%s: its first line ends within a quoted field: write the names of the columns "
		    "on one line", file);
	else if (shape.fields < how->field)
		say("%s: its first line names no column %u: it has %u: write the names of the "
		    "columns there%s", file, how->field, shape.fields,
		    shape.fields > 1 ? "" : ", or give --delimiter=C");
	else
		return 1;
	return -1;
}

int header_line(const void *arg, const char *file, struct iovec line, uint32_t *field)
{
	const struct keying *how = arg;
	const bool blank = !bare(line.iov_base, line.iov_len).iov_len;
	if (how->comments && is_comment(how, line))
		return 0;
	if (blank)
		return how->skip_empty ? 0 : is_blank(file);
	if (how->field == KEYING_NAMED)
		return find(how, file, line, field);
	return how->field ? has_field(how, file, line) : 1;
}
