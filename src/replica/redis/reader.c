/* SPDX-License-Identifier: MIT
 * A replica that was away is left alone for a while: the master has what it has. */
#include "redis.h"
#include <stdio.h>
#include "../clock.h"

enum { AWAY_MS = 60000 };

bool weir__reader_is_due(const struct weir_reader *reader)
{
	return weir__now_ms() >= reader->again_ms;
}

void weir__reader_note(struct weir_reader *reader, const char *away, bool gave)
{
	if (!away[0]) {
		reader->away = reader->away && !gave;
		return;
	}
	reader->told = reader->told && reader->away;
	reader->away = true;
	reader->again_ms = weir__now_ms() + AWAY_MS;
	snprintf(reader->sentence, sizeof reader->sentence, "%s", away);
}

const char *weir__reader_news(struct weir_reader *reader)
{
	if (!reader->away || reader->told)
		return NULL;
	reader->told = true;
	return reader->sentence;
}
