/* SPDX-License-Identifier: MIT
 * From lines to keys. A line gives texts: one, or of a hosts file several. */
#include <stdlib.h>
#include "keyer.h"
#include "output/say.h"

bool keying_any(const struct keying *how)
{
	return how->comments || how->hosts || how->field || how->header || how->normal.steps;
}

void keying_prepare(const struct keying *how, struct lines_options *from)
{
	const bool any = keying_any(how);
	from->text = from->numbered = any;
	from->skip_empty &= !any; /* not before it is trimmed */
	if (!how->header && how->field != KEYING_NAMED)
		return;
	from->header = header_line;
	from->header_arg = how;
}

void keyer_chunk(struct keyer *k, const struct chunk *c)
{
	k->field = c->field ? c->field : k->how->field;
}

void keyer_end(struct keyer *k)
{
	keyer_clear(k);
	field_end(k);
	free(k->arena);
	free(k->keys);
	free(k->of);
}

bool keyer_take(struct keyer *k, struct iovec line, const char **why)
{
	size_t before = k->n;
	bool right = true;
	k->texts = 0;
	k->open = false;
	if (k->how->comments && is_comment(k->how, line))
		;
	else if (k->how->hosts)
		right = hosts_texts(k, line, why);
	else if (k->how->field)
		right = field_text(k, line, why);
	else
		right = keyer_text(k, line, why);
	if (!right)
		k->n = before;
	k->lines++;
	return right;
}

bool keyer_passes(const struct keyer *k)
{
	return k->how->skip_bad && !k->open;
}

void keyer_report(const struct keyer *k, const struct lines *l, const struct chunk *c,
                  const char *line, const char *why)
{
	say("%s:%llu: %s%s", c->file, (unsigned long long)chunk_line(l, c, line), why,
	    k->open ? "" : " (--skip-bad passes over such lines)");
}
