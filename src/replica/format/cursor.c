/* SPDX-License-Identifier: MIT
 * Ids of a stream, and the count of what has gone. */
#include "cursor.h"
#include <stdio.h>
#include "number.h"

bool weir__stream_id_parse(struct weir_stream_id *out, const char *text, size_t len)
{
	struct weir_stream_id id;
	size_t dash = 0;
	while (dash < len && text[dash] != '-')
		dash++;
	if (dash == len || !weir__number_parse(&id.ms, text, dash) ||
	    !weir__number_parse(&id.number, text + dash + 1, len - dash - 1))
		return false;
	*out = id;
	return true;
}

const char *weir__stream_id_print(char text[WEIR_STREAM_ID_TEXT], struct weir_stream_id id)
{
	snprintf(text, WEIR_STREAM_ID_TEXT, "%llu-%llu", (unsigned long long)id.ms,
	         (unsigned long long)id.number);
	return text;
}

int weir__stream_id_compare(struct weir_stream_id a, struct weir_stream_id b)
{
	if (a.ms != b.ms)
		return a.ms < b.ms ? -1 : 1;
	return a.number < b.number ? -1 : a.number > b.number;
}

enum weir_gap weir__cursor_gap(const struct weir_cursor *c, const struct weir_stream_counts *s,
                               uint64_t *missed)
{
	/* a server that says that more are there than were added is not believed either */
	uint64_t gone = s->added >= s->length ? s->added - s->length : UINT64_MAX;
	const bool back = weir__stream_id_compare(s->last, c->at) < 0;
	enum weir_gap gap = c->consumed > s->added || back ? WEIR_GAP_ANEW :
	                    gone > c->consumed             ? WEIR_GAP_TRIMMED :
	                                                     WEIR_GAP_NONE;
	if (missed)
		*missed = gap == WEIR_GAP_TRIMMED ? gone - c->consumed : 0;
	return gap;
}

bool weir__cursor_advance(struct weir_cursor *c, struct weir_stream_id id)
{
	if (weir__stream_id_compare(id, c->at) <= 0)
		return false;
	c->at = id;
	c->consumed++;
	return true;
}
