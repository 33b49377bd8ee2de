/* SPDX-License-Identifier: MIT
 * Is the replica that images are read from worth asking? */
#ifndef WEIR_REPLICA_READER_H
#define WEIR_REPLICA_READER_H

#include <stdbool.h>
#include <stdint.h>

struct weir_reader {
	uint64_t again_ms;  /* until then it is not asked */
	bool away, told;    /* and whether somebody has been told */
	char sentence[256];
};

bool weir__reader_is_due(const struct weir_reader *reader);
/* After an image. @away: why it was not read to the end; "". @gave: whether some of it was read. */
void weir__reader_note(struct weir_reader *reader, const char *away, bool gave);
/* A sentence once, when it is away or gives wrong images, until it was read from again.
 * Return: NULL: there is nothing to tell. */
const char *weir__reader_news(struct weir_reader *reader);

#endif
