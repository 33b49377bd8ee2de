/* SPDX-License-Identifier: MIT
 * Turns lines into keys. A line has one text, or several texts in a hosts file. */
#include <stdlib.h>
#include <string.h>
#include "keyer.h"
#include "keying.h"
#include "output/say.h"
#include "output/units.h"

bool keying_any(const struct keying *how)
{
	return how->comments || how->hosts || how->field || how->header || how->normal.steps;
}

void keying_prepare(const struct keying *how, struct lines_options *from)
{
	const bool any = keying_any(how);
	from->text = from->numbered = any;
	from->skip_empty &= !any; /* the keyer skips empty texts, after trimming */
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
	const size_t before = k->n, counted = k->counted;
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
	if (!right) {
		k->n = before;
		k->counted = counted;
	}
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

/* ---- options ---- */

static bool delimiter(struct keying *how)
{
	bool tab = strcmp(optarg, "tab") == 0 || strcmp(optarg, "\\t") == 0;
	how->delimiter = tab ? '\t' : optarg[0];
	if (tab || (optarg[0] && !optarg[1] && !strchr("\"\r\n", optarg[0])))
		return true;
	say("--delimiter '%s': give one byte, no quote and no line end, or tab", optarg);
	return false;
}

/* Reads the option's value: digits are a position, anything else is a column's name. */
static bool field(struct keying *how)
{
	uint64_t number = KEYING_NAMED;
	how->field_name = optarg[strspn(optarg, "0123456789")] ? optarg : NULL;
	if (!how->field_name && !parse_number("--field", optarg, 1, KEYING_NAMED - 1, &number))
		return false;
	how->field = (uint32_t)number;
	if (!how->delimiter)
		how->delimiter = ',';
	return true;
}

int keying_option(int option, struct keying *how, struct lines_options *from)
{
	switch (option) {
	case KEYING_TRIM: how->normal.steps |= WEIR_TEXT_TRIM; break;
	case KEYING_LOWERCASE: how->normal.steps |= WEIR_TEXT_LOWERCASE; break;
	case KEYING_CIDR: how->normal.steps |= WEIR_TEXT_CIDR; break;
	case KEYING_SUFFIXES: how->normal.steps |= WEIR_TEXT_SUFFIXES; break;
	case KEYING_PLAIN: how->plain = true; break;
	case KEYING_COMMENTS: how->comments = true; break;
	case KEYING_HOSTS: how->hosts = true; break;
	case KEYING_KEEP_LOCAL: how->keep_local = true; break;
	case KEYING_SKIP_BAD: how->skip_bad = true; break;
	case KEYING_HEADER: how->header = true; break;
	case KEYING_FIELD: return field(how);
	case KEYING_DELIMITER: return delimiter(how);
	case '0': from->delimiter = '\0'; break;
	case KEYING_SKIP_EMPTY: from->skip_empty = how->skip_empty = true; break;
	case KEYING_AS_IS: from->as_is = true; break;
	default: return -1;
	}
	return 1;
}

bool keying_fits(const struct keying *how)
{
	const uint32_t both = WEIR_TEXT_CIDR | WEIR_TEXT_SUFFIXES;
	if (how->plain && how->normal.steps)
		say("--plain-keys: nothing is done to keys: leave it out, or --trim, --lowercase, "
		    "--cidr and --suffixes");
	else if ((how->normal.steps & both) == both)
		say("--cidr and --suffixes: keys are prefixes or domains, not both");
	else if (how->hosts && how->field)
		say("--hosts and --field: a line is a hosts file's or has fields, not both");
	else if (how->hosts && how->normal.steps & WEIR_TEXT_CIDR)
		say("--hosts and --cidr: the keys of a hosts file are its domains");
	else if (how->keep_local && !how->hosts)
		say("--keep-local without --hosts: which names are local?");
	else if (how->delimiter && !how->field)
		say("--delimiter without --field=N: which field is the key?");
	else
		return true;
	return false;
}
